/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks and limits of GPUs: the table, its names, computed values, and the user's word. */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "llmperf/hardware.h"

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

static int clear_variables(void **state)
{
    (void)state;
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    return 0;
}

static llmperf_hardware *find(const llmperf_hardware_query *query)
{
    llmperf_hardware *hardware = NULL;

    if (llmperf_hardware_find(query, NULL, &hardware) < 0)
        fail_msg("%s: %s", query->name ? query->name : "no name", llmperf_last_error());
    return hardware;
}

static llmperf_hardware *find_name(const char *name)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    query.name = name;
    return find(&query);
}

static llmperf_hardware_value peak(const llmperf_hardware *hardware, const char *dtype)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    if (llmperf_hardware_peak(hardware, dtype, &value) < 0)
        fail_msg("%s", llmperf_last_error());
    assert_true(isnan(value.value) == (value.origin == LLMPERF_ORIGIN_NONE));
    assert_true((value.reason != NULL) == isnan(value.value));
    assert_true((value.source != NULL) == !isnan(value.value));
    assert_true(isnan(value.value) || value.confidence != LLMPERF_CONFIDENCE_NONE);
    return value;
}

static llmperf_hardware_value quantity(const llmperf_hardware *hardware, uint32_t which)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    assert_int_equal(llmperf_hardware_quantity(hardware, which, &value), LLMPERF_OK);
    return value;
}

static double bandwidth(const llmperf_hardware *hardware)
{
    return quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).value;
}

static void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.10g, not %.10g", what, value, expected);
}

static void assert_text_has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, text ? text : "(null)");
}

static bool warns(const llmperf_hardware *hardware, const char *part)
{
    const char *line;

    for (size_t i = 0; (line = llmperf_hardware_warning(hardware, i)); i++)
        if (strstr(line, part))
            return true;
    return false;
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

static void published_values_are_those_of_the_vectors(void **state)
{
    json_t *gpu, *peaks, *value;
    const char *dtype;
    size_t i;

    (void)state;
    assert_int_equal(json_array_size(json_object_get(vectors, "gpus")), 36);
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware *hardware = find_name(text(gpu, "name"));

        assert_string_equal(llmperf_hardware_name(hardware), text(gpu, "name"));
        peaks = json_object_get(gpu, "peak_tflops");
        json_object_foreach(peaks, dtype, value)
        {
            llmperf_hardware_value found = peak(hardware, dtype);

            assert_near(found.value, json_number_value(value), 0, text(gpu, "name"));
            assert_int_equal(found.origin, LLMPERF_ORIGIN_TABLE);
        }
        assert_near(bandwidth(hardware), number(gpu, "bandwidth_gbs"), 0, text(gpu, "name"));
        assert_near(quantity(hardware, LLMPERF_HARDWARE_SMS).value, number(gpu, "sm_count"), 0,
                    text(gpu, "name"));
        assert_near(quantity(hardware, LLMPERF_HARDWARE_L2_MB).value, number(gpu, "l2_mb"), 0,
                    text(gpu, "name"));
        assert_near(quantity(hardware, LLMPERF_HARDWARE_TENSOR_CLOCK_MHZ).value,
                    number(gpu, "tensor_clock_mhz"), 0, text(gpu, "name"));
        assert_near(quantity(hardware, LLMPERF_HARDWARE_VECTOR_CLOCK_MHZ).value,
                    number(gpu, "vector_clock_mhz"), 0, text(gpu, "name"));
        if (number(gpu, "link_gbs") > 0)
            assert_near(quantity(hardware, LLMPERF_HARDWARE_LINK_GBS).value,
                        number(gpu, "link_gbs"), 0, text(gpu, "name"));
        llmperf_hardware_free(hardware);
    }
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
            hardware = find(&query);
            /* The vectors are rounded to two digits. */
            assert_near(peak(hardware, dtype).value, json_number_value(value), 0.011,
                        text(gpu, "name"));
            assert_int_equal(peak(hardware, dtype).origin, LLMPERF_ORIGIN_COMPUTED);
            llmperf_hardware_free(hardware);
        }
        hardware = find(&query);
        if (json_is_number(json_object_get(gpu, "computed_bandwidth_gbs")))
            assert_near(bandwidth(hardware), number(gpu, "computed_bandwidth_gbs"), 0.06,
                        text(gpu, "name"));
        else
            assert_true(isnan(bandwidth(hardware)));
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
        hardware = find(&query);
        peaks = json_object_get(gpu, "peak_tflops");
        json_object_foreach(peaks, dtype, value)
        {
            if (is_listed(json_object_get(gpu, "formula_off"), dtype))
                continue;
            assert_near(peak(hardware, dtype).value / json_number_value(value), 1, 0.1,
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
        llmperf_hardware *hardware = find_name(name);

        json_object_foreach(ridges, dtype, ridge)
            assert_near(1e3 * peak(hardware, dtype).value / bandwidth(hardware),
                        json_number_value(ridge), 0.5001, name);
        llmperf_hardware_free(hardware);
    }
}

