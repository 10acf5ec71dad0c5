/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's subscription, callbacks and activity records without a GPU: the driver calls and the
 * device work are what the test says. Handles of graphs, executable graphs and nodes are their ids.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lib/cupti/symbols.h"
#include "tests/mock/called.h"
#include "tests/mock/cupti.h"

#define IDS      1024u
#define KINDS    64u
#define DURATION 1000u /* of a record, ns */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the buffer and what is counted */
#define NOT_COMPATIBLE 14                                /* CUPTI 13.0 with driver 580 */

static struct {
    lp_cupti_callback callback; /* NULL: nobody is subscribed */
    void *user;
    const char *holder; /* another profiler that has CUPTI; NULL: none */
    uint32_t version;
    _Atomic bool driver[IDS], resource[IDS], kinds[KINDS];
    lp_cupti_buffer_requested requested;
    lp_cupti_buffer_completed completed;
    lp_cupti_timestamp clock;
    uint8_t *bytes; /* the buffer that is being filled; NULL: none */
    size_t size, used, dropped;
    uint32_t correlation;
} state = { .version = 130000 };

/* What the library calls. */

int cuptiGetVersion(uint32_t *version);
int cuptiGetTimestamp(uint64_t *timestamp);
int cuptiSubscribe(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user);
int cuptiSubscribe_v2(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user,
                      struct lp_cupti_subscriber_parameters *parameters);
int cuptiUnsubscribe(lp_cupti_subscriber subscriber);
int cuptiFinalize(void);
int cuptiEnableCallback(uint32_t enable, lp_cupti_subscriber subscriber, uint32_t domain,
                        uint32_t id);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
int cuptiActivityRegisterCallbacks(lp_cupti_buffer_requested requested,
                                   lp_cupti_buffer_completed completed);
int cuptiActivityRegisterTimestampCallback(lp_cupti_timestamp function);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct lp_cupti_record **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiGetDeviceId(void *context, uint32_t *device);
int cuptiGetGraphId(void *graph, uint32_t *id);
int cuptiGetGraphExecId(void *exec, uint32_t *id);
int cuptiGetGraphNodeId(void *node, uint64_t *id);

int cuptiGetVersion(uint32_t *version)
{
    *version = state.version;
    return called("GetVersion");
}

int cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = state.clock ? state.clock() : 0;
    return called("GetTimestamp");
}

int cuptiSubscribe(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user)
{
    int result = called("Subscribe");

    if (result != LP_CUPTI_SUCCESS)
        return result;
    if (state.callback || state.holder)
        return LP_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
    state.callback = callback;
    state.user = user;
    *subscriber = (lp_cupti_subscriber)(void *)&state;
    return LP_CUPTI_SUCCESS;
}

int cuptiSubscribe_v2(lp_cupti_subscriber *subscriber, lp_cupti_callback callback, void *user,
                      struct lp_cupti_subscriber_parameters *parameters)
{
    if (state.holder)
        snprintf(parameters->holder, parameters->holder_size, "%s", state.holder);
    return cuptiSubscribe(subscriber, callback, user);
}

static void forget(void)
{
    state.callback = NULL;
    memset((void *)state.driver, 0, sizeof(state.driver));
    memset((void *)state.resource, 0, sizeof(state.resource));
}

int cuptiUnsubscribe(lp_cupti_subscriber subscriber)
{
    (void)subscriber;
    forget();
    return called("Unsubscribe");
}

/* Correlation ids begin anew. */
int cuptiFinalize(void)
{
    forget();
    memset((void *)state.kinds, 0, sizeof(state.kinds));
    state.correlation = 0;
    state.clock = NULL;
    return called("Finalize");
}

int cuptiEnableCallback(uint32_t enable, lp_cupti_subscriber subscriber, uint32_t domain,
                        uint32_t id)
{
    (void)subscriber;
    if (id < IDS)
        (domain == LP_CUPTI_DOMAIN_DRIVER_API ? state.driver : state.resource)[id] = enable != 0;
    return called("EnableCallback");
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
    (void)attribute;
    (void)size;
    (void)value;
    return called("ActivitySetAttribute");
}

int cuptiActivityRegisterCallbacks(lp_cupti_buffer_requested requested,
                                   lp_cupti_buffer_completed completed)
{
    state.requested = requested;
    state.completed = completed;
    return called("ActivityRegisterCallbacks");
}

int cuptiActivityRegisterTimestampCallback(lp_cupti_timestamp function)
{
    state.clock = function;
    return called("ActivityRegisterTimestampCallback");
}

