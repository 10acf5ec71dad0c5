/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of what a user says of a GPU. */
#ifndef LP_HARDWARE_CHECK_H
#define LP_HARDWARE_CHECK_H

#include "llmperf/sys/config.h"

/** Is it a dtype that a GPU computes in, so that there may be a peak for it? 0; LLMPERF_EINVAL with
 * those that there are. */
int lp_dtype_check(const char *dtype);

/** Are the peaks of a configuration such that llmperf_hardware_find() takes them? 0;
 * LLMPERF_EINVAL, LLMPERF_ENOMEM. */
int lp_hardware_check(const llmperf_config *config);

#endif
