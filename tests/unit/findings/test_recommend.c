/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of the recommendations: when it speaks, when it is silent, and in what order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/sys/analysis.h"
#include "lib/findings/recommend.h"

/* A stage of which only its time is known. */
static struct lp_stage_facts plain_stage(void)
{
    struct lp_stage_facts stage = { .region = "LLM@decode_all/LLM@decode_step",
                                    .label = "LLM@decode_step",
                                    .decode = true,
                                    .instances = 100,
                                    .steady_calls = 100,
                                    .steady_ms = 10,
                                    .wall_ms = 1000,
                                    .busy_ms = 900,
                                    .dtype = "bf16" };
    double *const unknown[] = {
        &stage.wall_p50_ms,     &stage.wall_p99_ms,
        &stage.step_ms,         &stage.before_ms,
        &stage.after_ms,        &stage.elapsed_ms,
        &stage.span_ms,         &stage.idle_ms,
        &stage.idle_launch_ms,  &stage.idle_wait_ms,
        &stage.floor_ms,        &stage.floor_ratio,
        &stage.wall_ratio,      &stage.mbu,
        &stage.batch,           &stage.compute_floor_ms,
        &stage.memory_floor_ms, &stage.critical_batch,
        &stage.kernel_ms,       &stage.kernel_count,
        &stage.memcpy_ms,       &stage.memcpy_count,
        &stage.device_ms,       &stage.top_class_ms,
        &stage.top_kernel_ms,   &stage.copy_cast_ms,
        &stage.small_ms,        &stage.waiting_ms,
        &stage.tokens_per_s,    &stage.cheap_batch,
        &stage.layers,          &stage.narrow_loss_ms,
    };

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        *unknown[i] = NAN;
    return stage;
}

static const struct lp_run_facts good_run = {
    .device_usable = true, .host_usable = true, .marked = true, .device_ms = 900
};

static struct lp_recommendations of_stage(const struct lp_stage_facts *stage)
{
    struct lp_recommendations out;

    assert_int_equal(lp_recommend(&good_run, stage, 1, &out), 0);
    return out;
}

static double evidence(const struct lp_recommendation *row, const char *name)
{
    for (size_t i = 0; i < row->advice.evidence; i++)
        if (strcmp(row->evidence[i].name, name) == 0)
            return row->evidence[i].value;
    fail_msg("%s has no evidence %s", row->advice.id, name);
    return NAN;
}

/* One recommendation, of this rule, with that in its text. */
static void assert_says(const struct lp_stage_facts *stage, const char *id, double saving_ms,
                        const char *words)
{
    struct lp_recommendations out = of_stage(stage);
    const struct lp_recommendation *row = out.rows.items;

    assert_int_equal(out.rows.count, 1);
    assert_string_equal(row->advice.id, id);
    assert_string_equal(row->advice.stage, stage->region);
    if (isnan(saving_ms) ? !isnan(row->advice.saving_ms)
                         : !(fabs(row->advice.saving_ms - saving_ms) < 1e-9))
        fail_msg("%s: %g ms saving", id, row->advice.saving_ms);
    if (!strstr(row->text, words))
        fail_msg("\"%s\" is not in: %s", words, row->text);
    lp_recommendations_clear(&out);
}

static void assert_silent(const struct lp_stage_facts *stage)
{
    struct lp_recommendations out = of_stage(stage);

    if (out.rows.count > 0)
        fail_msg("%s: %s", out.rows.items[0].advice.id, out.rows.items[0].text);
    lp_recommendations_clear(&out);
}

static void what_is_not_known_says_nothing(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    assert_silent(&stage);
    stage.wall_ms = stage.busy_ms = NAN;
    assert_silent(&stage);
}

static struct lp_stage_facts idle_stage(double launch_ms, double wait_ms)
{
    struct lp_stage_facts stage = plain_stage();

    stage.step_ms = 1000;
    stage.span_ms = 960;
    stage.idle_launch_ms = launch_ms;
    stage.idle_wait_ms = wait_ms;
    stage.idle_ms = launch_ms + wait_ms;
    return stage;
}

static void late_launches_are_told_from_waiting(void **state)
{
    struct lp_stage_facts stage = idle_stage(380, 20);

    (void)state;
    assert_says(&stage, "launch_bound", 380,
                "For 38.0 % of the time of LLM@decode_step the GPU waits for the host to launch");
    stage.wall_ratio = 16.04;
    stage.memory_floor_ms = 2;
    stage.compute_floor_ms = 1;
    assert_says(&stage, "launch_bound", 380, "(its time is 16.0x its memory-bandwidth bound)");
    stage = idle_stage(20, 380);
    assert_says(&stage, "waiting", 380, "the GPU is idle although the next kernel is launched:");
    stage.kernel_count = 380e3 / 2.6; /* 2.6 us a kernel */
    assert_says(&stage, "waiting", 380, "look for dependencies between streams");
    stage.kernel_count = 380e3 / 2.4;
    assert_says(&stage, "waiting", 380, "The mean gap of 2.40 us is the GPU's own latency");
    stage = idle_stage(45, 45); /* 4.7 % of the span each */
    assert_silent(&stage);
}

