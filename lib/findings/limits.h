/* SPDX-License-Identifier: Apache-2.0 */
/** The limits that regions of a run are compared with: peaks and bandwidth of its GPU, and the
 * dtype that the run computes in.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_LIMITS_H
#define LP_FINDINGS_LIMITS_H

#include <stdbool.h>

#include "lib/findings/facts.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/analysis.h"

struct lp_limits {
    llmperf_hardware *hardware; /* NULL: not known, hardware_reason says why */
    const char *gpu_name;       /* as the driver gives it; NULL: not known */
    char dtype[32];             /* "": nobody told */
    llmperf_hardware_value peak, bandwidth, l2;
    double ridge; /* peak / bandwidth, FLOP/B; NaN: not known */
    /* Measured on this GPU: of the dtype, and the faster of reading and copying. NaN: not known. */
    double ceiling_tflops, ceiling_gbs;
    const char *ceiling_tflops_reason, *ceiling_gbs_reason; /* NULL: known */
    char hardware_reason[512], dtype_reason[512];           /* "": known */
};

/** Never fails: what is not known has its reason. `limits` borrows text of `machine`. */
void lp_limits_init(struct lp_limits *limits, const llmperf_profile *profile,
                    const struct lp_machine *machine, size_t gpu);
void lp_limits_clear(struct lp_limits *limits);

/** Utilisation of a region by the work that the program gave it. `limits` NULL: they are those of
 * another GPU. */
void lp_limits_apply(const struct lp_limits *limits, const llmperf_region_stats *region,
                     bool device_known, llmperf_utilisation *out);

#endif
