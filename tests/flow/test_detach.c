/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light that takes the driver's profiler out of the process between sampling bursts, on
 * the fake device, whose ids begin anew each time and which stops the program (assert) if it is
 * asked for something meanwhile. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/sources/fake/fake.h"
#include "tests/support/at_once.h"
#include "tests/support/play.h"

#define KERNELS     20
#define NODES       12
#define PATIENCE_NS UINT64_C(60000000000)

static char told[1024]; /* last line of the log about it */
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void hear(void *user, int32_t level, const char *line)
{
    (void)user;
    pthread_mutex_lock(&told_lock);
    if (level == LLMPERF_LOG_WARN && strncmp(line, "detach: ", 8) == 0)
        snprintf(told, sizeof(told), "%s", line);
    pthread_mutex_unlock(&told_lock);
}

static bool was_told(const char *part)
{
    bool found;

    pthread_mutex_lock(&told_lock);
    found = strstr(told, part) != NULL;
    pthread_mutex_unlock(&told_lock);
    return found;
}

static int listen(void **state)
{
    (void)state;
    told[0] = '\0';
    llmperf_log_set(hear, NULL, LLMPERF_LOG_WARN);
    return 0;
}

static int stop_listening(void **state)
{
    (void)state;
    llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
    lp_fake_busy(false);
    return 0;
}

static llmperf_session_options detached_options(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = 900;
    options.flags = LLMPERF_SESSION_DETACH;
    return options;
}

static llmperf_session *start(void)
{
    llmperf_session_options options = detached_options();

    return start_options(&options);
}

static bool is_detached(const llmperf_session *session)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;

    assert_int_equal(llmperf_session_status(session, &state), 0);
    return state.detached;
}

static void run_step(void)
{
    llmperf_decode_step_begin(1, 100);
    llmperf_region_begin("attention");
    for (int i = 0; i < KERNELS; i++)
        lp_fake_launch("gemm", 7, 500);
    llmperf_region_end();
    lp_fake_replay(1, NODES, 7, 500);
    usleep(100);
    llmperf_decode_step_end();
}

/* Steps until it is so; how many. */
static int run_until(bool (*so)(const llmperf_session *session), const llmperf_session *session)
{
    uint64_t begin_ns = lp_clock_now();
    int steps = 0;

    for (; !so(session); steps++) {
        run_step();
        if (lp_clock_now() - begin_ns > PATIENCE_NS)
            fail_msg("still not so after %d steps; last told: %s", steps, told);
    }
    return steps;
}

static bool has_joined_twice(const llmperf_session *session)
{
    return lp_fake_joins() >= 2 && is_detached(session);
}

/* Whole steps, all of them in the counts of the host, and no launch taken for another's. */
static void check_steps(const llmperf_profile *profile, int steps)
{
    llmperf_ledger ledger = ledger_of(profile);
    llmperf_region_stats step = find_region(profile, "LLM@decode_step", 0);
    uint64_t collected = find_all_calls(profile, NULL, "busy").count;

    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_SAMPLED);
    assert_int_equal(step.instances, steps);
    assert_true(collected > 0 && collected < (uint64_t)steps);
    assert_int_equal(step.kernel_count, collected * (KERNELS + NODES));
    assert_int_equal(ledger.kernels_seen, collected * (KERNELS + NODES));
    assert_int_equal(ledger.launches_expected, collected * KERNELS);
    assert_int_equal(ledger.graph_launches, collected);
    assert_int_equal(ledger.launches_missing, 0);
    assert_int_equal(ledger.launches_duplicate, 0);
    assert_int_equal(ledger.records_duplicate, 0);
    assert_int_equal(ledger.records_invalid_time, 0);
    assert_int_equal(ledger.kernels_unattributed, 0);
    check_close(ledger.sampled_fraction, (double)collected / steps);
}

static void bursts_are_collected_completely_and_nothing_between_them(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile;
    int steps;

    (void)state;
    assert_false(is_detached(session));
    steps = run_until(has_joined_twice, session);
    profile = stop_session(session);
    check_steps(profile, steps);
    assert_true(has_note(profile, "detach: CUPTI was out of the process for"));
    assert_true(has_note(profile, "left it 2 times") || has_note(profile, "left it 3 times"));
    assert_string_equal(told, "");
    llmperf_profile_free(profile);
}

