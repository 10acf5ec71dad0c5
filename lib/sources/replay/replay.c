/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/strings.h"
#include "lib/base/text.h"
#include "lib/base/varint.h"
#include "lib/sources/replay/chunk_file.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"
#include "lib/record/paths.h"
#include "lib/sources/replay/replay_paths.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

#define CHUNKS_A_CALL 64
#define THREAD_LIMIT  1048576u /* at once, since thread states are dense */

struct replay {
    struct lp_device_source head;
    char *path, *origin;
    struct lp_chunk_file chunks;
    LP_VECTOR(uint32_t) names, shapes; /* recorded id -> id of this process */
    struct lp_replay_paths paths;      /* likewise */
    LP_VECTOR(uint32_t) last_shapes;   /* by recorded name: recorded shape that came last */
    struct lp_host_records records;
    LP_VECTOR(struct lp_graph_event) graphs;
    struct lp_device_stats stats;
    bool ended, behind_origin;
    uint8_t version;
    bool without_graphs; /* of a version without graph events; not reported yet */
    struct lp_activity_batch batch;
    struct lp_strings plan_texts;
    LP_VECTOR(struct lp_counter_heading) columns;
    LP_VECTOR(double) values;
    bool has_plan;
};

#define COLUMNS_MOST 4096u
#define SHAPE_SAME   UINT32_MAX /* that of the record of this name before */

static int damaged(const struct replay *replay, const char *what)
{
    return lp_error(LLMPERF_EFORMAT, "%s is damaged (%s near byte %" PRIu64 "); record it again",
                    replay->path, what, replay->chunks.at);
}

/* Length and bytes; NULL: not in the payload. */
static const char *read_bytes(struct lp_varint_reader *reader, size_t *length)
{
    const char *bytes;

    *length = (size_t)lp_varint_get(reader);
    if (reader->failed || *length > (size_t)(reader->end - reader->at))
        return NULL;
    bytes = (const char *)reader->at;
    reader->at += *length;
    return bytes;
}

/* May the node have children: is it in this recording, and not too deep? */
static bool is_parent(const struct replay *replay, uint64_t node)
{
    return node < replay->paths.nodes.count &&
           lp_path_get(replay->paths.nodes.items[node])->depth < LLMPERF_REGION_DEPTH;
}

/* NAMES and PATHS: both append to a table of ids. */
static int read_table(struct replay *replay, struct lp_varint_reader *reader, bool paths)
{
    uint64_t first = lp_varint_get(reader), count = lp_varint_get(reader);
    uint64_t known = paths ? replay->paths.nodes.count : replay->names.count;
    struct lp_text text = { NULL, 0, 0, false };
    int status = first == known ? 0 : damaged(replay, "a table with a gap");

    for (uint64_t i = 0; status == 0 && i < count; i++) {
        uint64_t parent = paths ? lp_varint_get(reader) : 0;
        size_t length;
        const char *bytes = read_bytes(reader, &length);
        uint32_t id;

        text.length = 0;
        lp_text_add(&text, bytes ? bytes : "", bytes ? length : 0);
        if (!bytes || (paths && first + i > LP_PATH_OTHER && !is_parent(replay, parent))) {
            status = damaged(replay, "a name");
        } else if (text.failed) {
            status = lp_out_of_memory();
        } else if (paths) {
            status = lp_replay_paths_add(&replay->paths, parent, text.bytes);
        } else {
            id = lp_names_intern(replay->head.names, text.bytes);
            status =
                id == LP_HASHMAP_NONE ? lp_out_of_memory() : lp_vector_push(&replay->names, id);
        }
    }
    lp_text_clear(&text);
    return status;
}

