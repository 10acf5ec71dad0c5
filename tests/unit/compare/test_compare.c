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

#include "lib/compare/compare.h"
#include "lib/statistics/student.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/compared.h"
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

static void a_growth_above_threshold_and_noise_is_a_regression(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1),
                    *fresh = make_run(100, 11, 0.5, 4.4, 0.1);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row wall = compared_row(&comparison, "LLM@prefill", "wall");

    (void)state;
    assert_int_equal(wall.verdict, LP_COMPARE_SLOWER);
    check_close(wall.change, 0.1);
    /* Two standard errors of 0.05, t of 198 degrees of freedom. */
    assert_true(fabs(wall.noise_ms - 2.601 * sqrt(2 * 0.05 * 0.05)) < 0.001);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "device").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(comparison.slower, 3);
    lp_compare_clear(&comparison);
    comparison = compare_profiles(fresh, base);
    assert_int_equal(comparison.slower, 0);
    assert_int_equal(comparison.faster, 3);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_growth_within_noise_is_none(void **state)
{
    llmperf_profile *base = make_run(4, 10, 4, 4, 2), *fresh = make_run(4, 12, 4, 5, 2);
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state; /* 20 and 25 % more, of means that are not known better than that. */
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_SAME);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_growth_below_the_threshold_is_none(void **state)
{
    llmperf_profile *base = make_run(10000, 10, 0.01, 4, 0.001),
                    *fresh = make_run(10000, 10.4, 0.01, 4.1, 0.001);
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state;
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    comparison = compare_profiles_at(base, fresh, 0.03);
    assert_int_equal(comparison.slower, 1); /* the wall's 4 %, not the kernels' 2.5 % */
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void one_instance_leaves_the_threshold_alone(void **state)
{
    llmperf_profile *base = make_run(1, 10, 0, 4, 0), *fresh = make_run(1, 11, 0, 4, 0);
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state;
    assert_true(isnan(compared_row(&comparison, "LLM@prefill", "wall").noise_ms));
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void runs_of_different_length_compare_per_instance(void **state)
{
    llmperf_profile *base = make_run(100, 10, 0.5, 4, 0.1), *fresh = make_run(900, 10, 0.5, 4, 0.1);
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state;
    assert_int_equal(comparison.slower + comparison.faster, 0);
    check_close(compared_row(&comparison, "LLM@prefill", "device").change, 0);
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
    comparison = compare_profiles(base, fresh);
    check_close(compared_row(&comparison, "LLM@prefill", "device").fresh.of.mean_ms, 4);
    assert_int_equal(comparison.slower + comparison.faster, 0);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

/* Of turns with a prefill, collected whole, and 50 steps each, of which a quarter was collected. */
static llmperf_profile *make_sampled_run(void)
{
    llmperf_profile *profile = lp_profile_create();

    add_region(profile, "APP@turn", 2, 300, 1);
    add_region(profile, "APP@turn/LLM@prefill", 2, 20, 1);
    add_region(profile, "APP@turn/LLM@decode_step", 100, 5, 1);
    add_kernel(profile, "sgemm_kernel", "APP@turn/LLM@prefill", 2, 10, 0);
    add_kernel(profile, "sgemm_kernel", "APP@turn/LLM@decode_step", 25, 4, 0.4);
    profile->regions.items[0].stats.skipped_fraction = 0.7;
    profile->regions.items[2].stats.skipped_fraction = 0.75;
    finish(profile);
    profile->ledger.verdict = LLMPERF_VERDICT_SAMPLED;
    profile->ledger.sampled_fraction = 0.3;
    return profile;
}

static void what_was_sampled_of_a_stage_stands_for_the_rest_of_it(void **state)
{
    llmperf_profile *run = make_sampled_run();
    struct lp_comparison comparison = compare_profiles(run, run);
    struct lp_compare_side turn = compared_row(&comparison, "APP@turn", "device").base;
    struct lp_compare_side step =
        compared_row(&comparison, "APP@turn/LLM@decode_step", "device").base;

    (void)state;
    check_close(step.of.mean_ms, 4);
    check_close(step.of.total_ms, 400);
    check_close(step.of.error_ms, 0.4 / 5); /* of 25 calls, not of 100 */
    assert_int_equal(step.of.instances, 25);
    check_close(turn.of.mean_ms, (2 * 10 + 100 * 4) / 2.0);
    check_close(turn.whole_ms, 420);
    lp_compare_clear(&comparison);
    llmperf_profile_free(run);
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
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "B", "wall").verdict, LP_COMPARE_MINOR);
    assert_int_equal(compared_row(&comparison, "C", "wall").verdict, LP_COMPARE_ONLY_NEW);
    assert_int_equal(compared_row(&comparison, "A/D", "wall").verdict, LP_COMPARE_ONLY_BASE);
    /* What a nested region launched is in the one around it, too. */
    check_close(compared_row(&comparison, "A", "GEMM").base.of.mean_ms, 5);
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
    add_region(fresh, "APP@warm_up", 10, 20, 1);
    finish(base);
    finish(fresh);
    comparison = compare_profiles(base, fresh);
    while (i < comparison.rows.count && is_in_both(&comparison.rows.items[i]))
        i++;
    assert_true(i >= 2 && i < comparison.rows.count);
    assert_string_equal(comparison.rows.items[0].key.region, "LLM@decode_step");
    while (i < comparison.rows.count)
        assert_false(is_in_both(&comparison.rows.items[i++]));
    lp_compare_clear(&comparison);

    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL), 0);
    both = strstr(text, "| `LLM@prefill` | wall |");
    lonely = strstr(text, "| `APP@warm_up` | wall |");
    assert_true(both && lonely && both < lonely);
    llmperf_text_free(text);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_JSON, &text, NULL), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_int_equal(json_integer_value(json_object_get(root, "schema_version")), 3);
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
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SLOWER);
    lp_compare_clear(&comparison);
    add_spread(fresh, 4.4, 3);
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "GEMM").verdict, LP_COMPARE_SAME);
    check_close(compared_row(&comparison, "LLM@prefill", "GEMM").noise_ms,
                lp_student_99(98) * sqrt(2 * 9.0 / 50));
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void add_busy(llmperf_profile *profile, uint64_t count, double mean, double std)
{
    struct lp_iteration_stats_row row = { LLMPERF_ITERATION_STATS_INIT, { NULL, 0 } };

    row.stats.region = "APP@turn/LLM@decode_step";
    row.stats.quantity = "busy";
    row.stats.count = count;
    row.stats.mean_ms = mean;
    row.stats.std_ms = std;
    assert_int_equal(lp_vector_push(&profile->iteration_stats, row), 0);
}

