/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that launch: the host record, and the device work. */
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/host_calls.h"
#include "lib/sources/fake/player.h"
#include "llmperf/profile.h"

static int report_launch(struct lp_fake_player *player, struct lp_fake_thread *thread,
                         uint16_t kind, uint32_t graph)
{
    if (player->correlation == LP_FAKE_NEVER_LAUNCHED - 1)
        return lp_error(LLMPERF_EFORMAT,
                        "the script makes more than %u launches; repeat less often",
                        LP_FAKE_NEVER_LAUNCHED - 1);
    if (!lp_fake_device_strikes(&player->device, LP_FAKE_SAME_CORRELATION) ||
        player->correlation == 0)
        player->correlation++;
    return lp_fake_thread_report(thread, player->now_ns, LP_RECORD_LAUNCH, kind,
                                 LP_LAUNCH_VALUE(graph, player->correlation));
}

int lp_fake_play_failed(struct lp_fake_player *player, struct lp_fake_thread *thread)
{
    int status = report_launch(player, thread, LP_LAUNCH_KERNEL, 0);

    return status < 0 ? status
                      : lp_fake_thread_report(thread, player->now_ns, LP_RECORD_LAUNCH_CANCELLED, 0,
                                              player->correlation);
}

static int launch(struct lp_fake_player *player, struct lp_fake_thread *thread, uint16_t kind,
                  uint32_t graph)
{
    int status = report_launch(player, thread, kind, graph);

    /* The launch is the thread's last record. */
    if (status == 0 && lp_fake_device_strikes(&player->device, LP_FAKE_LATE_LAUNCH) && !thread->cut)
        lp_fake_thread_postpone(thread);
    return status;
}

static uint32_t number_of(const struct lp_fake_op *op, enum lp_fake_key key)
{
    return op->keys_set & (1u << key) ? (uint32_t)op->values[key] : LP_SHAPE_UNKNOWN;
}

static bool is_given(const struct lp_fake_op *op, uint32_t first, uint32_t last)
{
    return (op->keys_set & ((2u << last) - (1u << first))) != 0;
}

static struct lp_shape kernel_shape(const struct lp_fake_op *op)
{
    struct lp_shape shape = { .registers = number_of(op, LP_FAKE_REGISTERS),
                              .static_shared = number_of(op, LP_FAKE_STATIC_SHARED),
                              .dynamic_shared = number_of(op, LP_FAKE_DYNAMIC_SHARED) };

    for (uint32_t i = 0; i < 3; i++) {
        shape.grid[i] = LP_FAKE_EXTENT(op->values[LP_FAKE_GRID], i);
        shape.block[i] = LP_FAKE_EXTENT(op->values[LP_FAKE_BLOCK], i);
    }
    return shape;
}

static struct lp_shape memory_shape(const struct lp_fake_op *op)
{
    return (struct lp_shape){ .source = (uint8_t)op->values[LP_FAKE_READS],
                              .destination = (uint8_t)op->values[LP_FAKE_WRITES],
                              .call = (uint8_t)op->values[LP_FAKE_CALL] };
}

/* What the statement says of it; LP_SHAPE_NONE: nothing. LP_HASHMAP_NONE without memory. */
static uint32_t find_shape(struct lp_names *names, const struct lp_fake_op *op, uint8_t kind)
{
    bool kernel = kind == LLMPERF_ACTIVITY_KERNEL;
    struct lp_shape shape = kernel ? kernel_shape(op) : memory_shape(op);

    return (kernel && is_given(op, LP_FAKE_GRID, LP_FAKE_DYNAMIC_SHARED)) ||
                   (!kernel && is_given(op, LP_FAKE_READS, LP_FAKE_CALL))
               ? lp_shapes_intern(&names->shapes, &shape)
               : LP_SHAPE_NONE;
}

static int run(struct lp_fake_player *player, const struct lp_fake_op *op,
               struct lp_activity activity, const char *name)
{
    activity.shape = find_shape(player->head.names, op, activity.kind);
    if (activity.shape == LP_HASHMAP_NONE)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return lp_fake_device_run(&player->device, player->now_ns, op, activity, name);
}

