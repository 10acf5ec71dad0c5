/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Run directories: the runs of a job, removing old runs, counters of several runs as one.
 *
 * The runs of a job: `llmperf run` gives each process of a program a run of its own, all in one
 * folder.
 *
 * @threads one at a time per object */
#ifndef LLMPERF_SYS_RUN_H
#define LLMPERF_SYS_RUN_H

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

/** Remove the oldest runs in the folder of a run until `keep` are left, this run included, as a
 * session does for artifacts.keep_runs. A run is a folder that holds run.llmperf, or the folder of
 * a job with merged/run.llmperf or repeats.json. These stay: the run itself, a run that was written
 * to within the last minute, one whose run.llmperf a program has open, and one that cannot be
 * removed.
 *
 * @param run_dir  Folder of the run itself. @param keep  0: all stay.
 * @return LLMPERF_OK; LLMPERF_EINVAL. @threads any thread */
LLMPERF_API int llmperf_runs_retain(const char *run_dir, uint64_t keep);

/** Hardware counters of runs of one program, each with another group of a preset (group=K of
 * llmperf_session_options.counters), as counters of one run. Everything else is of the first run; a
 * quantity that several runs have is taken from the first of them; parts of a sum are added up. A
 * run with other regions, devices or numbers of instances than the first one is left out, and a
 * note says why.
 *
 * @param profiles     Borrowed, `count` of them, at least one.
 * @param run_id       Of the result; NULL: that of the first run.
 * @param merged_out   Runs whose counters are in it; NULL: not wanted.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_EFORMAT (a damaged histogram), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_profile_merge_counters(const llmperf_profile *const *profiles, size_t count,
                                               const char *run_id, size_t *merged_out,
                                               llmperf_profile **profile_out);

/** Members of a row struct, for bindings of other languages: "name:type:offset", with spaces
 * between them, in any order. Types are text, u32, i32, u64, f64, and classes, which is
 * LLMPERF_ITERATION_CLASSES times f64. struct_size and reserved members are left out.
 *
 * @param structure  Any struct of llmperf/profile.h that a row is read into:
 * "llmperf_region_stats".
 * @param text_out   Yours: llmperf_text_free().
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOMEM. @threads any thread */
LLMPERF_API int llmperf_row_layout(const char *structure, char **text_out);

#ifdef __cplusplus
}
#endif
#endif
