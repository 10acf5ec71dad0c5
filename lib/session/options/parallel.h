/* SPDX-License-Identifier: Apache-2.0 */
/** Tensor and expert parallelism: the part of a model that is on this process's GPU. The program
 * gives it, because no launcher says whether its ranks share layers or are replicas. For
 * lib/session only.
 * @threads any thread */
#ifndef LP_SESSION_OPTIONS_PARALLEL_H
#define LP_SESSION_OPTIONS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "llmperf/model.h"
#include "llmperf/profile.h"

struct lp_parallel {
    uint32_t tensor, expert; /* as in llmperf_step; at least 1 */
    bool is_set;             /* one of them was, also as 1 */
};

/** 0: not given. */
struct lp_parallel lp_parallel_of(uint32_t tensor, uint32_t expert);

/** Can this model be split like that? 0; LLMPERF_EINVAL with the reason. */
int lp_parallel_check(const struct lp_parallel *parallel, const llmperf_model *model,
                      const llmperf_model_info *info);

/** Set it in a step whose phase is set. 0; LLMPERF_EINVAL: an encoder, because how GPUs share that
 * is not known. */
int lp_parallel_apply(const struct lp_parallel *parallel, llmperf_step *step);

/** If given: LP_TENSOR_FACT, LP_EXPERT_FACT, and what was assumed about them, as facts
 * model_assumption.N from N = `assumptions` on. If work comes from the model and the environment in
 * the facts names more ranks, a note says what was assumed about them. 0 or LLMPERF_ENOMEM. */
int lp_parallel_facts(const struct lp_parallel *parallel, const llmperf_model_info *info,
                      size_t assumptions, llmperf_profile *profile);

#endif
