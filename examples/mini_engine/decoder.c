/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder: layers of attention and MLP or experts, LM head, sampling. Prefill processes all
 * tokens of the prompts at once, a decode step one token of each sequence with the KV cache. */
#include <math.h>

#include "llmperf/llmperf.h"
#include "parts.h"

/* Rows that go through the layers at once. */
struct pass {
    size_t batch, tokens; /* of each sequence */
    int cached;           /* a decode step: keys and values come from the cache */
};

static size_t rows_of(const struct pass *pass)
{
    return pass->batch * pass->tokens;
}

/* The residual stream is on every rank. When a block adds to it, the first rank adds its part to
 * the stream, the other ranks replace theirs with their part, and the sum over the ranks is the new
 * stream. */
static int holds_stream(const struct engine *engine)
{
    return engine->options.rank == 0;
}

static void sum_ranks(struct engine *engine, size_t rows)
{
    if (engine->options.world == 1)
        return;
    begin_part(&engine->work, "all_reduce");
    llmperf_region_count(LLMPERF_QUANTITY_MESSAGE_BYTES,
                         rows * engine->shape.decoder.hidden * sizeof(bf16));
    engine->ops->all_reduce(engine->ops, engine->decoder.x, rows * engine->shape.decoder.hidden);
    end_region(&engine->work);
}

static void rms_norm(struct engine *engine, bf16 *y, const bf16 *x, const bf16 *weight, size_t rows)
{
    const struct decoder_shape *shape = &engine->shape.decoder;

    engine->ops->norm(engine->ops, (struct norm){ .y = y,
                                                  .x = x,
                                                  .weight = weight,
                                                  .rows = rows,
                                                  .width = shape->hidden,
                                                  .per_row = 1,
                                                  .x_stride = shape->hidden,
                                                  .y_stride = shape->hidden,
                                                  .epsilon = shape->epsilon,
                                                  .rms = 1 });
}

/* Norm of a part of each row: of `count` heads in a row, or of the latent in front of its key. */
static void part_norm(struct engine *engine, bf16 *y, const bf16 *x, const bf16 *weight,
                      struct norm sizes)
{
    sizes.y = y;
    sizes.x = x;
    sizes.weight = weight;
    sizes.epsilon = engine->shape.decoder.epsilon;
    sizes.rms = 1;
    engine->ops->norm(engine->ops, sizes);
}

static void project(struct engine *engine, bf16 *y, const bf16 *x, const bf16 *w, size_t rows,
                    size_t in, size_t out)
{
    engine->ops->linear(
        engine->ops, (struct linear){ .y = y, .x = x, .w = w, .rows = rows, .in = in, .out = out });
}

static void split_heads(struct engine *engine, const struct layer *layer, const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;
    size_t dim = shape->head_dim, width = (shape->heads + 2 * shape->kv_heads) * dim;

    engine->ops->linear(engine->ops, (struct linear){ .y = d->qkv,
                                                      .x = d->normed,
                                                      .w = layer->qkv,
                                                      .bias = layer->qkv_bias,
                                                      .rows = rows_of(pass),
                                                      .in = shape->hidden,
                                                      .out = width });
    if (shape->qk_norm) {
        struct norm sizes = { .rows = rows_of(pass) * shape->heads,
                              .width = dim,
                              .per_row = shape->heads,
                              .x_stride = width,
                              .y_stride = width };

        part_norm(engine, d->qkv, d->qkv, layer->q_norm, sizes);
        sizes.rows = rows_of(pass) * shape->kv_heads;
        sizes.per_row = shape->kv_heads;
        part_norm(engine, d->qkv + shape->heads * dim, d->qkv + shape->heads * dim, layer->k_norm,
                  sizes);
    }
    engine->ops->split(engine->ops, (struct split){ .in = d->qkv,
                                                    .q = d->q,
                                                    .k = pass->cached ? NULL : d->k,
                                                    .v = pass->cached ? NULL : d->v,
                                                    .cache_k = layer->cache_k,
                                                    .cache_v = layer->cache_v,
                                                    .positions = pass->cached ? d->positions : NULL,
                                                    .batch = pass->batch,
                                                    .tokens = pass->tokens,
                                                    .heads = shape->heads,
                                                    .kv_heads = shape->kv_heads,
                                                    .dim = dim,
                                                    .capacity = engine->capacity,
                                                    .theta = shape->theta });
}

