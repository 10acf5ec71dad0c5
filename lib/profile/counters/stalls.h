/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of a profile for samples of instructions by stall reason. Used by counter_totals.c. */
#ifndef LP_PROFILE_STALLS_H
#define LP_PROFILE_STALLS_H

#include "lib/profile/profile.h"
#include "lib/record/stall_sums.h"

#define LP_STALL_KERNELS      50u /* most kernels of regions in a profile, by samples */
#define LP_STALL_INSTRUCTIONS 10u /* most instructions of each */

/** Add rows and notes to a profile. 0 or LLMPERF_ENOMEM. */
int lp_stalls_freeze(const struct lp_stall_sums *stalls, const struct lp_counter_plan *plan,
                     const struct lp_names *names, uint32_t process_id, llmperf_profile *profile);

#endif
