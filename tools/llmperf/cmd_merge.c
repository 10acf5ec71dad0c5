/* SPDX-License-Identifier: Apache-2.0 */
/** Runs of several processes or ranks as one. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "command.h"
#include "llmperf/llmperf.h"
#include "new_run.h"

/* The file of a run as llmperf_profile_open() takes it; false: it will say what is wrong. */
static bool find_file(const char *run, struct stat *file_out)
{
    static const char *const places[] = { "", "/run.llmperf", "/merged/run.llmperf" };
    char path[4096];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int length = snprintf(path, sizeof(path), "%s%s", run, places[i]);

        if (length > 0 && (size_t)length < sizeof(path) && stat(path, file_out) == 0 &&
            S_ISREG(file_out->st_mode))
            return true;
    }
    return false;
}

/* Everything of a run that is given twice, by a link to the latest say, would count twice. */
static bool is_same_run(const char *left, const char *right)
{
    struct stat a, b;

    return find_file(left, &a) && find_file(right, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int refuse_repeated(const struct command *command, char **paths, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = 0; k < i; k++)
            if (is_same_run(paths[k], paths[i]))
                return fail_usage(command, "%s and %s are the same run; give each one once",
                                  paths[k], paths[i]);
    return 0;
}

static int open_all(char **paths, int count, llmperf_profile **profiles)
{
    int status = LLMPERF_OK;

    for (int i = 0; i < count && status == LLMPERF_OK; i++)
        status = llmperf_profile_open(paths[i], &profiles[i]);
    return status;
}

static int merge_runs(llmperf_profile **profiles, int count, const char *run_dir)
{
    llmperf_profile *merged;
    char what[32];
    int status =
        llmperf_profile_merge((const llmperf_profile *const *)profiles, (size_t)count, &merged);

    if (status < 0)
        return fail_status(status);
    snprintf(what, sizeof(what), "%d runs", count);
    status = new_run_write(merged, run_dir, what);
    llmperf_profile_free(merged);
    return status;
}

int cmd_merge(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--output", "-o", NULL } };
    llmperf_profile **profiles;
    int count, status;

    if ((status = parse_options(command, argc, argv, options, 1, &count)) >= 0)
        return status;
    if (count < 2)
        return fail_usage(command, "give two runs or more");
    if (!options[0].value)
        return fail_usage(command, "-o RUN_DIR is needed: where the merged run goes");
    if (holds_run(options[0].value))
        return fail_usage(command, "%s holds a run already; give another -o, or remove it",
                          options[0].value);
    if ((status = refuse_repeated(command, argv + 1, count)) != 0)
        return status;
    if (!(profiles = calloc((size_t)count, sizeof(llmperf_profile *))))
        return EXIT_ENVIRONMENT;
    status = open_all(argv + 1, count, profiles);
    status = status < 0 ? fail_status(status) : merge_runs(profiles, count, options[0].value);
    for (int i = 0; i < count; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
    return status;
}
