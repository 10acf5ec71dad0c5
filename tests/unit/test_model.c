/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a step: what must hold for every model, and steps that must be refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/model.h"

/* One of each kind: grouped heads, experts, latent attention, windows, no gate and biases, none of
 * these. */
static const char *const kinds[] = {
    "llama_3_8b", "mixtral_8x7b", "deepseek_v3",  "deepseek_v2_lite", "gemma_3_1b",
    "mistral_7b", "gpt2",         "deepseek_ocr", "qwen2_moe_a14b"
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static llmperf_model *open_model(const char *name)
{
    llmperf_model *model = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/model/%s.json", getenv("LLMPERF_TEST_DATA"), name);
    if (llmperf_model_open(path, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    return model;
}

static llmperf_work work_of(const llmperf_model *model, const llmperf_step *step)
{
    llmperf_work work = LLMPERF_WORK_INIT;

    if (llmperf_model_work(model, step, &work) < 0)
        fail_msg("%s", llmperf_last_error());
    return work;
}

static llmperf_step step_of(uint32_t phase, const uint64_t *tokens, const uint64_t *cached)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = phase;
    step.requests = 1;
    step.new_tokens = tokens;
    step.cached_tokens = cached;
    return step;
}

static llmperf_work prefill(const llmperf_model *model, uint64_t tokens, uint64_t cached,
                            uint32_t logits)
{
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);

    step.logits = logits;
    return work_of(model, &step);
}

static llmperf_work decode(const llmperf_model *model, uint64_t context)
{
    uint64_t cached = context - 1;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);

    return work_of(model, &step);
}

static llmperf_model_info info_of(const llmperf_model *model)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

    assert_int_equal(llmperf_model_info_get(model, &info), 0);
    return info;
}

/* The row of an operator; all zero if there is none. */
static llmperf_operator_work find_operator(const llmperf_model *model, const llmperf_step *step,
                                           const char *name, const char *kind)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;

    for (size_t i = 0; llmperf_model_operator(model, step, i, &op) == 0; i++)
        if (strcmp(op.name, name) == 0 && (!kind || strcmp(op.layer_kind, kind) == 0))
            return op;
    fail_msg("no operator %s", name);
    return op;
}

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
        llmperf_model *model = open_model(models[i].name);
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
        llmperf_model *model = open_model(kinds[i]);
        uint64_t flops = 0, written = 0, done = 0;
        llmperf_work whole = prefill(model, 2048, 0, 0);

        for (size_t k = 0; k < 5; k++) {
            llmperf_work part =
                prefill(model, chunks[k], done, k < 4 ? LLMPERF_LOGITS_NONE : LLMPERF_LOGITS_FINAL);

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
        llmperf_model *model = open_model(kinds[i]);
        uint64_t flops = 0;

        for (uint64_t context = 1; context <= 700; context++)
            flops += decode(model, context).model_flops;
        assert_true(flops == prefill(model, 700, 0, LLMPERF_LOGITS_ALL).model_flops);
        llmperf_model_free(model);
    }
}

static void a_ragged_batch_is_the_sum_of_its_requests(void **state)
{
    static const uint64_t tokens[] = { 1, 700, 33 }, cached[] = { 999, 0, 4096 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        llmperf_model *model = open_model(kinds[i]);
        llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, tokens, cached);
        uint64_t flops = 0, read = 0, written = 0;
        llmperf_work batch;

        step.requests = 3;
        batch = work_of(model, &step);
        for (size_t k = 0; k < 3; k++) {
            llmperf_work one = prefill(model, tokens[k], cached[k], 0);

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
        llmperf_model *model = open_model(kinds[i]);
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
        llmperf_model *model = open_model(kinds[i]);
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
        llmperf_model *model = open_model(models[i]);

        assert_true(decode(model, 777).kv_read_bytes == 777 * info_of(model).kv_bytes_per_token);
        assert_true(decode(model, 777).kv_write_bytes == info_of(model).kv_bytes_per_token);
        llmperf_model_free(model);
    }
}

