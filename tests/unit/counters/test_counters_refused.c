/* SPDX-License-Identifier: Apache-2.0 */
/** What can be in the way of hardware counters: one clear line each, and the program and its
 * session go on. Over a stand-in for CUPTI that answers with the error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/counters/abi.h"
#include "llmperf/llmperf.h"
#include "tests/support/counting.h"
#include "lib/counters/counters.h"

static int begin(void **state)
{
    (void)state;
    counting_begin();
    return 0;
}

static void run_regions(struct lp_counters *counters)
{
    for (int i = 0; i < 3; i++) {
        llmperf_region_begin("step");
        counting_deliver(counters);
        mock->work(1);
        mock->sample(20, 10);
        llmperf_region_end();
        counting_deliver(counters);
    }
}

/* One line, and it holds each of the parts. */
static void assert_line(const char *line, const char *first, const char *second)
{
    if (!strstr(line, first) || !strstr(line, second) || strchr(line, '\n') ||
        strncmp(line, "no hardware counters: ", 22) != 0)
        fail_msg("\"%s\": not \"%s\" and \"%s\"", line, first, second);
}

static const struct {
    int result;
    const char *what, *remedy;
} bad_days[] = {
    { LP_CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "administrator rights", "--cap-add=SYS_ADMIN" },
    { LP_CUPTI_ERROR_VIRTUALIZED_PRIVILEGES, "administrator rights",
      "NVreg_RestrictProfilingToAdminUsers=0" },
    { LP_CUPTI_ERROR_HARDWARE_BUSY, "another profiler", "dcgmi profile --pause" },
    { LP_CUPTI_ERROR_MIG_DEVICE, "MIG", "use a GPU without MIG" },
    { LP_CUPTI_ERROR_VIRTUALIZED_DEVICE, "virtual", "host" },
    { LP_CUPTI_ERROR_CONFIDENTIAL_COMPUTING, "confidential computing", "" },
    { LP_CUPTI_ERROR_NOT_SUPPORTED, "not supported by this GPU", "" },
    { LP_CUPTI_ERROR_OUT_OF_MEMORY, "memory", "" },
    { 999, "the mock's text", "(999)" },
};
#define BAD_DAYS (sizeof(bad_days) / sizeof(bad_days[0]))

static void fail_each(const char *words, const char *const *calls)
{
    for (size_t c = 0; calls[c]; c++)
        for (size_t d = 0; d < BAD_DAYS; d++) {
            struct lp_counters *counters;

            counting_begin();
            mock->set_failure(calls[c], bad_days[d].result);
            counters = counting_open(words);
            run_regions(counters);
            assert_line(counting_close(counters), bad_days[d].what, bad_days[d].remedy);
            if (mock->count(calls[c]) == 0)
                fail_msg("%s was never called", calls[c]);
        }
}

static void each_error_of_a_range_call_is_one_line_with_the_remedy(void **state)
{
    static const char *const calls[] = { "ProfilerDeviceSupported",
                                         "DeviceGetChipName",
                                         "ProfilerGetCounterAvailability",
                                         "RangeProfilerEnable",
                                         "RangeProfilerGetCounterDataSize",
                                         "RangeProfilerCounterDataImageInitialize",
                                         "RangeProfilerSetConfig",
                                         "RangeProfilerStart",
                                         "RangeProfilerPushRange",
                                         "RangeProfilerPopRange",
                                         "RangeProfilerStop",
                                         "RangeProfilerDecodeData",
                                         NULL };

    (void)state;
    fail_each("light", calls);
}

static void each_error_of_a_sampling_call_is_one_line_with_the_remedy(void **state)
{
    static const char *const calls[] = { "ProfilerDeviceSupported",
                                         "PmSamplingGetCounterAvailability",
                                         "PmSamplingEnable",
                                         "PmSamplingSetConfig",
                                         "PmSamplingGetCounterDataSize",
                                         "PmSamplingCounterDataImageInitialize",
                                         "PmSamplingStart",
                                         "PmSamplingGetCounterDataInfo",
                                         NULL };

    (void)state;
    fail_each("pm", calls);
}

static void a_full_buffer_costs_samples_and_is_counted(void **state)
{
    struct lp_counters *counters = counting_open("pm");
    struct lp_counters_state now;

    (void)state;
    run_regions(counters);
    mock->set_failure("PmSamplingDecodeData", LP_CUPTI_ERROR_OUT_OF_MEMORY);
    run_regions(counters);
    mock->set_failure(NULL, 0);
    lp_counters_state(counters, &now);
    assert_true(now.overflows > 0);
    assert_string_equal(now.problem, "");
    mock->set_failure("PmSamplingDecodeData", LP_CUPTI_ERROR_HARDWARE_BUSY);
    run_regions(counters);
    assert_line(counting_close(counters), "another profiler", "dcgmi");
}

