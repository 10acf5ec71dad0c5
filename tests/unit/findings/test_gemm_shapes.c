/* SPDX-License-Identifier: Apache-2.0 */
/** Matrix products of Llama 3 8B on an H100, batch 8: each kernel of class GEMM gets the right M, N
 * and K, or none with a reason. */
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
#include "llmperf/sys/run.h"
#include "tests/support/play.h"

#define GPU    "gpu \"NVIDIA H100 80GB HBM3\"\n"
#define LAYERS "repeat 32\n"
#define STEP   "begin LLM@decode_step sequences=8 tokens=8 context=8192\n"
#define REST   " block=128 registers=64 static_shared=0 dynamic_shared=0 "
#define QKV    "launch nvjet_tst_64x8_64x16_4x1_v_bz_TNT grid=96" REST "duration=20000\n"
#define OUT    "launch nvjet_tst_64x8_64x16_4x1_v_bz_TNT grid=64" REST "duration=13000\n"
#define UP     "launch nvjet_tst_128x8_64x12_2x1_v_bz_TNT grid=224" REST "duration=80000\n"
#define DOWN                                                                                       \
    "launch nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT grid=64x1x2" REST "duration=50000\n"          \
    "launch splitKreduce_kernel grid=16" REST "duration=2000\n"
#define HEAD  "launch nvjet_tst_128x8_64x12_4x1_v_bz_TNT grid=1002" REST "duration=360000\n"
#define FLASH "launch flash_fwd_kernel grid=64" REST "duration=50000\n"
#define FUSED LAYERS QKV FLASH OUT UP DOWN "done\n" HEAD

static llmperf_profile *play(const char *script)
{
    llmperf_session_options options = script_options(script);

    options.model_path = "llama_3_8b";
    return play_options(&options);
}

static llmperf_kernel_shape find_shape(const llmperf_profile *profile, const char *name,
                                       uint64_t grid_x)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        assert_int_equal(llmperf_profile_kernel_shape(profile, i, &shape), 0);
        if (strstr(shape.name, name) && shape.grid_x == grid_x)
            return shape;
    }
    fail_msg("no shape of %s with %u blocks", name, (unsigned)grid_x);
    return shape;
}

static void check_product(const llmperf_profile *profile, const char *name, uint64_t grid_x,
                          const char *operator_name, uint64_t n, uint64_t k)
{
    llmperf_kernel_shape shape = find_shape(profile, name, grid_x);

    if (shape.shape_reason)
        fail_msg("%s of %u blocks: %s", name, (unsigned)grid_x, shape.shape_reason);
    assert_string_equal(shape.model_operator, operator_name);
    assert_int_equal(shape.m, 8);
    assert_int_equal(shape.n, n);
    assert_int_equal(shape.k, k);
    assert_int_equal(shape.batch, 1);
}

static void check_unknown(const llmperf_profile *profile, const char *name, uint64_t grid_x,
                          const char *reason)
{
    llmperf_kernel_shape shape = find_shape(profile, name, grid_x);

    assert_true(shape.m == LLMPERF_UNKNOWN && shape.n == LLMPERF_UNKNOWN && isnan(shape.tflops));
    assert_non_null(shape.shape_reason);
    if (!strstr(shape.shape_reason, reason))
        fail_msg("\"%s\" is not in: %s", reason, shape.shape_reason);
}

static void check_fused(const llmperf_profile *profile)
{
    check_product(profile, "64x8_64x16_4x1_v_bz_TNT", 96, "qkv", 6144, 4096);
    check_product(profile, "64x8_64x16_4x1_v_bz_TNT", 64, "o_proj", 4096, 4096);
    check_product(profile, "128x8_64x12_2x1", 224, "mlp", 28672, 4096);
    check_product(profile, "splitK_TNT", 64, "mlp", 4096, 14336);
    check_product(profile, "128x8_64x12_4x1", 1002, "lm_head", 128256, 4096);
    check_unknown(profile, "splitKreduce", 16, "adds up the parts");
}

