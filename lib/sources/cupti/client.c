/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/variable.h"
#include "lib/sources/cupti/client.h"

#define KINDS 64u /* above the kinds that we read */

/* Whole records */

#define OFFSET(record, field) (uint16_t) offsetof(struct lp_cupti_##record, field)
#define PLACES(record)                                                                             \
    [LP_CUPTI_FIELD_CORRELATION] = OFFSET(record, correlation_id),                                 \
    [LP_CUPTI_FIELD_DEVICE] = OFFSET(record, device_id),                                           \
    [LP_CUPTI_FIELD_CONTEXT] = OFFSET(record, context_id),                                         \
    [LP_CUPTI_FIELD_STREAM] = OFFSET(record, stream_id),                                           \
    [LP_CUPTI_FIELD_GRAPH] = OFFSET(record, graph_id),                                             \
    [LP_CUPTI_FIELD_START] = OFFSET(record, start), [LP_CUPTI_FIELD_END] = OFFSET(record, end)
#define COPY_PLACES(record)                                                                        \
    [LP_CUPTI_FIELD_SOURCE] = OFFSET(record, source_kind),                                         \
    [LP_CUPTI_FIELD_DESTINATION] = OFFSET(record, destination_kind),                               \
    [LP_CUPTI_FIELD_FLAGS] = OFFSET(record, flags)

static const struct lp_cupti_layout whole[KINDS] = {
    [LP_CUPTI_KIND_CONCURRENT_KERNEL] = { { PLACES(kernel),
                                            [LP_CUPTI_FIELD_GRAPH_NODE] =
                                                OFFSET(kernel, graph_node_id),
                                            [LP_CUPTI_FIELD_NAME] = OFFSET(kernel, name),
                                            [LP_CUPTI_FIELD_REGISTERS] =
                                                OFFSET(kernel, registers_per_thread),
                                            [LP_CUPTI_FIELD_GRID_X] = OFFSET(kernel, grid[0]),
                                            [LP_CUPTI_FIELD_GRID_Y] = OFFSET(kernel, grid[1]),
                                            [LP_CUPTI_FIELD_GRID_Z] = OFFSET(kernel, grid[2]),
                                            [LP_CUPTI_FIELD_BLOCK_X] = OFFSET(kernel, block[0]),
                                            [LP_CUPTI_FIELD_BLOCK_Y] = OFFSET(kernel, block[1]),
                                            [LP_CUPTI_FIELD_BLOCK_Z] = OFFSET(kernel, block[2]),
                                            [LP_CUPTI_FIELD_STATIC_SHARED] =
                                                OFFSET(kernel, static_shared_memory),
                                            [LP_CUPTI_FIELD_DYNAMIC_SHARED] =
                                                OFFSET(kernel, dynamic_shared_memory) } },
    [LP_CUPTI_KIND_MEMCPY] = { { PLACES(memcpy),
                                 [LP_CUPTI_FIELD_GRAPH_NODE] = OFFSET(memcpy, graph_node_id),
                                 [LP_CUPTI_FIELD_BYTES] = OFFSET(memcpy, bytes),
                                 [LP_CUPTI_FIELD_COPY_KIND] = OFFSET(memcpy, copy_kind),
                                 COPY_PLACES(memcpy) } },
    [LP_CUPTI_KIND_MEMCPY2] = { { PLACES(memcpy2),
                                  [LP_CUPTI_FIELD_GRAPH_NODE] = OFFSET(memcpy2, graph_node_id),
                                  [LP_CUPTI_FIELD_BYTES] = OFFSET(memcpy2, bytes),
                                  [LP_CUPTI_FIELD_COPY_KIND] = OFFSET(memcpy2, copy_kind),
                                  COPY_PLACES(memcpy2) } },
    [LP_CUPTI_KIND_MEMSET] = { { PLACES(memset),
                                 [LP_CUPTI_FIELD_GRAPH_NODE] = OFFSET(memset, graph_node_id),
                                 [LP_CUPTI_FIELD_BYTES] = OFFSET(memset, bytes),
                                 [LP_CUPTI_FIELD_DESTINATION] = OFFSET(memset, memory_kind),
                                 [LP_CUPTI_FIELD_FLAGS] = OFFSET(memset, flags) } },
    [LP_CUPTI_KIND_GRAPH_TRACE] = { { PLACES(graph_trace) } },
    [LP_CUPTI_KIND_OVERHEAD] = { { [LP_CUPTI_FIELD_START] = OFFSET(overhead, start),
                                   [LP_CUPTI_FIELD_END] = OFFSET(overhead, end) } },
};

/* Slim records */

