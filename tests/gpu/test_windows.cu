/* SPDX-License-Identifier: Apache-2.0 */
/** Triggered windows on a device: the instances of a window are whole, with the copies that tier
 * light leaves out, launched one by one and in a CUDA graph; and launches begin before their
 * records. */
#include <unistd.h>

#include "check.h"

#define KERNELS 40
#define COPIES  3
#define RULE    "decode_step p50 above 2 ms for 500 ms collect 12 limit 1"

static cudaStream_t stream;
static float *device_memory;
static float host_memory[256];

__global__ void tiny_kernel(float *memory)
{
    memory[threadIdx.x] += 1;
}

static void work(void)
{
    for (int i = 0; i < KERNELS; i++)
        tiny_kernel<<<1, 32, 0, stream>>>(device_memory);
    for (int i = 0; i < COPIES; i++)
        CUDA(cudaMemcpyAsync(device_memory, host_memory, sizeof(host_memory),
                             cudaMemcpyHostToDevice, stream));
}

static cudaGraphExec_t capture(void)
{
    cudaGraphExec_t executable;
    cudaGraph_t graph;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work();
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return executable;
}

static void run_step(cudaGraphExec_t graph, unsigned pause_us)
{
    llmperf_decode_step_begin(1, 100);
    if (graph)
        CUDA(cudaGraphLaunch(graph, stream));
    else
        work();
    CUDA(cudaStreamSynchronize(stream));
    usleep(pause_us);
    llmperf_decode_step_end();
}

static llmperf_session *start(uint32_t tier, const char *rules)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = tier;
    options.rules = rules;
    return start_with(options);
}

static void check_window(const llmperf_profile *profile, const char *what)
{
    llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;
    llmperf_ledger ledger = ledger_of(profile);

    CHECK(llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS) == 1, "%s: %zu windows", what,
          llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS));
    if (llmperf_profile_window(profile, 0, &window) < 0)
        return;
    printf("%s: %llu units, %llu left out, %llu kernels, %llu copies, wall %.3f ms, busy %.3f ms\n",
           what, (unsigned long long)window.units, (unsigned long long)window.units_left_out,
           (unsigned long long)window.kernel_count, (unsigned long long)window.memory_count,
           window.wall_ms, window.busy_ms);
    CHECK(window.units == 12, "%s", what);
    CHECK(window.kernel_count == 12 * KERNELS, "%s", what);
    CHECK(window.memory_count == 12 * COPIES, "%s", what);
    CHECK(window.busy_ms > 0 && window.busy_ms < window.wall_ms, "%s", what);
    CHECK(ledger.kernels_in_windows == 12 * KERNELS, "%s", what);
    CHECK(ledger.verdict == LLMPERF_VERDICT_SAMPLED, "%s: verdict %s, first problem: %s", what,
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
          llmperf_profile_problem(profile, 0) ? llmperf_profile_problem(profile, 0) : "none");
    CHECK(region_of(profile, "LLM@decode_step", 0).memcpy_count == 0,
          "%s: copies of a window are in a total", what);
}

static void check_windows(cudaGraphExec_t graph, const char *what)
{
    llmperf_session *session = start(LLMPERF_TIER_LIGHT, RULE);
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;
    llmperf_profile *profile;

    for (int i = 0; i < 300; i++)
        run_step(graph, 300);
    for (int i = 0; i < 2000 && (state.windows == 0 || state.window_open); i++) {
        run_step(graph, 3000);
        llmperf_session_status(session, &state);
    }
    for (int i = 0; i < 50; i++)
        run_step(graph, 300);
    profile = stop_session(session);
    check_window(profile, what);
    llmperf_profile_free(profile);
}

/* All that a complete session must not count. */
static void check_ledger(cudaGraphExec_t graph, const char *what)
{
    llmperf_session *session = start(LLMPERF_TIER_DEEP, NULL);
    llmperf_profile *profile;
    llmperf_ledger ledger;

    for (int i = 0; i < 300; i++)
        run_step(graph, 0);
    profile = stop_session(session);
    expect_complete(profile);
    ledger = ledger_of(profile);
    CHECK(ledger.launches_duplicate == 0 && ledger.records_before_launch == 0 &&
              ledger.graph_records_missing == 0 && ledger.memory_missing == 0 &&
              ledger.records_foreign == 0 && ledger.source_errors == 0 &&
              ledger.names_over_limit == 0,
          "%s: %llu %llu %llu %llu %llu %llu", what, (unsigned long long)ledger.launches_duplicate,
          (unsigned long long)ledger.records_before_launch,
          (unsigned long long)ledger.graph_records_missing,
          (unsigned long long)ledger.memory_missing, (unsigned long long)ledger.records_foreign,
          (unsigned long long)ledger.source_errors);
    llmperf_profile_free(profile);
}

int main(void)
{
    cudaGraphExec_t graph;

    need_device(1);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&device_memory, sizeof(host_memory)));
    CUDA(cudaHostRegister(host_memory, sizeof(host_memory), cudaHostRegisterDefault));
    llmperf_prewarm();
    graph = capture();
    run_step(NULL, 0);
    run_step(graph, 0);
    check_ledger(NULL, "launched one by one");
    check_ledger(graph, "graph");
    check_windows(NULL, "launched one by one");
    check_windows(graph, "graph");
    check_ledger(NULL, "launched one by one, after windows");
    return finish();
}
