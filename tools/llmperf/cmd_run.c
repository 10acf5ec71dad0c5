/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf run`: profiles a program that does not call the library. The CUDA driver and NVTX load
 * it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "folder.h"
#include "llmperf/sys.h"
#include "new_run.h"
#include "run.h"

struct job {
    char folder[RUN_PATH_BYTES], library[RUN_PATH_BYTES];
    char config_file[RUN_PATH_BYTES + 16]; /* "": none */
    struct run_config config;
    char path[RUN_PATH_BYTES];   /* of the program */
    char model[RUN_PATH_BYTES];  /* that its command line names; "": none, or one was given */
    const char *tier, *counters; /* NULL: the session chooses */
    const struct words *words;   /* of the command line */
    uint32_t session_tier;       /* the same as `tier` */
    char **program;
    sigset_t handled, before;  /* signals that llmperf waits for; the signal mask of the program */
    bool keep_cuda, keep_nvtx; /* the injection of another tool is kept */
    bool apart;                /* runs of processes are not merged */
    double started_s, shown_s;
    bool progress;
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Before it starts */

static int make_job_folder(struct job *job, const char *out)
{
    char folder[RUN_PATH_BYTES / 2], run_id[RUN_ID_BYTES];
    const char *id = job->config.run_id;

    if (strchr(id, '/') || strcmp(id, ".") == 0 || strcmp(id, "..") == 0) {
        fprintf(stderr, "llmperf run: run.id %s must be a folder name without a path\n", id);
        return EXIT_USAGE;
    }
    new_run_id(run_id, 0);
    if (snprintf(folder, sizeof(folder), "%s/%s", out, *id ? id : run_id) >= (int)sizeof(folder)) {
        fprintf(stderr, "llmperf run: the path of folder %s is too long\n", out);
        return EXIT_USAGE;
    }
    if (!folder_make_own(folder))
        return EXIT_ENVIRONMENT;
    if (!realpath(folder, job->folder)) {
        fprintf(stderr, "llmperf run: cannot use folder %s: %s\n", folder, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    if (run_was_used(job->folder)) {
        fprintf(stderr, "llmperf run: %s already contains a run; choose another run.id\n",
                job->folder);
        return EXIT_USAGE;
    }
    if (job->config.text)
        snprintf(job->config_file, sizeof(job->config_file), "%s/config.yaml", job->folder);
    return run_keep_config(&job->config, job->config_file);
}

static const char *const tiers[] = { "regions", "light", "deep", "counters" };

/* Under nsys or ncu nothing is set: they do not work with a second injection, and they collect the
 * ranges. */
static bool runs_under_tool(void)
{
    const char *name =
        getenv("NSYS_PROFILING_SESSION_ID") ? "Nsight Systems"
        : getenv("NV_COMPUTE_PROFILER_PERFWORKS_DIR") || getenv("NV_TPS_LAUNCH_TOKEN")
            ? "Nsight Compute"
            : NULL;

    if (name)
        fprintf(stderr,
                "llmperf run: %s is profiling this program; llmperf does not collect anything\n",
                name);
    return name != NULL;
}

/* Set an injection variable, unless another tool has set it. */
static bool is_taken(const char *variable, const char *consequence)
{
    const char *path = getenv(variable);

    if (!path || !*path || strstr(path, "libllmperf.so"))
        return false;
    fprintf(stderr, "llmperf run: %s is already set to %s; it is kept, so %s\n", variable, path,
            consequence);
    return true;
}

/* The program */

/* For sessions with a configuration of their own. */
static void set_options(const struct words *words)
{
    for (size_t i = 0; i < words->setting_count; i++) {
        const llmperf_option_info *info = &words->settings[i].info;

        if (info->variable && info->key && strcmp(info->word, "--out") != 0)
            setenv(info->variable,
                   info->kind == LLMPERF_OPTION_SWITCH ? "1" : words->settings[i].value, 1);
    }
}

static void set_model(const struct job *job)
{
    const char *gpus = run_find_parallel(job->program);

    unsetenv("LLMPERF_FOUND_MODEL");
    if (!job->model[0])
        return;
    setenv("LLMPERF_FOUND_MODEL", job->model, 1);
    if (gpus && strtoul(gpus, NULL, 10) > 1)
        setenv("LLMPERF_TENSOR_PARALLEL", gpus, 0);
}

static void set_environment(const struct job *job)
{
    char pid[32], out[RUN_PATH_BYTES + 16];

    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    snprintf(out, sizeof(out), "%s/processes", job->folder);
    setenv("LLMPERF_OUT", out, 1); /* for sessions that the program starts itself */
    if (!job->keep_cuda)
        setenv("CUDA_INJECTION64_PATH", job->library, 1);
    if (!job->keep_nvtx)
        setenv("NVTX_INJECTION64_PATH", job->library, 1);
    setenv("LLMPERF_RUN_DIR", job->folder, 1);
    setenv("LLMPERF_RUN_PID", pid, 1);
    unsetenv("LLMPERF_RUN_CONFIG");
    if (job->config_file[0])
        setenv("LLMPERF_RUN_CONFIG", job->config_file, 1);
    set_options(job->words);
    set_model(job);
    if (job->tier)
        setenv("LLMPERF_TIER", job->tier, 1);
    if (job->counters && *job->counters)
        setenv("LLMPERF_COUNTERS", job->counters, 1);
}

/* In the child; does not return. `failure`: pipe for errno if the program cannot be started. */
static void become_program(const struct job *job, int failure)
{
    int reason;

    signal(SIGPIPE, SIG_DFL); /* main() ignores it. */
    sigprocmask(SIG_SETMASK, &job->before, NULL);
    set_environment(job);
    execv(job->path, job->program);
    reason = errno;
    if (write(failure, &reason, sizeof(reason)) < 0)
        _exit(EXIT_ENVIRONMENT);
    _exit(EXIT_ENVIRONMENT);
}

/* 0 and the pid; otherwise the errno of the failed start. */
static int start_program(const struct job *job, pid_t *pid_out)
{
    int failure[2], reason = 0;

    if (pipe2(failure, O_CLOEXEC) < 0)
        return errno;
    *pid_out = fork();
    if (*pid_out == 0)
        become_program(job, failure[1]);
    reason = *pid_out < 0 ? errno : 0;
    close(failure[1]);
    if (*pid_out > 0 && read(failure[0], &reason, sizeof(reason)) == (ssize_t)sizeof(reason))
        waitpid(*pid_out, NULL, 0);
    close(failure[0]);
    return reason;
}

/* The terminal sends its signals to the program too; a signal that was sent to llmperf alone must
 * be forwarded. */
static void pass_on(const siginfo_t *info, pid_t pid)
{
    if (info->si_code != SI_KERNEL)
        kill(pid, info->si_signo);
}

static void look(struct job *job, struct run_state *state)
{
    double now = now_s();

    if (!state->saw_library)
        run_look_at_maps(state);
    if (!job->progress || now - job->shown_s < 1)
        return;
    job->shown_s = now;
    run_look_at_runs(state, false);
    run_show_progress(state, now - job->started_s);
}

/* Waits for the end of the program. @return its wait status */
static int watch_program(struct job *job, struct run_state *state)
{
    struct timespec pause = { 0, 20000000 };
    int status = 0;

    while (waitpid(state->pid, &status, WNOHANG) == 0) {
        siginfo_t info;
        int number = sigtimedwait(&job->handled, &info, &pause);

        if (number > 0 && number != SIGCHLD)
            pass_on(&info, state->pid);
        else if (number < 0)
            look(job, state);
        if (pause.tv_nsec <
            500000000) /* Check often at first, because short programs end soon, then less often. */
            pause.tv_nsec += pause.tv_nsec / 4;
    }
    if (job->shown_s > 0)
        run_end_progress();
    return status;
}

/* After its end */

/* A program without CUDA and NVTX never loads the library, so no run is written. */
static void write_empty_run(const struct job *job)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session;

    options.device_source = LLMPERF_SOURCE_NONE;
    options.run_dir = job->folder;
    options.run_id = strrchr(job->folder, '/') + 1;
    options.config_path = job->config_file[0] ? job->config_file : NULL;
    if (llmperf_session_start(&options, &session) < 0) {
        fail_status(LLMPERF_EIO);
        return;
    }
    llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
}

static void report_why_empty(const struct job *job, const struct run_state *state)
{
    if (job->keep_cuda)
        fprintf(stderr, "llmperf run: nothing was collected because another tool is injected\n");
    else if (state->saw_library)
        fprintf(stderr, "llmperf run: the program loaded libllmperf, but no session started; run "
                        "again with LLMPERF_LOG=warn to see why\n");
    else if (state->saw_driver)
        fprintf(stderr,
                "llmperf run: the program loaded the CUDA driver but not libllmperf: it never "
                "initialised CUDA, or the injection was ignored (cleared environment, another "
                "user, or a missing library that libllmperf needs: check ldd %s)\n",
                job->library);
    else
        fprintf(stderr, "llmperf run: the program used no CUDA, no NVTX and no libllmperf regions: "
                        "the run is empty\n");
}

/* One merged run of all processes, in addition to theirs. */
static void merge_runs(const struct job *job, struct run_state *state)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *merged = NULL;
    llmperf_job *found;
    char folder[RUN_PATH_BYTES + 16];
    int status = llmperf_job_find(job->folder, &found);

    if (status == 0) {
        status = llmperf_job_merge(found, &merged);
        llmperf_job_free(found);
    }
    snprintf(folder, sizeof(folder), "%s/merged", job->folder);
    if (status < 0) {
        fail_status(status);
    } else if (folder_make_own(folder) && new_run_save(merged, folder) == EXIT_FINE) {
        llmperf_profile_ledger(merged, &ledger);
        fprintf(stderr, "llmperf: %s: %u processes merged, verdict %s, %" PRIu64 " kernels\n",
                folder, state->runs, llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
                ledger.kernels_seen);
        snprintf(state->best, sizeof(state->best), "%.*s", RUN_PATH_BYTES - 1, folder);
    }
    llmperf_profile_free(merged);
}

static void conclude(const struct job *job, struct run_state *state)
{
    int failed;

    run_wait_for_processes(state);
    run_look_at_runs(state, true);
    run_report_left(state);
    failed = run_report_failed(job->folder);
    if (state->forked > 0)
        fprintf(stderr,
                "llmperf run: %u processes were forked from a profiled one and used CUDA: no run "
                "contains them; start them with exec (spawn) instead\n",
                state->forked);
    if (state->runs == 0) {
        if (state->unreadable == 0 && state->left_count == 0 &&
            failed == 0) { /* otherwise the failure was reported */
            report_why_empty(job, state);
            write_empty_run(job);
        }
        snprintf(state->best, sizeof(state->best), "%s", job->folder);
    } else if (state->runs + state->unreadable > 1 && !job->apart) {
        merge_runs(job, state);
    }
    print("%s\n", state->best);
}

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* @param best  Out: the run. */
static int run_program(struct job *job, char *best)
{
    struct run_state state = { .job = job->folder, .library = job->library };
    int reason, status;

    sigemptyset(&job->handled);
    for (const int *number =
             (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, 0 };
         *number; number++)
        sigaddset(&job->handled, *number);
    sigprocmask(SIG_BLOCK, &job->handled, &job->before);
    job->progress = isatty(STDERR_FILENO);
    job->started_s = now_s();
    if ((reason = start_program(job, &state.pid)) != 0) {
        fprintf(stderr, "llmperf run: cannot start %s: %s\n", job->program[0], strerror(reason));
        unlink(job->config_file);
        rmdir(job->folder);
        return EXIT_ENVIRONMENT;
    }
    status = watch_program(job, &state);
    conclude(job, &state);
    snprintf(best, RUN_PATH_BYTES, "%s", state.best);
    return exit_code_of(status);
}

/* Index of "--" in argv; 0: none. */
static int find_program_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

static int check_words(const struct command *command, int count, char **argv)
{
    for (int i = 1; i <= count; i++)
        if (!strchr(argv[i], '=') && argv[i][0] != '~')
            return fail_usage(command, "put -- before the program %s", argv[i]);
    return EXIT_FINE;
}

/* Combinations that the session in the program accepts but that have no effect. */
static int check_tier(const struct job *job, const struct command *command)
{
    if (option_value(job->words, "--counters") && job->session_tier != LLMPERF_TIER_COUNTERS &&
        job->session_tier != LLMPERF_TIER_LIGHT)
        return fail_usage(command, "--counters needs --tier counters or light");
    if (option_value(job->words, "--rule") && job->session_tier != LLMPERF_TIER_LIGHT)
        return fail_usage(command,
                          "--rule needs --tier light: rules only change what tier light collects");
    return EXIT_FINE;
}

/* What a session would refuse was refused when the configuration was composed. */
static int check_job(struct job *job, const struct command *command)
{
    if (check_tier(job, command) != EXIT_FINE)
        return EXIT_USAGE;
    if (!run_check_program(job->program[0], job->path))
        return EXIT_USAGE;
    return run_find_library(job->library) ? EXIT_FINE : EXIT_ENVIRONMENT;
}

static int run_job(struct job *job, const char *out, char *best)
{
    int status = make_job_folder(job, out);

    if (status != EXIT_FINE)
        return status;
    job->keep_cuda = job->keep_nvtx = runs_under_tool();
    if (!job->keep_cuda) {
        job->keep_cuda = is_taken("CUDA_INJECTION64_PATH", "kernels are not collected");
        job->keep_nvtx =
            is_taken("NVTX_INJECTION64_PATH", "NVTX ranges are not recorded as regions");
    }
    return run_program(job, best);
}

/* One of several runs: a job of its own in the common folder. */
static int run_once(void *context, const char *name, const char *counters, char *best)
{
    const struct job *all = context;
    struct job job = *all;
    int code;

    snprintf(job.config.run_id, sizeof(job.config.run_id), "%s", name);
    if (counters)
        job.counters = counters;
    sigprocmask(SIG_SETMASK, NULL, &job.before);
    code = run_job(&job, all->folder, best);
    sigprocmask(SIG_SETMASK, &job.before, NULL);
    return code;
}

/* @param repeats  Text of the option; NULL: not given. */
static int run_all(struct job *job, const struct command *command, const char *out,
                   const char *repeats)
{
    char best[RUN_PATH_BYTES];
    struct run_repeats repeats_options = { .tier = job->tier,
                                           .counters = job->counters,
                                           .sampled = job->config.sampled };
    int status = check_job(job, command);

    if (status != EXIT_FINE)
        return status;
    if (!repeats)
        return run_job(job, out, best);
    if (!run_repeats_read(&repeats_options, repeats))
        return fail_usage(command, "--repeat must be a number from 2 to %u, or auto with counters",
                          RUN_REPEATS_MOST);
    if ((status = make_job_folder(job, out)) != EXIT_FINE)
        return status;
    repeats_options.folder = job->folder;
    return run_repeats(&repeats_options, run_once, job);
}

enum { NO_MERGE, REPEAT, STALLS };

static const struct option options[] = {
    [NO_MERGE] =
        OPTION("--no-merge", NULL, NULL, NULL, "do not merge the runs of several processes"),
    [REPEAT] =
        OPTION("--repeat", NULL, "N", NULL,
               "run the program N times and report the spread (llmperf repeats). With tier "
               "counters: one run per counter pass, at most N, merged into one run; auto: as "
               "many runs as the counters need"),
    [STALLS] = OPTION("--stalls", NULL, NULL, NULL,
                      "why warps wait, by region and kernel: the same as --counters stalls"),
    OPTIONS_END
};

/* For options that are no keys of the configuration. */
static int check_options(const struct command *command, const struct words *words)
{
    const char *tier = option_value(words, "--tier"), *rules = option_value(words, "--rule");

    if (rules && !rules[strspn(rules, " \t\n;")])
        return fail_usage(
            command,
            "--rule is empty; write a rule such as \"decode_step p99 above 30 ms for 2 s\"");
    if ((option_value(words, "--counters") || words->values[STALLS]) && tier &&
        strcmp(tier, "counters") != 0 && strcmp(tier, "light") != 0)
        return fail_usage(command, "%s needs --tier counters or light",
                          words->values[STALLS] ? "--stalls" : "--counters");
    return EXIT_FINE;
}

static int run_configured(struct job *job, const struct command *command,
                          struct configured *configured)
{
    const struct words *words = job->words;
    int status;

    if (!configured_take(configured, words))
        return EXIT_ENVIRONMENT;
    if ((status = run_compose(configured, &job->config)) != EXIT_FINE)
        return status;
    if (!configured->model && llmperf_config_length(configured->config, "model") == 0 &&
        !run_find_model(job->program, job->model))
        job->model[0] = '\0';
    job->session_tier = configured->tier;
    job->tier = tiers[configured->tier - LLMPERF_TIER_REGIONS];
    job->counters =
        configured_text(configured, "session.counters", job->config.counted ? "" : NULL);
    status = run_all(job, command, configured_text(configured, "artifacts.dir", "runs"),
                     words->values[REPEAT]);
    if (job->folder[0] && job->config.keep_runs > 0)
        llmperf_runs_retain(job->folder, (uint64_t)job->config.keep_runs);
    return status;
}

static int run(const struct command *command, int argc, char **argv)
{
    int separator = find_program_words(argc, argv), status;
    struct configured configured = { .name = NULL };
    struct job job = { .folder = "" };
    struct words words;

    if ((status = parse_words(command, separator > 0 ? separator : argc, argv, &words)) >= 0)
        return status;
    if ((status = check_words(command, words.count, argv)) != EXIT_FINE ||
        (status = check_options(command, &words)) != EXIT_FINE)
        return status;
    if (separator == 0 || separator + 1 == argc)
        return fail_usage(command, "expected a program after --");
    if (words.values[STALLS] && !configured_add(&configured, "session.counters=stalls"))
        return EXIT_USAGE;
    job.words = &words;
    job.apart = words.values[NO_MERGE];
    job.program = argv + separator + 1;
    for (int i = 1; i <= words.count; i++)
        if (!configured_add(&configured, argv[i]))
            return EXIT_USAGE;
    status = run_configured(&job, command, &configured);
    configured_clear(&configured);
    return status;
}

const struct command command_run = {
    .name = "run",
    .summary = "profile a program without changing it",
    .operands = "[options] [KEY=VALUE...] -- PROGRAM ARG...",
    .about =
        "Runs a program with libllmperf injected (CUDA_INJECTION64_PATH, "
        "NVTX_INJECTION64_PATH) and profiles its kernels, memcpys and NVTX ranges. Each "
        "process that the program starts gets a run of its own; RUN_DIR/merged combines them. "
        "Processes that are still running at the end are listed; their runs continue. The last "
        "line of output is the run directory.",
    .options = options,
    .after = "Exit code: that of the program, or 128 + N if signal N ended it. 2 or 3 with a "
             "message of llmperf: the program was not started because of an option, the "
             "configuration or a file that they name. --repeat stops after the first run with an "
             "exit code other than 0.",
    .run = run,
};
