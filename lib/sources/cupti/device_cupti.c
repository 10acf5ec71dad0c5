/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs of this process through CUPTI, with one subscription and one set of callbacks for the life
 * of the process. Subscribing again resets correlation ids, and then CUPTI 13.0 gives wrong ids for
 * graph launches. So sessions only switch kinds and callbacks, unless they are configured to
 * release CUPTI. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/device/buffers.h"
#include "lib/sources/cupti/calls.h"
#include "lib/cupti/captures.h"
#include "lib/cupti/cubins.h"
#include "lib/cupti/cbids.h"
#include "lib/sources/cupti/client.h"
#include "lib/counters/counters.h"
#include "lib/sources/cupti/decode.h"
#include "lib/sources/cupti/graphs.h"
#include "lib/sources/cupti/memory.h"
#include "lib/cupti/symbols.h"
#include "lib/regions/first_use.h"
#include "lib/device/graph_log.h"
#include "lib/device/launch_ids.h"
#include "lib/regions/threads.h"
#include "lib/sources/cupti/cupti.h"
#include "lib/device/device.h"
#include "lib/device/driver.h"

/* Launches in progress whose enter was not reported are over after this time; with a record they
 * would have the id of an earlier launch. */
#define UNDER_WAY_US 1000

#define BUFFER_BYTES (UINT64_C(1) << 20) /* about 4,850 kernels */

/* Callbacks use all this until the process ends: static, never destroyed. */
static struct lp_buffer_pool pool;
static const struct lp_cupti *cupti;
static struct lp_cupti_client client;
static _Atomic bool gone;      /* we detached it, and no CUPTI function was called since */
static bool fresh = true;      /* the next subscription will be the first CUPTI call */
static bool kernels_always_on; /* since CUPTI was attached */
static _Atomic bool
    updates;             /* graphs are being updated, which is not seen while CUPTI is detached */
static bool exceed_pool; /* this CUPTI crashes on a NULL buffer, so buffers are never refused */
static uint8_t graph_calls[1024]; /* callback id -> enum lp_graph_call */

/* A launch or allocation during stream capture becomes a graph node: CUPTI reports the node between
 * enter and exit of the call, on the same thread. */
static __thread bool node_created;

static _Atomic bool host_calls_on; /* lengths of calls are recorded */
/* Begin of the call that is in progress on this thread; 0: its length is not recorded. */
static __thread uint64_t host_call_began;

struct cupti_source {
    struct lp_device_source head;
    bool memory_activities, graph_level, release, sampled, detached;
    struct lp_buffer *taken;
    struct lp_cupti_decoder decoder;
    uint64_t refused_before, dropped, errors;
};

static void begin_host_call(void)
{
    /* Relaxed: a call more or less at the edge of a session is acceptable. */
    host_call_began =
        atomic_load_explicit(&host_calls_on, memory_order_relaxed) && !lp_counters_calling()
            ? lp_clock_now()
            : 0;
}

static void end_host_call(uint32_t id)
{
    if (host_call_began != 0)
        lp_thread_host_call(lp_cupti_host_calls[id], host_call_began);
    host_call_began = 0;
}

static void on_launch(uint32_t id, const struct lp_cupti_callback_data *data)
{
    enum lp_launch_kind kind = (enum lp_launch_kind)lp_cupti_call_kinds[id];
    uint32_t correlation = lp_launch_id(data->correlation_id);

    if (data->site == LP_CUPTI_SITE_ENTER) {
        lp_cupti_call_enter(id);
        node_created = false;
        lp_note_use(&lp_first_launch);
        /* At enter, not at exit: the record of a short kernel may be read before the call
         * returns. */
        lp_thread_launch(kind,
                         kind == LP_LAUNCH_GRAPH && lp_thread_recording()
                             ? lp_cupti_launched_graph(cupti, data)
                             : 0,
                         lp_launch_id_reported(data->correlation_id));
        lp_counters_launch(kind, data->symbol_name, data->context, correlation);
        if (kind == LP_LAUNCH_MEMORY && lp_cupti_host_calls[id])
            begin_host_call();
        return;
    }
    if (node_created ||
        (data->function_return_value && *(const int *)data->function_return_value != 0)) {
        lp_thread_launch_cancelled(correlation);
        lp_counters_launch_cancelled(correlation);
    } else {
        lp_thread_launch_end(correlation);
    }
    node_created = false;
    if (kind == LP_LAUNCH_MEMORY && lp_cupti_host_calls[id])
        end_host_call(id);
    lp_cupti_call_exit(id);
}

