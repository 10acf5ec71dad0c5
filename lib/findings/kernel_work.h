/* SPDX-License-Identifier: Apache-2.0 */
/** FLOPs and bytes of kernels, for the roofline: from hardware counters of the kernel (this library
 * with replay=kernel, or ncu), or from the work of a region that runs only this kernel.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_WORK_H
#define LP_FINDINGS_KERNEL_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/profile/fields.h"

struct lp_findings;

/** Kernels considered: those with the most device time. */
#define LP_KERNEL_WORK_MOST 20

/** Limits of the roofline plot. NaN: none. */
struct lp_roof {
    double peak_tflops, bandwidth_gbs, ridge;
    const char *dtype; /* of the peak */
};

struct lp_kernel_works {
    struct lp_roof roof; /* of the run's dtype; if not known, of the first kernel's */
    LP_VECTOR(struct lp_kernel_work) rows; /* most device time first */
    struct lp_strings pool;                /* names of kernels without a row in the profile */
};

/** Zero-initialised `works`. 0 or LLMPERF_ENOMEM. Clear it in any case. */
int lp_kernel_works_read(struct lp_kernel_works *works, const struct lp_findings *findings);
void lp_kernel_works_clear(struct lp_kernel_works *works);

/** Can it be plotted: is its intensity above 0 and its rate known? */
bool lp_kernel_work_has_point(const struct lp_kernel_work *work);

#endif
