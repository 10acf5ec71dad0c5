/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/varint.h"
#include "lib/sources/replay/recording.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

#define WRITE_BYTES (256u << 10) /* bytes of one write call */

struct lp_recorder {
    FILE *file;
    uint64_t written, limit_bytes; /* limit 0: none */
    uint64_t first_ns;             /* time of one of the first facts */
    uint64_t full_ns;              /* time of the first fact that was left out; 0: none */
    char *path;
    const struct lp_names *names;
    struct lp_device_sink next;
    struct lp_text chunk; /* payload in progress */
    struct lp_text facts; /* facts of hardware counters, until they fill a chunk */
    size_t fact_count, columns;
    uint32_t names_reported, paths_reported, shapes_reported;
    LP_VECTOR(uint32_t) last_shapes; /* by name: of the record with that name that came last */
    int failed;                      /* errno of the first failed write */
};

static void add_number(struct lp_text *text, uint64_t value)
{
    uint8_t bytes[LP_VARINT_BYTES];

    lp_text_add(text, (const char *)bytes, (size_t)(lp_varint_put(bytes, value) - bytes));
}

static void put_number(struct lp_recorder *recorder, uint64_t value)
{
    add_number(&recorder->chunk, value);
}

static void put_difference(struct lp_recorder *recorder, uint64_t value, uint64_t before)
{
    put_number(recorder, lp_zigzag((int64_t)(value - before)));
}

static void put_string(struct lp_recorder *recorder, const char *text)
{
    put_number(recorder, strlen(text));
    lp_text_puts(&recorder->chunk, text);
}

static void write_bytes(struct lp_recorder *recorder, const void *bytes, size_t size)
{
    if (!recorder->failed && size > 0 && fwrite(bytes, size, 1, recorder->file) != 1)
        recorder->failed = errno ? errno : EIO;
    recorder->written += size;
}

static void write_chunk(struct lp_recorder *recorder, enum lp_chunk_type type)
{
    struct lp_chunk_header header = { type, (uint32_t)recorder->chunk.length,
                                      lp_crc32c(recorder->chunk.bytes, recorder->chunk.length) };

    if (recorder->chunk.failed)
        recorder->failed = ENOMEM;
    write_bytes(recorder, &header, sizeof(header));
    write_bytes(recorder, recorder->chunk.bytes, recorder->chunk.length);
    recorder->chunk.length = 0;
}

/* Does a chunk of facts that begin at `time_ns` fit below the size limit? */
static bool has_room(struct lp_recorder *recorder, uint64_t time_ns)
{
    if (recorder->full_ns)
        return false;
    if (!recorder->first_ns)
        recorder->first_ns = time_ns;
    if (!recorder->limit_bytes || recorder->written < recorder->limit_bytes)
        return true;
    recorder->full_ns = time_ns ? time_ns : 1;
    put_number(recorder, recorder->full_ns);
    write_chunk(recorder, LP_CHUNK_FULL);
    return false;
}

/* New names and paths since the last chunk: readers must know them before they are used. */
static void report_names(struct lp_recorder *recorder)
{
    uint32_t count = (uint32_t)recorder->names->texts.count;

    if (recorder->names_reported == count)
        return;
    put_number(recorder, recorder->names_reported);
    put_number(recorder, count - recorder->names_reported);
    while (recorder->names_reported < count)
        put_string(recorder, lp_names_text(recorder->names, recorder->names_reported++));
    write_chunk(recorder, LP_CHUNK_NAMES);
}

static void put_shape(struct lp_recorder *recorder, const struct lp_shape *shape)
{
    for (size_t i = 0; i < 3; i++) {
        put_number(recorder, shape->grid[i]);
        put_number(recorder, shape->block[i]);
    }
    put_number(recorder, shape->registers);
    put_number(recorder, shape->static_shared);
    put_number(recorder, shape->dynamic_shared);
    put_number(recorder, shape->source);
    put_number(recorder, shape->destination);
    put_number(recorder, shape->call);
}

static void report_shapes(struct lp_recorder *recorder)
{
    const struct lp_shapes *shapes = &recorder->names->shapes;
    uint32_t count = (uint32_t)shapes->items.count;

    recorder->shapes_reported = recorder->shapes_reported ? recorder->shapes_reported : 1;
    if (recorder->shapes_reported >= count)
        return;
    put_number(recorder, recorder->shapes_reported);
    put_number(recorder, count - recorder->shapes_reported);
    while (recorder->shapes_reported < count)
        put_shape(recorder, &shapes->items.items[recorder->shapes_reported++]);
    write_chunk(recorder, LP_CHUNK_SHAPES);
}

