/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of CUDA graphs by launch region and capture region, on a real driver: its numbering of
 * nodes, its updates and its conditional nodes are what a script cannot show.
 *
 * test_gpu_graphs --record DIR writes the recordings of tests/data/h200/graphs as well. */
#include <pthread.h>

#include "tests/gpu/check.h"

#define LAYERS  32
#define REPLAYS 100

static cudaStream_t stream;
static const char *record_folder; /* NULL: no recordings */

__global__ void spin(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

/* One name a number: what a node really ran is told by its kernel. */
template <int N> __global__ void numbered(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
}

static llmperf_session *start(const char *recording)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/%s.llmrec", record_folder ? record_folder : "", recording);
    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_CUPTI;
    options.record_path = record_folder ? path : NULL;
    if (llmperf_session_start(&options, &session) < 0) {
        printf("FAILED: %s\n", llmperf_last_error());
        exit(1);
    }
    return session;
}

/* Kernels of a launch region and a capture region. `name` "": any; else part of the name. */
static uint64_t count_of(const llmperf_profile *profile, const char *region, const char *captured,
                         const char *name, double *ms_out)
{
    uint64_t calls = 0;
    double ms = 0;

    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (!kernel.region || strcmp(kernel.region, region) || !strstr(kernel.demangled, name) ||
            !kernel.captured_in || strcmp(kernel.captured_in, captured))
            continue;
        calls += kernel.calls;
        ms += kernel.total_ms;
    }
    if (ms_out)
        *ms_out = ms;
    return calls;
}

static void expect(const llmperf_profile *profile, const char *region, const char *captured,
                   const char *name, uint64_t wanted)
{
    uint64_t found = count_of(profile, region, captured, name, NULL);

    CHECK(found == wanted, "%lu kernels %s in %s x %s, not %lu", (unsigned long)found, name, region,
          captured, (unsigned long)wanted);
    if (found == wanted)
        return;
    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        printf("    %lu %s in %s x %s\n", (unsigned long)kernel.calls, kernel.demangled,
               kernel.region ? kernel.region : "(unseen)",
               kernel.captured_in ? kernel.captured_in : "(none)");
    }
}

