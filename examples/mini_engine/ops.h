/* SPDX-License-Identifier: Apache-2.0 */
/** Operations of models on device memory: on a GPU (gpu*.cu) or, slow and simple, on the CPU
 * (ops_cpu*.c).
 *
 * Matrices are row-major bf16 unless said otherwise; sums are in fp32. Images are channels-last.
 * Functions queue work and return; errors are reported by get() or wait(). Pointers are device
 * memory, from one reserve(). */
#ifndef MINI_ENGINE_OPS_H
#define MINI_ENGINE_OPS_H

#include "number.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A strided block of a tensor: `rows` rows of `width` elements, the first at element `first`, each
 * `stride` elements after the one before. */
struct block {
    size_t rows, width, stride, first;
};

/** y (+)= x w^T + bias. x: rows x in, w: out x in, y: rows x out. */
struct linear {
    bf16 *y;
    float *y_float;           /**< instead of y */
    const bf16 *x, *w, *bias; /**< bias: out, or NULL */
    size_t rows, in, out;
    int add; /**< onto what y holds */
};

/** y = (x - mean) / deviation * weight + bias, or with `rms` y = x / rms * weight. Row r starts at
 * x + r / per_row * x_stride + r % per_row * width, and so in y. */
struct norm {
    bf16 *y;
    const bf16 *x, *weight, *bias;
    size_t rows, width, per_row, x_stride, y_stride;
    float epsilon;
    int rms;
};

enum activation {
    SILU_TIMES, /**< y = silu(x[0 .. width)) * x[width .. 2 width) */
    GELU,       /**< exact, with the error function */
    QUICK_GELU, /**< x * sigmoid(1.702 x) */
    RELU
};
struct activate {
    bf16 *y;
    const bf16 *x;
    size_t rows, width;
    enum activation kind;
};

/** y[r] = table[index[r]]; a negative index leaves the row as it is. */
struct gather {
    bf16 *y;
    const bf16 *table;
    const int32_t *index;
    size_t rows, width;
};

/** Rows of `images` blocks of `count`: y row b * (count + y_skip) + y_skip + i takes x row b *
 * (count + x_skip) + x_skip + i. */
struct rows {
    bf16 *y;
    const bf16 *x;
    size_t images, count, width, y_skip, y_stride, x_skip, x_stride;
};

/** From one row of projections a token, (heads + 2 kv_heads) x dim, to q, k, v of batch x heads x
 * tokens x dim, rotated by position, keys and values repeated for the heads that share them; and
 * into the cache, batch x kv_heads x capacity x dim. */
struct split {
    const bf16 *in;
    bf16 *q, *k, *v;          /**< k, v: NULL: not needed */
    bf16 *cache_k, *cache_v;  /**< or NULL */
    const int32_t *positions; /**< of the first token of each sequence; NULL: 0 */
    size_t batch, tokens, heads, kv_heads, dim, capacity;
    float theta; /**< 0: no rotation */
};

/** The same for latent attention. q_in: heads x (nope + rope), expanded: heads x (nope + value),
 * latent: rank + rope, whose last part is the key that all heads share. Keys are nope + rope wide,
 * values `value`. The cache holds expanded keys and values. */
struct split_latent {
    const bf16 *q_in, *expanded, *latent;
    bf16 *q, *k, *v, *cache_k, *cache_v;
    const int32_t *positions;
    size_t batch, tokens, heads, nope, rope, value, rank, capacity;
    float theta;
};

/** out = softmax(scale q k^T + bias) v for each of `batch` heads; out: batch x queries x value. */
struct attend {
    bf16 *out;
    const bf16 *q, *k, *v;
    float *scores; /**< room for batch x queries x scores_stride(keys) */
    /** Relative positions: batch x queries x grid each, added by the key's row and column. NULL:
     * none. */
    const float *bias_rows, *bias_columns;
    size_t batch, queries, keys, dim, value, grid;
    float scale;
    int causal;
};

/** One new token a sequence against the cache: positions[b] + 1 keys. out: batch x heads x value.
 */
struct attend_cache {
    bf16 *out;
    const bf16 *q, *cache_k, *cache_v;
    const int32_t *positions;
    size_t batch, heads, kv_heads, dim, value, capacity;
    float scale;
};

/** batch x heads x tokens x dim to batch x tokens x heads x dim. */
struct merge {
    bf16 *out;
    const bf16 *in;
    size_t batch, heads, tokens, dim;
};

/** The chosen experts of each token and their weights; then the (token, choice) pairs in order of
 * their experts. */
struct route {
    const float *logits; /**< tokens x experts */
    int32_t *chosen;     /**< tokens x choices */
    float *weights;      /**< tokens x choices */
    int32_t *order;      /**< pairs, sorted by expert */
    int32_t *starts;     /**< experts + 1: where each begins in `order` */
    size_t tokens, experts, choices;
    int renormalise; /**< weights of a token add up to 1 */
};

/** y[pair] = x[pair / per_x] w[expert of pair]^T. w: experts x out x in. */
struct linear_experts {
    bf16 *y;
    const bf16 *x, *w;
    const int32_t *chosen, *order, *starts;
    size_t pairs, per_x, experts, in, out;
};