/* 700 launches a call, of which none can start sooner than 1 us after the one before. */
static void a_graph_saves_no_more_than_its_nodes_leave(void **state)
{
    struct lp_stage_facts stage = idle_stage(380, 20);

    (void)state;
    stage.launches = 70000;
    assert_says(&stage, "launch_bound", 330,
                "waits for the host to launch (700 launches a call): use CUDA graphs");
    stage.layers = 28;
    assert_says(&stage, "launch_bound", 330, "(700 launches a call, 25.0 a layer): use");
    assert_says(&stage, "launch_bound", 330,
                "The saving is capped by what a graph needs itself, 9.70 ms a call: 9.00 ms of "
                "kernels and copies, and about 1 us from each to the next.");
    stage.launches = 100; /* one a call: nothing to cap */
    stage.idle_wait_ms = 20;
    assert_says(&stage, "launch_bound", 380,
                "(1 launch a call): use CUDA graphs, or give each "
                "launch more work, for example with a larger batch.");
}

/* Each has its own part of the time, so none is left out, and none is counted twice. */
static void both_causes_of_idle_time_are_named_with_their_parts(void **state)
{
    struct lp_stage_facts stage = idle_stage(200, 100);
    struct lp_recommendations out = of_stage(&stage);

    (void)state;
    assert_int_equal(out.rows.count, 2);
    assert_string_equal(out.rows.items[0].advice.id, "launch_bound");
    assert_true(fabs(out.rows.items[0].advice.saving_ms - 200) < 1e-9);
    assert_string_equal(out.rows.items[1].advice.id, "waiting");
    assert_true(fabs(out.rows.items[1].advice.saving_ms - 100) < 1e-9);
    lp_recommendations_clear(&out);
}

/* 100 steps in 1000 ms, of which 200 ms could be saved: 800 tokens/s become 1000. */
static void a_saving_is_given_for_a_call_and_in_tokens(void **state)
{
    struct lp_stage_facts stage = idle_stage(200, 0);
    struct lp_recommendations out;

    (void)state;
    stage.tokens_per_s = 800;
    out = of_stage(&stage);
    assert_true(fabs(out.rows.items[0].advice.saving_call_ms - 2) < 1e-9);
    assert_true(fabs(out.rows.items[0].advice.mended_tokens_per_s - 1000) < 1e-9);
    lp_recommendations_clear(&out);
    stage = plain_stage();
    stage.tokens_per_s = 800;
    stage.warm_up_calls = 1;
    stage.warm_up_ms = 208;
    stage.steady_calls = 99;
    stage.steady_ms = 8;
    out = of_stage(&stage);
    assert_string_equal(out.rows.items[0].advice.id, "warm_up"); /* saved once */
    assert_true(isnan(out.rows.items[0].advice.saving_call_ms));
    assert_true(isnan(out.rows.items[0].advice.mended_tokens_per_s));
    lp_recommendations_clear(&out);
}

static void host_time_around_the_kernels_is_named(void **state)
{
    struct lp_stage_facts stage = idle_stage(0, 0);

    (void)state;
    stage.span_ms = 600;
    assert_says(&stage, "host_gap", 400, "no work on the GPU for 40.0 % of its time");
    stage.before_ms = 350;
    stage.after_ms = 50;
    assert_says(&stage, "host_gap", 400, "other work before its first kernel:");
    stage.before_ms = 50;
    stage.after_ms = 350;
    assert_says(&stage, "host_gap", 400, "other work after its last kernel:");
    stage.span_ms = 955;
    assert_silent(&stage);
}

static void idle_time_without_iterations_is_not_explained(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.busy_ms = 400;
    assert_says(&stage, "device_idle", 600, "has no work on the GPU for 60.0 %");
    stage.busy_ms = 0; /* nothing was launched: nothing to say */
    assert_silent(&stage);
}

