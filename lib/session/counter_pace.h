/* SPDX-License-Identifier: Apache-2.0 */
/** How often sampled counters are read: as often as the shortest region of interest needs, and no
 * more often than the chip and the collector can. For lib/session, on the collector thread. */
#ifndef LP_SESSION_COUNTER_PACE_H
#define LP_SESSION_COUNTER_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct llmperf_session;

struct lp_counter_pace {
    uint64_t requested_ns; /* by the user; 0: the session chooses */
    double share;          /* of one core, that taking samples out may cost */
    uint64_t looked_ns;    /* last look */
    uint32_t changes;
    uint64_t samples, lost, cost_ns; /* as of the last look at a requested interval */
    char reason[300];                /* why the interval is what it is */
};

/** Before the first sample. @param requested_ns  What the user requested; 0: nothing.
 * @return the interval to begin with, in ns. Not shorter than the usual one: what a sample costs on
 * this machine must be known first. */
uint64_t lp_counter_pace_begin(struct lp_counter_pace *pace, uint32_t tier, uint64_t requested_ns);

/** The interval that fits regions whose work comes in intervals of `active_ns`, if a sample costs
 * `sample_ns` of the collector's time (0: not known). */
uint64_t lp_counter_pace_fit(const struct lp_counter_pace *pace, double active_ns,
                             double sample_ns);

/** The interval for a request: as requested, or the shortest that this machine sustains. Once it
 * was changed it only grows, when samples are lost.
 * @param sample_ns  What a sample cost the collector. @param lost_share  Of samples, 0 to 1. */
uint64_t lp_counter_pace_sustained(struct lp_counter_pace *pace, uint64_t current_ns,
                                   double sample_ns, double lost_share);

/** Look at the regions, and change the interval if another one fits better. */
void lp_counter_pace_adjust(struct llmperf_session *session, uint64_t now_ns);

#endif
