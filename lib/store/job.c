/* SPDX-License-Identifier: Apache-2.0 */
/** Folders of jobs: JOB/run.llmperf is the run of the program, JOB/processes/ID/run.llmperf those
 * of its processes, JOB/run-PID contains the path of a run that is kept elsewhere, JOB/forked-PID
 * marks a process without a run, JOB/merged/run.llmperf combines them all. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/store/job.h"

#define PATH_BYTES 4096 /* maximum size of a file that holds a path */

static bool holds_run(const char *folder)
{
    char *path = lp_path_join(folder, "run.llmperf");
    bool holds = path && lp_path_exists(path) && !lp_path_is_folder(path);

    free(path);
    return holds;
}

/* Takes `run`, which may be NULL: out of memory. */
static int take_run(llmperf_job *job, char *run)
{
    int status = run ? 0 : lp_out_of_memory();

    if (status == 0 && holds_run(run)) {
        if (lp_vector_push(&job->runs, run) == 0)
            return 0;
        status = lp_out_of_memory();
    }
    free(run);
    return status;
}

/* The path of a run that a process keeps elsewhere. A file that is still being written is
 * ignored. */
static int take_word(llmperf_job *job, const char *path)
{
    size_t size;
    char *text;

    if (lp_file_read_most(path, PATH_BYTES, &text, &size) < 0)
        return 0;
    text[strcspn(text, "\n")] = '\0';
    return take_run(job, text);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static int take_entry(llmperf_job *job, const char *folder, const char *name, bool processes)
{
    char *path = lp_path_join(folder, name);
    int status;

    if (!path || processes)
        return take_run(job, path);
    job->forked += begins(name, "forked-");
    status = begins(name, "run-") ? take_word(job, path) : 0;
    free(path);
    return status;
}

/* @return 0; LLMPERF_ENOENT: no such folder; LLMPERF_ENOMEM */
static int take_folder(llmperf_job *job, const char *folder, bool processes)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort), status = 0;

    for (int i = 0; i < count; i++) {
        if (status == 0)
            status = take_entry(job, folder, entries[i]->d_name, processes);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count < 0 ? LLMPERF_ENOENT : status;
}

static int find_runs(llmperf_job *job)
{
    char *processes = lp_path_join(job->folder, "processes");
    int status = processes ? 0 : lp_out_of_memory();

    if (status == 0 && holds_run(job->folder))
        status = take_run(job, lp_text_copy(job->folder));
    if (status == 0 && (status = take_folder(job, job->folder, false)) == LLMPERF_ENOENT)
        status =
            lp_error(LLMPERF_ENOENT, "cannot read folder %s: %s", job->folder, strerror(errno));
    if (status == 0 && (status = take_folder(job, processes, true)) == LLMPERF_ENOENT)
        status = 0;
    free(processes);
    return status;
}

int llmperf_job_find(const char *folder, llmperf_job **job_out)
{
    llmperf_job *job;
    int status;

    if (!folder || !*folder || !job_out)
        return lp_error(LLMPERF_EINVAL, "folder and job_out are required");
    if (!(job = calloc(1, sizeof(*job))))
        return lp_out_of_memory();
    job->folder = lp_text_copy(folder);
    status = job->folder ? 0 : lp_out_of_memory();
    for (size_t end = status == 0 ? strlen(folder) : 0; end > 1 && job->folder[end - 1] == '/';)
        job->folder[--end] = '\0';
    if (status == 0)
        status = find_runs(job);
    if (status < 0)
        llmperf_job_free(job);
    else
        *job_out = job;
    return status;
}

size_t llmperf_job_run_count(const llmperf_job *job)
{
    return job ? job->runs.count : 0;
}

const char *llmperf_job_run(const llmperf_job *job, size_t index)
{
    return job && index < job->runs.count ? job->runs.items[index] : NULL;
}

size_t llmperf_job_forked_count(const llmperf_job *job)
{
    return job ? job->forked : 0;
}

void llmperf_job_free(llmperf_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->runs.count; i++)
        free(job->runs.items[i]);
    lp_vector_clear(&job->runs);
    free(job->folder);
    free(job);
}

int lp_job_only_run(const char *folder, char **run_out)
{
    char *merged = lp_path_join(folder, "merged");
    llmperf_job *job = NULL;
    int status;

    if (merged && holds_run(merged)) {
        *run_out = merged;
        return 0;
    }
    free(merged);
    if ((status = llmperf_job_find(folder, &job)) < 0)
        return status;
    if (job->runs.count == 0)
        status = lp_error(LLMPERF_ENOENT,
                          "%s contains no run (no run.llmperf and no processes/); give a run "
                          "directory or its run.llmperf (llmperf list shows the runs in a folder)",
                          folder);
    else if (job->runs.count > 1)
        status = lp_error(LLMPERF_ENOENT,
                          "%s contains %zu runs of processes; give one of them, such as %s, or "
                          "combine them with llmperf merge",
                          folder, job->runs.count, job->runs.items[0]);
    else if (!(*run_out = lp_text_copy(job->runs.items[0])))
        status = lp_out_of_memory();
    llmperf_job_free(job);
    return status;
}
