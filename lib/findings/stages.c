/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/stages.h"

#include <math.h>
#include <string.h>

#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

static const char no_device[] =
    "no GPU was used, or no record of its kernels was received (see the ledger)";
static const char no_call[] = "no call began and ended within the session";
static const char no_activity[] = "no device activity was seen in it";
static const char at_once[] = "calls of several threads ran at the same time, were launched ahead "
                              "of the device, and not all of them were collected";
static const char not_collected[] = "none of its calls was collected on the device";

static void set_host(const struct lp_region_finding *region, struct lp_stage_row *row)
{
    const llmperf_region_stats *stats = &region->stats;
    llmperf_stage *stage = &row->stage;

    stage->path = stats->path;
    stage->label = stats->label;
    stage->process_id = stats->process_id;
    stage->device = stats->device;
    stage->calls = stats->instances;
    stage->tokens = stats->tokens;
    stage->wall_ms = stats->instances > 0 ? stats->wall_sum_ms : (double)NAN;
    stage->call_ms = stats->instances > 0 ? stats->wall_mean_ms : (double)NAN;
    stage->tokens_per_s = region->tokens_per_s;
    stage->rate = region->rate;
    stage->clock = region->clock;
    stage->time_ms = region->call_ms;
    stage->active_ms = region->active_ms;
    stage->collected = 1 - stats->skipped_fraction;
    row->reasons[LP_STAGE_CALLS] = stats->instances > 0 ? NULL : no_call;
    row->reasons[LP_STAGE_TOKENS] = !isnan(region->tokens_per_s)       ? NULL
                                    : stats->tokens == LLMPERF_UNKNOWN ? "no tokens were counted"
                                    : stats->instances > 0             ? at_once
                                                                       : no_call;
}

static void set_device(const struct lp_findings *findings, const struct lp_region_finding *region,
                       struct lp_stage_row *row)
{
    const llmperf_region_stats *stats = &region->stats;
    llmperf_stage *stage = &row->stage;
    bool none = stats->skipped_fraction >= 1;
    const char *reason = !findings->device_known     ? no_device
                         : none                      ? not_collected
                         : isnan(stats->gpu_busy_ms) ? no_activity
                                                     : NULL;

    stage->busy_ms = reason ? (double)NAN : region->scale * stats->gpu_busy_ms;
    stage->idle_ms = reason ? (double)NAN : region->scale * stats->idle_ms;
    row->reasons[LP_STAGE_BUSY] = reason;
    row->reasons[LP_STAGE_DEVICE] = stats->device >= 0 ? NULL : reason ? reason : no_activity;
    row->reasons[LP_STAGE_IDLE] = !isnan(stage->idle_ms)  ? NULL
                                  : reason                ? reason
                                  : stats->truncated > 0  ? "the session began or ended in a call"
                                  : stats->instances == 0 ? no_call
                                                          : no_activity;
}

/* An interval needs a random sample of whole calls. Calls of a stage around sampled stages were all
 * collected, but only in part. */
static const char *why_no_interval(const struct lp_findings *findings,
                                   const llmperf_region_stats *stats,
                                   const llmperf_iteration_stats *busy, double calls)
{
    if (lp_stage_sum_of(findings, stats->path, -1).rows > 1)
        return "calls of several processes or GPUs are combined";
    if (lp_findings_overlaps(findings, stats->path))
        return "calls ran at the same time";
    if (!busy || busy->count == 0 || calls >= (double)stats->instances)
        return LP_PART_COLLECTED;
    if (busy->estimate_calls == LLMPERF_UNKNOWN)
        return LP_CHANCE_UNKNOWN;
    return busy->estimate_reason;
}

/* The first call as it was, and all others by the estimated mean: on the device the others of a
 * warm-up do the same work. */
static void set_interval(const struct lp_findings *findings, const struct lp_region_finding *region,
                         struct lp_stage_row *row)
{
    const struct lp_stage_iterations *iterations =
        lp_findings_iterations(findings, row->stage.path);
    const llmperf_iteration_stats *busy = iterations ? &iterations->times[LP_TIME_BUSY] : NULL;
    llmperf_stage *stage = &row->stage;
    const char *reason = row->reasons[LP_STAGE_BUSY];
    double first_ms = iterations ? fmax(0, iterations->first.busy_ms) : 0, others;

    if (!reason && stage->collected < 1)
        reason = why_no_interval(findings, &region->stats, busy,
                                 iterations ? lp_all_calls(iterations, LP_TIME_BUSY) : 0);
    row->reasons[LP_STAGE_INTERVAL] = reason;
    stage->busy_low_ms = stage->busy_high_ms = reason ? (double)NAN : stage->busy_ms;
    if (reason || stage->collected >= 1)
        return;
    others = (double)stage->calls - 1;
    stage->busy_ms = first_ms + others * busy->estimate_ms;
    stage->busy_low_ms = fmax(first_ms + others * busy->estimate_low_ms, region->stats.gpu_busy_ms);
    stage->busy_high_ms = first_ms + others * busy->estimate_high_ms;
}

