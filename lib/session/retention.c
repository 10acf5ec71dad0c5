/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
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

#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/session/retention.h"
#include "llmperf/session.h"
#include "llmperf/sys/run.h"

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

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
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
    if (runs.list.count)
        qsort(runs.list.items, runs.list.count, sizeof(runs.list.items[0]), compare_ages);
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
