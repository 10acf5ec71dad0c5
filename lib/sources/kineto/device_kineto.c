/* SPDX-License-Identifier: Apache-2.0 */
/* The device source of a trace. The whole file is read when it is opened; its facts are delivered
 * in the order of time, with the launches and regions of a round before its activities. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/device/device.h"
#include "lib/record/paths.h"
#include "lib/record/range_rules.h"
#include "lib/sources/kineto/events.h"
#include "lib/sources/kineto/origin.h"
#include "llmperf/region.h"

#define FACTS_A_CALL 16384
#define BATCH        512u /* activities, as of other sources */
#define SECOND_NS    INT64_C(1000000000)
#define YEAR_2000_NS INT64_C(946684800000000000)
#define LATEST_NS    (INT64_C(1) << 62)

struct open_region {
    uint64_t event;
    uint32_t node; /* LP_PATH_UNKNOWN: it is no region */
    bool edge;     /* ended by an event of its own */
};

struct thread {
    LP_VECTOR(struct open_region) open; /* outermost first */
    LP_VECTOR(struct lp_record) records;
    uint64_t launch; /* correlation of the last one */
    bool capturing;
};

struct kineto {
    struct lp_device_source head;
    struct lp_kineto_events events;
    struct lp_kineto_origin origin;
    char *env;
    LP_VECTOR(struct thread) threads;
    LP_VECTOR(struct lp_activity) activities;
    LP_VECTOR(struct lp_range_work) works; /* by word: what its rule says */
    struct lp_hashmap nodes;               /* parent and word -> path */
    struct lp_hashmap captures;            /* graph node -> path that captured it */
    struct lp_hashmap launches;            /* correlation -> a shorter one, if some are long */
    int64_t offset_ns;                     /* from times of the file to those of records */
};

static uint64_t record_time(const struct kineto *kineto, int64_t time_ns)
{
    return (uint64_t)time_ns + (uint64_t)kineto->offset_ns;
}

/* What is of no region is left out. */
static int add_record(struct kineto *kineto, struct thread *thread, int64_t time_ns, uint16_t kind,
                      uint16_t detail, uint32_t node, uint64_t value)
{
    const struct lp_record record = { record_time(kineto, time_ns), value, node, kind, detail };

    return node == LP_PATH_UNKNOWN ? 0 : lp_vector_push(&thread->records, record);
}

static uint32_t innermost(const struct thread *thread)
{
    for (size_t i = thread->open.count; i-- > 0;)
        if (thread->open.items[i].node != LP_PATH_UNKNOWN)
            return thread->open.items[i].node;
    return LP_PATH_ROOT;
}

/* LP_PATH_UNKNOWN: it is no region, or out of memory. */
static uint32_t make_node(struct kineto *kineto, uint32_t parent, uint32_t word)
{
    const char *label = lp_names_text(&kineto->events.words, word);
    struct lp_range_work *work;
    struct lp_range range;

    if (!lp_range_find_label(label, &range))
        return lp_path_intern(parent, label);
    if (!(work = lp_vector_at(&kineto->works, word)))
        return LP_PATH_UNKNOWN;
    *work = range.work;
    return lp_range_is_part(&range, parent) ? LP_PATH_UNKNOWN : lp_range_intern(&range, parent);
}

static uint32_t find_node(struct kineto *kineto, uint32_t parent, uint32_t word)
{
    uint32_t node = lp_hashmap_get(&kineto->nodes, parent, word);

    if (node != LP_HASHMAP_NONE || word == LP_KINETO_NO_REGION ||
        lp_path_get(parent)->depth >= LLMPERF_REGION_DEPTH)
        return node;
    node = make_node(kineto, parent, word);
    return node == LP_PATH_UNKNOWN || lp_hashmap_put(&kineto->nodes, parent, word, node) < 0
               ? LP_PATH_UNKNOWN
               : node;
}

static int close_top(struct kineto *kineto, struct thread *thread, int64_t time_ns, uint16_t how)
{
    const struct open_region *top = &thread->open.items[--thread->open.count];

    return add_record(kineto, thread, time_ns, LP_RECORD_REGION_END, how, top->node, 0);
}

