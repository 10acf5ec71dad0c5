/* SPDX-License-Identifier: Apache-2.0 */
/* Floors of steps: worked examples, and what happens where a limit is not known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "llmperf/roofline.h"
#include "llmperf/sys/analysis.h"
#include "tests/support/hardware.h"
#include "tests/support/text.h"

#define MOST 256

static uint64_t context_2048[MOST], prompt_2048[MOST];

static int prepare(void **state)
{
    (void)state;
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    for (size_t i = 0; i < MOST; i++) {
        context_2048[i] = 2047; /* and the new token itself */
        prompt_2048[i] = 2048;
    }
    return 0;
}

static llmperf_model *open_model(const char *name)
{
    llmperf_model *model = NULL;

    if (llmperf_model_open(name, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    return model;
}

static llmperf_step decode_step(uint64_t requests)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = requests;
    step.cached_tokens = context_2048;
    return step;
}

static llmperf_step prefill_step(uint64_t requests)
{
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = LLMPERF_PHASE_PREFILL;
    step.requests = requests;
    step.new_tokens = prompt_2048;
    return step;
}

static llmperf_step_floor floor_of(const llmperf_model *model, const llmperf_step *step,
                                   const llmperf_hardware *hardware)
{
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;

    if (llmperf_model_floor(model, step, hardware, LLMPERF_LIMITS_IN_USE, &floor) < 0)
        fail_msg("%s", llmperf_last_error());
    return floor;
}

static void decode_floors_equal_the_worked_examples(void **state)
{
    static const uint64_t batches[] = { 1, 8, 32, 128, 256 };
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    json_t *vectors, *worked;
    char path[512], key[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/analytics/model_vectors.json", getenv("LLMPERF_TEST_DATA"));
    assert_non_null(vectors = json_load_file(path, 0, NULL));
    worked = json_object_get(vectors, "worked");
    for (size_t i = 0; i < 5; i++) {
        llmperf_step step = decode_step(batches[i]);
        llmperf_step_floor floor = floor_of(model, &step, hardware);
        json_t *row;

        snprintf(key, sizeof(key), "llama3_8b_H200_decode_B%d_c2048", (int)batches[i]);
        assert_non_null(row = json_object_get(worked, key));
#define NUMBER(name) json_number_value(json_object_get(row, name))
        assert_near(floor.roofline_ms, NUMBER("floor_us") / 1e3, 1e-9, "floor");
        assert_near(floor.compute_ms, NUMBER("t_compute_us") / 1e3, 1e-9, "compute");
        assert_near(floor.memory_ms, NUMBER("t_mem_us") / 1e3, 1e-9, "memory");
        assert_near(floor.intensity, NUMBER("ai"), 1e-9, "intensity");
        assert_near(floor.mfu_limit, NUMBER("mfu_at_floor"), 1e-9, "MFU");
        assert_near(floor.tokens_per_s, NUMBER("tok_s_per_user_at_floor") * (double)batches[i],
                    1e-9, "tokens/s");
        assert_int_equal(floor.bound, LLMPERF_BOUND_MEMORY);
        assert_true(floor.serial_ms >= floor.roofline_ms);
        assert_true(floor.mbu_limit == 1 && floor.link_ms == 0);
    }
    json_decref(vectors);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

/* Written out: 2 bytes for each weight of a layer, of the LM head and of one row of the embedding
 * table a request; 4096 tokens in the KV cache of each. */
static void batches_by_hand(const char *name, double layers, double layer, double head,
                            double hidden, double cache, double experts, double expert)
{
    static const uint64_t batches[] = { 1, 8, 206, 4096 };
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model(name);

    for (size_t i = 0; i < 4; i++) {
        double n = (double)batches[i];
        double chosen = experts > 0 ? experts * (1 - pow(1 - 8 / experts, n)) : 0;
        double bytes = 2 * (layers * (layer + chosen * expert) + head + n * hidden) +
                       n * 4097 * cache; /* 4096 read and one written */
        llmperf_step step = decode_step(batches[i]);

        step.cached_tokens = NULL;
        step.cached_each = 4095;
        assert_near(floor_of(model, &step, hardware).memory_ms, bytes / 4800e6, 1e-9, name);
    }
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

static void bounds_of_a_batch_equal_sums_by_hand(void **state)
{
    (void)state;
    batches_by_hand("llama_3_8b", 32,
                    2. * 4096 * 4096 + 2. * 4096 * 1024 + 3. * 4096 * 14336 + 2 * 4096,
                    4096. * 128256 + 4096, 4096, 32 * 2 * 1024 * 2, 0, 0);
    batches_by_hand("qwen3_30b_a3b", 48,
                    2. * 2048 * 4096 + 2. * 2048 * 512 + 2048. * 128 + 2 * 2048 + 2 * 128,
                    2048. * 151936 + 2048, 2048, 48 * 2 * 512 * 2, 128, 3. * 2048 * 768);
}

static void requests_alike_need_no_arrays(void **state)
{
    static const char *const names[] = { "llama_3_8b", "gemma_3_4b", "deepseek_v3" };
    llmperf_hardware *hardware = find_gpu_name("H200");

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        llmperf_model *model = open_model(names[i / 2]);
        llmperf_step arrays = i % 2 ? prefill_step(37) : decode_step(37), alike = arrays;
        llmperf_step_floor a, b;

        arrays.draft_tokens = alike.draft_tokens = i % 2 ? 0 : 3;
        alike.new_tokens = alike.cached_tokens = NULL;
        alike.new_each = i % 2 ? 2048 : 0;
        alike.cached_each = i % 2 ? 0 : 2047;
        a = floor_of(model, &arrays, hardware);
        b = floor_of(model, &alike, hardware);
        assert_near(b.compute_ms, a.compute_ms, 1e-9, names[i / 2]);
        assert_near(b.memory_ms, a.memory_ms, 1e-9, names[i / 2]);
        assert_near(b.tokens_per_s, a.tokens_per_s, 1e-9, names[i / 2]);
        llmperf_model_free(model);
    }
    llmperf_hardware_free(hardware);
}

static void a_prefill_is_compute_bound_and_operators_in_turn_take_longer(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = prefill_step(1);
    llmperf_step_floor floor = floor_of(model, &step, hardware);
    double serial = 0;
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;

    (void)state;
    assert_int_equal(floor.bound, LLMPERF_BOUND_COMPUTE);
    assert_near(floor.compute_ms, 29688401494016.0 / 989.4e9, 1e-9, "compute");
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        serial += fmax((double)op.model_flops / 989.4e9,
                       (double)(op.weight_bytes + op.kv_read_bytes + op.kv_write_bytes) / 4.8e9);
    assert_near(floor.serial_ms, serial, 1e-9, "serial");
    assert_true(floor.serial_ms > floor.roofline_ms);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

/* 32 requests of 2048 positions, 61 layers, 128 heads. Expanded 2 x 128 x (128 + 64 + 128) = 81920
 * FLOPs per pair, absorbed 2 x 128 x (2 x 512 + 64) = 278528: 65536 x 61 x (278528 - 81920) more.
 */
static void latent_decode_works_on_the_latent(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("deepseek_v3");
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step_floor floor;
    double model_ms = 0;

    (void)state;
    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 32;
    step.cached_each = 2047;
    floor = floor_of(model, &step, hardware);
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        model_ms +=
            (double)op.model_flops / (op.compute_dtype == LLMPERF_DTYPE_FP8 ? 1978.9e9 : 989.4e9);
    assert_near(floor.compute_ms, model_ms + 785979015168.0 / 989.4e9, 1e-9, "compute");
    assert_near(floor.mfu_limit, model_ms / floor.roofline_ms, 1e-9, "model FLOPs");
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

/* FP8 products beside a head and attention in BF16: each at its own peak. */
static void each_operator_is_held_against_the_peak_of_its_dtype(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = prefill_step(1);
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step_floor floor;
    double compute = 0;

    (void)state;
    step.weight_dtype = step.activation_dtype = LLMPERF_DTYPE_FP8;
    floor = floor_of(model, &step, hardware);
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++)
        compute +=
            (double)op.model_flops / (op.compute_dtype == LLMPERF_DTYPE_FP8 ? 1978.9e9 : 989.4e9);
    assert_near(floor.compute_ms, compute, 1e-9, "compute");
    assert_true(floor.peak_tflops > 989.4 && floor.peak_tflops < 1978.9);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

static void a_dtype_without_a_peak_leaves_the_floor_unknown_with_the_reason(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("Tesla V100-SXM2-16GB");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = decode_step(1);
    llmperf_step_floor floor = floor_of(model, &step, hardware);
    llmperf_decode_turn turn = LLMPERF_DECODE_TURN_INIT;

    (void)state;
    assert_true(isnan(floor.compute_ms) && isnan(floor.roofline_ms) && isnan(floor.serial_ms));
    assert_true(isnan(floor.tokens_per_s) && isnan(floor.mfu_limit));
    assert_near(floor.memory_ms, 15278424064.0 / 900e6, 1e-9, "memory");
    assert_int_equal(floor.bound, LLMPERF_BOUND_UNKNOWN);
    assert_int_equal(floor.missing_dtype, LLMPERF_DTYPE_BF16);
    assert_text_has(floor.bound_reason, "no bf16 unit");
    assert_int_equal(llmperf_model_decode_turn(model, &step, hardware, 0, &turn), LLMPERF_OK);
    assert_true(isnan(turn.batch) && isnan(turn.context));
    assert_text_has(turn.batch_reason, "no bf16 unit");
    /* The work exists in another format. */
    step.weight_dtype = LLMPERF_DTYPE_FP16;
    floor = floor_of(model, &step, hardware);
    assert_true(floor.roofline_ms > 0 && !floor.bound_reason && !floor.missing_dtype);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

static void formats_that_only_store_have_no_peak(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = decode_step(1);
    llmperf_step_floor floor;

    (void)state;
    step.weight_dtype = step.activation_dtype = LLMPERF_DTYPE_INT4_G128;
    floor = floor_of(model, &step, hardware);
    assert_true(isnan(floor.compute_ms));
    assert_text_has(floor.compute_reason, "no unit computes in this format");
    /* Stored in 4 bits, computed in bf16. */
    step.activation_dtype = LLMPERF_DTYPE_DEFAULT;
    floor = floor_of(model, &step, hardware);
    assert_near(floor.peak_tflops, 989.4, 1e-9, "peak");
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

static void what_is_sent_between_gpus_can_bound(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200"), *alone = find_gpu_name("L4");
    llmperf_model *model = open_model("llama_3_70b");
    llmperf_step step = prefill_step(1);
    llmperf_work work = LLMPERF_WORK_INIT;
    llmperf_step_floor floor;

    (void)state;
    step.tensor_parallel = 8;
    floor = floor_of(model, &step, hardware);
    assert_int_equal(llmperf_model_work(model, &step, &work), LLMPERF_OK);
    assert_near(floor.link_ms, (double)work.communication_bytes / 450e6, 1e-9, "link");
    assert_near(floor.compute_ms, (double)work.model_flops / 989.4e9, 1e-6, "a share of the work");
    assert_true(floor.serial_ms >= floor.link_ms);
    /* No NVLink, and no other link is known. */
    floor = floor_of(model, &step, alone);
    assert_true(isnan(floor.link_ms) && isnan(floor.roofline_ms) && floor.compute_ms > 0);
    assert_non_null(floor.link_reason);
    assert_string_equal(floor.bound_reason, floor.link_reason);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
    llmperf_hardware_free(alone);
}

static llmperf_decode_turn turn_of(const llmperf_model *model, const llmperf_step *step,
                                   const llmperf_hardware *hardware)
{
    llmperf_decode_turn turn = LLMPERF_DECODE_TURN_INIT;

    if (llmperf_model_decode_turn(model, step, hardware, LLMPERF_LIMITS_IN_USE, &turn) < 0)
        fail_msg("%s", llmperf_last_error());
    return turn;
}

/* c* = 2 N / (R kv - a), R = 989.4e3 / 4800 FLOPs a byte. */
static void turns_are_those_of_the_closed_forms(void **state)
{
    static const struct {
        const char *model;
        double active, pair, kv;
    } rows[] = { { "llama_3_8b", 7504658432.0, 524288, 131072 },
                 { "llama_3_70b", 69501714432.0, 2621440, 327680 },
                 { "deepseek_ocr", 574095360.0, 61440, 61440 } };
    llmperf_hardware *hardware = find_gpu_name("H200");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        llmperf_model *model = open_model(rows[i].model);
        llmperf_step step = decode_step(1);
        double context = 2 * rows[i].active / (989.4e3 / 4800 * rows[i].kv - rows[i].pair);

        assert_true(turn_of(model, &step, hardware).context == floor(context));
        llmperf_model_free(model);
    }
    llmperf_hardware_free(hardware);
}

static void the_batch_that_turns_is_the_first_that_is_not_memory_bound(void **state)
{
    static uint64_t short_context[MOST * 2];
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = decode_step(1);
    llmperf_step_floor floor;
    double batch;

    (void)state;
    assert_true(isinf(turn_of(model, &step, hardware).batch)); /* at 2048: never */
    step.cached_tokens = short_context;                        /* the token alone */
    batch = turn_of(model, &step, hardware).batch;
    assert_true(batch > 200 && batch < 2 * MOST);
    step.requests = (uint64_t)batch;
    floor = floor_of(model, &step, hardware);
    assert_true(floor.compute_ms >= floor.memory_ms);
    step.requests--;
    floor = floor_of(model, &step, hardware);
    assert_true(floor.compute_ms < floor.memory_ms);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

static void wrong_calls_are_refused(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("H200");
    llmperf_model *model = open_model("llama_3_8b");
    llmperf_step step = decode_step(1), prefill = prefill_step(1);
    llmperf_step_floor floor = LLMPERF_STEP_FLOOR_INIT;
    llmperf_decode_turn turn = LLMPERF_DECODE_TURN_INIT;

    (void)state;
    assert_int_equal(llmperf_model_floor(model, &step, hardware, 2, &floor), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_floor(model, &step, NULL, 0, &floor), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_floor(NULL, &step, hardware, 0, &floor), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_floor(model, NULL, hardware, 0, &floor), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_floor(model, &step, hardware, 0, NULL), LLMPERF_EINVAL);
    floor.struct_size = 0;
    assert_int_equal(llmperf_model_floor(model, &step, hardware, 0, &floor), LLMPERF_EINVAL);
    assert_int_equal(llmperf_model_decode_turn(model, &prefill, hardware, 0, &turn),
                     LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "decode step");
    step.requests = 0;
    assert_int_equal(llmperf_model_decode_turn(model, &step, hardware, 0, &turn), LLMPERF_EINVAL);
    llmperf_model_free(model);
    llmperf_hardware_free(hardware);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode_floors_equal_the_worked_examples),
        cmocka_unit_test(bounds_of_a_batch_equal_sums_by_hand),
        cmocka_unit_test(requests_alike_need_no_arrays),
        cmocka_unit_test(a_prefill_is_compute_bound_and_operators_in_turn_take_longer),
        cmocka_unit_test(latent_decode_works_on_the_latent),
        cmocka_unit_test(each_operator_is_held_against_the_peak_of_its_dtype),
        cmocka_unit_test(a_dtype_without_a_peak_leaves_the_floor_unknown_with_the_reason),
        cmocka_unit_test(formats_that_only_store_have_no_peak),
        cmocka_unit_test(what_is_sent_between_gpus_can_bound),
        cmocka_unit_test(turns_are_those_of_the_closed_forms),
        cmocka_unit_test(the_batch_that_turns_is_the_first_that_is_not_memory_bound),
        cmocka_unit_test(wrong_calls_are_refused),
    };

    return cmocka_run_group_tests(tests, prepare, NULL);
}
