/* SPDX-License-Identifier: Apache-2.0 */
/** Table of the kernels and ranges that ncu measured.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_NCU_MD_H
#define LP_OUTPUT_MD_NCU_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** At most `limit` rows, without a heading; nothing without results of ncu. */
void lp_ncu_md(const struct lp_findings *findings, size_t limit, struct lp_text *out);

/** The same table of some rows. */
void lp_ncu_rows_md(const struct lp_findings *findings, const struct lp_ncu_kernel *const *rows,
                    size_t count, struct lp_text *out);

#endif
