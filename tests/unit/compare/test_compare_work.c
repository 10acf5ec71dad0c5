/* SPDX-License-Identifier: Apache-2.0 */
/* Runs whose instances have not the same to do: what is judged, and what is only told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/compare/compare.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/compared.h"
#include "tests/support/rows.h"
#include "tests/support/text.h"

#define ALL  "LLM@decode_all"
#define STEP "LLM@decode_all/LLM@decode_step"

/* What all instances together have to do; 0: not known. */
struct amounts {
    uint64_t tokens, context, flops, bytes;
};

/* A stage, known to 1 %. */
static llmperf_region_stats *add_stage(llmperf_profile *profile, const char *path,
                                       uint64_t instances, double mean_ms, struct amounts amounts)
{
    llmperf_region_stats *stats;

    put_region_row(profile, path, 0, 0, instances, mean_ms, 0.01 * mean_ms);
    stats = &profile->regions.items[profile->regions.count - 1].stats;
    stats->stage = stats->label;
    stats->tokens = stats->sequences = amounts.tokens;
    stats->context = amounts.context;
    stats->flops = amounts.flops;
    stats->bytes = amounts.bytes ? amounts.bytes : LLMPERF_UNKNOWN;
    return stats;
}

/* A run of one stage of 100 instances. */
static llmperf_profile *make_run(double mean_ms, struct amounts amounts)
{
    llmperf_profile *profile = lp_profile_create();

    add_stage(profile, "LLM@prefill", 100, mean_ms, amounts);
    finish_rows(profile);
    return profile;
}

/* Ten answers of so many steps, which attend `context` positions each. */
static llmperf_profile *make_answers(uint64_t steps, double step_ms, uint64_t context, bool counted)
{
    const struct amounts of_step = { 10 * steps, 10 * steps * context, 10 * steps * 1000, 0 };
    const struct amounts none = { 0, 0, 0, 0 };
    llmperf_profile *profile = lp_profile_create();

    add_stage(profile, ALL, 10, (double)steps * step_ms, counted ? of_step : none);
    add_stage(profile, STEP, 10 * steps, step_ms, counted ? of_step : none);
    finish_rows(profile);
    return profile;
}

static void forget(struct lp_comparison *comparison, llmperf_profile *base, llmperf_profile *fresh)
{
    lp_compare_clear(comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

/* The wall time of a prefill of 10 ms and of one of other work. */
static enum lp_compare_verdict judge(struct amounts base, double fresh_ms, struct amounts fresh)
{
    llmperf_profile *first = make_run(10, base), *second = make_run(fresh_ms, fresh);
    struct lp_comparison comparison = compare_profiles(first, second);
    enum lp_compare_verdict verdict = compared_row(&comparison, "LLM@prefill", "wall").verdict;

    forget(&comparison, first, second);
    return verdict;
}

static void more_steps_are_no_regression(void **state)
{
    llmperf_profile *base = make_answers(200, 2, 500, true),
                    *fresh = make_answers(256, 2.02, 500, true);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row all = compared_row(&comparison, ALL, "wall");
    uint64_t slower = 1;
    char *text;

    (void)state;
    check_close(all.change, 1.28 * 1.01 - 1);
    assert_int_equal(all.verdict, LP_COMPARE_WORK);
    assert_int_equal(all.work.amount, LP_COMPARE_TOKENS);
    check_close(all.work.ratio, 1.28);
    check_close(lp_compare_change_of_each(&all), 0.01);
    assert_int_equal(compared_row(&comparison, STEP, "wall").verdict, LP_COMPARE_SAME);
    assert_int_equal(comparison.slower, 0);
    assert_int_equal(comparison.other_work, 1);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, &slower), 0);
    assert_int_equal(slower, 0);
    assert_text_has(text, "**No regression**");
    assert_text_has(text, "Not judged because the work per call differs: 1 row, see *Other work*");
    assert_text_has(text, "## Other work");
    assert_text_has(text, "| tokens +28.0 %, time of each +1.00 % | 10 / 10 | other work |");
    llmperf_text_free(text);
    forget(&comparison, base, fresh);
}

