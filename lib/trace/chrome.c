/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of chrome://tracing, with the categories and arguments of Kineto (torch.profiler): a GPU is
 * a process, a stream a thread of it. Times are microseconds with three decimals. Regions are
 * written when they end, because their line contains their duration. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/trace/formats.h"
#include "lib/trace/out_file.h"
#include "lib/trace/words.h"
#include "llmperf/profile.h"

#define PROCESS_UNKNOWN                                                                            \
    8388608u /* and up: id of a process that is not recorded; GPUs are numbered from 0 */
#define PART_GPUS     1000u    /* GPUs of the Nth further process have N times this added */
#define RANGES_THREAD 1000000u /* and up: threads for NVTX start/end ranges */
#define LANE_THREADS  1000000u /* streams of the Nth further lane have N times this added \ */

typedef LP_VECTOR(const char *) quoted_texts;

struct chrome {
    struct lp_trace_writer head;
    struct lp_out_file out;
    struct lp_trace_words words;
    const struct lp_trace_facts *facts;
    struct lp_text text;
    uint32_t process;
    uint64_t base_ns; /* time 0 of the file */
    bool begun;
    quoted_texts names, labels, paths;  /* as JSON, by number */
    struct lp_hashmap named;            /* (process, thread) with a written name */
    LP_VECTOR(const char *) quantities; /* by column of the counters, as JSON */
    bool failed;
};

static struct chrome *of(struct lp_trace_writer *writer)
{
    return (struct chrome *)(void *)writer;
}

/* Texts as JSON, each made once. */

static const char *quote(struct chrome *chrome, const char *plain)
{
    struct lp_text text = { NULL, 0, 0, false };
    const char *copy;

    lp_text_json(&text, plain);
    copy = text.failed ? NULL : lp_strings_add(&chrome->words.pool, text.bytes);
    lp_text_clear(&text);
    if (!copy)
        chrome->failed = true;
    return copy ? copy : "\"\"";
}

static const char **find_quoted(struct chrome *chrome, quoted_texts *texts, uint32_t number)
{
    static const char *none;
    const char **place = lp_vector_at(texts, number);

    chrome->failed |= !place;
    return place ? place : &none;
}

static const char *quoted_name(struct chrome *chrome, uint32_t name)
{
    const char **place = find_quoted(chrome, &chrome->names, name);

    if (!*place)
        *place = quote(chrome, lp_trace_full_name(&chrome->words, name));
    return *place;
}

static const char *quoted_label(struct chrome *chrome, uint32_t node)
{
    const char **place = find_quoted(chrome, &chrome->labels, node);

    if (!*place)
        *place = quote(chrome, lp_path_get(node)->label);
    return *place;
}

static const char *quoted_path(struct chrome *chrome, uint32_t node)
{
    const char **place;

    if (node == LP_PATH_UNKNOWN)
        return "null";
    place = find_quoted(chrome, &chrome->paths, node);
    if (!*place)
        *place = quote(chrome, lp_trace_path(&chrome->words, node));
    return *place;
}

/* Lines */

static void end_line(struct chrome *chrome)
{
    if (chrome->text.length > 65536)
        lp_out_file_write(&chrome->out, &chrome->text);
}

static void put_us(struct lp_text *text, int64_t ns)
{
    uint64_t size = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;

    lp_text_printf(text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
                   (unsigned)(size % 1000));
}

/* Start of a line, up to its time; the caller writes the rest. */
static void begin_line(struct chrome *chrome, const char *phase, const char *category,
                       const char *quoted, uint32_t process, uint32_t thread, uint64_t time_ns)
{
    lp_text_printf(&chrome->text,
                   ",\n{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":%s,\"pid\":%u,\"tid\":%u,\"ts\":",
                   phase, category, quoted, process, thread);
    put_us(&chrome->text, (int64_t)(time_ns - chrome->base_ns));
}

static void put_length(struct chrome *chrome, uint64_t begin_ns, uint64_t end_ns)
{
    lp_text_puts(&chrome->text, ",\"dur\":");
    put_us(&chrome->text, (int64_t)(end_ns - begin_ns));
}

static void put_meta(struct chrome *chrome, const char *what, uint32_t process, uint32_t thread,
                     const char *quoted)
{
    lp_text_printf(
        &chrome->text,
        ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":0,\"args\":{\"%s\":%s}}",
        what, process, thread, strcmp(what, "process_labels") == 0 ? "labels" : "name", quoted);
}

static bool is_written(struct chrome *chrome, uint32_t process, uint32_t thread)
{
    if (lp_hashmap_get(&chrome->named, process, thread) != LP_HASHMAP_NONE)
        return true;
    if (lp_hashmap_put(&chrome->named, process, thread, 1) < 0)
        chrome->failed = true;
    return false;
}

