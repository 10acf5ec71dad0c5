/* SPDX-License-Identifier: Apache-2.0 */
/* Tier light takes CUPTI out of the process between spans of decode steps: graphs of all kinds go
 * on, launches cost what they cost without a profiler, and what is collected is whole steps, with
 * the capture regions from before.
 *
 *   test_gpu_detach [SECONDS]     of the main part; 12 unless told */
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/graphs.h"

#define LAYERS      8
#define OF_LAYER    9 /* kernels, and a set and a copy */
#define OF_CHILD    3
#define EAGER       5
#define CYCLES      3000
#define OTHER_EVERY 7 /* steps from one replay of the second graph to the next */
#define OF_OTHER    4
#define GRAPH       (LAYERS * OF_LAYER + OF_CHILD)

static char *memory;

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static cudaGraph_t capture_kernels(const char *label, int kernels)
{
    begin_capture();
    llmperf_region_begin(label);
    for (int i = 0; i < kernels; i++)
        numbered<2><<<1, 32, 0, stream>>>(CYCLES);
    llmperf_region_end();
    return end_capture();
}

static cudaGraphExec_t capture_step(void)
{
    cudaGraph_t child = capture_kernels("child", OF_CHILD), graph;
    cudaGraphNode_t node;

    begin_capture();
    for (int layer = 0; layer < LAYERS; layer++) {
        char label[32];

        snprintf(label, sizeof(label), "layer%d", layer);
        llmperf_region_begin(label);
        for (int i = 0; i < OF_LAYER; i++)
            numbered<1><<<1, 32, 0, stream>>>(CYCLES);
        CUDA(cudaMemsetAsync(memory, 0, 4096, stream));
        CUDA(cudaMemcpyAsync(memory + 8192, memory, 4096, cudaMemcpyDeviceToDevice, stream));
        llmperf_region_end();
    }
    graph = end_capture();
    CUDA(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    return instantiate(graph);
}

struct steps {
    cudaGraphExec_t graph, other;
    uint64_t count;
    std::vector<double> there, away; /* us of the call that launches */
};

static void run_step(struct steps *steps, std::vector<double> *times)
{
    double begin;

    llmperf_decode_step_begin(1, 100);
    begin = now_us();
    CUDA(cudaGraphLaunch(steps->graph, stream));
    times->push_back(now_us() - begin);
    for (int i = 0; i < EAGER; i++)
        numbered<3><<<1, 32, 0, stream>>>(CYCLES);
    CUDA(cudaStreamSynchronize(stream));
    llmperf_decode_step_end();
    if (++steps->count % OTHER_EVERY == 0) { /* Outside of all regions. */
        CUDA(cudaGraphLaunch(steps->other, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
}

static bool is_detached(llmperf_session *session)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;

    llmperf_session_status(session, &state);
    return state.detached;
}

static void run_for(struct steps *steps, double seconds, llmperf_session *session)
{
    double end = now_us() + seconds * 1e6;

    while (now_us() < end)
        run_step(steps, is_detached(session) ? &steps->away : &steps->there);
}

static double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times.empty() ? NAN : times[times.size() / 2];
}

static void print_notes(const llmperf_profile *profile)
{
    for (size_t i = 0; llmperf_profile_problem(profile, i); i++)
        printf("problem: %s\n", llmperf_profile_problem(profile, i));
    for (size_t i = 0; llmperf_profile_note(profile, i); i++)
        printf("note: %s\n", llmperf_profile_note(profile, i));
}

/* Copies of a graph are kernels or not, as the driver likes. */
static uint64_t eager_kernels(const llmperf_profile *profile)
{
    llmperf_kernel_stats row = LLMPERF_KERNEL_STATS_INIT;
    uint64_t calls = 0;

    for (size_t i = 0; llmperf_profile_kernel(profile, i, &row) == 0; i++)
        calls += strstr(row.demangled, "numbered<3>") ? row.calls : 0;
    return calls;
}

static uint64_t collected_steps(const llmperf_profile *profile)
{
    llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

    for (size_t i = 0; llmperf_profile_iteration_stats(profile, i, &row) == 0; i++)
        if (!strcmp(row.quantity, "busy"))
            return row.count;
    return 0;
}

static void check_collected(const llmperf_profile *profile, const struct steps *steps)
{
    llmperf_ledger ledger = ledger_of(profile);
    uint64_t collected = collected_steps(profile);

    printf(
        "%llu of %llu steps collected; %llu kernels, %llu beside, %llu missing, %llu duplicate, "
        "%s\n",
        (unsigned long long)collected, (unsigned long long)steps->count,
        (unsigned long long)ledger.kernels_seen, (unsigned long long)ledger.kernels_outside_window,
        (unsigned long long)ledger.launches_missing, (unsigned long long)ledger.launches_duplicate,
        llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    CHECK(ledger.verdict == LLMPERF_VERDICT_SAMPLED, "%s",
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict));
    CHECK(region_of(profile, "LLM@decode_step", 0).instances == steps->count, "steps");
    CHECK(collected > 0 && eager_kernels(profile) == collected * EAGER, "%llu kernels",
          (unsigned long long)eager_kernels(profile));
    CHECK(fabs(ledger.sampled_fraction * (double)steps->count - (double)collected) < 0.01,
          "share %f", ledger.sampled_fraction);
    for (int layer = 0; layer < LAYERS; layer++) {
        char captured[64];

        snprintf(captured, sizeof(captured), "LLM@layer%d", layer);
        expect(profile, "LLM@decode_step", captured, "numbered", collected * OF_LAYER);
    }
    expect(profile, "LLM@decode_step", "LLM@child", "numbered", collected * OF_CHILD);
}

/* Calls of the driver that launch nothing may go on on other threads. */
static void query(const std::atomic<bool> *over)
{
    cudaEvent_t event;

    CUDA(cudaEventCreate(&event));
    while (!*over) {
        cudaEventQuery(event);
        usleep(50);
    }
}

static void steps_go_on_while_cupti_comes_and_goes(double seconds)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    struct steps steps = {};
    std::atomic<bool> over = false;
    std::thread aside(query, &over);
    llmperf_session *session;
    llmperf_profile *profile;
    cudaGraphExec_t late;
    double none, since = now_us();

    options.tier = LLMPERF_TIER_LIGHT;
    options.overhead_budget_permille = 50;
    options.flags = LLMPERF_SESSION_DETACH;
    /* Known to nobody when the session starts, and launched while nothing is recorded. */
    steps.other = instantiate(capture_kernels("other", OF_OTHER));
    steps.graph = capture_step();
    for (int i = 0; i < 200; i++)
        run_step(&steps, &steps.there);
    none = median(steps.there);
    steps.there.clear();
    steps.count = 0;
    session = start_with(options);
    steps.graph = capture_step();
    while (!is_detached(session) && now_us() - since < 20e6)
        run_step(&steps, &steps.there);
    CHECK(is_detached(session), "after 20 s");
    run_for(&steps, seconds / 2, session);
    while (!is_detached(session))
        run_step(&steps, &steps.there);
    late = instantiate(capture_kernels("late", OF_OTHER)); /* made while CUPTI is out */
    std::swap(late, steps.other);
    run_for(&steps, seconds / 2, session);
    profile = stop_session(session);
    over = true;
    aside.join();
    print_notes(profile);
    printf("launch of %d nodes: %.1f us before the session, %.1f with CUPTI there, %.1f while it "
           "is out\n",
           GRAPH + 2 * LAYERS, none, median(steps.there), median(steps.away));
    check_collected(profile, &steps);
    llmperf_profile_free(profile);
    /* All graphs still work, and whoever comes next has CUPTI. */
    for (int i = 0; i < 200; i++) {
        CUDA(cudaGraphLaunch(late, stream));
        run_step(&steps, &steps.away);
    }
    steps.count = 0;
    session = start_session(LLMPERF_TIER_DEEP);
    for (int i = 0; i < 20; i++)
        run_step(&steps, &steps.there);
    profile = stop_session(session);
    expect_complete(profile);
    expect(profile, "LLM@decode_step", "LLM@layer3", "numbered", 20 * OF_LAYER);
    llmperf_profile_free(profile);
    for (int i = 0; i < 200; i++)
        run_step(&steps, &steps.there);
}

/* CUPTI comes back in the middle of a capture, which goes on. */
static void steps_are_captured_while_cupti_comes(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    struct steps steps = {};
    llmperf_session *session;
    llmperf_profile *profile;
    double since = now_us();
    int captures = 0;

    options.tier = LLMPERF_TIER_LIGHT;
    options.overhead_budget_permille = 50;
    options.flags = LLMPERF_SESSION_DETACH;
    session = start_with(options);
    steps.graph = capture_step();
    steps.other = instantiate(capture_kernels("other", OF_OTHER));
    while (!is_detached(session) && now_us() - since < 20e6)
        run_step(&steps, &steps.there);
    CHECK(is_detached(session), "after 20 s");
    for (since = now_us(); is_detached(session) && now_us() - since < 20e6; captures++) {
        cudaGraph_t graph;
        size_t nodes = 0;

        CUDA(cudaStreamBeginCapture(stream, captures % 2 ? cudaStreamCaptureModeGlobal
                                                         : cudaStreamCaptureModeThreadLocal));
        llmperf_decode_step_begin(1, 100);
        for (int i = 0; i < EAGER; i++)
            numbered<4><<<1, 32, 0, stream>>>(CYCLES);
        llmperf_decode_step_end();
        graph = end_capture();
        CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
        CHECK(nodes == EAGER, "%zu nodes", nodes);
        CUDA(cudaGraphDestroy(graph));
    }
    CHECK(!is_detached(session), "after %d captures", captures);
    printf("%d captures until CUPTI was back\n", captures);
    run_for(&steps, 1, session);
    profile = stop_session(session);
    CHECK(ledger_of(profile).verdict == LLMPERF_VERDICT_SAMPLED, "%s",
          llmperf_name(LLMPERF_NAME_VERDICT, ledger_of(profile).verdict));
    llmperf_profile_free(profile);
}

static void replay(cudaGraphExec_t graph, const std::atomic<bool> *over)
{
    cudaStream_t own;

    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    while (!*over) {
        CUDA(cudaGraphLaunch(graph, own));
        CUDA(cudaStreamSynchronize(own));
    }
}

/* CUPTI has been there without records by now, and another thread launches: it stays. */
static void it_stays_where_that_is_not_safe(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    struct steps steps = {};
    std::atomic<bool> over = false;
    llmperf_session *session;
    llmperf_profile *profile;

    options.tier = LLMPERF_TIER_LIGHT;
    options.flags = LLMPERF_SESSION_DETACH;
    session = start_with(options);
    steps.graph = capture_step();
    steps.other = instantiate(capture_kernels("other", OF_OTHER));
    std::thread aside(replay, instantiate(capture_kernels("aside", OF_OTHER)), &over);
    run_for(&steps, 4, session);
    CHECK(!is_detached(session), "with two threads that launch");
    over = true;
    aside.join();
    run_for(&steps, 4, session);
    CHECK(!is_detached(session), "later");
    profile = stop_session(session);
    CHECK(ledger_of(profile).verdict == LLMPERF_VERDICT_SAMPLED, "%s",
          llmperf_name(LLMPERF_NAME_VERDICT, ledger_of(profile).verdict));
    llmperf_profile_free(profile);
}

int main(int argc, char **argv)
{
    pid_t child =
        argc > 1
            ? 0
            : fork(); /* Before this process touches the device: CUPTI stays in each at its end. */
    int status = 0;

    need_device(1);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&memory, 16384));
    if (child == 0 && argc == 1) {
        steps_are_captured_while_cupti_comes();
        return finish();
    }
    steps_go_on_while_cupti_comes_and_goes(argc > 1 ? atof(argv[1]) : 12);
    it_stays_where_that_is_not_safe();
    if (child > 0) {
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process: %d", status);
    }
    return finish();
}
