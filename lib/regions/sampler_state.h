/* SPDX-License-Identifier: Apache-2.0 */
/** The state machine of tier light's sampling, without its actions: docs/explanation/light-tier.md
 * has the same tables with the actions, the threads and the reasons. */
#ifndef LP_REGIONS_SAMPLER_STATE_H
#define LP_REGIONS_SAMPLER_STATE_H

#include <stdbool.h>
#include <stdint.h>

/** name; who may leave it (FREE: any thread; OWNED: the thread that entered it; SHARED: the threads
 * that entered it, of which the state keeps the number); CUPTI's records */
#define LP_SAMPLER_STATES(X)                                                                       \
    X(OFF, FREE, UNMANAGED)                                                                        \
    X(IDLE, FREE, OFF)                                                                             \
    X(SAMPLE_STARTS, OWNED, CHANGING)                                                              \
    X(SAMPLE, SHARED, ON)                                                                          \
    X(SETTLING, FREE, ON)                                                                          \
    X(STOPPING, OWNED, CHANGING)                                                                   \
    X(WINDOW_STARTS, OWNED, CHANGING)                                                              \
    X(WINDOW, OWNED, ON)                                                                           \
    X(WINDOW_ENDS, OWNED, ON)                                                                      \
    X(TRIGGERED_STARTS, OWNED, CHANGING)                                                           \
    X(TRIGGERED, OWNED, ON)                                                                        \
    X(BURST, FREE, ON)                                                                             \
    X(BURST_SAMPLE, OWNED, ON)                                                                     \
    X(DETACHED, FREE, UNMANAGED)

/** name, kind. OPENS: refused in other states and while sampling is suspended. OWNERS: only from
 * the owner of the state. COLLECTORS: from the collector, in each state. TRIES: as
 * COLLECTORS, but a thread may have been faster. */
#define LP_SAMPLER_EVENTS(X)                                                                       \
    X(SESSION_BEGINS, COLLECTORS)                                                                  \
    X(CALL_BEGINS, OPENS)                                                                          \
    X(WINDOW_OPENS, OPENS)                                                                         \
    X(TRIGGER_OPENS, OPENS)                                                                        \
    X(RECORDS_ON, OWNERS)                                                                          \
    X(CALL_ENDS, OWNERS)                                                                           \
    X(WINDOW_CLOSES, OWNERS)                                                                       \
    X(CALLS_OVER, OWNERS)                                                                          \
    X(TRIGGER_CLOSES, OWNERS)                                                                      \
    X(SETTLED, TRIES)                                                                              \
    X(RECORDS_OFF, OWNERS)                                                                         \
    X(BURST_BEGINS, COLLECTORS)                                                                    \
    X(BURST_CALL_BEGINS, OPENS)                                                                    \
    X(BURSTS_END, COLLECTORS)                                                                      \
    X(CUPTI_LEAVES, TRIES)                                                                         \
    X(SESSION_ENDS, TRIES)                                                                         \
    X(SESSION_GIVES_UP, COLLECTORS)

/** from, event, to. OVER leads to SETTLING if a CUDA graph was launched, else to STOPPING; from a
 * SHARED state only for the last of its threads, the others leave the state as it is. Two
 * events lead from every state to OFF and are not listed: SESSION_ENDS, refused while records are
 * CHANGING, and SESSION_GIVES_UP. */
