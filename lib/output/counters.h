/* SPDX-License-Identifier: Apache-2.0 */
/** Named metrics (hardware counters, results of ncu) in documents. @threads one at a time per
 * object
 */
#ifndef LP_OUTPUT_COUNTERS_H
#define LP_OUTPUT_COUNTERS_H

#include "lib/base/hashmap.h"
#include "lib/output/json_writer.h"
#include "llmperf/profile.h"

/** Where the metrics of a region stand. */
struct lp_counter_index {
    const llmperf_profile *profile;
    struct lp_hashmap first; /* hash of the path, how many paths before have it: its first row */
};

/** 0 or LLMPERF_ENOMEM. */
int lp_counter_index_init(struct lp_counter_index *index, const llmperf_profile *profile);
void lp_counter_index_clear(struct lp_counter_index *index);

/** First row of the metrics of a path; the number of rows if there is none. */
size_t lp_counter_index_find(const struct lp_counter_index *index, const char *path);

/** Add the member "counters": those of a region row as a whole, means and texts by name. A name
 * that several groups or sources have carries them in brackets. */
void lp_counters_json(struct lp_json *json, const struct lp_counter_index *index,
                      const llmperf_region_stats *region);

/** Add the member "metrics": every row with its unit, group and spread, those of kernels too. */
void lp_metrics_rows_json(struct lp_json *json, const llmperf_profile *profile);

#endif
