/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs of runs that become one. Each run numbers its own GPUs (CUDA_VISIBLE_DEVICES, host), so GPU
 * 0 of two runs may be two GPUs, and one GPU may have two numbers. UUIDs identify them.
 * @threads one at a time per object */
#ifndef LP_STORE_MERGE_GPUS_H
#define LP_STORE_MERGE_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/vector.h"
#include "llmperf/profile.h"

struct json_t;

/** Zero-initialised: none yet. */
struct lp_merged_gpus {
    LP_VECTOR(struct json_t *) gpus; /* by number; the run's text about it, NULL: none */
    LP_VECTOR(int32_t) part;         /* number here of each GPU of the run at hand */
    LP_VECTOR(char *) hosts;         /* of all runs, each once */
    bool renumbered;
    uint32_t unread; /* runs whose environment is not JSON, or was not read for lack of memory */
};

/** The next run with its env.json (`env`; NULL: none): its GPUs keep their numbers, except where
 * another GPU has that number. A GPU without a UUID is taken for the one of that number. 0 or
 * LLMPERF_ENOMEM. */
int lp_merged_gpus_add(struct lp_merged_gpus *gpus, const char *env);

/** What a device of the run at hand is called in the merged one. */
int32_t lp_merged_gpu(const struct lp_merged_gpus *gpus, int32_t device);

/** Set the facts of `out` (copied from the first run) about GPUs and hosts to those of all runs. 0
 * or LLMPERF_ENOMEM. */
int lp_merged_gpus_finish(const struct lp_merged_gpus *gpus, llmperf_profile *out);

void lp_merged_gpus_clear(struct lp_merged_gpus *gpus);

#endif
