/* SPDX-License-Identifier: Apache-2.0 */
/** The moments when the program first marks a region, makes a context and launches. Internal to
 * capture; the API is capture.h. */
#ifndef LP_REGIONS_FIRST_USE_H
#define LP_REGIONS_FIRST_USE_H

#include <stdatomic.h>
#include <stdbool.h>

struct lp_first_use {
    _Atomic bool seen;
};

extern struct lp_first_use lp_first_context, lp_first_launch;

/** Before a thread has its state. */
void lp_notify_first_thread(void);

void lp_notify_first_use(struct lp_first_use *use);

/** In a driver callback, on the program's thread. */
static inline void lp_note_use(struct lp_first_use *use)
{
    /* Relaxed: whoever is first is settled by an exchange. */
    if (__builtin_expect(!atomic_load_explicit(&use->seen, memory_order_relaxed), 0))
        lp_notify_first_use(use);
}

#endif
