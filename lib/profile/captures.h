/* SPDX-License-Identifier: Apache-2.0 */
/** Device work in CUDA graphs, by launch region and capture region. For lib/profile only. */
#ifndef LP_PROFILE_CAPTURES_H
#define LP_PROFILE_CAPTURES_H

#include "lib/profile/data.h"

/** Make the rows from the kernel rows. 0 or LLMPERF_ENOMEM. */
int lp_profile_make_captures(llmperf_profile *profile);

#endif
