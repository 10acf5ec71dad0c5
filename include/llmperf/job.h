/* SPDX-License-Identifier: Apache-2.0 */
/** The runs of a job: `llmperf run` gives each process of a program a run of its own, all in one
 * folder.
 *
 * @threads one at a time per object */
#ifndef LLMPERF_JOB_H
#define LLMPERF_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The runs that a folder held when it was looked at. */
typedef struct llmperf_job llmperf_job;

/** Find the runs of a job: that of the program itself first, then those that its processes keep
 * elsewhere, because they chose a folder themselves, and those below processes/, each in the order
 * of their names. A run that all were merged into does not count. A folder may be looked at while
 * the program runs.
 *
 * @param folder   Folder of the job; the folder of a single run is a job of one run. Copied.
 * @param job_out  Yours: llmperf_job_free().
 * @return LLMPERF_OK, also without any run; LLMPERF_EINVAL, LLMPERF_ENOENT (no folder that can be
 * read), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_job_find(const char *folder, llmperf_job **job_out);

/** Number of runs. */
LLMPERF_API size_t llmperf_job_run_count(const llmperf_job *job);

/** Folder of a run, Borrowed until the job is freed. NULL: there are not so many. */
LLMPERF_API const char *llmperf_job_run(const llmperf_job *job, size_t index);

/** Processes that were forked from a profiled one without executing a program and used CUDA: they
 * are in no run. */
LLMPERF_API size_t llmperf_job_forked_count(const llmperf_job *job);

/** Processes of the job that run now, by their ids: `llmperf run` gave them the job's folder in
 * LLMPERF_RUN_DIR. Those of other users, of other hosts and those that cleared their environment
 * are not seen. The caller itself is left out.
 *
 * @param pids  Ids, in ascending order, `most` of them at most; NULL: only their number is wanted.
 * @return their number, which may be more than `most`; 0 where /proc cannot be read. */
LLMPERF_API size_t llmperf_job_processes(const llmperf_job *job, uint32_t *pids, size_t most);

/** All runs as one, as llmperf_profile_merge() does it, under the name of the job's folder. A run
 * that cannot be read, because its process was killed before it committed anything, say, is named
 * by a problem of the result, whose verdict then is `incomplete`; so is one that goes on, because
 * its process still runs (llmperf_job_processes()). A note names running processes that have no
 * run.
 *
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no run can be read), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_job_merge(const llmperf_job *job, llmperf_profile **profile_out);

/** NULL is fine. */
LLMPERF_API void llmperf_job_free(llmperf_job *job);

#ifdef __cplusplus
}
#endif
#endif
