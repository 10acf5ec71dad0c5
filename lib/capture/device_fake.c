/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/capture/device_fake.h"
#include "lib/capture/fake_script.h"
#include "lib/record/paths.h"
#include "llmperf/activity.h"
#include "llmperf/region.h"

#define OPS_A_CALL        2000
#define ACTIVITIES_A_CALL 65536u /* a graph brings many for one statement */
#define CLOCK_START       UINT64_C(1000000)
#define CLOCK_LIMIT       (UINT64_C(1) << 62)
#define STATEMENT_NS      1000u
#define FAR_FUTURE_NS     UINT64_C(315360000000000000) /* ten years */
#define HUGE_NS           UINT64_C(172800000000000)    /* two days */
#define JUMP_NS           UINT64_C(7200000000000)      /* two hours */
#define SKEW_NS           UINT64_C(1000000000)
#define NEVER_LAUNCHED    0x80000000u /* set in ids that no launch has */

struct fake_thread {
    uint32_t depth; /* may exceed LLMPERF_REGION_DEPTH, as in a real thread */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    LP_VECTOR(struct lp_record) records; /* not yet sent */
    bool cut;                            /* records from the late one on wait for the next call */
    size_t late;                         /* the first record that does */
};

struct player {
    struct lp_device_source head;
    bool memory_activities, graph_level;
    struct lp_fake_script script;
    size_t at;                      /* next op */
    uint64_t left[LP_FAKE_NESTING]; /* rounds of the open repeats, this one included */
    uint32_t depth;
    uint64_t now_ns;
    uint32_t thread, correlation;
    struct fake_thread *threads[LP_FAKE_THREADS];
    struct lp_hashmap streams; /* (device and stream, context) -> index of free_ns */
    LP_VECTOR(uint64_t) free_ns;
    uint8_t fault; /* enum lp_fake_fault */
    uint64_t fault_every, fault_seen;
    uint64_t random;
    LP_VECTOR(struct lp_activity) activities, late;
    LP_VECTOR(struct lp_graph_event) graphs;
    struct lp_device_stats stats;
    int status; /* the error that ended the play */
};

static uint64_t add_time(uint64_t time_ns, uint64_t more_ns)
{
    return more_ns > CLOCK_LIMIT - time_ns ? CLOCK_LIMIT : time_ns + more_ns;
}

static bool strikes(struct player *player)
{
    return ++player->fault_seen % player->fault_every == 0;
}

/* xorshift64: the same in each run. */
static size_t pick(struct player *player, size_t below)
{
    player->random ^= player->random << 13;
    player->random ^= player->random >> 7;
    player->random ^= player->random << 17;
    return (size_t)(player->random % below);
}

/* The thread of the statement; NULL without memory, with the error text. */
static struct fake_thread *find_thread(struct player *player)
{
    struct fake_thread **thread = &player->threads[player->thread];

    if (!*thread && !(*thread = calloc(1, sizeof(**thread))))
        lp_error(LLMPERF_ENOMEM, "out of memory");
    return *thread;
}

static uint32_t innermost(const struct fake_thread *thread)
{
    uint32_t depth = thread->depth < LLMPERF_REGION_DEPTH ? thread->depth : LLMPERF_REGION_DEPTH;

    return depth > 0 ? thread->stack[depth - 1] : LP_PATH_ROOT;
}

static int tell(struct player *player, struct fake_thread *thread, uint16_t kind, uint16_t detail,
                uint64_t value)
{
    uint32_t node = kind == LP_RECORD_UNBALANCED || kind == LP_RECORD_THREAD_EXIT
                        ? LP_PATH_ROOT
                        : innermost(thread);
    struct lp_record record = { player->now_ns, value, node, kind, detail };

    return lp_vector_push(&thread->records, record);
}

static int count(struct player *player, struct fake_thread *thread, uint32_t quantity,
                 uint64_t amount)
{
    if (thread->depth == 0 || amount == 0)
        return 0;
    return tell(player, thread, LP_RECORD_COUNT, (uint16_t)quantity, amount);
}

