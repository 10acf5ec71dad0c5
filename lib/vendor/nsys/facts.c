/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a run in an nsys export, and what the export lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "lib/vendor/gpus.h"
#include "lib/vendor/nsys/sqlite.h"

#define NS_PER_S         INT64_C(1000000000)
#define GPUS_MOST        64
#define SEVERITY_WARNING 2

struct description {
    struct lp_nsys *nsys;
    llmperf_profile *profile;
    struct lp_gpu_fact gpus[GPUS_MOST],
        seen[GPUS_MOST];                         /* on the machine; as processes number them */
    int64_t ids[GPUS_MOST], seen_ids[GPUS_MOST]; /* nsys's ids of them */
    size_t gpu_count, seen_count;
    int64_t duration_ns;
    bool used_gpu; /* a process had a CUDA context */
    int status;
};

/* Facts */

static int visit_meta(void *user, const struct lp_cell *cells)
{
    static const char *const kept[][2] = { { "EXPORT_PRODUCT_VERSION", "nsys_version" },
                                           { "EXPORT_SCHEMA_VERSION", "nsys_schema" } };
    struct description *description = user;
    char value[64];

    for (size_t i = 0; i < LP_LENGTH(kept); i++) {
        if (!cells[0].text || !cells[1].text || strcmp(cells[0].text, kept[i][0]) != 0)
            continue;
        lp_text_sanitise(value, sizeof(value), cells[1].text);
        return lp_profile_set_fact(description->profile, kept[i][1], value);
    }
    if (cells[0].text && cells[1].text &&
        ((!strcmp(cells[0].text, "EXPORT_PARAM_TIME_NORMALIZE") &&
          !strcmp(cells[1].text, "true")) ||
         (!strcmp(cells[0].text, "EXPORT_PARAM_TIME_SHIFT") && strcmp(cells[1].text, "0") != 0)))
        return lp_profile_note(description->profile,
                               "nsys: the export shifted all times; durations are as measured");
    return 0;
}

static int visit_start(void *user, const struct lp_cell *cells)
{
    struct description *description = user;

    return cells[0].null ? 0 : lp_set_time_fact(description->profile, cells[0].number / NS_PER_S);
}

static int visit_duration(void *user, const struct lp_cell *cells)
{
    struct description *description = user;

    if (!cells[0].null && cells[0].number > description->duration_ns)
        description->duration_ns = cells[0].number;
    return 0;
}

/* GPUs */

static int visit_gpu(void *user, const struct lp_cell *cells)
{
    struct description *description = user;
    struct lp_gpu_fact *gpu = &description->gpus[description->gpu_count];

    if (description->gpu_count == GPUS_MOST || cells[0].null)
        return 0;
    /* By default CUDA's order on the machine, else nsys's. */
    *gpu = (struct lp_gpu_fact){ .ordinal = cells[2].null ? cells[0].number : cells[2].number,
                                 .sm_count = cells[3].number,
                                 .major = cells[4].number,
                                 .minor = cells[5].number,
                                 .clock_hz = cells[6].number,
                                 .l2_bytes = cells[7].number,
                                 .memory_bytes = cells[8].number };
    lp_text_sanitise(gpu->name, sizeof(gpu->name), cells[1].text ? cells[1].text : "");
    description->ids[description->gpu_count++] = cells[0].number;
    return 0;
}

/* Processes have their own device numbers (CUDA_VISIBLE_DEVICES). */
static int visit_ordinal(void *user, const struct lp_cell *cells)
{
    struct description *description = user;

    if (cells[0].null || cells[1].null || description->seen_count == GPUS_MOST)
        return 0;
    for (size_t i = 0; i < description->seen_count; i++)
        if (description->seen_ids[i] == cells[0].number &&
            description->seen[i].ordinal == cells[1].number)
            return 0;
    for (size_t i = 0; i < description->gpu_count; i++) {
        if (description->ids[i] != cells[0].number)
            continue;
        description->seen[description->seen_count] = description->gpus[i];
        description->seen[description->seen_count].ordinal = cells[1].number;
        description->seen_ids[description->seen_count++] = cells[0].number;
        return 0;
    }
    return 0;
}

