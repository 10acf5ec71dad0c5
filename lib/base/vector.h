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

/** The element at an index, after elements of zeros up to it. NULL: out of memory. */
#define lp_vector_at(vector, index)                                                                \
    ((index) < (vector)->count ||                                                                  \
             lp_vector_reach((void **)&(vector)->items, &(vector)->count, &(vector)->capacity,     \
                             (index), sizeof(*(vector)->items)) == 0                               \
         ? &(vector)->items[index]                                                                 \
         : NULL)

/** Sort by a function for qsort(). */
#define lp_vector_sort(vector, compare)                                                            \
    lp_vector_qsort((vector)->items, (vector)->count, sizeof(*(vector)->items), compare)

/** Number of elements of an array. */
#define LP_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/** Order of two numbers, for such a function: below 0, 0, above 0. */
#define LP_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int lp_vector_grow(void **items, size_t count, size_t *capacity, size_t more, size_t item_size);
int lp_vector_reach(void **items, size_t *count, size_t *capacity, size_t index, size_t item_size);
void lp_vector_qsort(void *items, size_t count, size_t item_size,
                     int (*compare)(const void *, const void *));
void lp_vector_drop(void **items, size_t *count, size_t *capacity);

#endif
