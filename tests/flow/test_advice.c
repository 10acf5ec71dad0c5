/* SPDX-License-Identifier: Apache-2.0 */
/** Advice and bounds end to end, on scripts that name their GPU. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "llmperf/roofline.h"
#include "tests/support/play.h"

#define GPU "NVIDIA H100 80GB HBM3"

#define CALLS 20

static llmperf_profile *play_stage(const char *model, const char *stage, int sequences, int tokens,
                                   int context, const char *statements)
{
    char script[2048];
    llmperf_session_options options;

    snprintf(script, sizeof(script),
             "gpu \"" GPU "\"\nrepeat %d\nbegin %s sequences=%d tokens=%d context=%d\n%s\nend\n"
             "done\n",
             CALLS, stage, sequences, tokens, context, statements);
    options = script_options(script);
    options.model_path = model;
    return play_options(&options);
}

/* Decode steps of these sequences and tokens of context in total. */
static llmperf_profile *play_steps(const char *model, int sequences, int context,
                                   const char *statements)
{
    return play_stage(model, "LLM@decode_step", sequences, sequences, context, statements);
}

static bool find_advice(const llmperf_profile *profile, const char *id, llmperf_advice *advice)
{
    *advice = (llmperf_advice)LLMPERF_ADVICE_INIT;
    for (size_t i = 0; llmperf_profile_advice(profile, i, advice) == 0; i++)
        if (strcmp(advice->id, id) == 0)
            return true;
    return false;
}

static double evidence(const llmperf_profile *profile, const char *id, const char *name)
{
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    llmperf_evidence row = LLMPERF_EVIDENCE_INIT;

    for (size_t i = 0; llmperf_profile_advice(profile, i, &advice) == 0; i++)
        for (size_t k = 0; strcmp(advice.id, id) == 0 && k < advice.evidence; k++)
            if (llmperf_profile_evidence(profile, i, k, &row) == 0 && !strcmp(row.name, name))
                return row.value;
    fail_msg("%s has no evidence %s", id, name);
    return NAN;
}

/* Roofline bound of a decode step with this many sequences. */
static double bound_ms(const char *name, uint64_t sequences, uint64_t context)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_hardware *hardware = NULL;
    llmperf_model *model = NULL;

    query.name = GPU;
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = sequences;
    step.cached_each = context - 1;
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), 0);
    assert_int_equal(llmperf_model_open(name, &model), 0);
    assert_int_equal(llmperf_model_floor(model, &step, hardware, LLMPERF_LIMITS_IN_USE, &floor), 0);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
    return floor.roofline_ms;
}

static const char kernels[] = "launch mlp_gemm duration=9000000\nwait 9000000";

static void a_larger_batch_costs_what_the_model_says(void **state)
{
    llmperf_profile *profile = play_steps("llama_3_8b", 8, 8 * 1024, kernels);
    llmperf_advice advice;
    double batch;

    (void)state;
    assert_true(find_advice(profile, "small_batch", &advice));
    print_message("%s\n", advice.text);
    batch = evidence(profile, "small_batch", "cheap_batch");
    assert_true(batch >= 16);
    assert_true(fabs(bound_ms("llama_3_8b", (uint64_t)round(batch), 1024) /
                         bound_ms("llama_3_8b", 8, 1024) -
                     1.5) < 0.05);
    llmperf_profile_free(profile);
}

/* Each further sequence activates more experts: at twice the batch a step takes more than 1.5 times
 * as long, so no larger batch is cheap, whatever the ratio of peak and bandwidth. */
static void experts_make_a_larger_batch_expensive(void **state)
{
    llmperf_profile *profile = play_steps("qwen3_30b_a3b", 1, 512, kernels);
    llmperf_advice advice;

    (void)state;
    assert_true(bound_ms("qwen3_30b_a3b", 2, 512) > 1.5 * bound_ms("qwen3_30b_a3b", 1, 512));
    assert_false(find_advice(profile, "small_batch", &advice));
    llmperf_profile_free(profile);
}

