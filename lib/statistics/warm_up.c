/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/statistics/warm_up.h"

#include <math.h>
#include <stdlib.h>

/* A call is slow if it takes so many times what 95 % of the second half of the calls take at most,
 * and what half of these do. */
#define SLOW_ABOVE_MOST 1.2
#define SLOW_ABOVE_HALF 1.5

/* One call in so many of a warm-up may be as fast as later ones. */
#define FAST_PART 10

/* Mean of the warm-up relative to that of the later calls, at least. Fewer than LEAST calls hardly
 * show a steady state. A slow call or two can be chance: then the difference must be larger, and
 * hardly any later call may be nearly as slow as each of them. */
#define LEAST      4
#define RATIO_FEW  5.0
#define SHORT      5
#define RATIO      2.0
#define RATIO_LONG 1.5

/* Calls on either side of its end. The times of a stage that becomes faster all the time do not
 * differ there. */
#define SIDE 4

struct series {
    const double *first_ms;
    size_t count;
    const struct lp_distribution *later;
};

/* Of the calls after the first `from`; infinite: out of memory. */
static double quantile_after(const struct series *series, size_t from, double fraction)
{
    struct lp_distribution all = { 0 };
    double value_ms = INFINITY;
    int status = lp_distribution_copy(&all, series->later);

    for (size_t i = from; status == 0 && i < series->count; i++)
        status = lp_distribution_add(&all, (uint64_t)(series->first_ms[i] * 1e6));
    if (status == 0)
        value_ms = lp_histogram_quantile(&all.histogram, fraction) / 1e6;
    lp_distribution_clear(&all);
    return value_ms;
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static double least_of(const double *values, size_t count)
{
    double least = values[0];

    for (size_t i = 1; i < count; i++)
        least = fmin(least, values[i]);
    return least;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Of an even number the smaller or the larger one of the two in the middle. */
static double median_of(const double *values, size_t count, bool larger)
{
    double sorted[SIDE];

    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, count, sizeof(*sorted), compare);
    return sorted[(count - !larger) / 2];
}

/* Does the time change from one call to the next? */
static bool ends_at(const struct series *series, size_t calls)
{
    size_t before = calls < SIDE ? calls : SIDE;
    size_t after = series->count - calls < SIDE ? series->count - calls : SIDE;

    return after > 0 && median_of(series->first_ms + calls - before, before, false) >=
                            SLOW_ABOVE_MOST * median_of(series->first_ms + calls, after, true);
}

static bool is_warm_up(const struct series *series, size_t calls, double slow_ms)
{
    double all = (double)series->count + (double)series->later->count;
    double rest = all - (double)calls, mean_ms = sum_of(series->first_ms, calls) / (double)calls;
    double rest_ms = (sum_of(series->first_ms + calls, series->count - calls) +
                      (double)series->later->sum_ns / 1e6) /
                     rest;
    double ratio = all < LEAST ? RATIO_FEW : calls < SHORT ? RATIO : RATIO_LONG;

    if (!(mean_ms >= ratio * rest_ms) || (calls > 1 && (rest < LEAST || !ends_at(series, calls))))
        return false;
    return calls < SHORT ? quantile_after(series, calls, 0.995) <=
                               least_of(series->first_ms, calls) / RATIO_LONG
                         : quantile_after(series, calls, 0.95) <= slow_ms;
}

size_t lp_warm_up_calls(const double *first_ms, size_t count, const struct lp_distribution *later)
{
    const struct series series = { first_ms, count, later };
    uint64_t half = (count + later->count) / 2;
    size_t most = half < count ? (size_t)half : count, slow = 0, calls = 0;
    double slow_ms;

    if (most == 0)
        return 0;
    slow_ms = fmax(SLOW_ABOVE_MOST * quantile_after(&series, most, 0.95),
                   SLOW_ABOVE_HALF * quantile_after(&series, most, 0.5));
    for (size_t i = 0; i < most; i++) {
        bool is_slow = first_ms[i] > slow_ms;

        slow += is_slow;
        if (is_slow && (i + 1 - slow) * FAST_PART <= i + 1)
            calls = i + 1;
    }
    if (calls > 1 && is_warm_up(&series, calls, slow_ms))
        return calls;
    return calls > 0 && is_warm_up(&series, 1, slow_ms);
}
