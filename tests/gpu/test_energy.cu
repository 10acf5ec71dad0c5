/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of two phases of a steady load, from NVML: the phases and the rest add up to the counter,
 * and a second run gives the same power. LLMPERF_ENERGY_SECONDS is the length of a run (default
 * 10). */
#include <dlfcn.h>
#include <time.h>

#include "tests/gpu/check.h"

#define CHUNK 200 /* kernels between two looks at the clock */

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Multiply-adds in registers: the power of the compute units. */
static __global__ void multiply(float *out, int rounds)
{
    float a = (float)threadIdx.x, b = 1.0001f, c = 0.5f, d = 0.25f;

    for (int i = 0; i < rounds; i++) {
        a = a * b + c;
        c = c * b + d;
        d = d * b + a;
        a = a * 0.5f + d;
    }
    if (a == 12345.678f)
        out[threadIdx.x] = a + c + d;
}

static __global__ void copy(const float4 *from, float4 *to, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

struct load {
    float4 *from, *to;
    size_t count;
};

static void run_phase(const struct load *load, bool compute, double seconds)
{
    double end = seconds_now() + seconds;

    while (seconds_now() < end) {
        if (!compute)
            llmperf_decode_step_begin(1, 1000);
        for (int i = 0; i < (compute ? 4 : CHUNK / 20); i++)
            if (compute)
                multiply<<<1056, 256>>>((float *)load->to, 20000);
            else
                copy<<<1056, 256>>>(load->from, load->to, load->count);
        CUDA(cudaDeviceSynchronize());
        if (!compute)
            llmperf_decode_step_end();
    }
}

static llmperf_energy energy_of(const llmperf_profile *profile)
{
    llmperf_energy energy = LLMPERF_ENERGY_INIT;

    CHECK(llmperf_profile_energy(profile, 0, &energy) == 0, "no energy: %s",
          llmperf_profile_fact(profile, "energy_reason"));
    return energy;
}

static llmperf_region_stats region_of(const llmperf_profile *profile, const char *path)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++)
        if (llmperf_profile_region(profile, i, &region) == 0 && strcmp(region.path, path) == 0)
            return region;
    CHECK(false, "no region %s", path);
    return region;
}

/* The counter as another reader sees it. */
static int (*read_counter)(void *handle, unsigned long long *mj);
static void *gpu;

static void open_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*init)(void);
    int (*by_bus)(const char *bus, void **handle);
    char bus[32];

    if (!library) {
        printf("skipped: no libnvidia-ml.so.1: %s\n", dlerror());
        exit(SKIPPED);
    }
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&by_bus = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&read_counter = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
    CUDA(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
    if (init() != 0 || by_bus(bus, &gpu) != 0) {
        printf("skipped: NVML does not start or does not know %s\n", bus);
        exit(SKIPPED);
    }
}

/* What the library assumes of the counter: how often it changes, what a read costs. */
static void print_counter(void)
{
    unsigned long long before = 0, now = 0;
    double begin = seconds_now(), cost = 0, last = 0, least = 1, most = 0;
    int changes = 0, reads = 0;

    while (seconds_now() - begin < 1) {
        double at = seconds_now();

        if (read_counter(gpu, &now) != 0) {
            printf("no energy counter on this GPU\n");
            return;
        }
        cost += seconds_now() - at;
        reads++;
        if (now != before && before != 0) {
            if (last > 0) {
                least = fmin(least, at - last);
                most = fmax(most, at - last);
            }
            last = at;
            changes++;
        }
        before = now;
    }
    printf("counter: %d reads of %.1f us, %d changes in 1 s, %.1f to %.1f ms apart\n", reads,
           1e6 * cost / reads, changes, 1e3 * least, 1e3 * most);
}

struct outcome {
    double compute_w, copy_w;
};

