/* SPDX-License-Identifier: Apache-2.0 */
/** Rules for NVTX ranges of engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "lib/record/range_rules.h"

#define COLUMNS 7

static uint64_t amount_of(const struct lp_range *range, uint32_t quantity)
{
    for (uint32_t i = 0; i < range->work.count; i++)
        if (range->work.quantities[i] == quantity)
            return range->work.amounts[i];
    return 0;
}

/* @param columns  Domain, name, label, kind, tokens, sequences, context; from the third on missing
 * if no rule applies. */
static void check_name(char *const columns[COLUMNS], size_t count)
{
    struct lp_range range;

    if (count < 4) {
        if (lp_range_find(lp_range_rules(), columns[0], columns[1], &range))
            fail_msg("a rule applies to \"%s\"", columns[1]);
        return;
    }
    if (!lp_range_find(lp_range_rules(), columns[0], columns[1], &range))
        fail_msg("no rule applies to \"%s\"", columns[1]);
    assert_string_equal(range.label, columns[2]);
    assert_int_equal(range.rule->kind, strcmp(columns[3], "stage") == 0 ? LLMPERF_REGION_STAGE
                                                                        : LLMPERF_REGION_OPERATOR);
    for (uint32_t i = 0; i < LP_RANGE_AMOUNTS; i++)
        assert_int_equal(amount_of(&range, LLMPERF_QUANTITY_TOKENS + i),
                         columns[4 + i][0] == '-' ? 0 : strtoull(columns[4 + i], NULL, 10));
}

static void ranges_of_engines_get_their_label_and_work(void **state)
{
    char path[512], line[1024], *columns[COLUMNS];
    size_t checked = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/engines/names.tsv", getenv("LLMPERF_TEST_DATA"));
    assert_non_null(file = fopen(path, "r"));
    assert_null(lp_range_rules_problem());
    while (fgets(line, sizeof(line), file)) {
        char *at = line;
        size_t count = 0;

        line[strcspn(line, "\n")] = '\0';
        if (*line == '#')
            continue;
        while (count < COLUMNS && (columns[count] = strsep(&at, "\t")))
            count++;
        check_name(columns, count);
        checked++;
    }
    fclose(file);
    assert_true(checked > 50);
}

/* What a file makes of it: its error text, or NULL. */
static const char *read_text(struct lp_range_rules *rules, const char *text)
{
    char path[] = "/tmp/llmperf-rules-XXXXXX";
    static char error[1024];
    int fd = mkstemp(path), status;

    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    status = lp_range_rules_read(rules, path);
    unlink(path);
    snprintf(error, sizeof(error), "%s", status < 0 ? strchr(llmperf_last_error(), ':') : "");
    return status < 0 ? error : NULL;
}

