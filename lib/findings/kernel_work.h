/* SPDX-License-Identifier: Apache-2.0 */
/** FLOPs and bytes of single kernels, for the roofline: from hardware counters of each kernel (of
 * this library with replay=kernel, or of ncu), or from the work of a region that runs one kernel
 * only.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_WORK_H
#define LP_FINDINGS_KERNEL_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"

struct lp_findings;

/** Most kernels that are looked at: those with the most device time. */
#define LP_KERNEL_WORK_MOST 20

/** A kernel on one device, all regions together. NaN: not known; `reason` says why. */
struct lp_kernel_work {
    const char *name, *short_name; /* as llmperf_kernel_stats */
    const char *demangled;
    int32_t device;
    uint64_t calls;
    double total_ms, share; /* of the device time of all kernels */
    double counted_ms;      /* where CUPTI gives no times of kernels: the time that it counted */
    uint64_t counted_calls;
    /* Of one call, mean over the calls that were measured. */
    double flops, bytes, time_ms;
    double intensity, achieved_tflops, achieved_gbs, attainable_tflops;
    const char *dtype;  /* that most of its FLOPs are of; NULL: not known, or it does none */
    const char *source; /* where FLOPs and bytes come from; NULL: nowhere */
    const char *reason; /* NULL: all is known */
};

/** A roofline to draw. NaN: there is none. */
struct lp_roof {
    double peak_tflops, bandwidth_gbs, ridge;
    const char *dtype; /* of the peak */
};

struct lp_kernel_works {
    struct lp_roof roof; /* of the run's dtype; if that is not known, of the first kernel's */
    LP_VECTOR(struct lp_kernel_work) rows; /* most device time first */
    struct lp_strings pool;                /* names of kernels that have no row in the profile */
};

/** Zero-initialised works. 0 or LLMPERF_ENOMEM. Clear them afterwards in both cases. */
int lp_kernel_works_read(struct lp_kernel_works *works, const struct lp_findings *findings);
void lp_kernel_works_clear(struct lp_kernel_works *works);

/** Can it be drawn? Its intensity is above 0 and its rate is known. */
bool lp_kernel_work_has_point(const struct lp_kernel_work *work);

#endif
