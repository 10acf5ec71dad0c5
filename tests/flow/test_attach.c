/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions of programs that do not know the library: they start without a device source, which is
 * attached when the driver starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "lib/session/session.h"
#include "tests/support/play.h"

static llmperf_session *start(uint32_t tier, uint32_t budget_permille)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    options.tier = tier;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = budget_permille;
    if (lp_session_start(&options, true, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static llmperf_ledger ledger_now(llmperf_session *session)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    assert_int_equal(llmperf_session_ledger(session, &ledger), 0);
    return ledger;
}

static void attach(llmperf_session *session)
{
    lp_session_attach(session);
    while (ledger_now(session).verdict == LLMPERF_VERDICT_NO_DEVICE)
        usleep(1000);
}

static void run_step(void)
{
    llmperf_decode_step_begin(1, 100);
    for (int i = 0; i < 20; i++)
        lp_fake_launch("gemm", 7, 500);
    usleep(100);
    llmperf_decode_step_end();
}

static void a_session_goes_on_when_its_source_comes(void **state)
{
    llmperf_session *session = start(LLMPERF_TIER_DEEP, 0);
    llmperf_profile *profile;

    (void)state;
    llmperf_region_begin("before");
    llmperf_region_end();
    llmperf_region_begin("around");
    assert_int_equal(ledger_now(session).verdict, LLMPERF_VERDICT_NO_DEVICE);
    attach(session);
    run_step();
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(find_region(profile, "LLM@before", -1).instances, 1);
    assert_int_equal(find_region(profile, "LLM@around/LLM@decode_step", 0).kernel_count, 20);
    assert_null(llmperf_profile_fact(profile, "source_reason"));
    assert_string_equal(llmperf_profile_fact(profile, "source"), "fake");
    llmperf_profile_free(profile);
}

static void tier_light_samples_an_attached_source(void **state)
{
    llmperf_session *session = start(LLMPERF_TIER_LIGHT, 1);
    llmperf_profile *profile;
    llmperf_region_stats step;

    (void)state;
    attach(session);
    for (int i = 0; i < 3000; i++)
        run_step();
    profile = stop_session(session);
    step = find_region(profile, "LLM@decode_step", 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    assert_int_equal(step.instances, 3000);
    assert_true(step.kernel_count > 0 && step.kernel_count < 3000 * 20 / 2);
    llmperf_profile_free(profile);
}

static void without_a_source_it_says_why(void **state)
{
    llmperf_session *session = start(LLMPERF_TIER_DEEP, 0);
    llmperf_profile *profile;

    (void)state;
    run_step();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(has_note(profile, "has not used CUDA"));
    llmperf_profile_free(profile);
}

static void a_source_that_cannot_be_opened_is_told(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = "/nonexistent/script";
    assert_int_equal(lp_session_start(&options, true, &session), 0);
    lp_session_attach(session);
    assert_int_equal(llmperf_session_flush(session), 0);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_NO_DEVICE);
    assert_true(has_note(profile, "/nonexistent/script"));
    llmperf_profile_free(profile);
}

static void a_source_that_comes_with_the_end_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        llmperf_session *session = start(LLMPERF_TIER_DEEP, 0);

        lp_session_attach(session);
        llmperf_profile_free(stop_session(session));
    }
}

static void an_environment_of_other_tools_attaches_nothing(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    setenv("NSYS_PROFILING_SESSION_ID", "1", 1);
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    unsetenv("NSYS_PROFILING_SESSION_ID");
    profile = stop_session(session);
    assert_true(has_note(profile, "Nsight Systems is profiling this process"));
    setenv("CUDA_INJECTION64_PATH", "/opt/tool/libtool.so", 1);
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    unsetenv("CUDA_INJECTION64_PATH");
    llmperf_profile_free(profile);
    profile = stop_session(session);
    assert_true(has_note(profile, "/opt/tool/libtool.so"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_goes_on_when_its_source_comes),
        cmocka_unit_test(tier_light_samples_an_attached_source),
        cmocka_unit_test(without_a_source_it_says_why),
        cmocka_unit_test(a_source_that_cannot_be_opened_is_told),
        cmocka_unit_test(a_source_that_comes_with_the_end_is_closed),
        cmocka_unit_test(an_environment_of_other_tools_attaches_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
