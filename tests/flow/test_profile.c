/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of a profile against scripts whose times were worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"

/* The clock starts at 1000 us and goes on by 1 us a statement; a kernel starts 2 us after its
 * launch, or when its stream is free. */
static const char two_stages[] = "begin LLM@prefill tokens=10\n"     /* at 1000 us */
                                 "launch a duration=4000\n"          /* 1003..1007 on stream 7 */
                                 "launch b stream=8 duration=2000\n" /* 1004..1006 on stream 8 */
                                 "begin attn\n"                      /* at 1003 */
                                 "launch a duration=1000\n" /* waits for stream 7: 1007..1008 */
                                 "end\n"                    /* at 1005 */
                                 "end\n"                    /* at 1006 */
                                 "begin LLM@decode_step tokens=1\n" /* at 1007 */
                                 "launch c duration=10000\n"        /* 1010..1020 */
                                 "wait 5000\nend\n"                 /* at 1014 */
                                 "begin LLM@decode_step tokens=1\n" /* at 1015 */
                                 "wait 2000\nend\n"                 /* at 1018 */
                                 "launch c duration=500\n";         /* 1021..1021.5, in no region */

static void region_times_are_as_worked_out(void **state)
{
    llmperf_profile *profile = play_script(two_stages);
    llmperf_region_stats prefill = find_region(profile, "LLM@prefill", 0);
    llmperf_region_stats attn = find_region(profile, "LLM@prefill/LLM@attn", 0);

    (void)state;
    assert_int_equal(prefill.instances, 1);
    check_close(prefill.wall_sum_ms, 0.006);
    check_close(prefill.wall_mean_ms, 0.006);
    assert_true(isnan(prefill.wall_std_ms)); /* of one instance */
    check_close(prefill.gpu_busy_ms, 0.005);
    check_close(prefill.exclusive_gpu_busy_ms, 0.004);
    check_close(prefill.kernel_ms, 0.007);
    check_close(prefill.exclusive_kernel_ms, 0.006);
    check_close(prefill.active_ms, 0.008); /* its last kernel ran on after its end */
    check_close(prefill.collected_wall_ms, 0.006);
    check_close(prefill.idle_ms, 0.003);
    assert_int_equal(prefill.kernel_count, 3);
    assert_string_equal(prefill.label, "LLM@prefill");
    assert_null(prefill.parent);
    assert_int_equal(prefill.depth, 0);
    assert_int_equal(prefill.kind, LLMPERF_REGION_STAGE);
    check_close(attn.wall_sum_ms, 0.002);
    check_close(attn.gpu_busy_ms, 0.001);
    check_close(attn.idle_ms, 0.001);
    assert_true(isnan(attn.active_ms)); /* of stages only */
    assert_string_equal(attn.parent, "LLM@prefill");
    assert_string_equal(attn.stage, "LLM@prefill");
    assert_int_equal(attn.depth, 1);
    assert_int_equal(attn.kind, LLMPERF_REGION_OPERATOR);
    llmperf_profile_free(profile);
}

static void a_kernel_ending_after_its_region_still_counts(void **state)
{
    llmperf_profile *profile = play_script(two_stages);
    llmperf_region_stats attn = find_region(profile, "LLM@prefill/LLM@attn", 0);

    (void)state; /* It ran from 1007 to 1008; the region was over at 1005. */
    assert_int_equal(attn.kernel_count, 1);
    check_close(attn.kernel_ms, 0.001);
    llmperf_profile_free(profile);
}

static void wall_times_have_mean_spread_and_percentiles(void **state)
{
    llmperf_profile *profile = play_script(two_stages);
    llmperf_region_stats step = find_region(profile, "LLM@decode_step", 0);

    (void)state; /* 7 and 3 us */
    assert_int_equal(step.instances, 2);
    check_close(step.wall_sum_ms, 0.010);
    check_close(step.wall_mean_ms, 0.005);
    check_close(step.wall_std_ms, sqrt(8) / 1000);
    check_close(step.wall_min_ms, 0.003);
    check_close(step.wall_max_ms, 0.007);
    assert_true(fabs(step.wall_p50_ms / 0.003 - 1) <= 0.02);
    assert_true(isnan(step.wall_p95_ms) && isnan(step.wall_p99_ms)); /* too few calls */
    check_close(step.gpu_busy_ms, 0.010);
    check_close(step.active_ms, 0.013); /* 1007..1020, the second call within it */
    check_close(step.idle_ms, 0.003);
    assert_int_equal(step.tokens, 2);
    llmperf_profile_free(profile);
}

