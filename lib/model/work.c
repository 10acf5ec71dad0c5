/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of a decoder's step on one GPU. */
#include <math.h>
#include <string.h>

#include "lib/model/work.h"
#include "llmperf/sys/analysis.h"

/* Approximate vector FLOPs per element, see docs/reference/metrics.md. */
enum {
    RMS_NORM = 4,
    LAYER_NORM = 7,
    ROTATION = 3,
    SOFTMAX = 5,
    ACTIVATION = 5,
    RESIDUALS = 2 /* additions per layer */
};

static const char *const kind_names[LP_LAYER_KINDS] = {
    [0] = "dense",
    [LP_LAYER_MOE] = "moe",
    [LP_LAYER_WINDOW] = "dense_window",
    [LP_LAYER_MOE | LP_LAYER_WINDOW] = "moe_window",
};

/* Input for the operators of a kind of layer. */
struct build {
    const struct llmperf_model *model;
    const struct lp_decoder *decoder;
    const struct lp_step *step;
    struct lp_attention whole, local; /* in the model; on this GPU */
    struct lp_operators *out;
    const char *kind;
    uint64_t layers;
    uint64_t first, count; /* layers of this pipeline stage */
    unsigned layer_bits;   /* LP_LAYER_… */
    bool window;
};

lp_u128 lp_divide_up(lp_u128 value, lp_u128 divisor)
{
    return (value + divisor - 1) / divisor;
}

lp_u128 lp_round(double value)
{
    return (lp_u128)floor(value + 0.5);
}

struct lp_operator *lp_operator_add(struct lp_operators *list, const char *name,
                                    const char *layer_kind, uint64_t layers)
{
    struct lp_operator *added = &list->items[list->count++];

    memset(added, 0, sizeof(*added));
    added->name = name;
    added->layer_kind = layer_kind;
    added->layers = layers;
    added->kernels = 1;
    return added;
}

static void add_shape(struct lp_operator *op, const struct lp_product *product)
{
    for (size_t i = 0; i < op->product_count && i < LP_PRODUCTS_MAX; i++) {
        struct lp_product *other = &op->products[i];

        if (other->form == product->form && other->m == product->m && other->n == product->n &&
            other->k == product->k && other->batch == product->batch) {
            other->count += product->count;
            return;
        }
    }
    if (op->product_count < LP_PRODUCTS_MAX)
        op->products[op->product_count] = *product;
    op->product_count++;
}

void lp_operator_product(struct lp_operator *op, uint32_t form, uint32_t count, lp_u128 m,
                         lp_u128 n, lp_u128 k)
{
    struct lp_product product = { (uint64_t)m, (uint64_t)n, (uint64_t)k, 1, count, form, 0 };

    if (m > 0 && n > 0 && k > 0)
        add_shape(op, &product);
}

void lp_operator_attention(struct lp_operator *op, lp_u128 batch, lp_u128 queries, lp_u128 keys,
                           lp_u128 width)
{
    struct lp_product scores = { (uint64_t)queries, (uint64_t)keys, (uint64_t)width, 0, 1, 1, 0 };
    struct lp_product values = { (uint64_t)queries, (uint64_t)width, (uint64_t)keys, 0, 1, 1, 0 };

    if (batch > UINT32_MAX)
        return;
    scores.batch = values.batch = (uint32_t)batch;
    add_shape(op, &scores);
    add_shape(op, &values);
}

static struct lp_operator *add(const struct build *build, const char *name)
{
    struct lp_operator *added = lp_operator_add(build->out, name, build->kind, build->layers);

    added->dtype = build->step->base;
    return added;
}

/* `elements` of each new token, in all layers. */
static lp_u128 vector_bytes(const struct build *build, lp_u128 elements)
{
    return lp_dtype_bytes(build->step->base, build->step->tokens * elements * build->layers);
}

/* Matrix product for all new tokens: `whole` weights in the model, `local` weights on this GPU. */
static void add_product(const struct build *build, struct lp_operator *op, lp_u128 whole,
                        lp_u128 local)
{
    const struct lp_step *step = build->step;

    whole *= (lp_u128)2 * op->layers;
    op->model += lp_divide_up(whole * step->tokens, step->tensor);
    op->expected += (double)whole * step->useful_tokens / (double)step->tensor;
    op->hardware += 2 * local * op->layers * step->padded;
}

