/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llmperf/llmperf.h"
#include "llmperf/sys/config.h"
#include "shape.h"

/* A file that is being read. The first problem is kept. */
struct reader {
    const llmperf_config *config;
    const char *prefix; /* of the keys: "language_config." or "" */
    char *problem;
    size_t problem_size;
    int status;
};

static void refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;

    if (reader->status < 0)
        return;
    va_start(arguments, format);
    vsnprintf(reader->problem, reader->problem_size, format, arguments);
    va_end(arguments);
    reader->status = -1;
}

static const char *key_of(const struct reader *reader, const char *key, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s", reader->prefix, key);
    return buffer;
}

/* Absent and null are the same. */
static int is_given(const struct reader *reader, const char *key)
{
    char buffer[256];
    const char *text;

    return llmperf_config_text(reader->config, key_of(reader, key, buffer, sizeof(buffer)),
                               &text) == LLMPERF_OK &&
           strcmp(text, "null") != 0 && strcmp(text, "~") != 0 && *text;
}

static size_t number_or(struct reader *reader, const char *key, size_t otherwise)
{
    char buffer[256];
    int64_t value;

    if (!is_given(reader, key))
        return otherwise;
    if (llmperf_config_integer(reader->config, key_of(reader, key, buffer, sizeof(buffer)),
                               &value) < 0 ||
        value < 0 || value > INT32_MAX) {
        refuse(reader, "%s must be 0 to 2^31", buffer);
        return otherwise;
    }
    return (size_t)value;
}

static size_t number(struct reader *reader, const char *key)
{
    size_t value = number_or(reader, key, 0);

    if (value == 0)
        refuse(reader, "%s%s is missing or 0", reader->prefix, key);
    return value;
}

static float real_or(const struct reader *reader, const char *key, float otherwise)
{
    char buffer[256];
    double value;

    return llmperf_config_number(reader->config, key_of(reader, key, buffer, sizeof(buffer)),
                                 &value) == LLMPERF_OK
               ? (float)value
               : otherwise;
}

static int flag_or(const struct reader *reader, const char *key, int otherwise)
{
    char buffer[256];
    const char *text;

    if (llmperf_config_text(reader->config, key_of(reader, key, buffer, sizeof(buffer)), &text) < 0)
        return otherwise;
    return strcmp(text, "true") == 0 || strcmp(text, "True") == 0;
}

/* Values that are fixed in the code of a family. */
static const struct family {
    const char *name;
    int qkv_bias, qk_norm, experts, renormalise;
} families[] = {
    { "llama", 0, 0, 0, 0 },       { "mistral", 0, 0, 0, 0 }, { "qwen2", 1, 0, 0, 0 },
    { "qwen3", 0, 1, 0, 0 },       { "mixtral", 0, 0, 1, 1 }, { "qwen3_moe", 0, 1, 1, 1 },
    { "deepseek_v2", 0, 0, 1, 0 },
};

static const struct family *find_family(struct reader *reader, const char *name)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    refuse(reader,
           "models of the family %s are not run here; llama, mistral, mixtral, qwen2, qwen3, "
           "qwen3_moe, deepseek_v2, DeepSeek-OCR and shallow_resnet are",
           name);
    return NULL;
}

static void read_experts(struct reader *reader, const struct family *family,
                         struct decoder_shape *out)
{
    size_t shared;

    out->experts = number_or(reader, "n_routed_experts", 0);
    if (out->experts == 0)
        out->experts = number_or(reader, "num_local_experts", 0);
    if (out->experts == 0)
        out->experts = number_or(reader, "num_experts", 0);
    if (out->experts == 0)
        return;
    out->choices = number(reader, "num_experts_per_tok");
    out->expert_size = number_or(reader, "moe_intermediate_size", out->intermediate);
    shared = number_or(reader, "n_shared_experts", 0);
    out->shared_size = shared * out->expert_size;
    out->dense_layers = number_or(reader, "first_k_dense_replace", 0);
    out->renormalise = flag_or(reader, "norm_topk_prob", family->renormalise);
    if (number_or(reader, "moe_layer_freq", 1) != 1 ||
        number_or(reader, "decoder_sparse_step", 1) != 1)
        refuse(reader, "experts in every second layer are not done here");
    if (out->experts > 256 || out->choices > 16 || out->choices > out->experts)
        refuse(reader, "%zu of %zu experts; at most 16 of 256", out->choices, out->experts);
}