static void set_limits(struct lp_interval interval, double *low, double *high)
{
    *low = interval.low;
    *high = interval.high;
}

static void set_use(const struct lp_findings *findings, const struct lp_region_finding *region,
                    struct lp_stage_row *row)
{
    const struct lp_limits *limits = &findings->limits;
    const llmperf_utilisation *use = &region->use;
    llmperf_stage *stage = &row->stage;

    stage->mfu = use->mfu;
    stage->mbu = use->mbu;
    set_limits(lp_interval_of_rate(use->mfu, region->busy_error), &stage->mfu_low,
               &stage->mfu_high);
    set_limits(lp_interval_of_rate(use->mbu, region->busy_error), &stage->mbu_low,
               &stage->mbu_high);
    set_limits(lp_interval_of(region->call_ms, region->call_error), &stage->time_low_ms,
               &stage->time_high_ms);
    set_limits(lp_interval_of_rate(region->tokens_per_s, region->call_error),
               &stage->tokens_per_s_low, &stage->tokens_per_s_high);
    stage->mfu_elapsed = use->mfu_elapsed;
    stage->mbu_elapsed = use->mbu_elapsed;
    stage->floor_ms = region->scale * use->time_floor_ms;
    stage->floor_ratio = use->floor_ratio;
    stage->wall_ratio = use->wall_ratio;
    stage->bound = use->bound;
    if (lp_findings_describes(findings, stage->device))
        stage->confidence = limits->peak.confidence < limits->bandwidth.confidence
                                ? limits->peak.confidence
                                : limits->bandwidth.confidence;
    row->reasons[LP_STAGE_MFU] = region->mfu_reason;
    row->reasons[LP_STAGE_MBU] = region->mbu_reason;
    row->reasons[LP_STAGE_MFU_ELAPSED] = region->mfu_elapsed_reason;
    row->reasons[LP_STAGE_MBU_ELAPSED] = region->mbu_elapsed_reason;
    row->reasons[LP_STAGE_BOUND] = region->bound_reason;
    row->reasons[LP_STAGE_FLOOR] = region->floor_reason;
    row->reasons[LP_STAGE_RATIO] = region->ratio_reason;
}

static void set_energy(const struct lp_region_finding *region, struct lp_stage_row *row)
{
    row->stage.energy_j = region->stats.energy_j;
    row->stage.energy_error_j = region->stats.energy_error_j;
    row->stage.token_j = region->token_j;
    row->stage.sm_clock_mhz = region->stats.sm_clock_mhz;
    row->stage.mfu_at_clock = region->mfu_at_clock;
    row->reasons[LP_STAGE_ENERGY] = region->energy_reason;
    row->reasons[LP_STAGE_TOKEN_ENERGY] = region->token_j_reason;
    row->reasons[LP_STAGE_CLOCK] = region->clock_reason;
}

