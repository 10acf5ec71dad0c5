/* SPDX-License-Identifier: Apache-2.0 */
/* The library's numbers against tests/data/analytics/model_vectors.json, to the last digit. */
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
#include <jansson.h>

#include "lib/model/work.h"
#include "llmperf/model.h"
#include "llmperf/sys/analysis.h"

static json_t *vectors;

static const char *const text_models[][2] = {
    { "llama-3-8b", "llama_3_8b" },
    { "llama-3-70b", "llama_3_70b" },
    { "deepseek-ocr-decoder", "deepseek_ocr" },
};
#define TEXT_MODELS (sizeof(text_models) / sizeof(text_models[0]))

static llmperf_model *open_model(const char *name)
{
    llmperf_model *model = NULL;
    char path[512];

    snprintf(path, sizeof(path), "%s/model/%s.json", getenv("LLMPERF_TEST_DATA"), name);
    if (llmperf_model_open(path, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    return model;
}

static json_t *at(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    if (!value)
        fail_msg("the vectors have no %s", key);
    return value;
}

static void assert_number(const char *what, uint64_t seen, json_t *expected)
{
    if (!json_is_integer(expected) || seen != (uint64_t)json_integer_value(expected))
        fail_msg("%s is %llu, not %lld", what, (unsigned long long)seen,
                 (long long)json_integer_value(expected));
}

/* Within the rounding of pow() between C libraries. */
static void assert_double(const char *what, double seen, double expected)
{
    if (!(fabs(seen - expected) <= 4e-16 * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g", what, seen, expected);
}

static llmperf_work work_of(const llmperf_model *model, const llmperf_step *step)
{
    llmperf_work work = LLMPERF_WORK_INIT;

    if (llmperf_model_work(model, step, &work) < 0)
        fail_msg("%s", llmperf_last_error());
    return work;
}

static llmperf_work prefill(const llmperf_model *model, uint64_t tokens, uint64_t cached,
                            uint32_t logits)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = LLMPERF_PHASE_PREFILL;
    step.requests = 1;
    step.new_tokens = &tokens;
    step.cached_tokens = &cached;
    step.logits = logits;
    return work_of(model, &step);
}

/* `batch` requests that attend `context` positions each, the new token included. */
static llmperf_work decode(const llmperf_model *model, uint64_t batch, uint64_t context)
{
    uint64_t *cached = calloc(batch, sizeof(*cached));
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work;

    assert_non_null(cached);
    for (uint64_t i = 0; i < batch; i++)
        cached[i] = context - 1;
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = batch;
    step.cached_tokens = cached;
    work = work_of(model, &step);
    free(cached);
    return work;
}

static uint64_t flops_as(const llmperf_model *model, uint64_t tokens, uint32_t logits,
                         const char *convention)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t flops = 0;

    step.phase = LLMPERF_PHASE_PREFILL;
    step.requests = 1;
    step.new_tokens = &tokens;
    step.logits = logits;
    if (llmperf_model_flops(model, &step, convention, &flops) < 0)
        fail_msg("%s", llmperf_last_error());
    return flops;
}

static void assert_parameters(const llmperf_model_info *info, json_t *expected)
{
    const struct {
        const char *key;
        uint64_t value;
    } parts[] = {
        { "embed", info->parameters_embedding },
        { "lm_head", info->parameters_lm_head },
        { "norm", info->parameters_norm },
        { "attn_qkv", info->parameters_attention_in },
        { "attn_o", info->parameters_attention_out },
        { "mlp_dense", info->parameters_mlp },
        { "moe_router", info->parameters_router },
        { "moe_shared", info->parameters_shared_experts },
        { "moe_routed", info->parameters_experts },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        json_t *value = json_object_get(expected, parts[i].key);

        if (value)
            assert_number(parts[i].key, parts[i].value, value);
        else
            assert_int_equal(parts[i].value, 0);
    }
}

static void parameters_equal_the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_MODELS; i++) {
        json_t *expected = at(at(vectors, "models"), text_models[i][0]);
        llmperf_model *model = open_model(text_models[i][1]);
        llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

        assert_int_equal(llmperf_model_info_get(model, &info), 0);
        assert_parameters(&info, at(expected, "params"));
        assert_number("total", info.parameters_total - info.parameters_vision,
                      at(expected, "params_total"));
        assert_number("active", info.parameters_active,
                      at(expected, "params_active_matmul_no_embed"));
        assert_number("body", info.flops_per_token, at(expected, "flops_linear_per_token_body"));
        assert_number("head", info.flops_lm_head, at(expected, "flops_lm_head_per_token"));
        assert_number("pair", info.flops_per_pair, at(expected, "flops_attn_per_pair"));
        llmperf_model_free(model);
    }
}

