/* SPDX-License-Identifier: Apache-2.0 */
/* A long session over a decode step that is one CUDA graph of 500 short kernels.
 *
 *   bench_soak light|deep [MILLIONS OF KERNELS]
 *
 * Prints steps a second and resident memory of each tenth of the way, then what the ledger says.
 * Exits 1 if memory grew by more than the window of busy intervals that a session may keep and 8
 * MiB, if the later steps run over 1 % slower than the early ones (medians of the seventh to tenth
 * and of the second to fifth tenth; in the first the machine warms up), if a time was not valid, or
 * if a kernel of a collected step is missing. Exits 77 without a device. */
#include <algorithm>

#include <string.h>
#include <unistd.h>

#include "tests/bench/bench_gpu.h"

#define KERNELS 500
#define PARTS   10
#define MEMORY  (24.0 + 8.0) /* MiB: see docs/performance.md */
#define SLOWER  1.01

static double resident_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long total = 0, resident = 0;

    if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

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
           (unsigned long long)ledger.records_dropped, llmperf_verdict_name(ledger.verdict));
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

static double median_of_four(const double *rates)
{
    double sorted[4];

    std::copy(rates, rates + 4, sorted);
    std::sort(sorted, sorted + 4);
    return (sorted[1] + sorted[2]) / 2;
}

int main(int argc, char **argv)
{
    bool light = argc < 2 || strcmp(argv[1], "deep") != 0, fine;
    double millions = argc > 2 ? atof(argv[2])
                      : light  ? 30
                               : 5,
           rate[PARTS], memory[PARTS], early, late;
    uint64_t each = (uint64_t)(millions * 1e6 / KERNELS / PARTS);
    cudaGraphExec_t exec;
    cudaStream_t stream;
    llmperf_session *session;
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return BENCH_SKIPPED;
    session = bench_start(light ? LLMPERF_TIER_LIGHT : LLMPERF_TIER_DEEP);
    CUDA(cudaStreamCreate(&stream));
    exec = make_graph(stream);
    for (int part = 0; part < PARTS; part++) {
        double begin = bench_now_us();

        for (uint64_t step = 0; step < each; step++) {
            llmperf_decode_step_begin(1, step);
            CUDA(cudaGraphLaunch(exec, stream));
            CUDA(cudaStreamSynchronize(stream));
            llmperf_decode_step_end();
        }
        rate[part] = (double)each * 1e6 / (bench_now_us() - begin);
        memory[part] = resident_mib();
        printf("%3d %%: %9.1f steps/s, %7.1f MiB resident\n", (part + 1) * 100 / PARTS, rate[part],
               memory[part]);
    }
    fine = ledger_is_right(session, light, each * PARTS);
    early = median_of_four(rate + 1);
    late = median_of_four(rate + PARTS - 4);
    printf("%s, %.1f million kernels: late against early %+.2f %% steps/s, %+.1f MiB\n",
           light ? "light" : "deep", (double)(each * PARTS) * KERNELS / 1e6,
           (late / early - 1) * 100, memory[PARTS - 1] - memory[1]);
    return fine && late * SLOWER >= early && memory[PARTS - 1] - memory[1] <= MEMORY ? 0 : 1;
}