static uint32_t read_word(struct lp_varint_reader *reader)
{
    uint64_t value = lp_varint_get(reader);

    reader->failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

static void read_shape(struct lp_varint_reader *reader, struct lp_shape *shape)
{
    *shape = (struct lp_shape){ .registers = 0 };
    for (size_t i = 0; i < 3; i++) {
        shape->grid[i] = read_word(reader);
        shape->block[i] = read_word(reader);
    }
    shape->registers = read_word(reader);
    shape->static_shared = read_word(reader);
    shape->dynamic_shared = read_word(reader);
    shape->source = (uint8_t)read_word(reader);
    shape->destination = (uint8_t)read_word(reader);
    shape->call = (uint8_t)read_word(reader);
    reader->failed |= shape->source >= LP_MEMORY_KINDS || shape->destination >= LP_MEMORY_KINDS ||
                      shape->call > LP_COPY_CALL_ASYNC;
}

/* Their numbers begin with 1. */
static int read_shapes(struct replay *replay, struct lp_varint_reader *reader)
{
    uint64_t first = lp_varint_get(reader), count = lp_varint_get(reader);

    if (first != replay->shapes.count + 1 || first + count > LP_SHAPE_OTHER)
        return damaged(replay, "a table with a gap");
    for (uint64_t i = 0; i < count; i++) {
        struct lp_shape shape;
        uint32_t id;

        read_shape(reader, &shape);
        if (reader->failed)
            return damaged(replay, "a shape");
        id = lp_shapes_intern(&replay->head.names->shapes, &shape);
        if (id == LP_HASHMAP_NONE || lp_vector_push(&replay->shapes, id) < 0)
            return lp_out_of_memory();
    }
    return 0;
}

static int read_kinds(struct replay *replay, struct lp_varint_reader *reader)
{
    for (uint64_t left = lp_varint_get(reader); left > 0 && !reader->failed; left--) {
        uint64_t node = lp_varint_get(reader), kind = lp_varint_get(reader);

        if (node >= replay->paths.nodes.count ||
            (kind != LLMPERF_REGION_STAGE && kind != LLMPERF_REGION_OPERATOR))
            return damaged(replay, "a region kind");
        lp_path_set_kind(replay->paths.nodes.items[node], (uint32_t)kind);
    }
    return 0;
}

static bool is_record_kind(uint16_t kind)
{
    return kind >= LP_RECORD_REGION_BEGIN && kind <= LP_RECORD_MEMORY;
}

static bool is_activity_kind(uint8_t kind)
{
    return kind >= LLMPERF_ACTIVITY_KERNEL && kind <= LLMPERF_ACTIVITY_GRAPH;
}

static int read_host(struct replay *replay, struct lp_varint_reader *reader,
                     const struct lp_device_sink *sink)
{
    uint64_t thread = lp_varint_get(reader), count = lp_varint_get(reader);
    struct lp_varint_reader in = *reader; /* a local copy, to be kept in registers */
    struct lp_record record = { 0, 0, 0, 0, 0 };

    if (thread >= THREAD_LIMIT || count > (uint64_t)(reader->end - reader->at))
        return damaged(replay, "a thread");
    replay->records.count = 0;
    if (lp_vector_reserve(&replay->records, (size_t)count) < 0)
        return LLMPERF_ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t kind = lp_varint_get(&in);

        record.kind = kind & 15;
        record.detail = (uint16_t)(kind >> 4);
        record.time_ns += (uint64_t)lp_unzigzag(lp_varint_get(&in));
        record.node += (uint32_t)lp_unzigzag(lp_varint_get(&in));
        record.value += (uint64_t)lp_unzigzag(lp_varint_get(&in));
        if (in.failed || !is_record_kind(record.kind) ||
            (record.kind != LP_RECORD_REQUEST && record.node >= replay->paths.nodes.count))
            return damaged(replay, "a host record");
        if (lp_replay_paths_pass(&replay->paths, &record, &replay->records) < 0)
            return LLMPERF_ENOMEM;
    }
    *reader = in;
    sink->host(sink->context, (uint32_t)thread, replay->records.items, replay->records.count);
    return 0;
}

