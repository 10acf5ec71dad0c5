/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the peaks of a GPU of this machine and stores them in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/progress.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/measure/copies.h"
#include "lib/measure/kernels.h"
#include "lib/measure/matrix.h"
#include "lib/measure/profiler.h"
#include "llmperf/sys/hardware.h"
#include "lib/device/driver.h"
#include "lib/hardware/measured_peaks.h"

#define SECONDS       0.5
#define SECONDS_LEAST 0.01
#define SECONDS_MOST  60
#define BUFFER        (UINT64_C(1) << 30)
#define BUFFER_LEAST  (UINT64_C(1) << 24)
#define BUFFER_MOST   (UINT64_C(1) << 34)
#define NOT_MEASURED  "measuring this dtype is not supported"

static int take_options(const llmperf_measure_options *caller, llmperf_measure_options *options)
{
    *options = (llmperf_measure_options)LLMPERF_MEASURE_OPTIONS_INIT;
    if (lp_sized_in(options, caller, sizeof(*options)) < 0)
        return LLMPERF_EINVAL;
    if (options->seconds == 0)
        options->seconds = SECONDS;
    if (options->buffer_bytes == 0)
        options->buffer_bytes = BUFFER;
    if (!(options->seconds >= SECONDS_LEAST && options->seconds <= SECONDS_MOST))
        return lp_error(LLMPERF_EINVAL, "seconds is %g; it must be between 0.01 and 60",
                        options->seconds);
    if (options->buffer_bytes < BUFFER_LEAST || options->buffer_bytes > BUFFER_MOST)
        return lp_error(LLMPERF_EINVAL, "buffer_bytes is %llu; it must be between 2^24 and 2^34",
                        (unsigned long long)options->buffer_bytes);
    return 0;
}

static int find_gpu(int32_t device, struct lp_gpu *gpu)
{
    int32_t count;
    int status = lp_driver_gpu_count(&count);

    if (status < 0)
        return status;
    if (device < 0 || device >= count)
        return lp_error(count == 0 ? LLMPERF_ENODEVICE : LLMPERF_ENOENT,
                        "device %d does not exist; this process sees %d", device, count);
    return lp_driver_gpu(device, gpu);
}

static void name_gpu(const struct lp_gpu *gpu, struct lp_measured_peaks *measured_peaks)
{
    time_t now = time(NULL);
    struct tm utc;

    lp_measured_peaks_init(measured_peaks, NOT_MEASURED);
    snprintf(measured_peaks->uuid, sizeof(measured_peaks->uuid), "%s", gpu->uuid);
    snprintf(measured_peaks->gpu, sizeof(measured_peaks->gpu), "%.*s",
             (int)sizeof(measured_peaks->gpu) - 1, gpu->name);
    if (!lp_driver_module_version(measured_peaks->driver, sizeof(measured_peaks->driver)))
        measured_peaks->driver[0] = '\0';
    gmtime_r(&now, &utc);
    strftime(measured_peaks->measured_at, sizeof(measured_peaks->measured_at), "%Y-%m-%dT%H:%M:%SZ",
             &utc);
}

static int measure(int32_t device, const struct lp_gpu *gpu, const llmperf_measure_options *options,
                   struct lp_measured_peaks *measured_peaks)
{
    struct lp_kernels kernels;
    struct lp_bench bench;
    int status = lp_bench_open(&bench, device, gpu->uuid, options->buffer_bytes);

    if (status < 0)
        return status;
    bench.seconds = options->seconds;
    bench.sm_count = gpu->sm_count > 0 ? gpu->sm_count : 1;
    if ((status = lp_kernels_open(&kernels, &bench)) == 0 &&
        (status = lp_kernels_fill(&kernels, &bench, UINT32_MAX, 0)) == 0) {
        lp_progress("measuring the memory", 0, 0);
        lp_measure_memory(&kernels, &bench, measured_peaks);
        lp_measure_copies(&bench, &measured_peaks->sweep);
        lp_measure_matrix(&kernels, &bench, 10 * gpu->cc_major + gpu->cc_minor, measured_peaks);
        lp_progress("measuring the cost of profiling", 0, 0);
        lp_measure_profiler(&kernels, &bench, measured_peaks);
    }
    lp_bench_close(&bench);
    return status;
}

int llmperf_hardware_measure(int32_t device, const llmperf_measure_options *caller, char **path_out)
{
    llmperf_measure_options options;
    struct lp_measured_peaks measured_peaks;
    struct lp_gpu gpu;
    char *path = NULL;
    int status;

    if ((status = take_options(caller, &options)) < 0 || (status = find_gpu(device, &gpu)) < 0)
        return status;
    name_gpu(&gpu, &measured_peaks);
    /* Checked first: results that cannot be stored are not worth measuring. */
    if ((status = lp_measured_peaks_path(measured_peaks.uuid, measured_peaks.driver, &path)) == 0 &&
        (status = measure(device, &gpu, &options, &measured_peaks)) == 0)
        status = lp_measured_peaks_write(path, &measured_peaks);
    if (status == 0 && path_out)
        *path_out = path;
    else
        free(path);
    return status;
}