static void fused_layers_are_recognised_by_order_and_grid(void **state)
{
    llmperf_profile *profile = play(GPU "repeat 3\n" STEP FUSED "end\ndone\n");
    llmperf_kernel_shape head = find_shape(profile, "4x1_v_bz_TNT", 1002);

    (void)state;
    check_fused(profile);
    check_close(head.call_flops, 2.0 * 8 * 128256 * 4096);
    check_close(head.tflops, head.call_flops / 0.36e-3 / 1e12);
    check_close(head.gbs, 2.0 * (8 * 4096 + 128256 * 4096 + 8 * 128256) / 0.36e-3 / 1e9);
    llmperf_profile_free(profile);
}

static void labels_of_regions_tell_products_apart(void **state)
{
    llmperf_profile *profile =
        play(GPU STEP LAYERS "begin attention\n" QKV FLASH OUT "end\nbegin mlp\n" UP DOWN
                             "end\ndone\nbegin lm_head\n" HEAD "end\nend\n");

    (void)state;
    check_fused(profile);
    llmperf_profile_free(profile);
}

/* Query and output have one shape, as key and value, and gate and up. */
static void layers_that_are_not_fused_are_recognised(void **state)
{
    llmperf_profile *profile =
        play(GPU "repeat 2\n" STEP LAYERS OUT "repeat 2\nlaunch nvjet_tst_64x8_64x16_1x1_v_bz_TNT "
                 "grid=16" REST "\ndone\n" FLASH OUT
                 "repeat 2\nlaunch nvjet_tst_128x8_64x12_2x1_v_bz_TNT "
                 "grid=112" REST "\ndone\n" DOWN "done\n" HEAD "end\ndone\n");

    (void)state;
    check_product(profile, "64x8_64x16_1x1_v_bz_TNT", 16, "qkv", 1024, 4096);
    check_product(profile, "128x8_64x12_2x1_v_bz_TNT", 112, "mlp", 14336, 4096);
    check_product(profile, "splitK_TNT", 64, "mlp", 4096, 14336);
    assert_int_equal(find_shape(profile, "64x8_64x16_4x1_v_bz_TNT", 64).n, 4096);
    assert_int_equal(find_shape(profile, "64x8_64x16_4x1_v_bz_TNT", 64).k, 4096);
    llmperf_profile_free(profile);
}

/* Output and down projection in one kernel and grid differ in k. */
static void a_kernel_of_two_products_has_no_shape(void **state)
{
    llmperf_profile *profile = play(GPU STEP LAYERS QKV FLASH OUT UP OUT "done\n" HEAD "end\n");

    (void)state;
    check_product(profile, "64x8_64x16_4x1_v_bz_TNT", 96, "qkv", 6144, 4096);
    check_unknown(profile, "64x8_64x16_4x1_v_bz_TNT", 64, "more than one");
    llmperf_profile_free(profile);
}

static void kernels_that_the_model_does_not_list_spoil_no_other_answer(void **state)
{
    llmperf_profile *profile =
        play(GPU STEP LAYERS QKV "launch lora_gemm_64x64 grid=3" REST "\n" FLASH OUT UP DOWN
                                 "done\n" HEAD "launch small_gemm_16x16 grid=1" REST "\nend\n");

    (void)state;
    check_fused(profile);
    check_unknown(profile, "lora", 3, "do not account");
    check_unknown(profile, "small", 1, "do not account");
    llmperf_profile_free(profile);
}

static void calls_that_differ_in_batch_have_no_shapes(void **state)
{
    llmperf_profile *profile =
        play(GPU STEP FUSED "end\nbegin LLM@decode_step sequences=4 tokens=4 context=4096\n" FUSED
                            "end\n");

    (void)state;
    check_unknown(profile, "64x8_64x16_4x1_v_bz_TNT", 96, "differ in batch");
    llmperf_profile_free(profile);
}

static void without_grid_model_or_stage_there_is_a_reason(void **state)
{
    llmperf_profile *profile =
        play(GPU QKV STEP "launch some_gemm registers=8\nlaunch other_gemm\nend\n");
    llmperf_profile *plain = play_script(GPU STEP QKV "end\n");

    (void)state;
    check_unknown(profile, "64x8", 96, "no stage");
    check_unknown(profile, "some_gemm", LLMPERF_UNKNOWN, "grid was not recorded");
    check_unknown(plain, "64x8", 96, "no model");
    llmperf_profile_free(profile);
    llmperf_profile_free(plain);
}

