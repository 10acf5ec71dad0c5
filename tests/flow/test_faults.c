/* SPDX-License-Identifier: Apache-2.0 */
/** What goes wrong on the way from the driver stands in the ledger with its exact number and
 * changes no other number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

#define LAUNCHES 10

/* Ten kernels of ten launches in one region, and nothing wrong. */
static llmperf_ledger all_well(void)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    ledger.launches_expected = ledger.kernels_seen = ledger.kernels_attributed = LAUNCHES;
    ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    return ledger;
}

/* The ten launches behind the line `fault`. */
static llmperf_profile *play_ten(const char *fault)
{
    char script[512];

    snprintf(script, sizeof(script),
             "begin LLM@prefill\n%s\nrepeat 10\nlaunch gemm duration=5000\ndone\nend\n", fault);
    return play_script(script);
}

static void check_ten(const char *fault, const llmperf_ledger *expected, const char *problem)
{
    llmperf_profile *profile = play_ten(fault);
    uint64_t counted = expected->kernels_seen;

    check_ledger(profile, expected);
    if (problem && !has_problem(profile, problem))
        fail_msg("no problem \"%s\"", problem);
    assert_true((llmperf_profile_problem(profile, 0) != NULL) == (problem != NULL));
    if (counted > 0 && expected->kernels_unattributed == 0) {
        llmperf_kernel_stats kernel = find_kernel(profile, "gemm", "LLM@prefill");

        assert_int_equal(kernel.calls, counted);
        check_close(kernel.total_ms, (double)counted * 0.005);
        check_close(kernel.min_ms, 0.005);
        check_close(kernel.max_ms, 0.005);
    }
    llmperf_profile_free(profile);
}

static void without_a_fault_it_is_complete(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    check_ten("fault none", &expected, NULL);
}

static void a_record_that_never_came_is_a_missing_launch(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    expected.kernels_seen = expected.kernels_attributed = 7;
    expected.launches_missing = 3;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    check_ten("fault drop every=3", &expected, "3 kernel launches have no kernel record");
}

static void without_any_record_the_tracing_is_dead(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    expected.kernels_seen = expected.kernels_attributed = 0;
    expected.launches_missing = LAUNCHES;
    expected.verdict = LLMPERF_VERDICT_DEAD;
    check_ten("fault drop", &expected, "10 kernels were launched, but no records were received");
}

static void a_record_that_came_twice_counts_once(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    expected.records_duplicate = 5;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    check_ten("fault duplicate every=2", &expected, "5 device records came twice");
}

static void a_record_without_times_is_left_out_but_its_launch_is_not_missing(void **state)
{
    static const char *const faults[] = { "fault zero_time every=2", "fault no_end every=2" };
    llmperf_ledger expected = all_well();

    (void)state;
    expected.kernels_seen = expected.kernels_attributed = 5;
    expected.records_incomplete = 5;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    for (size_t i = 0; i < 2; i++)
        check_ten(faults[i], &expected, "5 device records had no start or end time");
}

static void a_record_with_an_impossible_time_is_left_out(void **state)
{
    static const char *const faults[] = { "fault reversed_time every=5",
                                          "fault far_future every=5" };
    llmperf_ledger expected = all_well();

    (void)state;
    expected.kernels_seen = expected.kernels_attributed = 8;
    expected.records_invalid_time = 2;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    for (size_t i = 0; i < 2; i++)
        check_ten(faults[i], &expected, "2 device records had impossible times");
}

static void only_faulty_records_are_not_a_dead_driver(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    expected.kernels_seen = expected.kernels_attributed = 0;
    expected.records_incomplete = LAUNCHES;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    check_ten("fault zero_time", &expected, "10 device records had no start or end time");
}

static void late_records_are_still_attributed(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    check_ten("fault late every=2", &expected, NULL);
    check_ten("fault late", &expected, NULL);
}

static void late_launches_still_explain_their_records(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    check_ten("fault late_launch every=2", &expected, NULL);
    check_ten("fault late_launch", &expected, NULL);
}

