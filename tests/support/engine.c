/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/engine_tape.h"

static void begin_step(struct engine *engine, bool prefill)
{
    engine->step = (uint32_t)engine->prefills.count;
    engine->whole[engine->step % ENGINE_STEPS] = true;
    if (lp_vector_push(&engine->prefills, prefill) < 0)
        abort();
}

/* Engines */

struct model {
    uint32_t layers, extras, experts, unfused, scale; /* extras: small kernels of a layer */
    bool eager_experts, alternating, first_dense, second_stream, by_copy, splits, graphs, syncs;
};

static const char *attention_of(struct engine *engine, const struct model *model, bool prefill,
                                uint32_t layer)
{
    (void)engine;
    if (model->alternating && layer % 2 == 1)
        return prefill ? "flash_fwd_window_kernel" : "flash_fwd_window_splitkv_kernel";
    return prefill ? "flash_fwd_kernel" : "flash_fwd_splitkv_kernel";
}

static void run_attention(struct engine *engine, const struct model *model, uint32_t tokens,
                          uint32_t layer, bool prefill)
{
    uint64_t length = 4 + tokens / 16;

    run(engine, 2, "rotary_embedding_kernel<%u>", model->scale);
    run(engine, 2, "reshape_and_cache_flash_kernel");
    if (model->unfused) {
        run(engine, length, "gemm_scores_%s", prefill ? "128x128" : "64x8");
        run(engine, 3, "softmax_warp_forward");
        run(engine, length, "gemm_values_%s", prefill ? "128x128" : "64x8");
        return;
    }
    run(engine, length, "%s", attention_of(engine, model, prefill, layer));
    if (model->splits && !prefill)
        run(engine, 2, "flash_fwd_splitkv_combine_kernel");
}

static void run_experts(struct engine *engine, const struct model *model, uint32_t tokens)
{
    uint32_t hit = model->eager_experts ? between(engine, 2, model->experts) : 1;

    run(engine, 3, "nvjet_router_%u", model->scale);
    if (model->eager_experts) { /* as transformers: the host reads which experts are hit */
        run(engine, 2, "softmax_warp_forward");
        run(engine, 3, "gatherTopK<float>");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 8);
    } else {
        run(engine, 2, "topk_gating_softmax_kernel");
    }
    for (uint32_t i = 0; i < hit; i++) {
        run(engine, 2, "moe_permute_kernel");
        run(engine, 9 + tokens / 8, "moe_grouped_gemm_up");
        run(engine, 2, "silu_and_mul_kernel");
        run(engine, 8 + tokens / 8, "moe_grouped_gemm_down");
    }
    run(engine, 2, "moe_unpermute_kernel");
}

static void run_layer(struct engine *engine, const struct model *model, uint32_t tokens,
                      uint32_t layer, bool prefill, const char *tile)
{
    uint64_t product = 5 + tokens / 8;

    run(engine, 2, "rms_norm_kernel<%s>", layer == 0 ? "first" : "residual");
    run(engine, product, "nvjet_sm90_qkv_%s", tile);
    for (uint32_t i = 0; i < model->extras; i++)
        run(engine, 1, "vectorized_elementwise_kernel<%u>", i % 5);
    run_attention(engine, model, tokens, layer, prefill);
    run(engine, product, "nvjet_sm90_o_%s", tile);
    run(engine, 2, "rms_norm_kernel<residual>");
    if (model->experts > 0 && !(model->first_dense && layer == 0)) {
        run_experts(engine, model, tokens);
        return;
    }
    run(engine, 2 * product, "nvjet_sm90_up_%s", tile);
    run(engine, 2, "silu_and_mul_kernel");
    run(engine, 2 * product, "nvjet_sm90_down_%s", tile);
}

static void run_pass(struct engine *engine, const struct model *model, uint32_t tokens,
                     bool prefill, uint32_t tile)
{
    char name[32];

    snprintf(name, sizeof(name), "%s%u_%u", prefill ? "128x128_" : "64x8_", tile, model->scale);
    copy(engine, "[memcpy HtoD]", 1);
    if (model->graphs && !prefill) {
        engine->correlation++;
        engine->host_ns += 20 * US;
        engine->graph = 1 + tile;
    }
    run(engine, 2, "embedding_kernel");
    for (uint32_t layer = 0; layer < model->layers; layer++) {
        run_layer(engine, model, tokens, layer, prefill, name);
        if (model->second_stream && !engine->graph && chance(engine, 3)) {
            uint32_t stream = engine->stream;

            engine->stream = stream + 20;
            copy(engine, "[memcpy DtoD]", 3);
            engine->stream = stream;
        }
    }
    run(engine, 2, "rms_norm_kernel<final>");
    run(engine, 20, "nvjet_sm90_head_%u", model->scale);
    engine->graph = 0;
}

