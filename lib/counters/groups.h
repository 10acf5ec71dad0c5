/* SPDX-License-Identifier: Apache-2.0 */
/** A preset in groups that each fit into one pass, for programs that are run once for each group.
 * @threads one at a time per object */
#ifndef LP_COUNTERS_GROUPS_H
#define LP_COUNTERS_GROUPS_H

#include "lib/counters/host.h"

/** Group `group` (from 1) of a preset on a chip; always the same for a chip and a preset. A sum of
 * metrics that does not fit into one pass is split into quantities called "name (part 2 of 3)", to
 * be added up. A single metric that does not fit has its own group with several passes. Device time
 * is in each group where it fits, and in each group with a percentage. Quantities that the chip
 * lacks are listed in the first group.
 *
 * @param groups_out  Number of groups, also set if `group` is too large: LLMPERF_EINVAL.
 * @return as lp_counter_set_open(). */
int lp_counter_set_open_group(const char *chip, const uint8_t *availability,
                              const struct lp_counter_preset *preset, uint32_t group,
                              uint32_t *groups_out, struct lp_counter_set **set_out);

#endif
