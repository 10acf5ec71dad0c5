/* SPDX-License-Identifier: Apache-2.0 */
/** Causes of slow decoding planted in a script of Llama 3 8B on an H100: the first advice names
 * each of them, with the time that removing it gains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "tests/support/compared.h"
#include "tests/support/play.h"

#define STEPS  64
#define LAYERS 32

/* Durations in ns of the kernels of a layer, and what a step has besides. Batch 8, context 4096:
 * reading the weights takes 4.5 ms at 3352 GB/s, the KV cache 1.28 ms. */
struct plant {
    unsigned attention_ns; /* 50,000 is 80 % of the bandwidth */
    unsigned sleep_ns;     /* of the host, in each step before the first launch */
    unsigned copy_ns;      /* of a DtoH copy in each step */
    unsigned first_ns;     /* the first step takes longer by */
    const char *attention; /* name of its kernel */
    unsigned malloc_ns;    /* of a call before the first launch */
    unsigned wait_ns;      /* the device is done, and the host still waits in mid step */
    unsigned work_ns;      /* the same without a call of the driver: the host does other work */
    int small_copies;      /* of 2 us each */
    unsigned jitter_ns;    /* of the host, in addition, in every other step */
};

static const struct plant base = { .attention_ns = 50000, .attention = "flash_fwd_kernel" };

static unsigned layer_ns(const struct plant *plant)
{
    return 20000 + plant->attention_ns + 13000 + 130000;
}

static void add_layers(FILE *file, const struct plant *plant, int count)
{
    fprintf(file,
            "repeat %d\nlaunch qkv_gemm duration=20000\nlaunch %s duration=%u\n"
            "launch o_gemm duration=13000\nlaunch mlp_gemm duration=130000\ndone\n",
            count, plant->attention, plant->attention_ns);
}

static void add_step(FILE *file, const struct plant *plant, unsigned sleep_ns)
{
    unsigned device_ns = LAYERS * layer_ns(plant) + 360000;

    fprintf(file, "begin LLM@decode_step sequences=8 tokens=8 context=32768\n");
    if (sleep_ns > 0)
        fprintf(file, "wait %u\n", sleep_ns);
    if (plant->malloc_ns > 0)
        fprintf(file, "call cuMemAlloc host=%u\n", plant->malloc_ns);
    add_layers(file, plant, LAYERS / 2);
    if (plant->wait_ns > 0)
        fprintf(file, "begin LLM@sample\ncall cuStreamSynchronize host=%u\nend\n",
                LAYERS / 2 * layer_ns(plant) + plant->wait_ns);
    if (plant->work_ns > 0)
        fprintf(file, "wait %u\n", LAYERS / 2 * layer_ns(plant) + plant->work_ns);
    if (plant->wait_ns > 0 || plant->work_ns > 0)
        device_ns -= LAYERS / 2 * layer_ns(plant);
    add_layers(file, plant, LAYERS / 2);
    fprintf(file, "launch head_gemm duration=360000\n");
    if (plant->copy_ns > 0)
        fprintf(file, "copy dtoh bytes=25000000 duration=%u reads=device writes=pageable\n",
                plant->copy_ns);
    for (int i = 0; i < plant->small_copies; i++)
        fprintf(file, "copy dtoh bytes=4000 duration=2000 reads=device writes=pageable\n");
    /* The host waits for the device. */
    fprintf(file, "wait %u\nend\n", device_ns + plant->copy_ns - LAYERS * 4 * 1000);
}

static llmperf_profile *play(const struct plant *plant)
{
    char *script = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&script, &size);
    llmperf_session_options options;
    llmperf_profile *profile;

    assert_non_null(file);
    fprintf(file, "gpu \"NVIDIA H100 80GB HBM3\"\n");
    add_step(file, plant, plant->sleep_ns + plant->first_ns);
    fprintf(file, "repeat %d\n", (STEPS - 2) / 2);
    add_step(file, plant, plant->sleep_ns + plant->jitter_ns);
    add_step(file, plant, plant->sleep_ns);
    fprintf(file, "done\n");
    add_step(file, plant, plant->sleep_ns + plant->jitter_ns);
    assert_int_equal(fclose(file), 0);
    options = script_options(script);
    options.model_path = "llama_3_8b";
    profile = play_options(&options);
    free(script);
    return profile;
}