/* The call returns: reported where the script gives its length. */
static int end_call(struct lp_fake_player *player, struct lp_fake_thread *thread,
                    const struct lp_fake_op *op)
{
    player->now_ns = lp_fake_add_time(player->now_ns, op->values[LP_FAKE_HOST]);
    return op->values[LP_FAKE_HOST] == 0
               ? 0
               : lp_fake_thread_report(thread, player->now_ns, LP_RECORD_LAUNCH_END, 0,
                                       player->correlation);
}

/* The host clock is at the end of the call. */
static int report_host_call(struct lp_fake_player *player, struct lp_fake_thread *thread,
                            const struct lp_fake_op *op, uint8_t call)
{
    return lp_fake_thread_report(thread, player->now_ns, LP_RECORD_HOST_CALL, call,
                                 op->values[LP_FAKE_HOST]);
}

static int report_memory(struct lp_fake_player *player, struct lp_fake_thread *thread,
                         const struct lp_fake_op *op, enum lp_memory_step step, uint64_t value)
{
    bool handle = op->choice == LP_CALL_cuMemCreate || op->choice == LP_CALL_cuMemRelease ||
                  op->choice == LP_CALL_cuMemRetainAllocationHandle;

    return lp_fake_thread_report(thread, player->now_ns, LP_RECORD_MEMORY,
                                 lp_memory_detail(step,
                                                  handle ? LP_MEMORY_HANDLE : LP_MEMORY_ADDRESS,
                                                  (uint32_t)op->values[LP_FAKE_DEVICE]),
                                 value);
}

/* The pool of the device, of which only this allocation is in use. */
static int report_pool(struct lp_fake_player *player, struct lp_fake_thread *thread,
                       const struct lp_fake_op *op)
{
    const uint64_t values[] = { op->values[LP_FAKE_DEVICE] + 1, op->values[LP_FAKE_RESERVED],
                                op->values[LP_FAKE_BYTES] };
    int status = 0;

    for (int i = 0; i < 3 && status == 0; i++)
        status =
            report_memory(player, thread, op, (enum lp_memory_step)(LP_MEMORY_POOL + i), values[i]);
    return status;
}

/* Memory is freed before the call returns, and allocated when it does. */
int lp_fake_play_host_call(struct lp_fake_player *player, struct lp_fake_thread *thread,
                           const struct lp_fake_op *op)
{
    uint64_t id = op->values[LP_FAKE_ID], bytes = op->values[LP_FAKE_BYTES];
    enum lp_host_purpose purpose =
        player->memory_activities && id ? lp_host_call_purpose(op->choice) : LP_HOST_NOTHING;
    int status = 0;

    if (purpose == LP_HOST_FREE)
        status = report_memory(player, thread, op, LP_MEMORY_FREED, id);
    player->now_ns = lp_fake_add_time(player->now_ns, op->values[LP_FAKE_HOST]);
    if (purpose == LP_HOST_MEMORY && op->choice == LP_CALL_cuMemRetainAllocationHandle)
        status = report_memory(player, thread, op, LP_MEMORY_RETAINED, id);
    if (purpose == LP_HOST_ALLOCATE &&
        (status = report_memory(player, thread, op, LP_MEMORY_BYTES, bytes)) == 0)
        status = report_memory(player, thread, op, LP_MEMORY_ALLOCATED, id);
    if (op->values[LP_FAKE_RESERVED] > 0 && purpose == LP_HOST_ALLOCATE && status == 0)
        status = report_pool(player, thread, op);
    return status == 0 && player->memory_activities
               ? report_host_call(player, thread, op, op->choice)
               : status;
}

static uint8_t kind_of_node(const char *name)
{
    return !strncmp(name, "[memcpy", 7)   ? LLMPERF_ACTIVITY_MEMCPY
           : !strncmp(name, "[memset", 7) ? LLMPERF_ACTIVITY_MEMSET
                                          : LLMPERF_ACTIVITY_KERNEL;
}

