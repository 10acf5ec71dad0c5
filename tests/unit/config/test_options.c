/* SPDX-License-Identifier: Apache-2.0 */
/** Each option of the table: where its value comes from, and what is refused. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/config/options.h"
#include "tests/support/play.h"

/* Two values that an option takes, as text and as number. */
static const char *value_of(const struct lp_option *option, int which)
{
    static char texts[2][32];
    const char *words = option->words;

    if (option->kind == LP_OPTION_TEXT)
        return which ? "/second" : "/first";
    if (option->kind == LP_OPTION_SWITCH)
        return which ? "0" : "1";
    if (option->kind == LP_OPTION_WORD)
        words = which ? strchr(words, '|') + 1 : words;
    if (option->kind == LP_OPTION_WORD)
        snprintf(texts[which], sizeof(texts[which]), "%.*s", (int)strcspn(words, "|"), words);
    else
        snprintf(texts[which], sizeof(texts[which]), "%" PRId64, option->least + which);
    return texts[which];
}

static void check_value(const struct lp_option *option, const struct lp_resolved *resolved,
                        const char *expected, enum lp_option_from from)
{
    const char *at = (const char *)&resolved->values + option->offset;
    char word[LP_OPTION_WORD_BYTES];
    int64_t number =
        option->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const int64_t *)at;

    if (option->kind == LP_OPTION_TEXT)
        assert_string_equal(*(const char *const *)at, expected);
    else if (option->flag)
        assert_int_equal((resolved->values.flags & option->flag) != 0, *expected == '1');
    else if (option->kind == LP_OPTION_WORD)
        assert_string_equal(lp_option_word(option->key, number, word), expected);
    else
        assert_int_equal(number, strtoll(expected, NULL, 10));
    assert_int_equal(lp_option_source(resolved, option->key), from);
}

static llmperf_config *config_with(const char *key, const char *value)
{
    llmperf_config *config = NULL;
    char text[256];

    snprintf(text, sizeof(text), "%.*s: {%s: %s}\n", (int)strcspn(key, "."), key,
             key + strcspn(key, ".") + 1, value);
    if (llmperf_config_parse(text, &config) < 0)
        fail_msg("%s", llmperf_last_error());
    return config;
}

static void resolve(const llmperf_config *config, struct lp_resolved *resolved)
{
    llmperf_session_options call = LLMPERF_SESSION_OPTIONS_INIT;

    if (lp_options_resolve(&call, config, resolved) < 0)
        fail_msg("%s", llmperf_last_error());
}

static bool is_of_session(const struct lp_option *option)
{
    return option->key && option->kind != LP_OPTION_ANY && (option->size || option->flag);
}

static void environment_comes_before_configuration_before_default(void **state)
{
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < lp_options_count; i++) {
        const struct lp_option *option = &lp_options[i];
        bool flips = option->kind == LP_OPTION_SWITCH;
        struct lp_resolved resolved;
        llmperf_config *config;

        if (!is_of_session(option))
            continue;
        print_message("%s\n", option->key);
        resolve(NULL, &resolved);
        if (option->usual)
            check_value(option, &resolved, option->usual, LP_FROM_NOWHERE);
        config = config_with(option->key, flips ? "true" : value_of(option, 0));
        resolve(config, &resolved);
        check_value(option, &resolved, value_of(option, 0), LP_FROM_CONFIG);
        if (option->variable) {
            setenv(option->variable, value_of(option, 1), 1);
            resolve(config, &resolved);
            check_value(option, &resolved, value_of(option, 1), LP_FROM_ENVIRONMENT);
            setenv(option->variable, "", 1); /* counts as not set */
            resolve(config, &resolved);
            check_value(option, &resolved, value_of(option, 0), LP_FROM_CONFIG);
            unsetenv(option->variable);
        }
        llmperf_config_free(config);
        seen++;
    }
    assert_true(seen > 10);
}

static void what_is_in_the_call_comes_first(void **state)
{
    llmperf_session_options call = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_config *config = config_with("session.tensor_parallel", "2");
    struct lp_resolved resolved;
    const char *const override = "session.tensor_parallel=4";

    (void)state;
    setenv("LLMPERF_TENSOR_PARALLEL", "8", 1);
    call.tensor_parallel = 16;
    assert_int_equal(lp_options_resolve(&call, config, &resolved), 0);
    assert_int_equal(resolved.values.tensor_parallel, 16);
    llmperf_config_free(config);
    /* An override is part of the call too. */
    if (llmperf_config_compose("config", &override, 1, NULL, &config) < 0)
        assert_int_equal(
            llmperf_config_compose("config", (const char *const[]){ "+session.tensor_parallel=4" },
                                   1, NULL, &config),
            0);
    resolve(config, &resolved);
    assert_int_equal(resolved.values.tensor_parallel, 4);
    assert_int_equal(lp_option_source(&resolved, "session.tensor_parallel"), LP_FROM_OVERRIDE);
    llmperf_config_free(config);
    unsetenv("LLMPERF_TENSOR_PARALLEL");
}

