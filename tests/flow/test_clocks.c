/* SPDX-License-Identifier: Apache-2.0 */
/** Time per call and tokens per second of stages that launch ahead, of stages on several threads,
 * and with warm-up. The clock of a script starts at 1000 us and goes on by 1 us a statement; a
 * kernel starts 2 us after its launch, or when its stream is free. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

static llmperf_stage stage_of(const llmperf_profile *profile, const char *path)
{
    llmperf_stage stage = LLMPERF_STAGE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_STAGES); i++) {
        assert_int_equal(llmperf_profile_stage(profile, i, &stage), 0);
        if (strcmp(stage.path, path) == 0)
            return stage;
    }
    fail_msg("no stage %s", path);
    return stage;
}

static void assert_report(const llmperf_profile *profile, const char *part)
{
    char *text = NULL;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, part);
    llmperf_text_free(text);
}

/* Steps of 3 us on the host; the device needs 100 us for each. */
static const char ahead[] = "begin LLM@decode_all\n"
                            "repeat 50\n"
                            "begin LLM@decode_step tokens=1\n"
                            "launch gemv duration=100000\n"
                            "end\n"
                            "done\n"
                            "wait 5000000\n"
                            "end\n";

static void steps_that_are_launched_ahead_have_the_rate_of_the_device(void **state)
{
    llmperf_profile *profile = play_script(ahead);
    llmperf_stage step = stage_of(profile, "LLM@decode_all/LLM@decode_step");

    (void)state; /* From 1001 us on; the first kernel runs 1004..1104, the last until 6004. */
    assert_int_equal(step.clock, LLMPERF_CLOCK_DEVICE);
    check_close(step.call_ms, 0.002);
    check_close(step.time_ms, (0.103 + 49 * 0.1) / 50);
    check_close(step.active_ms, 5.003);
    check_close(step.tokens_per_s, 50 / 5.003e-3);
    assert_int_equal(step.rate, LLMPERF_RATE_STAGE);
    check_close(step.idle_ms, 0.003);
    assert_report(profile, "`LLM@decode_all/LLM@decode_step`: 0.100 ms of GPU time, mean of 50 "
                           "calls (the host left after 0.00200 ms), 9994 tokens/s, ");
    llmperf_profile_free(profile);
}

static void a_loop_that_waits_for_the_device_is_on_the_clock_of_the_host(void **state)
{
    llmperf_profile *profile = play_script("repeat 50\nbegin LLM@decode_step tokens=1\n"
                                           "launch gemv duration=100000\nwait 120000\nend\ndone\n");
    llmperf_stage step = stage_of(profile, "LLM@decode_step");

    (void)state;
    assert_int_equal(step.clock, LLMPERF_CLOCK_HOST);
    check_close(step.time_ms, 0.122);
    check_close(step.tokens_per_s, 1 / 0.122e-3);
    assert_report(profile, "`LLM@decode_step`: 0.122 ms of host time, mean of 50 calls, ");
    llmperf_profile_free(profile);
}

static void a_clock_of_the_device_that_is_behind_is_not_launching_ahead(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill tokens=4\nfault skew every=1\n"
                                           "launch gemm duration=100000\nwait 120000\nend\n");
    llmperf_stage prefill = stage_of(profile, "LLM@prefill");

    (void)state;
    assert_int_equal(prefill.clock, LLMPERF_CLOCK_HOST);
    check_close(prefill.time_ms, 0.122);
    llmperf_profile_free(profile);
}

/* Three threads decode at the same time, the third for a third of the time. */
static const char three_threads[] =
    "thread 0\nbegin LLM@decode_step tokens=6\nlaunch a stream=1 duration=10000\n" /* at 1000 */
    "thread 1\nbegin LLM@decode_step tokens=6\nlaunch a stream=2 duration=10000\n" /* at 1002 */
    "at 1020000\n"
    "thread 2\nbegin LLM@decode_step tokens=3\nlaunch a stream=3 duration=5000\n" /* at 1020 */
    "at 1030000\n"
    "thread 0\nend\nthread 1\nend\nthread 2\nend\n"; /* at 1030, 1031, 1032 */

