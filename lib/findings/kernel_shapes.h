/* SPDX-License-Identifier: Apache-2.0 */
/** The shapes of a profile with what follows from the GPU: occupancy and waves.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_SHAPES_H
#define LP_FINDINGS_KERNEL_SHAPES_H

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_findings;

/** Zero-initialised: none. */
struct lp_kernel_shapes {
    LP_VECTOR(llmperf_kernel_shape) rows; /* in the order of the profile */
};

/** 0 or LLMPERF_ENOMEM. Clear them afterwards in both cases. */
int lp_kernel_shapes_init(struct lp_kernel_shapes *shapes, const struct lp_findings *findings);
void lp_kernel_shapes_clear(struct lp_kernel_shapes *shapes);

#endif
