/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's protobuf (https://perfetto.dev/docs/reference/trace-packet-proto): tracks for the
 * process, its threads, GPUs, their streams and counters; slices for regions and activities; flows
 * from each launch to its work. Each text is written once and then referred to by id. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/trace/formats.h"
#include "lib/trace/out_file.h"
#include "lib/trace/proto.h"
#include "lib/trace/words.h"
#include "llmperf/profile.h"

/* Field numbers */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, COUNTER_UNIT_NAME = 6 };
enum {
    EVENT_CATEGORY = 3,
    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_PLAIN_NAME = 23,
    EVENT_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};
enum {
    ARGUMENT_NAME = 1,
    ARGUMENT_BOOL = 2,
    ARGUMENT_NUMBER = 3,
    ARGUMENT_PLAIN_TEXT = 6,
    ARGUMENT_TEXT = 17 /* interned */
};
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ARGUMENT = 3, INTERNED_TEXT = 29 };
enum { TEXT_IID = 1, TEXT_TEXT = 2 };

/* Values. */
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };

enum category { CATEGORY_REGION = 1, CATEGORY_LAUNCH, CATEGORY_DEVICE, CATEGORY_REMARK };
static const char *const categories[] = { NULL, "region", "launch", "device", "llmperf" };

enum argument {
    ARG_REGION = 1,
    ARG_CAPTURED,
    ARG_KERNEL,
    ARG_CORRELATION,
    ARG_STREAM,
    ARG_CONTEXT,
    ARG_DEVICE,
    ARG_GRAPH,
    ARG_NODE,
    ARG_BYTES,
    ARG_GRID,
    ARG_BLOCK,
    ARG_REGISTERS,
    ARG_SHARED,
    ARG_SOURCE,
    ARG_DESTINATION,
    ARG_CALL,
    ARG_QUEUED,
    ARG_CALL_NS,
    ARG_DEVICE_LAUNCHED,
    ARG_BEFORE,
    ARG_TRUNCATED,
    ARG_QUANTITY /* followed by those of quantities */
};
static const char *const arguments[] = { NULL,
                                         "region",
                                         "captured in",
                                         "kernel",
                                         "correlation",
                                         "stream",
                                         "CUDA context",
                                         "device",
                                         "graph",
                                         "graph node",
                                         "bytes",
                                         "grid",
                                         "block",
                                         "registers per thread",
                                         "shared memory",
                                         "source",
                                         "destination",
                                         "call",
                                         "since launch ns",
                                         "launch call ns",
                                         "launched from device",
                                         "open before",
                                         "truncated" };

/* Texts have ids: separate ones for event names and for argument values. */
#define NAME_OF_KERNEL(name) (2 * (uint64_t)(name) + 2)
#define NAME_OF_LABEL(node)  (2 * (uint64_t)(node) + 3)
#define TEXT_OF_KERNEL(name) (4 * (uint64_t)(name) + 4)
#define TEXT_OF_PATH(node)   (4 * (uint64_t)(uint32_t)(node) + 5)
#define TEXT_OF_GRID(shape)  (4 * (uint64_t)(shape) + 6)
#define TEXT_OF_BLOCK(shape) (4 * (uint64_t)(shape) + 7)

enum track_kind {
    TRACK_OF_PROCESS = 1,
    TRACK_OF_THREAD,
    TRACK_OF_RANGES,
    TRACK_OF_GPU,
    TRACK_OF_STREAM,
    TRACK_OF_COUNTER
};

typedef LP_VECTOR(uint8_t) marks;

struct perfetto {
    struct lp_trace_writer head;
    struct lp_out_file out;
    struct lp_trace_words words;
    const struct lp_trace_facts *facts;
    uint32_t sequence; /* of this process; also part of track ids */
    struct lp_text trace, packet, event, interned, part; /* being written; empty between packets */
    marks written_names, written_texts;                  /* by number */
    marks threads, ranges, gpus;                         /* that have a track */
    struct lp_hashmap streams;                 /* (GPU or process, stream and lane) -> number */
    LP_VECTOR(const char *) units, quantities; /* by column of the counters */
    marks counters;                            /* written tracks, by device and column */
    bool failed;
};

