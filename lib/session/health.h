/* SPDX-License-Identifier: Apache-2.0 */
/** Health of a running session: its verdict so far, reported by llmperf_session_status() and logged
 * when it changes. A driver whose tracing is dead is found here, not only at the end. */
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
    /* The collector's. */
    bool dead;
    struct lp_attribution_progress before; /* when collecting began or went on */
    uint64_t silent_ns; /* since then launches are out and no record came; 0: none is out */
    uint64_t reported;  /* at the last look */
    uint32_t looks;     /* after flushes, while that lasts */
    uint64_t dead_ns;   /* when it was found */
    llmperf_session_state state;
    /* The same for all threads, in words: odd while it is written. */
    _Atomic uint64_t version;
    _Atomic uint64_t words[LP_STATE_WORDS];
};

/** Collecting begins or goes on: launches before it prove nothing. @threads collector only, or
 * before it runs */
void lp_health_begin(struct llmperf_session *session);

/** Has the driver reported anything since then? @threads collector only */
bool lp_health_proven(const struct llmperf_session *session);

/** Check and report; `flushed`: the driver's records were flushed just before. @threads collector
 * only */
void lp_health_look(struct llmperf_session *session, bool flushed);

/** The session has ended, with this ledger. @threads collector only */
void lp_health_end(struct llmperf_session *session, const llmperf_ledger *ledger);

/** The newest state. @threads any thread */
void lp_health_read(const struct lp_health *health, llmperf_session_state *state_out);

#endif
