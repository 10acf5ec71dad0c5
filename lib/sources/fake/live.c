/* SPDX-License-Identifier: Apache-2.0 */
/** The fake device for running threads. Launches come from test calls, or from rules of a script
 * for the program's regions. Each launch writes its record immediately to its thread's buffer; a
 * driver would do so later. The order is CUPTI's: a launch gets its id, is reported by a callback,
 * and then has a record or not. It is reported while records are disabled, too. */
#include <assert.h>
#include <fnmatch.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/device/buffers.h"
#include "lib/sources/fake/fake.h"
#include "lib/sources/fake/script.h"
#include "lib/device/launch_ids.h"
#include "lib/regions/region_hook.h"
#include "lib/regions/threads.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "lib/base/forked.h"
#include "lib/device/device.h"

#define BUFFER_BYTES ((size_t)65536)
#define STREAMS      256u /* streams with the same remainder share a queue */
#define CONTEXT      1u
#define GRAPHS       4u

struct fake_record {
    const char *name;
    uint64_t start_ns, end_ns;
    uint32_t correlation, stream;
    uint32_t graph, node; /* 0: not of a graph */
    uint64_t kind;        /* LLMPERF_ACTIVITY_… */
};
static_assert(sizeof(struct fake_record) == 48, "buffers are cut into records");

/* Slot of a thread for its buffer. Recycled together with the buffer when the thread ends, never
 * freed. */
struct slot {
    pthread_mutex_t lock; /* guards buffer and valid */
    struct lp_buffer *buffer;
    size_t valid;
    uint64_t end_ns;       /* end of the last operation in the buffer */
    size_t replay[GRAPHS]; /* position + 1 of its last replay in the buffer; 0: not in the buffer */
    struct slot *next, *next_free;
};

struct live_source {
    struct lp_device_source head;
    bool sampled, detached, memory_activities;
    struct lp_buffer *taken;
    uint64_t refused_before, nameless;
    struct lp_activity_batch batch;
};

/* Threads use all this until the process ends: static, never destroyed. */
static struct lp_buffer_pool pool;
static _Atomic bool reporting; /* launches are reported */
static _Atomic bool running;   /* launches have records */
static _Atomic bool copies;    /* memory operations are collected */
static _Atomic(lp_fake_pause) at_launch;
static _Atomic bool silent;
static _Atomic bool away; /* as if CUPTI were detached: nothing is reported, and ids start again */
static _Atomic bool busy; /* the device never becomes idle */
static _Atomic uint32_t joins;
static _Atomic uint32_t last_correlation;
static _Atomic uint64_t stream_free_ns[STREAMS];

static pthread_mutex_t slots_lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards the two lists; taken before a slot's lock */
static struct slot *all_slots, *free_slots;

/* Read by threads that open regions, until the process ends. */
static pthread_rwlock_t rules_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct lp_fake_script rules; /* guarded by rules_lock; no ops: no rules */

static __thread struct slot *own_slot;
static pthread_key_t exit_key;

static void leave_slot(void *state)
{
    struct slot *slot = state;

    own_slot = NULL;
    if (lp_capture_forked()) /* another thread may have held the lock at the fork */
        return;
    pthread_mutex_lock(&slots_lock);
    slot->next_free = free_slots;
    free_slots = slot;
    pthread_mutex_unlock(&slots_lock);
}

static void make_key(void)
{
    pthread_key_create(&exit_key, leave_slot);
}

static struct slot *make_slot(void)
{
    struct slot *slot = calloc(1, sizeof(*slot));

    if (!slot)
        return NULL;
    pthread_mutex_init(&slot->lock, NULL);
    slot->next = all_slots;
    all_slots = slot;
    return slot;
}

static struct slot *find_slot(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (own_slot)
        return own_slot;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&slots_lock);
    own_slot = free_slots;
    if (own_slot)
        free_slots = own_slot->next_free;
    else
        own_slot = make_slot();
    pthread_mutex_unlock(&slots_lock);
    if (own_slot)
        pthread_setspecific(exit_key, own_slot);
    return own_slot;
}

/* Under the slot's lock. */
static void complete_buffer(struct slot *slot)
{
    if (slot->buffer)
        lp_buffer_complete(&pool, slot->buffer, slot->valid);
    slot->buffer = NULL;
    slot->valid = 0;
    slot->end_ns = 0;
    memset(slot->replay, 0, sizeof(slot->replay));
}

/* Under the slot's lock. */
static void append_record(struct slot *slot, const struct fake_record *record)
{
    if (slot->buffer && slot->valid + sizeof(*record) > BUFFER_BYTES)
        complete_buffer(slot);
    if (!slot->buffer && !(slot->buffer = lp_buffer_get(&pool, false)))
        return; /* the pool counts refused buffers */
    memcpy(slot->buffer->bytes + slot->valid, record, sizeof(*record));
    slot->valid += sizeof(*record);
    if (record->end_ns > slot->end_ns)
        slot->end_ns = record->end_ns;
}

