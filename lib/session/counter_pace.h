/* SPDX-License-Identifier: Apache-2.0 */
/** Chooses the sampling interval of counters: short enough for the shortest region of interest, and
 * not shorter than GPU and collector can sustain. For lib/session, on the collector thread. */
#ifndef LP_SESSION_COUNTER_PACE_H
#define LP_SESSION_COUNTER_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct llmperf_session;

struct lp_counter_pace {
    uint64_t requested_ns; /* by the user; 0: the session chooses */
    double share;          /* largest share of a core for reading samples */
    uint64_t looked_ns;    /* last check */
    uint32_t changes;
    uint64_t samples, lost, cost_ns; /* at the last check of a requested interval */
    char reason[300];                /* of the current interval */
};

/** The interval to start with, in ns. Not below the default, because the cost of a sample on this
 * machine is not known yet.
 * @param requested_ns  From the user; 0: none. */
uint64_t lp_counter_pace_begin(struct lp_counter_pace *pace, uint32_t tier, uint64_t requested_ns);

/** The interval for regions with continuous work of `active_ns`, if reading a sample costs
 * `sample_ns` (0: not known). */
uint64_t lp_counter_pace_fit(const struct lp_counter_pace *pace, double active_ns,
                             double sample_ns);

/** The interval for a request: the requested one, or the shortest that this machine sustains. After
 * a change it only grows, when samples are lost.
 * @param sample_ns  Cost of a sample for the collector.
 * @param lost_share  Share of lost samples, 0 to 1. */
uint64_t lp_counter_pace_sustained(struct lp_counter_pace *pace, uint64_t current_ns,
                                   double sample_ns, double lost_share);

/** Check the regions, and change the interval if another one is better. */
void lp_counter_pace_adjust(struct llmperf_session *session, uint64_t now_ns);

#endif
