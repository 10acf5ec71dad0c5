/* SPDX-License-Identifier: Apache-2.0 */
/** Facts of stages for the rules of the recommendations, and what the rules say to them. */
#ifndef TESTS_SUPPORT_ADVICE_H
#define TESTS_SUPPORT_ADVICE_H

#include "lib/findings/recommend.h"

/** A run whose device and host times can be used. */
extern const struct lp_run_facts good_run;

/** A stage of which only its time is known. */
struct lp_stage_facts plain_stage(void);

/** To a good run with this stage alone. The caller clears them. */
struct lp_recommendations of_stage(const struct lp_stage_facts *stage);

/** Value of an evidence, which must be there. */
double evidence(const struct lp_recommendation *row, const char *name);

/** One recommendation, of this rule, with that in its text. NaN: no saving. */
void assert_says(const struct lp_stage_facts *stage, const char *id, double saving_ms,
                 const char *words);

void assert_silent(const struct lp_stage_facts *stage);

#endif
