/* SPDX-License-Identifier: Apache-2.0 */
/** What a profile is of, for titles and lists.
 * @threads any thread */
#ifndef LP_FINDINGS_ABOUT_H
#define LP_FINDINGS_ABOUT_H

#include "llmperf/findings.h"

struct lp_findings;

/** values.title points to `title`. */
struct lp_about {
    llmperf_about values;
    char title[256];
};

/** From the machine, limits and regions of the findings. */
void lp_about_set(struct lp_about *about, const struct lp_findings *findings);

#endif
