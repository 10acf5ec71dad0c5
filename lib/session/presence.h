/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light with LLMPERF_SESSION_DETACH: when CUPTI is in the process. It comes for a span of
 * instances, which are collected one and all, and leaves: both while the thread that launches is
 * held at the begin of an instance, because nothing may be launched meanwhile. What coming, going
 * and collecting cost decides how far spans are apart. For lib/session, on the collector thread. */
#ifndef LP_SESSION_PRESENCE_H
#define LP_SESSION_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct llmperf_session;

enum lp_presence_state {
    LP_PRESENT_ALWAYS, /* not asked for, or it turned out not to be safe */
    LP_PRESENT_SPAN,   /* instances are collected */
    LP_PRESENT_LEAVES, /* as soon as a thread is held */
    LP_PRESENT_NOT,
    LP_PRESENT_JOINS /* likewise */
};

struct lp_presence {
    enum lp_presence_state state;
    uint64_t since_ns;     /* when CUPTI came or left last */
    double since_work_ns;  /* host time of the instances by then */
    bool judged;           /* what the last span cost is known */
    uint64_t over_ns;      /* when the instances of the span were over; 0: they are not */
    uint64_t came;         /* records by the begin of the span */
    uint64_t seen;         /* instances that had begun at the last look, */
    uint64_t seen_ns;      /* when there was a new one last, */
    uint64_t seen_came;    /* and the records by then */
    uint64_t next_ns;      /* not before then does it come, or is leaving tried again; */
    double next_work_ns;   /* nor before the instances have taken so long in all */
    uint64_t graphs;       /* events of graphs so far */
    uint64_t quiet_graphs; /* likewise at the last look that found new ones, */
    uint64_t quiet_ns;     /* and when that was */
    uint64_t held_ns;      /* a thread was, for the span under way */
    uint32_t units;        /* of a span */
    uint32_t busy;         /* attempts to leave in a row at which the device was not idle */
    uint64_t unreported;   /* launches that were awaited in vain while a thread was held */
    uint64_t random;
    uint64_t spans;                    /* that are over */
    uint64_t all_held_ns, all_away_ns; /* sums over them */
};

/** Sampling has begun: at the start of a session CUPTI is there. */
void lp_presence_begin(struct llmperf_session *session);

/** Sampling is about to end: no thread is held any more. */
void lp_presence_end(struct llmperf_session *session);

/** Look at what is due. true: a thread is held, so that CUPTI can leave: bring in all records, and
 * call lp_presence_leave(). */
bool lp_presence_look(struct llmperf_session *session, uint64_t now_ns);
void lp_presence_leave(struct llmperf_session *session);

/** Is CUPTI out of the process? */
bool lp_presence_is_away(const struct llmperf_session *session);

/** What the run says of it. 0 or LLMPERF_ENOMEM. */
int lp_presence_fill(const struct llmperf_session *session, llmperf_profile *profile);

#endif