/* Kernels of a stream run one after the other. */
static uint64_t queue_on_stream(uint32_t stream, uint64_t duration_ns)
{
    _Atomic uint64_t *free_ns = &stream_free_ns[stream % STREAMS];
    uint64_t before =
        atomic_load_explicit(free_ns, memory_order_relaxed); /* only the word itself matters */
    uint64_t now_ns = lp_clock_now(), start_ns;

    do {
        start_ns = before > now_ns ? before : now_ns;
    } while (!atomic_compare_exchange_weak_explicit(free_ns, &before, start_ns + duration_ns,
                                                    memory_order_relaxed, memory_order_relaxed));
    return start_ns;
}

static uint32_t next_correlation(void)
{
    uint32_t id;

    do { /* relaxed: ids only have to differ */
        id = atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
    } while (id == LP_CORRELATION_NONE);
    return lp_launch_id_reported(id);
}

static void pause_at(enum lp_fake_moment moment)
{
    lp_fake_pause pause = atomic_load(&at_launch);

    if (pause)
        pause(moment);
}

void lp_fake_pause_at_launch(lp_fake_pause pause)
{
    atomic_store(&at_launch, pause);
}

/* What a driver's callbacks do around a call. 0: not reported. */
static uint32_t enter_call(enum lp_launch_kind kind, uint32_t graph)
{
    struct lp_thread *thread;
    uint32_t correlation;

    if (!atomic_load(&reporting) || lp_capture_forked())
        return LP_CORRELATION_NONE;
    correlation = next_correlation();
    pause_at(LP_FAKE_BEFORE_REPORT);
    if ((thread = lp_thread_get()))
        lp_thread_call_enter(thread);
    lp_thread_launch(kind, graph, correlation);
    pause_at(LP_FAKE_AFTER_REPORT);
    return correlation;
}

static void exit_call(void)
{
    if (lp_thread_self)
        lp_thread_call_exit(lp_thread_self);
}

static void run(const char *name, uint8_t kind, uint32_t stream, uint64_t duration_ns)
{
    bool kernel = kind == LLMPERF_ACTIVITY_KERNEL;
    struct fake_record record = { name, 0, 0, 0, stream, 0, 0, kind };
    struct slot *slot;

    if (!kernel && !atomic_load(&copies))
        return;
    record.correlation = enter_call(kernel ? LP_LAUNCH_KERNEL : LP_LAUNCH_MEMORY, 0);
    if (record.correlation == LP_CORRELATION_NONE)
        return;
    if (!lp_capture_forked() && (slot = find_slot())) {
        record.start_ns = queue_on_stream(stream, duration_ns);
        record.end_ns = record.start_ns + duration_ns;
        pthread_mutex_lock(&slot->lock);
        if (atomic_load(&running) && !atomic_load(&silent))
            append_record(slot, &record);
        pthread_mutex_unlock(&slot->lock);
    }
    exit_call();
}

void lp_fake_launch(const char *name, uint32_t stream, uint64_t duration_ns)
{
    run(name, LLMPERF_ACTIVITY_KERNEL, stream, duration_ns);
}

/* Statements of a rule. */
static void run_rule(size_t at, size_t end)
{
    for (; at < end; at++) {
        const struct lp_fake_op *op = &rules.ops.items[at];

        if (op->verb == LP_FAKE_LAUNCH)
            lp_fake_launch(rules.names.items[op->first_name], (uint32_t)op->values[LP_FAKE_STREAM],
                           op->values[LP_FAKE_DURATION]);
        if (op->verb != LP_FAKE_REPEAT)
            continue;
        for (uint64_t round = 0; round < op->number; round++)
            run_rule(at + 1, op->partner);
        at = op->partner;
    }
}

static void run_rules(uint32_t node)
{
    const char *label = lp_path_get(node)->label;

    if (lp_capture_forked()) /* another thread may have held the lock at the fork */
        return;
    pthread_rwlock_rdlock(&rules_lock);
    for (size_t at = 0; at < rules.ops.count; at = rules.ops.items[at].partner + 1)
        if (fnmatch(rules.names.items[rules.ops.items[at].first_name], label, 0) == 0)
            run_rule(at + 1, rules.ops.items[at].partner);
    pthread_rwlock_unlock(&rules_lock);
}

static const struct lp_region_hook rules_hook = { .opened = run_rules };

