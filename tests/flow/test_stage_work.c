/* SPDX-License-Identifier: Apache-2.0 */
/** FLOPs and bytes of stages from the session's model and what the program counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

#define MODEL "llama_3_8b"

static llmperf_profile *play_model(const char *model, const char *script)
{
    llmperf_session_options options = script_options(script);

    options.model_path = model;
    return play_options(&options);
}

static llmperf_work work_of(const char *name, uint32_t phase, uint64_t requests,
                            uint64_t new_tokens, uint64_t cached_tokens)
{
    uint64_t tokens[8], cached[8];
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;
    llmperf_model *model = NULL;

    for (size_t i = 0; i < 8; i++) {
        tokens[i] = new_tokens;
        cached[i] = cached_tokens;
    }
    step.phase = phase;
    step.requests = requests;
    step.new_tokens = tokens;
    step.cached_tokens = cached;
    step.images = requests;
    assert_int_equal(llmperf_model_open(name, &model), 0);
    assert_int_equal(llmperf_model_work(model, &step, &work), 0);
    llmperf_model_free(model);
    return work;
}

static void each_step_of_decode_counts_with_its_own_context(void **state)
{
    llmperf_profile *profile =
        play_model(MODEL, "begin LLM@decode_all\n"
                          "begin LLM@decode_step sequences=4 tokens=4 context=400\nend\n"
                          "begin LLM@decode_step sequences=4 tokens=4 context=404\nend\n"
                          "end\n");
    llmperf_work first = work_of(MODEL, LLMPERF_PHASE_DECODE, 4, 1, 99);
    llmperf_work second = work_of(MODEL, LLMPERF_PHASE_DECODE, 4, 1, 100);
    llmperf_region_stats step = find_region(profile, "LLM@decode_all/LLM@decode_step", -1);
    llmperf_region_stats all = find_region(profile, "LLM@decode_all", -1);

    (void)state;
    assert_true(step.flops == first.model_flops + second.model_flops);
    assert_true(step.bytes == first.bytes + second.bytes);
    assert_int_equal(step.flops_origin, LLMPERF_WORK_MODEL);
    assert_int_equal(step.bytes_origin, LLMPERF_WORK_MODEL);
    assert_true(all.flops == step.flops && all.bytes == step.bytes);
    assert_int_equal(all.flops_origin, LLMPERF_WORK_MODEL);
    assert_true(first.model_flops != second.model_flops);
    assert_true(has_note(profile, "equal length"));
    llmperf_profile_free(profile);
}

static void sequences_of_a_batch_differ_by_one_token_at_most(void **state)
{
    const uint64_t tokens[] = { 334, 333, 333 }, cached[] = { 67, 67, 66 };
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;
    llmperf_model *model = NULL;
    llmperf_profile *profile =
        play_model(MODEL, "begin LLM@prefill sequences=3 tokens=1000 context=1200\nend\n");

    (void)state;
    step.phase = LLMPERF_PHASE_PREFILL;
    step.requests = 3;
    step.new_tokens = tokens;
    step.cached_tokens = cached;
    assert_int_equal(llmperf_model_open(MODEL, &model), 0);
    assert_int_equal(llmperf_model_work(model, &step, &work), 0);
    llmperf_model_free(model);
    assert_true(find_region(profile, "LLM@prefill", -1).flops == work.model_flops);
    llmperf_profile_free(profile);
}

static void a_prefill_knows_what_is_in_the_cache(void **state)
{
    llmperf_profile *profile = play_model(MODEL, "begin LLM@prefill tokens=128 context=640\nend\n"
                                                 "begin LLM@prefill tokens=128\nend\n");
    llmperf_work behind = work_of(MODEL, LLMPERF_PHASE_PREFILL, 1, 128, 512);
    llmperf_work alone = work_of(MODEL, LLMPERF_PHASE_PREFILL, 1, 128, 0);
    llmperf_region_stats prefill = find_region(profile, "LLM@prefill", -1);

    (void)state;
    assert_true(prefill.flops == behind.model_flops + alone.model_flops);
    assert_true(prefill.bytes == behind.bytes + alone.bytes);
    llmperf_profile_free(profile);
}

static void what_the_program_counts_wins(void **state)
{
    llmperf_profile *profile =
        play_model(MODEL, "begin LLM@prefill tokens=128 flops=1000 bytes=7\nend\n");
    llmperf_region_stats prefill = find_region(profile, "LLM@prefill", -1);

    (void)state;
    assert_true(prefill.flops == 1000 && prefill.bytes == 7);
    assert_int_equal(prefill.flops_origin, LLMPERF_WORK_PROGRAM);
    llmperf_profile_free(profile);
}

/* The model's step is the whole step: an operator that counts its own work is part of it. */
static void operators_of_a_derived_stage_count_once(void **state)
{
    llmperf_profile *profile =
        play_model(MODEL, "begin LLM@decode_step sequences=4 tokens=4 context=400\n"
                          "begin LLM@mlp flops=1000000 bytes=7000\nend\nend\n");
    llmperf_work step = work_of(MODEL, LLMPERF_PHASE_DECODE, 4, 1, 99);
    llmperf_region_stats stage = find_region(profile, "LLM@decode_step", -1);
    llmperf_region_stats mlp = find_region(profile, "LLM@decode_step/LLM@mlp", -1);

    (void)state;
    assert_true(stage.flops == step.model_flops && stage.bytes == step.bytes);
    assert_int_equal(stage.flops_origin, LLMPERF_WORK_MODEL);
    assert_true(mlp.flops == 1000000 && mlp.bytes == 7000);
    assert_int_equal(mlp.flops_origin, LLMPERF_WORK_PROGRAM);
    llmperf_profile_free(profile);
}