static void slow_kernels_name_the_largest_class(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.floor_ratio = 5;
    stage.floor_ms = 180;
    stage.memory_floor_ms = 180;
    stage.compute_floor_ms = 20;
    assert_says(&stage, "slow_kernels", 675,
                "run 5.00x slower than its memory-bandwidth bound (GPU busy time / bound)");
    stage.compute_floor_ms = 170;
    assert_says(&stage, "slow_kernels", 675, "than its compute and memory-bandwidth bound (GPU");
    stage.compute_floor_ms = 20;
    stage.classes_ms = 1000;
    stage.top_class = "GEMM";
    stage.top_class_ms = 850;
    assert_says(&stage, "slow_kernels", 675, "bound); mostly GEMM (85.0 % of their time). Look");
    stage.top_class_ms = 500; /* a half is not most */
    assert_says(&stage, "slow_kernels", 675,
                "bound); the largest class is GEMM (50.0 % of their time). Look");
    stage.holds_stages = true;
    assert_says(&stage, "slow_kernels", 675, "(50.0 % of their time without nested stages)");
    stage.floor_ratio = 1.4;
    assert_silent(&stage);
}

static void copies_are_not_slow_kernels(void **state)
{
    struct lp_stage_facts stage = plain_stage();
    struct lp_recommendations out;

    (void)state;
    stage.floor_ratio = 5;
    stage.floor_ms = stage.memory_floor_ms = 180;
    stage.compute_floor_ms = 20;
    stage.memcpy_ms = 360;
    stage.memcpy_count = 100;
    stage.kernel_ms = stage.busy_ms - 360;
    out = of_stage(&stage);
    assert_int_equal(out.rows.count, 2);
    assert_string_equal(out.rows.items[0].advice.id, "memcpy_in_decode");
    assert_string_equal(out.rows.items[1].advice.id, "slow_kernels");
    assert_true(out.rows.items[1].advice.saving_ms == 315);
    assert_non_null(strstr(out.rows.items[1].text,
                           "run 3.00x slower than its memory-bandwidth bound (GPU busy time "
                           "without copies / bound)"));
    lp_recommendations_clear(&out);
}

static void kernels_with_known_bounds_are_named_by_operator(void **state)
{
    struct lp_waterfall_part part = { .kind = LP_PART_KERNELS,
                                      .region = "LLM@attention",
                                      .kernel_class = "attention",
                                      .busy_ms = 3,
                                      .bound_ms = 0.8,
                                      .good_ms = 1,
                                      .kernel = "flash",
                                      .kernel_ms = 2.5 };
    struct lp_stage_facts stage = plain_stage();
    llmperf_kernel_shape shape;

    (void)state;
    stage.floor_ratio = 5;
    stage.floor_ms = 180;
    stage.worst = &part;
    stage.elapsed_ms = 10;
    stage.elapsed_calls = 100;
    assert_says(&stage, "slow_operator", 200,
                "attention kernels in LLM@attention take 3.00 ms, 3.75x their lower bound");
    shape = (llmperf_kernel_shape)LLMPERF_KERNEL_SHAPE_INIT;
    shape.model_operator = "lm_head";
    shape.achievable_ms = 2.1;
    shape.tflops = NAN;
    stage.worst_shape = &shape;
    assert_says(&stage, "slow_operator", 200, "more logits than are needed");
    stage.worst_shape = NULL;
    part.calls = 500; /* each could take 1.6 us */
    assert_says(&stage, "slow_operator", 200,
                "in 500 kernels of 6.00 us each (30.0 % of the call)");
    stage.elapsed_ms = 100; /* this one loses little, so the others do */
    assert_says(&stage, "slow_kernels", 675, "run 5.00x slower");
}

/* A rank that waits has no slow kernels. */
static void collectives_are_not_slow_kernels(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.busy_ms = 900;
    stage.floor_ms = 450;
    stage.floor_ratio = 2;
    stage.memory_floor_ms = 450;
    stage.collective_ms = 500;
    stage.collective_calls = 10000;
    stage.collective_least_ms = 60;
    assert_says(&stage, "collectives", 440,
                "Collectives take 55.6 % of the busy time of LLM@decode_step: 100 a call, 50.0 us "
                "each on average, the fastest 6.00 us. What they take above that is waiting");
    stage.waiting_ms = 40;
    assert_says(&stage, "collectives", 460, "Overlap them with work");
    stage.waiting_ms = NAN;
    stage.busy_ms = 1400; /* the other kernels are slow, too: without what collectives save */
    stage.floor_ratio = 1400. / 450;
    {
        struct lp_recommendations out = of_stage(&stage);

        assert_int_equal(out.rows.count, 2);
        assert_string_equal(out.rows.items[1].advice.id, "slow_kernels");
        assert_true(fabs(out.rows.items[1].advice.saving_ms - (1400 - 450 / 0.8 - 440)) < 1e-9);
        assert_non_null(strstr(out.rows.items[1].text, "run 2.00x slower"));
        assert_non_null(strstr(out.rows.items[1].text, "without collectives"));
        lp_recommendations_clear(&out);
    }
}

