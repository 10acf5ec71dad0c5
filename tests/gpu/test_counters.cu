/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters on ranges of work: known work is counted right, in each way of counting, and
 * what cannot be counted is told. `test_gpu_counters PART [SIZE [FILE or COUNT]]` runs one part.
 * Without a test of its own: `work` does the work of the first part without a session, `marked` the
 * same in NVTX ranges, for llmperf run. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>

#include "tests/gpu/counters.h"

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
    CHECK(note_with(profile, "passes on GH100, 1 allowed") || note_with(profile, "allowed; use"),
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
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
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

/* More ranges than CUPTI holds: none is lost. */
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
    CHECK(note_with(profile, "its cost would have exceeded budget="), "the others");
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
    if (wants(argc, argv, "contexts"))
        another_context_is_told();
    if (wants(argc, argv, "after"))
        everything_works_after_counters();
    return finish();
}
