/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of the values that a user gives for a GPU. */
#ifndef LP_HARDWARE_CHECK_H
#define LP_HARDWARE_CHECK_H

#include "llmperf/sys/config.h"

/** Is it a dtype that GPUs compute in, so that it can have a peak? 0; LLMPERF_EINVAL, listing the
 * valid ones. */
int lp_dtype_check(const char *dtype);

/** Would llmperf_hardware_find() accept the peaks of a configuration? 0; LLMPERF_EINVAL,
 * LLMPERF_ENOMEM. */
int lp_hardware_check(const llmperf_config *config);

#endif