static void kernel_time_is_saved_by_one_advice(void **state)
{
    struct lp_stage_facts stage = plain_stage();
    struct lp_recommendations out;
    double sum = 0;

    (void)state;
    stage.floor_ms = stage.memory_floor_ms = 300;
    stage.floor_ratio = 3;
    stage.device_ms = 900;
    stage.copy_cast_ms = 200;
    stage.small_ms = 350; /* with the 200 */
    stage.kernel_count = 50000;
    stage.kernel_ms = 200;
    stage.memcpy_ms = 50;
    stage.memcpy_count = 100;
    out = of_stage(&stage);
    assert_int_equal(out.rows.count, 4);
    for (size_t i = 0; i < out.rows.count; i++)
        sum += out.rows.items[i].advice.saving_ms;
    assert_true(fabs(sum - (900 - 300 / 0.8)) < 1e-9);
    lp_recommendations_clear(&out);
}

static void a_first_call_that_is_warm_up_is_named_once(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.warm_up_calls = 1;
    stage.warm_up_ms = 208;
    stage.steady_calls = 99;
    stage.steady_ms = 8;
    assert_says(&stage, "warm_up", 200, "took 208 ms, 26.0x the mean of the others (8.00 ms each)");
    stage.warm_up_calls = 31;
    stage.warm_up_ms = 31 * 20;
    stage.steady_calls = 69;
    assert_says(&stage, "warm_up", 372,
                "Calls 1 to 31 of LLM@decode_step took 620 ms, 2.50x as long as the later ones");
}

static void what_recurs_comes_before_what_is_lost_once(void **state)
{
    struct lp_stage_facts stage = idle_stage(60, 0);
    struct lp_recommendations out;

    (void)state;
    stage.warm_up_calls = 1;
    stage.warm_up_ms = 608;
    stage.steady_ms = 8;
    out = of_stage(&stage);
    assert_string_equal(out.rows.items[0].advice.id, "launch_bound");
    assert_int_equal(out.rows.items[0].advice.once, 0);
    assert_string_equal(out.rows.items[1].advice.id, "warm_up");
    assert_int_equal(out.rows.items[1].advice.once, 1);
    assert_int_equal(out.rows.items[1].advice.severity, LLMPERF_SEVERITY_MEDIUM);
    lp_recommendations_clear(&out);
}

static void savings_of_nested_stages_are_not_added_twice(void **state)
{
    struct lp_stage_facts stages[] = { plain_stage(), plain_stage(), plain_stage() };
    struct lp_recommendations out;

    (void)state;
    for (int i = 0; i < 3; i++) {
        stages[i].floor_ratio = 3;
        stages[i].busy_ms = stages[i].wall_ms = 900;
        stages[i].floor_ms = 300;
    }
    stages[1].region = "LLM@decode_all/LLM@decode_step/LLM@vision";
    stages[1].label = "LLM@vision";
    stages[1].around = stages[0].region;
    stages[1].busy_ms = stages[1].wall_ms = 500;
    stages[1].floor_ms = 250;
    stages[1].floor_ratio = 1.4; /* it has no advice of its own */
    stages[2].region = stages[2].label = "LLM@prefill";
    assert_int_equal(lp_recommend(&good_run, stages, 3, &out), 0);
    assert_int_equal(out.rows.count, 2);
    assert_string_equal(out.rows.items[0].advice.stage, "LLM@prefill");
    assert_true(fabs(out.rows.items[0].advice.saving_ms - 525) < 1e-9);
    assert_null(strstr(out.rows.items[0].text, "does not include"));
    assert_true(fabs(out.rows.items[1].advice.saving_ms - 337.5) < 1e-9);
    assert_non_null(strstr(out.rows.items[1].text,
                           "The saving does not include that of LLM@vision inside it."));
    lp_recommendations_clear(&out);
}

static void work_at_the_memory_floor_needs_fewer_bytes(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.bound = LLMPERF_BOUND_MEMORY;
    stage.floor_ratio = 1.28;
    stage.floor_ms = 700;
    stage.mbu = 0.78;
    assert_says(&stage, "memory_bound", NAN,
                "1.28x the memory-bandwidth bound (GPU busy time / bound; MBU while busy 78.0 %)");
    stage.floor_ratio = 1.6; /* no ratio is without advice */
    stage.busy_ms = 1120;
    assert_says(&stage, "slow_kernels", 245, "1.60x slower than its");
    stage.floor_ratio = 1.28;
    stage.bound = LLMPERF_BOUND_LAUNCH;
    assert_silent(&stage);
}

static void small_batches_of_decode_are_named(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.batch = 8;
    stage.critical_batch = 206.1;
    stage.memory_floor_ms = 700;
    stage.compute_floor_ms = 26;
    assert_says(&stage, "small_batch", NAN, "runs at batch size 8. If the model is dense");
    stage.model_batch = 8; /* the model's own sweep decides */
    stage.cheap_batch = 10;
    stage.model_context = 4096;
    assert_silent(&stage);
    stage.cheap_batch = 41;
    assert_says(&stage, "small_batch", NAN,
                "By the model, the lower bound of a step grows to 1.50x at batch size 41.0 (4096 "
                "tokens of context each): 5.13x the tokens.");
    stage.cheap_batch = NAN;
    stage.decode = false;
    assert_silent(&stage);
    stage.decode = true;
    stage.batch = 104;
    assert_silent(&stage);
}