static int begin_region(struct player *player, struct fake_thread *thread,
                        const struct lp_fake_op *op)
{
    uint32_t unset = LLMPERF_REGION_AUTO, kind = (uint32_t)op->values[LP_FAKE_KIND];
    int status = 0;

    if (thread->depth++ < LLMPERF_REGION_DEPTH) {
        uint32_t parent = thread->depth > 1 ? thread->stack[thread->depth - 2] : LP_PATH_ROOT;

        thread->stack[thread->depth - 1] =
            lp_path_intern(parent, player->script.names.items[op->first_name]);
        status = tell(player, thread, LP_RECORD_REGION_BEGIN, 0, 0);
    }
    if (kind != LLMPERF_REGION_AUTO && thread->depth <= LLMPERF_REGION_DEPTH)
        atomic_compare_exchange_strong(&lp_path_get(innermost(thread))->kind, &unset, kind);
    for (uint32_t key = LP_FAKE_TOKENS; status == 0 && key <= LP_FAKE_BYTES; key++)
        status = count(player, thread, key, op->values[key]);
    return status;
}

static int end_region(struct player *player, struct fake_thread *thread)
{
    int status = 0;

    if (thread->depth == 0)
        return tell(player, thread, LP_RECORD_UNBALANCED, 0, 0);
    if (thread->depth <= LLMPERF_REGION_DEPTH)
        status = tell(player, thread, LP_RECORD_REGION_END, 0, 0);
    thread->depth--;
    return status;
}

static int tell_launch(struct player *player, struct fake_thread *thread, uint16_t kind,
                       uint32_t graph)
{
    if (player->correlation == NEVER_LAUNCHED - 1)
        return lp_error(LLMPERF_EFORMAT, "the script makes over %u launches; write smaller repeats",
                        NEVER_LAUNCHED - 1);
    if (player->fault != LP_FAKE_SAME_CORRELATION || !strikes(player) || player->correlation == 0)
        player->correlation++;
    return tell(player, thread, LP_RECORD_LAUNCH, kind,
                LP_LAUNCH_VALUE(graph, player->correlation));
}

static int launch_void(struct player *player, struct fake_thread *thread)
{
    int status = tell_launch(player, thread, LP_LAUNCH_KERNEL, 0);

    return status < 0 ? status
                      : tell(player, thread, LP_RECORD_LAUNCH_VOID, 0, player->correlation);
}

/* When the stream is free; NULL without memory. Valid until the next call. */
static uint64_t *find_stream(struct player *player, const struct lp_fake_op *op)
{
    uint64_t key = op->values[LP_FAKE_DEVICE] << 32 | op->values[LP_FAKE_STREAM];
    uint32_t index = lp_hashmap_get(&player->streams, key, op->values[LP_FAKE_CONTEXT]);

    if (index == LP_HASHMAP_NONE) {
        index = (uint32_t)player->free_ns.count;
        if (lp_vector_push(&player->free_ns, 0) < 0 ||
            lp_hashmap_put(&player->streams, key, op->values[LP_FAKE_CONTEXT], index) < 0)
            return NULL;
    }
    return &player->free_ns.items[index];
}

static int add_activity(struct player *player, const struct lp_activity *activity, bool shuffle)
{
    struct lp_activity *items;
    size_t last = player->activities.count, other;

    if (lp_vector_push(&player->activities, *activity) < 0)
        return LLMPERF_ENOMEM;
    items = player->activities.items;
    if (shuffle) {
        other = pick(player, last + 1);
        items[last] = items[other];
        items[other] = *activity;
    }
    return 0;
}

static void reverse_time(struct lp_activity *activity)
{
    uint64_t start_ns = activity->start_ns;

    activity->start_ns = activity->end_ns > start_ns ? activity->end_ns : start_ns + 1;
    activity->end_ns = start_ns;
}

