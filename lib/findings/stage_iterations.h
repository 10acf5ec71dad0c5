/* SPDX-License-Identifier: Apache-2.0 */
/** The iterations of a stage path, from the rows of a profile.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_STAGE_ITERATIONS_H
#define LP_FINDINGS_STAGE_ITERATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/profile/fields.h"

/** Single iterations in documents: the newest. */
#define LP_RECENT_ITERATIONS 256

struct lp_stage_iterations {
    const char *region;                      /* path */
    llmperf_iteration_stats times[LP_TIMES]; /* of the calls after warm-up; count 0: not known */
    struct lp_warm_up_time {
        uint64_t calls;
        double ms;                   /* their sum */
    } warm_up[LP_TIMES];             /* calls 0: none is warm-up */
    double host_ms;                  /* outside of the span, over all iterations; NaN: not known */
    llmperf_iteration first;         /* sequence 0: not known */
    size_t wall_row;                 /* row of "wall" */
    size_t first_class, class_count; /* rows of the profile's statistics */
    size_t first_recent, recent;     /* row and number of the single iterations in documents */
    /* Calls overlapped on the device, so gaps of one contain work of others. Set by
     * lp_findings_of(). */
    bool overlaps;
    /* Its calls were chosen for collecting device work or not; false for one around or inside such
     * a stage. lp_findings_of() sets it. */
    bool sampled;
};

/** Read the stage whose statistics start at `row`. Returns the row after them. */
size_t lp_stage_iterations_read(struct lp_stage_iterations *stage, const llmperf_profile *profile,
                                size_t row);

/** NULL: no stage has this path. */
const struct lp_stage_iterations *lp_stage_iterations_find(const struct lp_stage_iterations *stages,
                                                           size_t count, const char *path);

/** Next single iteration, oldest first; false: no more.
 * @param row  Starts as stage->first_recent. */
bool lp_stage_iterations_next(const struct lp_stage_iterations *stage,
                              const llmperf_profile *profile, size_t *row,
                              llmperf_iteration *iteration);

/** Number and sum of a time over all calls, with warm-up, ms. */
double lp_all_calls(const struct lp_stage_iterations *stage, enum lp_iteration_time time);
double lp_all_sum(const struct lp_stage_iterations *stage, enum lp_iteration_time time);

/** Standard error of an estimate that has an interval, as the mean of a program: that of the
 * sample, and that of all calls. */
double lp_estimate_error(const llmperf_iteration_stats *row);

/** Standard error of the mean over these calls; of a sampled stage that of its estimate, if known.
 */
double lp_steady_error(const struct lp_stage_iterations *stage, enum lp_iteration_time time);

/** std / mean; NaN: not known, or the mean is 0. */
double lp_variation(double std, double mean);

#endif
