/* SPDX-License-Identifier: Apache-2.0 */
/** One forward pass, marked with regions. */
#ifndef DUMMY_RESNET_FORWARD_H
#define DUMMY_RESNET_FORWARD_H

#include "device.h"

/** Queue a forward pass. Regions, if requested, in domain LLM:
 *
 *   forward                  stage; sequences = images, flops and bytes of the pass
 *     stem                   2 kernels
 *     residual               once around all blocks; its own kernel is the addition, 1 per block
 *       block.conv1          once per block, 2 kernels
 *       block.conv2          once per block, 2 kernels
 *     head                   2 kernels
 *
 * On a GPU these are 4 + 5 x blocks kernels. */
void forward(struct device *device, const struct model *model, int with_regions);

#endif
