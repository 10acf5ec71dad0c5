/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/record/paths.h"
#include "llmperf/profile.h"

#define US UINT64_C(1000)

static uint32_t next(struct engine *engine, uint32_t below)
{
    engine->random = engine->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(engine->random >> 33) % below;
}

static bool chance(struct engine *engine, uint32_t percent)
{
    return next(engine, 100) < percent;
}

static uint32_t between(struct engine *engine, uint32_t low, uint32_t high)
{
    return low + next(engine, high - low + 1);
}

/* A launch of the host, or the node of a graph. */
static void launch(struct engine *engine, uint32_t kind, const char *name, uint64_t length_ns)
{
    struct engine_launch made = { .step = engine->step };
    struct lp_activity *activity = &made.activity;
    uint64_t spread = length_ns / 50 + 1;

    length_ns += next(engine, (uint32_t)spread);
    if (engine->graph == 0) {
        engine->host_ns += 3 * US + next(engine, 2000);
        engine->correlation++;
    }
    activity->start_ns = engine->host_ns + 5 * US > engine->device_ns + US
                             ? engine->host_ns + 5 * US
                             : engine->device_ns + US;
    activity->end_ns = activity->start_ns + length_ns;
    engine->device_ns = activity->end_ns;
    activity->kind = (uint8_t)kind;
    activity->name = lp_names_intern(&engine->names, name);
    activity->correlation = engine->correlation;
    activity->graph = engine->graph;
    activity->graph_node = engine->graph ? engine->launches.count + 1 : 0;
    activity->context = 1;
    activity->stream = engine->stream;
    activity->node = LP_PATH_ROOT;
    activity->captured = LP_PATH_UNKNOWN;
    activity->queued = lp_queued(engine->host_ns);
    if (lp_vector_push(&engine->launches, made) < 0)
        abort();
}

__attribute__((format(printf, 3, 4))) static void run(struct engine *engine, uint64_t length_us,
                                                      const char *format, ...)
{
    char name[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    launch(engine, LLMPERF_ACTIVITY_KERNEL, name, length_us * US);
}

static void copy(struct engine *engine, const char *name, uint64_t length_us)
{
    launch(engine, LLMPERF_ACTIVITY_MEMCPY, name, length_us * US);
}

/* The host waits for the device, and then works for a while. */
static void wait_for_device(struct engine *engine, uint64_t host_us)
{
    if (engine->device_ns > engine->host_ns)
        engine->host_ns = engine->device_ns;
    engine->host_ns += host_us * US;
}

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

/* Others */

static void train_resnet(struct engine *engine)
{
    static const uint32_t blocks[] = { 3, 4, 6, 3 };

    for (uint32_t step = 0; step < 60; step++) {
        copy(engine, "[memcpy HtoD]", 100);
        for (uint32_t stage = 0; stage < 4; stage++)
            for (uint32_t block = 0; block < blocks[stage]; block++)
                for (uint32_t i = 0; i < 3; i++) {
                    run(engine, 30, "cudnn_conv_fprop_%u_%u", stage, i);
                    run(engine, 5, "batch_norm_%u", stage);
                    run(engine, 5, "relu");
                }
        run(engine, 3, "softmax_warp_forward"); /* of the loss: no attention */
        for (uint32_t stage = 4; stage-- > 0;)
            for (uint32_t i = 0; i < 3 * blocks[stage]; i++) {
                run(engine, 40, "cudnn_conv_dgrad_%u", stage);
                run(engine, 40, "cudnn_conv_wgrad_%u", stage);
            }
        run(engine, 20, "multi_tensor_apply_kernel");
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 100);
    }
}

static void infer_resnet(struct engine *engine)
{
    for (uint32_t step = 0; step < 100; step++) {
        copy(engine, "[memcpy HtoD]", 50);
        for (uint32_t i = 0; i < 50; i++) {
            run(engine, 20, "cudnn_conv_%u", i * i % 17);
            run(engine, 3, "relu_%u", i % 3);
        }
        run(engine, 8, "gemm_classifier");
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 30);
    }
}

static void run_random(struct engine *engine)
{
    for (uint32_t i = 0; i < 20000; i++)
        run(engine, 3, chance(engine, 20) ? "gemm_%u" : "kernel_%u", next(engine, 50));
}

static void run_random_attention(struct engine *engine)
{
    static const char *const names[] = {
        "flash_fwd_kernel",   "gemm_a",         "gemm_b", "argmax_kernel",
        "elementwise_kernel", "rms_norm_kernel"
    };

    for (uint32_t i = 0; i < 20000; i++)
        run(engine, 3, "%s", names[next(engine, 6)]);
}

