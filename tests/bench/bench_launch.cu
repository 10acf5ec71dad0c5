/* SPDX-License-Identifier: Apache-2.0 */
/* One measurement of launch cost in one process: two CUPTI clients exclude one another.
 *
 *   bench_launch launch|graph|graph_long none|bare|llmperf|regions
 *
 * Prints "WORKLOAD MODE FIRST SECOND STATE". launch: ns of host time per launch in bursts that fit
 * into the driver's queue (median burst), and ns per launch back to back until the device is done.
 * graph: ms per replay of 500 kernels, each waited for (median), and the mean. bench_launch.sh
 * alternates the modes. Exits 77 without a device. */
#include <algorithm>
#include <vector>

#include <string.h>

#include "tests/bench/bare_cupti.h"
#include "tests/bench/bench_gpu.h"

#define LAUNCHES    200000
#define BURST       500 /* below the 1,024 launches that the driver queues */
#define NODES       500
#define REPLAYS     200
#define LONG_CYCLES 8000 /* about 4.5 us a kernel at 1.8 GHz: a decode step's kernels */

enum mode { NONE, BARE, LLMPERF, REGIONS };

static const char *const mode_names[] = { "none", "bare", "llmperf", "regions" };

static const char *stop_bare(void)
{
    bare_flush();
    return bare_state();
}

/* llmperf, and what all modes share */

static llmperf_session *session;

static void start_llmperf(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    unsetenv("LLMPERF_OUT"); /* Nothing is written: the bare program writes nothing either. */
    options.tier = LLMPERF_TIER_LIGHT;
    options.overhead_budget_permille = 1000; /* every kernel, as the bare program */
    options.device_source = LLMPERF_SOURCE_CUPTI;
    if (llmperf_session_start(&options, &session) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    llmperf_region_begin("bench");
}

static const char *stop_llmperf(void)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    llmperf_region_end();
    if (llmperf_session_stop(session, &profile) < 0 ||
        llmperf_profile_ledger(profile, &ledger) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    for (size_t i = 0; llmperf_profile_problem(profile, i); i++)
        fprintf(stderr, "# %s\n", llmperf_profile_problem(profile, i));
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict);
}

static void start_mode(enum mode mode)
{
    if (mode == BARE && bare_start() < 0)
        exit(1);
    else if (mode == LLMPERF || mode == REGIONS)
        start_llmperf();
}

static const char *stop_mode(enum mode mode)
{
    return mode == NONE ? "ok" : mode == BARE ? stop_bare() : stop_llmperf();
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + (ptrdiff_t)(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/* Workloads */

static void launch_many(cudaStream_t stream, int count, bool regions)
{
    if (!regions)
        for (int i = 0; i < count; i++)
            bench_spin<<<1, 32, 0, stream>>>(0);
    else
        for (int i = 0; i < count; i++) {
            llmperf_region_begin("kernel");
            bench_spin<<<1, 32, 0, stream>>>(0);
            llmperf_region_end();
        }
    CUDA(cudaGetLastError());
}

static double time_bursts(cudaStream_t stream, bool regions)
{
    std::vector<double> costs;

    for (int i = 0; i < LAUNCHES / BURST; i++) {
        uint64_t start = now_ns();

        launch_many(stream, BURST, regions);
        costs.push_back((double)(now_ns() - start) / BURST);
        CUDA(cudaStreamSynchronize(stream));
    }
    return median(costs);
}

static double time_back_to_back(cudaStream_t stream, bool regions)
{
    uint64_t start = now_ns();

    launch_many(stream, LAUNCHES, regions);
    CUDA(cudaStreamSynchronize(stream));
    return (double)(now_ns() - start) / LAUNCHES;
}

static void measure_launches(cudaStream_t stream, enum mode mode, double *first, double *second)
{
    bool regions = mode == REGIONS;

    launch_many(stream, LAUNCHES / 10, regions);
    CUDA(cudaStreamSynchronize(stream));
    *first = time_bursts(stream, regions);
    *second = time_back_to_back(stream, regions);
}

/* Captured while the profiler runs, one region around every ten kernels: what an engine does. */
static cudaGraphExec_t make_graph(cudaStream_t stream, long long cycles, bool regions)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < NODES; i++) {
        if (regions && i % 10 == 0)
            llmperf_region_begin("layer");
        bench_spin<<<1, 32, 0, stream>>>(cycles);
        if (regions && i % 10 == 9)
            llmperf_region_end();
    }
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

static double replay_once(cudaGraphExec_t exec, cudaStream_t stream)
{
    uint64_t start = now_ns();

    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    return (double)(now_ns() - start) / 1e6;
}

static void measure_graph(cudaStream_t stream, enum mode mode, long long cycles, double *first,
                          double *second)
{
    cudaGraphExec_t exec = make_graph(stream, cycles, mode == LLMPERF || mode == REGIONS);
    std::vector<double> times;
    double sum = 0;

    for (int i = 0; i < REPLAYS / 10; i++)
        replay_once(exec, stream);
    for (int i = 0; i < REPLAYS; i++) {
        if (mode == REGIONS)
            llmperf_region_begin("step");
        times.push_back(replay_once(exec, stream));
        if (mode == REGIONS)
            llmperf_region_end();
        sum += times.back();
    }
    *first = median(times);
    *second = sum / REPLAYS;
    CUDA(cudaGraphExecDestroy(exec));
}

static enum mode read_mode(const char *word)
{
    for (int i = NONE; i <= REGIONS; i++)
        if (!strcmp(word, mode_names[i]))
            return (enum mode)i;
    fprintf(stderr, "mode is none, bare, llmperf or regions, not %s\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    const char *workload = argc > 1 ? argv[1] : "launch", *state;
    enum mode mode = read_mode(argc > 2 ? argv[2] : "none");
    double first = 0, second = 0;
    cudaStream_t stream;
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1) {
        printf("skipped: no CUDA device\n");
        return BENCH_SKIPPED;
    }
    CUDA(cudaFree(0));
    start_mode(mode);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (!strcmp(workload, "launch"))
        measure_launches(stream, mode, &first, &second);
    else
        measure_graph(stream, mode, strcmp(workload, "graph_long") ? 0 : LONG_CYCLES, &first,
                      &second);
    CUDA(cudaDeviceSynchronize());
    state = stop_mode(mode);
    printf("%s %s %.4f %.4f %s\n", workload, mode_names[mode], first, second, state);
    return 0;
}