static void the_whole_device_is_busy_for_the_union_of_all_work(void **state)
{
    llmperf_profile *profile = play_script(two_stages);

    (void)state; /* 1003..1008, 1010..1020, 1021..1021.5 */
    assert_string_equal(llmperf_profile_fact(profile, "gpu_busy_ms"), "0.015500");
    llmperf_profile_free(profile);
}

static void work_in_no_region_has_a_row_of_its_own(void **state)
{
    llmperf_profile *profile = play_script(two_stages);
    llmperf_region_stats none = find_region(profile, "", 0);

    (void)state; /* Only what was launched there, not the sum of all regions. */
    assert_int_equal(none.kernel_count, 1);
    check_close(none.kernel_ms, 0.0005);
    check_close(none.gpu_busy_ms, 0.0005);
    assert_true(none.tokens == LLMPERF_UNKNOWN);
    assert_int_equal(none.instances, 0);
    assert_true(isnan(none.wall_sum_ms));
    assert_true(isnan(none.idle_ms));
    assert_int_equal(ledger_of(profile).kernels_outside, 1);
    llmperf_profile_free(profile);
}

static void kernels_are_ordered_by_time_and_share_adds_up(void **state)
{
    static const struct {
        const char *name, *region;
        double total_ms;
    } expected[] = { { "c", "LLM@decode_step", 0.010 },
                     { "a", "LLM@prefill", 0.004 },
                     { "b", "LLM@prefill", 0.002 },
                     { "a", "LLM@prefill/LLM@attn", 0.001 },
                     { "c", "", 0.0005 } };
    llmperf_profile *profile = play_script(two_stages);
    double share = 0;

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 5);
    for (size_t i = 0; i < 5; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        assert_int_equal(llmperf_profile_kernel(profile, i, &kernel), 0);
        assert_string_equal(kernel.name, expected[i].name);
        assert_string_equal(kernel.region, expected[i].region);
        assert_null(kernel.captured_in);
        check_close(kernel.total_ms, expected[i].total_ms);
        check_close(kernel.share, expected[i].total_ms / 0.0175);
        share += kernel.share;
    }
    check_close(share, 1);
    llmperf_profile_free(profile);
}

static void overlapping_streams_add_up_in_sums_but_not_in_busy_time(void **state)
{
    llmperf_profile *profile = play_script(
        "begin r\nlaunch a stream=1 duration=100000\nlaunch a stream=2 duration=100000\n"
        "launch a stream=3 duration=100000\nwait 1000000\nlaunch a duration=5000\nend\n");
    llmperf_region_stats region = find_region(profile, "LLM@r", 0);
    llmperf_kernel_stats kernel = find_kernel(profile, "a", "LLM@r");

    (void)state; /* They start 1 us after each other: 102 us, and 5 us after a gap. */
    check_close(region.kernel_ms, 0.305);
    check_close(region.gpu_busy_ms, 0.107);
    assert_int_equal(kernel.calls, 4);
    check_close(kernel.total_ms, 0.305);
    check_close(kernel.mean_ms, 0.305 / 4);
    check_close(kernel.min_ms, 0.005);
    check_close(kernel.max_ms, 0.100);
    llmperf_profile_free(profile);
}

static void percentiles_are_within_two_percent(void **state)
{
    char script[8192] = "begin r\n";
    llmperf_kernel_stats kernel;
    llmperf_profile *profile;

    (void)state; /* 1 to 100 us, in an order that is not theirs */
    for (int i = 0; i < 100; i++)
        sprintf(script + strlen(script), "launch k duration=%d\n", (i * 37 % 100 + 1) * 1000);
    strcat(script, "end\n");
    profile = play_script(script);
    kernel = find_kernel(profile, "k", "LLM@r");
    assert_int_equal(kernel.calls, 100);
    check_close(kernel.total_ms, 5.050);
    check_close(kernel.mean_ms, 0.0505);
    check_close(kernel.min_ms, 0.001);
    check_close(kernel.max_ms, 0.100);
    assert_true(fabs(kernel.p50_ms / 0.050 - 1) <= 0.02);
    assert_true(fabs(kernel.p95_ms / 0.095 - 1) <= 0.02);
    assert_true(fabs(kernel.p99_ms / 0.099 - 1) <= 0.02);
    llmperf_profile_free(profile);
}