/* Gemma 3 1B: 22 layers see 512 keys, 4 see all. */
static void windows_bound_pairs_and_bytes(void **state)
{
    llmperf_model *model = open_model("gemma_3_1b");
    llmperf_model_info info = info_of(model);
    uint64_t layer = info.kv_bytes_per_token / info.layers;

    (void)state;
    assert_int_equal(info.window, 512);
    assert_int_equal(info.window_layers, 22);
    assert_true(decode(model, 4096).kv_read_bytes == layer * (22 * 512 + 4 * 4096));
    assert_true(decode(model, 4096).model_flops - decode(model, 4095).model_flops ==
                info.flops_per_pair / info.layers * 4);
    /* The first of 100 new tokens still sees 512 keys back. */
    assert_true(prefill(model, 100, 4000, 0).kv_read_bytes == layer * (22 * 611 + 4 * 4100));
    llmperf_model_free(model);
}

/* 2 H (2 r + d_r) against 2 H (d_n + d_r + d_v) for a pair. */
static void latent_attention_executes_more_than_it_counts(void **state)
{
    llmperf_model *model = open_model("deepseek_v3");
    llmperf_work work = decode(model, 8192), chunk = prefill(model, 512, 1000, 0);

    (void)state;
    assert_true(work.hardware_flops - work.model_flops == (uint64_t)8192 * 61 * (278528 - 81920));
    assert_true(work.kv_read_bytes == (uint64_t)8192 * 70272);
    /* Keys and values of cached tokens are made from their latents again. */
    assert_true(chunk.hardware_flops - chunk.model_flops ==
                (uint64_t)1000 * 61 * 2 * 512 * 128 * 256);
    assert_true(prefill(model, 512, 0, 0).hardware_flops == prefill(model, 512, 0, 0).model_flops);
    llmperf_model_free(model);
}

static void logits_are_those_that_were_asked_for(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
    uint64_t row = info_of(model).flops_lm_head, tokens = 100, rows = 7;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);
    uint64_t none = prefill(model, 100, 0, LLMPERF_LOGITS_NONE).model_flops;

    (void)state;
    assert_true(prefill(model, 100, 0, 0).model_flops == none + row);
    assert_true(prefill(model, 100, 0, LLMPERF_LOGITS_ALL).model_flops == none + 100 * row);
    step.logits_rows = &rows;
    assert_true(work_of(model, &step).model_flops == none + 7 * row);
    /* Nobody reads the head for a chunk that ends no prompt. */
    assert_true(prefill(model, 100, 0, 0).weight_bytes -
                    prefill(model, 100, 0, LLMPERF_LOGITS_NONE).weight_bytes ==
                row);
    llmperf_model_free(model);
}

/* 2 228 224 elements in and out of the linear layers of a token. */
static void activations_of_llama_are_4_46_mb_a_token(void **state)
{
    static const char *const linear[] = { "qkv", "o_proj", "mlp" };
    llmperf_model *model = open_model("llama_3_8b");
    uint64_t tokens = 1, sum = 0;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        sum += find_operator(model, &step, linear[i], NULL).activation_bytes;
    assert_int_equal(sum, 2 * 2228224);
    llmperf_model_free(model);
}

static void formats_of_weights_cache_and_products_are_apart(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
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
    assert_int_equal(find_operator(model, &step, "mlp", NULL).compute_dtype, LLMPERF_DTYPE_BF16);
    step.weight_dtype = step.activation_dtype = LLMPERF_DTYPE_FP8;
    assert_int_equal(find_operator(model, &step, "mlp", NULL).compute_dtype, LLMPERF_DTYPE_FP8);
    assert_int_equal(find_operator(model, &step, "attention", NULL).compute_dtype,
                     LLMPERF_DTYPE_BF16);
    assert_int_equal(find_operator(model, &step, "lm_head", NULL).compute_dtype,
                     LLMPERF_DTYPE_BF16);
    step.weight_dtype = LLMPERF_DTYPE_FP32;
    assert_true(work_of(model, &step).weight_bytes ==
                4 * (uint64_t)(8030261248 - 525336576 + 4096));
    llmperf_model_free(model);
}

