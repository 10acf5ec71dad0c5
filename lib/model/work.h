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

struct lp_operator {
    const char *name, *layer_kind;
    uint64_t layers;
    lp_u128 model, vector, hardware;
    lp_u128 weights, kv_read, kv_write, activations, communication;
    double expected; /* model FLOPs before rounding */
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
