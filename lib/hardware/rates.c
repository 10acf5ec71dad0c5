/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/hardware/rates.h"
#include "lib/base/status.h"
#include "llmperf/hardware.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/hardware.h"

#define RATES_FILE "hardware/rates.yaml"

static int32_t capability_of(const char *text)
{
    int major = 0, minor = 0;

    return sscanf(text, "%2d.%1d", &major, &minor) == 2 ? 10 * major + minor : 0;
}

static int read_entry(const llmperf_config *config, size_t entry, struct lp_gpu_rates *rates)
{
    char key[64];
    const char *text;

    for (size_t i = 0; i < LP_PEAKS; i++) {
        snprintf(key, sizeof(key), "rates.%zu.per_clock.%s", entry, llmperf_hardware_dtype(i));
        rates->rate[i] = 0;
        if (llmperf_config_number(config, key, &rates->rate[i]) == LLMPERF_EFORMAT)
            return LLMPERF_EFORMAT;
    }
    snprintf(key, sizeof(key), "rates.%zu.tensor_clock", entry);
    rates->tensor_clock = 1;
    if (llmperf_config_number(config, key, &rates->tensor_clock) == LLMPERF_EFORMAT)
        return LLMPERF_EFORMAT;
    for (size_t i = 0; i < LP_PEAKS; i++) {
        snprintf(key, sizeof(key), "rates.%zu.geforce_half.%zu", entry, i);
        if (llmperf_config_text(config, key, &text) == 0 && lp_peak_find(text) >= 0)
            rates->geforce_half[lp_peak_find(text)] = true;
    }
    rates->known = true;
    return 0;
}

int lp_gpu_rates_read(int32_t capability, struct lp_gpu_rates *rates_out)
{
    struct lp_gpu_rates rates = { .tensor_clock = 1 };
    llmperf_config *config;
    const char *text;
    char key[64];
    int status;

    if ((status = llmperf_config_open(RATES_FILE, &config)) < 0)
        return status;
    if ((status = llmperf_config_text(config, "geforce_word", &text)) == 0)
        snprintf(rates.geforce_word, sizeof(rates.geforce_word), " %s ", text);
    for (size_t i = 0; status == 0 && i < llmperf_config_length(config, "rates"); i++) {
        snprintf(key, sizeof(key), "rates.%zu.compute_capability", i);
        if ((status = llmperf_config_text(config, key, &text)) == 0 &&
            capability_of(text) == capability)
            status = read_entry(config, i, &rates);
    }
    llmperf_config_free(config);
    if (status == 0)
        *rates_out = rates;
    return status == LLMPERF_ENOENT ? lp_error(LLMPERF_EFORMAT, "%s is damaged", RATES_FILE)
                                    : status;
}
