/* SPDX-License-Identifier: Apache-2.0 */
/** Exports recordings, through attribution, to a trace file of another program. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/attribution/attribution.h"
#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/base/vector.h"
#include "lib/profile/profile.h"
#include "lib/record/paths.h"
#include "lib/trace/export/graph_ends.h"
#include "lib/trace/export/clocks.h"
#include "lib/trace/export/sources.h"
#include "lib/trace/trace.h"
#include "llmperf/sys/trace.h"
#include "lib/device/device.h"
#include "lib/store/merge_gpus.h"

#define GPUS_MOST    64
#define REMARK_BYTES 1024

/* A recording during export. */
struct player {
    struct lp_names names;
    struct lp_device_source *source;
    struct lp_attribution *attribution;
    struct lp_graph_ends graph_ends;
    struct lp_trace *trace;
    struct lp_trace_facts facts;
    char title[256]; /* of the process */
    struct lp_trace_gpu gpus[GPUS_MOST];
    const struct lp_merged_gpus *numbers; /* GPU numbers in the file */
};

struct exporter {
    struct lp_trace_sources
        sources; /* GPU numbers of the merged run: each process may have a GPU 0 */
    struct lp_trace_clocks clocks;
    LP_VECTOR(struct player *) players; /* writers may use the facts of each until the end */
    struct lp_trace_writer *writer;
    llmperf_trace_summary summary;
};

static bool is_same_file(const struct stat *file, const char *path)
{
    struct stat other;

    return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

/* A trace must not replace a recording that it is made from. */
static int check_target(const struct exporter *exporter, const char *source, const char *path)
{
    struct stat target;
    bool same;

    if (stat(path, &target) < 0) /* it does not exist */
        return 0;
    same = is_same_file(&target, source);
    for (size_t i = 0; i < exporter->sources.items.count; i++)
        same = same || is_same_file(&target, exporter->sources.items.items[i].recording);
    return same ? lp_error(LLMPERF_EINVAL,
                           "%s is the source of the trace; write the trace to another file", path)
                : 0;
}

/* env.json of the recording's session. */

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

/* "serve · NVIDIA H200"; the name of the recording stays if the program is not known. */
static void take_title(struct player *player, const json_t *machine)
{
    const char *program = json_string_value(json_object_get(machine, "program"));
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *gpu = json_string_value(
        json_object_get(json_array_get(json_object_get(machine, "gpus"), 0), "name"));

    if (!program || !*program)
        return;
    snprintf(player->title, sizeof(player->title), "%s%s%s", slash ? slash + 1 : program,
             gpu ? " · " : "", gpu ? gpu : "");
    player->facts.title = player->title;
}

static void take_machine(struct player *player)
{
    json_t *machine =
        player->source->recorded ? json_loads(player->source->recorded, 0, NULL) : NULL;
    const json_t *gpus = json_object_get(machine, "gpus"), *gpu;
    size_t index;

    player->facts.gpus = player->gpus;
    take_title(player, machine);
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
                                         pass_graphs, pass_plan, pass_counter,
                                         NULL };
    const struct lp_device_ops *ops = player->source->ops;
    int status;

    while ((status = ops->deliver(player->source, &sink)) > 0)
        lp_attribution_settle(player->attribution, 0, false);
    lp_graph_ends_settle(&player->graph_ends, player->attribution);
    lp_attribution_settle(player->attribution, 0, true);
    lp_attribution_close_regions(player->attribution);
    if (status == 0 && lp_attribution_failed(player->attribution))
        status = lp_error(LLMPERF_ENOMEM, "out of memory: the trace would be incomplete");
    return status;
}

static void remark_what_is_missing(struct player *player, llmperf_trace_summary *summary)
{
    struct lp_device_stats stats;
    uint64_t full_ns;

    player->source->ops->stats(player->source, &stats);
    if (stats.full_ns)
        lp_trace_remark(player->trace, "the recording reached its size limit: later events are "
                                       "missing");
    if (stats.cut)
        lp_trace_remark(player->trace,
                        "the recording ends early: its program was killed or is still running");
    full_ns = stats.full_ns ? stats.full_ns + player->facts.shift_ns : 0;
    if (full_ns && (!summary->missing_from_ns || full_ns < summary->missing_from_ns))
        summary->missing_from_ns = full_ns;
    summary->cut = summary->cut || stats.cut;
}

/* Notes for the reader of a file with several runs. */
static void remark_what_stands_together(const struct exporter *exporter, struct player *player)
{
    const struct lp_trace_sources *sources = &exporter->sources;
    char text[REMARK_BYTES];

    if (sources->without.length > 0) {
        snprintf(text, sizeof(text), "runs without a trace, whose events are missing: %s",
                 sources->without.bytes);
        lp_trace_remark(player->trace, text);
    }
    if (sources->lost.length > 0) {
        snprintf(text, sizeof(text),
                 "runs that were moved or deleted, whose events are missing: %s",
                 sources->lost.bytes);
        lp_trace_remark(player->trace, text);
    }
    if (exporter->clocks.count > 1)
        lp_trace_remark(player->trace,
                        "these runs are from several machines with separate clocks; they are "
                        "aligned by time of day, so order and distances between machines are only "
                        "as exact as their clock synchronisation (NTP: about a millisecond)");
    if (exporter->clocks.untimed > 0)
        lp_trace_remark(player->trace, "some recordings have no start time: their events could not "
                                       "be aligned with the others");
}

