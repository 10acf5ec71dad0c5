/* SPDX-License-Identifier: Apache-2.0 */
/* Time per call and tokens per second of each region, and on which clock they are. */
#include <math.h>
#include <string.h>

#include "lib/findings/findings.h"

/* The device finished later than the host left the region: by more than rounding and the latency
 * of a synchronisation. */
#define LAUNCHED_AHEAD 1.05
/* Calls of several threads at a time: more than calls that only touch. */
#define AT_ONCE 1.05

/* Host time of the calls that have an elapsed time; NaN: not known. */
static double wall_of_collected(const struct lp_findings *findings,
                                const struct lp_stage_iterations *stage)
{
    const struct lp_region_finding *first = lp_rows_of(findings, stage->region);
    double sum_ms = 0;

    if (lp_all_calls(stage, LP_TIME_WALL) == lp_all_calls(stage, LP_TIME_ELAPSED))
        return lp_all_sum(stage, LP_TIME_WALL);
    for (const struct lp_region_finding *row = first; row; row = lp_rows_next(findings, row))
        if (row == first || row->stats.process_id != row[-1].stats.process_id)
            sum_ms += row->stats.collected_wall_ms;
    return sum_ms;
}

/* Does the device end its work after the host left the region? Then a call takes its elapsed time.
 * Where the host waits for the device, host time says the same, and is known of all calls. */
static bool is_launched_ahead(const struct lp_findings *findings,
                              const struct lp_stage_iterations *stage)
{
    double calls = lp_all_calls(stage, LP_TIME_ELAPSED), spans = lp_all_calls(stage, LP_TIME_SPAN);

    return findings->device_known && calls > 0 && spans > 0 &&
           lp_all_sum(stage, LP_TIME_ELAPSED) - calls * lp_all_sum(stage, LP_TIME_AFTER) / spans >
               LAUNCHED_AHEAD * wall_of_collected(findings, stage);
}

/* first_ms: what the first calls add to call_ms */
static void set_active(struct lp_region_finding *region, bool overlaps, double first_ms)
{
    const llmperf_region_stats *stats = &region->stats;
    bool all = !(stats->skipped_fraction > 0) && stats->window_instances == 0;
    double sum_ms = region->call_ms * (double)stats->instances + first_ms;

    /* Of calls that were not collected the end on the device is not known. */
    if (isnan(stats->active_ms) || (region->clock == LLMPERF_CLOCK_DEVICE && !all))
        region->active_ms = overlaps ? (double)NAN : sum_ms;
    else
        region->active_ms = stats->active_ms;
    region->at_once = sum_ms > AT_ONCE * region->active_ms ? sum_ms / region->active_ms : 1;
    region->collected_ms =
        all ? region->active_ms : lp_collected_ms(stats) * region->call_ms / stats->wall_mean_ms;
    if (overlaps && !all)
        region->collected_ms = NAN;
}

/* Warm-up is not part of what a call takes. Several processes have had the same share of it. With
 * several calls at a time, what it took from the others is not known. */
static void leave_out_warm_up(const struct lp_findings *findings, struct lp_region_finding *region,
                              const struct lp_stage_iterations *stage, double processes)
{
    enum lp_iteration_time time =
        region->clock == LLMPERF_CLOCK_DEVICE ? LP_TIME_ELAPSED : LP_TIME_WALL;
    const llmperf_iteration_stats *steady = &stage->times[time];
    const struct lp_warm_up_time *wall = &stage->warm_up[LP_TIME_WALL];
    /* Its other calls are known by their host time. */
    const struct lp_warm_up_time *warm_up =
        stage->warm_up[time].calls == wall->calls ? &stage->warm_up[time] : wall;
    double calls = (double)wall->calls / processes, part;

    if (calls == 0 || region->at_once > 1 || steady->count == 0)
        return;
    part = calls / (double)region->stats.instances;
    region->warm_up_calls = (uint64_t)(calls + 0.5);
    region->warm_up_ms = warm_up->ms / processes;
    if (!(region->call_error.low < 1)) /* an estimate is without warm-up */
        region->call_ms *= steady->mean_ms * lp_all_calls(stage, time) / lp_all_sum(stage, time);
    region->variation = lp_variation(steady->std_ms, steady->mean_ms);
    if (stage->first.tokens != LLMPERF_UNKNOWN && region->warm_up_calls == 1)
        part = (double)stage->first.tokens / (double)region->stats.tokens;
    if (region->stats.tokens != LLMPERF_UNKNOWN && part < 1)
        region->tokens_per_s = 1e3 * (1 - part) * (double)region->stats.tokens /
                               (region->active_ms - region->warm_up_ms);
    if (lp_stage_sum_of(findings, stage->region, -1).rows == 1 &&
        stage->times[LP_TIME_BUSY].count > 0)
        region->busy_share = stage->times[LP_TIME_BUSY].mean_ms / region->call_ms;
}

