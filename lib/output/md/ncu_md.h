/* SPDX-License-Identifier: Apache-2.0 */
/** Table of the kernels and ranges that ncu measured.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_NCU_MD_H
#define LP_OUTPUT_MD_NCU_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** At most `limit` rows, without a heading; nothing without results of ncu. */
void lp_ncu_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** Head and row of the table. */
void lp_ncu_head_md(struct lp_text *out);
void lp_ncu_row_md(const struct lp_ncu_kernel *row, struct lp_text *out);

#endif
