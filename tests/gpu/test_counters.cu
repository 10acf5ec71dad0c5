/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters on regions: known work is counted right, in each way of counting, and what
 * cannot be counted is told. `test_gpu_counters PART [SIZE [FILE or COUNT]]` runs one part. Without
 * a test of its own: `work` does the work of the first part without a session, `marked` the same in
 * NVTX ranges, for llmperf run; `hold N WORDS SECONDS` counts for a while and prints what came of
 * it. */
#include <chrono>
#include <cuda_bf16.h>
#include <dlfcn.h>
#include <mma.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>

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

static void launch_gemm(int n, cudaStream_t stream = 0)
{
    gemm<<<dim3(n / 64, n / 64), dim3(128, 4), 0, stream>>>(left, right, product, n);
}

static void launch_copy(void)
{
    copy<<<1024, 256>>>((const float4 *)source, (float4 *)target, COPY_BYTES / sizeof(float4));
}

static double flops(int n)
{
    return 2.0 * n * n * n;
}

static void make_memory(int n)
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

static llmperf_session *start_counting(const char *counters, const char *record_path,
                                       uint32_t tier = LLMPERF_TIER_COUNTERS)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.tier = tier;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.counters = counters;
    options.record_path = record_path;
    if (llmperf_session_start(&options, &session) < 0) {
        printf("FAILED: %s\n", llmperf_last_error());
        exit(1);
    }
    return session;
}

static const char *note_with(const llmperf_profile *profile, const char *part)
{
    const char *note;

    for (size_t i = 0; (note = llmperf_profile_note(profile, i)); i++)
        if (strstr(note, part))
            return note;
    return NULL;
}

