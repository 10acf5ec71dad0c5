/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/measure/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

/* Warm-up: the first launches load code and raise the GPU's clocks. */
#define WARM_UPS 2

#define LEAST_REPEATS 3

#define CLOCK_EVERY_NS 50000000

/* Buffers for memory measurements must not fit in a cache. */
#define LEAST_BUFFER ((size_t)1 << 24)

static int make_buffers(struct lp_bench *bench, uint64_t wanted)
{
    size_t available = 0, total = 0;
    int result = bench->cuda.memory_info(&available, &total);

    if (result != 0)
        return lp_cuda_error(&bench->cuda, "cuMemGetInfo", result);
    bench->buffer_bytes = wanted < available / 4 ? (size_t)wanted : available / 4;
    if (bench->buffer_bytes < LEAST_BUFFER)
        return lp_error(
            LLMPERF_ENOMEM,
            "only %zu MB are free on the GPU and 64 are needed; end other programs on it",
            available >> 20);
    for (int i = 0; i < LP_BENCH_BUFFERS; i++)
        if ((result = bench->cuda.memory_alloc(&bench->buffers[i], bench->buffer_bytes)) != 0)
            return lp_cuda_error(&bench->cuda, "cuMemAlloc", result);
    return 0;
}

static int make_events(struct lp_bench *bench)
{
    int result = bench->cuda.stream_create(&bench->stream, 1 /* CU_STREAM_NON_BLOCKING */);

    if (result != 0)
        return lp_cuda_error(&bench->cuda, "cuStreamCreate", result);
    for (int i = 0; i <= LP_BENCH_ROUND; i++)
        if ((result = bench->cuda.event_create(&bench->events[i], 0)) != 0)
            return lp_cuda_error(&bench->cuda, "cuEventCreate", result);
    return 0;
}

static int enter(struct lp_bench *bench, int32_t device)
{
    void *context = NULL;
    int result;

    if ((result = bench->cuda.device_get(&bench->device, device)) != 0)
        return lp_cuda_error(&bench->cuda, "cuDeviceGet", result);
    if ((result = bench->cuda.context_retain(&context, bench->device)) != 0)
        return lp_cuda_error(&bench->cuda, "cuDevicePrimaryCtxRetain", result);
    if ((result = bench->cuda.context_push(context)) != 0) {
        bench->cuda.context_release(bench->device);
        return lp_cuda_error(&bench->cuda, "cuCtxPushCurrent", result);
    }
    bench->context = context;
    return 0;
}

/* Without NVML the clock is not known. */
static void find_clock(struct lp_bench *bench, int32_t device, const char *uuid)
{
    char reason[160];

    if (!uuid || !(bench->nvml = lp_nvml_open(reason, sizeof(reason))) ||
        lp_nvml_find(bench->nvml, uuid, (uint16_t)device, &bench->gpu, reason, sizeof(reason)) == 0)
        return;
    lp_nvml_close(bench->nvml);
    bench->nvml = NULL;
}

/* Not in each round: NVML takes milliseconds. */
static double read_clock(struct lp_bench *bench)
{
    struct lp_gpu_sample sample;

    if (!bench->nvml || lp_clock_now() - bench->clock_ns < CLOCK_EVERY_NS)
        return NAN;
    bench->clock_ns = lp_clock_now();
    lp_nvml_read(bench->nvml, &bench->gpu, &sample);
    return sample.values[LP_GPU_SM_MHZ] == LLMPERF_UNKNOWN ? (double)NAN
                                                           : (double)sample.values[LP_GPU_SM_MHZ];
}

int lp_bench_open(struct lp_bench *bench, int32_t device, const char *uuid, uint64_t buffer_bytes)
{
    int status;

    memset(bench, 0, sizeof(*bench));
    if ((status = lp_cuda_open(&bench->cuda)) < 0)
        return status;
    if ((status = enter(bench, device)) < 0 || (status = make_events(bench)) < 0 ||
        (status = make_buffers(bench, buffer_bytes)) < 0) {
        lp_bench_close(bench);
        return status;
    }
    find_clock(bench, device, uuid);
    return 0;
}