static lp_u128 part_bytes(const struct build *build, enum lp_linear_part part, lp_u128 elements)
{
    return lp_part_bytes(build->model, part, build->step->weight, elements, build->first,
                         build->count, (int)build->layer_bits);
}

/* What a part computes in. With layers in 16 bits among them: as the others, a lower bound. */
static uint32_t computed(const struct build *build, enum lp_linear_part part)
{
    const struct lp_decoder *decoder = build->decoder;
    const struct lp_step *step = build->step;

    if (!lp_stores_parts(build->model, step->weight))
        return step->activation;
    for (uint64_t i = build->first; i < build->first + build->count; i++)
        if (decoder->kinds[i] == build->layer_bits && decoder->formats[i][part])
            return step->input.activation_dtype || !decoder->computed[part]
                       ? step->activation
                       : decoder->computed[part];
    return step->base;
}

/* A product with weights in the format of a part; LP_PARTS: in 16 bits. */
static struct lp_operator *add_linear(const struct build *build, const char *name, lp_u128 whole,
                                      lp_u128 local, lp_u128 elements, enum lp_linear_part part)
{
    const struct lp_step *step = build->step;
    struct lp_operator *op = add(build, name);

    op->dtype = part == LP_PARTS ? step->base : computed(build, part);
    add_product(build, op, whole, local);
    op->weights = part == LP_PARTS ? lp_dtype_bytes(step->base, local * op->layers)
                                   : part_bytes(build, part, local);
    op->activations = lp_dtype_bytes(op->dtype, step->tokens * elements * op->layers);
    return op;
}

/* All-reduce over the GPUs of a layer: in a ring each sends 2 (t - 1) / t of the vector. */
static lp_u128 ring_bytes(const struct build *build)
{
    const struct lp_step *step = build->step;
    lp_u128 vector = lp_dtype_bytes(step->base, step->tokens * build->decoder->hidden);

    return lp_divide_up(2 * (step->tensor - 1) * vector, step->tensor) * build->layers;
}

static void add_norm(const struct build *build, lp_u128 norms, lp_u128 extra, lp_u128 residuals)
{
    const struct lp_decoder *decoder = build->decoder;
    struct lp_operator *op = add(build, "norm");
    lp_u128 h = decoder->hidden, cost = decoder->layer_norm ? LAYER_NORM : RMS_NORM;
    lp_u128 vectors = decoder->layer_norm ? 2 : 1, inner = 0; /* of queries and keys, latents */

    if (decoder->kv_rank > 0)
        inner = extra;
    else if (extra)
        inner = (lp_u128)(decoder->heads + decoder->kv_heads) * decoder->head_dim;
    op->weights = lp_dtype_bytes(build->step->base, (norms * h * vectors + extra) * op->layers);
    op->vector =
        build->step->tokens * op->layers * (norms * h * cost + residuals * h + RMS_NORM * inner);
    op->vectors = vector_bytes(build, 2 * (norms * h + inner / build->step->tensor));
    op->kernels = (uint32_t)norms;
    /* The sum is read and written; what is added may still be on chip. */
    if (residuals)
        op->beside = (struct lp_vector_work){ "residual", vector_bytes(build, 2 * residuals * h),
                                              (uint32_t)residuals };
}

static void add_rotation(const struct build *build)
{
    const struct lp_decoder *decoder = build->decoder;
    struct lp_operator *op = add(build, "rope");
    lp_u128 elements = decoder->kv_rank > 0
                           ? (decoder->heads / build->step->tensor + 1) * decoder->rope_dim
                           : build->local.in_elements - decoder->hidden -
                                 build->local.kv_elements / 2; /* query and key */

    op->vector = build->step->tokens * op->layers * ROTATION * elements;
    op->vectors = vector_bytes(build, 2 * elements);
}

/* Requests of one length: their heads are one batch. */
static void add_attention_products(const struct build *build, struct lp_operator *op)
{
    const struct lp_step *step = build->step;
    lp_u128 requests = step->input.requests, tokens = step->tokens + step->cached;

    if (requests == 0 || step->tokens % requests || tokens % requests || build->window ||
        build->decoder->kv_rank > 0)
        return;
    lp_operator_attention(op, requests * build->decoder->heads / step->tensor,
                          step->tokens / requests, tokens / requests, build->decoder->head_dim);
}

