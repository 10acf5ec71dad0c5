/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and limits of GPUs: the table and the computed values. */
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

#include "tests/support/hardware.h"
#include "tests/support/text.h"
#include "llmperf/sys/hardware.h"

static json_t *vectors;

#define GIB ((uint64_t)1 << 30)

static json_t *vectors;

static int read_vectors(void **state)
{
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s/analytics/hardware_vectors.json", getenv("LLMPERF_TEST_DATA"));
    vectors = json_load_file(path, 0, NULL);
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
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

/* What the driver would say about a GPU of the vectors. */
static llmperf_hardware_query described(const json_t *gpu)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    int major = 0, minor = 0;

    assert_int_equal(sscanf(text(gpu, "compute_capability"), "%d.%d", &major, &minor), 2);
    query.cc_major = major;
    query.cc_minor = minor;
    query.sm_count = (int32_t)number(gpu, "sm_count");
    query.clock_khz = (int32_t)(1000 * number(gpu, "cuda_clock_mhz"));
    query.memory_clock_khz = (int32_t)(1000 * number(gpu, "memory_clock_mhz"));
    query.bus_width_bits = (int32_t)number(gpu, "bus_bits");
    return query;
}

static bool is_listed(const json_t *list, const char *word)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (strcmp(json_string_value(item), word) == 0)
            return true;
    }
    return false;
}

static void published_values_are_those_of_the_vectors(void **state)
{
    json_t *gpu, *peaks, *value;
    const char *dtype;
    size_t i;

    (void)state;
    assert_int_equal(json_array_size(json_object_get(vectors, "gpus")), 36);
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware *hardware = find_gpu_name(text(gpu, "name"));

        assert_string_equal(llmperf_hardware_name(hardware), text(gpu, "name"));
        peaks = json_object_get(gpu, "peak_tflops");
        json_object_foreach(peaks, dtype, value)
        {
            llmperf_hardware_value found = peak_of(hardware, dtype);

            assert_near(found.value, json_number_value(value), 0, text(gpu, "name"));
            assert_int_equal(found.origin, LLMPERF_ORIGIN_TABLE);
        }
        assert_near(bandwidth_of(hardware), number(gpu, "bandwidth_gbs"), 0, text(gpu, "name"));
        assert_near(quantity_of(hardware, LLMPERF_HARDWARE_SMS).value, number(gpu, "sm_count"), 0,
                    text(gpu, "name"));
        assert_near(quantity_of(hardware, LLMPERF_HARDWARE_L2_MB).value, number(gpu, "l2_mb"), 0,
                    text(gpu, "name"));
        assert_near(quantity_of(hardware, LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ).value,
                    number(gpu, "tensor_clock_mhz"), 0, text(gpu, "name"));
        assert_near(quantity_of(hardware, LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ).value,
                    number(gpu, "vector_clock_mhz"), 0, text(gpu, "name"));
        if (number(gpu, "link_gbs") > 0)
            assert_near(quantity_of(hardware, LLMPERF_HARDWARE_LINK_GBS).value,
                        number(gpu, "link_gbs"), 0, text(gpu, "name"));
        llmperf_hardware_free(hardware);
    }
}

/* The same GPU under a name that is in no table, once at each of its clocks. */
static void formula_gives_the_computed_vectors(void **state)
{
    json_t *gpu, *computed, *value;
    const char *dtype;
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware_query query = described(gpu);
        llmperf_hardware *hardware;
        int cc = 10 * query.cc_major + query.cc_minor;
        double share = cc == 90 ? 0.924 : cc == 100 || cc == 103 ? 0.945 : 1;

        query.name = json_is_true(json_object_get(gpu, "geforce")) ? "GeForce Something" : "Thing";
        computed = json_object_get(gpu, "computed_tflops");
        json_object_foreach(computed, dtype, value)
        {
            bool vector = strcmp(dtype, "fp32") == 0 || strncmp(dtype, "fp64", 4) == 0;
            double clock =
                vector ? number(gpu, "vector_clock_mhz") : number(gpu, "tensor_clock_mhz") / share;

            query.clock_khz = (int32_t)lround(1000 * clock);
            hardware = find_gpu(&query);
            /* The vectors are rounded to two digits. */
            assert_near(peak_of(hardware, dtype).value, json_number_value(value), 0.011,
                        text(gpu, "name"));
            assert_int_equal(peak_of(hardware, dtype).origin, LLMPERF_ORIGIN_COMPUTED);
            llmperf_hardware_free(hardware);
        }
        hardware = find_gpu(&query);
        if (json_is_number(json_object_get(gpu, "computed_bandwidth_gbs")))
            assert_near(bandwidth_of(hardware), number(gpu, "computed_bandwidth_gbs"), 0.06,
                        text(gpu, "name"));
        else
            assert_true(isnan(bandwidth_of(hardware)));
        llmperf_hardware_free(hardware);
    }
}