static void a_wrong_file_says_line_and_remedy(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "rule: []", ":1: the file needs a list \"rules\"" },
        { "rules:\n  - stage: a@b", ":2: a rule needs patterns and one of stage" },
        { "rules:\n  - patterns: [a]\n    stage: a@b\n    operator: a@b", ":2: a rule needs" },
        { "rules:\n  - patterns: a\n    stage: a@b", ":2: patterns must be a list" },
        { "rules:\n  - patterns: []\n    stage: a@b", ":2: patterns must be a list" },
        { "rules:\n  - patterns: [[a]]\n    stage: a@b", ":2: an element must be a text" },
        { "rules:\n  - patterns:\n    - a\n    - \"*\"\n    stage: a@b", ":4: \"*\" is not a pat" },
        { "rules:\n  - patterns: [\"{a:text}\"]\n    stage: a@b", ":2: \"{a:text}\" is not" },
        { "rules:\n  - patterns: [\"a{b\"]\n    stage: a@b", ":2: \"a{b\" is not a pattern" },
        { "rules:\n  - patterns: [\"a{}\"]\n    stage: a@b", ":2: \"a{}\" is not a pattern" },
        { "rules:\n  - patterns: [\"a{:text}\"]\n    stage: a@b", ":2: \"a{:text}\" is not" },
        { "rules:\n  - patterns: [\"a{b:int}\"]\n    stage: a@b", ":2: \"a{b:int}\" is not" },
        { "rules:\n  - patterns: [\"a{b}{c}\"]\n    stage: a@b", ":2: \"a{b}{c}\" is not" },
        { "rules:\n  - patterns: [\"a{b:text}*\"]\n    stage: a@b", ":2: \"a{b:text}*\" is not" },
        { "rules:\n  - patterns: [\"{1} {2} {3} {4} {5} {6} {7} {8} {9}\"]\n    stage: a@b",
          ":2: \"{1} {2} {3} {4} {5} {6} {7} {8} {9}\" is not" },
        { "rules:\n  - patterns: [a]\n    stage: prefill", ":3: \"prefill\" is not a label" },
        { "rules:\n  - patterns: [a]\n    stage: LLM@prefill", ":3: \"LLM@prefill\" is not" },
        { "rules:\n  - patterns: [\"a{b}\"]\n    stage: \"a@{b}\"", ":3: \"{b}\": write {name}" },
        { "rules:\n  - patterns: [\"a{b:text}\", c]\n    stage: \"a@{b}\"", ":3: \"{b}\": write" },
        { "rules:\n  - patterns: [\"a{b:text}\"]\n    stage: \"a@{b:x}\"", ":3: \"{b:x}\": write" },
        { "rules:\n  - patterns: [\"a{b:text}\"]\n    stage: \"a@{b\"", ":3: \"{b\": write" },
        { "rules:\n  - patterns: [a]\n    stage: a@b\n    tokens: n", ":4: \"n\": write number" },
        { "rules:\n  - patterns: [\"a{n}\"]\n    stage: a@b\n    tokens: + n",
          ":4: \"+ n\": write" },
        { "rules:\n  - patterns: [a]\n    stage: a@b\n    once: yes", ":4: unknown key or value" },
        { "rules:\n  - patterns: [a]\n    stage: a@b\n    token: n",
          ":4: unknown key or value \"token: n\"; write patterns," },
        { "rules:\n  - a", ":2: a rule needs" },
        { "rules: [", ":2: did not find" },
    };
    struct lp_range_rules rules = { .rules = { .items = NULL } };

    (void)state;
    assert_null(read_text(&rules, "rules:\n  - patterns: [good]\n    stage: a@b\n"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *error = read_text(&rules, cases[i].text);

        if (!error || strncmp(error, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s\ngives \"%s\"", cases[i].text, error ? error : "no error");
    }
    assert_int_equal(rules.rules.count, 1);
    assert_int_equal(rules.patterns.count, 1);
    lp_range_rules_clear(&rules);
}

static void patterns_match_whole_names(void **state)
{
    static const char *const names[] = { "a {1} b", "a {22} bc", "a {x} b", "a 1 b", "a {1} " };
    static const bool matched[] = { true, true, false, false, false };
    struct lp_range_rules rules = { .rules = { .items = NULL } };
    struct lp_range range;

    (void)state;
    assert_null(read_text(&rules, "rules:\n  - patterns: [\"a {{{n}} b*\"]\n    domain: D\n"
                                  "    ignore: true\n"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(lp_range_find(&rules, "D", names[i], &range), matched[i]);
    assert_false(lp_range_find(&rules, "E", names[0], &range));
    assert_true(lp_range_find(&rules, "D", names[0], &range));
    assert_true(lp_range_is_part(&range, LP_PATH_ROOT));
    lp_range_rules_clear(&rules);
}

static void the_first_rule_decides_and_the_first_file(void **state)
{
    struct lp_range_rules rules = { .rules = { .items = NULL } };
    struct lp_range range;

    (void)state;
    assert_null(read_text(&rules, "rules:\n  - patterns: [\"a 0\"]\n    operator: x@none\n"
                                  "  - patterns: [\"a {n}\"]\n    stage: x@some\n    tokens: n\n"));
    assert_null(read_text(&rules, "rules:\n  - patterns: [\"a *\"]\n    operator: x@other\n"));
    assert_true(lp_range_find(&rules, "D", "a 0", &range));
    assert_string_equal(range.label, "x@none");
    assert_true(lp_range_find(&rules, "D", "a 7", &range));
    assert_string_equal(range.label, "x@some");
    assert_int_equal(amount_of(&range, LLMPERF_QUANTITY_TOKENS), 7);
    assert_true(lp_range_find(&rules, "D", "a b", &range));
    assert_string_equal(range.label, "x@other");
    assert_int_equal(range.work.count, 0);
    lp_range_rules_clear(&rules);
}

static void numbers_too_large_are_no_numbers(void **state)
{
    struct lp_range range;

    (void)state;
    assert_true(
        lp_range_find(lp_range_rules(), "D", "step[DECODE bs=9999999999999999999]", &range));
    assert_int_equal(amount_of(&range, LLMPERF_QUANTITY_TOKENS), UINT64_C(9999999999999999999));
    assert_false(lp_range_find(lp_range_rules(), "D", "ProfilerStep#99999999999999999999", &range));
}

static void a_stage_in_a_stage_is_its_operator(void **state)
{
    uint32_t marked = lp_path_intern(LP_PATH_ROOT, "LLM@prefill");
    uint32_t loop = lp_path_intern(LP_PATH_ROOT, "LLM@decode_all");
    struct lp_range range;

    (void)state;
    assert_true(lp_range_find(lp_range_rules(), "D", "step[DECODE bs=16]", &range));
    assert_int_equal(lp_path_kind(lp_range_intern(&range, LP_PATH_ROOT)), LLMPERF_REGION_STAGE);
    assert_int_equal(lp_path_kind(lp_range_intern(&range, marked)), LLMPERF_REGION_OPERATOR);
    assert_int_equal(lp_path_kind(lp_range_intern(&range, loop)), LLMPERF_REGION_STAGE);
    assert_int_equal(lp_path_stage(lp_range_intern(&range, marked)), marked);
}

static void long_names_are_cut(void **state)
{
    size_t size = (size_t)1 << 20;
    char *text = malloc(size);
    struct lp_range range;

    (void)state;
    assert_non_null(text);
    memset(text, 'a', size - 1);
    text[size - 1] = '\0';
    assert_false(lp_range_find(lp_range_rules(), "default", text, &range));
    memcpy(text, "Thunk:#hlo_op=", strlen("Thunk:#hlo_op="));
    text[size - 2] = '#';
    assert_true(lp_range_find(lp_range_rules(), "TSL", text, &range));
    assert_int_equal(strlen(range.label), LLMPERF_LABEL_BYTES);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_engines_get_their_label_and_work),
        cmocka_unit_test(a_wrong_file_says_line_and_remedy),
        cmocka_unit_test(patterns_match_whole_names),
        cmocka_unit_test(the_first_rule_decides_and_the_first_file),
        cmocka_unit_test(numbers_too_large_are_no_numbers),
        cmocka_unit_test(a_stage_in_a_stage_is_its_operator),
        cmocka_unit_test(long_names_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