static void on_resource(uint32_t id, const struct lp_cupti_resource_data *data)
{
    node_created = node_created || id == LP_CUPTI_RESOURCE_GRAPHNODE_CREATED;
    if (lp_cupti_graphs_known(cupti))
        lp_cupti_graph_resource(cupti, id, data);
}

static void on_graph_call(enum lp_graph_call call, const struct lp_cupti_callback_data *data)
{
    if (call == LP_GRAPH_CALL_UPDATE || call == LP_GRAPH_CALL_SET_CHILD)
        atomic_store_explicit(&updates, true, memory_order_relaxed);
    lp_cupti_graph_call(cupti, call, data);
}

/* Calls that launch nothing. */
static void on_call(uint32_t id, const struct lp_cupti_callback_data *data)
{
    bool timed = id < LP_CUPTI_CALL_IDS && lp_cupti_host_calls[id];
    bool enter = data->site == LP_CUPTI_SITE_ENTER;

    if (timed && enter && lp_cupti_call_switches(id))
        lp_cupti_call_enter(id);
    if (timed && enter) {
        node_created = false;
        begin_host_call();
    }
    if (timed && host_call_began != 0 && !node_created)
        lp_cupti_memory_call(cupti, id, data);
    if (id < sizeof(graph_calls) && graph_calls[id])
        on_graph_call((enum lp_graph_call)graph_calls[id], data);
    else if (!timed)
        lp_cupti_captures_call(id, data);
    if (timed && !enter)
        end_host_call(id);
    if (timed && !enter && lp_cupti_call_switches(id))
        lp_cupti_call_exit(id);
}

static void on_context(const struct lp_cupti_resource_data *data)
{
    lp_note_use(&lp_first_context);
    lp_counters_context(data->context);
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    (void)user;
    if (domain == LP_CUPTI_DOMAIN_DRIVER_API && id < LP_CUPTI_CALL_IDS && lp_cupti_call_kinds[id])
        on_launch(id, data);
    else if (domain == LP_CUPTI_DOMAIN_DRIVER_API)
        on_call(id, data);
    else if (domain == LP_CUPTI_DOMAIN_RESOURCE && id == LP_CUPTI_RESOURCE_CONTEXT_CREATED)
        on_context(data);
    else if (domain == LP_CUPTI_DOMAIN_RESOURCE && id == LP_CUPTI_RESOURCE_MODULE_LOADED)
        lp_cubins_loaded(data);
    else if (domain == LP_CUPTI_DOMAIN_RESOURCE)
        on_resource(id, data);
}

static void on_buffer_requested(uint8_t **bytes, size_t *size, size_t *max_records)
{
    struct lp_buffer *buffer = lp_buffer_get(&pool, exceed_pool);

    *bytes = buffer ? buffer->bytes : NULL;
    *size = buffer ? pool.buffer_bytes : 0;
    *max_records = 0;
}

static void on_buffer_completed(void *context, uint32_t stream, uint8_t *bytes, size_t size,
                                size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    if (bytes)
        lp_buffer_complete(&pool, lp_buffer_of(bytes), valid);
}

/* From the first session to the end of the process: graphs captured between sessions or in a pause
 * are launched later. */
static void watch_graphs(void)
{
#define GRAPH(call, number, function) graph_calls[number] = LP_GRAPH_CALL_##call;
    LP_CUPTI_GRAPH_CALLS(GRAPH)
#undef GRAPH
    for (size_t i = 0; lp_cupti_graph_resources[i]; i++)
        cupti->EnableCallback(1, client.subscriber, LP_CUPTI_DOMAIN_RESOURCE,
                              lp_cupti_graph_resources[i]);
    for (uint32_t id = 0; id < sizeof(graph_calls); id++)
        if (graph_calls[id])
            cupti->EnableCallback(1, client.subscriber, LP_CUPTI_DOMAIN_DRIVER_API, id);
}

static int subscribe(bool whole_only)
{
    char holder[LP_CUPTI_HOLDER_NAME_BYTES];
    bool comes = fresh; /* also if it is refused or released afterwards */
    int status;

    fresh = false;
    gone = false;
    if ((status = lp_cupti_subscribe(&client, cupti, whole_only, on_callback, holder,
                                     sizeof(holder))) < 0)
        return status;
    if ((status = lp_cupti_take_buffers(&client, on_buffer_requested, on_buffer_completed)) < 0) {
        lp_cupti_unsubscribe(&client);
        return status;
    }
    kernels_always_on = comes; /* only if none is launched before records are enabled */
    lp_cupti_calls_begin(&client);
    lp_cupti_captures_forget();
    watch_graphs();
    return 0;
}