static void name_thread(struct chrome *chrome, uint32_t thread)
{
    char name[32];

    if (is_written(chrome, chrome->process, thread))
        return;
    snprintf(name, sizeof(name), thread < RANGES_THREAD ? "\"thread %u\"" : "\"ranges\"", thread);
    put_meta(chrome, "thread_name", chrome->process, thread, name);
}

static uint32_t gpu_process(const struct chrome *chrome, uint32_t device)
{
    return chrome->facts->part * PART_GPUS + device;
}

/* A thread number that no stream uses. */
#define GPU_ITSELF UINT32_MAX

static void name_gpu(struct chrome *chrome, uint32_t device)
{
    const struct lp_trace_gpu *gpu = lp_trace_find_gpu(chrome->facts, device);
    uint32_t process = gpu_process(chrome, device);
    char name[32];

    if (is_written(chrome, process, GPU_ITSELF))
        return;
    put_meta(chrome, "process_name", process, 0, quote(chrome, chrome->facts->title));
    snprintf(name, sizeof(name), "\"GPU %u\"", device);
    put_meta(chrome, "process_labels", process, 0, name);
    if (gpu)
        put_meta(chrome, "process_labels", process, 0, quote(chrome, gpu->name));
}

static void name_stream(struct chrome *chrome, const struct lp_activity *activity, uint32_t lane,
                        uint32_t thread)
{
    uint32_t process = gpu_process(chrome, activity->device);
    char name[64];

    if (is_written(chrome, process, thread))
        return;
    name_gpu(chrome, activity->device);
    lp_trace_stream_name(name, sizeof(name), activity, lane);
    put_meta(chrome, "thread_name", process, thread, quote(chrome, name));
}

/* Events */

static void put_span(struct chrome *chrome, const struct lp_trace_region *region, uint32_t thread)
{
    name_thread(chrome, thread);
    begin_line(chrome, "X", "user_annotation", quoted_label(chrome, region->node), chrome->process,
               thread, region->begin_ns);
    put_length(chrome, region->begin_ns, region->end_ns);
    lp_text_printf(&chrome->text, ",\"args\":{\"region\":%s", quoted_path(chrome, region->node));
    for (uint32_t i = 1; i < LP_TRACE_QUANTITIES; i++)
        if (region->counts[i])
            lp_text_printf(&chrome->text, ",\"%s\":%" PRIu64, lp_trace_quantity(i),
                           region->counts[i]);
    lp_text_puts(&chrome->text, region->truncated ? ",\"truncated\":true}}" : "}}");
    end_line(chrome);
}

static void put_region_begin(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    (void)writer;
    (void)region;
}

static void put_region_end(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    put_span(of(writer), region, region->thread);
}

static void put_range(struct lp_trace_writer *writer, const struct lp_trace_region *range,
                      uint32_t lane)
{
    put_span(of(writer), range, RANGES_THREAD + lane);
}

/* Processes have equal ids. */
static uint64_t correlation_here(const struct chrome *chrome, uint32_t correlation)
{
    return correlation ? (uint64_t)chrome->facts->part << 32 | correlation : 0;
}

static void put_flow(struct chrome *chrome, const char *phase, uint32_t correlation,
                     uint32_t process, uint32_t thread, uint64_t time_ns)
{
    begin_line(chrome, phase, "ac2g", "\"ac2g\"", process, thread, time_ns);
    lp_text_printf(&chrome->text, ",\"id\":%" PRIu64 "%s}", correlation_here(chrome, correlation),
                   *phase == 'f' ? ",\"bp\":\"e\"" : "");
    end_line(chrome);
}

/* Recordings contain the time of a call but not its name. */
static void put_launch(struct lp_trace_writer *writer, const struct lp_trace_launch *launch)
{
    struct chrome *chrome = of(writer);
    char name[64];

    name_thread(chrome, launch->thread);
    snprintf(name, sizeof(name), "\"%s\"", lp_trace_launch_function(launch->kind));
    begin_line(chrome, "X", "cuda_runtime", name, chrome->process, launch->thread, launch->time_ns);
    lp_text_printf(&chrome->text, ",\"dur\":0.000,\"args\":{\"correlation\":%" PRIu64 "}}",
                   correlation_here(chrome, launch->correlation));
    put_flow(chrome, "s", launch->correlation, chrome->process, launch->thread, launch->time_ns);
}

