/* SPDX-License-Identifier: Apache-2.0 */
/** The measured peaks of a llmperf_hardware.
 * @threads one at a time per object */
#ifndef LP_HARDWARE_GPU_PEAKS_H
#define LP_HARDWARE_GPU_PEAKS_H

#include "lib/hardware/measured_peaks.h"
#include "llmperf/hardware.h"

/** Use these peaks, for example those that a run recorded. */
void lp_hardware_take_peaks(llmperf_hardware *hardware,
                            const struct lp_measured_peaks *measured_peaks, const char *source);

/** Read the measured peaks of the GPU that a query names; if there are none, set the reason. */
void lp_hardware_read_peaks(llmperf_hardware *hardware, const char *uuid, const char *driver);

#endif
