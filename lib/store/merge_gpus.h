/* SPDX-License-Identifier: Apache-2.0 */
/** GPUs of runs that become one. A run counts them for itself (CUDA_VISIBLE_DEVICES, its host):
 * what two runs call GPU 0 may be two, and one may have two numbers. Their UUIDs tell.
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
    LP_VECTOR(struct json_t *) gpus; /* by number; what the run says of it, NULL: none has it */
    LP_VECTOR(int32_t) part;         /* number here of each GPU of the run at hand */
    LP_VECTOR(char *) hosts;         /* of all runs, each once */
    bool renumbered;
    uint32_t unread; /* runs whose environment is no JSON, or was not read for want of memory */
};

/** The next run, of which `env` tells (its env.json; NULL: nothing does): its GPUs keep their
 * numbers, except for those whose number another one has. A GPU without a UUID is taken for the one
 * of that number. 0 or LLMPERF_ENOMEM. */
int lp_merged_gpus_add(struct lp_merged_gpus *gpus, const char *env);

/** What a device of the run at hand is called in the merged one. */
int32_t lp_merged_gpu(const struct lp_merged_gpus *gpus, int32_t device);

/** Say in `out`, which has the facts of the first run, what GPUs and hosts there are. 0 or
 * LLMPERF_ENOMEM. */
int lp_merged_gpus_finish(const struct lp_merged_gpus *gpus, llmperf_profile *out);

void lp_merged_gpus_clear(struct lp_merged_gpus *gpus);

#endif
