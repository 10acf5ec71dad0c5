/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of llmperf_job, and what a folder of a job stands for. For lib/store only. @threads any
 * thread */
#ifndef LP_STORE_JOB_H
#define LP_STORE_JOB_H

#include <stddef.h>

#include "lib/base/vector.h"
#include "llmperf/sys/run.h"

struct llmperf_job {
    char *folder;
    LP_VECTOR(char *) runs;
    size_t forked;
};

/** Folder of the run that a folder without a run of its own stands for: that of all processes, or
 * the only one that there is. 0 and *run_out: free(); LLMPERF_ENOENT: there is none, or none is the
 * only one; LLMPERF_ENOMEM. */
int lp_job_only_run(const char *folder, char **run_out);

#endif
