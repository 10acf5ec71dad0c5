/* SPDX-License-Identifier: Apache-2.0 */
/** Suggestions for misspelt words. For lib/config only. */
#ifndef LP_CONFIG_NEAREST_H
#define LP_CONFIG_NEAREST_H

#include "lib/config/value.h"

/** Letters to insert, delete or replace to turn one word into the other; words beyond 127 letters
 * are cut. */
size_t lp_distance(const char *left, const char *right);

/** Whether a word at that distance may have been meant. */
bool lp_distance_is_near(const char *word, size_t distance);

/** "; nearest: KEY" for the key of the tree that comes nearest to `key`; "" if none does. */
const char *lp_nearest_key(struct lp_values *values, const struct lp_value *root, const char *key);

#endif
