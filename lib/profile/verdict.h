/* SPDX-License-Identifier: Apache-2.0 */
/** Verdict and problems of a ledger. For lib/profile only. */
#ifndef LP_PROFILE_VERDICT_H
#define LP_PROFILE_VERDICT_H

#include "lib/profile/data.h"

/** Set the verdict of the profile's ledger (lp_ledger_verdict()) and add its problems. 0 or
 * LLMPERF_ENOMEM. */
int lp_profile_judge(llmperf_profile *profile);

#endif
