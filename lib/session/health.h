/* SPDX-License-Identifier: Apache-2.0 */
/** Health of a running session: its current verdict, for llmperf_session_status() and, when it
 * changes, the log. A driver that delivers no records is detected here, not only at the end. */
#ifndef LP_SESSION_HEALTH_H
#define LP_SESSION_HEALTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/attribution/attribution.h"
#include "llmperf/session.h"

struct llmperf_session;

#define LP_STATE_WORDS (sizeof(llmperf_session_state) / sizeof(uint64_t))

struct lp_health {
    /* Collector only. */
    bool dead;
    struct lp_attribution_progress before; /* when collection began or continued */
    uint64_t silent_ns; /* launches await records since then, and none came; 0: none await any */
    uint64_t reported;  /* records at the last check */
    uint32_t looks;     /* checks after flushes since then */
    uint64_t dead_ns;   /* when this was detected */
    llmperf_session_state state;
    /* Copy for all threads, as words (seqlock: odd while it is written). */
    _Atomic uint64_t version;
    _Atomic uint64_t words[LP_STATE_WORDS];
};

/** Collection begins or continues: earlier launches do not count. @threads collector only, or
 * before it runs */
void lp_health_begin(struct llmperf_session *session);

/** Has the driver delivered any record since then? @threads collector only */
bool lp_health_proven(const struct llmperf_session *session);

/** Check and report.
 * @param flushed  The driver's records were flushed just before. @threads collector only */
void lp_health_look(struct llmperf_session *session, bool flushed);

/** The session has ended with this ledger. @threads collector only */
void lp_health_end(struct llmperf_session *session, const llmperf_ledger *ledger);

/** The current state. @threads any thread */
void lp_health_read(const struct lp_health *health, llmperf_session_state *state_out);

#endif
