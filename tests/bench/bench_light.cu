/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of the always-on tier on decode steps that are waited for: a CUDA graph, eager launches, and
 * a graph of which a part of the kernels gets new parameters in each step, inside layer regions.
 *
 *   bench_light graph|eager|update none|light|detach|deep [SECONDS]
 *
 * Prints "WORKLOAD MODE MEAN_US MEDIAN_US STEPS COLLECTED SHARE VERDICT": mean and median time of a
 * step, steps, steps whose kernels were collected, the share that the ledger states (both also of
 * the time before, until CUPTI has left for the first time, with detach). Exits 1 if a
 * collected step does not have exactly its kernels. bench_light.sh alternates the modes. Exits 77
 * without a device. */
#include <algorithm>
#include <vector>

#include <math.h>
#include <string.h>

#include "tests/bench/bench_gpu.h"

#define KERNELS 300
#define CYCLES  6000 /* about 3.4 us at 1.8 GHz */
#define WARM    50
#define LAYERS  30 /* of workload update */
#define UPDATES 3  /* kernels of a layer that get new parameters */

static void launch_all(cudaStream_t stream)
{
    for (int i = 0; i < KERNELS; i++)
        bench_spin<<<1, 32, 0, stream>>>(CYCLES);
}

static cudaGraphNode_t nodes[KERNELS];
static bool updates;

static cudaGraphExec_t make_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t count = KERNELS;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_all(stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphGetNodes(graph, nodes, &count));
    return exec;
}

static void update_layers(cudaGraphExec_t exec)
{
    long long cycles = CYCLES;
    void *arguments[] = { &cycles };
    cudaKernelNodeParams params = {};

    params.func = (void *)bench_spin;
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        llmperf_region_begin("layer");
        for (uint32_t i = 0; i < UPDATES; i++)
            CUDA(cudaGraphExecKernelNodeSetParams(exec, nodes[layer * (KERNELS / LAYERS) + i],
                                                  &params));
        llmperf_region_end();
    }
}

static double run_step(cudaStream_t stream, cudaGraphExec_t exec, uint64_t context)
{
    double begin = bench_now_us();

    llmperf_decode_step_begin(1, context);
    if (updates)
        update_layers(exec);
    if (exec)
        CUDA(cudaGraphLaunch(exec, stream));
    else
        launch_all(stream);
    CUDA(cudaStreamSynchronize(stream));
    llmperf_decode_step_end();
    return bench_now_us() - begin;
}

static llmperf_session *start(const char *mode)
{
    if (!strcmp(mode, "none"))
        return NULL;
    if (!strcmp(mode, "detach"))
        return bench_start_with(LLMPERF_TIER_LIGHT, LLMPERF_SESSION_DETACH);
    return bench_start(strcmp(mode, "light") ? LLMPERF_TIER_DEEP : LLMPERF_TIER_LIGHT);
}

static uint64_t collected_steps(const llmperf_profile *profile)
{
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_iteration_stats(profile, i, &row) == 0; i++)
        if (!strcmp(row.quantity, "busy"))
            return row.count;
    return 0;
}

/* Exits if what was collected is not whole steps. */
static void finish(llmperf_session *session, uint64_t steps)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;
    uint64_t collected;

    if (!session) {
        printf(" %llu 0 0 none\n", (unsigned long long)steps);
        return;
    }
    if (llmperf_session_stop(session, &profile) < 0 ||
        llmperf_profile_ledger(profile, &ledger) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    collected = collected_steps(profile);
    printf(" %llu %llu %.4f %s\n", (unsigned long long)steps, (unsigned long long)collected,
           ledger.sampled_fraction, llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    for (size_t i = 0; llmperf_profile_problem(profile, i); i++)
        fprintf(stderr, "problem: %s\n", llmperf_profile_problem(profile, i));
    if (ledger.kernels_seen != collected * KERNELS || ledger.launches_missing > 0) {
        fprintf(stderr, "%llu kernels of %llu steps of %d, %llu missing, %llu beside\n",
                (unsigned long long)ledger.kernels_seen, (unsigned long long)collected, KERNELS,
                (unsigned long long)ledger.launches_missing,
                (unsigned long long)ledger.kernels_outside_window);
        exit(1);
    }
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

/* With detach until CUPTI has left once: it stays while graphs are made and for two seconds more.
 */
static uint64_t warm_up(llmperf_session *session, const char *mode, cudaStream_t stream,
                        cudaGraphExec_t exec)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;
    double end = bench_now_us() + 10e6;
    uint64_t steps = 0;

    for (; steps < WARM || (!strcmp(mode, "detach") && !state.detached && bench_now_us() < end);
         steps++) {
        run_step(stream, exec, 100);
        if (session)
            llmperf_session_status(session, &state);
    }
    return steps;
}

int main(int argc, char **argv)
{
    const char *workload = argc > 1 ? argv[1] : "graph", *mode = argc > 2 ? argv[2] : "light";
    double seconds = argc > 3 ? atof(argv[3]) : 4, sum = 0, end;
    std::vector<double> steps;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    llmperf_session *session;
    uint64_t warm;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "no device\n");
        return BENCH_SKIPPED;
    }
    CUDA(cudaStreamCreate(&stream));
    session = start(mode);
    updates = !strcmp(workload, "update");
    exec = strcmp(workload, "eager") ? make_graph(stream) : NULL;
    warm = warm_up(session, mode, stream, exec);
    for (end = bench_now_us() + seconds * 1e6; bench_now_us() < end;)
        steps.push_back(run_step(stream, exec, 100 + steps.size()));
    for (double step : steps)
        sum += step;
    std::sort(steps.begin(), steps.end());
    printf("%s %s %.2f %.2f", workload, mode, sum / (double)steps.size(), steps[steps.size() / 2]);
    finish(session, warm + steps.size());
    return 0;
}
