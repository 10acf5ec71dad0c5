/* SPDX-License-Identifier: Apache-2.0 */
/** 95 % confidence intervals of numbers that follow from sampled times.
 * @threads any thread */
#ifndef LP_FINDINGS_INTERVAL_H
#define LP_FINDINGS_INTERVAL_H

#include "lib/statistics/student.h"

/** Limits; NaN: there is no interval. An error is an interval divided by its value, so that that of
 * a time is that of all numbers that are proportional to it. */
struct lp_interval {
    double low, high;
};

static inline struct lp_interval lp_error_of(double value, double low, double high)
{
    return (struct lp_interval){ low / value, high / value };
}

/** Of a number that is proportional to the time. */
static inline struct lp_interval lp_interval_of(double value, struct lp_interval error)
{
    return (struct lp_interval){ value * error.low, value * error.high };
}

/** Of a number that is proportional to 1 / time: MFU, MBU, rates. */
static inline struct lp_interval lp_interval_of_rate(double value, struct lp_interval error)
{
    return (struct lp_interval){ value / error.high, value / error.low };
}

/** Standard error of an estimate from `collected` calls, from the width of its interval. */
static inline double lp_standard_error(struct lp_interval interval, double collected)
{
    return (interval.high - interval.low) / 2 / lp_student_95(lp_freedom_of_differences(collected));
}

#endif
