/* SPDX-License-Identifier: Apache-2.0 */
/** Replays of graphs while records go on and off. The fake device does what CUPTI 13.0 does: a
 * replay without records writes its end times into those of the replay before, unless they were
 * handed over. Each kernel that counts must have its own end. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/at_once.h"
#include "tests/support/play.h"

#define NODES 20

static uint64_t node_ns = 2000;

static llmperf_session *start(uint32_t tier, uint32_t budget_permille, const char *rules)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = tier;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = budget_permille;
    options.rules = rules;
    return start_options(&options);
}

static void replay(uint32_t graph)
{
    lp_fake_replay(graph, NODES, graph, node_ns);
    usleep((useconds_t)(NODES * node_ns / 1000));
}

static void run_step(uint32_t graph)
{
    llmperf_decode_step_begin(1, 100);
    replay(graph);
    llmperf_decode_step_end();
}

/* What was collected, and that it is whole and right. */
static uint64_t check_replays(const llmperf_profile *profile)
{
    llmperf_kernel_stats row = LLMPERF_KERNEL_STATS_INIT;
    uint64_t calls = 0;

    assert_int_equal(ledger_of(profile).records_invalid_time, 0);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    for (size_t i = 0; llmperf_profile_kernel(profile, i, &row) == 0; i++) {
        check_close(row.min_ms, (double)node_ns / 1e6);
        check_close(row.max_ms, (double)node_ns / 1e6);
        calls += row.calls;
    }
    assert_true(calls > 0);
    assert_int_equal(calls % NODES, 0);
    assert_int_equal(calls, ledger_of(profile).kernels_seen);
    return calls / NODES;
}

static void a_sampled_step_has_the_times_of_its_own_replay(void **state)
{
    static const uint32_t budgets[] = { 5, 100, 1000 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        llmperf_session *session = start(LLMPERF_TIER_LIGHT, budgets[i], NULL);
        llmperf_profile *profile;
        uint64_t replays;

        for (int step = 0; step < 600; step++)
            run_step(1);
        profile = stop_session(session);
        replays = check_replays(profile);
        assert_int_equal(find_region(profile, "LLM@decode_step", 0).instances, 600);
        if (budgets[i] == 1000)
            assert_int_equal(replays, 600);
        else
            assert_true(replays < 600);
        llmperf_profile_free(profile);
    }
}

static void *decode(void *graph)
{
    for (int step = 0; step < scaled(400, 100); step++)
        run_step(*(const uint32_t *)graph);
    return NULL;
}

static void so_have_those_of_several_threads(void **state)
{
    static uint32_t graphs[] = { 1, 2, 3, 4 };
    llmperf_session *session = start(LLMPERF_TIER_LIGHT, 200, NULL);
    llmperf_profile *profile;
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode, &graphs[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    check_replays(profile);
    llmperf_profile_free(profile);
}

/* So that the next replay comes when records are off. */
static int slow_nodes(void **state)
{
    (void)state;
    node_ns = 200000;
    return 0;
}

static void so_have_those_of_windows_for_all_threads(void **state)
{
    llmperf_session *session = start(LLMPERF_TIER_LIGHT, 500, NULL);
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 600; i++)
        replay(1);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    check_replays(profile);
    llmperf_profile_free(profile);
}

static void so_have_those_of_a_triggered_window(void **state)
{
    llmperf_session *session =
        start(LLMPERF_TIER_LIGHT, 1, "decode_step max > 1 ns for 20 ms collect 30 limit 1");
    llmperf_profile *profile;
    llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;

    (void)state;
    for (int step = 0; step < 20000; step++) {
        llmperf_session_state now = LLMPERF_SESSION_STATE_INIT;

        run_step(1);
        llmperf_session_status(session, &now);
        if (now.windows == 1 && !now.window_open)
            break;
    }
    for (int step = 0; step < 100; step++)
        run_step(1);
    profile = stop_session(session);
    assert_int_equal(llmperf_profile_window(profile, 0, &window), 0);
    assert_int_equal(window.units, 30);
    assert_int_equal(window.kernel_count, 30 * NODES);
    check_close(window.kernel_ms, 30 * NODES * (double)node_ns / 1e6);
    llmperf_profile_free(profile);
}

static _Atomic bool done;

static void *replay_on(void *context)
{
    (void)context;
    while (!atomic_load(&done))
        replay(1);
    return NULL;
}

static void pauses_and_the_end_leave_the_last_replay_its_times(void **state)
{
    llmperf_session *session = start(LLMPERF_TIER_DEEP, 0, NULL);
    llmperf_profile *profile;
    pthread_t thread;

    (void)state;
    atomic_store(&done, false);
    assert_int_equal(pthread_create(&thread, NULL, replay_on, NULL), 0);
    for (int i = 0; i < 10; i++) {
        usleep(11000);
        assert_int_equal(llmperf_session_pause(session), 0);
        usleep(9000);
        assert_int_equal(llmperf_session_resume(session), 0);
    }
    usleep(5000);
    profile = stop_session(session);
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    check_replays(profile);
    llmperf_profile_free(profile);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sampled_step_has_the_times_of_its_own_replay),
        cmocka_unit_test(so_have_those_of_several_threads),
        cmocka_unit_test_setup(so_have_those_of_windows_for_all_threads, slow_nodes),
        cmocka_unit_test(so_have_those_of_a_triggered_window),
        cmocka_unit_test_setup(pauses_and_the_end_leave_the_last_replay_its_times, slow_nodes),
    };

    return run_cases_at_once(argc, argv, tests, NULL, NULL);
}
