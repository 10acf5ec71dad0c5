/* SPDX-License-Identifier: Apache-2.0 */
#include "run_paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "llmperf/sys.h"

static bool keep(struct run_paths *runs, const char *path)
{
    if (runs->count == runs->capacity) {
        size_t capacity = runs->capacity ? 2 * runs->capacity : 16;
        char **paths = realloc(runs->paths, capacity * sizeof(*paths));

        if (!paths)
            return false;
        runs->paths = paths;
        runs->capacity = capacity;
    }
    runs->paths[runs->count] = strdup(path);
    return runs->paths[runs->count] && ++runs->count;
}

bool run_paths_is_run(const char *path)
{
    llmperf_job *job;
    bool found;

    if (llmperf_job_find(path, &job) < 0)
        return false;
    found = llmperf_job_run_count(job) > 0;
    llmperf_job_free(job);
    return found;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* -1: not a folder of runs. */
static int add_folder(struct run_paths *runs, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, versionsort), added = 0;
    bool kept = true;

    for (int i = 0; i < count; i++) {
        char path[4096];

        if (kept &&
            snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) < (int)sizeof(path) &&
            run_paths_is_run(path)) {
            kept = keep(runs, path);
            added++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return !kept ? 0 : added > 0 ? added : -1;
}

bool run_paths_add(struct run_paths *runs, const char *word)
{
    int added = run_paths_is_run(word) ? -1 : add_folder(runs, word);
    bool kept = added > 0 || (added < 0 && keep(runs, word));

    if (!kept)
        fprintf(stderr, "llmperf: out of memory\n");
    return kept;
}

void run_paths_clear(struct run_paths *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        free(runs->paths[i]);
    free(runs->paths);
    *runs = (struct run_paths){ NULL, 0, 0 };
}