/* From the clock that CUDA reports, as for a GPU that came out after this version. */
static void computed_peaks_are_within_ten_percent_of_published_ones(void **state)
{
    json_t *gpu, *peaks, *value;
    const char *dtype;
    size_t i, compared = 0;

    (void)state;
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware_query query = described(gpu);
        llmperf_hardware *hardware;

        if (query.clock_khz == 0)
            continue;
        query.name = json_is_true(json_object_get(gpu, "geforce")) ? "GeForce Something" : "Thing";
        hardware = find_gpu(&query);
        peaks = json_object_get(gpu, "peak_tflops");
        json_object_foreach(peaks, dtype, value)
        {
            if (is_listed(json_object_get(gpu, "formula_off"), dtype))
                continue;
            assert_near(peak_of(hardware, dtype).value / json_number_value(value), 1, 0.1,
                        text(gpu, "name"));
            compared++;
        }
        llmperf_hardware_free(hardware);
    }
    assert_true(compared > 150);
}

static void ridge_points_are_those_of_the_vectors(void **state)
{
    const char *name, *dtype;
    json_t *ridges, *ridge;

    (void)state;
    json_object_foreach(json_object_get(vectors, "ridge_flops_per_byte"), name, ridges)
    {
        llmperf_hardware *hardware = find_gpu_name(name);

        json_object_foreach(ridges, dtype, ridge)
            assert_near(1e3 * peak_of(hardware, dtype).value / bandwidth_of(hardware),
                        json_number_value(ridge), 0.5001, name);
        llmperf_hardware_free(hardware);
    }
}

static void every_value_of_the_table_has_source_and_confidence(void **state)
{
    json_t *gpu;
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware *hardware = find_gpu_name(text(gpu, "name"));
        const char *dtype;

        for (size_t j = 0; (dtype = llmperf_hardware_dtype(j)); j++)
            peak_of(hardware, dtype);
        for (uint32_t which = 1; which <= LLMPERF_HARDWARE_LINK_GBS; which++) {
            llmperf_hardware_value value = quantity_of(hardware, which);

            assert_true(isnan(value.value) ? value.reason != NULL
                                           : value.source && *value.source && value.confidence > 0);
        }
        llmperf_hardware_free(hardware);
    }
}

static void the_list_is_sorted_and_each_name_is_found(void **state)
{
    char *list = NULL, *rest = NULL, before[128] = "";
    size_t count = 0;

    (void)state;
    assert_int_equal(llmperf_hardware_names(&list), LLMPERF_OK);
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        llmperf_hardware *hardware = find_gpu_name(line);

        assert_string_equal(llmperf_hardware_name(hardware), line);
        assert_true(strcmp(before, line) < 0);
        snprintf(before, sizeof(before), "%s", line);
        llmperf_hardware_free(hardware);
        count++;
    }
    assert_true(count >= json_array_size(json_object_get(vectors, "gpus")));
    llmperf_text_free(list);
}