/* Kernels of latent attention compute one of two forms. */
static struct lp_heads heads_of(const struct build *build)
{
    const struct lp_step *step = build->step;
    uint64_t dim = build->decoder->head_dim, heads = build->decoder->heads / step->tensor;
    lp_u128 read = step->read[build->window];

    if (build->decoder->kv_rank > 0)
        return (struct lp_heads){ 0 };
    return (struct lp_heads){
        heads,
        build->local.kv_elements / 2 / dim,
        dim,
        (double)step->input.requests,
        (double)step->tokens,
        (double)read,
        (double)step->pairs[build->window],
        (double)(lp_dtype_bytes(step->base, 2 * step->tokens * heads * dim) +
                 lp_dtype_bytes(step->cache, read * build->local.kv_elements)),
    };
}

static void add_attention(const struct build *build)
{
    const struct lp_step *step = build->step;
    struct lp_operator *op = add(build, "attention");
    lp_u128 pairs = step->pairs[build->window] * op->layers;
    lp_u128 cache = lp_dtype_bytes(step->cache, build->local.kv_elements) * op->layers;
    bool decode = step->input.phase == LLMPERF_PHASE_DECODE;

    op->model = lp_divide_up(pairs * build->whole.pair_flops, step->tensor);
    op->expected = step->useful_pairs[build->window] * (double)op->layers *
                   (double)build->whole.pair_flops / (double)step->tensor;
    op->hardware = pairs * (decode ? build->local.absorbed_pair_flops : build->local.pair_flops);
    if (!decode) /* cached tokens are latents: keys and values are recomputed */
        op->hardware += step->cached * op->layers * build->local.expand_flops;
    if (build->decoder->kv_rank > 0) { /* a cached token is expanded, or queries are absorbed */
        lp_u128 absorbed = pairs * build->local.absorbed_pair_flops;

        op->least = op->hardware < absorbed ? op->hardware : absorbed;
    }
    op->vector = pairs * SOFTMAX * (build->decoder->heads / step->tensor);
    op->kv_read = step->read[build->window] * cache;
    op->kv_write = step->tokens * cache;
    op->vectors = vector_bytes(build, 2 * build->local.out_weights / build->decoder->hidden);
    op->heads = heads_of(build);
    add_attention_products(build, op);
}

/* Query, key and value from one matrix, or the query's apart. */
static void add_input_products(const struct build *build, struct lp_operator *op)
{
    lp_u128 h = build->decoder->hidden, all = build->local.in_weights / h;
    lp_u128 key = build->local.kv_elements / 2;

    if (build->decoder->kv_rank > 0) /* several small matrices, absorbed or not */
        return;
    lp_operator_product(op, 1, 1, build->step->padded, all, h);
    lp_operator_product(op, 2, 1, build->step->padded, all - 2 * key, h);
    lp_operator_product(op, 2, 2, build->step->padded, key, h);
}

static void add_projections(const struct build *build)
{
    const struct lp_decoder *decoder = build->decoder;
    struct lp_operator *op;

    op = add_linear(build, "qkv", build->whole.in_weights, build->local.in_weights,
                    build->local.in_elements, LP_PART_ATTENTION_IN);
    op->weights += lp_dtype_bytes(build->step->base, (lp_u128)build->local.in_bias * op->layers);
    op->vector = build->step->tokens * build->local.in_bias * op->layers;
    add_input_products(build, op);
    if (decoder->rotary)
        add_rotation(build);
    add_attention(build);
    op = add_linear(build, "o_proj", build->whole.out_weights, build->local.out_weights,
                    build->local.out_elements, LP_PART_ATTENTION_OUT);
    op->weights += lp_dtype_bytes(build->step->base, (lp_u128)build->local.out_bias * op->layers);
    op->vector = build->step->tokens * build->local.out_bias * op->layers;
    op->communication = ring_bytes(build);
    lp_operator_product(op, 0, 1, build->step->padded, decoder->hidden,
                        build->local.out_weights / decoder->hidden);
}

