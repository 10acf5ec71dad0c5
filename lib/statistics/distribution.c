/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/statistics/distribution.h"

int lp_distribution_add(struct lp_distribution *distribution, uint64_t value_ns)
{
    double from_mean = (double)value_ns - distribution->mean_ns;

    if (distribution->count == 0 || value_ns < distribution->min_ns)
        distribution->min_ns = value_ns;
    if (value_ns > distribution->max_ns)
        distribution->max_ns = value_ns;
    distribution->count++;
    distribution->sum_ns += value_ns;
    distribution->mean_ns += from_mean / (double)distribution->count;
    distribution->spread += from_mean * ((double)value_ns - distribution->mean_ns);
    return lp_histogram_add(&distribution->histogram, value_ns);
}

double lp_distribution_mean(const struct lp_distribution *distribution)
{
    return distribution->count ? distribution->mean_ns / 1e6 : (double)NAN;
}

double lp_distribution_std(const struct lp_distribution *distribution)
{
    if (distribution->count < 2)
        return NAN;
    return sqrt(distribution->spread / (double)(distribution->count - 1)) / 1e6;
}

static double squares(uint64_t count, double std)
{
    return count > 1 ? std * std * (double)(count - 1) : 0;
}

/* Combination of two samples by Chan, Golub and LeVeque (1979). */
void lp_moments_add(uint64_t count, double *mean, double *std, uint64_t more_count,
                    double more_mean, double more_std)
{
    double a = (double)count, b = (double)more_count, both = a + b, apart = more_mean - *mean;
    double spread =
        squares(count, *std) + squares(more_count, more_std) + apart * apart * a * b / both;

    *mean += apart * b / both;
    *std = both > 1 ? sqrt(spread / (both - 1)) : (double)NAN;
}

int lp_distribution_copy(struct lp_distribution *to, const struct lp_distribution *from)
{
    *to = *from;
    return lp_histogram_copy(&to->histogram, &from->histogram);
}

void lp_distribution_clear(struct lp_distribution *distribution)
{
    lp_histogram_clear(&distribution->histogram);
    *distribution = (struct lp_distribution){ 0 };
}
