/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/output/format/row_fields.h"
#include "lib/profile/profile.h"

static void put_spread(struct lp_metrics *metrics, const char *key,
                       const llmperf_iteration_stats *stats)
{
    struct lp_json *json = &metrics->json;

    if (stats->count == 0) {
        lp_put_null(metrics, key, LP_REASON_NO_SPAN);
        return;
    }
    lp_json_open(json, key, '{');
    lp_put_row(metrics, LP_ROW_SPREAD, NULL, stats, stats->count);
    lp_put_number(metrics, "cv", lp_variation(stats->std_ms, stats->mean_ms),
                  LP_REASON_NO_INSTANCE);
    if (stats->estimate_calls != LLMPERF_UNKNOWN) {
        lp_json_open(json, "estimate", '{');
        lp_put_row(metrics, LP_ROW_SPREAD, "estimate", stats, stats->count);
        lp_json_close(json, '}');
    }
    lp_json_close(json, '}');
}

/* Array of [low ms, high ms, count]; empty if the run has no histogram. */
static void put_histogram(struct lp_metrics *metrics, const struct lp_stage_iterations *stage)
{
    struct lp_json *json = &metrics->json;
    struct lp_bucket *buckets = NULL;
    size_t count = 0;

    if (stage->times[LP_TIME_WALL].count > 0)
        lp_profile_row_histogram(metrics->findings->profile, LP_ROW_SPREAD, stage->wall_row,
                                 &buckets, &count);
    lp_json_open(json, "wall_histogram", '[');
    for (size_t i = 0; i < count; i++) {
        lp_json_open(json, NULL, '[');
        lp_json_number(json, NULL, buckets[i].low_ms);
        lp_json_number(json, NULL, buckets[i].high_ms);
        lp_json_count(json, NULL, buckets[i].count);
        lp_json_close(json, ']');
    }
    lp_json_close(json, ']');
    free(buckets);
}

static void put_spreads(struct lp_metrics *metrics, const struct lp_stage_iterations *stage)
{
    for (size_t i = 0; i < LP_TIMES; i++)
        put_spread(metrics, lp_time_names[i].member, &stage->times[i]);
    lp_json_open(&metrics->json, "class_ms", '{');
    for (size_t i = 0; i < stage->class_count; i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

        llmperf_profile_iteration_stats(metrics->findings->profile, stage->first_class + i, &stats);
        put_spread(metrics, stats.quantity, &stats);
    }
    lp_json_close(&metrics->json, '}');
}

/* Only classes that ran: most of the sixteen would be 0. */
static void put_classes(struct lp_metrics *metrics, const llmperf_iteration *iteration)
{
    lp_json_open(&metrics->json, "class_ms", '{');
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++) {
        const char *name = llmperf_profile_class(metrics->findings->profile, i);

        if (name && iteration->class_ms[i] > 0)
            lp_json_number(&metrics->json, name, iteration->class_ms[i]);
    }
    lp_json_close(&metrics->json, '}');
}

static void put_iteration(struct lp_metrics *metrics, const llmperf_iteration *iteration)
{
    struct lp_json *json = &metrics->json;

    lp_json_open(json, NULL, '{');
    lp_put_row(metrics, LP_ROW_ITERATION, NULL, iteration, 1);
    put_classes(metrics, iteration);
    lp_json_count(json, "window", iteration->window > 0 ? iteration->window : LLMPERF_UNKNOWN);
    lp_json_close(json, '}');
}

static void put_stage(struct lp_metrics *metrics, const struct lp_stage_iterations *stage)
{
    struct lp_json *json = &metrics->json;
    llmperf_iteration iteration;
    size_t row = stage->first_recent;

    lp_json_open(json, NULL, '{');
    lp_json_string(json, "region", stage->region);
    lp_json_count(json, "count", stage->times[LP_TIME_WALL].count);
    put_spreads(metrics, stage);
    put_histogram(metrics, stage);
    lp_json_open(json, "recent", '[');
    while (lp_stage_iterations_next(stage, metrics->findings->profile, &row, &iteration))
        put_iteration(metrics, &iteration);
    lp_json_close(json, ']');
    lp_json_close(json, '}');
}

void lp_put_iterations(struct lp_metrics *metrics)
{
    if (metrics->findings->stages.count == 0) {
        lp_put_null(metrics, "iterations", LP_REASON_NO_ITERATIONS);
        return;
    }
    lp_json_open(&metrics->json, "iterations", '[');
    for (size_t i = 0; i < metrics->findings->stages.count; i++)
        put_stage(metrics, &metrics->findings->stages.items[i]);
    lp_json_close(&metrics->json, ']');
}
