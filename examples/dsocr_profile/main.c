/* SPDX-License-Identifier: Apache-2.0 */
/* Vision, prefill and decode of a document model under the profiler. The last line on stdout is the
 * run directory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "llmperf/sys/config.h"
#include "ranks.h"
#include "run.h"

static int run_live(struct run *run)
{
    const char *folder;
    int code;

    if ((code = run_plan(run)) != 0)
        return code;
    if (run->options->plan_only) {
        report_plan(run);
        return EXIT_SUCCESS;
    }
    if ((code = run_prepare(run)) || (code = run_measure(run)) || (code = report_repeats(run)))
        return code;
    if (!run->session)
        return EXIT_SUCCESS;
    if ((code = report_inputs(run)) || (code = report_ledger(run->profile)))
        return code;
    folder = llmperf_session_run_dir(run->session);
    if (folder) {
        ranks_report(run, folder);
        puts(folder);
    }
    return EXIT_SUCCESS;
}

/* Beside the data files in the source tree, among them where they are installed. */
static int find_recording(char *path, size_t size)
{
    const char *folder = llmperf_config_dir();

    if (folder) {
        snprintf(path, size, "%s/../examples/data/dsocr_base.llmrec", folder);
        if (access(path, R_OK) == 0)
            return 0;
        snprintf(path, size, "%s/examples/dsocr_base.llmrec", folder);
        if (access(path, R_OK) == 0)
            return 0;
    }
    return complain("no recording is installed; name one: --recorded=FILE", EXIT_ENVIRONMENT);
}

static int run_recorded(struct run *run)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char path[4096];
    int code;

    snprintf(path, sizeof(path), "%s", run->options->recorded);
    if (!*path && (code = find_recording(path, sizeof(path))) != 0)
        return code;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = path;
    options.model_path = run->options->model;
    options.out_dir = run->options->out ? run->options->out : getenv("LLMPERF_OUT");
    options.out_dir = options.out_dir ? options.out_dir : "runs";
    if (llmperf_session_start(&options, &run->session) < 0 ||
        llmperf_session_stop(run->session, &run->profile) < 0)
        return complain(llmperf_last_error(), EXIT_ENVIRONMENT);
    printf("recorded run: %s\n", path);
    if ((code = report_ledger(run->profile)) != 0)
        return code;
    puts(llmperf_session_run_dir(run->session));
    return EXIT_SUCCESS;
}

int main(int count, char **arguments)
{
    struct options options;
    struct run run = { .options = &options };
    int code = options_parse(&options, count, arguments);

    if (code != GO_ON)
        return code;
    if (options.ranks > 1 && options.rank == RANK_NONE && !options.is_recorded &&
        !options.plan_only)
        return ranks_launch(&options, count, arguments);
    code = options.is_recorded ? run_recorded(&run) : run_live(&run);
    run_clear(&run);
    return code;
}
