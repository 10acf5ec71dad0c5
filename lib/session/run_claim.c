/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/session/run_claim.h"
#include "lib/session/session.h"
#include "lib/session/session_trace.h"
#include "lib/base/log.h"
#include "lib/base/vector.h"
#include "llmperf/sys/run.h"

/* Old runs */

#define STILL_RUNNING_S 60
#define OPEN_FOLDERS    8

struct old_run {
    char *path;
    struct timespec written;
};

struct old_runs {
    LP_VECTOR(struct old_run) list;
};

static int compare_ages(const void *left, const void *right)
{
    const struct timespec *a = &((const struct old_run *)left)->written;
    const struct timespec *b = &((const struct old_run *)right)->written;

    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* A run, or the folder of a job: its time is that of its newest result file. */
static bool find_file(const char *path, struct stat *info_out)
{
    static const char *const names[] = { "run.llmperf", "merged/run.llmperf", "repeats.json" };
    char file[PATH_MAX + 32];
    bool found = false;

    for (size_t i = 0; i < LP_LENGTH(names); i++) {
        struct stat info;

        snprintf(file, sizeof(file), "%s/%s", path, names[i]);
        if (lstat(file, &info) < 0 || !S_ISREG(info.st_mode) ||
            (found && info.st_mtim.tv_sec <= info_out->st_mtim.tv_sec))
            continue;
        *info_out = info;
        found = true;
    }
    return found;
}

/* A link to a folder is not a run of ours. */
static void look_at(struct old_runs *runs, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    struct old_run run;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return;
    if (name[0] == '.' || lstat(path, &info) < 0 || !S_ISDIR(info.st_mode) ||
        !find_file(path, &info) || !(run.path = strdup(path)))
        return;
    run.written = info.st_mtim;
    if (lp_vector_push(&runs->list, run) < 0)
        free(run.path);
}

/* A program that has a run file open, here or in another container, holds a lock on these bytes of
 * it (SQLite's file format, "shared lock"). That needs no clock, which may have been set. */
static bool is_open(const char *run)
{
    struct flock lock = { .l_type = F_WRLCK, .l_start = 0x40000002, .l_len = 510 };
    char file[PATH_MAX + 16];
    bool open_there;
    int fd;

    snprintf(file, sizeof(file), "%s/run.llmperf", run);
    if ((fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) < 0)
        return false;
    open_there = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return open_there;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_oldest(struct old_runs *runs, const char *own, int64_t keep)
{
    size_t left = runs->list.count;

    for (size_t i = 0; i < runs->list.count && left > (size_t)keep; i++) {
        const struct old_run *run = &runs->list.items[i];
        const char *name = strrchr(run->path, '/') + 1;

        /* Its own first: to close a file ends the locks that this process has on it. */
        if (strcmp(name, own) == 0 || time(NULL) - run->written.tv_sec < STILL_RUNNING_S ||
            is_open(run->path))
            continue;
        if (nftw(run->path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0) {
            lp_log(LLMPERF_LOG_WARN, "artifacts.keep_runs: cannot remove %s", run->path);
            continue;
        }
        lp_log(LLMPERF_LOG_INFO, "artifacts.keep_runs: removed %s", run->path);
        left--;
    }
}

void lp_runs_retain(const char *run_dir, int64_t keep)
{
    const char *slash = strrchr(run_dir, '/');
    struct old_runs runs = { 0 };
    char folder[PATH_MAX];
    const struct dirent *entry;
    DIR *all;

    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - run_dir) : 1,
             slash ? run_dir : ".");
    if (keep <= 0 || !(all = opendir(folder)))
        return;
    while ((entry = readdir(all)))
        look_at(&runs, folder, entry->d_name);
    closedir(all);
    lp_vector_sort(&runs.list, compare_ages);
    remove_oldest(&runs, slash ? slash + 1 : run_dir, keep);
    for (size_t i = 0; i < runs.list.count; i++)
        free(runs.list.items[i].path);
    lp_vector_clear(&runs.list);
}

int llmperf_runs_retain(const char *run_dir, uint64_t keep)
{
    if (!run_dir || !*run_dir)
        return lp_error(LLMPERF_EINVAL, "run_dir is required");
    lp_runs_retain(run_dir, keep > INT64_MAX ? 0 : (int64_t)keep);
    return 0;
}

/* The new one */

/* Create the run file exclusively. 0; LLMPERF_EBUSY: it exists. */
static int claim_file(const char *run_dir, char **path_out)
{
    char *path = lp_path_join(run_dir, "run.llmperf");
    int fd, status = 0;

    if (!path)
        return lp_out_of_memory();
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    else if (errno == EEXIST)
        status = lp_error(
            LLMPERF_EBUSY,
            "%s already contains a run; choose another run_dir or run_id, or remove it", run_dir);
    else
        status = lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
    if (status < 0)
        free(path);
    else
        *path_out = path;
    return status;
}

/* The next name ("…-1", "…-2") if runs start in the same second. */
static int rename_run(struct lp_options *options, const char *folder, const char *run_id,
                      unsigned number)
{
    char name[128];

    snprintf(name, sizeof(name), "%s-%u", run_id, number);
    free(options->run_id);
    free(options->run_dir);
    options->run_id = lp_text_copy(name);
    options->run_dir = lp_path_join(folder, name);
    return options->run_id && options->run_dir ? 0 : lp_out_of_memory();
}

/* A folder that the program chose may be a link. */
static int make_run_dir(const struct lp_options *options)
{
    return options->in_folder_of_runs ? lp_folder_make_own(options->run_dir)
                                      : lp_folder_make(options->run_dir);
}

static int claim_run(struct lp_options *options, char **path_out)
{
    char *folder = lp_text_copy(options->run_dir), *run_id = lp_text_copy(options->run_id);
    int status = folder && run_id ? 0 : lp_out_of_memory();

    if (status == 0 && strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
    for (unsigned number = 1; status == 0; number++) {
        if ((status = make_run_dir(options)) < 0 ||
            (status = claim_file(options->run_dir, path_out)) != LLMPERF_EBUSY ||
            !options->run_id_is_ours || number > 999)
            break;
        status = rename_run(options, folder, run_id, number);
    }
    free(folder);
    free(run_id);
    return status;
}

int lp_run_claim(struct llmperf_session *session)
{
    int status;

    if (!session->options.run_dir)
        return 0;
    if ((status = claim_run(&session->options, &session->run_file)) < 0)
        return status;
    /* Not beside a folder that the program chose, and not in a job, where `llmperf run` removes old
     * runs. */
    if (session->options.in_folder_of_runs && !session->options.config.of_job)
        lp_runs_retain(session->options.run_dir,
                       lp_options_number(&session->options, "artifacts.keep_runs"));
    return lp_store_create(session->run_file, &session->store);
}

void lp_run_unclaim(struct llmperf_session *session)
{
    lp_store_close(session->store);
    session->store = NULL;
    if (!session->run_file)
        return;
    unlink(session->run_file);
    lp_session_trace_remove(session);
    rmdir(session->options.run_dir); /* fails if the folder is not empty */
}