static void a_pause_while_it_is_out_leaves_it_out(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile;
    int steps = run_until(is_detached, session);

    (void)state;
    assert_int_equal(llmperf_session_pause(session), 0);
    for (int i = 0; i < 10; i++)
        run_step();
    assert_int_equal(llmperf_session_resume(session), 0);
    assert_true(is_detached(session));
    steps += run_until(has_joined_twice, session);
    profile = stop_session(session);
    check_steps(profile, steps);
    assert_string_equal(told, "");
    llmperf_profile_free(profile);
}

/* Steps; how long the longest took. */
static uint64_t longest_step(int steps)
{
    uint64_t longest_ns = 0;

    for (int i = 0; i < steps; i++) {
        uint64_t begin_ns = lp_clock_now(), taken_ns;

        run_step();
        taken_ns = lp_clock_now() - begin_ns;
        longest_ns = taken_ns > longest_ns ? taken_ns : longest_ns;
    }
    return longest_ns;
}

static void pause_for(llmperf_session *session, uint32_t seconds)
{
    assert_int_equal(llmperf_session_pause(session), 0);
    sleep(seconds);
    assert_int_equal(llmperf_session_resume(session), 0);
}

/* What falls due meanwhile would stop a thread that nobody takes. */
static void no_thread_stops_after_a_long_pause(void **state)
{
    llmperf_session *session = start();

    (void)state;
    longest_step(10);
    pause_for(session, 2); /* the burst is late */
    assert_true(longest_step(100) < 700000000);
    run_until(is_detached, session);
    longest_step(1000);
    pause_for(session, 3); /* the next one is due */
    assert_true(is_detached(session));
    assert_true(longest_step(100) < 700000000);
    llmperf_profile_free(stop_session(session));
}

static bool has_given_up(const llmperf_session *session)
{
    (void)session;
    return was_told("CUPTI stays in the process");
}

static void check_stays(llmperf_session *session, int steps, const char *why)
{
    llmperf_profile *profile;

    assert_true(was_told(why));
    for (int i = 0; i < 100; i++, steps++)
        run_step();
    assert_false(is_detached(session));
    assert_int_equal(lp_fake_joins(), 0);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).instances, steps);
    llmperf_profile_free(profile);
}

/* Of a device that is left as it was found, records are off between samples, behind a pause too. */
static void it_stays_after_a_pause_without_records(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile;
    uint64_t before;

    (void)state;
    lp_fake_busy(true);
    run_until(has_given_up, session);
    assert_int_equal(llmperf_session_snapshot(session, &profile), 0);
    before = ledger_of(profile).kernels_outside_window;
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_session_pause(session), 0);
    assert_int_equal(llmperf_session_resume(session), 0);
    for (int i = 0; i < 1000; i++)
        lp_fake_launch("between", 7, 500);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).kernels_outside_window, before);
    llmperf_profile_free(profile);
}

static void *launch_aside(void *over)
{
    while (!atomic_load((atomic_bool *)over)) {
        lp_fake_launch("copy", 9, 500);
        usleep(100);
    }
    return NULL;
}

static void it_stays_if_another_thread_launches(void **state)
{
    llmperf_session *session = start();
    atomic_bool over = false;
    pthread_t aside;
    int steps;

    (void)state;
    assert_int_equal(pthread_create(&aside, NULL, launch_aside, &over), 0);
    steps = run_until(has_given_up, session);
    atomic_store(&over, true);
    pthread_join(aside, NULL);
    check_stays(session, steps, "another thread launches");
}

static void it_stays_if_the_device_is_never_idle(void **state)
{
    llmperf_session *session = start();

    (void)state;
    lp_fake_busy(true);
    check_stays(session, run_until(has_given_up, session), "the device was not idle");
}

/* No thread stops after the end. */
static void a_session_ends_while_it_is_out_and_the_next_one_has_it(void **state)
{
    llmperf_session *session = start();
    llmperf_session_options deep = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;

    (void)state;
    run_until(is_detached, session);
    llmperf_profile_free(stop_session(session));
    run_step();
    deep.tier = LLMPERF_TIER_DEEP;
    deep.device_source = LLMPERF_SOURCE_FAKE;
    assert_int_equal(llmperf_session_start(&deep, &session), 0);
    for (int i = 0; i < 5; i++)
        run_step();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger_of(profile).launches_expected, 5 * KERNELS);
    llmperf_profile_free(profile);
}

