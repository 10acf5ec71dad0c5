/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "lib/capture/threads.h"

#define CALL_STEP_US 50
#define CALL_MOST_US 50000

_Atomic(struct lp_thread *) lp_all_threads;

void lp_threads_await_calls(void)
{
    int us = 0;

    for (struct lp_thread *thread = atomic_load(&lp_all_threads); thread; thread = thread->next) {
        uint32_t told = atomic_load(&thread->calls_told);

        for (; us < CALL_MOST_US && atomic_load(&thread->calls) > 0 &&
               atomic_load(&thread->calls_told) == told;
             us += CALL_STEP_US)
            usleep(CALL_STEP_US);
    }
}
