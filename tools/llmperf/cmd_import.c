/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "llmperf/llmperf.h"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* -1: it can be imported; else an exit code. */
static int check_recording(const struct command *command, const char *path)
{
    static const char *const later[] = { ".sqlite", ".nsys-rep", ".csv", ".ncu-rep" };

    if (!is_file(path))
        return fail_usage(command, "%s is no file", path);
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        if (ends_with(path, later[i]))
            return fail_usage(command, "%s: files of nsys and ncu are not in this version", path);
    if (!ends_with(path, ".llmrec"))
        return fail_usage(command, "%s is no recording (.llmrec)", path);
    return -1;
}

static bool holds_run(const char *run_dir)
{
    char path[4096];

    return snprintf(path, sizeof(path), "%s/run.llmperf", run_dir) < (int)sizeof(path) &&
           is_file(path);
}

/* Several runs may be made in one second: the library's run id plus a number. */
static void make_run_id(char *text, size_t size, int number)
{
    time_t now = time(NULL);
    char stamp[32];
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &utc);
    snprintf(text, size, "%s-%ld-%d", stamp, (long)getpid(), number);
}

static void print_result(const char *recording, const llmperf_profile *profile, const char *run_dir)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    print("%s: verdict %s, %" PRIu64 " kernels\n%s\n", recording,
          llmperf_verdict_name(ledger.verdict), ledger.kernels_seen, run_dir);
}

static int replay(const char *recording, const llmperf_session_options *options)
{
    llmperf_profile *profile = NULL;
    llmperf_session *session;
    int status;

    if ((status = llmperf_session_start(options, &session)) < 0)
        return fail_status(status);
    status = llmperf_session_stop(session, &profile);
    if (status < 0)
        status = fail_status(status);
    else
        print_result(recording, profile, llmperf_session_run_dir(session));
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return status;
}

int cmd_import(const struct command *command, int argc, char **argv)
{
    struct option_text wanted[] = { { "--output", "-o", NULL } };
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    const char *out = getenv("LLMPERF_OUT");
    int count, status;

    if ((status = parse_options(command, argc, argv, wanted, 1, &count)) >= 0)
        return status;
    if (count == 0)
        return fail_usage(command, "give a recording");
    if (count > 1 && wanted[0].value)
        return fail_usage(command, "-o takes one recording");
    if (wanted[0].value && holds_run(wanted[0].value))
        return fail_usage(command, "%s holds a run already", wanted[0].value);
    for (int i = 1; i <= count; i++)
        if ((status = check_recording(command, argv[i])) >= 0)
            return status;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.run_dir = wanted[0].value;
    options.out_dir = out && *out ? out : "runs";
    for (int i = 1; i <= count; i++) {
        char run_id[64];

        make_run_id(run_id, sizeof(run_id), i);
        options.run_id = count > 1 ? run_id : NULL;
        options.device_path = argv[i];
        if ((status = replay(argv[i], &options)) != EXIT_FINE)
            return status;
    }
    return EXIT_FINE;
}