static void begin_capture(void)
{
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static cudaGraph_t end_capture(void)
{
    cudaGraph_t graph;

    CUDA(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;

    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_in(const char *region, cudaGraphExec_t exec, int times)
{
    for (int i = 0; i < times; i++) {
        llmperf_region_begin(region);
        CUDA(cudaGraphLaunch(exec, stream));
        llmperf_region_end();
    }
}

/* A decode step as an engine runs it: 32 layers that differ in length, seven kernels each. */
static void run_layers(void)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        char label[32];

        snprintf(label, sizeof(label), "layer%d", layer);
        llmperf_region_begin(label);
        llmperf_region_begin("attention");
        for (int i = 0; i < 4; i++)
            spin<<<8, 128, 0, stream>>>(40000 + 800 * layer);
        llmperf_region_end();
        llmperf_region_begin("mlp");
        for (int i = 0; i < 3; i++)
            spin<<<8, 128, 0, stream>>>(60000 - 600 * layer);
        llmperf_region_end();
        llmperf_region_end();
    }
}

static void compare_layers(const llmperf_profile *eager, const llmperf_profile *replayed,
                           const char *capture)
{
    double worst = 0;

    for (int layer = 0; layer < LAYERS; layer++) {
        for (int part = 0; part < 2; part++) {
            const char *name = part ? "mlp" : "attention";
            char path[128], captured[128];
            double graph_ms, eager_ms, off;

            snprintf(path, sizeof(path), "LLM@decode_step/LLM@layer%d/LLM@%s", layer, name);
            snprintf(captured, sizeof(captured), "%s/LLM@layer%d/LLM@%s", capture, layer, name);
            CHECK(count_of(replayed, "LLM@decode_step", captured, "spin", &graph_ms) ==
                      (part ? 3u : 4u) * REPLAYS,
                  "kernels of %s", captured);
            eager_ms = region_of(eager, path, 0).kernel_ms;
            off = graph_ms / eager_ms - 1;
            worst = fabs(off) > fabs(worst) ? off : worst;
            CHECK(fabs(off) < 0.03, "%s: %f ms replayed, %f ms eager", captured, graph_ms,
                  eager_ms);
        }
    }
    printf("64 parts of 32 layers: replayed against eager at most %+.2f %%\n", 100 * worst);
}

static void warm_up(void)
{
    for (int i = 0; i < 400; i++)
        spin<<<132, 128, 0, stream>>>(1000000);
    CUDA(cudaStreamSynchronize(stream));
}

static void a_replay_has_the_layers_of_the_eager_run(void)
{
    llmperf_session *session;
    llmperf_profile *eager, *replayed;
    cudaGraphExec_t exec;
    cudaGraph_t graph;

    warm_up();
    session = start("layers_eager");
    for (int i = 0; i < REPLAYS; i++) {
        llmperf_decode_step_begin(1, 100);
        run_layers();
        llmperf_decode_step_end();
    }
    CUDA(cudaStreamSynchronize(stream));
    eager = stop_session(session);
    expect_complete(eager);
    session = start("layers");
    llmperf_region_begin("capture");
    begin_capture();
    run_layers();
    graph = end_capture();
    exec = instantiate(graph);
    CUDA(cudaGraphDestroy(graph));
    llmperf_region_end();
    for (int i = 0; i < REPLAYS; i++) {
        llmperf_decode_step_begin(1, 100);
        CUDA(cudaGraphLaunch(exec, stream));
        llmperf_decode_step_end();
    }
    CUDA(cudaStreamSynchronize(stream));
    replayed = stop_session(session);
    expect_complete(replayed);
    CHECK(ledger_of(replayed).kernels_seen == (uint64_t)LAYERS * 7 * REPLAYS, "%lu kernels",
          (unsigned long)ledger_of(replayed).kernels_seen);
    CHECK(ledger_of(replayed).graph_kernels_seen == (uint64_t)LAYERS * 7 * REPLAYS,
          "graph kernels");
    CHECK(ledger_of(replayed).graph_nodes_unmapped == 0, "%lu unmapped",
          (unsigned long)ledger_of(replayed).graph_nodes_unmapped);
    compare_layers(eager, replayed, "LLM@capture");
    llmperf_profile_free(eager);
    llmperf_profile_free(replayed);
    CUDA(cudaGraphExecDestroy(exec));
}

/* Runs first: no session has been in this process. */
static void a_graph_captured_before_is_named_and_capturing_again_heals(void)
{
    llmperf_session *session;
    llmperf_profile *profile;
    cudaGraph_t graph, again, child;
    cudaGraphExec_t exec, fresh;
    cudaGraphNode_t node;
    cudaGraphExecUpdateResultInfo info;

    begin_capture();
    numbered<0><<<1, 32, 0, stream>>>(100);
    numbered<1><<<1, 32, 0, stream>>>(100);
    graph = end_capture();
    begin_capture();
    numbered<2><<<1, 32, 0, stream>>>(100);
    child = end_capture();
    CUDA(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    exec = instantiate(graph);
    session = start("late");
    launch_in("step", exec, 10);
    llmperf_region_begin("again");
    begin_capture();
    numbered<0><<<1, 32, 0, stream>>>(100);
    numbered<1><<<1, 32, 0, stream>>>(200);
    again = end_capture();
    llmperf_region_end();
    fresh = instantiate(again);
    launch_in("step", fresh, 5);
    CUDA(cudaGraphExecDestroy(exec));
    exec = instantiate(graph);
    launch_in("second", exec, 5);
    CUDA(cudaGraphExecUpdate(fresh, again, &info));
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(ledger_of(profile).kernels_seen == 30 + 10 + 15, "%lu kernels",
          (unsigned long)ledger_of(profile).kernels_seen);
    CHECK(ledger_of(profile).graph_nodes_unmapped == 30 + 15, "%lu unmapped",
          (unsigned long)ledger_of(profile).graph_nodes_unmapped);
    expect(profile, "LLM@step", "LLM@again", "numbered<0", 5);
    expect(profile, "LLM@step", "LLM@again", "numbered<1", 5);
    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        CHECK(kernel.captured_in, "no capture region");
        if (strcmp(kernel.captured_in, "LLM@again"))
            CHECK(strstr(kernel.captured_in, "LLM@(captured before profiling)/LLM@graph ") ==
                      kernel.captured_in,
                  "%s", kernel.captured_in);
    }
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(fresh));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(again));
    CUDA(cudaGraphDestroy(child));
}

