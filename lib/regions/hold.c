/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/hold.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Of a thread that nobody takes: the device may wait for what it does next. */
#define PATIENCE_NS UINT64_C(200000000)

static _Atomic uint_fast32_t state; /* enum lp_hold */
static _Atomic(bool (*)(void)) is_ready;
static _Atomic uint64_t since_ns;   /* when the thread came */
static _Atomic uint64_t in_vain_ns; /* for how long it was held, and nobody took it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of who waits for `state` to change */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A step of the time of day must not hold a thread. */
static void set_up(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static bool go_on(uint_fast32_t from, uint_fast32_t to)
{
    return atomic_compare_exchange_strong(&state, &from, to);
}

void lp_hold_ask(bool (*ready)(void))
{
    pthread_once(&once, set_up);
    atomic_store(&is_ready, ready);
    atomic_store(&state, LP_HOLD_ASKED);
}

enum lp_hold lp_hold_look(void)
{
    return (enum lp_hold)atomic_load(&state);
}

bool lp_hold_take(void)
{
    if (!go_on(LP_HOLD_HELD, LP_HOLD_WORK))
        return false;
    lp_log_defer();
    return true;
}

uint64_t lp_hold_free(void)
{
    uint_fast32_t before;
    uint64_t held_ns;

    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    before = atomic_exchange(&state, LP_HOLD_NOBODY);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    held_ns = atomic_exchange(&in_vain_ns, 0);
    if (before == LP_HOLD_HELD || before == LP_HOLD_WORK)
        held_ns += lp_clock_now() - atomic_load(&since_ns);
    lp_log_deliver();
    return held_ns;
}

static void wait_here(void)
{
    uint64_t until_ns = lp_clock_now() + PATIENCE_NS;
    struct timespec until = { (time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u) };

    pthread_mutex_lock(&lock);
    while (atomic_load(&state) == LP_HOLD_HELD || atomic_load(&state) == LP_HOLD_WORK)
        if (atomic_load(&state) == LP_HOLD_WORK)
            pthread_cond_wait(&changed, &lock);
        else if (pthread_cond_timedwait(&changed, &lock, &until) != 0 &&
                 go_on(LP_HOLD_HELD, LP_HOLD_BUSY)) {
            atomic_fetch_add(&in_vain_ns, lp_clock_now() - atomic_load(&since_ns));
            break;
        }
    pthread_mutex_unlock(&lock);
}

void lp_hold_here(void (*wake)(void))
{
    bool (*ready)(void);

    if (atomic_load_explicit(&state, memory_order_relaxed) != LP_HOLD_ASKED ||
        !go_on(LP_HOLD_ASKED, LP_HOLD_CAME))
        return;
    ready = atomic_load(&is_ready);
    atomic_store(&since_ns, lp_clock_now());
    if (ready && !ready()) {
        go_on(LP_HOLD_CAME, LP_HOLD_BUSY);
    } else if (go_on(LP_HOLD_CAME, LP_HOLD_HELD)) {
        if (wake)
            wake();
        wait_here();
    }
}
