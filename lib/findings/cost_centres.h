/* SPDX-License-Identifier: Apache-2.0 */
/** What takes most time, for readers who do not know GPUs: the kernel classes of each stage, and
 * idle time.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_COST_CENTRES_H
#define LP_FINDINGS_COST_CENTRES_H

#include <stdbool.h>

#include "lib/base/vector.h"

struct lp_cost_centre {
    const char *stage; /* label or path; NULL: outside of stages */
    const char *what;  /* "matrix products" */
    double ms, share;  /* share: of all_ms */
    const char *key;   /* kernel class, or which idle time */
    bool kernels;      /* sums of durations */
    const char *act;   /* where to act: "use a fused kernel"; NULL: no rule says */
    double saving_ms;  /* what that would save at most; NaN: not known */
};

struct lp_findings;

/** Zero-initialised: empty. Shares never add up to more than 1. */
struct lp_cost_centres {
    LP_VECTOR(struct lp_cost_centre) rows; /* largest first */
    double all_ms;                         /* time of all stages, and of work outside of them */
    bool together;                         /* times are sums over several processes or GPUs */
    bool overlapped; /* kernels ran at the same time: their times are scaled to the elapsed time */
};

/** 0 or LLMPERF_ENOMEM. Clear `centres` in any case. */
int lp_cost_centres_init(struct lp_cost_centres *centres, const struct lp_findings *findings);
void lp_cost_centres_clear(struct lp_cost_centres *centres);

#endif
