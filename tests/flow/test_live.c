/* SPDX-License-Identifier: Apache-2.0 */
/** What a server does with a session that runs: read iterations, stop without waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/at_once.h"
#include "tests/support/play.h"

static llmperf_session *start(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.device_source = LLMPERF_SOURCE_FAKE;
    return start_options(&options);
}

static void run_steps(int count)
{
    for (int i = 0; i < count; i++) {
        llmperf_decode_step_begin(2, 100);
        lp_fake_launch("gemm", 7, 500);
        llmperf_decode_step_end();
    }
}

static size_t class_of(const llmperf_session *session, const char *name)
{
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++)
        if (llmperf_session_class(session, i) &&
            strcmp(llmperf_session_class(session, i), name) == 0)
            return i;
    fail_msg("no class %s", name);
    return 0;
}

/* Reads until `count` rows came, at most ten seconds. */
static uint64_t read_rows(const llmperf_session *session, uint64_t count)
{
    llmperf_iteration rows[7] = { LLMPERF_ITERATION_INIT };
    uint64_t last = 0, read = 0;

    for (int i = 0; i < 1000 && read < count; i++) {
        size_t got = 0;

        assert_int_equal(llmperf_session_iterations(session, last, rows, 7, &got), 0);
        for (size_t k = 0; k < got; k++) {
            assert_int_equal(rows[k].struct_size, sizeof(rows[k]));
            assert_int_equal(rows[k].sequence, last + 1);
            assert_string_equal(rows[k].region, "LLM@decode_step");
            assert_int_equal(rows[k].sequences, 2);
            assert_int_equal(rows[k].activities, 1);
            check_close(rows[k].busy_ms, 0.0005);
            check_close(rows[k].class_ms[class_of(session, "GEMM")], 0.0005);
            last = rows[k].sequence;
        }
        read += got;
        if (got == 0)
            usleep(10000);
    }
    return read;
}

static void iterations_are_read_while_the_session_runs(void **state)
{
    llmperf_session *session = start();

    (void)state;
    run_steps(100);
    assert_int_equal(read_rows(session, 100), 100);
    assert_int_equal(llmperf_session_stop(session, NULL), 0);
    llmperf_session_free(session);
}

static uint64_t await_kernel(const llmperf_session *session)
{
    llmperf_session_state now = LLMPERF_SESSION_STATE_INIT;

    for (int i = 0; i < 1000 && now.kernels_seen == 0; i++) {
        usleep(10000);
        assert_int_equal(llmperf_session_status(session, &now), 0);
    }
    return now.kernels_seen;
}

/* The copy runs on while the driver is asked, so that its record comes a second later. */
static void an_iteration_waits_for_a_copy_that_ends_behind_it(void **state)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    llmperf_session *session = start();
    size_t count = 0;

    (void)state;
    llmperf_decode_step_begin(1, 1);
    lp_fake_launch("gemm", 7, 500);
    assert_int_equal(await_kernel(session), 1);
    usleep(850000);
    lp_fake_copy(7, 300000000);
    llmperf_decode_step_end();
    for (int i = 0; i < 1000 && count == 0; i++) {
        usleep(10000);
        assert_int_equal(llmperf_session_iterations(session, 0, &row, 1, &count), 0);
    }
    assert_int_equal(count, 1);
    assert_int_equal(row.activities, 2);
    llmperf_session_free(session);
}

static void a_session_stops_aside_and_hands_its_profile_out_later(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile = NULL;

    (void)state;
    run_steps(10);
    assert_int_equal(llmperf_session_wait(session, NULL), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_stop_async(session), 0);
    assert_int_equal(llmperf_session_stop_async(session), LLMPERF_ESTATE);
    assert_int_equal(llmperf_session_wait(session, &profile), 0);
    assert_int_equal(llmperf_session_wait(session, NULL), LLMPERF_ESTATE);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, 10);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

static void a_session_that_stops_aside_may_be_freed_at_once(void **state)
{
    llmperf_session *session = start();

    (void)state;
    run_steps(10);
    assert_int_equal(llmperf_session_stop_async(session), 0);
    llmperf_session_free(session);
    llmperf_session_free(start());
}

static void wrong_arguments_are_refused(void **state)
{
    llmperf_session *session = start();
    llmperf_iteration row = { 0 };
    size_t count = 9;

    (void)state;
    assert_null(llmperf_session_class(NULL, 0));
    assert_null(llmperf_session_class(session, LLMPERF_ITERATION_CLASSES));
    assert_int_equal(llmperf_session_iterations(NULL, 0, &row, 1, &count), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_iterations(session, 0, &row, 1, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_iterations(session, 0, &row, 1, &count), LLMPERF_EINVAL);
    check_error("struct_size");
    assert_int_equal(llmperf_session_iterations(session, 0, NULL, 0, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(llmperf_session_stop_async(NULL), LLMPERF_ESTATE);
    llmperf_session_free(session);
}

static void prewarming_beside_a_session_changes_nothing(void **state)
{
    llmperf_session *session = start();
    llmperf_profile *profile = NULL;

    (void)state;
    assert_int_equal(llmperf_prewarm(), 0);
    run_steps(3);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, 3);
    llmperf_profile_free(profile);
    llmperf_session_free(session);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_are_read_while_the_session_runs),
        cmocka_unit_test(an_iteration_waits_for_a_copy_that_ends_behind_it),
        cmocka_unit_test(a_session_stops_aside_and_hands_its_profile_out_later),
        cmocka_unit_test(a_session_that_stops_aside_may_be_freed_at_once),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(prewarming_beside_a_session_changes_nothing),
    };

    return run_cases_at_once(argc, argv, tests, NULL, NULL);
}
