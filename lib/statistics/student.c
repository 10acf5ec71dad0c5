/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/statistics/student.h"

#include <stddef.h>

#define TABLED 20

/* Beyond `TABLED` degrees of freedom: a curve through the last value of the table, within 0.01. */
static double width(const double *values, double normal, double slope, double freedom)
{
    if (!(freedom >= 1))
        return values[0];
    if (freedom < TABLED)
        return values[(size_t)freedom - 1];
    return normal * (1 + slope / freedom);
}

double lp_student_95(double freedom)
{
    static const double values[TABLED] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                           2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                           2.131,  2.120, 2.110, 2.101, 2.093, 2.086 };

    return width(values, 1.960, 1.286, freedom);
}

double lp_student_99(double freedom)
{
    static const double values[TABLED] = { 63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499,
                                           3.355,  3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
                                           2.947,  2.921, 2.898, 2.878, 2.861, 2.845 };

    return width(values, 2.576, 2.088, freedom);
}