/* Remove only our own hook: counters have one, too. */
static void set_rules(struct lp_fake_script *script)
{
    const struct lp_region_hook *ours = &rules_hook, *none = NULL;
    struct lp_fake_script before;

    if (!script)
        atomic_compare_exchange_strong(&lp_region_hook, &ours, NULL);
    pthread_rwlock_wrlock(&rules_lock);
    before = rules;
    rules = script ? *script : (struct lp_fake_script){ .follows = false };
    pthread_rwlock_unlock(&rules_lock);
    lp_fake_script_clear(&before);
    if (script)
        atomic_compare_exchange_strong(&lp_region_hook, &none, &rules_hook);
}

void lp_fake_capture(void)
{
    uint32_t correlation = enter_call(LP_LAUNCH_KERNEL, 0);

    if (correlation == LP_CORRELATION_NONE)
        return;
    lp_thread_launch_cancelled(correlation);
    exit_call();
}

/* Under the slot's lock, with records enabled: a replay has its own records. */
static void record_replay(struct slot *slot, uint32_t correlation, uint32_t graph, size_t nodes,
                          uint32_t stream, uint64_t duration_ns)
{
    if (slot->valid + nodes * sizeof(struct fake_record) > BUFFER_BYTES)
        complete_buffer(slot);
    slot->replay[graph - 1] = slot->valid + 1;
    for (size_t i = 0; i < nodes; i++) {
        uint64_t start_ns = queue_on_stream(stream, duration_ns);
        struct fake_record record = {
            "node", start_ns, start_ns + duration_ns, correlation,
            stream, graph,    (uint32_t)i + 1,        LLMPERF_ACTIVITY_KERNEL
        };

        append_record(slot, &record);
    }
}

/* Under the slot's lock, with records disabled. As in CUPTI 13.0, end times go into the last
 * recorded replay, if it is still in the buffer. */
static void overwrite_replay(struct slot *slot, uint32_t graph, size_t nodes, uint32_t stream,
                             uint64_t duration_ns)
{
    size_t at = slot->replay[graph - 1];

    for (size_t i = 0; i < nodes; i++) {
        uint64_t end_ns = queue_on_stream(stream, duration_ns) + duration_ns;

        if (at > 0 && slot->buffer)
            memcpy(slot->buffer->bytes + at - 1 + i * sizeof(struct fake_record) +
                       offsetof(struct fake_record, end_ns),
                   &end_ns, sizeof(end_ns));
    }
}

void lp_fake_replay(uint32_t graph, size_t nodes, uint32_t stream, uint64_t duration_ns)
{
    struct slot *slot;
    uint32_t correlation;

    assert(graph >= 1 && graph <= GRAPHS && nodes * sizeof(struct fake_record) <= BUFFER_BYTES);
    correlation = enter_call(LP_LAUNCH_GRAPH, graph);
    if (lp_capture_forked() || !(slot = find_slot())) {
        exit_call();
        return;
    }
    pthread_mutex_lock(&slot->lock);
    if (correlation != LP_CORRELATION_NONE && atomic_load(&running))
        record_replay(slot, correlation, graph, nodes, stream, duration_ns);
    else
        overwrite_replay(slot, graph, nodes, stream, duration_ns);
    pthread_mutex_unlock(&slot->lock);
    exit_call();
}

void lp_fake_copy(uint32_t stream, uint64_t duration_ns)
{
    run("[memcpy HtoD]", LLMPERF_ACTIVITY_MEMCPY, stream, duration_ns);
}

void lp_fake_silence(bool on)
{
    atomic_store(&silent, on);
}

static int start(struct lp_device_source *head)
{
    const struct live_source *source = (const struct live_source *)(const void *)head;

    if (atomic_load(&away))
        return 0;
    atomic_store(&reporting, true);
    atomic_store(&copies, source->memory_activities && !source->sampled);
    atomic_store(&running, !source->sampled || source->detached);
    return 0;
}

static void pause_source(struct lp_device_source *head)
{
    (void)head;
    atomic_store(&running, false);
    atomic_store(&reporting, false);
}

static void collect(enum lp_collect what)
{
    assert(!atomic_load(&away) || what == LP_COLLECT_NOTHING);
    if (what == LP_COLLECT_LAUNCHES || what == LP_COLLECT_CALLS) /* these are always reported */
        return;
    atomic_store(&copies, what == LP_COLLECT_ALL);
    atomic_store(&running, what != LP_COLLECT_NOTHING);
}

static void flush(struct lp_device_source *head, bool force)
{
    uint64_t now_ns = lp_clock_now();

    (void)head;
    pthread_mutex_lock(&slots_lock);
    for (struct slot *slot = all_slots; slot; slot = slot->next) {
        pthread_mutex_lock(&slot->lock);
        if (force || slot->end_ns <= now_ns) /* a kernel is reported after its end */
            complete_buffer(slot);
        pthread_mutex_unlock(&slot->lock);
    }
    pthread_mutex_unlock(&slots_lock);
}