static void nested_regions_are_in_inclusive_times_only(void **state)
{
    llmperf_profile *profile = play_script(
        "begin a\nlaunch k duration=1000\nbegin b\nlaunch k duration=2000\ncopy htod bytes=64 "
        "duration=300\nbegin c\nlaunch k duration=4000\nset bytes=5 duration=50\nend\nend\nend\n");
    llmperf_region_stats a = find_region(profile, "LLM@a", 0);
    llmperf_region_stats b = find_region(profile, "LLM@a/LLM@b", 0);
    llmperf_region_stats c = find_region(profile, "LLM@a/LLM@b/LLM@c", 0);

    (void)state;
    check_close(a.kernel_ms, 0.007);
    check_close(a.exclusive_kernel_ms, 0.001);
    check_close(b.kernel_ms, 0.006);
    check_close(b.exclusive_kernel_ms, 0.002);
    check_close(c.kernel_ms, 0.004);
    check_close(c.exclusive_kernel_ms, 0.004);
    assert_int_equal(a.kernel_count, 3);
    assert_int_equal(a.memcpy_count, 1);
    assert_int_equal(a.memset_count, 1);
    assert_int_equal(a.memcpy_bytes, 64);
    check_close(a.memcpy_ms, 0.0003);
    check_close(b.memset_ms, 0.00005);
    assert_int_equal(c.memcpy_count, 0);
    check_close(a.gpu_busy_ms, 0.00735);
    check_close(b.gpu_busy_ms, 0.00635);
    check_close(b.exclusive_gpu_busy_ms, 0.0023);
    llmperf_profile_free(profile);
}

static void quantities_are_as_given_or_the_sum_of_the_children(void **state)
{
    llmperf_profile *profile =
        play_script("begin top\nbegin given tokens=100 sequences=2 context=7 flops=11 bytes=13\n"
                    "begin child tokens=3 flops=5\nend\nend\n"
                    "begin summed\nbegin child tokens=3\nend\nbegin child tokens=4\nend\n"
                    "count bytes 9\nend\nend\n");
    llmperf_region_stats top = find_region(profile, "LLM@top", -1);
    llmperf_region_stats given = find_region(profile, "LLM@top/LLM@given", -1);
    llmperf_region_stats summed = find_region(profile, "LLM@top/LLM@summed", -1);

    (void)state;
    assert_int_equal(given.tokens, 100);
    assert_int_equal(given.sequences, 2);
    assert_int_equal(given.context, 7);
    assert_int_equal(given.flops, 11);
    assert_int_equal(given.bytes, 13);
    assert_int_equal(summed.tokens, 7);
    assert_int_equal(summed.bytes, 9);
    assert_true(summed.flops == LLMPERF_UNKNOWN);
    assert_int_equal(top.tokens, 107);
    assert_int_equal(top.flops, 11);
    assert_int_equal(top.bytes, 22);
    assert_int_equal(top.sequences, 2);
    llmperf_profile_free(profile);
}

static void operators_add_up_by_label_and_stage(void **state)
{
    llmperf_profile *profile = play_script(
        "begin LLM@prefill\nbegin layer\nbegin mlp\nlaunch k duration=1000\nend\nend\n"
        "begin mlp\nlaunch k duration=2000\nend\nend\n"
        "begin LLM@decode_all\nbegin LLM@decode_step\nbegin mlp\nlaunch k duration=7000\nend\nend\n"
        "end\nbegin warm kind=stage\nbegin mlp\nend\nend\nbegin mlp\nend\n");
    llmperf_operator_stats prefill = find_operator(profile, "LLM@mlp", "LLM@prefill");
    llmperf_operator_stats step = find_operator(profile, "LLM@mlp", "LLM@decode_step");

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_OPERATORS), 5);
    assert_int_equal(prefill.calls, 2);
    check_close(prefill.total_time_ms, 0.004);
    check_close(prefill.mean_ms, 0.002);
    check_close(prefill.cuda_time_ms, 0.003);
    assert_int_equal(step.calls, 1);
    check_close(step.cuda_time_ms, 0.007);
    assert_int_equal(find_operator(profile, "LLM@layer", "LLM@prefill").calls, 1);
    assert_int_equal(find_operator(profile, "LLM@mlp", "LLM@warm").calls, 1);
    assert_int_equal(find_operator(profile, "LLM@mlp", NULL).calls, 1);
    llmperf_profile_free(profile);
}

