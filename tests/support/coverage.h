/* SPDX-License-Identifier: Apache-2.0 */
/** How often the 95 % intervals of tier light contain the truth. Programs run in simulated time;
 * the sampler, its adjustment to the budget, attribution and the estimates are the library's.
 * @threads one at a time */
#ifndef TESTS_SUPPORT_COVERAGE_H
#define TESTS_SUPPORT_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#include "llmperf/profile.h"

#define COVERAGE_PARTS 5

/** A stage of a program. */
struct coverage {
    const char *program, *stage;
    unsigned runs, printed, covered; /* runs with an interval, and those that contain the truth */
    double collected;                /* mean over the runs */
    double bias, error; /* mean, and root of the mean square, of (estimate - truth) / truth */
    double half;        /* mean of half the interval / truth */
    const char *reason; /* of the last run without an interval; NULL: all had one */
    struct coverage_part {
        const char *what;
        unsigned runs, printed, covered;
    } parts[COVERAGE_PARTS]; /* totals of kernels and of a region, MFU */
};

#define COVERAGE_STAGES 2 /* of a program, at most */

/** Number of programs; run one of them. Returns the number of its stages. */
size_t coverage_programs(void);
size_t coverage_run(size_t program, unsigned runs, struct coverage stages_out[COVERAGE_STAGES]);

/** The profile of one run whose device work takes `slower` times as long; llmperf_profile_free().
 */
llmperf_profile *coverage_profile(size_t program, uint64_t seed, double slower);

#endif
