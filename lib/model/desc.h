/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers that describe a model. Set once by the readers, constant afterwards.
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LP_MODEL_DESC_H
#define LP_MODEL_DESC_H

#include "lib/base/dtype.h"
#include "lib/base/strings.h"
#include "lib/base/vector.h"
#include "llmperf/model.h"

#define LP_CONVENTION "exact-v1"

/* Limits of values in a file. Within them no product in the analysis exceeds 128 bits. */
#define LP_LIMIT_LAYERS 4096
#define LP_LIMIT_HEADS  65536
#define LP_LIMIT_SIZE   4194304
#define LP_LIMIT_VOCAB  268435456
#define LP_LIMIT_TOKENS (UINT64_C(1) << 36)
#define LP_LIMIT_PIXELS 65536

/* Kinds of layers: combinations of these bits. */
enum { LP_LAYER_MOE = 1, LP_LAYER_WINDOW = 2, LP_LAYER_KINDS = 4 };

/* Linear layers of a decoder's layer that checkpoints store in a format of their own. */
enum lp_linear_part {
    LP_PART_ATTENTION_IN,
    LP_PART_ATTENTION_OUT,
    LP_PART_MLP,
    LP_PART_SHARED,
    LP_PART_EXPERTS,
    LP_PARTS
};

/* Larger than each LLMPERF_DTYPE_…. */
#define LP_FORMATS (LLMPERF_DTYPE_INT4_G32_SYM + 1)

/** A decoder of transformer layers. */
struct lp_decoder {
    uint64_t hidden, layers, vocabulary, intermediate;
    uint64_t heads, kv_heads, head_dim;
    /* Latent attention (MLA) if kv_rank > 0; q_rank 0: queries are not low-rank. */
    uint64_t q_rank, kv_rank, nope_dim, rope_dim, value_dim;
    uint64_t window;
    uint64_t experts, chosen, expert_size, shared_size;
    uint64_t position_rows; /* rows of a learned position table */
    uint64_t norms;         /* per layer */
    bool layer_norm;        /* LayerNorm with bias; else RMSNorm */
    bool gated;             /* MLP with three matrices; else two */
    bool qkv_bias, out_bias, mlp_bias, qk_norm;
    bool shared_gate, router_bias, tied, rotary;
    unsigned char *kinds; /* by layer */
    /* LLMPERF_DTYPE_… in the checkpoint, by layer; 0: 16 bits. NULL: all in weight_dtype. */
    unsigned char (*formats)[LP_PARTS];
    uint32_t computed[LP_PARTS]; /* LLMPERF_DTYPE_… in which quantised ones compute */
};

/** Transformer encoder over a grid of patches. */
struct lp_vit {
    const char *name;
    uint64_t width, layers, heads, mlp, channels, patch;
    uint64_t grid;          /* side of the position table */
    uint64_t class_tokens;  /* 0 or 1 */
    uint64_t window;        /* side in patches; 0: all layers attend globally */
    uint64_t global_layers; /* number of global layers, if there is a window */
    bool relative_positions;
    bool embeds;     /* has a patch convolution; not CLIP after SAM */
    bool patch_bias; /* the patch convolution has a bias */
    bool pre_norm, post_norm;
};

/** A convolution, or another step in a chain of them. */
enum lp_conv_role {
    LP_CONV_MAIN,
    LP_CONV_SHORTCUT, /* applied to the block's input; does not change the chain's size */
    LP_CONV_POOL      /* no weights; FLOPs are not counted */
};

struct lp_conv {
    const char *part; /* part of the network; rows of a part are summed */
    enum lp_conv_role role;
    bool block_start; /* its input is also that of the block's shortcut */
    bool bias, norm;  /* norm: two parameters per channel */
    uint64_t in, out, kernel, stride, padding;
};

enum lp_vision_kind { LP_VISION_NONE, LP_VISION_VIT, LP_VISION_CONV, LP_VISION_SAM_CLIP };