int lp_fake_play_kernel(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op)
{
    struct lp_activity activity = { .kind = LLMPERF_ACTIVITY_KERNEL };
    int status = launch(player, thread, LP_LAUNCH_KERNEL, 0);

    activity.correlation = player->correlation;
    if (status == 0)
        status = run(player, op, activity, player->script.names.items[op->first_name]);
    return status < 0 ? status : end_call(player, thread, op);
}

/* All nodes as one interval. */
static int launch_whole(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op)
{
    struct lp_fake_op whole = *op;
    uint32_t graph = (uint32_t)op->values[LP_FAKE_GRAPH_ID];
    struct lp_activity activity = { .kind = LLMPERF_ACTIVITY_GRAPH,
                                    .graph = graph,
                                    .graph_node = LP_GRAPH_NODE(graph, 0) };
    int status = launch(player, thread, LP_LAUNCH_GRAPH, graph);

    activity.correlation = player->correlation;
    whole.values[LP_FAKE_DURATION] *= op->name_count;
    return status < 0 ? status : run(player, &whole, activity, "[graph]");
}

/* The last `body` nodes are in conditional bodies: their records have no correlation id. */
static int launch_nodes(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op)
{
    uint32_t graph = (uint32_t)op->values[LP_FAKE_GRAPH_ID];
    int status = launch(player, thread, LP_LAUNCH_GRAPH, graph);

    for (uint32_t i = 0; status == 0 && i < op->name_count; i++) {
        const char *name = player->script.names.items[op->first_name + i];
        struct lp_activity activity = { .kind = kind_of_node(name), .graph = graph };

        if (i + op->values[LP_FAKE_BODY] < op->name_count)
            activity.correlation = player->correlation;
        activity.graph_node = LP_GRAPH_NODE(graph, op->values[LP_FAKE_INDEX] + i);
        if (activity.kind == LLMPERF_ACTIVITY_KERNEL || player->memory_activities)
            status = run(player, op, activity, name);
    }
    return status;
}

int lp_fake_play_graph(struct lp_fake_player *player, struct lp_fake_thread *thread,
                       const struct lp_fake_op *op)
{
    int status =
        player->graph_level ? launch_whole(player, thread, op) : launch_nodes(player, thread, op);

    return status < 0 ? status : end_call(player, thread, op);
}

/* Without memory activities the driver reports neither call nor record. */
int lp_fake_play_memory(struct lp_fake_player *player, struct lp_fake_thread *thread,
                        const struct lp_fake_op *op)
{
    static const char *const names[] = { "[memcpy HtoD]", "[memcpy DtoH]", "[memcpy DtoD]",
                                         "[memcpy PtoP]" };
    static const char *const calls[] = { "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD",
                                         "cuMemcpyPeer" };
    static const char *const async[] = { "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
                                         "cuMemcpyDtoDAsync", "cuMemcpyPeerAsync" };
    struct lp_activity activity = { 0 };
    bool set = op->verb == LP_FAKE_SET;
    int status;

    if (!player->memory_activities) {
        player->now_ns = lp_fake_add_time(player->now_ns, op->values[LP_FAKE_HOST]);
        return 0;
    }
    activity.kind = set ? LLMPERF_ACTIVITY_MEMSET : LLMPERF_ACTIVITY_MEMCPY;
    activity.bytes = op->values[LP_FAKE_BYTES];
    status = launch(player, thread, LP_LAUNCH_MEMORY, 0);
    activity.correlation = player->correlation;
    if (status == 0)
        status = run(player, op, activity, set ? "[memset]" : names[op->choice]);
    if (status == 0)
        status = end_call(player, thread, op);
    if (status == 0 && !set && op->values[LP_FAKE_HOST] > 0)
        status = report_host_call(
            player, thread, op,
            lp_host_call_find(
                (op->values[LP_FAKE_CALL] == LP_COPY_CALL_SYNC ? calls : async)[op->choice]));
    return status;
}