static void the_profiler_is_started_once_in_a_process_and_never_ended(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct lp_counters *counters = counting_open(i == 1 ? "pm" : "light");

        run_regions(counters);
        assert_string_equal(counting_close(counters), "");
    }
    assert_true(mock->count("ProfilerInitialize") <= 1);
    assert_int_equal(mock->count("ProfilerDeInitialize"), 0);
    assert_int_equal(mock->count("RangeProfilerEnable"), 2);
    assert_int_equal(mock->count("RangeProfilerDisable"), 2);
    assert_int_equal(mock->count("PmSamplingEnable"), 1);
    assert_int_equal(mock->count("PmSamplingDisable"), 1);
}

/* A GPU that is not supported is asked once, not at each region. */
static void what_failed_is_not_tried_again(void **state)
{
    struct lp_counters *counters = counting_open("light");

    (void)state;
    mock->obstruct(MOCK_OLD);
    run_regions(counters);
    run_regions(counters);
    assert_line(counting_close(counters), "too old", "");
    assert_int_equal(mock->count("ProfilerDeviceSupported"), 1);
}

static void each_kind_of_gpu_that_has_none_is_named(void **state)
{
    static const struct {
        enum mock_obstacle obstacle;
        const char *text;
    } kinds[] = { { MOCK_OLD, "too old" },
                  { MOCK_VGPU, "vGPU" },
                  { MOCK_CONFIDENTIAL, "confidential computing" },
                  { MOCK_WSL, "WSL" } };

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct lp_counters *counters;

        counting_begin();
        mock->obstruct(kinds[i].obstacle);
        counters = counting_open(i % 2 ? "pm" : "light");
        run_regions(counters);
        assert_line(counting_close(counters), kinds[i].text, "");
    }
}

static void a_metric_that_is_not_there_is_named(void **state)
{
    struct lp_counters *counters = counting_open("no__such.sum,dram__bytes_read.sum");

    (void)state;
    run_regions(counters);
    counting_deliver(counters);
    assert_int_equal(lp_counters_set(counters)->missing.count, 1);
    assert_non_null(strstr(lp_counters_set(counters)->missing.items[0].reason, "no__such.sum"));
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@step"), 3);
    counters = counting_open("no__such.sum");
    run_regions(counters);
    assert_non_null(strstr(counting_close(counters), "no__such.sum"));
}

static void too_many_passes_are_refused_with_the_numbers(void **state)
{
    struct lp_counters *counters;

    (void)state;
    mock->set_passes(5);
    counters = counting_open("dram__bytes_read.sum,gpu__time_duration.sum");
    run_regions(counters);
    assert_line(counting_close(counters), "need 5 passes on GH100", "1 allowed");
    counters = counting_open("dram__bytes_read.sum,gpu__time_duration.sum replay=user passes=4");
    run_regions(counters);
    assert_line(counting_close(counters), "need 5 passes on GH100", "4 allowed");
    counters = counting_open("pm:dram__bytes_read.sum,gpu__time_duration.sum");
    run_regions(counters);
    assert_line(counting_close(counters), "need 5 passes on GH100", "sampling has only one");
}

static void a_second_one_in_the_process_is_refused(void **state)
{
    struct lp_counters *counters = counting_open("light"), *second = NULL;
    struct lp_counters_options options = { 0 };

    (void)state;
    assert_int_equal(lp_counters_open(&options, &second), LLMPERF_ESTATE);
    assert_non_null(strstr(llmperf_last_error(), "already being collected in this process"));
    assert_null(second);
    counting_close(counters);
}

/* Behind the driver's own exit handlers nothing of CUPTI may be called. */
static void nothing_is_called_once_the_driver_is_gone(void **state)
{
    struct lp_counters *counters = counting_open("light");

    (void)state;
    run_regions(counters);
    llmperf_region_begin("open");
    lp_counters_abandon(counters);
    llmperf_region_end();
    assert_non_null(strstr(counting_close(counters), "the program ended before"));
    assert_int_equal(mock->count("RangeProfilerStop"), 0);
    assert_int_equal(mock->count("RangeProfilerDisable"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_error_of_a_range_call_is_one_line_with_the_remedy, begin),
        cmocka_unit_test_setup(each_error_of_a_sampling_call_is_one_line_with_the_remedy, begin),
        cmocka_unit_test_setup(a_full_buffer_costs_samples_and_is_counted, begin),
        cmocka_unit_test_setup(the_profiler_is_started_once_in_a_process_and_never_ended, begin),
        cmocka_unit_test_setup(what_failed_is_not_tried_again, begin),
        cmocka_unit_test_setup(each_kind_of_gpu_that_has_none_is_named, begin),
        cmocka_unit_test_setup(a_metric_that_is_not_there_is_named, begin),
        cmocka_unit_test_setup(too_many_passes_are_refused_with_the_numbers, begin),
        cmocka_unit_test_setup(a_second_one_in_the_process_is_refused, begin),
        cmocka_unit_test_setup(nothing_is_called_once_the_driver_is_gone, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