static void set_rate(const struct lp_findings *findings, struct lp_region_finding *region,
                     bool overlaps)
{
    region->tokens_per_s = region->stats.tokens != LLMPERF_UNKNOWN && region->active_ms > 0
                               ? 1e3 * (double)region->stats.tokens / region->active_ms
                               : (double)NAN;
    region->rate =
        isnan(region->tokens_per_s)       ? LLMPERF_RATE_UNKNOWN
        : overlaps || region->at_once > 1 ? LLMPERF_RATE_TOTAL
        : region->clock == LLMPERF_CLOCK_HOST && findings->device_known && region->busy_share > 1
            ? LLMPERF_RATE_HOST
            : LLMPERF_RATE_STAGE;
}

/* What the calls that an estimate is without take above it: warm-up, or the first one. */
static double apart_ms(const struct lp_stage_iterations *stage)
{
    const struct lp_warm_up_time *warm_up = &stage->warm_up[LP_TIME_WALL];
    double estimate_ms = stage->times[LP_TIME_ELAPSED].estimate_ms;

    return warm_up->calls > 1 ? warm_up->ms - (double)warm_up->calls * estimate_ms
                              : stage->first.elapsed_ms - estimate_ms;
}

static void set_clock(const struct lp_findings *findings, struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    const struct lp_stage_iterations *stage = lp_findings_iterations(findings, stats->path);
    bool ahead = stage && is_launched_ahead(findings, stage);
    const llmperf_iteration_stats *elapsed = stage ? &stage->times[LP_TIME_ELAPSED] : NULL;
    bool estimated = ahead && stage->sampled && !isnan(elapsed->estimate_low_ms);
    double first_ms = estimated ? apart_ms(stage) : 0;

    region->warm_up_ms = NAN;
    region->clock = ahead ? LLMPERF_CLOCK_DEVICE : LLMPERF_CLOCK_HOST;
    region->call_ms =
        estimated ? elapsed->estimate_ms
        : ahead   ? lp_all_sum(stage, LP_TIME_ELAPSED) / lp_all_calls(stage, LP_TIME_ELAPSED)
        : stats->instances > 0 ? stats->wall_mean_ms
                               : (double)NAN;
    region->call_error =
        ahead && stats->skipped_fraction > 0
            ? lp_error_of(elapsed->estimate_ms, elapsed->estimate_low_ms, elapsed->estimate_high_ms)
            : (struct lp_interval){ 1, 1 };
    if (ahead)
        region->variation = lp_variation(elapsed->std_ms, elapsed->mean_ms);
    set_active(region, stage && stage->overlaps, isnan(first_ms) ? 0 : first_ms);
    if (stage && stats->device >= 0)
        region->busy_share = lp_collected_busy_ms(stats) / region->collected_ms;
    set_rate(findings, region, stage && stage->overlaps);
    if (stage)
        leave_out_warm_up(findings, region, stage,
                          (double)lp_stage_sum_of(findings, stats->path, -1).processes);
}

void lp_clocks_set(struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++)
        set_clock(findings, &findings->regions.items[i]);
}