/* lm_head of all positions: m is 512 there. */
static void a_prefill_that_computes_all_logits_is_recognised_by_its_grid(void **state)
{
    static const char script[] =
        GPU "begin LLM@prefill sequences=2 tokens=512 context=512\n" LAYERS
            "launch nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT grid=96" REST "duration=40000\n" FLASH
            "launch nvjet_tst_128x128_64x4_2x1_v_bz_TNT grid=128" REST "duration=30000\n"
            "launch nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT grid=132" REST "duration=200000\n"
            "launch nvjet_tst_192x128_64x4_2x1_v_bz_TNT grid=22x4" REST "duration=100000\ndone\n"
            "launch nvjet_tst_128x256_64x4_1x2_h_bz_TNT grid=2004" REST "duration=800000\nend\n";
    llmperf_profile *profile = play(script);
    llmperf_kernel_shape head = find_shape(profile, "1x2_h_bz_TNT", 2004);
    llmperf_kernel_shape qkv = find_shape(profile, "coopA", 96);

    (void)state;
    assert_null(head.shape_reason);
    assert_true(head.m == 512 && head.n == 128256 && head.k == 4096);
    assert_true(qkv.m == 512 && qkv.n == 6144 && qkv.k == 4096);
    llmperf_profile_free(profile);
}

static void check_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

