/* SPDX-License-Identifier: Apache-2.0 */
/** A model's description, and the work (FLOPs and bytes) that a step of it asks for. No GPU and no
 * measurement are involved.
 *
 * Conventions ("exact-v1"): a multiply-add is 2 FLOPs. Model FLOPs are those of matrix products and
 * convolutions on real tokens only: causal pairs counted one by one, logits where they are asked
 * for, the routed experts of each token, accepted tokens. Vector FLOPs (norm, softmax, rotation,
 * activation, residual, bias) are approximate and are never part of them. Hardware FLOPs are what
 * kernels execute: padding, rejected drafts, absorbed latent attention, work repeated on several
 * GPUs. Bytes are compulsory traffic: a weight once a step, an element of the KV cache read once
 * and written once. docs/reference/metrics.md has every formula.
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_MODEL_H
#define LLMPERF_MODEL_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of weights, activations and the KV cache. Bits an element, scales included, in brackets.
 */
enum {
    LLMPERF_DTYPE_DEFAULT = 0,      /**< as the model says */
    LLMPERF_DTYPE_FP32 = 1,         /**< 32 */
    LLMPERF_DTYPE_BF16 = 2,         /**< 16 */
    LLMPERF_DTYPE_FP16 = 3,         /**< 16 */
    LLMPERF_DTYPE_FP8 = 4,          /**< 8; one scale a tensor or channel, not counted */
    LLMPERF_DTYPE_FP8_BLOCK128 = 5, /**< 8 + 32/16384; a scale for 128 x 128 elements */
    LLMPERF_DTYPE_INT8 = 6,         /**< 8; one scale a channel, not counted */
    LLMPERF_DTYPE_INT4_G128 =
        7,                   /**< 4 + 20/128; scale and zero point for 128 elements (AWQ, GPTQ) */
    LLMPERF_DTYPE_NVFP4 = 8, /**< 4 + 8/16 */
    LLMPERF_DTYPE_MXFP4 = 9, /**< 4 + 8/32 */
    LLMPERF_DTYPE_NF4 = 10,  /**< 4 + 32/64 */
    LLMPERF_DTYPE_Q4_0 = 11, /**< 18 bytes for 32 elements */
    LLMPERF_DTYPE_Q4_K = 12, /**< 144 bytes for 256 elements */
    LLMPERF_DTYPE_Q6_K = 13, /**< 210 bytes for 256 elements */
    LLMPERF_DTYPE_Q8_0 = 14  /**< 34 bytes for 32 elements */
};

/** What a step does. */
enum {
    LLMPERF_PHASE_PREFILL = 1, /**< new tokens of prompts, behind what is cached already */
    LLMPERF_PHASE_DECODE = 2,  /**< one new token a request, or a draft of several to verify */
    LLMPERF_PHASE_VISION = 3   /**< images through the encoder, up to the decoder's input */
};

/** Rows of logits. */
enum {
    LLMPERF_LOGITS_DEFAULT = 0, /**< prefill: final; decode: all */
    LLMPERF_LOGITS_FINAL = 1,   /**< one a request */
    LLMPERF_LOGITS_ALL = 2,     /**< one for each new token */
    LLMPERF_LOGITS_NONE = 3     /**< a chunk that does not end its prompt */
};

typedef struct llmperf_model llmperf_model;

