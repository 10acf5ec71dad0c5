/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs that share a stage: compute time of each, and its time in collectives.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_RANKS_H
#define LP_FINDINGS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "lib/profile/fields.h"

struct lp_findings;

/** Zero-initialised: none. */
struct lp_ranks {
    LP_VECTOR(struct lp_rank) rows; /* by stage, then by device */
    struct lp_strings pool;         /* causes */
};

/** Do the regions of this profile have two GPUs? */
bool lp_ranks_possible(const llmperf_profile *profile);

/** Find stages with collectives on two or more GPUs, not counting collectives of nested stages.
 * Stages are skipped if two processes share a GPU (kernels have no process), if they were sampled,
 * and without the table of classes. 0 or LLMPERF_ENOMEM. */
int lp_ranks_init(struct lp_ranks *ranks, const struct lp_findings *findings);
void lp_ranks_clear(struct lp_ranks *ranks);

/** The GPU of a stage that waits longest, and the last one, which it waits for. Both NULL: not
 * known. */
void lp_ranks_extremes(const struct lp_ranks *ranks, const char *region,
                       const struct lp_rank **waits, const struct lp_rank **last);

/** Time per call that the GPUs of a stage spend in collectives. 0 GPUs: none do. */
struct lp_rank_spread {
    size_t gpus;
    double least_ms, most_ms;
};
struct lp_rank_spread lp_ranks_spread(const struct lp_ranks *ranks, const char *region);

/** Waiting time of a GPU in collectives of the stage, over all calls; 0: not known. */
double lp_ranks_waiting(const struct lp_ranks *ranks, const char *region, int32_t device);

#endif
