/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "lib/statistics/student.h"
#include "lib/statistics/estimate.h"

/* A call is slow if it takes this many times what its size lets expect. Collecting makes a call at
 * most half as long again, so that a collected call that is not nearly slow does not become slow.
 * Calls that are nearly slow must be this much rarer than slow ones. */
#define SLOW         3.0
#define NEARLY_SLOW  (SLOW / 1.5)
#define NEARLY_SHARE 0.1

/* Expectations are used if the variance becomes smaller than this share. */
#define USEFUL 0.5

/* The same for a value that is only a part of what is expected: of a kernel that does not run in
 * all calls, few slow calls of the sample could make an expectation look useful by chance. */
#define USEFUL_PART 0.2

/* Calls that are needed to know the moments of host times. */
#define BLOCK_LEAST 16.0

/* Host times */

/* The sum of 1 call of each block, times N. */
static void close_block(struct lp_host_times *times)
{
    double n = (double)times->count, scale = times->weight - 1;

    for (int i = 0; i < 1 + LP_EXPECTATIONS; i++) {
        struct lp_host_moments *moments = &times->moments[i];
        const double *sums = moments->sums;
        double mean = sums[0] / n, square = mean * mean;

        moments->second += scale * (sums[1] - n * square);
        moments->third +=
            scale * (scale - 1) * (sums[2] - 3 * mean * sums[1] + 2 * n * square * mean);
        moments->fourth +=
            scale * scale * scale *
            (sums[3] - 4 * mean * sums[2] + 6 * square * sums[1] - 3 * n * square * square);
        memset(moments->sums, 0, sizeof(moments->sums));
    }
    times->count = 0;
}

static double slope_of(const struct lp_host_times *times)
{
    return times->products[1] > 0 ? times->products[0] / times->products[1] : 0;
}

/* Time of a call of this size that is not slow; 0: not known. */
static double normal_of(const struct lp_host_times *times, double size)
{
    return fmax(0, times->mean[0] + slope_of(times) * (size - times->mean[1]));
}

static void learn(struct lp_host_times *times, double value, double size, bool slow)
{
    double from_value = value - times->mean[0], from_size = size - times->mean[1];

    if (slow) {
        times->slow++;
        times->slow_ms += (value - normal_of(times, size) - times->slow_ms) / times->slow;
        return;
    }
    times->nearly_slow += times->normal > 0 && value > NEARLY_SLOW * normal_of(times, size);
    times->normal++;
    times->mean[0] += from_value / times->normal;
    times->mean[1] += from_size / times->normal;
    times->products[0] += from_size * (value - times->mean[0]);
    times->products[1] += from_size * (size - times->mean[1]);
}

static void add_moments(struct lp_host_times *times, double weight, double value,
                        struct lp_expected expected)
{
    if (times->count > 0 &&
        (weight != times->weight || (double)times->count >= fmax(weight, BLOCK_LEAST)))
        close_block(times);
    times->weight = weight;
    times->count++;
    for (int i = 0; i < 1 + LP_EXPECTATIONS; i++) {
        struct lp_host_moments *moments = &times->moments[i];
        double left = value - (i > 0 ? expected.ms[i - 1] : 0), power = 1;

        if (times->count == 1)
            moments->origin = left;
        for (int k = 0; k < 4; k++)
            moments->sums[k] += power *= left - moments->origin;
    }
}

struct lp_expected lp_host_times_add(struct lp_host_times *times, enum lp_call how, double weight,
                                     double value_ms, double size)
{
    bool slow = times->normal > 0 && value_ms > SLOW * normal_of(times, size);
    struct lp_expected expected;

    if (how == LP_CALL_ALONE)
        learn(times, value_ms, size, slow);
    expected.ms[0] = slope_of(times) * size;
    expected.ms[1] = expected.ms[0] + (slow ? times->slow_ms : 0);
    times->calls++;
    for (int i = 0; i < LP_EXPECTATIONS; i++)
        times->expected.ms[i] += expected.ms[i];
    times->slow_collected += slow && how == LP_CALL_COLLECTED;
    times->slow_chosen += slow ? 1 / weight : 0;
    if (how == LP_CALL_ALONE)
        add_moments(times, weight, value_ms, expected);
    return expected;
}

/* Collected calls must not be slow because they were collected. */
static bool may_expect(const struct lp_host_times *times, int expectation)
{
    return expectation == 0 || ((double)times->nearly_slow <= NEARLY_SHARE * times->slow &&
                                (double)times->slow_collected <= 3 + 3 * times->slow_chosen);
}