static const uint8_t widths[LP_CUPTI_FIELDS] = {
    [LP_CUPTI_FIELD_CORRELATION] = 4,
    [LP_CUPTI_FIELD_DEVICE] = 4,
    [LP_CUPTI_FIELD_CONTEXT] = 4,
    [LP_CUPTI_FIELD_STREAM] = 4,
    [LP_CUPTI_FIELD_GRAPH] = 4,
    [LP_CUPTI_FIELD_START] = 8,
    [LP_CUPTI_FIELD_END] = 8,
    [LP_CUPTI_FIELD_GRAPH_NODE] = 8,
    [LP_CUPTI_FIELD_NAME] = 8,
    [LP_CUPTI_FIELD_BYTES] = 8,
    [LP_CUPTI_FIELD_COPY_KIND] = 1,
    [LP_CUPTI_FIELD_SOURCE] = 1,
    [LP_CUPTI_FIELD_DESTINATION] = 1,
    [LP_CUPTI_FIELD_FLAGS] = 1,
    [LP_CUPTI_FIELD_REGISTERS] = 2,
    [LP_CUPTI_FIELD_GRID_X] = 4,
    [LP_CUPTI_FIELD_GRID_Y] = 4,
    [LP_CUPTI_FIELD_GRID_Z] = 4,
    [LP_CUPTI_FIELD_BLOCK_X] = 4,
    [LP_CUPTI_FIELD_BLOCK_Y] = 4,
    [LP_CUPTI_FIELD_BLOCK_Z] = 4,
    [LP_CUPTI_FIELD_STATIC_SHARED] = 4,
    [LP_CUPTI_FIELD_DYNAMIC_SHARED] = 4,
};

/* CUPTI's number of each field, or 0 (the number of the kind, which is always there) for none. */
#define NUMBER(kind, field, number, name) [LP_CUPTI_KIND_##kind][LP_CUPTI_FIELD_##field] = (number),
static const uint8_t numbers[KINDS][LP_CUPTI_FIELDS] = { LP_CUPTI_SLIM_FIELDS(NUMBER) };
#undef NUMBER

/* Layouts that CUPTI reports with each buffer, read with the first records of each kind. */
static struct {
    _Atomic bool known;
    struct lp_cupti_layout layout;
} learned[KINDS];
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

static lp_cupti_buffer_requested requested_by_client;
static lp_cupti_buffer_completed completed_for_client;

static bool read_layout(const struct lp_cupti_record_layout *reported, const uint8_t *wanted,
                        struct lp_cupti_layout *layout)
{
    *layout = (struct lp_cupti_layout){ { 0 } };
    for (size_t field = 0; field < LP_CUPTI_FIELDS; field++) {
        const struct lp_cupti_field_layout *place = NULL;

        if (wanted[field] == 0)
            continue;
        for (size_t i = 0; !place && i < reported->field_count; i++)
            if (reported->fields[i].number == wanted[field])
                place = &reported->fields[i];
        /* Correlation ids are wider than in whole records; the lower half is used. */
        if (!place || place->size < widths[field] || place->offset > UINT16_MAX)
            return false;
        layout->at[field] = (uint16_t)place->offset;
    }
    return true;
}

static void learn(uint32_t kind, const struct lp_cupti_record_layout *reported)
{
    struct lp_cupti_layout layout;

    if (!read_layout(reported, numbers[kind], &layout)) {
        lp_log(LLMPERF_LOG_WARN, "CUPTI uses an unknown layout for records of kind %u", kind);
        return;
    }
    pthread_mutex_lock(&learning);
    if (!atomic_load(&learned[kind].known)) {
        learned[kind].layout = layout;
        atomic_store(&learned[kind].known, true);
    }
    pthread_mutex_unlock(&learning);
}

static void on_requested(uint8_t **bytes, size_t *size, size_t *max_records, void *info)
{
    (void)info;
    requested_by_client(bytes, size, max_records);
}

static void on_completed(uint8_t *bytes, size_t size, size_t valid,
                         const struct lp_cupti_completed_info *info)
{
    for (uint32_t kind = 0; info && info->layouts && kind < KINDS && kind < info->layout_count;
         kind++)
        if (info->layouts[kind] && !atomic_load(&learned[kind].known))
            learn(kind, info->layouts[kind]);
    completed_for_client(NULL, 0, bytes, size, valid);
}

/* CUPTI may keep pointers to it, so it is made once and constant afterwards. */
static struct {
    int fields[LP_CUPTI_FIELDS + 1]; /* the kind comes first */
    struct lp_cupti_activity_config config;
} selections[KINDS];

static void select_fields(void)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct lp_cupti_activity_config *config = &selections[kind].config;

        *config = (struct lp_cupti_activity_config){
            .struct_size = sizeof(*config),
            .fields = { sizeof(config->fields), 1, selections[kind].fields },
        };
        for (size_t field = 0; field < LP_CUPTI_FIELDS; field++)
            if (numbers[kind][field] != 0)
                selections[kind].fields[config->fields.count++] = numbers[kind][field];
    }
}

