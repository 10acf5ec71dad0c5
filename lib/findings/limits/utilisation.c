/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/findings/limits/limits.h"
#include "llmperf/sys/analysis.h"

/* Bounds with a smaller ratio are called balanced. */
#define CLEARLY 1.2
/* Rounding of nanoseconds: that far below the bound is no fault. */
#define ROUNDING 1e-6

/* Members of the input after struct_size, all doubles. */
static const char *const fields[] = { "flops",           "bytes",         "time_ms",
                                      "peak_tflops",     "bandwidth_gbs", "busy_share",
                                      "serial_floor_ms", "link_bytes",    "link_gbs",
                                      "l2_mb",           "steps",         "devices" };
#define FIELDS LP_LENGTH(fields)

_Static_assert(sizeof(llmperf_utilisation_input) == sizeof(size_t) + FIELDS * sizeof(double),
               "each field has its name");

static bool is_known(double value)
{
    return value > 0; /* false for NaN */
}

/* Copy the caller's (maybe shorter) struct and check it; 0 becomes NaN where it means "not
 * known". */
static int read_input(const llmperf_utilisation_input *input, llmperf_utilisation_input *whole)
{
    double values[FIELDS];

    *whole = (llmperf_utilisation_input)LLMPERF_UTILISATION_INPUT_INIT;
    if (lp_sized_check(input) < 0 || lp_sized_in(whole, input, sizeof(*whole)) < 0)
        return LLMPERF_EINVAL;
    memcpy(values, (char *)whole + sizeof(size_t), sizeof(values));
    for (size_t i = 0; i < FIELDS; i++) {
        if (values[i] < 0 || isinf(values[i]))
            return lp_error(LLMPERF_EINVAL, "%s is %g; it must be positive, or 0 if unknown",
                            fields[i], values[i]);
        if (!is_known(values[i]))
            values[i] = NAN;
    }
    memcpy((char *)whole + sizeof(size_t), values, sizeof(values));
    if (whole->busy_share > 1 + ROUNDING)
        return lp_error(LLMPERF_EINVAL, "busy_share is %g; it must not exceed 1",
                        whole->busy_share);
    whole->steps = is_known(whole->steps) ? whole->steps : 1;
    whole->devices = is_known(whole->devices) ? whole->devices : 1;
    return 0;
}

static const char *missing_work(const llmperf_utilisation_input *in, bool memory)
{
    if (memory)
        return isnan(in->bytes)           ? "the bytes of the work are unknown or 0"
               : isnan(in->bandwidth_gbs) ? "the memory bandwidth is unknown"
                                          : NULL;
    return isnan(in->flops) ? "the FLOPs of the work are unknown or 0"
           : isnan(in->peak_tflops)
               ? "the peak of the dtype is unknown, or the GPU does not support the dtype"
               : NULL;
}

static void set_mfu(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    out->achieved_tflops = in->flops / (in->time_ms * 1e9);
    out->mfu = out->achieved_tflops / (in->peak_tflops * in->devices);
    if ((out->mfu_reason = missing_work(in, false)))
        out->mfu = NAN;
    else if (isnan(in->time_ms))
        out->mfu_reason = "the time is unknown or 0";
    else if (out->mfu > 1 + ROUNDING) {
        out->mfu = NAN;
        out->mfu_reason = "above 1, so an input is wrong: the peak, the dtype, the FLOPs (tokens, "
                          "convention) or the time (part of the region was not recorded)";
    }
}

static bool fits_in_l2(const llmperf_utilisation_input *in)
{
    return in->bytes / in->steps < 2 * in->l2_mb * (1 << 20) * in->devices;
}

static void set_mbu(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    out->achieved_gbs = in->bytes / (in->time_ms * 1e6);
    out->mbu = out->achieved_gbs / (in->bandwidth_gbs * in->devices);
    if (fits_in_l2(in))
        out->warnings |= LLMPERF_WARNING_L2_RESIDENT;
    if ((out->mbu_reason = missing_work(in, true)))
        out->mbu = NAN;
    else if (isnan(in->time_ms))
        out->mbu_reason = "the time is unknown or 0";
    else if (out->mbu > 1 + ROUNDING && !(out->warnings & LLMPERF_WARNING_L2_RESIDENT)) {
        out->mbu = NAN;
        out->mbu_reason = "above 1, so an input is wrong: the bandwidth, the bytes (tokens, dtype, "
                          "experts) or the time (part of the region was not recorded)";
    }
}

/* The time is that of a busy device; utilisation in the field's sense is of all elapsed time. */
static void set_elapsed(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    out->mfu_elapsed = out->mfu * in->busy_share;
    out->mbu_elapsed = out->mbu * in->busy_share;
}

