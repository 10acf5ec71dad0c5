/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings, played through attribution into a file of another program. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/attribution/attribution.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/base/vector.h"
#include "lib/capture/capture.h"
#include "lib/result/result.h"
#include "lib/session/graph_ends.h"
#include "lib/trace/trace.h"
#include "llmperf/import.h"
#include "llmperf/job.h"
#include "llmperf/trace.h"

#define GPUS_MOST 64

/* A recording on its way into a file. */
struct player {
    struct lp_names names;
    struct lp_device_source *source;
    struct lp_attribution *attribution;
    struct lp_graph_ends graph_ends;
    struct lp_trace *trace;
    struct lp_trace_facts facts;
    struct lp_trace_gpu gpus[GPUS_MOST];
    const struct lp_merged_gpus *numbers; /* of GPUs, in the file */
};

struct exporter {
    LP_VECTOR(char *) recordings;
    LP_VECTOR(struct player *) players; /* a writer may look at the facts of each until the end */
    struct lp_trace_writer *writer;
    struct lp_merged_gpus numbers; /* as a merged run has them: processes may each call theirs 0 */
    llmperf_trace_summary summary;
};

static int out_of_memory(void)
{
    return lp_error(LLMPERF_ENOMEM, "out of memory");
}

/* Which recordings are meant. */

static int add_recording(struct exporter *exporter, char *path)
{
    if (path && lp_vector_push(&exporter->recordings, path) == 0)
        return 0;
    free(path);
    return out_of_memory();
}

/* 1: it keeps a trace; 0: it does not. */
static int add_run(struct exporter *exporter, const char *run)
{
    char *path = lp_path_join(run, "trace.llmrec");
    int status;

    if (path && !lp_path_exists(path)) {
        free(path);
        return 0;
    }
    status = add_recording(exporter, path);
    return status < 0 ? status : 1;
}

/* A run of all processes of a job stands in the job's folder: its trace is theirs. */
static int add_job_of(struct exporter *exporter, const char *merged)
{
    char *folder = realpath(merged, NULL), *name = folder ? strrchr(folder, '/') : NULL;
    llmperf_job *job = NULL;
    int status = 0;

    if (name && name > folder && strcmp(name, "/merged") == 0) {
        *name = '\0';
        status = llmperf_job_find(folder, &job);
    }
    for (size_t i = 0; job && status >= 0 && i < llmperf_job_run_count(job); i++)
        status = add_run(exporter, llmperf_job_run(job, i));
    llmperf_job_free(job);
    free(folder);
    return status < 0 ? status : 0;
}

static int find_in_run(struct exporter *exporter, const char *run)
{
    int status = add_run(exporter, run);

    if (status == 0)
        status = add_job_of(exporter, run);
    if (status < 0 || exporter->recordings.count > 0)
        return status < 0 ? status : 0;
    return lp_error(LLMPERF_ENOENT,
                    "%s keeps totals only: profile with keep_trace (llmperf run --trace) for "
                    "events in the order of time, or export the recording (.llmrec) that it was "
                    "made of",
                    run);
}

static int find_beside(struct exporter *exporter, const char *run_file)
{
    const char *slash = strrchr(run_file, '/');
    char *folder = slash ? strndup(run_file, (size_t)(slash - run_file) + 1) : lp_text_copy(".");
    int status = folder ? find_in_run(exporter, folder) : out_of_memory();

    free(folder);
    return status;
}

static int find_recordings(struct exporter *exporter, const char *source)
{
    uint32_t format;
    int status;

    if (lp_path_is_folder(source))
        return find_in_run(exporter, source);
    if ((status = llmperf_format_detect(source, &format)) < 0)
        return status;
    if (format == LLMPERF_FORMAT_RUN)
        return find_beside(exporter, source);
    if (format != LLMPERF_FORMAT_RECORDING)
        return lp_error(LLMPERF_EFORMAT, "%s is neither a run nor a recording", source);
    return add_recording(exporter, lp_text_copy(source));
}

static bool is_same_file(const struct stat *file, const char *path)
{
    struct stat other;

    return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

/* A trace never replaces what it is made from. */
static int check_target(const struct exporter *exporter, const char *source, const char *path)
{
    struct stat target;
    bool same;

    if (stat(path, &target) < 0) /* it does not exist yet */
        return 0;
    same = is_same_file(&target, source);
    for (size_t i = 0; i < exporter->recordings.count; i++)
        same = same || is_same_file(&target, exporter->recordings.items[i]);
    return same ? lp_error(LLMPERF_EINVAL,
                           "%s is what the trace is made from; write it to another file", path)
                : 0;
}

/* What the recording says about its machine (the env.json of its session). */

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) > 0
               ? (uint64_t)json_integer_value(value)
               : 0;
}

