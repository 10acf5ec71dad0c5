/* SPDX-License-Identifier: Apache-2.0 */
/** The part of a model that this process's GPU holds, as the program tells it: no launcher says
 * whether its ranks share layers or are replicas. For lib/session only.
 * @threads any thread */
#ifndef LP_SESSION_OPTIONS_SHARE_H
#define LP_SESSION_OPTIONS_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/model.h"
#include "llmperf/profile.h"

struct lp_share {
    uint32_t tensor, expert; /* as in llmperf_step; at least 1 */
    bool told;               /* one of them was given, be it 1 */
};

/** 0: not given. */
struct lp_share lp_share_of(uint32_t tensor, uint32_t expert);

/** Can this model be shared so? 0; LLMPERF_EINVAL with what does not fit. */
int lp_share_check(const struct lp_share *share, const llmperf_model *model,
                   const llmperf_model_info *info);

/** Set the share in a step whose phase is set. 0; LLMPERF_EINVAL: an encoder, of which nobody knows
 * how GPUs share it. */
int lp_share_apply(const struct lp_share *share, llmperf_step *step);

/** Where they were told, LP_TENSOR_FACT, LP_EXPERT_FACT and what was assumed of the share, as facts
 * model_assumption.N from N = `assumptions` on. Where work comes from the model, and the
 * environment in the facts names more ranks than were told of, a note says what they were taken
 * for. 0 or LLMPERF_ENOMEM. */
int lp_share_facts(const struct lp_share *share, const llmperf_model_info *info, size_t assumptions,
                   llmperf_profile *profile);

#endif
