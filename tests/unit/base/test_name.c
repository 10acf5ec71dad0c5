/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the values of public enumerations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/dtype.h"
#include "llmperf/sys.h"

static void each_enumeration_has_names(void **state)
{
    static const struct {
        uint32_t enumeration, value;
        const char *name;
    } cases[] = {
        { LLMPERF_NAME_VERDICT, LLMPERF_VERDICT_COMPLETE, "complete" },
        { LLMPERF_NAME_VERDICT, LLMPERF_VERDICT_DEAD, "dead" },
        { LLMPERF_NAME_ACTIVITY, LLMPERF_ACTIVITY_KERNEL, "kernel" },
        { LLMPERF_NAME_ACTIVITY, LLMPERF_ACTIVITY_GRAPH, "graph" },
        { LLMPERF_NAME_REGION, LLMPERF_REGION_STAGE, "stage" },
        { LLMPERF_NAME_REGION, LLMPERF_REGION_OPERATOR, "operator" },
        { LLMPERF_NAME_TIER, LLMPERF_TIER_LIGHT, "light" },
        { LLMPERF_NAME_TIER, LLMPERF_TIER_COUNTERS, "counters" },
        { LLMPERF_NAME_STATE, LLMPERF_STATE_RUNNING, "running" },
        { LLMPERF_NAME_STATE, LLMPERF_STATE_STOPPED, "stopped" },
        { LLMPERF_NAME_BOUND, LLMPERF_BOUND_UNKNOWN, "unknown" },
        { LLMPERF_NAME_BOUND, LLMPERF_BOUND_LAUNCH, "launch" },
        { LLMPERF_NAME_DTYPE, LLMPERF_DTYPE_FP32, "fp32" },
        { LLMPERF_NAME_DTYPE, LLMPERF_DTYPE_Q8_0, "q8_0" },
        { LLMPERF_NAME_ORIGIN, LLMPERF_ORIGIN_NONE, "none" },
        { LLMPERF_NAME_ORIGIN, LLMPERF_ORIGIN_DEVICE, "device" },
        { LLMPERF_NAME_CONFIDENCE, LLMPERF_CONFIDENCE_NONE, "none" },
        { LLMPERF_NAME_CONFIDENCE, LLMPERF_CONFIDENCE_HIGH, "high" },
        { LLMPERF_NAME_FORMAT, LLMPERF_FORMAT_NCU_REPORT, "ncu report" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(llmperf_name(cases[i].enumeration, cases[i].value), cases[i].name);
}

static void other_numbers_are_unknown(void **state)
{
    (void)state;
    for (uint32_t enumeration = 0; enumeration <= LLMPERF_NAME_FORMAT + 1; enumeration++) {
        assert_string_equal(llmperf_name(enumeration, 1000), "unknown");
        assert_string_equal(llmperf_name(enumeration, UINT32_MAX), "unknown");
    }
    assert_string_equal(llmperf_name(LLMPERF_NAME_VERDICT, 0), "unknown");
    assert_string_equal(llmperf_name(UINT32_MAX, 1), "unknown");
}

static void every_dtype_is_found_by_its_name(void **state)
{
    (void)state;
    for (uint32_t dtype = LLMPERF_DTYPE_FP32; lp_dtype(dtype); dtype++) {
        uint32_t found = 0;

        assert_int_equal(llmperf_dtype_find(llmperf_name(LLMPERF_NAME_DTYPE, dtype), &found), 0);
        assert_int_equal(found, dtype);
    }
}

static void one_table_serves_formats_and_peaks(void **state)
{
    static const struct {
        const char *name;
        uint32_t format;
        int peak;
    } rows[] = { { "half", LLMPERF_DTYPE_FP16, LP_PEAK_FP16 },
                 { "float8_e5m2", LLMPERF_DTYPE_FP8, LP_PEAK_FP8 },
                 { "int8_chan", LLMPERF_DTYPE_INT8, LP_PEAK_INT8 },
                 { "fp8_block128", LLMPERF_DTYPE_FP8_BLOCK128, LP_PEAK_FP8 },
                 { "nf4", LLMPERF_DTYPE_NF4, -1 } };
    uint32_t found;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(llmperf_dtype_find(rows[i].name, &found), 0);
        assert_int_equal(found, rows[i].format);
        assert_int_equal(lp_peak_find(rows[i].name), rows[i].peak);
    }
    assert_int_equal(lp_peak_find("double"), LP_PEAK_FP64);
    assert_int_equal(llmperf_dtype_find("double", &found), LLMPERF_EINVAL); /* none of weights */
    assert_int_equal(lp_peak_find("default"), -1);
    assert_int_equal(lp_peak_find("float8_e5m2 fp8_e4m3"), -1);
    assert_int_equal(lp_peak_find(""), -1);
}

static void messages_list_all_dtypes(void **state)
{
    uint32_t found;

    (void)state;
    assert_int_equal(llmperf_dtype_find("fp7", &found), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "use fp32, bf16, "));
    for (uint32_t dtype = LLMPERF_DTYPE_FP32; lp_dtype(dtype); dtype++)
        assert_non_null(strstr(llmperf_last_error(), lp_dtype_name(dtype)));
    assert_non_null(strstr(llmperf_last_error(), "int4_channel or int4_g32_sym"));
    assert_int_equal(lp_peak_read("fp7"), LLMPERF_EINVAL);
    for (size_t i = 0; llmperf_hardware_dtype(i); i++)
        assert_non_null(strstr(llmperf_last_error(), llmperf_hardware_dtype(i)));
    assert_non_null(strstr(llmperf_last_error(), "int8 or fp4"));
    assert_int_equal(lp_peak_read("q8_0"), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "computed in the dtype of their activations"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_enumeration_has_names),
        cmocka_unit_test(other_numbers_are_unknown),
        cmocka_unit_test(every_dtype_is_found_by_its_name),
        cmocka_unit_test(one_table_serves_formats_and_peaks),
        cmocka_unit_test(messages_list_all_dtypes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