static int set_environment(struct description *description)
{
    bool mapped = description->seen_count > 0;

    return lp_gpus_set(description->profile, mapped ? description->seen : description->gpus,
                       mapped ? description->seen_count : description->gpu_count,
                       "the nsys export does not name a GPU");
}

/* Problems */

static int visit_overhead(void *user, const struct lp_cell *cells)
{
    struct description *description = user;

    if (!cells[0].null && !cells[1].null && cells[1].number >= cells[0].number) {
        description->nsys->overhead_ns += (uint64_t)cells[1].number - (uint64_t)cells[0].number;
        description->nsys->has_overhead = true;
    }
    return 0;
}

/* The texts may contain paths and account names, so only their number is reported. */
static int visit_diagnostic(void *user, const struct lp_cell *cells)
{
    struct description *description = user;
    const char *text = cells[1].text;

    if (cells[0].null || cells[0].number < SEVERITY_WARNING || !text)
        return 0;
    if (strstr(text, "lost") || strstr(text, "dropped") || strstr(text, "overflow") ||
        strstr(text, "discarded"))
        description->nsys->losses++;
    else
        description->nsys->warnings++;
    return 0;
}

static int visit_context(void *user, const struct lp_cell *cells)
{
    struct description *description = user;

    (void)cells;
    description->used_gpu = true;
    return 0;
}

/* nsys ends with exit code 0 when it cannot process the records of a newer driver. */
static int check_lost(struct description *description)
{
    const llmperf_ledger *ledger = lp_profile_ledger_edit(description->profile);

    return description->used_gpu && ledger->kernels_seen == 0 && ledger->memory_seen == 0
               ? lp_profile_problem(description->profile,
                                    "the program had a CUDA context, but the export has no kernel, "
                                    "memcpy or memset: nsys recorded none or lost them (look for "
                                    "errors in its output; a newer nsys may know this driver)")
               : 0;
}

/* A line with a number, unless it is 0. */
static int add_line(struct description *description, bool problem, const char *before,
                    uint64_t number, const char *after)
{
    if (number == 0)
        return 0;
    return (problem ? lp_profile_problem : lp_profile_note)(
        description->profile, "nsys%s%" PRIu64 "%s", before, number, after);
}

static int add_timeline_lines(struct description *description)
{
    const struct lp_timeline *timeline = &description->nsys->timeline;
    int status;

    if ((status = add_line(description, false, ": ", timeline->deep_spans,
                           " ranges are nested more than 128 deep and were skipped")) < 0 ||
        (status = add_line(description, false, ": ", timeline->bad_spans,
                           " ranges end before they start and were skipped")) < 0)
        return status;
    return timeline->paths_full
               ? lp_profile_problem(description->profile,
                                    "there are too many region paths; the remaining ones are "
                                    "combined as LLM@(too many paths)")
               : 0;
}

static int add_lines(struct description *description)
{
    const struct lp_nsys *nsys = description->nsys;
    int status;

    if ((status = add_line(description, true, " lost records: ", nsys->losses,
                           " of its diagnostics report it; open the report in Nsight Systems")) <
            0 ||
        (status = add_line(description, false, " noted ", nsys->warnings,
                           " warnings from nsys; open the report in Nsight Systems to read them")) <
            0 ||
        (status = add_line(description, false, ": ", nsys->graph_rows,
                           " CUDA graphs were traced as a whole, so their kernels are unknown; "
                           "profile with --cuda-graph-trace=node")) < 0 ||
        (status = add_line(description, false, ": ", nsys->nameless,
                           " kernels have no name in the export")) < 0)
        return status;
    return add_timeline_lines(description);
}

