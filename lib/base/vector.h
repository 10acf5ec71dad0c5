/* SPDX-License-Identifier: Apache-2.0 */
/** Growing array. Elements are plain structs; `vector` holds { T *items; size_t count, capacity; }.
 * @threads one at a time */
#ifndef LP_BASE_VECTOR_H
#define LP_BASE_VECTOR_H

#include <stddef.h>
#include "llmperf/api.h"

#define LP_VECTOR(type)                                                                            \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/** Reserve space for `more` elements. 0, or LLMPERF_ENOMEM with the vector unchanged. */
#define lp_vector_reserve(vector, more)                                                            \
    ((more) <= (vector)->capacity - (vector)->count                                                \
         ? 0                                                                                       \
         : lp_vector_grow((void **)&(vector)->items, (vector)->count, &(vector)->capacity, (more), \
                          sizeof(*(vector)->items)))

/** Append one element (an lvalue or compound literal of the element type). */
#define lp_vector_push(vector, ...)                                                                \
    (lp_vector_reserve(vector, 1) < 0 ? LLMPERF_ENOMEM                                             \
                                      : ((vector)->items[(vector)->count++] = __VA_ARGS__, 0))

#define lp_vector_clear(vector)                                                                    \
    lp_vector_drop((void **)&(vector)->items, &(vector)->count, &(vector)->capacity)

int lp_vector_grow(void **items, size_t count, size_t *capacity, size_t more, size_t item_size);
void lp_vector_drop(void **items, size_t *count, size_t *capacity);

#endif
