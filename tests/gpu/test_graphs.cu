/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of CUDA graphs by launch region and capture region, on a real driver: its numbering of
 * nodes is what a script cannot show.
 *
 * test_gpu_graphs --record DIR writes its recordings of tests/data/h200/graphs as well. */
#include <pthread.h>

#include "tests/gpu/graphs.h"

#define LAYERS  32
#define REPLAYS 100

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
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
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
    begin_graphs(count, arguments);
    a_graph_captured_before_is_named_and_capturing_again_heals();
    if (!record_folder)
        a_replay_has_the_layers_of_the_eager_run();
    copies_sets_and_branches_are_where_they_were_captured();
    threads_and_streams_share_graphs();
    graphs_outlive_sessions_and_pauses();
    return finish();
}