/* Subscription */

/* CUPTI 13.3 and 13.5 also provide slim records with a CUDA 13.0 driver, but there they stop after
 * being switched a few times. So they are used only on request. */
static bool wants_slim(const struct lp_cupti *cupti)
{
    const char *word = lp_variable("LLMPERF_CUPTI_RECORDS");

    if (word && (strcmp(word, "slim") == 0 || strcmp(word, "whole") == 0))
        return strcmp(word, "slim") == 0;
    if (word && *word)
        lp_log(LLMPERF_LOG_WARN,
               "LLMPERF_CUPTI_RECORDS=%s is unknown; use slim or whole. The default for this "
               "driver is used",
               word);
    return cupti->driver >= LP_CUPTI_SLIM_DRIVER;
}

static bool offers_slim(const struct lp_cupti *cupti)
{
    return wants_slim(cupti) && cupti->Subscribe_v2 && cupti->ActivityEnable_v2 &&
           cupti->ActivityDisable_v2 && cupti->ActivitySetAttribute_v2 &&
           cupti->ActivityRegisterCallbacks_v2 && cupti->ActivityGetNextRecord_v2 &&
           cupti->ActivityGetNumDroppedRecords_v2;
}

static bool subscribe_slim(struct lp_cupti_client *client, lp_cupti_callback callback)
{
    const struct lp_cupti *cupti = client->cupti;
    char holder[LP_CUPTI_HOLDER_NAME_BYTES] = "";
    struct lp_cupti_subscriber_parameters parameters = {
        .struct_size = LP_CUPTI_SHARED_PARAMETERS_BYTES,
        .name = "libllmperf",
        .holder = holder,
        .holder_size = sizeof(holder),
        .shared = 1,
    };
    uint8_t on = 1;
    size_t size = sizeof(on);
    int result = cupti->Subscribe_v2(&client->subscriber, callback, NULL, &parameters);

    if (result != LP_CUPTI_SUCCESS) {
        client->subscriber = NULL;
        return false;
    }
    result = cupti->ActivitySetAttribute_v2(client->subscriber, LP_CUPTI_ATTR_USER_DEFINED_RECORDS,
                                            &size, &on);
    if (result == LP_CUPTI_SUCCESS) {
        select_fields();
        lp_log(LLMPERF_LOG_DEBUG, "CUPTI delivers slim records; other profilers can use CUPTI too");
        return true;
    }
    lp_log(LLMPERF_LOG_DEBUG, "CUPTI delivers only whole records: %s (%d)",
           lp_cupti_text(cupti, result), result);
    lp_cupti_unsubscribe(client);
    return false;
}

int lp_cupti_subscribe(struct lp_cupti_client *client, const struct lp_cupti *cupti,
                       bool whole_only, lp_cupti_callback callback, char *holder,
                       size_t holder_size)
{
    char name[LP_CUPTI_HOLDER_NAME_BYTES] = "";
    struct lp_cupti_subscriber_parameters parameters = { .struct_size = LP_CUPTI_PARAMETERS_BYTES,
                                                         .name = "libllmperf",
                                                         .holder = name,
                                                         .holder_size = sizeof(name) };
    int result;

    client->cupti = cupti;
    client->slim = !whole_only && offers_slim(cupti) && subscribe_slim(client, callback);
    snprintf(holder, holder_size, "%s", "");
    if (client->slim)
        return 0;
    result = cupti->Subscribe_v2
                 ? cupti->Subscribe_v2(&client->subscriber, callback, NULL, &parameters)
                 : cupti->Subscribe(&client->subscriber, callback, NULL);
    if (result == LP_CUPTI_SUCCESS)
        return 0;
    name[sizeof(name) - 1] = '\0';
    snprintf(holder, holder_size, "%s", *name ? name : "another profiler");
    client->subscriber = NULL;
    if (result == LP_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS)
        return lp_error(LLMPERF_EBUSY,
                        "CUPTI is in use by %s in this process; stop it first (CUPTI supports one "
                        "profiler at a time)",
                        holder);
    return lp_error(LLMPERF_ENODEVICE, "CUPTI refused to start: %s (%d)",
                    lp_cupti_text(cupti, result), result);
}

void lp_cupti_unsubscribe(struct lp_cupti_client *client)
{
    client->cupti->Unsubscribe(client->subscriber);
    client->subscriber = NULL;
}

static bool timed; /* our clock is registered */

int lp_cupti_finalize(struct lp_cupti_client *client)
{
    client->subscriber = NULL;
    timed = false;
    return client->cupti->Finalize();
}

static uint64_t read_clock(void)
{
    return lp_clock_now();
}

