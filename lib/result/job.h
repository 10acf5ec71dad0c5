/* SPDX-License-Identifier: Apache-2.0 */
/** What a folder of a job stands for. @threads any thread */
#ifndef LP_RESULT_JOB_H
#define LP_RESULT_JOB_H

/** Folder of the run that a folder without a run of its own stands for: that of all processes, or the only one that there is.
 * 0 and *run_out: free(); LLMPERF_ENOENT: there is none, or none is the only one; LLMPERF_ENOMEM. */
int lp_job_only_run(const char *folder, char **run_out);

#endif
