/* SPDX-License-Identifier: Apache-2.0 */
/** Operators of a step.
 * @threads any thread */
#ifndef LP_MODEL_WORK_H
#define LP_MODEL_WORK_H

#include "lib/model/desc.h"
#include "llmperf/model.h"

#define LP_OPERATORS_MAX 64
#define LP_DRAFTS_MAX    1024

/** A checked step, with sums over its requests for all operators. */
struct lp_step {
    llmperf_step input;
    uint64_t tensor, pipeline, expert, data;  /* numbers of GPUs, at least 1 */
    uint32_t base, weight, activation, cache; /* LLMPERF_DTYPE_… */
    lp_u128 tokens, padded, rows, cached;
    /* [1]: in layers with a window. read: cached positions that new tokens attend to. */
    lp_u128 pairs[2], read[2];
    /* (query, key) pairs as other tools count them: all: n (P + n); twice: n P + n n / 2;
     * full_windowed: n min(W, P + n). */
    lp_u128 full_pairs, full_windowed, half_pairs_twice;
    /* Expected values with speculative decoding; else the sums above. */
    double useful_tokens, useful_rows, useful_pairs[2];
};

/** Most different matrix products of an operator; of one with more none is listed. */
#define LP_PRODUCTS_MAX 10

/** A matrix product that a layer does: m x n numbers, each a sum of k products. m is tokens.
 * Engines compute an operator in one of several forms, fused or not. */
struct lp_product {
    uint64_t m, n, k;
    uint32_t batch; /* products of this shape in one kernel */
    uint32_t count; /* kernels of this shape in a layer */
    uint32_t form;  /* 0: in all forms; else products of one form belong together */
    uint32_t reserved;
};

/** Attention of a layer: its heads, and over all sequences their number, new tokens, tokens that
 * these attend to, (query, key) pairs, and bytes of queries, keys, values and output. */
struct lp_heads {
    uint64_t heads, kv_heads, head_dim; /* 0: unknown */
    double sequences, queries, keys, pairs, bytes;
};

/** Inputs and outputs of work by element next to an operator: part of its kernels, or in kernels of
 * its own. */
struct lp_vector_work {
    const char *name; /* "activation", "residual", "sampling"; NULL: none */
    lp_u128 bytes;
    uint32_t kernels; /* of a layer, if each is one of its own */
};

struct lp_operator {
    const char *name, *layer_kind;
    uint64_t layers;
    struct lp_heads heads;                       /* of attention */
    struct lp_product products[LP_PRODUCTS_MAX]; /* in the order of their computation */
    size_t product_count;                        /* above LP_PRODUCTS_MAX: too many */
    lp_u128 model, vector, hardware;
    lp_u128 least; /* FLOPs of the cheapest form that kernels execute, if above `model` */
    lp_u128 weights, kv_read, kv_write, activations, communication;
    lp_u128 vectors; /* inputs and outputs of norm, rope and attention, each moved once */
    struct lp_vector_work beside;
    uint32_t kernels; /* of a layer at least, if no operator is fused with another one */
    double expected;  /* model FLOPs before rounding */
    uint32_t dtype;
};

struct lp_operators {
    struct lp_operator items[LP_OPERATORS_MAX];
    size_t count;
    double experts_touched; /* NaN: no experts */
    lp_u128 tokens, positions;
};

/** Check a step and add up its requests. 0 or LLMPERF_EINVAL, LLMPERF_ENOTSUP. */
int lp_step_prepare(const struct llmperf_model *model, const llmperf_step *input,
                    struct lp_step *out);

/** Add an operator with names only. */
struct lp_operator *lp_operator_add(struct lp_operators *list, const char *name,
                                    const char *layer_kind, uint64_t layers);

/** Add a product to the operator's, with 1 in a batch. */
void lp_operator_product(struct lp_operator *op, uint32_t form, uint32_t count, lp_u128 m,
                         lp_u128 n, lp_u128 k);

/** The products of scores and values, the form of attention without a kernel of its own. */
void lp_operator_attention(struct lp_operator *op, lp_u128 batch, lp_u128 queries, lp_u128 keys,
                           lp_u128 width);

void lp_decoder_work(const struct llmperf_model *model, const struct lp_step *step,
                     struct lp_operators *out);

/** 0, or LLMPERF_EINVAL: the image is too small or too large for the encoder. */
int lp_vision_work(const struct llmperf_model *model, const struct lp_step *step,
                   struct lp_operators *out);

/** Check a step and list its operators. 0, LLMPERF_EINVAL or LLMPERF_ENOTSUP. */
int lp_model_operators(const struct llmperf_model *model, const llmperf_step *input,
                       struct lp_step *step, struct lp_operators *list);

/** Number of (query, key) pairs of new tokens with a causal mask.
 * @param window  Keys that a token attends to, with itself; 0: all. */
lp_u128 lp_pairs_causal(uint64_t tokens, uint64_t cached, uint64_t window);

/** What the operators of a step come to together. 0 or LLMPERF_ENOTSUP: too much for 64 bits. */
int lp_operators_work(const struct lp_step *step, const struct lp_operators *list,
                      llmperf_work *work);

lp_u128 lp_divide_up(lp_u128 value, lp_u128 divisor);

/** Round to the nearest integer. */
lp_u128 lp_round(double value);

#endif