/* Node kinds that a capture makes: kernels, copies, sets, events between streams. */
static cudaGraph_t capture_mixed(void *device, void *other, void *host)
{
    cudaStream_t side;
    cudaEvent_t event;
    cudaGraph_t graph;

    CUDA(cudaStreamCreate(&side));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    begin_capture();
    llmperf_region_begin("in");
    CUDA(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemsetAsync(other, 0, 4096, stream));
    llmperf_region_end();
    llmperf_region_begin("fork");
    CUDA(cudaEventRecord(event, stream));
    CUDA(cudaStreamWaitEvent(side, event, 0));
    numbered<3><<<1, 32, 0, side>>>(100);
    numbered<4><<<1, 32, 0, stream>>>(100);
    CUDA(cudaEventRecord(event, side));
    CUDA(cudaStreamWaitEvent(stream, event, 0));
    llmperf_region_end();
    llmperf_region_begin("out");
    CUDA(cudaMemcpyAsync(other, device, 4096, cudaMemcpyDeviceToDevice, stream));
    numbered<5><<<1, 32, 0, stream>>>(100);
    llmperf_region_end();
    graph = end_capture();
    CUDA(cudaStreamDestroy(side));
    CUDA(cudaEventDestroy(event));
    return graph;
}

static void copies_sets_and_branches_are_where_they_were_captured(void)
{
    llmperf_session *session;
    llmperf_profile *profile;
    void *device, *other, *host;
    cudaGraphExec_t first, second;
    cudaGraph_t graph;

    CUDA(cudaMalloc(&device, 4096));
    CUDA(cudaMalloc(&other, 4096));
    CUDA(cudaMallocHost(&host, 4096));
    session = start("mixed");
    graph = capture_mixed(device, other, host);
    first = instantiate(graph);
    second = instantiate(graph);
    CUDA(cudaGraphDestroy(graph));
    launch_in("one", first, 3);
    launch_in("two", second, 4);
    CUDA(cudaGraphExecDestroy(first));
    CUDA(cudaGraphExecDestroy(second));
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    expect(profile, "LLM@one", "LLM@in", "", 6);
    expect(profile, "LLM@one", "LLM@fork", "", 6);
    expect(profile, "LLM@one", "LLM@out", "", 6);
    expect(profile, "LLM@two", "LLM@in", "[memset]", 4);
    expect(profile, "LLM@two", "LLM@fork", "numbered<3", 4);
    expect(profile, "LLM@two", "LLM@out", "memcpy", 4);
    llmperf_profile_free(profile);
    CUDA(cudaFree(device));
    CUDA(cudaFree(other));
    CUDA(cudaFreeHost(host));
}

template <int N> static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t behind)
{
    static long long cycles = 100;
    static void *arguments[] = { &cycles };
    cudaKernelNodeParams parameters;
    cudaGraphNode_t node;

    memset(&parameters, 0, sizeof(parameters));
    parameters.func = (void *)numbered<N>;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(32);
    parameters.kernelParams = arguments;
    CUDA(
        cudaGraphAddKernelNode(&node, graph, behind ? &behind : NULL, behind ? 1 : 0, &parameters));
    return node;
}

static cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraphNode_t behind, cudaGraph_t child)
{
    cudaGraphNode_t node;

    CUDA(cudaGraphAddChildGraphNode(&node, graph, behind ? &behind : NULL, behind ? 1 : 0, child));
    return node;
}

/* 0, child (1 2), 3, child (4, child (5 6), 7), child (1 2), 8, each part in a region of its own;
 * the numbers are counted from `N`. */
template <int N> static cudaGraph_t nest(const char *prefix)
{
    cudaGraph_t outer, one, two, deep;
    cudaGraphNode_t node;
    char label[64];

    CUDA(cudaGraphCreate(&outer, 0));
    CUDA(cudaGraphCreate(&one, 0));
    CUDA(cudaGraphCreate(&two, 0));
    CUDA(cudaGraphCreate(&deep, 0));
    llmperf_region_begin(prefix);
    snprintf(label, sizeof(label), "deep");
    llmperf_region_begin(label);
    add_kernel<N + 6>(deep, add_kernel<N + 5>(deep, NULL));
    llmperf_region_end();
    llmperf_region_begin("one");
    add_kernel<N + 2>(one, add_kernel<N + 1>(one, NULL));
    llmperf_region_end();
    llmperf_region_begin("two");
    node = add_child(two, add_kernel<N + 4>(two, NULL), deep);
    add_kernel<N + 7>(two, node);
    llmperf_region_end();
    llmperf_region_begin("outer");
    node = add_child(outer, add_kernel<N>(outer, NULL), one);
    node = add_child(outer, add_kernel<N + 3>(outer, node), two);
    add_kernel<N + 8>(outer, add_child(outer, node, one));
    llmperf_region_end();
    llmperf_region_end();
    CUDA(cudaGraphDestroy(one));
    CUDA(cudaGraphDestroy(two));
    CUDA(cudaGraphDestroy(deep));
    return outer;
}

