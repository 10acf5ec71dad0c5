/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are no engine. */
#include "tests/support/engine_tape.h"

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

/* An encoder: as many tokens as it likes, no token chosen. */
static void run_encoder(struct engine *engine, uint32_t layers, uint32_t tokens,
                        const char *attention)
{
    uint32_t tile = tokens < 64 ? 32 : tokens < 128 ? 64 : tokens < 256 ? 128 : 256;

    for (uint32_t layer = 0; layer < layers; layer++) {
        run(engine, 3 + tokens / 16, "nvjet_qkv_%ux64", tile);
        run(engine, 2 + tokens / 32, "%s_%u", attention, tile > 64 ? 128 : 64);
        run(engine, 2 + tokens / 32, "nvjet_o_%ux64", tile);
        run(engine, 2, "layer_norm_kernel");
        run(engine, 4 + tokens / 12, "nvjet_up_%ux64", tile);
        run(engine, 2, "gelu_kernel");
        run(engine, 4 + tokens / 12, "nvjet_down_%ux64", tile);
        run(engine, 2, "layer_norm_kernel");
    }
}

static void embed_texts(struct engine *engine)
{
    for (uint32_t i = 0; i < 200; i++) {
        copy(engine, "[memcpy HtoD]", 2);
        run(engine, 2, "embedding_kernel");
        run_encoder(engine, 12, between(engine, 16, 512), "flash_fwd_kernel");
        run(engine, 4, "nvjet_pooler");
        run(engine, 2, "tanh_kernel");
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 40);
    }
}

/* Most texts are short. */
static void rank_texts(struct engine *engine)
{
    for (uint32_t i = 0; i < 200; i++) {
        copy(engine, "[memcpy HtoD]", 2);
        run(engine, 2, "embedding_kernel");
        run_encoder(engine, 24, chance(engine, 85) ? 40 : 400, "fmha_cutlassF");
        run(engine, 3, "nvjet_pooler");
        run(engine, 2, "nvjet_score");
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 40);
    }
}

static void classify_images(struct engine *engine)
{
    for (uint32_t i = 0; i < 150; i++) {
        uint32_t batch = between(engine, 1, 8);

        copy(engine, "[memcpy HtoD]", 10 * batch);
        run(engine, 5 * batch, "cudnn_conv_patches");
        run_encoder(engine, 12, 197 * batch, "flash_fwd_kernel");
        run(engine, 5, "nvjet_classes");
        run(engine, 4, "reduce_kernel<512, 1, ArgMaxOps>");
        copy(engine, "[memcpy DtoH]", 2);
        wait_for_device(engine, 40);
    }
}

static void diffuse(struct engine *engine)
{
    static const uint32_t blocks[] = { 2, 2, 2, 1, 3, 3, 3 };

    for (uint32_t image = 0; image < 5; image++) {
        copy(engine, "[memcpy HtoD]", 2);
        run_encoder(engine, 12, 77, "flash_fwd_kernel");
        for (uint32_t step = 0; step < 30; step++) {
            for (uint32_t part = 0; part < 7; part++)
                for (uint32_t i = 0; i < blocks[part]; i++) {
                    run(engine, 40, "cudnn_conv_%u", part);
                    run(engine, 4, "group_norm_kernel");
                    run(engine, 20, "nvjet_qkv_part_%u", part);
                    run(engine, 20, "flash_fwd_kernel_%u", part % 4);
                    run(engine, 20, "nvjet_out_part_%u", part);
                    run(engine, 9, "flash_fwd_cross_%u", part % 4);
                    run(engine, 30, "nvjet_mlp_part_%u", part);
                }
            run(engine, 3, "scheduler_step_kernel");
        }
        for (uint32_t i = 0; i < 20; i++)
            run(engine, 60, "cudnn_conv_vae_%u", i % 5);
        copy(engine, "[memcpy DtoH]", 20);
        wait_for_device(engine, 3000);
    }
}