/* Slim records do not support whole graphs and failed when switched often; with counters they have
 * not been tested. */
static int set_up_process(uint64_t pool_bytes, bool whole_only)
{
    int status = lp_cupti_load(&cupti);

    if (status < 0)
        return status;
    lp_buffer_pool_init(&pool, BUFFER_BYTES, pool_bytes);
    if (client.subscriber)
        return 0;
    exceed_pool = cupti->version < LP_CUPTI_VERSION_12_9;
    return subscribe(whole_only);
}

/* Rare enough to stay enabled between samples: the exit handler needs it. */
static void watch_contexts(uint32_t on)
{
    cupti->EnableCallback(on, client.subscriber, LP_CUPTI_DOMAIN_RESOURCE,
                          LP_CUPTI_RESOURCE_CONTEXT_CREATED);
}

/* A graph launched meanwhile is marked by CUPTI, and its next launch without CUPTI fails. */
static void kernels_off(void)
{
    kernels_always_on = false;
    lp_cupti_disable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL);
}

static const uint32_t memory_kinds[] = { LP_CUPTI_KIND_MEMCPY, LP_CUPTI_KIND_MEMCPY2,
                                         LP_CUPTI_KIND_MEMSET };

/* CUPTI (13.0) crashes if a graph that was instantiated while GRAPH_TRACE was disabled is launched
 * while it is enabled. So a process has one or the other, and once enabled it stays so. */
static enum { LEVEL_OPEN, LEVEL_NODES, LEVEL_GRAPHS } level;

static int choose_level(bool graphs)
{
    int wanted = graphs ? LEVEL_GRAPHS : LEVEL_NODES, result = LP_CUPTI_SUCCESS;

    if (level != LEVEL_OPEN && (int)level != wanted)
        return lp_error(LLMPERF_ESTATE,
                        "CUDA graphs were collected %s earlier in this process, and CUPTI cannot "
                        "switch within a process; restart the program to change it",
                        graphs ? "by node" : "as whole graphs");
    if (graphs && level == LEVEL_OPEN && lp_driver_has_context())
        return lp_error(LLMPERF_ESTATE,
                        "whole graphs can be collected only if collection starts before CUDA is "
                        "used (CUPTI crashes at the launch of an older graph); start the session "
                        "first, or collect graph nodes");
    if (graphs && client.slim)
        return lp_error(LLMPERF_ESTATE,
                        "CUPTI was attached in this process in slim mode, which does not record "
                        "whole graphs; restart the program with LLMPERF_CUPTI_RECORDS=whole");
    if (graphs && level == LEVEL_OPEN)
        result = lp_cupti_enable(&client, LP_CUPTI_KIND_GRAPH_TRACE);
    if (result != LP_CUPTI_SUCCESS)
        return lp_error(LLMPERF_ENOTSUP, "this CUPTI cannot record whole graphs: %s (%d)",
                        lp_cupti_text(cupti, result), result);
    level = graphs ? LEVEL_GRAPHS : LEVEL_NODES;
    return 0;
}

static uint32_t calls_of(const struct cupti_source *source)
{
    return LP_CUPTI_CALLS_LAUNCH |
           (source->memory_activities ? LP_CUPTI_CALLS_MEMORY | LP_CUPTI_CALLS_HOST : 0);
}

/* Callbacks are enabled first and disabled last: a record without a callback would have the
 * correlation id of the last launch with one. CUPTI decides after the enter callback whether a
 * launch has a record (13.0). Whether it counts is decided in that callback, by epoch or sampler.
 * So a launch that counts has its record if records stay enabled until the call is over. */
static int start(struct lp_device_source *head)
{
    struct cupti_source *source = (struct cupti_source *)(void *)head;
    bool calls_first = !source->sampled;
    int result;

    if (!client.subscriber) /* detached, will be attached again later */
        return 0;
    if ((result = choose_level(source->graph_level)) < 0)
        return result;
    if (calls_first)
        lp_cupti_calls_want(calls_of(source));
    atomic_store(&host_calls_on, calls_first && source->memory_activities);
    if (calls_first && lp_driver_has_context())
        usleep(UNDER_WAY_US);
    result = lp_cupti_enable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL);
    if (result != LP_CUPTI_SUCCESS) {
        lp_cupti_calls_want(0);
        return lp_error(LLMPERF_ENODEVICE, "CUPTI cannot record kernels: %s (%d)",
                        lp_cupti_text(cupti, result), result);
    }
    for (size_t i = 0;
         source->memory_activities && i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++)
        lp_cupti_enable(&client, memory_kinds[i]);
    lp_cupti_enable(&client, LP_CUPTI_KIND_OVERHEAD);
    if (source->detached) /* nothing may be launched without records, or a sample may lose one */
        lp_cupti_calls_want(LP_CUPTI_CALLS_LAUNCH);
    else if (source->sampled) /* it works; from here on the sampler switches */
        kernels_off();
    watch_contexts(1);
    return 0;
}

