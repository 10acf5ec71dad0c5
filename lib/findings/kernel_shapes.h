/* SPDX-License-Identifier: Apache-2.0 */
/** The shapes of a profile with what follows from the GPU: occupancy and waves.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_KERNEL_SHAPES_H
#define LP_FINDINGS_KERNEL_SHAPES_H

#include <stdbool.h>

#include "lib/base/text.h"
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

/** The shape with most time of a kernel in a stage.
 * @param label       Of the region in the stage, as lp_label_in_stage() gives it.
 * @param short_name  As in llmperf_kernel_stats.
 * @return NULL: none is known. */
const llmperf_kernel_shape *lp_kernel_shape_find(const struct lp_kernel_shapes *shapes,
                                                 const char *stage, const char *label,
                                                 const char *short_name);

/** Blocks of the grid / SMs; NaN: not known. */
double lp_shape_filled(const llmperf_kernel_shape *shape);

/** "8 x 6144 x 4096", or "8 x 32 heads x 1 x 1024 x 128" of attention, whose shape is known. */
void lp_kernel_shape_size(const llmperf_kernel_shape *row, struct lp_text *out);

/** "8 x 6144 x 4096 at 20.1 TFLOP/s and 2520 GB/s, 61 % of what is achievable (measured on this
 * GPU)". Nothing if its shape is unknown. */
void lp_kernel_shape_words(const llmperf_kernel_shape *row, struct lp_text *out);

#endif