/* Recordings number paths in order of creation. */
static uint32_t number_of(uint32_t node)
{
    return lp_path_get(node)->order;
}

static void report_paths(struct lp_recorder *recorder)
{
    uint32_t count = lp_path_count();

    if (recorder->paths_reported == count)
        return;
    put_number(recorder, recorder->paths_reported);
    put_number(recorder, count - recorder->paths_reported);
    for (; recorder->paths_reported < count; recorder->paths_reported++) {
        const struct lp_path *path = lp_path_get(lp_path_nth(recorder->paths_reported));

        put_number(recorder, number_of(path->parent));
        put_string(recorder, path->label);
    }
    write_chunk(recorder, LP_CHUNK_PATHS);
}

static void report_kinds(struct lp_recorder *recorder)
{
    uint32_t count = 0, limit;

    report_paths(recorder); /* readers must know a path before its kind */
    limit = recorder->paths_reported;
    for (uint32_t i = 0; i < limit; i++)
        count += atomic_load(&lp_path_get(lp_path_nth(i))->kind) != LLMPERF_REGION_AUTO;
    put_number(recorder, count);
    for (uint32_t i = 0; i < limit; i++) {
        uint32_t kind = atomic_load(&lp_path_get(lp_path_nth(i))->kind);

        if (kind == LLMPERF_REGION_AUTO)
            continue;
        put_number(recorder, i);
        put_number(recorder, kind);
    }
    write_chunk(recorder, LP_CHUNK_KINDS);
}

static void write_host(struct lp_recorder *recorder, uint32_t thread,
                       const struct lp_record *records, size_t count)
{
    struct lp_record before = { 0, 0, 0, 0, 0 }, record;

    report_paths(recorder);
    put_number(recorder, thread);
    put_number(recorder, count);
    for (size_t i = 0; i < count; i++) {
        put_number(recorder, (uint64_t)records[i].detail << 4 | records[i].kind);
        put_difference(recorder, records[i].time_ns, before.time_ns);
        record = records[i];
        if (record.kind != LP_RECORD_REQUEST)
            record.node = number_of(record.node);
        put_difference(recorder, record.node, before.node);
        put_difference(recorder, record.value, before.value);
        before = record;
    }
    write_chunk(recorder, LP_CHUNK_HOST);
}

static void record_host(void *context, uint32_t thread, const struct lp_record *records,
                        size_t count)
{
    struct lp_recorder *recorder = context;

    if (count > 0 && has_room(recorder, records[0].time_ns))
        write_host(recorder, thread, records, count);
    recorder->next.host(recorder->next.context, thread, records, count);
}

/* Where records of this name keep their last shape; NULL without memory. */
static uint32_t *last_shape_of(struct lp_recorder *recorder, uint32_t name)
{
    while (recorder->last_shapes.count <= name)
        if (lp_vector_push(&recorder->last_shapes, LP_SHAPE_NONE) < 0) {
            recorder->failed = ENOMEM;
            return NULL;
        }
    return &recorder->last_shapes.items[name];
}

/* A kernel mostly has the shape that it had the last time: then nothing is written of it. */
static bool changes_shape(struct lp_recorder *recorder, const struct lp_activity *activity)
{
    uint32_t *last = last_shape_of(recorder, activity->name);

    if (!last || *last == activity->shape)
        return false;
    *last = activity->shape;
    return true;
}

static void put_activity(struct lp_recorder *recorder, const struct lp_activity *activity,
                         const struct lp_activity *before)
{
    bool shape = changes_shape(recorder, activity);
    bool place = activity->context != before->context || activity->device != before->device ||
                 activity->stream != before->stream;
    bool memory = activity->kind != LLMPERF_ACTIVITY_KERNEL || activity->bytes != 0 ||
                  activity->device_launched;
    bool graph = activity->graph != 0 || activity->graph_node != 0;

    put_number(recorder, (uint64_t)activity->name << 4 | (uint64_t)shape << 3 |
                             (uint64_t)place << 2 | (uint64_t)memory << 1 | graph);
    put_difference(recorder, activity->start_ns, before->start_ns);
    put_difference(recorder, activity->end_ns, activity->start_ns);
    put_difference(recorder, activity->correlation, before->correlation);
    if (place) {
        put_number(recorder, activity->device);
        put_number(recorder, activity->context);
        put_number(recorder, activity->stream);
    }
    if (memory) {
        put_number(recorder, (uint64_t)activity->kind << 1 | activity->device_launched);
        put_number(recorder, activity->bytes);
    }
    if (graph) {
        put_number(recorder, activity->graph);
        put_number(recorder, activity->graph_node);
    }
    if (shape)
        put_number(recorder, activity->shape);
}

