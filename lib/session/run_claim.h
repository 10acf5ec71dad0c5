/* SPDX-License-Identifier: Apache-2.0 */
/** The folder and the file of a run: whoever makes the file first has the run. For lib/session
 * only.
 */
#ifndef LP_SESSION_RUN_CLAIM_H
#define LP_SESSION_RUN_CLAIM_H

struct llmperf_session;

/** Make them and open the store, if the session writes anything. 0, LLMPERF_EBUSY (there is one),
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_run_claim(struct llmperf_session *session);

/** A session that did not start leaves no run behind. */
void lp_run_unclaim(struct llmperf_session *session);

#endif
