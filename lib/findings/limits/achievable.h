/* SPDX-License-Identifier: Apache-2.0 */
/** What good kernels reach of a roofline bound on this GPU.
 * @threads any thread */
#ifndef LP_FINDINGS_ACHIEVABLE_H
#define LP_FINDINGS_ACHIEVABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hardware/measured_peaks.h"

struct lp_limits;

/** Share of a roofline bound that good kernels reach where nothing was measured: decode attention
 * and GEMM that read from device memory reach 75 to 90 % of the bandwidth of an H100 or H200
 * (docs/lab/deepseek-ocr.md: lm_head 87 %, copies and reads 90 to 93 %). */
#define LP_ACHIEVABLE 0.8

/** Of the peak of its dtype, where attention is limited by compute: 740 TFLOP/s of FlashAttention-3
 * on an H100 (arXiv 2407.08608); FlashAttention-2 reaches 73 % on an A100 (arXiv 2307.08691). */
#define LP_ACHIEVABLE_ATTENTION 0.75

/** No kernel is much shorter than this, whatever it does: start, one round of latencies, and end.
 */
#define LP_KERNEL_LEAST_MS 0.002

struct lp_achievable {
    double share;
    const char *source; /* where it was measured; NULL: LP_ACHIEVABLE, assumed */
};

/** What was measured on this GPU; NULL: the GPU is unknown. */
const struct lp_measured_peaks *lp_measured_here(const struct lp_limits *limits);

/** Measured products and memcpys, and where they were measured; NULL: none. */
const struct lp_sweep *lp_measured_sweep(const struct lp_limits *limits, const char **source_out);

/** Peak of a dtype, TFLOP/s; NaN: unknown. Both may be NULL. */
double lp_peak_tflops(const struct lp_limits *limits, const char *dtype);

/** Roofline bound on the time of some work, ms; NaN: a limit is unknown. */
double lp_bound_ms(const struct lp_limits *limits, const char *dtype, double flops, double bytes);

/** For a matrix product of this size: the share that the nearest measured product reaches. */
struct lp_achievable lp_achievable_product(const struct lp_limits *limits, const char *dtype,
                                           uint64_t m, uint64_t n, uint64_t k);

/** Time of a fused attention kernel at the rates that good ones reach, ms; NaN: a limit is unknown.
 * @param source_out  Which rate that is. */
double lp_achievable_attention(const struct lp_limits *limits, const char *dtype, double flops,
                               double bytes, const char **source_out);

/** Bytes of an element, from the number of bits in a dtype's name; NaN: unknown, or NULL. */
double lp_element_bytes(const char *dtype);

/** Bytes of the three matrices; NaN for an unknown dtype. */
double lp_product_bytes(const char *dtype, uint64_t m, uint64_t n, uint64_t k);

#endif