static void sort_numbers(struct engine *engine)
{
    for (uint32_t i = 0; i < 200; i++) {
        run(engine, 4, "DeviceRadixSortHistogramKernel");
        run(engine, 3, "DeviceRadixSortExclusiveSumKernel");
        for (uint32_t pass = 0; pass < 4; pass++)
            run(engine, 20, "DeviceRadixSortOnesweepKernel");
        copy(engine, "[memcpy DtoH]", 4);
    }
}

static void transform(struct engine *engine)
{
    for (uint32_t i = 0; i < 500; i++) {
        for (uint32_t pass = 0; pass < 6; pass++)
            run(engine, 10, "vector_fft_%u", pass % 3);
        run(engine, 5, "multiply_spectrum");
    }
}

static void solve_stencil(struct engine *engine)
{
    for (uint32_t i = 1; i <= 3000; i++) {
        run(engine, 10, "stencil_even");
        run(engine, 10, "stencil_odd");
        if (i % 50 == 0) {
            run(engine, 4, "reduce_residual");
            copy(engine, "[memcpy DtoH]", 1);
            wait_for_device(engine, 5);
        }
    }
}

static void compile(struct engine *engine)
{
    for (uint32_t kernel = 0; kernel < 80; kernel++)
        for (uint32_t i = 0; i < between(engine, 20, 100); i++) {
            run(engine, 8, "vectorized_elementwise_kernel<FillFunctor>");
            run(engine, 6, "nvjet_candidate_%u", kernel);
            if (i == 5)
                copy(engine, "[memcpy DtoH]", 1);
        }
}

static void run_one_kernel(struct engine *engine)
{
    for (uint32_t i = 0; i < 5000; i++)
        run(engine, 10, "spin_kernel");
}

static void measure_products(struct engine *engine)
{
    for (uint32_t size = 0; size < 12; size++) {
        for (uint32_t i = 0; i < 200; i++)
            run(engine, 50, "nvjet_sm90_%u", size);
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 20);
    }
}

static void process_images(struct engine *engine)
{
    static const char *const names[] = { "decode_jpeg", "resize_bilinear", "crop_kernel",
                                         "normalize_kernel", "transpose_kernel" };

    for (uint32_t image = 0; image < 800; image++) {
        copy(engine, "[memcpy HtoD]", 30);
        for (uint32_t i = 0; i < 5; i++)
            run(engine, 6, "%s", names[i]);
        copy(engine, "[memcpy DtoH]", 30);
    }
}

static void train_bert(struct engine *engine)
{
    for (uint32_t step = 0; step < 40; step++) {
        bool evaluates = step % 10 == 9;

        copy(engine, "[memcpy HtoD]", 5);
        for (uint32_t layer = 0; layer < 12; layer++) {
            run(engine, 20, "nvjet_qkv");
            run(engine, 15, "flash_fwd_kernel");
            run(engine, 20, "nvjet_o");
            run(engine, 40, "nvjet_up");
            run(engine, 4, "gelu_kernel");
            run(engine, 40, "nvjet_down");
        }
        for (uint32_t layer = 0; layer < 12 && !evaluates; layer++) {
            run(engine, 80, "nvjet_down_t");
            run(engine, 30, "flash_bwd_kernel");
            run(engine, 60, "nvjet_qkv_t");
        }
        run(engine, 20, "multi_tensor_apply_kernel");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 50);
    }
}

static void cluster(struct engine *engine)
{
    for (uint32_t i = 0; i < 300; i++) {
        run(engine, 40, "gemm_distances");
        run(engine, 6, "argmin_kernel");
        run(engine, 6, "scatter_means");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 10);
    }
}

static void factorise(struct engine *engine)
{
    for (uint32_t matrix = 0; matrix < 30; matrix++) {
        for (uint32_t panel = 0; panel < 16; panel++) {
            run(engine, 20, "getrf_panel");
            run(engine, 10, "trsm_left_kernel");
            run(engine, 100 - 6 * panel, "dgemm_128x128");
        }
        copy(engine, "[memcpy DtoH]", 3);
        wait_for_device(engine, 10);
    }
}

static void solve_sparse(struct engine *engine)
{
    for (uint32_t i = 0; i < 2000; i++) {
        run(engine, 20, "csrmv_kernel");
        run(engine, 3, "dot_kernel");
        run(engine, 3, "axpy_kernel");
        run(engine, 3, "axpy_kernel");
        run(engine, 3, "dot_kernel");
        copy(engine, "[memcpy DtoH]", 1);
    }
}

