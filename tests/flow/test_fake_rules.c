/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a script: regions of this very program launch kernels of the fake device. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

static const char script[] = "on LLM@prefill\n"
                             "    launch gemm duration=120000\n"
                             "done\n"
                             "on LLM@decode_*\n"
                             "    repeat 2\n"
                             "        launch gemv stream=8 duration=9000\n"
                             "    done\n"
                             "    launch softmax\n"
                             "done\n"
                             "on *@decode_step\n"
                             "    launch sample duration=500\n"
                             "done\n";

static llmperf_session *start(const char *text)
{
    llmperf_session_options options = script_options(text);
    llmperf_session *session = NULL;

    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static void *run_steps(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5; i++) {
        llmperf_decode_step_begin(1, 100);
        llmperf_decode_step_end();
    }
    return NULL;
}

static void regions_of_the_program_launch_the_kernels_of_their_rules(void **state)
{
    llmperf_session *session = start(script);
    llmperf_profile *profile;
    llmperf_kernel_stats kernel;

    (void)state;
    llmperf_prefill_begin(512);
    llmperf_region_begin("APP@resize"); /* no rule has it */
    llmperf_region_end();
    llmperf_prefill_end();
    run_steps(NULL);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger_of(profile).kernels_seen, 1 + 5 * 4);
    assert_int_equal(ledger_of(profile).launches_expected, 1 + 5 * 4);
    kernel = find_kernel(profile, "gemm", "LLM@prefill");
    assert_int_equal(kernel.calls, 1);
    check_close(kernel.total_ms, 0.12);
    kernel = find_kernel(profile, "gemv", "LLM@decode_step");
    assert_int_equal(kernel.calls, 10);
    check_close(kernel.mean_ms, 0.009);
    assert_int_equal(find_kernel(profile, "softmax", "LLM@decode_step").calls, 5);
    assert_int_equal(find_kernel(profile, "sample", "LLM@decode_step").calls, 5);
    assert_int_equal(find_region(profile, "LLM@prefill", 0).tokens, 512);
    assert_int_equal(find_region(profile, "LLM@prefill/APP@resize", -1).instances, 1);
    assert_false(has_note(profile, "regions"));
    llmperf_profile_free(profile);
}

static void rules_hold_on_all_threads_and_only_in_their_session(void **state)
{
    llmperf_session *session = start(script);
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    pthread_t threads[4];
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_steps, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    assert_int_equal(find_kernel(profile, "gemv", "LLM@decode_step").calls, 4 * 10);
    llmperf_profile_free(profile);

    options.device_source = LLMPERF_SOURCE_FAKE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    run_steps(NULL);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).kernels_seen, 0);
    llmperf_profile_free(profile);
}

/* The program has marked regions, but none that tier light samples. */
static void a_sample_of_no_region_says_what_to_mark(void **state)
{
    llmperf_session_options options = script_options("on LLM@mlp\nlaunch a\ndone\n");
    llmperf_session *session = NULL;
    llmperf_profile *profile;
    char *report = NULL;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    llmperf_region_begin("mlp");
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    assert_true(has_problem(profile, "no call was collected: tier light samples calls of prefill"));
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &report), 0);
    assert_non_null(strstr(report, "device times are unknown.\n\n- no call was collected: "));
    llmperf_text_free(report);
    llmperf_profile_free(profile);
}

static void a_script_of_rules_has_nothing_else(void **state)
{
    static const char *const cases[][2] = {
        { "launch a\non LLM@x\ndone", ":2: rules (on) cannot follow" },
        { "on LLM@x\ndone\nlaunch a", ":3: only rules are allowed here" },
        { "on LLM@x\non LLM@y\ndone\ndone", ":2: on inside on" },
        { "on LLM@x\nbegin LLM@y\nend\ndone",
          ":2: a rule can contain launch, repeat and done only" },
        { "on LLM@x\nlaunch a device=1\ndone",
          ":2: launch in a rule accepts stream= and duration=" },
        { "on LLM@x\nlaunch a", ":1: on without done" },
        { "on\ndone", ":1: on needs a name" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_session_options options = script_options(cases[i][0]);
        llmperf_session *session = NULL;

        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
        check_error(cases[i][1]);
        llmperf_session_free(session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_of_the_program_launch_the_kernels_of_their_rules),
        cmocka_unit_test(rules_hold_on_all_threads_and_only_in_their_session),
        cmocka_unit_test(a_sample_of_no_region_says_what_to_mark),
        cmocka_unit_test(a_script_of_rules_has_nothing_else),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
