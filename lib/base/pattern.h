/* SPDX-License-Identifier: Apache-2.0 */
/** Patterns that users choose names by: an exact name, one with `*` for any text, or `regex:` and a
 * POSIX extended expression that has to match somewhere in the name.
 * @threads one at a time per object; matching from several threads is fine */
#ifndef LP_BASE_PATTERN_H
#define LP_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct lp_patterns;

/** Patterns as a list. 0 and *patterns_out (lp_patterns_free()); LLMPERF_EINVAL: an expression is
 * wrong (the error says where), LLMPERF_ENOMEM. */
int lp_patterns_open(const char *const *texts, size_t count, struct lp_patterns **patterns_out);

/** Does any of them match? NULL has none that could. */
bool lp_patterns_match(const struct lp_patterns *patterns, const char *name);

/** How many there are, and each as it was given. */
size_t lp_patterns_count(const struct lp_patterns *patterns);
const char *lp_patterns_text(const struct lp_patterns *patterns, size_t index);

/** NULL is fine. */
void lp_patterns_free(struct lp_patterns *patterns);

#endif
