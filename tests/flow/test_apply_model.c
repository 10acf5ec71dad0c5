/* SPDX-License-Identifier: Apache-2.0 */
/** A model given to a profile that was collected without one, and what a session would refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"
#include "llmperf/sys/config.h"

#define MODEL "llama_3_8b"

static llmperf_profile *play_model(const char *model, const char *script)
{
    llmperf_session_options options = script_options(script);

    options.model_path = model;
    return play_options(&options);
}

static llmperf_profile *apply_to(const char *first, const char *model, const char *script)
{
    llmperf_profile *profile = play_model(first, script);

    if (llmperf_profile_apply_model(profile, model, NULL) < 0)
        fail_msg("%s", llmperf_last_error());
    return profile;
}

static void check_same(const char *first, const char *script)
{
    llmperf_profile *then = play_model(MODEL, script), *later = apply_to(first, MODEL, script);
    char *expected = lasting_metrics(then), *found = lasting_metrics(later);

    assert_string_equal(found, expected);
    free(expected);
    free(found);
    llmperf_profile_free(then);
    llmperf_profile_free(later);
}

static const char nested[] = "begin LLM@decode_all\n"
                             "begin LLM@decode_step sequences=4 tokens=4 context=400\n"
                             "begin LLM@mlp flops=1000000 bytes=7000\nlaunch k\nend\nend\n"
                             "begin LLM@decode_step sequences=4 tokens=4 context=404\nend\nend\n"
                             "begin LLM@prefill tokens=128 context=640\nlaunch k\nend\n"
                             "begin LLM@prefill tokens=300\nend\n";

static void a_model_given_later_gives_what_it_would_have_given_then(void **state)
{
    (void)state;
    check_same(NULL, nested);
    check_same(NULL, "begin LLM@prefill tokens=128 flops=1000 bytes=7\nend\n");
    check_same(NULL, "begin LLM@prefill tokens=128\nbegin LLM@vision\nend\nend\n");
    check_same(NULL, "begin LLM@decode_all\nbegin LLM@decode_step sequences=2 tokens=2 context=9\n"
                     "end\nbegin LLM@prefill\nend\nend\n");
}

static void another_model_takes_the_place_of_the_first(void **state)
{
    (void)state;
    check_same("qwen3_8b", nested);
}

static void instances_beyond_those_that_are_kept_are_taken_for_equal(void **state)
{
    static const char script[] = "repeat 1100\n"
                                 "begin LLM@decode_step sequences=4 tokens=4 context=400\nend\n"
                                 "done\n";
    llmperf_profile *then = play_model(MODEL, script), *later = apply_to(NULL, MODEL, script);
    llmperf_region_stats expected = find_region(then, "LLM@decode_step", -1);
    llmperf_region_stats found = find_region(later, "LLM@decode_step", -1);

    (void)state;
    assert_true(found.flops == expected.flops && found.bytes == expected.bytes);
    assert_true(has_note(later, "1100 calls of stages were not recorded one by one"));
    assert_false(has_note(then, "were not recorded one by one"));
    llmperf_profile_free(then);
    llmperf_profile_free(later);
}

static void what_a_model_cannot_give_has_a_reason(void **state)
{
    llmperf_profile *profile = apply_to(NULL, MODEL, "begin LLM@prefill\nend\n");

    (void)state;
    assert_true(find_region(profile, "LLM@prefill", -1).flops == LLMPERF_UNKNOWN);
    assert_string_equal(llmperf_profile_fact(profile, "model_reason"),
                        "LLM@prefill: its tokens were not given");
    llmperf_profile_free(profile);
    profile = apply_to(NULL, MODEL, "begin LLM@step tokens=4\nend\n");
    assert_non_null(strstr(llmperf_profile_fact(profile, "model_reason"), "no region is a stage"));
    llmperf_profile_free(profile);
}

static void a_wrong_model_or_dtype_leaves_the_profile_alone(void **state)
{
    llmperf_profile *profile = play_model(MODEL, nested);
    char *before = lasting_metrics(profile), *after;

    (void)state;
    assert_int_equal(llmperf_profile_apply_model(profile, "no_such_model", NULL), LLMPERF_ENOENT);
    check_error("no_such_model is neither a file nor a known model");
    assert_int_equal(llmperf_profile_apply_model(profile, MODEL, "bf61"), LLMPERF_EINVAL);
    check_error("unknown dtype bf61");
    assert_int_equal(llmperf_profile_apply_model(NULL, MODEL, NULL), LLMPERF_EINVAL);
    after = lasting_metrics(profile);
    assert_string_equal(after, before);
    free(before);
    free(after);
    llmperf_profile_free(profile);
}

static void a_check_refuses_what_a_start_refuses_and_says_the_tier(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    static const char counted[] = "defaults: [config, _self_, {override "
                                  "profiling/counters@pipeline.counters: light}]\n";
    llmperf_session *session;
    uint32_t tier = 0;

    (void)state;
    assert_int_equal(llmperf_session_check(NULL, &tier), 0);
    assert_int_equal(tier, LLMPERF_TIER_DEEP);
    options.device_source = LLMPERF_SOURCE_NONE;
    options.model_path = "no_such_model";
    assert_int_equal(llmperf_session_check(&options, NULL), LLMPERF_ENOENT);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_ENOENT);
    options.model_path = NULL;
    options.rules = "decode_step p99";
    assert_int_equal(llmperf_session_check(&options, NULL), LLMPERF_EINVAL);
    options.rules = NULL;
    options.config_path = write_test_file("counted.yaml", counted, sizeof(counted) - 1);
    assert_int_equal(llmperf_session_check(&options, &tier), 0);
    assert_int_equal(tier, LLMPERF_TIER_COUNTERS);
}

/* A composed configuration is handed over whole: no file of it is read again. */
static void a_session_takes_the_composed_configuration(void **state)
{
    static const char *const overrides[] = { "model.num_hidden_layers=4", "run.id=mine" };
    llmperf_session_options options = script_options("begin LLM@prefill tokens=128\nend\n");
    llmperf_profile *whole = play_model(MODEL, "begin LLM@prefill tokens=128\nend\n"), *part;
    llmperf_config *config = NULL;

    (void)state;
    if (llmperf_config_compose("config", overrides, 2, MODEL, &config) < 0)
        fail_msg("%s", llmperf_last_error());
    options.config = config;
    options.out_dir = in_test_folder("out");
    part = play_options(&options);
    assert_true(find_region(part, "LLM@prefill", -1).flops * 4 <
                find_region(whole, "LLM@prefill", -1).flops);
    assert_string_equal(llmperf_profile_fact(part, "run_id"), "mine");
    assert_string_equal(llmperf_profile_fact(part, "model_name"), MODEL);
    llmperf_config_free(config);
    llmperf_profile_free(whole);
    llmperf_profile_free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_given_later_gives_what_it_would_have_given_then),
        cmocka_unit_test(another_model_takes_the_place_of_the_first),
        cmocka_unit_test(instances_beyond_those_that_are_kept_are_taken_for_equal),
        cmocka_unit_test(what_a_model_cannot_give_has_a_reason),
        cmocka_unit_test(a_wrong_model_or_dtype_leaves_the_profile_alone),
        cmocka_unit_test(a_check_refuses_what_a_start_refuses_and_says_the_tier),
        cmocka_unit_test(a_session_takes_the_composed_configuration),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
