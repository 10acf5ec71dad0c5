/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/engine_tape.h"

#include <stdlib.h>

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
    bool one_attention; /* prefill and decode have the same kernel */
    bool hybrid;        /* of four layers three have linear attention */
    bool samples;       /* by probability */
};

static const char *attention_of(struct engine *engine, const struct model *model, bool prefill,
                                uint32_t layer)
{
    (void)engine;
    if (model->hybrid && layer % 4 != 3)
        return prefill ? "chunk_gated_delta_rule_fwd_kernel" : "fused_recurrent_gated_delta_rule";
    if (model->one_attention)
        return "flash_fwd_varlen_kernel";
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
    if (model->samples) { /* as torch.multinomial */
        run(engine, 3, "vectorized_elementwise_kernel<DivFunctor>");
        run(engine, 9, "bitonicSortKVInPlace");
        run(engine, 3, "cunn_SoftMaxForward<SoftMaxForwardEpilogue>");
        run(engine, 4, "tensor_kernel_scan_innermost_dim");
        run(engine, 3, "cunn_SoftMaxForward<SoftMaxForwardEpilogue>");
        run(engine, 2, "distribution_elementwise_grid_stride_kernel<exponential_kernel>");
    }
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

/* Special engines */

static struct engine begin_special(uint64_t seed, struct model *model)
{
    struct engine engine = { .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                             .host_ns = 1000000 * US,
                             .stream = 7 };

    *model = (struct model){ .layers = between(&engine, 2, 12) * 4, .scale = 1, .syncs = true };
    model->graphs = chance(&engine, 50);
    model->splits = chance(&engine, 50);
    engine.layers = model->layers;
    warm_up(&engine);
    return engine;
}

static void serve_requests(struct engine *engine, const struct model *model, uint32_t requests)
{
    static const struct model draft = { 0 };

    for (uint32_t i = 0; i < requests; i++) {
        uint32_t steps = between(engine, 6, 25);

        serve_step(engine, model, &draft, true, between(engine, 64, 512));
        for (uint32_t step = 0; step < steps; step++)
            serve_step(engine, model, &draft, false, 4);
    }
}

static void sample_tokens(struct engine *engine, struct model *model)
{
    model->samples = true;
    serve_requests(engine, model, 6);
}

static void serve_hybrid(struct engine *engine, struct model *model)
{
    model->hybrid = true;
    serve_requests(engine, model, 6);
}

/* Chunks of prompts are computed together with the tokens of other requests. */
static void serve_chunks(struct engine *engine, struct model *model)
{
    static const struct model draft = { 0 };

    model->one_attention = true;
    for (uint32_t i = 0; i < 200; i++) {
        bool chunk = i % 20 < 3 || chance(engine, 10);

        serve_step(engine, model, &draft, chunk,
                   chunk ? between(engine, 128, 512) : between(engine, 1, 8));
    }
}

/* As before graphs are captured: passes for each batch size, and no token. */
static void serve_after_warm_up(struct engine *engine, struct model *model)
{
    model->graphs = false;
    for (uint32_t i = 0; i < 12; i++)
        run_pass(engine, model, 8 * (12 - i), i == 0, 12 - i);
    wait_for_device(engine, 2000);
    model->graphs = true;
    serve_requests(engine, model, 8);
}

static void see_images(struct engine *engine, struct model *model)
{
    static const struct model draft = { 0 };
    struct model vision = { .layers = model->layers / 2 + 3, .scale = 5 };

    for (uint32_t i = 0; i < 6; i++) {
        begin_step(engine, true);
        copy(engine, "[memcpy HtoD]", 30);
        for (uint32_t layer = 0; layer < vision.layers; layer++)
            run_layer(engine, &vision, 700, layer, true, "256x128_vision");
        run_pass(engine, model, 700, true, 0);
        choose_token(engine, model);
        for (uint32_t step = 0; step < 15; step++)
            serve_step(engine, model, &draft, false, 4);
    }
}

/* A small model of one layer drafts after each step of the large one. */
static void draft_after(struct engine *engine, struct model *model)
{
    static const struct model head = { .layers = 1, .scale = 3 };

    model->graphs = false;
    for (uint32_t i = 0; i < 120; i++) {
        bool prefill = i % 30 == 0;

        begin_step(engine, prefill);
        run_pass(engine, model, prefill ? 300 : 4, prefill, 0);
        run(engine, 4, "rejection_random_sample_kernel");
        for (uint32_t k = 0; k < 3; k++) {
            run_pass(engine, &head, 4, prefill && k == 0, 0);
            run(engine, 4, "reduce_kernel<512, 1, ArgMaxOps>");
        }
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 30);
    }
}

/* Two models take turns. */
static void serve_two_models(struct engine *engine, struct model *model)
{
    struct model other = *model;

    other.layers = model->layers / 2 + 1;
    other.scale = 7;
    for (uint32_t i = 0; i < 4; i++) {
        serve_requests(engine, model, 2);
        serve_requests(engine, &other, 2);
    }
}

static int compare_hosts(const void *left, const void *right)
{
    const struct engine_launch *a = left, *b = right;

    return a->host_ns != b->host_ns ? (a->host_ns > b->host_ns) - (a->host_ns < b->host_ns)
                                    : (a->number > b->number) - (a->number < b->number);
}

/* Four threads with a stream each. */
static void serve_on_streams(struct engine *engine, struct model *model)
{
    uint64_t begin_ns = engine->host_ns;
    uint32_t before = 0, correlation = 0;

    for (uint32_t i = 0; i < 4; i++) {
        engine->host_ns = engine->device_ns = begin_ns + i * 300 * US;
        engine->stream = 20 + i;
        serve_requests(engine, model, 3);
    }
    qsort(engine->launches.items, engine->launches.count, sizeof(*engine->launches.items),
          compare_hosts);
    for (size_t i = 0; i < engine->launches.count; i++) {
        struct lp_activity *activity = &engine->launches.items[i].activity;

        correlation += activity->correlation != before;
        before = activity->correlation;
        activity->correlation = correlation;
    }
}

bool engine_special(struct engine *engine, size_t number, uint64_t seed, const char **name)
{
    static const struct {
        const char *name;
        void (*serve)(struct engine *engine, struct model *model);
    } kinds[] = { { "sampling by probability", sample_tokens },
                  { "linear attention", serve_hybrid },
                  { "chunked prefill", serve_chunks },
                  { "warm-up for graphs", serve_after_warm_up },
                  { "images", see_images },
                  { "drafts after each step", draft_after },
                  { "two models", serve_two_models },
                  { "streams", serve_on_streams } };
    struct model model;

    if (number >= sizeof(kinds) / sizeof(kinds[0]))
        return false;
    *engine = begin_special(seed, &model);
    *name = kinds[number].name;
    kinds[number].serve(engine, &model);
    return true;
}

void engine_clear(struct engine *engine)
{
    lp_names_clear(&engine->names);
    lp_vector_clear(&engine->launches);
    lp_vector_clear(&engine->prefills);
}
