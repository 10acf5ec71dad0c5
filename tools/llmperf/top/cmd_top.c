/* SPDX-License-Identifier: Apache-2.0 */
/** `llmperf top`: what a session has committed to its run file, once a second. The watched program
 * takes no part. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "configured.h"
#include "folder.h"
#include "llmperf/sys.h"
#include "run_paths.h"
#include "terminal.h"
#include "top/top.h"

#define PATH_BYTES 4096
struct newest {
    char *path; /* PATH_BYTES; "": none so far */
    struct timespec written;
};

static bool is_older(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static void take_newer(const char *path, const char *name, void *user)
{
    struct newest *newest = user;
    struct stat info;

    (void)name;
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode) || !run_paths_is_run(path) ||
        (*newest->path && is_older(info.st_mtim, newest->written)))
        return;
    newest->written = info.st_mtim;
    snprintf(newest->path, PATH_BYTES, "%s", path);
}

/* For a folder of runs, its newest run is used. */
static int choose_folder(const char *path, char *folder)
{
    struct newest newest = { .path = folder };

    *folder = '\0';
    if (run_paths_is_run(path))
        snprintf(folder, PATH_BYTES, "%s", path);
    else if (folder_each(path, take_newer, &newest) < 0)
        return fail_usage(&command_top, "cannot read folder %s: %s", path, strerror(errno));
    if (*folder)
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

/* The last two updates that brought news. */
struct view {
    const char *folder;
    struct top_state shown, before;
    struct top_history history;
    bool over; /* no process runs */
};

/* The state before the one that is shown; NULL: rates are since the start. */
static const struct top_state *before_of(const struct view *view)
{
    return view->before.runs > 0 && view->shown.duration_ms > view->before.duration_ms
               ? &view->before
               : NULL;
}

/* Read the runs. A session commits once a second; a read before its next commit finds nothing new.
 * @return exit code */
static int look(struct view *view, bool *news)
{
    struct top_state state;
    int status = top_look(view->folder, &state);

    *news = false;
    if (status != EXIT_FINE)
        return status;
    view->over = state.running == 0;
    *news = view->history.count == 0 || view->over || state.duration_ms > view->shown.duration_ms;
    if (*news) {
        top_clear(&view->before);
        view->before = view->shown;
        view->shown = state;
        top_remember(&view->history, &view->shown, before_of(view));
    } else {
        top_clear(&state);
    }
    return EXIT_FINE;
}

static void draw(const struct view *view)
{
    size_t rows, columns;

    terminal_begin_frame(&rows, &columns);
    top_draw(view->folder, &view->shown, before_of(view), &view->history, rows, columns);
    fflush(stdout);
}

/* Until the job ends, or q. */
static int watch_on_screen(struct view *view)
{
    enum terminal_event event = EVENT_TIMEOUT;
    int status = EXIT_FINE;
    bool news = true;

    terminal_open_screen();
    while (event != EVENT_QUIT && !view->over && status == EXIT_FINE) {
        if (news || event == EVENT_RESIZE)
            draw(view);
        event = terminal_wait(1000);
        news = false;
        if (event == EVENT_TIMEOUT) {
            status = look(view, &news);
        }
    }
    terminal_close_screen();
    return status;
}

static int watch_in_lines(struct view *view)
{
    int status = EXIT_FINE;
    bool news = true;

    for (unsigned printed = 0; status == EXIT_FINE && !ferror(stdout);) {
        if (news)
            print("%s", printed++ > 0 ? "\n" : "");
        if (news)
            top_print(view->folder, &view->shown, before_of(view));
        fflush(stdout);
        if (view->over)
            break;
        sleep(1);
        status = look(view, &news);
    }
    return status;
}

static int watch(const char *folder)
{
    struct view view = { .folder = folder };
    bool news;
    int status = look(&view, &news);

    if (status == EXIT_FINE && terminal_takes_codes(STDOUT_FILENO) && !view.over) {
        status = watch_on_screen(&view);
        if (status == EXIT_FINE)
            top_print(folder, &view.shown, NULL); /* what remains on the terminal */
    } else if (status == EXIT_FINE) {
        status = watch_in_lines(&view);
    }
    if (status == EXIT_FINE)
        status = end_of(&view.shown);
    top_clear(&view.shown);
    top_clear(&view.before);
    return status;
}

static int show_once(const char *folder, bool json)
{
    struct top_state state;
    int status = top_look(folder, &state);

    if (status == EXIT_FINE && json)
        status = top_print_json(folder, &state);
    else if (status == EXIT_FINE)
        top_print(folder, &state, NULL);
    if (status == EXIT_FINE)
        status = end_of(&state);
    top_clear(&state);
    return status;
}

enum { ONCE, FORMAT };

static const struct option options[] = {
    [ONCE] = OPTION("--once", NULL, NULL, NULL,
                    "print the current numbers, averaged since the start, and exit"),
    [FORMAT] = OPTION("--format", NULL, "text|json", "text", "json: as --once"),
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
    if (words.values[ONCE] || choice_of(command, &words, FORMAT))
        return show_once(folder, choice_of(command, &words, FORMAT));
    return watch(folder);
}

const struct command command_top = {
    .name = "top",
    .summary = "live view of a running session",
    .operands = "[RUN|DIR] [options]",
    .about = "Shows the latest numbers of a running session once a second until it ends: tokens/s, "
             "time and GPU busy time of each region, the longest kernels, and the record counts so "
             "far. RUN is a run or the folder of a job; of a folder of runs (default: "
             "$LLMPERF_OUT, artifacts.dir, runs) the newest is shown. On a terminal it fills the "
             "screen; q quits. Otherwise updates are printed one after another.\n"
             "Rates cover the time since the previous update; BUSY 100 % is one busy GPU. MEAN is "
             "the time of a call; CLOCK GPU: until its device work has ended, where the host "
             "launches ahead.",
    .options = options,
    .after = "The JSON has schema conf/schema/top.schema.json.",
    .run = run,
};
