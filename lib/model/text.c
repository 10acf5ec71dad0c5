/* SPDX-License-Identifier: Apache-2.0 */
/* Reads decoders: from config.json to struct lp_decoder. */
#include <stdlib.h>
#include <string.h>

#include "lib/model/fields.h"
#include "lib/base/status.h"

/* Which layers have a sliding window, without "layer_types". */
enum window_rule {
    NO_WINDOW,
    WINDOW_EVERYWHERE, /* Mistral, Mixtral */
    WINDOW_UPPER,      /* Qwen: from layer max_window_layers on, with use_sliding_window */
    WINDOW_EVEN,       /* Gemma 2: layers 0, 2, 4 … */
    WINDOW_PATTERN     /* Gemma 3: all except every sliding_window_pattern-th */
};

enum expert_rule { NO_EXPERTS, EXPERTS_MIXTRAL, EXPERTS_QWEN, EXPERTS_DEEPSEEK };

/* Constants in a family's framework code, and defaults of its configuration class. */
struct family {
    const char *type, *architecture;
    enum window_rule window;
    enum expert_rule experts;
    unsigned norms;
    bool qkv_bias, qk_norm, tied;
    bool latent;
    /* Defaults of keys that the family's published files lack; 0: the key is required. */
    uint32_t vocabulary, heads, kv_heads, head_dim, sliding_window;
};

static const struct family families[] = {
    { "llama", "LlamaForCausalLM", NO_WINDOW, NO_EXPERTS, 2, false, false, false, false, 0, 0, 0, 0,
      0 },
    { "mistral", "MistralForCausalLM", WINDOW_EVERYWHERE, NO_EXPERTS, 2, false, false, false, false,
      0, 0, 0, 0, 4096 },
    { "mixtral", "MixtralForCausalLM", WINDOW_EVERYWHERE, EXPERTS_MIXTRAL, 2, false, false, false,
      false, 0, 0, 0, 0, 0 },
    { "qwen2", "Qwen2ForCausalLM", WINDOW_UPPER, NO_EXPERTS, 2, true, false, false, false, 0, 0, 0,
      0, 4096 },
    { "qwen2_moe", "Qwen2MoeForCausalLM", WINDOW_UPPER, EXPERTS_QWEN, 2, true, false, false, false,
      0, 0, 0, 0, 4096 },
    { "qwen3", "Qwen3ForCausalLM", WINDOW_UPPER, NO_EXPERTS, 2, false, true, false, false, 0, 0, 0,
      128, 4096 },
    { "qwen3_moe", "Qwen3MoeForCausalLM", WINDOW_UPPER, EXPERTS_QWEN, 2, false, true, false, false,
      0, 0, 0, 0, 4096 },
    { "gemma2", "Gemma2ForCausalLM", WINDOW_EVEN, NO_EXPERTS, 4, false, false, true, false, 0, 0, 0,
      256, 4096 },
    { "gemma3_text", "Gemma3ForCausalLM", WINDOW_PATTERN, NO_EXPERTS, 4, false, true, true, false,
      262208, 8, 4, 256, 4096 },
    { "deepseek_v2", "DeepseekV2ForCausalLM", NO_WINDOW, EXPERTS_DEEPSEEK, 2, false, false, false,
      true, 0, 0, 0, 0, 0 },
    { "deepseek_v3", "DeepseekV3ForCausalLM", NO_WINDOW, EXPERTS_DEEPSEEK, 2, false, false, false,
      true, 0, 0, 0, 0, 0 },
    { "gpt2", "GPT2LMHeadModel", NO_WINDOW, NO_EXPERTS, 2, true, false, true, false, 0, 0, 0, 0,
      0 },
};

/* Other names of the same layers. */
static const struct {
    const char *name, *family;
} same_layers[] = {
    { "kimi_k2", "deepseek_v3" },
    { "qwen2_5_vl", "qwen2" },
    { "qwen2_5_vl_text", "qwen2" },
    { "qwen2_vl", "qwen2" },
    { "qwen2_vl_text", "qwen2" },
    { "Qwen2VLForConditionalGeneration", "qwen2" },
    { "Qwen2_5_VLForConditionalGeneration", "qwen2" },
    { "Gemma3ForConditionalGeneration", "gemma3_text" },
    { "gemma3", "gemma3_text" },
};

