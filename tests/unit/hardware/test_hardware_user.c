/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that the user gives, and calls and data files that are wrong. */
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

#include "tests/support/hardware.h"
#include "tests/support/text.h"
#include "tests/support/locales.h"
#include "llmperf/sys/config.h"
#include "llmperf/sys/hardware.h"

static int clear_variables(void **state)
{
    (void)state;
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    return 0;
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

static void one_user_peak_stands_for_every_dtype(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    setenv("LLMPERF_PEAK_TFLOPS", "812.5", 1);
    setenv("LLMPERF_BANDWIDTH_GBS", "4.2e3", 1);
    hardware = find_gpu_name("H200");
    assert_true(peak_of(hardware, "bf16").value == 812.5);
    assert_true(peak_of(hardware, "fp4").value == 812.5);
    assert_int_equal(peak_of(hardware, "bf16").origin, LLMPERF_ORIGIN_USER);
    assert_string_equal(peak_of(hardware, "bf16").source, "LLMPERF_PEAK_TFLOPS");
    assert_true(bandwidth_of(hardware) == 4200);
    assert_int_equal(quantity_of(hardware, LLMPERF_HARDWARE_BANDWIDTH_GBS).origin,
                     LLMPERF_ORIGIN_USER);
    assert_true(hardware_warns(hardware, "every dtype"));
    llmperf_hardware_free(hardware);
    /* Enough for a GPU of which nothing else is known. */
    hardware = find_gpu_name("Some FPGA");
    assert_true(peak_of(hardware, "bf16").value == 812.5);
    llmperf_hardware_free(hardware);
}

static void user_peaks_of_single_dtypes_leave_the_others(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    setenv("LLMPERF_PEAK_TFLOPS", "bf16=700,fp8=3958", 1);
    hardware = find_gpu_name("H200");
    assert_true(peak_of(hardware, "bf16").value == 700);
    assert_true(peak_of(hardware, "fp8").value == 3958);
    assert_true(peak_of(hardware, "fp16").value == 989.4);
    assert_true(hardware_warns(hardware, "sparse"));
    llmperf_hardware_free(hardware);
}

static void wrong_user_values_are_one_clear_line(void **state)
{
    static const char *const wrong[] = {
        "0",    "-1",    "abc",    "nan",    "inf",       "1,5",          "989 ", "0x10", "1e99",
        "bf16", "bf16=", "bf16=0", "bf17=1", "bf16=989,", "bf16=1;fp8=2", "=5",   "1e",   "--5",
    };
    llmperf_hardware_query query = h200_query();
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
    llmperf_hardware_free(find_gpu(&query));
}

static void configuration_gives_values_and_the_environment_wins(void **state)
{
    llmperf_config *config = config_of("hardware:\n  peak_tflops: {bf16: 640, fp8: 1280}\n"
                                       "  bandwidth_gbs: 4100\n");
    llmperf_hardware_query query = h200_query();
    llmperf_hardware *hardware;

    (void)state;
    assert_int_equal(llmperf_hardware_find(&query, config, &hardware), LLMPERF_OK);
    assert_true(peak_of(hardware, "bf16").value == 640);
    assert_true(peak_of(hardware, "fp8").value == 1280);
    assert_true(peak_of(hardware, "fp16").value == 989.4);
    assert_true(bandwidth_of(hardware) == 4100);
    assert_text_has(peak_of(hardware, "bf16").source, "hardware.peak_tflops");
    llmperf_hardware_free(hardware);
    setenv("LLMPERF_PEAK_TFLOPS", "bf16=600", 1);
    assert_int_equal(llmperf_hardware_find(&query, config, &hardware), LLMPERF_OK);
    assert_true(peak_of(hardware, "bf16").value == 600);
    assert_true(peak_of(hardware, "fp8").value == 1280);
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
        llmperf_hardware_query query = h200_query();
        llmperf_hardware *hardware = NULL;

        if (llmperf_hardware_find(&query, config, &hardware) != LLMPERF_EINVAL)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_text_has(llmperf_last_error(), "hardware.");
        llmperf_config_free(config);
    }
}

static void the_decimal_point_does_not_follow_the_locale(void **state)
{
    llmperf_hardware *hardware;

    (void)state;
    use_decimal_comma();
    setenv("LLMPERF_PEAK_TFLOPS", "812.5", 1);
    hardware = find_gpu_name("H200");
    assert_true(peak_of(hardware, "bf16").value == 812.5);
    llmperf_hardware_free(hardware);
    use_decimal_point();
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
    hardware = find_gpu_name("H200");
    assert_int_equal(llmperf_hardware_quantity(hardware, 0, &value), LLMPERF_EINVAL);
    assert_int_equal(llmperf_hardware_quantity(hardware, 99, &value), LLMPERF_EINVAL);
    value.struct_size = 0;
    assert_int_equal(llmperf_hardware_peak(hardware, "bf16", &value), LLMPERF_EINVAL);
    llmperf_hardware_free(hardware);
    llmperf_hardware_free(NULL);
    assert_null(llmperf_hardware_dtype(99));
    assert_string_equal(llmperf_name(LLMPERF_NAME_ORIGIN, 99), "unknown");
    assert_string_equal(llmperf_name(LLMPERF_NAME_CONFIDENCE, LLMPERF_CONFIDENCE_HIGH), "high");
}

static void a_shorter_struct_of_an_older_caller_is_respected(void **state)
{
    struct {
        llmperf_hardware_value value;
        double behind;
    } out = { LLMPERF_HARDWARE_VALUE_INIT, 42 };
    llmperf_hardware *hardware = find_gpu_name("H200");

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_user_peak_stands_for_every_dtype, clear_variables),
        cmocka_unit_test_teardown(user_peaks_of_single_dtypes_leave_the_others, clear_variables),
        cmocka_unit_test_teardown(wrong_user_values_are_one_clear_line, clear_variables),
        cmocka_unit_test_teardown(configuration_gives_values_and_the_environment_wins,
                                  clear_variables),
        cmocka_unit_test_teardown(wrong_configuration_is_refused, clear_variables),
        cmocka_unit_test_teardown(the_decimal_point_does_not_follow_the_locale, clear_variables),
        cmocka_unit_test(wrong_calls_are_errors),
        cmocka_unit_test(a_shorter_struct_of_an_older_caller_is_respected),
        cmocka_unit_test(damaged_data_files_are_told),
    };

    return cmocka_run_group_tests(tests, clear_variables, NULL);
}
