/* SPDX-License-Identifier: Apache-2.0 */
/** Named metrics (hardware counters, results of ncu) in documents.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_COUNTERS_H
#define LP_OUTPUT_FORMAT_COUNTERS_H

#include "lib/findings/limits/measured.h"
#include "lib/output/format/json_writer.h"
#include "llmperf/profile.h"

/** Add the member "counters": means and texts of a region row by name, without its kernels. A name
 * that several groups or sources have is followed by them in brackets. */
void lp_counters_json(struct lp_json *json, const struct lp_counter_index *index,
                      const llmperf_region_stats *region);

/** Add the member "metrics": all rows with unit, group and spread, those of kernels too. */
void lp_metrics_rows_json(struct lp_json *json, const llmperf_profile *profile);

#endif
