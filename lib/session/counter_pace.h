/* SPDX-License-Identifier: Apache-2.0 */
/** How often sampled counters are read: as often as the shortest region of interest needs, and no
 * more often than the chip and the collector can. For lib/session, on the collector thread. */
#ifndef LP_SESSION_COUNTER_PACE_H
#define LP_SESSION_COUNTER_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct llmperf_session;

struct lp_counter_pace {
    bool asked;         /* the user chose the interval */
    double share;       /* of one core, that taking samples out may cost */
    uint64_t looked_ns; /* last look */
    uint32_t changes;
    char reason[300]; /* why the interval is what it is */
};

/** Before the first sample. @param asked_ns  What the user asked for; 0: nothing.
 * @return the interval to begin with, in ns */
uint64_t lp_counter_pace_begin(struct lp_counter_pace *pace, uint32_t tier, uint64_t asked_ns);

/** The interval that fits regions whose work runs `stretch_ns` at a time, if a sample costs
 * `sample_ns` of the collector's time (0: not known). */
uint64_t lp_counter_pace_fit(const struct lp_counter_pace *pace, double stretch_ns,
                             double sample_ns);

/** Look at the regions, and change the interval if another one fits better. */
void lp_counter_pace_adjust(struct llmperf_session *session, uint64_t now_ns);

#endif