void lp_fake_busy(bool on)
{
    atomic_store(&busy, on);
}

uint32_t lp_fake_joins(void)
{
    return atomic_load(&joins);
}

static bool is_ready(void)
{
    return true;
}

static bool is_idle(void)
{
    for (uint32_t i = 0; i < STREAMS && !atomic_load(&busy); i++)
        while (atomic_load(&stream_free_ns[i]) > lp_clock_now())
            sched_yield();
    return !atomic_load(&busy);
}

static int leave(struct lp_device_source *head)
{
    (void)head;
    assert(!atomic_load(&away));
    if (lp_threads_in_call())
        return lp_error(LLMPERF_ESTATE, "a thread was inside a launch");
    atomic_store(&running, false);
    atomic_store(&reporting, false);
    atomic_store(&away, true);
    atomic_store(&last_correlation, 0);
    lp_launch_ids_renew();
    return 0;
}

static int join(struct lp_device_source *head)
{
    assert(atomic_load(&away));
    atomic_store(&away, false);
    atomic_fetch_add(&joins, 1);
    lp_threads_begin_calls();
    return start(head);
}

static void take(struct lp_device_source *head)
{
    struct live_source *source = (struct live_source *)(void *)head;

    if (!source->taken)
        source->taken = lp_buffer_take(&pool);
}

static void decode_record(struct live_source *source, const struct fake_record *record,
                          const struct lp_device_sink *sink)
{
    uint32_t name = lp_names_intern(source->head.names,
                                    record->name ? record->name : "[kernel without a name]");
    struct lp_activity *activity;

    if (name == LP_HASHMAP_NONE) {
        source->nameless++;
        return;
    }
    activity = lp_activity_batch_next(&source->batch, sink);
    activity->start_ns = record->start_ns;
    activity->end_ns = record->end_ns;
    activity->correlation = record->correlation;
    activity->name = name;
    activity->context = CONTEXT;
    activity->stream = record->stream;
    activity->graph = record->graph;
    activity->graph_node = record->graph ? LP_GRAPH_NODE(record->graph, record->node) : 0;
    activity->kind = (uint8_t)record->kind;
}

static int deliver(struct lp_device_source *head, const struct lp_device_sink *sink)
{
    struct live_source *source = (struct live_source *)(void *)head;

    while (source->taken) {
        struct lp_buffer *buffer = source->taken;

        source->taken = buffer->next;
        for (size_t at = 0; at < buffer->valid; at += sizeof(struct fake_record)) {
            struct fake_record record;

            memcpy(&record, buffer->bytes + at, sizeof(record));
            decode_record(source, &record, sink);
        }
        lp_buffer_recycle(&pool, buffer);
    }
    lp_activity_batch_send(&source->batch, sink);
    return 0;
}

static void read_stats(const struct lp_device_source *head, struct lp_device_stats *stats)
{
    const struct live_source *source = (const struct live_source *)(const void *)head;
    uint64_t refused = atomic_load(&pool.refused) - source->refused_before;

    *stats = (struct lp_device_stats){ .records_dropped = refused + source->nameless };
}

static void recycle_taken(struct live_source *source)
{
    struct lp_buffer *buffer;

    while ((buffer = source->taken)) {
        source->taken = buffer->next;
        lp_buffer_recycle(&pool, buffer);
    }
}

/* Discard records of threads that were not requested. The pool is not read afterwards while
 * `running` is off. */
static void discard(struct live_source *source)
{
    flush(&source->head, true);
    recycle_taken(source);
    take(&source->head);
    recycle_taken(source);
}

static void close_source(struct lp_device_source *head)
{
    pause_source(head);
    discard((struct live_source *)(void *)head);
    set_rules(NULL);
    free(head);
}

int lp_fake_live_open(const struct lp_device_options *options, struct lp_fake_script *script,
                      struct lp_device_source **source_out)
{
    static const struct lp_device_detach detach = { is_ready, is_idle, leave, join };
    static const struct lp_device_ops ops = { "fake",     true,         start,  pause_source,
                                              collect,    flush,        take,   deliver,
                                              read_stats, close_source, &detach };
    struct live_source *source = calloc(1, sizeof(*source));

    if (!source) {
        if (script)
            lp_fake_script_clear(script);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    source->head.ops = &ops;
    source->head.names = options->names;
    source->sampled = options->sampled;
    source->detached = options->detached;
    atomic_store(&away, false);
    atomic_store(&joins, 0);
    source->memory_activities = options->memory_activities;
    atomic_store(&running, false);
    discard(source);
    lp_buffer_pool_init(&pool, BUFFER_BYTES, options->pool_bytes);
    source->refused_before = atomic_load(&pool.refused);
    set_rules(script);
    *source_out = &source->head;
    return 0;
}