/* Names as drivers give them. NULL: another part, which must not get the numbers of a listed one.
 */
static const struct {
    const char *name, *expected;
} names[] = {
    { "NVIDIA H100 80GB HBM3", "H100 SXM5" },
    { "NVIDIA H100 PCIe", "H100 PCIe" },
    { "NVIDIA H100 NVL", "H100 NVL" },
    { "NVIDIA H200", "H200 SXM" },
    { "NVIDIA H200 NVL", "H200 NVL" },
    { "NVIDIA H20", "H20" },
    { "NVIDIA H20-3e", NULL },
    { "NVIDIA H200X", NULL },
    { "NVIDIA H800", "H800 SXM" },
    { "NVIDIA H800 PCIe", NULL },
    { "NVIDIA A100-SXM4-40GB", "A100 40GB" },
    { "NVIDIA A100-SXM4-80GB", "A100 80GB SXM" },
    { "NVIDIA A100-PCIE-40GB", "A100 40GB" },
    { "NVIDIA A100 80GB PCIe", "A100 80GB PCIe" },
    { "NVIDIA A100X", NULL },
    { "GRID A100-40C", NULL },
    { "NVIDIA A100", NULL },
    { "NVIDIA A800-SXM4-80GB", "A800 80GB SXM" },
    { "NVIDIA A800 80GB PCIe", NULL },
    { "NVIDIA A10", "A10" },
    { "NVIDIA A10G", "A10G" },
    { "NVIDIA A10M", NULL },
    { "NVIDIA A30", "A30" },
    { "NVIDIA A40", "A40" },
    { "NVIDIA A40-48Q", NULL },
    { "NVIDIA L4", "L4" },
    { "NVIDIA L40", "L40" },
    { "NVIDIA L40S", "L40S" },
    { "NVIDIA L40G", NULL },
    { "NVIDIA B200", "B200 SXM" },
    { "NVIDIA GB200", "GB200" },
    { "NVIDIA B300 SXM6 AC", "B300 SXM" },
    { "NVIDIA GB300", "GB300" },
    { "NVIDIA GB10", "GB10" },
    { "Tesla V100-SXM2-16GB", "V100 SXM2" },
    { "Tesla V100-SXM2-32GB", "V100 SXM2" },
    { "Tesla V100-PCIE-32GB", "V100 PCIe" },
    { "Tesla V100-SXM3-32GB", NULL },
    { "Tesla T4", "T4" },
    { "NVIDIA T400", NULL },
    { "NVIDIA GeForce RTX 3090", "RTX 3090" },
    { "NVIDIA GeForce RTX 3090 Ti", NULL },
    { "NVIDIA GeForce RTX 4090", "RTX 4090" },
    { "NVIDIA GeForce RTX 4090 D", NULL },
    { "NVIDIA GeForce RTX 4090 Laptop GPU", NULL },
    { "NVIDIA GeForce RTX 5090", "RTX 5090" },
    { "NVIDIA GeForce RTX 5090 D", NULL },
    { "NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada" },
    { "Quadro RTX 6000", NULL },
    { "NVIDIA RTX A6000", NULL },
    { "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
      "RTX PRO 6000 Blackwell Workstation Edition" },
    { "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", NULL },
    { "NVIDIA RTX PRO 6000 Blackwell Server Edition", NULL },
    { "Orin", NULL },
    { "Jetson AGX Orin 64GB", "Jetson AGX Orin 64GB" },
    { "h200", "H200 SXM" },
    { "nvidia geforce rtx-4090 24gb", "RTX 4090" },
    { "RTX 4090 48GB", NULL },
};

