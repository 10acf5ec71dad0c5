/* SPDX-License-Identifier: Apache-2.0 */
/* MFU, MBU, floors and bounds. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/hardware.h"
#include "llmperf/sys/analysis.h"
#include "tests/support/text.h"

static json_t *vectors;

static int read_vectors(void **state)
{
    char path[512];

    (void)state;
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    snprintf(path, sizeof(path), "%s/analytics/hardware_vectors.json", getenv("LLMPERF_TEST_DATA"));
    vectors = json_load_file(path, 0, NULL);
    return vectors ? 0 : -1;
}

static int drop_vectors(void **state)
{
    (void)state;
    json_decref(vectors);
    return 0;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Equal but for the rounding of a few operations. */
static void assert_same(double value, double expected, const char *what)
{
    if (!(fabs(value / expected - 1) < 1e-12))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

static llmperf_utilisation compute(const llmperf_utilisation_input *input)
{
    llmperf_utilisation out = LLMPERF_UTILISATION_INIT;

    if (llmperf_utilisation_compute(input, &out) < 0)
        fail_msg("%s", llmperf_last_error());
    /* Whatever is not known has its reason, whatever is known has none. */
    assert_true(isnan(out.mfu) == (out.mfu_reason != NULL));
    assert_true(isnan(out.mbu) == (out.mbu_reason != NULL));
    assert_true(isnan(out.intensity) == (out.intensity_reason != NULL));
    assert_true(isnan(out.time_floor_ms) == (out.floor_reason != NULL));
    assert_true(isnan(out.floor_ratio) == (out.ratio_reason != NULL));
    assert_true((out.bound == LLMPERF_BOUND_UNKNOWN) == (out.bound_reason != NULL));
    return out;
}

static void set_limits(llmperf_utilisation_input *input, const char *gpu, const char *dtype)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;
    llmperf_hardware *hardware;

    query.name = gpu;
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_OK);
    assert_int_equal(llmperf_hardware_peak(hardware, dtype, &value), LLMPERF_OK);
    input->peak_tflops = value.value;
    assert_int_equal(llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS, &value),
                     LLMPERF_OK);
    input->bandwidth_gbs = value.value;
    llmperf_hardware_free(hardware);
}

/* 1 TFLOP and 1 GB in 10 ms on 200 TFLOP/s and 1000 GB/s: floors of 5 and 1 ms. */
static llmperf_utilisation_input simple(void)
{
    llmperf_utilisation_input input = LLMPERF_UTILISATION_INPUT_INIT;

    input.flops = 1e12;
    input.bytes = 1e9;
    input.time_ms = 10;
    input.peak_tflops = 200;
    input.bandwidth_gbs = 1000;
    input.busy_share = 1;
    return input;
}

static void floors_are_those_of_the_vectors(void **state)
{
    json_t *item;
    size_t i;

    (void)state;
    assert_true(json_array_size(json_object_get(vectors, "floors")) == 5);
    json_array_foreach(json_object_get(vectors, "floors"), i, item)
    {
        llmperf_utilisation_input input = LLMPERF_UTILISATION_INPUT_INIT;
        llmperf_utilisation out;

        set_limits(&input, text(item, "gpu"), text(item, "dtype"));
        input.flops = number(item, "flops");
        input.bytes = number(item, "bytes");
        out = compute(&input);
        assert_same(out.intensity, number(item, "ai"), "intensity");
        assert_same(1e3 * out.compute_floor_ms, number(item, "t_compute_us"), "compute floor");
        assert_same(1e3 * out.memory_floor_ms, number(item, "t_mem_us"), "memory floor");
        assert_same(1e3 * out.time_floor_ms, number(item, "floor_us"), "floor");
        assert_same(out.mfu_limit, number(item, "mfu_at_floor"), "limit of MFU");
        assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, out.bound), text(item, "bound"));
        assert_text_has(out.mfu_reason, "time is unknown");
        /* At the floor MFU is its limit, and MBU 1. */
        input.time_ms = out.time_floor_ms;
        input.busy_share = 1;
        out = compute(&input);
        assert_same(out.mfu, number(item, "mfu_at_floor"), "MFU at the floor");
        assert_same(out.mbu, 1, "MBU at the floor");
        assert_same(out.floor_ratio, 1, "ratio at the floor");
    }
}

static void measured_runs_are_those_of_the_vectors(void **state)
{
    json_t *item;
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(vectors, "runs"), i, item)
    {
        llmperf_utilisation_input input = LLMPERF_UTILISATION_INPUT_INIT;
        llmperf_utilisation out;

        set_limits(&input, text(item, "gpu"), text(item, "dtype"));
        input.flops = number(item, "flops");
        input.bytes = number(item, "bytes");
        input.time_ms = number(item, "time_ms");
        out = compute(&input);
        assert_same(out.mfu, number(item, "mfu"), text(item, "case"));
        assert_same(out.compute_floor_ms, number(item, "compute_ms"), text(item, "case"));
        if (json_object_get(item, "mbu")) {
            assert_same(out.mbu, number(item, "mbu"), text(item, "case"));
            assert_same(out.time_floor_ms, number(item, "floor_ms"), text(item, "case"));
        } else {
            assert_true(isnan(out.mbu));
            assert_same(out.achieved_tflops, number(item, "tflops"), text(item, "case"));
        }
    }
    assert_int_equal(i, 2);
}

