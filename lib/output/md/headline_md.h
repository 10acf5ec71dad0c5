/* SPDX-License-Identifier: Apache-2.0 */
/** First lines of the report: how complete it is, and what it says in short.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_HEADLINE_MD_H
#define LP_OUTPUT_MD_HEADLINE_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** What the verdict means, in words; the problems, if something is missing. */
void lp_verdict_md(const struct lp_findings *findings, struct lp_text *out);

/** Totals and stages in one line each; withheld from a profile that accounts for too little. */
void lp_headline_md(const struct lp_findings *findings, struct lp_text *out);

/** One line of a stage that many processes or GPUs are in: the least and the most of each number.
 */
void lp_stage_rows_md(const struct lp_findings *findings, const char *path, struct lp_text *out);

/** Problems of the ledger as a list. */
void lp_problems_md(const llmperf_profile *profile, struct lp_text *out);

#endif