static const struct family *find_family(const char *name)
{
    for (size_t i = 0; name && i < LP_LENGTH(same_layers); i++)
        if (strcmp(same_layers[i].name, name) == 0) {
            name = same_layers[i].family;
            break;
        }
    for (size_t i = 0; name && i < LP_LENGTH(families); i++)
        if (strcmp(families[i].type, name) == 0 || strcmp(families[i].architecture, name) == 0)
            return &families[i];
    return NULL;
}

const char *lp_decoder_family(const char *type_or_architecture)
{
    const struct family *family = find_family(type_or_architecture);

    return family ? family->type : NULL;
}

#define FRAMEWORK_DEFAULT "default of the Hugging Face configuration class"

/* A key that the family's published files may leave out. */
static uint64_t need_or(const struct lp_fields *fields, const char *key, uint64_t fallback,
                        uint64_t limit)
{
    if (fallback && lp_field_is_absent(fields, key))
        return lp_field_or(fields, key, fallback, limit, FRAMEWORK_DEFAULT);
    return lp_field_need(fields, key, limit);
}

static void read_latent(const struct lp_fields *fields, struct lp_decoder *decoder)
{
    decoder->kv_rank = lp_field_or(fields, "kv_lora_rank", 0, LP_LIMIT_HEADS, NULL);
    decoder->q_rank = lp_field_or(fields, "q_lora_rank", 0, LP_LIMIT_HEADS, NULL);
    if (!lp_field_flag(fields, "use_mla", true, NULL))
        decoder->kv_rank = 0;
    if (decoder->kv_rank == 0) {
        /* These keys may be present with 0. */
        decoder->q_rank = 0;
        lp_field_skip(fields, "qk_nope_head_dim");
        lp_field_skip(fields, "qk_rope_head_dim");
        lp_field_skip(fields, "v_head_dim");
        return;
    }
    if (lp_field_is_set(fields, "index_topk")) {
        lp_reader_fail(fields->reader, LLMPERF_ENOTSUP,
                       "%s: %sindex_topk: sparse attention (DeepSeek-V3.2) is not supported; let "
                       "the program count FLOPs and bytes (llmperf_region_count)",
                       fields->reader->file, fields->path);
        return;
    }
    decoder->nope_dim = lp_field_need(fields, "qk_nope_head_dim", LP_LIMIT_HEADS);
    decoder->rope_dim = lp_field_need(fields, "qk_rope_head_dim", LP_LIMIT_HEADS);
    decoder->value_dim = lp_field_need(fields, "v_head_dim", LP_LIMIT_HEADS);
    lp_field_skip(fields, "num_key_value_heads");
    lp_field_skip(fields, "head_dim");
    decoder->kv_heads = decoder->heads;
    decoder->head_dim = decoder->nope_dim + decoder->rope_dim;
}

static void read_heads(const struct lp_fields *fields, const struct family *family,
                       struct lp_decoder *decoder)
{
    struct lp_reader *reader = fields->reader;

    decoder->heads = need_or(fields, "num_attention_heads", family->heads, LP_LIMIT_HEADS);
    if (family->latent)
        read_latent(fields, decoder);
    if (decoder->kv_rank > 0 || reader->status < 0)
        return;
    decoder->kv_heads =
        family->kv_heads ? need_or(fields, "num_key_value_heads", family->kv_heads, LP_LIMIT_HEADS)
                         : lp_field_or(fields, "num_key_value_heads", decoder->heads,
                                       LP_LIMIT_HEADS, "same as num_attention_heads");
    if (family->head_dim)
        decoder->head_dim = need_or(fields, "head_dim", family->head_dim, LP_LIMIT_HEADS);
    else if (lp_field_is_set(fields, "head_dim"))
        decoder->head_dim = lp_field_need(fields, "head_dim", LP_LIMIT_HEADS);
    else if (decoder->heads && decoder->hidden % decoder->heads == 0)
        decoder->head_dim = lp_field_or(fields, "head_dim", decoder->hidden / decoder->heads,
                                        LP_LIMIT_SIZE, "hidden_size / num_attention_heads");
    else
        lp_field_fail(fields, "hidden_size is not a multiple of num_attention_heads; add head_dim");
    if (reader->status == 0 && (decoder->kv_heads == 0 || decoder->heads % decoder->kv_heads))
        lp_field_fail(fields, "num_attention_heads is not a multiple of num_key_value_heads");
}

