/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the runs of a job into one profile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/store/job.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"

#define RUNNING_MOST 64

/* Profiles opened so far. */
struct opened {
    LP_VECTOR(llmperf_profile *) profiles;
    LP_VECTOR(char *) faults; /* one line for each run that cannot be read or is still running */
    uint32_t running[RUNNING_MOST]; /* processes; 0: its run was found */
    size_t running_count;
};

static bool is_open(const llmperf_profile *profile)
{
    const char *problem;

    for (size_t i = 0; (problem = llmperf_profile_problem(profile, i)); i++)
        if (strcmp(problem, LP_PROBLEM_OPEN) == 0)
            return true;
    return false;
}

static int keep_fault(struct opened *opened, const char *text)
{
    char *fault = lp_text_copy(text);

    if (fault && lp_vector_push(&opened->faults, fault) == 0)
        return 0;
    free(fault);
    return lp_out_of_memory();
}

/* A process may outlive its job. Its later work is in its own run only. */
static int look_for_process(struct opened *opened, const char *run, const llmperf_profile *profile)
{
    const char *text = llmperf_profile_fact(profile, "process_id");
    uint32_t pid = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
    struct lp_text line = { NULL, 0, 0, false };
    bool runs = false;
    int status = 0;

    for (size_t i = 0; pid && i < opened->running_count; i++)
        if (opened->running[i] == pid) {
            opened->running[i] = 0;
            runs = is_open(profile);
        }
    if (runs) {
        lp_text_printf(&line,
                       "process %" PRIu32 " was still running when the runs were merged; its run "
                       "continues in %s: merge again after it has ended",
                       pid, run);
        status = line.failed ? lp_out_of_memory() : keep_fault(opened, line.bytes);
    }
    lp_text_clear(&line);
    return status;
}

static int open_run(struct opened *opened, const char *run)
{
    struct lp_text line = { NULL, 0, 0, false };
    llmperf_profile *profile;
    int status = llmperf_profile_open(run, &profile);

    if (status == 0) {
        if (lp_vector_push(&opened->profiles, profile) == 0)
            return look_for_process(opened, run, profile);
        llmperf_profile_free(profile);
        return lp_out_of_memory();
    }
    if (status == LLMPERF_ENOMEM)
        return status;
    lp_text_printf(&line, "the run of a process was skipped: %s", llmperf_last_error());
    status = line.failed ? lp_out_of_memory() : keep_fault(opened, line.bytes);
    lp_text_clear(&line);
    return status;
}

static int add_faults(const struct opened *opened, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < opened->faults.count && status == 0; i++)
        status = lp_profile_problem(profile, "%s", opened->faults.items[i]);
    return status;
}

/* A running process without a run may never use the device: a note, not a problem. */
static int note_running(const struct opened *opened, const char *folder, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < opened->running_count && status == 0; i++)
        if (opened->running[i])
            status = lp_profile_note(profile,
                                     "merged: process %" PRIu32
                                     " was still running and had no run; if it uses CUDA or "
                                     "NVTX, its run is written to %.800s/processes",
                                     opened->running[i], folder);
    return status;
}

static bool has_device(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    return llmperf_profile_ledger(profile, &ledger) == 0 &&
           ledger.verdict != LLMPERF_VERDICT_NO_DEVICE;
}

/* Facts of machine and GPUs come from the first profile, and a launcher may have no GPU. */
static void put_devices_first(struct opened *opened)
{
    size_t with = 0;

    for (size_t i = 0; i < opened->profiles.count; i++) {
        llmperf_profile *profile = opened->profiles.items[i];

        if (!has_device(profile))
            continue;
        memmove(&opened->profiles.items[with + 1], &opened->profiles.items[with],
                (i - with) * sizeof(profile));
        opened->profiles.items[with++] = profile;
    }
}

static int merge_opened(const llmperf_job *job, struct opened *opened,
                        llmperf_profile **profile_out)
{
    const char *slash = strrchr(job->folder, '/');
    llmperf_profile *merged;
    int status;

    put_devices_first(opened);
    if (opened->profiles.count == 0)
        return lp_error(LLMPERF_ENOENT, "%s contains no readable run", job->folder);
    status = llmperf_profile_merge((const llmperf_profile *const *)opened->profiles.items,
                                   opened->profiles.count, &merged);
    if (status < 0)
        return status;
    if ((status = add_faults(opened, merged)) < 0 ||
        (status = note_running(opened, job->folder, merged)) < 0 ||
        (status = lp_profile_set_fact(merged, "run_id", slash ? slash + 1 : job->folder)) < 0)
        llmperf_profile_free(merged);
    else
        *profile_out = merged;
    return status;
}

int llmperf_job_merge(const llmperf_job *job, llmperf_profile **profile_out)
{
    struct opened opened = { 0 };
    int status = 0;

    if (!job || !profile_out)
        return lp_error(LLMPERF_EINVAL, "job and profile_out are required");
    opened.running_count = llmperf_job_processes(job, opened.running, RUNNING_MOST);
    if (opened.running_count > RUNNING_MOST)
        opened.running_count = RUNNING_MOST;
    for (size_t i = 0; i < job->runs.count && status == 0; i++)
        status = open_run(&opened, job->runs.items[i]);
    if (status == 0)
        status = merge_opened(job, &opened, profile_out);
    for (size_t i = 0; i < opened.profiles.count; i++)
        llmperf_profile_free(opened.profiles.items[i]);
    for (size_t i = 0; i < opened.faults.count; i++)
        free(opened.faults.items[i]);
    lp_vector_clear(&opened.profiles);
    lp_vector_clear(&opened.faults);
    return status;
}