/** y[t] (+)= sum over the choices of weight * parts[t * choices + choice]. */
struct combine {
    bf16 *y;
    const bf16 *parts;
    const float *weights;
    size_t tokens, choices, width;
    int add; /**< onto what y holds */
};

/** The largest logit of each sequence is its next token; positions grow by `advance`. */
struct sample {
    const float *logits; /**< batch x vocabulary */
    int32_t *tokens, *positions;
    size_t batch, vocabulary;
    int32_t advance;
};

/** Each place's kernel x kernel neighbours in one row, zero outside of the image; rows padded with
 * zeros to y_stride. */
struct unfold {
    bf16 *y;
    const bf16 *x;
    size_t images, height, width, channels, kernel, stride, padding, y_stride;
};

/** Windows of window x window from grid x grid, zero beyond the edge; merging adds them. */
struct windows {
    bf16 *y;
    const bf16 *x;
    size_t images, grid, window, width;
    int merge;
};

/** Add a table of table_grid x table_grid positions, interpolated to grid x grid, after `skip` rows
 * that have their own. */
struct place {
    bf16 *x;
    const bf16 *table;
    size_t images, grid, table_grid, width, skip;
};

/** Relative positions of SAM: q against a row of (2 table_grid - 1) x dim, interpolated to 2 grid -
 * 1, for rows and for columns. */
struct relative {
    float *rows, *columns; /**< batch x grid^2 x grid */
    const bf16 *q, *row_table, *column_table;
    size_t batch, grid, table_grid, dim;
};

/** y = x * scale + shift a channel, then ReLU; `add` is added in front of it. */
struct affine {
    bf16 *x;
    const bf16 *scale, *shift; /**< NULL: none */
    const bf16 *add;           /**< or NULL */
    size_t rows, width;
    int relu;
};

/** Mean over `count` rows. */
struct mean {
    bf16 *y;
    const bf16 *x;
    size_t images, count, width;
};

struct group;

struct ops {
    char name[128];
    char error[256]; /**< the first fault; empty: none */
    uint64_t
        launches; /**< kernels of the engine and matrix products queued so far; graph replays not */
    int is_gpu;
    struct group *group; /**< NULL: alone */

    /** Take memory, checked against what is free. 0, or -1 with `error` set. Once. */
    int (*reserve)(struct ops *ops, size_t bytes, void **base_out);
    /** Random numbers of a tensor of which this is a part: each has its place in the whole. */
    void (*fill)(struct ops *ops, bf16 *to, struct block part, uint64_t key, float scale,
                 float offset);
    void (*put)(struct ops *ops, void *to, const void *from, size_t bytes);
    /** Waits for all that is queued. 0, or -1 with `error` set. */
    int (*get)(struct ops *ops, void *to, const void *from, size_t bytes);
    int (*wait)(struct ops *ops);

    void (*linear)(struct ops *ops, struct linear a);
    void (*norm)(struct ops *ops, struct norm a);
    void (*activate)(struct ops *ops, struct activate a);
    void (*gather)(struct ops *ops, struct gather a);
    void (*rows)(struct ops *ops, struct rows a);
    void (*split)(struct ops *ops, struct split a);
    void (*split_latent)(struct ops *ops, struct split_latent a);
    void (*attend)(struct ops *ops, struct attend a);
    void (*attend_cache)(struct ops *ops, struct attend_cache a);
    void (*merge)(struct ops *ops, struct merge a);
    void (*route)(struct ops *ops, struct route a);
    void (*linear_experts)(struct ops *ops, struct linear_experts a);
    void (*combine)(struct ops *ops, struct combine a);
    void (*sample)(struct ops *ops, struct sample a);
    void (*unfold)(struct ops *ops, struct unfold a);
    void (*windows)(struct ops *ops, struct windows a);
    void (*place)(struct ops *ops, struct place a);
    void (*relative)(struct ops *ops, struct relative a);
    void (*affine)(struct ops *ops, struct affine a);
    void (*mean)(struct ops *ops, struct mean a);

    /** Take part in collectives, once. Borrowed until destroy(). 0, or in all ranks -1 with the
     * same `error` set. */
    int (*join)(struct ops *ops, struct group *group);
    /** x becomes its sum over the ranks. */
    void (*all_reduce)(struct ops *ops, bf16 *x, size_t count);
    /** Each row of `to` becomes the ranks' rows of `count` side by side. */
    void (*all_gather)(struct ops *ops, float *to, const float *from, size_t rows, size_t count);

    /** CUDA graph: what is queued between begin and end is kept and not run; replay() runs it. 0,
     * or -1 with `error` set. */
    int (*capture_begin)(struct ops *ops);
    int (*capture_end)(struct ops *ops);
    int (*replay)(struct ops *ops);

    void (*destroy)(struct ops *ops);
};

/** The CPU. NULL without memory. */
struct ops *ops_cpu_open(void);

/** A GPU, counted from 0 and round again; NULL with one line in `reason` if there is none, or if it
 * cannot run this. The calling thread works on it from now on; all others on the first one. */
struct ops *ops_cuda_open(size_t device, char *reason, size_t reason_size);

/** Elements from one row of scores to the next: matrix products need multiples of 8. */
static inline size_t scores_stride(size_t keys)
{
    return (keys + 7) / 8 * 8;
}

#ifdef __cplusplus
}
#endif
#endif
