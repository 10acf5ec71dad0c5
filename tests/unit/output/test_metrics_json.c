/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.json of a run that has iterations. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "llmperf/sys.h"
#include "tests/support/sample.h"

static char path[64];

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("LLMPERF_DTYPE");
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    snprintf(path, sizeof(path), "/tmp/llmperf-metrics-%ld.json", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* Of a profile, which is freed; the schema holds. */
static json_t *metrics_of(llmperf_profile *profile)
{
    json_t *root;

    assert_int_equal(llmperf_document_write(profile, LLMPERF_DOCUMENT_METRICS_JSON, path), 0);
    if (llmperf_validate(path, NULL) < 0)
        fail_msg("%s", llmperf_last_error());
    root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    llmperf_profile_free(profile);
    return root;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not %.9g", value, expected);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    assert_true(json_is_number(value));
    return json_number_value(value);
}

static bool has_note(const json_t *root, const char *part)
{
    const json_t *notes = json_object_get(root, "notes");

    for (size_t i = 0; i < json_array_size(notes); i++)
        if (strstr(json_string_value(json_array_get(notes, i)), part))
            return true;
    return false;
}

static const json_t *region_of(const json_t *root, const char *region)
{
    const json_t *rows = json_object_get(root, "regions");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        if (strcmp(json_string_value(json_object_get(row, "path")), region) == 0)
            return row;
    }
    fail_msg("no region %s", region);
    return NULL;
}

static void iterations_show_the_spread_of_each_time_and_class(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *stage = json_array_get(json_object_get(root, "iterations"), 0);
    const json_t *wall = json_object_get(stage, "wall_ms");

    (void)state;
    assert_int_equal(json_array_size(json_object_get(root, "iterations")), 1);
    assert_string_equal(json_string_value(json_object_get(stage, "region")), SAMPLE_STEP);
    assert_near(number(stage, "count"), SAMPLE_STEPS, 0);
    assert_near(number(wall, "cv"), 0.21, 1e-12);
    assert_near(number(wall, "p99"), 31, 0);
    assert_near(number(json_object_get(stage, "idle_launch_ms"), "mean"), 4, 0);
    assert_near(number(json_object_get(json_object_get(stage, "class_ms"), "attention"), "mean"), 1,
                0);
    json_decref(root);
}

static void only_the_newest_iterations_stand_one_by_one(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *stage = json_array_get(json_object_get(root, "iterations"), 0);
    const json_t *recent = json_object_get(stage, "recent");
    const json_t *first = json_array_get(recent, 0);

    (void)state;
    assert_int_equal(json_array_size(recent), 256);
    assert_near(number(first, "sequence"), SAMPLE_STEPS - 255, 0);
    assert_near(number(json_array_get(recent, 255), "sequence"), SAMPLE_STEPS, 0);
    assert_near(number(first, "context"), 16384, 0);
    assert_int_equal(json_object_size(json_object_get(first, "class_ms")), 3);
    json_decref(root);
}

static void histogram_counts_each_iteration_once(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *rows =
        json_object_get(json_array_get(json_object_get(root, "iterations"), 0), "wall_histogram");
    const json_t *slow = json_array_get(rows, 1);

    (void)state;
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_integer_value(json_array_get(slow, 2)), 3);
    assert_true(json_number_value(json_array_get(slow, 0)) <= 31);
    assert_true(json_number_value(json_array_get(slow, 1)) > 31);
    json_decref(root);
}

static void times_that_are_not_known_are_null_with_a_reason(void **state)
{
    llmperf_profile *profile = sample_rows();
    const json_t *stage;
    json_t *root;

    (void)state;
    profile->iteration_stats.count = 1; /* the wall time */
    profile->iterations.items[SAMPLE_STEPS - 1].idle_wait_ms = NAN;
    assert_int_equal(lp_profile_finish(profile), 0);
    root = metrics_of(profile);
    stage = json_array_get(json_object_get(root, "iterations"), 0);
    assert_true(json_is_object(json_object_get(stage, "wall_ms")));
    assert_true(json_is_null(json_object_get(stage, "span_ms")));
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(stage, "recent"), 255), "idle_wait_ms")));
    assert_true(has_note(root, "no device work was seen"));
    json_decref(root);
}

static void run_without_iterations_says_so(void **state)
{
    llmperf_profile *profile = sample_rows();
    json_t *root;

    (void)state;
    profile->iteration_stats.count = profile->iterations.count = 0;
    assert_int_equal(lp_profile_finish(profile), 0);
    root = metrics_of(profile);
    assert_true(json_is_null(json_object_get(root, "iterations")));
    assert_true(has_note(root, "iterations is null"));
    json_decref(root);
}

static void work_says_who_gave_it(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *step = region_of(root, SAMPLE_STEP);
    const json_t *vision = region_of(root, "LLM@prefill/LLM@vision");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(step, "flops_origin")), "model");
    assert_string_equal(json_string_value(json_object_get(step, "bytes_origin")), "program");
    assert_true(json_is_null(json_object_get(vision, "flops_origin")));
    json_decref(root);
}

