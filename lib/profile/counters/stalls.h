/* SPDX-License-Identifier: Apache-2.0 */
/** Samples of instructions by stall reason, added up by region, kernel and instruction. Used by
 * counter_totals.c.
 * @threads one at a time per object */
#ifndef LP_PROFILE_STALLS_H
#define LP_PROFILE_STALLS_H

#include "lib/profile/profile.h"

#define LP_STALL_KERNELS      50u /* most kernels of regions in a profile, by samples */
#define LP_STALL_INSTRUCTIONS 10u /* most instructions of each */

struct lp_stalls;

/** @param columns  Number of stall reasons.
 * @return NULL: out of memory. */
struct lp_stalls *lp_stalls_create(size_t columns);
void lp_stalls_free(struct lp_stalls *stalls);

/** Add a fact of kind LP_COUNTER_STALL. 0 or LLMPERF_ENOMEM. */
int lp_stalls_add(struct lp_stalls *stalls, const struct lp_counter_fact *fact,
                  const double *values);

/** Add rows and notes to a profile. 0 or LLMPERF_ENOMEM. */
int lp_stalls_freeze(const struct lp_stalls *stalls, const struct lp_counter_plan *plan,
                     const struct lp_names *names, uint32_t process_id, llmperf_profile *profile);

#endif
