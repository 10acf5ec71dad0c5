/* SPDX-License-Identifier: Apache-2.0 */
/** The iterations of one stage path, gathered from the rows of a profile.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_STAGE_ITERATIONS_H
#define LP_FINDINGS_STAGE_ITERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/profile/fields.h"

/** Most single iterations of a stage that documents show: the newest. */
#define LP_RECENT_ITERATIONS 256

struct lp_stage_iterations {
    const char *region;                      /* path */
    llmperf_iteration_stats times[LP_TIMES]; /* count 0: not known */
    double host_ms;  /* host only, before and after the span, of all iterations; NaN: not known */
    size_t wall_row; /* row of the time "wall" */
    size_t first_class, class_count; /* rows of the profile's statistics */
    size_t first_recent, recent;     /* row and number of the single iterations that are shown */
    /* Instances ran on the device at once, so that gaps of one hold work of others.
     * lp_findings_of() sets it. */
    bool overlaps;
    /* Its calls were chosen for collecting device work or not; false for one around or inside such
     * a stage. lp_findings_of() sets it. */
    bool sampled;
};

/** Gather the stage whose statistics begin at `row`. Returns the row behind them. */
size_t lp_stage_iterations_read(struct lp_stage_iterations *stage, const llmperf_profile *profile,
                                size_t row);

/** The stage with this path; NULL: there is none. */
const struct lp_stage_iterations *lp_stage_iterations_find(const struct lp_stage_iterations *stages,
                                                           size_t count, const char *path);

/** Next one of the single iterations that are shown, oldest first; false: there are no more.
 * @param row  Starts as stage->first_recent. */
bool lp_stage_iterations_next(const struct lp_stage_iterations *stage,
                              const llmperf_profile *profile, size_t *row,
                              llmperf_iteration *iteration);

/** Spread in relation to the mean, std / mean; NaN where one is not known or the mean is 0. */
double lp_variation(double std, double mean);

#endif