/* Two streams: the GPU was busy for half the 4 ms that kernels add up to, 25 times within 0.5 ms.
 */
static void noise_of_device_time_is_that_of_the_instances_collected(void **state)
{
    llmperf_profile *run = make_sampled_run();
    struct lp_comparison comparison;
    struct lp_compare_row row;

    (void)state;
    add_busy(run, 25, 2, 0.5);
    comparison = compare_profiles(run, run);
    row = compared_row(&comparison, "APP@turn/LLM@decode_step", "device");
    check_close(row.base.of.mean_ms, 4);
    check_close(row.base.of.error_ms, 4 * 0.5 / 2 / 5);
    check_close(row.noise_ms, lp_student_99(48) * sqrt(2) * 0.2);
    check_close(row.base.of.total_ms, 400);
    /* A turn has 50 steps, and kernels of steps that were taken for 25 independent calls. */
    row = compared_row(&comparison, "APP@turn", "device");
    check_close(row.base.of.mean_ms, 210);
    check_close(row.base.of.error_ms, hypot(50 * 0.2, 50 * 0.08));
    check_close(row.base.of.freedom, 24);
    lp_compare_clear(&comparison);
    llmperf_profile_free(run);
}

static void a_sample_of_one_instance_is_not_judged(void **state)
{
    llmperf_profile *base = make_sampled_run(), *fresh = make_sampled_run();
    struct lp_comparison comparison;

    (void)state;
    fresh->kernels.items[0].stats.total_ms *= 2;
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "APP@turn/LLM@decode_step", "device").verdict,
                     LP_COMPARE_SLOWER);
    lp_compare_clear(&comparison);
    add_busy(fresh, 1, 4, NAN);
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "APP@turn/LLM@decode_step", "device").verdict,
                     LP_COMPARE_SINGLE);
    lp_compare_clear(&comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void a_verdict_says_what_device_times_are(void **state)
{
    llmperf_profile *base = make_sampled_run(), *fresh = make_run(10, 10, 0.5, 4, 0.1);
    char *text;

    (void)state;
    fresh->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_ENOTCOMPARABLE);
    assert_non_null(strstr(text, ", sampled: device times cover 30.0 % of its work, and the noise "
                                 "includes sampling error; "));
    assert_non_null(strstr(text, ", incomplete: its device times may be incomplete"));
    llmperf_text_free(text);
    fresh->ledger.verdict = LLMPERF_VERDICT_NO_DEVICE;
    assert_int_equal(compare_pair(fresh, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL), 0);
    assert_non_null(strstr(text, ", no_device: host times only\n"));
    assert_null(strstr(text, "may be incomplete"));
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

/* What a comparison of two runs says; "": they can be compared. Takes the runs. */
static void check_reason(llmperf_profile *base, llmperf_profile *fresh, const char *reason)
{
    struct lp_comparison comparison = compare_profiles(base, fresh);
    int expected = *reason ? LLMPERF_ENOTCOMPARABLE : LLMPERF_OK;
    char *text;

    assert_string_equal(comparison.reason, reason);
    lp_compare_clear(&comparison);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_JSON, &text, NULL), expected);
    assert_non_null(strstr(text, *reason ? "\"verdict\": \"not comparable\"" : "\"reason\": null"));
    llmperf_text_free(text);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL), expected);
    assert_int_equal(strncmp(text, "# llmperf compare: not comparable: ", 35) == 0, *reason != 0);
    assert_int_equal(strstr(text, "**No regression**") == NULL, *reason != 0);
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