/* @param shapes  Whether records have them: then the name has a flag more beside it. */
static void read_activity(struct lp_varint_reader *reader, bool shapes,
                          struct lp_activity *activity)
{
    uint64_t word = lp_varint_get(reader), kind;

    activity->name = (uint32_t)(word >> (shapes ? 4 : 3));
    activity->start_ns += (uint64_t)lp_unzigzag(lp_varint_get(reader));
    activity->end_ns = activity->start_ns + (uint64_t)lp_unzigzag(lp_varint_get(reader));
    activity->correlation += (uint32_t)lp_unzigzag(lp_varint_get(reader));
    if (word & 4) {
        activity->device = (uint16_t)lp_varint_get(reader);
        activity->context = (uint32_t)lp_varint_get(reader);
        activity->stream = (uint32_t)lp_varint_get(reader);
    }
    kind = word & 2 ? lp_varint_get(reader) : LLMPERF_ACTIVITY_KERNEL << 1;
    activity->kind = (uint8_t)(kind >> 1);
    activity->device_launched = kind & 1;
    activity->bytes = word & 2 ? lp_varint_get(reader) : 0;
    activity->graph = word & 1 ? (uint32_t)lp_varint_get(reader) : 0;
    activity->graph_node = word & 1 ? lp_varint_get(reader) : 0;
    activity->shape = shapes && word & 8 ? read_word(reader) : SHAPE_SAME;
}

/* The recorded shape of a record, which is written where it differs from that of the record of
 * its name before. */
static int find_shape(struct replay *replay, const struct lp_activity *activity, uint32_t *id_out)
{
    uint32_t *last;

    while (replay->last_shapes.count <= activity->name)
        if (lp_vector_push(&replay->last_shapes, LP_SHAPE_NONE) < 0)
            return lp_out_of_memory();
    last = &replay->last_shapes.items[activity->name];
    if (activity->shape != SHAPE_SAME)
        *last = activity->shape;
    if (*last > replay->shapes.count && *last != LP_SHAPE_OTHER)
        return damaged(replay, "a shape");
    *id_out =
        *last == LP_SHAPE_NONE || *last == LP_SHAPE_OTHER ? *last : replay->shapes.items[*last - 1];
    return 0;
}

static int read_activities(struct replay *replay, struct lp_varint_reader *reader,
                           const struct lp_device_sink *sink)
{
    uint64_t count = lp_varint_get(reader);
    struct lp_varint_reader in = *reader; /* as in read_host() */
    struct lp_activity activity = { 0 };
    int status;

    for (uint64_t left = count; left > 0; left--) {
        struct lp_activity *mapped;

        read_activity(&in, replay->version >= 4, &activity);
        if (in.failed || activity.name >= replay->names.count || !is_activity_kind(activity.kind))
            return damaged(replay, "an activity");
        mapped = lp_activity_batch_room(&replay->batch, sink);
        *mapped = activity;
        mapped->name = replay->names.items[activity.name];
        if ((status = find_shape(replay, &activity, &mapped->shape)) < 0)
            return status;
    }
    *reader = in;
    lp_activity_batch_send(&replay->batch, sink);
    return 0;
}

static int read_graphs(struct replay *replay, struct lp_varint_reader *reader,
                       const struct lp_device_sink *sink)
{
    uint64_t count = lp_varint_get(reader);
    struct lp_graph_event event = { 0, 0, 0, 0, 0, 0 };

    if (count > (uint64_t)(reader->end - reader->at))
        return damaged(replay, "graph events");
    replay->graphs.count = 0;
    if (lp_vector_reserve(&replay->graphs, (size_t)count) < 0)
        return LLMPERF_ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t kind = lp_varint_get(reader);
        struct lp_graph_event *mapped = &replay->graphs.items[i];

        event.kind = kind & 15;
        event.detail = (uint32_t)(kind >> 4);
        event.node += (uint64_t)lp_unzigzag(lp_varint_get(reader));
        event.origin += (uint64_t)lp_unzigzag(lp_varint_get(reader));
        event.path += (uint32_t)lp_unzigzag(lp_varint_get(reader));
        event.correlation += (uint32_t)lp_unzigzag(lp_varint_get(reader));
        if (reader->failed || event.path >= replay->paths.nodes.count || event.kind == 0 ||
            event.kind > LP_GRAPH_EVENT_LAST)
            return damaged(replay, "a graph event");
        *mapped = event;
        mapped->path = replay->paths.nodes.items[event.path];
    }
    sink->graphs(sink->context, replay->graphs.items, (size_t)count);
    return 0;
}

