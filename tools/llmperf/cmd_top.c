/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf top`: what a session has committed to its run file, once a second. The watched program
 * takes no part. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "configured.h"
#include "llmperf/sys.h"
#include "top.h"

#define PATH_BYTES 4096
#define HEAD_LINES 5 /* lines of the screen without a region */

/* Rows of regions that fit the terminal; all of them in a pipe. */
static size_t rows_of_screen(bool screen)
{
    struct winsize size;

    if (!screen)
        return SIZE_MAX;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row <= HEAD_LINES)
        return 20;
    return (size_t)size.ws_row - HEAD_LINES;
}

static bool holds_runs(const char *folder)
{
    llmperf_job *job;
    size_t count;

    if (llmperf_job_find(folder, &job) < 0)
        return false;
    count = llmperf_job_run_count(job);
    llmperf_job_free(job);
    return count > 0;
}

/* The job or run in a folder of runs that was written last. */
static bool find_newest(const char *folder, char *newest)
{
    DIR *list = opendir(folder);
    struct timespec latest = { 0, 0 };
    struct dirent *entry;
    bool found = false;

    while (list && (entry = readdir(list))) {
        char path[PATH_BYTES];
        struct stat info;

        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path) ||
            stat(path, &info) < 0 || !S_ISDIR(info.st_mode) || !holds_runs(path))
            continue;
        if (found &&
            (info.st_mtim.tv_sec < latest.tv_sec ||
             (info.st_mtim.tv_sec == latest.tv_sec && info.st_mtim.tv_nsec < latest.tv_nsec)))
            continue;
        latest = info.st_mtim;
        memcpy(newest, path, sizeof(path));
        found = true;
    }
    if (list)
        closedir(list);
    return found;
}

/* For a folder of runs, its newest run is used. */
static int choose_folder(const char *path, char *folder)
{
    llmperf_job *job;
    int status = llmperf_job_find(path, &job);

    if (status < 0)
        return fail_status(status);
    llmperf_job_free(job);
    if (holds_runs(path) || !find_newest(path, folder))
        snprintf(folder, PATH_BYTES, "%s", path);
    if (holds_runs(folder))
        return EXIT_FINE;
    fprintf(stderr,
            "llmperf: %s contains no run; give a run, the folder of a job, or a folder of runs\n",
            path);
    return EXIT_USAGE;
}

/* What could be read was shown, but a run that cannot be read is still an error. */
static int end_of(const struct top_state *state)
{
    return state->unreadable > 0 ? fail_with(state->problem_status, state->problem) : EXIT_FINE;
}

/* A session commits once a second; a read before the next commit finds nothing new and prints
 * nothing. */
static int watch(const char *folder)
{
    struct top_state states[2] = { { .runs = 0 }, { .runs = 0 } };
    bool screen = isatty(STDOUT_FILENO), any = false, over = false;
    int now = 0, status = EXIT_FINE;

    while (!over && status == EXIT_FINE) {
        struct top_state *state = &states[now], *before = &states[!now];

        if ((status = top_look(folder, state)) != EXIT_FINE)
            break;
        over = state->running == 0;
        if (!any || over || state->duration_ms > before->duration_ms) {
            fputs(screen ? "\033[H\033[J" : any ? "\n" : "", stdout);
            top_print(folder, state,
                      any && state->duration_ms > before->duration_ms ? before : NULL,
                      rows_of_screen(screen));
            any = true;
            now = !now;
            fflush(stdout);
            if (ferror(stdout)) /* the reader has closed the pipe */
                break;
        }
        top_clear(&states[now]);
        if (!over)
            sleep(1);
    }
    if (over && status == EXIT_FINE)
        status = end_of(&states[!now]);
    top_clear(&states[0]);
    top_clear(&states[1]);
    return status;
}

static int show_once(const char *folder)
{
    struct top_state state;
    int status = top_look(folder, &state);

    if (status == EXIT_FINE) {
        top_print(folder, &state, NULL, SIZE_MAX);
        status = end_of(&state);
    }
    top_clear(&state);
    return status;
}

static const struct option options[] = {
    OPTION("--once", NULL, NULL, NULL,
           "print the current numbers, averaged since the start, and exit"),
    OPTIONS_END
};

static int run(const struct command *command, int argc, char **argv)
{
    char path[PATH_BYTES], folder[PATH_BYTES];
    struct words words;
    int status;

    if ((status = parse_words(command, argc, argv, &words)) >= 0)
        return status;
    if (words.count > 1)
        return fail_usage(command, "expected one run, job or folder of runs");
    if ((status = configured_folder(&words, argv[1], path)) != EXIT_FINE ||
        (status = choose_folder(path, folder)) != EXIT_FINE)
        return status;
    return words.values[0] ? show_once(folder) : watch(folder);
}

const struct command command_top = {
    .name = "top",
    .summary = "live view of a running session",
    .operands = "[RUN|DIR] [options]",
    .about = "Shows the latest numbers of a running session once a second until it ends: rate, "
             "time and GPU busy time of each region, tokens and kernels per second, and the record "
             "counts so far. RUN is a run or the folder of a job; of a folder of runs (default: "
             "$LLMPERF_OUT, artifacts.dir, runs) the newest is shown. Rates cover the time since "
             "the previous update; BUSY 100 % is one busy GPU. If standard output is not a "
             "terminal, updates are printed one after another.",
    .options = options,
    .run = run,
};
