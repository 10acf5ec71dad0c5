/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the recommendations about kernels and copies: when they speak, and when they are silent.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/sys/analysis.h"
#include "tests/support/advice.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_are_not_slow_kernels),
        cmocka_unit_test(kernel_time_is_saved_by_one_advice),
        cmocka_unit_test(slow_kernels_name_the_largest_class),
        cmocka_unit_test(copies_are_not_slow_kernels),
        cmocka_unit_test(kernels_with_known_bounds_are_named_by_operator),
        cmocka_unit_test(work_at_the_memory_floor_needs_fewer_bytes),
        cmocka_unit_test(attention_in_separate_kernels_is_named),
        cmocka_unit_test(many_short_kernels_are_to_be_fused),
        cmocka_unit_test(copies_are_named),
        cmocka_unit_test(a_kernel_that_dominates_is_named),
        cmocka_unit_test(one_kernel_of_a_stage_gets_one_advice),
        cmocka_unit_test(kernels_that_fill_few_sms_are_to_be_launched_wider),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
