/* SPDX-License-Identifier: Apache-2.0 */
/** Notes of merged runs whose work comes from a model. For lib/store only. */
#ifndef LP_STORE_MERGE_MODEL_H
#define LP_STORE_MERGE_MODEL_H

#include <stddef.h>

#include "llmperf/profile.h"

/** Note in the merged run `out` that its parts have different parallel layouts, or that no layout
 * was given for its GPUs.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_merged_model_notes(const llmperf_profile *const *parts, size_t count, llmperf_profile *out);

#endif
