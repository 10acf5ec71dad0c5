/* SPDX-License-Identifier: Apache-2.0 */
/** Our own kernels: they read and fill device memory. PTX that the driver compiles, so that
 * neither nvcc nor NVRTC is needed.
 * @threads one at a time per object */
#ifndef LP_MEASURE_KERNELS_H
#define LP_MEASURE_KERNELS_H

#include "lib/measure/bench.h"
#include "lib/hardware/measured_peaks.h"

struct lp_kernels {
    void *read, *fill; /* functions of the bench's module */
};

/** 0 or LLMPERF_ENODEVICE. */
int lp_kernels_open(struct lp_kernels *kernels, struct lp_bench *bench);

/** Fill all buffers with random words, each ANDed and ORed into numbers of one format near 1. Zeros
 * would run faster than real data. 0 or LLMPERF_ENODEVICE. */
int lp_kernels_fill(const struct lp_kernels *kernels, struct lp_bench *bench, uint32_t and_mask,
                    uint32_t or_mask);

/** Measure reading by kernel, and copying by the driver. Failures set the reason. */
void lp_measure_memory(const struct lp_kernels *kernels, struct lp_bench *bench,
                       struct lp_measured_peaks *measured_peaks);

/** Use the times of `work` units (bytes, FLOPs) as the peak if they give a higher one than so far;
 * `scale` units per millisecond are one unit of the peak. */
void lp_measured_peak_take(struct lp_measured_peak *measured_peak, double work, double scale,
                           const struct lp_times *times, const char *how);

/** The last error becomes the reason, unless something was measured. */
void lp_measured_peak_fail(struct lp_measured_peak *measured_peak);

#endif