/* 256 steps of 2 ms and 200 of 2.56: as long, and each step is 28 % slower, with 5 % less to
 * attend. */
static void fewer_steps_do_not_hide_a_slower_step(void **state)
{
    llmperf_profile *base = make_answers(256, 2, 500, true),
                    *fresh = make_answers(200, 2.56, 475, true);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row all = compared_row(&comparison, ALL, "wall");

    (void)state;
    check_close(all.change + 1, 1);
    assert_int_equal(all.verdict, LP_COMPARE_WORK);
    check_close(lp_compare_change_of_each(&all), 0.28);
    assert_int_equal(compared_row(&comparison, STEP, "wall").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(comparison.slower, 1);
    forget(&comparison, base, fresh);
}

static void what_no_work_explains_is_judged(void **state)
{
    const struct amounts base = { 1000, 0, 100000, 0 }, less = { 900, 0, 90000, 0 },
                         more = { 1100, 0, 110000, 0 };

    (void)state;
    assert_int_equal(judge(base, 11, less), LP_COMPARE_SLOWER);
    assert_int_equal(judge(base, 9, more), LP_COMPARE_FASTER);
    /* 13 is 18 % above 11, and 11.4 is 3.6 % above it; 8 is 11 % below 9, 8.7 3.3 %. */
    assert_int_equal(judge(base, 13, more), LP_COMPARE_SLOWER);
    assert_int_equal(judge(base, 11.4, more), LP_COMPARE_WORK);
    assert_int_equal(judge(base, 8, less), LP_COMPARE_FASTER);
    assert_int_equal(judge(base, 8.7, less), LP_COMPARE_WORK);
    assert_int_equal(judge(base, 10, more), LP_COMPARE_WORK);
}

static void without_flops_time_may_grow_with_the_square(void **state)
{
    const struct amounts base = { 1000, 0, 0, 0 }, more = { 1100, 0, 0, 0 };

    (void)state; /* 12.1 ms: 13 is 7.4 % above it, 12.5 3.3 %. */
    assert_int_equal(judge(base, 13, more), LP_COMPARE_SLOWER);
    assert_int_equal(judge(base, 12.5, more), LP_COMPARE_WORK);
}

static void nearly_the_same_work_and_unknown_work_are_judged_as_the_same(void **state)
{
    const struct amounts base = { 1000, 0, 100000, 0 }, little = { 1009, 0, 100900, 0 },
                         unknown = { 0, 0, 0, 0 };

    (void)state;
    assert_int_equal(judge(base, 10.55, little), LP_COMPARE_SLOWER);
    assert_int_equal(judge(base, 10.55, unknown), LP_COMPARE_SLOWER);
    assert_int_equal(judge(unknown, 10.2, base), LP_COMPARE_SAME);
}

static void less_memory_for_the_same_tokens_is_a_gain(void **state)
{
    const struct amounts base = { 1000, 5000, 100000, 80000 },
                         quantized = { 1000, 5000, 100000, 40000 };

    (void)state;
    assert_int_equal(judge(base, 6, quantized), LP_COMPARE_FASTER);
}

/* A third more to attend, which are 5 % more bytes: a whole step takes no more than that longer,
 * its attention may. */
static void context_counts_as_far_as_bytes_do(void **state)
{
    const struct amounts before = { 1000, 3000, 100000, 80000 },
                         after = { 1000, 4000, 100000, 84000 };
    llmperf_profile *base = make_run(20, before), *fresh = make_run(20, after);
    struct lp_comparison comparison;

    (void)state;
    assert_int_equal(judge(before, 10.6, after), LP_COMPARE_WORK);
    assert_int_equal(judge(before, 11.2, after), LP_COMPARE_SLOWER);
    put_kernel_row(base, "flash_fwd_kernel", "LLM@prefill", 0, 100, 1, 0.01);
    put_kernel_row(fresh, "flash_fwd_kernel", "LLM@prefill", 0, 100, 1.3, 0.01);
    finish_rows(base);
    finish_rows(fresh);
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "attention").verdict,
                     LP_COMPARE_WORK);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "device").verdict, LP_COMPARE_SLOWER);
    forget(&comparison, base, fresh);
}

