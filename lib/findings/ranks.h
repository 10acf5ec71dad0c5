/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs that work on one stage together: what each computes, and how long it is in collectives.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_RANKS_H
#define LP_FINDINGS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct lp_findings;

/** A GPU in a stage. Times are of one instance, in ms, sums of durations. NaN: not known. */
struct lp_rank {
    const char *region; /* path of the stage */
    uint32_t process_id;
    int32_t device;
    uint64_t instances;
    double wall_ms;    /* mean */
    double compute_ms; /* kernels that are no collectives */
    double collective_ms, collective_count;
    double waiting_ms; /* of collective_ms, at least */
};

/** Zero-initialised: none. */
struct lp_ranks {
    LP_VECTOR(struct lp_rank) rows; /* by stage, then by device */
};

/** May there be any: do the regions of this profile have two GPUs? */
bool lp_ranks_possible(const llmperf_profile *profile);

/** Find them in the regions and kernels of a view: stages that have collectives on two GPUs or
 * more, not counting those of stages inside. Nothing is found where two processes share one of
 * these GPUs, because kernels are not known by process, where a part was sampled, and without a
 * table of classes. 0 or LLMPERF_ENOMEM. */
int lp_ranks_init(struct lp_ranks *ranks, const struct lp_findings *findings);
void lp_ranks_clear(struct lp_ranks *ranks);

/** Of the stage with this path, the GPU that waits longest, and the one that is waited for; NULL
 * both: not known. */
void lp_ranks_extremes(const struct lp_ranks *ranks, const char *region,
                       const struct lp_rank **waits, const struct lp_rank **last);

/** How long GPUs of the stage with this path are in collectives in a call. 0 GPUs: none are. */
struct lp_rank_spread {
    size_t gpus;
    double least_ms, most_ms;
};
struct lp_rank_spread lp_ranks_spread(const struct lp_ranks *ranks, const char *region);

/** What a GPU waits in collectives of the stage, all instances together; 0 where it is not known.
 */
double lp_ranks_waiting(const struct lp_ranks *ranks, const char *region, int32_t device);

#endif
