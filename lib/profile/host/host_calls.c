/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/host/host_calls.h"

#include "lib/record/host_calls.h"

static uint32_t find_row(struct lp_host_calls *calls, uint32_t node, uint32_t call)
{
    uint32_t row = lp_hashmap_get(&calls->index, node, call);
    struct lp_host_call_total fresh = { .node = node, .call = call };

    if (row != LP_HASHMAP_NONE)
        return row;
    row = (uint32_t)calls->rows.count;
    return lp_vector_push(&calls->rows, fresh) == 0 &&
                   lp_hashmap_put(&calls->index, node, call, row) == 0
               ? row
               : LP_HASHMAP_NONE;
}

uint32_t lp_host_calls_add(struct lp_host_calls *calls, const struct lp_record *record,
                           bool *failed_out)
{
    struct lp_host_call_total *total;
    uint32_t row;

    if (!lp_host_call_name(record->detail) || record->value > record->time_ns)
        return LP_HASHMAP_NONE;
    if ((row = find_row(calls, record->node, record->detail)) == LP_HASHMAP_NONE) {
        *failed_out = true;
        return row;
    }
    total = &calls->rows.items[row];
    total->calls++;
    total->total_ns += record->value;
    total->max_ns = record->value > total->max_ns ? record->value : total->max_ns;
    return row;
}

/* The first call that ends after a time. */
static size_t first_after(const lp_unit_calls *of_unit, uint64_t from_ns)
{
    size_t low = 0, high = of_unit->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (of_unit->items[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void lp_unit_calls_idle(lp_unit_calls *of_unit, uint64_t from_ns, uint64_t to_ns, bool between)
{
    for (size_t i = first_after(of_unit, from_ns);
         i < of_unit->count && of_unit->items[i].begin_ns < to_ns; i++) {
        struct lp_unit_call *call = &of_unit->items[i];
        uint64_t begin_ns = call->begin_ns > from_ns ? call->begin_ns : from_ns;
        uint64_t end_ns = call->end_ns < to_ns ? call->end_ns : to_ns;

        call->idle_ns += end_ns - begin_ns;
        call->between_ns += between ? end_ns - begin_ns : 0;
    }
}

void lp_host_calls_compared(struct lp_host_calls *calls, const lp_unit_calls *of_unit)
{
    for (size_t i = 0; i < of_unit->count; i++) {
        const struct lp_unit_call *call = &of_unit->items[i];
        struct lp_host_call_total *total = &calls->rows.items[call->row];

        total->compared++;
        total->idle_ns += call->idle_ns;
        total->between_ns += call->between_ns;
    }
}

void lp_host_calls_clear(struct lp_host_calls *calls)
{
    lp_vector_clear(&calls->rows);
    lp_hashmap_clear(&calls->index);
}