static struct perfetto *of(struct lp_trace_writer *writer)
{
    return (struct perfetto *)(void *)writer;
}

/* Was this id written before? Marks it as written. */
static bool is_written(struct perfetto *perfetto, marks *written, uint64_t number)
{
    uint8_t *mark = lp_vector_at(written, number);
    bool before = !mark || *mark;

    perfetto->failed |= !mark;
    if (mark)
        *mark = 1;
    return before;
}

/* Packets */

static uint64_t uuid_of(const struct perfetto *perfetto, enum track_kind kind, uint32_t number)
{
    return (uint64_t)kind << 60 | (uint64_t)perfetto->sequence << 28 | number;
}

static void end_packet(struct perfetto *perfetto, uint32_t state)
{
    struct lp_text *packet = &perfetto->packet;

    if (perfetto->interned.length > 0)
        lp_proto_message(packet, PACKET_INTERNED, &perfetto->interned);
    lp_proto_number(packet, PACKET_SEQUENCE, perfetto->sequence);
    lp_proto_number(packet, PACKET_FLAGS, state);
    lp_proto_message(&perfetto->trace, TRACE_PACKET, packet);
    if (perfetto->trace.length > 65536)
        lp_out_file_write(&perfetto->out, &perfetto->trace);
}

static void intern(struct perfetto *perfetto, uint32_t field, uint64_t number, const char *text)
{
    lp_proto_number(&perfetto->part, TEXT_IID, number);
    lp_proto_string(&perfetto->part, TEXT_TEXT, text);
    lp_proto_message(&perfetto->interned, field, &perfetto->part);
}

static void write_words(struct perfetto *perfetto)
{
    for (uint32_t i = CATEGORY_REGION; i <= CATEGORY_REMARK; i++)
        intern(perfetto, INTERNED_CATEGORY, i, categories[i]);
    for (uint32_t i = ARG_REGION; i < ARG_QUANTITY; i++)
        intern(perfetto, INTERNED_ARGUMENT, i, arguments[i]);
    for (uint32_t i = 1; i < LP_TRACE_QUANTITIES; i++)
        intern(perfetto, INTERNED_ARGUMENT, ARG_QUANTITY + i, lp_trace_quantity(i));
    end_packet(perfetto, STATE_CLEARED);
}

/* Tracks */

static void begin_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent, const char *name)
{
    lp_proto_number(&perfetto->event, TRACK_UUID, uuid);
    if (parent)
        lp_proto_number(&perfetto->event, TRACK_PARENT, parent);
    if (name)
        lp_proto_string(&perfetto->event, TRACK_NAME, name);
}

static void end_track(struct perfetto *perfetto)
{
    lp_proto_message(&perfetto->packet, PACKET_TRACK, &perfetto->event);
    end_packet(perfetto, 0);
}

static void name_process(struct perfetto *perfetto)
{
    begin_track(perfetto, uuid_of(perfetto, TRACK_OF_PROCESS, 0), 0, NULL);
    lp_proto_number(&perfetto->part, PROCESS_PID, perfetto->facts->process_id);
    lp_proto_string(&perfetto->part, PROCESS_NAME, perfetto->facts->title);
    lp_proto_message(&perfetto->event, TRACK_PROCESS, &perfetto->part);
    end_track(perfetto);
}

static uint64_t thread_track(struct perfetto *perfetto, uint32_t thread)
{
    uint64_t uuid = uuid_of(perfetto, TRACK_OF_THREAD, thread);
    char name[32];

    if (is_written(perfetto, &perfetto->threads, thread))
        return uuid;
    snprintf(name, sizeof(name), "thread %u", thread);
    begin_track(perfetto, uuid, uuid_of(perfetto, TRACK_OF_PROCESS, 0), name);
    end_track(perfetto);
    return uuid;
}

static uint64_t gpu_track(struct perfetto *perfetto, uint32_t device)
{
    uint64_t uuid = uuid_of(perfetto, TRACK_OF_GPU, device);
    const struct lp_trace_gpu *gpu = lp_trace_find_gpu(perfetto->facts, device);
    char name[160];

    if (is_written(perfetto, &perfetto->gpus, device))
        return uuid;
    snprintf(name, sizeof(name), "GPU %u%s%s", device, gpu ? " " : "", gpu ? gpu->name : "");
    begin_track(perfetto, uuid, uuid_of(perfetto, TRACK_OF_PROCESS, 0), name);
    end_track(perfetto);
    return uuid;
}