/* Position above the region of an event, or the innermost one with an edge; 0: it is not open. */
static size_t find_open(const struct thread *thread, uint64_t event, bool edge)
{
    size_t at = thread->open.count;

    while (at > 0 &&
           (edge ? !thread->open.items[at - 1].edge : thread->open.items[at - 1].event != event))
        at--;
    return at;
}

/* Regions inside that are still open end with it. */
static int end_region(struct kineto *kineto, struct thread *thread,
                      const struct lp_kineto_fact *fact)
{
    size_t at = find_open(thread, fact->event, fact->length_ns == UINT64_MAX);
    int status = 0;

    while (at > 0 && thread->open.count > at && status == 0)
        status = close_top(kineto, thread, fact->time_ns, LP_END_DROPPED);
    return at > 0 && status == 0 ? close_top(kineto, thread, fact->time_ns, LP_END_NOW) : status;
}

/* What the name of a region says of its work. */
static int add_work(struct kineto *kineto, struct thread *thread, int64_t time_ns, uint32_t node,
                    uint32_t word)
{
    const struct lp_range_work *work =
        word < kineto->works.count ? &kineto->works.items[word] : NULL;
    int status = 0;

    for (uint32_t i = 0; work && i < work->count && status == 0; i++)
        status = add_record(kineto, thread, time_ns, LP_RECORD_COUNT, (uint16_t)work->quantities[i],
                            node, work->amounts[i]);
    return status;
}

static int begin_region(struct kineto *kineto, struct thread *thread,
                        const struct lp_kineto_fact *fact)
{
    uint32_t node = find_node(kineto, innermost(thread), fact->name);
    struct open_region region = { fact->event, node, fact->length_ns == UINT64_MAX };

    if (lp_vector_push(&thread->open, region) < 0 ||
        add_record(kineto, thread, fact->time_ns, LP_RECORD_REGION_BEGIN, LP_BEGIN_NOW, node, 0) <
            0 ||
        add_work(kineto, thread, fact->time_ns, node, fact->name) < 0)
        return LLMPERF_ENOMEM;
    return fact->length_ns == 0 ? close_top(kineto, thread, fact->time_ns, LP_END_NOW) : 0;
}

static int count_work(struct kineto *kineto, struct thread *thread,
                      const struct lp_kineto_fact *fact)
{
    size_t at = find_open(thread, fact->event, false);

    return at == 0 ? 0
                   : add_record(kineto, thread, fact->time_ns, LP_RECORD_COUNT,
                                (uint16_t)fact->name, thread->open.items[at - 1].node, fact->value);
}

/* Traces of several processes that were joined have ids of each: launches are numbered again.
 * LP_CORRELATION_NONE: the launch is not in the trace. */
static uint32_t correlation_of(struct kineto *kineto, const struct lp_kineto_fact *fact)
{
    uint32_t number;

    if (!kineto->events.wide)
        return (uint32_t)fact->correlation;
    number = lp_hashmap_get(&kineto->launches, fact->correlation, 0);
    if (number != LP_HASHMAP_NONE || fact->kind != LP_KINETO_LAUNCH)
        return number == LP_HASHMAP_NONE ? LP_CORRELATION_NONE : number;
    number = (uint32_t)kineto->launches.count + 1;
    return lp_hashmap_put(&kineto->launches, fact->correlation, 0, number) < 0 ? LP_CORRELATION_NONE
                                                                               : number;
}

/* A call of the runtime may contain one of the driver with the same id. */
static int add_launch(struct kineto *kineto, struct thread *thread,
                      const struct lp_kineto_fact *fact)
{
    uint32_t correlation = correlation_of(kineto, fact);
    int status;

    if (thread->capturing || fact->correlation == thread->launch)
        return 0;
    thread->launch = fact->correlation;
    status = add_record(kineto, thread, fact->time_ns, LP_RECORD_LAUNCH, (uint16_t)fact->value,
                        innermost(thread), correlation);
    return status < 0 || fact->length_ns == 0
               ? status
               : add_record(kineto, thread, fact->time_ns + (int64_t)fact->length_ns,
                            LP_RECORD_LAUNCH_END, 0, LP_PATH_ROOT, correlation);
}