static int open_pipeline(struct exporter *exporter, struct player *player)
{
    struct lp_device_stats stats;
    struct lp_attribution_sink results;
    const struct lp_trace_source *source = &exporter->sources.items.items[player->facts.part];
    int status = lp_merged_gpus_add(&exporter->sources.gpus, player->source->recorded);

    if (status < 0)
        return status;
    player->numbers = &exporter->sources.gpus;
    player->source->ops->stats(player->source, &stats);
    player->facts.names = &player->names;
    player->facts.process_id = source->process_id ? source->process_id : stats.process_id;
    player->facts.duration_ns = stats.duration_ns;
    player->facts.shift_ns = exporter->clocks.items.items[player->facts.part].shift_ns;
    player->facts.start_ns = stats.start_ns ? stats.start_ns + player->facts.shift_ns : 0;
    player->facts.start_utc_ns = stats.start_utc_ns;
    take_machine(player);
    if (!(player->trace = lp_trace_create(exporter->writer, &player->facts)))
        return lp_out_of_memory();
    results = lp_trace_sink(player->trace);
    player->attribution = lp_attribution_create(&results);
    return player->attribution ? 0 : lp_out_of_memory();
}

/* Name of a recording: the folder of its run, else its file. */
static const char *title_of(const char *recording)
{
    const char *last = strrchr(recording, '/'), *before = last;

    if (!last || strcmp(last, "/" LP_TRACE_FILE) != 0)
        return last ? last + 1 : recording;
    while (before > recording && before[-1] != '/')
        before--;
    return before;
}

/* Open a recording and read its clock; all clocks are needed before the first event. */
static int open_recording(struct exporter *exporter, struct player *player, char *recording)
{
    const struct lp_device_options options = { .path = recording, .names = &player->names };
    struct lp_device_stats stats;
    char *title = strrchr(recording, '/');
    int status;

    player->facts.title = title_of(recording);
    if ((status = lp_device_open_replay(&options, &player->source)) < 0)
        return status;
    if (title && player->facts.title < title)
        *title = '\0';
    player->source->ops->stats(player->source, &stats);
    return lp_trace_clocks_add(&exporter->clocks, player->source->recorded, stats.start_ns,
                               stats.start_utc_ns);
}

static int export_recording(struct exporter *exporter, struct player *player)
{
    int status;

    if ((status = open_pipeline(exporter, player)) < 0 || (status = play(player)) < 0)
        return status;
    remark_what_is_missing(player, &exporter->summary);
    if (player->facts.part == 0)
        remark_what_stands_together(exporter, player);
    return lp_trace_end(player->trace, &exporter->summary);
}

/* Free everything large; facts and their texts are kept. */
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

static int open_all(struct exporter *exporter)
{
    int status = 0;

    for (size_t i = 0; i < exporter->sources.items.count && status == 0; i++) {
        struct player *player = calloc(1, sizeof(*player));

        if (!player || lp_vector_push(&exporter->players, player) < 0) {
            free(player);
            return lp_out_of_memory();
        }
        player->facts.part = (uint32_t)i;
        status = open_recording(exporter, player, exporter->sources.items.items[i].recording);
    }
    lp_trace_clocks_settle(&exporter->clocks);
    return status;
}

static int export_all(struct exporter *exporter)
{
    int status = 0;

    for (size_t i = 0; i < exporter->players.count && status == 0; i++) {
        status = export_recording(exporter, exporter->players.items[i]);
        clear_player(exporter->players.items[i]);
    }
    exporter->summary.runs = (uint32_t)exporter->players.count;
    exporter->summary.runs_missing = (uint32_t)exporter->sources.missing;
    exporter->summary.clocks = exporter->clocks.count > 1 ? exporter->clocks.count : 1;
    exporter->summary.runs_untimed = exporter->clocks.untimed;
    return status < 0 ? status : exporter->writer->ops->finish(exporter->writer);
}

static void clear(struct exporter *exporter)
{
    if (exporter->writer)
        exporter->writer->ops->free(exporter->writer);
    for (size_t i = 0; i < exporter->players.count; i++)
        free_player(exporter->players.items[i]);
    lp_vector_clear(&exporter->players);
    lp_trace_clocks_clear(&exporter->clocks);
    lp_trace_sources_clear(&exporter->sources);
}

int llmperf_trace_export(const char *source, uint32_t format, const char *path,
                         llmperf_trace_summary *summary_out)
{
    struct exporter exporter = { .summary = LLMPERF_TRACE_SUMMARY_INIT };
    int status;

    if (!source || !path || !llmperf_trace_file_name(format))
        return lp_error(LLMPERF_EINVAL,
                        "source, path and a format (LLMPERF_TRACE_ in llmperf/sys/trace.h) are "
                        "required");
    if (summary_out && (status = lp_sized_check(summary_out)) < 0)
        return status;
    lp_path_use();
    if ((status = lp_trace_sources_find(&exporter.sources, source)) == 0 &&
        (status = check_target(&exporter, source, path)) == 0 &&
        (status = open_all(&exporter)) == 0 &&
        (status = lp_trace_writer_open(format, path, &exporter.writer)) == 0)
        status = export_all(&exporter);
    if (status == 0 && summary_out)
        status = lp_sized_out(summary_out, &exporter.summary, sizeof(exporter.summary));
    clear(&exporter);
    lp_path_end_use();
    return status;
}