static void print_profile(const llmperf_profile *profile)
{
    llmperf_ledger ledger = ledger_of(profile);
    const char *line;

    printf("  verdict %s, %lu kernels, %lu unattributed\n", llmperf_verdict_name(ledger.verdict),
           (unsigned long)ledger.kernels_seen, (unsigned long)ledger.kernels_unattributed);
    for (size_t i = 0; i < llmperf_profile_metric_count(profile) && i < 60; i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

        llmperf_profile_metric(profile, i, &metric);
        printf("  %-28s %-16.16s %-30s %.6g %s x %lu (%.6g to %.6g) %s\n",
               metric.region ? metric.region : "?", metric.kernel ? metric.kernel : "", metric.name,
               metric.mean, metric.unit, (unsigned long)metric.count, metric.min, metric.max,
               metric.text ? metric.text : "");
    }
    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
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
static llmperf_metric_stats metric_of(const llmperf_profile *profile, const char *region,
                                      const char *name)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_metric_count(profile); i++) {
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
static void need_counters(void)
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

static void run_nested(int n)
{
    for (int i = 0; i < 3; i++) {
        llmperf_region_begin("outer");
        launch_gemm(n);
        llmperf_region_begin("inner");
        launch_copy();
        llmperf_region_end();
        launch_gemm(n);
        llmperf_region_end();
    }
    CUDA(cudaDeviceSynchronize());
}

static void nested_regions_are_counted_in_one_pass(const char *record_path)
{
    const int n = largest;
    llmperf_session *session = start_counting("light", record_path);
    llmperf_profile *profile;
    double inner, outer;

    run_nested(n);
    profile = stop_session(session);
    print_profile(profile);
    expect_complete(profile);
    NEAR(metric_of(profile, "LLM@outer", "tensor_flops_bf16").mean, 2 * flops(n), 0.02);
    NEAR(metric_of(profile, "LLM@outer", "exclusive_tensor_flops_bf16").mean, 2 * flops(n), 0.02);
    CHECK(metric_of(profile, "LLM@outer/LLM@inner", "tensor_flops_bf16").mean == 0, "a copy");
    CHECK(metric_of(profile, "LLM@outer", "tensor_flops_bf16").count == 3, "three instances");
    inner = metric_of(profile, "LLM@outer/LLM@inner", "dram_read_bytes").mean;
    outer = metric_of(profile, "LLM@outer", "dram_read_bytes").mean;
    NEAR(inner, (double)COPY_BYTES, 0.02);
    NEAR(metric_of(profile, "LLM@outer/LLM@inner", "dram_write_bytes").mean, (double)COPY_BYTES,
         0.02);
    NEAR(outer - metric_of(profile, "LLM@outer", "exclusive_dram_read_bytes").mean, inner, 0.001);
    CHECK(region_of(profile, "LLM@outer", 0).kernel_count == 9, "kernels have records, too");
    llmperf_profile_free(profile);
}

static void passes_are_collected_over_repeated_regions(void)
{
    llmperf_session *session = start_counting("roofline replay=user include=LLM@step*", NULL);
    llmperf_profile *profile;
    llmperf_metric_stats work;

    for (int i = 0; i < 16; i++) {
        llmperf_region_begin("step");
        launch_gemm(1024);
        llmperf_region_begin("step_copy");
        launch_copy();
        llmperf_region_end();
        llmperf_region_end();
    }
    CUDA(cudaDeviceSynchronize());
    profile = stop_session(session);
    print_profile(profile);
    work = metric_of(profile, "LLM@step", "tensor_flops_bf16");
    NEAR(work.mean, flops(1024), 0.02);
    CHECK(work.count == 2, "7 passes twice in 16 times: %lu", (unsigned long)work.count);
    CHECK(metric_of(profile, "LLM@step", "tensor_flops_fp16").mean == 0, "no fp16");
    NEAR(metric_of(profile, "LLM@step/LLM@step_copy", "dram_read_bytes").mean, (double)COPY_BYTES,
         0.02);
    llmperf_profile_free(profile);
}

static void a_set_of_many_passes_is_refused_with_the_numbers(void)
{
    llmperf_session *session = start_counting("roofline", NULL);
    llmperf_profile *profile;

    llmperf_region_begin("once");
    launch_gemm(1024);
    CUDA(cudaDeviceSynchronize());
    llmperf_region_end();
    profile = stop_session(session);
    print_profile(profile);
    CHECK(note_with(profile, "passes on GH100, 1 allowed") || note_with(profile, "allowed; take"),
          "the refusal");
    CHECK(ledger_of(profile).kernels_seen == 1, "kernels are profiled all the same");
    llmperf_profile_free(profile);
}

static void kernels_are_replayed_one_by_one(void)
{
    llmperf_session *session = start_counting("roofline replay=kernel", NULL);
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
    llmperf_profile *profile;
    size_t gemms = 0;

    llmperf_region_begin("kernels");
    launch_gemm(1024);
    launch_gemm(1024);
    launch_copy();
    llmperf_region_end();
    CUDA(cudaDeviceSynchronize());
    profile = stop_session(session);
    print_profile(profile);
    for (size_t i = 0; i < llmperf_profile_metric_count(profile); i++) {
        llmperf_profile_metric(profile, i, &metric);
        if (!metric.kernel || strcmp(metric.name, "tensor_flops_bf16"))
            continue;
        if (strstr(metric.kernel, "gemm")) {
            gemms += metric.count;
            NEAR(metric.mean, flops(1024), 0.02);
        } else {
            CHECK(metric.mean == 0, "%s", metric.kernel);
        }
    }
    CHECK(gemms == 2, "%zu", gemms);
    llmperf_profile_free(profile);
}

static void a_graph_counts_and_its_capture_is_left_alone(void)
{
    llmperf_session *session = start_counting("light", NULL);
    llmperf_profile *profile;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    CUDA(cudaStreamCreate(&stream));
    llmperf_region_begin("before");
    launch_gemm(1024);
    llmperf_region_end();
    llmperf_region_begin("captured");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    llmperf_region_begin("layer");
    for (int i = 0; i < 3; i++)
        launch_gemm(1024, stream);
    llmperf_region_end();
    CUDA(cudaStreamEndCapture(stream, &graph));
    llmperf_region_end();
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 5; i++) {
        llmperf_region_begin("decode");
        CUDA(cudaGraphLaunch(executable, stream));
        llmperf_region_end();
    }
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    print_profile(profile);
    NEAR(metric_of(profile, "LLM@decode", "tensor_flops_bf16").mean, 3 * flops(1024), 0.02);
    CHECK(metric_of(profile, "LLM@decode", "tensor_flops_bf16").count == 5, "five launches");
    CHECK(note_with(profile, "LLM@captured/LLM@layer were not measured: a stream"), "the reason");
    llmperf_profile_free(profile);
}

