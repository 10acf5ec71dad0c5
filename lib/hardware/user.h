/* SPDX-License-Identifier: Apache-2.0 */
/** Values that the user gives for a GPU.
 * @threads any thread */
#ifndef LP_HARDWARE_USER_H
#define LP_HARDWARE_USER_H

#include "lib/hardware/hardware.h"

/** Would llmperf_hardware_find() accept the peaks of a configuration? 0; LLMPERF_EINVAL,
 * LLMPERF_ENOMEM. */
int lp_hardware_check(const llmperf_config *config);

/** Override values with those that the user gave. 0, LLMPERF_EINVAL. */
int lp_hardware_user(llmperf_hardware *hardware, const llmperf_config *config, bool *any_out);

#endif
