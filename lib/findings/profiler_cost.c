/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/profiler_cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/findings/limits/achievable.h"
#include "lib/statistics/student.h"
#include "lib/profile/fields.h"

/* CUPTI 13.0 (docs/lab/performance.md: 0.6 to 0.8 us a launch of an eager decode step, 1.1 to 1.6
 * us a node). */
static const struct lp_profiler_rates h200 = { 0.65, 1.2,
                                               "measured on an H200 of another machine" };

static struct lp_profiler_rates find_rates(const struct lp_limits *limits)
{
    const struct lp_measured_peaks *measured = lp_measured_here(limits);
    struct lp_profiler_rates rates = h200;

    if (!measured || isnan(measured->items[LP_COST_LAUNCH].best) ||
        isnan(measured->items[LP_COST_NODE].best))
        return rates;
    rates.launch_us = measured->items[LP_COST_LAUNCH].best;
    rates.node_us = measured->items[LP_COST_NODE].best;
    snprintf(rates.source, sizeof(rates.source), "measured on this machine on %.10s",
             measured->measured_at);
    return rates;
}

static bool is_fact(const struct lp_findings *findings, const char *key, const char *value)
{
    const char *fact = llmperf_profile_fact(findings->profile, key);

    return fact && strcmp(fact, value) == 0;
}

static const char *why_unknown(const struct lp_findings *findings)
{
    if (!findings->device_known ||
        !lp_machine_gpu_text(findings->machine, findings->gpu, "compute_capability"))
        return "no GPU was observed: marking regions costs too little to measure";
    if (!is_fact(findings, "source", "cupti") && !is_fact(findings, "source", "replay"))
        return "the records are not from a GPU that this library profiled";
    if (!is_fact(findings, "tier", "deep") && !is_fact(findings, "tier", "light"))
        return "with hardware counters the kernels run one by one: compare with a run of tier deep";
    return NULL;
}

/* The cost lengthens a call only where the GPU waits for the host: most of it between kernels,
 * launch by launch or node by node. */
static void place(struct lp_profiler_cost *cost, const struct lp_stage_iterations *stage)
{
    double calls = (double)stage->times[LP_TIME_ELAPSED].count;
    double left = fmax(cost->call_ms, 0);
    struct {
        enum lp_iteration_time time;
        double *ms;
    } places[] = { { LP_TIME_IDLE_LAUNCH, &cost->launch_ms },
                   { LP_TIME_IDLE_HOST, &cost->host_ms },
                   { LP_TIME_BEFORE, &cost->before_ms },
                   { LP_TIME_AFTER, &cost->after_ms } };

    for (size_t i = 0; i < LP_LENGTH(places); i++) {
        double room = fmax(stage->times[places[i].time].sum_ms / calls, 0);

        *places[i].ms = fmin(left, room);
        left -= *places[i].ms;
    }
}

/* Collected calls compared with the others, both without warm-up and the first: the two that this
 * needs at least are too few to say how much calls vary. */
static bool measure(const struct lp_region_finding *region, const struct lp_stage_iterations *stage,
                    struct lp_profiler_cost *cost)
{
    const llmperf_region_stats *stats = &region->stats;
    struct lp_warm_up_time all = stage->warm_up[LP_TIME_WALL];
    struct lp_warm_up_time apart = stage->warm_up[LP_TIME_ELAPSED]; /* collected */

    if (all.calls <= 1) {
        all = (struct lp_warm_up_time){ 1, stage->first.wall_ms };
        apart = isnan(stage->first.elapsed_ms) ? (struct lp_warm_up_time){ 0, 0 } : all;
    }
    double count = lp_all_calls(stage, LP_TIME_ELAPSED) - (double)apart.calls;
    double others = (double)(stats->instances - stats->window_instances - all.calls) - count;
    double collected_ms = stats->collected_wall_ms - apart.ms;
    double others_ms = stats->wall_sum_ms - stats->window_ms - all.ms - collected_ms;

    if (!(count >= 3 && others >= 3) || region->clock == LLMPERF_CLOCK_DEVICE ||
        region->at_once > 1 || stage->first.sequence == 0)
        return false;
    cost->call_ms = collected_ms / count - others_ms / others;
    cost->error_ms = lp_student_95(count - 1) * stage->times[LP_TIME_WALL].std_ms / sqrt(count);
    cost->share = cost->call_ms * (count + (double)apart.calls) / stats->wall_sum_ms;
    return true;
}

/* From the number of launches and graph nodes. */
static bool estimate(const struct lp_findings *findings, const struct lp_region_finding *region,
                     const struct lp_stage_iterations *stage, struct lp_profiler_cost *cost)
{
    const struct lp_profiler_rates *rates = &findings->profiler_rates;
    const llmperf_iteration_stats *elapsed = &stage->times[LP_TIME_ELAPSED]; /* after warm-up */
    double sum_us = 0, calls = lp_all_calls(stage, LP_TIME_ELAPSED);

    if (stage->overlaps || region->stats.skipped_fraction > 0 || !(elapsed->sum_ms > 0))
        return false;
    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (kernel->region && lp_region_is_in(kernel->region, stage->region))
            sum_us +=
                (double)kernel->calls * (kernel->captured_in ? rates->node_us : rates->launch_us);
    }
    cost->call_ms = sum_us / 1e3 / calls;
    place(cost, stage);
    cost->call_ms = cost->launch_ms + cost->host_ms + cost->before_ms + cost->after_ms;
    cost->share = cost->call_ms * (double)elapsed->count / elapsed->sum_ms;
    return true;
}

void lp_profiler_costs_set(struct lp_findings *findings)
{
    bool known = false;

    findings->profiler_rates = find_rates(&findings->limits);
    findings->profiler_reason = why_unknown(findings);
    for (size_t i = 0; i < findings->regions.count; i++) {
        struct lp_region_finding *region = &findings->regions.items[i];
        const struct lp_stage_iterations *stage =
            lp_findings_iterations(findings, region->stats.path);
        struct lp_profiler_cost *cost = &region->profiler;

        *cost = (struct lp_profiler_cost){ NAN, NAN, NAN, 0, 0, 0, 0 };
        if (findings->profiler_reason || !stage || stage->times[LP_TIME_SPAN].count == 0 ||
            lp_stage_sum_of(findings, region->stats.path, -1).rows > 1)
            continue;
        if (region->stats.skipped_fraction > 0 ? measure(region, stage, cost)
                                               : estimate(findings, region, stage, cost))
            known = true;
        place(cost, stage);
    }
    if (!known && !findings->profiler_reason)
        findings->profiler_reason = "no stage was followed call by call on one GPU, with enough "
                                    "collected and other calls to compare";
}
