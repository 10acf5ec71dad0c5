/* SPDX-License-Identifier: Apache-2.0 */
/** Means that tier light estimates from its sample, and their 95 % intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/statistics/student.h"
#include "lib/record/record.h"
#include "lib/statistics/estimate.h"
#include "lib/statistics/stage_sampling.h"
#include "tests/support/coverage.h"
#include "tests/support/play.h"

static const struct lp_expected nothing = { { 0, 0 } };

static void calls_that_were_all_collected_have_no_error(void **state)
{
    struct lp_estimate estimate = { 0 };
    struct lp_host_times times = { 0 };
    struct lp_estimated mean;

    (void)state;
    for (int i = 1; i <= 20; i++)
        lp_estimate_add(&estimate, 1, i, nothing);
    mean = lp_estimate_mean(&estimate, &times, 1);
    check_close(mean.mean, 10.5);
    assert_true(mean.half == 0);
}

/* Two calls of a stage, of which the first may be warm-up. */
static void a_single_call_that_was_collected_is_known_exactly(void **state)
{
    struct lp_stage_sampling sampling = { 0 };
    struct lp_sampled_call call = { 1 | LP_CHANCE_FIRST, true, 900, 0, { 0, 800 }, NULL };
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

    (void)state;
    lp_stage_sampling_add(&sampling, &call);
    call.chance = 1;
    call.values[1] = 5;
    lp_stage_sampling_add(&sampling, &call);
    lp_stage_sampling_estimate(&sampling, 1, &stats);
    assert_int_equal(stats.estimate_calls, 1);
    assert_null(stats.estimate_reason);
    check_close(stats.estimate_low_ms, 5);
    check_close(stats.estimate_high_ms, 5);
}

/* Alternating values: each difference is 2, so that the variance is 2, of which the finite
 * population takes 1/10. */
static void equal_chances_give_the_mean_and_the_error_of_differences(void **state)
{
    struct lp_estimate estimate = { 0 };
    struct lp_host_times times = { 0 };
    struct lp_estimated mean;
    double n = 40;

    (void)state;
    for (int i = 0; i < 40; i++)
        lp_estimate_add(&estimate, 10, 5 + (i % 2 ? 1 : -1), nothing);
    mean = lp_estimate_mean(&estimate, &times, 1);
    check_close(mean.mean, 5);
    check_close(mean.calls, n);
    check_close(mean.half,
                lp_student_95(2 * (n - 1) * (n - 1) / (3 * n - 4)) * sqrt(2 * (1 - 1 / 10.0) / n));
}

/* 90 calls of 1 ms with chance 1/9, and 10 of 11 ms with chance 1. */
static void a_call_counts_as_often_as_its_chance_says(void **state)
{
    struct lp_estimate estimate = { 0 };
    struct lp_host_times times = { 0 };

    (void)state;
    for (int i = 0; i < 10; i++)
        lp_estimate_add(&estimate, 9, 1, nothing);
    for (int i = 0; i < 10; i++)
        lp_estimate_add(&estimate, 1, 11, nothing);
    check_close(lp_estimate_mean(&estimate, &times, 1).mean, 2);
}

/* Every hundredth call takes 20 ms instead of 1, and the sample has one instead of ten of them:
 * how many there are is known from the host times. */
static void slow_calls_count_as_often_as_there_are(void **state)
{
    struct lp_estimate estimate = { 0 };
    struct lp_host_times times = { 0 };
    struct lp_estimated mean;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        bool collected = i % 100 == (i == 5050 ? 50 : 7), slow = i % 100 == 50;
        double ms = (slow ? 20 : 1) + (i % 3) * 0.01;
        struct lp_expected expected =
            lp_host_times_add(&times, collected ? LP_CALL_COLLECTED : LP_CALL_ALONE, 100,
                              ms * (1 + 0.2 * collected), 0);

        if (collected)
            lp_estimate_add(&estimate, 100, ms, expected);
    }
    mean = lp_estimate_mean(&estimate, &times, 1);
    assert_true(fabs(mean.mean - 1.2) < 0.02);
    assert_true(mean.half < 0.05);
}

/* Collecting made calls slow that are not: their host times say nothing. */
static void calls_that_are_slow_because_they_are_collected_are_not_expected_to_be(void **state)
{
    struct lp_estimate estimate = { 0 };
    struct lp_host_times times = { 0 };

    (void)state;
    for (int i = 0; i < 10000; i++) {
        bool collected = i % 100 == 7;
        double ms = i % 1000 == 50 ? 20 : 1;
        struct lp_expected expected =
            lp_host_times_add(&times, collected ? LP_CALL_COLLECTED : LP_CALL_ALONE, 100,
                              collected ? 20 * ms : ms, 0);

        if (collected)
            lp_estimate_add(&estimate, 100, ms + (i % 3) * 0.01, expected);
    }
    assert_true(fabs(lp_estimate_mean(&estimate, &times, 1).mean - 1.01) < 0.005);
}

/* Its sample says too little about the calls that take longer. */
static bool is_too_short(const char *program)
{
    return strcmp(program, "every tenth step slow") == 0 || strcmp(program, "short run") == 0;
}

/* The programs of docs/explanation/sampling.md in few runs of fixed seeds: of the intervals at
 * least 85 % contain the truth, one more may miss it. */
static void intervals_contain_the_truth(void **state)
{
    unsigned runs = (unsigned)scaled(60, 6);

    (void)state;
    for (size_t i = 0; i < coverage_programs(); i++) {
        struct coverage stages[COVERAGE_STAGES];
        size_t count = coverage_run(i, runs, stages);

        for (size_t k = 0; k < count; k++) {
            print_message("%s, %s: %u of %u intervals contain the truth\n", stages[k].program,
                          stages[k].stage, stages[k].covered, stages[k].printed);
            assert_true(100 * (stages[k].covered + 1) >= 85 * stages[k].printed);
            assert_true(stages[k].printed == runs || stages[k].reason);
            if (is_too_short(stages[k].program))
                assert_true(4 * stages[k].printed <= runs);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_were_all_collected_have_no_error),
        cmocka_unit_test(a_single_call_that_was_collected_is_known_exactly),
        cmocka_unit_test(equal_chances_give_the_mean_and_the_error_of_differences),
        cmocka_unit_test(a_call_counts_as_often_as_its_chance_says),
        cmocka_unit_test(slow_calls_count_as_often_as_there_are),
        cmocka_unit_test(calls_that_are_slow_because_they_are_collected_are_not_expected_to_be),
        cmocka_unit_test(intervals_contain_the_truth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
