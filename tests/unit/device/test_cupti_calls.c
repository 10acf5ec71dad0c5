/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks on driver calls go on and off while threads are in such calls: of each call whose enter
 * was told, the exit is told too. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/sources/cupti/calls.h"
#include "lib/cupti/symbols.h"
#include "lib/regions/threads.h"

#define PARKED   400 /* threads that do nothing: to look at all of them takes its time */
#define CALLERS  4
#define SWITCHES 20000

static _Atomic uint32_t enabled[LP_CUPTI_CALL_IDS];
static _Atomic bool over;
static _Atomic unsigned told, untold;
static pthread_barrier_t parked;
static uint32_t launch_id, memory_id;
static uint32_t host_id = 126; /* cuStreamSynchronize */

/* Calls end while others still go off. */
static int enable_callback(uint32_t enable, lp_cupti_subscriber subscriber, uint32_t domain,
                           uint32_t id)
{
    (void)subscriber;
    (void)domain;
    atomic_store(&enabled[id], enable);
    if (!enable && (id == launch_id || id == memory_id || id == host_id))
        sched_yield();
    return LP_CUPTI_SUCCESS;
}

static void *park(void *argument)
{
    (void)argument;
    lp_thread_get();
    pthread_barrier_wait(&parked);
    pthread_barrier_wait(&parked);
    return NULL;
}

/* What the driver does around a call. */
static void call(uint32_t id)
{
    bool entered = atomic_load(&enabled[id]);

    if (entered) {
        told++;
        lp_cupti_call_enter(id);
    }
    if (atomic_load(&enabled[id]))
        lp_cupti_call_exit(id);
    else
        untold += entered;
}

static void *make_calls(void *argument)
{
    uint32_t id = *(const uint32_t *)argument;

    while (!atomic_load(&over))
        call(id);
    return NULL;
}

static void each_exit_is_told_whose_enter_was(void **state)
{
    static const struct lp_cupti cupti = { .EnableCallback = enable_callback };
    const struct lp_cupti_client client = { .cupti = &cupti };
    uint32_t *const ids[CALLERS] = { &launch_id, &memory_id, &launch_id, &host_id };
    pthread_t idle[PARKED], callers[CALLERS];

    (void)state;
    lp_cupti_calls_begin(&client);
    for (uint32_t id = 0; id < LP_CUPTI_CALL_IDS; id++) {
        if (lp_cupti_call_kinds[id] == LP_LAUNCH_KERNEL)
            launch_id = id;
        else if (lp_cupti_call_kinds[id] == LP_LAUNCH_MEMORY)
            memory_id = id;
    }
    assert_int_equal(pthread_barrier_init(&parked, NULL, PARKED + 1), 0);
    for (int i = 0; i < PARKED; i++)
        assert_int_equal(pthread_create(&idle[i], NULL, park, NULL), 0);
    pthread_barrier_wait(&parked);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, make_calls, ids[i]), 0);
    for (uint32_t i = 0; i < SWITCHES || told < SWITCHES; i++) {
        lp_cupti_calls_want(i % 8);
        if (i % 8 == 0)
            sched_yield();
    }
    atomic_store(&over, true);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    pthread_barrier_wait(&parked);
    for (int i = 0; i < PARKED; i++)
        pthread_join(idle[i], NULL);
    lp_cupti_calls_want(0);
    assert_int_equal(untold, 0);
    assert_false(lp_threads_in_call() || lp_threads_in_host_call());
    for (uint32_t id = 0; id < LP_CUPTI_CALL_IDS; id++)
        assert_int_equal(enabled[id], 0);
}

/* One thread waits for the device for long. */
static void a_long_wait_does_not_keep_launches_on(void **state)
{
    static const struct lp_cupti cupti = { .EnableCallback = enable_callback };
    const struct lp_cupti_client client = { .cupti = &cupti };

    (void)state;
    lp_cupti_calls_begin(&client);
    lp_cupti_calls_want(LP_CUPTI_CALLS_LAUNCH | LP_CUPTI_CALLS_HOST);
    lp_cupti_call_enter(host_id);
    assert_false(lp_threads_in_call());
    lp_cupti_calls_want(0);
    assert_int_equal(enabled[307], 0);
    assert_int_equal(enabled[host_id], 1); /* its exit is reported */
    lp_cupti_call_exit(host_id);
    assert_int_equal(enabled[host_id], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_exit_is_told_whose_enter_was),
        cmocka_unit_test(a_long_wait_does_not_keep_launches_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
