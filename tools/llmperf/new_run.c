/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "folder.h"
#include "new_run.h"
#include "progress.h"

#define PATH_BYTES 4096

void new_run_id(char id[RUN_ID_BYTES], int number)
{
    time_t now = time(NULL);
    char stamp[32];
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &utc);
    if (number > 0)
        snprintf(id, RUN_ID_BYTES, "%s-%ld-%d", stamp, (long)getpid(), number);
    else
        snprintf(id, RUN_ID_BYTES, "%s-%ld", stamp, (long)getpid());
}

int new_run_name(const struct command *command, const struct configured *configured, char *run_id,
                 size_t size)
{
    const char *id = NULL;

    new_run_id(run_id, 0);
    if (!configured->config || !llmperf_config_has(configured->config, "run.id") ||
        llmperf_config_text(configured->config, "run.id", &id) < 0)
        return EXIT_FINE;
    if (*id && *id != '.' && !strchr(id, '/') && snprintf(run_id, size, "%s", id) < (int)size)
        return EXIT_FINE;
    return fail_usage(command, "run.id %s must be a folder name without a path", id);
}

bool holds_run(const char *run_dir)
{
    char path[PATH_BYTES];
    struct stat info;

    return snprintf(path, sizeof(path), "%s/run.llmperf", run_dir) < (int)sizeof(path) &&
           stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Merged runs keep their traces. */
static void report_traces(const llmperf_profile *profile, const char *run_dir)
{
    const char *traces = llmperf_profile_fact(profile, "merged_traces");

    if (traces)
        fprintf(stderr,
                "llmperf: %s runs have a trace, in their own folders; llmperf export %s --format "
                "perfetto combines them\n",
                traces, run_dir);
}

int new_run_save(const llmperf_profile *profile, const char *run_dir)
{
    char folder[PATH_BYTES], file[PATH_BYTES + 16];
    int status;

    snprintf(folder, sizeof(folder), "%s", run_dir);
    snprintf(file, sizeof(file), "%s/run.llmperf", folder);
    if (!folder_make(folder))
        return EXIT_ENVIRONMENT;
    progress_begin();
    if ((status = llmperf_profile_save(profile, file)) == 0)
        status = llmperf_artifacts_write(profile, folder);
    progress_end();
    if (status < 0)
        return fail_status(status);
    report_traces(profile, run_dir);
    return EXIT_FINE;
}

static void say_what_was_written(const llmperf_profile *profile, const char *folder,
                                 const char *what)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    print("%s: verdict %s, %" PRIu64 " kernels\n%s\n", what,
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict), ledger.kernels_seen, folder);
}

int new_run_finish(const llmperf_profile *profile, const char *run_dir)
{
    int status = llmperf_artifacts_write(profile, run_dir);

    if (status < 0)
        return fail_status(status);
    say_what_was_written(profile, run_dir, "run");
    return EXIT_FINE;
}

int new_run_write(const llmperf_profile *profile, const char *run_dir, const char *out,
                  const char *what)
{
    const char *id = llmperf_profile_fact(profile, "run_id");
    char folder[PATH_BYTES];
    int status;

    if (run_dir)
        snprintf(folder, sizeof(folder), "%s", run_dir);
    else
        snprintf(folder, sizeof(folder), "%s/%s", out, id ? id : "run");
    if ((status = new_run_save(profile, folder)) != EXIT_FINE)
        return status;
    say_what_was_written(profile, folder, what);
    return EXIT_FINE;
}