/* Work that was launched ahead leaves the host long before it runs: ratios of host time do not
 * tell. */
static void the_bound_of_work_does_not_follow_from_ratios_of_host_time(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.time_ms = 20;
    input.busy_share = 0.25;
    out = compute(&input);
    assert_int_equal(out.bound, LLMPERF_BOUND_COMPUTE);
    assert_same(out.wall_ratio, 16, "wall ratio");
    assert_same(out.floor_ratio, 4, "ratio");
    input.busy_share = 0;
    out = compute(&input);
    assert_int_equal(out.bound, LLMPERF_BOUND_COMPUTE);
    assert_true(isnan(out.wall_ratio));
}

static void bounds_follow_the_floors(void **state)
{
    llmperf_utilisation_input input = simple();

    (void)state;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_COMPUTE);
    input.bytes = 6.1e9;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_MEMORY);
    input.bytes = 5.9e9;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_BALANCED);
    input.bytes = 4.2e9;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_BALANCED);
    input.bytes = 4.1e9;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_COMPUTE);
    input.link_bytes = 3e9;
    input.link_gbs = 450;
    assert_int_equal(compute(&input).bound, LLMPERF_BOUND_COMMUNICATION);
    assert_same(compute(&input).time_floor_ms, 3e9 / 450e6, "link floor");
}

static void utilisation_above_one_is_an_error_and_never_clamped(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.time_ms = 4;
    out = compute(&input);
    assert_true(isnan(out.mfu));
    assert_text_has(out.mfu_reason, "above 1");
    assert_same(out.achieved_tflops, 250, "achieved");
    assert_text_has(out.ratio_reason, "faster than the lower bound");
    assert_text_has(out.bound_reason, "faster than the lower bound");
    input = simple();
    input.bytes = 2e10;
    out = compute(&input);
    assert_true(isnan(out.mbu));
    assert_text_has(out.mbu_reason, "above 1");
    assert_same(out.mfu, 0.5, "MFU is not touched by a wrong number of bytes");
    /* Exactly the peak is no fault. */
    input = simple();
    input.time_ms = 5;
    assert_same(compute(&input).mfu, 1, "MFU at the peak");
    input.busy_share = 0.25;
    assert_same(compute(&input).mfu_elapsed, 0.25, "MFU over elapsed time");
    input.busy_share = 0; /* how long it took is not known */
    assert_true(isnan(compute(&input).mfu_elapsed));
}

static void bytes_that_fit_in_l2_may_be_faster_than_memory(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.flops = 1e9;
    input.bytes = 1e9;
    input.steps = 20;
    input.time_ms = 0.8;
    input.l2_mb = 60;
    out = compute(&input);
    assert_true(out.warnings & LLMPERF_WARNING_L2_RESIDENT);
    assert_same(out.mbu, 1.25, "MBU from L2");
    assert_text_has(out.ratio_reason, "L2");
    input.steps = 1;
    out = compute(&input);
    assert_false(out.warnings & LLMPERF_WARNING_L2_RESIDENT);
    assert_true(isnan(out.mbu));
}

static void what_is_missing_is_named(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.flops = 0;
    out = compute(&input);
    assert_text_has(out.mfu_reason, "FLOPs of the work");
    assert_text_has(out.intensity_reason, "FLOPs");
    assert_same(out.mbu, 0.1, "MBU needs no FLOPs");
    assert_same(out.time_floor_ms, 1, "a floor of memory alone");
    assert_true(out.bound == LLMPERF_BOUND_UNKNOWN);

    input = simple();
    input.peak_tflops = NAN;
    out = compute(&input);
    assert_text_has(out.mfu_reason, "peak of the dtype");
    assert_true(isnan(out.ridge));
    assert_same(out.memory_floor_ms, 1, "the memory floor is known");
    assert_text_has(out.floor_reason, "the GPU limit that applies");
    input.busy_share = 0.01;
    assert_text_has(compute(&input).bound_reason, "peak of the dtype");

    input = simple();
    input.bytes = 0;
    out = compute(&input);
    assert_text_has(out.mbu_reason, "bytes of the work");
    assert_text_has(out.bound_reason, "bytes of the work");
    assert_same(out.time_floor_ms, 5, "a floor of compute alone");

    input = simple();
    input.bandwidth_gbs = 0;
    assert_text_has(compute(&input).mbu_reason, "bandwidth");

    input = simple();
    input.time_ms = NAN;
    out = compute(&input);
    assert_text_has(out.mfu_reason, "time");
    assert_text_has(out.mbu_reason, "time");
    assert_text_has(out.ratio_reason, "time");
    assert_int_equal(out.bound, LLMPERF_BOUND_COMPUTE);

    input = (llmperf_utilisation_input)LLMPERF_UTILISATION_INPUT_INIT;
    out = compute(&input);
    assert_text_has(out.floor_reason, "neither");
}

