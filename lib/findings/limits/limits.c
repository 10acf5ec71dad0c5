/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/variable.h"
#include "lib/findings/limits/limits.h"
#include "lib/profile/profile.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/hardware.h"
#include "lib/hardware/measured_peaks.h"
#include "lib/hardware/gpu_peaks.h"

#define DTYPE_VARIABLE "LLMPERF_DTYPE"

static int32_t integer(const struct lp_machine *machine, size_t gpu, const char *key)
{
    double value = lp_machine_gpu_number(machine, gpu, key);

    return value > 0 && value <= INT32_MAX ? (int32_t)value : 0;
}

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* Measured peaks are read from the recording of the run, so its reports are the same on any
 * machine. */
static void take_recorded_peaks(struct lp_limits *limits, const struct lp_machine *machine,
                                size_t gpu)
{
    const char *at = lp_machine_gpu_text(machine, gpu, "measured.measured_at"), *name;
    struct lp_measured_peaks measured_peaks;
    char key[64];

    if (!at || !limits->hardware)
        return;
    lp_measured_peaks_init(&measured_peaks, "was not measured");
    copy_text(measured_peaks.measured_at, sizeof(measured_peaks.measured_at), at);
    copy_text(measured_peaks.driver, sizeof(measured_peaks.driver),
              lp_machine_text(machine, "driver.kernel_version"));
    for (size_t i = 0; (name = llmperf_measured_peak_name(i)); i++) {
        struct lp_measured_peak *item = &measured_peaks.items[i];
        double best;

        snprintf(key, sizeof(key), "measured.%s", name);
        best = lp_machine_gpu_number(machine, gpu, key);
        if (!(best > 0 && best < 1e9))
            continue;
        item->best = best;
        item->reason[0] = '\0';
        copy_text(item->how, sizeof(item->how), "env.json of the run");
    }
    lp_sweep_read(&measured_peaks.sweep, lp_machine_gpu_text(machine, gpu, "measured.sweep"));
    lp_hardware_take_peaks(limits->hardware, &measured_peaks, "env.json of the run");
}

static void find_peaks(struct lp_limits *limits)
{
    llmperf_measured_peak read = LLMPERF_MEASURED_PEAK_INIT, copy = LLMPERF_MEASURED_PEAK_INIT;
    llmperf_measured_peak dtype = LLMPERF_MEASURED_PEAK_INIT;

    if (!limits->hardware)
        return;
    llmperf_hardware_measured_peak(limits->hardware, "read", &read);
    llmperf_hardware_measured_peak(limits->hardware, "copy", &copy);
    limits->measured_bandwidth_gbs = fmax(read.best, copy.best);
    limits->measured_gbs_reason = isnan(limits->measured_bandwidth_gbs) ? read.reason : NULL;
    if (limits->dtype[0] &&
        llmperf_hardware_measured_peak(limits->hardware, limits->dtype, &dtype) == 0) {
        limits->measured_tflops = dtype.best;
        limits->measured_tflops_reason = dtype.reason;
    }
}

/* GPU limits in the run's configuration have precedence over the tables. */
static int look_up(const llmperf_hardware_query *query, const char *config_text,
                   llmperf_hardware **hardware_out)
{
    llmperf_config *config = NULL;
    int status = config_text ? llmperf_config_parse(config_text, &config) : 0;

    if (status == 0)
        status = llmperf_hardware_find(query, config, hardware_out);
    llmperf_config_free(config);
    return status;
}

static void find_hardware(struct lp_limits *limits, const struct lp_machine *machine, size_t gpu,
                          const char *config_text)
{
    const char *capability = lp_machine_gpu_text(machine, gpu, "compute_capability");
    double memory = lp_machine_gpu_number(machine, gpu, "memory_bytes");
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    int major = 0, minor = 0;

    if (capability && sscanf(capability, "%2d.%1d", &major, &minor) != 2)
        major = minor = 0;
    query.name = limits->gpu_name;
    query.cc_major = major;
    query.cc_minor = minor;
    query.memory_bytes = memory > 0 && memory < 1e18 ? (uint64_t)memory : 0;
    query.sm_count = integer(machine, gpu, "sm_count");
    query.clock_khz = integer(machine, gpu, "clock_khz");
    query.memory_clock_khz = integer(machine, gpu, "memory_clock_khz");
    query.bus_width_bits = integer(machine, gpu, "bus_width_bits");
    query.l2_bytes = integer(machine, gpu, "l2_bytes");
    query.uuid = lp_machine_gpu_text(machine, gpu, "uuid");
    query.driver = lp_machine_text(machine, "driver.kernel_version");
    if (!query.name)
        snprintf(limits->hardware_reason, sizeof(limits->hardware_reason),
                 "no GPU was seen (env.json lists none)");
    else if (look_up(&query, config_text, &limits->hardware) < 0)
        snprintf(limits->hardware_reason, sizeof(limits->hardware_reason), "%s",
                 llmperf_last_error());
}