static void weights_and_cache_equal_the_vectors_in_each_format(void **state)
{
    const char *format;
    json_t *expected;
    uint64_t bytes;
    uint32_t dtype;

    (void)state;
    for (size_t i = 0; i < TEXT_MODELS; i++) {
        json_t *numbers = at(at(vectors, "models"), text_models[i][0]);
        llmperf_model *model = open_model(text_models[i][1]);
        llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

        assert_int_equal(llmperf_model_info_get(model, &info), 0);
        json_object_foreach(at(numbers, "weight_bytes"), format, expected)
        {
            assert_int_equal(llmperf_dtype_find(format, &dtype), 0);
            assert_int_equal(llmperf_model_weight_bytes(model, dtype, &bytes), 0);
            assert_number(format, bytes - 2 * info.parameters_vision, expected);
        }
        json_object_foreach(at(numbers, "kv_bytes_per_token"), format, expected)
        {
            assert_int_equal(llmperf_dtype_find(format, &dtype), 0);
            assert_int_equal(llmperf_model_kv_bytes(model, dtype, &bytes), 0);
            assert_number(format, bytes, expected);
        }
        llmperf_model_free(model);
    }
}

static void prefill_flops_equal_the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_MODELS; i++) {
        json_t *numbers = at(at(vectors, "models"), text_models[i][0]);
        json_t *expected = at(numbers, "prefill_2048");
        llmperf_model *model = open_model(text_models[i][1]);

        assert_number("exact_last", prefill(model, 2048, 0, 0).model_flops,
                      at(expected, "exact_last"));
        assert_number("exact_all", prefill(model, 2048, 0, LLMPERF_LOGITS_ALL).model_flops,
                      at(expected, "exact_all"));
        assert_number("exact_all", flops_as(model, 2048, 0, "exact-all-v1"),
                      at(expected, "exact_all"));
        assert_number("full_last", flops_as(model, 2048, 0, "vllm"), at(expected, "full_last"));
        assert_number("full_all", flops_as(model, 2048, 0, "palm"), at(expected, "full_all"));
        assert_number("chunk", prefill(model, 512, 1536, 0).model_flops,
                      at(numbers, "prefill_chunk_512_after_1536"));
        llmperf_model_free(model);
    }
}

/* The vectors keep the router, "megatron" leaves it out. */
static void half_square_flops_equal_the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_MODELS; i++) {
        json_t *expected = at(at(at(vectors, "models"), text_models[i][0]), "prefill_2048");
        llmperf_model *model = open_model(text_models[i][1]);
        llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

        assert_int_equal(llmperf_model_info_get(model, &info), 0);
        assert_number("half_all",
                      flops_as(model, 2048, 0, "megatron") +
                          2 * (uint64_t)2048 * info.parameters_router,
                      at(expected, "half_all"));
        llmperf_model_free(model);
    }
}