/* Instances of 10 ms in regions, and of each kernel calls of so many ms. */
static llmperf_profile *make_program(const char *region, double in_region, const char *kernel,
                                     double outside)
{
    llmperf_profile *profile = lp_profile_create();

    if (region)
        add_region(profile, region, 10, 10, 0.1);
    if (outside > 0)
        add_region(profile, "", 0, NAN, NAN);
    if (in_region > 0)
        add_kernel(profile, "sgemm_kernel", region, 10, in_region, 0.01);
    if (outside > 0)
        add_kernel(profile, kernel, "", 10, outside, 0.01);
    finish(profile);
    return profile;
}

static void runs_with_little_in_common_are_not_compared(void **state)
{
    (void)state;
    check_reason(make_program("LLM@prefill", 4, NULL, 0), make_program("APP@resize", 4, NULL, 0),
                 "only 0 % of the device time of base is in regions or kernels that new has too");
    check_reason(make_program("LLM@prefill", 4, NULL, 0), make_program("LLM@prefill", 0, NULL, 0),
                 "new has no kernels");
    check_reason(make_program("LLM@prefill", 0, NULL, 0), make_program("LLM@prefill", 4, NULL, 0),
                 "base has no kernels");
    check_reason(make_program(NULL, 0, NULL, 0), make_program(NULL, 0, NULL, 0),
                 "base has no kernels and no regions");
    /* Without kernels host time is compared. */
    check_reason(make_program("LLM@prefill", 0, NULL, 0), make_program("LLM@prefill", 0, NULL, 0),
                 "");
    check_reason(make_program("LLM@prefill", 0, NULL, 0), make_program("APP@resize", 0, NULL, 0),
                 "only 0 % of the host time of base is in regions that new has too");
    /* Half of the time is enough, here of the time outside of regions too. */
    check_reason(make_program("LLM@prefill", 4, NULL, 0),
                 make_program("LLM@prefill", 4, "other", 4), "");
    check_reason(
        make_program("LLM@prefill", 4, NULL, 0), make_program("LLM@prefill", 4, "other", 5),
        "only 44.4 % of the device time of new is in regions or kernels that base has too");
    check_reason(make_program(NULL, 0, "softmax", 4), make_program(NULL, 0, "softmax", 4), "");
    check_reason(make_program(NULL, 0, "softmax", 4), make_program(NULL, 0, "vector_add", 4),
                 "only 0 % of the device time of base is in regions or kernels that new has too");
}

