/* SPDX-License-Identifier: Apache-2.0 */
/** Count, sum, mean, standard deviation, extremes and percentiles of durations.
 * @threads one at a time per object */
#ifndef LP_PROFILE_DISTRIBUTION_H
#define LP_PROFILE_DISTRIBUTION_H

#include "lib/statistics/histogram.h"

/** Zero-initialised: empty. Nanoseconds. */
struct lp_distribution {
    uint64_t count, sum_ns, min_ns, max_ns;
    double mean_ns, spread; /* spread: Welford's sum of squared differences from the mean */
    struct lp_histogram histogram;
};

/** 0 or LLMPERF_ENOMEM. */
int lp_distribution_add(struct lp_distribution *distribution, uint64_t value_ns);

/** Milliseconds. NaN if empty; the (sample) standard deviation needs two values. */
double lp_distribution_mean(const struct lp_distribution *distribution);
double lp_distribution_std(const struct lp_distribution *distribution);

/** Combine mean and standard deviation of two samples.
 * @param mean, std  In: of the first `count` values. Out: of all. std is the sample standard
 * deviation, NaN below two values. */
void lp_moments_add(uint64_t count, double *mean, double *std, uint64_t more_count,
                    double more_mean, double more_std);

/** Copy into an empty one. 0 or LLMPERF_ENOMEM; to be cleared in any case. */
int lp_distribution_copy(struct lp_distribution *to, const struct lp_distribution *from);

void lp_distribution_clear(struct lp_distribution *distribution);

#endif
