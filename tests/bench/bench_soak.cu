/* SPDX-License-Identifier: Apache-2.0 */
/* A long session over a decode step that is one CUDA graph of 500 short kernels.
 *
 *   bench_soak none|light|deep [MILLIONS OF KERNELS]
 *
 * Prints steps a second, the time that the fastest tenth of the steps stays within, and resident
 * memory of each tenth of the way, then what the ledger says. Exits 1 if memory grew by more than
 * the window of busy intervals that a session may keep and 8 MiB, if fast steps came to last over
 * 1 % longer (medians of the seventh to tenth and of the second to fifth tenth; in the first the
 * machine warms up), if a time was not valid, or if a kernel of a collected step is missing. Exits
 * 77 without a device.
 *
 * With records of graphs the host has so much to do for each launch that these steps wait for it:
 * what else its cores do moves steps a second by 15 % for seconds at a time, where `none`, which
 * waits for the GPU, stays within 0.1 %. Fast steps are the least of that. */
#include <algorithm>
#include <vector>

#include <string.h>

#include "tests/bench/bench_gpu.h"
#include "tests/bench/memory.h"

#define KERNELS 500
#define PARTS   10
#define MEMORY  (24.0 + 8.0) /* MiB: see docs/lab/performance.md */
#define SLOWER  1.01

static cudaGraphExec_t make_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < KERNELS; i++) {
        if (i % 20 == 0)
            llmperf_region_begin(i % 40 ? "LLM@mlp" : "LLM@attention");
        bench_spin<<<1, 32, 0, stream>>>(1000);
        if (i % 20 == 19)
            llmperf_region_end();
    }
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static bool ledger_is_right(llmperf_session *session, bool light, uint64_t steps)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;
    bool right;

    if (llmperf_session_stop(session, &profile) < 0 ||
        llmperf_profile_ledger(profile, &ledger) < 0) {
        fprintf(stderr, "%s\n", llmperf_last_error());
        exit(1);
    }
    printf("%llu kernels recorded, share %.4f, %llu times not valid, %llu dropped, verdict %s\n",
           (unsigned long long)ledger.kernels_seen, ledger.sampled_fraction,
           (unsigned long long)ledger.records_invalid_time,
           (unsigned long long)ledger.records_dropped,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    for (size_t i = 0; llmperf_profile_problem(profile, i); i++)
        printf("problem: %s\n", llmperf_profile_problem(profile, i));
    right = ledger.records_invalid_time == 0 && ledger.records_dropped == 0 &&
            ledger.kernels_seen > 0 && ledger.kernels_seen % KERNELS == 0 &&
            (light ? ledger.verdict == LLMPERF_VERDICT_SAMPLED
                   : ledger.verdict == LLMPERF_VERDICT_COMPLETE &&
                         ledger.kernels_seen == steps * KERNELS);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return right;
}

static double median_of_four(const double *values)
{
    double sorted[4];

    std::copy(values, values + 4, sorted);
    std::sort(sorted, sorted + 4);
    return (sorted[1] + sorted[2]) / 2;
}

static double late_against_early(const double *values)
{
    return median_of_four(values + PARTS - 4) / median_of_four(values + 1);
}

/* Host time of each step, us. */
static void run_steps(cudaGraphExec_t exec, cudaStream_t stream, std::vector<double> &steps)
{
    for (size_t step = 0; step < steps.size(); step++) {
        double begin = bench_now_us();

        llmperf_decode_step_begin(1, step);
        CUDA(cudaGraphLaunch(exec, stream));
        CUDA(cudaStreamSynchronize(stream));
        llmperf_decode_step_end();
        steps[step] = bench_now_us() - begin;
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "light";
    bool none = !strcmp(mode, "none"), light = !none && strcmp(mode, "deep"), fine = true;
    double millions = argc > 2 ? atof(argv[2]) : !strcmp(mode, "deep") ? 5 : 30;
    double rate[PARTS], fast[PARTS], memory[PARTS];
    std::vector<double> steps((size_t)(millions * 1e6 / KERNELS / PARTS));
    cudaGraphExec_t exec;
    cudaStream_t stream;
    llmperf_session *session = NULL;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return BENCH_SKIPPED;
    if (!none)
        session = bench_start(light ? LLMPERF_TIER_LIGHT : LLMPERF_TIER_DEEP);
    CUDA(cudaStreamCreate(&stream));
    exec = make_graph(stream);
    for (int part = 0; part < PARTS; part++) {
        double begin = bench_now_us();

        run_steps(exec, stream, steps);
        rate[part] = (double)steps.size() * 1e6 / (bench_now_us() - begin);
        std::nth_element(steps.begin(), steps.begin() + steps.size() / 10, steps.end());
        fast[part] = steps[steps.size() / 10];
        memory[part] = bench_resident_mib();
        printf("%3d %%: %9.1f steps/s, a tenth of them within %7.1f us, %7.1f MiB resident\n",
               (part + 1) * 100 / PARTS, rate[part], fast[part], memory[part]);
    }
    if (!none)
        fine = ledger_is_right(session, light, steps.size() * PARTS);
    printf("%s, %.1f million kernels: late against early %+.2f %% steps/s, fast steps %+.2f %%, "
           "%+.1f MiB\n",
           mode, (double)(steps.size() * PARTS) * KERNELS / 1e6,
           (late_against_early(rate) - 1) * 100, (late_against_early(fast) - 1) * 100,
           memory[PARTS - 1] - memory[1]);
    fine = fine && late_against_early(fast) <= SLOWER;
    return fine && memory[PARTS - 1] - memory[1] <= MEMORY ? 0 : 1;
}