static void a_record_of_an_unknown_launch_is_unattributed(void **state)
{
    llmperf_ledger expected = all_well();
    llmperf_profile *profile;

    (void)state;
    expected.kernels_attributed = 8;
    expected.kernels_unattributed = 2;
    expected.launches_missing = 2; /* Their launches had no record. */
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    check_ten("fault unknown_correlation every=5", &expected,
              "2 kernels ran whose launch was not seen");
    profile = play_ten("fault unknown_correlation every=5");
    assert_int_equal(find_kernel(profile, "gemm", NULL).calls, 2);
    assert_int_equal(find_kernel(profile, "gemm", "LLM@prefill").calls, 8);
    check_close(ledger_of(profile).attributed_gpu_time_share, 0.8);
    llmperf_profile_free(profile);
}

static void what_the_driver_dropped_is_named(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    expected.records_dropped = 7;
    check_ten("driver_drop 3\ndriver_drop 4", &expected, "7 device records were dropped");
    expected.records_dropped = 0;
    expected.records_incomplete = 2;
    check_ten("incomplete 2", &expected, "2 device records had no start or end time");
}

static void tracing_cost_is_known_only_if_told(void **state)
{
    llmperf_profile *profile = play_ten("overhead 12345");
    llmperf_ledger ledger = ledger_of(profile);

    (void)state;
    check_close(ledger.tracing_overhead_ms, 0.012345);
    llmperf_profile_free(profile);
    profile = play_ten("fault none");
    ledger = ledger_of(profile);
    assert_true(ledger.tracing_overhead_ms != ledger.tracing_overhead_ms);
    llmperf_profile_free(profile);
}

static void failed_and_captured_launches_are_not_expected(void **state)
{
    llmperf_ledger expected = all_well();

    (void)state;
    check_ten("launch_fail gemm\ncapture gemm\nlaunch_fail gemm", &expected, NULL);
}

static void reordering_changes_nothing(void **state)
{
    static const char script[] =
        "%s\nthread 0\nbegin LLM@prefill tokens=3\nthread 1\nbegin LLM@decode_step\n"
        "repeat 500\nthread 0\nlaunch a duration=700\nlaunch b stream=8 duration=30000\n"
        "thread 1\ngraph a,b,c duration=11\nlaunch c stream=9 device=1\ncopy dtoh bytes=5\ndone\n"
        "end\nthread 0\nend\n";
    static const char *const orders[] = { "", "fault reorder", "fault reorder every=3",
                                          "fault late every=7", "fault late_launch every=2" };
    char *metrics[5] = { NULL };

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char text[sizeof(script) + 64];
        llmperf_profile *profile;

        snprintf(text, sizeof(text), script, orders[i]);
        profile = play_script(text);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        metrics[i] = lasting_metrics(profile);
        llmperf_profile_free(profile);
        assert_string_equal(metrics[i], metrics[0]);
    }
    for (size_t i = 0; i < 5; i++)
        free(metrics[i]);
}

static void all_kernels_of_one_launch_are_attributed(void **state)
{
    llmperf_profile *profile =
        play_script("begin LLM@decode_step\nrepeat 1000\ngraph a,b,c,d,e,f,g,h,i,j graph=4\ndone\n"
                    "end\ngraph a\n");
    llmperf_ledger expected = LLMPERF_LEDGER_INIT;

    (void)state;
    expected.graph_launches = 1001;
    expected.kernels_seen = expected.graph_kernels_seen = expected.kernels_attributed = 10001;
    expected.graph_nodes_unmapped = 10001;
    expected.kernels_outside = 1;
    expected.verdict = LLMPERF_VERDICT_COMPLETE;
    check_ledger(profile, &expected);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, 10000);
    assert_int_equal(find_kernel(profile, "j", "LLM@decode_step").calls, 1000);
    assert_int_equal(find_kernel(profile, "a", "").calls, 1);
    assert_true(has_note(profile, "10001 kernels, memcpys and memsets of CUDA graphs"));
    llmperf_profile_free(profile);
}

