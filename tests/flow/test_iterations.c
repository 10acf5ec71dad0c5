/* SPDX-License-Identifier: Apache-2.0 */
/** Instances of stages one by one, against scripts whose times were worked out by hand: the clock
 * starts at 1000 us and goes on by 1 us a statement; a kernel starts 2 us after its launch, or when
 * its stream is free. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

static llmperf_iteration iteration(const llmperf_profile *profile, size_t index)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;

    assert_int_equal(llmperf_profile_iteration(profile, index, &row), 0);
    return row;
}

/* A quantity of a stage; fails the test if it is not there. */
static void gaps_are_charged_to_the_host_only_if_its_launch_came_late(void **state)
{
    llmperf_profile *profile =
        play_script("begin LLM@decode_step tokens=3 context=40\n" /* at 1000 */
                    "launch gemm_a duration=500\n"    /* called 1001, runs 1003..1003.5 */
                    "launch gemm_b duration=500\n"    /* called 1002, runs 1004..1004.5 */
                    "wait 10000\n"                    /* 1003..1013 */
                    "launch rms_norm duration=1000\n" /* called 1013, runs 1015..1016 */
                    "end\n");                         /* at 1014 */
    llmperf_iteration row = iteration(profile, 0);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS), 1);
    assert_string_equal(row.region, "LLM@decode_step");
    assert_int_equal(row.sequence, 1);
    assert_int_equal(row.tokens, 3);
    assert_int_equal(row.context, 40);
    assert_true(row.flops == LLMPERF_UNKNOWN);
    assert_int_equal(row.activities, 3);
    check_close(row.wall_ms, 0.014);
    check_close(row.span_ms, 0.013);
    check_close(row.busy_ms, 0.002);
    check_close(row.idle_ms, 0.011);
    check_close(row.idle_launch_ms, 0.0105);
    check_close(row.idle_wait_ms, 0.0005);
    llmperf_profile_free(profile);
}

static void check_elapsed(const llmperf_profile *profile, size_t index, double elapsed_ms,
                          double before_ms, double after_ms)
{
    llmperf_iteration row = iteration(profile, index);

    check_close(row.elapsed_ms, elapsed_ms);
    check_close(row.before_ms, before_ms);
    check_close(row.after_ms, after_ms);
    check_close(row.before_ms + row.span_ms + row.after_ms, row.elapsed_ms);
}

static void steps_launched_ahead_take_the_time_of_the_device(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@decode_step\n"       /* at 1000 */
                                           "launch gemm duration=100000\n" /* runs 1003..1103 */
                                           "end\n"                         /* at 1002 */
                                           "begin LLM@decode_step\n"
                                           "launch gemm duration=100000\n" /* runs 1103..1203 */
                                           "end\n"
                                           "begin LLM@decode_step\n"
                                           "launch gemm duration=100000\n" /* runs 1203..1303 */
                                           "end\n");

    (void)state;
    check_elapsed(profile, 0, 0.103, 0.003, 0);
    check_elapsed(profile, 1, 0.1, 0, 0);
    check_elapsed(profile, 2, 0.1, 0, 0);
    check_close(find_spread(profile, "LLM@decode_step", "elapsed").sum_ms, 0.303);
    check_close(find_spread(profile, "LLM@decode_step", "wall").sum_ms, 0.006);
    llmperf_profile_free(profile);
}

static void steps_that_the_host_waits_for_take_its_time(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@decode_step\n"     /* at 1000 */
                                           "launch gemm duration=1000\n" /* runs 1003..1004 */
                                           "wait 10000\n"                /* 1002..1012 */
                                           "end\n"                       /* at 1012 */
                                           "wait 50000\n"                /* outside of the step */
                                           "begin LLM@decode_step\n"     /* at 1063 */
                                           "launch gemm duration=1000\n" /* runs 1066..1067 */
                                           "wait 10000\n"
                                           "end\n"); /* at 1075 */

    (void)state;
    check_elapsed(profile, 0, 0.012, 0.003, 0.008);
    check_elapsed(profile, 1, 0.012, 0.003, 0.008);
    llmperf_profile_free(profile);
}

static void a_nested_stage_starts_after_the_one_before_it(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\n"          /* at 1000 */
                                           "begin LLM@vision\n"           /* at 1001 */
                                           "launch conv duration=50000\n" /* runs 1004..1054 */
                                           "end\n"
                                           "begin LLM@vision\n"           /* at 1004 */
                                           "launch conv duration=50000\n" /* runs 1054..1104 */
                                           "end\n"
                                           "end\n");
    llmperf_iteration prefill = iteration(profile, 2);

    (void)state;
    check_elapsed(profile, 0, 0.053, 0.003, 0);
    check_elapsed(profile, 1, 0.05, 0, 0);
    assert_string_equal(prefill.region, "LLM@prefill");
    check_elapsed(profile, 2, 0.104, 0.004, 0);
    llmperf_profile_free(profile);
}

