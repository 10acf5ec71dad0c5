/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light with LLMPERF_SESSION_DETACH: when CUPTI is attached to the process. It is attached
 * for a sampling burst (consecutive calls that are all collected) and detached after it, each time
 * at a safepoint (safepoint.h). The cost of both decides the time between bursts.
 * docs/explanation/light-tier.md has the table of states. For lib/session, on the collector
 * thread. */
#ifndef LP_SESSION_DETACH_H
#define LP_SESSION_DETACH_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/profile.h"

struct llmperf_session;

enum lp_detach_state {
    LP_DETACH_OFF,     /* CUPTI stays attached: detach was not requested, or is not safe */
    LP_DETACH_BURST,   /* CUPTI is attached, and calls are collected */
    LP_DETACH_LEAVING, /* detaches as soon as a thread waits at the safepoint */
    LP_DETACH_OUT,     /* detached */
    LP_DETACH_JOINING  /* attaches as soon as a thread waits at the safepoint */
};

struct lp_detach {
    enum lp_detach_state state;
    uint64_t since_ns;     /* when CUPTI was last attached or detached */
    double since_work_ns;  /* wall time of the sampled regions at that time */
    bool judged;           /* the last burst's cost is known */
    uint64_t over_ns;      /* end of the burst's calls; 0: not yet */
    uint64_t came;         /* records before the burst */
    uint64_t seen;         /* calls that had begun at the last check, */
    uint64_t seen_ns;      /* when that number last changed, */
    uint64_t seen_came;    /* and the records at that time */
    uint64_t next_ns;      /* earliest time to attach, or to try again to detach */
    double next_work_ns;   /* earliest wall time of the sampled regions to attach */
    uint64_t graphs;       /* graph events so far */
    uint64_t quiet_graphs; /* their number when it last changed, */
    uint64_t quiet_ns;     /* and when that was */
    uint64_t stopped_ns;   /* time that threads waited for the current burst */
    uint32_t units;        /* calls per burst */
    uint32_t busy;         /* consecutive attempts to detach at which the device was not idle */
    uint64_t unreported;   /* launches without a record while a thread waited */
    uint64_t random;
    uint64_t bursts;                     /* completed bursts */
    uint64_t all_stopped_ns, all_out_ns; /* sums over bursts */
};

/** Start sampling with the source's collection, or continue after a pause; in bursts if the session
 * requested detach. */
void lp_detach_begin(struct llmperf_session *session);

/** Sampling is about to end: release a thread that waits at the safepoint. */
void lp_detach_end(struct llmperf_session *session);

/** Do what is due.
 * @return true: a thread waits, so CUPTI can be detached: read all records and call
 * lp_detach_leave(). */
bool lp_detach_look(struct llmperf_session *session, uint64_t now_ns);
void lp_detach_leave(struct llmperf_session *session);

/** Is CUPTI detached? */
bool lp_detach_is_out(const struct llmperf_session *session);

/** Add facts and notes about it to the profile. 0 or LLMPERF_ENOMEM. */
int lp_detach_fill(const struct llmperf_session *session, llmperf_profile *profile);

#endif
