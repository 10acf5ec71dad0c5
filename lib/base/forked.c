/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/forked.h"

static _Atomic bool forked;
static void (*callback)(void);

static void begin_child(void)
{
    atomic_store(&forked, true);
    callback();
}

void lp_capture_watch_forks(void (*in_child)(void))
{
    callback = in_child;
    pthread_atfork(NULL, NULL, begin_child);
}

bool lp_capture_forked(void)
{
    return atomic_load(&forked);
}
