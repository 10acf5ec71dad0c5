/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that go on launching while collecting begins, pauses, samples and ends, each on a core of
 * its own and then on two cores, where they lose them in the middle of calls. Their kernel was
 * loaded before: what is loaded meanwhile may be lost (test_attach.cu). */
#include <atomic>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sched.h>
#include <time.h>

#include "tests/gpu/check.h"

#define THREADS 4
#define OTHERS  2 /* threads that only take the cores away */

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
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    for (size_t i = 0; ledger.verdict != verdict && llmperf_profile_problem(profile, i); i++)
        printf("problem: %s\n", llmperf_profile_problem(profile, i));
    CHECK(ledger.verdict == verdict, "%s: %s", what,
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    CHECK(ledger.kernels_seen > 0 && ledger.kernels_seen == ledger.launches_expected,
          "%s: not as many kernels as launches", what);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static std::vector<pid_t> list_threads(void)
{
    std::vector<pid_t> threads;
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (atoi(entry->d_name) > 0)
            threads.push_back(atoi(entry->d_name));
    if (folder)
        closedir(folder);
    return threads;
}

static void count_on(void)
{
    for (volatile long i = 0; !done; i++)
        ;
}

/* All threads of the process, whatever cores it may use. */
static void stay_on_two_cores(void)
{
    cpu_set_t all, two;
    int left = 2;

    CPU_ZERO(&two);
    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0, "no affinity");
    for (int i = 0; i < CPU_SETSIZE && left > 0; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &two);
            left--;
        }
    for (pid_t thread : list_threads())
        sched_setaffinity(thread, sizeof(two), &two);
}

static void check_pauses(const char *what, int pauses)
{
    llmperf_session *session = start_session(LLMPERF_TIER_DEEP, 0);

    for (int i = 0; i < pauses; i++) {
        pass_ms(20);
        CHECK(llmperf_session_pause(session) == 0, "%s", llmperf_last_error());
        pass_ms(20);
        CHECK(llmperf_session_resume(session) == 0, "%s", llmperf_last_error());
    }
    check_end(what, session, LLMPERF_VERDICT_COMPLETE);
}

static void check_windows(const char *what)
{
    llmperf_session *session = start_session(LLMPERF_TIER_LIGHT, 0);

    pass_ms(3000);
    check_end(what, session, LLMPERF_VERDICT_SAMPLED);
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
    check_pauses("20 pauses", 20);
    check_windows("windows of tier light");
    for (int i = 0; i < OTHERS; i++)
        threads.emplace_back(count_on);
    stay_on_two_cores();
    check_pauses("100 pauses on two cores", 100);
    check_windows("windows of tier light on two cores");
    done = true;
    for (std::thread &thread : threads)
        thread.join();
    return finish();
}
