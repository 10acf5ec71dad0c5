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

#define OFFSET(constant, name, ...) offsetof(llmperf_iteration, name##_ms),

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

    if (time == LP_TIME_WALL)
        stage->wall_row = row;
    if (time < LP_TIMES)
        stage->times[time] = *stats;
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

static double time_of(const llmperf_iteration *row, enum lp_iteration_time time)
{
    static const size_t offsets[LP_TIMES] = { LP_ITERATION_TIMES(OFFSET) };
    double value;

    memcpy(&value, (const char *)row + offsets[time], sizeof(value));
    return value;
}

double lp_steady_count(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    double count = (double)stage->times[time].count;

    return count - (stage->warms_up && !isnan(time_of(&stage->first, time)));
}

double lp_steady_sum(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    double first = stage->warms_up ? time_of(&stage->first, time) : 0;

    return stage->times[time].sum_ms - (isnan(first) ? 0 : first);
}

double lp_std_without(double count, double mean, double std, double value)
{
    double rest = (count * mean - value) / (count - 1);
    double squares = std * std * (count - 1) - (value - mean) * (value - rest);

    return count > 2 ? sqrt(fmax(squares, 0) / (count - 2)) : (double)NAN;
}

double lp_steady_std(const struct lp_stage_iterations *stage, enum lp_iteration_time time)
{
    const llmperf_iteration_stats *all = &stage->times[time];
    double first = stage->warms_up ? time_of(&stage->first, time) : (double)NAN;

    return isnan(first) ? all->std_ms
                        : lp_std_without((double)all->count, all->mean_ms, all->std_ms, first);
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

    return stage->sampled && row->estimate_high_ms > 0
               ? lp_estimate_error(row)
               : lp_steady_std(stage, time) / sqrt(lp_steady_count(stage, time));
}

/* Fewer calls hardly show a steady state: then the first must be much slower. */
#define CALLS_LEAST     4
#define FEW_CALLS_RATIO 5.0

static void find_first(struct lp_stage_iterations *stage, const llmperf_profile *profile)
{
    const llmperf_iteration_stats *wall = &stage->times[LP_TIME_WALL];
    llmperf_iteration iteration;
    size_t row = 0;

    stage->first.sequence = 0;
    /* In tier light, calls that are not collected are complete before earlier ones that are. */
    while (lp_stage_iterations_next(stage, profile, &row, &iteration))
        if (stage->first.sequence == 0 || iteration.begin_ns < stage->first.begin_ns)
            stage->first = iteration;
    if (stage->first.sequence != 0 && wall->count > 1)
        stage->warms_up = stage->first.wall_ms >=
                          (wall->count < CALLS_LEAST ? FEW_CALLS_RATIO : LP_WARM_UP_RATIO) *
                              (wall->sum_ms - stage->first.wall_ms) / (double)(wall->count - 1);
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
    stage->host_ms = stage->times[LP_TIME_SPAN].count == stage->times[LP_TIME_WALL].count
                         ? stage->times[LP_TIME_WALL].sum_ms - stage->times[LP_TIME_SPAN].sum_ms
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
