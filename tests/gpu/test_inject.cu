/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver loads the library into a program that never calls it, and the run is whole
 * however soon the program ends. The child is this program again, with the way to end. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/check.h"

__global__ void tiny(void)
{
}

static int be_child(const char *end)
{
    int count = strcmp(end, "few") == 0 ? 3 : 2000;
    cudaGraphExec_t program;
    cudaGraph_t graph;
    cudaStream_t stream;

    need_device(1);
    CUDA(cudaStreamCreate(&stream));
    for (int i = 0; i < count; i++)
        tiny<<<1, 32, 0, stream>>>();
    if (strcmp(end, "graph") == 0) {
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        tiny<<<1, 32, 0, stream>>>();
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&program, graph, 0));
        for (int i = 0; i < 100; i++)
            CUDA(cudaGraphLaunch(program, stream));
    }
    if (strcmp(end, "sync") == 0)
        CUDA(cudaDeviceSynchronize());
    if (strcmp(end, "reset") == 0)
        CUDA(cudaDeviceReset());
    return 0; /* The others leave what is still running to the exit handlers. */
}

/* Before this process touches the device, which its children would inherit. */
static int run_child(const char *self, const char *end, const char *folder)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        const char *(*function)(void) = llmperf_version;
        char path[4096];
        Dl_info info;

        if (!dladdr((void *)function, &info) || !realpath(info.dli_fname, path))
            _exit(3);
        setenv("CUDA_INJECTION64_PATH", path, 1);
        setenv("LLMPERF_RUN_DIR", folder, 1);
        snprintf(path, sizeof(path), "%ld", (long)getpid());
        setenv("LLMPERF_RUN_PID", path, 1);
        execl("/proc/self/exe", self, end, (char *)NULL);
        _exit(3);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *end;
        unsigned long kernels;
    } cases[] = {
        { "sync", 2000 }, { "at once", 2000 }, { "few", 3 }, { "reset", 2000 }, { "graph", 2100 }
    };
    char folders[5][64];
    int ends[5];

    if (argc > 1)
        return be_child(argv[1]);
    for (int i = 0; i < 5; i++) {
        snprintf(folders[i], sizeof(folders[i]), "/tmp/llmperf-inject-XXXXXX");
        if (!mkdtemp(folders[i]))
            return 1;
        ends[i] = run_child(argv[0], cases[i].end, folders[i]);
    }
    need_device(1);
    for (int i = 0; i < 5; i++) {
        llmperf_profile *profile = NULL;

        CHECK(ends[i] == 0, "%s: ended with %d", cases[i].end, ends[i]);
        CHECK(llmperf_profile_open(folders[i], &profile) == LLMPERF_OK, "%s: %s", cases[i].end,
              llmperf_last_error());
        if (!profile)
            continue;
        expect_complete(profile);
        CHECK(ledger_of(profile).kernels_seen == cases[i].kernels, "%s: %lu kernels", cases[i].end,
              (unsigned long)ledger_of(profile).kernels_seen);
        llmperf_profile_free(profile);
    }
    return finish();
}
