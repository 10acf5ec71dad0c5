/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of the GPU as Markdown.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_MD_LIMITS_MD_H
#define LP_OUTPUT_MD_LIMITS_MD_H

#include "lib/base/text.h"
#include "lib/findings/findings.h"

/** The GPU's limits: those in use, and those measured. One line if the GPU is not known. */
void lp_limits_md(const struct lp_findings *findings, struct lp_text *out);

#endif
