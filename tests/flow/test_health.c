/* SPDX-License-Identifier: Apache-2.0 */
/** While a session runs it says how it does: in its state, in snapshots, and once in the log. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
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

#define PATIENCE_NS UINT64_C(20000000000)

static struct {
    pthread_mutex_t lock;
    unsigned dead, healed, incomplete;
    char line[1024]; /* the last of them */
} told = { PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, "" };

static void hear(void *user, int32_t level, const char *line)
{
    (void)user;
    pthread_mutex_lock(&told.lock);
    if (strncmp(line, "no records received: ", 21) == 0 && level == LLMPERF_LOG_ERROR)
        told.dead++;
    else if (strncmp(line, "records are received again: ", 28) == 0 && level == LLMPERF_LOG_WARN)
        told.healed++;
    else if (strncmp(line, "incomplete: ", 12) == 0 && level == LLMPERF_LOG_WARN)
        told.incomplete++;
    snprintf(told.line, sizeof(told.line), "%s", line);
    pthread_mutex_unlock(&told.lock);
}

static int forget_lines(void **state)
{
    (void)state;
    told.dead = told.healed = told.incomplete = 0;
    llmperf_log_set(hear, NULL, LLMPERF_LOG_WARN);
    return 0;
}

static int stop_hearing(void **state)
{
    (void)state;
    llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
    lp_fake_silence(false);
    return 0;
}

static llmperf_session *start(uint64_t ring_bytes)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.ring_bytes = ring_bytes;
    return start_options(&options);
}

static llmperf_session_state state_of(const llmperf_session *session)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;

    assert_int_equal(llmperf_session_status(session, &state), 0);
    return state;
}

static llmperf_session_state await_verdict(const llmperf_session *session, uint32_t verdict)
{
    uint64_t begin_ns = lp_clock_now();
    llmperf_session_state state = state_of(session);

    while (state.verdict != verdict) {
        if (lp_clock_now() - begin_ns > PATIENCE_NS)
            fail_msg("still %s", llmperf_name(LLMPERF_NAME_VERDICT, state.verdict));
        usleep(10000);
        state = state_of(session);
    }
    return state;
}

static uint32_t verdict_of_snapshot(llmperf_session *session)
{
    llmperf_profile *profile = NULL;
    uint32_t verdict;

    assert_int_equal(llmperf_session_snapshot(session, &profile), 0);
    verdict = ledger_of(profile).verdict;
    assert_true(has_problem(profile, "no records were received") ==
                (verdict == LLMPERF_VERDICT_DEAD));
    llmperf_profile_free(profile);
    return verdict;
}

static void launch_one(void)
{
    llmperf_decode_step_begin(1, 1);
    lp_fake_launch("gemm", 7, 500);
    llmperf_decode_step_end();
}

