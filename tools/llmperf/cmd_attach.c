/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf attach`: profiles a process that runs already and waits for it (LLMPERF_ATTACH=1). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "folder.h"
#include "llmperf/sys.h"
#include "llmperf/sys/inject.h"
#include "new_run.h"
#include "run.h"

enum { START, STOP, DURATION };

static const struct option options[] = {
    [START] = OPTION("--start", NULL, NULL, NULL, "start profiling and return; --stop ends it"),
    [STOP] = OPTION("--stop", NULL, NULL, NULL, "end what --start began, and write the reports"),
    [DURATION] = { "--duration", NULL, "SECONDS", NULL,
                   "profile for so long; without it, until Ctrl-C", 1, 604800 },
    OPTIONS_END
};

/* Names of the sockets in which processes wait: "… @llmperf-attach-PID". */
static int list_processes(void)
{
    static const char name[] = "@llmperf-attach-";
    FILE *sockets = fopen("/proc/net/unix", "re");
    char line[512];
    int count = 0;

    while (sockets && fgets(line, sizeof(line), sockets)) {
        const char *at = strstr(line, name);

        if (!at || !strstr(line, " 00010000 ")) /* connections have the name, too */
            continue;
        print("%s", at + strlen(name));
        count++;
    }
    if (sockets)
        fclose(sockets);
    if (count == 0)
        fprintf(stderr, "llmperf attach: no process waits; start one with LLMPERF_ATTACH=1 and "
                        "CUDA_INJECTION64_PATH=(path of libllmperf.so)\n");
    return EXIT_FINE;
}

/* A folder for the run, with its configuration. @param path  Out: RUN_PATH_BYTES. */
static int make_folder(const struct command *command, struct configured *configured, char *path)
{
    char id[256], folder[RUN_PATH_BYTES], file[RUN_PATH_BYTES + 16];
    struct run_config config;
    const char *out;
    int status;

    if ((status = run_compose(configured, &config)) != EXIT_FINE ||
        (status = new_run_name(command, configured, id, sizeof(id))) != EXIT_FINE)
        return status;
    out = configured_text(configured, "artifacts.dir", "runs");
    if (!folder_join(folder, out, id) || !folder_make_own(folder) || !realpath(folder, path))
        return EXIT_ENVIRONMENT;
    snprintf(file, sizeof(file), "%s/config.yaml", path);
    return run_keep_config(&config, file);
}

/* @param path  Out: the folder of the run; RUN_PATH_BYTES. */
static int start(const struct command *command, const struct words *words, char **argv,
                 uint32_t process_id, char *path)
{
    struct configured configured = { .name = NULL };
    char file[RUN_PATH_BYTES + 16];
    int status = EXIT_FINE;

    for (int i = 2; i <= words->count && status == EXIT_FINE; i++)
        status = configured_add(&configured, argv[i]) ? EXIT_FINE : EXIT_USAGE;
    if (status == EXIT_FINE && !configured_take(&configured, words))
        status = EXIT_ENVIRONMENT;
    if (status == EXIT_FINE)
        status = make_folder(command, &configured, path);
    if (status == EXIT_FINE &&
        (status = llmperf_attach_start(process_id, path, configured.tier)) < 0) {
        status = fail_status(status);
        snprintf(file, sizeof(file), "%s/config.yaml", path);
        unlink(file);
        rmdir(path);
    }
    configured_clear(&configured);
    return status;
}

/* @param folder  In: the folder of the run, "" if it is not known; RUN_PATH_BYTES. A process that
 * ended meanwhile has completed its run file. */
static int stop(uint32_t process_id, char *folder)
{
    llmperf_profile *profile;
    int status = llmperf_attach_stop(process_id, folder, RUN_PATH_BYTES);

    if (status < 0 && *folder) {
        fprintf(stderr, "llmperf attach: %s\n", llmperf_last_error());
        status = 0;
    }
    if (status < 0 || (status = llmperf_profile_open(folder, &profile)) < 0)
        return fail_status(status);
    status = new_run_finish(profile, folder);
    llmperf_profile_free(profile);
    return status;
}

/* Until the time is over, or a signal asks for the end. */
static void wait_for(uint64_t seconds)
{
    const struct timespec limit = { .tv_sec = (time_t)seconds };
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    if (seconds > 0)
        sigtimedwait(&ends, NULL, &limit);
    else
        sigwaitinfo(&ends, NULL);
}

static int run(const struct command *command, int argc, char **argv)
{
    char folder[RUN_PATH_BYTES] = "";
    struct words words;
    uint64_t process_id;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count == 0)
        return list_processes();
    if (!to_number(argv[1], &process_id) || process_id == 0 || process_id > INT32_MAX)
        return fail_usage(command, "%s is not a process id", argv[1]);
    if (words.values[STOP])
        return stop((uint32_t)process_id, folder);
    if ((status = start(command, &words, argv, (uint32_t)process_id, folder)) != EXIT_FINE ||
        words.values[START])
        return status;
    wait_for(number_value(&words, DURATION, 0));
    return stop((uint32_t)process_id, folder);
}

const struct command command_attach = {
    .name = "attach",
    .summary = "profile a process that is running",
    .operands = "[options] [PID [KEY=VALUE...]]",
    .about =
        "Profiles a running process for a while, without a restart. The process must have been "
        "started with LLMPERF_ATTACH=1 and CUDA_INJECTION64_PATH=(path of libllmperf.so): the "
        "CUDA driver then loads the library, which collects nothing until this command wakes it. "
        "CUPTI cannot be loaded into other processes. Without PID, lists the processes that "
        "wait. The last line of output is the run directory.",
    .options = options,
    .run = run,
};