static void names_of_drivers_find_their_gpu_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
        llmperf_hardware *hardware = NULL;
        int status;

        query.name = names[i].name;
        status = llmperf_hardware_find(&query, NULL, &hardware);
        if (!names[i].expected && status != LLMPERF_ENOENT)
            fail_msg("%s gave %s", names[i].name, llmperf_hardware_name(hardware));
        if (names[i].expected && status < 0)
            fail_msg("%s: %s", names[i].name, llmperf_last_error());
        if (names[i].expected)
            assert_string_equal(llmperf_hardware_name(hardware), names[i].expected);
        llmperf_hardware_free(hardware);
    }
}

static void an_error_names_similar_gpus(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware = NULL;

    (void)state;
    query.name = "H100";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_ENOENT);
    assert_text_has(llmperf_last_error(), "H100 PCIe, H100 SXM5, H100 NVL");
    query.name = "NVIDIA GeForce RTX 4090 D";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_ENOENT);
    assert_text_has(llmperf_last_error(), "\"d\" makes it another part than the RTX 4090");
    query.name = "MI300X";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_ENOENT);
    assert_text_has(llmperf_last_error(), "--list");
    assert_null(hardware);
}

static void memory_tells_one_gpu_from_another_of_the_same_name(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware = NULL;

    (void)state;
    query.name = "NVIDIA GH200 480GB";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "several GPUs");
    query.memory_bytes = 95 * GIB;
    hardware = find(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "GH200 96GB");
    assert_true(bandwidth(hardware) == 4000);
    llmperf_hardware_free(hardware);
    query.memory_bytes = 141 * GIB;
    hardware = find(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "GH200 144GB");
    assert_true(bandwidth(hardware) == 4900);
    llmperf_hardware_free(hardware);
}

/* What cuDeviceGetAttribute gives for an H200. */
static llmperf_hardware_query h200(void)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;

    query.name = "NVIDIA H200";
    query.memory_bytes = 150110011392;
    query.cc_major = 9;
    query.sm_count = 132;
    query.clock_khz = 1980000;
    query.memory_clock_khz = 3201000;
    query.bus_width_bits = 6144;
    query.l2_bytes = 62914560;
    return query;
}

static void a_device_that_agrees_gets_the_published_values(void **state)
{
    llmperf_hardware_query query = h200();
    llmperf_hardware *hardware = find(&query);

    (void)state;
    assert_true(peak(hardware, "bf16").value == 989.4);
    assert_int_equal(peak(hardware, "bf16").confidence, LLMPERF_CONFIDENCE_HIGH);
    assert_true(bandwidth(hardware) == 4800);
    assert_int_equal(llmperf_hardware_capability(hardware), 90);
    assert_null(llmperf_hardware_warning(hardware, 0));
    llmperf_hardware_free(hardware);
}

