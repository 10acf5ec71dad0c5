/* SPDX-License-Identifier: Apache-2.0 */
/** The folder and the file of a run: whoever makes the file first has the run; and what becomes of
 * older runs beside it. For lib/session only. */
#ifndef LP_SESSION_RUN_CLAIM_H
#define LP_SESSION_RUN_CLAIM_H

#include <stdint.h>

struct llmperf_session;

/** Create them and open the store, if the session writes files. 0; LLMPERF_EBUSY: the run exists;
 * LLMPERF_EIO; LLMPERF_ENOMEM. */
int lp_run_claim(struct llmperf_session *session);

/** Remove them: the session did not start. */
void lp_run_unclaim(struct llmperf_session *session);

/** Remove the oldest runs beside `run_dir` until `keep` are left, it among them. A run is a folder
 * that holds run.llmperf, merged/run.llmperf or repeats.json; one that was written to within the
 * last minute may still be running and stays, and so does whatever cannot be removed. */
void lp_runs_retain(const char *run_dir, int64_t keep);

#endif
