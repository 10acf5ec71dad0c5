/* SPDX-License-Identifier: Apache-2.0 */
/* Known calls of the driver in each of some steps: exact counts, times that contain the device work
 * that was waited for, and no idle time where the GPU was busy. */
#include "tests/gpu/check.h"

#define STEPS  20
#define CYCLES 2000000 /* about 1 ms */
#define BYTES  (1 << 20)

/* All calls whose names begin with `name`, or `name` alone. */
static llmperf_host_call sum_of(const llmperf_profile *profile, const char *name)
{
    bool prefix = strcmp(name, "cuMemcpy") == 0;
    llmperf_host_call sum = LLMPERF_HOST_CALL_INIT, row = LLMPERF_HOST_CALL_INIT;

    for (size_t i = 0; llmperf_profile_host_call(profile, i, &row) == 0; i++) {
        if ((prefix ? strncmp(row.call, name, strlen(name)) : strcmp(row.call, name)) != 0 ||
            strcmp(row.region, "LLM@decode_step") != 0)
            continue;
        sum.calls += row.calls;
        sum.compared_calls += row.compared_calls;
        sum.total_ms += row.total_ms;
        sum.idle_ms += row.idle_ms;
        sum.between_ms += row.between_ms;
    }
    return sum;
}

static void print_all(const llmperf_profile *profile)
{
    llmperf_host_call row = LLMPERF_HOST_CALL_INIT;

    for (size_t i = 0; llmperf_profile_host_call(profile, i, &row) == 0; i++)
        printf("%-30s %-16s %6llu calls %9.4f ms, longest %8.4f, idle %8.4f, between %8.4f\n",
               row.call, row.region, (unsigned long long)row.calls, row.total_ms, row.max_ms,
               row.idle_ms, row.between_ms);
}

static void step(cudaStream_t stream, cudaEvent_t event, const void *pageable)
{
    void *memory = NULL, *pooled = NULL;

    llmperf_decode_step_begin(1, 1);
    CUDA(cudaMalloc(&memory, BYTES));
    CUDA(cudaMallocAsync(&pooled, BYTES, stream));
    spin<<<1, 1, 0, stream>>>(CYCLES);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(memory, pageable, BYTES, cudaMemcpyHostToDevice));
    spin<<<1, 1, 0, stream>>>(CYCLES);
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaEventSynchronize(event));
    CUDA(cudaFreeAsync(pooled, stream));
    CUDA(cudaFree(memory));
    CUDA(cudaDeviceSynchronize());
    llmperf_decode_step_end();
}

static void check_calls(const llmperf_profile *profile, const char *name)
{
    llmperf_host_call sum = sum_of(profile, name);

    CHECK(sum.calls == STEPS, "%s: %llu calls", name, (unsigned long long)sum.calls);
    CHECK(sum.compared_calls == STEPS, "%s: %llu compared", name,
          (unsigned long long)sum.compared_calls);
    CHECK(sum.total_ms > 0 && sum.idle_ms <= sum.total_ms && sum.between_ms <= sum.idle_ms,
          "%s: %f ms, %f idle, %f between", name, sum.total_ms, sum.idle_ms, sum.between_ms);
}

/* The wait for a kernel contains its duration but for what ran before the call. */
static void check_wait(const llmperf_profile *profile, const char *name, double kernel_ms)
{
    llmperf_host_call sum = sum_of(profile, name);

    check_calls(profile, name);
    CHECK(sum.total_ms > 0.7 * kernel_ms, "%s: %f ms, kernels %f ms", name, sum.total_ms,
          kernel_ms);
    CHECK(sum.idle_ms < 0.3 * sum.total_ms, "%s: idle for %f of %f ms", name, sum.idle_ms,
          sum.total_ms);
}

static void run_steps(cudaStream_t stream, cudaEvent_t event, const void *pageable)
{
    for (int i = 0; i < STEPS; i++)
        step(stream, event, pageable);
}

int main(void)
{
    void *pageable = calloc(1, BYTES);
    llmperf_session *session;
    llmperf_profile *profile;
    cudaStream_t stream;
    cudaEvent_t event;
    double kernel_ms;

    need_device(1);
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&event));
    run_steps(stream, event, pageable); /* warm */
    session = start_session(LLMPERF_TIER_DEEP, 0);
    run_steps(stream, event, pageable);
    profile = stop_session(session);
    expect_complete(profile);
    print_all(profile);
    kernel_ms = region_of(profile, "LLM@decode_step", 0).kernel_ms;
    for (const char *name : { "cuMemAlloc", "cuMemAllocAsync", "cuMemcpy", "cuMemFreeAsync",
                              "cuMemFree", "cuCtxSynchronize" })
        check_calls(profile, name);
    check_wait(profile, "cuStreamSynchronize", kernel_ms / 2);
    check_wait(profile, "cuEventSynchronize", kernel_ms / 2);
    llmperf_profile_free(profile);
    session = start_session(LLMPERF_TIER_LIGHT); /* without these callbacks */
    run_steps(stream, event, pageable);
    profile = stop_session(session);
    CHECK(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS) == 0, "rows in tier light");
    llmperf_profile_free(profile);
    return finish();
}
