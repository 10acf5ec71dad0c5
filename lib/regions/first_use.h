/* SPDX-License-Identifier: Apache-2.0 */
/** When the program first marks a region, creates a context and launches. Internal to lib/regions;
 * capture.h has the API. */
#ifndef LP_REGIONS_FIRST_USE_H
#define LP_REGIONS_FIRST_USE_H

#include <stdatomic.h>
#include <stdbool.h>

struct lp_first_use {
    _Atomic bool seen;
};

extern struct lp_first_use lp_first_context, lp_first_launch;

/** Called before the thread has its state. */
void lp_notify_first_thread(void);

void lp_notify_first_use(struct lp_first_use *use);

/** Called in a driver callback, on the program's thread. */
static inline void lp_note_use(struct lp_first_use *use)
{
    /* Relaxed: an exchange decides who is first. */
    if (__builtin_expect(!atomic_load_explicit(&use->seen, memory_order_relaxed), 0))
        lp_notify_first_use(use);
}

#endif
