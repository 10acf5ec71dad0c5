/* SPDX-License-Identifier: Apache-2.0 */
/** Quantiles of Student's t distribution, for confidence intervals. @threads any thread */
#ifndef LP_STATISTICS_STUDENT_H
#define LP_STATISTICS_STUDENT_H

/** Half-width of the two-sided 95 % (99 %) interval.
 * @param freedom  Degrees of freedom; NaN and values below 1 count as 1. */
double lp_student_95(double freedom);
double lp_student_99(double freedom);

/** Degrees of freedom of a variance that follows from differences between n successive values. */
static inline double lp_freedom_of_differences(double n)
{
    return 2 * (n - 1) * (n - 1) / (3 * n - 4);
}

#endif
