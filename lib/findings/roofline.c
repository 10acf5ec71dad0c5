/* SPDX-License-Identifier: Apache-2.0 */
/* Time floors and closed forms of the roofline model. TFLOP/s x 1e9 are FLOPs a millisecond, GB/s x
 * 1e6 bytes a millisecond. */
#include <math.h>
#include <stdbool.h>

#include "llmperf/sys/analysis.h"

static bool is_positive(double value)
{
    return value > 0 && isfinite(value);
}

double llmperf_peak_mixed(const double *flops, const double *peaks_tflops, size_t count)
{
    double sum = 0, time = 0;

    if (!flops || !peaks_tflops)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        if (!is_positive(flops[i]) || !is_positive(peaks_tflops[i]))
            return NAN;
        sum += flops[i];
        time += flops[i] / peaks_tflops[i];
    }
    return count > 0 ? sum / time : NAN;
}

double llmperf_floor_serial(const double *flops, const double *bytes, const double *peaks_tflops,
                            size_t count, double bandwidth_gbs)
{
    double floor_ms = 0;

    if (!flops || !bytes || !peaks_tflops || count == 0 || !is_positive(bandwidth_gbs))
        return NAN;
    for (size_t i = 0; i < count; i++) {
        if (!(flops[i] >= 0) || !(bytes[i] >= 0) || !is_positive(peaks_tflops[i]))
            return NAN;
        floor_ms += fmax(flops[i] / (peaks_tflops[i] * 1e9), bytes[i] / (bandwidth_gbs * 1e6));
    }
    return isfinite(floor_ms) ? floor_ms : NAN;
}

double llmperf_batch_critical(double ridge, double weight_bytes)
{
    /* A weight takes 2 FLOPs a request and is read once a step. */
    return is_positive(ridge) && is_positive(weight_bytes) ? ridge * weight_bytes / 2 : NAN;
}

double llmperf_intensity_limit(double active_parameters, double flops_per_pair, double kv_bytes,
                               double context)
{
    if (!is_positive(active_parameters) || !is_positive(flops_per_pair) || !is_positive(kv_bytes) ||
        !is_positive(context))
        return NAN;
    return (2 * active_parameters + flops_per_pair * context) / (kv_bytes * context);
}

double llmperf_context_critical(double ridge, double active_parameters, double flops_per_pair,
                                double kv_bytes)
{
    double surplus = ridge * kv_bytes - flops_per_pair;

    if (!is_positive(ridge) || !is_positive(active_parameters) || !is_positive(flops_per_pair) ||
        !is_positive(kv_bytes))
        return NAN;
    return surplus > 0 ? 2 * active_parameters / surplus : INFINITY;
}
