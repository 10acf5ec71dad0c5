/* SPDX-License-Identifier: Apache-2.0 */
/** Tables that the report shares with the table documents. `limit` is the most rows; more are
 * counted in a line below.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_TABLES_MD_H
#define LP_OUTPUT_MD_TABLES_MD_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** All stages; if there are none the outermost regions with the most time, at most `limit`. */
int lp_table_stages(const struct lp_findings *findings, size_t limit, struct lp_text *out);
int lp_table_operators(const llmperf_profile *profile, size_t limit, struct lp_text *out);

/** Device time by stage and kernel class; one line if there is no device time or no table of
 * classes. */
void lp_table_classes(const struct lp_findings *findings, struct lp_text *out);

/** Kernels added up by short name over regions and devices, if any name has several rows; a table
 * and an empty line. */
void lp_table_kernel_names(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** A table for each launch region of CUDA graphs, at most `limit` rows in all. */
void lp_captures_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** A table of all triggered windows, and the longest kernels of the newest ones. */
void lp_windows_md(const struct lp_findings *findings, struct lp_text *out);

/** GPUs that work on one stage together, with its heading; nothing where there are none. */
void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out);

/** @param wide  With percentiles, device and share: kernels.md. */
int lp_table_kernels(const llmperf_profile *profile, size_t limit, bool wide, struct lp_text *out);

/** One line that says what the verdict means for a table, unless it is "complete". */
void lp_table_warning(const llmperf_profile *profile, struct lp_text *out);

#endif
