/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs of merged runs, identified by UUID. Device numbers do not identify them:
 * CUDA_VISIBLE_DEVICES and host differ between runs.
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
    LP_VECTOR(struct json_t *)
    gpus;                    /* by number; description from the run's env.json; NULL: none */
    LP_VECTOR(int32_t) part; /* by device of the current part: number in the merged run */
    LP_VECTOR(char *) hosts; /* of all runs, without duplicates */
    char *clock; /* boot id of the current part's host, else its name; NULL: not known */
    bool renumbered;
    uint32_t unread; /* runs whose env.json could not be parsed, or memory ran out */
};

/** Add the next run's GPUs from its env.json (`env`; NULL: none). They keep their numbers unless
 * another GPU has that number. A GPU without a UUID is taken to be the one with its number.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_merged_gpus_add(struct lp_merged_gpus *gpus, const char *env);

/** Number in the merged run of a device of the current part. */
int32_t lp_merged_gpu(const struct lp_merged_gpus *gpus, int32_t device);

/** Replace the facts about GPUs and hosts in `out` (copied from the first run) with those of all
 * runs. 0 or LLMPERF_ENOMEM. */
int lp_merged_gpus_finish(const struct lp_merged_gpus *gpus, llmperf_profile *out);

void lp_merged_gpus_clear(struct lp_merged_gpus *gpus);

#endif
