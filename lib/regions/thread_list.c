/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/regions/threads.h"

#define CALL_STEP_US 50
#define CALL_MOST_NS UINT64_C(50000000)

_Atomic(struct lp_thread *) lp_all_threads;
_Atomic uint32_t lp_capture_epoch;

static bool is_in_seen_call(const struct lp_thread *thread)
{
    return atomic_load(&thread->calls) > 0 &&
           atomic_load(&thread->calls_begun) == thread->calls_seen;
}

void lp_threads_await_calls(void)
{
    struct lp_thread *all = atomic_load(&lp_all_threads);
    uint64_t limit_ns = lp_clock_now() + CALL_MOST_NS;

    for (struct lp_thread *thread = all; thread; thread = thread->next)
        thread->calls_seen = atomic_load(&thread->calls_begun);
    for (struct lp_thread *thread = all; thread; thread = thread->next)
        while (is_in_seen_call(thread) && lp_clock_now() < limit_ns)
            usleep(CALL_STEP_US);
}
