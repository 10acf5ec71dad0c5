/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of CUDA graphs last as long in tier light, where records go on and off between replays,
 * as in deep, where they stay on; and so they do at pauses, at the end, and in windows for all
 * threads. */
#include <unistd.h>

#include "check.h"

#define NODES  40
#define CYCLES 30000 /* about 17 us at 1.8 GHz */

static cudaStream_t stream;
static cudaGraphExec_t graph;

__global__ void graph_node(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

static void capture(void)
{
    cudaGraph_t captured;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < NODES; i++)
        graph_node<<<1, 32, 0, stream>>>(CYCLES);
    CUDA(cudaStreamEndCapture(stream, &captured));
    CUDA(cudaGraphInstantiate(&graph, captured, 0));
    CUDA(cudaGraphDestroy(captured));
}

/* `ahead`: replays that are launched before the first of them is waited for. */
static void run_steps(int steps, int ahead, bool marked)
{
    for (int i = 0; i < steps; i++) {
        if (marked)
            llmperf_decode_step_begin(1, 100);
        CUDA(cudaGraphLaunch(graph, stream));
        if (i % ahead == ahead - 1)
            CUDA(cudaStreamSynchronize(stream));
        if (marked)
            llmperf_decode_step_end();
    }
    CUDA(cudaStreamSynchronize(stream));
}

static double least_ms, most_ms; /* of a kernel in deep */

static void check_kernels(const char *what, const llmperf_profile *profile, uint32_t verdict)
{
    llmperf_ledger ledger = ledger_of(profile);
    llmperf_kernel_stats row = LLMPERF_KERNEL_STATS_INIT, sum = LLMPERF_KERNEL_STATS_INIT;

    sum.min_ms = INFINITY;
    for (size_t i = 0; llmperf_profile_kernel(profile, i, &row) == 0; i++) {
        sum.calls += row.calls;
        sum.min_ms = fmin(sum.min_ms, row.min_ms);
        sum.max_ms = fmax(sum.max_ms, row.max_ms);
    }
    printf("%s: %llu kernels of %.4f to %.4f ms, %llu invalid, %llu beside, share %.4f, %s\n", what,
           (unsigned long long)sum.calls, sum.min_ms, sum.max_ms,
           (unsigned long long)ledger.records_invalid_time,
           (unsigned long long)ledger.kernels_outside_window, ledger.sampled_fraction,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    for (size_t i = 0; ledger.verdict != verdict && llmperf_profile_problem(profile, i); i++)
        printf("problem: %s\n", llmperf_profile_problem(profile, i));
    CHECK(ledger.verdict == verdict, "%s", what);
    CHECK(sum.calls > 0 && sum.calls % NODES == 0, "%s", what);
    CHECK(ledger.records_invalid_time == 0, "%s", what);
    if (most_ms == 0) {
        least_ms = sum.min_ms;
        most_ms = sum.max_ms;
    }
    CHECK(sum.min_ms > least_ms / 2 && sum.max_ms < most_ms + least_ms,
          "%s: in deep %.4f to %.4f ms", what, least_ms, most_ms);
}

static void check_end(const char *what, llmperf_session *session, uint32_t verdict)
{
    llmperf_profile *profile = stop_session(session);

    check_kernels(what, profile, verdict);
    llmperf_profile_free(profile);
}

static void check_pauses(void)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP, 0);

    for (int i = 0; i < 20; i++) {
        run_steps(5, 100, true);
        CUDA(cudaGraphLaunch(graph, stream)); /* runs into the pause */
        CHECK(llmperf_session_pause(session) == 0, "%s", llmperf_last_error());
        run_steps(5, 1, true);
        CHECK(llmperf_session_resume(session) == 0, "%s", llmperf_last_error());
    }
    CUDA(cudaGraphLaunch(graph, stream));
    check_end("pauses", session, LLMPERF_VERDICT_COMPLETE);
}

int main(void)
{
    static const uint32_t budgets[] = { 5, 50, 1000 };
    llmperf_session *session;

    need_device(1);
    CUDA(cudaStreamCreate(&stream));
    llmperf_prewarm();
    capture();
    run_steps(10, 1, false);
    session = start_session(LLMPERF_TIER_DEEP, 0);
    run_steps(300, 1, true);
    check_end("deep", session, LLMPERF_VERDICT_COMPLETE);
    for (int i = 0; i < 3; i++) {
        session = start_session(LLMPERF_TIER_LIGHT, budgets[i]);
        run_steps(1500, 1, true);
        check_end("light, each step waited for", session,
                  budgets[i] == 1000 ? LLMPERF_VERDICT_COMPLETE : LLMPERF_VERDICT_SAMPLED);
    }
    session = start_session(LLMPERF_TIER_LIGHT, 50);
    run_steps(1500, 8, true);
    check_end("light, eight steps ahead", session, LLMPERF_VERDICT_SAMPLED);
    session = start_session(LLMPERF_TIER_LIGHT, 100);
    run_steps(6000, 1, false);
    check_end("light, windows for all threads", session, LLMPERF_VERDICT_SAMPLED);
    check_pauses();
    return finish();
}
