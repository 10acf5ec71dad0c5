/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/safepoint.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Wait limit of a thread that is not taken: the device may wait for its next call. */
#define WAIT_NS UINT64_C(200000000)

static _Atomic uint_fast32_t state; /* enum lp_safepoint */
static _Atomic(bool (*)(void)) is_ready;
static _Atomic uint64_t reached_ns; /* when the thread stopped */
static _Atomic uint64_t missed_ns;  /* time that a thread waited without being taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for waiting until `state` changes */
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* from -> set of to. A release leads from any state to NONE. */
static const uint8_t transitions[] = {
    [LP_SAFEPOINT_NONE] = 1u << LP_SAFEPOINT_REQUESTED,
    [LP_SAFEPOINT_REQUESTED] = 1u << LP_SAFEPOINT_REACHED,
    [LP_SAFEPOINT_REACHED] = 1u << LP_SAFEPOINT_WAITING | 1u << LP_SAFEPOINT_MISSED,
    [LP_SAFEPOINT_WAITING] = 1u << LP_SAFEPOINT_TAKEN | 1u << LP_SAFEPOINT_MISSED,
    [LP_SAFEPOINT_TAKEN] = 0,
    [LP_SAFEPOINT_MISSED] = 0,
};

/* false: another thread has changed it. */
static bool step(enum lp_safepoint from, enum lp_safepoint to)
{
    bool legal = transitions[from] & 1u << to;
    uint_fast32_t now = from;

    assert(legal);
    (void)legal;
    return atomic_compare_exchange_strong(&state, &now, to);
}

/* Monotonic clock: setting the time of day must not block a thread. */
static void set_up(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void lp_safepoint_request(bool (*ready)(void))
{
    bool requested;

    pthread_once(&once, set_up);
    atomic_store(&is_ready, ready);
    requested = step(LP_SAFEPOINT_NONE, LP_SAFEPOINT_REQUESTED);
    assert(requested);
    (void)requested;
}

enum lp_safepoint lp_safepoint_state(void)
{
    return (enum lp_safepoint)atomic_load(&state);
}

bool lp_safepoint_take(void)
{
    if (!step(LP_SAFEPOINT_WAITING, LP_SAFEPOINT_TAKEN))
        return false;
    lp_log_defer();
    return true;
}

uint64_t lp_safepoint_release(void)
{
    uint_fast32_t before;
    uint64_t stopped_ns;

    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
    before = atomic_exchange(&state, LP_SAFEPOINT_NONE);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    stopped_ns = atomic_exchange(&missed_ns, 0);
    if (before == LP_SAFEPOINT_WAITING || before == LP_SAFEPOINT_TAKEN)
        stopped_ns += lp_clock_now() - atomic_load(&reached_ns);
    lp_log_deliver();
    return stopped_ns;
}

static void wait_here(void)
{
    uint64_t until_ns = lp_clock_now() + WAIT_NS;
    struct timespec until = { (time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u) };

    pthread_mutex_lock(&lock);
    while (lp_safepoint_state() == LP_SAFEPOINT_WAITING ||
           lp_safepoint_state() == LP_SAFEPOINT_TAKEN)
        if (lp_safepoint_state() == LP_SAFEPOINT_TAKEN)
            pthread_cond_wait(&changed, &lock);
        else if (pthread_cond_timedwait(&changed, &lock, &until) != 0 &&
                 step(LP_SAFEPOINT_WAITING, LP_SAFEPOINT_MISSED)) {
            atomic_fetch_add(&missed_ns, lp_clock_now() - atomic_load(&reached_ns));
            break;
        }
    pthread_mutex_unlock(&lock);
}

void lp_safepoint_reach(void (*wake)(void))
{
    bool (*ready)(void);

    /* Relaxed: a thread that sees a request late stops at its next call. */
    if (atomic_load_explicit(&state, memory_order_relaxed) != LP_SAFEPOINT_REQUESTED ||
        !step(LP_SAFEPOINT_REQUESTED, LP_SAFEPOINT_REACHED))
        return;
    ready = atomic_load(&is_ready);
    atomic_store(&reached_ns, lp_clock_now());
    if (ready && !ready()) {
        step(LP_SAFEPOINT_REACHED, LP_SAFEPOINT_MISSED);
    } else if (step(LP_SAFEPOINT_REACHED, LP_SAFEPOINT_WAITING)) {
        if (wake)
            wake();
        wait_here();
    }
}