static uint64_t stream_track(struct perfetto *perfetto, const struct lp_activity *activity,
                             uint32_t lane)
{
    uint64_t place = (uint64_t)activity->device << 32 | activity->context;
    uint64_t stream = (uint64_t)lane << 32 | activity->stream, gpu;
    uint32_t number = lp_hashmap_get(&perfetto->streams, place, stream);
    char name[64];

    if (number != LP_HASHMAP_NONE)
        return uuid_of(perfetto, TRACK_OF_STREAM, number);
    number = (uint32_t)perfetto->streams.count;
    if (lp_hashmap_put(&perfetto->streams, place, stream, number) < 0)
        perfetto->failed = true;
    lp_trace_stream_name(name, sizeof(name), activity, lane);
    gpu = gpu_track(perfetto, activity->device);
    begin_track(perfetto, uuid_of(perfetto, TRACK_OF_STREAM, number), gpu, name);
    end_track(perfetto);
    return uuid_of(perfetto, TRACK_OF_STREAM, number);
}

/* Event: arguments are written between begin and end. */

static void begin_event(struct perfetto *perfetto, uint32_t type, uint64_t track,
                        enum category category)
{
    lp_proto_number(&perfetto->event, EVENT_TYPE, type);
    lp_proto_number(&perfetto->event, EVENT_TRACK, track);
    if (category)
        lp_proto_number(&perfetto->event, EVENT_CATEGORY, category);
}

static void end_event(struct perfetto *perfetto, uint64_t time_ns)
{
    lp_proto_number(&perfetto->packet, PACKET_TIME, time_ns);
    lp_proto_message(&perfetto->packet, PACKET_EVENT, &perfetto->event);
    end_packet(perfetto, STATE_NEEDED);
}

static void add_argument(struct perfetto *perfetto, uint32_t argument, uint32_t kind,
                         uint64_t value)
{
    lp_proto_number(&perfetto->part, ARGUMENT_NAME, argument);
    lp_proto_number(&perfetto->part, kind, value);
    lp_proto_message(&perfetto->event, EVENT_ARGUMENT, &perfetto->part);
}

static void add_number(struct perfetto *perfetto, uint32_t argument, uint64_t value)
{
    add_argument(perfetto, argument, ARGUMENT_NUMBER, value);
}

static void add_path(struct perfetto *perfetto, uint32_t argument, uint32_t node)
{
    /* Id for "launch not seen": above all paths. */
    uint64_t number = node == LP_PATH_UNKNOWN ? TEXT_OF_PATH(LP_PATH_IDS) : TEXT_OF_PATH(node);

    if (node == LP_PATH_ROOT)
        return;
    if (!is_written(perfetto, &perfetto->written_texts, number))
        intern(perfetto, INTERNED_TEXT, number, lp_trace_path(&perfetto->words, node));
    add_argument(perfetto, argument, ARGUMENT_TEXT, number);
}

static void add_label(struct perfetto *perfetto, uint32_t node)
{
    if (!is_written(perfetto, &perfetto->written_names, NAME_OF_LABEL(node)))
        intern(perfetto, INTERNED_NAME, NAME_OF_LABEL(node), lp_path_get(node)->label);
    lp_proto_number(&perfetto->event, EVENT_NAME, NAME_OF_LABEL(node));
}

static void add_counts(struct perfetto *perfetto, const struct lp_trace_region *region)
{
    for (uint32_t i = 1; i < LP_TRACE_QUANTITIES; i++)
        if (region->counts[i])
            add_number(perfetto, ARG_QUANTITY + i, region->counts[i]);
    if (region->truncated)
        add_argument(perfetto, ARG_TRUNCATED, ARGUMENT_BOOL, 1);
}

static void put_region_begin(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    struct perfetto *perfetto = of(writer);
    uint64_t track = thread_track(perfetto, region->thread);

    begin_event(perfetto, TYPE_BEGIN, track, CATEGORY_REGION);
    add_label(perfetto, region->node);
    add_path(perfetto, ARG_REGION, region->node);
    if (region->before)
        add_argument(perfetto, ARG_BEFORE, ARGUMENT_BOOL, 1);
    end_event(perfetto, region->begin_ns);
}

