/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that go on launching while collecting begins, pauses, samples and ends. Their kernel was
 * loaded before: what is loaded meanwhile may be lost (test_attach.cu). */
#include <atomic>
#include <thread>
#include <vector>

#include <time.h>

#include "tests/gpu/check.h"

#define THREADS 4

static std::atomic<bool> done;

static void launch_on(void)
{
    cudaStream_t stream;

    CUDA(cudaStreamCreate(&stream));
    for (int round = 0; !done; round++) {
        llmperf_region_begin("work");
        for (int i = 0; i < 20; i++)
            spin<<<1, 32, 0, stream>>>(2000);
        llmperf_region_end();
        if (round % 10 == 0)
            CUDA(cudaStreamSynchronize(stream));
    }
    CUDA(cudaStreamSynchronize(stream));
}

static void pass_ms(long ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

static void check_end(const char *what, llmperf_session *session, uint32_t verdict)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    CHECK(llmperf_session_stop(session, &profile) == 0, "%s: %s", what, llmperf_last_error());
    CHECK(llmperf_profile_ledger(profile, &ledger) == 0, "%s", llmperf_last_error());
    printf("%s: %lu launches, %lu kernels, %lu beside, share %.3f, %s\n", what,
           (unsigned long)ledger.launches_expected, (unsigned long)ledger.kernels_seen,
           (unsigned long)ledger.kernels_outside_window, ledger.sampled_fraction,
           llmperf_verdict_name(ledger.verdict));
    for (size_t i = 0; ledger.verdict != verdict && llmperf_profile_problem(profile, i); i++)
        printf("problem: %s\n", llmperf_profile_problem(profile, i));
    CHECK(ledger.verdict == verdict, "%s: %s", what, llmperf_verdict_name(ledger.verdict));
    CHECK(ledger.kernels_seen > 0 && ledger.kernels_seen == ledger.launches_expected,
          "%s: not as many kernels as launches", what);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

int main(void)
{
    std::vector<std::thread> threads;
    llmperf_session *session;

    need_device(1);
    spin<<<1, 32>>>(1);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(launch_on);
    session = start_session(LLMPERF_TIER_DEEP, 0);
    pass_ms(500);
    check_end("start and stop", session, LLMPERF_VERDICT_COMPLETE);
    session = start_session(LLMPERF_TIER_DEEP, 0);
    for (int i = 0; i < 20; i++) {
        pass_ms(20);
        CHECK(llmperf_session_pause(session) == 0, "%s", llmperf_last_error());
        pass_ms(20);
        CHECK(llmperf_session_resume(session) == 0, "%s", llmperf_last_error());
    }
    check_end("20 pauses", session, LLMPERF_VERDICT_COMPLETE);
    session = start_session(LLMPERF_TIER_LIGHT, 0);
    pass_ms(3000);
    check_end("windows of tier light", session, LLMPERF_VERDICT_SAMPLED);
    done = true;
    for (std::thread &thread : threads)
        thread.join();
    return finish();
}