static void attention_in_separate_kernels_is_named(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.device_ms = 900;
    stage.softmax = "soft_max_f32";
    stage.softmax_ms = 45;
    stage.softmax_calls = 1200;
    assert_says(&stage, "unfused_attention", 45, "soft_max_f32 12 times a call takes 5.00 %");
    stage.attention_calls = 1200; /* most of it is fused */
    assert_silent(&stage);
    stage.attention_calls = 0;
    stage.softmax_calls = 100; /* of the logits */
    assert_silent(&stage);
}

static void many_short_kernels_are_to_be_fused(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.kernel_count = 50000;
    stage.kernel_ms = 155;
    assert_says(&stage, "tiny_kernels", NAN, "500 kernels a call, 3.10 us each");
    stage.small_ms = 60;
    stage.device_ms = 240;
    assert_says(&stage, "tiny_kernels", 60, "are 25.0 % of its device time");
    stage.kernel_count = 9000; /* 90 a step */
    stage.kernel_ms = 28;
    assert_silent(&stage);
}

static void copies_are_named(void **state)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.device_ms = 900;
    stage.copy_cast_ms = 135;
    assert_says(&stage, "copy_cast", 135, "15.0 % of the device time of LLM@decode_step");
    stage.copy_cast_ms = 45;
    assert_silent(&stage);
    stage.memcpy_count = 100;
    stage.memcpy_ms = 27;
    assert_says(&stage, "memcpy_in_decode", 27, "makes 1 memory copy a step, 3.00 %");
    stage.memcpy_ms = 9;
    assert_silent(&stage);
    stage.memcpy_count = 800;
    assert_says(&stage, "memcpy_in_decode", 9, "makes 8 memory copies");
    stage.copies[0] = (struct lp_copies){ "[memcpy HtoD]", 3, 700, 7000 };
    stage.copies[1] = (struct lp_copies){ "[memcpy DtoH]", 6, 100, 400000 };
    shape.source = "device";
    shape.destination = "pageable";
    shape.call = "sync";
    stage.copy = &shape;
    assert_says(&stage, "memcpy_in_decode", 9,
                "; most of it is [memcpy DtoH] of 4.00 KB on average, 0.0600 ms a copy (4.00 KB, "
                "0.0600 ms a step), synchronous, from device to pageable memory: keep tokens");
    stage.copy_size = (struct lp_copy_size){ 0.9, 0.01, 396000, 5.4, 40, 396000 };
    assert_says(&stage, "memcpy_in_decode", 9,
                "; most of it is [memcpy DtoH], 1 copy of 40.0 B to 396 KB; 90.0 % of their time "
                "is in 0.0100 x 5.40 ms of 396 KB (4.00 KB, 0.0600 ms a step), synchronous");
    stage.copy_size = (struct lp_copy_size){ 0 };
    stage.copies[2] = (struct lp_copies){ "[memcpy DtoD]", 6.5, 100, 400000 };
    stage.memcpy_ms = 15.5;
    stage.copy = NULL;
    assert_says(&stage, "memcpy_in_decode", 15.5,
                "; the largest part is [memcpy DtoD] of 4.00 KB on average, 0.0650 ms a copy (4.00 "
                "KB, 0.0650 ms a step): let kernels write where the data is read.");
    stage.kernel_ms = stage.busy_ms - 6; /* the copies run beside kernels for the rest */
    assert_says(&stage, "memcpy_in_decode", 6, "makes 8 memory copies");
    stage.decode = false;
    assert_silent(&stage);
    stage.memcpy_ms = 700; /* other stages copy on purpose, unless that is most of their time */
    stage.kernel_ms = 200;
    assert_says(&stage, "memcpys", 700, "makes 8 memory copies a call, 77.8 % of its busy time");
}

static void a_kernel_that_dominates_is_named(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.device_ms = 900;
    stage.top_kernel = "gemv<float>";
    stage.top_kernel_ms = 720;
    assert_says(&stage, "dominant_kernel", NAN, "One kernel, gemv<float>, takes 80.0 %");
    stage.top_kernel_ms = 440;
    assert_silent(&stage);
    stage.top_kernel_ms = 720;
    stage.floor_ratio = 1.3; /* near its bound: nothing to find there */
    assert_silent(&stage);
}

