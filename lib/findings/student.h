/* SPDX-License-Identifier: Apache-2.0 */
/** Student's t: how far a mean of few values may be off. @threads any thread */
#ifndef LP_FINDINGS_STUDENT_H
#define LP_FINDINGS_STUDENT_H

/** Half the width that holds 95 % or 99 % of it. @param freedom  NaN and below 1 count as 1. */
double lp_student_95(double freedom);
double lp_student_99(double freedom);

#endif
