/* SPDX-License-Identifier: Apache-2.0 */
/** One thread stops at the begin of a sampled region, and is released whatever happens; ids of
 * launches go on where the driver's begin anew. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/regions/safepoint.h"
#include "lib/device/launch_ids.h"

#define PATIENCE_NS UINT64_C(20000000000)

static atomic_bool passed, ready;
static atomic_int wakes;

static void wake(void)
{
    atomic_fetch_add(&wakes, 1);
}

static bool is_ready(void)
{
    return atomic_load(&ready);
}

static void *come(void *unused)
{
    (void)unused;
    lp_safepoint_reach(wake);
    atomic_store(&passed, true);
    return NULL;
}

static int begin(void **state)
{
    (void)state;
    atomic_store(&passed, false);
    atomic_store(&ready, true);
    atomic_store(&wakes, 0);
    lp_safepoint_release();
    return 0;
}

static pthread_t send_thread(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, come, NULL), 0);
    return thread;
}

static void await(enum lp_safepoint wanted)
{
    uint64_t begin_ns = lp_clock_now();

    while (lp_safepoint_state() != wanted) {
        assert_true(lp_clock_now() - begin_ns < PATIENCE_NS);
        usleep(100);
    }
}

static void without_a_request_no_thread_stops(void **state)
{
    (void)state;
    come(NULL);
    assert_true(atomic_load(&passed));
    assert_int_equal(atomic_load(&wakes), 0);
    assert_false(lp_safepoint_take());
}

static void a_thread_that_is_taken_stands_until_it_is_released(void **state)
{
    pthread_t thread;

    (void)state;
    lp_safepoint_request(is_ready);
    assert_false(lp_safepoint_take());
    thread = send_thread();
    await(LP_SAFEPOINT_WAITING);
    assert_true(lp_safepoint_take());
    usleep(1500000); /* longer than it waits without being taken */
    assert_false(atomic_load(&passed));
    assert_true(lp_safepoint_release() >= 1500000000u);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&passed));
    assert_int_equal(atomic_load(&wakes), 1);
    come(NULL); /* The next one is not requested. */
}

static void count_line(void *user, int32_t level, const char *line)
{
    assert_int_equal(level, LLMPERF_LOG_WARN);
    assert_string_equal(line, "3 of them");
    (*(int *)user)++;
}

/* In Python it holds the lock that the function needs. */
static void log_lines_wait_for_the_thread_that_stands(void **state)
{
    pthread_t thread;
    int lines = 0;

    (void)state;
    llmperf_log_set(count_line, &lines, LLMPERF_LOG_WARN);
    lp_safepoint_request(NULL);
    thread = send_thread();
    await(LP_SAFEPOINT_WAITING);
    assert_true(lp_safepoint_take());
    lp_log(LLMPERF_LOG_WARN, "%d of them", 3);
    lp_log(LLMPERF_LOG_DEBUG, "not asked for");
    assert_int_equal(lines, 0);
    lp_safepoint_release();
    assert_int_equal(lines, 1);
    lp_log(LLMPERF_LOG_WARN, "%d of them", 3);
    assert_int_equal(lines, 2);
    llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
    pthread_join(thread, NULL);
}

static void only_one_thread_stops(void **state)
{
    pthread_t thread;

    (void)state;
    lp_safepoint_request(NULL);
    thread = send_thread();
    await(LP_SAFEPOINT_WAITING);
    come(NULL);
    assert_true(lp_safepoint_take());
    lp_safepoint_release();
    pthread_join(thread, NULL);
}

static void a_thread_that_is_not_ready_goes_on(void **state)
{
    (void)state;
    atomic_store(&ready, false);
    lp_safepoint_request(is_ready);
    come(NULL);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_MISSED);
    assert_false(lp_safepoint_take());
    lp_safepoint_release();
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_NONE);
}

static void a_thread_that_is_not_taken_goes_on_soon(void **state)
{
    (void)state;
    lp_safepoint_request(NULL);
    come(NULL);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_MISSED);
    assert_false(lp_safepoint_take());
    assert_true(lp_safepoint_release() >= 200000000u); /* What that cost is known. */
    assert_int_equal(lp_safepoint_release(), 0);
}

static void ids_go_on(void **state)
{
    uint32_t before, after;

    (void)state;
    assert_int_equal(lp_launch_id(LP_CORRELATION_NONE), LP_CORRELATION_NONE);
    before = lp_launch_id_reported(1000);
    lp_launch_id_reported(1001);
    assert_int_equal(lp_launch_id(1002), before + 2);
    lp_launch_ids_renew();
    assert_int_equal(lp_launch_id(LP_CORRELATION_NONE), LP_CORRELATION_NONE);
    after = lp_launch_id_reported(1);
    assert_true(after > before + 1);
    assert_int_equal(lp_launch_id(7), after + 6);
    lp_launch_ids_renew();
    assert_true(lp_launch_id_reported(1) > after);
}

#define STOPPED(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STOPPED(without_a_request_no_thread_stops),
        STOPPED(a_thread_that_is_taken_stands_until_it_is_released),
        STOPPED(log_lines_wait_for_the_thread_that_stands),
        STOPPED(only_one_thread_stops),
        STOPPED(a_thread_that_is_not_ready_goes_on),
        STOPPED(a_thread_that_is_not_taken_goes_on_soon),
        STOPPED(ids_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
