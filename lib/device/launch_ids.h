/* SPDX-License-Identifier: Apache-2.0 */
/** Ids of launches. Those of the driver's profiler begin anew each time that it comes back into the
 * process; ours go on, so that no two launches of a session have one. */
#ifndef LP_DEVICE_LAUNCH_IDS_H
#define LP_DEVICE_LAUNCH_IDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/record/record.h"

extern _Atomic uint32_t lp_launch_base, lp_launch_newest; /* for the functions below */

/** Ours for one of the driver's, as long as the profiler is there. LP_CORRELATION_NONE stays, and
 * is left out where the sum wraps: no two ids become one, as the driver's are never 0. */
static inline uint32_t lp_launch_id(uint32_t id)
{
    uint32_t ours = id + atomic_load_explicit(&lp_launch_base, memory_order_relaxed);

    return id == LP_CORRELATION_NONE ? id : ours < id ? ours + 1 : ours;
}

/** The same, of a launch that is told just now. @threads any thread */
static inline uint32_t lp_launch_id_told(uint32_t id)
{
    atomic_store_explicit(&lp_launch_newest, id, memory_order_relaxed);
    return lp_launch_id(id);
}

/** The profiler has gone, all that it told and recorded is in, and no thread launches. */
void lp_launch_ids_renew(void);

#endif