/* A (gated) MLP of `size`, split over the GPUs of a layer. */
static struct lp_operator *add_mlp(const struct build *build, const char *name, uint64_t size,
                                   bool gated, enum lp_linear_part part)
{
    lp_u128 h = build->decoder->hidden, local = size / build->step->tensor;
    lp_u128 matrices = gated ? 3 : 2;
    struct lp_operator *op = add_linear(build, name, matrices * h * size, matrices * h * local,
                                        2 * h + matrices * local, part);

    op->vector = build->step->tokens * op->layers * ACTIVATION * local;
    op->beside = (struct lp_vector_work){ "activation", vector_bytes(build, matrices * local), 1 };
    op->kernels = 2;
    op->communication = ring_bytes(build);
    lp_operator_product(op, gated ? 1 : 0, 1, build->step->padded, gated ? 2 * local : local, h);
    if (gated)
        lp_operator_product(op, 2, 2, build->step->padded, local, h);
    lp_operator_product(op, 0, 1, build->step->padded, h, local);
    return op;
}

static void add_dense(const struct build *build)
{
    const struct lp_decoder *decoder = build->decoder;
    struct lp_operator *op =
        add_mlp(build, "mlp", decoder->intermediate, decoder->gated, LP_PART_MLP);
    lp_u128 biases;

    if (!decoder->mlp_bias)
        return;
    biases =
        (decoder->gated ? 2 : 1) * (decoder->intermediate / build->step->tensor) + decoder->hidden;
    op->weights += lp_dtype_bytes(build->step->base, biases * op->layers);
    op->vector += build->step->tokens * biases * op->layers;
}

static void add_router(const struct build *build)
{
    const struct lp_decoder *decoder = build->decoder;
    lp_u128 outputs = decoder->experts + (decoder->shared_gate ? 1 : 0);
    lp_u128 weights = decoder->hidden * outputs;
    struct lp_operator *op =
        add_linear(build, "router", weights, weights, decoder->hidden + outputs, LP_PARTS);

    if (decoder->router_bias)
        op->weights += lp_dtype_bytes(LLMPERF_DTYPE_FP32, (lp_u128)decoder->experts * op->layers);
    op->vector = build->step->tokens * op->layers * SOFTMAX * outputs;
    lp_operator_product(op, 0, 1, build->step->padded, outputs, decoder->hidden);
}

/* Each token is sent to `chosen` experts on other GPUs and back; a GPU has its part of the
 * tokens. */
static lp_u128 exchange_bytes(const struct build *build)
{
    const struct lp_step *step = build->step;
    lp_u128 vector = lp_dtype_bytes(step->base, step->tokens * build->decoder->hidden);

    return lp_divide_up(2 * vector * build->decoder->chosen * (step->expert - 1),
                        (lp_u128)step->expert * step->tensor) *
           build->layers;
}

static void add_experts(const struct build *build)
{
    const struct lp_decoder *decoder = build->decoder;
    const struct lp_step *step = build->step;
    bool spread = step->expert > 1;
    /* If GPUs have whole experts, their tokens come from all replicas: a share of 1 / t, too. */
    lp_u128 matrix = (lp_u128)3 * decoder->hidden * decoder->expert_size;
    lp_u128 size = spread ? decoder->expert_size : decoder->expert_size / step->tensor;
    lp_u128 elements = decoder->chosen * (2 * decoder->hidden + 3 * (lp_u128)decoder->expert_size);
    struct lp_operator *op = add(build, "experts");
    double all;

    op->dtype = computed(build, LP_PART_EXPERTS);
    add_product(build, op, matrix * decoder->chosen, 0);
    op->hardware =
        lp_divide_up(2 * matrix * decoder->chosen * op->layers * step->padded, step->tensor);
    all = (double)part_bytes(build, LP_PART_EXPERTS, 3 * size * decoder->hidden * decoder->experts);
    op->weights = lp_round(all * build->out->experts_touched / (double)decoder->experts /
                           (double)step->expert);
    op->activations =
        lp_dtype_bytes(op->dtype, lp_divide_up(step->tokens * elements * op->layers, step->tensor));
    op->vector = lp_divide_up(step->tokens * op->layers * ACTIVATION * decoder->chosen *
                                  decoder->expert_size,
                              step->tensor);
    op->beside = (struct lp_vector_work){
        "activation",
        vector_bytes(build, 3 * (lp_u128)decoder->chosen * decoder->expert_size) / step->tensor,
        1,
    };
    op->communication = spread ? exchange_bytes(build) : ring_bytes(build);
}

