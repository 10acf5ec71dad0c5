/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf merge`: runs of several processes or ranks as one run. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "llmperf/llmperf.h"
#include "new_run.h"
#include "progress.h"

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
    int status;

    progress_begin();
    status =
        llmperf_profile_merge((const llmperf_profile *const *)profiles, (size_t)count, &merged);
    progress_end();
    if (status < 0)
        return fail_status(status);
    snprintf(what, sizeof(what), "%d runs", count);
    status = new_run_write(merged, run_dir, NULL, what);
    llmperf_profile_free(merged);
    return status;
}

static const struct option options[] = {
    OPTION("--output", "-o", "RUN_DIR", NULL, "run directory of the merged run"), OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    llmperf_profile **profiles;
    struct words words;
    const char *out;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count < 2)
        return fail_usage(command, "expected two or more runs");
    if (!(out = words.values[0]))
        return fail_usage(command, "-o RUN_DIR is required: the folder for the merged run");
    if (holds_run(out))
        return fail_usage(command, "%s already contains a run; choose another -o or remove it",
                          out);
    if (!(profiles = calloc((size_t)words.count, sizeof(llmperf_profile *))))
        return EXIT_ENVIRONMENT;
    progress_begin();
    status = open_all(argv + 1, words.count, profiles);
    progress_end();
    status = status < 0 ? fail_status(status) : merge_runs(profiles, words.count, out);
    for (int i = 0; i < words.count; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
    return status;
}

const struct command command_merge = {
    .name = "merge",
    .summary = "combine the runs of several processes or ranks",
    .operands = "RUN RUN... -o RUN_DIR",
    .about = "Combines the runs of one job and writes a run directory with all reports. Regions "
             "are kept by process; kernels of the same region and device are added up; the verdict "
             "is the worst of all runs. A run that would be counted twice is refused: one that is "
             "given twice, or that a given merged run already contains. Traces stay in their runs; "
             "llmperf export RUN_DIR combines them into one file. The last line of output is the "
             "run directory.",
    .options = options,
    .run = run,
};