/* A device record is on its way: with the fault, if this one is struck. */
static int report(struct player *player, struct lp_activity *activity)
{
    bool of_launch =
        player->fault == LP_FAKE_LATE_LAUNCH || player->fault == LP_FAKE_SAME_CORRELATION;
    uint8_t fault = !of_launch && strikes(player) ? player->fault : LP_FAKE_NONE;
    int status = 0;

    switch (fault) {
    case LP_FAKE_DROP:
        return 0;
    case LP_FAKE_LATE:
        return lp_vector_push(&player->late, *activity);
    case LP_FAKE_DUPLICATE:
        status = add_activity(player, activity, false);
        break;
    case LP_FAKE_ZERO_TIME:
        activity->start_ns = activity->end_ns = 0;
        break;
    case LP_FAKE_NO_END:
        activity->end_ns = 0;
        break;
    case LP_FAKE_REVERSED_TIME:
        reverse_time(activity);
        break;
    case LP_FAKE_FAR_FUTURE:
        activity->start_ns += FAR_FUTURE_NS;
        activity->end_ns += FAR_FUTURE_NS;
        break;
    case LP_FAKE_HUGE_DURATION:
        activity->end_ns += HUGE_NS;
        break;
    case LP_FAKE_CLOCK_JUMP:
        activity->start_ns += JUMP_NS;
        activity->end_ns += JUMP_NS;
        break;
    case LP_FAKE_SKEW:
        activity->start_ns -= activity->start_ns > SKEW_NS ? SKEW_NS : 0;
        activity->end_ns -= activity->end_ns > SKEW_NS ? SKEW_NS : 0;
        break;
    case LP_FAKE_NO_CORRELATION:
        activity->correlation = LP_CORRELATION_NONE;
        break;
    case LP_FAKE_UNKNOWN_CORRELATION:
        activity->correlation |= NEVER_LAUNCHED;
        break;
    default:
        break;
    }
    return status < 0 ? status : add_activity(player, activity, fault == LP_FAKE_REORDER);
}

/* One span on the stream of the statement. */
static int run_on_device(struct player *player, const struct lp_fake_op *op,
                         struct lp_activity activity, const char *name)
{
    uint64_t *free_ns = find_stream(player, op);
    uint64_t ready_ns = add_time(player->now_ns, op->values[LP_FAKE_DELAY]);

    activity.name = lp_names_intern(player->head.names, name);
    if (!free_ns || activity.name == LP_HASHMAP_NONE)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    activity.start_ns = *free_ns > ready_ns ? *free_ns : ready_ns;
    activity.end_ns = *free_ns = add_time(activity.start_ns, op->values[LP_FAKE_DURATION]);
    activity.stream = (uint32_t)op->values[LP_FAKE_STREAM];
    activity.context = (uint32_t)op->values[LP_FAKE_CONTEXT];
    activity.device = (uint16_t)op->values[LP_FAKE_DEVICE];
    return report(player, &activity);
}

/* The launch is the last record of its thread; a struck one waits for the next call, and with it
 * what its thread does behind it: a ring keeps its order. */
static void postpone_launch(struct player *player, struct fake_thread *thread)
{
    if (player->fault != LP_FAKE_LATE_LAUNCH || !strikes(player) || thread->cut)
        return;
    thread->cut = true;
    thread->late = thread->records.count - 1;
}

static int launch(struct player *player, struct fake_thread *thread, uint16_t kind, uint32_t graph)
{
    int status = tell_launch(player, thread, kind, graph);

    if (status == 0)
        postpone_launch(player, thread);
    return status;
}

static uint8_t kind_of_node(const char *name)
{
    return !strncmp(name, "[memcpy", 7)   ? LLMPERF_ACTIVITY_MEMCPY
           : !strncmp(name, "[memset", 7) ? LLMPERF_ACTIVITY_MEMSET
                                          : LLMPERF_ACTIVITY_KERNEL;
}

static int launch_kernel(struct player *player, struct fake_thread *thread,
                         const struct lp_fake_op *op)
{
    struct lp_activity activity = { .kind = LLMPERF_ACTIVITY_KERNEL };
    int status = launch(player, thread, LP_LAUNCH_KERNEL, 0);

    activity.correlation = player->correlation;
    return status < 0
               ? status
               : run_on_device(player, op, activity, player->script.names.items[op->first_name]);
}

/* All nodes as one span. */
static int launch_whole(struct player *player, struct fake_thread *thread,
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
    return status < 0 ? status : run_on_device(player, &whole, activity, "[graph]");
}