static void the_rate_of_a_stage_is_that_of_all_threads_together(void **state)
{
    llmperf_profile *profile = play_script(three_threads);
    llmperf_stage step = stage_of(profile, "LLM@decode_step");

    (void)state;
    assert_int_equal(step.rate, LLMPERF_RATE_TOTAL);
    check_close(step.wall_ms, 0.030 + 0.029 + 0.012);
    check_close(step.active_ms, 0.032);
    check_close(step.tokens_per_s, 15 / 0.032e-3);
    assert_report(profile, "mean of 3 calls, 2.22 at a time, 468750 tokens/s in all");
    llmperf_profile_free(profile);
}

static void threads_of_a_host_without_a_device_are_added_up_too(void **state)
{
    llmperf_profile *profile = play_script(
        "thread 0\nbegin LLM@decode_step tokens=5\nthread 1\nbegin LLM@decode_step tokens=5\n"
        "at 1100000\nthread 0\nend\nthread 1\nend\n");

    (void)state; /* 1000..1101 */
    check_close(stage_of(profile, "LLM@decode_step").tokens_per_s, 10 / 0.101e-3);
    llmperf_profile_free(profile);
}

/* A long call ends after many short ones that began within it. */
static void calls_that_end_out_of_order_count_once(void **state)
{
    llmperf_profile *profile =
        play_script("thread 0\nbegin LLM@decode_step tokens=1\n" /* 1000 */
                    "thread 1\nrepeat 2000\nbegin LLM@decode_step tokens=1\nend\ndone\n"
                    "thread 0\nend\n"); /* 5001 */

    (void)state;
    check_close(find_region(profile, "LLM@decode_step", -1).active_ms, 4.001);
    llmperf_profile_free(profile);
}

static void warm_up_is_apart_from_time_and_rate(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill tokens=10\nwait 998000\nend\n"
                                           "repeat 9\nbegin LLM@prefill tokens=10\nlaunch a\n"
                                           "wait 8000\nend\ndone\n");
    llmperf_stage prefill = stage_of(profile, "LLM@prefill");

    (void)state; /* 999 us, then 10 us each */
    check_close(prefill.time_ms, 0.010);
    check_close(prefill.call_ms, (0.999 + 9 * 0.010) / 10);
    check_close(prefill.tokens_per_s, 10 / 0.010e-3);
    assert_report(profile, "`LLM@prefill`: 0.0100 ms of host time, mean of 9 calls after warm-up "
                           "(first call 0.999 ms), 1000000 tokens/s");
    llmperf_profile_free(profile);
}

/* 31 calls of 25 us, then 69 of 10 us. */
static const char slow_calls[] =
    "repeat 31\nbegin LLM@decode_step tokens=%d\nlaunch a\nwait 23000\nend\ndone\n"
    "repeat 69\nbegin LLM@decode_step tokens=8\nlaunch a\nwait 8000\nend\ndone\n";

static llmperf_profile *play_slow_calls(int tokens)
{
    char script[512];

    snprintf(script, sizeof(script), slow_calls, tokens);
    return play_script(script);
}

static void warm_up_of_many_calls_is_apart(void **state)
{
    llmperf_profile *profile = play_slow_calls(8);
    llmperf_iteration_stats wall = find_spread(profile, "LLM@decode_step", "wall");
    llmperf_stage step = stage_of(profile, "LLM@decode_step");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    bool named = false;

    (void)state;
    check_close(step.time_ms, 0.010);
    check_close(step.tokens_per_s, 8 / 0.010e-3);
    assert_int_equal(wall.count, 69);
    check_close(wall.max_ms, 0.010);
    assert_report(profile, "`LLM@decode_step`: 0.0100 ms of host time, mean of 69 calls after "
                           "warm-up (calls 1 to 31: 0.775 ms), 800000 tokens/s, GPU 0 busy 10");
    assert_report(profile, "`LLM@decode_step`: 69 calls after warm-up.");
    for (size_t i = 0; llmperf_profile_advice(profile, i, &advice) == 0; i++) {
        assert_string_not_equal(advice.id, "step_tail");
        named = named || (strcmp(advice.id, "warm_up") == 0 && advice.once);
    }
    assert_true(named);
    llmperf_profile_free(profile);
}

