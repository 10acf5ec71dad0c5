/* SPDX-License-Identifier: Apache-2.0 */
/** Tables that are also documents of their own. Rows above `limit` are counted in a line below the
 * table; 0: all.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_TABLES_MD_H
#define LP_OUTPUT_MD_TABLES_MD_H

#include <stddef.h>

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** All stages, or the longest outermost regions if there are none. */
void lp_table_stages(const struct lp_findings *findings, size_t limit, struct lp_text *out);
void lp_table_operators(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** Kernels by short name, over regions and devices. */
void lp_table_kernel_names(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** What the verdict means; NULL for "complete". */
const char *lp_verdict_words(uint32_t verdict);

/** What the verdict means for a table, in one line; nothing for "complete". */
void lp_table_warning(const llmperf_profile *profile, struct lp_text *out);

#endif
