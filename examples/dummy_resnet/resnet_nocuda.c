/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for resnet_cuda.cu in a build without nvcc. */
#include <stdio.h>

#include "device.h"

struct device *cuda_open(const struct model *model, char *reason, size_t reason_size)
{
    (void)model;
    snprintf(reason, reason_size, "this program was built without nvcc");
    return NULL;
}