static void a_driver_that_reports_nothing_is_found_dead_while_the_session_runs(void **context)
{
    llmperf_session *session = start(0);
    llmperf_session_state state;
    llmperf_profile *profile = NULL;

    (void)context;
    lp_fake_silence(true);
    for (int i = 0; i < 5; i++)
        launch_one();
    state = await_verdict(session, LLMPERF_VERDICT_DEAD);
    assert_int_equal(state.state, LLMPERF_STATE_RUNNING);
    assert_int_equal(state.deaths, 1);
    assert_int_equal(state.verdict_changes, 1);
    assert_int_equal(state.launches_expected, 5);
    assert_int_equal(state.launches_pending, 5);
    assert_int_equal(state.kernels_seen, 0);
    assert_true(state.silent_ms >= 2000);
    assert_true(state.verdict_ns <= state.updated_ns);
    assert_int_equal(verdict_of_snapshot(session), LLMPERF_VERDICT_DEAD);
    assert_int_equal(llmperf_session_flush(session), 0);
    assert_int_equal(told.dead, 1);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_DEAD);
    state = state_of(session);
    assert_int_equal(state.state, LLMPERF_STATE_STOPPED);
    assert_int_equal(state.verdict, LLMPERF_VERDICT_DEAD);
    assert_int_equal(told.dead, 1);
    assert_int_equal(told.healed, 0);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void a_driver_that_reports_again_is_no_longer_dead(void **context)
{
    llmperf_session *session = start(0);
    llmperf_session_state state;
    llmperf_profile *profile = NULL;

    (void)context;
    lp_fake_silence(true);
    launch_one();
    await_verdict(session, LLMPERF_VERDICT_DEAD);
    lp_fake_silence(false);
    launch_one();
    state = await_verdict(session, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(state.verdict_changes, 2);
    assert_int_equal(told.healed, 1);
    assert_int_equal(verdict_of_snapshot(session), LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(ledger_of(profile).launches_missing, 1); /* The first one. */
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_int_equal(told.dead, 1);
    assert_int_equal(told.healed, 1);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void collecting_that_goes_on_is_looked_at_afresh(void **context)
{
    llmperf_session *session = start(0);

    (void)context;
    launch_one();
    assert_int_equal(llmperf_session_flush(session), 0);
    assert_int_equal(state_of(session).kernels_seen, 1);
    assert_int_equal(llmperf_session_pause(session), 0);
    assert_int_equal(state_of(session).state, LLMPERF_STATE_PAUSED);
    assert_int_equal(llmperf_session_resume(session), 0);
    lp_fake_silence(true);
    launch_one();
    await_verdict(session, LLMPERF_VERDICT_DEAD);
    llmperf_session_free(session);
    assert_int_equal(told.dead, 1);
}

static void without_launches_nobody_is_dead(void **context)
{
    llmperf_session *session = start(0);
    llmperf_session_state state;

    (void)context;
    lp_fake_silence(true);
    usleep(2500000);
    state = state_of(session);
    assert_int_equal(state.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(state.deaths, 0);
    check_close(state.silent_ms + 1, 1);
    llmperf_session_free(session);
    assert_int_equal(told.dead, 0);
}

static void what_is_lost_is_told_once(void **context)
{
    llmperf_session *session = start(1);

    (void)context;
    for (int i = 0; i < 200000; i++)
        launch_one();
    assert_int_equal(llmperf_session_flush(session), 0);
    assert_true(state_of(session).regions_dropped > 0);
    assert_int_equal(state_of(session).verdict, LLMPERF_VERDICT_INCOMPLETE);
    for (int i = 0; i < 200000; i++)
        launch_one();
    llmperf_session_free(session);
    assert_int_equal(told.incomplete, 1);
    assert_non_null(strstr(told.line, "ring_bytes"));
}

static void what_is_lost_is_told_though_nothing_is_launched(void **context)
{
    llmperf_session *session = start(1);
    uint64_t begin_ns = lp_clock_now();

    (void)context;
    for (int i = 0; i < 200000; i++) {
        llmperf_region_begin("host");
        llmperf_region_end();
    }
    assert_true(await_verdict(session, LLMPERF_VERDICT_INCOMPLETE).regions_dropped > 0);
    assert_int_equal(told.incomplete, 1);
    while (state_of(session).updated_ns < begin_ns + 1000000000u)
        if (lp_clock_now() - begin_ns > PATIENCE_NS)
            fail_msg("the state is not looked at any more");
        else
            usleep(10000);
    llmperf_session_free(session);
}

static void a_session_without_a_device_says_how_it_does(void **context)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    (void)context;
    options.device_source = LLMPERF_SOURCE_NONE;
    options.ring_bytes = 1;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    for (int i = 0; i < 200000; i++) {
        llmperf_region_begin("host");
        llmperf_region_end();
    }
    for (int i = 0; i < 1000 && state_of(session).regions_dropped == 0; i++)
        usleep(10000);
    assert_true(state_of(session).regions_dropped > 0);
    assert_int_equal(state_of(session).verdict, LLMPERF_VERDICT_NO_DEVICE);
    llmperf_session_free(session);
}

static void an_older_struct_gets_the_fields_it_knows(void **context)
{
    llmperf_session *session = start(0);
    struct {
        llmperf_session_state state;
        uint64_t behind;
    } short_one = { LLMPERF_SESSION_STATE_INIT, 7 };

    (void)context;
    short_one.state.struct_size = offsetof(llmperf_session_state, verdict_ns);
    short_one.state.verdict_ns = 7;
    assert_int_equal(llmperf_session_status(session, &short_one.state), 0);
    assert_int_equal(short_one.state.struct_size, offsetof(llmperf_session_state, verdict_ns));
    assert_int_equal(short_one.state.state, LLMPERF_STATE_RUNNING);
    assert_int_equal(short_one.state.verdict_ns, 7);
    assert_int_equal(short_one.behind, 7);
    assert_int_equal(llmperf_session_status(session, NULL), LLMPERF_EINVAL);
    check_error("struct_size is not set");
    llmperf_session_free(session);
}

#define HEARD(test) cmocka_unit_test_setup_teardown(test, forget_lines, stop_hearing)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HEARD(a_driver_that_reports_nothing_is_found_dead_while_the_session_runs),
        HEARD(a_driver_that_reports_again_is_no_longer_dead),
        HEARD(collecting_that_goes_on_is_looked_at_afresh),
        HEARD(without_launches_nobody_is_dead),
        HEARD(what_is_lost_is_told_once),
        HEARD(what_is_lost_is_told_though_nothing_is_launched),
        HEARD(a_session_without_a_device_says_how_it_does),
        HEARD(an_older_struct_gets_the_fields_it_knows),
    };

    return run_cases_at_once(argc, argv, tests, make_test_folder, remove_test_folder);
}
