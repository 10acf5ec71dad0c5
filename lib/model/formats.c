/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of weights, from torch_dtype and quantization_config. */
#include <ctype.h>
#include <string.h>

#include "lib/model/fields.h"
#include "lib/base/status.h"

static bool is(const char *word, const char *other)
{
    return word && strcmp(word, other) == 0;
}

#define WHOLE_CHANNEL UINT64_MAX

static uint32_t by_bits(uint64_t bits, bool is_float, uint64_t group, bool block)
{
    static const struct {
        uint64_t group;
        uint32_t dtype;
    } int4[] = { { 128, LLMPERF_DTYPE_INT4_G128 },
                 { 64, LLMPERF_DTYPE_INT4_G64 },
                 { 32, LLMPERF_DTYPE_INT4_G32 },
                 { WHOLE_CHANNEL, LLMPERF_DTYPE_INT4_CHANNEL } };

    if (bits == 8 && is_float)
        return block ? LLMPERF_DTYPE_FP8_BLOCK128 : LLMPERF_DTYPE_FP8;
    if (bits == 8)
        return LLMPERF_DTYPE_INT8;
    if (bits == 4 && is_float)
        return group == 16 ? LLMPERF_DTYPE_NVFP4 : group == 32 ? LLMPERF_DTYPE_MXFP4 : 0;
    for (size_t i = 0; i < sizeof(int4) / sizeof(int4[0]); i++)
        if (bits == 4 && group == int4[i].group)
            return int4[i].dtype;
    return 0;
}

/* Elements with a scale of their own; -1: all of a channel. 0: not said. */
static uint64_t read_group(const struct lp_fields *fields)
{
    if (is(lp_field_word(fields, "group_size"), "-1"))
        return WHOLE_CHANNEL;
    return lp_field_or(fields, "group_size", 0, LP_LIMIT_SIZE, NULL);
}

static uint32_t read_compressed_tensors(const struct lp_fields *quantisation)
{
    struct lp_fields groups, group, weights;
    const char *type, *strategy;
    uint32_t dtype;

    if (!lp_field_map(quantisation, "config_groups", &groups) ||
        !lp_field_map(&groups, "group_0", &group) || !lp_field_map(&group, "weights", &weights))
        return 0;
    type = lp_field_word(&weights, "type");
    strategy = lp_field_word(&weights, "strategy");
    dtype = by_bits(lp_field_or(&weights, "num_bits", 0, 32, NULL), is(type, "float"),
                    read_group(&weights), is(strategy, "block"));
    /* Symmetric groups have no zero points: of the int4 formats only the scale of 128 is near. */
    return dtype >= LLMPERF_DTYPE_INT4_G64 ? 0 : dtype;
}

static uint32_t read_fp8(const struct lp_fields *quantisation)
{
    if (!lp_field_is_set(quantisation, "weight_block_size"))
        return LLMPERF_DTYPE_FP8;
    if (lp_field_length(quantisation, "weight_block_size") != 2)
        return 0;
    for (size_t i = 0; i < 2; i++)
        if (lp_field_element(quantisation, "weight_block_size", i, LP_LIMIT_SIZE) != 128)
            return 0;
    return LLMPERF_DTYPE_FP8_BLOCK128;
}

/* Dtype of a quantised layer's inputs: inputs of 8 or 4 bits are multiplied so. 0: not quantised.
 */
static uint32_t read_activations(const struct lp_fields *quantisation)
{
    const char *method = lp_field_word(quantisation, "quant_method");
    struct lp_fields groups, group, inputs;
    uint64_t bits;
    bool is_float;

    if (is(lp_field_word(quantisation, "quant_algo"), "NVFP4"))
        return LLMPERF_DTYPE_NVFP4;
    if (is(method, "fp8") || is(method, "fbgemm_fp8") ||
        is(lp_field_word(quantisation, "quant_algo"), "FP8"))
        return LLMPERF_DTYPE_FP8;
    if (!is(method, "compressed-tensors") ||
        !lp_field_map(quantisation, "config_groups", &groups) ||
        !lp_field_map(&groups, "group_0", &group) ||
        !lp_field_map(&group, "input_activations", &inputs))
        return 0;
    bits = lp_field_or(&inputs, "num_bits", 0, 32, NULL);
    is_float = is(lp_field_word(&inputs, "type"), "float");
    return bits == 8 || (bits == 4 && is_float)
               ? by_bits(bits, is_float, read_group(&inputs), false)
               : 0;
}

/* Dtype of the KV cache; 0: not quantised, or in a way that is not known. */
static uint32_t read_cache(const struct lp_fields *quantisation)
{
    struct lp_fields scheme;

    if (is(lp_field_word(quantisation, "kv_cache_quant_algo"), "FP8"))
        return LLMPERF_DTYPE_FP8;
    if (!lp_field_map(quantisation, "kv_cache_scheme", &scheme) ||
        lp_field_or(&scheme, "num_bits", 0, 32, NULL) != 8)
        return 0;
    return is(lp_field_word(&scheme, "type"), "float") ? LLMPERF_DTYPE_FP8 : LLMPERF_DTYPE_INT8;
}

