/* SPDX-License-Identifier: Apache-2.0 */
/** What ran in CUDA graphs, by launch region and capture region.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_CAPTURES_H
#define LP_OUTPUT_FORMAT_CAPTURES_H

#include "lib/base/text.h"
#include "lib/output/format/metrics_put.h"

/** A table for each launch region, at most `limit` rows in all; one line if no graph ran. */
void lp_captures_md(const llmperf_profile *profile, size_t limit, struct lp_text *out);

/** The member captures. */
void lp_put_captures(struct lp_metrics *metrics);

#endif