static void stages_inside_count_where_nothing_else_does(void **state)
{
    llmperf_profile *base = make_answers(200, 2, 0, false), *fresh = make_answers(256, 2, 0, false);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row all = compared_row(&comparison, ALL, "wall");

    (void)state;
    assert_int_equal(all.work.amount, LP_COMPARE_STAGES);
    check_close(all.base.work.amounts[LP_COMPARE_STAGES], 200);
    assert_int_equal(all.verdict, LP_COMPARE_WORK);
    assert_int_equal(compared_row(&comparison, STEP, "wall").verdict, LP_COMPARE_SAME);
    forget(&comparison, base, fresh);
}

/* Two tokens a step: half the steps for the same tokens. */
static void fewer_steps_for_the_same_tokens_are_a_gain(void **state)
{
    const struct amounts tokens = { 2000, 0, 200000, 0 };
    llmperf_profile *base = lp_profile_create(), *fresh = lp_profile_create();
    struct lp_comparison comparison;

    (void)state;
    add_stage(base, ALL, 10, 400, tokens);
    add_stage(base, STEP, 2000, 2, tokens);
    add_stage(fresh, ALL, 10, 220, tokens);
    add_stage(fresh, STEP, 1000, 2.2, tokens);
    finish_rows(base);
    finish_rows(fresh);
    comparison = compare_profiles(base, fresh);
    assert_int_equal(compared_row(&comparison, ALL, "wall").verdict, LP_COMPARE_FASTER);
    assert_int_equal(compared_row(&comparison, STEP, "wall").verdict, LP_COMPARE_WORK);
    forget(&comparison, base, fresh);
}

/* Prefills of 100 and of 200 tokens with 32 layers each, and what runs beside them. */
static llmperf_profile *make_layers(uint64_t tokens, double layer_ms)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_region_stats *layer;

    add_stage(profile, "LLM@prefill", 10, 33 * layer_ms,
              (struct amounts){ 10 * tokens, 0, tokens * 1000, 0 });
    layer =
        add_stage(profile, "LLM@prefill/LLM@mlp", 320, layer_ms, (struct amounts){ 0, 0, 0, 0 });
    layer->kind = LLMPERF_REGION_OPERATOR;
    layer->stage = "LLM@prefill";
    layer = add_stage(profile, "APP@tokenize", 10, 20 * layer_ms, (struct amounts){ 0, 0, 0, 0 });
    layer->kind = LLMPERF_REGION_OPERATOR;
    layer->stage = NULL;
    finish_rows(profile);
    return profile;
}

static void an_operator_has_its_part_of_the_work_of_its_stage(void **state)
{
    llmperf_profile *base = make_layers(100, 1), *fresh = make_layers(200, 2);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row layer = compared_row(&comparison, "LLM@prefill/LLM@mlp", "wall");

    (void)state;
    check_close(layer.base.work.amounts[LP_COMPARE_TOKENS], 100 / 32.0);
    assert_int_equal(layer.verdict, LP_COMPARE_WORK);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_WORK);
    /* Nobody said what it has to do. */
    assert_int_equal(compared_row(&comparison, "APP@tokenize", "wall").verdict, LP_COMPARE_SLOWER);
    forget(&comparison, base, fresh);
}

