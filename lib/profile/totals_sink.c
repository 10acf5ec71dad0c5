/* SPDX-License-Identifier: Apache-2.0 */
/** Passes the results of attribution to the totals. */
#include "lib/profile/totals.h"
#include "llmperf/region.h"

static void mark(struct lp_totals *totals, uint32_t node)
{
    if (totals->filter.mark)
        totals->filter.mark(totals->filter.context, node);
}

static void take_region(void *totals, uint32_t node, uint64_t wall_ns, bool truncated,
                        enum lp_in_window window)
{
    mark(totals, node);
    lp_totals_region(totals, node, wall_ns, truncated, window);
}

static void take_count(void *totals, uint32_t node, uint32_t quantity, uint64_t amount,
                       enum lp_in_window window)
{
    lp_totals_count(totals, node, quantity, amount, window);
}

void lp_totals_take(struct lp_totals *totals, const struct lp_activity *activities, size_t count)
{
    const struct lp_totals_filter *filter = &totals->filter;

    if (filter->take && filter->take(filter->context, activities, count))
        return;
    lp_totals_activities(totals, activities, count);
    if (totals->counters)
        lp_counter_totals_activities(totals->counters, activities, count);
}

static void take_activities(void *totals, const struct lp_activity *activities, size_t count)
{
    lp_totals_take(totals, activities, count);
}

static void begin_unit(void *context, uint32_t unit, uint32_t parent, uint32_t node,
                       uint64_t begin_ns, bool collected, uint32_t window, uint32_t chance)
{
    struct lp_totals *totals = context;

    mark(totals, node);
    lp_iterations_begin(&totals->iterations, unit, parent, node, begin_ns, collected, window);
    lp_iterations_chance(&totals->iterations, unit, chance);
    if (!totals->sampled)
        lp_memory_begin(&totals->memory, unit, node, begin_ns);
}

static void count_unit(void *context, uint32_t unit, uint32_t quantity, uint64_t amount)
{
    struct lp_totals *totals = context;

    lp_iterations_count(&totals->iterations, unit, quantity, amount);
}

static void end_unit(void *context, uint32_t unit, uint64_t end_ns, bool truncated)
{
    struct lp_totals *totals = context;
    struct lp_unit_work *work = lp_iterations_end(&totals->iterations, unit, end_ns, truncated);

    if (!totals->sampled && work)
        lp_memory_end(&totals->memory, unit, work->node,
                      end_ns > work->begin_ns ? end_ns : work->begin_ns,
                      work->quantities[LLMPERF_QUANTITY_CONTEXT]);
    if (!work || truncated)
        return;
    lp_totals_derive_work(totals, work);
    if (totals->watcher.ended)
        totals->watcher.ended(totals->watcher.context, work->node, end_ns, end_ns - work->begin_ns,
                              work->quantities);
}

static void finish_unit(void *context, uint32_t unit)
{
    struct lp_totals *totals = context;
    llmperf_iteration row;
    uint32_t node;

    if (lp_iterations_done(&totals->iterations, unit, totals->devices.count > 0, &node, &row) &&
        totals->watcher.done)
        totals->watcher.done(totals->watcher.context, node, &row);
}

static void take_host_call(void *context, uint32_t unit, const struct lp_record *call)
{
    lp_iterations_call(&((struct lp_totals *)context)->iterations, unit, call);
}

static void take_memory(void *context, uint32_t thread, const struct lp_record *record)
{
    lp_memory_record(&((struct lp_totals *)context)->memory, thread, record);
}

void lp_totals_set_watcher(struct lp_totals *totals, const struct lp_watcher *watcher)
{
    totals->watcher = *watcher;
}

void lp_totals_set_filter(struct lp_totals *totals, const struct lp_totals_filter *filter)
{
    totals->filter = *filter;
}

void lp_totals_set_counters(struct lp_totals *totals, struct lp_counter_totals *counters)
{
    totals->counters = counters;
}

struct lp_attribution_sink lp_totals_sink(struct lp_totals *totals)
{
    return (struct lp_attribution_sink){
        totals,
        take_region,
        take_count,
        take_activities,
        { begin_unit, count_unit, end_unit, finish_unit },
        { NULL, NULL },
        take_host_call,
        take_memory,
    };
}
