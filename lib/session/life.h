/* SPDX-License-Identifier: Apache-2.0 */
/** Start and end of the one session that a process may have at a time. @threads any thread */
#ifndef LP_SESSION_LIFE_H
#define LP_SESSION_LIFE_H

struct llmperf_session;

/** Reserve the start of a session. 0; LLMPERF_EBUSY: a session runs or starts. */
int lp_life_reserve(void);

/** End of a reserved start: with a session, or NULL if it failed. */
void lp_life_begin(struct llmperf_session *session);

/** The session has stopped and its reports are written. */
void lp_life_end(void);

/** The exit handler begins: the running session is not freed until the handler ends. NULL: no
 * session, or a forked child. */
struct llmperf_session *lp_life_enter_exit(void);
void lp_life_leave_exit(void);

/** The exit handler waits, for a limited time, for the reports of a session that another thread
 * stops. */
void lp_life_await_stop(void);

/** Wait until the exit handler has left a session that is about to be freed. */
void lp_life_await_exit(const struct llmperf_session *session);

#endif