static void pause_source(struct lp_device_source *head)
{
    const struct cupti_source *source = (const struct cupti_source *)(const void *)head;

    if (!client.subscriber)
        return;
    watch_contexts(0);
    atomic_store(&host_calls_on, false);
    kernels_off();
    for (size_t i = 0;
         source->memory_activities && i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++)
        lp_cupti_disable(&client, memory_kinds[i]);
    lp_cupti_disable(&client, LP_CUPTI_KIND_OVERHEAD);
    lp_cupti_calls_want(0);
}

static _Atomic bool memory_on;

/* Rare: a triggered window. */
static void switch_memory(bool enable)
{
    if (atomic_exchange(&memory_on, enable) == enable)
        return;
    for (size_t i = 0; i < sizeof(memory_kinds) / sizeof(memory_kinds[0]); i++)
        (enable ? lp_cupti_enable : lp_cupti_disable)(&client, memory_kinds[i]);
}

static void collect(enum lp_collect what)
{
    if (!client.subscriber)
        return;
    if (what == LP_COLLECT_NOTHING) {
        kernels_off();
        switch_memory(false);
        lp_cupti_calls_want(0);
        return;
    }
    lp_cupti_calls_want(
        LP_CUPTI_CALLS_LAUNCH |
        (what == LP_COLLECT_CALLS || what == LP_COLLECT_ALL ? LP_CUPTI_CALLS_MEMORY : 0));
    if (what == LP_COLLECT_LAUNCHES || what == LP_COLLECT_CALLS)
        return;
    if (what == LP_COLLECT_ALL)
        switch_memory(true);
    lp_cupti_enable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL);
}

static void flush(struct lp_device_source *head, bool force)
{
    struct cupti_source *source = (struct cupti_source *)(void *)head;

    if (!client.subscriber)
        return;
    if (cupti->ActivityFlushAll(force ? LP_CUPTI_FLAG_FLUSH_FORCED : 0) != LP_CUPTI_SUCCESS)
        source->errors++;
    source->dropped += lp_cupti_dropped(&client);
}

static void *stopped_context; /* of the thread that waits at the safepoint */

static bool is_ready(void)
{
    return !lp_cupti_capturing() && lp_driver_only_context(&stopped_context);
}

static bool is_idle(void)
{
    return !lp_cupti_capturing() && lp_driver_idle(stopped_context);
}

static int leave(struct lp_device_source *head)
{
    (void)head;
    if (cupti->version < LP_CUPTI_VERSION_12_9)
        return lp_error(LLMPERF_ESTATE, "detaching is not known to be safe with CUPTI before 12.9");
    if (client.slim || !kernels_always_on)
        return lp_error(
            LLMPERF_ESTATE,
            "CUPTI was attached before this session, or its records were switched off in between");
    if (atomic_load(&updates))
        return lp_error(LLMPERF_ESTATE,
                        "the program updates CUDA graphs, and updates would be missed");
    if (lp_threads_in_call())
        return lp_error(LLMPERF_ESTATE, "a thread was inside a launch");
    watch_contexts(0);
    lp_cupti_calls_want(0);
    lp_cupti_disable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL);
    lp_cupti_disable(&client, LP_CUPTI_KIND_OVERHEAD);
    lp_cupti_finalize(&client);
    fresh = true;
    gone = true;
    lp_launch_ids_renew();
    return 0;
}

static int join(struct lp_device_source *head)
{
    int status = subscribe(true);

    if (status < 0)
        return status;
    lp_cupti_captures_watch(cupti, client.subscriber);
    if ((status = start(head)) < 0)
        lp_cupti_unsubscribe(&client); /* otherwise CUPTI would refuse the next subscription */
    return status;
}

static void take(struct lp_device_source *head)
{
    struct cupti_source *source = (struct cupti_source *)(void *)head;

    source->taken = lp_buffer_take(&pool);
}

