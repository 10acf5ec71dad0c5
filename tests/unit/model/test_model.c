/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a step: what must hold for every model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/model_work.h"
#include "llmperf/sys/analysis.h"

/* One of each kind: grouped heads, experts, latent attention, windows, no gate and biases, none of
 * these. */
static const char *const kinds[] = {
    "llama_3_8b", "mixtral_8x7b", "deepseek_v3",  "deepseek_v2_lite", "gemma_3_1b",
    "mistral_7b", "gpt2",         "deepseek_ocr", "qwen2_moe_a14b"
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Totals that the models' publishers give (safetensors, model cards, torchvision). */
static void parameters_equal_the_published_totals(void **state)
{
    static const struct {
        const char *name;
        uint64_t total;
    } models[] = {
        { "llama_3_8b", 8030261248 },
        { "llama_3_70b", 70553706496 },
        { "llama_3_1_405b", 405853388800 },
        { "llama_3_2_1b", 1235814400 },
        { "mistral_7b", 7241732096 },
        { "mixtral_8x7b", 46702792704 },
        { "qwen2_5_7b", 7615616512 },
        { "qwen3_8b", 8190735360 },
        { "qwen3_30b_a3b", 30532122624 },
        { "gemma_2_9b", 9241705984 },
        { "gemma_3_1b", 999885952 },
        { "gemma_3_4b", 4300079472 },
        { "deepseek_v2_lite", 15706484224 },
        { "deepseek_v3", 671026419200 },
        { "deepseek_ocr", 3336106240 },
        { "gpt2", 124439808 },
        { "vit_b_16", 86567656 },
        { "clip_l_14", 303179776 },
        { "sam_vit_b", 89670912 },
        { "resnet_50", 25557032 },
        { "resnet_18", 11689512 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        llmperf_model *model = open_test_model(models[i].name);
        llmperf_model_info info = info_of(model);

        if (info.parameters_total != models[i].total)
            fail_msg("%s has %llu parameters", models[i].name,
                     (unsigned long long)info.parameters_total);
        assert_int_equal(
            info.parameters_embedding + info.parameters_lm_head + info.parameters_norm +
                info.parameters_attention_in + info.parameters_attention_out + info.parameters_mlp +
                info.parameters_router + info.parameters_shared_experts + info.parameters_experts +
                info.parameters_vision + info.parameters_other,
            info.parameters_total);
        llmperf_model_free(model);
    }
}

static void chunks_add_up_to_the_whole_prompt(void **state)
{
    static const uint64_t chunks[] = { 1, 511, 512, 1000, 24 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_test_model(kinds[i]);
        uint64_t flops = 0, written = 0, done = 0;
        llmperf_work whole = prefill_work(model, 2048, 0, 0);

        for (size_t k = 0; k < 5; k++) {
            llmperf_work part = prefill_work(model, chunks[k], done,
                                             k < 4 ? LLMPERF_LOGITS_NONE : LLMPERF_LOGITS_FINAL);

            flops += part.model_flops;
            written += part.kv_write_bytes;
            done += chunks[k];
        }
        assert_int_equal(done, 2048);
        assert_true(flops == whole.model_flops);
        assert_true(written == whole.kv_write_bytes);
        llmperf_model_free(model);
    }
}

static void decodes_add_up_to_a_prefill_with_all_logits(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_test_model(kinds[i]);
        uint64_t flops = 0;

        for (uint64_t context = 1; context <= 700; context++)
            flops += decode_work(model, context).model_flops;
        assert_true(flops == prefill_work(model, 700, 0, LLMPERF_LOGITS_ALL).model_flops);
        llmperf_model_free(model);
    }
}

static void a_ragged_batch_is_the_sum_of_its_requests(void **state)
{
    static const uint64_t tokens[] = { 1, 700, 33 }, cached[] = { 999, 0, 4096 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_test_model(kinds[i]);
        llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, tokens, cached);
        uint64_t flops = 0, read = 0, written = 0;
        llmperf_work batch;

        step.requests = 3;
        batch = work_of(model, &step);
        for (size_t k = 0; k < 3; k++) {
            llmperf_work one = prefill_work(model, tokens[k], cached[k], 0);

            flops += one.model_flops;
            read += one.kv_read_bytes;
            written += one.kv_write_bytes;
        }
        assert_true(batch.model_flops == flops);
        assert_true(batch.kv_read_bytes == read);
        assert_true(batch.kv_write_bytes == written);
        assert_int_equal(batch.tokens, 734);
        assert_int_equal(batch.logits_rows, 3);
        llmperf_model_free(model);
    }
}

/* The closed form of model_convention.c against the sum over operators. */
static void exact_flops_come_out_in_two_ways(void **state)
{
    static const uint64_t tokens[] = { 5, 700, 3000 }, cached[] = { 999, 0, 600 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_test_model(kinds[i]);
        llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, tokens, cached);
        uint64_t flops;

        step.requests = 3;
        assert_int_equal(llmperf_model_flops(model, &step, "exact-v1", &flops), 0);
        assert_true(flops == work_of(model, &step).model_flops);
        llmperf_model_free(model);
    }
}

