/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/capture.h"
#include "lib/regions/first_use.h"

static _Atomic(void (*)(void)) first_thread;

void lp_capture_on_first_thread(void (*callback)(void))
{
    atomic_store(&first_thread, callback);
}

void lp_notify_first_thread(void)
{
    void (*callback)(void) = atomic_exchange(&first_thread, NULL);

    if (callback)
        callback();
}

struct lp_first_use lp_first_context, lp_first_launch;

static _Atomic(void (*)(void)) listener;

void lp_capture_on_first_use(void (*callback)(void))
{
    atomic_store(&listener, callback);
}

void lp_notify_first_use(struct lp_first_use *use)
{
    void (*callback)(void) = atomic_load(&listener);

    if (!atomic_exchange(&use->seen, true) && callback)
        callback();
}

bool lp_capture_device_used(void)
{
    return atomic_load(&lp_first_context.seen) || atomic_load(&lp_first_launch.seen);
}