static struct lp_waterfall_part slow_part(const char *kernel_class, const char *kernel)
{
    return (struct lp_waterfall_part){ .kind = LP_PART_KERNELS,
                                       .kernel_class = kernel_class,
                                       .busy_ms = 8,
                                       .bound_ms = 3,
                                       .good_ms = 4,
                                       .calls = 32,
                                       .kernel = kernel,
                                       .kernel_ms = 8,
                                       .kernel_calls = 32 };
}

static void one_kernel_of_a_stage_gets_one_advice(void **state)
{
    struct lp_waterfall_part part = slow_part("GEMM", "gemv<float>");
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.device_ms = 900;
    stage.top_kernel = "gemv<float>";
    stage.top_kernel_ms = 720;
    stage.worst = &part;
    stage.elapsed_ms = 10;
    stage.elapsed_calls = 100;
    assert_says(&stage, "slow_operator", 400, "Most of it is gemv<float>, 32 x 250 us");
    stage.worst = NULL;
    stage.floor_ratio = 3;
    stage.floor_ms = 300;
    assert_says(&stage, "slow_kernels", 525,
                "; one kernel, gemv<float>, is 80.0 % of the device time. Look for faster kernels");
    stage.floor_ratio = stage.floor_ms = NAN;
    stage.top_kernel = stage.softmax = "soft_max";
    stage.softmax_ms = 720;
    stage.softmax_calls = 3200;
    assert_says(&stage, "unfused_attention", 720, "soft_max 32 times a call takes 80.0 %");
}

/* 10 blocks on 132 SMs, one on each. */
static llmperf_kernel_shape narrow_shape(void)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    shape.grid_x = 10;
    shape.grid_y = shape.grid_z = shape.blocks_per_sm = 1;
    shape.waves = 10.0 / 132;
    shape.tflops = NAN;
    return shape;
}

static void kernels_that_fill_few_sms_are_to_be_launched_wider(void **state)
{
    struct lp_waterfall_part part = slow_part("attention", "attend");
    llmperf_kernel_shape shape = narrow_shape();
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.device_ms = 900;
    stage.narrow = &shape;
    stage.narrow_name = stage.top_kernel = "attend";
    stage.narrow_class = "attention";
    stage.narrow_ms = stage.top_kernel_ms = 480;
    stage.narrow_calls = 3200;
    stage.narrow_loss_ms = 400;
    assert_says(&stage, "few_blocks", 400,
                "attend takes 53.3 % of the device time of LLM@decode_step (32 x 150 us a call), "
                "and its grid of 10 blocks fills 7.58 % of the 132 SMs (0.0758 waves): that "
                "limits it.");
    stage.worst = &part;
    stage.worst_shape = &shape;
    stage.elapsed_ms = 10;
    stage.elapsed_calls = 100;
    assert_says(&stage, "slow_operator", 400,
                "What limits attend: its grid of 10 blocks fills 7.58 % of the 132 SMs");
    part.bound_ms = 0.01;
    assert_says(&stage, "slow_operator", 400,
                "each would take less than 2 us, but its grid of 10 blocks fills 7.58 % of the "
                "132 SMs (0.0758 waves): that limits it.");
    stage.worst = NULL;
    stage.narrow_loss_ms = 40;
    stage.top_kernel_ms = 400;
    assert_silent(&stage);
}

/* The three short ones take 4 % of the time together. */
static void stages_that_take_little_time_get_no_advice(void **state)
{
    struct lp_stage_facts stages[4];
    struct lp_recommendations out;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = { "xla@step", "xla@a", "xla@b", "xla@c" };

        stages[i] = plain_stage();
        stages[i].region = stages[i].label = names[i];
        stages[i].wall_ms = i == 0 ? 960 : 13;
        stages[i].busy_ms = stages[i].device_ms = 1;
        stages[i].top_kernel = "fusion";
        stages[i].top_kernel_ms = 1;
    }
    assert_int_equal(lp_recommend(&good_run, stages, 4, &out), 0);
    for (size_t i = 0; i < out.rows.count; i++)
        assert_string_equal(out.rows.items[i].advice.stage, "xla@step");
    lp_recommendations_clear(&out);
    stages[1].wall_ms = 400; /* no longer little, but one kernel of it saves nothing known */
    stages[1].copy_cast_ms = 1;
    assert_int_equal(lp_recommend(&good_run, stages, 4, &out), 0);
    for (size_t i = 0; i < out.rows.count; i++) {
        assert_string_not_equal(out.rows.items[i].advice.id, "copy_cast"); /* 0.07 % */
        assert_string_not_equal(out.rows.items[i].advice.stage, "xla@b");
    }
    lp_recommendations_clear(&out);
}