static void write_activities(struct lp_recorder *recorder, const struct lp_activity *activities,
                             size_t count)
{
    struct lp_activity before = { 0 };

    report_names(recorder);
    report_shapes(recorder);
    put_number(recorder, count);
    for (size_t i = 0; i < count; i++) {
        put_activity(recorder, &activities[i], &before);
        before = activities[i];
    }
    write_chunk(recorder, LP_CHUNK_ACTIVITY);
}

static void record_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct lp_recorder *recorder = context;

    if (count > 0 && has_room(recorder, activities[0].start_ns))
        write_activities(recorder, activities, count);
    recorder->next.activities(recorder->next.context, activities, count);
}

static void write_graphs(struct lp_recorder *recorder, const struct lp_graph_event *events,
                         size_t count)
{
    struct lp_graph_event before = { 0, 0, 0, 0, 0, 0 }, event;

    report_paths(recorder);
    put_number(recorder, count);
    for (size_t i = 0; i < count; i++) {
        put_number(recorder, (uint64_t)events[i].detail << 4 | events[i].kind);
        event = events[i];
        event.path = number_of(event.path);
        put_difference(recorder, event.node, before.node);
        put_difference(recorder, event.origin, before.origin);
        put_difference(recorder, event.path, before.path);
        put_difference(recorder, event.correlation, before.correlation);
        before = event;
    }
    write_chunk(recorder, LP_CHUNK_GRAPH);
}

static void record_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    struct lp_recorder *recorder = context;

    /* They have no times, and are useless without the facts after the limit. */
    if (!recorder->full_ns)
        write_graphs(recorder, events, count);
    recorder->next.graphs(recorder->next.context, events, count);
}

static void write_facts(struct lp_recorder *recorder)
{
    if (recorder->fact_count == 0)
        return;
    report_names(recorder);
    report_paths(recorder);
    put_number(recorder, recorder->fact_count);
    lp_text_add(&recorder->chunk, recorder->facts.bytes, recorder->facts.length);
    recorder->chunk.failed = recorder->chunk.failed || recorder->facts.failed;
    write_chunk(recorder, LP_CHUNK_COUNTERS);
    recorder->facts.length = recorder->fact_count = 0;
}

static void add_fact(struct lp_recorder *recorder, const struct lp_counter_fact *fact,
                     const double *values)
{
    struct lp_text *facts = &recorder->facts;

    add_number(facts, fact->kind);
    add_number(facts, fact->device);
    add_number(facts, number_of(fact->node));
    add_number(facts, fact->name);
    add_number(facts, fact->start_ns);
    add_number(facts, fact->end_ns - fact->start_ns);
    if (fact->kind == LP_COUNTER_STALL) {
        add_number(facts, fact->offset);
        add_number(facts, fact->source);
    }
    if (fact->kind != LP_COUNTER_SKIP)
        lp_text_add(facts, (const char *)values, recorder->columns * sizeof(*values));
    recorder->fact_count++;
    if (facts->length > 16384)
        write_facts(recorder);
}

static void record_plan(void *context, const struct lp_counter_plan *plan)
{
    struct lp_recorder *recorder = context;

    write_facts(recorder);
    recorder->columns = plan->count;
    put_string(recorder, plan->chip);
    put_string(recorder, plan->preset);
    put_string(recorder, plan->method);
    put_string(recorder, plan->replay);
    put_number(recorder, plan->passes);
    put_number(recorder, plan->time_column);
    put_number(recorder, plan->interval_ns);
    put_number(recorder, plan->count);
    for (size_t i = 0; i < plan->count; i++) {
        put_string(recorder, plan->columns[i].quantity);
        put_string(recorder, plan->columns[i].metric);
        put_string(recorder, plan->columns[i].unit);
        put_number(recorder, plan->columns[i].combine);
    }
    write_chunk(recorder, LP_CHUNK_PLAN);
    if (recorder->next.plan)
        recorder->next.plan(recorder->next.context, plan);
}

