/* SPDX-License-Identifier: Apache-2.0 */
/** The random sample of a stage's calls (tier light), and what it tells about all of them.
 * @threads one at a time per object */
#ifndef LP_STATISTICS_STAGE_SAMPLING_H
#define LP_STATISTICS_STAGE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "lib/statistics/estimate.h"
#include "llmperf/profile.h"

/** Quantities of a call. */
#define LP_SAMPLED_VALUES 32

/** Device time of a call by kernel and by region, in rows that the caller numbers. Rows from
 * LP_SAMPLED_ROWS on have no estimate. */
enum lp_sampled_by { LP_SAMPLED_KERNELS, LP_SAMPLED_REGIONS, LP_SAMPLED_BY };
#define LP_SAMPLED_ROWS 8192u

typedef LP_VECTOR(uint64_t) lp_sampled_times; /* ns by row */

struct lp_sampled_row {
    double first_ms; /* in the first call */
    uint64_t ran;    /* calls of the sample that have some of it */
    struct lp_estimate estimate;
};

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
    struct lp_estimate nothing; /* 0 in each call: what a row was before its first time */
    struct lp_estimate kernels; /* time of all kernels of a call */
    LP_VECTOR(struct lp_sampled_row) rows[LP_SAMPLED_BY];
};

struct lp_sampled_call {
    uint32_t chance; /* LP_CHANCE_…; 0: not known */
    bool collected;
    double wall_ms;
    double size;          /* amount of work, 0: not given */
    const double *values; /* ms, LP_SAMPLED_VALUES of them; NaN: the call has none; or NULL */
    const lp_sampled_times *times; /* LP_SAMPLED_BY of them; or NULL */
};

/** Add a call: to the quantities if it has values, to the rows if it has times. The first call of a
 * stage may be warm-up and stands for no other: it is left out. 0 or LLMPERF_ENOMEM. */
int lp_stage_sampling_add(struct lp_stage_sampling *sampling, const struct lp_sampled_call *call);

/** Set the estimate of one quantity in its row. */
void lp_stage_sampling_estimate(const struct lp_stage_sampling *sampling, size_t quantity,
                                llmperf_iteration_stats *stats);

/** Device time over all calls, estimated: the first call as it was, the others by their mean. */
struct lp_sampled_total {
    uint64_t collected;         /* calls of the sample */
    double ms, low_ms, high_ms; /* NaN: not known */
    const char *reason;         /* why there is no interval; NULL: there is one */
};

struct lp_sampled_total lp_stage_sampling_total(const struct lp_stage_sampling *sampling,
                                                enum lp_sampled_by by, size_t row);

void lp_stage_sampling_clear(struct lp_stage_sampling *sampling);

#endif