/* No fault of the ledger, but said: the region's totals are too small. */
static void copies_without_a_call_are_noted(void **state)
{
    static const char *const faults[] = { "unknown_correlation", "no_correlation" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char script[256];
        llmperf_profile *profile;

        snprintf(script, sizeof(script),
                 "begin LLM@prefill\nlaunch a\nfault %s\ncopy htod bytes=5\nset bytes=5\n"
                 "fault none\ncopy htod bytes=7\nend\n",
                 faults[i]);
        profile = play_script(script);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        assert_int_equal(find_region(profile, "LLM@prefill", 0).memcpy_count, 1);
        assert_true(has_note(profile, "2 memcpys and memsets have no known call"));
        llmperf_profile_free(profile);
    }
}

static void a_graph_kernel_that_comes_twice_is_no_duplicate(void **state)
{
    llmperf_profile *profile = play_script("fault duplicate\ngraph a,b\n");

    (void)state; /* A node may run several times: nothing says which record is too much. */
    assert_int_equal(ledger_of(profile).records_duplicate, 0);
    assert_int_equal(ledger_of(profile).kernels_seen, 4);
    llmperf_profile_free(profile);
}

static void copies_and_sets_are_seen_beside_kernels(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\ncopy htod bytes=100\nset bytes=7\n"
                                           "launch k\nend\ncopy dtoh bytes=50\n");
    llmperf_ledger expected = LLMPERF_LEDGER_INIT;

    (void)state;
    expected.launches_expected = expected.kernels_seen = expected.kernels_attributed = 1;
    expected.memory_calls = expected.memory_seen = 3;
    expected.verdict = LLMPERF_VERDICT_COMPLETE;
    check_ledger(profile, &expected);
    assert_int_equal(find_kernel(profile, "[memcpy HtoD]", "LLM@prefill").bytes, 100);
    assert_int_equal(find_kernel(profile, "[memset]", "LLM@prefill").kind, LLMPERF_ACTIVITY_MEMSET);
    assert_int_equal(find_kernel(profile, "[memcpy DtoH]", "").bytes, 50);
    llmperf_profile_free(profile);
}

static void each_thread_has_its_own_regions(void **state)
{
    char script[8192] = "";
    llmperf_profile *profile;

    (void)state; /* Ten threads, region r<i> open on thread i; their launches take turns. */
    for (int i = 0; i < 10; i++)
        sprintf(script + strlen(script), "thread %d\nbegin r%d\n", i, i);
    for (int i = 0; i < 10; i++)
        sprintf(script + strlen(script), "thread %d\nrepeat %d\nlaunch k%d stream=%d\ndone\n", i,
                i + 1, i, i % 4);
    for (int i = 9; i >= 0; i--)
        sprintf(script + strlen(script), "thread %d\nend\n", i);
    profile = play_script(script);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS), 10);
    for (int i = 0; i < 10; i++) {
        char region[16], kernel[16];

        snprintf(region, sizeof(region), "LLM@r%d", i);
        snprintf(kernel, sizeof(kernel), "k%d", i);
        assert_int_equal(find_kernel(profile, kernel, region).calls, i + 1);
        assert_int_equal(find_region(profile, region, 0).instances, 1);
    }
    llmperf_profile_free(profile);
}

static void a_region_on_two_devices_has_two_rows(void **state)
{
    llmperf_profile *profile =
        play_script("begin outer\nbegin inner\nlaunch a device=0 duration=1000\n"
                    "launch a device=1 duration=3000\nlaunch a device=1 duration=3000 stream=9\n"
                    "end\nend\n");
    llmperf_region_stats on[2] = { find_region(profile, "LLM@outer/LLM@inner", 0),
                                   find_region(profile, "LLM@outer/LLM@inner", 1) };
    llmperf_operator_stats inner = find_operator(profile, "LLM@inner", NULL);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 4);
    assert_int_equal(on[0].kernel_count, 1);
    assert_int_equal(on[1].kernel_count, 2);
    check_close(on[0].kernel_ms, 0.001);
    check_close(on[1].kernel_ms, 0.006);
    check_close(on[0].wall_sum_ms, on[1].wall_sum_ms);
    assert_int_equal(find_region(profile, "LLM@outer", 1).kernel_count, 2);
    assert_int_equal(inner.calls, 1); /* Host times count once. */
    check_close(inner.total_time_ms, on[0].wall_sum_ms);
    check_close(inner.cuda_time_ms, on[0].gpu_busy_ms + on[1].gpu_busy_ms);
    llmperf_profile_free(profile);
}

