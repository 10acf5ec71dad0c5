/* SPDX-License-Identifier: Apache-2.0 */
/* GPU values given by the user: LLMPERF_PEAK_TFLOPS, LLMPERF_BANDWIDTH_GBS, configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hardware/user.h"
#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/hardware.h"

#define PEAK_VARIABLE      "LLMPERF_PEAK_TFLOPS"
#define BANDWIDTH_VARIABLE "LLMPERF_BANDWIDTH_GBS"
#define PEAK_KEY           "hardware.peak_tflops"
#define BANDWIDTH_KEY      "hardware.bandwidth_gbs"

/* Far above any GPU; a larger value is FLOP/s given instead of TFLOP/s. */
#define MOST 1e9

/* A dense peak and the sparse one differ by 2. */
#define SUSPICIOUS 1.5

static bool is_sound(double value)
{
    return value > 0 && value <= MOST;
}

/* Digits with at most one point and an optional exponent, nothing after them. The process's locale
 * may have a decimal comma. */
static bool parse(const char *text, size_t length, double *value_out)
{
    char number[64], *end;

    if (length == 0 || length >= sizeof(number) || strspn(text, "0123456789.eE+-") < length ||
        text[0] == '-')
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    *value_out = lp_number_read(number, &end);
    return *end == '\0' && is_sound(*value_out);
}

static void set_peak(llmperf_hardware *hardware, int dtype, double value, const char *source)
{
    llmperf_hardware_value *peak = &hardware->peaks[dtype];

    if (value >= SUSPICIOUS * peak->value && peak->origin == LLMPERF_ORIGIN_TABLE)
        lp_hardware_warn(
            hardware,
            "%s gives %g TFLOP/s for %s; the table's dense peak is %g. Is this the sparse figure?",
            source, value, llmperf_hardware_dtype((size_t)dtype), peak->value);
    lp_hardware_set(peak, value, LLMPERF_ORIGIN_USER, LLMPERF_CONFIDENCE_HIGH, source);
}

static void set_all_peaks(llmperf_hardware *hardware, double value, const char *source)
{
    double bf16 = hardware->peaks[LP_PEAK_BF16].value;

    if (value >= SUSPICIOUS * bf16)
        lp_hardware_warn(
            hardware,
            "%s gives %g TFLOP/s; the dense peak for bf16 is %g. Is this the sparse figure?",
            source, value, bf16);
    lp_hardware_warn(hardware, "%s gives one peak, which is used for every dtype", source);
    for (int i = 0; i < LP_PEAKS; i++)
        lp_hardware_set(&hardware->peaks[i], value, LLMPERF_ORIGIN_USER, LLMPERF_CONFIDENCE_HIGH,
                        source);
}

static void set_bandwidth(llmperf_hardware *hardware, double value, const char *source)
{
    lp_hardware_set(&hardware->quantities[LLMPERF_HARDWARE_BANDWIDTH_GBS - 1], value,
                    LLMPERF_ORIGIN_USER, LLMPERF_CONFIDENCE_HIGH, source);
}

static int bad_peaks(const char *text)
{
    return lp_error(LLMPERF_EINVAL,
                    PEAK_VARIABLE "=%s is not a positive number of TFLOP/s; write 989.4, or "
                                  "bf16=989.4,fp8=1978.9 with dtypes of llmperf hardware",
                    text);
}

/* "989.4", or "bf16=989.4,fp8=1978.9". */
static int take_peak_variable(llmperf_hardware *hardware, const char *text)
{
    double value;

    if (!strchr(text, '=')) {
        if (!parse(text, strlen(text), &value))
            return bad_peaks(text);
        set_all_peaks(hardware, value, PEAK_VARIABLE);
        return 0;
    }
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t length = strcspn(at, ","), name_length = strcspn(at, "=,");
        char name[32];
        int dtype;

        snprintf(name, sizeof(name), "%.*s", (int)(name_length < 31 ? name_length : 31), at);
        dtype = lp_peak_find(name);
        if (dtype < 0 || at[name_length] != '=' ||
            !parse(at + name_length + 1, length - name_length - 1, &value))
            return bad_peaks(text);
        set_peak(hardware, dtype, value, PEAK_VARIABLE);
    }
    return 0;
}

static int bad_key(const char *key)
{
    return lp_error(LLMPERF_EINVAL, "configuration: %s must be a positive number%s", key,
                    strcmp(key, PEAK_KEY) == 0 ? ", or a map from dtypes to positive numbers" : "");
}

/* LLMPERF_ENOENT: not there. */
static int read_key(const llmperf_config *config, const char *key, double *value_out)
{
    int status = llmperf_config_has(config, key) ? llmperf_config_number(config, key, value_out)
                                                 : LLMPERF_ENOENT;

    return status == LLMPERF_EFORMAT || (status == 0 && !is_sound(*value_out)) ? bad_key(key)
                                                                               : status;
}

static int take_peak_map(llmperf_hardware *hardware, const llmperf_config *config, size_t length)
{
    size_t found = 0;

    for (int i = 0; i < LP_PEAKS; i++) {
        char key[64];
        double value;
        int status;

        snprintf(key, sizeof(key), PEAK_KEY ".%s", llmperf_hardware_dtype((size_t)i));
        if ((status = read_key(config, key, &value)) == LLMPERF_EINVAL)
            return status;
        if (status == 0)
            set_peak(hardware, i, value, PEAK_KEY " in the configuration");
        found += status == 0;
    }
    return found == length
               ? 0
               : lp_error(LLMPERF_EINVAL, PEAK_KEY
                          " in the configuration has an unknown dtype; see llmperf hardware");
}

static int take_config(llmperf_hardware *hardware, const llmperf_config *config, bool *any)
{
    size_t length = llmperf_config_length(config, PEAK_KEY);
    double value;
    int status;

    if (length > 0)
        status = take_peak_map(hardware, config, length);
    else if ((status = read_key(config, PEAK_KEY, &value)) == 0)
        set_all_peaks(hardware, value, PEAK_KEY " in the configuration");
    if (status < 0 && status != LLMPERF_ENOENT)
        return status;
    *any |= status == 0;
    if ((status = read_key(config, BANDWIDTH_KEY, &value)) == 0)
        set_bandwidth(hardware, value, BANDWIDTH_KEY " in the configuration");
    *any |= status == 0;
    return status == LLMPERF_ENOENT ? 0 : status;
}

int lp_hardware_check(const llmperf_config *config)
{
    llmperf_hardware *none = calloc(1, sizeof(*none));
    bool any = false;
    int status = none ? take_config(none, config, &any) : lp_error(LLMPERF_ENOMEM, "out of memory");

    llmperf_hardware_free(none);
    return status;
}

int lp_hardware_user(llmperf_hardware *hardware, const llmperf_config *config, bool *any_out)
{
    const char *peaks = lp_variable(PEAK_VARIABLE), *bandwidth = lp_variable(BANDWIDTH_VARIABLE);
    double value;
    int status = 0;

    *any_out = false;
    if (config && (status = take_config(hardware, config, any_out)) < 0)
        return status;
    if (peaks && *peaks) {
        if ((status = take_peak_variable(hardware, peaks)) < 0)
            return status;
        *any_out = true;
    }
    if (bandwidth && *bandwidth) {
        if (!parse(bandwidth, strlen(bandwidth), &value))
            return lp_error(LLMPERF_EINVAL,
                            BANDWIDTH_VARIABLE
                            "=%s is not a positive number of GB/s; write a number such as 4800",
                            bandwidth);
        set_bandwidth(hardware, value, BANDWIDTH_VARIABLE);
        *any_out = true;
    }
    return 0;
}
