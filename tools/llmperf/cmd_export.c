/* SPDX-License-Identifier: Apache-2.0 */
/** Runs in the formats of other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "llmperf/sys.h"

#define PATH_BYTES 4096

static const struct format {
    const char *word;
    uint32_t document; /* LLMPERF_DOCUMENT_…; 0: a trace */
    uint32_t trace;    /* LLMPERF_TRACE_… */
} formats[] = {
    { "prometheus", LLMPERF_DOCUMENT_PROMETHEUS, 0 },
    { "csv", LLMPERF_DOCUMENT_ROWS_CSV, 0 },
    { "jsonl", LLMPERF_DOCUMENT_ROWS_JSONL, 0 },
    { "chrome", 0, LLMPERF_TRACE_CHROME },
    { "perfetto", 0, LLMPERF_TRACE_PERFETTO },
    { "nsys-sqlite", 0, LLMPERF_TRACE_NSYS_SQLITE },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct format *find_format(const char *word)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (word && strcmp(formats[i].word, word) == 0)
            return &formats[i];
    return NULL;
}

static int export_document(const char *run, uint32_t document, const char *path)
{
    llmperf_profile *profile;
    int status = llmperf_profile_open(run, &profile);

    if (status < 0)
        return fail_status(status);
    status = write_document(profile, document, path ? path : "-");
    llmperf_profile_free(profile);
    return status;
}

/* The usual file of a run's folder, of which nobody said that it may be a link. false: it is no
 * folder. */
static bool usual_file(const char *run, uint32_t trace, char *path)
{
    struct stat info;

    if (stat(run, &info) < 0 || !S_ISDIR(info.st_mode) ||
        snprintf(path, PATH_BYTES, "%s/%s", run, llmperf_trace_file_name(trace)) >= PATH_BYTES)
        return false;
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode))
        unlink(path);
    return true;
}

static void tell_trace(const char *path, const llmperf_trace_summary *summary)
{
    uint64_t length_ns = summary->last_ns - summary->first_ns;

    if (summary->missing_from_ns && summary->first_ns == 0)
        fprintf(stderr, "llmperf export: the trace has no events: the recording reached its size "
                        "limit (artifacts.trace_bytes) before the first one\n");
    else if (summary->missing_from_ns)
        fprintf(stderr,
                "llmperf export: the trace ends %.3f s after its first event: the recording "
                "reached its size limit (artifacts.trace_bytes)\n",
                summary->missing_from_ns > summary->first_ns
                    ? (double)(summary->missing_from_ns - summary->first_ns) / 1e9
                    : 0.0);
    if (summary->cut)
        fprintf(stderr, "llmperf export: the recording is incomplete at its end: its program was "
                        "killed or is still running\n");
    if (summary->runs_missing)
        fprintf(stderr,
                "llmperf export: the events of %" PRIu32 " of %" PRIu32
                " runs are missing: they have no trace, or were moved or deleted; a remark in the "
                "trace names them\n",
                summary->runs_missing, summary->runs + summary->runs_missing);
    if (summary->clocks > 1)
        fprintf(stderr,
                "llmperf export: the runs are from %" PRIu32
                " machines, aligned by time of day: times between machines are only as exact as "
                "their clock synchronisation\n",
                summary->clocks);
    if (summary->runs_untimed)
        fprintf(stderr,
                "llmperf export: %" PRIu32 " of %" PRIu32
                " runs have no start time: their events could not be aligned with the others\n",
                summary->runs_untimed, summary->runs);
    if (strcmp(path, "-") != 0)
        print("%" PRIu64 " kernels, %" PRIu64 " memory copies and memsets, %" PRIu64
              " graphs, %" PRIu64 " regions, %" PRIu64 " launches, %" PRIu64
              " samples in %.3f s\n%s\n",
              summary->kernels, summary->memory, summary->graphs, summary->regions,
              summary->launches, summary->samples, (double)length_ns / 1e9, path);
}

static int export_trace(const struct command *command, const char *run, uint32_t trace,
                        const char *path)
{
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    char usual[PATH_BYTES];
    int status;

    if (!path && !usual_file(run, trace, usual))
        return fail_usage(command, "%s is not a run directory: give -o FILE", run);
    path = path ? path : usual;
    if (strcmp(path, "-") == 0 && trace == LLMPERF_TRACE_NSYS_SQLITE)
        return fail_usage(command, "nsys-sqlite writes a database: give -o FILE");
    status =
        llmperf_trace_export(run, trace, strcmp(path, "-") == 0 ? "/dev/stdout" : path, &summary);
    if (status < 0)
        return fail_status(status);
    tell_trace(path, &summary);
    return EXIT_FINE;
}

int cmd_export(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--format", NULL, NULL }, { "--output", "-o", NULL } };
    const struct format *format;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 2, &count)) >= 0)
        return status;
    if (count != 1)
        return fail_usage(command, "expected one run");
    if (!(format = find_format(options[0].value)))
        return fail_usage(
            command, "--format must be prometheus, csv, jsonl, chrome, perfetto or nsys-sqlite");
    return format->document ? export_document(argv[1], format->document, options[1].value)
                            : export_trace(command, argv[1], format->trace, options[1].value);
}