static void operators_add_up_to_the_step(void **state)
{
    static const uint64_t tokens[] = { 5, 700 }, cached[] = { 999, 0 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_test_model(kinds[i]);
        llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, tokens, cached);
        llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT, sum = LLMPERF_OPERATOR_WORK_INIT;
        llmperf_work work;

        step.requests = 2;
        work = work_of(model, &step);
        for (size_t k = 0; llmperf_model_operator(model, &step, k, &op) == 0; k++) {
            sum.model_flops += op.model_flops;
            sum.vector_flops += op.vector_flops;
            sum.hardware_flops += op.hardware_flops;
            sum.weight_bytes += op.weight_bytes;
            sum.kv_read_bytes += op.kv_read_bytes;
            sum.activation_bytes += op.activation_bytes;
        }
        assert_true(sum.model_flops == work.model_flops);
        assert_true(sum.vector_flops == work.vector_flops);
        assert_true(sum.hardware_flops == work.hardware_flops);
        assert_true(sum.weight_bytes == work.weight_bytes);
        assert_true(sum.kv_read_bytes == work.kv_read_bytes);
        assert_true(sum.activation_bytes == work.activation_bytes);
        assert_true(work.bytes == work.weight_bytes + work.kv_read_bytes + work.kv_write_bytes);
        assert_string_equal(work.convention, "exact-v1");
        llmperf_model_free(model);
    }
}

static void decode_reads_the_cache_of_its_context(void **state)
{
    static const char *const models[] = { "llama_3_8b", "deepseek_v3", "gpt2" };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        llmperf_model *model = open_test_model(models[i]);

        assert_true(decode_work(model, 777).kv_read_bytes ==
                    777 * info_of(model).kv_bytes_per_token);
        assert_true(decode_work(model, 777).kv_write_bytes == info_of(model).kv_bytes_per_token);
        llmperf_model_free(model);
    }
}

/* Gemma 3 1B: 22 layers see 512 keys, 4 see all. */
static void windows_bound_pairs_and_bytes(void **state)
{
    llmperf_model *model = open_test_model("gemma_3_1b");
    llmperf_model_info info = info_of(model);
    uint64_t layer = info.kv_bytes_per_token / info.layers;

    (void)state;
    assert_int_equal(info.window, 512);
    assert_int_equal(info.window_layers, 22);
    assert_true(decode_work(model, 4096).kv_read_bytes == layer * (22 * 512 + 4 * 4096));
    assert_true(decode_work(model, 4096).model_flops - decode_work(model, 4095).model_flops ==
                info.flops_per_pair / info.layers * 4);
    /* The first of 100 new tokens still sees 512 keys back. */
    assert_true(prefill_work(model, 100, 4000, 0).kv_read_bytes == layer * (22 * 611 + 4 * 4100));
    llmperf_model_free(model);
}

/* 2 H (2 r + d_r) against 2 H (d_n + d_r + d_v) for a pair. */
static void latent_attention_executes_more_than_it_counts(void **state)
{
    llmperf_model *model = open_test_model("deepseek_v3");
    llmperf_work work = decode_work(model, 8192), chunk = prefill_work(model, 512, 1000, 0);

    (void)state;
    assert_true(work.hardware_flops - work.model_flops == (uint64_t)8192 * 61 * (278528 - 81920));
    assert_true(work.kv_read_bytes == (uint64_t)8192 * 70272);
    /* Keys and values of cached tokens are made from their latents again. */
    assert_true(chunk.hardware_flops - chunk.model_flops ==
                (uint64_t)1000 * 61 * 2 * 512 * 128 * 256);
    assert_true(prefill_work(model, 512, 0, 0).hardware_flops ==
                prefill_work(model, 512, 0, 0).model_flops);
    llmperf_model_free(model);
}

static void logits_are_those_that_were_asked_for(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t row = info_of(model).flops_lm_head, tokens = 100, rows = 7;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);
    uint64_t none = prefill_work(model, 100, 0, LLMPERF_LOGITS_NONE).model_flops;

    (void)state;
    assert_true(prefill_work(model, 100, 0, 0).model_flops == none + row);
    assert_true(prefill_work(model, 100, 0, LLMPERF_LOGITS_ALL).model_flops == none + 100 * row);
    step.logits_rows = &rows;
    assert_true(work_of(model, &step).model_flops == none + 7 * row);
    /* Nobody reads the head for a chunk that ends no prompt. */
    assert_true(prefill_work(model, 100, 0, 0).weight_bytes -
                    prefill_work(model, 100, 0, LLMPERF_LOGITS_NONE).weight_bytes ==
                row);
    llmperf_model_free(model);
}

/* 2 228 224 elements in and out of the linear layers of a token. */
static void activations_of_llama_are_4_46_mb_a_token(void **state)
{
    static const char *const linear[] = { "qkv", "o_proj", "mlp" };
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t tokens = 1, sum = 0;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        sum += find_operator_work(model, &step, linear[i], NULL).activation_bytes;
    assert_int_equal(sum, 2 * 2228224);
    llmperf_model_free(model);
}

