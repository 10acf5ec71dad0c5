/* SPDX-License-Identifier: Apache-2.0 */
/** Runs of several processes or ranks as one. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "llmperf/llmperf.h"
#include "new_run.h"

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
    status = new_run_write(merged, run_dir, NULL, what);
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
        return fail_usage(command, "expected two or more runs");
    if (!options[0].value)
        return fail_usage(command, "-o RUN_DIR is required: the folder for the merged run");
    if (holds_run(options[0].value))
        return fail_usage(command, "%s already contains a run; choose another -o or remove it",
                          options[0].value);
    if (!(profiles = calloc((size_t)count, sizeof(llmperf_profile *))))
        return EXIT_ENVIRONMENT;
    status = open_all(argv + 1, count, profiles);
    status = status < 0 ? fail_status(status) : merge_runs(profiles, count, options[0].value);
    for (int i = 0; i < count; i++)
        llmperf_profile_free(profiles[i]);
    free(profiles);
    return status;
}
