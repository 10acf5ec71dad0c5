/* SPDX-License-Identifier: Apache-2.0 */
/** Recommendations for a profile: gathers the facts of its stages and applies the rules.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_ADVICE_H
#define LP_FINDINGS_ADVICE_H

#include "lib/findings/findings.h"

/** Fill findings->advice from the rest of the findings. 0 or LLMPERF_ENOMEM. */
int lp_advice_add(struct lp_findings *findings);

/** Does this row stand for its stage? A region that used several devices is looked at where it was
 * busiest, and a stage that only holds another one (decode_all its steps) not at all. */
bool lp_advice_is_about(const struct lp_findings *findings, size_t region);

#endif