static void slow_instances_are_named(void **state)
{
    struct lp_stage_facts stage = plain_stage();

    (void)state;
    stage.wall_p50_ms = 9;
    stage.wall_p99_ms = 31;
    assert_says(&stage, "step_tail", 100, "p99 is 31.0 ms, 3.44x the median of 9.00 ms");
    stage.steady_calls = 50;
    stage.steady_ms = 20;
    assert_says(&stage, "step_tail", 550, "p99 is 31.0 ms");
    stage.steady_calls = 49; /* too few for a p99 */
    assert_silent(&stage);
}

static void untrusted_runs_get_the_ledger_and_host_times_only(void **state)
{
    struct lp_stage_facts stage = idle_stage(380, 95);
    struct lp_run_facts run = { .problem = "7 launches are missing", .host_usable = true };
    struct lp_recommendations out;

    (void)state;
    stage.wall_p50_ms = 9;
    stage.wall_p99_ms = 31;
    assert_int_equal(lp_recommend(&run, &stage, 1, &out), 0);
    assert_int_equal(out.rows.count, 2);
    assert_string_equal(out.rows.items[0].advice.id, "incomplete_ledger");
    assert_non_null(strstr(out.rows.items[0].text, "7 launches are missing"));
    assert_null(out.rows.items[0].advice.stage);
    assert_string_equal(out.rows.items[1].advice.id, "step_tail");
    lp_recommendations_clear(&out);
    run.host_usable = false;
    assert_int_equal(lp_recommend(&run, &stage, 1, &out), 0);
    assert_int_equal(out.rows.count, 1);
    lp_recommendations_clear(&out);
}

static void an_idle_gpu_without_marks_is_the_first_advice(void **state)
{
    struct lp_run_facts run = good_run;
    struct lp_recommendations out;

    (void)state;
    run.marked = false;
    run.outside_ms = run.device_ms = 160;
    run.span_ms = 5000;
    run.busy_ms = 160;
    run.idle_host_ms = 3500;
    run.idle_launch_ms = 1339;
    run.idle_wait_ms = 1;
    run.activities = 50000;
    assert_int_equal(lp_recommend(&run, NULL, 0, &out), 0);
    assert_int_equal(out.rows.count, 2);
    assert_string_equal(out.rows.items[0].advice.id, "idle_device");
    assert_int_equal(out.rows.items[0].advice.severity, LLMPERF_SEVERITY_HIGH);
    assert_true(fabs(out.rows.items[0].advice.saving_ms - 1339) < 1e-9);
    assert_non_null(strstr(out.rows.items[0].text, "The GPU was busy for 10.7 % of 1500 ms (not "
                                                   "counting 3500 ms"));
    assert_non_null(strstr(out.rows.items[0].text, "waited for launches for 89.3 %"));
    assert_non_null(strstr(out.rows.items[0].text, "CUDA graphs or torch.compile"));
    assert_string_equal(out.rows.items[1].advice.id, "outside_regions");
    assert_non_null(strstr(out.rows.items[1].text, "llmperf.decode_step() in Python"));
    lp_recommendations_clear(&out);
    run.imported = true; /* nothing can be called in it */
    run.idle_launch_ms = 0;
    assert_int_equal(lp_recommend(&run, NULL, 0, &out), 0);
    assert_string_equal(out.rows.items[0].advice.id, "outside_regions");
    assert_null(strstr(out.rows.items[0].text, "Python"));
    assert_string_equal(out.rows.items[1].advice.id, "idle_host");
    lp_recommendations_clear(&out);
}

static void a_stage_with_few_calls_needs_a_longer_run(void **state)
{
    struct lp_run_facts run = good_run;
    struct lp_recommendations out;

    (void)state;
    run.rare_stage = "LLM@prefill";
    run.rare_calls = 2;
    assert_int_equal(lp_recommend(&run, NULL, 0, &out), 0);
    assert_int_equal(out.rows.count, 1);
    assert_string_equal(out.rows.items[0].advice.id, "short_run");
    assert_non_null(strstr(out.rows.items[0].text, "LLM@prefill was called twice"));
    lp_recommendations_clear(&out);
}

static void work_outside_of_regions_is_named(void **state)
{
    struct lp_run_facts run = good_run;
    struct lp_recommendations out;

    (void)state;
    run.outside_ms = 90;
    assert_int_equal(lp_recommend(&run, NULL, 0, &out), 0);
    assert_int_equal(out.rows.count, 1);
    assert_string_equal(out.rows.items[0].advice.id, "outside_regions");
    assert_int_equal(out.rows.items[0].advice.severity, LLMPERF_SEVERITY_LOW);
    assert_true(fabs(evidence(&out.rows.items[0], "outside_share") - 0.1) < 1e-12);
    lp_recommendations_clear(&out);
    run.outside_ms = 40;
    assert_int_equal(lp_recommend(&run, NULL, 0, &out), 0);
    assert_int_equal(out.rows.count, 0);
    lp_recommendations_clear(&out);
}

