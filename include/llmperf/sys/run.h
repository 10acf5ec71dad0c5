/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Run folders: the runs of a job, removal of old runs, counters of several runs combined, and the
 * layout of rows for other languages. A job is what `llmperf run` started: each of its processes
 * has a run of its own, all in one folder. */
#ifndef LLMPERF_SYS_RUN_H
#define LLMPERF_SYS_RUN_H

#include "llmperf/api.h"
#include "llmperf/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The runs that were in a folder when it was read. */
typedef struct llmperf_job llmperf_job;

/** Find the runs of a job: first that of the program itself, then those that processes keep in
 * folders of their own choice, then those below processes/, each sorted by name. The merged run is
 * not one of them. The program may still be running.
 *
 * @param folder   Folder of the job, or of a single run.
 * @param job_out  Yours: llmperf_job_free().
 * @return LLMPERF_OK (also without any run); LLMPERF_EINVAL, LLMPERF_ENOENT (not a folder that can
 * be read), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_job_find(const char *folder, llmperf_job **job_out);

/** Number of runs.
 *
 * @threads any thread */
LLMPERF_API size_t llmperf_job_run_count(const llmperf_job *job);

/** Folder of a run.
 *
 * @param index  From 0.
 * @return Belongs to the job; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_job_run(const llmperf_job *job, size_t index);

/** Number of processes that were forked from a profiled one without executing a program, and used
 * CUDA: they are in no run.
 *
 * @threads any thread */
LLMPERF_API size_t llmperf_job_forked_count(const llmperf_job *job);

/** Processes of the job that are running now, without the caller. Processes of other users and
 * hosts and those that cleared their environment are not found.
 *
 * @param pids  Filled with process ids in ascending order; NULL: only count.
 * @param most  Elements of `pids`.
 * @return Their number, which may exceed `most`; 0 if /proc cannot be read.
 * @threads any thread */
LLMPERF_API size_t llmperf_job_processes(const llmperf_job *job, uint32_t *pids, size_t most);

/** Merge all runs of a job with llmperf_profile_merge(), named after the job's folder. A run that
 * cannot be read, or whose process is still running, becomes a problem of the result, whose verdict
 * is then `incomplete`. A note names running processes that have no run.
 *
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no run can be read), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_job_merge(const llmperf_job *job, llmperf_profile **profile_out);

/** Free a job.
 *
 * @param job  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_job_free(llmperf_job *job);

/** Remove the oldest runs next to a run until `keep` are left, this run included, as a session does
 * for artifacts.keep_runs. A run is a folder with run.llmperf, or the folder of a job with
 * merged/run.llmperf or repeats.json. Never removed are the run itself, runs that were written to
 * within the last minute, and runs that another program has open.
 *
 * @param run_dir  Folder of the run itself.
 * @param keep     0: remove none.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_runs_retain(const char *run_dir, uint64_t keep);

/** Combine the hardware counters of runs of one program, each with another group of a preset
 * (group=K of llmperf_session_options.counters), into one run. Everything else is that of the first
 * run. A quantity of several runs is taken from the first of them; parts of a sum are added up. A
 * run whose regions, devices or calls differ from the first one's is left out, and a note says why.
 *
 * @param profiles     Borrowed: `count` profiles, at least one.
 * @param count        Number of profiles.
 * @param run_id       Of the result; NULL: that of the first run.
 * @param merged_out   Number of runs whose counters are in the result; may be NULL.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_EFORMAT (a damaged histogram), LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_profile_merge_counters(const llmperf_profile *const *profiles, size_t count,
                                               const char *run_id, size_t *merged_out,
                                               llmperf_profile **profile_out);

/** How far a long call of this process has come, such as an import: asked from another thread while
 * the call is in progress.
 *
 * @param share_out  0 to 1, of the step that is named; NaN: not known. May be NULL.
 * @return What it does: "reading a recording". Static text; NULL: nothing that takes long.
 * @threads any thread */
LLMPERF_API const char *llmperf_progress(double *share_out);

#ifdef __cplusplus
}
#endif
#endif
