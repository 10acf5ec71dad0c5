/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/limits/achievable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/dtype.h"
#include "lib/findings/limits/limits.h"
#include "lib/hardware/hardware.h"

double lp_peak_tflops(const struct lp_limits *limits, const char *dtype)
{
    llmperf_hardware_value peak = LLMPERF_HARDWARE_VALUE_INIT;

    return limits && limits->hardware && dtype &&
                   llmperf_hardware_peak(limits->hardware, dtype, &peak) == 0
               ? peak.value
               : (double)NAN;
}

double lp_bound_ms(const struct lp_limits *limits, const char *dtype, double flops, double bytes)
{
    double memory_ms = bytes / (limits->bandwidth.value * 1e6);
    double compute_ms = flops > 0 ? flops / (lp_peak_tflops(limits, dtype) * 1e9) : 0;

    if (!limits->hardware || !(limits->bandwidth.value > 0))
        return NAN;
    return isnan(compute_ms) || isnan(memory_ms) ? (double)NAN : fmax(compute_ms, memory_ms);
}

double lp_element_bytes(const char *dtype)
{
    const char *bits = dtype ? strpbrk(dtype, "123456789") : NULL;

    return bits ? strtod(bits, NULL) / 8 : (double)NAN;
}

double lp_product_bytes(const char *dtype, uint64_t m, uint64_t n, uint64_t k)
{
    lp_u128 elements = (lp_u128)m * k + (lp_u128)k * n + (lp_u128)m * n;

    for (uint32_t i = 1; lp_dtype(i); i++)
        if (strcmp(lp_dtype(i)->name, dtype) == 0)
            return (double)lp_dtype_bytes(i, elements);
    return NAN;
}

const struct lp_measured_peaks *lp_measured_here(const struct lp_limits *limits)
{
    return limits->hardware ? &limits->hardware->measured_peaks : NULL;
}

const struct lp_sweep *lp_measured_sweep(const struct lp_limits *limits, const char **source_out)
{
    if (!limits->hardware || limits->hardware->sweep.count == 0)
        return NULL;
    *source_out = limits->hardware->sweep_source;
    return &limits->hardware->sweep;
}

double lp_achievable_attention(const struct lp_limits *limits, const char *dtype, double flops,
                               double bytes, const char **source_out)
{
    double compute_ms = lp_bound_ms(limits, dtype, flops, 0) / LP_ACHIEVABLE_ATTENTION;
    double memory_ms = lp_bound_ms(limits, dtype, 0, bytes) / LP_ACHIEVABLE;

    if (isnan(compute_ms) || isnan(memory_ms))
        return NAN;
    *source_out = "80 % of the bandwidth, assumed";
    if (limits->hardware->read_source) {
        memory_ms = bytes / (limits->hardware->read_gbs * 1e6);
        *source_out = limits->hardware->read_source;
    }
    if (compute_ms > memory_ms)
        *source_out = "75 % of the peak, as FlashAttention-3 on an H100";
    return fmax(compute_ms, memory_ms);
}

struct lp_achievable lp_achievable_product(const struct lp_limits *limits, const char *dtype,
                                           uint64_t m, uint64_t n, uint64_t k)
{
    /* 16-bit formats run equally fast. */
    const char *measured_as = strcmp(dtype, "fp16") == 0 ? "bf16" : dtype;
    struct lp_achievable result = { LP_ACHIEVABLE, NULL };
    const struct lp_sweep_point *point;
    const struct lp_sweep *sweep;
    const char *source;
    double bound_ms;

    if (!(sweep = lp_measured_sweep(limits, &source)) ||
        !(point = lp_sweep_nearest(sweep, measured_as, m, n, k)))
        return result;
    bound_ms =
        lp_bound_ms(limits, dtype, 2.0 * (double)point->m * (double)point->n * (double)point->k,
                    lp_product_bytes(dtype, point->m, point->n, point->k));
    if (!(bound_ms > 0))
        return result;
    result.share = fmin(bound_ms * 1e6 / (double)point->ns, 1);
    result.source = source;
    return result;
}
