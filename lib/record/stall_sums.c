/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/record/stall_sums.h"

#include <string.h>

#include "lib/base/status.h"

#define ROWS_MOST 65536u

static uint32_t find(const struct lp_stall_sums *sums, const struct lp_counter_fact *fact,
                     uint64_t offset)
{
    /* Offsets are below 2^48, LP_COUNTER_NO_OFFSET has all bits set. */
    return lp_hashmap_get(&sums->index, (uint64_t)fact->node << 32 | fact->name,
                          offset << 16 | fact->device);
}

static struct lp_stall_sum *make(struct lp_stall_sums *sums, const struct lp_counter_fact *fact,
                                 uint64_t offset)
{
    uint32_t row = (uint32_t)sums->rows.count;
    struct lp_stall_sum fresh = { offset,       fact->node, fact->name,        fact->source,
                                  fact->device, 0,          sums->values.count };

    if (lp_vector_reserve(&sums->values, sums->columns) < 0 ||
        lp_vector_push(&sums->rows, fresh) < 0 ||
        lp_hashmap_put(&sums->index, (uint64_t)fact->node << 32 | fact->name,
                       offset << 16 | fact->device, row) < 0)
        return NULL;
    memset(sums->values.items + sums->values.count, 0, sums->columns * sizeof(*sums->values.items));
    sums->values.count += sums->columns;
    return &sums->rows.items[row];
}

int lp_stall_sums_add(struct lp_stall_sums *sums, const struct lp_counter_fact *fact,
                      const double *values)
{
    uint64_t offset = fact->offset;
    uint32_t found = find(sums, fact, offset);
    struct lp_stall_sum *row;

    if (found == LP_HASHMAP_NONE && sums->rows.count >= ROWS_MOST) {
        offset = LP_COUNTER_NO_OFFSET;
        found = find(sums, fact, offset);
    }
    row = found != LP_HASHMAP_NONE ? &sums->rows.items[found] : make(sums, fact, offset);
    if (!row)
        return LLMPERF_ENOMEM;
    row->source = fact->source;
    for (size_t i = 0; i < sums->columns; i++) {
        sums->values.items[row->values + i] += values[i];
        row->samples += values[i];
    }
    return 0;
}

void lp_stall_sums_reset(struct lp_stall_sums *sums)
{
    sums->rows.count = sums->values.count = 0;
    lp_hashmap_reset(&sums->index);
}

void lp_stall_sums_clear(struct lp_stall_sums *sums)
{
    lp_vector_clear(&sums->rows);
    lp_vector_clear(&sums->values);
    lp_hashmap_clear(&sums->index);
}