static llmperf_advice first_advice(const llmperf_profile *profile)
{
    llmperf_advice advice = LLMPERF_ADVICE_INIT;

    assert_int_equal(llmperf_profile_advice(profile, 0, &advice), 0);
    print_message("%s: %s (%.1f ms)\n", advice.id, advice.text, advice.saving_ms);
    return advice;
}

/* The first advice has this id and text, and a saving within 10 % of what removing the cause gives.
 */
static void check_plant(const struct plant *plant, const char *id, const char *text, double gain_ms)
{
    llmperf_profile *profile = play(plant);
    llmperf_advice advice = first_advice(profile);

    assert_string_equal(advice.id, id);
    if (!strstr(advice.text, text))
        fail_msg("\"%s\" is not in: %s", text, advice.text);
    if (!(advice.saving_ms > 0.9 * gain_ms && advice.saving_ms < 1.1 * gain_ms))
        fail_msg("saving %.2f ms, %.2f planted", advice.saving_ms, gain_ms);
    llmperf_profile_free(profile);
}

static void slow_attention_is_named_with_its_kernel(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.attention_ns *= 3;
    check_plant(&plant, "slow_operator", "flash_fwd_kernel", STEPS * LAYERS * 0.1);
}

static void a_host_that_sleeps_before_its_launches_is_named(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.sleep_ns = 2000000;
    check_plant(&plant, "host_gap", "before its first kernel", STEPS * 2.0);
}

static void a_host_that_works_between_kernels_is_not_called_slow_to_launch(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.work_ns = 2000000;
    check_plant(&plant, "host_gap", "between its kernels (2.00 ms before qkv_gemm", STEPS * 2.0);
}

static void an_allocation_in_each_step_is_named(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.malloc_ns = 2000000;
    check_plant(&plant, "host_gap", "For 128 ms of that the host is in cuMemAlloc", STEPS * 2.0);
}

static void a_wait_that_drains_the_device_is_named(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.wait_ns = 2000000;
    check_plant(&plant, "host_gap",
                "ms of that the host is in cuStreamSynchronize, called 64 "
                "times in LLM@decode_step/LLM@sample",
                STEPS * 2.0);
}

static void a_copy_in_each_step_is_named_with_its_direction(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.copy_ns = 1000000;
    check_plant(&plant, "memcpy_in_decode", "[memcpy DtoH] of 25.0 MB, 1.00 ms a copy",
                STEPS * 1.0);
}

static void copies_of_different_sizes_are_not_described_by_their_mean(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.copy_ns = 1000000;
    plant.small_copies = 2;
    check_plant(&plant, "memcpy_in_decode",
                "[memcpy DtoH], 3 copies of 4.00 KB to 25.0 MB; 99.6 % of their time is in 1 x "
                "1.00 ms of 25.0 MB",
                STEPS * 1.0);
}

static void a_slow_first_step_is_warm_up(void **state)
{
    struct plant plant = base;
    llmperf_advice second = LLMPERF_ADVICE_INIT;
    llmperf_profile *profile;

    (void)state;
    plant.first_ns = 551600000;
    check_plant(&plant, "warm_up", "first call of LLM@decode_step", 551.6);
    profile = play(&plant);
    for (size_t i = 1; llmperf_profile_advice(profile, i, &second) == 0; i++)
        assert_true(!(second.saving_ms > 55)); /* not counted again */
    llmperf_profile_free(profile);
}

static void the_base_has_no_severe_advice(void **state)
{
    llmperf_profile *profile = play(&base);

    (void)state;
    assert_int_equal(first_advice(profile).severity, LLMPERF_SEVERITY_LOW);
    llmperf_profile_free(profile);
}

/* Comparisons with the base */

static json_t *compare_plants(const struct plant *plain, const struct plant *plant)
{
    llmperf_profile *before = play(plain), *after = play(plant);
    char *text = NULL;
    json_t *root;

    assert_int_equal(llmperf_runs_compare((const llmperf_profile *const *)&before, 1,
                                          (const llmperf_profile *const *)&after, 1, 5,
                                          LLMPERF_TEXT_JSON, &text, NULL),
                     0);
    assert_non_null(root = json_loads(text, 0, NULL));
    llmperf_text_free(text);
    llmperf_profile_free(before);
    llmperf_profile_free(after);
    return root;
}

static json_t *compare_with_base(const struct plant *plant)
{
    return compare_plants(&base, plant);
}

