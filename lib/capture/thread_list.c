/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "lib/capture/threads.h"

#define CALL_STEP_US 50
#define CALL_MOST_US 50000

_Atomic(struct lp_thread *) lp_all_threads;

static bool is_in_seen_call(const struct lp_thread *thread)
{
    return atomic_load(&thread->calls) > 0 &&
           atomic_load(&thread->calls_told) == thread->calls_seen;
}

void lp_threads_await_calls(void)
{
    struct lp_thread *all = atomic_load(&lp_all_threads);
    int us = 0;

    for (struct lp_thread *thread = all; thread; thread = thread->next)
        thread->calls_seen = atomic_load(&thread->calls_told);
    for (struct lp_thread *thread = all; thread; thread = thread->next)
        for (; us < CALL_MOST_US && is_in_seen_call(thread); us += CALL_STEP_US)
            usleep(CALL_STEP_US);
}
