/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/attribution/open_regions.h"

#include "lib/record/paths.h"
#include "llmperf/region.h"

static lp_open_stack *find_stack(struct lp_open_regions *regions, uint32_t thread)
{
    lp_open_stack *stack = lp_vector_at(&regions->threads, thread);

    regions->failed |= !stack;
    return stack;
}

static void close_top(struct lp_open_regions *regions, lp_open_stack *stack, uint64_t end_ns,
                      bool truncated, const struct lp_attribution_sink *sink)
{
    struct lp_open_region top = stack->items[--stack->count];

    truncated = truncated || top.truncated || end_ns < top.begin_ns;
    regions->truncated += truncated;
    if (top.is_unit) {
        sink->units.end(sink->context, top.unit, end_ns, truncated);
        lp_units_end(&regions->units, top.unit, end_ns);
    }
    if (sink->spans.end)
        sink->spans.end(sink->context, (uint32_t)(stack - regions->threads.items), top.node,
                        top.begin_ns, end_ns, truncated);
    sink->region(sink->context, top.node, truncated ? 0 : end_ns - top.begin_ns, truncated,
                 top.in_window);
}

/* The records between were dropped because the ring was full. */
static void end_region(struct lp_open_regions *regions, lp_open_stack *stack,
                       const struct lp_record *record, const struct lp_attribution_sink *sink)
{
    size_t at = stack->count;

    while (at > 0 && stack->items[at - 1].node != record->node)
        at--;
    if (at == 0) {
        regions->truncated++;
        sink->region(sink->context, record->node, 0, true, LP_WINDOW_NOT);
        return;
    }
    while (stack->count > at)
        close_top(regions, stack, record->time_ns, true, sink);
    close_top(regions, stack, record->time_ns, record->detail != LP_END_NOW, sink);
    if (record->detail == LP_END_DROPPED) { /* counted as dropped only */
        regions->abandoned++;
        regions->truncated--;
    }
}

static bool is_left_out(uint16_t begin)
{
    return begin == LP_BEGIN_SKIPPED || begin == LP_BEGIN_LEFT_OUT;
}

static uint32_t chance_of(const struct lp_record *record)
{
    return record->detail == LP_BEGIN_NOW || record->detail == LP_BEGIN_SKIPPED
               ? (uint32_t)record->value
               : 0;
}

static void find_window(struct lp_open_region *opened, const struct lp_open_region *around,
                        const struct lp_record *record)
{
    bool own = record->detail == LP_BEGIN_TRIGGERED || record->detail == LP_BEGIN_LEFT_OUT;

    opened->window = own ? (uint32_t)record->value : around ? around->window : 0;
    opened->in_window = opened->window == 0             ? LP_WINDOW_NOT
                        : around && around->window != 0 ? LP_WINDOW_NESTED
                                                        : LP_WINDOW_OUTERMOST;
}

static void begin_region(struct lp_open_regions *regions, lp_open_stack *stack,
                         const struct lp_record *record, const struct lp_attribution_sink *sink)
{
    bool has_room = lp_vector_reserve(stack, 1) == 0;
    const struct lp_open_region *around = stack->count > 0 ? &stack->items[stack->count - 1] : NULL;
    uint32_t parent = around ? around->unit : LP_UNIT_NONE;
    struct lp_open_region *opened = &stack->items[stack->count];

    regions->skipped |= is_left_out(record->detail);
    regions->over_limit += lp_path_get(record->node)->over;
    if (!has_room) {
        regions->failed = true;
        return;
    }
    stack->count++;
    opened->begin_ns = record->time_ns;
    opened->node = record->node;
    opened->unit = parent;
    opened->is_unit = false;
    opened->truncated = record->detail == LP_BEGIN_BEFORE;
    find_window(opened, around, record);
    /* Its work before collection started is not known, so it is not followed. */
    if (sink->units.begin && !opened->truncated &&
        lp_path_kind(record->node) == LLMPERF_REGION_STAGE) {
        opened->unit = lp_units_begin(&regions->units, parent, record->time_ns);
        opened->is_unit = opened->unit != LP_UNIT_NONE;
        opened->unit = opened->is_unit ? opened->unit : parent;
    }
    if (opened->is_unit)
        sink->units.begin(sink->context, opened->unit, parent, record->node, record->time_ns,
                          !is_left_out(record->detail), opened->window, chance_of(record));
    if (sink->spans.begin)
        sink->spans.begin(sink->context, (uint32_t)(stack - regions->threads.items), record->node,
                          record->time_ns, opened->truncated);
}

void lp_open_regions_apply(struct lp_open_regions *regions, uint32_t thread,
                           const struct lp_record *record, const struct lp_attribution_sink *sink)
{
    lp_open_stack *stack = find_stack(regions, thread);

    if (!stack)
        return;
    if (record->kind == LP_RECORD_REGION_BEGIN) {
        begin_region(regions, stack, record, sink);
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
    lp_units_clear(&regions->units);
}
