/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"

int lp_vector_grow(void **items, size_t count, size_t *capacity, size_t more, size_t item_size)
{
    size_t wanted = *capacity ? *capacity : 8;
    void *grown;

    if (more <= *capacity - count)
        return 0;
    if (more > SIZE_MAX / 2 / item_size - count)
        return lp_error(LLMPERF_ENOMEM, "out of memory (a list of over %zu elements)", count);
    while (wanted < count + more)
        wanted *= 2;
    grown = realloc(*items, wanted * item_size);
    if (!grown)
        return lp_error(LLMPERF_ENOMEM, "out of memory (%zu bytes)", wanted * item_size);
    *items = grown;
    *capacity = wanted;
    return 0;
}

int lp_vector_reach(void **items, size_t *count, size_t *capacity, size_t index, size_t item_size)
{
    size_t more = index + 1 - *count;

    if (more > *capacity - *count && lp_vector_grow(items, *count, capacity, more, item_size) < 0)
        return LLMPERF_ENOMEM;
    memset((char *)*items + *count * item_size, 0, more * item_size);
    *count += more;
    return 0;
}

void lp_vector_drop(void **items, size_t *count, size_t *capacity)
{
    free(*items);
    *items = NULL;
    *count = *capacity = 0;
}

void lp_vector_qsort(void *items, size_t count, size_t item_size,
                     int (*compare)(const void *, const void *))
{
    if (count > 0) /* items may be NULL */
        qsort(items, count, item_size, compare);
}
