/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/device/device.h"

void lp_activity_batch_send(struct lp_activity_batch *batch, const struct lp_device_sink *sink)
{
    if (batch->count > 0)
        sink->activities(sink->context, batch->items, batch->count);
    batch->count = 0;
}

struct lp_activity *lp_activity_batch_next(struct lp_activity_batch *batch,
                                           const struct lp_device_sink *sink)
{
    struct lp_activity *activity = lp_activity_batch_room(batch, sink);

    memset(activity, 0, sizeof(*activity));
    return activity;
}