static double number_in(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void check_text(const json_t *object, const char *part)
{
    const char *text = json_string_value(json_object_get(object, "text"));

    print_message("%s\n", text);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void check_amount(double ms, double planted_ms)
{
    if (!(ms > 0.9 * planted_ms && ms < 1.1 * planted_ms))
        fail_msg("%.3f ms, %.3f planted", ms, planted_ms);
}

/* The first change is of the step, and its first cause has this name and amount. */
static void check_cause(const struct plant *plant, const char *part, double planted_ms)
{
    json_t *root = compare_with_base(plant);
    const json_t *change = json_array_get(json_object_get(root, "changes"), 0);
    const json_t *cause = json_array_get(json_object_get(change, "causes"), 0);

    check_text(change, part);
    check_text(cause, part);
    assert_true(json_is_true(json_object_get(change, "significant")));
    check_amount(number_in(change, "change_ms"), planted_ms);
    check_amount(number_in(cause, "change_ms"), planted_ms);
    json_decref(root);
}

static void compare_names_slow_attention_by_its_kernel(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.attention_ns *= 3;
    check_cause(&plant, "flash_fwd_kernel (3.0x, 32 calls)", LAYERS * 0.1);
}

static void compare_names_a_sleep_of_the_host(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.sleep_ns = 2000000;
    check_cause(&plant, "host time before the first kernel", 2);
}

static void compare_names_the_driver_call_that_fills_a_gap(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.malloc_ns = 2000000;
    check_cause(&plant,
                "host time before the first kernel (2.00 instead of 0.00300 ms), 2.00 ms of "
                "it in cuMemAlloc",
                2);
}

static void compare_names_a_copy_with_direction_and_size(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.copy_ns = 1000000;
    check_cause(&plant, "[memcpy DtoH] (new, 1 call of 25.0 MB)", 1);
    plant.small_copies = 2;
    check_cause(&plant, "[memcpy DtoH] (new, 3 calls, 25.0 MB in all)", 1);
}

/* 10 % of a class, which is 0.14 % of the step. */
static void compare_calls_no_change_a_regression_that_a_step_does_not_feel(void **state)
{
    struct plant plain = base, plant = base;
    json_t *root, *row;
    size_t i, minor = 0;

    (void)state;
    plain.copy_ns = 100000;
    plant.copy_ns = 110000;
    root = compare_plants(&plain, &plant);
    json_array_foreach(json_object_get(root, "rows"), i, row) minor +=
        strcmp(json_string_value(json_object_get(row, "quantity")), "memory op") == 0 &&
        strcmp(json_string_value(json_object_get(row, "verdict")), "minor") == 0;
    assert_int_equal(minor, 1);
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "no regression");
    json_decref(root);
    plant.copy_ns = 200000; /* 1.4 % */
    root = compare_plants(&plain, &plant);
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "regression");
    json_decref(root);
}

/* Chance makes 0.9 ms of the step, but not of its kernels. */
static void compare_names_a_kernel_within_the_noise_of_the_host(void **state)
{
    struct plant plain = base, plant;
    json_t *root, *cause;
    bool found = false;
    size_t i;

    (void)state;
    plain.jitter_ns = 4000000;
    plant = plain;
    plant.attention_ns += 16000;
    plant.sleep_ns = 1000000;
    root = compare_plants(&plain, &plant);
    check_text(json_array_get(json_object_get(root, "changes"), 0), "flash_fwd_kernel (1.3x");
    json_array_foreach(
        json_object_get(json_array_get(json_object_get(root, "changes"), 0), "causes"), i,
        cause) if (strstr(json_string_value(json_object_get(cause, "text")), "flash_fwd_kernel"))
        found = json_is_true(json_object_get(cause, "significant"));
    assert_true(found);
    json_decref(root);
}

static void compare_names_a_slow_first_call_apart(void **state)
{
    struct plant plant = base;
    json_t *root, *row;
    size_t i;

    (void)state;
    plant.first_ns = 551600000;
    root = compare_with_base(&plant);
    check_text(json_array_get(json_object_get(root, "changes"), 0),
               "The warm-up of LLM@decode_step is 551.6 ms slower");
    check_amount(number_in(json_array_get(json_object_get(root, "changes"), 0), "change_ms"),
                 551.6);
    check_text(json_array_get(json_object_get(root, "changes"), 1),
               "LLM@decode_step: no significant difference");
    /* It is not in the noise of the others. */
    json_array_foreach(
        json_object_get(root, "rows"), i,
        row) if (strcmp(json_string_value(json_object_get(row, "quantity")), "wall") == 0)
        assert_true(number_in(row, "noise_ms") < 0.1 && fabs(number_in(row, "change_ms")) < 0.1);
    json_decref(root);
}

