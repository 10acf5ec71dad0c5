/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU a name and a device belong to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/hardware.h"
#include "tests/support/text.h"
#include "llmperf/sys/hardware.h"

#define GIB ((uint64_t)1 << 30)

static int clear_variables(void **state)
{
    (void)state;
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    return 0;
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
    assert_text_has(llmperf_last_error(), "\"d\" in the name means another part than the RTX 4090");
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
    hardware = find_gpu(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "GH200 96GB");
    assert_true(bandwidth_of(hardware) == 4000);
    llmperf_hardware_free(hardware);
    query.memory_bytes = 141 * GIB;
    hardware = find_gpu(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "GH200 144GB");
    assert_true(bandwidth_of(hardware) == 4900);
    llmperf_hardware_free(hardware);
}

static void a_device_that_agrees_gets_the_published_values(void **state)
{
    llmperf_hardware_query query = h200_query();
    llmperf_hardware *hardware = find_gpu(&query);

    (void)state;
    assert_true(peak_of(hardware, "bf16").value == 989.4);
    assert_int_equal(peak_of(hardware, "bf16").confidence, LLMPERF_CONFIDENCE_HIGH);
    assert_true(bandwidth_of(hardware) == 4800);
    assert_int_equal(llmperf_hardware_capability(hardware), 90);
    assert_null(llmperf_hardware_warning(hardware, 0));
    llmperf_hardware_free(hardware);
}

static void a_device_that_disagrees_gets_computed_values_and_a_warning(void **state)
{
    llmperf_hardware_query query = h200_query();
    llmperf_hardware *hardware;

    (void)state;
    query.sm_count = 114;
    hardware = find_gpu(&query);
    assert_true(quantity_of(hardware, LLMPERF_HARDWARE_L2_MB).value == 60);
    assert_int_equal(peak_of(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_near(peak_of(hardware, "bf16").value, 114 * 4096 * 1980 * 0.924 / 1e6, 1e-9, "bf16");
    assert_near(bandwidth_of(hardware), 4814.304, 1e-9, "bandwidth");
    assert_true(hardware_warns(hardware, "114 SMs, the H200 SXM in the table has 132"));
    llmperf_hardware_free(hardware);

    query = h200_query();
    query.memory_bytes = 80 * GIB;
    hardware = find_gpu(&query);
    assert_int_equal(peak_of(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_true(hardware_warns(hardware, "of memory"));
    llmperf_hardware_free(hardware);

    query = h200_query();
    query.cc_major = 10;
    hardware = find_gpu(&query);
    assert_true(hardware_warns(hardware, "compute capability 10.0"));
    llmperf_hardware_free(hardware);
}

static void variants_of_capped_parts_get_no_computed_peak(void **state)
{
    llmperf_hardware_query query = h200_query();
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA H20-3e";
    query.sm_count = 78;
    hardware = find_gpu(&query);
    assert_true(isnan(peak_of(hardware, "bf16").value));
    assert_text_has(peak_of(hardware, "bf16").reason, "capped");
    assert_near(bandwidth_of(hardware), 4814.304, 1e-9, "bandwidth");
    llmperf_hardware_free(hardware);
}

static void a_mig_slice_gets_its_share(void **state)
{
    llmperf_hardware_query query = LLMPERF_HARDWARE_QUERY_INIT;
    llmperf_hardware *hardware;

    (void)state;
    query.name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
    hardware = find_gpu(&query);
    assert_text_has(peak_of(hardware, "bf16").reason, "SM count of the MIG slice");
    assert_near(bandwidth_of(hardware), 1555.0 / 8, 1e-9, "1g.5gb");
    llmperf_hardware_free(hardware);

    query.name = "NVIDIA H100 80GB HBM3 MIG 3g.40gb";
    query.cc_major = 9;
    query.sm_count = 60;
    query.memory_bytes = 39 * GIB;
    query.clock_khz = 1980000;
    hardware = find_gpu(&query);
    assert_near(peak_of(hardware, "bf16").value, 989.4 * 60 / 132, 1e-9, "3g.40gb");
    assert_int_equal(peak_of(hardware, "bf16").origin, LLMPERF_ORIGIN_COMPUTED);
    assert_near(bandwidth_of(hardware), 3350.0 / 2, 1e-9, "3g.40gb");
    assert_int_equal(quantity_of(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).confidence,
                     LLMPERF_CONFIDENCE_LOW);
    assert_true(hardware_warns(hardware, "MIG slice"));
    llmperf_hardware_free(hardware);

    query.name = "NVIDIA X900 MIG 1g.5gb";
    query.memory_clock_khz = 1000000;
    query.bus_width_bits = 5120;
    hardware = find_gpu(&query);
    assert_true(isnan(bandwidth_of(hardware)));
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
    hardware = find_gpu(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "Jetson AGX Orin 64GB");
    assert_near(peak_of(hardware, "fp16").value, 42.6, 0.01, "Orin fp16");
    llmperf_hardware_free(hardware);
    query.sm_count = 8;
    hardware = find_gpu(&query);
    assert_string_equal(llmperf_hardware_name(hardware), "Orin");
    assert_int_equal(peak_of(hardware, "fp16").origin, LLMPERF_ORIGIN_COMPUTED);
    llmperf_hardware_free(hardware);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_drivers_find_their_gpu_and_no_other),
        cmocka_unit_test(an_error_names_similar_gpus),
        cmocka_unit_test(memory_tells_one_gpu_from_another_of_the_same_name),
        cmocka_unit_test(a_device_that_agrees_gets_the_published_values),
        cmocka_unit_test(a_device_that_disagrees_gets_computed_values_and_a_warning),
        cmocka_unit_test(variants_of_capped_parts_get_no_computed_peak),
        cmocka_unit_test(a_mig_slice_gets_its_share),
        cmocka_unit_test(names_shared_by_several_parts_need_the_sm_count),
    };

    return cmocka_run_group_tests(tests, clear_variables, NULL);
}
