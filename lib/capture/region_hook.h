/* SPDX-License-Identifier: Apache-2.0 */
/** Somebody who acts when a region opens or closes, on the thread that does so: hardware counters,
 * the fake device. */
#ifndef LP_CAPTURE_REGION_HOOK_H
#define LP_CAPTURE_REGION_HOOK_H

#include <stdatomic.h>
#include <stdint.h>

struct lp_thread;

/** `begin` is called before the region's begin is recorded, `end` after its end was: what the hook
 * costs is not of the region. `leave`: the thread ends with whatever it has open. `opened`: the
 * region is open now; NULL: not asked for. */
struct lp_region_hook {
    void (*begin)(const struct lp_thread *thread, uint32_t node);
    void (*end)(const struct lp_thread *thread, uint32_t node);
    void (*leave)(const struct lp_thread *thread);
    void (*opened)(uint32_t node);
};

/** NULL: nobody. Static hooks only: a thread may still be in one that was taken away. */
extern _Atomic(const struct lp_region_hook *) lp_region_hook;

static inline const struct lp_region_hook *lp_region_hook_get(void)
{
    /* Relaxed: a region more or less at the edge of a session is fine. */
    return atomic_load_explicit(&lp_region_hook, memory_order_relaxed);
}

#endif