static void add_layers(struct build *build, unsigned kind, uint64_t layers)
{
    const struct lp_decoder *decoder = build->decoder;

    build->kind = kind_names[kind];
    build->layers = layers;
    build->layer_bits = kind;
    build->window = kind & LP_LAYER_WINDOW;
    add_norm(build, decoder->norms, build->whole.in_norm, RESIDUALS);
    add_projections(build);
    if (!(kind & LP_LAYER_MOE)) {
        add_dense(build);
        return;
    }
    add_router(build);
    if (decoder->shared_size) {
        struct lp_operator *op =
            add_mlp(build, "shared_experts", decoder->shared_size, true, LP_PART_SHARED);

        /* If no GPU has whole experts, one all-reduce is enough for shared and routed experts. */
        if (build->step->expert == 1)
            op->communication = 0;
    }
    add_experts(build);
}

static void add_input(struct build *build)
{
    lp_u128 tables = build->decoder->position_rows ? 2 : 1, rows;
    struct lp_operator *op;

    build->kind = "input";
    build->layers = 1;
    op = add(build, "embedding");
    rows = build->step->tokens * build->decoder->hidden;
    op->weights = lp_dtype_bytes(op->dtype, rows * tables);
    op->activations = lp_dtype_bytes(op->dtype, rows);
    op->vector = rows * (tables - 1);
}

static void add_output(struct build *build)
{
    const struct lp_step *step = build->step;
    lp_u128 h = build->decoder->hidden, whole = (lp_u128)2 * h * build->decoder->vocabulary;
    lp_u128 local = lp_divide_up(build->decoder->vocabulary, step->tensor);
    struct lp_operator *op;

    build->kind = "output";
    build->layers = 1;
    add_norm(build, 1, 0, 0);
    op = add(build, "lm_head");
    op->model = lp_divide_up(whole * step->rows, step->tensor);
    op->expected = (double)whole * step->useful_rows / (double)step->tensor;
    op->hardware = 2 * h * local * step->rows;
    op->activations = lp_dtype_bytes(op->dtype, step->rows * (h + local));
    op->beside =
        (struct lp_vector_work){ "sampling", lp_dtype_bytes(op->dtype, step->rows * local), 1 };
    lp_operator_product(op, 1, 1, step->rows, local, h);
    if (step->rows != step->padded) /* of all positions */
        lp_operator_product(op, 2, 1, step->padded, local, h);
    if (step->rows > 0) /* not read by a chunk without logits */
        op->weights = lp_dtype_bytes(op->dtype, h * local);
}

/* Send the last layer's output to the next pipeline stage. */
static void add_hand_over(struct build *build)
{
    build->kind = "output";
    build->layers = 1;
    add(build, "pipeline")->communication =
        lp_dtype_bytes(build->step->base, build->step->tokens * build->decoder->hidden);
}

static double touched(const struct lp_decoder *decoder, const struct lp_step *step)
{
    lp_u128 tokens = step->tokens * (step->expert > 1 ? step->data : 1);

    if (decoder->experts == 0)
        return NAN;
    if (step->input.experts_touched > 0)
        return step->input.experts_touched;
    return llmperf_experts_expected(decoder->experts, decoder->chosen, (uint64_t)tokens);
}

/* The first layers % pipeline stages have one layer more. */
static void add_stage(struct build *build)
{
    const struct lp_step *step = build->step;
    uint64_t rank = step->input.pipeline_rank, each = build->decoder->layers / step->pipeline;
    uint64_t more = build->decoder->layers % step->pipeline, kinds[LP_LAYER_KINDS];
    uint64_t first = rank * each + (rank < more ? rank : more);

    build->first = first;
    build->count = each + (rank < more);
    lp_decoder_kinds(build->decoder, first, build->count, kinds);
    for (unsigned i = 0; i < LP_LAYER_KINDS; i++)
        if (kinds[i])
            add_layers(build, i, kinds[i]);
}

void lp_decoder_work(const struct llmperf_model *model, const struct lp_step *step,
                     struct lp_operators *out)
{
    struct build build = { .model = model, .decoder = &model->decoder, .step = step, .out = out };

    lp_decoder_attention(&model->decoder, 1, &build.whole);
    lp_decoder_attention(&model->decoder, step->tensor, &build.local);
    out->experts_touched = touched(&model->decoder, step);
    out->tokens = out->positions = step->tokens;
    if (step->input.pipeline_rank == 0)
        add_input(&build);
    add_stage(&build);
    if (step->input.pipeline_rank + (uint64_t)1 == step->pipeline)
        add_output(&build);
    else
        add_hand_over(&build);
}