static void attention_in_separate_kernels_is_named_with_its_softmax(void **state)
{
    llmperf_profile *profile =
        play_steps(NULL, 1, 512,
                   "repeat 12\nlaunch bmm_gemm duration=20000\nlaunch soft_max_f32 duration=10000\n"
                   "launch bmm_gemm duration=20000\ndone\nwait 600000");
    llmperf_advice advice;

    (void)state;
    assert_true(find_advice(profile, "unfused_attention", &advice));
    assert_true(fabs(advice.saving_ms - 20 * 12 * 0.01) < 1e-6);
    assert_non_null(strstr(advice.text, "soft_max_f32 12 times a call takes 20.0 %"));
    llmperf_profile_free(profile);
    profile = play_steps(NULL, 1, 512,
                         "repeat 12\nlaunch flash_fwd_kernel duration=50000\ndone\n"
                         "launch softmax_kernel duration=50000\nwait 600000");
    assert_false(find_advice(profile, "unfused_attention", &advice));
    llmperf_profile_free(profile);
}

/* Also where the model's lower bound of attention is that of its softmax. */
static void a_softmax_that_is_far_from_its_bound_has_one_advice(void **state)
{
    llmperf_profile *profile =
        play_steps("llama_3_8b", 8, 8 * 1024,
                   "repeat 32\nlaunch layer_gemm duration=150000\nbegin LLM@attention\n"
                   "launch soft_max_f32 duration=200000\nend\ndone\nwait 12000000");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;
    int named = 0;

    (void)state;
    for (size_t i = 0; llmperf_profile_advice(profile, i, &advice) == 0; i++)
        named += strstr(advice.text, "soft_max_f32") != NULL;
    assert_int_equal(named, 1);
    assert_true(find_advice(profile, "unfused_attention", &advice));
    llmperf_profile_free(profile);
}

/* Ten blocks of one warp on 132 SMs. */
static void a_kernel_of_few_blocks_is_limited_by_them(void **state)
{
    llmperf_profile *profile =
        play_steps(NULL, 1, 512,
                   "repeat 12\nlaunch layer_gemm duration=20000\n"
                   "launch fused_gate_kernel duration=30000 grid=10 block=32 registers=32 "
                   "static_shared=0 dynamic_shared=0\ndone\nwait 600000");
    llmperf_advice advice;

    (void)state;
    assert_true(find_advice(profile, "few_blocks", &advice));
    assert_non_null(strstr(advice.text, "fused_gate_kernel takes 60.0 % of the device time of "
                                        "LLM@decode_step (12 x 30.0 us a call), and its grid of "
                                        "10 blocks fills 7.58 % of the 132 SMs"));
    assert_true(fabs(advice.saving_ms - CALLS * 12 * 0.028 * (1 - 10.0 / 132)) < 1e-6);
    assert_false(find_advice(profile, "dominant_kernel", &advice));
    llmperf_profile_free(profile);
}

/* Llama 3 8B, a prompt of 4096 tokens: the hidden state of 32 MiB takes 10.01 us at 3352 GB/s. */
#define PROMPT      4096
#define HIDDEN_MS   (PROMPT * 4096 * 2 / 3352e6)
#define INNER_MS    (PROMPT * 14336 * 2 / 3352e6) /* of the MLP */
#define GEMMS       "launch layer_gemm duration=2600000\n"
#define PROMPT_WAIT "wait 150000000"

static void check_prompt(const char *statements, const char *text, double least_ms)
{
    llmperf_profile *profile =
        play_stage("llama_3_8b", "LLM@prefill", 1, PROMPT, PROMPT, statements);
    llmperf_advice advice;
    double ms;

    assert_true(find_advice(profile, "slow_operator", &advice));
    print_message("%s\n", advice.text);
    assert_non_null(strstr(advice.text, text));
    ms = evidence(profile, "slow_operator", "bound_ms");
    if (!(fabs(ms - least_ms) < 0.01 * least_ms))
        fail_msg("bound %.4f ms instead of %.4f", ms, least_ms);
    llmperf_profile_free(profile);
}

/* Each of 65 norms reads and writes it once. */
static void the_bound_of_a_norm_moves_its_input_and_output(void **state)
{
    (void)state;
    check_prompt("repeat 32\nlaunch rms_norm_kernel duration=200000\n" GEMMS
                 "launch rms_norm_kernel duration=200000\ndone\n"
                 "launch rms_norm_kernel duration=200000\n" PROMPT_WAIT,
                 "norm kernels take 13.0 ms, 9.98x their lower bound", 65 * 2 * HIDDEN_MS);
}

static void a_norm_that_adds_the_residual_moves_that_too(void **state)
{
    (void)state;
    check_prompt("repeat 32\nlaunch fused_add_rms_norm_kernel duration=300000\n" GEMMS
                 "launch fused_add_rms_norm_kernel duration=300000\ndone\n"
                 "launch fused_add_rms_norm_kernel duration=300000\n" PROMPT_WAIT,
                 "norm kernels take", (65 + 64) * 2 * HIDDEN_MS);
}