/* Latent attention, not absorbed: keys and values are expanded once, for the new tokens, and cached
 * so. */
static void split_latent_heads(struct engine *engine, const struct layer *layer,
                               const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;
    size_t rows = rows_of(pass), rank = shape->kv_rank, latent = rank + shape->rope;
    size_t q_width = shape->heads * shape_key_dim(shape);

    if (shape->q_rank) {
        project(engine, d->q_low, d->normed, layer->q_down, rows, shape->hidden, shape->q_rank);
        part_norm(engine, d->q_low, d->q_low, layer->q_down_norm,
                  (struct norm){ .rows = rows,
                                 .width = shape->q_rank,
                                 .per_row = 1,
                                 .x_stride = shape->q_rank,
                                 .y_stride = shape->q_rank });
    }
    project(engine, d->qkv, shape->q_rank ? d->q_low : d->normed, layer->q_up, rows,
            shape->q_rank ? shape->q_rank : shape->hidden, q_width);
    project(engine, d->latent, d->normed, layer->kv_down, rows, shape->hidden, latent);
    part_norm(
        engine, d->latent_normed, d->latent, layer->kv_down_norm,
        (struct norm){
            .rows = rows, .width = rank, .per_row = 1, .x_stride = latent, .y_stride = rank });
    project(engine, d->expanded, d->latent_normed, layer->kv_up, rows, rank,
            shape->heads * (shape->nope + shape->value));
    engine->ops->split_latent(
        engine->ops, (struct split_latent){ .q_in = d->qkv,
                                            .expanded = d->expanded,
                                            .latent = d->latent,
                                            .q = d->q,
                                            .k = pass->cached ? NULL : d->k,
                                            .v = pass->cached ? NULL : d->v,
                                            .cache_k = layer->cache_k,
                                            .cache_v = layer->cache_v,
                                            .positions = pass->cached ? d->positions : NULL,
                                            .batch = pass->batch,
                                            .tokens = pass->tokens,
                                            .heads = shape->heads,
                                            .nope = shape->nope,
                                            .rope = shape->rope,
                                            .value = shape->value,
                                            .rank = rank,
                                            .capacity = engine->capacity,
                                            .theta = shape->theta });
}

static void attend_prompt(struct engine *engine, const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;
    size_t dim = shape_key_dim(shape), value = shape_value_dim(shape);

    engine->ops->attend(engine->ops, (struct attend){ .out = d->heads,
                                                      .q = d->q,
                                                      .k = d->k,
                                                      .v = d->v,
                                                      .scores = d->scores,
                                                      .batch = pass->batch * shape->heads,
                                                      .queries = pass->tokens,
                                                      .keys = pass->tokens,
                                                      .dim = dim,
                                                      .value = value,
                                                      .scale = 1.0f / sqrtf((float)dim),
                                                      .causal = 1 });
    engine->ops->merge(engine->ops, (struct merge){ .out = d->merged,
                                                    .in = d->heads,
                                                    .batch = pass->batch,
                                                    .heads = shape->heads,
                                                    .tokens = pass->tokens,
                                                    .dim = value });
}

static void attend_cached(struct engine *engine, const struct layer *layer, const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;
    size_t dim = shape_key_dim(shape);

    engine->ops->attend_cache(engine->ops,
                              (struct attend_cache){ .out = d->merged,
                                                     .q = d->q,
                                                     .cache_k = layer->cache_k,
                                                     .cache_v = layer->cache_v,
                                                     .positions = d->positions,
                                                     .batch = pass->batch,
                                                     .heads = shape->heads,
                                                     .kv_heads = shape_cache_heads(shape),
                                                     .dim = dim,
                                                     .value = shape_value_dim(shape),
                                                     .capacity = engine->capacity,
                                                     .scale = 1.0f / sqrtf((float)dim) });
}