static void decode_equals_the_vectors(void **state)
{
    unsigned batch, context;
    const char *key;
    json_t *expected;

    (void)state;
    for (size_t i = 0; i < TEXT_MODELS; i++) {
        json_t *numbers = at(at(vectors, "models"), text_models[i][0]);
        llmperf_model *model = open_model(text_models[i][1]);

        json_object_foreach(at(numbers, "decode"), key, expected)
            assert_number(key, decode(model, 1, strtoull(key, NULL, 10)).model_flops, expected);
        json_object_foreach(at(numbers, "decode_bytes"), key, expected)
        {
            llmperf_work work;

            assert_int_equal(sscanf(key, "B%u_c%u", &batch, &context), 2);
            work = decode(model, batch, context);
            assert_number(key, work.weight_bytes, at(expected, "weights"));
            assert_number(key, work.kv_read_bytes, at(expected, "kv_read"));
            assert_number(key, work.kv_write_bytes, at(expected, "kv_write"));
            assert_number(key, work.bytes, at(expected, "total"));
            if (json_is_null(at(expected, "experts_touched_expected")))
                assert_true(isnan(work.experts_touched));
            else
                assert_double(key, work.experts_touched,
                              json_real_value(at(expected, "experts_touched_expected")));
        }
        llmperf_model_free(model);
    }
}

static void conventions_equal_the_vectors(void **state)
{
    static const char *const names[][2] = {
        { "default", "exact-v1" },          { "vllm_full_last", "vllm" },
        { "two_n_active", "two-n-active" }, { "megatron_half_all", "megatron" },
        { "exact_all", "exact-all-v1" },    { "two_n_total", "two-n-total" },
        { "palm_full_all", "palm" },        { "palm_full_all", "flop-counter" },
    };
    json_t *expected = at(at(vectors, "worked"), "conventions_llama3_8b_2048");
    llmperf_model *model = open_model("llama_3_8b");

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_number(names[i][1], flops_as(model, 2048, 0, names[i][1]),
                      at(expected, names[i][0]));
    assert_true(flops_as(model, 2048, 0, "fvcore") * 2 == flops_as(model, 2048, 0, "palm"));
    llmperf_model_free(model);
}

/* Training takes three times the forward pass. */
static void per_token_flops_of_405b_equal_the_vector(void **state)
{
    json_t *expected = at(at(vectors, "worked"), "llama31_405b_8192");
    llmperf_model *model = open_model("llama_3_1_405b");

    (void)state;
    assert_double("causal", 3.0 * (double)flops_as(model, 8192, 0, "exact-all-v1") / 8192,
                  json_number_value(at(expected, "causal")));
    assert_double("full", 3.0 * (double)flops_as(model, 8192, 0, "palm") / 8192,
                  json_number_value(at(expected, "full")));
    llmperf_model_free(model);
}

static void batches_of_llama_equal_the_vectors(void **state)
{
    static const unsigned batches[] = { 1, 8, 32, 128, 256 };
    llmperf_model *model = open_model("llama_3_8b");
    char key[64];

    (void)state;
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        llmperf_work work = decode(model, batches[i], 2048);

        snprintf(key, sizeof(key), "llama3_8b_decode_B%u_c2048", batches[i]);
        assert_number(key, work.model_flops, at(at(at(vectors, "worked"), key), "flops"));
        assert_number(key, work.bytes, at(at(at(vectors, "worked"), key), "bytes"));
    }
    llmperf_model_free(model);
}

static void ragged_batch_equals_the_vector(void **state)
{
    json_t *expected = at(at(vectors, "worked"), "ragged_decode_llama3_8b");
    json_t *bytes = at(expected, "bytes");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t cached[4];
    llmperf_work work;

    (void)state;
    for (size_t i = 0; i < 4; i++)
        cached[i] = (uint64_t)json_integer_value(json_array_get(at(expected, "ctx"), i)) - 1;
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 4;
    step.cached_tokens = cached;
    work = work_of(model, &step);
    assert_number("flops", work.model_flops, at(expected, "flops"));
    assert_number("weights", work.weight_bytes, at(bytes, "weights"));
    assert_number("kv_read", work.kv_read_bytes, at(bytes, "kv_read"));
    assert_number("kv_write", work.kv_write_bytes, at(bytes, "kv_write"));
    assert_number("total", work.bytes, at(bytes, "total"));
    llmperf_model_free(model);
}