static const char *read_text(struct replay *replay, struct lp_varint_reader *reader)
{
    size_t length;
    const char *bytes = read_bytes(reader, &length);

    return bytes ? lp_strings_add_bytes(&replay->plan_texts, bytes, length) : NULL;
}

static int read_columns(struct replay *replay, struct lp_varint_reader *reader, uint64_t count)
{
    replay->columns.count = 0;
    if (count > COLUMNS_MOST || lp_vector_reserve(&replay->values, (size_t)count) < 0)
        return damaged(replay, "a plan of counters");
    for (uint64_t i = 0; i < count; i++) {
        struct lp_counter_heading column = { 0 };

        column.quantity = read_text(replay, reader);
        column.metric = read_text(replay, reader);
        column.unit = read_text(replay, reader);
        column.combine = (uint32_t)lp_varint_get(reader);
        if (!column.quantity || !column.metric || !column.unit || reader->failed)
            return damaged(replay, "a plan of counters");
        if (lp_vector_push(&replay->columns, column) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

static int read_plan(struct replay *replay, struct lp_varint_reader *reader,
                     const struct lp_device_sink *sink)
{
    struct lp_counter_plan plan = { 0 };
    int status;

    plan.chip = read_text(replay, reader);
    plan.preset = read_text(replay, reader);
    plan.method = read_text(replay, reader);
    plan.replay = read_text(replay, reader);
    plan.passes = (uint32_t)lp_varint_get(reader);
    plan.time_column = (uint32_t)lp_varint_get(reader);
    plan.interval_ns = lp_varint_get(reader);
    plan.count = (size_t)lp_varint_get(reader);
    if (!plan.chip || !plan.preset || !plan.method || !plan.replay || reader->failed)
        return damaged(replay, "a plan of counters");
    if ((status = read_columns(replay, reader, plan.count)) < 0)
        return status;
    plan.columns = replay->columns.items;
    replay->has_plan = true;
    if (sink->plan)
        sink->plan(sink->context, &plan);
    return 0;
}

static bool read_fact(const struct replay *replay, struct lp_varint_reader *reader,
                      struct lp_counter_fact *fact)
{
    uint64_t node, name, source;

    fact->kind = (uint32_t)lp_varint_get(reader);
    fact->device = (uint16_t)lp_varint_get(reader);
    node = lp_varint_get(reader);
    name = lp_varint_get(reader);
    fact->start_ns = lp_varint_get(reader);
    fact->end_ns = fact->start_ns + lp_varint_get(reader);
    fact->offset = fact->kind == LP_COUNTER_STALL ? lp_varint_get(reader) : 0;
    source = fact->kind == LP_COUNTER_STALL ? lp_varint_get(reader) : name;
    if (reader->failed || node >= replay->paths.nodes.count || name >= replay->names.count ||
        source >= replay->names.count || fact->kind - 1 >= LP_COUNTER_STALL || !replay->has_plan)
        return false;
    fact->source = replay->names.items[source];
    fact->node = replay->paths.nodes.items[node];
    fact->name = replay->names.items[name];
    return true;
}

static int read_counters(struct replay *replay, struct lp_varint_reader *reader,
                         const struct lp_device_sink *sink)
{
    size_t bytes = replay->columns.count * sizeof(double);

    for (uint64_t left = lp_varint_get(reader); left > 0; left--) {
        struct lp_counter_fact fact;

        if (!read_fact(replay, reader, &fact))
            return damaged(replay, "a counter");
        if (fact.kind != LP_COUNTER_SKIP) {
            if ((size_t)(reader->end - reader->at) < bytes)
                return damaged(replay, "a counter");
            memcpy(replay->values.items, reader->at, bytes);
            reader->at += bytes;
        }
        if (sink->counter)
            sink->counter(sink->context, &fact, replay->values.items);
    }
    return 0;
}

static int read_origin(struct replay *replay, struct lp_varint_reader *reader)
{
    free(replay->origin);
    replay->origin = strndup((const char *)reader->at, (size_t)(reader->end - reader->at));
    replay->head.recorded = replay->origin;
    reader->at = reader->end;
    return replay->origin ? 0 : lp_out_of_memory();
}

static int read_end(struct replay *replay, struct lp_varint_reader *reader)
{
    uint64_t flags;

    replay->stats.records_dropped = lp_varint_get(reader);
    replay->stats.records_incomplete = lp_varint_get(reader);
    flags = lp_varint_get(reader);
    replay->stats.has_overhead = flags & 1;
    replay->stats.no_device = (flags & 2) != 0;
    replay->stats.overhead_ns = lp_varint_get(reader);
    replay->stats.process_id = (uint32_t)lp_varint_get(reader);
    replay->stats.duration_ns = lp_varint_get(reader);
    return reader->failed ? damaged(replay, "the end") : 0;
}

static bool is_last(const struct lp_chunk_file *chunks)
{
    return chunks->at + sizeof(chunks->header) + chunks->header.size == chunks->size;
}

static int read_start(struct replay *replay, struct lp_varint_reader *reader)
{
    uint64_t process;

    replay->stats.start_ns = lp_varint_get(reader);
    replay->stats.start_utc_ns = lp_varint_get(reader);
    process = lp_varint_get(reader);
    if (reader->failed || process > UINT32_MAX ||
        (replay->version >= 5 && lp_varint_get(reader) != replay->version))
        return damaged(replay, "the start");
    replay->stats.process_id = (uint32_t)process;
    return 0;
}

static int read_full(struct replay *replay, struct lp_varint_reader *reader)
{
    replay->stats.full_ns = lp_varint_get(reader);
    return reader->failed || replay->stats.full_ns == 0 ? damaged(replay, "the limit") : 0;
}

/* Values that this version does not know are passed over. */
static int read_gpu(struct replay *replay, struct lp_varint_reader *reader,
                    const struct lp_device_sink *sink)
{
    struct lp_gpu_sample sample = { .time_ns = lp_varint_get(reader) };
    uint64_t device = lp_varint_get(reader), count = lp_varint_get(reader);

    if (device > UINT16_MAX || count > (uint64_t)(reader->end - reader->at))
        return damaged(replay, "a state of a GPU");
    sample.device = (uint16_t)device;
    for (size_t i = 0; i < LP_GPU_VALUES; i++)
        sample.values[i] = i < count ? lp_varint_get(reader) - 1 : LLMPERF_UNKNOWN;
    for (uint64_t i = LP_GPU_VALUES; i < count; i++)
        lp_varint_get(reader);
    if (reader->failed)
        return damaged(replay, "a state of a GPU");
    if (sink->gpu)
        sink->gpu(sink->context, &sample);
    return 0;
}

static int read_chunk(struct replay *replay, uint32_t type, struct lp_varint_reader *reader,
                      const struct lp_device_sink *sink)
{
    switch (type) {
    case LP_CHUNK_NAMES:
    case LP_CHUNK_PATHS:
        return read_table(replay, reader, type == LP_CHUNK_PATHS);
    case LP_CHUNK_SHAPES:
        return read_shapes(replay, reader);
    case LP_CHUNK_HOST:
        return read_host(replay, reader, sink);
    case LP_CHUNK_ACTIVITY:
        return read_activities(replay, reader, sink);
    case LP_CHUNK_GRAPH:
        return read_graphs(replay, reader, sink);
    case LP_CHUNK_KINDS:
        return read_kinds(replay, reader);
    case LP_CHUNK_PLAN:
        return read_plan(replay, reader, sink);
    case LP_CHUNK_COUNTERS:
        return read_counters(replay, reader, sink);
    case LP_CHUNK_GPU:
        return read_gpu(replay, reader, sink);
    case LP_CHUNK_START:
        return read_start(replay, reader);
    case LP_CHUNK_FULL:
        return read_full(replay, reader);
    case LP_CHUNK_ORIGIN:
        replay->behind_origin = true;
        return read_origin(replay, reader);
    case LP_CHUNK_END:
        replay->ended = is_last(&replay->chunks);
        return replay->ended ? read_end(replay, reader) : damaged(replay, "the end");
    default:
        return damaged(replay, "unknown chunk type");
    }
}

/* The checksum does not cover the type: a chunk with a wrong type has bytes left over or is in the
 * wrong place. Only END may follow the origin. */
static int read_whole_chunk(struct replay *replay, uint32_t type, struct lp_varint_reader *reader,
                            const struct lp_device_sink *sink)
{
    int status;

    if ((type == LP_CHUNK_START) !=
        (replay->version >= 3 && replay->chunks.at == LP_RECORDING_HEAD))
        return damaged(replay, "a chunk out of order");
    if (replay->behind_origin && type != LP_CHUNK_END)
        return damaged(replay, "a chunk after the last one");
    status = read_chunk(replay, type, reader, sink);
    return status == 0 && reader->at != reader->end ? damaged(replay, "trailing bytes in a chunk")
                                                    : status;
}

static void report_no_graphs(struct replay *replay, const struct lp_device_sink *sink)
{
    const struct lp_graph_event event = { .kind = LP_GRAPH_NOT_RECORDED };

    if (replay->without_graphs)
        sink->graphs(sink->context, &event, 1);
    replay->without_graphs = false;
}

static int read_payload(struct replay *replay, struct lp_varint_reader *reader)
{
    const struct lp_chunk_file *chunks = &replay->chunks;
    int status = lp_chunk_file_read(&replay->chunks);

    *reader =
        (struct lp_varint_reader){ chunks->payload, chunks->payload + chunks->header.size, false };
    return status == LLMPERF_EFORMAT ? damaged(replay, "wrong checksum") : status;
}

/* 1: a chunk was read; 0: end of the file, or truncated. */
static int deliver_chunk(struct replay *replay, const struct lp_device_sink *sink)
{
    struct lp_varint_reader reader;
    int status;

    if (!lp_chunk_file_peek(&replay->chunks))
        return 0;
    if ((status = read_payload(replay, &reader)) < 0 ||
        (status = read_whole_chunk(replay, replay->chunks.header.type, &reader, sink)) < 0)
        return status;
    lp_chunk_file_pass(&replay->chunks);
    return 1;
}

static int deliver(struct lp_device_source *source, const struct lp_device_sink *sink)
{
    struct replay *replay = (struct replay *)(void *)source;
    int status = 1;

    report_no_graphs(replay, sink);
    for (int i = 0; i < CHUNKS_A_CALL && status > 0 && !replay->ended; i++)
        status = deliver_chunk(replay, sink);
    if (status == 0 && !replay->ended)
        replay->stats.cut = true;
    return replay->ended && status > 0 ? 0 : status;
}

/* Chunks that are needed before the facts are read one by one, but come after them: kinds of
 * regions, and the machine. */
static int look_at_chunk(struct replay *replay)
{
    struct lp_varint_reader reader;
    uint32_t type = replay->chunks.header.type;
    int status;

    if (type != LP_CHUNK_PATHS && type != LP_CHUNK_KINDS && type != LP_CHUNK_START &&
        type != LP_CHUNK_ORIGIN && type != LP_CHUNK_END)
        return 0;
    if ((status = read_payload(replay, &reader)) < 0)
        return status;
    switch (type) {
    case LP_CHUNK_PATHS:
        return read_table(replay, &reader, true);
    case LP_CHUNK_KINDS:
        return read_kinds(replay, &reader);
    case LP_CHUNK_START:
        return read_start(replay, &reader);
    case LP_CHUNK_ORIGIN:
        return read_origin(replay, &reader);
    default:
        return read_end(replay, &reader);
    }
}

/* Scan the whole file except for the facts. Damage is found later. */
static void look_ahead(struct replay *replay)
{
    while (lp_chunk_file_peek(&replay->chunks) && look_at_chunk(replay) == 0)
        lp_chunk_file_pass(&replay->chunks);
    replay->paths.nodes.count = replay->paths.uses.count = 0;
    lp_chunk_file_rewind(&replay->chunks);
}

static int open_file(struct replay *replay)
{
    char head[LP_RECORDING_HEAD];
    int status = lp_chunk_file_open(&replay->chunks, replay->path, head);

    if (status < 0)
        return status;
    if (replay->chunks.size < LP_RECORDING_HEAD || memcmp(head, LP_RECORDING_MAGIC, 7) != 0)
        return lp_error(LLMPERF_EFORMAT, "%s is not an llmperf recording", replay->path);
    if (head[7] < LP_RECORDING_OLDEST || head[7] > LP_RECORDING_VERSION)
        return lp_error(
            LLMPERF_EFORMAT,
            "%s is a recording of version %d; this version of llmperf reads versions %d to %d",
            replay->path, head[7], LP_RECORDING_OLDEST, LP_RECORDING_VERSION);
    replay->version = (uint8_t)head[7];
    replay->without_graphs = replay->version < 2;
    look_ahead(replay);
    return 0;
}

static void read_stats(const struct lp_device_source *source, struct lp_device_stats *stats)
{
    *stats = ((const struct replay *)(const void *)source)->stats;
}

static void close_replay(struct lp_device_source *source)
{
    struct replay *replay = (struct replay *)(void *)source;

    free(replay->path);
    free(replay->origin);
    lp_chunk_file_close(&replay->chunks);
    lp_vector_clear(&replay->names);
    lp_vector_clear(&replay->paths.nodes);
    lp_vector_clear(&replay->paths.uses);
    lp_vector_clear(&replay->shapes);
    lp_vector_clear(&replay->last_shapes);
    lp_vector_clear(&replay->records);
    lp_vector_clear(&replay->graphs);
    lp_vector_clear(&replay->columns);
    lp_vector_clear(&replay->values);
    lp_strings_clear(&replay->plan_texts);
    free(replay);
}

int lp_device_open_replay(const struct lp_device_options *options,
                          struct lp_device_source **source_out)
{
    static const struct lp_device_ops ops = { "replay",          false,   lp_finite_start,
                                              lp_finite_nothing, NULL,    lp_finite_flush,
                                              lp_finite_nothing, deliver, read_stats,
                                              close_replay,      NULL };
    struct replay *replay = calloc(1, sizeof(*replay));
    int status;

    if (!replay)
        return lp_out_of_memory();
    replay->head.ops = &ops;
    replay->head.names = options->names;
    if (!options->path)
        status = lp_error(LLMPERF_EINVAL, "the replay source needs a recording: set device_path");
    else if (!(replay->path = lp_text_copy(options->path)))
        status = lp_out_of_memory();
    else
        status = open_file(replay);
    if (status < 0)
        close_replay(&replay->head);
    else
        *source_out = &replay->head;
    return status;
}