static void recommend(struct engine *engine)
{
    for (uint32_t i = 0; i < 300; i++) {
        copy(engine, "[memcpy HtoD]", 20);
        for (uint32_t table = 0; table < between(engine, 3, 26); table++)
            run(engine, 4, "embedding_bag_kernel");
        for (uint32_t layer = 0; layer < 3; layer++) {
            run(engine, 10, "nvjet_mlp_%u", layer);
            run(engine, 2, "relu");
        }
        run(engine, 2, "sigmoid_kernel");
        copy(engine, "[memcpy DtoH]", 2);
    }
}

static void trace_rays(struct engine *engine)
{
    for (uint32_t frame = 0; frame < 200; frame++) {
        for (uint32_t bounce = 0; bounce < between(engine, 3, 9); bounce++) {
            run(engine, 50, "intersect_kernel");
            run(engine, 20, "shade_kernel");
            run(engine, 5, "DeviceSelectSweepKernel");
        }
        copy(engine, "[memcpy DtoH]", 100);
    }
}

static void load_weights(struct engine *engine)
{
    for (uint32_t layer = 0; layer < 80; layer++)
        for (uint32_t i = 0; i < 9; i++)
            copy(engine, "[memcpy HtoD]", i < 2 ? 100 : 400);
}

static void simulate_paths(struct engine *engine)
{
    for (uint32_t i = 0; i < 100; i++) {
        run(engine, 30, "curand_generate");
        for (uint32_t step = 0; step < 50; step++)
            run(engine, 5, "euler_step");
        run(engine, 5, "reduce_payoff");
        copy(engine, "[memcpy DtoH]", 1);
    }
}

static void move_particles(struct engine *engine)
{
    for (uint32_t i = 0; i < 800; i++) {
        run(engine, 30, "nonbonded_forces");
        run(engine, 10, "pme_spread");
        for (uint32_t pass = 0; pass < 3; pass++)
            run(engine, 6, "vector_fft_%u", pass);
        run(engine, 5, "integrate");
        if (i % 100 == 0)
            run(engine, 20, "rebuild_neighbours");
    }
}

static void train_gan(struct engine *engine)
{
    for (uint32_t step = 0; step < 60; step++)
        for (uint32_t part = 0; part < 2; part++) {
            for (uint32_t layer = 0; layer < 6; layer++) {
                run(engine, 20, "cudnn_conv_%u_%u", part, layer);
                run(engine, 3, "leaky_relu");
            }
            for (uint32_t layer = 6; layer-- > 0;)
                run(engine, 40, "cudnn_conv_%u_%u_backward", part, layer);
            run(engine, 5, "adam_multi_tensor_apply");
            copy(engine, "[memcpy DtoH]", 1);
        }
}

static void compress(struct engine *engine)
{
    for (uint32_t i = 0; i < 600; i++) {
        copy(engine, "[memcpy HtoD]", 40);
        run(engine, 20, "lz4_match_kernel");
        run(engine, 10, "prefix_sum_kernel");
        run(engine, 15, "huffman_encode_%u", next(engine, 3));
        copy(engine, "[memcpy DtoH]", 20);
    }
}

bool engine_other(struct engine *engine, size_t number, const char **name)
{
    static const struct {
        const char *name;
        void (*run)(struct engine *engine);
    } programs[] = { { "ResNet training", train_resnet },
                     { "ResNet inference", infer_resnet },
                     { "random kernels", run_random },
                     { "kernels of a model at random", run_random_attention },
                     { "sorting", sort_numbers },
                     { "FFT", transform },
                     { "stencil", solve_stencil },
                     { "compiling", compile },
                     { "one kernel", run_one_kernel },
                     { "benchmark of products", measure_products },
                     { "image pipeline", process_images },
                     { "BERT training", train_bert },
                     { "k-means", cluster },
                     { "LU factorisation", factorise },
                     { "conjugate gradients", solve_sparse },
                     { "recommender", recommend },
                     { "ray tracing", trace_rays },
                     { "loading weights", load_weights },
                     { "Monte Carlo", simulate_paths },
                     { "molecular dynamics", move_particles },
                     { "GAN training", train_gan },
                     { "compression", compress } };

    if (number >= sizeof(programs) / sizeof(programs[0]))
        return false;
    *engine = (struct engine){
        .random = number + 1, .host_ns = 1000000 * US, .stream = 7, .step = ENGINE_NO_STEP
    };
    *name = programs[number].name;
    programs[number].run(engine);
    return true;
}

void engine_clear(struct engine *engine)
{
    lp_names_clear(&engine->names);
    lp_vector_clear(&engine->launches);
    lp_vector_clear(&engine->prefills);
}
