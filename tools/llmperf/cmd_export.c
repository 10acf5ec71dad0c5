/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf export`: a run in the format of another program. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "llmperf/sys.h"
#include "progress.h"

#define PATH_BYTES 4096

/* In the order of the choices of --format. */
static const struct format {
    uint32_t document; /* LLMPERF_DOCUMENT_…; 0: a trace */
    uint32_t trace;    /* LLMPERF_TRACE_… */
} formats[] = {
    { LLMPERF_DOCUMENT_PROMETHEUS, 0 }, { LLMPERF_DOCUMENT_ROWS_CSV, 0 },
    { LLMPERF_DOCUMENT_ROWS_JSONL, 0 }, { 0, LLMPERF_TRACE_PERFETTO },
    { 0, LLMPERF_TRACE_CHROME },        { 0, LLMPERF_TRACE_NSYS_SQLITE },
};

enum { FORMAT, OUTPUT };

static const struct option options[] = {
    [FORMAT] =
        OPTION("--format", NULL, "prometheus|csv|jsonl|perfetto|chrome|nsys-sqlite", NULL,
               "prometheus: totals in Prometheus text format; csv: one line per number; jsonl: "
               "one JSON object per row. For a run with a trace (llmperf run --trace) or a "
               "recording (.llmrec): perfetto: for ui.perfetto.dev; chrome: JSON like "
               "torch.profiler's; nsys-sqlite: the tables of nsys export"),
    [OUTPUT] = OPTION("--output", "-o", "FILE", NULL,
                      "write to a file; - is standard output. Default: standard output; for traces "
                      "RUN/trace.pftrace, RUN/trace.json, RUN/trace.sqlite"),
    OPTIONS_END
};

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

/* The default file in a run folder. A link is refused, because the user did not name the file.
 * false: not a folder. */
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

static void report_trace(const char *path, const llmperf_trace_summary *summary)
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
        print("%" PRIu64 " kernels, %" PRIu64 " memcpys and memsets, %" PRIu64 " graphs, %" PRIu64
              " regions, %" PRIu64 " launches, %" PRIu64 " samples in %.3f s\n%s\n",
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
    progress_begin();
    status =
        llmperf_trace_export(run, trace, strcmp(path, "-") == 0 ? "/dev/stdout" : path, &summary);
    progress_end();
    if (status < 0)
        return fail_status(status);
    report_trace(path, &summary);
    return EXIT_FINE;
}

static int run(const struct command *command, int argc, char **argv)
{
    const struct format *format;
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count != 1)
        return fail_usage(command, "expected one run");
    if (!words.values[FORMAT])
        return fail_usage(command, "give --format, one of %s", options[FORMAT].value);
    format = &formats[choice_of(command, &words, FORMAT)];
    return format->document ? export_document(argv[1], format->document, words.values[OUTPUT])
                            : export_trace(command, argv[1], format->trace, words.values[OUTPUT]);
}

const struct command command_export = {
    .name = "export",
    .summary = "convert a run into another format",
    .operands = "RUN --format FORMAT [-o FILE]",
    .about = "Writes a run for other programs.",
    .options = options,
    .run = run,
};
