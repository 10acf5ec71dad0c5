/* SPDX-License-Identifier: Apache-2.0 */
/** The random sample of a stage's calls (tier light), and what it tells about all of them.
 * @threads one at a time per object */
#ifndef LP_STATISTICS_STAGE_SAMPLING_H
#define LP_STATISTICS_STAGE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/statistics/estimate.h"
#include "llmperf/profile.h"

/** Quantities of a call. */
#define LP_SAMPLED_VALUES 32

/** Zero-initialised: no calls. All calls but the first and those in triggered windows. */
struct lp_stage_sampling {
    uint64_t first;               /* collected calls of LP_CHANCE_FIRST, which are left out */
    uint64_t measured;            /* collected calls of LP_CHANCE_COST */
    double first_ms, measured_ms; /* their host time */
    uint64_t calls;
    uint64_t unknown;           /* with unknown chance */
    uint64_t collected, missed; /* missed: chosen, but not collected */
    struct lp_host_times host;  /* of those with known chance */
    struct lp_estimate estimates[LP_SAMPLED_VALUES];
};

struct lp_sampled_call {
    uint32_t chance; /* LP_CHANCE_…; 0: not known */
    bool collected;
    double wall_ms;
    double size;                      /* amount of work, 0: not given */
    double values[LP_SAMPLED_VALUES]; /* ms; NaN: the call has none */
};

/** Add a call. The first call of a stage may be warm-up and stands for no other: it is left out. */
void lp_stage_sampling_add(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call);

/** Set the estimate of one quantity in its row. */
void lp_stage_sampling_estimate(const struct lp_stage_sampling *sampling, size_t quantity,
                                llmperf_iteration_stats *stats);

#endif