static void pairs_equal_the_vectors(void **state)
{
    json_t *row;
    size_t i;

    (void)state;
    json_array_foreach(at(at(vectors, "worked"), "pairs"), i, row)
    {
        uint64_t n = (uint64_t)json_integer_value(at(row, "n"));
        uint64_t prefix = (uint64_t)json_integer_value(at(row, "prefix"));
        uint64_t window = (uint64_t)json_integer_value(at(row, "window"));

        if (!json_is_true(at(row, "causal")))
            continue; /* n (P + n): part of the conventions */
        assert_number("pairs", (uint64_t)lp_pairs_causal(n, prefix, window), at(row, "pairs"));
    }
}

static void experts_touched_equal_the_vectors(void **state)
{
    unsigned experts, chosen;
    const char *key, *tokens;
    json_t *rows, *expected;

    (void)state;
    json_object_foreach(at(vectors, "moe_expected_experts"), key, rows)
    {
        assert_int_equal(sscanf(key, "E%u_k%u", &experts, &chosen), 2);
        json_object_foreach(rows, tokens, expected) assert_double(
            key, llmperf_experts_expected(experts, chosen, strtoull(tokens, NULL, 10)),
            json_number_value(expected));
    }
}

static void speculation_equals_the_vectors(void **state)
{
    json_t *expected = at(at(vectors, "worked"), "spec_decode_llama3_8b_c2048_gamma3_alpha0.8");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t cached = 2047;
    llmperf_work work;
    json_t *row;
    size_t i;

    (void)state;
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 1;
    step.cached_tokens = &cached;
    json_array_foreach(at(at(vectors, "worked"), "spec_decode_expected_tokens"), i, row)
    {
        step.acceptance = json_real_value(at(row, "alpha"));
        step.draft_tokens = (uint32_t)json_integer_value(at(row, "gamma"));
        assert_double("tokens", work_of(model, &step).tokens_expected,
                      json_real_value(at(row, "tokens")));
    }
    step.draft_tokens = 3;
    step.acceptance = 0.8;
    work = work_of(model, &step);
    assert_number("verify", work.hardware_flops, at(expected, "verify_flops"));
    assert_double("tokens", work.tokens_expected, json_real_value(at(expected, "expected_tokens")));
    assert_double("useful", work.model_flops_expected,
                  json_real_value(at(expected, "useful_flops_expected")));
    assert_true(work.model_flops == (uint64_t)llround(work.model_flops_expected));
    llmperf_model_free(model);
}

static llmperf_work see(const llmperf_model *model, uint64_t pixels, uint64_t rows,
                        uint64_t columns, uint64_t tile)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    step.image_heights = &pixels;
    step.tile_rows = &rows;
    step.tile_columns = &columns;
    step.tile_pixels = tile;
    return work_of(model, &step);
}

/* Hardware and model FLOPs of the operators of a part of the encoder. */
static uint64_t part(const llmperf_model *model, uint64_t pixels, uint64_t rows, uint64_t columns,
                     uint64_t tile, const char *const *kinds, bool hardware)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t sum = 0;

    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    step.image_heights = &pixels;
    step.tile_rows = &rows;
    step.tile_columns = &columns;
    step.tile_pixels = tile;
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        for (size_t k = 0; kinds[k]; k++)
            if (strcmp(op.layer_kind, kinds[k]) == 0)
                sum += hardware ? op.hardware_flops : op.model_flops;
    return sum;
}

static const char *const sam_kinds[] = { "sam", "sam_window", "conv", NULL };
static const char *const clip_kinds[] = { "clip", NULL };
static const char *const projector_kinds[] = { "output", NULL };

