/* SPDX-License-Identifier: Apache-2.0 */
/** A recording, played through attribution into a file of another program. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attribution/attribution.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/capture/capture.h"
#include "lib/trace/trace.h"
#include "llmperf/import.h"
#include "llmperf/trace.h"

#define GPUS_MOST 64

struct exporter {
    struct lp_names names;
    struct lp_device_source *source;
    struct lp_attribution *attribution;
    struct lp_trace_writer *writer;
    struct lp_trace *trace;
    struct lp_trace_facts facts;
    struct lp_trace_gpu gpus[GPUS_MOST];
};

/* Which recording is meant. */

static int find_in_run(const char *run, char **path_out)
{
    char *path = lp_path_join(run, "trace.llmrec");

    if (!path)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (!lp_path_exists(path)) {
        free(path);
        return lp_error(LLMPERF_ENOENT,
                        "%s keeps totals only: profile with keep_trace (llmperf run --trace) for "
                        "events in the order of time",
                        run);
    }
    *path_out = path;
    return 0;
}

static int find_beside(const char *run_file, char **path_out)
{
    const char *slash = strrchr(run_file, '/');
    char *folder = slash ? strndup(run_file, (size_t)(slash - run_file) + 1) : lp_text_copy(".");
    int status = folder ? find_in_run(folder, path_out) : lp_error(LLMPERF_ENOMEM, "out of memory");

    free(folder);
    return status;
}

static int find_recording(const char *source, char **path_out)
{
    uint32_t format;
    int status;

    if (lp_path_is_folder(source))
        return find_in_run(source, path_out);
    if ((status = llmperf_format_detect(source, &format)) < 0)
        return status;
    if (format == LLMPERF_FORMAT_RUN)
        return find_beside(source, path_out);
    if (format != LLMPERF_FORMAT_RECORDING)
        return lp_error(LLMPERF_EFORMAT, "%s is neither a run nor a recording", source);
    *path_out = lp_text_copy(source);
    return *path_out ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

/* What the recording says about its machine (the env.json of its session). */

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

static void take_gpu(struct exporter *exporter, const json_t *object)
{
    struct lp_trace_gpu *gpu = &exporter->gpus[exporter->facts.gpu_count];
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *capability = json_string_value(json_object_get(object, "compute_capability"));

    if (!json_is_integer(json_object_get(object, "device")) ||
        exporter->facts.gpu_count == GPUS_MOST)
        return;
    *gpu = (struct lp_trace_gpu){ .device = (uint32_t)number_of(object, "device"),
                                  .sm_count = number_of(object, "sm_count"),
                                  .clock_khz = number_of(object, "clock_khz"),
                                  .l2_bytes = number_of(object, "l2_bytes"),
                                  .memory_bytes = number_of(object, "memory_bytes") };
    lp_text_sanitise(gpu->name, sizeof(gpu->name), name ? name : "");
    if (capability && strchr(capability, '.')) {
        gpu->cc_major = (uint32_t)strtoul(capability, NULL, 10);
        gpu->cc_minor = (uint32_t)strtoul(strchr(capability, '.') + 1, NULL, 10);
    }
    exporter->facts.gpu_count++;
}

static void take_machine(struct exporter *exporter)
{
    json_t *machine =
        exporter->source->recorded ? json_loads(exporter->source->recorded, 0, NULL) : NULL;
    const json_t *gpus = json_object_get(machine, "gpus"), *gpu;
    size_t index;

    exporter->facts.gpus = exporter->gpus;
    json_array_foreach(gpus, index, gpu) take_gpu(exporter, gpu);
    json_decref(machine);
}

/* Events */

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct exporter *exporter = context;

    for (size_t i = 0; i < count; i++) {
        lp_attribution_host(exporter->attribution, thread, &records[i], 1);
        lp_trace_host(exporter->trace, thread, &records[i]);
    }
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    lp_attribution_activities(((struct exporter *)context)->attribution, activities, count);
}

static void pass_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    lp_attribution_graphs(((struct exporter *)context)->attribution, events, count);
}

static void pass_plan(void *context, const struct lp_counter_plan *plan)
{
    lp_trace_plan(((struct exporter *)context)->trace, plan);
}

static void pass_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    lp_trace_counter(((struct exporter *)context)->trace, fact, values);
}

