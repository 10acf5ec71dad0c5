/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light with LLMPERF_SESSION_DETACH: when CUPTI is in the process. It comes for a sampling
 * burst (a row of calls that are all collected) and leaves after it, each time at a safepoint
 * (safepoint.h). What that and collecting cost decides how far bursts are apart.
 * docs/explanation/light-tier.md has the table of the states. For lib/session, on the collector
 * thread. */
#ifndef LP_SESSION_DETACH_H
#define LP_SESSION_DETACH_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct llmperf_session;

enum lp_detach_state {
    LP_DETACH_OFF,     /* CUPTI stays: detach was not requested, or turned out not to be safe */
    LP_DETACH_BURST,   /* CUPTI is in, and calls are collected */
    LP_DETACH_LEAVING, /* it leaves as soon as a thread waits at the safepoint */
    LP_DETACH_OUT,     /* it is out of the process */
    LP_DETACH_JOINING  /* it comes back as soon as a thread waits at the safepoint */
};

struct lp_detach {
    enum lp_detach_state state;
    uint64_t since_ns;     /* when CUPTI came or left last */
    double since_work_ns;  /* host time of the sampled regions by then */
    bool judged;           /* what the last burst cost is known */
    uint64_t over_ns;      /* when the calls of the burst were over; 0: they are not */
    uint64_t came;         /* records by the begin of the burst */
    uint64_t seen;         /* calls that had begun at the last look, */
    uint64_t seen_ns;      /* when there was a new one last, */
    uint64_t seen_came;    /* and the records by then */
    uint64_t next_ns;      /* earliest time to join, or to try again to leave; */
    double next_work_ns;   /* earliest host time of the sampled regions to join */
    uint64_t graphs;       /* events of graphs so far */
    uint64_t quiet_graphs; /* likewise at the last look that found new ones, */
    uint64_t quiet_ns;     /* and when that was */
    uint64_t stopped_ns;   /* how long threads waited, for the current burst */
    uint32_t units;        /* calls of a burst */
    uint32_t busy;         /* attempts to leave in a row at which the device was not idle */
    uint64_t unreported;   /* launches that were awaited in vain while a thread waited */
    uint64_t random;
    uint64_t bursts;                     /* that are over */
    uint64_t all_stopped_ns, all_out_ns; /* sums over them */
};

/** Begin sampling with the source's collection, or again after a pause; in bursts if the session
 * requested detach. */
void lp_detach_begin(struct llmperf_session *session);

/** Sampling is about to end: no thread waits at the safepoint any more. */
void lp_detach_end(struct llmperf_session *session);

/** Look at what is due. true: a thread waits, so CUPTI can leave: bring in all records, and call
 * lp_detach_leave(). */
bool lp_detach_look(struct llmperf_session *session, uint64_t now_ns);
void lp_detach_leave(struct llmperf_session *session);

/** Is CUPTI out of the process? */
bool lp_detach_is_out(const struct llmperf_session *session);

/** What the run reports about it. 0 or LLMPERF_ENOMEM. */
int lp_detach_fill(const struct llmperf_session *session, llmperf_profile *profile);

#endif
