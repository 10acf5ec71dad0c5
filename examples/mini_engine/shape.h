/* SPDX-License-Identifier: Apache-2.0 */
/** Shapes of a model, read from the same file as the analysis reads: a HuggingFace config.json, or
 * YAML with its keys. */
#ifndef MINI_ENGINE_SHAPE_H
#define MINI_ENGINE_SHAPE_H

#include <stddef.h>
#include <stdint.h>

struct decoder_shape {
    size_t layers; /**< 0: no decoder */
    size_t hidden, vocabulary, intermediate;
    size_t heads, kv_heads, head_dim;
    size_t kv_rank, q_rank, nope, rope,
        value; /**< latent attention if kv_rank > 0; q_rank 0: one matrix makes the query */
    size_t experts, choices, expert_size,
        shared_size;     /**< shared_size: width of all shared experts together */
    size_t dense_layers; /**< leading layers without experts */
    size_t window;       /**< tokens that a layer attends; 0: all. Longer contexts are refused */
    int qkv_bias, qk_norm, tied, renormalise;
    float epsilon, theta;
};

struct encoder_shape {
    size_t layers; /**< 0: none */
    size_t width, heads, mlp, patch;
    size_t grid;            /**< side of the table of positions */
    size_t window;          /**< SAM: patches a side; layers of global_layers see the whole image */
    uint64_t global_layers; /**< bit i: layer i */
};

/** DeepSeek-OCR: SAM, neck, compressor, CLIP, projector. */
struct vision_shape {
    struct encoder_shape sam, clip;
    size_t neck, compressor[2];
    size_t projector_in, projector_out;
};

/** The network of examples/dummy_resnet. */
struct resnet_shape {
    size_t blocks; /**< 0: none */
    size_t channels, in_channels, height, width, classes;
};

struct shape {
    char name[128], family[64], source[4096];
    uint64_t parameters; /**< as the analysis counts them */
    struct decoder_shape decoder;
    struct vision_shape vision;
    struct resnet_shape resnet;
};

/** Read a model by name or path; names are compared by letters and digits, so llama3_8b finds
 * llama_3_8b.
 * @return 0; or -1 with one line in `problem`: no such file, or something that this engine does not
 * do. */
int shape_read(struct shape *shape, const char *model, char *problem, size_t problem_size);

/** Width of q and k, and of v, of a head. */
size_t shape_key_dim(const struct decoder_shape *decoder);
size_t shape_value_dim(const struct decoder_shape *decoder);
/** Heads in the KV cache: latent attention keeps expanded keys and values of all heads. */
size_t shape_cache_heads(const struct decoder_shape *decoder);
int shape_is_moe(const struct decoder_shape *decoder, size_t layer);

#endif
