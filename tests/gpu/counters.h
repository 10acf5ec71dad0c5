/* SPDX-License-Identifier: Apache-2.0 */
/** What the tests of hardware counters share: known work, sessions that count it, and what they
 * counted. */
#ifndef LP_TESTS_GPU_COUNTERS_H
#define LP_TESTS_GPU_COUNTERS_H

#include <chrono>
#include <cuda_bf16.h>
#include <mma.h>

#include "tests/gpu/check.h"

#define COPY_BYTES ((size_t)1 << 30)

static __nv_bfloat16 *left, *right;
static float *product;
static char *source, *target;
static int largest;

/* One warp a tile of 16 x 16: exactly 2 N^3 operations on the tensor cores. */
__global__ void gemm(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n)
{
    using namespace nvcuda;
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    int column = (int)(blockIdx.y * blockDim.y + threadIdx.y) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(x, a + (size_t)row * n + k, n);
        wmma::load_matrix_sync(y, b + (size_t)k * n + column, n);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(c + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}

__global__ void copy(const float4 *from, float4 *to, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

static inline void launch_gemm(int n, cudaStream_t stream = 0)
{
    gemm<<<dim3(n / 64, n / 64), dim3(128, 4), 0, stream>>>(left, right, product, n);
}

static inline void launch_copy(void)
{
    copy<<<1024, 256>>>((const float4 *)source, (float4 *)target, COPY_BYTES / sizeof(float4));
}

static inline double flops(int n)
{
    return 2.0 * n * n * n;
}

static inline void make_memory(int n)
{
    size_t count = (size_t)n * n;

    largest = n;
    CUDA(cudaMalloc(&left, count * sizeof(*left)));
    CUDA(cudaMalloc(&right, count * sizeof(*right)));
    CUDA(cudaMalloc(&product, count * sizeof(*product)));
    CUDA(cudaMalloc(&source, COPY_BYTES));
    CUDA(cudaMalloc(&target, COPY_BYTES));
    CUDA(cudaMemset(left, 0x3c, count * sizeof(*left)));
    CUDA(cudaMemset(right, 0x3c, count * sizeof(*right)));
    CUDA(cudaMemset(source, 1, COPY_BYTES));
    launch_gemm(n);
    launch_copy();
    CUDA(cudaDeviceSynchronize());
}

static inline llmperf_session *start_counting(const char *counters, const char *record_path,
                                              uint32_t tier = LLMPERF_TIER_COUNTERS)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = tier;
    options.counters = counters;
    options.record_path = record_path;
    return start_with(options);
}

static inline const char *note_with(const llmperf_profile *profile, const char *part)
{
    const char *note;

    for (size_t i = 0; (note = llmperf_profile_note(profile, i)); i++)
        if (strstr(note, part))
            return note;
    return NULL;
}

static inline void print_profile(const llmperf_profile *profile)
{
    llmperf_ledger ledger = ledger_of(profile);
    const char *line;

    printf("  verdict %s, %lu kernels, %lu unattributed\n",
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict), (unsigned long)ledger.kernels_seen,
           (unsigned long)ledger.kernels_unattributed);
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS) && i < 60; i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(profile, i, &metric);
        printf("  %-28s %-16.16s %-30s %.6g %s x %lu (%.6g to %.6g) %s\n",
               metric.region ? metric.region : "?", metric.kernel ? metric.kernel : "", metric.name,
               metric.mean, metric.unit, (unsigned long)metric.count, metric.min, metric.max,
               metric.text ? metric.text : "");
    }
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (!kernel.region)
            printf("  kernel of an unknown launch: %s x %lu\n", kernel.name,
                   (unsigned long)kernel.calls);
    }
    for (size_t i = 0; (line = llmperf_profile_note(profile, i)); i++)
        printf("  note: %s\n", line);
    for (size_t i = 0; (line = llmperf_profile_problem(profile, i)); i++)
        printf("  problem: %s\n", line);
    if (llmperf_profile_fact(profile, "counters"))
        printf("  %s\n", llmperf_profile_fact(profile, "counters"));
}

/* The counter of a region; NaN if there is none. */
static inline llmperf_metric_stats metric_of(const llmperf_profile *profile, const char *region,
                                             const char *name)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
        llmperf_profile_metric(profile, i, &metric);
        if (metric.region && !metric.kernel && !strcmp(metric.region, region) &&
            !strcmp(metric.name, name))
            return metric;
    }
    printf("  no %s of %s\n", name, region);
    metric = LLMPERF_METRIC_STATS_INIT;
    metric.mean = NAN;
    return metric;
}

#define NEAR(value, expected, tolerance)                                                           \
    CHECK(fabs((value) - (expected)) <= (tolerance) * (expected), "%.6g, expected %.6g",           \
          (double)(value), (double)(expected))

/* Are there counters at all? What keeps them away is told, and is no failure of ours. */
static inline void need_counters(void)
{
    llmperf_profile *profile;
    llmperf_session *session = start_counting("light", NULL);
    const char *note;

    llmperf_region_begin("probe");
    launch_gemm(256);
    CUDA(cudaDeviceSynchronize());
    llmperf_region_end();
    profile = stop_session(session);
    if ((note = note_with(profile, "no hardware counters"))) {
        printf("skipped: %s\n", note);
        CHECK(ledger_of(profile).kernels_seen == 1, "kernels are profiled all the same");
        exit(checks_failed ? 1 : SKIPPED);
    }
    llmperf_profile_free(profile);
}

static inline double now_ms(void)
{
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static inline bool wants(int argc, char **argv, const char *part)
{
    if (argc > 1 && strcmp(argv[1], part))
        return false;
    printf("%s\n", part);
    fflush(stdout);
    return true;
}

#endif
