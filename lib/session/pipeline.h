/* SPDX-License-Identifier: Apache-2.0 */
/** Pipeline of a session: from the device source to the totals. For lib/session only. */
#ifndef LP_SESSION_PIPELINE_H
#define LP_SESSION_PIPELINE_H

struct llmperf_session;

/** Create the stages and connect them. 0 or an error; freeing the session frees them. */
int lp_pipeline_make(struct llmperf_session *session);

#endif