static void experts_touched_may_be_measured(void **state)
{
    llmperf_model *model = open_model("deepseek_ocr");
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);
    uint64_t all;

    (void)state;
    assert_true(work_of(model, &step).experts_touched == 6);
    step.experts_touched = 64;
    all = find_operator(model, &step, "experts", "moe").weight_bytes;
    assert_true(all == 2 * info_of(model).parameters_experts);
    step.experts_touched = 32;
    assert_true(find_operator(model, &step, "experts", "moe").weight_bytes == all / 2);
    llmperf_model_free(model);
}

static void tensor_parallel_shares_add_up(void **state)
{
    llmperf_model *model = open_model("llama_3_70b");
    uint64_t cached = 2047;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    llmperf_work whole = work_of(model, &step), share;
    uint64_t norms = find_operator(model, &step, "norm", "dense").weight_bytes + 2 * 8192;

    (void)state;
    step.tensor_parallel = 8;
    share = work_of(model, &step);
    assert_true(8 * share.model_flops == whole.model_flops);
    assert_true(8 * share.hardware_flops == whole.hardware_flops);
    assert_true(8 * share.kv_read_bytes == whole.kv_read_bytes);
    /* Norms and rows of the table are on every GPU. */
    assert_true(8 * share.weight_bytes == whole.weight_bytes + 7 * (norms + 2 * 8192));
    /* Two sums a layer, 2 (t - 1) / t of a vector each. */
    assert_true(share.communication_bytes == (uint64_t)80 * 2 * (2 * 7 * 8192 * 2 / 8));
    /* Eight KV heads on sixteen GPUs: each holds one. */
    step.tensor_parallel = 16;
    assert_true(work_of(model, &step).kv_read_bytes == share.kv_read_bytes);
    assert_true(16 * work_of(model, &step).model_flops == whole.model_flops);
    assert_true(16 * work_of(model, &step).hardware_flops > whole.hardware_flops);
    llmperf_model_free(model);
}

static void latent_cache_is_not_shared(void **state)
{
    llmperf_model *model = open_model("deepseek_v3");
    uint64_t cached = 2047;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    uint64_t whole = work_of(model, &step).kv_read_bytes;

    (void)state;
    step.tensor_parallel = 8;
    assert_true(work_of(model, &step).kv_read_bytes == whole);
    llmperf_model_free(model);
}

static void pipeline_stages_add_up(void **state)
{
    llmperf_model *model = open_model("deepseek_v3");
    uint64_t tokens = 100, cached = 50, flops = 0, weights = 0, layers = 0;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);
    llmperf_work whole = work_of(model, &step);

    (void)state;
    step.pipeline_parallel = 4;
    for (step.pipeline_rank = 0; step.pipeline_rank < 4; step.pipeline_rank++) {
        llmperf_work stage = work_of(model, &step);

        flops += stage.model_flops;
        weights += stage.weight_bytes;
        layers += find_operator(model, &step, "attention", "moe").layers;
        assert_true(stage.communication_bytes ==
                    (step.pipeline_rank < 3 ? (uint64_t)100 * 7168 * 2 : 0));
    }
    assert_int_equal(layers, 58);
    assert_true(flops == whole.model_flops);
    assert_true(llabs((long long)(weights - whole.weight_bytes)) <= 4); /* rounding of experts */
    llmperf_model_free(model);
}