static void expect_nested(const llmperf_profile *profile, const char *region, const char *prefix,
                          uint64_t times)
{
    const struct {
        const char *part;
        uint64_t kernels;
    } parts[] = { { "outer", 3 }, { "one", 4 }, { "two", 2 }, { "deep", 2 } };

    for (int i = 0; i < 4; i++) {
        char captured[128];

        snprintf(captured, sizeof(captured), "LLM@%s/LLM@%s", prefix, parts[i].part);
        expect(profile, region, captured, "numbered", parts[i].kernels * times);
    }
}

static void child_graphs_and_their_updates_keep_their_regions(void)
{
    llmperf_session *session = start("nested");
    cudaGraph_t first = nest<0>("first"), second = nest<10>("second"), same = nest<10>("same");
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t exec = instantiate(first), other;
    llmperf_profile *profile;

    launch_in("before", exec, 3);
    CUDA(cudaGraphExecUpdate(exec, second, &info));
    CUDA(cudaGraphDestroy(second));
    launch_in("after", exec, 3);
    /* Nothing changes but the regions. */
    CUDA(cudaGraphExecUpdate(exec, same, &info));
    launch_in("again", exec, 3);
    other = instantiate(same);
    launch_in("other", other, 2);
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    expect_nested(profile, "LLM@before", "first", 3);
    expect_nested(profile, "LLM@after", "second", 3);
    expect(profile, "LLM@after", "LLM@second/LLM@deep", "numbered<15", 3);
    expect(profile, "LLM@after", "LLM@second/LLM@two", "numbered<17", 3);
    expect(profile, "LLM@again", "LLM@same/LLM@outer", "numbered", 9);
    expect_nested(profile, "LLM@other", "same", 2);
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphExecDestroy(other));
    CUDA(cudaGraphDestroy(first));
    CUDA(cudaGraphDestroy(same));
}

static cudaGraph_t capture_three(const char *label, long long middle)
{
    char part[64];

    begin_capture();
    for (int i = 0; i < 3; i++) {
        snprintf(part, sizeof(part), "%s%d", label, i);
        llmperf_region_begin(part);
        numbered<9><<<1, 32, 0, stream>>>(i == 1 ? middle : 100);
        llmperf_region_end();
    }
    return end_capture();
}

/* As an engine does that captures anew for each token: one parameter changes, two nodes do not. */
static void an_update_moves_changed_and_unchanged_nodes(void)
{
    llmperf_session *session = start("update");
    cudaGraph_t graph = capture_three("old", 100);
    cudaGraphExec_t exec = instantiate(graph);
    cudaGraphExecUpdateResultInfo info;
    llmperf_profile *profile;

    CUDA(cudaGraphDestroy(graph));
    launch_in("step", exec, 10);
    for (int token = 0; token < 20; token++) { /* while launches are under way */
        graph = capture_three("new", 200 + token);
        CUDA(cudaGraphExecUpdate(exec, graph, &info));
        CUDA(cudaGraphDestroy(graph));
        launch_in("step", exec, 1);
    }
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    for (int i = 0; i < 3; i++) {
        char captured[32];

        snprintf(captured, sizeof(captured), "LLM@old%d", i);
        expect(profile, "LLM@step", captured, "numbered<9", 10);
        snprintf(captured, sizeof(captured), "LLM@new%d", i);
        expect(profile, "LLM@step", captured, "numbered<9", 20);
    }
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
}