static int switch_kind(const char *name, uint32_t kind, bool on)
{
    int result = called(name);

    if (result == LP_CUPTI_SUCCESS && kind < KINDS)
        state.kinds[kind] = on;
    return result;
}

int cuptiActivityEnable(uint32_t kind)
{
    return sampling_enabled() ? NOT_COMPATIBLE : switch_kind("ActivityEnable", kind, true);
}

int cuptiActivityDisable(uint32_t kind)
{
    return switch_kind("ActivityDisable", kind, false);
}

/* Under the lock. */
static void complete_buffer(void)
{
    if (state.bytes)
        state.completed(NULL, 0, state.bytes, state.size, state.used);
    state.bytes = NULL;
    state.used = 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    int result = called("ActivityFlushAll");

    (void)flag;
    pthread_mutex_lock(&lock);
    if (result == LP_CUPTI_SUCCESS)
        complete_buffer();
    pthread_mutex_unlock(&lock);
    return result;
}

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case LP_CUPTI_KIND_CONCURRENT_KERNEL:
        return sizeof(struct lp_cupti_kernel);
    case LP_CUPTI_KIND_MEMCPY:
        return sizeof(struct lp_cupti_memcpy);
    case LP_CUPTI_KIND_MEMCPY2:
        return sizeof(struct lp_cupti_memcpy2);
    case LP_CUPTI_KIND_MEMSET:
        return sizeof(struct lp_cupti_memset);
    default:
        return sizeof(struct lp_cupti_overhead); /* one of a graph is not larger */
    }
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct lp_cupti_record **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + size_of((*record)->kind) : buffer;

    if (next >= buffer + valid)
        return LP_CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (struct lp_cupti_record *)(void *)next;
    return (*record)->kind == 0 ? LP_CUPTI_ERROR_INVALID_KIND : LP_CUPTI_SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    pthread_mutex_lock(&lock);
    *dropped = state.dropped;
    state.dropped = 0;
    pthread_mutex_unlock(&lock);
    return called("ActivityGetNumDroppedRecords");
}

/* Contexts are the number of their device and 1. */
int cuptiGetDeviceId(void *context, uint32_t *device)
{
    *device = (uint32_t)(uintptr_t)context - 1;
    return called("GetDeviceId");
}

int cuptiGetGraphId(void *graph, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)graph;
    return LP_CUPTI_SUCCESS;
}

int cuptiGetGraphExecId(void *exec, uint32_t *id)
{
    return cuptiGetGraphId(exec, id);
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
    *id = (uint64_t)(uintptr_t)node;
    return LP_CUPTI_SUCCESS;
}

/* What the test does. */

static void put_record(uint32_t kind, const void *record)
{
    if (!state.kinds[kind % KINDS] && kind != 0)
        return;
    pthread_mutex_lock(&lock);
    if (state.bytes && state.used + size_of(kind) > state.size)
        complete_buffer();
    if (!state.bytes) {
        size_t most = 0;

        state.requested(&state.bytes, &state.size, &most);
    }
    if (state.bytes) {
        memcpy(state.bytes + state.used, record, size_of(kind));
        state.used += size_of(kind);
    } else {
        state.dropped++;
    }
    pthread_mutex_unlock(&lock);
}

/* One record of the work of a call. Fields that kinds share lie elsewhere in each. */
static void put_work(const struct mock_call *call, uint32_t correlation, uint32_t index)
{
    uint64_t start = state.clock(), end = start + DURATION;
    uint64_t node = call->node ? call->node + index : 0;
    uint32_t graph = (uint32_t)(node >> 32);
    union {
        struct lp_cupti_kernel kernel;
        struct lp_cupti_memcpy copy;
        struct lp_cupti_memcpy2 peer;
        struct lp_cupti_memset set;
        struct lp_cupti_graph_trace graph;
        struct lp_cupti_overhead overhead;
    } record;

    memset(&record, 0, sizeof(record));
#define FILL(member)                                                                               \
    record.member.kind = call->kind;                                                               \
    record.member.start = start;                                                                   \
    record.member.end = end
#define FILL_NODE(member)                                                                          \
    FILL(member);                                                                                  \
    record.member.correlation_id = correlation;                                                    \
    record.member.stream_id = 7;                                                                   \
    record.member.graph_node_id = node;                                                            \
    record.member.graph_id = graph
    switch (call->kind) {
    case LP_CUPTI_KIND_CONCURRENT_KERNEL:
        FILL_NODE(kernel);
        record.kernel.name = call->name;
        record.kernel.registers_per_thread = 32;
        record.kernel.grid[0] = 4;
        record.kernel.grid[1] = 2;
        record.kernel.grid[2] = 1;
        record.kernel.block[0] = 128;
        record.kernel.block[1] = record.kernel.block[2] = 1;
        record.kernel.static_shared_memory = 16;
        record.kernel.dynamic_shared_memory = 1024;
        break;
    case LP_CUPTI_KIND_MEMCPY:
        FILL_NODE(copy);
        record.copy.copy_kind = 1; /* host to device */
        record.copy.bytes = call->bytes;
        record.copy.source_kind = 1; /* pageable */
        record.copy.destination_kind = 3;
        break;
    case LP_CUPTI_KIND_MEMCPY2:
        FILL_NODE(peer);
        record.peer.copy_kind = 10; /* between devices */
        record.peer.bytes = call->bytes;
        record.peer.source_kind = record.peer.destination_kind = 3; /* device */
        record.peer.flags = 1;                                      /* asynchronous */
        break;
    case LP_CUPTI_KIND_MEMSET:
        FILL_NODE(set);
        record.set.bytes = call->bytes;
        record.set.memory_kind = 3;
        record.set.flags = 1;
        break;
    case LP_CUPTI_KIND_GRAPH_TRACE:
        FILL(graph);
        record.graph.correlation_id = correlation;
        record.graph.graph_id = graph;
        break;
    default:
        FILL(overhead);
    }
    put_record(call->kind, &record);
}

