/* SPDX-License-Identifier: Apache-2.0 */
/** Ids of launches. The driver's profiler restarts its ids each time that it is attached; ours
 * continue, so that no two launches of a session share one. */
#ifndef LP_DEVICE_LAUNCH_IDS_H
#define LP_DEVICE_LAUNCH_IDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/record/record.h"

extern _Atomic uint32_t lp_launch_base, lp_launch_newest; /* for the functions below */

/** Our id for one of the driver's, while the profiler is attached. LP_CORRELATION_NONE is kept, and
 * skipped where the sum wraps: ids stay unique, as the driver's are never 0. */
static inline uint32_t lp_launch_id(uint32_t id)
{
    uint32_t ours = id + atomic_load_explicit(&lp_launch_base, memory_order_relaxed);

    return id == LP_CORRELATION_NONE ? id : ours < id ? ours + 1 : ours;
}

/** The same, for the launch being reported. @threads any thread */
static inline uint32_t lp_launch_id_reported(uint32_t id)
{
    atomic_store_explicit(&lp_launch_newest, id, memory_order_relaxed);
    return lp_launch_id(id);
}

/** The profiler is detached, all its callbacks and records have arrived, and no thread launches. */
void lp_launch_ids_renew(void);

#endif
