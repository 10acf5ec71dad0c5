/* SPDX-License-Identifier: Apache-2.0 */
/** Percentiles of rows, from the list in fields.h.
 * @threads any thread */
#ifndef LP_PROFILE_PERCENTILES_H
#define LP_PROFILE_PERCENTILES_H

#include <stddef.h>

#include "lib/profile/fields.h"

/** A percentile; LP_PERCENTILES lists them. */
struct lp_percentile {
    const char *name, *wall_name; /* "p95", "wall_p95_ms" */
    double fraction;
    size_t region, kernel, spread; /* offsets of the member in these rows */
};

#define LP_PERCENTILE_ONE(F, p, fraction, text, series) +1
#define LP_PERCENTILE_COUNT                             (LP_PERCENTILES(LP_PERCENTILE_ONE, ))

extern const struct lp_percentile lp_percentiles[LP_PERCENTILE_COUNT];

/** The percentile of this number in lp_percentiles. @param row  of LP_ROW_REGION, LP_ROW_KERNEL or
 * LP_ROW_SPREAD. */
double lp_percentile(enum lp_row_id id, const void *row, size_t number);

struct lp_histogram;

/** Set all percentiles of a row, none of them outside of the two limits. @param histogram  NULL:
 * they are not known. */
void lp_set_percentiles(enum lp_row_id id, void *row, const struct lp_histogram *histogram,
                        double min_ms, double max_ms);

#endif