/* Rope (32 heads of queries, 8 of keys), activation and two residuals in four kernels or in one. */
static void operators_in_one_kernel_keep_what_passes_between_them_on_chip(void **state)
{
    const double all_ms = 32 * (2.5 * HIDDEN_MS + 3 * INNER_MS + 4 * HIDDEN_MS);

    (void)state;
    check_prompt(
        "repeat 32\nlaunch rope_kernel duration=500000\n" GEMMS
        "launch silu_and_mul_kernel duration=500000\n"
        "repeat 2\nlaunch elementwise_add_kernel duration=250000\ndone\ndone\n" PROMPT_WAIT,
        "elementwise kernels take", all_ms);
    check_prompt("repeat 32\nlaunch rope_silu_and_mul_kernel duration=1500000\n" GEMMS
                 "done\n" PROMPT_WAIT,
                 "elementwise kernels take", all_ms / 4);
}

/* 64 KiB in and out: no ratio to a bound of 0.04 us. */
static void kernels_too_small_for_the_rates_are_called_that(void **state)
{
    llmperf_profile *profile =
        play_steps("llama_3_8b", 8, 8 * 1024,
                   "repeat 32\nlaunch rms_norm_kernel duration=8000\n"
                   "launch layer_gemm duration=170000\nlaunch rms_norm_kernel duration=8000\ndone\n"
                   "launch rms_norm_kernel duration=8000\nwait 6500000");
    llmperf_advice advice;

    (void)state;
    assert_true(find_advice(profile, "slow_operator", &advice));
    print_message("%s\n", advice.text);
    assert_non_null(
        strstr(advice.text, "norm kernels take 0.520 ms, in 65 kernels of 8.00 us each"));
    assert_non_null(strstr(advice.text, "Most of it is rms_norm_kernel, 65 x 8.00 us. At the rates "
                                        "of the whole GPU each would take less than 2 us: few "
                                        "threads do the work, or wait for each other. Spread it"));
    assert_null(strstr(advice.text, "lower bound"));
    assert_true(fabs(advice.saving_ms - CALLS * 65 * 0.006) < 1e-3);
    llmperf_profile_free(profile);
}

/* A rank that waits for another one, alone in its run. */
static void a_waiting_rank_has_no_slow_kernels(void **state)
{
    llmperf_profile *profile =
        play_steps("llama_3_8b", 8, 8 * 1024,
                   "repeat 32\nlaunch mlp_gemm duration=150000\n"
                   "launch ncclDevKernel_AllReduce_Sum_bf16_RING_LL duration=400000\ndone\n"
                   "launch ncclDevKernel_AllReduce_Sum_bf16_RING_LL duration=20000\nwait 18000000");
    llmperf_advice advice;

    (void)state;
    assert_false(find_advice(profile, "slow_kernels", &advice));
    assert_false(find_advice(profile, "slow_operator", &advice));
    assert_true(find_advice(profile, "collectives", &advice));
    assert_int_equal(advice.severity, LLMPERF_SEVERITY_HIGH);
    assert_non_null(strstr(advice.text, "waiting for other ranks"));
    assert_true(fabs(advice.saving_ms - 20 * 32 * 0.38) < 1e-6); /* above the fastest */
    llmperf_profile_free(profile);
}

/* Four of 200 steps stop for 20 ms: that is a slow call, not a gap of every step. */
static void stalls_of_single_steps_are_no_gap_of_all(void **state)
{
    static const char script[] =
        "repeat 196\nbegin LLM@decode_step sequences=1 tokens=1 context=512\nwait 10000\n"
        "launch gemv duration=980000\nwait 1000000\nend\ndone\n"
        "repeat 4\nbegin LLM@decode_step sequences=1 tokens=1 context=512\nwait 20000000\n"
        "launch gemv duration=980000\nwait 1000000\nend\ndone\n";
    llmperf_profile *profile = play_script(script);
    llmperf_advice advice;

    (void)state;
    assert_true(find_advice(profile, "step_tail", &advice));
    assert_true(fabs(advice.saving_ms - 80) < 0.8);
    assert_false(find_advice(profile, "host_gap", &advice));
    llmperf_profile_free(profile);
}

/* What limits a stage follows from the measured causes of idle time, not from the ratio of host
 * time to a lower bound, which says nothing where work is launched ahead. */

