/* SPDX-License-Identifier: Apache-2.0 */
/** A first session that starts while threads load their kernel. CUPTI holds the driver's loader for
 * some 10 ms when it attaches, and what waited for it is never recorded (seen with 13.0): whether
 * it happens is a matter of time, and so each try is a process. What must hold is that no launch is
 * lost in silence. */
#include <atomic>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/check.h"

#define THREADS 4
#define TRIES   10

static std::atomic<bool> done;

static void launch_on(void)
{
    cudaStream_t stream;

    CUDA(cudaStreamCreate(&stream));
    while (!done) {
        for (int i = 0; i < 20; i++)
            spin<<<1, 32, 0, stream>>>(2000);
        CUDA(cudaStreamSynchronize(stream));
    }
}

static void attach(useconds_t wait_us)
{
    std::vector<std::thread> threads;
    llmperf_session *session;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    bool lost;

    need_device(1);
    CUDA(cudaFree(0));
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(launch_on);
    usleep(wait_us);
    session = start_session(LLMPERF_TIER_DEEP);
    usleep(100000);
    done = true;
    for (std::thread &thread : threads)
        thread.join();
    profile = stop_session(session);
    ledger = ledger_of(profile);
    lost = ledger.launches_missing > 0;
    printf("attached %u us after its threads: %llu launches, %llu kernels, %s\n", (unsigned)wait_us,
           (unsigned long long)ledger.launches_expected, (unsigned long long)ledger.kernels_seen,
           llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    CHECK(ledger.launches_expected > 0 &&
              ledger.kernels_seen + ledger.launches_missing == ledger.launches_expected,
          "%llu missing", (unsigned long long)ledger.launches_missing);
    CHECK((ledger.verdict == LLMPERF_VERDICT_COMPLETE) == !lost, "%llu missing",
          (unsigned long long)ledger.launches_missing);
    CHECK(!lost || strstr(llmperf_profile_problem(profile, 0), "llmperf_prewarm()"), "%s",
          llmperf_profile_problem(profile, 0));
    llmperf_profile_free(profile);
}

static int try_in_a_process(const char *program, int number)
{
    char wait_us[16];
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        snprintf(wait_us, sizeof(wait_us), "%d", number * 1500);
        execl("/proc/self/exe", program, wait_us, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    setenv("CUDA_CACHE_DISABLE", "1",
           1); /* The kernel is translated each time: it loads for 10 ms or more. */
    if (argc > 1) {
        attach((useconds_t)atoi(argv[1]));
        fflush(stdout);
        _exit(checks_failed > 0);
    }
    for (int number = 0; number < TRIES; number++) {
        int code = try_in_a_process(argv[0], number);

        if (code == SKIPPED)
            return SKIPPED;
        CHECK(code == 0, "try %d: exit code %d", number, code);
    }
    return finish();
}
