/* SPDX-License-Identifier: Apache-2.0 */
/** FLOPs, bytes and time of a kernel from its measured metrics: quantities of this library's
 * presets, or metrics with the names of ncu.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_AMOUNTS_H
#define LP_FINDINGS_KERNEL_AMOUNTS_H

#include "llmperf/profile.h"

#define LP_AMOUNT_TERMS 96
#define LP_AMOUNT_FORMS 3

/** Means over calls of the relevant metrics; zero-initialised: none. */
struct lp_kernel_amounts {
    struct {
        double sum, count;
    } terms[LP_AMOUNT_TERMS][LP_AMOUNT_FORMS];
    double cycles_sum, cycles_count;
    const char *source; /* tool that measured them; NULL: none */
};

/** Result for one call. NaN and NULL: not known. */
struct lp_kernel_counted {
    double time_ns, bytes, flops;
    const char *dtype; /* of most FLOPs; NULL: no FLOPs */
};

/** Add a metric; others than the relevant ones are ignored. */
void lp_kernel_amounts_add(struct lp_kernel_amounts *amounts, const llmperf_metric_stats *metric);
void lp_kernel_amounts_read(const struct lp_kernel_amounts *amounts,
                            struct lp_kernel_counted *counted);

#endif