/** What a model is. Text belongs to the model. Integers that do not apply are 0. */
typedef struct llmperf_model_info {
    size_t struct_size;
    const char *name;       /**< "name" of the file, else the name of its folder or file */
    const char *family;     /**< model_type: "llama", "deepseek_v3", "resnet" */
    const char *source;     /**< file that was read */
    const char *convention; /**< "exact-v1" */
    /** All weights of the model, layers for multi-token prediction left out. It is the sum of the
     * parts below. */
    uint64_t parameters_total;
    /** Weights multiplied for one token: attention, MLP or router, shared and chosen experts, LM
     * head; not the embedding table. */
    uint64_t parameters_active;
    uint64_t parameters_embedding;
    uint64_t parameters_lm_head; /**< 0 if it is the embedding table (tied) */
    uint64_t parameters_norm;
    uint64_t parameters_attention_in;  /**< projections to query, key, value */
    uint64_t parameters_attention_out; /**< projection behind attention */
    uint64_t parameters_mlp;           /**< dense layers */
    uint64_t parameters_router;
    uint64_t parameters_shared_experts;
    uint64_t parameters_experts; /**< routed, all of them */
    uint64_t parameters_vision;  /**< encoder and projector */
    uint64_t parameters_other;   /**< biases, positions, special vectors of the decoder */
    uint64_t weight_bytes;       /**< all weights in weight_dtype */
    uint64_t kv_bytes_per_token; /**< of the KV cache, all layers, in kv_dtype */
    uint64_t flops_per_token; /**< model FLOPs of a token without attention pairs and without the LM
                                 head */
    uint64_t flops_per_pair;  /**< of a (query, key) pair, all layers and heads */
    uint64_t flops_lm_head;   /**< of a row of logits */
    uint64_t layers, moe_layers, window_layers;
    uint64_t window; /**< keys that a token attends in these layers, itself included; 0: no such
                        layers */
    uint64_t hidden, heads, kv_heads, head_dim, vocabulary;
    uint64_t experts, experts_per_token;
    uint32_t weight_dtype, kv_dtype; /**< defaults of a step: LLMPERF_DTYPE_… */
    uint32_t has_decoder, has_vision;
    uint32_t latent_attention; /**< 1: the KV cache holds one latent for all heads (MLA) */
    uint32_t activation_dtype; /**< default of a step with the default weight_dtype */
} llmperf_model_info;
#define LLMPERF_MODEL_INFO_INIT LLMPERF_INIT(llmperf_model_info)

/** One step of one replica. Arrays are Borrowed for the call and hold an element for each request
 * (or image). */
typedef struct llmperf_step {
    size_t struct_size;
    uint32_t phase;        /**< LLMPERF_PHASE_… */
    uint32_t logits;       /**< LLMPERF_LOGITS_… */
    uint32_t weight_dtype; /**< LLMPERF_DTYPE_…: linear layers; tables, norms, router keep 16 bits
                              (or 32 with fp32) */
    uint32_t
        activation_dtype; /**< what quantised layers compute in; default: as the description
                           * quantises what enters them (fp8, say); without that, and for weights in
                           * another format than its own: bf16, fp16 or fp32 as the model */
    uint32_t kv_dtype;
    uint32_t draft_tokens; /**< decode: tokens drafted for each request; 0: no speculation */
    double acceptance; /**< probability 0 to 1 that a drafted token is accepted, each by itself */
    uint64_t requests; /**< 1 to 2^32 */
    const uint64_t *new_tokens; /**< each 1 to 2^36. NULL in decode: 1 + draft_tokens each */
    const uint64_t
        *cached_tokens;          /**< already in the KV cache; decode attends cached + 1. NULL: 0 */
    const uint64_t *logits_rows; /**< 0 to new_tokens. NULL: as `logits` says */
    uint64_t padded_tokens;      /**< rows that linear layers run on, if more than the new tokens;
                                    hardware FLOPs only */
    double experts_touched;   /**< measured mean of a MoE layer; 0: expected from uniform routing */
    uint32_t tensor_parallel; /**< GPUs that share each layer; 0 is 1, so for all of these */
    uint32_t pipeline_parallel; /**< stages that share the layers */
    uint32_t expert_parallel;   /**< 1, or tensor_parallel x data_parallel: whole experts are spread
                                   over these GPUs */
    uint32_t data_parallel;     /**< replicas; all work on a step of this size */
    uint32_t pipeline_rank;     /**< stage that is asked for, from 0 */
    uint32_t vision_calls;      /**< forward calls of the encoder, each reads its weights; 0 is 1 */
    uint64_t images;            /**< vision: number of images */
    const uint64_t *image_heights; /**< pixels, as the encoder sees them. NULL: as the model says */
    const uint64_t *image_widths;  /**< NULL: as image_heights */
    const uint64_t *tile_rows;     /**< tiles of each image besides the whole view. NULL: none */
    const uint64_t *tile_columns;
    uint64_t tile_pixels; /**< side of a tile */
} llmperf_step;
#define LLMPERF_STEP_INIT LLMPERF_INIT(llmperf_step)

