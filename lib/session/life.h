/* SPDX-License-Identifier: Apache-2.0 */
/** The life of the one session that a process may have at a time. @threads any thread */
#ifndef LP_SESSION_LIFE_H
#define LP_SESSION_LIFE_H

struct llmperf_session;

/** A session is about to start. 0; LLMPERF_EBUSY: one runs or starts. */
int lp_life_reserve(void);

/** A start that was reserved has ended: with a session, or NULL. */
void lp_life_begin(struct llmperf_session *session);

/** The session has stopped and its reports are written. */
void lp_life_end(void);

/** The exit handler begins: the session that runs is not freed until it leaves. NULL: there is
 * none, or this process is a forked child. */
struct llmperf_session *lp_life_enter_exit(void);
void lp_life_leave_exit(void);

/** The exit handler waits for another thread that stops the session: for its reports, but not for
 * ever. */
void lp_life_await_stop(void);

/** Wait until the exit handler has left a session that is about to be freed. */
void lp_life_await_exit(const struct llmperf_session *session);

#endif