/* An export older than its report is of another run. */
static int check_age(struct description *description)
{
    const char *path = description->nsys->path, *dot = strrchr(path, '.');
    struct lp_text report = { NULL, 0, 0, false };
    struct stat mine, other;
    bool stale;

    if (!dot || strcmp(dot, ".sqlite") != 0)
        return 0;
    lp_text_add(&report, path, (size_t)(dot - path));
    lp_text_puts(&report, ".nsys-rep");
    stale = !report.failed && stat(path, &mine) == 0 && stat(report.bytes, &other) == 0 &&
            mine.st_mtime < other.st_mtime;
    lp_text_clear(&report);
    return stale
               ? lp_profile_problem(description->profile,
                                    "the export is older than the .nsys-rep next to it and may be "
                                    "from another run: export again with --force-overwrite=true")
               : 0;
}

static int read_facts(struct description *description)
{
    static const struct lp_want meta[] = { { "name", true }, { "value", true } };
    static const struct lp_want start[] = { { "utcEpochNs", false } };
    static const struct lp_want details[] = { { "duration", false } };
    static const struct lp_want gpus[] = {
        { "id", false },           { "name", true },
        { "cuDevice", false },     { "smCount", false },
        { "computeMajor", false }, { "computeMinor", false },
        { "clockRate", false },    { "l2CacheSize", false },
        { "totalMemory", false },  { "memoryBandwidth", false }
    };
    static const struct lp_want ordinals[] = { { "gpuId", false }, { "cudaId", false } };
    static const struct lp_want spans[] = { { "start", false }, { "end", false } };
    static const struct lp_want diagnostics[] = { { "severity", false }, { "text", true } };
    static const struct lp_want contexts[] = { { "contextId", false } };
    struct lp_database *database = description->nsys->database;
    int status;

#define READ(table, wants, visit)                                                                  \
    ((status = lp_database_rows(database, table, wants, LP_LENGTH(wants), visit, description)) < 0)
    if (READ("META_DATA_EXPORT", meta, visit_meta) || READ("EXPORT_META_DATA", meta, visit_meta) ||
        READ("TARGET_INFO_SESSION_START_TIME", start, visit_start) ||
        READ("ANALYSIS_DETAILS", details, visit_duration) ||
        READ("TARGET_INFO_GPU", gpus, visit_gpu) ||
        READ("TARGET_INFO_CUDA_DEVICE", ordinals, visit_ordinal) ||
        READ("CUPTI_ACTIVITY_KIND_OVERHEAD", spans, visit_overhead) ||
        READ("TARGET_INFO_CUDA_CONTEXT_INFO", contexts, visit_context) ||
        READ("DIAGNOSTIC_EVENT", diagnostics, visit_diagnostic))
        return status;
#undef READ
    return 0;
}

static int set_duration(struct description *description)
{
    int64_t duration = description->duration_ns;
    char text[40];

    if (duration <= 0)
        duration = description->nsys->last_time;
    if (duration <= 0)
        return 0;
    snprintf(text, sizeof(text), "%.3f", (double)duration / 1e6);
    return lp_profile_set_fact(description->profile, "duration_ms", text);
}

int lp_nsys_describe(struct lp_nsys *nsys, llmperf_profile *profile)
{
    struct description *description = calloc(1, sizeof(*description));
    llmperf_ledger *ledger = lp_profile_ledger_edit(profile);
    int status;

    if (!description)
        return lp_out_of_memory();
    description->nsys = nsys;
    description->profile = profile;
    if ((status = read_facts(description)) == 0 && (status = set_environment(description)) == 0 &&
        (status = set_duration(description)) == 0 && (status = add_lines(description)) == 0 &&
        (status = check_age(description)) == 0 && (status = check_lost(description)) == 0 &&
        (status = lp_profile_set_fact(profile, "source", "nsys")) == 0)
        status = lp_profile_set_fact(profile, "tier", "deep");
    if (nsys->has_overhead)
        ledger->tracing_overhead_ms = (double)nsys->overhead_ns / 1e6;
    lp_timeline_forget_calls(&nsys->timeline, ledger);
    free(description);
    return status;
}
