/* SPDX-License-Identifier: Apache-2.0 */
/** Rules of triggered windows: what is read, and what is said of what cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/session/options/rule.h"
#include "llmperf/session.h"

static struct lp_rule read_one(const char *text)
{
    struct lp_rule rules[LP_RULES];
    size_t count = 0;

    if (lp_rules_read(text, rules, &count) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_int_equal(count, 1);
    return rules[0];
}

static void a_rule_has_usual_values_for_what_it_leaves_out(void **state)
{
    struct lp_rule rule = read_one("decode_step p99 > 30 ms");

    (void)state;
    assert_string_equal(rule.text, "decode_step p99 > 30 ms");
    assert_string_equal(rule.label, "LLM@decode_step");
    assert_int_equal(rule.quantity, LP_QUANTITY_P99);
    assert_true(rule.above);
    assert_true(rule.threshold == 30);
    assert_int_equal(rule.span_ns, 2000000000);
    assert_int_equal(rule.units, 20);
    assert_int_equal(rule.limit, 10);
    assert_int_equal(rule.cooldown_ns, UINT64_C(60000000000));
}

static void all_that_can_be_said_is_read(void **state)
{
    struct lp_rule rule = read_one(
        "  APP@step.one tokens/s below 512.5 for 1.5min collect 7 cooldown 250ms limit 3 ");

    (void)state;
    assert_string_equal(rule.label, "APP@step.one");
    assert_int_equal(rule.quantity, LP_QUANTITY_TOKENS_PER_S);
    assert_false(rule.above);
    assert_true(rule.threshold == 512.5);
    assert_int_equal(rule.span_ns, UINT64_C(90000000000));
    assert_int_equal(rule.units, 7);
    assert_int_equal(rule.cooldown_ns, 250000000);
    assert_int_equal(rule.limit, 3);
}

static void units_are_one_unit_inside(void **state)
{
    (void)state;
    assert_true(read_one("a max>1s").threshold == 1000);
    assert_true(read_one("a mean < 500 us").threshold == 0.5);
    assert_true(read_one("a p50 above 2000000 ns").threshold == 2);
    assert_true(read_one("a idle above 40%").threshold == 40);
    assert_int_equal(read_one("a p95 above 1 ms for 20000 us").span_ns, 20000000);
    assert_int_equal(read_one("a p95 above 1 ms for 1 h").span_ns, UINT64_C(3600000000000));
}

static void several_rules_stand_between_semicolons(void **state)
{
    struct lp_rule rules[LP_RULES];
    size_t count = 7;

    (void)state;
    assert_int_equal(lp_rules_read("a p99 > 1 ms; b idle > 2 % ;\n;", rules, &count), 0);
    assert_int_equal(count, 2);
    assert_string_equal(rules[1].text, "b idle > 2 %");
    assert_string_equal(rules[1].label, "LLM@b");
    assert_int_equal(lp_rules_read(NULL, rules, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(lp_rules_read("  ", rules, &count), 0);
    assert_int_equal(count, 0);
}

static void what_cannot_be_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text, *reason;
    } wrong[] = {
        { "decode_step", "\"\" is not a known quantity" },
        { "decode_step p98 > 30 ms", "\"p98\" is not a known quantity" },
        { "decode_step p99 30 ms", "above or below" },
        { "decode_step p99 >", "p99 needs a number, not \"\"" },
        { "decode_step p99 > fast", "needs a number, not \"fast\"" },
        { "decode_step p99 > 30", "needs a time with" },
        { "decode_step p99 > 30 %", "needs a time with" },
        { "decode_step p99 > 1.2.3 ms", "\"1.2.3\" is not a number" },
        { "decode_step p99 > . ms", "\".\" is not a number" },
        { "decode_step p99 > -1 ms", "not \"-1\"" },
        { "decode_step idle > 40", "0 to 100 %" },
        { "decode_step idle > 140 %", "0 to 100 %" },
        { "decode_step p99 > 30 ms for 0 s", "at least 20 ms" },
        { "decode_step p99 > 30 ms for 19.9 ms", "at least 20 ms" },
        { "decode_step p99 > 30 ms for 2 h", "for exceeds 3600 s" },
        { "decode_step p99 > 30 ms collect 0", "whole number from 1 to 1000" },
        { "decode_step p99 > 30 ms collect 1.5", "whole number" },
        { "decode_step p99 > 30 ms collect 1001", "whole number" },
        { "decode_step p99 > 30 ms limit 1e9", "unexpected" },
        { "decode_step p99 > 30 ms often", "unexpected \"often\"" },
        { "decode_step p99 > 99999999999999999999999 s", "exceeds" },
    };
    struct lp_rule rules[LP_RULES];
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(lp_rules_read(wrong[i].text, rules, &count), LLMPERF_EINVAL);
        if (!strstr(llmperf_last_error(), wrong[i].reason) ||
            !strstr(llmperf_last_error(), wrong[i].text))
            fail_msg("\"%s\": %s", wrong[i].text, llmperf_last_error());
        assert_null(strchr(llmperf_last_error(), '\n'));
    }
}

static void too_many_and_too_long_ones_are_refused(void **state)
{
    struct lp_rule rules[LP_RULES];
    char text[LP_RULE_BYTES + 64], many[512] = "";
    size_t count;

    (void)state;
    snprintf(text, sizeof(text), "a p99 > 1 ms%*s%s", LP_RULE_BYTES, "", "for 1 s");
    assert_int_equal(lp_rules_read(text, rules, &count), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "at most"));
    for (unsigned i = 0; i <= LP_RULES; i++)
        strcat(many, "a p99 > 1 ms;");
    assert_int_equal(lp_rules_read(many, rules, &count), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "more than 8 rules"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_has_usual_values_for_what_it_leaves_out),
        cmocka_unit_test(all_that_can_be_said_is_read),
        cmocka_unit_test(units_are_one_unit_inside),
        cmocka_unit_test(several_rules_stand_between_semicolons),
        cmocka_unit_test(what_cannot_be_is_refused_with_the_reason),
        cmocka_unit_test(too_many_and_too_long_ones_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