static void attention(struct engine *engine, const struct layer *layer, const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;

    begin_operator(&engine->work, "attention", OPERATOR_ATTENTION);
    if (shape->kv_rank)
        split_latent_heads(engine, layer, pass);
    else
        split_heads(engine, layer, pass);
    if (pass->cached)
        attend_cached(engine, layer, pass);
    else
        attend_prompt(engine, pass);
    engine->ops->linear(engine->ops, (struct linear){ .y = d->x,
                                                      .x = d->merged,
                                                      .w = layer->out,
                                                      .rows = rows_of(pass),
                                                      .in = shape->heads * shape_value_dim(shape),
                                                      .out = shape->hidden,
                                                      .add = holds_stream(engine) });
    end_region(&engine->work);
    sum_ranks(engine, rows_of(pass));
}

/* Onto the residual stream. */
static void gated_mlp(struct engine *engine, const struct layer *layer, size_t rows, size_t width)
{
    struct decoder *d = &engine->decoder;
    size_t hidden = engine->shape.decoder.hidden;

    project(engine, d->gate_up, d->normed, layer->gate_up, rows, hidden, 2 * width);
    engine->ops->activate(
        engine->ops,
        (struct activate){
            .y = d->inner, .x = d->gate_up, .rows = rows, .width = width, .kind = SILU_TIMES });
    engine->ops->linear(engine->ops, (struct linear){ .y = d->x,
                                                      .x = d->inner,
                                                      .w = layer->down,
                                                      .rows = rows,
                                                      .in = width,
                                                      .out = hidden,
                                                      .add = holds_stream(engine) });
}

static void route_tokens(struct engine *engine, const struct layer *layer, size_t rows)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;

    begin_operator(&engine->work, "router", OPERATOR_ROUTER);
    engine->ops->linear(engine->ops, (struct linear){ .y_float = d->router_logits,
                                                      .x = d->normed,
                                                      .w = layer->router,
                                                      .rows = rows,
                                                      .in = shape->hidden,
                                                      .out = shape->experts });
    engine->ops->route(engine->ops, (struct route){ .logits = d->router_logits,
                                                    .chosen = d->chosen,
                                                    .weights = d->weights,
                                                    .order = d->order,
                                                    .starts = d->starts,
                                                    .tokens = rows,
                                                    .experts = shape->experts,
                                                    .choices = shape->choices,
                                                    .renormalise = shape->renormalise });
    end_region(&engine->work);
}

static void multiply_experts(struct engine *engine, struct linear_experts a, size_t rows)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;

    a.chosen = d->chosen;
    a.order = d->order;
    a.starts = d->starts;
    a.pairs = rows * shape->choices;
    a.experts = shape->experts;
    engine->ops->linear_experts(engine->ops, a);
}

static void mixture_of_experts(struct engine *engine, const struct layer *layer, size_t rows)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;

    route_tokens(engine, layer, rows);
    begin_operator(&engine->work, "moe", OPERATOR_MOE);
    multiply_experts(engine,
                     (struct linear_experts){ .y = d->pair_gate_up,
                                              .x = d->normed,
                                              .w = layer->experts_gate_up,
                                              .per_x = shape->choices,
                                              .in = shape->hidden,
                                              .out = 2 * shape->expert_size },
                     rows);
    engine->ops->activate(engine->ops, (struct activate){ .y = d->pair_inner,
                                                          .x = d->pair_gate_up,
                                                          .rows = rows * shape->choices,
                                                          .width = shape->expert_size,
                                                          .kind = SILU_TIMES });
    multiply_experts(engine,
                     (struct linear_experts){ .y = d->pair_out,
                                              .x = d->pair_inner,
                                              .w = layer->experts_down,
                                              .per_x = 1,
                                              .in = shape->expert_size,
                                              .out = shape->hidden },
                     rows);
    if (shape->shared_size)
        gated_mlp(engine, layer, rows, shape->shared_size);
    engine->ops->combine(engine->ops,
                         (struct combine){ .y = d->x,
                                           .parts = d->pair_out,
                                           .weights = d->weights,
                                           .tokens = rows,
                                           .choices = shape->choices,
                                           .width = shape->hidden,
                                           .add = shape->shared_size > 0 || holds_stream(engine) });
    end_region(&engine->work);
}

static void run_norm(struct engine *engine, const bf16 *weight, size_t rows)
{
    begin_part(&engine->work, "norm");
    rms_norm(engine, engine->decoder.normed, engine->decoder.x, weight, rows);
    end_region(&engine->work);
}

