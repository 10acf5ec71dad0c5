/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/cupti/calls.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/log.h"
#include "lib/cupti/cbids.h"
#include "lib/record/host_calls.h"
#include "lib/regions/threads.h"

uint8_t lp_cupti_call_kinds[LP_CUPTI_CALL_IDS];
uint8_t lp_cupti_host_calls[LP_CUPTI_CALL_IDS];

static uint8_t set_of[LP_CUPTI_CALL_IDS];                /* 0: in none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for changes of `on` */
static const struct lp_cupti_client *owner;
static _Atomic uint32_t wanted, on; /* bit sets; `on` changes under the lock */

void lp_cupti_calls_begin(const struct lp_cupti_client *client)
{
#define LENGTH(number, function) lp_cupti_host_calls[number] = lp_host_call_find(#function);
#define LAUNCH(kind, number, function)                                                             \
    lp_cupti_call_kinds[number] = LP_LAUNCH_##kind;                                                \
    set_of[number] =                                                                               \
        LP_LAUNCH_##kind == LP_LAUNCH_MEMORY ? LP_CUPTI_CALLS_MEMORY : LP_CUPTI_CALLS_LAUNCH;      \
    LENGTH(number, function)
#define GRAPH(call, number, function) LENGTH(number, function)
#define HOST(number, function)                                                                     \
    set_of[number] = LP_CUPTI_CALLS_HOST;                                                          \
    LENGTH(number, function)
    LP_CUPTI_LAUNCH_CALLS(LAUNCH)
    LP_CUPTI_GRAPH_CALLS(GRAPH)
    LP_CUPTI_HOST_CALLS(HOST)
#undef HOST
#undef GRAPH
#undef LAUNCH
#undef LENGTH
    owner = client;
    lp_threads_begin_calls();
    atomic_store(&wanted, 0);
    atomic_store(&on, 0);
}

/* An older CUPTI refuses callbacks that it does not know; its driver does not have those calls
 * either. */
static void switch_sets(uint32_t sets, uint32_t enable)
{
    for (uint32_t id = 0; id < LP_CUPTI_CALL_IDS; id++)
        if ((set_of[id] & sets) &&
            owner->cupti->EnableCallback(enable, owner->subscriber, LP_CUPTI_DOMAIN_DRIVER_API,
                                         id) != LP_CUPTI_SUCCESS &&
            enable)
            lp_log(LLMPERF_LOG_DEBUG, "CUPTI does not know driver callback %u", id);
}

/* Under the lock. */
static void open_sets(uint32_t sets)
{
    uint32_t closed = sets & ~atomic_load(&on);

    if (closed == 0)
        return;
    switch_sets(closed, 1);
    atomic_fetch_or(&on, closed);
}

/* Under the lock. A thread marks its call, then reads `on`; here `on` is cleared, then marks are
 * read: one sees the other. Callbacks are disabled only after that. Otherwise the call of a thread
 * that saw `on` might end without a reported exit. */
static void close_part(uint32_t sets, bool (*in_call)(void))
{
    uint32_t unwanted = atomic_load(&on) & ~atomic_load(&wanted) & sets;

    if (unwanted == 0 || in_call())
        return;
    atomic_fetch_and(&on, ~unwanted);
    if (in_call())
        atomic_fetch_or(&on, unwanted);
    else
        switch_sets(unwanted, 0);
}

/* A thread may be in a synchronisation for long: that does not keep the launches on. */
static void close_sets(void)
{
    close_part(LP_CUPTI_CALLS_LAUNCH | LP_CUPTI_CALLS_MEMORY, lp_threads_in_call);
    close_part(LP_CUPTI_CALLS_HOST, lp_threads_in_host_call);
}

void lp_cupti_calls_want(uint32_t sets)
{
    pthread_mutex_lock(&lock);
    atomic_store(&wanted, sets);
    open_sets(sets);
    close_sets();
    pthread_mutex_unlock(&lock);
}

bool lp_cupti_call_switches(uint32_t id)
{
    return set_of[id] != 0;
}

void lp_cupti_call_enter(uint32_t id)
{
    struct lp_thread *thread = lp_thread_get();
    uint32_t set = set_of[id];

    if (!thread)
        return;
    if (set == LP_CUPTI_CALLS_HOST)
        lp_thread_host_call_enter(thread);
    else
        lp_thread_call_enter(thread);
    if (atomic_load(&on) & set)
        return;
    pthread_mutex_lock(&lock);
    open_sets(set);
    pthread_mutex_unlock(&lock);
}

/* The callback may have been enabled during the call: an exit without an enter. */
void lp_cupti_call_exit(uint32_t id)
{
    struct lp_thread *thread = lp_thread_get();

    if (thread && set_of[id] == LP_CUPTI_CALLS_HOST)
        lp_thread_host_call_exit(thread);
    else if (thread)
        lp_thread_call_exit(thread);
    if ((atomic_load(&on) & ~atomic_load(&wanted)) == 0 || pthread_mutex_trylock(&lock) != 0)
        return;
    close_sets();
    pthread_mutex_unlock(&lock);
}
