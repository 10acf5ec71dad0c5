/* SPDX-License-Identifier: Apache-2.0 */
/** What the user says about a GPU.
 * @threads any thread */
#ifndef LP_HARDWARE_USER_H
#define LP_HARDWARE_USER_H

#include "lib/hardware/hardware.h"

/** Values of the user over those that are there. 0, LLMPERF_EINVAL. */
int lp_hardware_user(llmperf_hardware *hardware, const llmperf_config *config, bool *any_out);

#endif
