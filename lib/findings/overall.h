/* SPDX-License-Identifier: Apache-2.0 */
/** MFU and MBU of all stages together.
 * @threads any thread */
#ifndef LP_FINDINGS_OVERALL_H
#define LP_FINDINGS_OVERALL_H

#include "llmperf/findings.h"

struct lp_findings;

/** Reasons of `values` point to the texts. */
struct lp_overall {
    llmperf_overall values;
    char mfu_reason[320], mbu_reason[320], elapsed_reason[320];
};

/** From the regions, once the stages that advice is about are marked. */
void lp_overall_set(struct lp_overall *overall, const struct lp_findings *findings);

#endif
