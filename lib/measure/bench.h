/* SPDX-License-Identifier: Apache-2.0 */
/** Running one operation many times on a GPU, timed by events.
 * @threads one at a time per object */
#ifndef LP_MEASURE_BENCH_H
#define LP_MEASURE_BENCH_H

#include <stdint.h>

#include "lib/measure/cuda_api.h"

/** Launches in flight between two waits. */
#define LP_BENCH_ROUND   128
#define LP_BENCH_BUFFERS 3

/** SM clock of a GPU, read from libnvidia-ml. */
struct lp_gpu_clock {
    void *library, *device; /* NULL: not known */
    int (*clock)(void *device, int which, unsigned *mhz);
    int (*shut_down)(void);
};

struct lp_bench {
    struct lp_cuda cuda;
    struct lp_gpu_clock clock;
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

/** Without libnvidia-ml, or without such a GPU in it, its clock is not known. */
void lp_gpu_clock_open(struct lp_gpu_clock *clock, const char *uuid);
void lp_gpu_clock_close(struct lp_gpu_clock *clock);

/** MHz; NaN: not known. */
double lp_gpu_clock_read(const struct lp_gpu_clock *clock);

#endif
