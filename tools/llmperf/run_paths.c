/* SPDX-License-Identifier: Apache-2.0 */
#include "run_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
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

struct addition {
    struct run_paths *runs;
    bool kept;
};

static void add_run(const char *path, const char *name, void *user)
{
    struct addition *addition = user;

    (void)name;
    if (addition->kept && run_paths_is_run(path))
        addition->kept = keep(addition->runs, path);
}

bool run_paths_add(struct run_paths *runs, const char *word)
{
    struct addition addition = { runs, true };
    size_t before = runs->count;

    if (!run_paths_is_run(word))
        folder_each(word, add_run, &addition);
    if (addition.kept && runs->count == before)
        addition.kept = keep(runs, word);
    if (!addition.kept)
        fprintf(stderr, "llmperf: out of memory\n");
    return addition.kept;
}

void run_paths_clear(struct run_paths *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        free(runs->paths[i]);
    free(runs->paths);
    *runs = (struct run_paths){ NULL, 0, 0 };
}
