/* SPDX-License-Identifier: Apache-2.0 */
/** What the benchmarks on a device share. */
#ifndef TESTS_BENCH_GPU_H
#define TESTS_BENCH_GPU_H

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "llmperf/llmperf.h"

#define BENCH_SKIPPED 77 /* no device */

/** A call of the CUDA runtime that must succeed. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status_));                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/** A kernel that lasts so many clock cycles of its SM. */
static __global__ void bench_spin(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

static inline double bench_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/** A session over CUPTI, or the end of the program. */
static inline llmperf_session *bench_start_with(uint32_t tier, uint32_t flags)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.tier = tier;
    options.flags = flags;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    if (llmperf_session_start(&options, &session) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    return session;
}

static inline llmperf_session *bench_start(uint32_t tier)
{
    return bench_start_with(tier, 0);
}

#endif