static void put_region_end(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    struct perfetto *perfetto = of(writer);

    begin_event(perfetto, TYPE_END, thread_track(perfetto, region->thread), 0);
    add_counts(perfetto, region);
    end_event(perfetto, region->end_ns);
}

static uint64_t range_track(struct perfetto *perfetto, uint32_t lane)
{
    uint64_t uuid = uuid_of(perfetto, TRACK_OF_RANGES, lane);

    if (is_written(perfetto, &perfetto->ranges, lane))
        return uuid;
    begin_track(perfetto, uuid, uuid_of(perfetto, TRACK_OF_PROCESS, 0), "ranges");
    end_track(perfetto);
    return uuid;
}

static void put_range(struct lp_trace_writer *writer, const struct lp_trace_region *range,
                      uint32_t lane)
{
    struct perfetto *perfetto = of(writer);
    uint64_t track = range_track(perfetto, lane);

    begin_event(perfetto, TYPE_BEGIN, track, CATEGORY_REGION);
    add_label(perfetto, range->node);
    add_path(perfetto, ARG_REGION, range->node);
    end_event(perfetto, range->begin_ns);
    begin_event(perfetto, TYPE_END, track, 0);
    add_counts(perfetto, range);
    end_event(perfetto, range->end_ns);
}

/* Flow ids are reused when correlation ids wrap around, long after their end. */
static uint64_t flow_of(const struct perfetto *perfetto, uint32_t correlation)
{
    return (uint64_t)perfetto->sequence << 32 | correlation;
}

static void put_launch(struct lp_trace_writer *writer, const struct lp_trace_launch *launch)
{
    struct perfetto *perfetto = of(writer);
    uint64_t track = thread_track(perfetto, launch->thread);

    begin_event(perfetto, TYPE_INSTANT, track, CATEGORY_LAUNCH);
    lp_proto_string(&perfetto->event, EVENT_PLAIN_NAME, lp_trace_launch_word(launch->kind));
    lp_proto_fixed64(&perfetto->event, EVENT_FLOW, flow_of(perfetto, launch->correlation));
    add_number(perfetto, ARG_CORRELATION, launch->correlation);
    if (launch->graph)
        add_number(perfetto, ARG_GRAPH, launch->graph);
    end_event(perfetto, launch->time_ns);
}

/* Names of memcpy and memset have brackets already. */
static void add_name(struct perfetto *perfetto, const struct lp_activity *activity)
{
    uint64_t name = NAME_OF_KERNEL(activity->name), text = TEXT_OF_KERNEL(activity->name);

    if (!is_written(perfetto, &perfetto->written_names, name))
        intern(perfetto, INTERNED_NAME, name,
               lp_trace_brief_name(&perfetto->words, activity->name));
    lp_proto_number(&perfetto->event, EVENT_NAME, name);
    if (activity->kind != LLMPERF_ACTIVITY_KERNEL)
        return;
    if (!is_written(perfetto, &perfetto->written_texts, text))
        intern(perfetto, INTERNED_TEXT, text, lp_trace_full_name(&perfetto->words, activity->name));
    add_argument(perfetto, ARG_KERNEL, ARGUMENT_TEXT, text);
}

static void add_place(struct perfetto *perfetto, const struct lp_activity *activity)
{
    add_number(perfetto, ARG_DEVICE, activity->device);
    add_number(perfetto, ARG_CONTEXT, activity->context);
    add_number(perfetto, ARG_STREAM, activity->stream);
    if (activity->graph)
        add_number(perfetto, ARG_GRAPH, activity->graph);
    if (activity->graph_node)
        add_number(perfetto, ARG_NODE, activity->graph_node);
    if (activity->bytes)
        add_number(perfetto, ARG_BYTES, activity->bytes);
    if (activity->device_launched)
        add_argument(perfetto, ARG_DEVICE_LAUNCHED, ARGUMENT_BOOL, 1);
}

