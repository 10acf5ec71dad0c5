/* SPDX-License-Identifier: Apache-2.0 */
/** The pipeline of a session, from the device side to the result side. For lib/session only. */
#ifndef LP_SESSION_PIPELINE_H
#define LP_SESSION_PIPELINE_H

struct llmperf_session;

/** Make the stages and wire them. 0 or an error; freeing the session clears what was made. */
int lp_pipeline_make(struct llmperf_session *session);

#endif
