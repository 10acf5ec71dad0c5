/* SPDX-License-Identifier: Apache-2.0 */
/** Driver calls that block: from a script or the driver's callbacks to the rows of a profile, its
 * documents, recordings and merged runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/host/host_calls.h"
#include "tests/support/play.h"

static bool find_call(const llmperf_profile *profile, const char *call, const char *region,
                      llmperf_host_call *row)
{
    *row = (llmperf_host_call)LLMPERF_HOST_CALL_INIT;
    for (size_t i = 0; llmperf_profile_host_call(profile, i, row) == 0; i++)
        if (strcmp(row->call, call) == 0 && strcmp(row->region, region) == 0)
            return true;
    return false;
}

static void check_call(const llmperf_profile *profile, const char *call, const char *region,
                       uint64_t calls, double total_ms, double max_ms, double idle_ms)
{
    llmperf_host_call row;

    if (!find_call(profile, call, region, &row))
        fail_msg("no row of %s in %s", call, region);
    assert_int_equal(row.calls, calls);
    check_close(row.total_ms, total_ms);
    check_close(row.max_ms, max_ms);
    if (isnan(idle_ms))
        assert_true(isnan(row.idle_ms));
    else
        check_close(row.idle_ms, idle_ms);
}

/* Statements advance the clock by 1 us, and a kernel starts 2 us after its launch. In us from the
 * begin of a step: cuMemAlloc from 1 to 501, a kernel from 505 to 805, cuStreamSynchronize from 504
 * to 904, a kernel from 908 to 1008, cuMemFree from 1007 to 1057. */
#define STEP                                                                                       \
    "begin LLM@decode_step\n"                                                                      \
    "call cuMemAlloc host=500000\n"                                                                \
    "begin LLM@sample\n"                                                                           \
    "launch gemv duration=300000\n"                                                                \
    "call cuStreamSynchronize host=400000\n"                                                       \
    "end\n"                                                                                        \
    "launch gemv duration=100000\n"                                                                \
    "wait 100000\n"                                                                                \
    "call cuMemFree host=50000\n"                                                                  \
    "end\n"

static void calls_are_added_up_by_region_and_function(void **state)
{
    llmperf_profile *profile = play_script("call cuLibraryLoadData host=7000000\n"
                                           "repeat 3\n" STEP "done\n"
                                           "begin LLM@decode_step\n"
                                           "call cuMemAlloc host=900000\nlaunch gemv\nend\n");
    llmperf_host_call row = LLMPERF_HOST_CALL_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 4);
    check_call(profile, "cuLibraryLoadData", "", 1, 7, 7, NAN);
    check_call(profile, "cuMemAlloc", "LLM@decode_step", 4, 2.4, 0.9, 2.4);
    check_call(profile, "cuMemFree", "LLM@decode_step", 3, 0.15, 0.05, 0.147);
    assert_int_equal(llmperf_profile_host_call(profile, 0, &row), 0);
    assert_string_equal(row.call, "cuLibraryLoadData"); /* longest total first */
    assert_int_equal(llmperf_profile_host_call(profile, 4, &row), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

/* It waits for the GPU, which is busy at first. */
static void time_in_which_the_gpu_works_is_not_idle(void **state)
{
    llmperf_profile *profile = play_script(STEP);
    llmperf_host_call row;

    (void)state;
    assert_true(find_call(profile, "cuStreamSynchronize", "LLM@decode_step/LLM@sample", &row));
    check_close(row.total_ms, 0.4);
    assert_int_equal(row.compared_calls, 1);
    check_close(row.idle_ms, 0.1);
    check_close(row.between_ms, 0.099);
    assert_true(find_call(profile, "cuMemAlloc", "LLM@decode_step", &row));
    check_close(row.idle_ms, 0.5);
    check_close(row.between_ms, 0);
    llmperf_profile_free(profile);
}

/* A step of which the end is missing says nothing of its gaps. */
static void calls_of_incomplete_stages_are_not_compared(void **state)
{
    llmperf_profile *profile = play_script(STEP "begin LLM@decode_step\n"
                                                "call cuMemAlloc host=500000\nlaunch gemv\n");
    llmperf_host_call row;

    (void)state;
    assert_true(find_call(profile, "cuMemAlloc", "LLM@decode_step", &row));
    assert_int_equal(row.calls, 2);
    assert_int_equal(row.compared_calls, 1);
    check_close(row.idle_ms, 0.5);
    llmperf_profile_free(profile);
}

/* Memory is bounded: of a stage with too many calls only the totals are known. */
static void a_stage_with_very_many_calls_keeps_their_totals(void **state)
{
    char script[200];
    llmperf_profile *profile;
    llmperf_host_call row;

    (void)state;
    snprintf(script, sizeof(script),
             "begin LLM@prefill\nlaunch gemm\nrepeat %u\ncall cuMemAlloc host=1000\ndone\nend\n",
             LP_UNIT_CALLS + 1);
    profile = play_script(script);
    assert_true(find_call(profile, "cuMemAlloc", "LLM@prefill", &row));
    assert_int_equal(row.calls, LP_UNIT_CALLS + 1);
    assert_int_equal(row.compared_calls, 0);
    assert_true(isnan(row.idle_ms) && isnan(row.between_ms));
    llmperf_profile_free(profile);
}

static void copies_are_among_the_calls(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\n"
                                           "copy htod bytes=9 call=sync host=30000\n"
                                           "copy dtoh bytes=9 host=2000\n"
                                           "copy dtoh bytes=9\nset bytes=9 host=4000\nend\n");

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 2);
    check_call(profile, "cuMemcpyHtoD", "LLM@prefill", 1, 0.03, 0.03, 0.029);
    check_call(profile, "cuMemcpyDtoHAsync", "LLM@prefill", 1, 0.002, 0.002, 0.002);
    llmperf_profile_free(profile);
}