static uint16_t number_here(const struct player *player, uint64_t device)
{
    return (uint16_t)lp_merged_gpu(player->numbers, (int32_t)device);
}

static void take_gpu(struct player *player, const json_t *object)
{
    struct lp_trace_gpu *gpu = &player->gpus[player->facts.gpu_count];
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *capability = json_string_value(json_object_get(object, "compute_capability"));

    if (!json_is_integer(json_object_get(object, "device")) || player->facts.gpu_count == GPUS_MOST)
        return;
    *gpu = (struct lp_trace_gpu){ .device = number_here(player, number_of(object, "device")),
                                  .sm_count = number_of(object, "sm_count"),
                                  .clock_khz = number_of(object, "clock_khz"),
                                  .l2_bytes = number_of(object, "l2_bytes"),
                                  .memory_bytes = number_of(object, "memory_bytes") };
    lp_text_sanitise(gpu->name, sizeof(gpu->name), name ? name : "");
    if (capability && strchr(capability, '.')) {
        gpu->cc_major = (uint32_t)strtoul(capability, NULL, 10);
        gpu->cc_minor = (uint32_t)strtoul(strchr(capability, '.') + 1, NULL, 10);
    }
    player->facts.gpu_count++;
}

static void take_machine(struct player *player)
{
    json_t *machine =
        player->source->recorded ? json_loads(player->source->recorded, 0, NULL) : NULL;
    const json_t *gpus = json_object_get(machine, "gpus"), *gpu;
    size_t index;

    player->facts.gpus = player->gpus;
    json_array_foreach(gpus, index, gpu) take_gpu(player, gpu);
    json_decref(machine);
}

/* Events */

static void pass_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct player *player = context;

    for (size_t i = 0; i < count; i++) {
        lp_attribution_host(player->attribution, thread, &records[i], 1);
        lp_trace_host(player->trace, thread, &records[i]);
    }
}

static void pass_activities(void *context, struct lp_activity *activities, size_t count)
{
    struct player *player = context;

    for (size_t i = 0; i < count; i++)
        activities[i].device = number_here(player, activities[i].device);
    if (lp_attribution_is_sampled(player->attribution))
        lp_graph_ends_pass(&player->graph_ends, player->attribution, activities, count);
    else
        lp_attribution_activities(player->attribution, activities, count);
}

static void pass_graphs(void *context, const struct lp_graph_event *events, size_t count)
{
    lp_attribution_graphs(((struct player *)context)->attribution, events, count);
}

static void pass_plan(void *context, const struct lp_counter_plan *plan)
{
    lp_trace_plan(((struct player *)context)->trace, plan);
}

static void pass_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    struct player *player = context;
    struct lp_counter_fact here = *fact;

    here.device = number_here(player, fact->device);
    lp_trace_counter(player->trace, &here, values);
}

static int play(struct player *player)
{
    const struct lp_device_sink sink = { player,      pass_host, pass_activities,
                                         pass_graphs, pass_plan, pass_counter };
    const struct lp_device_ops *ops = player->source->ops;
    int status;

    while ((status = ops->deliver(player->source, &sink)) > 0)
        lp_attribution_settle(player->attribution, 0, false);
    lp_graph_ends_settle(&player->graph_ends, player->attribution);
    lp_attribution_settle(player->attribution, 0, true);
    lp_attribution_close_regions(player->attribution);
    if (status == 0 && lp_attribution_failed(player->attribution))
        status = lp_error(LLMPERF_ENOMEM, "out of memory: the trace would not be whole");
    return status;
}

static void remark_what_is_missing(struct player *player, llmperf_trace_summary *summary)
{
    struct lp_device_stats stats;

    player->source->ops->stats(player->source, &stats);
    if (stats.full_ns)
        lp_trace_remark(player->trace, "the recording reached its size limit: later events are "
                                       "missing");
    if (stats.cut)
        lp_trace_remark(player->trace, "the recording ends early: its program was killed, or "
                                       "still runs");
    if (stats.full_ns && (!summary->missing_from_ns || stats.full_ns < summary->missing_from_ns))
        summary->missing_from_ns = stats.full_ns;
    summary->cut = summary->cut || stats.cut;
}

