/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of device memory, with what follows from the model, names of regions and NVML.
 * @threads one at a time per object */
#ifndef LP_FINDINGS_MEMORY_H
#define LP_FINDINGS_MEMORY_H

#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/profile.h"

/** Zero-initialised: none. */
struct lp_memory_held {
    const llmperf_profile *profile;
    LP_VECTOR(llmperf_memory) rows; /* in the order of the profile */
    struct lp_strings texts;
};

/** 0 or LLMPERF_ENOMEM. Clear it afterwards in both cases. */
int lp_memory_held_init(struct lp_memory_held *held, const llmperf_profile *profile);
void lp_memory_held_clear(struct lp_memory_held *held);

#endif