static void send(struct kineto *kineto, const struct lp_device_sink *sink)
{
    for (size_t i = 0; i < kineto->threads.count; i++) {
        struct thread *thread = &kineto->threads.items[i];

        if (thread->records.count > 0)
            sink->host(sink->context, (uint32_t)i, thread->records.items, thread->records.count);
        thread->records.count = 0;
    }
    for (size_t i = 0; i < kineto->activities.count; i += BATCH) {
        size_t left = kineto->activities.count - i;

        sink->activities(sink->context, &kineto->activities.items[i], left < BATCH ? left : BATCH);
    }
    kineto->activities.count = 0;
}

/* The path of a text such as "LLM@decode/LLM@mlp". */
static uint32_t find_path(struct kineto *kineto, uint32_t word)
{
    const char *text = lp_names_text(&kineto->events.words, word);
    uint32_t node = LP_PATH_ROOT;

    while (*text) {
        size_t length = strcspn(text, "/");
        char label[LLMPERF_LABEL_BYTES + 1];

        snprintf(label, sizeof(label), "%.*s", (int)length, text);
        node = lp_path_intern(node, label);
        text += length + (text[length] == '/');
    }
    return node;
}

/* The record of a node comes after the event that says where it was captured. */
static int note_capture(struct kineto *kineto, const struct lp_kineto_fact *fact,
                        const struct lp_device_sink *sink)
{
    uint64_t node = LP_GRAPH_NODE(fact->graph, LP_GRAPH_INDEX(fact->graph_node));
    uint32_t known = lp_hashmap_get(&kineto->captures, node, 0);
    const struct lp_graph_event event = { .node = node,
                                          .path = find_path(kineto, fact->captured),
                                          .kind = LP_GRAPH_NODE_CREATED };

    if (known == event.path)
        return 0;
    if (known != LP_HASHMAP_NONE)
        send(kineto, sink);
    sink->graphs(sink->context, &event, 1);
    return lp_hashmap_put(&kineto->captures, node, 0, event.path);
}

static int add_activity(struct kineto *kineto, const struct lp_kineto_fact *fact,
                        const struct lp_device_sink *sink)
{
    const struct lp_activity activity = {
        .start_ns = record_time(kineto, fact->time_ns),
        .end_ns = record_time(kineto, fact->time_ns) + fact->length_ns,
        .bytes = fact->value,
        .graph_node = fact->graph_node,
        .graph = fact->graph,
        .correlation = correlation_of(kineto, fact),
        .name = fact->name,
        .shape = fact->shape,
        .context = fact->context,
        .stream = fact->stream,
        .device = fact->device,
        .kind = fact->activity,
    };

    if (fact->graph && note_capture(kineto, fact, sink) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&kineto->activities, activity);
}

static int add_fact(struct kineto *kineto, const struct lp_kineto_fact *fact,
                    const struct lp_device_sink *sink)
{
    struct thread *thread = &kineto->threads.items[fact->thread];

    switch (fact->kind) {
    case LP_KINETO_CALL:
        return add_record(kineto, thread, fact->time_ns, LP_RECORD_HOST_CALL, (uint16_t)fact->name,
                          innermost(thread), fact->length_ns);
    case LP_KINETO_END:
        return end_region(kineto, thread, fact);
    case LP_KINETO_BEGIN:
        return begin_region(kineto, thread, fact);
    case LP_KINETO_COUNT:
        return count_work(kineto, thread, fact);
    case LP_KINETO_RANGE:
        return add_record(kineto, thread, fact->time_ns, LP_RECORD_RANGE, 0,
                          find_node(kineto, LP_PATH_ROOT, fact->name), fact->length_ns);
    case LP_KINETO_CAPTURE:
        thread->capturing = fact->value != 0;
        return 0;
    case LP_KINETO_LAUNCH:
        return add_launch(kineto, thread, fact);
    default:
        return add_activity(kineto, fact, sink);
    }
}

static int deliver(struct lp_device_source *source, const struct lp_device_sink *sink)
{
    struct kineto *kineto = (struct kineto *)(void *)source;
    struct lp_kineto_fact fact;
    int status = 1;

    for (int i = 0; i < FACTS_A_CALL && status > 0; i++)
        if ((status = lp_kineto_facts_next(&kineto->events.facts, &fact)) > 0 &&
            add_fact(kineto, &fact, sink) < 0)
            status = lp_out_of_memory();
    send(kineto, sink);
    return status;
}

/* Records have times since 1970 if those of the file are or can be made so. Other times begin with
 * a second: 0 is no time. */
