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
#include "tests/support/advice.h"

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
        cmocka_unit_test(host_time_around_the_kernels_is_named),
        cmocka_unit_test(idle_time_without_iterations_is_not_explained),
        cmocka_unit_test(a_first_call_that_is_warm_up_is_named_once),
        cmocka_unit_test(what_recurs_comes_before_what_is_lost_once),
        cmocka_unit_test(savings_of_nested_stages_are_not_added_twice),
        cmocka_unit_test(small_batches_of_decode_are_named),
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