int lp_stage_rows_add(struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        struct lp_region_finding *region = &findings->regions.items[i];
        struct lp_stage_row row = { .stage = LLMPERF_STAGE_INIT };

        if (region->stats.kind != LLMPERF_REGION_STAGE)
            continue;
        row.stage.region = i;
        set_host(region, &row);
        set_device(findings, region, &row);
        set_interval(findings, region, &row);
        set_use(findings, region, &row);
        set_energy(region, &row);
        if (lp_vector_push(&findings->stage_rows.rows, row) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* Of an interval: it may be unknown where the value is known. */
static bool is_limit(const char *field)
{
    return strstr(field, "_low") || strstr(field, "_high");
}

const char *lp_stage_reason(const struct lp_stage_row *row, const char *field)
{
    static const struct {
        const char *field;
        enum lp_stage_fact fact;
    } fields[] = {
        { "wall_ms", LP_STAGE_CALLS },
        { "call_ms", LP_STAGE_CALLS },
        { "time_ms", LP_STAGE_CALLS },
        { "active_ms", LP_STAGE_CALLS },
        { "tokens", LP_STAGE_TOKENS },
        { "tokens_per_s", LP_STAGE_TOKENS },
        { "rate", LP_STAGE_TOKENS },
        { "mfu", LP_STAGE_MFU },
        { "mbu", LP_STAGE_MBU },
        { "mfu_elapsed", LP_STAGE_MFU_ELAPSED },
        { "mbu_elapsed", LP_STAGE_MBU_ELAPSED },
        { "device", LP_STAGE_DEVICE },
        { "busy_ms", LP_STAGE_BUSY },
        { "busy_low_ms", LP_STAGE_INTERVAL },
        { "busy_high_ms", LP_STAGE_INTERVAL },
        { "mfu_low", LP_STAGE_MFU },
        { "mfu_high", LP_STAGE_MFU },
        { "mbu_low", LP_STAGE_MBU },
        { "mbu_high", LP_STAGE_MBU },
        { "time_low_ms", LP_STAGE_CALLS },
        { "time_high_ms", LP_STAGE_CALLS },
        { "tokens_per_s_low", LP_STAGE_TOKENS },
        { "tokens_per_s_high", LP_STAGE_TOKENS },
        { "idle_ms", LP_STAGE_IDLE },
        { "floor_ms", LP_STAGE_FLOOR },
        { "floor_ratio", LP_STAGE_RATIO },
        { "wall_ratio", LP_STAGE_RATIO },
        { "bound", LP_STAGE_BOUND },
        { "energy_j", LP_STAGE_ENERGY },
        { "energy_error_j", LP_STAGE_ENERGY },
        { "token_j", LP_STAGE_TOKEN_ENERGY },
        { "sm_clock_mhz", LP_STAGE_CLOCK },
        { "mfu_at_clock", LP_STAGE_CLOCK },
    };

    for (size_t i = 0; i < LP_LENGTH(fields); i++)
        if (strcmp(fields[i].field, field) == 0)
            return row->reasons[fields[i].fact] || !is_limit(field)
                       ? row->reasons[fields[i].fact]
                       : row->reasons[LP_STAGE_INTERVAL];
    return NULL;
}

static double time_of(const struct lp_findings *findings, const struct lp_region_finding *region)
{
    if (!isnan(region->active_ms))
        return findings->device_known ? fmax(region->active_ms, region->stats.gpu_busy_ms)
                                      : region->active_ms;
    return region->stats.gpu_busy_ms;
}

struct lp_stage_sum lp_stage_sum_of(const struct lp_findings *findings, const char *path,
                                    int32_t device)
{
    const llmperf_region_stats *before = NULL;
    struct lp_stage_sum sum = { 0 };

    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row;
         row = lp_rows_next(findings, row)) {
        const llmperf_region_stats *region = &row->stats;
        bool again;

        if (device >= 0 && region->device != device)
            continue;
        /* Wall times repeat in the rows of a process's GPUs. */
        again = before && before->process_id == region->process_id;
        before = region;
        sum.rows++;
        sum.time_ms += fmax(0, time_of(findings, row)); /* NaN counts as 0 */
        sum.busy_ms += fmax(0, region->gpu_busy_ms);
        sum.idle_ms += fmax(0, region->idle_ms);
        if (again)
            continue;
        sum.processes++;
        sum.instances += region->instances;
        sum.wall_ms += region->wall_sum_ms;
        sum.collected_ms += fmax(0, lp_collected_ms(region));
    }
    return sum;
}

static void widen(struct lp_spread *spread, double value)
{
    spread->least = fmin(spread->least, value); /* fmin() and fmax() ignore NaN */
    spread->most = fmax(spread->most, value);
}

static void add_row(struct lp_stage_spread *spread, const struct lp_region_finding *row)
{
    const llmperf_region_stats *region = &row->stats;

    if (region->instances < spread->least_calls)
        spread->least_calls = region->instances;
    if (region->instances > spread->most_calls)
        spread->most_calls = region->instances;
    widen(&spread->call_ms, row->call_ms);
    widen(&spread->tokens_per_s, row->tokens_per_s);
    widen(&spread->wall_ratio, row->use.wall_ratio);
    widen(&spread->mbu, row->use.mbu);
    widen(&spread->mfu, row->use.mfu);
    widen(&spread->mbu_elapsed, row->use.mbu_elapsed);
    widen(&spread->mfu_elapsed, row->use.mfu_elapsed);
    if (!spread->bound)
        spread->bound = lp_bound_words(row->use.compute_floor_ms, row->use.memory_floor_ms);
    if (region->device < 0)
        return;
    widen(&spread->busy_ms, region->gpu_busy_ms);
    widen(&spread->busy_share, row->busy_share);
}

struct lp_stage_spread lp_stage_spread_of(const struct lp_findings *findings, const char *path)
{
    static const struct lp_spread none = { NAN, NAN };
    struct lp_stage_spread spread = { UINT64_MAX, 0,    none, none, none, none,
                                      none,       none, none, none, none, NULL };

    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row;
         row = lp_rows_next(findings, row))
        if (row->stats.instances > 0)
            add_row(&spread, row);
    return spread;
}