static void run_layer(struct engine *engine, size_t index, const struct pass *pass)
{
    const struct layer *layer = &engine->decoder.layers[index];
    size_t rows = rows_of(pass);

    begin_part(&engine->work, engine->layer_labels[index]);
    run_norm(engine, layer->norm_in, rows);
    attention(engine, layer, pass);
    run_norm(engine, layer->norm_mlp, rows);
    if (shape_is_moe(&engine->shape.decoder, index)) {
        mixture_of_experts(engine, layer, rows);
    } else {
        begin_operator(&engine->work, "mlp", OPERATOR_MLP);
        gated_mlp(engine, layer, rows, engine->shape.decoder.intermediate);
        end_region(&engine->work);
    }
    sum_ranks(engine, rows);
    end_region(&engine->work);
}

/* Only the last token of each sequence needs logits. */
static void lm_head(struct engine *engine, const struct pass *pass)
{
    const struct decoder_shape *shape = &engine->shape.decoder;
    struct decoder *d = &engine->decoder;
    size_t hidden = shape->hidden, columns = shape->vocabulary / engine->options.world;

    begin_operator(&engine->work, "lm_head", OPERATOR_LM_HEAD);
    engine->ops->rows(engine->ops, (struct rows){ .y = d->last,
                                                  .x = d->x + (pass->tokens - 1) * hidden,
                                                  .images = pass->batch,
                                                  .count = 1,
                                                  .width = hidden,
                                                  .y_stride = hidden,
                                                  .x_stride = pass->tokens * hidden });
    rms_norm(engine, d->last, d->last, d->norm_out, pass->batch);
    engine->ops->linear(engine->ops, (struct linear){ .y_float = d->logits_part,
                                                      .x = d->last,
                                                      .w = d->lm_head,
                                                      .rows = pass->batch,
                                                      .in = hidden,
                                                      .out = columns });
    end_region(&engine->work);
    if (engine->options.world == 1)
        return;
    begin_part(&engine->work, "all_gather");
    llmperf_region_count(LLMPERF_QUANTITY_MESSAGE_BYTES, pass->batch * columns * sizeof(float));
    engine->ops->all_gather(engine->ops, d->logits, d->logits_part, pass->batch, columns);
    end_region(&engine->work);
}

static void embed(struct engine *engine, const int32_t *ids, size_t rows)
{
    struct decoder *d = &engine->decoder;

    begin_part(&engine->work, "embedding");
    engine->ops->gather(engine->ops, (struct gather){ .y = d->x,
                                                      .table = d->embedding,
                                                      .index = ids,
                                                      .rows = rows,
                                                      .width = engine->shape.decoder.hidden });
    if (engine->request.whole.count + engine->request.tiles.count > 0 && ids == d->prompt)
        engine->ops->gather(engine->ops, (struct gather){ .y = d->x,
                                                          .table = engine->vision.features,
                                                          .index = d->image_rows,
                                                          .rows = rows,
                                                          .width = engine->shape.decoder.hidden });
    end_region(&engine->work);
}

void decoder_sample(struct engine *engine, int32_t advance)
{
    struct decoder *d = &engine->decoder;

    begin_part(&engine->work, "sample");
    engine->ops->sample(engine->ops,
                        (struct sample){ .logits = d->logits,
                                         .tokens = d->tokens,
                                         .positions = d->positions,
                                         .batch = engine->options.batch,
                                         .vocabulary = engine->shape.decoder.vocabulary,
                                         .advance = advance });
    end_region(&engine->work);
}

static void run_pass(struct engine *engine, const struct pass *pass, const int32_t *ids)
{
    embed(engine, ids, rows_of(pass));
    for (size_t i = 0; i < engine->shape.decoder.layers; i++)
        run_layer(engine, i, pass);
    lm_head(engine, pass);
}

void decoder_prefill(struct engine *engine)
{
    struct pass pass = { engine->options.batch, engine->prompt_tokens, 0 };

    run_pass(engine, &pass, engine->decoder.prompt);
    /* Positions hold the prompt's length by now: that of the token which is sampled here. */
    decoder_sample(engine, 0);
}

void decoder_step(struct engine *engine)
{
    struct pass pass = { engine->options.batch, 1, 1 };

    run_pass(engine, &pass, engine->decoder.tokens);
    decoder_sample(engine, 1);
}