static void set_roofline(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    out->intensity = in->flops / in->bytes;
    out->ridge = 1e3 * in->peak_tflops / in->bandwidth_gbs;
    out->attainable_tflops =
        isnan(out->intensity) || isnan(out->ridge)
            ? NAN
            : fmin(in->peak_tflops, out->intensity * in->bandwidth_gbs / 1e3) * in->devices;
    out->mfu_limit = out->attainable_tflops / (in->peak_tflops * in->devices);
    if (isnan(out->intensity))
        out->intensity_reason = isnan(in->flops) ? missing_work(in, false) : missing_work(in, true);
}

/* A bound without a part of the known work would be too low. */
static bool is_limit_missing(const llmperf_utilisation_input *in)
{
    return (is_known(in->flops) && isnan(in->peak_tflops)) ||
           (is_known(in->bytes) && isnan(in->bandwidth_gbs)) ||
           (is_known(in->link_bytes) && isnan(in->link_gbs));
}

static void set_floors(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    double largest;

    out->compute_floor_ms = in->flops / (in->peak_tflops * 1e9 * in->devices);
    out->memory_floor_ms = in->bytes / (in->bandwidth_gbs * 1e6 * in->devices);
    out->link_floor_ms = in->link_bytes / (in->link_gbs * 1e6);
    /* fmax() ignores NaN: the bound of one resource alone is still a lower bound */
    largest = fmax(fmax(out->compute_floor_ms, out->memory_floor_ms), out->link_floor_ms);
    out->time_floor_ms = isnan(in->serial_floor_ms) ? largest : in->serial_floor_ms;
    if (isnan(in->serial_floor_ms) && is_limit_missing(in)) {
        out->time_floor_ms = NAN;
        out->floor_reason = "the GPU limit that applies to the work is unknown: the peak of the "
                            "dtype, or the bandwidth";
    } else if (in->serial_floor_ms < largest * (1 - ROUNDING)) {
        out->time_floor_ms = NAN;
        out->floor_reason = "the serial lower bound is below the lower bound of the whole work: "
                            "operators, peak and bandwidth do not belong together";
    } else if (isnan(out->time_floor_ms)) {
        out->floor_reason = "neither FLOPs with a peak nor bytes with a bandwidth are known";
    }
}

static void set_ratio(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    out->floor_ratio = in->time_ms / out->time_floor_ms;
    out->wall_ratio = out->floor_ratio / in->busy_share;
    if (isnan(in->time_ms))
        out->ratio_reason = "the time is unknown or 0";
    else if (isnan(out->time_floor_ms))
        out->ratio_reason = out->floor_reason;
    else if (out->floor_ratio < 1 - ROUNDING) {
        out->floor_ratio = out->wall_ratio = NAN;
        out->ratio_reason = out->warnings & LLMPERF_WARNING_L2_RESIDENT
                                ? "faster than the lower bound: the bytes fit in the L2 cache and "
                                  "are not read from device memory"
                                : "faster than the lower bound, so an input is wrong: a limit, the "
                                  "work, or the time";
    }
}

/* Bound of the work on a GPU that is kept busy. */
static uint32_t bound_of_floors(const llmperf_utilisation *out)
{
    double compute = out->compute_floor_ms, memory = out->memory_floor_ms;

    if (out->link_floor_ms > compute && out->link_floor_ms > memory)
        return LLMPERF_BOUND_COMMUNICATION;
    if (memory > CLEARLY * compute)
        return LLMPERF_BOUND_MEMORY;
    return compute > CLEARLY * memory ? LLMPERF_BOUND_COMPUTE : LLMPERF_BOUND_BALANCED;
}

const char *lp_bound_words(double compute_floor_ms, double memory_floor_ms)
{
    if (isnan(compute_floor_ms) || memory_floor_ms > CLEARLY * compute_floor_ms)
        return "memory-bandwidth bound";
    if (isnan(memory_floor_ms) || compute_floor_ms > CLEARLY * memory_floor_ms)
        return "compute bound";
    return "compute and memory-bandwidth bound";
}

static void set_bound(const llmperf_utilisation_input *in, llmperf_utilisation *out)
{
    if (isnan(out->compute_floor_ms))
        out->bound_reason = missing_work(in, false);
    else if (isnan(out->memory_floor_ms))
        out->bound_reason = missing_work(in, true);
    else if (!isnan(in->time_ms) && isnan(out->floor_ratio))
        out->bound_reason = out->ratio_reason;
    else
        out->bound = bound_of_floors(out);
}

int llmperf_utilisation_compute(const llmperf_utilisation_input *input, llmperf_utilisation *out)
{
    llmperf_utilisation_input in;
    llmperf_utilisation whole = LLMPERF_UTILISATION_INIT;
    int status = read_input(input, &in);

    if (status < 0)
        return status;
    set_mfu(&in, &whole);
    set_mbu(&in, &whole);
    set_elapsed(&in, &whole);
    set_roofline(&in, &whole);
    set_floors(&in, &whole);
    set_ratio(&in, &whole);
    set_bound(&in, &whole);
    return lp_sized_out(out, &whole, sizeof(whole));
}