static void expert_parallel_spreads_whole_experts(void **state)
{
    llmperf_model *model = open_model("deepseek_v3");
    uint64_t cached[32];
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, cached);
    uint64_t whole;
    llmperf_work work;

    (void)state;
    for (size_t i = 0; i < 32; i++)
        cached[i] = 2047;
    step.requests = 32;
    whole = find_operator(model, &step, "experts", "moe").model_flops;
    step.expert_parallel = step.data_parallel = 8;
    work = work_of(model, &step);
    /* Tokens of all replicas choose. */
    assert_true(work.experts_touched == llmperf_experts_expected(256, 8, 256));
    assert_true(find_operator(model, &step, "experts", "moe").model_flops == whole);
    assert_true(fabs((double)find_operator(model, &step, "experts", "moe").weight_bytes -
                     58.0 * 3 * 7168 * 2048 * 4097 / 4096 * work.experts_touched / 8) < 2);
    llmperf_model_free(model);
}

static void certain_drafts_are_all_model_work(void **state)
{
    llmperf_model *model = open_model("mixtral_8x7b");
    uint64_t cached = 500;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    uint64_t plain = work_of(model, &step).model_flops;
    llmperf_work work;

    (void)state;
    step.draft_tokens = 4;
    work = work_of(model, &step);
    assert_true(work.model_flops == plain);
    assert_true(work.tokens_expected == 1);
    step.acceptance = 1;
    work = work_of(model, &step);
    assert_true(work.model_flops == work.hardware_flops);
    assert_true(work.tokens_expected == 5);
    assert_true(work.experts_touched == llmperf_experts_expected(8, 2, 5));
    llmperf_model_free(model);
}

static void padding_is_hardware_work(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
    uint64_t cached = 99;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, &cached);
    llmperf_work plain = work_of(model, &step), padded;

    (void)state;
    step.padded_tokens = 8;
    padded = work_of(model, &step);
    assert_true(padded.model_flops == plain.model_flops);
    assert_true(padded.hardware_flops - plain.hardware_flops == 7 * info_of(model).flops_per_token);
    llmperf_model_free(model);
}

static void an_encoder_reads_its_weights_once_a_call(void **state)
{
    llmperf_model *model = open_model("deepseek_ocr");
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
    llmperf_model *model = open_model("gemma_3_4b");
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 3;
    work = work_of(model, &step);
    assert_int_equal(work.tokens, 3 * 256);
    assert_int_equal(work.positions, 3 * 256);
    assert_true(find_operator(model, &step, "projector", NULL).model_flops ==
                (uint64_t)2 * 3 * 256 * 1152 * 2560);
    assert_true(find_operator(model, &step, "attention", NULL).model_flops ==
                (uint64_t)4 * 3 * 4096 * 4096 * 1152 * 27);
    llmperf_model_free(model);
}

/* ResNet-18 at 224: 1 814 073 344 multiply-adds by the definition of convolutions; torchvision
 * prints 1.81 G. */
static void resnet_18_has_its_published_flops(void **state)
{
    llmperf_model *model = open_model("resnet_18");
    llmperf_step step = LLMPERF_STEP_INIT;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    assert_int_equal(work_of(model, &step).model_flops, UINT64_C(2) * 1814073344);
    llmperf_model_free(model);
}

static void a_smaller_struct_is_filled_as_far_as_it_goes(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_work work;

    (void)state;
    memset(&work, 0x55, sizeof(work));
    work.struct_size = offsetof(llmperf_work, vector_flops);
    {
        llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);

        step.struct_size = offsetof(llmperf_step, new_tokens);
        assert_int_equal(llmperf_model_work(model, &step, &work), 0);
    }
    assert_int_equal(work.model_flops, UINT64_C(15009841152));
    assert_int_equal(work.vector_flops, UINT64_C(0x5555555555555555));
    assert_int_equal(work.struct_size, offsetof(llmperf_work, vector_flops));
    llmperf_model_free(model);
}

