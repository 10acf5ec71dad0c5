/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/findings/interval.h"
#include "lib/findings/stage_iterations.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"

double lp_variation(double std, double mean)
{
    return mean > 0 ? std / mean : NAN;
}

static bool is_of(const char *region, const char *stage)
{
    return region == stage || (region && stage && strcmp(region, stage) == 0);
}

static void find_recent(struct lp_stage_iterations *stage, const llmperf_profile *profile)
{
    stage->first_recent = lp_row_count(profile, LP_ROW_ITERATION);
    for (size_t row = stage->first_recent; row-- > 0 && stage->recent < LP_RECENT_ITERATIONS;) {
        llmperf_iteration iteration = LLMPERF_ITERATION_INIT;

        llmperf_profile_iteration(profile, row, &iteration);
        if (!is_of(iteration.region, stage->region))
            continue;
        stage->first_recent = row;
        stage->recent++;
    }
}

static void set_time(struct lp_stage_iterations *stage, const llmperf_iteration_stats *stats,
                     size_t row)
{
    enum lp_iteration_time time = lp_time_named(stats->quantity);

    if (time < LP_TIMES && stats->warm_up)
        stage->warm_up[time] = (struct lp_warm_up_time){ stats->count, stats->sum_ms };
    else if (time < LP_TIMES)
        stage->times[time] = *stats;
    if (time == LP_TIME_WALL && !stats->warm_up)
        stage->wall_row = row;
}

static void clear_times(struct lp_stage_iterations *stage)
{
    for (size_t i = 0; i < LP_TIMES; i++) {
        llmperf_iteration_stats *time = &stage->times[i];

        *time = (llmperf_iteration_stats)LLMPERF_ITERATION_STATS_INIT;
        time->sum_ms = time->mean_ms = time->std_ms = NAN;
        time->min_ms = time->max_ms = NAN;
        lp_set_percentiles(LP_ROW_SPREAD, time, NULL, NAN, NAN);
    }
}

double lp_all_calls(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    return (double)(stage->times[time].count + stage->warm_up[time].calls);
}

double lp_all_sum(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    return stage->times[time].sum_ms + stage->warm_up[time].ms;
}

double lp_estimate_error(const llmperf_iteration_stats *row)
{
    const struct lp_interval interval = { row->estimate_low_ms, row->estimate_high_ms };

    return hypot(lp_standard_error(interval, (double)row->estimate_collected),
                 row->std_ms / sqrt((double)row->estimate_calls));
}

double lp_steady_error(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    const llmperf_iteration_stats *row = &stage->times[time];

    return stage->sampled && row->estimate_high_ms > 0 ? lp_estimate_error(row)
                                                       : row->std_ms / sqrt((double)row->count);
}

static void find_first(struct lp_stage_iterations *stage, const llmperf_profile *profile)
{
    llmperf_iteration iteration;
    size_t row = 0;

    stage->first.sequence = 0;
    /* In tier light, calls that are not collected are complete before earlier ones that are. */
    while (lp_stage_iterations_next(stage, profile, &row, &iteration))
        if (stage->first.sequence == 0 || iteration.begin_ns < stage->first.begin_ns)
            stage->first = iteration;
}

size_t lp_stage_iterations_read(struct lp_stage_iterations *stage, const llmperf_profile *profile,
                                size_t row)
{
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

    *stage = (struct lp_stage_iterations){ .region = NULL };
    clear_times(stage);
    llmperf_profile_iteration_stats(profile, row, &stats);
    stage->region = stats.region;
    while (is_of(stats.region, stage->region)) {
        if (!stats.is_class) {
            set_time(stage, &stats, row);
        } else if (stage->class_count++ == 0) {
            stage->first_class = row;
        }
        stats = (llmperf_iteration_stats)LLMPERF_ITERATION_STATS_INIT;
        if (llmperf_profile_iteration_stats(profile, ++row, &stats) < 0)
            break;
    }
    /* Iterations without device work have a wall time but no span. */
    stage->host_ms = lp_all_calls(stage, LP_TIME_SPAN) == lp_all_calls(stage, LP_TIME_WALL)
                         ? lp_all_sum(stage, LP_TIME_WALL) - lp_all_sum(stage, LP_TIME_SPAN)
                         : (double)NAN;
    find_recent(stage, profile);
    find_first(stage, profile);
    return row;
}

bool lp_stage_iterations_next(const struct lp_stage_iterations *stage,
                              const llmperf_profile *profile, size_t *row,
                              llmperf_iteration *iteration)
{
    while (*row < lp_row_count(profile, LP_ROW_ITERATION)) {
        *iteration = (llmperf_iteration)LLMPERF_ITERATION_INIT;
        llmperf_profile_iteration(profile, (*row)++, iteration);
        if (is_of(iteration->region, stage->region))
            return true;
    }
    return false;
}

const struct lp_stage_iterations *lp_stage_iterations_find(const struct lp_stage_iterations *stages,
                                                           size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(stages[i].region, path) == 0)
            return &stages[i];
    return NULL;
}