static void formats_of_weights_cache_and_products_are_apart(void **state)
{
    llmperf_model *model = open_test_model("llama_3_8b");
    uint64_t cached = 2047;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    llmperf_work work;

    (void)state;
    step.weight_dtype = LLMPERF_DTYPE_INT4_G128;
    step.kv_dtype = LLMPERF_DTYPE_FP8;
    work = work_of(model, &step);
    /* All weights of the format, without the table but for one row. */
    assert_true(work.weight_bytes == 5727854592 - 2 * 525336576 + 2 * 4096);
    assert_true(work.kv_read_bytes == (uint64_t)2048 * 65536);
    /* Weights of 4 bits are multiplied in the format of their activations. */
    assert_int_equal(find_operator_work(model, &step, "mlp", NULL).compute_dtype,
                     LLMPERF_DTYPE_BF16);
    step.weight_dtype = step.activation_dtype = LLMPERF_DTYPE_FP8;
    assert_int_equal(find_operator_work(model, &step, "mlp", NULL).compute_dtype,
                     LLMPERF_DTYPE_FP8);
    assert_int_equal(find_operator_work(model, &step, "attention", NULL).compute_dtype,
                     LLMPERF_DTYPE_BF16);
    assert_int_equal(find_operator_work(model, &step, "lm_head", NULL).compute_dtype,
                     LLMPERF_DTYPE_BF16);
    step.weight_dtype = LLMPERF_DTYPE_FP32;
    assert_true(work_of(model, &step).weight_bytes ==
                4 * (uint64_t)(8030261248 - 525336576 + 4096));
    llmperf_model_free(model);
}

static void experts_touched_may_be_measured(void **state)
{
    llmperf_model *model = open_test_model("deepseek_ocr");
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);
    uint64_t all;

    (void)state;
    assert_true(work_of(model, &step).experts_touched == 6);
    step.experts_touched = 64;
    all = find_operator_work(model, &step, "experts", "moe").weight_bytes;
    assert_true(all == 2 * info_of(model).parameters_experts);
    step.experts_touched = 32;
    assert_true(find_operator_work(model, &step, "experts", "moe").weight_bytes == all / 2);
    llmperf_model_free(model);
}

static void an_encoder_reads_its_weights_once_a_call(void **state)
{
    llmperf_model *model = open_test_model("deepseek_ocr");
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t tiles = 2;
    llmperf_work once, looped;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    step.tile_rows = step.tile_columns = &tiles;
    step.tile_pixels = 640;
    once = work_of(model, &step);
    /* All of the encoder but the patch convolution that CLIP does not run. */
    assert_true(once.weight_bytes == 2 * (info_of(model).parameters_vision - 602112));
    step.vision_calls = 5;
    looped = work_of(model, &step);
    assert_true(looped.weight_bytes == 5 * once.weight_bytes);
    assert_true(looped.model_flops == once.model_flops);
    llmperf_model_free(model);
}

static void gemma_pools_its_image_tokens(void **state)
{
    llmperf_model *model = open_test_model("gemma_3_4b");
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 3;
    work = work_of(model, &step);
    assert_int_equal(work.tokens, 3 * 256);
    assert_int_equal(work.positions, 3 * 256);
    assert_true(find_operator_work(model, &step, "projector", NULL).model_flops ==
                (uint64_t)2 * 3 * 256 * 1152 * 2560);
    assert_true(find_operator_work(model, &step, "attention", NULL).model_flops ==
                (uint64_t)4 * 3 * 4096 * 4096 * 1152 * 27);
    llmperf_model_free(model);
}

/* ResNet-18 at 224: 1 814 073 344 multiply-adds by the definition of convolutions; torchvision
 * prints 1.81 G. */
static void resnet_18_has_its_published_flops(void **state)
{
    llmperf_model *model = open_test_model("resnet_18");
    llmperf_step step = LLMPERF_STEP_INIT;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    assert_int_equal(work_of(model, &step).model_flops, UINT64_C(2) * 1814073344);
    llmperf_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_equal_the_published_totals),
        cmocka_unit_test(chunks_add_up_to_the_whole_prompt),
        cmocka_unit_test(decodes_add_up_to_a_prefill_with_all_logits),
        cmocka_unit_test(a_ragged_batch_is_the_sum_of_its_requests),
        cmocka_unit_test(exact_flops_come_out_in_two_ways),
        cmocka_unit_test(operators_add_up_to_the_step),
        cmocka_unit_test(decode_reads_the_cache_of_its_context),
        cmocka_unit_test(windows_bound_pairs_and_bytes),
        cmocka_unit_test(latent_attention_executes_more_than_it_counts),
        cmocka_unit_test(logits_are_those_that_were_asked_for),
        cmocka_unit_test(activations_of_llama_are_4_46_mb_a_token),
        cmocka_unit_test(formats_of_weights_cache_and_products_are_apart),
        cmocka_unit_test(experts_touched_may_be_measured),
        cmocka_unit_test(an_encoder_reads_its_weights_once_a_call),
        cmocka_unit_test(gemma_pools_its_image_tokens),
        cmocka_unit_test(resnet_18_has_its_published_flops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
