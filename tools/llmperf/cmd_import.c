/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf import`: files of nsys and ncu become one run; each recording of this library and each
 * trace of torch.profiler is replayed into a run of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "configured.h"
#include "llmperf/sys.h"
#include "new_run.h"
#include "progress.h"

static void print_result(const char *recording, const llmperf_profile *profile, const char *run_dir)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    print("%s: verdict %s, %" PRIu64 " kernels\n%s\n", recording,
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict), ledger.kernels_seen, run_dir);
}

static int replay(const char *recording, const llmperf_session_options *options)
{
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;
    int status;

    progress_begin();
    if ((status = llmperf_session_start(options, &session)) == 0)
        status = llmperf_session_stop(session, &profile);
    progress_end();
    if (status < 0)
        status = fail_status(status);
    else
        print_result(recording, profile, llmperf_session_run_dir(session));
    llmperf_profile_free(profile);
    llmperf_session_free(session);
    return status;
}

static int replay_all(const struct command *command, char **paths, int count, const char *run_dir,
                      const struct configured *configured)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    int status = EXIT_FINE;

    if (count > 1 && run_dir)
        return fail_usage(command, "-o works with one recording only");
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.config = configured->config;
    options.run_dir = run_dir;
    options.out_dir = configured_text(configured, "artifacts.dir", "runs");
    for (int i = 0; i < count && status == EXIT_FINE; i++) {
        char run_id[RUN_ID_BYTES];

        new_run_id(run_id, i + 1);
        options.run_id =
            count > 1 ? run_id : NULL; /* a single one has the id of the configuration */
        options.device_path = paths[i];
        status = replay(paths[i], &options);
    }
    return status;
}

static int import_files(const struct command *command, char **paths, int count, const char *run_dir,
                        uint32_t flags, const struct configured *configured)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    llmperf_profile *profile;
    char run_id[128];
    char what[32];
    int status;

    if ((status = new_run_name(command, configured, run_id, sizeof(run_id))) != EXIT_FINE)
        return status;
    options.run_id = run_id;
    options.flags = flags;
    options.config = configured->text;
    progress_begin();
    status = llmperf_import((const char *const *)paths, (size_t)count, &options, &profile);
    progress_end();
    if (status < 0)
        return fail_status(status);
    snprintf(what, sizeof(what), "%d files", count);
    status = configured->config ? configured_apply(profile, NULL) : EXIT_FINE;
    if (status == EXIT_FINE)
        status =
            new_run_write(profile, run_dir, configured_text(configured, "artifacts.dir", "runs"),
                          count == 1 ? paths[0] : what);
    llmperf_profile_free(profile);
    return status;
}

/* -1: the files can be imported together; else an exit code. */
static int check_formats(const struct command *command, char **paths, int count,
                         int *recordings_out)
{
    *recordings_out = 0;
    for (int i = 0; i < count; i++) {
        uint32_t format;
        int status = llmperf_format_detect(paths[i], &format);

        if (status < 0)
            return fail_status(status);
        *recordings_out += format == LLMPERF_FORMAT_RECORDING || format == LLMPERF_FORMAT_TRACE;
    }
    return *recordings_out == 0 || *recordings_out == count
               ? -1
               : fail_usage(
                     command,
                     "recordings and traces become runs of their own: import them separately "
                     "from files of other tools");
}

/* Move operands KEY=VALUE that are not file names to the configuration; the files stay from argv[1]
 * on. @return number of files; -1 after a message */
static int take_words(struct configured *configured, int count, char **argv)
{
    int files = 0;

    for (int i = 1; i <= count; i++)
        if ((!strchr(argv[i], '=') && argv[i][0] != '~') || access(argv[i], F_OK) == 0)
            argv[++files] = argv[i];
        else if (!configured_add(configured, argv[i]))
            return -1;
    return files;
}

enum { OUTPUT, NAMES };

static const struct option options[] = {
    [OUTPUT] = OPTION("--output", "-o", "RUN_DIR", NULL,
                      "run directory; default: a new one in $LLMPERF_OUT, artifacts.dir or runs"),
    [NAMES] = OPTION("--names", NULL, "short|exact", "short",
                     "exact: keep the suffixes that PyTorch adds to range names (\", op_id = 7\")"),
    OPTIONS_END
};

static int import_all(const struct command *command, char **paths, const struct words *words,
                      int count, struct configured *configured)
{
    const char *run_dir = words->values[OUTPUT];
    int recordings, status;

    if (run_dir && holds_run(run_dir))
        return fail_usage(command, "%s already contains a run; choose another -o or remove it",
                          run_dir);
    if ((status = check_formats(command, paths, count, &recordings)) >= 0)
        return status;
    if (!configured_take(configured, words))
        return EXIT_ENVIRONMENT;
    if ((configured->name || configured->model || configured->count > 0) &&
        (status = configured_compose(configured)) != EXIT_FINE)
        return status;
    return recordings > 0
               ? replay_all(command, paths, count, run_dir, configured)
               : import_files(command, paths, count, run_dir,
                              choice_of(command, words, NAMES) ? LLMPERF_IMPORT_EXACT_NAMES : 0,
                              configured);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct configured configured = { .name = NULL };
    struct words words;
    int count, status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if ((count = take_words(&configured, words.count, argv)) < 0)
        return EXIT_USAGE;
    if (count == 0)
        return fail_usage(command, "expected an nsys or ncu file, a recording or a trace");
    status = import_all(command, argv + 1, &words, count, &configured);
    configured_clear(&configured);
    return status;
}

const struct command command_import = {
    .name = "import",
    .summary = "convert nsys and ncu files, traces, or recordings, into runs",
    .operands = "[options] [KEY=VALUE...] FILE...",
    .about = "Combines nsys SQLite exports, nsys stats tables (CSV), ncu reports (.ncu-rep) and "
             "ncu CSV output into one run with reports; formats are detected by content. Each "
             "recording (.llmrec) and each JSON trace of torch.profiler (vLLM, SGLang), also "
             "compressed by gzip, becomes a run of its own. The last line of output is the run "
             "directory.",
    .options = options,
    .run = run,
};