/* More ranges than CUPTI holds: none is lost. */
static double now_ms(void)
{
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/* Host time of a range of one kernel, us. */
static double mark_ranges(int count)
{
    double start = now_ms();

    llmperf_region_begin("all");
    for (int i = 0; i < count; i++) {
        llmperf_region_begin("one");
        launch_gemm(256);
        llmperf_region_end();
    }
    llmperf_region_end();
    CUDA(cudaDeviceSynchronize());
    return 1000 * (now_ms() - start) / count;
}

static void many_ranges_are_all_counted(int count)
{
    double bare = mark_ranges(count), counted, stopping;
    llmperf_session *session = start_counting("light", NULL);
    llmperf_metric_stats work;
    llmperf_profile *profile;

    counted = mark_ranges(count);
    stopping = now_ms();
    profile = stop_session(session);
    printf("  %d ranges: %.2f us each without a session, %.2f us counted, stop %.0f ms\n", count,
           bare, counted, now_ms() - stopping);
    print_profile(profile);
    work = metric_of(profile, "LLM@all/LLM@one", "tensor_flops_bf16");
    CHECK(work.count == (uint64_t)count && work.min == work.max, "%lu", (unsigned long)work.count);
    NEAR(work.mean, flops(256), 0.02);
    NEAR(metric_of(profile, "LLM@all", "tensor_flops_bf16").mean, count * flops(256), 0.02);
    llmperf_profile_free(profile);
}

/* A range costs milliseconds, the work in it microseconds. */
static void a_budget_bounds_what_ranges_cost(int count)
{
    double bare = mark_ranges(count), counted;
    llmperf_session *session = start_counting("light include=LLM@one budget=5", NULL);
    llmperf_profile *profile;

    llmperf_region_begin("one"); /* The counters are set up. */
    launch_gemm(256);
    llmperf_region_end();
    counted = mark_ranges(count);
    profile = stop_session(session);
    printf("  %d ranges: %.2f us each without a session, %.2f us counted with budget=5\n", count,
           bare, counted);
    print_profile(profile);
    CHECK(metric_of(profile, "LLM@all/LLM@one", "tensor_flops_bf16").count > 0, "none counted");
    NEAR(metric_of(profile, "LLM@all/LLM@one", "tensor_flops_bf16").mean, flops(256), 0.02);
    CHECK(note_with(profile, "it would have cost more than budget= allows"), "the others");
    CHECK(ledger_of(profile).kernels_seen == (uint64_t)count + 1, "all kernels are there");
    llmperf_profile_free(profile);
}

static void two_threads_share_the_counters(void)
{
    llmperf_session *session = start_counting("light", NULL);
    llmperf_profile *profile;
    double counted;

    auto work = [](const char *label) {
        CUDA(cudaSetDevice(0));
        for (int i = 0; i < 50; i++) {
            llmperf_region_begin(label);
            launch_gemm(512);
            CUDA(cudaDeviceSynchronize());
            llmperf_region_end();
        }
    };
    std::thread first(work, "first"), second(work, "second");
    first.join();
    second.join();
    profile = stop_session(session);
    print_profile(profile);
    expect_complete(profile);
    counted = (double)metric_of(profile, "LLM@first", "gpu_time").count +
              (double)metric_of(profile, "LLM@second", "gpu_time").count;
    CHECK(counted > 0 && counted <= 100, "%g", counted);
    CHECK(counted == 100 || note_with(profile, "were not measured"), "the reason");
    llmperf_profile_free(profile);
}

/* The collector sets the sampling up once it knows the GPU. */
static void await_samples(llmperf_session *session)
{
    bool there = false;

    llmperf_region_begin("first");
    for (int i = 0; !there && i < 100; i++) {
        llmperf_profile *profile = NULL;

        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (llmperf_session_snapshot(session, &profile) == 0)
            there = llmperf_profile_fact(profile, "counters");
        llmperf_profile_free(profile);
    }
    llmperf_region_end();
}

static double number_in(const char *json, const char *key)
{
    char quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
    at = json ? strstr(json, quoted) : NULL;
    return at ? atof(at + strlen(quoted)) : NAN;
}

/* Half of each 20 ms the GPU multiplies, half it rests. The steady work of the last region says
 * what the busy ones should read. */
static void samples_tell_work_from_rest(int periods, const char *record_path)
{
    llmperf_session *session = start_counting("pm interval_us=100", record_path);
    llmperf_profile *profile;
    double busy, rest, tensor, steady, steady_tensor, lost;

    await_samples(session);
    for (int i = 0; i < periods; i++) {
        double start = now_ms();

        llmperf_region_begin("busy");
        while (now_ms() - start < 10) {
            for (int k = 0; k < 4; k++)
                launch_gemm(2048);
            CUDA(cudaDeviceSynchronize());
        }
        llmperf_region_end();
        llmperf_region_begin("short");
        launch_gemm(256);
        CUDA(cudaDeviceSynchronize());
        llmperf_region_end();
        llmperf_region_begin("rest");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        llmperf_region_end();
    }
    llmperf_region_begin("steady");
    for (int k = 0; k < 50; k++)
        launch_gemm(2048);
    CUDA(cudaDeviceSynchronize());
    llmperf_region_end();
    profile = stop_session(session);
    print_profile(profile);
    expect_complete(profile);
    busy = metric_of(profile, "LLM@busy", "sm_active").mean;
    rest = metric_of(profile, "LLM@rest", "sm_active").mean;
    tensor = metric_of(profile, "LLM@busy", "tensor_active").mean;
    steady = metric_of(profile, "LLM@steady", "sm_active").mean;
    steady_tensor = metric_of(profile, "LLM@steady", "tensor_active").mean;
    CHECK(steady > 90 && fabs(busy - steady) < 3, "SMs %g, in steady work %g", busy, steady);
    CHECK(rest < 3, "SMs active at rest: %g", rest);
    CHECK(fabs(tensor - steady_tensor) < 3, "tensor pipe %g, in steady work %g", tensor,
          steady_tensor);
    CHECK(metric_of(profile, "LLM@rest", "tensor_active").mean < 3, "at rest");
    CHECK(metric_of(profile, "LLM@short", "sm_active").text, "too short to sample");
    /* The thread that takes them out may lose its core for longer than the GPU has room. */
    lost = number_in(llmperf_profile_fact(profile, "counters"), "samples_lost");
    CHECK(lost <= number_in(llmperf_profile_fact(profile, "counters"), "samples") / 1000,
          "%.0f samples are lost", lost);
    llmperf_profile_free(profile);
}

/* Work of 0.7 ms at a time, then rest: 200 us are too coarse for four samples in it. */
static void run_pieces(double seconds)
{
    double start = now_ms();

    while (now_ms() - start < 1000 * seconds) {
        llmperf_region_begin("decode_step");
        for (int k = 0; k < 7; k++)
            launch_gemm(1024);
        CUDA(cudaDeviceSynchronize());
        llmperf_region_end();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

static void the_interval_follows_the_shortest_region(void)
{
    llmperf_session *session = start_counting("pm", NULL);
    llmperf_metric_stats active;
    llmperf_profile *profile;

    run_pieces(8);
    profile = stop_session(session);
    print_profile(profile);
    active = metric_of(profile, "LLM@decode_step", "sm_active");
    CHECK(strstr(llmperf_profile_fact(profile, "counters"), "LLM@decode_step runs"), "the reason");
    CHECK(!active.text && active.mean > 50, "%s %g", active.text ? active.text : "", active.mean);
    llmperf_profile_free(profile);
}

/* Tier light: the session goes on while its values are read. */
static void light_shows_live_values(void)
{
    llmperf_session *session = start_counting("live", NULL, LLMPERF_TIER_LIGHT);
    llmperf_profile *profile = NULL;
    double start = now_ms();
    llmperf_metric_stats tensor;

    while (now_ms() - start < 6000) {
        llmperf_decode_step_begin(1, 100);
        for (int k = 0; k < 10; k++)
            launch_gemm(2048);
        CUDA(cudaDeviceSynchronize());
        llmperf_decode_step_end();
    }
    if (llmperf_session_snapshot(session, &profile) < 0)
        printf("FAILED: %s\n", llmperf_last_error());
    print_profile(profile);
    tensor = metric_of(profile, "LLM@decode_step", "tensor_active");
    CHECK(tensor.mean > 1, "%g", tensor.mean);
    llmperf_profile_free(profile);
    profile = stop_session(session);
    print_profile(profile);
    CHECK(ledger_of(profile).verdict == LLMPERF_VERDICT_SAMPLED, "kernels are sampled as ever");
    llmperf_profile_free(profile);
}

static void another_context_is_told(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto get_current = (int (*)(void **))dlsym(driver, "cuCtxGetCurrent");
    auto set_current = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
    auto create = (int (*)(void **, unsigned, int))dlsym(driver, "cuCtxCreate_v2");
    llmperf_session *session = start_counting("light", NULL);
    void *first = NULL, *second = NULL, *memory;
    llmperf_profile *profile;

    launch_gemm(256);
    CUDA(cudaDeviceSynchronize());
    get_current(&first);
    if (!create || create(&second, 0, 0) != 0) {
        printf("  no second context\n");
        llmperf_profile_free(stop_session(session));
        return;
    }
    set_current(first);
    llmperf_region_begin("here");
    launch_gemm(1024);
    llmperf_region_end();
    set_current(second);
    llmperf_region_begin("there");
    CUDA(cudaMalloc(&memory, 1 << 20));
    CUDA(cudaMemset(memory, 0, 1 << 20));
    CUDA(cudaDeviceSynchronize());
    llmperf_region_end();
    set_current(first);
    llmperf_region_begin("both");
    launch_gemm(1024);
    set_current(second);
    CUDA(cudaMemset(memory, 0, 1 << 20));
    set_current(first);
    llmperf_region_end();
    llmperf_region_begin("last");
    launch_gemm(1024);
    llmperf_region_end();
    CUDA(cudaDeviceSynchronize());
    profile = stop_session(session);
    print_profile(profile);
    NEAR(metric_of(profile, "LLM@here", "tensor_flops_bf16").mean, flops(1024), 0.02);
    NEAR(metric_of(profile, "LLM@last", "tensor_flops_bf16").mean, flops(1024), 0.02);
    CHECK(note_with(profile, "LLM@there were not measured"), "the reason");
    CHECK(note_with(profile, "LLM@both were not measured"), "the reason");
    llmperf_profile_free(profile);
}

static void do_marked_work(int n)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("LLM");
    nvtxEventAttributes_t step = {};

    step.version = NVTX_VERSION;
    step.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    step.messageType = NVTX_MESSAGE_TYPE_ASCII;
    step.message.ascii = "decode_step";
    for (int i = 0; i < 5; i++) {
        nvtxDomainRangePushEx(domain, &step);
        launch_gemm(n);
        nvtxRangePushA("copy");
        launch_copy();
        nvtxRangePop();
        nvtxDomainRangePop(domain);
    }
    CUDA(cudaDeviceSynchronize());
}

static void hold(const char *words, double seconds)
{
    llmperf_session *session = start_counting(words, NULL);
    llmperf_profile *profile;

    run_pieces(seconds);
    profile = stop_session(session);
    print_profile(profile);
    llmperf_profile_free(profile);
}

static void everything_works_after_counters(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;

    llmperf_region_begin("after");
    launch_gemm(1024);
    llmperf_region_end();
    CUDA(cudaDeviceSynchronize());
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(region_of(profile, "LLM@after", 0).kernel_count == 1, "one kernel");
    llmperf_profile_free(profile);
}

static bool wants(int argc, char **argv, const char *part)
{
    if (argc > 1 && strcmp(argv[1], part))
        return false;
    printf("%s\n", part);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    need_device(1);
    make_memory(argc > 2 ? atoi(argv[2]) : 2048);
    if (argc > 1 && !strcmp(argv[1], "work")) {
        run_nested(largest);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "marked")) {
        do_marked_work(largest);
        return 0;
    }
    if (argc > 4 && !strcmp(argv[1], "hold")) {
        hold(argv[3], atof(argv[4]));
        return 0;
    }
    need_counters();
    if (wants(argc, argv, "nested"))
        nested_regions_are_counted_in_one_pass(argc > 3 ? argv[3] : NULL);
    if (wants(argc, argv, "user"))
        passes_are_collected_over_repeated_regions();
    if (wants(argc, argv, "refused"))
        a_set_of_many_passes_is_refused_with_the_numbers();
    if (wants(argc, argv, "kernel"))
        kernels_are_replayed_one_by_one();
    if (wants(argc, argv, "graph"))
        a_graph_counts_and_its_capture_is_left_alone();
    if (wants(argc, argv, "many"))
        many_ranges_are_all_counted(argc > 3 ? atoi(argv[3]) : 1000);
    if (wants(argc, argv, "budget"))
        a_budget_bounds_what_ranges_cost(argc > 3 ? atoi(argv[3]) : 100000);
    if (wants(argc, argv, "threads"))
        two_threads_share_the_counters();
    if (wants(argc, argv, "samples"))
        samples_tell_work_from_rest(argc > 4 ? atoi(argv[4]) : 100, argc > 3 ? argv[3] : NULL);
    if (wants(argc, argv, "interval"))
        the_interval_follows_the_shortest_region();
    if (wants(argc, argv, "live"))
        light_shows_live_values();
    if (wants(argc, argv, "contexts"))
        another_context_is_told();
    if (wants(argc, argv, "after"))
        everything_works_after_counters();
    return finish();
}