static void tier_light_records_none(void **state)
{
    llmperf_session_options options = script_options(STEP);
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    profile = play_options(&options);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_HOST_CALLS), 0);
    llmperf_profile_free(profile);
}

static void documents_have_the_rows(void **state)
{
    llmperf_profile *profile = play_script(STEP);

    (void)state;
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON, "\"call\": \"cuStreamSynchronize\"");
    check_document(profile, LLMPERF_DOCUMENT_ROWS_JSONL, "{\"type\": \"host_call\",\"region\": ");
    check_document(
        profile, LLMPERF_DOCUMENT_PROMETHEUS,
        "llmperf_host_call_seconds_total{call=\"cuMemAlloc\",region=\"LLM@decode_step\"} 0.0005");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "| cuMemAlloc | `LLM@decode_step` | 1 | 0.5000 | 0.5000 | 0.5000 | 0.5000 |");
    llmperf_profile_free(profile);
}

static void a_report_without_calls_has_no_table_of_them(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\nlaunch gemm\nend\n");
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, "Host calls"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void merged_runs_add_their_calls(void **state)
{
    const llmperf_profile *parts[2] = { play_script(STEP STEP),
                                        play_script("call cuMemAlloc host=900000\n" STEP) };
    llmperf_profile *merged = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_merge(parts, 2, &merged), 0);
    assert_int_equal(llmperf_profile_count(merged, LLMPERF_ROWS_HOST_CALLS), 4);
    check_call(merged, "cuMemAlloc", "LLM@decode_step", 3, 1.5, 0.5, 1.5);
    check_call(merged, "cuMemAlloc", "", 1, 0.9, 0.9, NAN);
    llmperf_profile_free(merged);
    for (size_t i = 0; i < 2; i++)
        llmperf_profile_free((llmperf_profile *)(uintptr_t)parts[i]);
}

static void a_recording_and_a_run_file_keep_the_calls(void **state)
{
    llmperf_session_options options = script_options(STEP);
    llmperf_profile *profile = NULL;

    (void)state;
    options.run_dir = in_test_folder("kept");
    options.keep_trace = 1;
    llmperf_profile_free(play_options(&options));
    assert_int_equal(llmperf_profile_open(in_test_folder("kept"), &profile), 0);
    check_call(profile, "cuMemFree", "LLM@decode_step", 1, 0.05, 0.05, 0.049);
    llmperf_profile_free(profile);
    options = script_options("");
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("kept/trace.llmrec");
    profile = play_options(&options);
    check_call(profile, "cuMemFree", "LLM@decode_step", 1, 0.05, 0.05, 0.049);
    check_call(profile, "cuStreamSynchronize", "LLM@decode_step/LLM@sample", 1, 0.4, 0.4, 0.1);
    llmperf_profile_free(profile);
}

static void scripts_refuse_other_functions(void **state)
{
    llmperf_session_options options = script_options("call cuLaunchKernel\n");
    llmperf_session *session = NULL;

    (void)state;
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
    check_error("\"cuLaunchKernel\" is no call of the CUDA driver that blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_added_up_by_region_and_function),
        cmocka_unit_test(time_in_which_the_gpu_works_is_not_idle),
        cmocka_unit_test(calls_of_incomplete_stages_are_not_compared),
        cmocka_unit_test(a_stage_with_very_many_calls_keeps_their_totals),
        cmocka_unit_test(copies_are_among_the_calls),
        cmocka_unit_test(tier_light_records_none),
        cmocka_unit_test(documents_have_the_rows),
        cmocka_unit_test(a_report_without_calls_has_no_table_of_them),
        cmocka_unit_test(merged_runs_add_their_calls),
        cmocka_unit_test(a_recording_and_a_run_file_keep_the_calls),
        cmocka_unit_test(scripts_refuse_other_functions),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
