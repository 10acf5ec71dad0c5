/* SPDX-License-Identifier: Apache-2.0 */
/** Estimates the mean of a quantity over all calls of a stage from the calls that sampling
 * collected, with a 95 % confidence interval. docs/explanation/sampling.md has the formulas.
 * @threads one at a time per object */
#ifndef LP_STATISTICS_ESTIMATE_H
#define LP_STATISTICS_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/** Collected calls that an interval needs. */
#define LP_ESTIMATE_CALLS 10u

/** What is expected of a call because of what is known of all calls: from its size, and from its
 * size and whether it was a slow call. ms; only differences between calls have a meaning. */
#define LP_EXPECTATIONS 2
struct lp_expected {
    double ms[LP_EXPECTATIONS];
};

/** Host times of all calls. Zero-initialised: empty. Collecting makes a call longer, so those of
 * the collected calls only say which calls were slow. */
struct lp_host_times {
    uint64_t calls;
    struct lp_expected expected; /* sums over all calls */
    /* Calls that are not slow: mean of time and size, products of size with time and size. */
    double normal, mean[2], products[2];
    double slow, slow_ms; /* slow calls, by how much they are longer */
    uint64_t nearly_slow; /* so that collecting them makes them slow */
    double slow_chosen;   /* expected number of slow calls in the sample */
    uint64_t slow_collected;
    uint64_t count; /* of calls in the current block */
    double weight;  /* of its calls */
    /* For the skewness and kurtosis of an estimate: of the times, and of what is left of them after
     * each expectation. */
    struct lp_host_moments {
        double origin,
            sums[4]; /* of the current block: powers of the times relative to its first */
        double second, third, fourth; /* central moments of the sum that is estimated */
    } moments[1 + LP_EXPECTATIONS];
};

/** How a call ran. */
enum lp_call {
    LP_CALL_ALONE,  /* without records: its time is as without a profiler */
    LP_CALL_BESIDE, /* not collected, but records were on */
    LP_CALL_COLLECTED
};

/** Add a call that was in the sample with chance 1 / weight.
 * @param size  Amount of work that the program gave; 0: none.
 * @return what is expected of it */
struct lp_expected lp_host_times_add(struct lp_host_times *times, enum lp_call how, double weight,
                                     double value_ms, double size);

/** Values of the collected calls; zero-initialised: empty. Of each call a vector of 1, the value
 * and its expectations is used. */
#define LP_ESTIMATE_TERMS (2 + LP_EXPECTATIONS)
struct lp_estimate {
    uint64_t count;
    double origin[LP_ESTIMATE_TERMS]; /* the first call's; others are relative to it */
    double last[LP_ESTIMATE_TERMS];   /* of the call before, times its factor */
    double sums[LP_ESTIMATE_TERMS];   /* weighted by N */
    /* Products of differences between successive calls. */
    double changes[LP_ESTIMATE_TERMS][LP_ESTIMATE_TERMS];
    double factor_2, factor_4; /* sums of powers of the factors */
};

/** Add a call of the sample, which it was in with chance 1 / weight. */
void lp_estimate_add(struct lp_estimate *estimate, double weight, double value,
                     struct lp_expected expected);

struct lp_estimated {
    double mean;    /* NaN: no call */
    double half;    /* half the width of the interval; NaN: fewer than two calls */
    double calls;   /* as many calls of equal chance would give the same interval */
    double skew;    /* predicted from the host times */
    double freedom; /* degrees of freedom of the variance */
};

/** @param share  Part of what is expected of a call that is expected of this value; 1: all. */
struct lp_estimated lp_estimate_mean(const struct lp_estimate *estimate,
                                     const struct lp_host_times *times, double share);

/** Mean of the sample, weighted; NaN: no call. */
double lp_estimate_plain(const struct lp_estimate *estimate);

#endif