static void numbers_that_cannot_be_are_refused_by_name(void **state)
{
    static const char *const fields[] = { "flops",           "bytes",         "time_ms",
                                          "peak_tflops",     "bandwidth_gbs", "busy_share",
                                          "serial_floor_ms", "link_bytes",    "link_gbs",
                                          "l2_mb",           "steps",         "devices" };
    static const double wrong[] = { -1, -1e-300, INFINITY, -INFINITY };
    llmperf_utilisation out = LLMPERF_UTILISATION_INIT;
    llmperf_utilisation_input input;

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
            input = simple();
            memcpy((char *)&input + sizeof(size_t) + i * sizeof(double), &wrong[j], sizeof(double));
            assert_int_equal(llmperf_utilisation_compute(&input, &out), LLMPERF_EINVAL);
            assert_text_has(llmperf_last_error(), fields[i]);
            assert_null(strchr(llmperf_last_error(), '\n'));
        }
    input = simple();
    input.busy_share = 1.01;
    assert_int_equal(llmperf_utilisation_compute(&input, &out), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "busy_share");
    assert_int_equal(llmperf_utilisation_compute(NULL, &out), LLMPERF_EINVAL);
    assert_int_equal(llmperf_utilisation_compute(&input, NULL), LLMPERF_EINVAL);
    input = simple();
    out.struct_size = 0;
    assert_int_equal(llmperf_utilisation_compute(&input, &out), LLMPERF_EINVAL);
    out = (llmperf_utilisation)LLMPERF_UTILISATION_INIT;
    input.struct_size = 0;
    assert_int_equal(llmperf_utilisation_compute(&input, &out), LLMPERF_EINVAL);
}

static void structs_of_older_callers_are_respected(void **state)
{
    struct {
        llmperf_utilisation out;
        double behind;
    } large = { LLMPERF_UTILISATION_INIT, 42 };
    llmperf_utilisation_input input = simple();

    (void)state;
    /* Up to bandwidth_gbs: what lies behind is not read. */
    input.struct_size = offsetof(llmperf_utilisation_input, busy_share);
    input.busy_share = -1;
    large.out.struct_size = offsetof(llmperf_utilisation, achieved_tflops);
    large.out.achieved_tflops = 7;
    assert_int_equal(llmperf_utilisation_compute(&input, &large.out), LLMPERF_OK);
    assert_same(large.out.mfu, 0.5, "MFU");
    assert_true(large.out.achieved_tflops == 7);
    large.out.struct_size = sizeof(large);
    assert_int_equal(llmperf_utilisation_compute(&input, &large.out), LLMPERF_OK);
    assert_true(large.behind == 42);
}

static void work_of_several_gpus_is_held_against_all_of_them(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.devices = 4;
    out = compute(&input);
    assert_same(out.mfu, 0.125, "MFU");
    assert_same(out.mbu, 0.025, "MBU");
    assert_same(out.compute_floor_ms, 1.25, "floor");
    assert_same(out.ridge, 200, "the ridge is that of one");
}

static void the_serial_floor_takes_the_place_of_the_roofline(void **state)
{
    llmperf_utilisation_input input = simple();
    llmperf_utilisation out;

    (void)state;
    input.serial_floor_ms = 8;
    out = compute(&input);
    assert_same(out.time_floor_ms, 8, "floor");
    assert_same(out.floor_ratio, 1.25, "ratio");
    input.serial_floor_ms = 4;
    out = compute(&input);
    assert_text_has(out.floor_reason, "serial lower bound is below");
}

static void bounds_have_names(void **state)
{
    (void)state;
    assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, LLMPERF_BOUND_LAUNCH), "launch");
    assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, LLMPERF_BOUND_UNKNOWN), "unknown");
    assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, 77), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_are_those_of_the_vectors),
        cmocka_unit_test(measured_runs_are_those_of_the_vectors),
        cmocka_unit_test(the_bound_of_work_does_not_follow_from_ratios_of_host_time),
        cmocka_unit_test(bounds_follow_the_floors),
        cmocka_unit_test(utilisation_above_one_is_an_error_and_never_clamped),
        cmocka_unit_test(bytes_that_fit_in_l2_may_be_faster_than_memory),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(numbers_that_cannot_be_are_refused_by_name),
        cmocka_unit_test(structs_of_older_callers_are_respected),
        cmocka_unit_test(work_of_several_gpus_is_held_against_all_of_them),
        cmocka_unit_test(the_serial_floor_takes_the_place_of_the_roofline),
        cmocka_unit_test(bounds_have_names),
    };

    return cmocka_run_group_tests(tests, read_vectors, drop_vectors);
}
