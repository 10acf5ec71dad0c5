/* SPDX-License-Identifier: Apache-2.0 */
/** Hardware counters of a session. For lib/session only. */
#ifndef LP_SESSION_SESSION_COUNTERS_H
#define LP_SESSION_SESSION_COUNTERS_H

#include "lib/session/session.h"

/** Collect what the session's options request. What the machine cannot do becomes a reason in the
 * notes; a request for something that does not exist is an error: LLMPERF_EINVAL, LLMPERF_ENOENT,
 * LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_session_counters_open(struct llmperf_session *session);

/** Collector: take in what was counted. */
void lp_session_counters_deliver(struct llmperf_session *session);

/** Collector: stop counting and take in the rest. `driver`: it may still be called. */
void lp_session_counters_stop(struct llmperf_session *session, bool driver);

/** Add metrics, notes and the fact "counters" to a profile. 0 or LLMPERF_ENOMEM. */
int lp_session_counters_add(struct llmperf_session *session, uint32_t process_id,
                            llmperf_profile *profile);

void lp_session_counters_close(struct llmperf_session *session);

#endif
