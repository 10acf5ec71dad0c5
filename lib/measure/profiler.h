/* SPDX-License-Identifier: Apache-2.0 */
/** Measures what a session of tier deep adds to a launch and to a node of a CUDA graph.
 * @threads one at a time per object */
#ifndef LP_MEASURE_PROFILER_H
#define LP_MEASURE_PROFILER_H

#include "lib/measure/kernels.h"

/** Starts a session, so CUPTI is attached from then on: measure everything else before. Failures
 * set the reason. */
void lp_measure_profiler(const struct lp_kernels *kernels, struct lp_bench *bench,
                         struct lp_measured_peaks *measured_peaks);

#endif
