/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of llmperf_job, and which run the folder of a job refers to. For lib/store only.
 * @threads any thread */
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

/** The run that a job folder without its own run refers to: the merged run of all processes, or the
 * only run. 0 and *run_out: free(); LLMPERF_ENOENT: there is none, or more than one without a
 * merged run; LLMPERF_ENOMEM. */
int lp_job_only_run(const char *folder, char **run_out);

#endif
