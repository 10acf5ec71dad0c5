/* SPDX-License-Identifier: Apache-2.0 */
/** What the tests of CUDA graphs share: kernels, capturing on one stream, and rows by launch region
 * and capture region. */
#ifndef LP_TESTS_GPU_GRAPHS_H
#define LP_TESTS_GPU_GRAPHS_H

#include "tests/gpu/check.h"

static cudaStream_t stream;
static const char *record_folder; /* NULL: no recordings */

/* One name a number: what a node really ran is told by its kernel. */
template <int N> __global__ void numbered(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

static inline llmperf_session *start(const char *recording)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char path[512];

    snprintf(path, sizeof(path), "%s/%s.llmrec", record_folder ? record_folder : "", recording);
    options.tier = LLMPERF_TIER_DEEP;
    options.record_path = record_folder ? path : NULL;
    return start_with(options);
}

/* Kernels of a launch region and a capture region. `name` "": any; else part of the name. */
static inline uint64_t count_of(const llmperf_profile *profile, const char *region,
                                const char *captured, const char *name, double *ms_out)
{
    uint64_t calls = 0;
    double ms = 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (!kernel.region || strcmp(kernel.region, region) || !strstr(kernel.demangled, name) ||
            !kernel.captured_in || strcmp(kernel.captured_in, captured))
            continue;
        calls += kernel.calls;
        ms += kernel.total_ms;
    }
    if (ms_out)
        *ms_out = ms;
    return calls;
}

static inline void expect(const llmperf_profile *profile, const char *region, const char *captured,
                          const char *name, uint64_t wanted)
{
    uint64_t found = count_of(profile, region, captured, name, NULL);

    CHECK(found == wanted, "%lu kernels %s in %s x %s, not %lu", (unsigned long)found, name, region,
          captured, (unsigned long)wanted);
    if (found == wanted)
        return;
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        printf("    %lu %s in %s x %s\n", (unsigned long)kernel.calls, kernel.demangled,
               kernel.region ? kernel.region : "(unseen)",
               kernel.captured_in ? kernel.captured_in : "(none)");
    }
}

static inline void begin_capture(void)
{
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static inline cudaGraph_t end_capture(void)
{
    cudaGraph_t graph;

    CUDA(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static inline cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;

    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static inline void launch_in(const char *region, cudaGraphExec_t exec, int times)
{
    for (int i = 0; i < times; i++) {
        llmperf_region_begin(region);
        CUDA(cudaGraphLaunch(exec, stream));
        llmperf_region_end();
    }
}

static inline cudaGraph_t capture_three(const char *label, long long middle)
{
    char part[64];

    begin_capture();
    for (int i = 0; i < 3; i++) {
        snprintf(part, sizeof(part), "%s%d", label, i);
        llmperf_region_begin(part);
        numbered<9><<<1, 32, 0, stream>>>(i == 1 ? middle : 100);
        llmperf_region_end();
    }
    return end_capture();
}

/** Skips the test without a device; with --record DIR the sessions write recordings there. */
static inline void begin_graphs(int count, char **arguments)
{
    need_device(1);
    if (count == 3 && !strcmp(arguments[1], "--record"))
        record_folder = arguments[2];
    CUDA(cudaFree(0));
    CUDA(cudaStreamCreate(&stream));
}

#endif
