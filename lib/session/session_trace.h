/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings of a session, and the size of its folder. For lib/session only. */
#ifndef LP_SESSION_SESSION_TRACE_H
#define LP_SESSION_SESSION_TRACE_H

#include "lib/session/session.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"

/** Record everything that passes the session's sink from now on.
 * @param limit_bytes  0: none.
 * @param own_file  The library chose the name.
 * @return 0 or an error of lp_recorder_open(). */
int lp_session_record(struct llmperf_session *session, const char *path, uint64_t limit_bytes,
                      bool own_file, struct lp_recorder **recorder_out);

/** Start the trace in the run's folder, if requested. 0 or an error of lp_recorder_open(). */
int lp_session_trace_open(struct llmperf_session *session);

/** Remove it: the session did not start. */
void lp_session_trace_remove(struct llmperf_session *session);

/** Collector: flush, so that the records so far survive a crash. */
void lp_session_trace_flush(struct llmperf_session *session);

/** Collector: close. If the trace is incomplete, the run gets a note. */
void lp_session_trace_close(struct llmperf_session *session, const struct lp_device_stats *stats);

/** Add the facts about trace and folder to a profile. 0 or LLMPERF_ENOMEM. */
int lp_session_trace_note(struct llmperf_session *session, llmperf_profile *profile);

#endif