static bool listed(const struct lp_fields *fields, const char *key, uint64_t layer)
{
    size_t count = lp_field_length(fields, key);

    for (size_t i = 0; i < count; i++)
        if (lp_field_element(fields, key, i, LP_LIMIT_LAYERS) == layer)
            return true;
    return false;
}

static void read_qwen_experts(const struct lp_fields *fields, struct lp_decoder *decoder)
{
    uint64_t step =
        lp_field_or(fields, "decoder_sparse_step", 1, LP_LIMIT_LAYERS, FRAMEWORK_DEFAULT);

    decoder->experts = lp_field_need(fields, "num_experts", LP_LIMIT_HEADS);
    decoder->chosen = lp_field_need(fields, "num_experts_per_tok", LP_LIMIT_HEADS);
    decoder->expert_size = lp_field_need(fields, "moe_intermediate_size", LP_LIMIT_SIZE);
    decoder->shared_size =
        lp_field_or(fields, "shared_expert_intermediate_size", 0, LP_LIMIT_SIZE, NULL);
    decoder->shared_gate = decoder->shared_size > 0;
    for (uint64_t i = 0; i < decoder->layers && fields->reader->status == 0; i++)
        if (step > 0 && (i + 1) % step == 0 && !listed(fields, "mlp_only_layers", i))
            decoder->kinds[i] |= LP_LAYER_MOE;
}

static void read_deepseek_experts(const struct lp_fields *fields, const struct family *family,
                                  struct lp_decoder *decoder)
{
    const char *method = lp_field_word(fields, "topk_method");
    uint64_t dense, step;

    if (!lp_field_is_set(fields, "n_routed_experts"))
        return;
    decoder->experts = lp_field_need(fields, "n_routed_experts", LP_LIMIT_HEADS);
    decoder->chosen = lp_field_need(fields, "num_experts_per_tok", LP_LIMIT_HEADS);
    decoder->expert_size = lp_field_need(fields, "moe_intermediate_size", LP_LIMIT_SIZE);
    decoder->shared_size = lp_field_or(fields, "n_shared_experts", 0, 1024, "no shared experts") *
                           decoder->expert_size;
    decoder->router_bias =
        method ? strcmp(method, "noaux_tc") == 0 : strcmp(family->type, "deepseek_v3") == 0;
    dense = lp_field_or(fields, "first_k_dense_replace", 0, LP_LIMIT_LAYERS, FRAMEWORK_DEFAULT);
    step = lp_field_or(fields, "moe_layer_freq", 1, LP_LIMIT_LAYERS, NULL);
    for (uint64_t i = dense; i < decoder->layers; i++)
        if (step > 0 && i % step == 0)
            decoder->kinds[i] |= LP_LAYER_MOE;
    if (lp_field_or(fields, "num_nextn_predict_layers", 0, LP_LIMIT_LAYERS, NULL) > 0)
        lp_reader_assume(fields->reader, "layers for multi-token prediction are not counted");
}

static void read_experts(const struct lp_fields *fields, const struct family *family,
                         struct lp_decoder *decoder)
{
    struct lp_reader *reader = fields->reader;

