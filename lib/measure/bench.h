/* SPDX-License-Identifier: Apache-2.0 */
/** Running one operation many times on a GPU, timed by events.
 * @threads one at a time per object */
#ifndef LP_MEASURE_BENCH_H
#define LP_MEASURE_BENCH_H

#include <stdint.h>

#include "lib/device/nvml.h"
#include "lib/measure/cuda_api.h"

/** Launches in flight between two waits. */
#define LP_BENCH_ROUND   128
#define LP_BENCH_BUFFERS 3

struct lp_bench {
    struct lp_cuda cuda;
    struct lp_nvml *nvml; /* NULL: the clock is not known */
    struct lp_nvml_gpu gpu;
    uint64_t clock_ns; /* when it was read */
    void *context, *stream, *module;
    void *events[LP_BENCH_ROUND + 1];
    int device, sm_count;
    lp_device_address buffers[LP_BENCH_BUFFERS];
    size_t buffer_bytes; /* of each */
    double seconds;      /* of measurement per peak */
};

struct lp_times {
    double best_ms, median_ms;
    double clock_mhz; /* NaN: not known */
    uint64_t repeats;
};

/** Begin one repeat, the `turn`-th, on the bench's stream; a CUDA result. */
typedef int lp_bench_launch(struct lp_bench *bench, void *work, uint64_t turn);

/** Context, stream, events and buffers of a GPU: 0; LLMPERF_ENODEVICE, LLMPERF_ENOMEM. */
int lp_bench_open(struct lp_bench *bench, int32_t device, const char *uuid, uint64_t buffer_bytes);

/** Members may be NULL. */
void lp_bench_close(struct lp_bench *bench);

/** Repeat for about `seconds`, at least three times. 0; LLMPERF_ENODEVICE, LLMPERF_ENOMEM. */
int lp_bench_repeat(struct lp_bench *bench, lp_bench_launch *launch, void *work, double seconds,
                    struct lp_times *out);

/** Sorts the values; at least one. */
double lp_median(double *values, size_t count);

#endif