static void layers_of_two_towers_are_different_operators(void **state)
{
    llmperf_profile *profile = play_script(
        "begin LLM@vision kind=stage\n"
        "begin sam\nbegin layer01\nbegin mlp\nbegin head2\nlaunch k duration=1000\n"
        "end\nend\nend\nend\n"
        "begin clip\nbegin layer01\nbegin mlp\nlaunch k duration=4000\nend\nend\nend\nend\n");

    (void)state;
    check_close(find_operator(profile, "LLM@sam/LLM@layer01", "LLM@vision").cuda_time_ms, 0.001);
    check_close(find_operator(profile, "LLM@clip/LLM@layer01", "LLM@vision").cuda_time_ms, 0.004);
    assert_int_equal(find_operator(profile, "LLM@mlp", "LLM@vision").calls, 2);
    assert_int_equal(find_operator(profile, "LLM@head2", "LLM@vision").calls, 1);
    llmperf_profile_free(profile);
}

static void a_region_open_at_the_end_has_kernels_but_no_wall_time(void **state)
{
    llmperf_profile *profile = play_script("begin a\nlaunch k duration=3000\nbegin b\n");
    llmperf_region_stats a = find_region(profile, "LLM@a", 0);

    (void)state;
    assert_int_equal(a.instances, 0);
    assert_int_equal(a.truncated, 1);
    assert_true(isnan(a.wall_sum_ms));
    assert_true(isnan(a.idle_ms));
    check_close(a.kernel_ms, 0.003);
    assert_int_equal(find_region(profile, "LLM@a/LLM@b", -1).truncated, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(has_note(profile, "2 region calls were open"));
    llmperf_profile_free(profile);
}

static void a_region_open_before_the_session_is_cut_but_its_kernels_are_in_it(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile = NULL;
    llmperf_region_stats outer;

    (void)state;
    options.device_source = LLMPERF_SOURCE_FAKE;
    llmperf_region_begin("before");
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    lp_fake_launch("k", 1, 500);
    llmperf_region_begin("inside");
    lp_fake_launch("k", 1, 500);
    llmperf_region_end();
    llmperf_region_end();
    llmperf_region_begin("after");
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_region_end();
    llmperf_session_free(session);
    outer = find_region(profile, "LLM@before", 0);
    assert_int_equal(outer.instances, 0);
    assert_int_equal(outer.truncated, 1);
    assert_int_equal(outer.kernel_count, 2);
    assert_int_equal(find_region(profile, "LLM@before/LLM@inside", 0).instances, 1);
    assert_int_equal(find_region(profile, "LLM@after", -1).truncated, 1);
    assert_int_equal(ledger_of(profile).regions_truncated, 2);
    assert_int_equal(ledger_of(profile).regions_unbalanced, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void ends_without_a_begin_are_counted_and_ignored(void **state)
{
    llmperf_profile *profile = play_script("end\nend\nbegin a\nend\nend\n");

    (void)state;
    assert_int_equal(ledger_of(profile).regions_unbalanced, 3);
    assert_int_equal(ledger_of(profile).regions_truncated, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(find_region(profile, "LLM@a", -1).instances, 1);
    assert_true(has_note(profile, "3 region ends had no begin"));
    llmperf_profile_free(profile);
}

static void a_region_without_device_work_was_idle_all_the_time(void **state)
{
    llmperf_profile *profile = play_script("begin a\nwait 4000\nend\nlaunch k\n");
    llmperf_region_stats a = find_region(profile, "LLM@a", -1);

    (void)state; /* A device was watched: no work is known to be none. */
    check_close(a.wall_sum_ms, 0.005);
    assert_true(a.gpu_busy_ms == 0);
    assert_int_equal(a.kernel_count, 0);
    check_close(a.idle_ms, 0.005);
    llmperf_profile_free(profile);
}

static void tier_light_has_kernels_only(void **state)
{
    llmperf_session_options options = script_options("begin a\nlaunch k\ncopy htod bytes=8\nend\n");
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    profile = play_options(&options);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 1);
    assert_int_equal(ledger_of(profile).memory_calls, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "light");
    llmperf_profile_free(profile);
}

static void regions_follow_their_parents(void **state)
{
    static const char *const paths[] = { "LLM@a", "LLM@a/LLM@x", "LLM@a/LLM@x/LLM@y", "LLM@a-b",
                                         "LLM@b" };
    llmperf_profile *profile = play_script("begin b\nend\nbegin a-b\nend\nbegin a\nbegin x\n"
                                           "begin y\nend\nend\nend\n");

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 5);
    for (size_t i = 0; i < 5; i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        assert_int_equal(llmperf_profile_region(profile, i, &region), 0);
        assert_string_equal(region.path, paths[i]);
    }
    llmperf_profile_free(profile);
}

static void rows_past_the_end_and_missing_arguments_are_refused(void **state)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
    llmperf_operator_stats op = { 0 };
    llmperf_profile *profile = play_script("begin a\nlaunch k\nend\n");

    (void)state;
    assert_int_equal(llmperf_profile_region(profile, 1, &region), LLMPERF_EINVAL);
    check_error("row 1 of 1 does not exist");
    assert_int_equal(llmperf_profile_kernel(profile, SIZE_MAX, &kernel), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_region(profile, 0, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_region(NULL, 0, &region), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_operator(profile, 0, &op), LLMPERF_EINVAL);
    check_error("struct_size is not set");
    assert_null(llmperf_profile_problem(profile, 0));
    assert_null(llmperf_profile_note(NULL, 0));
    assert_null(llmperf_profile_fact(profile, "no such fact"));
    assert_null(llmperf_profile_fact(NULL, "tier"));
    assert_int_equal(llmperf_profile_count(NULL, LLMPERF_ROWS_REGIONS), 0);
    llmperf_profile_free(profile);
    llmperf_profile_free(NULL);
}

static void a_caller_of_an_older_header_gets_the_fields_it_knows(void **state)
{
    llmperf_profile *profile = play_script("begin a\nlaunch k\nend\n");
    llmperf_kernel_stats kernel;

    (void)state;
    memset(&kernel, 0x55, sizeof(kernel));
    kernel.struct_size = offsetof(llmperf_kernel_stats, region);
    assert_int_equal(llmperf_profile_kernel(profile, 0, &kernel), 0);
    assert_int_equal(kernel.struct_size, offsetof(llmperf_kernel_stats, region));
    assert_string_equal(kernel.short_name, "k");
    assert_true(kernel.calls == UINT64_C(0x5555555555555555));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(region_times_are_as_worked_out),
        cmocka_unit_test(a_kernel_ending_after_its_region_still_counts),
        cmocka_unit_test(wall_times_have_mean_spread_and_percentiles),
        cmocka_unit_test(the_whole_device_is_busy_for_the_union_of_all_work),
        cmocka_unit_test(work_in_no_region_has_a_row_of_its_own),
        cmocka_unit_test(kernels_are_ordered_by_time_and_share_adds_up),
        cmocka_unit_test(overlapping_streams_add_up_in_sums_but_not_in_busy_time),
        cmocka_unit_test(percentiles_are_within_two_percent),
        cmocka_unit_test(nested_regions_are_in_inclusive_times_only),
        cmocka_unit_test(quantities_are_as_given_or_the_sum_of_the_children),
        cmocka_unit_test(operators_add_up_by_label_and_stage),
        cmocka_unit_test(layers_of_two_towers_are_different_operators),
        cmocka_unit_test(a_region_open_at_the_end_has_kernels_but_no_wall_time),
        cmocka_unit_test(a_region_open_before_the_session_is_cut_but_its_kernels_are_in_it),
        cmocka_unit_test(ends_without_a_begin_are_counted_and_ignored),
        cmocka_unit_test(a_region_without_device_work_was_idle_all_the_time),
        cmocka_unit_test(tier_light_has_kernels_only),
        cmocka_unit_test(regions_follow_their_parents),
        cmocka_unit_test(rows_past_the_end_and_missing_arguments_are_refused),
        cmocka_unit_test(a_caller_of_an_older_header_gets_the_fields_it_knows),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