/* "16x8x1" */
static void add_extents(struct perfetto *perfetto, enum argument argument, uint64_t text,
                        const uint32_t *extents)
{
    char line[64];

    if (extents[0] == 0)
        return;
    snprintf(line, sizeof(line), "%ux%ux%u", extents[0], extents[1], extents[2]);
    if (!is_written(perfetto, &perfetto->written_texts, text))
        intern(perfetto, INTERNED_TEXT, text, line);
    add_argument(perfetto, argument, ARGUMENT_TEXT, text);
}

static void add_word(struct perfetto *perfetto, enum argument argument, const char *word)
{
    if (!word)
        return;
    lp_proto_number(&perfetto->part, ARGUMENT_NAME, argument);
    lp_proto_string(&perfetto->part, ARGUMENT_PLAIN_TEXT, word);
    lp_proto_message(&perfetto->event, EVENT_ARGUMENT, &perfetto->part);
}

static void add_shape(struct perfetto *perfetto, const struct lp_activity *activity)
{
    const struct lp_shape *shape = lp_shapes_get(&perfetto->words.names->shapes, activity->shape);

    if (!shape)
        return;
    add_extents(perfetto, ARG_GRID, TEXT_OF_GRID(activity->shape), shape->grid);
    add_extents(perfetto, ARG_BLOCK, TEXT_OF_BLOCK(activity->shape), shape->block);
    if (activity->kind == LLMPERF_ACTIVITY_KERNEL && shape->registers != LP_SHAPE_UNKNOWN)
        add_number(perfetto, ARG_REGISTERS, shape->registers);
    if (activity->kind == LLMPERF_ACTIVITY_KERNEL && lp_shape_shared(shape) != UINT64_MAX)
        add_number(perfetto, ARG_SHARED, lp_shape_shared(shape));
    add_word(perfetto, ARG_SOURCE, lp_memory_kind_name(shape->source));
    add_word(perfetto, ARG_DESTINATION, lp_memory_kind_name(shape->destination));
    add_word(perfetto, ARG_CALL, lp_copy_call_name(shape->call));
}

static void put_activity(struct lp_trace_writer *writer, const struct lp_activity *activity,
                         uint32_t lane, bool linked)
{
    struct perfetto *perfetto = of(writer);
    uint64_t track = stream_track(perfetto, activity, lane);

    begin_event(perfetto, TYPE_BEGIN, track, CATEGORY_DEVICE);
    add_name(perfetto, activity);
    add_path(perfetto, ARG_REGION, activity->node);
    if (activity->captured != LP_PATH_UNKNOWN)
        add_path(perfetto, ARG_CAPTURED, activity->captured);
    add_number(perfetto, ARG_CORRELATION, activity->correlation);
    if (activity->node != LP_PATH_UNKNOWN)
        add_number(perfetto, ARG_QUEUED, lp_queued_before(activity->start_ns, activity->queued));
    if (activity->call_ns)
        add_number(perfetto, ARG_CALL_NS, activity->call_ns);
    add_place(perfetto, activity);
    add_shape(perfetto, activity);
    if (linked)
        lp_proto_fixed64(&perfetto->event, EVENT_FLOW_END,
                         flow_of(perfetto, activity->correlation));
    end_event(perfetto, activity->start_ns);
    begin_event(perfetto, TYPE_END, track, 0);
    end_event(perfetto, activity->end_ns);
}

/* Counters */

static void put_plan(struct lp_trace_writer *writer, const struct lp_counter_plan *plan)
{
    struct perfetto *perfetto = of(writer);

    perfetto->quantities.count = perfetto->units.count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const char *quantity = lp_strings_add(&perfetto->words.pool, plan->columns[i].quantity);
        const char *unit = lp_strings_add(&perfetto->words.pool, plan->columns[i].unit);

        if (!quantity || !unit || lp_vector_push(&perfetto->quantities, quantity) < 0 ||
            lp_vector_push(&perfetto->units, unit) < 0)
            perfetto->failed = true;
    }
}

static uint64_t counter_track(struct perfetto *perfetto, uint32_t device, uint32_t column)
{
    uint32_t number = device << 12 | column;
    uint64_t uuid = uuid_of(perfetto, TRACK_OF_COUNTER, number), gpu;

    if (is_written(perfetto, &perfetto->counters, number))
        return uuid;
    gpu = gpu_track(perfetto, device);
    begin_track(perfetto, uuid, gpu, perfetto->quantities.items[column]);
    lp_proto_string(&perfetto->part, COUNTER_UNIT_NAME, perfetto->units.items[column]);
    lp_proto_message(&perfetto->event, TRACK_COUNTER, &perfetto->part);
    end_track(perfetto);
    return uuid;
}