static const char *category_of(const struct lp_activity *activity)
{
    switch (activity->kind) {
    case LLMPERF_ACTIVITY_MEMCPY:
        return "gpu_memcpy";
    case LLMPERF_ACTIVITY_MEMSET:
        return "gpu_memset";
    default:
        return "kernel";
    }
}

static void put_extents(struct lp_text *text, const char *key, const uint32_t *extents)
{
    if (extents[0] > 0)
        lp_text_printf(text, ",\"%s\":[%u,%u,%u]", key, extents[0], extents[1], extents[2]);
}

static void put_word(struct lp_text *text, const char *key, const char *word)
{
    if (word)
        lp_text_printf(text, ",\"%s\":\"%s\"", key, word);
}

static void put_kernel_shape(struct lp_text *text, const struct lp_shape *shape)
{
    put_extents(text, "grid", shape->grid);
    put_extents(text, "block", shape->block);
    if (shape->registers != LP_SHAPE_UNKNOWN)
        lp_text_printf(text, ",\"registers per thread\":%u", shape->registers);
    if (lp_shape_shared(shape) != UINT64_MAX)
        lp_text_printf(text, ",\"shared memory\":%" PRIu64, lp_shape_shared(shape));
}

static void put_shape(struct chrome *chrome, const struct lp_activity *activity)
{
    const struct lp_shape *shape = lp_shapes_get(&chrome->words.names->shapes, activity->shape);

    if (!shape)
        return;
    if (activity->kind == LLMPERF_ACTIVITY_KERNEL)
        put_kernel_shape(&chrome->text, shape);
    put_word(&chrome->text, "source", lp_memory_kind_name(shape->source));
    put_word(&chrome->text, "destination", lp_memory_kind_name(shape->destination));
    put_word(&chrome->text, "call", lp_copy_call_name(shape->call));
}

static void put_arguments(struct chrome *chrome, const struct lp_activity *activity)
{
    struct lp_text *text = &chrome->text;

    lp_text_printf(
        text,
        ",\"args\":{\"device\":%u,\"context\":%u,\"stream\":%u,\"correlation\":%" PRIu64 ","
        "\"region\":%s",
        activity->device, activity->context, activity->stream,
        correlation_here(chrome, activity->correlation), quoted_path(chrome, activity->node));
    if (activity->captured != LP_PATH_UNKNOWN)
        lp_text_printf(text, ",\"captured in\":%s", quoted_path(chrome, activity->captured));
    if (activity->graph) /* a node id has its graph in the upper half and may exceed 2^53 */
        lp_text_printf(text, ",\"graph\":%u,\"graph node\":\"%" PRIu64 "\"", activity->graph,
                       activity->graph_node);
    if (activity->kind != LLMPERF_ACTIVITY_KERNEL)
        lp_text_printf(text, ",\"bytes\":%" PRIu64, activity->bytes);
    put_shape(chrome, activity);
    if (activity->node != LP_PATH_UNKNOWN)
        lp_text_printf(text, ",\"since launch ns\":%" PRIu64,
                       lp_queued_before(activity->start_ns, activity->queued));
    if (activity->call_ns)
        lp_text_printf(text, ",\"launch call ns\":%" PRIu32, activity->call_ns);
    lp_text_puts(text, "}}");
}

static void put_activity(struct lp_trace_writer *writer, const struct lp_activity *activity,
                         uint32_t lane, bool linked)
{
    struct chrome *chrome = of(writer);
    uint32_t thread = activity->stream + lane * LANE_THREADS;
    uint32_t process = gpu_process(chrome, activity->device);

    name_stream(chrome, activity, lane, thread);
    begin_line(chrome, "X", category_of(activity), quoted_name(chrome, activity->name), process,
               thread, activity->start_ns);
    put_length(chrome, activity->start_ns, activity->end_ns);
    put_arguments(chrome, activity);
    if (linked)
        put_flow(chrome, "f", activity->correlation, process, thread, activity->start_ns);
    end_line(chrome);
}

static void put_plan(struct lp_trace_writer *writer, const struct lp_counter_plan *plan)
{
    struct chrome *chrome = of(writer);
    struct lp_text name = { NULL, 0, 0, false };

    chrome->quantities.count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        name.length = 0;
        lp_text_printf(&name, "%s [%s]", plan->columns[i].quantity, plan->columns[i].unit);
        if (name.failed || lp_vector_push(&chrome->quantities, quote(chrome, name.bytes)) < 0)
            chrome->failed = true;
    }
    lp_text_clear(&name);
}

