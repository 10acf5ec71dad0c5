/* SPDX-License-Identifier: Apache-2.0 */
/** Reports about a set of regions, and the folder regions/ of a run.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_RUN_DIR_REGION_REPORT_H
#define LP_OUTPUT_RUN_DIR_REGION_REPORT_H

#include "lib/base/text.h"
#include "lib/findings/reports/region_set.h"

/** The documents; each adds to `out`. 0 or LLMPERF_ENOMEM. */
int lp_region_report_json(const struct lp_region_set *set, const struct lp_region_filter *filter,
                          struct lp_text *out);
int lp_region_report_md(const struct lp_region_set *set, const struct lp_region_filter *filter,
                        struct lp_text *out);

/** Name of a label's folder: the label itself if it is a valid file name everywhere, else a unique
 * name.
 * @param twin  Another label of the run differs only in case. */
void lp_region_folder_name(const char *label, bool twin, struct lp_text *out);

/** Write regions/ in a run directory. 0, LLMPERF_EIO, LLMPERF_ENOMEM, or an error of
 * lp_region_options_init(). */
int lp_region_reports_write(const llmperf_profile *profile, const char *run_dir);

#endif