/* Eight decode steps, each with these statements. */
static llmperf_profile *play_bound(const char *statements)
{
    char script[2048];
    llmperf_session_options options;

    snprintf(script, sizeof(script),
             "gpu \"NVIDIA H100 80GB HBM3\"\nrepeat 8\n"
             "begin LLM@decode_step sequences=8 tokens=8 context=32768\n%s\nend\ndone\n",
             statements);
    options = script_options(script);
    options.model_path = "llama_3_8b";
    return play_options(&options);
}

static void check_bound(const char *statements, uint32_t bound, const char *headline)
{
    llmperf_profile *profile = play_bound(statements);
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    char *report = NULL;

    assert_int_equal(llmperf_profile_stage(profile, 0, &stage), 0);
    assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, stage.bound),
                        llmperf_name(LLMPERF_NAME_BOUND, bound));
    assert_null(llmperf_profile_stage_reason(profile, 0, "bound"));
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &report), 0);
    if (!strstr(report, headline))
        fail_msg("\"%s\" is not in: %.2000s", headline, report);
    llmperf_text_free(report);
    llmperf_profile_free(profile);
}

/* The host is in a step for 0.1 ms, the GPU for 10 ms: four times its lower bound of 5.8 ms is far,
 * and the launches are far ahead. */
static void work_that_was_launched_ahead_is_not_launch_bound(void **state)
{
    (void)state;
    check_bound("repeat 100\nlaunch mlp_gemm duration=200000\ndone", LLMPERF_BOUND_MEMORY,
                "limited by kernels that are far from their bound\n");
}

/* The host waits in the last operator for all that was launched before. */
static void an_operator_in_which_the_host_waits_is_not_launch_bound(void **state)
{
    llmperf_profile *profile = play_bound("repeat 100\nlaunch mlp_gemm duration=50000\ndone\n"
                                          "begin LLM@head flops=8400000000 bytes=1050000000\n"
                                          "launch head_gemm duration=360000\nwait 5500000\nend");
    char *metrics = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &metrics), 0);
    assert_non_null(strstr(metrics, "\"bound\": \"memory\""));
    assert_null(strstr(metrics, "\"bound\": \"launch\""));
    llmperf_text_free(metrics);
    llmperf_profile_free(profile);
}

static void short_kernels_between_slow_launches_are_launch_bound(void **state)
{
    (void)state;
    check_bound("repeat 100\nlaunch mlp_gemm duration=2000\nwait 9000\ndone", LLMPERF_BOUND_LAUNCH,
                "limited by launches by the host (7");
}

/* All three launches are made at once; the later ones wait for something else. */
static void check_report(const char *script, const char *words)
{
    llmperf_profile *profile = play_script(script);
    char *report = NULL;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &report), 0);
    if (!strstr(report, words))
        fail_msg("\"%s\" is not in: %.2000s", words, report);
    llmperf_text_free(report);
    llmperf_profile_free(profile);
}

static void a_nested_stage_as_the_largest_part_is_looked_into(void **state)
{
    (void)state;
    check_report("repeat 4\nbegin LLM@prefill tokens=64\nbegin LLM@vision\n"
                 "launch softmax_kernel duration=500000\nlaunch mlp_gemm duration=300000\nend\n"
                 "launch mlp_gemm duration=400000\nwait 1300000\nend\ndone\n",
                 "Nested stage `LLM@prefill/LLM@vision`, 6");
    check_report("repeat 4\nbegin LLM@prefill tokens=64\nbegin LLM@vision\n"
                 "launch softmax_kernel duration=500000\nlaunch mlp_gemm duration=300000\nend\n"
                 "launch mlp_gemm duration=400000\nwait 1300000\nend\ndone\n",
                 "; the largest part of that is reduction, 6");
}

static void stages_that_take_little_time_are_one_line(void **state)
{
    (void)state;
    check_report("repeat 9\nbegin LLM@prefill tokens=1\nlaunch mlp_gemm duration=3000000\n"
                 "wait 3000000\nend\nbegin LLM@vision\nlaunch fusion duration=2000\nwait 5000\n"
                 "end\ndone\n",
                 "\n- 1 shorter stage, 0.0");
}

