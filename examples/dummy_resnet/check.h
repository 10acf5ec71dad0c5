/* SPDX-License-Identifier: Apache-2.0 */
/** Is the result right, and are the profiler's times? Each prints what it finds. */
#ifndef DUMMY_RESNET_CHECK_H
#define DUMMY_RESNET_CHECK_H

#include "device.h"
#include "llmperf/profile.h"

/** Compare outputs with the CPU in double precision. Up to four images are compared, spread over
 * the batch; images do not influence each other in this network. Relative error of an image:
 * ||device - reference|| / ||reference|| over its classes.
 * @return 1: all are below `tolerance`, 0: not, -1: the comparison was not possible (message
 * printed). */
int check_result(struct device *device, const struct model *model, double tolerance);

/** Compare the device times of `forward` and its parts with CUDA events.
 * @param limit  Percent that they may differ; negative: any.
 * @return 1 or 0; a time that the profiler does not know is a 0. */
int check_times(struct device *device, const llmperf_profile *profile, double limit);

#endif