static void modes_of_deepseek_ocr_equal_the_vectors(void **state)
{
    static const struct {
        const char *name;
        uint64_t pixels, columns, rows, tile;
    } modes[] = {
        { "tiny", 512, 0, 0, 0 },
        { "small", 640, 0, 0, 0 },
        { "base", 1024, 0, 0, 0 },
        { "large", 1280, 0, 0, 0 },
        { "gundam_2x1", 1024, 2, 1, 640 },
        { "gundam_2x2", 1024, 2, 2, 640 },
        { "gundam_3x2", 1024, 3, 2, 640 },
        { "gundam_3x3", 1024, 3, 3, 640 },
        { "gundam-m_2x2", 1280, 2, 2, 1024 },
    };
    llmperf_model *model = open_model("deepseek_ocr");

    (void)state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        json_t *expected = at(at(vectors, "deepseek_ocr"), modes[i].name);
        llmperf_work work =
            see(model, modes[i].pixels, modes[i].rows, modes[i].columns, modes[i].tile);
        const char *const *kinds[] = { sam_kinds, clip_kinds, projector_kinds };
        static const char *const keys[] = { "sam", "clip", "proj" };

        assert_number("total", work.hardware_flops, at(expected, "total"));
        assert_number("tokens", work.tokens, at(expected, "vision_tokens"));
        assert_number("positions", work.positions, at(expected, "llm_positions"));
        for (size_t k = 0; k < 3; k++)
            assert_number(keys[k],
                          part(model, modes[i].pixels, modes[i].rows, modes[i].columns,
                               modes[i].tile, kinds[k], true),
                          at(expected, keys[k]));
    }
    llmperf_model_free(model);
}

static void padded_windows_are_hardware_flops_only(void **state)
{
    llmperf_model *model = open_model("deepseek_ocr");
    json_t *details = at(at(vectors, "deepseek_ocr"), "sam_detail"), *expected;
    const char *pixels;

    (void)state;
    json_object_foreach(details, pixels, expected)
    {
        llmperf_work work = see(model, strtoull(pixels, NULL, 10), 0, 0, 0);

        assert_number(pixels, work.hardware_flops - work.model_flops,
                      at(expected, "window_padding_waste"));
    }
    llmperf_model_free(model);
}

/* FLOPs of the rows with this kind, and with this name if one is given. */
static uint64_t executed(const llmperf_model *model, uint64_t pixels, const char *kind,
                         const char *name)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    uint64_t sum = 0;

    step.phase = LLMPERF_PHASE_VISION;
    step.images = 1;
    step.image_heights = &pixels;
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        if (strcmp(op.layer_kind, kind) == 0 && (!name || strcmp(op.name, name) == 0))
            sum += op.hardware_flops;
    return sum;
}

static void parts_of_the_encoder_equal_the_vectors(void **state)
{
    llmperf_model *model = open_model("deepseek_ocr");
    json_t *ocr = at(vectors, "deepseek_ocr"), *expected;
    const char *key;

    (void)state;
    json_object_foreach(at(ocr, "sam_detail"), key, expected)
    {
        uint64_t pixels = strtoull(key, NULL, 10);
        uint64_t patches = executed(model, pixels, "sam", "patch_embed");

        assert_number("patch_embed", patches, at(expected, "patch_embed"));
        assert_number("global block", (executed(model, pixels, "sam", NULL) - patches) / 4,
                      at(expected, "block_global_each"));
        assert_number("window block", executed(model, pixels, "sam_window", NULL) / 8,
                      at(expected, "block_window_each"));
        assert_number("neck", executed(model, pixels, "conv", "neck"), at(expected, "neck"));
        assert_number("compressor", executed(model, pixels, "conv", "compressor"),
                      at(expected, "compressor"));
        assert_number("clip", executed(model, pixels, "clip", NULL),
                      at(at(at(ocr, "clip_detail"), key), "total"));
    }
    llmperf_model_free(model);
}

