/* SPDX-License-Identifier: Apache-2.0 */
/** Gives the shapes of a profile's kernels the matrix products of the model's operators, and heads
 * and lengths of its attention.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_STAGE_SHAPES_H
#define LP_FINDINGS_STAGE_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct lp_findings;

/** Is it one kernel, launch geometry and product in both, in regions that differ in numbers only
 * (layers)? */
bool lp_kernel_shapes_alike(const llmperf_kernel_shape *a, const llmperf_kernel_shape *b);

/** Set operator, m, n, k and batch of kernels of class GEMM, heads and lengths of those of class
 * attention, FLOPs and bytes of both, or the reason why they are unknown.
 * @param rows  Shapes in the order of the profile. @param sms  SMs of the GPU; 0: unknown.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_stage_shapes_find(const struct lp_findings *findings, llmperf_kernel_shape *rows,
                         size_t count, uint64_t sms);

#endif
