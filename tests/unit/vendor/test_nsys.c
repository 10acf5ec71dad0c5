/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of nsys: five schemas, and the projection of kernels on ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llmperf/sys.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

static void every_schema_gives_the_same_profile(void **state)
{
    (void)state;
    for (int schema = 0; schema < SCHEMAS; schema++) {
        struct nsys_file file;
        llmperf_profile *profile;

        nsys_create(&file, (enum nsys_schema)schema);
        nsys_range(&file, 10, 11, 0, 1000, "LLM@prefill");
        nsys_call(&file, 10, 11, 100, 150, 1);
        nsys_kernel(&file, 10, 200, 700, 1, 1);
        nsys_sql(&file,
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, \"end\", deviceId, correlationId, "
                 "globalPid, bytes, copyKind) VALUES(800, 900, 0, 2, %lld, 64, 1);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, \"end\", deviceId, correlationId, "
                 "globalPid, bytes) VALUES(900, 950, 0, 3, %lld, 32)",
                 (long long)nsys_process(10), (long long)nsys_process(10));
        profile = nsys_import(&file);
        assert_int_equal(find_kernel(profile, "kernel_a", "LLM@prefill").calls, 1);
        check_close(find_kernel(profile, "kernel_a", "LLM@prefill").total_ms, 0.0005);
        assert_int_equal(find_kernel(profile, "[memcpy HtoD]", NULL).bytes, 64);
        assert_int_equal(find_kernel(profile, "[memset]", NULL).bytes, 32);
        assert_int_equal(find_region(profile, "LLM@prefill", 0).instances, 1);
        assert_int_equal(find_region(profile, "LLM@prefill", 0).process_id, 10);
        check_close(find_region(profile, "LLM@prefill", 0).wall_sum_ms, 0.001);
        assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
        assert_non_null(llmperf_profile_fact(profile, "nsys_schema"));
        assert_string_equal(llmperf_profile_fact(profile, "source"), "nsys");
        llmperf_profile_free(profile);
    }
}

/* Projection */

static void every_range_around_the_call_gets_the_kernel(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 1000, "outer");
    nsys_range(&file, 10, 11, 100, 500, "inner");
    nsys_call(&file, 10, 11, 200, 210, 1);
    nsys_call(&file, 10, 11, 600, 610, 2);
    nsys_kernel(&file, 10, 5000, 6000, 1, 1);
    nsys_kernel(&file, 10, 7000, 9000, 2, 2);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@outer", 0).kernel_count, 2);
    check_close(find_region(profile, "default@outer", 0).kernel_ms, 0.003);
    check_close(find_region(profile, "default@outer", 0).exclusive_kernel_ms, 0.002);
    assert_int_equal(find_region(profile, "default@outer/default@inner", 0).kernel_count, 1);
    llmperf_profile_free(profile);
}

static void the_longer_of_two_ranges_that_begin_together_is_around_the_other(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 500, "inner");
    nsys_range(&file, 10, 11, 0, 1000, "outer");
    nsys_call(&file, 10, 11, 200, 210, 1);
    nsys_kernel(&file, 10, 5000, 6000, 1, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@outer/default@inner", 0).kernel_count, 1);
    assert_false(has_region(profile, "default@inner"));
    llmperf_profile_free(profile);
}

static void a_range_holds_whole_calls_of_its_own_thread_only(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 100, 200, "range");
    nsys_call(&file, 10, 11, 190, 201, 1); /* ends behind it */
    nsys_call(&file, 10, 11, 99, 120, 2);  /* begins before it */
    nsys_call(&file, 10, 12, 150, 160, 3); /* another thread */
    nsys_call(&file, 10, 11, 100, 200, 4); /* just fits */
    for (uint32_t i = 1; i <= 4; i++)
        nsys_kernel(&file, 10, 1000 * i, 1000 * i + 100, i, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@range", 0).kernel_count, 1);
    assert_int_equal(ledger_of(profile).kernels_outside, 3);
    llmperf_profile_free(profile);
}

static void busy_time_is_the_union_of_streams_that_overlap(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state; /* Edge case 28: also kernels that overlap on one stream. */
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 1000, "range");
    nsys_call(&file, 10, 11, 10, 20, 1);
    nsys_call(&file, 10, 11, 30, 40, 2);
    nsys_kernel(&file, 10, 1000, 2000, 1, 1);
    nsys_kernel(&file, 10, 1500, 2500, 2, 1);
    profile = nsys_import(&file);
    check_close(find_region(profile, "default@range", 0).kernel_ms, 0.002);
    check_close(find_region(profile, "default@range", 0).gpu_busy_ms, 0.0015);
    llmperf_profile_free(profile);
}