static void the_largest_saving_comes_first(void **state)
{
    struct lp_stage_facts stages[2] = { idle_stage(200, 0), idle_stage(600, 0) };
    struct lp_recommendations out;

    (void)state;
    stages[0].region = "LLM@prefill";
    stages[0].top_kernel = "k";
    stages[0].top_kernel_ms = stages[0].device_ms = 900;
    assert_int_equal(lp_recommend(&good_run, stages, 2, &out), 0);
    assert_int_equal(out.rows.count, 3);
    assert_string_equal(out.rows.items[0].advice.stage, stages[1].region);
    assert_int_equal(out.rows.items[0].advice.severity, LLMPERF_SEVERITY_HIGH); /* 600 of 2000 ms */
    assert_string_equal(out.rows.items[1].advice.stage, "LLM@prefill");
    assert_int_equal(out.rows.items[1].advice.severity, LLMPERF_SEVERITY_MEDIUM);
    assert_string_equal(out.rows.items[2].advice.id, "dominant_kernel");
    assert_int_equal(out.rows.items[2].advice.severity, LLMPERF_SEVERITY_LOW);
    lp_recommendations_clear(&out);
}

static void time_of_nested_stages_counts_once(void **state)
{
    struct lp_stage_facts stages[3] = { plain_stage(), plain_stage(), plain_stage() };
    struct lp_recommendations out;

    (void)state;
    stages[0].region = "LLM@prefill";
    stages[0].floor_ratio = 3;
    stages[0].floor_ms = stages[0].memory_floor_ms = 500;
    stages[0].compute_floor_ms = 20;
    stages[1].region = "LLM@prefill/LLM@vision";
    stages[2].region = "LLM@prefill/LLM@vision/LLM@resize";
    assert_int_equal(lp_recommend(&good_run, stages, 3, &out), 0);
    assert_int_equal(out.rows.count, 1);
    assert_int_equal(out.rows.items[0].advice.severity, LLMPERF_SEVERITY_HIGH); /* 400 of 1000 ms */
    lp_recommendations_clear(&out);
    stages[1].region = "LLM@prefill_2"; /* beside it */
    stages[2].region = "LLM@decode";
    assert_int_equal(lp_recommend(&good_run, stages, 3, &out), 0);
    assert_int_equal(out.rows.items[0].advice.severity,
                     LLMPERF_SEVERITY_MEDIUM); /* 400 of 3000 ms */
    lp_recommendations_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_says_nothing),
        cmocka_unit_test(late_launches_are_told_from_waiting),
        cmocka_unit_test(a_graph_saves_no_more_than_its_nodes_leave),
        cmocka_unit_test(both_causes_of_idle_time_are_named_with_their_parts),
        cmocka_unit_test(a_saving_is_given_for_a_call_and_in_tokens),
        cmocka_unit_test(collectives_are_not_slow_kernels),
        cmocka_unit_test(kernel_time_is_saved_by_one_advice),
        cmocka_unit_test(host_time_around_the_kernels_is_named),
        cmocka_unit_test(idle_time_without_iterations_is_not_explained),
        cmocka_unit_test(slow_kernels_name_the_largest_class),
        cmocka_unit_test(copies_are_not_slow_kernels),
        cmocka_unit_test(kernels_with_known_bounds_are_named_by_operator),
        cmocka_unit_test(a_first_call_that_is_warm_up_is_named_once),
        cmocka_unit_test(what_recurs_comes_before_what_is_lost_once),
        cmocka_unit_test(savings_of_nested_stages_are_not_added_twice),
        cmocka_unit_test(work_at_the_memory_floor_needs_fewer_bytes),
        cmocka_unit_test(small_batches_of_decode_are_named),
        cmocka_unit_test(attention_in_separate_kernels_is_named),
        cmocka_unit_test(many_short_kernels_are_to_be_fused),
        cmocka_unit_test(copies_are_named),
        cmocka_unit_test(a_kernel_that_dominates_is_named),
        cmocka_unit_test(one_kernel_of_a_stage_gets_one_advice),
        cmocka_unit_test(kernels_that_fill_few_sms_are_to_be_launched_wider),
        cmocka_unit_test(stages_that_take_little_time_get_no_advice),
        cmocka_unit_test(slow_instances_are_named),
        cmocka_unit_test(untrusted_runs_get_the_ledger_and_host_times_only),
        cmocka_unit_test(an_idle_gpu_without_marks_is_the_first_advice),
        cmocka_unit_test(a_stage_with_few_calls_needs_a_longer_run),
        cmocka_unit_test(work_outside_of_regions_is_named),
        cmocka_unit_test(the_largest_saving_comes_first),
        cmocka_unit_test(time_of_nested_stages_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