static void check_refused(const llmperf_session_options *options, const char *part)
{
    llmperf_session *session = NULL;

    assert_int_equal(llmperf_session_start(options, &session), LLMPERF_EINVAL);
    check_error(part);
}

static void what_it_does_not_go_with_is_refused(void **state)
{
    llmperf_session_options options = detached_options();

    (void)state;
    options.tier = LLMPERF_TIER_DEEP;
    check_refused(&options, "detach (LLMPERF_SESSION_DETACH) needs tier light");
    options = detached_options();
    options.overhead_budget_permille = 1000;
    check_refused(&options, "needs tier light with overhead_budget_permille below 1000");
    options = detached_options();
    options.rules = "decode_step p99 above 30 ms for 2 s";
    check_refused(&options, "needs a session without rules");
    options = detached_options();
    options.counters = "live";
    check_refused(&options, "needs a session without counters");
    options = detached_options();
    options.flags = 0;
    setenv("LLMPERF_DETACH", "perhaps", 1);
    check_refused(&options, "LLMPERF_DETACH=perhaps");
    unsetenv("LLMPERF_DETACH");
}

/* It asks for all sessions; those that cannot do without. */
static void a_variable_asks_for_it(void **state)
{
    llmperf_session_options options = detached_options();
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    setenv("LLMPERF_DETACH", "1", 1);
    options.flags = 0;
    options.tier = LLMPERF_TIER_DEEP;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    profile = stop_session(session);
    assert_true(has_note(profile, "detach has no effect: it needs tier light"));
    llmperf_profile_free(profile);
    options.tier = LLMPERF_TIER_LIGHT;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    run_until(is_detached, session);
    llmperf_profile_free(stop_session(session));
    unsetenv("LLMPERF_DETACH");
}

static llmperf_profile *run_one_step(const llmperf_session_options *options)
{
    llmperf_session *session = NULL;

    assert_int_equal(llmperf_session_start(options, &session), 0);
    run_step();
    return stop_session(session);
}

static void a_configuration_asks_for_it(void **state)
{
    static const char yes[] = "session: {tier: light, detach: true}\n",
                      rules[] = "session: {tier: light, detach: true,"
                                " rules: decode_step p50 above 1 s}\n",
                      maybe[] = "session: {tier: light, detach: maybe}\n";
    llmperf_session_options options = detached_options();
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_DEFAULT;
    options.flags = LLMPERF_SESSION_NO_REPORTS;
    options.overhead_budget_permille = 900;
    options.config_path = write_test_file("yes.yaml", yes, strlen(yes));
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    run_until(is_detached, session);
    llmperf_profile_free(stop_session(session));
    options.config_path = write_test_file("rules.yaml", rules, strlen(rules));
    profile = run_one_step(&options);
    assert_true(has_note(profile, "it needs a session without rules"));
    llmperf_profile_free(profile);
    setenv("LLMPERF_DETACH", "0", 1); /* It comes before the configuration. */
    options.config_path = write_test_file("yes.yaml", yes, strlen(yes));
    profile = run_one_step(&options);
    assert_false(has_note(profile, "detach"));
    llmperf_profile_free(profile);
    unsetenv("LLMPERF_DETACH");
    options.config_path = write_test_file("maybe.yaml", maybe, strlen(maybe));
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
    check_error("session.detach");
}

#define HEARD(test) cmocka_unit_test_setup_teardown(test, listen, stop_listening)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HEARD(bursts_are_collected_completely_and_nothing_between_them),
        HEARD(a_pause_while_it_is_out_leaves_it_out),
        HEARD(no_thread_stops_after_a_long_pause),
        HEARD(it_stays_if_another_thread_launches),
        HEARD(it_stays_if_the_device_is_never_idle),
        HEARD(it_stays_after_a_pause_without_records),
        HEARD(a_session_ends_while_it_is_out_and_the_next_one_has_it),
        HEARD(what_it_does_not_go_with_is_refused),
        HEARD(a_variable_asks_for_it),
        HEARD(a_configuration_asks_for_it),
    };

    return run_cases_at_once(argc, argv, tests, make_test_folder, remove_test_folder);
}