static int open_pipeline(struct exporter *exporter, struct player *player)
{
    struct lp_device_stats stats;
    struct lp_attribution_sink results;
    int status = lp_merged_gpus_add(&exporter->numbers, player->source->recorded);

    if (status < 0)
        return status;
    player->numbers = &exporter->numbers;
    player->source->ops->stats(player->source, &stats);
    player->facts.names = &player->names;
    player->facts.process_id = stats.process_id;
    player->facts.duration_ns = stats.duration_ns;
    player->facts.start_ns = stats.start_ns;
    player->facts.start_utc_ns = stats.start_utc_ns;
    take_machine(player);
    if (!(player->trace = lp_trace_create(exporter->writer, &player->facts)))
        return out_of_memory();
    results = lp_trace_sink(player->trace);
    player->attribution = lp_attribution_create(&results);
    return player->attribution ? 0 : out_of_memory();
}

/* A run's recording is called like its folder, another one like its file. */
static const char *title_of(const char *recording)
{
    const char *last = strrchr(recording, '/'), *before = last;

    if (!last || strcmp(last, "/trace.llmrec") != 0)
        return last ? last + 1 : recording;
    while (before > recording && before[-1] != '/')
        before--;
    return before;
}

static int export_recording(struct exporter *exporter, struct player *player, char *recording)
{
    const struct lp_device_options options = { .path = recording, .names = &player->names };
    char *title = strrchr(recording, '/');
    int status;

    player->facts.title = title_of(recording);
    if ((status = lp_device_open_replay(&options, &player->source)) < 0)
        return status;
    if (title && player->facts.title < title)
        *title = '\0';
    if ((status = open_pipeline(exporter, player)) < 0 || (status = play(player)) < 0)
        return status;
    remark_what_is_missing(player, &exporter->summary);
    return lp_trace_end(player->trace, &exporter->summary);
}

/* All of it is large but for the facts and their texts. */
static void clear_player(struct player *player)
{
    lp_attribution_free(player->attribution);
    lp_trace_free(player->trace);
    player->attribution = NULL;
    player->trace = NULL;
}

static void free_player(struct player *player)
{
    clear_player(player);
    if (player->source)
        player->source->ops->close(player->source);
    lp_names_clear(&player->names);
    free(player);
}

static int export_all(struct exporter *exporter)
{
    int status = 0;

    for (size_t i = 0; i < exporter->recordings.count && status == 0; i++) {
        struct player *player = calloc(1, sizeof(*player));

        if (!player || lp_vector_push(&exporter->players, player) < 0) {
            free(player);
            return out_of_memory();
        }
        player->facts.part = (uint32_t)i;
        status = export_recording(exporter, player, exporter->recordings.items[i]);
        clear_player(player);
    }
    return status < 0 ? status : exporter->writer->ops->finish(exporter->writer);
}

static void clear(struct exporter *exporter)
{
    if (exporter->writer)
        exporter->writer->ops->free(exporter->writer);
    for (size_t i = 0; i < exporter->players.count; i++)
        free_player(exporter->players.items[i]);
    for (size_t i = 0; i < exporter->recordings.count; i++)
        free(exporter->recordings.items[i]);
    lp_merged_gpus_clear(&exporter->numbers);
    lp_vector_clear(&exporter->players);
    lp_vector_clear(&exporter->recordings);
}

int llmperf_trace_export(const char *source, uint32_t format, const char *path,
                         llmperf_trace_summary *summary_out)
{
    struct exporter exporter = { .summary = LLMPERF_TRACE_SUMMARY_INIT };
    size_t size;
    int status;

    if (!source || !path || !llmperf_trace_file_name(format))
        return lp_error(LLMPERF_EINVAL,
                        "source, path and a format (LLMPERF_TRACE_ in llmperf/trace.h) are "
                        "required");
    if (summary_out && summary_out->struct_size < sizeof(size_t))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise with LLMPERF_TRACE_SUMMARY_INIT");
    if ((status = find_recordings(&exporter, source)) == 0 &&
        (status = check_target(&exporter, source, path)) == 0 &&
        (status = lp_trace_writer_open(format, path, &exporter.writer)) == 0)
        status = export_all(&exporter);
    if (status == 0 && summary_out) {
        size = summary_out->struct_size;
        memcpy(summary_out, &exporter.summary,
               size < sizeof(exporter.summary) ? size : sizeof(exporter.summary));
        summary_out->struct_size = size;
    }
    clear(&exporter);
    return status;
}