static void record_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    struct lp_recorder *recorder = context;

    /* Counter facts of regions have no time. */
    if (!recorder->full_ns)
        add_fact(recorder, fact, values);
    if (recorder->next.counter)
        recorder->next.counter(recorder->next.context, fact, values);
}

static void record_gpu(void *context, const struct lp_gpu_sample *sample)
{
    struct lp_recorder *recorder = context;

    if (has_room(recorder, sample->time_ns)) {
        put_number(recorder, sample->time_ns);
        put_number(recorder, sample->device);
        put_number(recorder, LP_GPU_VALUES);
        for (size_t i = 0; i < LP_GPU_VALUES; i++)
            put_number(recorder, sample->values[i] + 1);
        write_chunk(recorder, LP_CHUNK_GPU);
    }
    if (recorder->next.gpu)
        recorder->next.gpu(recorder->next.context, sample);
}

static void free_recorder(struct lp_recorder *recorder)
{
    if (recorder->file)
        fclose(recorder->file);
    lp_text_clear(&recorder->chunk);
    lp_text_clear(&recorder->facts);
    lp_vector_clear(&recorder->last_shapes);
    free(recorder->path);
    free(recorder);
}

static void write_start(struct lp_recorder *recorder, bool own_time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    put_number(recorder, own_time ? lp_clock_now() : 0);
    put_number(recorder, own_time ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec : 0);
    put_number(recorder, own_time ? (uint64_t)getpid() : 0);
    put_number(recorder, LP_RECORDING_VERSION);
    write_chunk(recorder, LP_CHUNK_START);
}

int lp_recorder_open(const char *path, const struct lp_names *names,
                     const struct lp_recorder_options *options, struct lp_recorder **recorder_out)
{
    const char magic[8] = { 'L', 'L', 'M', 'P', 'R', 'E', 'C', LP_RECORDING_VERSION };
    struct lp_recorder *recorder = calloc(1, sizeof(*recorder));

    if (!recorder || !(recorder->path = lp_text_copy(path))) {
        free(recorder);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    recorder->names = names;
    recorder->limit_bytes = options->limit_bytes;
    recorder->file = options->own_file ? lp_file_create_stream(path) : fopen(path, "wbe");
    if (!recorder->file) {
        int status = lp_error(LLMPERF_EIO, "cannot write recording %s: %s", path, strerror(errno));

        free_recorder(recorder);
        return status;
    }
    setvbuf(recorder->file, NULL, _IOFBF, WRITE_BYTES);
    write_bytes(recorder, magic, sizeof(magic));
    write_start(recorder, options->own_time);
    *recorder_out = recorder;
    return 0;
}

struct lp_device_sink lp_recorder_sink(struct lp_recorder *recorder,
                                       const struct lp_device_sink *next)
{
    recorder->next = *next;
    return (struct lp_device_sink){ recorder,    record_host,    record_activities, record_graphs,
                                    record_plan, record_counter, record_gpu };
}

void lp_recorder_flush(struct lp_recorder *recorder)
{
    if (recorder && fflush(recorder->file) != 0 && !recorder->failed)
        recorder->failed = errno;
}

bool lp_recorder_full(const struct lp_recorder *recorder, uint64_t *after_ns_out)
{
    *after_ns_out =
        recorder->full_ns > recorder->first_ns ? recorder->full_ns - recorder->first_ns : 0;
    return recorder->full_ns != 0;
}

int lp_recorder_close(struct lp_recorder *recorder, const struct lp_device_stats *stats,
                      const char *origin)
{
    int status = 0;

    if (!recorder)
        return 0;
    write_facts(recorder);
    report_kinds(recorder);
    lp_text_puts(&recorder->chunk, origin);
    write_chunk(recorder, LP_CHUNK_ORIGIN);
    put_number(recorder, stats->records_dropped);
    put_number(recorder, stats->records_incomplete);
    put_number(recorder, (uint64_t)stats->no_device << 1 | stats->has_overhead);
    put_number(recorder, stats->overhead_ns);
    put_number(recorder, stats->process_id);
    put_number(recorder, stats->duration_ns);
    write_chunk(recorder, LP_CHUNK_END);
    if (fclose(recorder->file) != 0 && !recorder->failed)
        recorder->failed = errno;
    recorder->file = NULL;
    if (recorder->failed)
        status = lp_error(LLMPERF_EIO, "cannot write recording %s: %s", recorder->path,
                          strerror(recorder->failed));
    free_recorder(recorder);
    return status;
}