static uint32_t read_bitsandbytes(const struct lp_fields *quantisation)
{
    const char *type = lp_field_word(quantisation, "bnb_4bit_quant_type");

    if (lp_field_flag(quantisation, "load_in_8bit", false, NULL))
        return LLMPERF_DTYPE_INT8;
    return is(type, "nf4") ? LLMPERF_DTYPE_NF4 : 0;
}

/* 0: unknown. */
static uint32_t read_method(const struct lp_fields *quantisation)
{
    const char *method = lp_field_word(quantisation, "quant_method");
    const char *algorithm = lp_field_word(quantisation, "quant_algo");

    if (is(method, "fp8") || is(method, "fbgemm_fp8"))
        return read_fp8(quantisation);
    if (is(method, "awq") || is(method, "gptq"))
        return by_bits(lp_field_or(quantisation, "bits", 0, 32, NULL), false,
                       read_group(quantisation), false);
    if (is(method, "mxfp4"))
        return LLMPERF_DTYPE_MXFP4;
    if (is(method, "bitsandbytes"))
        return read_bitsandbytes(quantisation);
    if (is(method, "compressed-tensors"))
        return read_compressed_tensors(quantisation);
    if (is(algorithm, "NVFP4"))
        return LLMPERF_DTYPE_NVFP4;
    return is(algorithm, "FP8") ? LLMPERF_DTYPE_FP8 : 0;
}

/* "model.layers.3.mlp" is one layer; "self_attn" is that part of every layer. */
static bool names_one_layer(const char *module)
{
    const char *layer = strstr(module, "layers.");

    return layer && isdigit((unsigned char)layer[7]);
}

static void read_exceptions(const struct lp_fields *quantisation, const char *key)
{
    struct lp_decoder *decoder = &quantisation->reader->model->decoder;
    size_t count = lp_field_length(quantisation, key), single = 0;

    for (size_t i = 0; i < count && quantisation->reader->status == 0; i++) {
        const char *module = lp_field_element_word(quantisation, key, i);

        if (!module)
            return;
        if (names_one_layer(module))
            single++;
        else if (strstr(module, "attn"))
            decoder->plain_attention = true;
        else if (strstr(module, "mlp") && !strstr(module, "gate") && !strstr(module, "router"))
            decoder->plain_mlp = true;
    }
    if (single)
        lp_reader_warn(quantisation->reader,
                       "%s%s lists parts of single layers; their weights are counted as quantised",
                       quantisation->path, key);
}

static void read_quantisation(const struct lp_fields *fields, struct llmperf_model *model)
{
    struct lp_fields quantisation;
    uint32_t dtype, activations, cache;

    if (!lp_field_map(fields, "quantization_config", &quantisation))
        return;
    if ((cache = read_cache(&quantisation)))
        model->kv_dtype = cache;
    dtype = read_method(&quantisation);
    if (!dtype) {
        lp_reader_warn(fields->reader,
                       "%s:%u: unknown kind of quantization_config; weights are counted as %s "
                       "unless a step sets another dtype",
                       fields->reader->file, quantisation.line,
                       llmperf_name(LLMPERF_NAME_DTYPE, model->base_dtype));
        return;
    }
    model->weight_dtype = dtype;
    if ((activations = read_activations(&quantisation)))
        model->activation_dtype = activations;
    read_exceptions(&quantisation, "modules_to_not_convert");
    read_exceptions(&quantisation, "ignore");
    read_exceptions(&quantisation, "exclude_modules");
}

void lp_read_formats(const struct lp_fields *fields)
{
    struct lp_reader *reader = fields->reader;
    struct llmperf_model *model = reader->model;
    const struct lp_fields *places[] = { fields, reader->root };
    const char *word = NULL;

    for (size_t i = 0; i < 2 && !word; i++) {
        word = lp_field_word(places[i], "dtype");
        if (!word)
            word = lp_field_word(places[i], "torch_dtype");
    }
    if (reader->status < 0)
        return;
    /* Engines run decoders in 16 bits; frameworks load image models in 32 bits. */
    model->base_dtype =
        model->family && lp_decoder_family(model->family) ? LLMPERF_DTYPE_BF16 : LLMPERF_DTYPE_FP32;
    if (!word)
        lp_reader_assume(reader, "torch_dtype is absent: %s",
                         llmperf_name(LLMPERF_NAME_DTYPE, model->base_dtype));
    if (word && (llmperf_dtype_find(word, &model->base_dtype) < 0 ||
                 lp_dtype(model->base_dtype)->quantised))
        lp_reader_fail(reader, LLMPERF_EFORMAT,
                       "%s: torch_dtype is \"%.40s\"; it must be float32, float16 or bfloat16",
                       reader->file, word);
    model->weight_dtype = model->activation_dtype = model->kv_dtype = model->base_dtype;
    read_quantisation(lp_field_is_absent(fields, "quantization_config") ? reader->root : fields,
                      model);
}
