/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting goes on and off while other threads are in the middle of launches: ids stay right, in
 * windows for all threads, in instances that threads open beside each other, and from session to
 * session. A callback that is taken away inside a call makes CUPTI give that thread one id for all
 * that it launches later. `test_gpu_switching PART` runs one part. */
#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/gpu/check.h"

#define THREADS 4
#define STEP    40 /* launches */

static std::atomic<bool> go_on;

__global__ void tiny(void)
{
}

static void launch_freely(void)
{
    cudaStream_t stream;

    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (unsigned i = 0; go_on; i++) {
        tiny<<<1, 32, 0, stream>>>();
        if (i % 1000 == 0)
            CUDA(cudaStreamSynchronize(stream));
    }
    CUDA(cudaStreamSynchronize(stream));
}

static void launch_steps(void)
{
    cudaStream_t stream;

    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    while (go_on) {
        llmperf_decode_step_begin(1, 100);
        for (int i = 0; i < STEP; i++)
            tiny<<<1, 32, 0, stream>>>();
        CUDA(cudaStreamSynchronize(stream));
        llmperf_decode_step_end();
    }
}

static void expect_right_ids(const llmperf_profile *profile, const char *what)
{
    llmperf_ledger ledger = ledger_of(profile);

    printf("%s: %lu kernels of %lu launches, %lu beside, %lu missing, %lu ids twice, %lu records "
           "twice, verdict %s\n",
           what, (unsigned long)ledger.kernels_seen, (unsigned long)ledger.launches_expected,
           (unsigned long)ledger.kernels_outside_window, (unsigned long)ledger.launches_missing,
           (unsigned long)ledger.launches_duplicate, (unsigned long)ledger.records_duplicate,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    CHECK(ledger.kernels_seen > 0, "nothing was collected");
    CHECK(ledger.launches_duplicate == 0 && ledger.records_duplicate == 0, "ids came twice");
    CHECK(ledger.launches_missing == 0, "launches without a kernel");
    CHECK(ledger.verdict != LLMPERF_VERDICT_INCOMPLETE, "%s", llmperf_profile_problem(profile, 0));
}

template <typename Work> static std::vector<std::thread> start_threads(Work work)
{
    std::vector<std::thread> threads;

    go_on = true;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back(work);
    return threads;
}

static void stop_threads(std::vector<std::thread> &threads)
{
    go_on = false;
    for (std::thread &thread : threads)
        thread.join();
}

static void sample(const char *what, void (*work)(void), unsigned seconds)
{
    llmperf_session *session = start_session(LLMPERF_TIER_LIGHT, 100);
    std::vector<std::thread> threads = start_threads(work);
    llmperf_profile *profile;

    sleep(seconds);
    stop_threads(threads);
    profile = stop_session(session);
    expect_right_ids(profile, what);
    llmperf_profile_free(profile);
}

static void sessions_in_turn(void)
{
    std::vector<std::thread> threads = start_threads(launch_freely);

    for (int i = 0; i < 6; i++) {
        llmperf_session *session = start_session(LLMPERF_TIER_DEEP);
        llmperf_profile *profile;

        usleep(300000);
        profile = stop_session(session);
        expect_right_ids(profile, "session");
        llmperf_profile_free(profile);
        usleep(100000);
    }
    stop_threads(threads);
}

static bool wants(int argc, char **argv, const char *part)
{
    return argc < 2 || !strcmp(argv[1], part);
}

int main(int argc, char **argv)
{
    need_device(1);
    CUDA(cudaFree(0));
    if (wants(argc, argv, "windows"))
        sample("windows for all threads", launch_freely, 6);
    if (wants(argc, argv, "instances"))
        sample("instances of threads", launch_steps, 4);
    if (wants(argc, argv, "sessions"))
        sessions_in_turn();
    return finish();
}
