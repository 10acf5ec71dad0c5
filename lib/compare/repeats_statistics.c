/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "lib/compare/repeats.h"
#include "lib/findings/stage_iterations.h"

/* Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993). */
#define Z_FACTOR   0.6745
#define Z_MOST     3.5
#define RUNS_LEAST 3 /* with two runs neither is the outlier */

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return LP_ORDER(a, b);
}

/* Median of
 * value - centre
 * over the known values; with centre 0, of the values. */
static double median_of(const double *values, size_t count, double centre, bool distances)
{
    double *sorted = malloc(count * sizeof(*sorted)), median = NAN;
    size_t known = 0;

    for (size_t i = 0; sorted && i < count; i++)
        if (!isnan(values[i]))
            sorted[known++] = distances ? fabs(values[i] - centre) : values[i];
    if (known > 0) {
        qsort(sorted, known, sizeof(*sorted), compare_numbers);
        median = (sorted[(known - 1) / 2] + sorted[known / 2]) / 2;
    }
    free(sorted);
    return median;
}

static double std_of(const double *values, size_t count, double mean, size_t known)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            squares += (values[i] - mean) * (values[i] - mean);
    return known > 1 ? sqrt(squares / (double)(known - 1)) : (double)NAN;
}

void lp_repeats_summarise(struct lp_repeats_row *row, size_t count, double threshold)
{
    double sum = 0;

    row->count = 0;
    row->min = row->max = NAN;
    for (size_t i = 0; i < count; i++) {
        if (isnan(row->values[i]))
            continue;
        sum += row->values[i];
        row->min = fmin(row->min, row->values[i]);
        row->max = fmax(row->max, row->values[i]);
        row->count++;
    }
    row->mean = row->count > 0 ? sum / (double)row->count : (double)NAN;
    row->std = std_of(row->values, count, row->mean, row->count);
    row->cv = lp_variation(row->std, row->mean);
    row->spread = row->count > 1 && row->mean > 0 ? (row->max - row->min) / row->mean : (double)NAN;
    row->median = median_of(row->values, count, 0, false);
    row->deviation = median_of(row->values, count, row->median, true);
    row->differs = row->spread > threshold;
}

bool lp_repeats_is_outlier(const struct lp_repeats_row *row, size_t run, double threshold)
{
    double distance = fabs(row->values[run] - row->median);

    return row->count >= RUNS_LEAST && distance > threshold * fabs(row->median) &&
           Z_FACTOR * distance > Z_MOST * row->deviation;
}
