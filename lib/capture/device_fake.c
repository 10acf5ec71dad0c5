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
#define NEVER_LAUNCHED    0x80000000u                  /* set in ids that no launch has */

struct fake_thread {
    uint32_t depth; /* may exceed LLMPERF_REGION_DEPTH, as in a real thread */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    LP_VECTOR(struct lp_record) records; /* of this call of deliver() */
    LP_VECTOR(struct lp_record) later;   /* launches for the next call */
};

struct player {
    struct lp_device_source head;
    bool memory_activities;
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

static int tell_launch(struct player *player, struct fake_thread *thread, uint16_t kind)
{
    if (player->correlation == NEVER_LAUNCHED - 1)
        return lp_error(LLMPERF_EFORMAT, "the script makes over %u launches; write smaller repeats",
                        NEVER_LAUNCHED - 1);
    return tell(player, thread, LP_RECORD_LAUNCH, kind, ++player->correlation);
}

static int launch_void(struct player *player, struct fake_thread *thread)
{
    int status = tell_launch(player, thread, LP_LAUNCH_KERNEL);

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
    uint8_t fault =
        player->fault != LP_FAKE_LATE_LAUNCH && strikes(player) ? player->fault : LP_FAKE_NONE;
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
    activity.correlation = player->correlation;
    activity.stream = (uint32_t)op->values[LP_FAKE_STREAM];
    activity.context = (uint32_t)op->values[LP_FAKE_CONTEXT];
    activity.device = (uint16_t)op->values[LP_FAKE_DEVICE];
    return report(player, &activity);
}

/* The launch is the last record of its thread; a struck one waits for the next call. */
static int postpone_launch(struct player *player, struct fake_thread *thread)
{
    if (player->fault != LP_FAKE_LATE_LAUNCH || !strikes(player))
        return 0;
    thread->records.count--;
    return lp_vector_push(&thread->later, thread->records.items[thread->records.count]);
}

static int launch(struct player *player, struct fake_thread *thread, uint16_t kind)
{
    int status = tell_launch(player, thread, kind);

    return status < 0 ? status : postpone_launch(player, thread);
}

static int launch_kernels(struct player *player, struct fake_thread *thread,
                          const struct lp_fake_op *op)
{
    bool graph = op->verb == LP_FAKE_GRAPH;
    struct lp_activity activity = { 0 };
    int status = launch(player, thread, graph ? LP_LAUNCH_GRAPH : LP_LAUNCH_KERNEL);

    activity.kind = LLMPERF_ACTIVITY_KERNEL;
    activity.graph = (uint32_t)op->values[LP_FAKE_GRAPH_ID];
    for (uint32_t i = 0; status == 0 && i < op->name_count; i++) {
        activity.graph_node = graph ? (uint64_t)activity.graph << 32 | (i + 1) : 0;
        status =
            run_on_device(player, op, activity, player->script.names.items[op->first_name + i]);
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
    status = launch(player, thread, LP_LAUNCH_MEMORY);
    return status < 0 ? status
                      : run_on_device(player, op, activity, set ? "[memset]" : names[op->choice]);
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
    case LP_FAKE_GRAPH:
        return launch_kernels(player, thread, op);
    case LP_FAKE_COPY:
    case LP_FAKE_SET:
        return launch_memory(player, thread, op);
    case LP_FAKE_LAUNCH_FAIL:
    case LP_FAKE_CAPTURE:
        return launch_void(player, thread);
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
        status = play_op(player);
    }
    return status;
}

/* What the last call kept back comes first. */
static int bring_later(struct player *player)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++) {
        struct fake_thread *thread = player->threads[i];

        if (!thread || thread->later.count == 0)
            continue;
        if (lp_vector_reserve(&thread->records, thread->later.count) < 0)
            return LLMPERF_ENOMEM;
        memcpy(thread->records.items, thread->later.items,
               thread->later.count * sizeof(*thread->later.items));
        thread->records.count = thread->later.count;
        thread->later.count = 0;
    }
    return 0;
}

static void send_host(struct player *player, const struct lp_device_sink *sink)
{
    for (uint32_t i = 0; i < LP_FAKE_THREADS; i++) {
        struct fake_thread *thread = player->threads[i];

        if (!thread || thread->records.count == 0)
            continue;
        sink->host(sink->context, i, thread->records.items, thread->records.count);
        thread->records.count = 0;
    }
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
        if (player->threads[i] && player->threads[i]->later.count > 0)
            return false;
    return player->at == player->script.ops.count;
}

static int deliver(struct lp_device_source *source, const struct lp_device_sink *sink)
{
    struct player *player = (struct player *)(void *)source;

    if (player->status == 0 && (player->status = bring_later(player)) == 0)
        player->status = play_some(player);
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
        lp_vector_clear(&player->threads[i]->later);
        free(player->threads[i]);
    }
    lp_hashmap_clear(&player->streams);
    lp_vector_clear(&player->free_ns);
    lp_vector_clear(&player->activities);
    lp_vector_clear(&player->late);
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
        "fake",  false,      lp_finite_start, lp_finite_nothing, lp_finite_flush, lp_finite_nothing,
        deliver, read_stats, close_player
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
