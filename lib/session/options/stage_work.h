/* SPDX-License-Identifier: Apache-2.0 */
/** The work of each prefill, decode step and vision pass, from the session's model and what the
 * program counts: tokens, sequences, context. For lib/session only.
 * @threads one at a time per object */
#ifndef LP_SESSION_OPTIONS_STAGE_WORK_H
#define LP_SESSION_OPTIONS_STAGE_WORK_H

#include "lib/profile/profile.h"
#include "lib/session/options/parallel.h"

struct lp_stage_work;

/** @param model  Taken, also where this fails. @param parallel  Of this GPU.
 * @return 0, or what lp_parallel_check() returns. */
int lp_stage_work_open(llmperf_model *model, const struct lp_parallel *parallel,
                       struct lp_stage_work **work_out);
void lp_stage_work_free(struct lp_stage_work *work);

/** Fact "model" of a run whose model its configuration describes. */
#define LP_CONFIGURED_MODEL "config.yaml"

/** Fact of a profile that was given a model which gives work to none of its regions: why. */
#define LP_MODEL_REASON_FACT "model_reason"

/** The source of work that totals query. */
struct lp_work_source lp_stage_work_source(struct lp_stage_work *work);

/** Why the work of some calls is not known (the first such reason); NULL: it is known for all. */
const char *lp_stage_work_reason(const struct lp_stage_work *work);

/** Facts of the model and its parallelism, assumptions and warnings, and why the work of some calls
 * is not known, into a profile.
 * @param dtype  Compute dtype of the program; NULL: that of the model. 0 or LLMPERF_ENOMEM. */
int lp_stage_work_facts(const struct lp_stage_work *work, const char *dtype,
                        llmperf_profile *profile);

#endif