    if (family->experts == EXPERTS_MIXTRAL) {
        decoder->experts = lp_field_need(fields, "num_local_experts", LP_LIMIT_HEADS);
        decoder->chosen = lp_field_need(fields, "num_experts_per_tok", LP_LIMIT_HEADS);
        decoder->expert_size = decoder->intermediate;
        memset(decoder->kinds, LP_LAYER_MOE, decoder->layers);
    } else if (family->experts == EXPERTS_QWEN) {
        read_qwen_experts(fields, decoder);
    } else if (family->experts == EXPERTS_DEEPSEEK) {
        read_deepseek_experts(fields, family, decoder);
    }
    if (reader->status == 0 && decoder->chosen > decoder->experts)
        lp_field_fail(fields, "num_experts_per_tok exceeds the number of experts");
}

/* Does layer `i` have a window in this family? */
static bool has_window(enum window_rule rule, uint64_t i, uint64_t parameter)
{
    switch (rule) {
    case WINDOW_EVERYWHERE:
        return true;
    case WINDOW_UPPER:
        return i >= parameter;
    case WINDOW_EVEN:
        return i % 2 == 0;
    case WINDOW_PATTERN:
        return parameter == 0 || (i + 1) % parameter != 0;
    default:
        return false;
    }
}

static void read_layer_types(const struct lp_fields *fields, struct lp_decoder *decoder)
{
    struct lp_reader *reader = fields->reader;

    if (lp_field_length(fields, "layer_types") != decoder->layers) {
        lp_field_fail(fields, "layer_types must name each of the %u layers",
                      (unsigned)decoder->layers);
        return;
    }
    for (uint64_t i = 0; i < decoder->layers && reader->status == 0; i++) {
        const char *type = lp_field_element_word(fields, "layer_types", i);

        if (type && strcmp(type, "sliding_attention") == 0)
            decoder->kinds[i] |= LP_LAYER_WINDOW;
        else if (type && strcmp(type, "full_attention") != 0)
            lp_reader_fail(reader, LLMPERF_ENOTSUP,
                           "%s: %slayer_types: unknown type \"%.40s\"; supported are "
                           "full_attention and sliding_attention",
                           reader->file, fields->path, type);
    }
}

static uint64_t window_parameter(const struct lp_fields *fields, enum window_rule rule)
{
    if (rule == WINDOW_UPPER)
        return lp_field_or(fields, "max_window_layers", 28, LP_LIMIT_LAYERS, FRAMEWORK_DEFAULT);
    if (rule == WINDOW_PATTERN)
        return lp_field_or(fields,
                           lp_field_is_absent(fields, "_sliding_window_pattern")
                               ? "sliding_window_pattern"
                               : "_sliding_window_pattern",
                           6, LP_LIMIT_LAYERS, FRAMEWORK_DEFAULT);
    return 0;
}

static void read_window(const struct lp_fields *fields, const struct family *family,
                        struct lp_decoder *decoder)
{
    uint64_t parameter;
    bool used =
        family->window != WINDOW_UPPER || lp_field_flag(fields, "use_sliding_window", false, NULL);

    if (family->window == NO_WINDOW)
        return;
    if (lp_field_is_absent(fields, "sliding_window") && family->sliding_window && used)
        decoder->window = lp_field_or(fields, "sliding_window", family->sliding_window,
                                      LP_LIMIT_TOKENS, FRAMEWORK_DEFAULT);
    else
        decoder->window = lp_field_or(fields, "sliding_window", 0, LP_LIMIT_TOKENS, NULL);
    if (!used || decoder->window == 0) {
        decoder->window = 0;
        lp_field_skip(fields, "max_window_layers");
        lp_field_skip(fields, "layer_types");
        return;
    }
    if (lp_field_is_set(fields, "layer_types")) {
        read_layer_types(fields, decoder);
        lp_field_skip(fields, "max_window_layers");
        lp_field_skip(fields, "sliding_window_pattern");
        lp_field_skip(fields, "_sliding_window_pattern");
        return;
    }
    parameter = window_parameter(fields, family->window);
    for (uint64_t i = 0; i < decoder->layers; i++)
        if (has_window(family->window, i, parameter))
            decoder->kinds[i] |= LP_LAYER_WINDOW;
}