/* Older CUPTI versions reject unknown attributes and behave like this anyway. Threads share
 * buffers: with one buffer per thread, the default of 13.0, enabling records crashes programs whose
 * threads are preempted during a launch (13.0, 13.5). */
static const struct {
    uint32_t number;
    uint8_t value;
} attributes[] = {
    { LP_CUPTI_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1 },
    { LP_CUPTI_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0 },
};

static void set_attributes(const struct lp_cupti_client *client)
{
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        uint8_t value = attributes[i].value;
        size_t size = sizeof(value);
        int result = client->slim
                         ? client->cupti->ActivitySetAttribute_v2(
                               client->subscriber, attributes[i].number, &size, &value)
                         : client->cupti->ActivitySetAttribute(attributes[i].number, &size, &value);

        if (result != LP_CUPTI_SUCCESS)
            lp_log(LLMPERF_LOG_DEBUG, "CUPTI cannot set attribute %u to %u: %s (%d)",
                   attributes[i].number, value, lp_cupti_text(client->cupti, result), result);
    }
}

/* Once while CUPTI is attached: registering the timestamp callback again damages a record each
 * time. Slim records do not support it. */
static int take_whole(const struct lp_cupti *cupti)
{
    if (!timed && (!cupti->ActivityRegisterTimestampCallback ||
                   cupti->ActivityRegisterTimestampCallback(read_clock) != LP_CUPTI_SUCCESS))
        return lp_error(LLMPERF_ENOTSUP,
                        "this CUPTI (%s) cannot use our clock; use CUPTI 11.8 or newer",
                        cupti->path);
    timed = true;
    return cupti->ActivityRegisterCallbacks(requested_by_client, completed_for_client);
}

static int take_slim(const struct lp_cupti_client *client)
{
    return client->cupti->ActivityRegisterCallbacks_v2(client->subscriber, on_requested,
                                                       on_completed);
}

int lp_cupti_take_buffers(struct lp_cupti_client *client, lp_cupti_buffer_requested requested,
                          lp_cupti_buffer_completed completed)
{
    int result;

    requested_by_client = requested;
    completed_for_client = completed;
    set_attributes(client);
    result = client->slim ? take_slim(client) : take_whole(client->cupti);
    if (result <= LP_CUPTI_SUCCESS) /* below: our own status */
        return result;
    return lp_error(LLMPERF_ENODEVICE, "CUPTI cannot deliver activity records: %s (%d)",
                    lp_cupti_text(client->cupti, result), result);
}

/* Records */

int lp_cupti_enable(const struct lp_cupti_client *client, uint32_t kind)
{
    return client->slim ? client->cupti->ActivityEnable_v2(client->subscriber, kind,
                                                           &selections[kind].config)
                        : client->cupti->ActivityEnable(kind);
}

int lp_cupti_disable(const struct lp_cupti_client *client, uint32_t kind)
{
    return client->slim ? client->cupti->ActivityDisable_v2(client->subscriber, kind, NULL)
                        : client->cupti->ActivityDisable(kind);
}

uint64_t lp_cupti_dropped(const struct lp_cupti_client *client)
{
    size_t dropped = 0;
    int result = client->slim ? client->cupti->ActivityGetNumDroppedRecords_v2(client->subscriber,
                                                                               NULL, 0, &dropped)
                              : client->cupti->ActivityGetNumDroppedRecords(NULL, 0, &dropped);

    return result == LP_CUPTI_SUCCESS ? dropped : 0;
}

int lp_cupti_next_record(const struct lp_cupti_client *client, uint8_t *bytes, size_t valid,
                         struct lp_cupti_record **record)
{
    return client->slim
               ? client->cupti->ActivityGetNextRecord_v2(client->subscriber, bytes, valid, record)
               : client->cupti->ActivityGetNextRecord(bytes, valid, record);
}

const struct lp_cupti_layout *lp_cupti_layout_of(const struct lp_cupti_client *client,
                                                 uint32_t kind)
{
    if (kind >= KINDS)
        return NULL;
    if (!client->slim)
        return &whole[kind];
    return atomic_load_explicit(&learned[kind].known, memory_order_acquire) ? &learned[kind].layout
                                                                            : NULL;
}

static uint64_t time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The closest of several attempts: the thread may be preempted between reading the two clocks. */
uint64_t lp_cupti_clock_shift(const struct lp_cupti_client *client)
{
    uint64_t best = UINT64_MAX, shift = 0;

    for (int i = 0; client->slim && i < 3; i++) {
        uint64_t before = lp_clock_now(), day = time_of_day(), after = lp_clock_now();

        if (after - before < best) {
            best = after - before;
            shift = before + (after - before) / 2 - day;
        }
    }
    return shift;
}
