/* SPDX-License-Identifier: Apache-2.0 */
/** The work of each prefill, decode step and vision pass, from the session's model and what the
 * program counts: tokens, sequences, context. For lib/session only.
 * @threads one at a time per object */
#ifndef LP_SESSION_STAGE_WORK_H
#define LP_SESSION_STAGE_WORK_H

#include "lib/result/result.h"
#include "lib/session/share.h"

struct lp_stage_work;

/** Read the model, of which this GPU has a share. 0, or what llmperf_model_open() and
 * lp_share_check() return. */
int lp_stage_work_open(const char *model, const struct lp_share *share,
                       struct lp_stage_work **work_out);
void lp_stage_work_free(struct lp_stage_work *work);

/** What totals ask. */
struct lp_work_source lp_stage_work_source(struct lp_stage_work *work);

/** Facts of the model and the share, assumptions and warnings, and why the work of some instances
 * is not known, into a profile. 0 or LLMPERF_ENOMEM. */
int lp_stage_work_facts(const struct lp_stage_work *work, llmperf_profile *profile);

#endif
