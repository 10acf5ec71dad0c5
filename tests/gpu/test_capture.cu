/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, copies, sets and graphs of a real device against what the program knows that it
 * launched. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/check.h"

__global__ void add_one(float *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        data[i] += 1.0f;
}

static void launches_are_kernels_in_their_regions(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;
    llmperf_ledger ledger;

    llmperf_prefill_begin(512);
    for (int i = 0; i < 300; i++) {
        llmperf_region_begin(i % 3 == 0 ? "attention" : "mlp");
        spin<<<1, 32>>>(100);
        llmperf_region_end();
    }
    llmperf_prefill_end();
    spin<<<1, 32>>>(100);
    profile = stop_session(session);
    ledger = ledger_of(profile);
    expect_complete(profile);
    CHECK(ledger.launches_expected == 301 && ledger.kernels_seen == 301,
          "%lu launches, %lu kernels", (unsigned long)ledger.launches_expected,
          (unsigned long)ledger.kernels_seen);
    CHECK(ledger.kernels_outside == 1, "%lu outside", (unsigned long)ledger.kernels_outside);
    CHECK(region_of(profile, "LLM@prefill/LLM@attention", 0).kernel_count == 100, "attention");
    CHECK(region_of(profile, "LLM@prefill/LLM@mlp", 0).kernel_count == 200, "mlp");
    CHECK(region_of(profile, "LLM@prefill", 0).kernel_count == 300, "prefill");
    CHECK(region_of(profile, "LLM@prefill", 0).tokens == 512, "tokens");
    llmperf_profile_free(profile);
}

/* The kernel is still running when its region, and even the session's last region, has ended. */
static void kernel_ending_after_its_region_still_counts(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;

    llmperf_region_begin("long");
    spin<<<1, 1>>>(600000000LL);
    llmperf_region_end();
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(region_of(profile, "LLM@long", 0).kernel_count == 1, "kernel");
    CHECK(region_of(profile, "LLM@long", 0).gpu_busy_ms > 100, "%f ms",
          region_of(profile, "LLM@long", 0).gpu_busy_ms);
    llmperf_profile_free(profile);
}

static void region_time_agrees_with_events(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;
    cudaEvent_t begin, end;
    float event_ms = 0;
    double busy_ms;

    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaDeviceSynchronize());
    llmperf_region_begin("timed");
    CUDA(cudaEventRecord(begin));
    for (int i = 0; i < 50; i++)
        spin<<<132, 128>>>(2000000);
    CUDA(cudaEventRecord(end));
    llmperf_region_end();
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&event_ms, begin, end));
    profile = stop_session(session);
    busy_ms = region_of(profile, "LLM@timed", 0).gpu_busy_ms;
    printf("region %.4f ms, events %.4f ms, difference %.3f %%\n", busy_ms, (double)event_ms,
           100 * (busy_ms / (double)event_ms - 1));
    CHECK(fabs(busy_ms / (double)event_ms - 1) < 0.03, "%f against %f ms", busy_ms,
          (double)event_ms);
    llmperf_profile_free(profile);
}

static void copies_and_sets_are_seen(void)
{
    const size_t bytes = 1 << 20;
    llmperf_session *session;
    llmperf_profile *profile;
    llmperf_region_stats stats;
    void *host, *device, *other;

    CUDA(cudaMallocHost(&host, bytes));
    CUDA(cudaMalloc(&device, bytes));
    CUDA(cudaMalloc(&other, bytes));
    session = start_session(LLMPERF_TIER_DEEP);
    llmperf_region_begin("memory");
    for (int i = 0; i < 10; i++) {
        CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice));
        CUDA(cudaMemsetAsync(other, 0, bytes));
        CUDA(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost));
    }
    llmperf_region_end();
    profile = stop_session(session);
    expect_complete(profile);
    stats = region_of(profile, "LLM@memory", 0);
    CHECK(stats.memcpy_count == 30 && stats.memset_count == 10, "%lu copies, %lu sets",
          (unsigned long)stats.memcpy_count, (unsigned long)stats.memset_count);
    CHECK(stats.memcpy_bytes == 30 * bytes, "%lu bytes", (unsigned long)stats.memcpy_bytes);
    llmperf_profile_free(profile);
    CUDA(cudaFreeHost(host));
    CUDA(cudaFree(device));
    CUDA(cudaFree(other));
}

static void failed_launches_are_not_expected(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;

    llmperf_region_begin("fails");
    for (int i = 0; i < 5; i++) {
        spin<<<1, 32>>>(100);
        spin<<<1, 32, 1 << 30>>>(100); /* more shared memory than there is */
    }
    cudaGetLastError();
    llmperf_region_end();
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(ledger_of(profile).kernels_seen == 5, "%lu kernels",
          (unsigned long)ledger_of(profile).kernels_seen);
    llmperf_profile_free(profile);
}

