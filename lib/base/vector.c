/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

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

void lp_vector_drop(void **items, size_t *count, size_t *capacity)
{
    free(*items);
    *items = NULL;
    *count = *capacity = 0;
}