static int deliver(struct lp_device_source *head, const struct lp_device_sink *sink)
{
    struct cupti_source *source = (struct cupti_source *)(void *)head;

    lp_graph_log_drain(sink);
    while (source->taken) {
        struct lp_buffer *buffer = source->taken;

        source->taken = buffer->next;
        if (client.subscriber) /* reading a leftover buffer would attach CUPTI, and it contains no
                                  work */
            lp_cupti_decode(&source->decoder, &client, buffer, sink);
        lp_buffer_recycle(&pool, buffer);
    }
    return 0;
}

static void read_stats(const struct lp_device_source *head, struct lp_device_stats *stats)
{
    const struct cupti_source *source = (const struct cupti_source *)(const void *)head;
    uint64_t refused = atomic_load(&pool.refused) - source->refused_before;

    /* A refused buffer makes CUPTI drop records and count them. We report the refusal only if CUPTI
     * did not count. */
    *stats = (struct lp_device_stats){
        .records_dropped = source->dropped ? source->dropped : refused,
        .records_incomplete = source->decoder.incomplete,
        .records_foreign = source->decoder.foreign,
        .errors = source->errors,
        .overhead_ns = source->decoder.overhead_ns,
        .has_overhead = true,
    };
}

static void close_source(struct lp_device_source *head)
{
    const struct cupti_source *source = (const struct cupti_source *)(const void *)head;

    if (source->release && client.subscriber) {
        lp_cupti_unsubscribe(&client);
        lp_graph_log_forget();
    }
    lp_graph_log_end();
    free(head);
}

/* Records of an earlier session in CUPTI are discarded. */
static void discard_leftovers(struct cupti_source *source)
{
    struct lp_buffer *buffer;

    cupti->ActivityFlushAll(0);
    for (source->taken = lp_buffer_take(&pool); (buffer = source->taken);
         lp_buffer_recycle(&pool, buffer))
        source->taken = buffer->next;
    flush(&source->head, false);
    source->dropped = source->errors = 0;
}

int lp_device_open_cupti(const struct lp_device_options *options,
                         struct lp_device_source **source_out)
{
    static const struct lp_device_detach detach = { is_ready, is_idle, leave, join };
    static const struct lp_device_ops ops = { "cupti",    true,         start,  pause_source,
                                              collect,    flush,        take,   deliver,
                                              read_stats, close_source, &detach };
    int status = set_up_process(
        options->pool_bytes, options->graph_level || options->watch_captures || options->sampled);
    struct cupti_source *source;

    if (status < 0)
        return status;
    source = calloc(1, sizeof(*source));
    if (!source)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    source->head.ops = &ops;
    source->head.names = options->names;
    source->head.cupti_version = cupti->version;
    snprintf(source->head.cupti_path, sizeof(source->head.cupti_path), "%s", cupti->path);
    source->memory_activities = options->memory_activities;
    source->graph_level = options->graph_level;
    source->release = options->release;
    if (options->watch_captures || options->detached)
        lp_cupti_captures_watch(cupti, client.subscriber);
    if (options->keep_cubins)
        lp_cubins_watch(cupti, client.subscriber);
    source->sampled = options->sampled;
    source->detached = options->detached;
    source->decoder.names = options->names;
    source->decoder.counters = options->watch_captures;
    source->refused_before = atomic_load(&pool.refused);
    discard_leftovers(source);
    lp_graph_log_begin();
    *source_out = &source->head;
    return 0;
}

int lp_cupti_probe(char *path, size_t path_size, uint32_t *version, char *holder,
                   size_t holder_size)
{
    int status = gone ? 0 : lp_cupti_load(&cupti); /* calling any of its functions attaches it */

    snprintf(path, path_size, "%s", status < 0 ? "" : cupti->path);
    *version = status < 0 ? 0 : cupti->version;
    snprintf(holder, holder_size, "%s", "");
    if (status < 0 || client.subscriber || gone)
        return status;
    fresh = false;
    status = lp_cupti_subscribe(&client, cupti, false, on_callback, holder, holder_size);
    if (status == 0)
        lp_cupti_unsubscribe(&client);
    return status;
}

#define PREWARM_POOL_BYTES (UINT64_C(256) << 20) /* each session sets its own */

int lp_cupti_prewarm(void)
{
    int status = set_up_process(PREWARM_POOL_BYTES, false), result;

    if (status < 0)
        return status;
    result = lp_cupti_enable(&client, LP_CUPTI_KIND_CONCURRENT_KERNEL);
    if (result != LP_CUPTI_SUCCESS)
        return lp_error(LLMPERF_ENODEVICE, "CUPTI cannot record kernels: %s (%d)",
                        lp_cupti_text(cupti, result), result);
    kernels_off();
    return 0;
}
