/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs held against each other: thresholds, noise, and what only one of them has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/output/compare.h"
#include "lib/result/profile_data.h"
#include "lib/result/result.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/rows.h"

static void add_region(llmperf_profile *profile, const char *path, uint64_t instances, double mean,
                       double std)
{
    put_region_row(profile, path, 0, 0, instances, mean, std);
}

static void add_kernel(llmperf_profile *profile, const char *name, const char *region,
                       uint64_t calls, double mean, double spread)
{
    put_kernel_row(profile, name, region, 0, calls, mean, spread);
}

static void finish(llmperf_profile *profile)
{
    finish_rows(profile);
}

/* A run of one region and one GEMM in it. */
static llmperf_profile *make_run(uint64_t instances, double wall, double wall_std, double gemm,
                                 double gemm_std)
{
    llmperf_profile *profile = lp_profile_create();

    add_region(profile, "LLM@prefill", instances, wall, wall_std);
    add_kernel(profile, "sgemm_kernel", "LLM@prefill", instances, gemm, gemm_std);
    finish(profile);
    return profile;
}

static struct lp_compare_row row_of(const struct lp_comparison *comparison, const char *region,
                                    const char *quantity)
{
    for (size_t i = 0; i < comparison->rows.count; i++)
        if (strcmp(comparison->rows.items[i].key.region, region) == 0 &&
            strcmp(comparison->rows.items[i].key.quantity, quantity) == 0)
            return comparison->rows.items[i];
    fail_msg("no row %s of %s", quantity, region);
    return (struct lp_compare_row){ .change = NAN };
}

static struct lp_comparison compare_at(const llmperf_profile *base, const llmperf_profile *fresh,
                                       double threshold)
{
    const struct lp_compare_runs sides[] = { { &base, 1 }, { &fresh, 1 } };
    struct lp_comparison comparison = { .classes = NULL };

    assert_int_equal(lp_compare(&sides[0], &sides[1], threshold, &comparison), 0);
    return comparison;
}

static struct lp_comparison compare(const llmperf_profile *base, const llmperf_profile *fresh)
{
    return compare_at(base, fresh, 0.05);
}