/* The same step on one GPU and on two, each of which does half the FLOPs. */
static void shares_of_ranks_are_no_other_work(void **state)
{
    llmperf_profile *base = make_run(10, (struct amounts){ 1000, 0, 100000, 0 });
    llmperf_profile *fresh = make_run(6, (struct amounts){ 1000, 0, 50000, 0 });
    struct lp_comparison comparison;

    (void)state;
    add_stage(fresh, "LLM@prefill", 100, 6, (struct amounts){ 1000, 0, 50000, 0 });
    fresh->regions.items[1].stats.process_id = 1;
    fresh->regions.items[1].stats.device = 1;
    comparison = compare_profiles(base, fresh);
    assert_false(comparison.same_gpus);
    assert_int_equal(compared_row(&comparison, "LLM@prefill", "wall").verdict, LP_COMPARE_FASTER);
    forget(&comparison, base, fresh);
}

/* 1000 and 1200 tokens make 1100. */
static void repeats_have_the_mean_of_their_work(void **state)
{
    llmperf_profile *runs[] = { make_run(10, (struct amounts){ 100000, 0, 0, 0 }),
                                make_run(12, (struct amounts){ 120000, 0, 0, 0 }),
                                make_run(11, (struct amounts){ 110000, 0, 0, 0 }) };
    const struct lp_compare_runs sides[] = { { (const llmperf_profile *const *)runs, 2 },
                                             { (const llmperf_profile *const *)runs + 2, 1 } };
    struct lp_comparison comparison = { .reason = "" };
    struct lp_compare_row row;

    (void)state;
    assert_int_equal(lp_compare(&sides[0], &sides[1], 0.05, &comparison), 0);
    row = compared_row(&comparison, "LLM@prefill", "wall");
    check_close(row.base.work.amounts[LP_COMPARE_TOKENS], 1100);
    check_close(row.work.ratio, 1);
    assert_int_equal(row.verdict, LP_COMPARE_SAME);
    lp_compare_clear(&comparison);
    for (int i = 0; i < 3; i++)
        llmperf_profile_free(runs[i]);
}

static void programs_read_the_work_too(void **state)
{
    llmperf_profile *base = make_run(10, (struct amounts){ 1000, 0, 100000, 0 });
    llmperf_profile *fresh = make_run(11, (struct amounts){ 1250, 0, 110000, 0 });
    json_t *root, *row, *work;
    char *text;

    (void)state;
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_JSON, &text, NULL),
                     LLMPERF_ENOTCOMPARABLE);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_string_equal(json_string_value(json_object_get(root, "reason")),
                        "no region has times that can be compared");
    assert_int_equal(json_integer_value(json_object_get(root, "other_work")), 1);
    row = json_array_get(json_object_get(root, "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "verdict")), "other work");
    work = json_object_get(json_object_get(row, "base"), "work");
    check_close(json_number_value(json_object_get(work, "tokens")), 10);
    assert_true(json_is_null(json_object_get(work, "bytes")));
    work = json_object_get(row, "work");
    assert_string_equal(json_string_value(json_object_get(work, "amount")), "tokens");
    check_close(json_number_value(json_object_get(work, "change_percent")), 25);
    check_close(json_number_value(json_object_get(work, "change_of_each_percent")), -12);
    check_close(json_number_value(json_object_get(work, "time_factor_least")), 1);
    check_close(json_number_value(json_object_get(work, "time_factor_most")), 1.25);
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_steps_are_no_regression),
        cmocka_unit_test(fewer_steps_do_not_hide_a_slower_step),
        cmocka_unit_test(what_no_work_explains_is_judged),
        cmocka_unit_test(without_flops_time_may_grow_with_the_square),
        cmocka_unit_test(nearly_the_same_work_and_unknown_work_are_judged_as_the_same),
        cmocka_unit_test(less_memory_for_the_same_tokens_is_a_gain),
        cmocka_unit_test(context_counts_as_far_as_bytes_do),
        cmocka_unit_test(stages_inside_count_where_nothing_else_does),
        cmocka_unit_test(fewer_steps_for_the_same_tokens_are_a_gain),
        cmocka_unit_test(an_operator_has_its_part_of_the_work_of_its_stage),
        cmocka_unit_test(shares_of_ranks_are_no_other_work),
        cmocka_unit_test(repeats_have_the_mean_of_their_work),
        cmocka_unit_test(programs_read_the_work_too),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
