/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of CUDA graphs, child graphs and conditional nodes on a real driver, which numbers the
 * nodes: kernels stay with the regions that captured them.
 *
 * test_gpu_graph_updates --record DIR writes its recordings of tests/data/h200/graphs as well. */
#include "tests/gpu/graphs.h"

__global__ void count_down(cudaGraphConditionalHandle handle, int *left)
{
    cudaGraphSetConditional(handle, --*left > 0);
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

int main(int count, char **arguments)
{
    begin_graphs(count, arguments);
    child_graphs_and_their_updates_keep_their_regions();
    an_update_moves_changed_and_unchanged_nodes();
    set_parameters_keep_the_node_and_name_the_kernel();
    bodies_of_conditional_nodes_are_in_launch_and_capture_region();
    return finish();
}