static void a_dtype_that_the_gpu_lacks_is_nan_with_a_reason(void **state)
{
    llmperf_hardware *hardware = find_gpu_name("Tesla T4");

    (void)state;
    assert_text_has(peak_of(hardware, "bf16").reason, "compute capability 7.5 has no bf16 unit");
    assert_text_has(peak_of(hardware, "tf32").reason, "no tf32 unit");
    assert_true(peak_of(hardware, "fp16").value == 65);
    llmperf_hardware_free(hardware);
    hardware = find_gpu_name("H200");
    assert_text_has(peak_of(hardware, "fp4").reason, "no fp4 unit");
    llmperf_hardware_free(hardware);
    /* Not published, but a unit exists. */
    hardware = find_gpu_name("GB10");
    assert_near(peak_of(hardware, "bf16").value, 118.8, 0.1, "GB10 bf16");
    assert_int_equal(peak_of(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    llmperf_hardware_free(hardware);
    hardware = find_gpu_name("H20");
    assert_text_has(peak_of(hardware, "fp64_tc").reason, "is not valid");
    llmperf_hardware_free(hardware);
}

static void storage_formats_have_no_peak(void **state)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;
    llmperf_hardware *hardware = find_gpu_name("H200");

    (void)state;
    assert_int_equal(llmperf_hardware_peak(hardware, "int4_g128", &value), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "activations");
    assert_int_equal(llmperf_hardware_peak(hardware, "bf17", &value), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "bf17");
    assert_true(peak_of(hardware, "bfloat16").value == 989.4);
    assert_true(peak_of(hardware, "fp8_block128").value == 1978.9);
    llmperf_hardware_free(hardware);
    hardware = find_gpu_name("B200");
    assert_true(peak_of(hardware, "nvfp4").value == 9000);
    llmperf_hardware_free(hardware);
}

static void geforce_runs_tensor_dtypes_at_half_rate(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA GeForce RTX 4090 Laptop GPU";
    query.cc_major = 8;
    query.cc_minor = 9;
    query.sm_count = 76;
    query.clock_khz = 2040000;
    hardware = find_gpu(&query);
    assert_near(peak_of(hardware, "bf16").value, 76 * 512 * 2040 / 1e6, 1e-9, "bf16");
    assert_near(peak_of(hardware, "int8").value, 76 * 2048 * 2040 / 1e6, 1e-9, "int8");
    assert_true(hardware_warns(hardware, "laptop"));
    assert_true(isnan(bandwidth_of(hardware)));
    assert_true(isnan(peak_of(hardware, "fp4").value));
    llmperf_hardware_free(hardware);
    query.name = "NVIDIA RTX 5000 Ada Generation";
    hardware = find_gpu(&query);
    assert_near(peak_of(hardware, "bf16").value, 76 * 1024 * 2040 / 1e6, 1e-9, "bf16");
    llmperf_hardware_free(hardware);
}

static void an_unknown_capability_has_a_reason_and_no_peak(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA R100";
    query.cc_major = 13;
    query.sm_count = 200;
    query.clock_khz = 2000000;
    hardware = find_gpu(&query);
    assert_text_has(peak_of(hardware, "bf16").reason, "no data for compute capability 13.0");
    llmperf_hardware_free(hardware);
    query.clock_khz = 0;
    hardware = find_gpu(&query);
    assert_text_has(peak_of(hardware, "bf16").reason, "clock");
    llmperf_hardware_free(hardware);
    query.cc_major = 0;
    hardware = find_gpu(&query);
    assert_text_has(peak_of(hardware, "bf16").reason, "compute capability is unknown");
    llmperf_hardware_free(hardware);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_are_those_of_the_vectors),
        cmocka_unit_test(formula_gives_the_computed_vectors),
        cmocka_unit_test(computed_peaks_are_within_ten_percent_of_published_ones),
        cmocka_unit_test(ridge_points_are_those_of_the_vectors),
        cmocka_unit_test(every_value_of_the_table_has_source_and_confidence),
        cmocka_unit_test(the_list_is_sorted_and_each_name_is_found),
        cmocka_unit_test(a_dtype_that_the_gpu_lacks_is_nan_with_a_reason),
        cmocka_unit_test(storage_formats_have_no_peak),
        cmocka_unit_test(geforce_runs_tensor_dtypes_at_half_rate),
        cmocka_unit_test(an_unknown_capability_has_a_reason_and_no_peak),
    };

    return cmocka_run_group_tests(tests, read_vectors, drop_vectors);
}