static outcome run_once(const struct load *load, double seconds, const char *name)
{
    unsigned long long first = 0, last = 0;
    llmperf_session *session;
    llmperf_profile *profile = NULL;
    llmperf_region_stats compute, copying, steps;
    llmperf_energy energy;
    outcome found;

    read_counter(gpu, &first);
    session = start_session(LLMPERF_TIER_DEEP);
    llmperf_prefill_begin(1000);
    run_phase(load, true, seconds / 2);
    llmperf_prefill_end();
    llmperf_decode_all_begin();
    run_phase(load, false, seconds / 2);
    llmperf_decode_all_end(100);
    CHECK(llmperf_session_stop(session, &profile) == 0, "%s", llmperf_last_error());
    read_counter(gpu, &last);
    energy = energy_of(profile);
    compute = region_of(profile, "LLM@prefill");
    copying = region_of(profile, "LLM@decode_all");
    steps = region_of(profile, "LLM@decode_all/LLM@decode_step");
    printf("%s: %.1f +- %.1f J in %.2f s (another reader: %.1f J), source %s, %s\n", name,
           energy.energy_j, energy.energy_error_j, energy.duration_ms / 1e3,
           (double)(last - first) / 1e3, energy.source ? energy.source : "none",
           energy.reason ? energy.reason : "");
    printf("  prefill %.1f +- %.1f J, decode_all %.1f +- %.1f J, steps %.1f +- %.1f J, stages "
           "%.1f J, outside %.1f J\n",
           compute.energy_j, compute.energy_error_j, copying.energy_j, copying.energy_error_j,
           steps.energy_j, steps.energy_error_j, energy.stages_j, energy.outside_j);
    printf("  SM clock %.0f MHz (lowest %.0f, most %.0f), prefill %.0f, decode %.0f; throttled "
           "%.1f %% (power %.1f, heat %.1f, slowdown %.1f); %.0f C at most; memory %.2f GiB\n",
           energy.sm_clock_mhz, energy.sm_clock_min_mhz, energy.sm_clock_max_mhz,
           compute.sm_clock_mhz, copying.sm_clock_mhz, 100 * energy.throttled_share,
           100 * energy.power_cap_share, 100 * energy.thermal_share, 100 * energy.slowdown_share,
           energy.temperature_max_c, (double)energy.memory_peak_bytes / (double)(1 << 30));
    printf("  %lu samples, reading took %.2f ms in all, update period at most %.1f ms\n",
           (unsigned long)energy.samples, energy.read_ms, energy.update_ms);
    CHECK(fabs(compute.energy_j + copying.energy_j + energy.outside_j - energy.energy_j) <=
              0.01 * energy.energy_j,
          "phases and the rest are not the total");
    CHECK(energy.energy_j <= (double)(last - first) / 1e3 * 1.01, "more than the counter");
    CHECK((double)(last - first) / 1e3 - energy.energy_j <=
              0.01 * energy.energy_j + 1.5 * energy.power_max_w, /* start and stop of the session */
          "less than the counter");
    CHECK(fabs(steps.energy_j - copying.energy_j) <=
              steps.energy_error_j + copying.energy_error_j + 0.02 * copying.energy_j,
          "steps are not the loop around them");
    CHECK(compute.energy_error_j < 0.05 * compute.energy_j, "error %.1f J", compute.energy_error_j);
    found.compute_w = compute.energy_j * 1e3 / compute.wall_sum_ms;
    found.copy_w = copying.energy_j * 1e3 / copying.wall_sum_ms;
    printf("  %.1f W in prefill, %.1f W in decode_all\n", found.compute_w, found.copy_w);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return found;
}

int main(void)
{
    const char *wanted = getenv("LLMPERF_ENERGY_SECONDS");
    double seconds = wanted ? atof(wanted) : 10;
    struct load load = { NULL, NULL, (size_t)1 << 26 }; /* 1 GiB each */
    outcome first, second;

    need_device(1);
    CUDA(cudaMalloc((void **)&load.from, load.count * sizeof(*load.from)));
    CUDA(cudaMalloc((void **)&load.to, load.count * sizeof(*load.to)));
    open_nvml();
    print_counter();
    run_phase(&load, true, 2); /* warm: the power of a cold GPU is lower */
    run_phase(&load, false, 1);
    first = run_once(&load, seconds, "first");
    second = run_once(&load, seconds, "second");
    printf("repeated: prefill %+.2f %%, decode_all %+.2f %%\n",
           100 * (second.compute_w / first.compute_w - 1),
           100 * (second.copy_w / first.copy_w - 1));
    CHECK(fabs(second.compute_w / first.compute_w - 1) < 0.02, "prefill is not repeatable");
    CHECK(fabs(second.copy_w / first.copy_w - 1) < 0.02, "decode_all is not repeatable");
    return checks_failed > 0;
}