static void one_instance_without_counts_makes_the_sum_unknown(void **state)
{
    llmperf_profile *profile = play_model(MODEL, "begin LLM@prefill tokens=128\nend\n"
                                                 "begin LLM@prefill\nend\n"
                                                 "begin LLM@decode_step sequences=2\nend\n");

    (void)state;
    assert_true(find_region(profile, "LLM@prefill", -1).flops == LLMPERF_UNKNOWN);
    assert_int_equal(find_region(profile, "LLM@prefill", -1).flops_origin, LLMPERF_WORK_UNKNOWN);
    assert_true(find_region(profile, "LLM@decode_step", -1).flops == LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "LLM@prefill: its tokens were not given"));
    llmperf_profile_free(profile);
}

static void a_context_below_the_tokens_is_refused_with_the_reason(void **state)
{
    llmperf_profile *profile = play_model(MODEL, "begin LLM@prefill tokens=128 context=64\nend\n");

    (void)state;
    assert_true(find_region(profile, "LLM@prefill", -1).flops == LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "each new token counts itself"));
    llmperf_profile_free(profile);
}

static void a_stage_holds_its_own_work_and_that_of_stages_in_it(void **state)
{
    llmperf_profile *profile = play_model("deepseek_ocr", "begin LLM@prefill tokens=300\n"
                                                          "begin LLM@vision sequences=1\nend\n"
                                                          "end\n");
    llmperf_work vision = work_of("deepseek_ocr", LLMPERF_PHASE_VISION, 1, 1, 0);
    llmperf_work decoder = work_of("deepseek_ocr", LLMPERF_PHASE_PREFILL, 1, 300, 0);

    (void)state;
    assert_true(find_region(profile, "LLM@prefill/LLM@vision", -1).flops == vision.model_flops);
    assert_true(find_region(profile, "LLM@prefill", -1).flops ==
                vision.model_flops + decoder.model_flops);
    llmperf_profile_free(profile);
}

static void a_stage_inside_whose_work_is_not_known_leaves_the_sum_unknown(void **state)
{
    llmperf_profile *profile = play_model(MODEL, "begin LLM@prefill tokens=300\n"
                                                 "begin LLM@vision\nend\n"
                                                 "end\n");

    (void)state;
    assert_true(find_region(profile, "LLM@prefill/LLM@vision", -1).flops == LLMPERF_UNKNOWN);
    assert_true(find_region(profile, "LLM@prefill", -1).flops == LLMPERF_UNKNOWN);
    assert_true(has_note(
        profile,
        "LLM@prefill: the model covers its work but not that of the nested stage LLM@vision"));
    llmperf_profile_free(profile);
}

static void the_model_tells_the_dtype_of_the_run(void **state)
{
    llmperf_profile *profile = play_model(MODEL, "begin LLM@prefill tokens=3\nend\n");

    (void)state;
    assert_string_equal(llmperf_profile_fact(profile, "dtype"), "bf16");
    assert_string_equal(llmperf_profile_fact(profile, "model_name"), MODEL);
    assert_string_equal(llmperf_profile_fact(profile, "model_parameters_total"), "8030261248");
    llmperf_profile_free(profile);
}

static void a_model_that_does_not_exist_keeps_the_session_from_starting(void **state)
{
    llmperf_session_options options = script_options("begin LLM@prefill\nend\n");
    llmperf_session *session = NULL;

    (void)state;
    options.model_path = "no_such_model";
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_ENOENT);
    check_error("no_such_model");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_of_decode_counts_with_its_own_context),
        cmocka_unit_test(sequences_of_a_batch_differ_by_one_token_at_most),
        cmocka_unit_test(a_prefill_knows_what_is_in_the_cache),
        cmocka_unit_test(what_the_program_counts_wins),
        cmocka_unit_test(operators_of_a_derived_stage_count_once),
        cmocka_unit_test(one_instance_without_counts_makes_the_sum_unknown),
        cmocka_unit_test(a_context_below_the_tokens_is_refused_with_the_reason),
        cmocka_unit_test(a_stage_holds_its_own_work_and_that_of_stages_in_it),
        cmocka_unit_test(a_stage_inside_whose_work_is_not_known_leaves_the_sum_unknown),
        cmocka_unit_test(the_model_tells_the_dtype_of_the_run),
        cmocka_unit_test(a_model_that_does_not_exist_keeps_the_session_from_starting),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