/* The same rule for the summary as for advice: a class has a saving only where advice names one. */
static void the_summary_claims_no_more_than_the_advice(void **state)
{
    int silent = 0;

    (void)state;
    for (int duration_us = 5000; duration_us < 8000; duration_us += 250) {
        char statements[128], *summary = NULL;
        llmperf_advice advice;
        llmperf_profile *profile;
        const char *row;
        bool speaks;

        snprintf(statements, sizeof(statements), "launch mlp_gemm duration=%d\nwait %d",
                 1000 * duration_us, 1000 * duration_us);
        profile = play_steps("llama_3_8b", 8, 8 * 1024, statements);
        speaks = find_advice(profile, "slow_operator", &advice);
        assert_int_equal(
            llmperf_document_text(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD, &summary), 0);
        assert_non_null(row = strstr(summary, "| matrix products |"));
        *strchr(row, '\n') = '\0';
        if (speaks != (strcmp(row + strlen(row) - 5, " ms |") == 0))
            fail_msg("%s, %s", speaks ? advice.text : "no advice", row);
        silent += !speaks;
        llmperf_text_free(summary);
        llmperf_profile_free(profile);
    }
    assert_true(silent > 0);
}

static void work_that_waits_after_its_launch_is_gap_bound(void **state)
{
    (void)state;
    check_bound("launch mlp_gemm duration=20000\nlaunch mlp_gemm duration=20000 delay=500000\n"
                "launch mlp_gemm duration=20000 delay=1000000\nwait 1000000",
                LLMPERF_BOUND_GAPS, "limited by gaps between kernels (9");
}

static void a_host_that_works_before_its_first_launch_is_the_limit(void **state)
{
    (void)state;
    check_bound("wait 3000000\nlaunch mlp_gemm duration=1000000\nwait 1000000", LLMPERF_BOUND_HOST,
                "limited by other work of the host (7");
}

static void copies_over_pcie_are_not_memory_bandwidth(void **state)
{
    (void)state;
    check_bound("copy htod bytes=180000000 duration=7800000\nlaunch mlp_gemm duration=2200000\n"
                "wait 10000000",
                LLMPERF_BOUND_COPY, "limited by copies between host and device (7");
    /* Hidden behind a kernel they limit nothing. */
    check_bound("copy htod bytes=180000000 duration=7800000 stream=8\n"
                "launch mlp_gemm duration=9000000\nwait 9000000",
                LLMPERF_BOUND_MEMORY, "limited by kernels that are far from their bound\n");
    check_bound("launch mlp_gemm duration=7000000\nwait 7000000", LLMPERF_BOUND_MEMORY,
                "limited by memory bandwidth\n");
}

static void collectives_of_one_rank_are_communication(void **state)
{
    (void)state;
    check_bound("launch mlp_gemm duration=200000\nlaunch ncclDevKernel_AllReduce duration=400000\n"
                "wait 600000",
                LLMPERF_BOUND_COMMUNICATION, "limited by communication between GPUs (6");
}

/* Programs in which nothing is marked */

static json_t *metrics_of(const llmperf_profile *profile)
{
    char *text = NULL;
    json_t *root;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    llmperf_text_free(text);
    return root;
}

static double device_number(const json_t *root, const char *key)
{
    const json_t *rows = json_object_get(root, "devices");

    assert_int_equal(json_array_size(rows), 1);
    return json_number_value(json_object_get(json_array_get(rows, 0), key));
}

static void check_number(const json_t *root, const char *key, double expected)
{
    double value = device_number(root, key);

    if (!(value > expected - 1e-6 && value < expected + 1e-6))
        fail_msg("%s is %f, expected %f", key, value, expected);
}

/* A kernel of 2 us every 10 us, a pause of the host of 5 ms, and two kernels launched at once of
 * which the second starts 20 us after the first ends. */
static void idle_time_outside_of_regions_has_its_causes(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 100\nlaunch gemm duration=2000\nwait 9000\ndone\n"
                    "wait 5000000\nlaunch gemm duration=2000\n"
                    "launch gemm duration=2000 delay=23000\n");
    json_t *root = metrics_of(profile);

    (void)state;
    check_number(root, "activities", 102);
    check_number(root, "busy_ms", 0.204);
    check_number(root, "idle_launch_ms", 99 * 0.008);
    check_number(root, "idle_host_ms", 5.008);
    check_number(root, "idle_wait_ms", 0.020);
    check_number(root, "span_ms", 0.204 + 99 * 0.008 + 5.008 + 0.020);
    json_decref(root);
    llmperf_profile_free(profile);
}