static void set_parameters_keep_the_node_and_name_the_kernel(void)
{
    llmperf_session *session = start("parameters");
    static long long cycles = 100;
    static void *arguments[] = { &cycles };
    cudaKernelNodeParams parameters;
    cudaGraphNode_t node, child_node;
    cudaGraph_t graph, child, other;
    cudaGraphExec_t exec;
    llmperf_profile *profile;

    CUDA(cudaGraphCreate(&graph, 0));
    llmperf_region_begin("made");
    node = add_kernel<0>(graph, NULL);
    begin_capture();
    numbered<1><<<1, 32, 0, stream>>>(100);
    child = end_capture();
    child_node = add_child(graph, node, child);
    llmperf_region_end();
    llmperf_region_begin("child");
    begin_capture();
    numbered<2><<<1, 32, 0, stream>>>(100);
    other = end_capture();
    llmperf_region_end();
    exec = instantiate(graph);
    memset(&parameters, 0, sizeof(parameters));
    parameters.func = (void *)numbered<7>;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(32);
    parameters.kernelParams = arguments;
    launch_in("before", exec, 2);
    CUDA(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
    CUDA(cudaGraphExecChildGraphNodeSetParams(exec, child_node, other));
    launch_in("after", exec, 2);
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    expect(profile, "LLM@before", "LLM@made", "numbered<0", 2);
    expect(profile, "LLM@before", "LLM@made", "numbered<1", 2);
    expect(profile, "LLM@after", "LLM@made", "numbered<7", 2);
    expect(profile, "LLM@after", "LLM@child", "numbered<2", 2);
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(child));
    CUDA(cudaGraphDestroy(other));
}

/* 0, while (1 2 count, child (3 4)), 5: three rounds a launch. */
static cudaGraph_t make_loop(int *left)
{
    cudaGraphNodeParams conditional = { cudaGraphNodeTypeConditional };
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node, behind;
    cudaGraph_t graph, body, child;

    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&child, 0));
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    llmperf_region_begin("around");
    behind = add_kernel<0>(graph, NULL);
    conditional.type = cudaGraphNodeTypeConditional;
    conditional.conditional.handle = handle;
    conditional.conditional.type = cudaGraphCondTypeWhile;
    conditional.conditional.size = 1;
    CUDA(cudaGraphAddNode(&node, graph, &behind, NULL, 1, &conditional));
    add_kernel<5>(graph, node);
    llmperf_region_end();
    llmperf_region_begin("child");
    add_kernel<4>(child, add_kernel<3>(child, NULL));
    llmperf_region_end();
    llmperf_region_begin("body");
    body = conditional.conditional.phGraph_out[0];
    CUDA(cudaStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                       cudaStreamCaptureModeThreadLocal));
    numbered<1><<<1, 32, 0, stream>>>(100);
    numbered<2><<<1, 32, 0, stream>>>(100);
    count_down<<<1, 1, 0, stream>>>(handle, left);
    CUDA(cudaStreamEndCapture(stream, NULL));
    add_child(body, NULL, child);
    llmperf_region_end();
    CUDA(cudaGraphDestroy(child));
    return graph;
}

static void bodies_of_conditional_nodes_are_in_launch_and_capture_region(void)
{
    llmperf_session *session;
    llmperf_profile *profile;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    int *left, three = 3;

    CUDA(cudaMalloc(&left, sizeof(*left)));
    session = start("conditional");
    graph = make_loop(left);
    exec = instantiate(graph);
    for (int i = 0; i < 10; i++) {
        CUDA(cudaMemcpy(left, &three, sizeof(three), cudaMemcpyHostToDevice));
        launch_in(i % 2 ? "odd" : "even", exec, 1);
        CUDA(cudaStreamSynchronize(stream));
    }
    profile = stop_session(session);
    expect_complete(profile);
    CHECK(ledger_of(profile).kernels_unattributed == 0, "%lu without a launch",
          (unsigned long)ledger_of(profile).kernels_unattributed);
    for (int i = 0; i < 2; i++) {
        const char *region = i ? "LLM@odd" : "LLM@even";

        expect(profile, region, "LLM@around", "numbered<0", 5);
        expect(profile, region, "LLM@around", "numbered<5", 5);
        expect(profile, region, "LLM@body", "numbered<1", 15);
        expect(profile, region, "LLM@body", "count_down", 15);
        expect(profile, region, "LLM@child", "numbered", 30);
    }
    llmperf_profile_free(profile);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(left));
}

struct worker {
    cudaGraph_t *graph;
    cudaGraphExec_t exec;
    const char *region;
};