static void a_growth_above_threshold_and_noise_is_a_regression(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1),
                    *fresh = make_run(100, 11, 0.5, 4.4, 0.1);
    struct lp_comparison comparison = compare(base, fresh);
    struct lp_compare_row wall = row_of(&comparison, "LLM@prefill", "wall");

    (void)state;
    assert_int_equal(wall.verdict, LP_COMPARE_SLOWER);
    check_close(wall.change, 0.1);
    /* Two standard errors of 0.05, t of 198 degrees of freedom. */
    assert_true(fabs(wall.noise_ms - 2.601 * sqrt(2 * 0.05 * 0.05)) < 0.001);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "device").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(comparison.slower, 3);
    lp_compare_clear(&comparison);
    comparison = compare(fresh, base);
    assert_int_equal(comparison.slower, 0);
    assert_int_equal(comparison.faster, 3);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_growth_within_noise_is_none(void **state)
{
    llmperf_profile *base = make_run(4, 10, 4, 4, 2), *fresh = make_run(4, 12, 4, 5, 2);
    struct lp_comparison comparison = compare(base, fresh);

    (void)state; /* 20 and 25 % more, of means that are not known better than that. */
    assert_int_equal(row_of(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_SAME);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_growth_below_the_threshold_is_none(void **state)
{
    llmperf_profile *base = make_run(10000, 10, 0.01, 4, 0.001),
                    *fresh = make_run(10000, 10.4, 0.01, 4.1, 0.001);
    struct lp_comparison comparison = compare(base, fresh);

    (void)state;
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    comparison = compare_at(base, fresh, 0.03);
    assert_int_equal(comparison.slower, 1); /* the wall's 4 %, not the kernels' 2.5 % */
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void one_instance_leaves_the_threshold_alone(void **state)
{
    llmperf_profile *base = make_run(1, 10, 0, 4, 0), *fresh = make_run(1, 11, 0, 4, 0);
    struct lp_comparison comparison = compare(base, fresh);

    (void)state;
    assert_true(isnan(row_of(&comparison, "LLM@prefill", "wall").noise_ms));
    assert_int_equal(row_of(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void runs_of_different_length_compare_per_instance(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1), *fresh = make_run(900, 10, 0.5, 4, 0.1);
    struct lp_comparison comparison = compare(base, fresh);

    (void)state;
    assert_int_equal(comparison.slower + comparison.faster, 0);
    check_close(row_of(&comparison, "LLM@prefill", "device").change, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void sampled_device_work_is_of_the_sampled_instances(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1), *fresh = make_run(100, 10, 0.5, 4, 0.1);
    struct lp_comparison comparison;

    (void)state; /* A quarter of the steps was collected: 25 calls, not 100. */
    fresh->regions.items[0].stats.skipped_fraction = 0.75;
    fresh->kernels.items[0].stats.calls = 25;
    fresh->kernels.items[0].stats.total_ms = 100;
    comparison = compare(base, fresh);
    check_close(row_of(&comparison, "LLM@prefill", "device").fresh.of.mean_ms, 4);
    assert_int_equal(comparison.slower + comparison.faster, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void small_rows_and_lonely_ones_are_not_judged(void **state)
{
    llmperf_profile *base = lp_profile_create(), *fresh = lp_profile_create();
    struct lp_comparison comparison;

    (void)state;
    add_region(base, "A", 10, 100, 1);
    add_region(fresh, "A", 10, 100, 1);
    add_region(base, "B", 10, 0.1, 0.001);
    add_region(fresh, "B", 10, 0.3, 0.001);
    add_region(fresh, "C", 10, 50, 1);
    add_region(base, "A/D", 10, 20, 1);
    add_kernel(base, "sgemm_kernel", "A/D", 10, 5, 0.01);
    finish(base);
    finish(fresh);
    comparison = compare(base, fresh);
    assert_int_equal(row_of(&comparison, "B", "wall").verdict, LP_COMPARE_MINOR);
    assert_int_equal(row_of(&comparison, "C", "wall").verdict, LP_COMPARE_ONLY_NEW);
    assert_int_equal(row_of(&comparison, "A/D", "wall").verdict, LP_COMPARE_ONLY_BASE);
    /* What a nested region launched is in the one around it, too. */
    check_close(row_of(&comparison, "A", "GEMM").base.of.mean_ms, 5);
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static bool is_in_both(const struct lp_compare_row *row)
{
    return row->verdict != LP_COMPARE_ONLY_BASE && row->verdict != LP_COMPARE_ONLY_NEW;
}

static void what_only_one_run_has_comes_behind_what_both_have(void **state)
{
    llmperf_profile *base = lp_profile_create(), *fresh = lp_profile_create();
    struct lp_comparison comparison;
    json_t *root, *first, *last;
    const char *both, *lonely;
    char *text;
    size_t i = 0;

    (void)state;
    add_region(base, "LLM@prefill", 10, 10, 1);
    add_region(fresh, "LLM@prefill", 10, 10.1, 1);
    add_region(base, "LLM@decode_step", 10, 20, 1);
    add_region(fresh, "LLM@decode_step", 10, 20.5, 1);
    add_region(fresh, "APP@warm_up", 10, 5000, 1);
    finish(base);
    finish(fresh);
    comparison = compare(base, fresh);
    while (i < comparison.rows.count && is_in_both(&comparison.rows.items[i]))
        i++;
    assert_true(i >= 2 && i < comparison.rows.count);
    assert_string_equal(comparison.rows.items[0].key.region, "LLM@decode_step");
    while (i < comparison.rows.count)
        assert_false(is_in_both(&comparison.rows.items[i++]));
    lp_compare_clear(&comparison);

    assert_int_equal(llmperf_compare(base, fresh, 5, LLMPERF_COMPARE_MD, &text, NULL), 0);
    both = strstr(text, "| `LLM@prefill` | wall |");
    lonely = strstr(text, "| `APP@warm_up` | wall |");
    assert_true(both && lonely && both < lonely);
    llmperf_text_free(text);
    assert_int_equal(llmperf_compare(base, fresh, 5, LLMPERF_COMPARE_JSON, &text, NULL), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    first = json_array_get(json_object_get(root, "rows"), 0);
    last = json_array_get(json_object_get(root, "rows"),
                          json_array_size(json_object_get(root, "rows")) - 1);
    assert_string_equal(json_string_value(json_object_get(first, "region")), "LLM@decode_step");
    assert_string_equal(json_string_value(json_object_get(last, "verdict")), "only in new");
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void add_spread(llmperf_profile *profile, double mean, double std)
{
    struct lp_iteration_stats_row row = { LLMPERF_ITERATION_STATS_INIT, { NULL, 0 } };

    row.stats.region = "LLM@prefill";
    row.stats.quantity = "GEMM";
    row.stats.is_class = 1;
    row.stats.count = 50;
    row.stats.mean_ms = mean;
    row.stats.std_ms = std;
    assert_int_equal(lp_vector_push(&profile->iteration_stats, row), 0);
}

static void spreads_of_iterations_are_used_where_both_have_them(void **state)
{
    llmperf_profile *base = make_run(50, 10, 0.5, 4, 0), *fresh = make_run(50, 10, 0.5, 4.4, 0);
    struct lp_comparison comparison;

    (void)state;
    add_spread(base, 4, 3);
    comparison = compare(base, fresh);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SLOWER);
    lp_compare_clear(&comparison);
    add_spread(fresh, 4.4, 3);
    comparison = compare(base, fresh);
    assert_int_equal(row_of(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    check_close(row_of(&comparison, "LLM@prefill", "GEMM").noise_ms,
                lp_student_99(98) * sqrt(2 * 9.0 / 50));
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void students_t_is_that_of_the_tables(void **state)
{
    (void)state;
    assert_float_equal(lp_student_99(1), 63.657, 1e-3);
    assert_float_equal(lp_student_99(9.7), 3.250, 1e-3);
    assert_float_equal(lp_student_99(20), 2.845, 1e-3);
    assert_float_equal(lp_student_99(30), 2.750, 0.01);
    assert_float_equal(lp_student_99(60), 2.660, 0.01);
    assert_float_equal(lp_student_99(1e9), 2.576, 1e-3);
    assert_float_equal(lp_student_99(NAN), 63.657, 1e-3);
}

static void texts_are_for_people_and_for_programs(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1), *fresh = make_run(100, 20, 0.5, 4, 0.1);
    uint64_t slower = 0;
    json_t *root;
    char *text;

    (void)state;
    assert_int_equal(llmperf_compare(base, fresh, 5, LLMPERF_COMPARE_MD, &text, &slower), 0);
    assert_int_equal(slower, 1);
    assert_non_null(strstr(text, "**Regression**: 1 slower, 0 faster"));
    assert_non_null(strstr(text, "| `LLM@prefill` | wall |"));
    llmperf_text_free(text);
    assert_int_equal(llmperf_compare(base, fresh, 5, LLMPERF_COMPARE_JSON, &text, NULL), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_int_equal(json_integer_value(json_object_get(root, "slower")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 3);
    json_decref(root);
    llmperf_text_free(text);
    assert_int_equal(llmperf_compare(base, NULL, 5, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_compare(base, fresh, -1, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_compare(base, fresh, NAN, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_compare(base, fresh, 5, 2, &text, NULL), LLMPERF_EINVAL);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_growth_above_threshold_and_noise_is_a_regression),
        cmocka_unit_test(a_growth_within_noise_is_none),
        cmocka_unit_test(a_growth_below_the_threshold_is_none),
        cmocka_unit_test(one_instance_leaves_the_threshold_alone),
        cmocka_unit_test(runs_of_different_length_compare_per_instance),
        cmocka_unit_test(sampled_device_work_is_of_the_sampled_instances),
        cmocka_unit_test(small_rows_and_lonely_ones_are_not_judged),
        cmocka_unit_test(what_only_one_run_has_comes_behind_what_both_have),
        cmocka_unit_test(spreads_of_iterations_are_used_where_both_have_them),
        cmocka_unit_test(students_t_is_that_of_the_tables),
        cmocka_unit_test(texts_are_for_people_and_for_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
