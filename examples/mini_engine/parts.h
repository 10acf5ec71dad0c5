/* SPDX-License-Identifier: Apache-2.0 */
/** What the engine's files share. */
#ifndef MINI_ENGINE_PARTS_H
#define MINI_ENGINE_PARTS_H

#include "engine.h"
#include "ops.h"
#include "work.h"

struct layer {
    bf16 *norm_in, *norm_mlp;
    bf16 *qkv, *qkv_bias, *q_norm, *k_norm;                             /* heads of their own */
    bf16 *q_down, *q_down_norm, *q_up, *kv_down, *kv_down_norm, *kv_up; /* latent attention */
    bf16 *out;
    bf16 *gate_up, *down; /* MLP, or the shared experts */
    bf16 *router, *experts_gate_up, *experts_down;
    bf16 *cache_k, *cache_v;
};

struct decoder {
    struct layer *layers;
    bf16 *embedding, *norm_out, *lm_head;
    /* Rows: a token of a sequence. */
    bf16 *x, *normed, *qkv, *q_low, *latent, *latent_normed, *expanded;
    bf16 *q, *k, *v, *heads, *merged, *gate_up, *inner;
    bf16 *pair_gate_up, *pair_inner, *pair_out; /* a row for each token and choice */
    bf16 *last;
    float *scores, *router_logits, *weights, *logits,
        *logits_part; /* logits_part: this rank's, or all */
    int32_t *chosen, *order, *starts;
    int32_t *tokens, *positions, *prompt, *image_rows;
};

struct encoder_layer {
    bf16 *norm_in, *norm_in_bias, *norm_mlp, *norm_mlp_bias;
    bf16 *qkv, *qkv_bias, *out, *out_bias, *up, *up_bias, *down, *down_bias;
    bf16 *row_table, *column_table; /* relative positions, of table_grid */
    size_t table_grid;
};

struct encoder {
    struct encoder_layer *layers;
    bf16 *patch, *patch_bias, *positions, *class_token, *norm, *norm_bias;
};

struct vision {
    struct encoder sam, clip;
    bf16 *neck_1x1, *neck_norm1, *neck_norm1_bias, *neck_3x3, *neck_norm2, *neck_norm2_bias;
    bf16 *compress1, *compress2, *projector, *projector_bias,
        *marks;      /* marks: end of row, end of view */
    bf16 *pixels[2]; /* tiles, whole */
    bf16 *x, *normed, *windowed, *qkv, *q, *k, *v, *heads, *merged, *inner, *unfolded;
    bf16 *neck, *half, *quarter, *clip_x, *joined,
        *features; /* half, quarter: of SAM's grid a side */
    float *scores, *bias_rows, *bias_columns;
};

struct resnet {
    bf16 **convolutions, **scales, **shifts; /* 1 + 2 blocks */
    bf16 *linear, *linear_bias, *input, *a, *b, *c, *unfolded, *pooled;
    float *logits;
};

struct engine {
    struct shape shape;         /* with this rank's share of heads, MLP and experts */
    struct decoder_shape whole; /* of all ranks */
    struct engine_options options;
    struct ops *ops;
    struct work work;
    struct decoder decoder;
    struct vision vision;
    struct resnet resnet;
    uint64_t parameters; /* of this rank */
    void *weights;
    struct request request; /* its counts; not its arrays */
    size_t prompt_tokens;   /* of a sequence, images included */
    size_t capacity;        /* positions of a sequence that the cache has room for */
    size_t context;         /* positions of a sequence that are in the cache */
    int captured;
    double *step_ms; /* of the next decode step; NULL: not needed */
    char (*layer_labels)[16];
    char error[512];
};

struct memory_size {
    size_t weights, buffers;
};

/* layout.c: every pointer above. Twice: with both areas NULL it only counts. */
struct memory_size layout_engine(struct engine *engine, void *weights, void *buffers, int fill);

/* decoder.c */
void decoder_prefill(struct engine *engine);
void decoder_step(struct engine *engine);
void decoder_sample(struct engine *engine, int32_t advance);

/* vision.c: pixels to rows of features. */
void vision_forward(struct engine *engine);
size_t vision_tokens(const struct shape *shape, const struct views *views);
size_t vision_side(const struct shape *shape, size_t pixels);

/* resnet.c */
void resnet_forward(struct engine *engine);

#endif
