/* SPDX-License-Identifier: Apache-2.0 */
/** A preset in groups that each fit into one pass, for programs that are run once for each group.
 * @threads one at a time per object */
#ifndef LP_COUNTERS_GROUPS_H
#define LP_COUNTERS_GROUPS_H

#include "lib/counters/host.h"

/** Group `group` of a preset on a chip, from 1 on; the same each time for one chip and preset. A
 * sum of metrics that does not fit into one pass is split: its parts are quantities called "name
 * (part 2 of 3)", to be added up. A single metric that does not fit has its own group, whose set
 * needs more than one pass. Device time is in each group where it fits, and in each one with a
 * percentage. Quantities that the chip lacks are listed as missing in the first group.
 *
 * @param groups_out  Number of groups, set also if `group` is above it: LLMPERF_EINVAL.
 * @return as lp_counter_set_open(). */
int lp_counter_set_open_group(const char *chip, const uint8_t *availability,
                              const struct lp_counter_preset *preset, uint32_t group,
                              uint32_t *groups_out, struct lp_counter_set **set_out);

#endif