static void train_gpt(struct engine *engine)
{
    for (uint32_t step = 0; step < 40; step++) {
        bool evaluates = step % 8 == 7;

        copy(engine, "[memcpy HtoD]", 5);
        run(engine, 2, "embedding_kernel");
        run_encoder(engine, 16, evaluates ? 256 : 512, "cudnn_sdpa_flash_fprop");
        run(engine, 300, "nvjet_head");
        run(engine, 30, "cunn_SoftMaxForward");
        if (!evaluates)
            run(engine, 30, "cunn_SoftMaxBackward");
        for (uint32_t layer = 0; layer < 16 && !evaluates; layer++) {
            run(engine, 80, "nvjet_down_nt");
            run(engine, 30, "cudnn_sdpa_flash_bprop");
            run(engine, 60, "nvjet_qkv_nt");
        }
        if (!evaluates)
            run(engine, 20, "multi_tensor_apply_kernel");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 50);
    }
}

/* Perplexity: passes over texts of any length, and no token is chosen. */
static void score_texts(struct engine *engine)
{
    for (uint32_t i = 0; i < 120; i++) {
        uint32_t tokens = between(engine, 30, 500);

        copy(engine, "[memcpy HtoD]", 2);
        run(engine, 2, "embedding_kernel");
        run_encoder(engine, 20, tokens, "flash_fwd_kernel");
        run(engine, 20 + tokens, "nvjet_head");
        run(engine, 10 + tokens / 4, "cunn_SoftMaxForward");
        run(engine, 2, "gather_kernel");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 50);
    }
}

static void weave_streams(struct engine *engine)
{
    static const char *const names[] = { "nvjet_a", "nvjet_b", "relu", "reduce_kernel", "saxpy" };

    for (uint32_t i = 0; i < 15000; i++) {
        engine->stream = 7 + next(engine, 8);
        run(engine, between(engine, 2, 60), "%s", names[next(engine, 5)]);
        if (chance(engine, 3))
            copy(engine, chance(engine, 50) ? "[memcpy DtoH]" : "[memcpy HtoD]", 10);
    }
}

static void measure_collectives(struct engine *engine)
{
    for (uint32_t size = 0; size < 10; size++) {
        for (uint32_t i = 0; i < 100; i++)
            run(engine, UINT64_C(20) << size / 3, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
        copy(engine, "[memcpy DtoH]", 1);
        wait_for_device(engine, 30);
    }
}

/* A policy acts 64 times and is then trained. */
static void train_policy(struct engine *engine)
{
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t i = 0; i < 64; i++) {
            copy(engine, "[memcpy HtoD]", 1);
            for (uint32_t layer = 0; layer < 3; layer++) {
                run(engine, 4, "gemm_policy_%u", layer);
                run(engine, 2, "tanh_kernel");
            }
            run(engine, 3, "multinomial_kernel");
            copy(engine, "[memcpy DtoH]", 1);
            wait_for_device(engine, 100);
        }
        for (uint32_t i = 0; i < 20; i++) {
            for (uint32_t layer = 0; layer < 3; layer++)
                run(engine, 30, "gemm_policy_batch_%u", layer);
            for (uint32_t layer = 3; layer-- > 0;)
                run(engine, 60, "gemm_policy_backward_%u", layer);
            run(engine, 5, "multi_tensor_apply_kernel");
        }
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
                     { "compression", compress },
                     { "text embedding", embed_texts },
                     { "reranking", rank_texts },
                     { "image classification", classify_images },
                     { "diffusion", diffuse },
                     { "GPT training", train_gpt },
                     { "perplexity", score_texts },
                     { "many streams", weave_streams },
                     { "collectives", measure_collectives },
                     { "reinforcement learning", train_policy } };

    if (number >= sizeof(programs) / sizeof(programs[0]))
        return false;
    *engine = (struct engine){
        .random = number + 1, .host_ns = 1000000 * US, .stream = 7, .step = ENGINE_NO_STEP
    };
    *name = programs[number].name;
    programs[number].run(engine);
    return true;
}