static void assert_step_refused(const llmperf_model *model, const llmperf_step *step, int status,
                                const char *part)
{
    llmperf_work work = LLMPERF_WORK_INIT;

    assert_int_equal(llmperf_model_work(model, step, &work), status);
    assert_int_equal(work.model_flops, 0);
    if (!strstr(llmperf_last_error(), part) || strchr(llmperf_last_error(), '\n'))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

static void impossible_steps_are_refused(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
    uint64_t tokens = 10, cached = 5, none = 0, huge = UINT64_MAX, rows = 11;
    const llmperf_step fine = step_of(LLMPERF_PHASE_PREFILL, &tokens, &cached);
    llmperf_step step;

    (void)state;
#define REFUSED(change, part)                                                                      \
    do {                                                                                           \
        step = fine;                                                                               \
        change;                                                                                    \
        assert_step_refused(model, &step, LLMPERF_EINVAL, part);                                   \
    } while (0)
    REFUSED(step.new_tokens = &none, "0 new tokens");
    REFUSED(step.new_tokens = &huge, "new tokens");
    REFUSED(step.cached_tokens = &huge, "cached tokens");
    REFUSED(step.new_tokens = NULL, "new_tokens is required");
    REFUSED(step.requests = 0, "0 requests");
    REFUSED(step.phase = 0, "phase 0");
    REFUSED(step.phase = 9, "phase 9");
    REFUSED(step.logits = 9, "logits 9");
    REFUSED(step.logits_rows = &rows, "11 rows of logits");
    REFUSED(step.weight_dtype = 99, "weight_dtype 99");
    REFUSED(step.kv_dtype = LLMPERF_DTYPE_INT4_G128, "kv_dtype int4_g128");
    REFUSED(step.draft_tokens = 3, "decode phase");
    REFUSED(step.acceptance = 0.5, "without draft_tokens");
    REFUSED(step.tensor_parallel = 3, "does not divide");
    REFUSED(step.tensor_parallel = UINT32_MAX, "GPUs in parallel");
    REFUSED(step.pipeline_parallel = 33, "more than 32 layers");
    REFUSED(step.pipeline_rank = 1, "pipeline_rank 1");
    REFUSED(step.expert_parallel = 2, "expert_parallel");
    REFUSED(step.experts_touched = 1, "experts_touched");
    REFUSED(step.experts_touched = (double)NAN, "experts_touched");
    REFUSED(step.struct_size = 0, "struct_size");
    REFUSED((step.phase = LLMPERF_PHASE_DECODE, step.draft_tokens = 3, step.new_tokens = NULL,
             step.acceptance = 1.5),
            "acceptance is 1.5");
    REFUSED((step.phase = LLMPERF_PHASE_DECODE, step.draft_tokens = 3, step.acceptance = 0.5),
            "one more");
    step = fine;
    step.phase = LLMPERF_PHASE_VISION;
    assert_step_refused(model, &step, LLMPERF_ENOTSUP, "no vision");
    llmperf_model_free(model);
}

static void impossible_images_are_refused(void **state)
{
    llmperf_model *model = open_model("deepseek_ocr"), *resnet = open_model("resnet_50");
    uint64_t tiny = 8, huge = UINT64_C(1) << 40, many = 5000, tokens = 1;
    llmperf_step step = LLMPERF_STEP_INIT;

    (void)state;
    step.phase = LLMPERF_PHASE_VISION;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "0 images");
    step.images = 1;
    step.image_heights = &tiny;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "too small");
    step.image_heights = &huge;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "pixels");
    step.image_heights = NULL;
    step.tile_rows = &many;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "belong together");
    step.tile_columns = &many;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "tiles");
    step = step_of(LLMPERF_PHASE_PREFILL, &tokens, NULL);
    assert_step_refused(resnet, &step, LLMPERF_ENOTSUP, "no decoder");
    llmperf_model_free(model);
    llmperf_model_free(resnet);
}

static void numbers_above_64_bits_are_refused(void **state)
{
    llmperf_model *model = open_model("llama_3_1_405b");
    uint64_t tokens = UINT64_C(1) << 36, pairs, flops;
    llmperf_step step = step_of(LLMPERF_PHASE_PREFILL, &tokens, &tokens);

    (void)state;
    assert_step_refused(model, &step, LLMPERF_EINVAL, "passes 64 bits");
    assert_int_equal(llmperf_model_flops(model, &step, "palm", &flops), LLMPERF_EINVAL);
    assert_int_equal(llmperf_pairs_causal(tokens, tokens, 0, &pairs), LLMPERF_EINVAL);
    assert_int_equal(llmperf_pairs_causal(tokens, tokens, 4096, &pairs), 0);
    assert_true(pairs == 4096 * tokens);
    llmperf_model_free(model);
}