/* In order of precedence: given for this profile; the variable now; the variable at the time of the
 * run; the recorded fact. */
static void find_dtype(struct lp_limits *limits, const llmperf_profile *profile,
                       const struct lp_machine *machine)
{
    const char *word = llmperf_profile_fact(profile, LP_DTYPE_FACT);

    if (!word)
        word = lp_variable(DTYPE_VARIABLE);
    if (!word || !*word)
        word = lp_machine_text(machine, "variables." DTYPE_VARIABLE);
    if (!word || !*word)
        word = llmperf_profile_fact(profile, "dtype");
    if (!word || !*word)
        snprintf(limits->dtype_reason, sizeof(limits->dtype_reason),
                 "the dtype that the program computes in is not known; set " DTYPE_VARIABLE
                 " (bf16, fp16, fp8 or another dtype of llmperf hardware) for the program or for "
                 "llmperf report, set run.dtype in the configuration, or give a model (model_path "
                 "of the session)");
    else
        snprintf(limits->dtype, sizeof(limits->dtype), "%s", word);
}

static void find_peak(struct lp_limits *limits)
{
    if (!limits->hardware || !limits->dtype[0])
        return;
    if (llmperf_hardware_peak(limits->hardware, limits->dtype, &limits->peak) < 0)
        snprintf(limits->dtype_reason, sizeof(limits->dtype_reason),
                 "the dtype of the run (" DTYPE_VARIABLE ", run.dtype or its model): %s",
                 llmperf_last_error());
    else if (limits->peak.reason)
        snprintf(limits->dtype_reason, sizeof(limits->dtype_reason), "no peak for %s: %s",
                 limits->dtype, limits->peak.reason);
}

void lp_limits_init(struct lp_limits *limits, const llmperf_profile *profile,
                    const struct lp_machine *machine, size_t gpu)
{
    const llmperf_hardware_value unknown = { sizeof(unknown), NAN, NULL, NULL, 0, 0 };

    *limits = (struct lp_limits){ .peak = unknown,
                                  .bandwidth = unknown,
                                  .l2 = unknown,
                                  .measured_tflops = NAN,
                                  .measured_bandwidth_gbs = NAN };
    limits->gpu_name = lp_machine_gpu_text(machine, gpu, "name");
    find_hardware(limits, machine, gpu, llmperf_profile_fact(profile, "config"));
    find_dtype(limits, profile, machine);
    find_peak(limits);
    take_recorded_peaks(limits, machine, gpu);
    find_peaks(limits);
    if (limits->hardware) {
        llmperf_hardware_quantity(limits->hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS,
                                  &limits->bandwidth);
        llmperf_hardware_quantity(limits->hardware, LLMPERF_HARDWARE_L2_MB, &limits->l2);
    }
    limits->ridge = limits->peak.value * 1e3 / limits->bandwidth.value;
}

void lp_limits_clear(struct lp_limits *limits)
{
    llmperf_hardware_free(limits->hardware);
    limits->hardware = NULL;
}

/* Work without triggered windows, among which sampling did not choose. */
static double work(uint64_t total, uint64_t in_windows)
{
    return total == LLMPERF_UNKNOWN || in_windows == LLMPERF_UNKNOWN ? NAN
                                                                     : (double)(total - in_windows);
}

void lp_limits_apply(const struct lp_limits *limits, const llmperf_region_stats *region,
                     bool device_known, llmperf_utilisation *out)
{
    llmperf_utilisation_input input = LLMPERF_UTILISATION_INPUT_INIT;
    /* Device time is of the sampled share, so the work is scaled to that share. */
    double collected = 1 - region->skipped_fraction;
    /* Wall times are of complete calls only, device times of all. */
    bool whole = region->instances > 0 && region->truncated == 0 && region->wall_sum_ms > 0;

    *out = (llmperf_utilisation)LLMPERF_UTILISATION_INIT;
    input.flops = work(region->flops, region->window_flops) * collected;
    input.bytes = work(region->bytes, region->window_bytes) * collected;
    input.time_ms = device_known ? lp_collected_busy_ms(region) : NAN;
    input.peak_tflops = limits ? limits->peak.value : NAN;
    input.bandwidth_gbs = limits ? limits->bandwidth.value : NAN;
    input.l2_mb = limits ? limits->l2.value : NAN;
    input.steps =
        (double)(region->instances - region->window_instances + region->truncated) * collected;
    /* Device work may run on after its region has ended; the GPU is then busy all the time. */
    if (whole && input.time_ms > 0)
        input.busy_share = fmin(1, input.time_ms / lp_collected_ms(region));
    llmperf_utilisation_compute(&input, out);
}