/* Layers are one row; also inside a CUDA graph. */
static void report_has_a_row_for_each_shape_with_its_rates(void **state)
{
    llmperf_profile *profile = play(GPU "repeat 2\n" STEP "repeat 32\nbegin layer\n" QKV OUT UP DOWN
                                        "end\ndone\n" HEAD "end\ndone\n");
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    check_has(text, "\n## Kernel shapes\n");
    check_has(text, "| 224 / 128 |");
    check_has(text, "| mlp 8 x 28672 x 4096 |");
    check_has(text, "% of the time of GEMM and attention kernels.");
    check_has(text, "adds up the parts of a split product");
    check_has(text, "80 % of the bound, assumed");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

/* The logits of all 512 positions would need 2700 TFLOP/s. */
static void a_kernel_that_is_too_fast_for_a_product_computes_another(void **state)
{
    llmperf_profile *profile =
        play(GPU "begin LLM@prefill sequences=2 tokens=512 context=512\nbegin lm_head\n"
                 "launch head_gemm grid=10" REST "duration=200000\nend\nend\n");
    llmperf_kernel_shape head = find_shape(profile, "head_gemm", 10);

    (void)state;
    assert_null(head.shape_reason);
    assert_int_equal(head.m, 2);
    llmperf_profile_free(profile);
}

static void advice_names_the_product_of_a_slow_kernel(void **state)
{
    llmperf_profile *profile =
        play(GPU "repeat 8\n" STEP LAYERS "begin attention\n" QKV FLASH OUT "end\nbegin mlp\n"
                 "launch nvjet_tst_128x8_64x12_2x1_v_bz_TNT grid=224" REST "duration=800000\n" DOWN
                 "end\ndone\nbegin lm_head\n" HEAD "end\nwait 40000000\nend\ndone\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    size_t i = 0;

    (void)state;
    while (llmperf_profile_advice(profile, i, &advice) == 0 &&
           strcmp(advice.id, "slow_operator") != 0)
        i++;
    assert_string_equal(advice.id, "slow_operator");
    check_has(advice.text, "8 x 28672 x 4096 at 2.35 TFLOP/s and 294 GB/s, 11 % of what is");
    llmperf_profile_free(profile);
}

static void kernels_of_graphs_have_shapes(void **state)
{
    char script[] = GPU "repeat 3\n" STEP FUSED "end\ndone\n";
    llmperf_profile *profile;

    (void)state;
    for (char *at = script; (at = strstr(at, "launch "));)
        memcpy(at, "graph  ", 7);
    profile = play(script);
    check_fused(profile);
    llmperf_profile_free(profile);
}

/* As if this GPU had been measured before the run. */
static void add_sweep(llmperf_profile *profile, const char *gpu, const char *sweep)
{
    char env[512];

    snprintf(env, sizeof(env),
             "{\"gpus\": [{\"device\": 0, \"name\": \"%s\", "
             "\"compute_capability\": \"9.0\", \"sm_count\": 132, \"measured\": "
             "{\"measured_at\": \"2026-01-01T00:00:00Z\", \"sweep\": \"%s\"}}]}",
             gpu, sweep);
    assert_int_equal(lp_profile_set_fact(profile, "env", env), 0);
}

/* 16384 x 4096 at 8 tokens: 134.5 MB in 50 us are 80.2 % of 3352 GB/s; the measured 60 us are
 * 66.8 %. */
static void products_are_compared_with_what_was_measured_for_their_size(void **state)
{
    llmperf_profile *profile =
        play(GPU "repeat 2\n" STEP FUSED "copy htod bytes=1000000 reads=pinned duration=40000\n"
                 "end\ndone\n");
    llmperf_kernel_shape qkv, up, copy;
    double bound_ms;

    (void)state;
    add_sweep(profile, "NVIDIA H100 80GB HBM3",
              "bf16:8x16384x4096=60000 htod_pinned:4096x1x1=3000 "
              "htod_pinned:2000000x1x1=40000");
    qkv = find_shape(profile, "64x8_64x16_4x1_v_bz_TNT", 96);
    up = find_shape(profile, "128x8_64x12_2x1", 224); /* larger than all: the nearest counts */
    copy = find_shape(profile, "HtoD", LLMPERF_UNKNOWN);
    bound_ms = 2.0 * (8 * 4096 + 16384 * 4096 + 8 * 16384) / 3352e6;
    assert_string_equal(qkv.achievable_source, "measured on this GPU");
    assert_true(fabs(qkv.achievable_ms - qkv.call_bytes / 3352e6 / (bound_ms / 0.06)) < 1e-4);
    assert_string_equal(up.achievable_source, "measured on this GPU");
    check_close(copy.gbs, 25);
    check_close(copy.achievable_ms, 0.02);
    llmperf_profile_free(profile);
}

static const char *source_of_up(const char *gpu, const char *sweep)
{
    static char source[128];
    char script[4096];
    llmperf_profile *profile;
    llmperf_kernel_shape up;

    snprintf(script, sizeof(script), "gpu \"%s\"\nrepeat 2\n" STEP FUSED "end\ndone\n", gpu);
    profile = play(script);
    if (sweep)
        add_sweep(profile, gpu, sweep);
    up = find_shape(profile, "128x8_64x12_2x1", 224);
    snprintf(source, sizeof(source), "%s", up.achievable_source ? up.achievable_source : "none");
    llmperf_profile_free(profile);
    return source;
}

static void a_gpu_never_measured_is_compared_with_another_of_its_model(void **state)
{
    (void)state;
    check_has(source_of_up("NVIDIA H200", NULL), "measured on another H200 SXM, 2026-");
    assert_string_equal(source_of_up("NVIDIA H200", "bf16:8x16384x4096=60000"),
                        "measured on this GPU");
    check_has(source_of_up("NVIDIA H100 80GB HBM3", NULL), "assumed");
    assert_string_equal(source_of_up("NVIDIA H200 MIG 3g.71gb", NULL), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_layers_are_recognised_by_order_and_grid),
        cmocka_unit_test(labels_of_regions_tell_products_apart),
        cmocka_unit_test(layers_that_are_not_fused_are_recognised),
        cmocka_unit_test(a_kernel_of_two_products_has_no_shape),
        cmocka_unit_test(kernels_that_the_model_does_not_list_spoil_no_other_answer),
        cmocka_unit_test(calls_that_differ_in_batch_have_no_shapes),
        cmocka_unit_test(without_grid_model_or_stage_there_is_a_reason),
        cmocka_unit_test(products_are_compared_with_what_was_measured_for_their_size),
        cmocka_unit_test(a_gpu_never_measured_is_compared_with_another_of_its_model),
        cmocka_unit_test(report_has_a_row_for_each_shape_with_its_rates),
        cmocka_unit_test(a_kernel_that_is_too_fast_for_a_product_computes_another),
        cmocka_unit_test(advice_names_the_product_of_a_slow_kernel),
        cmocka_unit_test(kernels_of_graphs_have_shapes),
        cmocka_unit_test(a_prefill_that_computes_all_logits_is_recognised_by_its_grid),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