static void decoder_of_deepseek_ocr_equals_the_vectors(void **state)
{
    json_t *expected = at(vectors, "deepseek_ocr");
    llmperf_model *model = open_model("deepseek_ocr");
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
    static const char *const modes[] = { "base", "gundam_3x2" };
    uint64_t sum = 0;

    (void)state;
    for (uint64_t context = 494; context < 594; context++)
        sum += decode(model, 1, context).model_flops;
    assert_number("steps", sum, at(expected, "decode_100_steps_from_493"));
    assert_number("decode", decode(model, 1, 900).model_flops,
                  at(at(expected, "decode_900"), "flops"));
    assert_number("decode", decode(model, 1, 900).bytes, at(at(expected, "decode_900"), "bytes"));
    assert_number("prefill", prefill(model, 913, 0, 0).model_flops,
                  at(expected, "prefill_913_last"));
    for (size_t i = 0; i < 2; i++) {
        json_t *row = at(at(expected, modes[i]), "prefill_with_10_text_tokens");
        uint64_t tokens = (uint64_t)json_integer_value(at(row, "tokens"));

        assert_number(modes[i], prefill(model, tokens, 0, 0).model_flops, at(row, "causal_last"));
        assert_number(modes[i], flops_as(model, tokens, 0, "palm"), at(row, "full_all"));
    }
    assert_int_equal(llmperf_model_info_get(model, &info), 0);
    assert_number("total", info.parameters_total, at(at(expected, "params"), "total"));
    llmperf_model_free(model);
}

static void plain_image_models_equal_the_vectors(void **state)
{
    static const char *const models[][2] = { { "resnet_50", "resnet50_224_flops" },
                                             { "vit_b_16", "vit_b16_224_flops" } };
    json_t *expected = at(at(vectors, "worked"), "vision_generic");

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        llmperf_model *model = open_model(models[i][0]);
        llmperf_work work = see(model, 224, 0, 0, 0);

        assert_number(models[i][0], work.model_flops, at(expected, models[i][1]));
        assert_number(models[i][0], work.hardware_flops, at(expected, models[i][1]));
        llmperf_model_free(model);
    }
}

static int read_vectors(void **state)
{
    json_error_t error;
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s/analytics/model_vectors.json", getenv("LLMPERF_TEST_DATA"));
    vectors = json_load_file(path, 0, &error);
    return vectors ? 0 : -1;
}

static int free_vectors(void **state)
{
    (void)state;
    json_decref(vectors);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_equal_the_vectors),
        cmocka_unit_test(weights_and_cache_equal_the_vectors_in_each_format),
        cmocka_unit_test(prefill_flops_equal_the_vectors),
        cmocka_unit_test(half_square_flops_equal_the_vectors),
        cmocka_unit_test(decode_equals_the_vectors),
        cmocka_unit_test(conventions_equal_the_vectors),
        cmocka_unit_test(per_token_flops_of_405b_equal_the_vector),
        cmocka_unit_test(batches_of_llama_equal_the_vectors),
        cmocka_unit_test(ragged_batch_equals_the_vector),
        cmocka_unit_test(pairs_equal_the_vectors),
        cmocka_unit_test(experts_touched_equal_the_vectors),
        cmocka_unit_test(speculation_equals_the_vectors),
        cmocka_unit_test(modes_of_deepseek_ocr_equal_the_vectors),
        cmocka_unit_test(padded_windows_are_hardware_flops_only),
        cmocka_unit_test(parts_of_the_encoder_equal_the_vectors),
        cmocka_unit_test(decoder_of_deepseek_ocr_equals_the_vectors),
        cmocka_unit_test(plain_image_models_equal_the_vectors),
    };

    return cmocka_run_group_tests(tests, read_vectors, free_vectors);
}
