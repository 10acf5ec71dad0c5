/* SPDX-License-Identifier: Apache-2.0 */
/** The model that a program announces, or that `llmperf run` found in its command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/play.h"

#define STEP "begin LLM@decode_step sequences=4 tokens=4 context=400\nend\n"
#define TEXT                                                                                       \
    "{\"name\": \"mine\", \"model_type\": \"llama\", \"hidden_size\": 512, \"intermediate_size\":" \
    " 1376, \"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"num_key_value_heads\": 2,"     \
    " \"vocab_size\": 8192, \"torch_dtype\": \"bfloat16\"}"

/* The announcement outlives a session, so each case replaces it. */
static llmperf_profile *play_announced(const char *model, uint32_t gpus, const char *given)
{
    llmperf_session_options options = script_options(STEP);

    assert_int_equal(llmperf_model_announce(model, "the engine's config", gpus), 0);
    options.model_path = given;
    return play_options(&options);
}

static double flops_of(llmperf_profile *profile)
{
    double flops = (double)find_region(profile, "LLM@decode_step", -1).flops;

    llmperf_profile_free(profile);
    return flops;
}

static void a_found_folder_is_used_until_the_program_announces_one(void **state)
{
    llmperf_profile *profile;

    (void)state;
    setenv("LLMPERF_FOUND_MODEL", "llama_3_8b", 1);
    profile = play_script(STEP);
    assert_true(has_note(profile, "Model: from the command line of the program"));
    assert_string_equal(llmperf_profile_fact(profile, "model"), "llama_3_8b");
    llmperf_profile_free(profile);
    profile = play_announced(TEXT, 0, NULL);
    unsetenv("LLMPERF_FOUND_MODEL");
    assert_true(has_note(profile, "Model: from the engine's config"));
    assert_string_equal(llmperf_profile_fact(profile, "model_name"), "mine");
    llmperf_profile_free(profile);
}

static void an_announced_model_counts_like_a_given_one(void **state)
{
    llmperf_session_options options = script_options(STEP);
    double given;

    (void)state;
    options.model_path = "llama_3_8b";
    given = flops_of(play_options(&options));
    assert_true(given > 0);
    assert_true(flops_of(play_announced("llama_3_8b", 0, NULL)) == given);
    assert_true(flops_of(play_announced("llama_3_8b", 4, NULL)) < given / 2);
    assert_true(flops_of(play_announced(TEXT, 0, "llama_3_8b")) == given);
}

static void a_running_session_takes_it_for_the_calls_that_follow(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    llmperf_model_announce("/nonexistent", "nowhere", 0);
    options.device_source = LLMPERF_SOURCE_NONE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    assert_int_equal(llmperf_model_announce(TEXT, "the engine's config", 0), 0);
    llmperf_decode_step_begin(4, 400);
    llmperf_decode_step_end();
    profile = stop_session(session);
    assert_true(has_note(profile, "Model: from the engine's config"));
    assert_true(find_region(profile, "LLM@decode_step", -1).flops > 0);
    llmperf_profile_free(profile);
}

static void one_that_cannot_be_used_leaves_a_note_and_nothing_else(void **state)
{
    llmperf_profile *profile = play_announced("{\"model_type\": \"a_new_family\"}", 0, NULL);

    (void)state;
    assert_true(has_note(profile, "FLOPs, MFU and MBU are unknown: config of the program: "
                                  "model_type \"a_new_family\" is not supported"));
    assert_int_equal(find_region(profile, "LLM@decode_step", -1).instances, 1);
    assert_null(llmperf_profile_fact(profile, "model"));
    llmperf_profile_free(profile);
    profile = play_announced("{\"model_type\": ", 0, NULL);
    assert_true(has_note(profile, "is not used"));
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_model_announce("", "x", 0), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_announce(TEXT, "", 0), LLMPERF_EINVAL);
}

static void a_withdrawn_model_is_not_in_later_sessions(void **state)
{
    llmperf_profile *profile;

    (void)state;
    llmperf_profile_free(play_announced(TEXT, 0, NULL));
    assert_int_equal(llmperf_model_announce(NULL, NULL, 0), 0);
    profile = play_script(STEP);
    assert_null(llmperf_profile_fact(profile, "model"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_found_folder_is_used_until_the_program_announces_one),
        cmocka_unit_test(an_announced_model_counts_like_a_given_one),
        cmocka_unit_test(a_running_session_takes_it_for_the_calls_that_follow),
        cmocka_unit_test(one_that_cannot_be_used_leaves_a_note_and_nothing_else),
        cmocka_unit_test(a_withdrawn_model_is_not_in_later_sessions),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