void lp_bench_close(struct lp_bench *bench)
{
    void *context;

    lp_nvml_close(bench->nvml);
    bench->nvml = NULL;
    if (!bench->context)
        return;
    if (bench->stream)
        bench->cuda.stream_synchronize(bench->stream);
    for (int i = 0; i <= LP_BENCH_ROUND; i++)
        if (bench->events[i])
            bench->cuda.event_destroy(bench->events[i]);
    for (int i = 0; i < LP_BENCH_BUFFERS; i++)
        if (bench->buffers[i])
            bench->cuda.memory_free(bench->buffers[i]);
    if (bench->module)
        bench->cuda.module_unload(bench->module);
    if (bench->stream)
        bench->cuda.stream_destroy(bench->stream);
    bench->cuda.context_pop(&context);
    bench->cuda.context_release(bench->device);
    bench->context = NULL;
}

typedef LP_VECTOR(double) times_vector;

/* One round, back to back: launches and the events between them. The clock is read while the GPU is
 * still executing them. */
static int run_round(struct lp_bench *bench, lp_bench_launch *launch, void *work, uint64_t first,
                     int count, double *clock_mhz)
{
    int result = bench->cuda.event_record(bench->events[0], bench->stream);

    for (int i = 0; i < count && result == 0; i++)
        if ((result = launch(bench, work, first + (uint64_t)i)) == 0)
            result = bench->cuda.event_record(bench->events[i + 1], bench->stream);
    *clock_mhz = read_clock(bench);
    if (result == 0)
        result = bench->cuda.stream_synchronize(bench->stream);
    return result == 0 ? 0 : lp_cuda_error(&bench->cuda, "measuring", result);
}

static int take_times(struct lp_bench *bench, int count, times_vector *times, double *total_ms)
{
    for (int i = 0; i < count; i++) {
        float ms = 0;
        int result = bench->cuda.event_elapsed(&ms, bench->events[i], bench->events[i + 1]);

        if (result != 0)
            return lp_cuda_error(&bench->cuda, "cuEventElapsedTime", result);
        if (lp_vector_push(times, (double)ms) < 0)
            return lp_out_of_memory();
        *total_ms += ms;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return LP_ORDER(x, y);
}

double lp_median(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), by_value);
    return values[count / 2];
}

static int finish(times_vector *times, struct lp_times *out)
{
    out->median_ms = lp_median(times->items, times->count);
    out->best_ms = times->items[0];
    out->repeats = times->count;
    return out->best_ms > 0 ? 0
                            : lp_error(LLMPERF_ENODEVICE, "CUDA events measured a time of zero");
}

static int fill_rounds(struct lp_bench *bench, lp_bench_launch *launch, void *work, double seconds,
                       times_vector *times, struct lp_times *out)
{
    double total_ms = 0, clock_mhz;
    int status, count = LEAST_REPEATS;

    do {
        if ((status = run_round(bench, launch, work, times->count, count, &clock_mhz)) < 0 ||
            (status = take_times(bench, count, times, &total_ms)) < 0)
            return status;
        /* The slowest one seen: a GPU lowers its clock as it warms up. */
        out->clock_mhz = fmin(out->clock_mhz, clock_mhz);
        count = LP_BENCH_ROUND;
        if (total_ms > 0)
            count = (int)fmin(count, ceil(seconds * 1e3 * (double)times->count / total_ms));
    } while (total_ms < seconds * 1e3 && times->count < 100000);
    return finish(times, out);
}

int lp_bench_repeat(struct lp_bench *bench, lp_bench_launch *launch, void *work, double seconds,
                    struct lp_times *out)
{
    times_vector times = { NULL, 0, 0 };
    double clock_mhz;
    int status = run_round(bench, launch, work, 0, WARM_UPS, &clock_mhz);

    *out = (struct lp_times){ NAN, NAN, NAN, 0 };
    if (status == 0)
        status = fill_rounds(bench, launch, work, seconds, &times, out);
    lp_vector_clear(&times);
    return status;
}
