/* SPDX-License-Identifier: Apache-2.0 */
/** The profile as a whole: what it is of, and how well all stages together use the GPU.
 * @threads any thread */
#ifndef LP_FINDINGS_WHOLE_H
#define LP_FINDINGS_WHOLE_H

#include "llmperf/findings.h"

struct lp_findings;

/** values.title points to `title`. */
struct lp_about {
    llmperf_about values;
    char title[256];
};

/** Reasons of `values` point to the texts. */
struct lp_overall {
    llmperf_overall values;
    char mfu_reason[320], mbu_reason[320], elapsed_reason[320];
};

/** From the machine, limits and regions of the findings. */
void lp_about_set(struct lp_about *about, const struct lp_findings *findings);

/** From the regions, once the stages that advice is about are marked. */
void lp_overall_set(struct lp_overall *overall, const struct lp_findings *findings);

#endif