/* The last `body` nodes lie in bodies of conditional nodes: their records name no launch. */
static int launch_graph(struct player *player, struct fake_thread *thread,
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
            status = run_on_device(player, op, activity, name);
    }
    return status;
}

/* Without memory activities the driver tells neither of the call nor of the copy. */
static int launch_memory(struct player *player, struct fake_thread *thread,
                         const struct lp_fake_op *op)
{
    static const char *const names[] = { "[memcpy HtoD]", "[memcpy DtoH]", "[memcpy DtoD]",
                                         "[memcpy PtoP]" };
    struct lp_activity activity = { 0 };
    bool set = op->verb == LP_FAKE_SET;
    int status;

    if (!player->memory_activities)
        return 0;
    activity.kind = set ? LLMPERF_ACTIVITY_MEMSET : LLMPERF_ACTIVITY_MEMCPY;
    activity.bytes = op->values[LP_FAKE_BYTES];
    status = launch(player, thread, LP_LAUNCH_MEMORY, 0);
    activity.correlation = player->correlation;
    return status < 0 ? status
                      : run_on_device(player, op, activity, set ? "[memset]" : names[op->choice]);
}

/* One event of a graph; `more`: which of several nodes. */
static int tell_graph(struct player *player, const struct fake_thread *thread,
                      const struct lp_fake_op *op, uint32_t more)
{
    static const uint32_t kinds[] = {
        [LP_FAKE_NODE] = LP_GRAPH_NODE_CREATED,
        [LP_FAKE_NODE_CLONE] = LP_GRAPH_NODE_CLONED,
        [LP_FAKE_NODE_REMOVE] = LP_GRAPH_NODE_REMOVED,
        [LP_FAKE_NODE_UPDATE] = LP_GRAPH_NODE_UPDATED,
        [LP_FAKE_GRAPH_INLINE] = LP_GRAPH_INLINED,
        [LP_FAKE_INSTANTIATE] = LP_GRAPH_INSTANTIATED,
        [LP_FAKE_GRAPH_UPDATE] = LP_GRAPH_UPDATED,
        [LP_FAKE_GRAPH_DESTROY] = LP_GRAPH_DESTROYED,
    };
    bool nodes = op->verb <= LP_FAKE_NODE_UPDATE;
    struct lp_graph_event event = {
        .node = LP_GRAPH_NODE(op->values[LP_FAKE_GRAPH_ID], op->values[LP_FAKE_INDEX]),
        .origin = LP_GRAPH_NODE(op->values[LP_FAKE_FROM], op->values[LP_FAKE_SOURCE]),
        .path = innermost(thread),
        .kind = kinds[op->verb],
        .detail = (uint32_t)op->values[LP_FAKE_LAUNCHABLE],
    };

    event.node += nodes ? more : 0;
    event.origin += nodes ? more : 0;
    /* The nodes that an update changes are told before the call has ended. */
    if (event.kind == LP_GRAPH_NODE_UPDATED)
        event.correlation = player->correlation + 1;
    else if (event.kind == LP_GRAPH_UPDATED)
        event.correlation = ++player->correlation;
    return lp_vector_push(&player->graphs, event);
}

/* Statements of several nodes; an instantiation clones those of its graph first. */
static int tell_nodes(struct player *player, const struct fake_thread *thread,
                      const struct lp_fake_op *op)
{
    struct lp_fake_op each = *op;
    int status = 0;

    if (op->verb == LP_FAKE_INSTANTIATE)
        each.verb = LP_FAKE_NODE_CLONE;
    for (uint32_t i = 0; status == 0 && i < op->values[LP_FAKE_NODES]; i++)
        status = tell_graph(player, thread, &each, i);
    if (status == 0 && op->verb == LP_FAKE_INSTANTIATE)
        status = tell_graph(player, thread, op, 0);
    return status;
}

static int exit_thread(struct player *player, struct fake_thread *thread)
{
    thread->depth = 0;
    return tell(player, thread, LP_RECORD_THREAD_EXIT, 0, 0);
}