static int make_kinds(struct lp_reader *reader, struct lp_decoder *decoder)
{
    if (reader->status < 0)
        return reader->status;
    decoder->kinds = calloc(decoder->layers, 1);
    if (!decoder->kinds)
        return lp_reader_memory(reader);
    return 0;
}

static void read_tied(const struct lp_fields *fields, const struct family *family,
                      struct lp_decoder *decoder)
{
    const struct lp_fields *root = fields->reader->root;
    bool nested = lp_field_is_absent(fields, "tie_word_embeddings") &&
                  !lp_field_is_absent(root, "tie_word_embeddings");

    decoder->tied = lp_field_flag(nested ? root : fields, "tie_word_embeddings", family->tied,
                                  FRAMEWORK_DEFAULT);
}

static int read_gpt2(const struct lp_fields *fields, const struct family *family,
                     struct lp_decoder *decoder)
{
    struct lp_reader *reader = fields->reader;

    decoder->hidden = lp_field_need(fields, "n_embd", LP_LIMIT_SIZE);
    decoder->layers = lp_field_need(fields, "n_layer", LP_LIMIT_LAYERS);
    decoder->heads = lp_field_need(fields, "n_head", LP_LIMIT_HEADS);
    decoder->vocabulary = lp_field_need(fields, "vocab_size", LP_LIMIT_VOCAB);
    decoder->position_rows = lp_field_need(fields, "n_positions", LP_LIMIT_VOCAB);
    decoder->intermediate =
        lp_field_or(fields, "n_inner", 4 * decoder->hidden, LP_LIMIT_SIZE, "4 n_embd");
    decoder->kv_heads = decoder->heads;
    decoder->layer_norm = decoder->qkv_bias = decoder->out_bias = decoder->mlp_bias = true;
    read_tied(fields, family, decoder);
    if (make_kinds(reader, decoder) < 0)
        return reader->status;
    if (decoder->hidden % decoder->heads)
        return lp_field_fail(fields, "n_embd is not a multiple of n_head");
    decoder->head_dim = decoder->hidden / decoder->heads;
    return 0;
}

static void read_biases(const struct lp_fields *fields, const struct family *family,
                        struct lp_decoder *decoder)
{
    bool both = lp_field_flag(fields, "attention_bias", false, NULL);

    decoder->qkv_bias = family->qkv_bias || both;
    decoder->out_bias = both;
    decoder->mlp_bias = lp_field_flag(fields, "mlp_bias", false, NULL);
    if (both && decoder->kv_rank > 0) {
        decoder->qkv_bias = decoder->out_bias = false;
        lp_reader_warn(fields->reader,
                       "%sattention_bias of multi-head latent attention (MLA) is not counted",
                       fields->path);
    }
}

int lp_read_decoder(const struct lp_fields *fields, const char *name)
{
    const struct family *family = find_family(name);
    struct lp_reader *reader = fields->reader;
    struct lp_decoder *decoder = &reader->model->decoder;

    reader->model->has_decoder = true;
    decoder->norms = family->norms;
    if (strcmp(family->type, "gpt2") == 0)
        return read_gpt2(fields, family, decoder);
    decoder->gated = decoder->rotary = true;
    decoder->qk_norm = family->qk_norm;
    decoder->hidden = lp_field_need(fields, "hidden_size", LP_LIMIT_SIZE);
    decoder->layers = lp_field_need(fields, "num_hidden_layers", LP_LIMIT_LAYERS);
    decoder->intermediate = lp_field_need(fields, "intermediate_size", LP_LIMIT_SIZE);
    decoder->vocabulary = need_or(fields, "vocab_size", family->vocabulary, LP_LIMIT_VOCAB);
    read_heads(fields, family, decoder);
    read_biases(fields, family, decoder);
    read_tied(fields, family, decoder);
    if (make_kinds(reader, decoder) < 0)
        return reader->status;
    read_experts(fields, family, decoder);
    read_window(fields, family, decoder);
    return reader->status;
}
