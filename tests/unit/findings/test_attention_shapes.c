/* SPDX-License-Identifier: Apache-2.0 */
/** Heads and lengths of fused attention of Llama 3 8B on an H100: right, or unknown with a reason.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "llmperf/findings.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

#define GPU  "gpu \"NVIDIA H100 80GB HBM3\"\n"
#define REST " block=128 registers=64 static_shared=0 dynamic_shared=0 "
#define STEP(context)                                                                              \
    "begin LLM@decode_step sequences=8 tokens=8 context=" context "\n"                             \
    "repeat 32\n"
#define FLASH "launch flash_fwd_kernel grid=64" REST "duration=50000\n"
#define SPLIT "launch flash_fwd_splitkv_kernel grid=8x8" REST "duration=50000\n"
#define SUM   "launch flash_fwd_splitkv_combine_kernel grid=64" REST "duration=3000\n"
#define END   "done\nend\n"

static llmperf_profile *play(const char *script, const char *model)
{
    llmperf_session_options options = script_options(script);

    options.model_path = model;
    return play_options(&options);
}

static llmperf_kernel_shape find_shape(const llmperf_profile *profile, const char *name)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        assert_int_equal(llmperf_profile_kernel_shape(profile, i, &shape), 0);
        if (strstr(shape.name, name))
            return shape;
    }
    fail_msg("no shape of %s", name);
    return shape;
}

static void check_lengths(const llmperf_profile *profile, const char *name, double sequences,
                          double query, double kv)
{
    llmperf_kernel_shape shape = find_shape(profile, name);

    if (shape.shape_reason)
        fail_msg("%s: %s", name, shape.shape_reason);
    assert_string_equal(shape.model_operator, "attention");
    assert_true(shape.heads == 32 && shape.kv_heads == 8 && shape.head_dim == 128);
    assert_true(shape.sequences == sequences && shape.query_length == query);
    check_close(shape.kv_length, kv);
}

static void check_unknown(const char *script, const char *model, const char *name,
                          const char *reason)
{
    llmperf_profile *profile = play(script, model);
    llmperf_kernel_shape shape = find_shape(profile, name);

    assert_true(shape.heads == LLMPERF_UNKNOWN && shape.head_dim == LLMPERF_UNKNOWN);
    assert_true(isnan(shape.kv_length) && isnan(shape.tflops) && isnan(shape.achievable_ms));
    assert_non_null(shape.shape_reason);
    assert_text_has(shape.shape_reason, reason);
    llmperf_profile_free(profile);
}

static void decode_has_heads_lengths_and_rates(void **state)
{
    llmperf_profile *profile = play(GPU "repeat 3\n" STEP("8192") FLASH END "done\n", "llama_3_8b");
    llmperf_kernel_shape flash = find_shape(profile, "flash");
    double bytes = 2.0 * 8 * (2 * 32 * 128 + 1024 * 2 * 8 * 128);
    char *text = NULL;

    (void)state;
    check_lengths(profile, "flash", 8, 1, 1024);
    check_close(flash.call_flops, 4.0 * 128 * 32 * 8 * 1024);
    check_close(flash.call_bytes, bytes);
    check_close(flash.gbs, bytes / 50e-6 / 1e9);
    check_close(flash.achievable_ms, bytes / 3350e6 / 0.8);
    assert_string_equal(flash.achievable_source, "80 % of the bandwidth, assumed");
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "| attention 8 x 32 heads x 1 x 1024 x 128 |");
    assert_text_has(text, "Shapes are known for 100 % of the time of GEMM and attention kernels.");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void growing_contexts_have_their_mean_where_one_kernel_runs_in_all_calls(void **state)
{
    llmperf_profile *profile =
        play(GPU STEP("8000") FLASH END STEP("24000") FLASH END, "llama_3_8b");

    (void)state;
    check_lengths(profile, "flash", 8, 1, 2000);
    llmperf_profile_free(profile);
    /* The split kernel may be that of the longer context. */
    check_unknown(GPU STEP("8000") FLASH END STEP("24000") SPLIT SUM END, "llama_3_8b",
                  "splitkv_kernel", "some of them only");
    /* 1 % apart: the mean is right for both. */
    profile = play(GPU STEP("8000") FLASH END STEP("8080") SPLIT SUM END, "llama_3_8b");
    check_lengths(profile, "flash_fwd_kernel", 8, 1, 1005);
    check_lengths(profile, "splitkv_kernel", 8, 1, 1005);
    llmperf_profile_free(profile);
}

static void the_sum_of_a_split_attention_is_no_attention(void **state)
{
    llmperf_profile *profile = play(GPU STEP("8192") SPLIT SUM END, "llama_3_8b");

    (void)state;
    check_lengths(profile, "splitkv_kernel", 8, 1, 1024);
    llmperf_profile_free(profile);
    check_unknown(GPU STEP("8192") SPLIT SUM END, "llama_3_8b", "combine", "prepares or combines");
}

static void graphs_of_different_lengths_are_kept_apart(void **state)
{
    char script[] = GPU STEP("8000") "begin layer\n" FLASH
                                     "end\n" END STEP("24000") "begin layer\n" FLASH "end\n" END;
    llmperf_profile *profile = play(script, "llama_3_8b");

    (void)state;
    check_lengths(profile, "flash", 8, 1, 2000);
    llmperf_profile_free(profile);
    for (char *at = script; (at = strstr(at, "launch "));)
        memcpy(at, "graph  ", 7);
    check_unknown(script, "llama_3_8b", "flash", "some of them only");
}