/* A value outside of the range, in each place that an option can be given. */
static void check_out_of_range(const struct lp_option *option, const char *wrong)
{
    llmperf_session_options call = LLMPERF_SESSION_OPTIONS_INIT;
    struct lp_resolved resolved;
    llmperf_config *config;

    if (option->key) {
        config = config_with(option->key, wrong);
        assert_int_equal(lp_options_check(config), LLMPERF_EFORMAT);
        check_error(option->key);
        llmperf_config_free(config);
    }
    if (option->variable && option->size) {
        setenv(option->variable, wrong, 1);
        assert_int_equal(lp_options_resolve(&call, NULL, &resolved), LLMPERF_EINVAL);
        check_error(option->variable);
        unsetenv(option->variable);
    }
}

static void values_out_of_range_are_refused_wherever_they_stand(void **state)
{
    char wrong[32];

    (void)state;
    for (size_t i = 0; i < lp_options_count; i++) {
        const struct lp_option *option = &lp_options[i];

        if (option->key && strncmp(option->key, "pipeline.", 9) == 0)
            continue;
        if (option->kind == LP_OPTION_NUMBER && option->most < INT64_MAX) {
            snprintf(wrong, sizeof(wrong), "%" PRId64, option->most + 1);
            check_out_of_range(option, wrong);
        }
        if (option->kind == LP_OPTION_NUMBER && option->least > 0) {
            snprintf(wrong, sizeof(wrong), "%" PRId64, option->least - 1);
            check_out_of_range(option, wrong);
        }
        if (option->kind == LP_OPTION_WORD || option->kind == LP_OPTION_SWITCH)
            check_out_of_range(option, "nonsense");
    }
}

/* Keys, variables, fields and options of the command line stand once, with what their kind needs.
 */
static void the_table_is_sound(void **state)
{
    (void)state;
    assert_true(lp_options_count < LP_OPTIONS_MOST);
    for (size_t i = 0; i < lp_options_count; i++) {
        const struct lp_option *option = &lp_options[i];

        assert_true(option->key || option->variable || option->field);
        assert_true((option->kind == LP_OPTION_WORD) == (option->words != NULL));
        assert_true(option->kind != LP_OPTION_NUMBER || option->most > option->least);
        assert_true(!option->word || (option->commands && option->help));
        assert_true(option->help || strncmp(option->key, "pipeline.", 9) == 0);
        for (size_t j = 0; j < i; j++) {
            assert_false(option->key && lp_options[j].key &&
                         strcmp(option->key, lp_options[j].key) == 0);
            assert_false(option->word && lp_options[j].word &&
                         strcmp(option->word, lp_options[j].word) == 0);
            assert_false(option->size && lp_options[j].size &&
                         option->offset == lp_options[j].offset);
        }
    }
}

static void check_keys_below(const llmperf_config *config, const char *map)
{
    const char *name;

    for (size_t i = 0; (name = llmperf_config_key(config, map, i)); i++) {
        char key[256];

        snprintf(key, sizeof(key), "%s.%s", map, name);
        if (!lp_option_find(key))
            fail_msg("%s is not in the table", key);
        check_keys_below(config, key);
    }
}

/* Else a key of theirs would be refused as one written wrong. */
static void keys_of_the_presets_of_nsys_and_ncu_are_in_the_table(void **state)
{
    llmperf_config *config = NULL;

    (void)state;
    if (llmperf_config_compose("config", NULL, 0, NULL, &config) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_int_equal(lp_options_check_map(config, "pipeline.nsys.nsys_cli"), 0);
    assert_true(llmperf_config_length(config, "pipeline.nsys.nsys_cli") > 5);
    assert_true(llmperf_config_length(config, "pipeline.ncu.ncu_cli") > 5);
    check_keys_below(config, "pipeline.nsys.nsys_cli");
    check_keys_below(config, "pipeline.ncu.ncu_cli");
    llmperf_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_comes_before_configuration_before_default),
        cmocka_unit_test(what_is_in_the_call_comes_first),
        cmocka_unit_test(values_out_of_range_are_refused_wherever_they_stand),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(keys_of_the_presets_of_nsys_and_ncu_are_in_the_table),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