/* 300 steps: 17.16 GB each at 4800 GB/s are 3.575 ms; busy 4 ms, wall 10 ms. */
static void roofline_of_a_step_follows_from_its_work(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *step = region_of(root, SAMPLE_STEP);

    (void)state;
    assert_near(number(step, "time_floor_ms") / SAMPLE_STEPS, 3.5747, 1e-3);
    assert_near(number(step, "floor_ratio"), 4 / 3.5747, 1e-3);
    assert_near(number(step, "wall_ratio"), 10 / 3.5747, 1e-3);
    assert_near(number(step, "intensity"), 7.4986, 1e-3);
    assert_near(number(step, "achieved_gbs"), 17158447104. / 4e6, 1e-3);
    assert_near(number(step, "achieved_tflops"), 128664469504. / 4e9, 1e-3);
    assert_near(number(json_object_get(root, "hardware"), "ridge"), 206.1, 0.1);
    json_decref(root);
}

static void stages_that_vary_are_noted_once(void **state)
{
    llmperf_profile *profile = sample_rows();
    json_t *root;

    (void)state;
    sample_find(profile, "LLM@decode_all")->instances = 2;
    sample_find(profile, "LLM@decode_all")->wall_std_ms =
        310; /* 10 % sharp is not more than 10 % */
    assert_int_equal(lp_profile_finish(profile), 0);
    root = metrics_of(profile);
    assert_true(has_note(root, SAMPLE_STEP ": the host time of its 300 calls varies, std / mean "
                                           "is 25 %; look at the percentiles"));
    assert_false(has_note(root, "LLM@decode_all: the host time"));
    assert_near(number(json_object_get(region_of(root, SAMPLE_STEP), "wall_ms"), "cv"), 0.25,
                1e-12);
    json_decref(root);
}

static const json_t *recommendation(const json_t *root, const char *id)
{
    const json_t *rows = json_object_get(root, "recommendations");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        if (strcmp(json_string_value(json_object_get(row, "id")), id) == 0)
            return row;
    }
    return NULL;
}

static void recommendations_rest_on_numbers_of_the_run(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *first = json_array_get(json_object_get(root, "recommendations"), 0);
    const json_t *evidence = json_object_get(first, "evidence");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(first, "id")), "launch_bound");
    assert_string_equal(json_string_value(json_object_get(first, "region")), SAMPLE_STEP);
    assert_string_equal(json_string_value(json_object_get(first, "severity")), "high");
    assert_near(number(evidence, "idle_share"), 5. / 9, 1e-12);
    assert_near(number(evidence, "idle_launch_share"), 0.8, 1e-12);
    assert_near(number(first, "saving_ms"), 4 * SAMPLE_STEPS, 1e-9);
    assert_non_null(recommendation(root, "small_batch"));
    assert_null(recommendation(root, "memory_bound")); /* launches are its limit */
    assert_non_null(recommendation(root, "step_tail"));
    assert_null(recommendation(root, "outside_regions"));
    json_decref(root);
}

static void decode_all_is_no_stage_of_its_own_beside_its_steps(void **state)
{
    json_t *root = metrics_of(sample_profile());
    const json_t *rows = json_object_get(root, "recommendations");

    (void)state;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *region = json_string_value(json_object_get(json_array_get(rows, i), "region"));

        assert_true(!region || strcmp(region, "LLM@decode_all") != 0);
    }
    json_decref(root);
}

static void little_of_the_work_seen_gets_no_advice_on_it(void **state)
{
    llmperf_profile *profile = sample_profile();
    json_t *root;

    (void)state;
    profile->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    profile->ledger.launches_missing = profile->ledger.launches_expected / 2;
    profile->ledger.kernels_attributed /= 2;
    assert_int_equal(lp_profile_add_problem(profile, "half of it is missing"), 0);
    root = metrics_of(profile);
    assert_non_null(recommendation(root, "incomplete_ledger"));
    assert_non_null(recommendation(root, "step_tail"));
    assert_null(recommendation(root, "launch_bound"));
    assert_non_null(recommendation(root, "short_run")); /* prefill, called once */
    assert_int_equal(json_array_size(json_object_get(root, "recommendations")), 3);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_show_the_spread_of_each_time_and_class),
        cmocka_unit_test(only_the_newest_iterations_stand_one_by_one),
        cmocka_unit_test(histogram_counts_each_iteration_once),
        cmocka_unit_test(times_that_are_not_known_are_null_with_a_reason),
        cmocka_unit_test(run_without_iterations_says_so),
        cmocka_unit_test(work_says_who_gave_it),
        cmocka_unit_test(roofline_of_a_step_follows_from_its_work),
        cmocka_unit_test(stages_that_vary_are_noted_once),
        cmocka_unit_test(recommendations_rest_on_numbers_of_the_run),
        cmocka_unit_test(decode_all_is_no_stage_of_its_own_beside_its_steps),
        cmocka_unit_test(little_of_the_work_seen_gets_no_advice_on_it),
    };

    return cmocka_run_group_tests(tests, clear_environment, remove_file);
}