static void read_latent(struct reader *reader, struct decoder_shape *out)
{
    out->kv_rank = number_or(reader, "kv_lora_rank", 0);
    if (out->kv_rank == 0 || !flag_or(reader, "use_mla", 1)) {
        out->kv_rank = 0;
        return;
    }
    out->q_rank = number_or(reader, "q_lora_rank", 0);
    out->nope = number(reader, "qk_nope_head_dim");
    out->rope = number(reader, "qk_rope_head_dim");
    out->value = number(reader, "v_head_dim");
    out->kv_heads = out->heads;
}

static void check_decoder(struct reader *reader, const struct decoder_shape *shape)
{
    if (reader->status < 0)
        return;
    if (shape->layers > 1000 || shape->hidden % 8 || shape->vocabulary % 8 ||
        shape->intermediate % 8 || shape->expert_size % 8)
        refuse(reader, "at most 1000 layers, and sizes that are multiples of 8");
    else if (shape->heads % shape->kv_heads || shape_key_dim(shape) % 4 ||
             shape_value_dim(shape) % 4 || shape_key_dim(shape) > 256 ||
             shape_value_dim(shape) > 256)
        refuse(
            reader,
            "heads must be a multiple of kv_heads, and a head a multiple of 4, at most 256 wide");
}

static void read_decoder(struct reader *reader, const char *family_name, struct decoder_shape *out)
{
    const struct family *family = find_family(reader, family_name);

    if (!family)
        return;
    out->layers = number(reader, "num_hidden_layers");
    out->hidden = number(reader, "hidden_size");
    out->vocabulary = number(reader, "vocab_size");
    out->intermediate = number(reader, "intermediate_size");
    out->heads = number(reader, "num_attention_heads");
    out->kv_heads = number_or(reader, "num_key_value_heads", out->heads);
    out->head_dim = number_or(reader, "head_dim", out->heads ? out->hidden / out->heads : 0);
    out->qkv_bias = flag_or(reader, "attention_bias", family->qkv_bias);
    out->qk_norm = family->qk_norm;
    out->tied = flag_or(reader, "tie_word_embeddings", 0);
    out->epsilon = real_or(reader, "rms_norm_eps", 1e-6f);
    out->theta = real_or(reader, "rope_theta", 10000.0f);
    if (family->experts)
        read_experts(reader, family, out);
    if (strcmp(family->name, "deepseek_v2") == 0)
        read_latent(reader, out);
    check_decoder(reader, out);
}

static void read_encoder(struct reader *reader, const char *prefix, struct encoder_shape *out)
{
    reader->prefix = prefix;
    out->layers = number(reader, "layers");
    out->width = number(reader, "width");
    out->heads = number(reader, "heads");
    out->mlp = 4 * out->width;
    out->patch = number_or(reader, "patch_size", 16);
    if (reader->status == 0 && (out->width % out->heads || out->width % 8 ||
                                out->width / out->heads > 256 || out->layers > 64))
        refuse(reader, "%swidth must be a multiple of 8 and of heads; at most 64 layers", prefix);
}

static void read_vision(struct reader *reader, struct vision_shape *out)
{
    static const char sam[] = "vision_config.width.sam_vit_b.";
    size_t pixels;
    char key[128];

    reader->prefix = "vision_config.";
    pixels = number(reader, "image_size");
    read_encoder(reader, sam, &out->sam);
    out->sam.grid = pixels / out->sam.patch;
    out->sam.window = number_or(reader, "window_size", 14);
    snprintf(key, sizeof(key), "%sglobal_attn_indexes", sam);
    for (size_t i = llmperf_config_length(reader->config, key); i-- > 0;) {
        snprintf(key, sizeof(key), "global_attn_indexes.%zu", i);
        out->sam.global_layers |= UINT64_C(1) << (number_or(reader, key, 0) & 63);
    }
    out->neck = 256;
    out->compressor[0] = number(reader, "downsample_channels.0");
    out->compressor[1] = number(reader, "downsample_channels.1");
    read_encoder(reader, "vision_config.width.clip-l-14-224.", &out->clip);
    out->clip.grid = number(reader, "image_size") / out->clip.patch;
    reader->prefix = "projector_config.";
    out->projector_in = number(reader, "input_dim");
    out->projector_out = number(reader, "n_embed");
    if (reader->status == 0 && (out->clip.width != out->compressor[1] ||
                                out->projector_in != out->clip.width + out->compressor[1]))
        refuse(reader, "CLIP, compressor and projector do not fit each other");
}