/* Estimates */

/* One call of each block was chosen, so that the variance follows from the differences between
 * successive calls. The factor contains the finite population correction: all of 1 call adds no
 * error. */
void lp_estimate_add(struct lp_estimate *estimate, double weight, double value,
                     struct lp_expected expected)
{
    const double terms[LP_ESTIMATE_TERMS] = { 1, value, expected.ms[0], expected.ms[1] };
    double square = weight * (weight - 1), factor = sqrt(square);
    double change[LP_ESTIMATE_TERMS];

    for (int i = 0; i < LP_ESTIMATE_TERMS; i++) {
        double scaled;

        if (estimate->count == 0 && i > 0)
            estimate->origin[i] = terms[i];
        scaled = factor * (terms[i] - estimate->origin[i]);
        estimate->sums[i] += weight * (terms[i] - estimate->origin[i]);
        change[i] = estimate->count > 0 ? scaled - estimate->last[i] : 0;
        estimate->last[i] = scaled;
    }
    for (int i = 0; i < LP_ESTIMATE_TERMS; i++)
        for (int k = 0; k < LP_ESTIMATE_TERMS; k++)
            estimate->changes[i][k] += change[i] * change[k];
    estimate->count++;
    estimate->factor_2 += square;
    estimate->factor_4 += square * square;
}

/* Mean without (expectation < 0) or with an expectation, relative to the origin; and the variance
 * of it. */
static double mean_with(const struct lp_estimate *estimate, const struct lp_host_times *times,
                        int expectation, double share, double *squared_out)
{
    double left[LP_ESTIMATE_TERMS] = { 0, 1 }, n = (double)estimate->count, sum = 0, mean;
    double weights = estimate->sums[0], known = 0;

    if (expectation >= 0) {
        left[2 + expectation] = -share;
        known = share * (times->expected.ms[expectation] / (double)times->calls -
                         estimate->origin[2 + expectation]);
    }
    for (int i = 1; i < LP_ESTIMATE_TERMS; i++)
        left[0] -= left[i] * estimate->sums[i] / weights;
    mean = known - left[0];
    for (int i = 0; i < LP_ESTIMATE_TERMS; i++)
        for (int k = 0; k < LP_ESTIMATE_TERMS; k++)
            sum += left[i] * left[k] * estimate->changes[i][k];
    *squared_out = fmax(sum, 0) * n / (2 * (n - 1)) / (weights * weights);
    return mean;
}

/* Degrees of freedom of the variance: of differences between n normal values 2 n / 3, otherwise by
 * the kurtosis. */
static double freedom_of(const struct lp_host_moments *moments, double calls)
{
    double freedom = lp_freedom_of_differences(calls);

    return moments->fourth > 0
               ? fmin(freedom, 2 * moments->second * moments->second / moments->fourth)
               : freedom;
}

double lp_estimate_plain(const struct lp_estimate *estimate)
{
    return estimate->sums[1] / estimate->sums[0] + estimate->origin[1];
}

struct lp_estimated lp_estimate_mean(const struct lp_estimate *estimate,
                                     const struct lp_host_times *times, double share)
{
    struct lp_estimated mean = { NAN, NAN, 0, 0, 0 };
    struct lp_host_times closed = *times;
    const struct lp_host_moments *moments = &closed.moments[0];
    double squared, with, other;

    if (estimate->count == 0)
        return mean;
    mean.mean = mean_with(estimate, times, -1, share, &squared);
    mean.calls = estimate->factor_4 > 0
                     ? estimate->factor_2 * estimate->factor_2 / estimate->factor_4
                     : (double)estimate->count;
    for (int i = 0; mean.calls >= LP_ESTIMATE_CALLS && i < LP_EXPECTATIONS; i++) {
        other = mean_with(estimate, times, i, share, &with);
        if (!may_expect(times, i) || !(with < (share < 1 ? USEFUL_PART : USEFUL) * squared))
            continue;
        mean.mean = other;
        squared = with;
        moments = &closed.moments[1 + i];
    }
    mean.mean += estimate->origin[1];
    if (estimate->count < 2)
        return mean;
    if (closed.count > 0)
        close_block(&closed);
    mean.skew =
        moments->second > 0 ? fabs(moments->third) / (moments->second * sqrt(moments->second)) : 0;
    mean.freedom = freedom_of(moments, mean.calls);
    mean.half = lp_student_95(mean.freedom) * sqrt(squared);
    return mean;
}
