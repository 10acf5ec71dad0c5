/* SPDX-License-Identifier: Apache-2.0 */
/** Threads that launch while collecting begins and ends, on the fake device of running threads:
 * what was told brings its record, and what was not stands beside. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "lib/regions/threads.h"
#include "tests/support/play.h"

#define THREADS 3

static llmperf_session *start_with(uint32_t tier, const char *record_path)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.tier = tier;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = 100;
    options.record_path = record_path;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

/* Tier light may have collected every kernel. */
static void check_books(const llmperf_ledger *ledger)
{
    assert_int_equal(ledger->launches_missing, 0);
    assert_int_equal(ledger->kernels_unattributed, 0);
    assert_int_equal(ledger->records_duplicate, 0);
    assert_int_equal(ledger->kernels_seen, ledger->launches_expected);
    assert_true(ledger->verdict == LLMPERF_VERDICT_COMPLETE ||
                ledger->verdict == LLMPERF_VERDICT_SAMPLED);
}

/* Stop it, and no launch is missing or too much. */
static llmperf_ledger check_end(llmperf_session *session)
{
    llmperf_profile *profile = stop_session(session);
    llmperf_ledger ledger = ledger_of(profile);

    check_books(&ledger);
    llmperf_profile_free(profile);
    return ledger;
}

/* Threads that are held at a moment of a launch */

enum { IDLE, HELD_UNTOLD, HELD_TOLD }; /* what this thread's launches do */

static __thread int role;
static _Atomic int untold_held, told_held;
static _Atomic bool untold_done;

static void wait_until_collecting_ended(void)
{
    while (atomic_load(&lp_capture_epoch) != 0)
        sched_yield();
}

static void hold(enum lp_fake_moment moment)
{
    if (role == HELD_UNTOLD && moment == LP_FAKE_BEFORE_REPORT) {
        atomic_fetch_add(&untold_held, 1);
        wait_until_collecting_ended();
    } else if (role == HELD_TOLD && moment == LP_FAKE_AFTER_REPORT) {
        atomic_fetch_add(&told_held, 1);
        wait_until_collecting_ended();
        while (atomic_load(&untold_held) > 0 && !atomic_load(&untold_done))
            sched_yield();
    }
}

static void begin_holding(void)
{
    atomic_store(&untold_held, 0);
    atomic_store(&told_held, 0);
    atomic_store(&untold_done, false);
    lp_fake_pause_at_launch(hold);
}

static void *launch_untold(void *context)
{
    role = HELD_UNTOLD;
    lp_fake_launch("late", 1, 100);
    atomic_store(&untold_done, true);
    role = IDLE;
    return context;
}

static void *launch_told(void *context)
{
    role = HELD_TOLD;
    lp_fake_launch("told", 2, 100);
    role = IDLE;
    return context;
}

static void *capture_told(void *context)
{
    role = HELD_TOLD;
    lp_fake_capture();
    role = IDLE;
    return context;
}

static void *launch_told_in_a_unit(void *context)
{
    llmperf_decode_step_begin(1, 100);
    launch_told(context);
    llmperf_decode_step_end();
    return context;
}

static pthread_t start_thread(void *(*run)(void *), const _Atomic int *held)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    while (held && atomic_load(held) == 0)
        sched_yield();
    return thread;
}

/* Its id lies before ids that were told, and nothing was collected any more when it was told: the
 * other thread keeps records on until it has its record. */
static void a_launch_that_is_told_too_late_stands_beside(void **state)
{
    const char *recorded = in_test_folder("late.llmrec");
    llmperf_session *session = start_with(LLMPERF_TIER_DEEP, recorded);
    llmperf_session_options again = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;
    llmperf_ledger ledger, replayed;
    pthread_t late, told;

    (void)state;
    begin_holding();
    late = start_thread(launch_untold, &untold_held);
    lp_fake_launch("gemm", 3, 100);
    told = start_thread(launch_told, &told_held);
    ledger = check_end(session);
    pthread_join(late, NULL);
    pthread_join(told, NULL);
    lp_fake_pause_at_launch(NULL);
    assert_int_equal(ledger.kernels_seen, 2);
    assert_int_equal(ledger.kernels_outside_window, 1);
    again.device_source = LLMPERF_SOURCE_REPLAY;
    again.device_path = recorded;
    profile = play_options(&again);
    replayed = ledger_of(profile);
    check_books(&replayed);
    assert_int_equal(replayed.kernels_outside_window, 1);
    llmperf_profile_free(profile);
}