static void compare_names_the_kernel_that_took_anothers_place(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.attention_ns *= 2;
    plant.attention = "naive_attention_kernel";
    check_cause(&plant, "naive_attention_kernel in place of flash_fwd_kernel (2.0x, 32 calls)",
                LAYERS * 0.05);
}

static json_t *compare_scripts(const char *before, const char *after)
{
    llmperf_profile *runs[] = { play_script(before), play_script(after) };
    char *text = NULL;
    json_t *root;

    assert_int_equal(compare_pair(runs[0], runs[1], 5, LLMPERF_TEXT_JSON, &text, NULL), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    llmperf_text_free(text);
    llmperf_profile_free(runs[0]);
    llmperf_profile_free(runs[1]);
    return root;
}

static void compare_names_the_kernel_of_an_unmarked_run(void **state)
{
    json_t *root = compare_scripts(
        "repeat 100\nlaunch gemm duration=20000\nlaunch softmax duration=5000\nwait 30000\ndone\n",
        "repeat 100\nlaunch gemm duration=20000\nlaunch softmax duration=55000\nwait "
        "80000\ndone\n");
    json_t *change = json_array_get(json_object_get(root, "changes"), 0);

    (void)state;
    assert_int_equal(json_array_size(json_object_get(root, "changes")), 1);
    check_text(change, "5.00 ms of it is softmax (11x, 100 calls)");
    check_amount(number_in(change, "change_ms"), 5);
    json_decref(root);
}

/* Attention of three runs, in ns, compared with 50, 51 and 52 us. */
static bool repeats_differ(unsigned first, unsigned second, unsigned third)
{
    const unsigned ns[] = { 50000, 51000, 52000, first, second, third };
    llmperf_profile *runs[6];
    json_t *root, *change;
    char *text = NULL;
    bool significant;

    for (size_t i = 0; i < 6; i++) {
        struct plant plant = base;

        plant.attention_ns = ns[i];
        runs[i] = play(&plant);
    }
    assert_int_equal(llmperf_runs_compare((const llmperf_profile *const *)runs, 3,
                                          (const llmperf_profile *const *)runs + 3, 3, 5,
                                          LLMPERF_TEXT_JSON, &text, NULL),
                     0);
    assert_non_null(root = json_loads(text, 0, NULL));
    change = json_array_get(json_object_get(root, "changes"), 0);
    significant = json_is_true(json_object_get(change, "significant"));
    if (significant)
        check_text(json_array_get(json_object_get(change, "causes"), 0), base.attention);
    json_decref(root);
    llmperf_text_free(text);
    for (size_t i = 0; i < 6; i++)
        llmperf_profile_free(runs[i]);
    return significant;
}

static void compare_of_repeats_takes_their_spread_for_noise(void **state)
{
    (void)state;
    assert_true(repeats_differ(60000, 61000, 62000));
    assert_false(repeats_differ(51000, 52000, 53000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_attention_is_named_with_its_kernel),
        cmocka_unit_test(a_host_that_sleeps_before_its_launches_is_named),
        cmocka_unit_test(a_host_that_works_between_kernels_is_not_called_slow_to_launch),
        cmocka_unit_test(an_allocation_in_each_step_is_named),
        cmocka_unit_test(a_wait_that_drains_the_device_is_named),
        cmocka_unit_test(a_copy_in_each_step_is_named_with_its_direction),
        cmocka_unit_test(copies_of_different_sizes_are_not_described_by_their_mean),
        cmocka_unit_test(a_slow_first_step_is_warm_up),
        cmocka_unit_test(the_base_has_no_severe_advice),
        cmocka_unit_test(compare_names_slow_attention_by_its_kernel),
        cmocka_unit_test(compare_names_a_sleep_of_the_host),
        cmocka_unit_test(compare_names_the_driver_call_that_fills_a_gap),
        cmocka_unit_test(compare_names_a_copy_with_direction_and_size),
        cmocka_unit_test(compare_calls_no_change_a_regression_that_a_step_does_not_feel),
        cmocka_unit_test(compare_names_the_kernel_of_an_unmarked_run),
        cmocka_unit_test(compare_names_a_kernel_within_the_noise_of_the_host),
        cmocka_unit_test(compare_names_a_slow_first_call_apart),
        cmocka_unit_test(compare_names_the_kernel_that_took_anothers_place),
        cmocka_unit_test(compare_of_repeats_takes_their_spread_for_noise),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
