/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices: each region has a row on each device that worked for it, copies between them too. */
#include "tests/gpu/check.h"

#define LAUNCHES 1000

int main(void)
{
    const size_t bytes = 1 << 20;
    llmperf_session *session;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    uint64_t copies = 0;
    void *memory[2];

    need_device(2);
    for (int device = 0; device < 2; device++) {
        CUDA(cudaSetDevice(device));
        CUDA(cudaMalloc(&memory[device], bytes));
    }
    session = start_session(LLMPERF_TIER_DEEP);
    llmperf_region_begin("both");
    for (int i = 0; i < LAUNCHES; i++) {
        CUDA(cudaSetDevice(i % 2));
        spin<<<1, 32>>>(1000);
    }
    llmperf_region_end();
    llmperf_region_begin("second only");
    CUDA(cudaSetDevice(1));
    spin<<<1, 32>>>(1000);
    llmperf_region_end();
    llmperf_region_begin("across");
    CUDA(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, bytes));
    llmperf_region_end();
    for (int device = 0; device < 2; device++) {
        CUDA(cudaSetDevice(device));
        CUDA(cudaDeviceSynchronize());
    }
    profile = stop_session(session);
    ledger = ledger_of(profile);
    expect_complete(profile);
    CHECK(ledger.kernels_seen == LAUNCHES + 1, "%lu kernels", (unsigned long)ledger.kernels_seen);
    for (int device = 0; device < 2; device++)
        CHECK(region_of(profile, "LLM@both", device).kernel_count == LAUNCHES / 2, "device %d",
              device);
    CHECK(region_of(profile, "LLM@second only", 1).kernel_count == 1, "second only");
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &stats);
        if (!strcmp(stats.path, "LLM@across"))
            copies += stats.memcpy_count;
    }
    CHECK(copies >= 1, "no copy between the devices was seen");
    printf("%lu kernels on two devices, %lu copies between them, verdict %s\n",
           (unsigned long)ledger.kernels_seen, (unsigned long)copies,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    llmperf_profile_free(profile);
    return finish();
}
