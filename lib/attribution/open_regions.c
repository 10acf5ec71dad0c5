/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/attribution/open_regions.h"

static lp_open_stack *find_stack(struct lp_open_regions *regions, uint32_t thread)
{
    static const lp_open_stack empty = { NULL, 0, 0 };

    while (regions->threads.count <= thread)
        if (lp_vector_push(&regions->threads, empty) < 0) {
            regions->failed = true;
            return NULL;
        }
    return &regions->threads.items[thread];
}

static void close_top(struct lp_open_regions *regions, lp_open_stack *stack, uint64_t end_ns,
                      bool truncated, const struct lp_attribution_sink *sink)
{
    struct lp_open_region top = stack->items[--stack->count];

    truncated = truncated || top.truncated || end_ns < top.begin_ns;
    regions->truncated += truncated;
    sink->region(sink->context, top.node, truncated ? 0 : end_ns - top.begin_ns, truncated);
}

/* An end whose begin is not on top: the records between were dropped with a full ring. */
static void end_region(struct lp_open_regions *regions, lp_open_stack *stack,
                       const struct lp_record *record, const struct lp_attribution_sink *sink)
{
    size_t at = stack->count;

    while (at > 0 && stack->items[at - 1].node != record->node)
        at--;
    if (at == 0) {
        regions->truncated++;
        sink->region(sink->context, record->node, 0, true);
        return;
    }
    while (stack->count > at)
        close_top(regions, stack, record->time_ns, true, sink);
    close_top(regions, stack, record->time_ns, record->detail != 0, sink);
}

void lp_open_regions_apply(struct lp_open_regions *regions, uint32_t thread,
                           const struct lp_record *record, const struct lp_attribution_sink *sink)
{
    lp_open_stack *stack = find_stack(regions, thread);
    struct lp_open_region opened = { record->time_ns, record->node, record->detail != 0 };

    if (!stack)
        return;
    if (record->kind == LP_RECORD_REGION_BEGIN) {
        if (lp_vector_push(stack, opened) < 0)
            regions->failed = true;
    } else if (record->kind == LP_RECORD_REGION_END) {
        end_region(regions, stack, record, sink);
    } else {
        while (stack->count > 0)
            close_top(regions, stack, record->time_ns, true, sink);
    }
}

void lp_open_regions_close(struct lp_open_regions *regions, const struct lp_attribution_sink *sink)
{
    for (size_t i = 0; i < regions->threads.count; i++)
        while (regions->threads.items[i].count > 0)
            close_top(regions, &regions->threads.items[i], 0, true, sink);
}

void lp_open_regions_clear(struct lp_open_regions *regions)
{
    for (size_t i = 0; i < regions->threads.count; i++)
        lp_vector_clear(&regions->threads.items[i]);
    lp_vector_clear(&regions->threads);
}
