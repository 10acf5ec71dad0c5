/* SPDX-License-Identifier: Apache-2.0 */
/** Patterns with which users select names: an exact name, one with `*` for any text, or `regex:`
 * and a POSIX extended expression to be found anywhere in the name.
 * @threads one at a time per object; matching from several threads is fine */
#ifndef LP_BASE_PATTERN_H
#define LP_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct lp_patterns;

/** Compile a list of patterns. 0 and *patterns_out (lp_patterns_free()); LLMPERF_EINVAL: an
 * expression is wrong (the error says where); LLMPERF_ENOMEM. */
int lp_patterns_open(const char *const *texts, size_t count, struct lp_patterns **patterns_out);

/** Does any of them match? NULL matches nothing. */
bool lp_patterns_match(const struct lp_patterns *patterns, const char *name);

/** Number of patterns, and the text of each. */
size_t lp_patterns_count(const struct lp_patterns *patterns);
const char *lp_patterns_text(const struct lp_patterns *patterns, size_t index);

/** NULL is allowed. */
void lp_patterns_free(struct lp_patterns *patterns);

#endif
