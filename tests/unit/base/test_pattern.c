/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that users choose names by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/pattern.h"
#include "llmperf/api.h"

static bool matches(const char *pattern, const char *name)
{
    struct lp_patterns *patterns = NULL;
    bool result;

    assert_int_equal(lp_patterns_open(&pattern, 1, &patterns), 0);
    result = lp_patterns_match(patterns, name);
    lp_patterns_free(patterns);
    return result;
}

static void plain_name_matches_only_itself(void **state)
{
    (void)state;
    assert_true(matches("LLM@prefill", "LLM@prefill"));
    assert_false(matches("LLM@prefill", "LLM@prefill2"));
    assert_false(matches("LLM@prefill", "XLLM@prefill"));
    assert_false(matches("LLM.prefill", "LLM@prefill"));
    assert_true(matches("", ""));
    assert_false(matches("", "a"));
}

static void star_stands_for_any_text(void **state)
{
    (void)state;
    assert_true(matches("LLM@*", "LLM@"));
    assert_true(matches("LLM@*", "LLM@decode_step"));
    assert_false(matches("LLM@*", "APP@decode_step"));
    assert_true(matches("*gemm*", "void cutlass_gemm<float>(int)"));
    assert_true(matches("a*b*c", "a__b_b__c"));
    assert_false(matches("a*b*c", "a__b_b__cd"));
    assert_true(matches("*", ""));
    assert_true(matches("a**", "a"));
    assert_true(matches("*aab", "aaab"));
}

static void expression_matches_anywhere_in_the_name(void **state)
{
    (void)state;
    assert_true(matches("regex:decode_(all|step)$", "LLM@decode_step"));
    assert_false(matches("regex:decode_(all|step)$", "LLM@decode_steps"));
    assert_true(matches("regex:gemm", "void a_gemm_b"));
    assert_false(matches("regex:^gemm", "void a_gemm_b"));
}

static void wrong_expression_is_refused_by_name(void **state)
{
    const char *pattern = "regex:(";
    struct lp_patterns *patterns = NULL;

    (void)state;
    assert_int_equal(lp_patterns_open(&pattern, 1, &patterns), LLMPERF_EINVAL);
    assert_null(patterns);
    assert_non_null(strstr(llmperf_last_error(), "regex:("));
}

static void one_of_several_is_enough(void **state)
{
    const char *texts[] = { "a", "regex:^b", "c*" };
    struct lp_patterns *patterns = NULL;

    (void)state;
    assert_int_equal(lp_patterns_open(texts, 3, &patterns), 0);
    assert_true(lp_patterns_match(patterns, "a"));
    assert_true(lp_patterns_match(patterns, "bb"));
    assert_true(lp_patterns_match(patterns, "c"));
    assert_false(lp_patterns_match(patterns, "d"));
    assert_int_equal(lp_patterns_count(patterns), 3);
    assert_string_equal(lp_patterns_text(patterns, 1), "regex:^b");
    assert_null(lp_patterns_text(patterns, 3));
    lp_patterns_free(patterns);
}

static void no_patterns_match_nothing(void **state)
{
    struct lp_patterns *patterns = NULL;

    (void)state;
    assert_int_equal(lp_patterns_open(NULL, 0, &patterns), 0);
    assert_false(lp_patterns_match(patterns, ""));
    lp_patterns_free(patterns);
    assert_false(lp_patterns_match(NULL, "a"));
    assert_int_equal(lp_patterns_count(NULL), 0);
    lp_patterns_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_name_matches_only_itself),
        cmocka_unit_test(star_stands_for_any_text),
        cmocka_unit_test(expression_matches_anywhere_in_the_name),
        cmocka_unit_test(wrong_expression_is_refused_by_name),
        cmocka_unit_test(one_of_several_is_enough),
        cmocka_unit_test(no_patterns_match_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
