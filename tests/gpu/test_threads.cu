/* SPDX-License-Identifier: Apache-2.0 */
/* 8 threads x 4 streams x 100,000 launches: nothing lost, nothing in the wrong region. */
#include <pthread.h>

#include "tests/gpu/check.h"

#define THREADS  8
#define STREAMS  4
#define LAUNCHES 100000

__global__ void tiny(void)
{
}

static void *launch_all(void *argument)
{
    long self = (long)argument;
    cudaStream_t streams[STREAMS];
    char label[32];

    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    snprintf(label, sizeof(label), "thread %ld", self);
    llmperf_region_begin(label);
    for (int i = 0; i < LAUNCHES; i++)
        for (int s = 0; s < STREAMS; s++) {
            llmperf_region_begin(s % 2 ? "odd" : "even");
            tiny<<<1, 32, 0, streams[s]>>>();
            llmperf_region_end();
        }
    llmperf_region_end();
    for (int s = 0; s < STREAMS; s++)
        CUDA(cudaStreamSynchronize(streams[s]));
    return NULL;
}

int main(void)
{
    const uint64_t each = (uint64_t)LAUNCHES * STREAMS;
    llmperf_session *session;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    uint64_t faulty;
    pthread_t threads[THREADS];

    need_device(1);
    CUDA(cudaFree(0));
    session = start_session(LLMPERF_TIER_LIGHT);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, launch_all, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    profile = stop_session(session);
    ledger = ledger_of(profile);
    /* CUPTI 13.0 ends one record in tens of millions before it began: named, and left out. */
    faulty = ledger.records_invalid_time;
    CHECK(faulty <= 3, "%lu records with times that cannot be", (unsigned long)faulty);
    if (faulty == 0)
        expect_complete(profile);
    CHECK(ledger.launches_expected == each * THREADS, "%lu expected",
          (unsigned long)ledger.launches_expected);
    CHECK(ledger.kernels_seen + faulty == each * THREADS, "%lu seen",
          (unsigned long)ledger.kernels_seen);
    CHECK(ledger.kernels_attributed == ledger.kernels_seen && ledger.kernels_outside == 0,
          "%lu attributed", (unsigned long)ledger.kernels_attributed);
    for (int t = 0; t < THREADS; t++) {
        char path[64];

        snprintf(path, sizeof(path), "LLM@thread %d", t);
        CHECK(region_of(profile, path, 0).kernel_count + faulty >= each, "%s", path);
        snprintf(path, sizeof(path), "LLM@thread %d/LLM@odd", t);
        CHECK(region_of(profile, path, 0).kernel_count + faulty >= each / 2, "%s", path);
    }
    printf("%lu launches, %lu kernels, verdict %s\n", (unsigned long)ledger.launches_expected,
           (unsigned long)ledger.kernels_seen, llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    llmperf_profile_free(profile);
    return finish();
}