static void ranges_that_overlap_without_nesting_each_get_their_calls(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 200, "a");
    nsys_range(&file, 10, 11, 100, 300, "b");
    nsys_call(&file, 10, 11, 50, 60, 1);   /* a */
    nsys_call(&file, 10, 11, 150, 160, 2); /* a and b */
    nsys_call(&file, 10, 11, 250, 260, 3); /* b */
    for (uint32_t i = 1; i <= 3; i++)
        nsys_kernel(&file, 10, 1000 * i, 1000 * i + 100, i, 1);
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@a", 0).kernel_count, 2);
    assert_int_equal(find_region(profile, "default@a/default@b", 0).kernel_count, 1);
    assert_int_equal(find_region(profile, "default@b", 0).kernel_count, 1);
    llmperf_profile_free(profile);
}

static void sisters_that_touch_are_not_nested(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "a");
    nsys_range(&file, 10, 11, 100, 200, "b");
    profile = nsys_import(&file);
    assert_true(has_region(profile, "default@b"));
    assert_false(has_region(profile, "default@a/default@b"));
    llmperf_profile_free(profile);
}

static void names_lose_what_torch_appends_unless_they_are_to_stay(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "aten::mm, op_id = 1");
    nsys_range(&file, 10, 11, 100, 200, "aten::mm, seq = 5, op_id = 2, sizes = [[1, 2]]");
    profile = nsys_import(&file);
    assert_int_equal(find_region(profile, "default@aten::mm", -1).instances, 2);
    llmperf_profile_free(profile);
    profile = import_file(file.path, LLMPERF_IMPORT_EXACT_NAMES);
    assert_true(has_region(profile, "default@aten::mm, op_id = 1"));
    llmperf_profile_free(profile);
}

static void ranges_of_engines_are_what_they_are_in_live_runs(void **state)
{
    struct nsys_file file;
    llmperf_profile *profile;
    llmperf_region_stats step;

    (void)state;
    nsys_create(&file, SCHEMA_3_25);
    nsys_range(&file, 10, 11, 0, 100, "step[DECODE bs=4 g_sqsq=4 g_sqsk=30 g_sk=30]");
    nsys_range(&file, 10, 11, 100, 200, "step[DECODE bs=5 g_sqsq=5 g_sqsk=41 g_sk=41]");
    nsys_range(&file, 10, 11, 120, 180, "step[VERIFY bs=5]");
    profile = nsys_import(&file);
    step = find_region(profile, "sglang@decode_step", -1);
    assert_int_equal(step.instances, 2);
    assert_int_equal(step.kind, LLMPERF_REGION_STAGE);
    assert_int_equal(step.tokens, 9);
    assert_int_equal(step.context, 71);
    assert_int_equal(find_region(profile, "sglang@decode_step/sglang@verify_step", -1).kind,
                     LLMPERF_REGION_OPERATOR);
    llmperf_profile_free(profile);
    profile = import_file(file.path, LLMPERF_IMPORT_EXACT_NAMES);
    assert_int_equal(
        find_region(profile, "default@step[DECODE bs=4 g_sqsq=4 g_sqsk=30 g_sk=30]", -1).tokens,
        LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
}

static void flags_of_another_version_are_refused(void **state)
{
    llmperf_import_options options = LLMPERF_IMPORT_OPTIONS_INIT;
    const char *path = "any.sqlite";
    llmperf_profile *profile = NULL;

    (void)state;
    options.flags = LLMPERF_IMPORT_EXACT_NAMES | 12;
    assert_int_equal(llmperf_import(&path, 1, &options, &profile), LLMPERF_EINVAL);
    check_error("unknown flags 0xc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_schema_gives_the_same_profile),
        cmocka_unit_test(every_range_around_the_call_gets_the_kernel),
        cmocka_unit_test(the_longer_of_two_ranges_that_begin_together_is_around_the_other),
        cmocka_unit_test(a_range_holds_whole_calls_of_its_own_thread_only),
        cmocka_unit_test(busy_time_is_the_union_of_streams_that_overlap),
        cmocka_unit_test(ranges_that_overlap_without_nesting_each_get_their_calls),
        cmocka_unit_test(sisters_that_touch_are_not_nested),
        cmocka_unit_test(names_lose_what_torch_appends_unless_they_are_to_stay),
        cmocka_unit_test(ranges_of_engines_are_what_they_are_in_live_runs),
        cmocka_unit_test(flags_of_another_version_are_refused),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