/** Work of a step on one GPU (the whole step without parallelism). */
typedef struct llmperf_work {
    size_t struct_size;
    const char *convention; /**< "exact-v1"; numbers of unlike conventions must not be compared */
    uint64_t requests;
    uint64_t tokens; /**< new tokens; vision: tokens behind the encoder */
    uint64_t
        positions; /**< vision: positions that the images take in the decoder; else as tokens */
    uint64_t logits_rows;
    uint64_t model_flops; /**< numerator of MFU. Under parallelism an equal share, rounded up */
    uint64_t vector_flops;
    uint64_t hardware_flops; /**< numerator of HFU, as far as it can be known without counters */
    uint64_t bytes;          /**< weight + kv_read + kv_write: numerator of MBU */
    uint64_t weight_bytes; /**< rows of the embedding table, not all of it; experts touched, not all
                              of them */
    uint64_t kv_read_bytes, kv_write_bytes;
    uint64_t activation_bytes; /**< in and out of each linear layer, none of it in a cache; not part
                                  of bytes */
    uint64_t communication_bytes; /**< sent by a GPU to others */
    double model_flops_expected;  /**< before rounding; differs from model_flops with speculation or
                                     shares only */
    double tokens_expected; /**< accepted tokens of the step; without speculation the new tokens */
    double experts_touched; /**< in a MoE layer, on all GPUs; NaN: no experts */
} llmperf_work;
#define LLMPERF_WORK_INIT LLMPERF_INIT(llmperf_work)

/** Work of one operator in all layers of one kind. The rows of a step add up to its llmperf_work.
 */
typedef struct llmperf_operator_work {
    size_t struct_size;
    const char *name;       /**< "embedding", "norm", "qkv", "rope", "attention", "o_proj", "mlp",
                               "router", "experts", "lm_head" … */
    const char *layer_kind; /**< "dense", "moe", "dense_window", "moe_window", "input", "output";
                               vision: part of the encoder */
    uint64_t layers;        /**< layers of this kind on this GPU */
    uint64_t model_flops, vector_flops, hardware_flops;
    uint64_t weight_bytes, kv_read_bytes, kv_write_bytes, activation_bytes, communication_bytes;
    uint32_t compute_dtype; /**< LLMPERF_DTYPE_… of the matrix product: its activations' */
    uint32_t reserved;
} llmperf_operator_work;
#define LLMPERF_OPERATOR_WORK_INIT LLMPERF_INIT(llmperf_operator_work)

/** Number for a name ("bf16", "bfloat16", "fp8", "int4" …).
 * @return LLMPERF_OK; LLMPERF_EINVAL with the names that exist. @threads any thread */
LLMPERF_API int llmperf_dtype_find(const char *name, uint32_t *dtype_out);

/** Name of a format, "unknown" for others. Static text. @threads any thread */
LLMPERF_API const char *llmperf_dtype_name(uint32_t dtype);

/** Read a model.
 *
 * @param model      Borrowed. A HuggingFace config.json or a YAML file with the same keys, a folder
 * that holds a config.json, or the name of a model of the data files
 * (model/NAME/arch/NAME.default.yaml; '-' and '.' stand for '_').
 * @param model_out  Yours: llmperf_model_free().
 * @return LLMPERF_OK, LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file, line and key),
 * LLMPERF_ENOTSUP (a family that is not known), LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_model_open(const char *model, llmperf_model **model_out);

/** NULL is fine. */
LLMPERF_API void llmperf_model_free(llmperf_model *model);

/** @param info_out  struct_size set by the caller. @return LLMPERF_OK, LLMPERF_EINVAL. */
LLMPERF_API int llmperf_model_info_get(const llmperf_model *model, llmperf_model_info *info_out);

/** What was read but not understood, and what was absent and taken from the defaults of the model's
 * framework; one line each. NULL past the end. Text belongs to the model. */
LLMPERF_API const char *llmperf_model_warning(const llmperf_model *model, size_t index);
LLMPERF_API const char *llmperf_model_assumption(const llmperf_model *model, size_t index);

/** Work of a step.
 *
 * @param step      Borrowed.
 * @param work_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL: a field is out of its range, or a number would pass 64 bits;
 * LLMPERF_ENOTSUP: the model lacks the part that the phase needs. */
LLMPERF_API int llmperf_model_work(const llmperf_model *model, const llmperf_step *step,
                                   llmperf_work *work_out);

/** Operator `index` of a step, in the order of execution.
 * @return as llmperf_model_work(); LLMPERF_ENOENT past the last one. */
LLMPERF_API int llmperf_model_operator(const llmperf_model *model, const llmperf_step *step,
                                       size_t index, llmperf_operator_work *work_out);

#ifdef __cplusplus
}
#endif
#endif
