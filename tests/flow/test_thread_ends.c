/* SPDX-License-Identifier: Apache-2.0 */
/** Threads whose destructors of thread-local data still mark regions and launch, before and after
 * the library has cleaned up what it keeps of the thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "lib/regions/threads.h"
#include "tests/support/play.h"

#define THREADS 50
#define KEYS    8

static pthread_key_t early[KEYS], late[KEYS]; /* made before and after the library's own */
static atomic_int destroyed;

struct ends {
    int rounds; /* of destructors that are still to come */
    pthread_key_t key;
};

static void work(const char *label)
{
    llmperf_region_begin(label);
    lp_fake_launch(label, 7, 10);
    llmperf_region_end();
}

static void at_end(void *value)
{
    struct ends *ends = value;

    atomic_fetch_add(&destroyed, 1);
    work("destructor");
    llmperf_session_pause(NULL); /* leaves an error text of this thread */
    assert_true(strlen(llmperf_last_error()) > 0);
    if (ends->rounds-- > 0)
        pthread_setspecific(ends->key, ends);
    else
        free(ends);
}

static void set_all(const pthread_key_t *keys, int rounds)
{
    for (int i = 0; i < KEYS; i++) {
        struct ends *ends = malloc(sizeof(*ends));

        assert_non_null(ends);
        *ends = (struct ends){ rounds, keys[i] };
        assert_int_equal(pthread_setspecific(keys[i], ends), 0);
    }
}

struct plan {
    int rounds;
    bool first; /* destructors are there before the library knows of the thread, which it may never
                   do before them */
    bool leaves_open;
};

static void *run_thread(void *context)
{
    const struct plan *plan = context;

    if (!plan->first)
        work("body");
    set_all(early, plan->rounds);
    set_all(late, plan->rounds);
    if (plan->leaves_open)
        llmperf_region_begin("never closed");
    return NULL;
}

static size_t count_states(void)
{
    size_t count = 0;

    for (const struct lp_thread *thread = atomic_load(&lp_all_threads); thread;
         thread = thread->next)
        count++;
    return count;
}

static void run_threads(const struct plan *plan)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, run_thread, (void *)plan), 0);
        pthread_join(thread, NULL);
    }
}

static void play_plan(struct plan plan)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    uint64_t ends = (uint64_t)THREADS * 2 * KEYS * (uint64_t)(plan.rounds + 1);
    llmperf_session *session = NULL;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    size_t states;

    options.device_source = LLMPERF_SOURCE_FAKE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    work("body");
    states = count_states();
    atomic_store(&destroyed, 0);
    run_threads(&plan);
    assert_int_equal(atomic_load(&destroyed), ends);
    /* One after the other: they share one state, whatever ran last. */
    assert_true(count_states() <= states + 1);
    profile = stop_session(session);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.kernels_seen, ends + 1 + (plan.first ? 0 : THREADS));
    assert_int_equal(ledger.launches_missing, 0);
    /* After the last destructor of the library nothing is known of the thread. */
    assert_int_equal(ledger.kernels_unattributed, plan.rounds < 3 ? 0 : THREADS * KEYS);
    /* A region that a thread left open is in no path of the next thread. */
    assert_int_equal(
        find_kernel(profile, "destructor",
                    plan.leaves_open ? "LLM@never closed/LLM@destructor" : "LLM@destructor")
                .calls > 0,
        1);
    if (!plan.first)
        assert_int_equal(find_kernel(profile, "body", "LLM@body").calls, THREADS + 1);
    llmperf_profile_free(profile);
}

static void destructors_before_and_after_ours_lose_nothing(void **state)
{
    (void)state;
    play_plan((struct plan){ 0, false, false });
    play_plan((struct plan){ 1, false, false });
}

static void a_thread_that_the_library_meets_in_a_destructor_loses_nothing(void **state)
{
    (void)state;
    play_plan((struct plan){ 0, true, false });
    play_plan((struct plan){ 2, true, false });
}

static void regions_left_open_end_with_their_thread(void **state)
{
    (void)state;
    play_plan((struct plan){ 1, false, true });
}

/* The system calls destructors four times and no more. */
static void destructors_that_come_back_until_the_end_leave_no_state_behind(void **state)
{
    (void)state;
    play_plan((struct plan){ 3, false, false });
}

static int make_keys(void **state)
{
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&early[i], at_end);
    work("body"); /* The library makes its keys. */
    llmperf_session_pause(NULL);
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&late[i], at_end);
    return make_test_folder(state);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

int main(void)
{
#ifdef THREAD_SANITIZER
    puts("ThreadSanitizer forgets a thread before the last round of destructors");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destructors_before_and_after_ours_lose_nothing),
        cmocka_unit_test(a_thread_that_the_library_meets_in_a_destructor_loses_nothing),
        cmocka_unit_test(regions_left_open_end_with_their_thread),
        cmocka_unit_test(destructors_that_come_back_until_the_end_leave_no_state_behind),
    };

    return cmocka_run_group_tests(tests, make_keys, remove_test_folder);
}