static void warm_up_stays_apart_in_merged_runs(void **state)
{
    llmperf_profile *parts[] = { play_slow_calls(8), play_slow_calls(8) }, *merged = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    assert_int_equal(find_spread(merged, "LLM@decode_step", "wall").count, 138);
    check_close(stage_of(merged, "LLM@decode_step").time_ms, 0.010);
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
}

/* Counters of programs that are being watched: a call that turns out to be warm-up stays. */
static void histograms_of_prometheus_have_all_calls(void **state)
{
    llmperf_profile *profile = play_slow_calls(8);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_text_has(text, "llmperf_stage_wall_seconds_count{region=\"LLM@decode_step\"} 100");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void calls_with_more_work_are_no_warm_up(void **state)
{
    llmperf_profile *profile = play_slow_calls(32);

    (void)state;
    assert_int_equal(find_spread(profile, "LLM@decode_step", "wall").count, 100);
    llmperf_profile_free(profile);
}

static void few_calls_have_no_high_percentiles(void **state)
{
    static const struct {
        const char *calls;
        bool p95, p99;
        const char *advice;
    } cases[] = {
        { "9", false, false, "the mean of so few calls says little, so profile more of them." },
        { "10", true, false, "look at the percentiles, not at the mean." },
        { "50", true, true, "look at the percentiles, not at the mean." },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char script[256];
        llmperf_profile *profile;
        llmperf_region_stats step;
        llmperf_kernel_stats kernel;

        snprintf(script, sizeof(script),
                 "repeat %s\nbegin LLM@decode_step\nlaunch a\nwait 8000\nend\n"
                 "begin LLM@decode_step\nlaunch a\nwait 18000\nend\ndone\n",
                 cases[i].calls);
        profile = play_script(script);
        step = find_region(profile, "LLM@decode_step", 0);
        kernel = find_kernel(profile, "a", "LLM@decode_step");
        assert_false(isnan(step.wall_p50_ms) || isnan(kernel.p50_ms));
        assert_int_equal(!isnan(step.wall_p95_ms), cases[i].p95);
        assert_int_equal(!isnan(kernel.p95_ms), cases[i].p95);
        assert_int_equal(!isnan(step.wall_p99_ms), cases[i].p99);
        assert_int_equal(!isnan(find_spread(profile, "LLM@decode_step", "busy").p99_ms),
                         cases[i].p99);
        assert_report(profile, cases[i].advice);
        llmperf_profile_free(profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_are_launched_ahead_have_the_rate_of_the_device),
        cmocka_unit_test(a_loop_that_waits_for_the_device_is_on_the_clock_of_the_host),
        cmocka_unit_test(a_clock_of_the_device_that_is_behind_is_not_launching_ahead),
        cmocka_unit_test(the_rate_of_a_stage_is_that_of_all_threads_together),
        cmocka_unit_test(threads_of_a_host_without_a_device_are_added_up_too),
        cmocka_unit_test(calls_that_end_out_of_order_count_once),
        cmocka_unit_test(warm_up_is_apart_from_time_and_rate),
        cmocka_unit_test(warm_up_of_many_calls_is_apart),
        cmocka_unit_test(warm_up_stays_apart_in_merged_runs),
        cmocka_unit_test(histograms_of_prometheus_have_all_calls),
        cmocka_unit_test(calls_with_more_work_are_no_warm_up),
        cmocka_unit_test(few_calls_have_no_high_percentiles),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
