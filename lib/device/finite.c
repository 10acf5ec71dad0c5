/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/device/device.h"

int lp_finite_start(struct lp_device_source *source)
{
    (void)source;
    return 0;
}

void lp_finite_nothing(struct lp_device_source *source)
{
    (void)source;
}

void lp_finite_flush(struct lp_device_source *source, bool force)
{
    (void)source;
    (void)force;
}
