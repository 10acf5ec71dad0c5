/* SPDX-License-Identifier: Apache-2.0 */
/** What limits a stage, from the measured parts of its time.
 * @threads any thread */
#ifndef LP_FINDINGS_BOUNDS_H
#define LP_FINDINGS_BOUNDS_H

#include <stdint.h>

struct lp_findings;
struct lp_region_finding;

/** From this share of the elapsed time on, the work itself is the limit. */
#define LP_BUSY_SHARE 0.5

/** Where elapsed time goes, ms. The parts are not below 0 and add up to elapsed_ms, except where
 * device work of several calls overlaps. */
struct lp_time_spent {
    double elapsed_ms; /* NaN: not measured, like all others */
    double
        work_ms; /* the GPU runs kernels that are no collectives, memsets and copies in its memory
                  */
    double copy_ms;                /* copies between host and device while no kernel runs */
    double collective_ms, rank_ms; /* in collectives; of that, waiting for another rank */
    double launch_ms;              /* the GPU waits for the host to launch */
    double gaps_ms;                /* the next work is launched, but has not begun */
    double host_ms; /* the host does other work, around and between the device work */
};

/** The part that a measured bound stands for; NaN: none does. */
double lp_bound_part(const struct lp_time_spent *spent, uint32_t bound);

/** What limits a stage, "launches by the host": after "limited by". NULL: not known. */
const char *lp_limit_words(const struct lp_region_finding *region);

/** Set the bound of each stage; iterations and ranks must be there. */
void lp_bounds_set(struct lp_findings *findings);

#endif