#define LP_SAMPLER_TRANSITIONS(X)                                                                  \
    X(OFF, SESSION_BEGINS, IDLE)                                                                   \
    X(IDLE, CALL_BEGINS, SAMPLE_STARTS)                                                            \
    X(SAMPLE_STARTS, RECORDS_ON, SAMPLE)                                                           \
    X(SETTLING, CALL_BEGINS, SAMPLE)                                                               \
    X(SAMPLE, CALL_BEGINS, SAMPLE)                                                                 \
    X(SAMPLE, CALL_ENDS, OVER)                                                                     \
    X(IDLE, WINDOW_OPENS, WINDOW_STARTS)                                                           \
    X(WINDOW_STARTS, RECORDS_ON, WINDOW)                                                           \
    X(SETTLING, WINDOW_OPENS, WINDOW)                                                              \
    X(WINDOW, WINDOW_CLOSES, WINDOW_ENDS)                                                          \
    X(WINDOW_ENDS, CALLS_OVER, OVER)                                                               \
    X(IDLE, TRIGGER_OPENS, TRIGGERED_STARTS)                                                       \
    X(SETTLING, TRIGGER_OPENS, TRIGGERED_STARTS)                                                   \
    X(TRIGGERED_STARTS, RECORDS_ON, TRIGGERED)                                                     \
    X(TRIGGERED, TRIGGER_CLOSES, OVER)                                                             \
    X(SETTLING, SETTLED, STOPPING)                                                                 \
    X(STOPPING, RECORDS_OFF, IDLE)                                                                 \
    X(IDLE, BURST_BEGINS, BURST)                                                                   \
    X(DETACHED, BURST_BEGINS, BURST)                                                               \
    X(BURST, BURST_CALL_BEGINS, BURST_SAMPLE)                                                      \
    X(BURST_SAMPLE, CALL_ENDS, BURST)                                                              \
    X(BURST, BURSTS_END, OVER)                                                                     \
    X(BURST_SAMPLE, BURSTS_END, SAMPLE)                                                            \
    X(BURST, CUPTI_LEAVES, DETACHED)                                                               \
    X(DETACHED, BURSTS_END, OVER)

/* clang-format off */
#define LP_SAMPLER_STATE(name, owned, records) LP_SAMPLER_##name,
enum lp_sampler_state { LP_SAMPLER_STATES(LP_SAMPLER_STATE) LP_SAMPLER_STATE_COUNT };

#define LP_SAMPLER_EVENT(name, kind) LP_SAMPLER_ON_##name,
enum lp_sampler_event { LP_SAMPLER_EVENTS(LP_SAMPLER_EVENT) LP_SAMPLER_EVENT_COUNT };
/* clang-format on */

enum lp_sampler_records {
    LP_SAMPLER_RECORDS_UNMANAGED, /* not switched by the sampler */
    LP_SAMPLER_RECORDS_OFF,
    LP_SAMPLER_RECORDS_CHANGING,
    LP_SAMPLER_RECORDS_ON
};

/** All in one word, so that a transition is one compare-and-swap: state (bits 0 to 7), flags, owner
 * or, in a SHARED state, the number of calls (16 to 39), number of the session (40 to 63). 0: OFF.
 */
#define LP_SAMPLER_SUSPENDED (UINT64_C(1) << 8) /* events of kind OPENS are refused */
#define LP_SAMPLER_REQUESTED                                                                       \
    (UINT64_C(1) << 9) /* a triggered window is requested and not open yet */
#define LP_SAMPLER_GRAPHS                                                                          \
    (UINT64_C(1) << 10) /* a CUDA graph was launched while records were on                         \
                         */

#define LP_SAMPLER_COLLECTOR 0u        /* as owner; a thread is its index + 1 */
#define LP_SAMPLER_SESSIONS  0xffffffu /* the largest number; the next is 1 */

static inline enum lp_sampler_state lp_sampler_state_of(uint64_t word)
{
    return (enum lp_sampler_state)(word & 0xff);
}

static inline uint32_t lp_sampler_owner_of(uint64_t word)
{
    return (uint32_t)(word >> 16) & 0xffffff;
}

static inline uint32_t lp_sampler_session_of(uint64_t word)
{
    return (uint32_t)(word >> 40);
}

/** Are 1 of N calls sampled in this state? One comparison: these states precede WINDOW_STARTS. */
static inline bool lp_sampler_samples(uint64_t word)
{
    return (word & (0xff | LP_SAMPLER_REQUESTED)) < LP_SAMPLER_WINDOW_STARTS;
}

/** The word after an event. It is unchanged if the table has no transition, the owner is another
 * one, or sampling is suspended.
 * @param who  LP_SAMPLER_COLLECTOR or a thread; for SESSION_BEGINS the session's number, from 1.
 * @threads any thread */
uint64_t lp_sampler_next(uint64_t word, enum lp_sampler_event event, uint32_t who);

/** May the event be refused in this state because others changed it meanwhile, without a fault of
 * the caller? */
bool lp_sampler_may_refuse(uint64_t word, enum lp_sampler_event event, uint32_t who);

enum lp_sampler_records lp_sampler_records(enum lp_sampler_state state);

#endif
