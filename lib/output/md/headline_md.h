/* SPDX-License-Identifier: Apache-2.0 */
/** First lines of the report: coverage and summary.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_HEADLINE_MD_H
#define LP_OUTPUT_MD_HEADLINE_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** What the verdict means, and the problems of an incomplete run. */
void lp_verdict_md(const struct lp_findings *findings, struct lp_text *out);

/** Documents say a usual verdict below the advice, any other one at the top. ncu measures some
 * kernels only. */
bool lp_verdict_is_usual(const struct lp_findings *findings);

/** A line of totals and a line for each stage; left out if the profile's coverage is too low. */
void lp_headline_md(const struct lp_findings *findings, struct lp_text *out);

/** One line for a stage with many processes or GPUs: smallest and largest value of each number. */
void lp_stage_rows_md(const struct lp_findings *findings, const char *path, struct lp_text *out);

/** What a part of a waterfall is: "attention: GEMM", "Gaps between kernels". */
void lp_part_name_md(const struct lp_waterfall_part *part, struct lp_text *out);

/** The waterfall of the stage with most time; NULL: there is none. */
const struct lp_waterfall *lp_main_waterfall(const struct lp_findings *findings);

/** The stage with most time, which the summary describes; NULL: there is none. */
const struct lp_region_finding *lp_main_stage(const struct lp_findings *findings);

/** MBU and MFU of all stages together, or why they are not known. */
void lp_overall_md(const struct lp_findings *findings, struct lp_text *out);

/** Problems of the ledger, as a list. */
void lp_problems_md(const llmperf_profile *profile, struct lp_text *out);

#endif