static int play(struct exporter *exporter)
{
    const struct lp_device_sink sink = { exporter,    pass_host, pass_activities,
                                         pass_graphs, pass_plan, pass_counter };
    const struct lp_device_ops *ops = exporter->source->ops;
    int status;

    while ((status = ops->deliver(exporter->source, &sink)) > 0)
        lp_attribution_settle(exporter->attribution, 0, false);
    lp_attribution_settle(exporter->attribution, 0, true);
    lp_attribution_close_regions(exporter->attribution);
    if (status == 0 && lp_attribution_failed(exporter->attribution))
        status = lp_error(LLMPERF_ENOMEM, "out of memory: the trace would not be whole");
    return status;
}

static void remark_what_is_missing(struct exporter *exporter, llmperf_trace_summary *summary)
{
    struct lp_device_stats stats;

    exporter->source->ops->stats(exporter->source, &stats);
    if (stats.full_ns)
        lp_trace_remark(exporter->trace, "the recording reached its size limit: later events are "
                                         "missing");
    if (stats.cut)
        lp_trace_remark(exporter->trace, "the recording ends early: its program was killed, or "
                                         "still runs");
    summary->missing_from_ns = stats.full_ns;
    summary->cut = stats.cut;
}

static int open_pipeline(struct exporter *exporter)
{
    struct lp_device_stats stats;
    struct lp_attribution_sink results;

    exporter->source->ops->stats(exporter->source, &stats);
    exporter->facts.names = &exporter->names;
    exporter->facts.process_id = stats.process_id;
    exporter->facts.duration_ns = stats.duration_ns;
    exporter->facts.start_ns = stats.start_ns;
    exporter->facts.start_utc_ns = stats.start_utc_ns;
    take_machine(exporter);
    if (!(exporter->trace = lp_trace_create(exporter->writer, &exporter->facts)))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    results = lp_trace_sink(exporter->trace);
    exporter->attribution = lp_attribution_create(&results);
    return exporter->attribution ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

static int export_recording(struct exporter *exporter, const char *recording, uint32_t format,
                            const char *path, llmperf_trace_summary *summary)
{
    const struct lp_device_options options = { .path = recording, .names = &exporter->names };
    llmperf_trace_summary missing = LLMPERF_TRACE_SUMMARY_INIT;
    int status;

    if ((status = lp_device_open_replay(&options, &exporter->source)) < 0 ||
        (status = lp_trace_writer_open(format, path, &exporter->writer)) < 0 ||
        (status = open_pipeline(exporter)) < 0 || (status = play(exporter)) < 0)
        return status;
    remark_what_is_missing(exporter, &missing);
    if ((status = lp_trace_finish(exporter->trace, summary)) < 0)
        return status;
    summary->missing_from_ns = missing.missing_from_ns;
    summary->cut = missing.cut;
    return 0;
}

static void clear(struct exporter *exporter)
{
    lp_attribution_free(exporter->attribution);
    lp_trace_free(exporter->trace);
    if (exporter->writer)
        exporter->writer->ops->free(exporter->writer);
    if (exporter->source)
        exporter->source->ops->close(exporter->source);
    lp_names_clear(&exporter->names);
    free(exporter);
}

int llmperf_trace_export(const char *source, uint32_t format, const char *path,
                         llmperf_trace_summary *summary_out)
{
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    struct exporter *exporter;
    char *recording = NULL;
    size_t size;
    int status;

    if (!source || !path || !llmperf_trace_file_name(format))
        return lp_error(LLMPERF_EINVAL,
                        "source, path and a format (LLMPERF_TRACE_ in llmperf/trace.h) are "
                        "required");
    if (summary_out && summary_out->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise with LLMPERF_TRACE_SUMMARY_INIT");
    if ((status = find_recording(source, &recording)) < 0)
        return status;
    if (!(exporter = calloc(1, sizeof(*exporter)))) {
        free(recording);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    exporter->facts.title = source;
    status = export_recording(exporter, recording, format, path, &summary);
    if (status == 0 && summary_out) {
        size = summary_out->struct_size;
        memcpy(summary_out, &summary, size < sizeof(summary) ? size : sizeof(summary));
        summary_out->struct_size = size;
    }
    clear(exporter);
    free(recording);
    return status;
}
