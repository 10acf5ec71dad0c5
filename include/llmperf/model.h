/* SPDX-License-Identifier: Apache-2.0 */
/** Models, and the work (FLOPs and bytes) of their steps. Only a description of the model is used;
 * no GPU is needed.
 *
 * How work is counted (convention "exact-v1"):
 * - A multiply-add counts as 2 FLOPs.
 * - Model FLOPs are those of matrix products and convolutions that real tokens need: attention over
 *   causal (query, key) pairs, logits where they are requested, routed experts, accepted tokens.
 * - Vector FLOPs (norm, softmax, rotary embedding, activation, residual, bias) are approximate and
 *   not part of model FLOPs.
 * - Hardware FLOPs are what kernels execute: model FLOPs plus padding, rejected drafts, absorbed
 *   latent attention, and work repeated on several GPUs.
 * - Bytes are compulsory traffic of device memory: each weight is read once a step, each element of
 *   the KV cache is read once and written once.
 *
 * docs/reference/metrics.md has all formulas. */
#ifndef LLMPERF_MODEL_H
#define LLMPERF_MODEL_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of weights, activations and the KV cache; in brackets the bits of an element, scales
 * included. */
enum {
    LLMPERF_DTYPE_DEFAULT = 0,       /**< that of the model */
    LLMPERF_DTYPE_FP32 = 1,          /**< (32) */
    LLMPERF_DTYPE_BF16 = 2,          /**< (16) */
    LLMPERF_DTYPE_FP16 = 3,          /**< (16) */
    LLMPERF_DTYPE_FP8 = 4,           /**< (8) one scale per tensor or channel, not counted */
    LLMPERF_DTYPE_FP8_BLOCK128 = 5,  /**< (8 + 32/16384) one scale for 128 x 128 elements */
    LLMPERF_DTYPE_INT8 = 6,          /**< (8) one scale per channel, not counted */
    LLMPERF_DTYPE_INT4_G128 = 7,     /**< (4 + 20/128) scale and zero point for 128 elements: AWQ,
                                        GPTQ */
    LLMPERF_DTYPE_NVFP4 = 8,         /**< (4 + 8/16) */
    LLMPERF_DTYPE_MXFP4 = 9,         /**< (4 + 8/32) */
    LLMPERF_DTYPE_NF4 = 10,          /**< (4 + 32/64) */
    LLMPERF_DTYPE_Q4_0 = 11,         /**< (4.5) 18 bytes for 32 elements */
    LLMPERF_DTYPE_Q4_K = 12,         /**< (4.5) 144 bytes for 256 elements */
    LLMPERF_DTYPE_Q6_K = 13,         /**< (6.5625) 210 bytes for 256 elements */
    LLMPERF_DTYPE_Q8_0 = 14,         /**< (8.5) 34 bytes for 32 elements */
    LLMPERF_DTYPE_INT4_G64 = 15,     /**< (4 + 20/64) as INT4_G128, for 64 elements */
    LLMPERF_DTYPE_INT4_G32 = 16,     /**< (4 + 20/32) as INT4_G128, for 32 elements */
    LLMPERF_DTYPE_INT4_CHANNEL = 17, /**< (4) one scale per channel, not counted: GPTQ with
                                       group_size -1 */
    LLMPERF_DTYPE_INT4_G32_SYM = 18  /**< (4 + 16/32) one scale for 32 elements, no zero point:
                                        compressed-tensors */
};

/** Phases of inference that a step can belong to. */
enum {
    LLMPERF_PHASE_PREFILL = 1, /**< new tokens of prompts, after those in the KV cache */
    LLMPERF_PHASE_DECODE = 2,  /**< one new token per request, or several drafted ones to verify */
    LLMPERF_PHASE_VISION = 3   /**< images through the encoder and projector */
};

/** Tokens that logits are computed for. */
enum {
    LLMPERF_LOGITS_DEFAULT = 0, /**< prefill: LLMPERF_LOGITS_FINAL; decode: LLMPERF_LOGITS_ALL */
    LLMPERF_LOGITS_FINAL = 1,   /**< the last token of each request */
    LLMPERF_LOGITS_ALL = 2,     /**< all new tokens */
    LLMPERF_LOGITS_NONE = 3     /**< none: a chunk that does not end its prompt */
};

/** A model's description. */
typedef struct llmperf_model llmperf_model;

