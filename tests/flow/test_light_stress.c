/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light with everything at once, on the fake device of running threads: samples, triggered
 * windows and CUDA graphs on several threads, and sessions that pause and end meanwhile. Each
 * collected call is complete, and each count exact. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"

#define THREADS 3
#define KERNELS 6
#define NODES   9
#define MS      UINT64_C(1000000)

static _Atomic bool over;
static _Atomic uint64_t steps, prefills;

/* A copy brings a record in triggered windows only. */
static void run_step(void)
{
    llmperf_decode_step_begin(1, 100);
    llmperf_region_begin("attention");
    for (int i = 0; i < KERNELS; i++)
        lp_fake_launch("gemm", 7, 500);
    lp_fake_copy(7, 500);
    llmperf_region_end();
    llmperf_decode_step_end();
    atomic_fetch_add(&steps, 1);
}

static void run_prefill(uint32_t graph)
{
    llmperf_prefill_begin(10);
    lp_fake_replay(graph, NODES, graph, 500);
    llmperf_prefill_end();
    atomic_fetch_add(&prefills, 1);
}

/* The number of the thread's graph is where its random numbers begin, too. */
static void *work(void *argument)
{
    uint32_t graph = *(const uint32_t *)argument, random = graph;

    while (!atomic_load(&over)) {
        random = random * 1664525u + 1013904223u;
        if (random >> 28 == 0)
            lp_fake_launch("beside", 9, 500); /* in no region */
        else if (random >> 28 < 4)
            run_prefill(graph);
        else
            run_step();
        usleep((random >> 26) * (unsigned)scaled(1, 12)); /* sanitizers slow the collector down */
    }
    return NULL;
}

static void run_threads(pthread_t *threads)
{
    static uint32_t graphs[THREADS] = { 1, 2, 3 };

    atomic_store(&over, false);
    atomic_store(&steps, 0);
    atomic_store(&prefills, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &graphs[i]), 0);
}

static void join_threads(pthread_t *threads)
{
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static llmperf_session *start(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = 900;
    options.rules = "decode_step max above 0 ms for 20 ms collect 5 cooldown 0 s limit 1000";
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static void check_books(const llmperf_profile *profile)
{
    llmperf_ledger ledger = ledger_of(profile);

    assert_int_equal(ledger.launches_missing, 0);
    assert_int_equal(ledger.kernels_unattributed, 0);
    assert_int_equal(ledger.records_duplicate, 0);
    assert_int_equal(ledger.records_invalid_time, 0);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_SAMPLED);
}

/* The newest ones one by one; all together by their number. */
static void check_calls(const llmperf_profile *profile)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint64_t prefill_kernels = find_region(profile, "LLM@prefill", 0).kernel_count;

    for (size_t i = 0; llmperf_profile_iteration(profile, i, &row) == 0; i++) {
        bool prefill = strcmp(row.region, "LLM@prefill") == 0;
        uint64_t copies = !prefill && row.window != 0;

        if (row.activities == LLMPERF_UNKNOWN)
            continue;
        assert_int_equal(row.activities, prefill ? NODES : KERNELS + copies);
    }
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count,
                     find_all_calls(profile, "LLM@decode_step", "busy").count * KERNELS);
    assert_true(prefill_kernels == LLMPERF_UNKNOWN || prefill_kernels % NODES == 0);
}

static void each_collected_call_is_complete_and_each_count_exact(void **state)
{
    llmperf_session *session = start();
    llmperf_session_state now = LLMPERF_SESSION_STATE_INIT;
    uint64_t begin_ns = lp_clock_now();
    llmperf_profile *profile;
    pthread_t threads[THREADS];

    (void)state;
    run_threads(threads);
    do {
        usleep(5000);
        assert_int_equal(llmperf_session_status(session, &now), 0);
    } while (now.windows < 3 && lp_clock_now() - begin_ns < 30000 * MS);
    join_threads(threads);
    profile = stop_session(session);
    check_books(profile);
    assert_true(now.windows >= 3);
    check_calls(profile);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).instances, steps);
    assert_int_equal(find_region(profile, "LLM@prefill", 0).instances, prefills);
    llmperf_profile_free(profile);
}

static void sessions_pause_and_end_meanwhile(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    run_threads(threads);
    for (unsigned round = 0; round < (unsigned)scaled(12, 5); round++) {
        llmperf_session *session = start();
        llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
        llmperf_profile *profile;

        for (unsigned pause = 0; pause < round % 3; pause++) {
            usleep(20000 + 7000 * round);
            assert_int_equal(llmperf_session_pause(session), 0);
            usleep(500);
            assert_int_equal(llmperf_session_resume(session), 0);
        }
        usleep(40000 + 23000 * (round % 5));
        assert_int_equal(llmperf_session_ledger(session, &ledger), 0);
        profile = stop_session(session);
        check_books(profile);
        llmperf_profile_free(profile);
    }
    join_threads(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_collected_call_is_complete_and_each_count_exact),
        cmocka_unit_test(sessions_pause_and_end_meanwhile),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