static int play_host(struct player *player, struct fake_thread *thread, const struct lp_fake_op *op)
{
    switch (op->verb) {
    case LP_FAKE_BEGIN:
        return begin_region(player, thread, op);
    case LP_FAKE_END:
        return end_region(player, thread);
    case LP_FAKE_COUNT:
        return count(player, thread, op->choice, op->number);
    case LP_FAKE_LAUNCH:
        return launch_kernel(player, thread, op);
    case LP_FAKE_GRAPH:
        return player->graph_level ? launch_whole(player, thread, op)
                                   : launch_graph(player, thread, op);
    case LP_FAKE_COPY:
    case LP_FAKE_SET:
        return launch_memory(player, thread, op);
    case LP_FAKE_LAUNCH_FAIL:
    case LP_FAKE_CAPTURE:
        return launch_void(player, thread);
    case LP_FAKE_NODE:
    case LP_FAKE_NODE_CLONE:
    case LP_FAKE_INSTANTIATE:
        return tell_nodes(player, thread, op);
    case LP_FAKE_NODE_REMOVE:
    case LP_FAKE_NODE_UPDATE:
    case LP_FAKE_GRAPH_INLINE:
    case LP_FAKE_GRAPH_UPDATE:
    case LP_FAKE_GRAPH_DESTROY:
        return tell_graph(player, thread, op, 0);
    case LP_FAKE_LOST:
        return tell(player, thread, LP_RECORD_LOST, 0, op->number);
    default:
        return exit_thread(player, thread);
    }
}

static void set_fault(struct player *player, const struct lp_fake_op *op)
{
    player->fault = op->choice;
    player->fault_every = op->values[LP_FAKE_EVERY];
    player->fault_seen = 0;
}

static void go_round(struct player *player, const struct lp_fake_op *op)
{
    if (--player->left[player->depth - 1] > 0)
        player->at = op->partner + 1;
    else
        player->depth--;
}

static void lose_graphs(struct player *player, uint64_t number)
{
    const struct lp_graph_event event = { .kind = LP_GRAPH_LOST, .origin = number };

    if (player->status == 0)
        player->status = lp_vector_push(&player->graphs, event);
}

/* What no thread does. false: `op` is a statement of a thread. */
static bool play_control(struct player *player, const struct lp_fake_op *op)
{
    switch (op->verb) {
    case LP_FAKE_THREAD:
        player->thread = (uint32_t)op->number;
        return true;
    case LP_FAKE_AT:
        player->now_ns = op->number;
        return true;
    case LP_FAKE_WAIT:
        player->now_ns = add_time(player->now_ns, op->number);
        return true;
    case LP_FAKE_REPEAT:
        player->left[player->depth++] = op->number;
        return true;
    case LP_FAKE_DONE:
        go_round(player, op);
        return true;
    case LP_FAKE_FAULT:
        set_fault(player, op);
        return true;
    case LP_FAKE_DRIVER_DROP:
        player->stats.records_dropped += op->number;
        return true;
    case LP_FAKE_INCOMPLETE:
        player->stats.records_incomplete += op->number;
        return true;
    case LP_FAKE_GRAPH_LOST:
        lose_graphs(player, op->number);
        return true;
    case LP_FAKE_FOREIGN:
        player->stats.records_foreign += op->number;
        return true;
    case LP_FAKE_REFUSED:
        player->stats.errors += op->number;
        return true;
    case LP_FAKE_DEVICE_LOST:
        player->status = lp_error(LLMPERF_ENODEVICE, "the device was lost");
        return true;
    case LP_FAKE_OVERHEAD:
        player->stats.overhead_ns += op->number;
        player->stats.has_overhead = true;
        return true;
    default:
        return false;
    }
}

static int play_op(struct player *player)
{
    const struct lp_fake_op *op = &player->script.ops.items[player->at++];
    struct fake_thread *thread;
    int status;

    if (play_control(player, op))
        return 0;
    thread = find_thread(player);
    if (!thread)
        return LLMPERF_ENOMEM;
    status = play_host(player, thread, op);
    player->now_ns = add_time(player->now_ns, STATEMENT_NS);
    return status;
}