static void put_sample(struct lp_trace_writer *writer, const struct lp_counter_fact *fact,
                       const double *values)
{
    struct chrome *chrome = of(writer);

    name_gpu(chrome, fact->device);
    for (size_t i = 0; i < chrome->quantities.count; i++) {
        if (!isfinite(values[i]))
            continue;
        begin_line(chrome, "C", "counter", chrome->quantities.items[i],
                   gpu_process(chrome, fact->device), 0, fact->start_ns);
        lp_text_printf(&chrome->text, ",\"args\":{\"value\":%s}}", LP_NUMBER(values[i], 9));
    }
    end_line(chrome);
}

static void put_remark(struct lp_trace_writer *writer, uint64_t time_ns, const char *text)
{
    struct chrome *chrome = of(writer);

    begin_line(chrome, "i", "llmperf", quote(chrome, text), chrome->process, 0, time_ns);
    lp_text_puts(&chrome->text, ",\"s\":\"g\"}");
}

/* Whole file */

static void put_gpus(struct chrome *chrome)
{
    const struct lp_trace_facts *facts = chrome->facts;

    lp_text_puts(&chrome->text, "\"deviceProperties\":[");
    for (size_t i = 0; i < facts->gpu_count; i++) {
        const struct lp_trace_gpu *gpu = &facts->gpus[i];

        lp_text_printf(&chrome->text,
                       "%s{\"id\":%u,\"name\":%s,\"totalGlobalMem\":%" PRIu64
                       ",\"computeMajor\":%u,\"computeMinor\":%u,\"numSms\":%" PRIu64 "}",
                       i ? "," : "", gpu->device, quote(chrome, gpu->name), gpu->memory_bytes,
                       gpu->cc_major, gpu->cc_minor, gpu->sm_count);
    }
    lp_text_puts(&chrome->text, "],\n");
}

static void begin_file(struct chrome *chrome, const struct lp_trace_facts *facts)
{
    chrome->begun = true;
    chrome->base_ns = facts->start_ns;
    lp_text_puts(&chrome->text, "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\n");
    if (facts->start_ns && facts->start_utc_ns)
        lp_text_printf(&chrome->text, "\"baseTimeNanoseconds\":%" PRIu64 ",\n",
                       facts->start_utc_ns);
    put_gpus(chrome);
    lp_text_printf(&chrome->text, "\"traceName\":%s,\n\"traceEvents\":[\n",
                   quote(chrome, facts->title));
}

/* State of the previous process. */
static void forget(struct chrome *chrome)
{
    chrome->names.count = chrome->labels.count = chrome->paths.count = 0;
    chrome->quantities.count = 0;
    lp_hashmap_reset(&chrome->named);
    lp_trace_words_clear(&chrome->words);
}

static void put_facts(struct lp_trace_writer *writer, const struct lp_trace_facts *facts)
{
    struct chrome *chrome = of(writer);
    bool first = !chrome->begun;

    forget(chrome);
    chrome->facts = facts;
    chrome->words.names = facts->names;
    chrome->process = facts->process_id ? facts->process_id : PROCESS_UNKNOWN + facts->part;
    if (first)
        begin_file(chrome, facts);
    lp_text_printf(&chrome->text,
                   "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,\"ts\":0,"
                   "\"args\":{\"name\":%s}}",
                   first ? "" : ",\n", chrome->process, quote(chrome, facts->title));
}

static int finish(struct lp_trace_writer *writer)
{
    struct chrome *chrome = of(writer);

    lp_text_puts(&chrome->text, "\n]}\n");
    lp_out_file_write(&chrome->out, &chrome->text);
    if (chrome->failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    return lp_out_file_finish(&chrome->out);
}

static void free_writer(struct lp_trace_writer *writer)
{
    struct chrome *chrome = of(writer);

    lp_out_file_close(&chrome->out);
    lp_text_clear(&chrome->text);
    lp_vector_clear(&chrome->names);
    lp_vector_clear(&chrome->labels);
    lp_vector_clear(&chrome->paths);
    lp_vector_clear(&chrome->quantities);
    lp_hashmap_clear(&chrome->named);
    lp_trace_words_clear(&chrome->words);
    free(chrome);
}

int lp_trace_open_chrome(const char *path, struct lp_trace_writer **writer_out)
{
    static const struct lp_trace_writer_ops ops = { put_facts, put_region_begin, put_region_end,
                                                    put_range, put_launch,       put_activity,
                                                    put_plan,  put_sample,       put_remark,
                                                    finish,    free_writer };
    struct chrome *chrome = calloc(1, sizeof(*chrome));
    int status;

    if (!chrome)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    chrome->head.ops = &ops;
    if ((status = lp_out_file_open(&chrome->out, path)) < 0)
        free_writer(&chrome->head);
    else
        *writer_out = &chrome->head;
    return status;
}