static void a_device_that_disagrees_gets_computed_values_and_a_warning(void **state)
{
    llmperf_hardware_query query = h200();
    llmperf_hardware *hardware;

    (void)state;
    query.sm_count = 114;
    hardware = find(&query);
    assert_int_equal(peak(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_near(peak(hardware, "bf16").value, 114 * 4096 * 1980 * 0.924 / 1e6, 1e-9, "bf16");
    assert_near(bandwidth(hardware), 4916.736, 1e-9, "bandwidth");
    assert_true(warns(hardware, "114 SMs, the table's H200 SXM 132"));
    llmperf_hardware_free(hardware);

    query = h200();
    query.memory_bytes = 80 * GIB;
    hardware = find(&query);
    assert_int_equal(peak(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_true(warns(hardware, "of memory"));
    llmperf_hardware_free(hardware);

    query = h200();
    query.cc_major = 10;
    hardware = find(&query);
    assert_true(warns(hardware, "compute capability 10.0"));
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
    hardware = find(&query);
    assert_near(peak(hardware, "bf16").value, 76 * 512 * 2040 / 1e6, 1e-9, "bf16");
    assert_near(peak(hardware, "int8").value, 76 * 2048 * 2040 / 1e6, 1e-9, "int8");
    assert_true(warns(hardware, "laptop"));
    assert_true(isnan(bandwidth(hardware)));
    assert_true(isnan(peak(hardware, "fp4").value));
    llmperf_hardware_free(hardware);
    query.name = "NVIDIA RTX 5000 Ada Generation";
    hardware = find(&query);
    assert_near(peak(hardware, "bf16").value, 76 * 1024 * 2040 / 1e6, 1e-9, "bf16");
    llmperf_hardware_free(hardware);
}

static void variants_of_capped_parts_get_no_computed_peak(void **state)
{
    llmperf_hardware_query query = h200();
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA H20-3e";
    query.sm_count = 78;
    hardware = find(&query);
    assert_true(isnan(peak(hardware, "bf16").value));
    assert_text_has(peak(hardware, "bf16").reason, "capped");
    assert_near(bandwidth(hardware), 4916.736, 1e-9, "bandwidth");
    llmperf_hardware_free(hardware);
}

static void a_dtype_that_the_gpu_lacks_is_nan_with_a_reason(void **state)
{
    llmperf_hardware *hardware = find_name("Tesla T4");

    (void)state;
    assert_text_has(peak(hardware, "bf16").reason, "compute capability 7.5 has no bf16 unit");
    assert_text_has(peak(hardware, "tf32").reason, "no tf32 unit");
    assert_true(peak(hardware, "fp16").value == 65);
    llmperf_hardware_free(hardware);
    hardware = find_name("H200");
    assert_text_has(peak(hardware, "fp4").reason, "no fp4 unit");
    llmperf_hardware_free(hardware);
    /* Not published, but a unit exists. */
    hardware = find_name("GB10");
    assert_near(peak(hardware, "bf16").value, 118.8, 0.1, "GB10 bf16");
    assert_int_equal(peak(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    llmperf_hardware_free(hardware);
    hardware = find_name("H20");
    assert_text_has(peak(hardware, "fp64_tc").reason, "does not hold");
    llmperf_hardware_free(hardware);
}

static void storage_formats_have_no_peak(void **state)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;
    llmperf_hardware *hardware = find_name("H200");

    (void)state;
    assert_int_equal(llmperf_hardware_peak(hardware, "int4_g128", &value), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "activations");
    assert_int_equal(llmperf_hardware_peak(hardware, "bf17", &value), LLMPERF_EINVAL);
    assert_text_has(llmperf_last_error(), "bf17");
    assert_true(peak(hardware, "bfloat16").value == 989.4);
    assert_true(peak(hardware, "fp8_block128").value == 1978.9);
    llmperf_hardware_free(hardware);
    hardware = find_name("B200");
    assert_true(peak(hardware, "nvfp4").value == 9000);
    llmperf_hardware_free(hardware);
}

static void a_mig_slice_gets_its_share(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
    hardware = find(&query);
    assert_text_has(peak(hardware, "bf16").reason, "SM count of the MIG slice");
    assert_near(bandwidth(hardware), 1555.0 / 8, 1e-9, "1g.5gb");
    llmperf_hardware_free(hardware);

    query.name = "NVIDIA H100 80GB HBM3 MIG 3g.40gb";
    query.cc_major = 9;
    query.sm_count = 60;
    query.memory_bytes = 39 * GIB;
    query.clock_khz = 1980000;
    hardware = find(&query);
    assert_near(peak(hardware, "bf16").value, 989.4 * 60 / 132, 1e-9, "3g.40gb");
    assert_int_equal(peak(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_near(bandwidth(hardware), 3350.0 / 2, 1e-9, "3g.40gb");
    assert_int_equal(quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).confidence,
                     LLMPERF_CONFIDENCE_LOW);
    assert_true(warns(hardware, "MIG slice"));
    llmperf_hardware_free(hardware);

    query.name = "NVIDIA X900 MIG 1g.5gb";
    query.memory_clock_khz = 1000000;
    query.bus_width_bits = 5120;
    hardware = find(&query);
    assert_true(isnan(bandwidth(hardware)));
    llmperf_hardware_free(hardware);
}

static void names_shared_by_several_parts_need_the_sm_count(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;

    (void)state;
    query.name = "Orin";
    query.cc_major = 8;
    query.cc_minor = 7;
    query.sm_count = 16;
    query.clock_khz = 1300000;
    hardware = find(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "Jetson AGX Orin 64GB");
    assert_near(peak(hardware, "fp16").value, 42.6, 0.01, "Orin fp16");
    llmperf_hardware_free(hardware);
    query.sm_count = 8;
    hardware = find(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "Orin");
    assert_int_equal(peak(hardware, "fp16").origin, LLMPERF_ORIGIN_COMPUTED);
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
    hardware = find(&query);
    assert_text_has(peak(hardware, "bf16").reason, "compute capability 13.0 is not in");
    llmperf_hardware_free(hardware);
    query.clock_khz = 0;
    hardware = find(&query);
    assert_text_has(peak(hardware, "bf16").reason, "clock");
    llmperf_hardware_free(hardware);
    query.cc_major = 0;
    hardware = find(&query);
    assert_text_has(peak(hardware, "bf16").reason, "compute capability is not known");
    llmperf_hardware_free(hardware);
}

static void one_user_peak_stands_for_every_dtype(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    setenv("LLMPERF_PEAK_TFLOPS", "812.5", 1);
    setenv("LLMPERF_BANDWIDTH_GBS", "4.2e3", 1);
    hardware = find_name("H200");
    assert_true(peak(hardware, "bf16").value == 812.5);
    assert_true(peak(hardware, "fp4").value == 812.5);
    assert_int_equal(peak(hardware, "bf16").origin, LLMPERF_ORIGIN_USER);
    assert_string_equal(peak(hardware, "bf16").source, "LLMPERF_PEAK_TFLOPS");
    assert_true(bandwidth(hardware) == 4200);
    assert_int_equal(quantity(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).origin,
                     LLMPERF_ORIGIN_USER);
    assert_true(warns(hardware, "every dtype"));
    llmperf_hardware_free(hardware);
    /* Enough for a GPU of which nothing else is known. */
    hardware = find_name("Some FPGA");
    assert_true(peak(hardware, "bf16").value == 812.5);
    llmperf_hardware_free(hardware);
}

static void user_peaks_of_single_dtypes_leave_the_others(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    setenv("LLMPERF_PEAK_TFLOPS", "bf16=700,fp8=3958", 1);
    hardware = find_name("H200");
    assert_true(peak(hardware, "bf16").value == 700);
    assert_true(peak(hardware, "fp8").value == 3958);
    assert_true(peak(hardware, "fp16").value == 989.4);
    assert_true(warns(hardware, "sparse"));
    llmperf_hardware_free(hardware);
}

static void wrong_user_values_are_one_clear_line(void **state)
{
    static const char *const wrong[] = {
        "0",    "-1",    "abc",    "nan",    "inf",       "1,5",          "989 ", "0x10", "1e99",
        "bf16", "bf16=", "bf16=0", "bf17=1", "bf16=989,", "bf16=1;fp8=2", "=5",   "1e",   "--5",
    };
    llmperf_hardware_query query = h200();
    llmperf_hardware *hardware = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv("LLMPERF_PEAK_TFLOPS", wrong[i], 1);
        if (llmperf_hardware_find(&query, NULL, &hardware) != LLMPERF_EINVAL)
            fail_msg("LLMPERF_PEAK_TFLOPS=%s was taken", wrong[i]);
        assert_text_has(llmperf_last_error(), "LLMPERF_PEAK_TFLOPS=");
        assert_null(strchr(llmperf_last_error(), '\n'));
        unsetenv("LLMPERF_PEAK_TFLOPS");
        setenv("LLMPERF_BANDWIDTH_GBS", wrong[i], 1);
        assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
        assert_text_has(llmperf_last_error(), "LLMPERF_BANDWIDTH_GBS=");
        unsetenv("LLMPERF_BANDWIDTH_GBS");
    }
    assert_null(hardware);
    /* Empty is unset. */
    setenv("LLMPERF_PEAK_TFLOPS", "", 1);
    llmperf_hardware_free(find(&query));
}

static llmperf_config *config_of(const char *content)
{
    char path[] = "/tmp/llmperf-hardware-XXXXXX";
    llmperf_config *config = NULL;
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), strlen(content));
    close(file);
    assert_int_equal(llmperf_config_open(path, &config), LLMPERF_OK);
    unlink(path);
    return config;
}

static void configuration_gives_values_and_the_environment_wins(void **state)
{
    llmperf_config *config = config_of("hardware:\n  peak_tflops: {bf16: 640, fp8: 1280}\n"
                                       "  bandwidth_gbs: 4100\n");
    llmperf_hardware_query query = h200();
    llmperf_hardware *hardware;

    (void)state;
    assert_int_equal(llmperf_hardware_find(&query, config, &hardware), LLMPERF_OK);
    assert_true(peak(hardware, "bf16").value == 640);
    assert_true(peak(hardware, "fp8").value == 1280);
    assert_true(peak(hardware, "fp16").value == 989.4);
    assert_true(bandwidth(hardware) == 4100);
    assert_text_has(peak(hardware, "bf16").source, "hardware.peak_tflops");
    llmperf_hardware_free(hardware);
    setenv("LLMPERF_PEAK_TFLOPS", "bf16=600", 1);
    assert_int_equal(llmperf_hardware_find(&query, config, &hardware), LLMPERF_OK);
    assert_true(peak(hardware, "bf16").value == 600);
    assert_true(peak(hardware, "fp8").value == 1280);
    llmperf_hardware_free(hardware);
    llmperf_config_free(config);
}

static void wrong_configuration_is_refused(void **state)
{
    static const char *const wrong[] = {
        "hardware: {peak_tflops: 0}",          "hardware: {peak_tflops: -5}",
        "hardware: {peak_tflops: fast}",       "hardware: {peak_tflops: {bf17: 100}}",
        "hardware: {peak_tflops: {bf16: no}}", "hardware: {bandwidth_gbs: 0}",
        "hardware: {bandwidth_gbs: [1, 2]}",   "hardware: {peak_tflops: [1, 2]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        llmperf_config *config = config_of(wrong[i]);
        llmperf_hardware_query query = h200();
        llmperf_hardware *hardware = NULL;

        if (llmperf_hardware_find(&query, config, &hardware) != LLMPERF_EINVAL)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_text_has(llmperf_last_error(), "hardware.");
        llmperf_config_free(config);
    }
}

static void wrong_calls_are_errors(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;
    llmperf_hardware *hardware = NULL;
    char long_name[400];

    (void)state;
    assert_int_equal(llmperf_hardware_find(NULL, NULL, &hardware), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_find(&query, NULL, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
    query.name = "";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
    query.name = " - ";
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_ENOENT);
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    query.name = long_name;
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
    long_name[255] = '\0';
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_ENOENT);
    query.struct_size = 0;
    assert_int_equal(llmperf_hardware_find(&query, NULL, &hardware), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_peak(NULL, "bf16", &value), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_local(0, NULL, NULL), LLMPERF_EINVAL);
    hardware = find_name("H200");
    assert_int_equal(llmperf_hardware_quantity(hardware, 0, &value), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_quantity(hardware, 99, &value), LLMPERF_EINVAL);
    value.struct_size = 0;
    assert_int_equal(llmperf_hardware_peak(hardware, "bf16", &value), LLMPERF_EINVAL);
    llmperf_hardware_free(hardware);
    llmperf_hardware_free(NULL);
    assert_null(llmperf_hardware_dtype(9));
    assert_string_equal(llmperf_origin_name(99), "none");
    assert_string_equal(llmperf_confidence_name(LLMPERF_CONFIDENCE_HIGH), "high");
}

static void a_shorter_struct_of_an_older_caller_is_respected(void **state)
{
    struct {
        llmperf_hardware_value value;
        double behind;
    } out = { LLMPERF_HARDWARE_VALUE_INIT, 42 };
    llmperf_hardware *hardware = find_name("H200");

    (void)state;
    out.value.struct_size = 16;
    out.value.source = "untouched";
    assert_int_equal(llmperf_hardware_peak(hardware, "bf16", &out.value), LLMPERF_OK);
    assert_true(out.value.value == 989.4);
    assert_string_equal(out.value.source, "untouched");
    assert_int_equal(out.value.struct_size, 16);
    out.value.struct_size = sizeof(out);
    assert_int_equal(llmperf_hardware_peak(hardware, "bf16", &out.value), LLMPERF_OK);
    assert_true(out.behind == 42);
    llmperf_hardware_free(hardware);
}

static void the_list_is_sorted_and_each_name_is_found(void **state)
{
    char *list = NULL, *rest = NULL, before[128] = "";
    size_t count = 0;

    (void)state;
    assert_int_equal(llmperf_hardware_names(&list), LLMPERF_OK);
    for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        llmperf_hardware *hardware = find_name(line);

        assert_string_equal(llmperf_hardware_name(hardware), line);
        assert_true(strcmp(before, line) < 0);
        snprintf(before, sizeof(before), "%s", line);
        llmperf_hardware_free(hardware);
        count++;
    }
    assert_int_equal(count, 36);
    llmperf_text_free(list);
}

static void every_value_of_the_table_has_source_and_confidence(void **state)
{
    json_t *gpu;
    size_t i;

    (void)state;
    json_array_foreach(json_object_get(vectors, "gpus"), i, gpu)
    {
        llmperf_hardware *hardware = find_name(text(gpu, "name"));
        const char *dtype;

        for (size_t j = 0; (dtype = llmperf_hardware_dtype(j)); j++)
            peak(hardware, dtype);
        for (uint32_t which = 1; which <= LLMPERF_HARDWARE_LINK_GBS; which++) {
            llmperf_hardware_value value = quantity(hardware, which);

            assert_true(isnan(value.value) ? value.reason != NULL
                                           : value.source && *value.source && value.confidence > 0);
        }
        llmperf_hardware_free(hardware);
    }
}

static void damaged_data_files_are_told(void **state)
{
    static const struct {
        const char *content, *part;
    } files[] = {
        { "gpus:\n  - match: [x]\n", "name" },
        { "gpus:\n  - name: X1\n", "compute_capability" },
        { "gpus:\n  - {name: X1, compute_capability: \"9.0\"}\n", "memory_gb" },
        { "gpus:\n  - {name: X1, compute_capability: \"9.0\", memory_gb: {values: [1]}}\n",
          "sm_count" },
        { "gpus:\n  - {name: X1, compute_capability: \"9.0\", memory_gb: {values: [1]}, "
          "sm_count: 1, peak_tflops: {bf16: 5}}\n",
          "source" },
        { "gpus:\n  - {name: X1, compute_capability: \"9.0\", memory_gb: {values: [1]}, "
          "sm_count: 1, peak_tflops: {bf16: -5, source: s, confidence: high}}\n",
          "positive" },
        { "gpus: [", ":" },
    };
    char folder[] = "/tmp/llmperf-hardware-XXXXXX", path[128], command[400];
    const char *before = getenv("LLMPERF_CONFIG_DIR");
    char *kept = before ? strdup(before) : NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_non_null(kept);
    snprintf(command, sizeof(command),
             "mkdir %s/hardware && cp '%s/hardware/rates.yaml' %s/hardware", folder, kept, folder);
    assert_int_equal(system(command), 0);
    setenv("LLMPERF_CONFIG_DIR", folder, 1);
    snprintf(path, sizeof(path), "%s/hardware/x.yaml", folder);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
        llmperf_hardware *hardware = NULL;
        FILE *file = fopen(path, "w");
        int status;

        assert_non_null(file);
        fputs(files[i].content, file);
        fclose(file);
        query.name = "X1";
        status = llmperf_hardware_find(&query, NULL, &hardware);
        if (status != LLMPERF_EFORMAT && status != LLMPERF_ENOENT)
            fail_msg("file %zu was taken: %d", i, status);
        assert_text_has(llmperf_last_error(), files[i].part);
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    setenv("LLMPERF_CONFIG_DIR", kept, 1);
    free(kept);
}

static void the_decimal_point_does_not_follow_the_locale(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    setenv("LLMPERF_PEAK_TFLOPS", "812.5", 1);
    hardware = find_name("H200");
    assert_true(peak(hardware, "bf16").value == 812.5);
    llmperf_hardware_free(hardware);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values_are_those_of_the_vectors),
        cmocka_unit_test(formula_gives_the_computed_vectors),
        cmocka_unit_test(computed_peaks_are_within_ten_percent_of_published_ones),
        cmocka_unit_test(ridge_points_are_those_of_the_vectors),
        cmocka_unit_test(names_of_drivers_find_their_gpu_and_no_other),
        cmocka_unit_test(an_error_names_similar_gpus),
        cmocka_unit_test(memory_tells_one_gpu_from_another_of_the_same_name),
        cmocka_unit_test(a_device_that_agrees_gets_the_published_values),
        cmocka_unit_test(a_device_that_disagrees_gets_computed_values_and_a_warning),
        cmocka_unit_test(geforce_runs_tensor_dtypes_at_half_rate),
        cmocka_unit_test(variants_of_capped_parts_get_no_computed_peak),
        cmocka_unit_test(a_dtype_that_the_gpu_lacks_is_nan_with_a_reason),
        cmocka_unit_test(storage_formats_have_no_peak),
        cmocka_unit_test(a_mig_slice_gets_its_share),
        cmocka_unit_test(names_shared_by_several_parts_need_the_sm_count),
        cmocka_unit_test(an_unknown_capability_has_a_reason_and_no_peak),
        cmocka_unit_test_teardown(one_user_peak_stands_for_every_dtype, clear_variables),
        cmocka_unit_test_teardown(user_peaks_of_single_dtypes_leave_the_others, clear_variables),
        cmocka_unit_test_teardown(wrong_user_values_are_one_clear_line, clear_variables),
        cmocka_unit_test_teardown(configuration_gives_values_and_the_environment_wins,
                                  clear_variables),
        cmocka_unit_test(wrong_configuration_is_refused),
        cmocka_unit_test(wrong_calls_are_errors),
        cmocka_unit_test(a_shorter_struct_of_an_older_caller_is_respected),
        cmocka_unit_test(the_list_is_sorted_and_each_name_is_found),
        cmocka_unit_test(every_value_of_the_table_has_source_and_confidence),
        cmocka_unit_test(damaged_data_files_are_told),
        cmocka_unit_test_teardown(the_decimal_point_does_not_follow_the_locale, clear_variables),
    };

    return cmocka_run_group_tests(tests, read_vectors, drop_vectors);
}
