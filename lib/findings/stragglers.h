/* SPDX-License-Identifier: Apache-2.0 */
/** Why a GPU arrives last at the collectives of a stage.
 * @threads any thread */
#ifndef LP_FINDINGS_STRAGGLERS_H
#define LP_FINDINGS_STRAGGLERS_H

#include "lib/base/text.h"
#include "lib/profile/fields.h"

struct lp_findings;

/** Append what the GPU that arrives last does longer than the one that waits longest for it, as in
 * "its GEMM kernels take 12 % longer". Nothing: no difference explains half of the waiting. */
void lp_straggler_cause(const struct lp_findings *findings, const struct lp_rank *last,
                        const struct lp_rank *waits, struct lp_text *text);

#endif