static int play_some(struct player *player)
{
    int status = 0;

    for (int i = 0; status == 0 && i < OPS_A_CALL && player->activities.count < ACTIVITIES_A_CALL;
         i++) {
        if (player->at == player->script.ops.count)
            break;
        if ((status = play_op(player)) == 0)
            status = player->status;
    }
    return status;
}

/* What is not ready stays for the next call. */
static void send_thread(struct fake_thread *thread, uint32_t index,
                        const struct lp_device_sink *sink)
{
    size_t ready = thread->cut ? thread->late : thread->records.count;

    if (ready > 0)
        sink->host(sink->context, index, thread->records.items, ready);
    thread->records.count -= ready;
    if (thread->records.count > 0)
        memmove(thread->records.items, thread->records.items + ready,
                thread->records.count * sizeof(*thread->records.items));
    thread->cut = false;
}

static void send_host(struct player *player, const struct lp_device_sink *sink)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++)
        if (player->threads[i])
            send_thread(player->threads[i], i, sink);
}

static void send_graphs(struct player *player, const struct lp_device_sink *sink)
{
    if (player->graphs.count > 0)
        sink->graphs(sink->context, player->graphs.items, player->graphs.count);
    player->graphs.count = 0;
}

/* In batches of the size that other sources send. */
static void send_activities(struct lp_activity *items, size_t count_all,
                            const struct lp_device_sink *sink)
{
    const size_t most =
        sizeof(((struct lp_activity_batch *)NULL)->items) / sizeof(struct lp_activity);

    for (size_t at = 0; at < count_all; at += most)
        sink->activities(sink->context, items + at, count_all - at < most ? count_all - at : most);
}

static bool is_over(const struct player *player)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++)
        if (player->threads[i] && player->threads[i]->records.count > 0)
            return false;
    return player->at == player->script.ops.count;
}

static int deliver(struct lp_device_source *source, const struct lp_device_sink *sink)
{
    struct player *player = (struct player *)(void *)source;

    if (player->status == 0)
        player->status = play_some(player);
    send_graphs(player, sink);
    send_host(player, sink);
    send_activities(player->activities.items, player->activities.count, sink);
    player->activities.count = 0;
    if (player->status < 0)
        return player->status;
    if (!is_over(player))
        return 1;
    send_activities(player->late.items, player->late.count, sink);
    player->late.count = 0;
    return 0;
}

static void read_stats(const struct lp_device_source *source, struct lp_device_stats *stats)
{
    *stats = ((const struct player *)(const void *)source)->stats;
}

static void close_player(struct lp_device_source *source)
{
    struct player *player = (struct player *)(void *)source;

    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++) {
        if (!player->threads[i])
            continue;
        lp_vector_clear(&player->threads[i]->records);
        free(player->threads[i]);
    }
    lp_hashmap_clear(&player->streams);
    lp_vector_clear(&player->free_ns);
    lp_vector_clear(&player->activities);
    lp_vector_clear(&player->late);
    lp_vector_clear(&player->graphs);
    lp_fake_script_clear(&player->script);
    free(player);
}

static int read_script(struct player *player, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    int status = lp_file_read(path, &bytes, &size);

    if (status == 0)
        status = lp_fake_script_read(&player->script, path, bytes, size);
    free(bytes);
    return status;
}

int lp_device_open_fake(const struct lp_device_options *options,
                        struct lp_device_source **source_out)
{
    static const struct lp_device_ops ops = {
        "fake",     false,           lp_finite_start,   lp_finite_nothing,
        NULL,       lp_finite_flush, lp_finite_nothing, deliver,
        read_stats, close_player
    };
    struct player *player;
    int status;

    if (!options->path)
        return lp_fake_live_open(options, source_out);
    player = calloc(1, sizeof(*player));
    if (!player)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    player->head.ops = &ops;
    player->head.names = options->names;
    player->memory_activities = options->memory_activities;
    player->graph_level = options->graph_level;
    player->now_ns = CLOCK_START;
    player->fault_every = 1;
    player->random = UINT64_C(0x9e3779b97f4a7c15);
    status = read_script(player, options->path);
    if (status < 0)
        close_player(&player->head);
    else
        *source_out = &player->head;
    return status;
}