static void a_thread_that_ends_closes_its_regions_cut_short(void **state)
{
    llmperf_profile *profile =
        play_script("thread 3\nbegin a\nbegin b\nlaunch k\nexit\nbegin a\nlaunch k\nend\n");
    llmperf_region_stats a = find_region(profile, "LLM@a", 0);

    (void)state;
    assert_int_equal(a.instances, 1);
    assert_int_equal(a.truncated, 1);
    assert_int_equal(a.kernel_count, 2);
    assert_int_equal(ledger_of(profile).regions_truncated, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(has_note(profile, "2 region calls were open"));
    llmperf_profile_free(profile);
}

static void each_fault_at_once_is_told_apart(void **state)
{
    const char *data = getenv("LLMPERF_TEST_DATA");
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_ledger expected = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile;
    char path[4096];

    (void)state;
    snprintf(path, sizeof(path), "%s/fake/faults.txt", data ? data : "tests/data");
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_path = path;
    profile = play_options(&options);
    expected.launches_expected = 11;
    expected.kernels_seen = 6; /* duplicated, late, late_launch, unknown, reordered, good */
    expected.kernels_attributed = 5;
    expected.kernels_unattributed = 1;
    expected.launches_missing = 2; /* dropped, unknown */
    expected.records_duplicate = 1;
    expected.records_incomplete = 2 + 2; /* zero_time, no_end; the driver's */
    expected.records_invalid_time = 2;   /* reversed_time, far_future */
    expected.records_dropped = 3;
    expected.regions_unbalanced = 1;
    expected.verdict = LLMPERF_VERDICT_INCOMPLETE;
    check_ledger(profile, &expected);
    llmperf_profile_free(profile);
}

static void late_files_of_many_deliveries_are_complete(void **state)
{
    const char *data = getenv("LLMPERF_TEST_DATA");
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;
    llmperf_ledger ledger;
    char path[4096];

    (void)state;
    snprintf(path, sizeof(path), "%s/fake/late.txt", data ? data : "tests/data");
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.device_path = path;
    profile = play_options(&options);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.kernels_attributed, 6000);
    assert_int_equal(ledger.kernels_unattributed, 0);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault_it_is_complete),
        cmocka_unit_test(a_record_that_never_came_is_a_missing_launch),
        cmocka_unit_test(without_any_record_the_tracing_is_dead),
        cmocka_unit_test(a_record_that_came_twice_counts_once),
        cmocka_unit_test(a_record_without_times_is_left_out_but_its_launch_is_not_missing),
        cmocka_unit_test(a_record_with_an_impossible_time_is_left_out),
        cmocka_unit_test(only_faulty_records_are_not_a_dead_driver),
        cmocka_unit_test(late_records_are_still_attributed),
        cmocka_unit_test(late_launches_still_explain_their_records),
        cmocka_unit_test(a_record_of_an_unknown_launch_is_unattributed),
        cmocka_unit_test(what_the_driver_dropped_is_named),
        cmocka_unit_test(tracing_cost_is_known_only_if_told),
        cmocka_unit_test(failed_and_captured_launches_are_not_expected),
        cmocka_unit_test(reordering_changes_nothing),
        cmocka_unit_test(all_kernels_of_one_launch_are_attributed),
        cmocka_unit_test(copies_without_a_call_are_noted),
        cmocka_unit_test(a_graph_kernel_that_comes_twice_is_no_duplicate),
        cmocka_unit_test(copies_and_sets_are_seen_beside_kernels),
        cmocka_unit_test(each_thread_has_its_own_regions),
        cmocka_unit_test(a_region_on_two_devices_has_two_rows),
        cmocka_unit_test(a_thread_that_ends_closes_its_regions_cut_short),
        cmocka_unit_test(each_fault_at_once_is_told_apart),
        cmocka_unit_test(late_files_of_many_deliveries_are_complete),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
