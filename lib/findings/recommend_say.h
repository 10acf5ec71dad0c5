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
/* The same for idle time of which the cause is not known or may be outside of inference. */
#define IDLE_MOST 0.3
/* Of the samples or cycles of a kernel; a rarer stall reason explains little. */
#define STALL_SHARE 0.3

#define ALLOCATE_BEFORE "allocate once before, or from a pool that keeps memory"

/** Add a number or a word, if it is known. */
void lp_evidence_add(struct lp_recommendation *out, const char *name, double value);
void lp_evidence_add_word(struct lp_recommendation *out, const char *name, const char *word);

/** Severity of a saving, by its share of the time of all stages. */
uint32_t lp_severity_of(double saving_ms, double all_ms);

#endif