/* Launches into a captured stream become nodes, not kernels; each replay brings every node. */
static void graph_replays_count_nodes_and_captures_nothing(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;
    llmperf_ledger ledger;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CUDA(cudaStreamCreate(&stream));
    llmperf_region_begin("capture");
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 40; i++)
        spin<<<1, 32, 0, stream>>>(100);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    llmperf_region_end();
    for (int i = 0; i < 25; i++) {
        llmperf_decode_step_begin(1, 100);
        CUDA(cudaGraphLaunch(exec, stream));
        llmperf_decode_step_end();
    }
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    ledger = ledger_of(profile);
    expect_complete(profile);
    CHECK(ledger.launches_expected == 0, "%lu launches expected",
          (unsigned long)ledger.launches_expected);
    CHECK(ledger.graph_launches == 25 && ledger.graph_kernels_seen == 1000,
          "%lu graphs, %lu kernels", (unsigned long)ledger.graph_launches,
          (unsigned long)ledger.graph_kernels_seen);
    CHECK(region_of(profile, "LLM@decode_step", 0).kernel_count == 1000, "decode_step");
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
}

static void paused_work_is_not_counted(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;

    llmperf_region_begin("outer");
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 20; i++)
            spin<<<1, 32>>>(100);
        CUDA(cudaDeviceSynchronize());
        if (round % 2 == 0)
            CHECK(llmperf_session_pause(session) == LLMPERF_OK, "%s", llmperf_last_error());
        else
            CHECK(llmperf_session_resume(session) == LLMPERF_OK, "%s", llmperf_last_error());
    }
    llmperf_region_end();
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(region_of(profile, "LLM@outer", 0).kernel_count == 100, "%lu kernels",
          (unsigned long)region_of(profile, "LLM@outer", 0).kernel_count);
    llmperf_profile_free(profile);
}

static void snapshots_grow_while_the_session_runs(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_LIGHT);
    uint64_t before = 0;

    for (int round = 1; round <= 5; round++) {
        llmperf_profile *profile = NULL;

        llmperf_region_begin("step");
        for (int i = 0; i < 1000; i++)
            spin<<<1, 32>>>(10);
        llmperf_region_end();
        CUDA(cudaDeviceSynchronize());
        CHECK(llmperf_session_snapshot(session, &profile) == LLMPERF_OK, "%s",
              llmperf_last_error());
        CHECK(ledger_of(profile).kernels_seen == 1000u * (unsigned)round, "%lu kernels in round %d",
              (unsigned long)ledger_of(profile).kernels_seen, round);
        CHECK(ledger_of(profile).kernels_seen > before, "no growth");
        before = ledger_of(profile).kernels_seen;
        llmperf_profile_free(profile);
    }
    llmperf_profile_free(stop_session(session));
}

static void forked_child_records_nothing_and_ends_well(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
    llmperf_profile *profile;
    int status = 0;
    pid_t child;

    llmperf_region_begin("parent");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        llmperf_session *none = NULL;

        for (int i = 0; i < 1000; i++) {
            llmperf_region_begin("child");
            llmperf_region_end();
        }
        exit(llmperf_session_start(NULL, &none) == LLMPERF_ESTATE ? 0 : 1);
    }
    spin<<<1, 32>>>(100);
    llmperf_region_end();
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "child ended with %d", status);
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(region_of(profile, "LLM@parent", 0).kernel_count == 1, "parent");
    llmperf_profile_free(profile);
}

/* CUPTI given up and taken again: the sessions after it still find each kernel in its region. */
static void a_released_profiler_can_be_taken_again(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.flags = LLMPERF_SESSION_RELEASE;
    CHECK(llmperf_session_start(&options, &session) == LLMPERF_OK, "%s", llmperf_last_error());
    spin<<<1, 32>>>(100);
    llmperf_profile_free(stop_session(session));
    launches_are_kernels_in_their_regions();
    copies_and_sets_are_seen();
    graph_replays_count_nodes_and_captures_nothing();
}

int main(void)
{
    need_device(1);
    CUDA(cudaFree(0));
    launches_are_kernels_in_their_regions();
    kernel_ending_after_its_region_still_counts();
    region_time_agrees_with_events();
    copies_and_sets_are_seen();
    failed_launches_are_not_expected();
    graph_replays_count_nodes_and_captures_nothing();
    paused_work_is_not_counted();
    snapshots_grow_while_the_session_runs();
    forked_child_records_nothing_and_ends_well();
    a_released_profiler_can_be_taken_again();
    for (int i = 0; i < 5; i++) /* sessions one after another find the same */
        launches_are_kernels_in_their_regions();
    return finish();
}
