/* SPDX-License-Identifier: Apache-2.0 */
/** Work of each prefill, decode step and vision pass, from the session's model and the program's
 * counts (tokens, sequences, context). For lib/session only.
 * @threads one at a time per object */
#ifndef LP_SESSION_OPTIONS_STAGE_WORK_H
#define LP_SESSION_OPTIONS_STAGE_WORK_H

#include "lib/profile/profile.h"
#include "lib/session/options/parallel.h"

struct lp_stage_work;

/** @param model  Taken, even on failure.
 * @param parallel  Of this GPU.
 * @return 0, or an error of lp_parallel_check(). */
int lp_stage_work_open(llmperf_model *model, const struct lp_parallel *parallel,
                       struct lp_stage_work **work_out);
void lp_stage_work_free(struct lp_stage_work *work);

/** Size of the hidden state of the decoder; 0: there is no decoder. */
uint64_t lp_stage_work_hidden(const struct lp_stage_work *work);

/** Value of the fact "model" if the model is described in the configuration. */
#define LP_CONFIGURED_MODEL "config.yaml"

/** Value of that fact if the program announced the text of a description. */
#define LP_ANNOUNCED_MODEL "config of the program"

/** Fact of a profile whose model gives no region work: the reason. */
#define LP_MODEL_REASON_FACT "model_reason"

/** Work source for the totals. */
struct lp_work_source lp_stage_work_source(struct lp_stage_work *work);

/** The first reason why the work of a call is not known; NULL: it is known for all calls. */
const char *lp_stage_work_reason(const struct lp_stage_work *work);

/** Add facts of the model and its parallelism, assumptions, warnings, and why the work of some
 * calls is not known.
 * @param dtype  Compute dtype of the program; NULL: that of the model.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_stage_work_facts(const struct lp_stage_work *work, const char *dtype,
                        llmperf_profile *profile);

#endif
