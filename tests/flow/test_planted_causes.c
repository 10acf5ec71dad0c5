/* SPDX-License-Identifier: Apache-2.0 */
/** Causes of slow decoding planted in a script of Llama 3 8B on an H100: the first advice names
 * each of them, with the time that removing it gains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/findings.h"
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
};

static const struct plant base = { 50000, 0, 0, 0 };

static void add_step(FILE *file, const struct plant *plant, unsigned sleep_ns)
{
    unsigned device_ns = LAYERS * (20000 + plant->attention_ns + 13000 + 130000) + 360000;

    fprintf(file, "begin LLM@decode_step sequences=8 tokens=8 context=32768\n");
    if (sleep_ns > 0)
        fprintf(file, "wait %u\n", sleep_ns);
    fprintf(file,
            "repeat %d\nlaunch qkv_gemm duration=20000\nlaunch flash_fwd_kernel duration=%u\n"
            "launch o_gemm duration=13000\nlaunch mlp_gemm duration=130000\ndone\n"
            "launch head_gemm duration=360000\n",
            LAYERS, plant->attention_ns);
    if (plant->copy_ns > 0)
        fprintf(file, "copy dtoh bytes=25000000 duration=%u\n", plant->copy_ns);
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
    fprintf(file, "repeat %d\n", STEPS - 1);
    add_step(file, plant, plant->sleep_ns);
    fprintf(file, "done\n");
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

static void a_copy_in_each_step_is_named_with_its_direction(void **state)
{
    struct plant plant = base;

    (void)state;
    plant.copy_ns = 1000000;
    check_plant(&plant, "memcpy_in_decode", "[memcpy DtoH] of 25000 KB", STEPS * 1.0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_attention_is_named_with_its_kernel),
        cmocka_unit_test(a_host_that_sleeps_before_its_launches_is_named),
        cmocka_unit_test(a_copy_in_each_step_is_named_with_its_direction),
        cmocka_unit_test(a_slow_first_step_is_warm_up),
        cmocka_unit_test(the_base_has_no_severe_advice),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