static void choose_token(struct engine *engine, const struct model *model)
{
    if (!model->by_copy)
        run(engine, 4, "reduce_kernel<512, 1, ArgMaxOps>");
    if (model->by_copy || model->syncs)
        copy(engine, "[memcpy DtoH]", 2);
    if (model->by_copy || model->syncs)
        wait_for_device(engine, between(engine, 10, 60));
    else
        engine->host_ns += between(engine, 10, 60) * US;
}

static struct model choose_model(struct engine *engine)
{
    struct model model = { .layers = between(engine, 2, 80), .scale = 1 };

    model.extras = chance(engine, 50) ? 0 : between(engine, 1, 27);
    model.experts = chance(engine, 30) ? between(engine, 4, 8) : 0;
    model.eager_experts = chance(engine, 40);
    model.first_dense = chance(engine, 40) && model.layers > 4;
    model.unfused = chance(engine, 20);
    model.alternating = !model.unfused && chance(engine, 25) && model.layers > 3;
    model.splits = chance(engine, 40);
    model.second_stream = chance(engine, 30);
    model.by_copy = chance(engine, 25);
    model.syncs = chance(engine, 70);
    model.graphs = chance(engine, 50) && !(model.experts && model.eager_experts);
    return model;
}

/* Weights, and kernels that are tried once. */
static void warm_up(struct engine *engine)
{
    uint32_t tries = next(engine, 20);

    engine->step = ENGINE_NO_STEP;
    for (uint32_t i = 0; i < 40; i++)
        copy(engine, "[memcpy HtoD]", 20);
    for (uint32_t i = 0; i < tries; i++)
        for (uint32_t j = 0; j < 10; j++) {
            run(engine, 3, "vectorized_elementwise_kernel<FillFunctor>");
            run(engine, 5, "nvjet_sm90_try_%u", i);
        }
    wait_for_device(engine, 500);
}

static void draft_tokens(struct engine *engine, const struct model *draft)
{
    uint32_t passes = between(engine, 2, 5);

    for (uint32_t i = 0; i < passes; i++) {
        run_pass(engine, draft, 1, false, 0);
        run(engine, 4, "reduce_kernel<512, 1, ArgMaxOps>");
    }
}

static void serve_step(struct engine *engine, const struct model *model, const struct model *draft,
                       bool prefill, uint32_t tokens)
{
    begin_step(engine, prefill);
    if (draft->layers > 0 && !prefill)
        draft_tokens(engine, draft);
    run_pass(engine, model, tokens, prefill, prefill ? 0 : tokens / 4);
    choose_token(engine, model);
}

/* Requests one after the other, or batches that change while prefills come in between. */
void engine_serve(struct engine *engine, uint64_t seed)
{
    struct model model, draft = { .scale = 2 };
    bool continuous;
    uint32_t requests, batch = 1;

    *engine = (struct engine){ .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                               .host_ns = 1000000 * US,
                               .stream = 7 };
    model = choose_model(engine);
    if (chance(engine, 20) && model.layers > 12)
        draft.layers = between(engine, 2, 4);
    engine->layers = model.layers;
    engine->draft = draft.layers > 0;
    continuous = chance(engine, 50);
    requests = between(engine, 3, 8);
    warm_up(engine);
    for (uint32_t i = 0; i < requests; i++) {
        uint32_t steps = between(engine, 5, 25);

        serve_step(engine, &model, &draft, true, between(engine, 64, 512));
        batch = continuous ? between(engine, 1, 8) : batch;
        for (uint32_t step = 0; step < steps; step++)
            serve_step(engine, &model, &draft, false, batch);
    }
}

void engine_clear(struct engine *engine)
{
    lp_names_clear(&engine->names);
    lp_vector_clear(&engine->launches);
    lp_vector_clear(&engine->prefills);
}