/* Kernels of 2 us every 18 us, after 400 ms in which the host loads something. */
static void the_first_advice_says_what_an_unmarked_gpu_waits_for(void **state)
{
    llmperf_profile *profile = play_script("launch gemm duration=2000\nwait 400000000\n"
                                           "repeat 5000\nlaunch gemm duration=2000\nwait 17000\n"
                                           "done\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    assert_string_equal(advice.id, "idle_device");
    assert_null(advice.stage);
    assert_int_equal(advice.severity, LLMPERF_SEVERITY_HIGH);
    assert_non_null(
        strstr(advice.text, "The GPU was busy for 11.1 % of 90.0 ms (not counting 400 ms"));
    assert_non_null(strstr(advice.text, "and waited for launches for 88.9 %"));
    assert_non_null(strstr(advice.text, "Use CUDA graphs or torch.compile"));
    assert_true(advice.saving_ms > 79.9 && advice.saving_ms < 80.1);
    assert_int_equal(llmperf_profile_advice(profile, 1, &advice), 0);
    assert_string_equal(advice.id, "outside_regions");
    assert_non_null(strstr(advice.text, "mark prefill and decode steps"));
    llmperf_profile_free(profile);
}

/* A kernel of 20 us every 300 us: too slow for launching. */
static void an_unmarked_host_that_works_between_launches_is_named(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 500\nlaunch gemm duration=20000\nlaunch gemm duration=20000\n"
                    "wait 300000\ndone\n");
    llmperf_advice advice;

    (void)state;
    assert_true(find_advice(profile, "idle_host", &advice));
    assert_non_null(strstr(advice.text, "launched nothing for 0.2 ms or longer"));
    llmperf_profile_free(profile);
    profile = play_script("repeat 500\nlaunch gemm duration=2000\nwait 20000\n"
                          "launch gemm duration=2000\nwait 300000\ndone\n");
    assert_true(find_advice(profile, "idle_device", &advice));
    assert_non_null(
        strstr(advice.text, "gaps of 0.2 ms or more in which the host launched nothing"));
    llmperf_profile_free(profile);
}

/* A GPU that is kept busy has no such advice. */
static void a_busy_unmarked_gpu_does_not_wait(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 500\nlaunch gemm duration=20000\nwait 1000\ndone\n");
    llmperf_advice advice = LLMPERF_ADVICE_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    assert_string_equal(advice.id, "outside_regions");
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_batch_costs_what_the_model_says),
        cmocka_unit_test(experts_make_a_larger_batch_expensive),
        cmocka_unit_test(attention_in_separate_kernels_is_named_with_its_softmax),
        cmocka_unit_test(a_softmax_that_is_far_from_its_bound_has_one_advice),
        cmocka_unit_test(a_kernel_of_few_blocks_is_limited_by_them),
        cmocka_unit_test(a_waiting_rank_has_no_slow_kernels),
        cmocka_unit_test(the_bound_of_a_norm_moves_its_input_and_output),
        cmocka_unit_test(a_norm_that_adds_the_residual_moves_that_too),
        cmocka_unit_test(operators_in_one_kernel_keep_what_passes_between_them_on_chip),
        cmocka_unit_test(kernels_too_small_for_the_rates_are_called_that),
        cmocka_unit_test(stalls_of_single_steps_are_no_gap_of_all),
        cmocka_unit_test(work_that_was_launched_ahead_is_not_launch_bound),
        cmocka_unit_test(an_operator_in_which_the_host_waits_is_not_launch_bound),
        cmocka_unit_test(short_kernels_between_slow_launches_are_launch_bound),
        cmocka_unit_test(a_nested_stage_as_the_largest_part_is_looked_into),
        cmocka_unit_test(stages_that_take_little_time_are_one_line),
        cmocka_unit_test(the_summary_claims_no_more_than_the_advice),
        cmocka_unit_test(work_that_waits_after_its_launch_is_gap_bound),
        cmocka_unit_test(a_host_that_works_before_its_first_launch_is_the_limit),
        cmocka_unit_test(copies_over_pcie_are_not_memory_bandwidth),
        cmocka_unit_test(collectives_of_one_rank_are_communication),
        cmocka_unit_test(idle_time_outside_of_regions_has_its_causes),
        cmocka_unit_test(the_first_advice_says_what_an_unmarked_gpu_waits_for),
        cmocka_unit_test(an_unmarked_host_that_works_between_launches_is_named),
        cmocka_unit_test(a_busy_unmarked_gpu_does_not_wait),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
