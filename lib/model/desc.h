/* SPDX-License-Identifier: Apache-2.0 */
/** What a model is made of, as numbers. Filled once by the readers, constant afterwards.
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LP_MODEL_DESC_H
#define LP_MODEL_DESC_H

#include "lib/base/dtype.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/model.h"

#define LP_CONVENTION "exact-v1"

/* Limits on the values in a file. With them no product in the analysis exceeds 128 bits. */
#define LP_LIMIT_LAYERS 4096
#define LP_LIMIT_HEADS  65536
#define LP_LIMIT_SIZE   4194304
#define LP_LIMIT_VOCAB  268435456
#define LP_LIMIT_TOKENS (UINT64_C(1) << 36)
#define LP_LIMIT_PIXELS 65536

/* Kind of a layer: these bits. */
enum { LP_LAYER_MOE = 1, LP_LAYER_WINDOW = 2, LP_LAYER_KINDS = 4 };

/** A decoder of transformer layers. */
struct lp_decoder {
    uint64_t hidden, layers, vocabulary, intermediate;
    uint64_t heads, kv_heads, head_dim;
    /* Latent attention if kv_rank > 0; q_rank 0: the query has no low rank. */
    uint64_t q_rank, kv_rank, nope_dim, rope_dim, value_dim;
    uint64_t window;
    uint64_t experts, chosen, expert_size, shared_size;
    uint64_t position_rows; /* of a learned table */
    uint64_t norms;         /* in a layer */
    bool layer_norm;        /* with a bias; else RMS */
    bool gated;             /* MLP of three matrices, not two */
    bool qkv_bias, out_bias, mlp_bias, qk_norm;
    bool shared_gate, router_bias, tied, rotary;
    /* Linear layers that a quantised checkpoint leaves in 16 bits. */
    bool plain_attention, plain_mlp;
    unsigned char *kinds; /* of each layer */
};

/** Transformer encoder over a grid of patches. */
struct lp_vit {
    const char *name;
    uint64_t width, layers, heads, mlp, channels, patch;
    uint64_t grid;          /* side of the table of positions */
    uint64_t class_tokens;  /* 0 or 1 */
    uint64_t window;        /* patches a side; 0: every layer is global */
    uint64_t global_layers; /* with a window: layers without it */
    bool relative_positions;
    bool embeds;     /* does it run its own patch convolution? CLIP after SAM does not */
    bool patch_bias; /* of that convolution */
    bool pre_norm, post_norm;
};

/** Convolution, or a step of a chain of them. */
enum lp_conv_role {
    LP_CONV_MAIN,
    LP_CONV_SHORTCUT, /* works on the input of the block; changes no size of the chain */
    LP_CONV_POOL      /* no weights and no FLOPs counted */
};

struct lp_conv {
    const char *part; /* of the network: rows of one part are added up */
    enum lp_conv_role role;
    bool block_start; /* its input is that of the block's shortcut */
    bool bias, norm;  /* norm: two parameters a channel */
    uint64_t in, out, kernel, stride, padding;
};

enum lp_vision_kind { LP_VISION_NONE, LP_VISION_VIT, LP_VISION_CONV, LP_VISION_SAM_CLIP };

struct lp_vision {
    enum lp_vision_kind kind;
    uint64_t height, width; /* of an image if a step does not give it */
    uint64_t channels;
    struct lp_vit vit;  /* the only one, or SAM */
    struct lp_vit clip; /* LP_VISION_SAM_CLIP */
    LP_VECTOR(struct lp_conv)
    convs;                              /* the network, or what follows the first encoder */
    uint64_t linear_in, linear_out;     /* projector or classifier; 0: none */
    bool linear_bias, linear_per_token; /* per token: projector; else once an image */
    uint64_t pooled_tokens;             /* merged tokens before the projector; 0: all */
    uint64_t special;                   /* parameters of learned separator tokens */
};

struct llmperf_model {
    struct lp_strings texts;
    const char *name, *family, *source;
    uint32_t base_dtype;       /* of what is never quantised */
    uint32_t weight_dtype;     /* of the linear layers */
    uint32_t activation_dtype; /* what they compute in */
    uint32_t kv_dtype;
    uint64_t declared_parameters; /* "parameters_total" of the file; 0: not given */
    bool has_decoder;
    struct lp_decoder decoder;
    struct lp_vision vision;
    LP_VECTOR(const char *) warnings;
    LP_VECTOR(const char *) assumptions;
};

/** Parameters by what they are. */
struct lp_parameters {
    lp_u128 embedding, lm_head, norm, attention_in, attention_out, mlp, router, shared, experts;
    lp_u128 vision, other;
    lp_u128 router_bias; /* part of other, always fp32 */
    lp_u128 active;      /* multiplied for one token, LM head included */
    lp_u128 quantised;   /* part of all that takes the format of the linear layers */
};

void lp_model_parameters(const struct llmperf_model *model, struct lp_parameters *out);
lp_u128 lp_parameters_total(const struct lp_parameters *parameters);

/** Number of layers of each kind among the layers [first, first + count). */
void lp_decoder_kinds(const struct lp_decoder *decoder, uint64_t first, uint64_t count,
                      uint64_t kinds[LP_LAYER_KINDS]);

/** Attention of one layer on one of `tensor_parallel` GPUs. */
struct lp_attention {
    uint64_t in_weights, in_bias, in_norm;
    uint64_t in_elements; /* activations in and out of these projections, a token */
    uint64_t out_weights, out_bias, out_elements;
    uint64_t pair_flops;
    uint64_t absorbed_pair_flops; /* of a kernel that works on the latent; else as pair_flops */
    uint64_t expand_flops;        /* to make keys and values of a cached token from its latent */
    uint64_t kv_elements;         /* of the KV cache, a token */
};

void lp_decoder_attention(const struct lp_decoder *decoder, uint64_t tensor_parallel,
                          struct lp_attention *out);

/** Weights of the encoder and what belongs to it. */
lp_u128 lp_vision_parameters(const struct lp_vision *vision);

/** Parameters before the layers of an encoder that a pass reads: patch convolution if it runs,
 * positions, class token. */
lp_u128 lp_vit_input_parameters(const struct lp_vit *vit);
/** Of one layer, without its linear layers: norms and relative positions. */
lp_u128 lp_vit_table_parameters(const struct lp_vit *vit, bool window);
lp_u128 lp_conv_parameters(const struct lp_conv *conv);

#endif
