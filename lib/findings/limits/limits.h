/* SPDX-License-Identifier: Apache-2.0 */
/** Limits that regions are compared with: peaks and bandwidth of the GPU, for the dtype of the run.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_LIMITS_H
#define LP_FINDINGS_LIMITS_H

#include <stdbool.h>

#include "lib/findings/limits/facts.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/analysis.h"

struct lp_limits {
    llmperf_hardware *hardware; /* NULL: not known, see hardware_reason */
    const char *gpu_name;       /* name from the driver; NULL: not known */
    char dtype[32];             /* "": not given */
    llmperf_hardware_value peak, bandwidth, l2;
    double ridge; /* peak / bandwidth, FLOP/B; NaN: not known */
    /* Measured on this GPU: the peak of the dtype, and the faster of reading and copying. NaN: not
     * known. */
    double measured_tflops, measured_bandwidth_gbs;
    const char *measured_tflops_reason, *measured_gbs_reason; /* NULL: known */
    char hardware_reason[512], dtype_reason[512];             /* "": known */
};

/** Never fails; unknown values have a reason. `limits` borrows texts of `machine`. */
void lp_limits_init(struct lp_limits *limits, const llmperf_profile *profile,
                    const struct lp_machine *machine, size_t gpu);
void lp_limits_clear(struct lp_limits *limits);

/** "memory-bandwidth bound": what the roofline bound on time is given by. */
const char *lp_bound_words(double compute_floor_ms, double memory_floor_ms);

/** Utilisation of a region for the work that program or model gave.
 * @param limits  NULL: the region ran on another GPU. */
void lp_limits_apply(const struct lp_limits *limits, const llmperf_region_stats *region,
                     bool device_known, llmperf_utilisation *out);

#endif