static void a_launch_that_was_told_keeps_records_on(void **state)
{
    static const uint32_t tiers[] = { LLMPERF_TIER_DEEP, LLMPERF_TIER_LIGHT };

    (void)state;
    for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
        bool light = tiers[i] == LLMPERF_TIER_LIGHT;
        llmperf_session *session = start_with(tiers[i], NULL);
        llmperf_ledger ledger;
        pthread_t told;

        begin_holding();
        told = start_thread(light ? launch_told_in_a_unit : launch_told, &told_held);
        ledger = check_end(session);
        pthread_join(told, NULL);
        lp_fake_pause_at_launch(NULL);
        assert_int_equal(ledger.kernels_seen, 1);
    }
}

static void a_launch_that_is_taken_back_at_the_end_is_not_awaited(void **state)
{
    llmperf_session *session = start_with(LLMPERF_TIER_DEEP, NULL);
    llmperf_ledger ledger;
    pthread_t captures;

    (void)state;
    lp_fake_launch("gemm", 3, 100);
    begin_holding();
    captures = start_thread(capture_told, &told_held);
    ledger = check_end(session);
    pthread_join(captures, NULL);
    lp_fake_pause_at_launch(NULL);
    assert_int_equal(ledger.kernels_seen, 1);
}

/* Threads that go on */

static _Atomic bool done;

static void *launch_on(void *context)
{
    while (!atomic_load(&done)) {
        llmperf_region_begin(context);
        for (int i = 0; i < 20; i++)
            lp_fake_launch("gemm", 7, 100);
        llmperf_region_end();
        usleep(1); /* Rings are read in time. */
    }
    return NULL;
}

static void run_on(pthread_t *threads, const char *label)
{
    atomic_store(&done, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_on, (void *)label), 0);
}

static void join_all(pthread_t *threads)
{
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void sessions_begin_and_end_while_threads_launch(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    run_on(threads, "LLM@decode_step");
    for (int i = 0; i < scaled(40, 8); i++) {
        llmperf_session *session = start_with(LLMPERF_TIER_DEEP, NULL);

        usleep(1000);
        check_end(session);
        session = start_with(LLMPERF_TIER_LIGHT, NULL);
        usleep(5000);
        check_end(session);
    }
    join_all(threads);
}

static void a_session_pauses_while_threads_launch(void **state)
{
    llmperf_session *session = start_with(LLMPERF_TIER_DEEP, NULL);
    pthread_t threads[THREADS];

    (void)state;
    run_on(threads, "work");
    for (int i = 0; i < scaled(50, 10); i++) {
        assert_int_equal(llmperf_session_pause(session), 0);
        usleep(200);
        assert_int_equal(llmperf_session_resume(session), 0);
        usleep(500);
    }
    join_all(threads);
    check_end(session);
}

/* The first window opens once no unit was seen for a while. */
static void windows_for_all_threads_open_and_end_while_they_launch(void **state)
{
    llmperf_session *session = start_with(LLMPERF_TIER_LIGHT, NULL);
    pthread_t threads[THREADS];
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    (void)state;
    run_on(threads, "work");
    while (ledger.kernels_seen == 0) {
        usleep(1000);
        assert_int_equal(llmperf_session_ledger(session, &ledger), 0);
    }
    usleep(5000);
    check_end(session);
    join_all(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_that_is_told_too_late_stands_beside),
        cmocka_unit_test(a_launch_that_was_told_keeps_records_on),
        cmocka_unit_test(a_launch_that_is_taken_back_at_the_end_is_not_awaited),
        cmocka_unit_test(sessions_begin_and_end_while_threads_launch),
        cmocka_unit_test(a_session_pauses_while_threads_launch),
        cmocka_unit_test(windows_for_all_threads_open_and_end_while_they_launch),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
