/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/session/wake.h"

/* Static and never destroyed: a producer may be about to post it when its session is freed. */
static sem_t wake;

__attribute__((constructor)) static void make_wake(void)
{
    sem_init(&wake, 0, 0);
}

void lp_wake_post(void)
{
    int saved = errno; /* Called on the user's threads. */

    sem_post(&wake);
    errno = saved;
}

void lp_wake_wait(uint64_t ns)
{
    uint64_t until = lp_clock_now() + ns;
    struct timespec deadline = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    while (sem_clockwait(&wake, CLOCK_MONOTONIC, &deadline) < 0 && errno == EINTR)
        ;
    while (sem_trywait(&wake) == 0)
        ;
}
