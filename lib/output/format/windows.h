/* SPDX-License-Identifier: Apache-2.0 */
/** Triggered windows in metrics.json and in reports.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_WINDOWS_H
#define LP_OUTPUT_FORMAT_WINDOWS_H

#include "lib/output/format/json_writer.h"
#include "llmperf/profile.h"

/** "windows": an array of all, each with its kernels. */
void lp_windows_json(struct lp_json *json, const llmperf_profile *profile);

/** A table of all, and the longest kernels of the newest ones. */
void lp_windows_md(const llmperf_profile *profile, struct lp_text *out);

#endif