static void a_region_within_one_that_both_have_is_compared_in_it(void **state)
{
    llmperf_profile *base = make_program("LLM@prefill", 0, NULL, 0),
                    *fresh = make_program("LLM@prefill", 0, NULL, 0);

    (void)state;
    add_region(base, "LLM@prefill/LLM@attention", 10, 9, 0.1);
    add_kernel(base, "sgemm_kernel", "LLM@prefill/LLM@attention", 10, 4, 0.01);
    add_region(fresh, "LLM@prefill/LLM@fused", 10, 9, 0.1);
    add_kernel(fresh, "flash_fwd", "LLM@prefill/LLM@fused", 10, 4, 0.01);
    finish(base);
    finish(fresh);
    check_reason(base, fresh, "");
}

static void dead_runs_are_not_compared_by_their_host_times(void **state)
{
    llmperf_profile *base = make_program("LLM@prefill", 0, NULL, 0),
                    *fresh = make_program("LLM@prefill", 0, NULL, 0);

    (void)state;
    base->ledger.verdict = fresh->ledger.verdict = LLMPERF_VERDICT_DEAD;
    check_reason(base, fresh, "base received no device records (verdict dead)");
}

static void each_of_several_runs_must_have_its_part(void **state)
{
    llmperf_profile *runs[] = { make_program("LLM@prefill", 4, NULL, 0),
                                make_program("LLM@prefill", 4, NULL, 0),
                                make_program("LLM@prefill", 0, NULL, 0) };
    char *text;

    (void)state;
    assert_int_equal(llmperf_runs_compare((const llmperf_profile *const *)runs, 1,
                                          (const llmperf_profile *const *)runs + 1, 2, 5,
                                          LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_ENOTCOMPARABLE);
    assert_string_equal(llmperf_last_error(), "not comparable: run 2 of new has no kernels");
    llmperf_text_free(text);
    for (int i = 0; i < 3; i++)
        llmperf_profile_free(runs[i]);
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
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, &slower), 0);
    assert_int_equal(slower, 1);
    assert_non_null(strstr(text, "**Regression**: 1 slower, 0 faster"));
    assert_non_null(strstr(text, "| `LLM@prefill` | wall |"));
    llmperf_text_free(text);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_JSON, &text, NULL), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_int_equal(json_integer_value(json_object_get(root, "slower")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "rows")), 3);
    json_decref(root);
    llmperf_text_free(text);
    assert_int_equal(compare_pair(base, NULL, 5, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(compare_pair(base, fresh, -1, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(compare_pair(base, fresh, NAN, 0, &text, NULL), LLMPERF_EINVAL);
    assert_int_equal(compare_pair(base, fresh, 5, 3, &text, NULL), LLMPERF_EINVAL);
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
        cmocka_unit_test(what_was_sampled_of_a_stage_stands_for_the_rest_of_it),
        cmocka_unit_test(small_rows_and_lonely_ones_are_not_judged),
        cmocka_unit_test(what_only_one_run_has_comes_behind_what_both_have),
        cmocka_unit_test(spreads_of_iterations_are_used_where_both_have_them),
        cmocka_unit_test(noise_of_device_time_is_that_of_the_instances_collected),
        cmocka_unit_test(a_sample_of_one_instance_is_not_judged),
        cmocka_unit_test(a_verdict_says_what_device_times_are),
        cmocka_unit_test(runs_with_little_in_common_are_not_compared),
        cmocka_unit_test(a_region_within_one_that_both_have_is_compared_in_it),
        cmocka_unit_test(dead_runs_are_not_compared_by_their_host_times),
        cmocka_unit_test(each_of_several_runs_must_have_its_part),
        cmocka_unit_test(students_t_is_that_of_the_tables),
        cmocka_unit_test(texts_are_for_people_and_for_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