static void tell(const struct mock_call *call, uint32_t site, uint32_t correlation)
{
    int result = call->result;
    uint64_t data = 0;
    const struct lp_cupti_callback_data told = {
        .site = site,
        .function_name = "",
        .function_parameters = call->parameters,
        .function_return_value = &result,
        .symbol_name = call->name,
        .context = call->context,
        .correlation_data = &data,
        .correlation_id = correlation,
    };

    if (state.callback)
        state.callback(state.user, LP_CUPTI_DOMAIN_DRIVER_API, call->id, &told);
}

static void tell_resource(uint32_t id, const struct lp_cupti_graph_data *graph)
{
    struct lp_cupti_graph_data copy = graph ? *graph : (struct lp_cupti_graph_data){ 0 };
    const struct lp_cupti_resource_data told = { .context = &state, .descriptor = &copy };

    if (state.callback && id < IDS && state.resource[id])
        state.callback(state.user, LP_CUPTI_DOMAIN_RESOURCE, id, &told);
}

static void load(const void *cubin, size_t size)
{
    struct lp_cupti_module_data module = { 1, size, cubin };
    const struct lp_cupti_resource_data told = { .descriptor = &module };

    if (state.callback && state.resource[LP_CUPTI_RESOURCE_MODULE_LOADED])
        state.callback(state.user, LP_CUPTI_DOMAIN_RESOURCE, LP_CUPTI_RESOURCE_MODULE_LOADED,
                       &told);
}

/* As CUPTI does: at its enter it is settled whether a call brings records. */
static uint32_t make_call(const struct mock_call *call)
{
    uint32_t correlation, records;

    pthread_mutex_lock(&lock);
    correlation = ++state.correlation;
    pthread_mutex_unlock(&lock);
    if (state.driver[call->id])
        tell(call, LP_CUPTI_SITE_ENTER, correlation);
    records = call->result == 0 && state.kinds[call->kind] ? call->records : 0;
    for (uint32_t i = 0; i < call->resource_count; i++)
        tell_resource(call->resources[i].id, &call->resources[i].graph);
    for (uint32_t i = 0; i < records; i++)
        put_work(call, correlation, i);
    if (state.driver[call->id])
        tell(call, LP_CUPTI_SITE_EXIT, correlation);
    return correlation;
}

static void drop(size_t count)
{
    pthread_mutex_lock(&lock);
    state.dropped += count;
    pthread_mutex_unlock(&lock);
}

static void set_version(uint32_t version)
{
    state.version = version;
}

static void hold(const char *holder)
{
    state.holder = holder;
}

static bool is_on(uint32_t domain, uint32_t id)
{
    return domain == LP_CUPTI_DOMAIN_DRIVER_API ? state.driver[id]
           : domain == LP_CUPTI_DOMAIN_RESOURCE ? state.resource[id]
                                                : state.kinds[id];
}

mock_activity_get mock_activity;

const struct mock_activity *mock_activity(void)
{
    static const struct mock_activity mock = { make_call,   tell,       tell_resource,
                                               load,        put_record, drop,
                                               set_version, hold,       is_on };

    return &mock;
}

/* A subscription stays: the library keeps it. */
void reset_activity(void)
{
    state.version = 130000;
    state.holder = NULL;
    state.dropped = 0;
}
