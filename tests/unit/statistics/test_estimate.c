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
#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "tests/support/compared.h"
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
    double values[LP_SAMPLED_VALUES] = { 0, 800 };
    struct lp_sampled_call call = { 1 | LP_CHANCE_FIRST, true, 900, 0, values, NULL };
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

    (void)state;
    lp_stage_sampling_add(&sampling, &call);
    call.chance = 1;
    values[1] = 5;
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

/* Totals of three kernels and a region, and MFU: as for the stage. */
static void check_parts(const struct coverage *stage)
{
    for (size_t i = 0; i < COVERAGE_PARTS; i++) {
        const struct coverage_part *part = &stage->parts[i];

        if (part->printed < 10)
            continue;
        print_message("    %s: %u of %u\n", part->what, part->covered, part->printed);
        assert_true(100 * (part->covered + 1) >= 85 * part->printed);
    }
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
            check_parts(&stages[k]);
            if (is_too_short(stages[k].program))
                assert_true(4 * stages[k].printed <= runs);
        }
    }
}

/* The first program is steady, the last one too short for an interval. */
static void an_interval_or_a_reason_stands_beside_each_sampled_number(void **state)
{
    llmperf_profile *steady = coverage_profile(0, 1, 1);
    llmperf_profile *brief = coverage_profile(coverage_programs() - 1, 1, 1);
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(steady, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    for (const char *const *part = (const char *const[]){ " ms per call", " % while busy)",
                                                          " ms of elapsed time a call", NULL };
         *part; part++) {
        const char *at = strstr(text, *part);

        assert_non_null(at);
        assert_non_null(memmem(at - 12, 12, " ± ", strlen(" ± ")));
    }
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(steady, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    assert_non_null(strstr(text, "\"mfu\": ["));
    assert_non_null(strstr(text, "\"half_interval_ms\": "));
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(brief, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, " ± "));
    assert_int_equal(llmperf_profile_stage(brief, 0, &stage), 0);
    assert_true(stage.mfu > 0 && isnan(stage.mfu_low));
    assert_non_null(strstr(llmperf_profile_stage_reason(brief, 0, "mfu_low"), "fewer than 10"));
    assert_non_null(strstr(text, "(no interval: fewer than 10 calls"));
    assert_non_null(strstr(text, "No interval for all calls of some kernels: fewer than 10 calls"));
    llmperf_text_free(text);
    llmperf_profile_free(steady);
    llmperf_profile_free(brief);
}

#define SLOW_STEPS 10 /* program */

static double change_of(const llmperf_profile *base, double slower, uint64_t seed,
                        enum lp_compare_verdict *verdict_out)
{
    llmperf_profile *fresh = coverage_profile(SLOW_STEPS, seed, slower);
    struct lp_comparison comparison = compare_profiles_at(base, fresh, 0.001);
    struct lp_compare_row row = compared_row(&comparison, "LLM@decode_step", "device");
    double change = row.fresh.of.mean_ms / row.base.of.mean_ms - 1;

    *verdict_out = row.verdict;
    lp_compare_clear(&comparison);
    llmperf_profile_free(fresh);
    return change;
}

/* 5 % of the steps are slow, so that the collected calls vary by a factor: how many slow ones there
 * are is known from the host times, and the estimate has an error of 0.3 %. */
static void sampled_runs_are_compared_by_their_intervals(void **state)
{
    llmperf_profile *base = coverage_profile(SLOW_STEPS, 1, 1);
    enum lp_compare_verdict verdict;

    (void)state;
    for (uint64_t seed = 2; seed < 4; seed++) {
        change_of(base, 1, seed, &verdict);
        assert_int_equal(verdict, LP_COMPARE_SAME);
    }
    assert_true(fabs(change_of(base, 1.06, 7, &verdict) - 0.06) < 0.02);
    assert_int_equal(verdict, LP_COMPARE_SLOWER);
    llmperf_profile_free(base);
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
        cmocka_unit_test(an_interval_or_a_reason_stands_beside_each_sampled_number),
        cmocka_unit_test(sampled_runs_are_compared_by_their_intervals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
