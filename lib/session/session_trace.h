/* SPDX-License-Identifier: Apache-2.0 */
/** What a session keeps on disk besides totals: recordings, and how large its folder becomes. For
 * lib/session only. */
#ifndef LP_SESSION_SESSION_TRACE_H
#define LP_SESSION_SESSION_TRACE_H

#include "lib/session/session.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"

/** Record all that goes through the session's sink from now on. @param limit_bytes  0: none.
 * @param own_file  The library chose the name. 0 or as lp_recorder_open(). */
int lp_session_record(struct llmperf_session *session, const char *path, uint64_t limit_bytes,
                      bool own_file, struct lp_recorder **recorder_out);

/** Begin the trace in the run's folder, if one is requested. 0 or as lp_recorder_open(). */
int lp_session_trace_open(struct llmperf_session *session);

/** A session that did not start leaves none. */
void lp_session_trace_remove(struct llmperf_session *session);

/** Collector: what was recorded by now survives the process. */
void lp_session_trace_flush(struct llmperf_session *session);

/** Collector: the end. What the trace lacks becomes a note of the run, not its failure. */
void lp_session_trace_close(struct llmperf_session *session, const struct lp_device_stats *stats);

/** Add the facts about trace and folder to a profile. 0 or LLMPERF_ENOMEM. */
int lp_session_trace_note(struct llmperf_session *session, llmperf_profile *profile);

#endif
