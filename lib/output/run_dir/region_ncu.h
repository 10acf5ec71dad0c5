/* SPDX-License-Identifier: Apache-2.0 */
/** What ncu measured in a region: tables of its report, and sections.txt.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_RUN_DIR_REGION_NCU_H
#define LP_OUTPUT_RUN_DIR_REGION_NCU_H

#include "lib/base/text.h"
#include "lib/findings/reports/region_set.h"

/** The kernels measured in the region and in nested ones, and the sections of the region if it was
 * measured as a whole. Nothing without results of ncu. */
void lp_region_ncu_md(const struct lp_region_set *set, const llmperf_region_stats *region,
                      struct lp_text *out);

/** The sections of the region and of each kernel that was measured directly in it, as text. */
void lp_region_ncu_text(const struct lp_region_set *set, const llmperf_region_stats *region,
                        struct lp_text *out);

/** Was this row measured in the region, or in a nested one? */
bool lp_region_ncu_has(const llmperf_region_stats *region, const struct lp_ncu_kernel *row,
                       bool nested);

#endif
