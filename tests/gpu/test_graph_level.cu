/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as whole spans. A program of its own: CUPTI cannot collect both ways in one process. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/check.h"

static cudaStream_t stream;

static llmperf_session *start(uint32_t flags)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_DEEP;
    options.flags = flags;
    return start_with(options);
}

static cudaGraphExec_t capture(int kernels)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels; i++)
        spin<<<1, 32, 0, stream>>>(20000);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

static void launch(cudaGraphExec_t exec, int times)
{
    for (int i = 0; i < times; i++) {
        llmperf_decode_step_begin(1, 100);
        CUDA(cudaGraphLaunch(exec, stream));
        llmperf_decode_step_end();
    }
    CUDA(cudaStreamSynchronize(stream));
}

static uint64_t spans_of(const llmperf_profile *profile)
{
    uint64_t spans = 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (kernel.kind == LLMPERF_ACTIVITY_GRAPH)
            spans += kernel.calls;
    }
    return spans;
}

/* Launched before, while and after the session is paused, and with a graph made in the pause. */
static void each_launch_is_one_span(void)
{
    llmperf_session *session = start(LLMPERF_SESSION_GRAPH_LEVEL);
    llmperf_profile *profile;
    cudaGraphExec_t exec, paused;
    double busy_ms;

    if (!stream)
        CUDA(cudaStreamCreate(&stream));
    exec = capture(50);
    launch(exec, 20);
    spin<<<1, 32, 0, stream>>>(20000);
    CHECK(llmperf_session_pause(session) == LLMPERF_OK, "%s", llmperf_last_error());
    launch(exec, 7);
    paused = capture(3);
    launch(paused, 2);
    CHECK(llmperf_session_resume(session) == LLMPERF_OK, "%s", llmperf_last_error());
    launch(paused, 5);
    launch(exec, 10);
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(spans_of(profile) == 35, "%lu spans", (unsigned long)spans_of(profile));
    CHECK(ledger_of(profile).kernels_seen == 1, "%lu kernels",
          (unsigned long)ledger_of(profile).kernels_seen);
    busy_ms = region_of(profile, "LLM@decode_step", 0).gpu_busy_ms;
    CHECK(busy_ms > 30 * 50 * 0.009, "%f ms busy", busy_ms);
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(paused));
}

static void expect_refusal(uint32_t flags, const char *part)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.flags = flags;
    CHECK(llmperf_session_start(&options, &session) == LLMPERF_ESTATE, "started");
    CHECK(strstr(llmperf_last_error(), part), "%s", llmperf_last_error());
}

/* CUPTI would crash at the launch. */
static int a_late_start_is_refused(void)
{
    cudaGraphExec_t exec;

    CUDA(cudaFree(0));
    CUDA(cudaStreamCreate(&stream));
    exec = capture(4);
    expect_refusal(LLMPERF_SESSION_GRAPH_LEVEL, "before CUDA is used");
    launch(exec, 1);
    llmperf_profile_free(stop_session(start(0)));
    return finish();
}

/* In a process of its own, where nothing was collected yet. */
static int run_late(const char *program)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        execl(program, program, "late", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **arguments)
{
    need_device(1);
    if (count > 1)
        return a_late_start_is_refused();
    each_launch_is_one_span();
    expect_refusal(0, "as whole graphs");
    each_launch_is_one_span();
    if (run_late(arguments[0]) != 0) {
        printf("FAILED: a late start\n");
        return 1;
    }
    return finish();
}