static void what_is_not_one_kernel_for_each_layer_is_unknown(void **state)
{
    (void)state;
    check_unknown(GPU STEP("8192") FLASH FLASH END, "llama_3_8b", "flash", "once for each layer");
    check_unknown(GPU STEP("8192") FLASH "done\nrepeat 1\n" FLASH END, "llama_3_8b", "flash",
                  "once for each layer");
    check_unknown(GPU STEP("8192") "launch flash_fwd_kernel grid=64" REST "duration=1000\n" END,
                  "llama_3_8b", "flash", "faster than");
    check_unknown(GPU STEP("8192") FLASH END, NULL, "flash", "no model");
    check_unknown(GPU "launch flash_fwd_kernel grid=64" REST "\n" STEP("8192") END, "llama_3_8b",
                  "flash", "no stage");
    /* Half of the layers have a window; latent attention has one of two forms. */
    check_unknown(GPU
                  "begin LLM@decode_step sequences=1 tokens=1 context=8000\nrepeat 42\n" FLASH END,
                  "gemma_2_9b", "flash", "heads of one length");
    check_unknown(GPU
                  "begin LLM@decode_step sequences=1 tokens=1 context=8000\nrepeat 61\n" FLASH END,
                  "deepseek_v3", "flash", "heads of one length");
}

/* ViT-B/16 at 224 x 224: 196 patches and the class token attend to one another. */
static void an_encoder_has_no_causal_mask(void **state)
{
    llmperf_profile *profile =
        play(GPU "begin LLM@vision sequences=1\nrepeat 12\nlaunch fmha_kernel grid=64" REST
                 "duration=50000\n" END,
             "vit_b_16");
    llmperf_kernel_shape fmha = find_shape(profile, "fmha");

    (void)state;
    assert_null(fmha.shape_reason);
    assert_true(fmha.heads == 12 && fmha.kv_heads == 12 && fmha.head_dim == 64);
    assert_true(fmha.sequences == 1 && fmha.query_length == 197 && fmha.kv_length == 197);
    check_close(fmha.call_flops, 4.0 * 64 * 12 * 197 * 197);
    check_close(fmha.call_bytes, 4.0 * 197 * 12 * 64 * 4); /* fp32 */
    llmperf_profile_free(profile);
}

/* As if this GPU had been measured before the run. */
static void add_read(llmperf_profile *profile)
{
    static const char env[] =
        "{\"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H100 80GB HBM3\", \"compute_capability\": "
        "\"9.0\", \"sm_count\": 132, \"measured\": {\"measured_at\": \"2026-01-01T00:00:00Z\", "
        "\"read\": 3000}}]}";

    assert_int_equal(lp_profile_set_fact(profile, "env", env), 0);
}

static void what_is_achievable_is_the_measured_bandwidth_or_a_share_of_the_peak(void **state)
{
    llmperf_profile *decode = play(GPU STEP("8192") FLASH END, "llama_3_8b");
    llmperf_profile *prefill =
        play(GPU "begin LLM@prefill sequences=1 tokens=4096 context=8192\nrepeat 32\nlaunch "
                 "flash_fwd_kernel grid=64" REST "duration=1000000\n" END,
             "llama_3_8b");
    llmperf_kernel_shape flash;
    double pairs = 4096.0 * 4096 + 4096.0 * 4097 / 2;

    (void)state;
    add_read(decode);
    add_read(prefill);
    flash = find_shape(decode, "flash");
    check_close(flash.achievable_ms, flash.call_bytes / 3000e6);
    assert_string_equal(flash.achievable_source, "measured on this GPU");
    check_lengths(prefill, "flash", 1, 4096, 8192);
    flash = find_shape(prefill, "flash");
    check_close(flash.call_flops, 4.0 * 128 * 32 * pairs);
    check_close(flash.achievable_ms, flash.call_flops / 989.4e9 / 0.75);
    assert_text_has(flash.achievable_source, "75 % of the peak");
    llmperf_profile_free(decode);
    llmperf_profile_free(prefill);
}

static void advice_on_slow_attention_names_its_lengths_and_what_good_kernels_reach(void **state)
{
    llmperf_profile *profile =
        play("gpu \"NVIDIA H200\"\nrepeat 8\nbegin LLM@decode_step sequences=8 tokens=8 "
             "context=8192\nrepeat 32\nbegin attention\nlaunch flash_fwd_kernel grid=64" REST
             "duration=500000\nend\ndone\nwait 20000000\nend\ndone\n",
             "llama_3_8b");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    size_t i = 0;

    (void)state;
    while (llmperf_profile_advice(profile, i, &advice) == 0 &&
           strcmp(advice.id, "slow_operator") != 0)
        i++;
    assert_string_equal(advice.id, "slow_operator");
    assert_text_has(advice.text,
                    ": 8 x 32 heads x 1 x 1024 x 128 at 0.268 TFLOP/s and 67.4 GB/s, 1 % of");
    assert_text_has(advice.text, "achievable (measured on another H200 SXM, 2026-");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_has_heads_lengths_and_rates),
        cmocka_unit_test(growing_contexts_have_their_mean_where_one_kernel_runs_in_all_calls),
        cmocka_unit_test(the_sum_of_a_split_attention_is_no_attention),
        cmocka_unit_test(graphs_of_different_lengths_are_kept_apart),
        cmocka_unit_test(what_is_not_one_kernel_for_each_layer_is_unknown),
        cmocka_unit_test(an_encoder_has_no_causal_mask),
        cmocka_unit_test(advice_on_slow_attention_names_its_lengths_and_what_good_kernels_reach),
        cmocka_unit_test(what_is_achievable_is_the_measured_bandwidth_or_a_share_of_the_peak),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
