/* SPDX-License-Identifier: Apache-2.0 */
/** Gives the shapes of a profile's kernels the matrix products of the model's operators.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_STAGE_GEMMS_H
#define LP_FINDINGS_STAGE_GEMMS_H

#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct lp_findings;

/** Set operator, m, n, k, batch, FLOPs and bytes, or the reason why they are unknown, of kernels of
 * class GEMM.
 * @param rows  Shapes in the order of the profile. @param sms  SMs of the GPU; 0: unknown.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_stage_gemms_find(const struct lp_findings *findings, llmperf_kernel_shape *rows,
                        size_t count, uint64_t sms);

#endif