static void *capture_on_thread(void *context)
{
    cudaGraph_t *graph = (cudaGraph_t *)context;
    cudaStream_t own;

    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal));
    llmperf_region_begin("captured_elsewhere");
    numbered<6><<<1, 32, 0, own>>>(100);
    llmperf_region_end();
    CUDA(cudaStreamEndCapture(own, graph));
    CUDA(cudaStreamDestroy(own));
    return NULL;
}

static void *launch_on_thread(void *context)
{
    struct worker *worker = (struct worker *)context;
    cudaStream_t own;

    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    for (int i = 0; i < 50; i++) {
        llmperf_region_begin(worker->region);
        CUDA(cudaGraphLaunch(worker->exec, own));
        llmperf_region_end();
    }
    CUDA(cudaStreamSynchronize(own));
    CUDA(cudaStreamDestroy(own));
    return NULL;
}

static void threads_and_streams_share_graphs(void)
{
    llmperf_session *session = start("threads");
    struct worker workers[4];
    pthread_t threads[4];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    llmperf_profile *profile;

    pthread_create(&threads[0], NULL, capture_on_thread, &graph);
    pthread_join(threads[0], NULL);
    exec = instantiate(graph);
    for (int i = 0; i < 4; i++) {
        workers[i].exec = i < 2 ? exec : instantiate(graph);
        workers[i].region = i % 2 ? "right" : "left";
    }
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, launch_on_thread, &workers[i]);
        if (i == 0) /* An executable graph is launched by one thread at a time. */
            pthread_join(threads[0], NULL);
    }
    for (int i = 1; i < 4; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    expect_complete(profile);
    expect(profile, "LLM@left", "LLM@captured_elsewhere", "numbered<6", 100);
    expect(profile, "LLM@right", "LLM@captured_elsewhere", "numbered<6", 100);
    llmperf_profile_free(profile);
}

static void graphs_outlive_sessions_and_pauses(void)
{
    llmperf_session *session = start("first_session");
    cudaGraphExec_t execs[3];
    cudaGraph_t graphs[3];
    llmperf_profile *profile;

    graphs[0] = capture_three("early", 100);
    execs[0] = instantiate(graphs[0]);
    CUDA(cudaGraphDestroy(graphs[0]));
    CHECK(llmperf_session_pause(session) == LLMPERF_OK, "%s", llmperf_last_error());
    graphs[1] = capture_three("paused", 100);
    execs[1] = instantiate(graphs[1]);
    CHECK(llmperf_session_resume(session) == LLMPERF_OK, "%s", llmperf_last_error());
    launch_in("step", execs[1], 2);
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect(profile, "LLM@step", "LLM@paused1", "numbered<9", 2);
    llmperf_profile_free(profile);
    graphs[2] = capture_three("between", 100);
    execs[2] = instantiate(graphs[2]);
    session = start("later_session");
    for (int i = 0; i < 3; i++)
        launch_in("step", execs[i], 4);
    CUDA(cudaStreamSynchronize(stream));
    profile = stop_session(session);
    expect_complete(profile);
    expect(profile, "LLM@step", "LLM@early0", "numbered<9", 4);
    expect(profile, "LLM@step", "LLM@paused1", "numbered<9", 4);
    expect(profile, "LLM@step", "LLM@between2", "numbered<9", 4);
    CHECK(ledger_of(profile).graph_nodes_unmapped == 0, "%lu unmapped",
          (unsigned long)ledger_of(profile).graph_nodes_unmapped);
    llmperf_profile_free(profile);
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphExecDestroy(execs[i]));
}

int main(int count, char **arguments)
{
    need_device(1);
    if (count == 3 && !strcmp(arguments[1], "--record"))
        record_folder = arguments[2];
    CUDA(cudaFree(0));
    CUDA(cudaStreamCreate(&stream));
    a_graph_captured_before_is_named_and_capturing_again_heals();
    if (!record_folder)
        a_replay_has_the_layers_of_the_eager_run();
    copies_sets_and_branches_are_where_they_were_captured();
    child_graphs_and_their_updates_keep_their_regions();
    an_update_moves_changed_and_unchanged_nodes();
    set_parameters_keep_the_node_and_name_the_kernel();
    bodies_of_conditional_nodes_are_in_launch_and_capture_region();
    threads_and_streams_share_graphs();
    graphs_outlive_sessions_and_pauses();
    return finish();
}