static void read_resnet(struct reader *reader, struct resnet_shape *out)
{
    out->blocks = number(reader, "blocks");
    out->channels = number(reader, "channels");
    out->classes = number(reader, "classes");
    out->in_channels = number(reader, "input.channels");
    out->height = number(reader, "input.height");
    out->width = number(reader, "input.width");
    if (reader->status == 0 && (out->channels % 8 || out->blocks > 1000))
        refuse(reader, "channels must be a multiple of 8, blocks at most 1000");
}

static void read_parts(struct reader *reader, const llmperf_model_info *info, struct shape *shape)
{
    if (strcmp(info->family, "shallow_resnet") == 0) {
        read_resnet(reader, &shape->resnet);
        return;
    }
    if (!info->has_decoder) {
        refuse(reader, "%s has no decoder; an encoder alone is not run here", info->name);
        return;
    }
    shape->decoder.window = info->window_layers > 0 ? (size_t)info->window : 0;
    if (llmperf_config_length(reader->config, "language_config") > 0)
        reader->prefix = "language_config.";
    read_decoder(reader, info->family, &shape->decoder);
    if (info->has_vision && reader->status == 0)
        read_vision(reader, &shape->vision);
}

static void plain_name(const char *name, char *out, size_t size)
{
    size_t length = 0;

    for (; *name && length + 1 < size; name++)
        if (isalnum((unsigned char)*name))
            out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
}

/* The model of the data files whose name has the same letters and digits; else `model` itself. */
static void find_name(const char *model, char *out, size_t size)
{
    char folder[4096], wanted[128], found[128];
    const char *config = llmperf_config_dir();
    struct dirent *entry;
    DIR *dir;

    snprintf(out, size, "%s", model);
    if (!config || strchr(model, '/') || strchr(model, '.'))
        return;
    snprintf(folder, sizeof(folder), "%s/model", config);
    if (!(dir = opendir(folder)))
        return;
    plain_name(model, wanted, sizeof(wanted));
    while ((entry = readdir(dir))) {
        plain_name(entry->d_name, found, sizeof(found));
        if (strcmp(wanted, found) == 0)
            snprintf(out, size, "%s", entry->d_name);
    }
    closedir(dir);
}

static void read_model(const llmperf_model *model, struct shape *shape, struct reader *reader)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;
    llmperf_config *config = NULL;

    if (llmperf_model_info_get(model, &info) < 0 || llmperf_config_open(info.source, &config) < 0) {
        refuse(reader, "%s", llmperf_last_error());
        return;
    }
    snprintf(shape->name, sizeof(shape->name), "%s", info.name);
    snprintf(shape->family, sizeof(shape->family), "%s", info.family);
    snprintf(shape->source, sizeof(shape->source), "%s", info.source);
    shape->parameters = info.parameters_total;
    reader->config = config;
    read_parts(reader, &info, shape);
    llmperf_config_free(config);
}

int shape_read(struct shape *shape, const char *name, char *problem, size_t problem_size)
{
    struct reader reader = { NULL, "", problem, problem_size, 0 };
    llmperf_model *model = NULL;
    char path[4096];

    memset(shape, 0, sizeof(*shape));
    find_name(name, path, sizeof(path));
    if (llmperf_model_open(path, &model) < 0)
        refuse(&reader, "%s", llmperf_last_error());
    else
        read_model(model, shape, &reader);
    llmperf_model_free(model);
    return reader.status;
}

size_t shape_key_dim(const struct decoder_shape *decoder)
{
    return decoder->kv_rank ? decoder->nope + decoder->rope : decoder->head_dim;
}

size_t shape_value_dim(const struct decoder_shape *decoder)
{
    return decoder->kv_rank ? decoder->value : decoder->head_dim;
}

size_t shape_cache_heads(const struct decoder_shape *decoder)
{
    return decoder->kv_rank ? decoder->heads : decoder->kv_heads;
}

int shape_is_moe(const struct decoder_shape *decoder, size_t layer)
{
    return decoder->experts > 0 && layer >= decoder->dense_layers;
}
