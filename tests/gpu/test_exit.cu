/* SPDX-License-Identifier: Apache-2.0 */
/* A program that ends without stopping its session leaves a whole run. The child is this program
 * again, with a folder. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/check.h"

__global__ void tiny(void)
{
}

static int run_without_stop(const char *folder)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;

    CUDA(cudaFree(0));
    options.run_dir = folder;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    if (llmperf_session_start(&options, &session) < 0)
        return 2;
    llmperf_region_begin("open at the end");
    for (int i = 0; i < 1000; i++)
        tiny<<<1, 32>>>();
    return 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/llmperf-exit-XXXXXX";
    llmperf_profile *profile = NULL;
    int status = 0;
    pid_t child;

    if (argc > 1)
        return run_without_stop(argv[1]);
    if (!mkdtemp(folder) || (child = fork()) < 0) /* Before this process touches the device. */
        return 1;
    if (child == 0) {
        execl("/proc/self/exe", argv[0], folder, (char *)NULL);
        _exit(3);
    }
    need_device(1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "child ended with %d", status);
    CHECK(llmperf_profile_open(folder, &profile) == LLMPERF_OK, "%s", llmperf_last_error());
    if (profile) {
        expect_complete(profile);
        CHECK(ledger_of(profile).kernels_seen == 1000, "%lu kernels",
              (unsigned long)ledger_of(profile).kernels_seen);
        CHECK(region_of(profile, "LLM@open at the end", 0).truncated == 1, "truncated");
    }
    llmperf_profile_free(profile);
    return finish();
}
