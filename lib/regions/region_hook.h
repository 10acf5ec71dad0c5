/* SPDX-License-Identifier: Apache-2.0 */
/** Callbacks for regions that open or close, on their thread. Used by hardware counters and the
 * fake device. */
#ifndef LP_REGIONS_REGION_HOOK_H
#define LP_REGIONS_REGION_HOOK_H

#include <stdatomic.h>
#include <stdint.h>

struct lp_thread;

/** `begin` is called before the region's begin is recorded, `end` after its end was: the region
 * does not contain the cost of the hook. `leave`: the thread ends, maybe with open regions.
 * `opened`: the region is open now. Each may be NULL. */
struct lp_region_hook {
    void (*begin)(const struct lp_thread *thread, uint32_t node);
    void (*end)(const struct lp_thread *thread, uint32_t node);
    void (*leave)(const struct lp_thread *thread);
    void (*opened)(uint32_t node);
};

/** NULL: none. Hooks must be static: a thread may still be in one that was removed. */
extern _Atomic(const struct lp_region_hook *) lp_region_hook;

static inline const struct lp_region_hook *lp_region_hook_get(void)
{
    /* Relaxed: missing a region at the edge of a session is acceptable. */
    return atomic_load_explicit(&lp_region_hook, memory_order_relaxed);
}

#endif
