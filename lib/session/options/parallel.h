/* SPDX-License-Identifier: Apache-2.0 */
/** Tensor and expert parallelism: the part of the model on this process's GPU. The program must
 * give it, because no launcher says whether its ranks share layers or are replicas. For lib/session
 * only.
 * @threads any thread */
#ifndef LP_SESSION_OPTIONS_PARALLEL_H
#define LP_SESSION_OPTIONS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/model.h"
#include "llmperf/profile.h"

struct lp_parallel {
    uint32_t tensor, expert; /* as in llmperf_step; >= 1 */
    bool is_set;             /* one of them was given, even as 1 */
};

/** @param tensor, expert  0: not given. */
struct lp_parallel lp_parallel_of(uint32_t tensor, uint32_t expert);

/** Can this model be split like this? 0; LLMPERF_EINVAL with the reason. */
int lp_parallel_check(const struct lp_parallel *parallel, const llmperf_model *model,
                      const llmperf_model_info *info);

/** Set it in a step with a phase. 0; LLMPERF_EINVAL: an encoder, whose split is not known. */
int lp_parallel_apply(const struct lp_parallel *parallel, llmperf_step *step);

/** If given, set LP_TENSOR_FACT, LP_EXPERT_FACT and the assumptions, as facts model_assumption.N
 * from N = `assumptions` on. If work comes from the model but the environment has more ranks, add a
 * note about the assumption. 0 or LLMPERF_ENOMEM. */
int lp_parallel_facts(const struct lp_parallel *parallel, const llmperf_model_info *info,
                      size_t assumptions, llmperf_profile *profile);

#endif