struct lp_vision {
    enum lp_vision_kind kind;
    uint64_t height, width; /* default image size */
    uint64_t channels;
    struct lp_vit vit;  /* the only encoder, or SAM */
    struct lp_vit clip; /* LP_VISION_SAM_CLIP */
    LP_VECTOR(struct lp_conv)
    convs;                              /* the network, or the part after the first encoder */
    uint64_t linear_in, linear_out;     /* projector or classifier; 0: none */
    bool linear_bias, linear_per_token; /* per token: projector; else once per image */
    uint64_t pooled_tokens;             /* tokens before the projector; 0: all */
    uint64_t special;                   /* parameters of separator tokens */
};

struct llmperf_model {
    struct lp_strings texts;
    const char *name, *family, *source;
    uint32_t base_dtype;       /* of layers that are never quantised */
    uint32_t weight_dtype;     /* of linear layers */
    uint32_t activation_dtype; /* in which linear layers compute */
    uint32_t kv_dtype;
    uint64_t declared_parameters; /* "parameters_total" in the file; 0: not given */
    bool has_decoder;
    struct lp_decoder decoder;
    struct lp_vision vision;
    LP_VECTOR(const char *) warnings;
    LP_VECTOR(const char *) assumptions;
};

/** Numbers of parameters by kind. */
struct lp_parameters {
    lp_u128 embedding, lm_head, norm, attention_in, attention_out, mlp, router, shared, experts;
    lp_u128 vision, other;
    lp_u128 router_bias;    /* included in `other`; always fp32 */
    lp_u128 active;         /* used for a token, LM head included */
    lp_u128 part[LP_PARTS]; /* linear layers of one layer that has them */
};

void lp_model_parameters(const struct llmperf_model *model, struct lp_parameters *out);
lp_u128 lp_parameters_total(const struct lp_parameters *parameters);

/** Number of layers of each kind among the layers [first, first + count). */
void lp_decoder_kinds(const struct lp_decoder *decoder, uint64_t first, uint64_t count,
                      uint64_t kinds[LP_LAYER_KINDS]);

/** Is this dtype of weights that of the checkpoint, with a format for each layer and part? */
static inline bool lp_stores_parts(const struct llmperf_model *model, uint32_t dtype)
{
    return model->decoder.formats && dtype == model->weight_dtype;
}

/** Bytes of linear layers: `elements` in each layer of the `kind` among the layers
 * [first, first + count).
 * @param dtype  LLMPERF_DTYPE_…; that of the model: as the checkpoint stores each layer */
lp_u128 lp_part_bytes(const struct llmperf_model *model, enum lp_linear_part part, uint32_t dtype,
                      lp_u128 elements, uint64_t first, uint64_t count, int kind);

/** Bit 1 << LP_PART_… in `out`, by layer, of each part that an entry of quantization_config names:
 * a module, a pattern of modules, or a class of them. `some`: it names a smaller module of the
 * part.
 * @return false: the expression cannot be read */
bool lp_parts_named(const char *entry, uint64_t layers, unsigned char *out, unsigned char *some);

/** Is an entry a pattern, which is tried with the names of each layer? */
bool lp_parts_is_pattern(const char *entry);

/** Attention of a layer on one of `tensor_parallel` GPUs. */
struct lp_attention {
    uint64_t in_weights, in_bias, in_norm;
    uint64_t in_elements; /* input and output activations of its projections, per token */
    uint64_t out_weights, out_bias, out_elements;
    uint64_t pair_flops;
    uint64_t absorbed_pair_flops; /* with a kernel that works on the latent; else as pair_flops */
    uint64_t expand_flops;        /* to expand a cached token's latent to keys and values */
    uint64_t kv_elements;         /* KV cache, per token */
};

void lp_decoder_attention(const struct lp_decoder *decoder, uint64_t tensor_parallel,
                          struct lp_attention *out);

/** Weights of the encoder and of its projector. */
lp_u128 lp_vision_parameters(const struct lp_vision *vision);

/** Parameters read before the encoder's layers: patch convolution if it runs, positions, class
 * token. */
lp_u128 lp_vit_input_parameters(const struct lp_vit *vit);
/** Parameters of a layer besides its linear layers: norms and relative positions. */
lp_u128 lp_vit_table_parameters(const struct lp_vit *vit, bool window);
lp_u128 lp_conv_parameters(const struct lp_conv *conv);

#endif
