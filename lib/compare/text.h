/* SPDX-License-Identifier: Apache-2.0 */
/** Comparisons as Markdown and JSON. The text keeps a failed allocation.
 * @threads one at a time per object */
#ifndef LP_COMPARE_TEXT_H
#define LP_COMPARE_TEXT_H

#include "lib/compare/compare.h"
#include "lib/output/format/json_writer.h"

/** Input of the texts, borrowed. */
struct lp_compared {
    const struct lp_comparison *comparison;
    const struct lp_compare_runs *base, *fresh;
};

/** The changes of stages in a sentence each, the table of their causes, and both as JSON. */
void lp_changes_md(const struct lp_comparison *comparison, struct lp_text *out);
void lp_causes_md(const struct lp_comparison *comparison, struct lp_text *out);
void lp_changes_json(const struct lp_comparison *comparison, struct lp_json *json);

/** Counts and rates of requests. */
void lp_compare_requests_md(const struct lp_compared *compared, struct lp_text *out);
void lp_compare_requests_json(const struct lp_compared *compared, struct lp_json *json);

void lp_compare_md(const struct lp_compared *compared, struct lp_text *out);
void lp_compare_json(const struct lp_compared *compared, struct lp_text *out);

/** 0 or LLMPERF_ENOMEM. */
int lp_compare_html(const struct lp_compared *compared, struct lp_text *out);

#endif
