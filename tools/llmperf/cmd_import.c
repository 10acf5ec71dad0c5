/* SPDX-License-Identifier: Apache-2.0 */
/** Files of other tools become one run; recordings of this library are played, each a run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "configured.h"
#include "llmperf/sys.h"
#include "new_run.h"
#include "precedence.h"

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

/* For runs that are given no folder of their own. */
static const char *out_folder(const struct configured *configured)
{
    const char *configured_out = NULL;

    if (configured->config && llmperf_config_has(configured->config, "artifacts.dir"))
        llmperf_config_text(configured->config, "artifacts.dir", &configured_out);
    return precedence_choose(NULL, "LLMPERF_OUT", configured_out, "runs");
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
    options.out_dir = out_folder(configured);
    for (int i = 0; i < count && status == EXIT_FINE; i++) {
        char run_id[RUN_ID_BYTES];

        new_run_id(run_id, i + 1);
        options.run_id = count > 1 ? run_id : NULL; /* one has that of the configuration */
        options.device_path = paths[i];
        status = replay(paths[i], &options);
    }
    return status;
}

static int name_run(const struct configured *configured, char *run_id, size_t size)
{
    const char *given = NULL;

    new_run_id(run_id, 0);
    if (!configured->config || !llmperf_config_has(configured->config, "run.id") ||
        llmperf_config_text(configured->config, "run.id", &given) < 0)
        return EXIT_FINE;
    if (*given && *given != '.' && !strchr(given, '/') &&
        snprintf(run_id, size, "%s", given) < (int)size)
        return EXIT_FINE;
    fprintf(stderr, "llmperf import: run.id %s must be a folder name without a path\n", given);
    return EXIT_USAGE;
}

static int import_files(char **paths, int count, const char *run_dir, uint32_t flags,
                        const struct configured *configured)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    llmperf_profile *profile;
    char run_id[128];
    char what[32];
    int status;

    if ((status = name_run(configured, run_id, sizeof(run_id))) != EXIT_FINE)
        return status;
    options.run_id = run_id;
    options.flags = flags;
    options.config = configured->text;
    status = llmperf_import((const char *const *)paths, (size_t)count, &options, &profile);
    if (status < 0)
        return fail_status(status);
    snprintf(what, sizeof(what), "%d files", count);
    status = configured->config ? configured_apply(profile, NULL, NULL) : EXIT_FINE;
    if (status == EXIT_FINE)
        status =
            new_run_write(profile, run_dir, out_folder(configured), count == 1 ? paths[0] : what);
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
        *recordings_out += format == LLMPERF_FORMAT_RECORDING;
    }
    return *recordings_out == 0 || *recordings_out == count
               ? -1
               : fail_usage(command, "recordings become runs of their own: import them separately "
                                     "from files of other tools");
}

/* Operands that are KEY=VALUE, and no file of that name, go to the configuration; the files stay at
 * argv[1]. @return how many files, -1 with a message */
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

int cmd_import(const struct command *command, int argc, char **argv)
{
    struct option_text options[] = { { "--output", "-o", NULL },
                                     { "--names", NULL, "short" },
                                     { "--model", NULL, NULL },
                                     { "--dtype", NULL, NULL },
                                     { "--config", NULL, NULL } };
    struct configured configured = { .name = NULL };
    int count, recordings, status;
    bool exact;

    if ((status = parse_options(command, argc, argv, options, 5, &count)) >= 0)
        return status;
    if ((count = take_words(&configured, count, argv)) < 0)
        return EXIT_USAGE;
    if (count == 0)
        return fail_usage(command, "expected an nsys or ncu file, or a recording");
    exact = strcmp(options[1].value, "exact") == 0;
    if (!exact && strcmp(options[1].value, "short") != 0)
        return fail_usage(command, "--names must be short or exact");
    if (options[0].value && holds_run(options[0].value))
        return fail_usage(command, "%s already contains a run; choose another -o or remove it",
                          options[0].value);
    if ((status = check_formats(command, argv + 1, count, &recordings)) >= 0)
        return status;
    configured.model = options[2].value;
    configured.name = options[4].value;
    status =
        configured_set(&configured, "run.dtype", options[3].value) ? EXIT_FINE : EXIT_ENVIRONMENT;
    if (status == EXIT_FINE && (configured.name || configured.model || configured.count > 0))
        status = configured_compose(&configured);
    if (status == EXIT_FINE && recordings > 0)
        status = replay_all(command, argv + 1, count, options[0].value, &configured);
    else if (status == EXIT_FINE)
        status = import_files(argv + 1, count, options[0].value,
                              exact ? LLMPERF_IMPORT_EXACT_NAMES : 0, &configured);
    configured_clear(&configured);
    return status;
}
