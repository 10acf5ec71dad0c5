/* SPDX-License-Identifier: Apache-2.0 */
/** The measured peaks of a llmperf_hardware.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_GPU_CEILINGS_H
#define LP_HARDWARE_GPU_CEILINGS_H

#include "lib/hardware/ceilings.h"
#include "llmperf/hardware.h"

/** Use these peaks, for example those that a run recorded. */
void lp_hardware_take_ceilings(llmperf_hardware *hardware, const struct lp_ceilings *ceilings,
                               const char *source);

/** Read the measured peaks of the GPU that a query names; if there are none, set the reason. */
void lp_hardware_read_ceilings(llmperf_hardware *hardware, const char *uuid, const char *driver);

#endif
