/* SPDX-License-Identifier: Apache-2.0 */
/** Suggestions for misspelt words. For lib/config only. */
#ifndef LP_CONFIG_NEAREST_H
#define LP_CONFIG_NEAREST_H

#include "lib/config/value.h"

/** Edit distance: letters to insert, delete, replace, or swap with the next one. Words are cut
 * after 127 letters. */
size_t lp_distance(const char *left, const char *right);

/** Is a word at that distance a likely suggestion? */
bool lp_distance_is_near(const char *word, size_t distance);

/** "; nearest: KEY" for the key of the tree nearest to `key`; "" if none is near. */
const char *lp_nearest_key(struct lp_values *values, const struct lp_value *root, const char *key);

#endif