static void conventions_are_of_whole_steps(void **state)
{
    llmperf_model *model = open_model("llama_3_8b");
    uint64_t flops;
    llmperf_step step = step_of(LLMPERF_PHASE_DECODE, NULL, NULL);

    (void)state;
    for (size_t i = 0; llmperf_convention_name(i); i++) {
        assert_non_null(llmperf_convention_note(llmperf_convention_name(i)));
        assert_int_equal(llmperf_model_flops(model, &step, llmperf_convention_name(i), &flops), 0);
        assert_true(flops > 0);
    }
    assert_int_equal(llmperf_model_flops(model, &step, "mine", &flops), LLMPERF_EINVAL);
    assert_null(llmperf_convention_note("mine"));
    step.tensor_parallel = 2;
    assert_int_equal(llmperf_model_flops(model, &step, "palm", &flops), LLMPERF_EINVAL);
    llmperf_model_free(model);
}

static void formats_have_names_and_bits(void **state)
{
    uint32_t dtype;

    (void)state;
    for (uint32_t i = 1; i <= LLMPERF_DTYPE_Q8_0; i++) {
        assert_int_equal(llmperf_dtype_find(llmperf_dtype_name(i), &dtype), 0);
        assert_int_equal(dtype, i);
        assert_true(llmperf_dtype_bits(i) >= 4);
    }
    assert_true(llmperf_dtype_bits(LLMPERF_DTYPE_NVFP4) == 4.5);
    assert_true(llmperf_dtype_bits(LLMPERF_DTYPE_INT4_G128) == 4.15625);
    assert_true(llmperf_dtype_bits(LLMPERF_DTYPE_Q6_K) == 6.5625);
    assert_int_equal(llmperf_dtype_find("fp7", &dtype), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "fp7"));
    assert_string_equal(llmperf_dtype_name(0), "unknown");
    assert_true(llmperf_dtype_bits(12345) == 0);
}

static void expectations_of_nonsense_are_not_numbers(void **state)
{
    (void)state;
    assert_true(isnan(llmperf_experts_expected(8, 0, 1)));
    assert_true(isnan(llmperf_experts_expected(8, 9, 1)));
    assert_true(llmperf_experts_expected(8, 8, 1) == 8);
    assert_true(isnan(llmperf_tokens_expected(-0.1, 3)));
    assert_true(isnan(llmperf_tokens_expected((double)NAN, 3)));
    assert_true(llmperf_tokens_expected(1, 3) == 4);
    assert_true(llmperf_tokens_expected(0, 3) == 1);
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
        cmocka_unit_test(tensor_parallel_shares_add_up),
        cmocka_unit_test(latent_cache_is_not_shared),
        cmocka_unit_test(pipeline_stages_add_up),
        cmocka_unit_test(expert_parallel_spreads_whole_experts),
        cmocka_unit_test(certain_drafts_are_all_model_work),
        cmocka_unit_test(padding_is_hardware_work),
        cmocka_unit_test(an_encoder_reads_its_weights_once_a_call),
        cmocka_unit_test(gemma_pools_its_image_tokens),
        cmocka_unit_test(resnet_18_has_its_published_flops),
        cmocka_unit_test(a_smaller_struct_is_filled_as_far_as_it_goes),
        cmocka_unit_test(impossible_steps_are_refused),
        cmocka_unit_test(impossible_images_are_refused),
        cmocka_unit_test(numbers_above_64_bits_are_refused),
        cmocka_unit_test(conventions_are_of_whole_steps),
        cmocka_unit_test(formats_have_names_and_bits),
        cmocka_unit_test(expectations_of_nonsense_are_not_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
