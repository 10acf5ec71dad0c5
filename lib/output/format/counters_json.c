/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/output/format/counters.h"
#include "lib/output/format/row_fields.h"
#include "lib/findings/limits/measured.h"
#include "lib/profile/fields.h"

static bool is_of_row(const llmperf_metric_stats *metric, const llmperf_region_stats *region)
{
    return !metric->kernel && (metric->device < 0 || metric->device == region->device) &&
           (metric->process_id == 0 || metric->process_id == region->process_id);
}

/* Rows of a region with the same name are adjacent. */
static bool has_namesake(const llmperf_profile *profile, size_t index,
                         const llmperf_metric_stats *metric)
{
    for (int side = -1; side <= 1; side += 2) {
        llmperf_metric_stats other = LLMPERF_METRIC_STATS_INIT;
        size_t at =
            index +
            (size_t)side; /* for row 0, the row before wraps around to a value past the end */

        if (at < lp_row_count(profile, LP_ROW_METRIC) &&
            llmperf_profile_metric(profile, at, &other) == 0 && !other.kernel &&
            lp_text_same(other.region, metric->region) && lp_text_same(other.name, metric->name))
            return true;
    }
    return false;
}

static void put_counter(struct lp_json *json, const llmperf_profile *profile, size_t index,
                        const llmperf_metric_stats *metric)
{
    char name[512];

    snprintf(name, sizeof(name), "%s", metric->name);
    if (has_namesake(profile, index, metric))
        snprintf(name, sizeof(name), "%s (%s%s%s)", metric->name, metric->source,
                 metric->group ? ": " : "", metric->group ? metric->group : "");
    if (metric->text)
        lp_json_string(json, name, metric->text);
    else
        lp_json_number(json, name, metric->mean);
}

void lp_counters_json(struct lp_json *json, const struct lp_counter_index *index,
                      const llmperf_region_stats *region)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    lp_json_open(json, "counters", '{');
    for (size_t i = lp_counter_index_find(index, region->path);
         i < lp_row_count(index->profile, LP_ROW_METRIC) &&
         llmperf_profile_metric(index->profile, i, &metric) == 0 &&
         lp_text_same(metric.region, region->path);
         i++)
        if (is_of_row(&metric, region))
            put_counter(json, index->profile, i, &metric);
    lp_json_close(json, '}');
}

static void put_row(struct lp_json *json, const llmperf_metric_stats *metric)
{
    lp_json_open(json, NULL, '{');
    lp_row_json(json, LP_ROW_METRIC, metric);
    lp_json_count(json, "process_id",
                  metric->process_id == 0 ? LLMPERF_UNKNOWN : metric->process_id);
    lp_json_close(json, '}');
}

void lp_metrics_rows_json(struct lp_json *json, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_METRIC);

    lp_json_open(json, "metrics", '[');
    for (size_t i = 0; i < count; i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

        if (llmperf_profile_metric(profile, i, &metric) == 0)
            put_row(json, &metric);
    }
    lp_json_close(json, ']');
}