static void put_sample(struct lp_trace_writer *writer, const struct lp_counter_fact *fact,
                       const double *values)
{
    struct perfetto *perfetto = of(writer);

    for (uint32_t i = 0; i < perfetto->units.count && !perfetto->failed; i++) {
        uint64_t track = counter_track(perfetto, fact->device, i);

        if (!isfinite(values[i]))
            continue;
        begin_event(perfetto, TYPE_COUNTER, track, 0);
        lp_proto_double(&perfetto->event, EVENT_VALUE, values[i]);
        end_event(perfetto, fact->start_ns);
    }
}

/* Whole file */

static void put_remark(struct lp_trace_writer *writer, uint64_t time_ns, const char *text)
{
    struct perfetto *perfetto = of(writer);

    begin_event(perfetto, TYPE_INSTANT, uuid_of(perfetto, TRACK_OF_PROCESS, 0), CATEGORY_REMARK);
    lp_proto_string(&perfetto->event, EVENT_PLAIN_NAME, text);
    end_event(perfetto, time_ns);
}

/* A new process writes its texts again. */
static void forget(struct perfetto *perfetto)
{
    lp_trace_words_clear(&perfetto->words);
    perfetto->written_names.count = perfetto->written_texts.count = 0;
    perfetto->threads.count = perfetto->ranges.count = perfetto->gpus.count = 0;
    perfetto->counters.count = perfetto->units.count = perfetto->quantities.count = 0;
    lp_hashmap_reset(&perfetto->streams);
}

static void put_facts(struct lp_trace_writer *writer, const struct lp_trace_facts *facts)
{
    struct perfetto *perfetto = of(writer);

    forget(perfetto);
    perfetto->facts = facts;
    perfetto->words.names = facts->names;
    /* Process ids have 22 bits. An id may occur twice if a process called exec(). Files of several
     * exports can be concatenated. */
    perfetto->sequence = facts->part << 22 | (facts->process_id & 0x3fffff);
    if (perfetto->sequence == 0)
        perfetto->sequence = UINT32_MAX;
    write_words(perfetto);
    name_process(perfetto);
}

static int finish(struct lp_trace_writer *writer)
{
    struct perfetto *perfetto = of(writer);

    lp_out_file_write(&perfetto->out, &perfetto->trace);
    if (perfetto->failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return lp_out_file_finish(&perfetto->out);
}

static void free_writer(struct lp_trace_writer *writer)
{
    struct perfetto *perfetto = of(writer);

    lp_out_file_close(&perfetto->out);
    lp_text_clear(&perfetto->trace);
    lp_text_clear(&perfetto->packet);
    lp_text_clear(&perfetto->event);
    lp_text_clear(&perfetto->interned);
    lp_text_clear(&perfetto->part);
    lp_vector_clear(&perfetto->written_names);
    lp_vector_clear(&perfetto->written_texts);
    lp_vector_clear(&perfetto->threads);
    lp_vector_clear(&perfetto->ranges);
    lp_vector_clear(&perfetto->gpus);
    lp_vector_clear(&perfetto->counters);
    lp_vector_clear(&perfetto->units);
    lp_vector_clear(&perfetto->quantities);
    lp_hashmap_clear(&perfetto->streams);
    lp_trace_words_clear(&perfetto->words);
    free(perfetto);
}

int lp_trace_open_perfetto(const char *path, struct lp_trace_writer **writer_out)
{
    static const struct lp_trace_writer_ops ops = { put_facts, put_region_begin, put_region_end,
                                                    put_range, put_launch,       put_activity,
                                                    put_plan,  put_sample,       put_remark,
                                                    finish,    free_writer };
    struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
    int status;

    if (!perfetto)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    perfetto->head.ops = &ops;
    if ((status = lp_out_file_open(&perfetto->out, path)) < 0)
        free_writer(&perfetto->head);
    else
        *writer_out = &perfetto->head;
    return status;
}
