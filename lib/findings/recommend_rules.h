/* SPDX-License-Identifier: Apache-2.0 */
/** The tables of rules. For recommend.c. */
#ifndef LP_FINDINGS_RECOMMEND_RULES_H
#define LP_FINDINGS_RECOMMEND_RULES_H

#include "lib/findings/recommend.h"
#include "lib/base/text.h"

/** Each check returns whether the rule has something to say. It then has set at_stake_ms and the
 * evidence, and added the text. A comparison with NaN is false: what is not known says nothing. */
struct lp_stage_rule {
    const char *id;
    bool of_host; /* needs no device times */
    bool (*check)(const struct lp_stage_facts *stage, struct lp_recommendation *out,
                  struct lp_text *text);
};

/** These set the severity, too. */
struct lp_run_rule {
    const char *id;
    bool (*check)(const struct lp_run_facts *run, struct lp_recommendation *out,
                  struct lp_text *text);
};

#define LP_STAGE_RULES 13
#define LP_RUN_RULES   2
extern const struct lp_stage_rule lp_stage_rules[LP_STAGE_RULES];
extern const struct lp_run_rule lp_run_rules[LP_RUN_RULES];

#endif