/** Sizes of a model. Texts belong to the model. Numbers that do not apply to it are 0. */
typedef struct llmperf_model_info {
    size_t struct_size;
    const char *name;           /**< "name" of the file, else the name of its folder or file */
    const char *family;         /**< model_type: "llama", "deepseek_v3", "resnet" */
    const char *source;         /**< file that was read */
    const char *convention;     /**< "exact-v1" */
    uint64_t parameters_total;  /**< all weights without multi-token prediction layers: the sum of
                                   the parts below */
    uint64_t parameters_active; /**< weights multiplied for one token: attention, MLP or router,
                                   shared and chosen experts, LM head; not the embedding table */
    uint64_t parameters_embedding;      /**< embedding table */
    uint64_t parameters_lm_head;        /**< 0 if tied to the embedding table */
    uint64_t parameters_norm;           /**< normalisation layers */
    uint64_t parameters_attention_in;   /**< query, key and value projections */
    uint64_t parameters_attention_out;  /**< output projection of attention */
    uint64_t parameters_mlp;            /**< dense MLP layers */
    uint64_t parameters_router;         /**< routers of MoE layers */
    uint64_t parameters_shared_experts; /**< experts that every token uses */
    uint64_t parameters_experts;        /**< all routed experts */
    uint64_t parameters_vision;         /**< vision encoder and projector */
    uint64_t parameters_other;          /**< biases, positions, special vectors of the decoder */
    uint64_t weight_bytes;              /**< all weights in weight_dtype */
    uint64_t kv_bytes_per_token;        /**< of the KV cache, all layers, in kv_dtype */
    uint64_t flops_per_token; /**< model FLOPs of a token without attention pairs and LM head */
    uint64_t flops_per_pair;  /**< of a (query, key) pair, all layers and heads */
    uint64_t flops_lm_head;   /**< of a row of logits */
    uint64_t layers, moe_layers, window_layers; /**< all; with experts; with window attention */
    uint64_t window; /**< keys that a token attends in window layers, itself included */
    uint64_t hidden, heads, kv_heads, head_dim, vocabulary; /**< of the decoder */
    uint64_t experts, experts_per_token;                    /**< routed experts of a MoE layer */
    uint32_t weight_dtype, kv_dtype;  /**< LLMPERF_DTYPE_…: defaults of a step */
    uint32_t has_decoder, has_vision; /**< 1: the model has this part */
    uint32_t latent_attention;        /**< 1: the KV cache holds one latent for all heads (MLA) */
    uint32_t activation_dtype;        /**< LLMPERF_DTYPE_…: default of a step with weight_dtype */
} llmperf_model_info;
#define LLMPERF_MODEL_INFO_INIT LLMPERF_INIT(llmperf_model_info)

/** One step of one replica. Arrays are Borrowed for the call and have one element per request (or
 * image). */
typedef struct llmperf_step {
    size_t struct_size;
    uint32_t phase;            /**< LLMPERF_PHASE_… */
    uint32_t logits;           /**< LLMPERF_LOGITS_… */
    uint32_t weight_dtype;     /**< LLMPERF_DTYPE_… of linear layers; embedding tables, norms and
                                  routers stay in 16 bits (32 with fp32) */
    uint32_t activation_dtype; /**< LLMPERF_DTYPE_… that quantised layers compute in; default: the
                                  format to which the model quantises activations, else bf16, fp16
                                  or fp32 as the model */
    uint32_t kv_dtype;         /**< LLMPERF_DTYPE_… of the KV cache */
    uint32_t draft_tokens;     /**< decode: drafted tokens per request; 0: no speculation */
    double acceptance;         /**< 0 to 1: probability that a drafted token is accepted */
    uint64_t requests;         /**< 1 to 2^32 */
    const uint64_t *new_tokens;    /**< 1 to 2^36 each; NULL: new_each */
    const uint64_t *cached_tokens; /**< already in the KV cache; NULL: cached_each */
    const uint64_t *logits_rows;   /**< 0 to new_tokens each; NULL: as `logits` says */
    uint64_t padded_tokens;     /**< rows that linear layers execute, if more than the new tokens;
                                   for hardware FLOPs */
    double experts_touched;     /**< measured mean per MoE layer; 0: expected with uniform
                                   routing */
    uint32_t tensor_parallel;   /**< GPUs that share each layer; 0 means 1, here and below */
    uint32_t pipeline_parallel; /**< pipeline stages that share the layers */
    uint32_t expert_parallel;   /**< 1, or tensor_parallel x data_parallel: GPUs that whole experts
                                   are spread over */
    uint32_t data_parallel;     /**< replicas, each with a step of this size */
    uint32_t pipeline_rank;     /**< pipeline stage whose work is computed, from 0 */
    uint32_t vision_calls;      /**< forward calls of the encoder, which reads its weights in each;
                                   0 means 1 */
    uint64_t images;            /**< vision: number of images */
    const uint64_t *image_heights; /**< pixels at the encoder's input; NULL: the model's size */
    const uint64_t *image_widths;  /**< NULL: as image_heights */
    const uint64_t *tile_rows; /**< tiles of each image, in addition to the view of the whole image;
                                  NULL: none */
    const uint64_t *tile_columns; /**< the same */
    uint64_t tile_pixels;         /**< side of a tile */
    uint64_t new_each;    /**< new tokens of every request; 0 (decode only): 1 + draft_tokens */
    uint64_t cached_each; /**< cached tokens of every request */
} llmperf_step;
#define LLMPERF_STEP_INIT LLMPERF_INIT(llmperf_step)

