/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of weights, from torch_dtype and quantization_config. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    for (size_t i = 0; i < LP_LENGTH(int4); i++)
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

/* Dtype of a part of a config group ("weights", "input_activations"); 0: not quantised or not
 * known. */
static uint32_t read_scheme(const struct lp_fields *group, const char *part)
{
    struct lp_fields scheme;
    uint32_t dtype;

    if (!lp_field_map(group, part, &scheme))
        return 0;
    dtype = by_bits(lp_field_or(&scheme, "num_bits", 0, 32, NULL),
                    is(lp_field_word(&scheme, "type"), "float"), read_group(&scheme),
                    is(lp_field_word(&scheme, "strategy"), "block"));
    return dtype == LLMPERF_DTYPE_INT4_G32 && lp_field_flag(&scheme, "symmetric", true, NULL)
               ? LLMPERF_DTYPE_INT4_G32_SYM
               : dtype;
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

/* What ModelOpt calls its formats. */
struct algorithm {
    const char *name;
    uint32_t weights; /* 0: 4 bits in groups */
    uint32_t inputs;  /* 0: not quantised */
};

static const struct algorithm *find_algorithm(const struct lp_fields *quantisation)
{
    static const struct algorithm algorithms[] = {
        { "FP8", LLMPERF_DTYPE_FP8, LLMPERF_DTYPE_FP8 },
        { "FP8_PER_CHANNEL_PER_TOKEN", LLMPERF_DTYPE_FP8, LLMPERF_DTYPE_FP8 },
        { "FP8_PB_WO", LLMPERF_DTYPE_FP8_BLOCK128, 0 },
        { "NVFP4", LLMPERF_DTYPE_NVFP4, LLMPERF_DTYPE_NVFP4 },
        { "NVFP4_AWQ", LLMPERF_DTYPE_NVFP4, LLMPERF_DTYPE_NVFP4 },
        { "W4A8_AWQ", 0, LLMPERF_DTYPE_FP8 },
        { "W4A16_AWQ", 0, 0 },
    };
    const char *name = lp_field_word(quantisation, "quant_algo");

    for (size_t i = 0; i < LP_LENGTH(algorithms); i++)
        if (is(name, algorithms[i].name))
            return &algorithms[i];
    return NULL;
}

/* Dtype of a quantised layer's inputs: inputs of 8 or 4 bits are multiplied so. 0: not quantised.
 */
static uint32_t read_activations(const struct lp_fields *quantisation)
{
    const struct algorithm *algorithm = find_algorithm(quantisation);
    const char *method = lp_field_word(quantisation, "quant_method");

    if (algorithm && algorithm->inputs)
        return algorithm->inputs;
    return is(method, "fp8") || is(method, "fbgemm_fp8") ? LLMPERF_DTYPE_FP8 : 0;
}

/* Sets the dtype of the KV cache, if it is quantised. */
static void read_cache(const struct lp_fields *quantisation, uint32_t *dtype)
{
    const char *algorithm = lp_field_word(quantisation, "kv_cache_quant_algo");
    struct lp_fields scheme;
    uint64_t bits = 0;
    bool is_float = false;

    if (lp_field_map(quantisation, "kv_cache_scheme", &scheme)) {
        bits = lp_field_or(&scheme, "num_bits", 0, 32, NULL);
        is_float = is(lp_field_word(&scheme, "type"), "float");
    }
    if (is(algorithm, "FP8") || (bits == 8 && is_float))
        *dtype = LLMPERF_DTYPE_FP8;
    else if (is(algorithm, "NVFP4") || (bits == 4 && is_float))
        *dtype = LLMPERF_DTYPE_NVFP4;
    else if (is(algorithm, "INT8") || bits == 8)
        *dtype = LLMPERF_DTYPE_INT8;
    else if (algorithm || bits)
        lp_reader_warn(quantisation->reader,
                       "%s: unknown format of the KV cache; it is counted as %s unless a step sets "
                       "kv_dtype",
                       quantisation->reader->file, llmperf_name(LLMPERF_NAME_DTYPE, *dtype));
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
    const struct algorithm *algorithm = find_algorithm(quantisation);

    if (is(method, "fp8") || is(method, "fbgemm_fp8"))
        return read_fp8(quantisation);
    if (is(method, "awq") || is(method, "gptq"))
        return by_bits(lp_field_or(quantisation, "bits", 0, 32, NULL), false,
                       read_group(quantisation), false);
    if (is(method, "mxfp4"))
        return LLMPERF_DTYPE_MXFP4;
    if (is(method, "bitsandbytes"))
        return read_bitsandbytes(quantisation);
    if (!algorithm)
        return 0;
    return algorithm->weights ? algorithm->weights
                              : by_bits(4, false, read_group(quantisation), false);
}

/* 200 patterns of 80 layers; one of a layer takes 20 us. */
#define TRIED_MOST 16000u

/* The decoder's layers as the file stores them. */
struct layout {
    struct lp_decoder *decoder;
    uint64_t layers;
    unsigned char *named, *some; /* by layer: bits of parts that an entry names */
    uint64_t tried;              /* layers x patterns */
};

/* Parts that `entry` names get `dtype`, where they have none yet or it is 0. */
static void assign(const struct lp_fields *fields, struct layout *layout, const char *entry,
                   uint32_t dtype, uint32_t computed)
{
    layout->tried += lp_parts_is_pattern(entry) ? layout->layers : 0;
    memset(layout->named, 0, layout->layers);
    if (layout->tried > TRIED_MOST ||
        !lp_parts_named(entry, layout->layers, layout->named, layout->some))
        lp_reader_warn(fields->reader, "%s: \"%.80s\" cannot be read%s and is left out",
                       fields->reader->file, entry,
                       layout->tried > TRIED_MOST ? " after so many patterns" : "");
    for (uint64_t i = 0; i < layout->layers; i++)
        for (unsigned part = 0; part < LP_PARTS; part++) {
            unsigned char *format = &layout->decoder->formats[i][part];

            if (!(layout->named[i] & 1 << part) || (dtype && *format))
                continue;
            *format = (unsigned char)dtype;
            if (dtype)
                layout->decoder->computed[part] = computed;
        }
}

/* A group's targets: first modules and patterns, which win, then classes. */
static void read_targets(const struct lp_fields *group, struct layout *layout, bool classes,
                         uint32_t dtype, uint32_t computed)
{
    size_t count = lp_field_length(group, "targets");

    if (count == 0 && classes)
        assign(group, layout, "Linear", dtype, computed);
    for (size_t i = 0; i < count; i++) {
        const char *entry = lp_field_element_word(group, "targets", i);

        if (entry && is(entry, "Linear") == classes)
            assign(group, layout, entry, dtype, computed);
    }
}

/* False: a group's format is not known. */
static bool read_groups(const struct lp_fields *quantisation, struct layout *layout)
{
    struct lp_fields groups, group;

    if (!lp_field_map(quantisation, "config_groups", &groups))
        return false;
    for (unsigned classes = 0; classes < 2; classes++)
        for (size_t i = 0; i < groups.map->count; i++) {
            uint32_t dtype, computed;

            if (!lp_field_map(&groups, groups.map->entries[i].key, &group) ||
                !lp_field_is_set(&group, "weights"))
                continue;
            dtype = read_scheme(&group, "weights");
            /* Symmetric groups have no zero points: of the other int4 formats only the scale of
             * 128 is near. */
            if (!dtype || dtype == LLMPERF_DTYPE_INT4_G64 || dtype == LLMPERF_DTYPE_INT4_CHANNEL)
                return false;
            computed = read_scheme(&group, "input_activations");
            if (computed == LLMPERF_DTYPE_FP8_BLOCK128)
                computed = LLMPERF_DTYPE_FP8;
            else if (!computed || !lp_dtype(computed)->for_cache)
                computed = quantisation->reader->model->base_dtype;
            read_targets(&group, layout, classes, dtype, computed);
        }
    return true;
}

static void read_exceptions(const struct lp_fields *quantisation, const char *key,
                            struct layout *layout)
{
    size_t count = lp_field_length(quantisation, key);

    for (size_t i = 0; i < count && quantisation->reader->status == 0; i++) {
        const char *module = lp_field_element_word(quantisation, key, i);

        if (module)
            assign(quantisation, layout, module, 0, 0);
    }
}

/* The format of most weights: of the experts or MLP of the middle layer, else of attention. */
static void choose_main(struct llmperf_model *model, const struct layout *layout)
{
    static const enum lp_linear_part order[] = { LP_PART_EXPERTS, LP_PART_MLP, LP_PART_ATTENTION_IN,
                                                 LP_PART_ATTENTION_OUT };
    const unsigned char *formats = model->decoder.formats[layout->layers / 2];

    for (size_t i = 0; i < LP_LENGTH(order); i++)
        if (formats[order[i]]) {
            model->weight_dtype = formats[order[i]];
            model->activation_dtype = model->decoder.computed[order[i]];
            return;
        }
}

static bool read_layout(const struct lp_fields *quantisation, struct llmperf_model *model,
                        struct layout *layout)
{
    static const char *const exceptions[] = { "modules_to_not_convert", "ignore",
                                              "exclude_modules" };
    uint32_t dtype = 0, computed;

    if (is(lp_field_word(quantisation, "quant_method"), "compressed-tensors")) {
        if (!read_groups(quantisation, layout))
            return false;
    } else if ((dtype = read_method(quantisation))) {
        computed = read_activations(quantisation);
        assign(quantisation, layout, "Linear", dtype, computed ? computed : model->base_dtype);
    } else {
        return false;
    }
    choose_main(model, layout);
    memset(layout->some, 0, layout->layers);
    for (size_t i = 0; i < LP_LENGTH(exceptions); i++)
        read_exceptions(quantisation, exceptions[i], layout);
    for (uint64_t i = 0; i < layout->layers; i++)
        for (unsigned part = 0; part < LP_PARTS; part++)
            if (layout->some[i] & 1 << part && model->decoder.formats[i][part]) {
                lp_reader_warn(quantisation->reader,
                               "%s: some matrices of layer %u that are left unquantised are "
                               "counted as quantised",
                               quantisation->reader->file, (unsigned)i);
                return true;
            }
    return true;
}

static void read_quantisation(const struct lp_fields *fields, const struct lp_fields *quantisation,
                              struct llmperf_model *model)
{
    const char *key = is(model->family, "gpt2") ? "n_layer" : "num_hidden_layers";
    struct layout layout = { .decoder = &model->decoder };
    bool known = false;

    layout.layers = lp_field_or(fields, key, 0, LP_LIMIT_LAYERS, NULL);
    layout.layers += layout.layers == 0; /* an image model is quantised as a whole */
    read_cache(quantisation, &model->kv_dtype);
    layout.named = calloc(2, layout.layers);
    model->decoder.formats = calloc(layout.layers, sizeof(*model->decoder.formats));
    if (!layout.named || !model->decoder.formats) {
        lp_reader_memory(fields->reader);
    } else {
        layout.some = layout.named + layout.layers;
        known = read_layout(quantisation, model, &layout);
    }
    free(layout.named);
    if (known || fields->reader->status < 0)
        return;
    free(model->decoder.formats);
    model->decoder.formats = NULL;
    lp_reader_warn(fields->reader,
                   "%s:%u: unknown kind of quantization_config; weights are counted as %s "
                   "unless a step sets another dtype",
                   fields->reader->file, quantisation->line,
                   llmperf_name(LLMPERF_NAME_DTYPE, model->base_dtype));
}

/* ModelOpt writes hf_quant_config.json beside config.json. */
static void read_file_beside(const struct lp_fields *fields, struct llmperf_model *model)
{
    const char *file = fields->reader->file, *slash = strrchr(file, '/');
    struct lp_yaml_tree *tree = NULL;
    struct lp_fields root, quantisation;
    char path[4096];
    int folder = slash ? (int)(slash + 1 - file) : 0;

    if (strcmp(file + folder, "config.json") != 0 ||
        snprintf(path, sizeof(path), "%.*shf_quant_config.json", folder, file) >=
            (int)sizeof(path) ||
        access(path, F_OK) != 0)
        return;
    if (lp_yaml_read(path, &tree) < 0 || lp_yaml_root(tree)->kind != LP_YAML_MAP) {
        lp_reader_warn(fields->reader, "%s cannot be read; weights are counted as %s", path,
                       llmperf_name(LLMPERF_NAME_DTYPE, model->base_dtype));
    } else {
        fields->reader->file = path; /* of warnings */
        root = (struct lp_fields){ fields->reader, lp_yaml_root(tree), "", 1 };
        if (lp_field_map(&root, "quantization", &quantisation))
            read_quantisation(fields, &quantisation, model);
        fields->reader->file = file;
    }
    lp_yaml_free(tree);
}

void lp_read_formats(const struct lp_fields *fields)
{
    struct lp_reader *reader = fields->reader;
    struct llmperf_model *model = reader->model;
    const struct lp_fields *places[] = { fields, reader->root };
    struct lp_fields quantisation;
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
    if (lp_field_map(fields, "quantization_config", &quantisation) ||
        lp_field_map(reader->root, "quantization_config", &quantisation))
        read_quantisation(fields, &quantisation, model);
    else
        read_file_beside(fields, model);
}
