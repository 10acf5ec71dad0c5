/* SPDX-License-Identifier: Apache-2.0 */
/** What rules share: numbers in sentences, evidence, severity. For rules only.
 * @threads any thread */
#ifndef LP_FINDINGS_RECOMMEND_SAY_H
#define LP_FINDINGS_RECOMMEND_SAY_H

#include "lib/base/number.h"
#include "lib/findings/recommend.h"

/* Three significant digits in sentences. */
#define N(value)       LP_NUMBER(value, 3)
#define PERCENT(share) LP_NUMBER(100 * (share), 3)
/* Integers without decimals. */
#define COUNT(value) LP_NUMBER(value, fabs((value)-round(value)) < 1e-9 ? 1 : 3)

/* Share of the time; shorter waiting of one cause gets no advice. */
#define IDLE_SHARE 0.05
/* A stall reason with a smaller part of the samples explains little. */
#define STALL_SHARE 0.3

#define ALLOCATE_BEFORE "allocate once before, or from a pool that keeps memory"

/** Add a number or a word, if it is known. */
void lp_evidence_add(struct lp_recommendation *out, const char *name, double value);
void lp_evidence_add_word(struct lp_recommendation *out, const char *name, const char *word);

/** Rules of recommend_run.c; see struct lp_stage_rule. */
bool lp_rule_dominant_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                             struct lp_text *text);
bool lp_rule_stalled_kernel(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                            struct lp_text *text);

/** Severity of a saving, by its share of the time of all stages. */
uint32_t lp_severity_of(double saving_ms, double all_ms);

/* Rules about time in which the GPU is idle, warms up or varies, and what each would save. */
bool lp_rule_launch_bound(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                          struct lp_text *text);
bool lp_rule_waits(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                   struct lp_text *text);
double lp_rule_host_only(const struct lp_stage_facts *stage);
bool lp_rule_host_gap(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                      struct lp_text *text);
double lp_rule_warm_up_loss(const struct lp_stage_facts *stage);
bool lp_rule_warm_up(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                     struct lp_text *text);
bool lp_rule_device_idle(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                         struct lp_text *text);
double lp_rule_above_median(const struct lp_stage_facts *stage);
bool lp_rule_step_tail(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                       struct lp_text *text);
double lp_rule_launch_idle(const struct lp_stage_facts *stage);
double lp_rule_wait_idle(const struct lp_stage_facts *stage);
double lp_rule_not_busy(const struct lp_stage_facts *stage);

#endif