/** Work of a step on one GPU (without parallelism: of the whole step). */
typedef struct llmperf_work {
    size_t struct_size;
    const char *convention; /**< "exact-v1"; do not compare numbers of different conventions */
    uint64_t requests;      /**< requests, or images */
    uint64_t tokens;        /**< new tokens; vision: tokens that the encoder produces */
    uint64_t
        positions; /**< the same number as tokens; vision: positions of the images in the decoder */
    uint64_t logits_rows;    /**< tokens that logits are computed for */
    uint64_t model_flops;    /**< numerator of MFU; with parallelism an equal share, rounded up */
    uint64_t vector_flops;   /**< approximate, not part of model_flops */
    uint64_t hardware_flops; /**< numerator of HFU, as far as it is known without counters */
    uint64_t bytes;          /**< numerator of MBU: weights, KV cache reads and KV cache writes */
    uint64_t weight_bytes;   /**< only those rows of the embedding table and those experts that are
                                used */
    uint64_t kv_read_bytes, kv_write_bytes; /**< of the KV cache */
    uint64_t activation_bytes;    /**< input and output of each linear layer without any cache hit;
                                     not part of bytes */
    uint64_t communication_bytes; /**< sent by this GPU to others */
    double
        model_flops_expected; /**< model_flops before rounding, with speculation or parallelism */
    double tokens_expected;   /**< accepted tokens; without speculation the new tokens */
    double experts_touched;   /**< per MoE layer, on all GPUs; NaN: no experts */
} llmperf_work;
#define LLMPERF_WORK_INIT LLMPERF_INIT(llmperf_work)

/** Work of one operator in all layers of one kind. The operators of a step add up to its
 * llmperf_work. */
typedef struct llmperf_operator_work {
    size_t struct_size;
    const char *name;       /**< "embedding", "norm", "qkv", "rope", "attention", "o_proj", "mlp",
                               "router", "experts", "lm_head" … */
    const char *layer_kind; /**< "dense", "moe", "dense_window", "moe_window", "input", "output";
                               vision: part of the encoder */
    uint64_t layers;        /**< layers of this kind on this GPU */
    uint64_t model_flops, vector_flops, hardware_flops;   /**< as in llmperf_work */
    uint64_t weight_bytes, kv_read_bytes, kv_write_bytes; /**< as in llmperf_work */
    uint64_t activation_bytes, communication_bytes;       /**< as in llmperf_work */
    uint32_t compute_dtype; /**< LLMPERF_DTYPE_… that the matrix product computes in */
    uint32_t reserved;      /**< 0 */
} llmperf_operator_work;
#define LLMPERF_OPERATOR_WORK_INIT LLMPERF_INIT(llmperf_operator_work)

/** Find a format by name.
 *
 * @param name       "bf16", "bfloat16", "fp8", "int4" …
 * @param dtype_out  LLMPERF_DTYPE_…
 * @return LLMPERF_OK; LLMPERF_EINVAL (the error lists the names).
 * @threads any thread */
LLMPERF_API int llmperf_dtype_find(const char *name, uint32_t *dtype_out);

/** Read a model's description.
 *
 * @param model      A HuggingFace config.json, a YAML file with the same keys, a folder with a
 * config.json, the name of a model in conf/model ("llama_3_8b"; '-' and '.' stand for '_'), or the
 * text of a config.json, which begins with '{'.
 * @param model_out  Yours: llmperf_model_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT, LLMPERF_EFORMAT (the error names file, line and key),
 * LLMPERF_ENOTSUP (unknown family), LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_model_open(const char *model, llmperf_model **model_out);

/** Free a model.
 *
 * @param model  NULL does nothing.
 * @threads one at a time per object */
LLMPERF_API void llmperf_model_free(llmperf_model *model);

/** Sizes of a model.
 *
 * @param info_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL.
 * @threads any thread */
LLMPERF_API int llmperf_model_info_get(const llmperf_model *model, llmperf_model_info *info_out);

/** Keys of the description that are not supported and were ignored.
 *
 * @param index  From 0.
 * @return One line, belongs to the model; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_model_warning(const llmperf_model *model, size_t index);

/** Keys that the description lacks, with the default of the model's framework that is used instead.
 *
 * @param index  From 0.
 * @return One line, belongs to the model; NULL past the last.
 * @threads any thread */
LLMPERF_API const char *llmperf_model_assumption(const llmperf_model *model, size_t index);

/** Work of a step.
 *
 * @param step      Borrowed.
 * @param work_out  struct_size set by the caller.
 * @return LLMPERF_OK; LLMPERF_EINVAL (a member is out of range, or a result exceeds 64 bits),
 * LLMPERF_ENOTSUP (the model lacks the part that the phase needs).
 * @threads any thread */
LLMPERF_API int llmperf_model_work(const llmperf_model *model, const llmperf_step *step,
                                   llmperf_work *work_out);

/** Work of one operator of a step, in the order of execution.
 *
 * @param step      Borrowed.
 * @param index     From 0.
 * @param work_out  struct_size set by the caller.
 * @return as llmperf_model_work(); LLMPERF_ENOENT (past the last operator)
 * @threads any thread */
LLMPERF_API int llmperf_model_operator(const llmperf_model *model, const llmperf_step *step,
                                       size_t index, llmperf_operator_work *work_out);

#ifdef __cplusplus
}
#endif
#endif
