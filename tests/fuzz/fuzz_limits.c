/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a configuration, as measured peaks, as a table of kernel classes, and as a GPU's
 * name: refused with one line, or taken; a limit is never 0, negative or infinite. */
#include <math.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/hardware/measured_peaks.h"
#include "llmperf/sys/config.h"

static void check_error(int status)
{
    if (status < 0 && (strlen(llmperf_last_error()) < 5 || strchr(llmperf_last_error(), '\n')))
        abort();
}

static void check_limit(double value)
{
    if (!isnan(value) && !(value > 0 && value < 1e12))
        abort();
}

static void check_hardware(const char *name, const llmperf_config *config)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware = NULL;
    const char *dtype;
    int status;

    query.name = name;
    check_error(status = llmperf_hardware_find(&query, config, &hardware));
    for (size_t i = 0; status == 0 && (dtype = llmperf_hardware_dtype(i)); i++) {
        llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

        llmperf_hardware_peak(hardware, dtype, &value);
        check_limit(value.value);
    }
    llmperf_hardware_free(hardware);
}

static void check_peaks(const char *path)
{
    struct lp_measured_peaks measured_peaks;

    check_error(lp_measured_peaks_read(path, &measured_peaks));
    for (size_t i = 0; i < LP_MEASURED_PEAKS; i++)
        check_limit(measured_peaks.items[i].best);
}

static void check_classes(const char *path)
{
    struct lp_kernel_classes *classes = NULL;
    int status = lp_kernel_classes_open(path, &classes);

    check_error(status);
    if (status == 0 && !lp_kernel_class(classes, "void gemm<float>(int)", LLMPERF_ACTIVITY_KERNEL))
        abort();
    lp_kernel_classes_free(classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size, ".yaml");
    llmperf_config *config = NULL;
    char name[300];

    check_peaks(path);
    check_classes(path);
    check_error(llmperf_config_open(path, &config));
    if (config)
        check_hardware("H200", config);
    llmperf_config_free(config);
    if (size < sizeof(name)) {
        memcpy(name, bytes, size);
        name[size] = '\0';
        check_hardware(name, NULL);
    }
    return 0;
}
