/* SPDX-License-Identifier: Apache-2.0 */
/** Hardware counters of a session. For lib/session only. */
#ifndef LP_SESSION_SESSION_COUNTERS_H
#define LP_SESSION_SESSION_COUNTERS_H

#include "lib/session/session.h"

/** Start the counters that the session's options request. If the machine cannot collect them, a
 * note has the reason. Requests for something that does not exist are errors: LLMPERF_EINVAL,
 * LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_session_counters_open(struct llmperf_session *session);

/** Collector: read counter values. */
void lp_session_counters_deliver(struct llmperf_session *session);

/** Collector: stop counting and read the rest.
 * @param driver  It may still be called. */
void lp_session_counters_stop(struct llmperf_session *session, bool driver);

/** Add metrics, notes and the fact "counters" to a profile. 0 or LLMPERF_ENOMEM. */
int lp_session_counters_add(struct llmperf_session *session, uint32_t process_id,
                            llmperf_profile *profile);

void lp_session_counters_close(struct llmperf_session *session);

#endif