static void choose_times(struct kineto *kineto)
{
    int64_t first_ns = kineto->events.first_ns, base_ns = (int64_t)kineto->origin.base_ns;
    struct lp_device_stats *stats = &kineto->events.stats;

    if (kineto->events.first_ns > kineto->events.last_ns)
        first_ns = kineto->events.last_ns = 0;
    if (first_ns < YEAR_2000_NS && base_ns > YEAR_2000_NS && base_ns < LATEST_NS / 2)
        kineto->offset_ns = base_ns;
    else if (first_ns < SECOND_NS)
        kineto->offset_ns = SECOND_NS - first_ns;
    stats->start_ns = record_time(kineto, first_ns);
    if (stats->start_ns > (uint64_t)YEAR_2000_NS)
        stats->start_utc_ns = stats->start_ns;
    stats->duration_ns = (uint64_t)kineto->events.last_ns - (uint64_t)first_ns;
}

static int read_pieces(struct kineto *kineto, struct lp_kineto_input *input)
{
    struct lp_kineto_piece piece;
    int status;

    while ((status = lp_kineto_input_next(input, &piece)) > 0)
        if (*piece.key)
            lp_kineto_origin_add(&kineto->origin, &piece);
        else if ((status = lp_kineto_event(&kineto->events, piece.text)) < 0)
            break;
    return status;
}

static int read_file(struct kineto *kineto, const char *path)
{
    struct lp_kineto_input input = { .fd = -1 };
    int status = lp_kineto_input_open(&input, path);

    if (status == 0 && (status = read_pieces(kineto, &input)) == 0 && kineto->events.count == 0)
        status = lp_error(LLMPERF_EFORMAT, "%s holds no events", path);
    kineto->events.stats.cut = input.cut;
    kineto->events.stats.records_incomplete += input.damaged;
    lp_kineto_input_close(&input);
    return status;
}

static int open_file(struct kineto *kineto, const char *path)
{
    int status = read_file(kineto, path);

    if (status < 0)
        return status;
    choose_times(kineto);
    kineto->env = lp_kineto_origin_json(&kineto->origin, kineto->events.program);
    kineto->head.recorded = kineto->env;
    if (!kineto->env || lp_vector_reserve(&kineto->threads, kineto->events.threads.count + 1) < 0)
        return lp_out_of_memory();
    kineto->threads.count = kineto->events.threads.count + 1;
    memset(kineto->threads.items, 0, kineto->threads.count * sizeof(*kineto->threads.items));
    return lp_kineto_facts_sort(&kineto->events.facts);
}

static void read_stats(const struct lp_device_source *source, struct lp_device_stats *stats)
{
    *stats = ((const struct kineto *)(const void *)source)->events.stats;
}

static void close_kineto(struct lp_device_source *source)
{
    struct kineto *kineto = (struct kineto *)(void *)source;

    for (size_t i = 0; i < kineto->threads.count; i++) {
        lp_vector_clear(&kineto->threads.items[i].open);
        lp_vector_clear(&kineto->threads.items[i].records);
    }
    lp_vector_clear(&kineto->threads);
    lp_vector_clear(&kineto->activities);
    lp_vector_clear(&kineto->works);
    lp_hashmap_clear(&kineto->nodes);
    lp_hashmap_clear(&kineto->captures);
    lp_hashmap_clear(&kineto->launches);
    lp_kineto_events_clear(&kineto->events);
    lp_kineto_origin_clear(&kineto->origin);
    free(kineto->env);
    free(kineto);
}

int lp_device_open_kineto(const struct lp_device_options *options,
                          struct lp_device_source **source_out)
{
    static const struct lp_device_ops ops = { "kineto",          false,   lp_finite_start,
                                              lp_finite_nothing, NULL,    lp_finite_flush,
                                              lp_finite_nothing, deliver, read_stats,
                                              close_kineto,      NULL };
    struct kineto *kineto = calloc(1, sizeof(*kineto));
    int status;

    if (!kineto)
        return lp_out_of_memory();
    kineto->head.ops = &ops;
    kineto->head.names = kineto->events.names = options->names;
    if ((status = open_file(kineto, options->path)) < 0)
        close_kineto(&kineto->head);
    else
        *source_out = &kineto->head;
    return status;
}
