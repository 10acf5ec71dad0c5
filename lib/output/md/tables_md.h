/* SPDX-License-Identifier: Apache-2.0 */
/** Tables of the report and of the documents with one table. Rows above `limit` are counted in a
 * line below the table.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_TABLES_MD_H
#define LP_OUTPUT_MD_TABLES_MD_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** All stages, or the longest outermost regions if there are none. */
int lp_table_stages(const struct lp_findings *findings, size_t limit, struct lp_text *out);
int lp_table_operators(const llmperf_profile *profile, size_t limit, struct lp_text *out);

/** Device time by stage and kernel class. One line without device times or without the table of
 * classes. */
void lp_table_classes(const struct lp_findings *findings, struct lp_text *out);

/** Kernels by short name, over regions and devices, and an empty line. Nothing if each name has one
 * row. */
void lp_table_kernel_names(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** A table for each launch region of CUDA graphs, with at most `limit` rows in all. */
void lp_captures_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** All triggered windows, and the longest kernels of the newest ones. */
void lp_windows_md(const struct lp_findings *findings, struct lp_text *out);

/** GPUs that share a stage, with a heading. Nothing if there are none. */
void lp_ranks_md(const struct lp_findings *findings, struct lp_text *out);

/** Collectives by stage, GPU and message, with a heading. Nothing if there are none. */
void lp_collectives_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** @param wide  With percentiles, device and share, as in kernels.md. */
int lp_table_kernels(const llmperf_profile *profile, size_t limit, bool wide, struct lp_text *out);

/** What the verdict means for a table, in one line; nothing for "complete". */
void lp_table_warning(const llmperf_profile *profile, struct lp_text *out);

#endif