static void classes_of_an_instance_add_up_to_its_kernels(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@decode_step\n"
                                           "launch gemm_a duration=500\n"
                                           "launch rms_norm duration=1000\n"
                                           "launch gemm_b duration=300\n"
                                           "end\n"
                                           "begin LLM@decode_step\n"
                                           "launch gemm_a duration=500\n"
                                           "end\n");
    llmperf_iteration_stats norm = find_spread(profile, "LLM@decode_step", "norm");
    llmperf_iteration first = iteration(profile, 0);
    double sum = 0;

    (void)state;
    check_close(find_spread(profile, "LLM@decode_step", "GEMM").sum_ms, 0.0013);
    check_close(norm.sum_ms, 0.001);
    assert_int_equal(norm.count, 2); /* it did not run in the second: 0 ms there */
    check_close(norm.min_ms, 0);
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++) {
        assert_true(isnan(first.class_ms[i]) == (llmperf_profile_class(profile, i) == NULL));
        sum += isnan(first.class_ms[i]) ? 0 : first.class_ms[i];
    }
    check_close(sum, 0.0018);
    llmperf_profile_free(profile);
}

static void work_of_a_nested_stage_counts_in_both(void **state)
{
    llmperf_profile *profile =
        play_script("begin LLM@prefill tokens=7\n" /* at 1000 */
                    "begin LLM@vision\n"           /* at 1001 */
                    "launch gemm duration=1000\n"  /* 1004..1005 */
                    "end\n"
                    "begin attention\n"
                    "launch gemm duration=2000\n" /* called 1005, 1007..1009 */
                    "end\n"
                    "end\n");
    llmperf_iteration vision = iteration(profile, 0), prefill = iteration(profile, 1);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS), 2);
    assert_string_equal(vision.region, "LLM@prefill/LLM@vision");
    assert_int_equal(vision.activities, 1);
    check_close(vision.busy_ms, 0.001);
    assert_string_equal(prefill.region, "LLM@prefill");
    assert_int_equal(prefill.activities, 2);
    assert_int_equal(prefill.tokens, 7);
    assert_true(vision.tokens == LLMPERF_UNKNOWN);
    check_close(prefill.busy_ms, 0.003);
    check_close(prefill.span_ms, 0.005);
    llmperf_profile_free(profile);
}

static void statistics_hold_all_instances_and_the_newest_are_kept(void **state)
{
    llmperf_profile *profile = play_script("repeat 3000\n"
                                           "begin LLM@decode_step\n"
                                           "launch gemm duration=1000\n"
                                           "wait 5000\n"
                                           "end\n"
                                           "done\n");
    size_t kept = llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS);

    (void)state;
    assert_int_equal(find_spread(profile, "LLM@decode_step", "wall").count, 3000);
    assert_int_equal(find_spread(profile, "LLM@decode_step", "busy").count, 3000);
    check_close(find_spread(profile, "LLM@decode_step", "busy").sum_ms, 3);
    assert_int_equal(kept, LLMPERF_ITERATIONS_KEPT + 1);
    assert_int_equal(iteration(profile, kept - 1).sequence, 3000);
    assert_int_equal(iteration(profile, 0).sequence, 1);
    assert_int_equal(iteration(profile, 1).sequence, 3001 - LLMPERF_ITERATIONS_KEPT);
    llmperf_profile_free(profile);
}

static void instances_without_device_work_have_no_span(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\n"
                                           "launch gemm duration=1000\n"
                                           "end\n"
                                           "begin LLM@decode_step\n"
                                           "end\n");
    llmperf_iteration empty = iteration(profile, 1);

    (void)state;
    assert_string_equal(empty.region, "LLM@decode_step");
    assert_int_equal(empty.activities, 0);
    check_close(empty.busy_ms, 0);
    assert_true(isnan(empty.span_ms) && isnan(empty.idle_ms) && isnan(empty.idle_wait_ms));
    llmperf_profile_free(profile);
}

static void an_instance_that_the_session_cuts_is_none(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@decode_all\n"
                                           "begin LLM@decode_step\n"
                                           "launch gemm\n"
                                           "end\n");

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS), 1);
    assert_string_equal(iteration(profile, 0).region, "LLM@decode_all/LLM@decode_step");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_charged_to_the_host_only_if_its_launch_came_late),
        cmocka_unit_test(steps_launched_ahead_take_the_time_of_the_device),
        cmocka_unit_test(steps_that_the_host_waits_for_take_its_time),
        cmocka_unit_test(a_nested_stage_starts_after_the_one_before_it),
        cmocka_unit_test(classes_of_an_instance_add_up_to_its_kernels),
        cmocka_unit_test(work_of_a_nested_stage_counts_in_both),
        cmocka_unit_test(statistics_hold_all_instances_and_the_newest_are_kept),
        cmocka_unit_test(instances_without_device_work_have_no_span),
        cmocka_unit_test(an_instance_that_the_session_cuts_is_none),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
