/* SPDX-License-Identifier: Apache-2.0 */
/** What limits a stage follows from the measured causes of idle time: not from the ratio of host
 * time to a lower bound, which says nothing where work is launched ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/findings.h"
#include "llmperf/output.h"
#include "tests/support/play.h"

/* Eight decode steps, each with these statements. */
static llmperf_profile *play_steps(const char *statements)
{
    char script[2048];
    llmperf_session_options options;

    snprintf(script, sizeof(script),
             "gpu \"NVIDIA H100 80GB HBM3\"\nrepeat 8\n"
             "begin LLM@decode_step sequences=8 tokens=8 context=32768\n%s\nend\ndone\n",
             statements);
    options = script_options(script);
    options.model_path = "llama_3_8b";
    return play_options(&options);
}

static void check_bound(const char *statements, uint32_t bound, const char *headline)
{
    llmperf_profile *profile = play_steps(statements);
    llmperf_stage stage = LLMPERF_STAGE_INIT;
    char *report = NULL;

    assert_int_equal(llmperf_profile_stage(profile, 0, &stage), 0);
    assert_string_equal(llmperf_name(LLMPERF_NAME_BOUND, stage.bound),
                        llmperf_name(LLMPERF_NAME_BOUND, bound));
    assert_null(llmperf_profile_stage_reason(profile, 0, "bound"));
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &report), 0);
    if (!strstr(report, headline))
        fail_msg("\"%s\" is not in: %.2000s", headline, report);
    llmperf_text_free(report);
    llmperf_profile_free(profile);
}

/* The host is in a step for 0.1 ms, the GPU for 10 ms: four times its lower bound of 5.8 ms is far,
 * and the launches are far ahead. */
static void work_that_was_launched_ahead_is_not_launch_bound(void **state)
{
    (void)state;
    check_bound("repeat 100\nlaunch mlp_gemm duration=200000\ndone", LLMPERF_BOUND_MEMORY,
                "limited by memory bandwidth\n");
}

/* The host waits in the last operator for all that was launched before. */
static void an_operator_in_which_the_host_waits_is_not_launch_bound(void **state)
{
    llmperf_profile *profile = play_steps("repeat 100\nlaunch mlp_gemm duration=50000\ndone\n"
                                          "begin LLM@head flops=8400000000 bytes=1050000000\n"
                                          "launch head_gemm duration=360000\nwait 5500000\nend");
    char *metrics = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &metrics), 0);
    assert_non_null(strstr(metrics, "\"bound\": \"memory\""));
    assert_null(strstr(metrics, "\"bound\": \"launch\""));
    llmperf_text_free(metrics);
    llmperf_profile_free(profile);
}

static void short_kernels_between_slow_launches_are_launch_bound(void **state)
{
    (void)state;
    check_bound("repeat 100\nlaunch mlp_gemm duration=2000\nwait 9000\ndone", LLMPERF_BOUND_LAUNCH,
                "limited by launches by the host (7");
}

/* All three launches are made at once; the later ones wait for something else. */
static void work_that_waits_after_its_launch_is_gap_bound(void **state)
{
    (void)state;
    check_bound("launch mlp_gemm duration=20000\nlaunch mlp_gemm duration=20000 delay=500000\n"
                "launch mlp_gemm duration=20000 delay=1000000\nwait 1000000",
                LLMPERF_BOUND_GAPS, "limited by gaps between kernels (9");
}

static void a_host_that_works_before_its_first_launch_is_the_limit(void **state)
{
    (void)state;
    check_bound("wait 3000000\nlaunch mlp_gemm duration=1000000\nwait 1000000", LLMPERF_BOUND_HOST,
                "limited by other work of the host (7");
}

static void collectives_of_one_rank_are_communication(void **state)
{
    (void)state;
    check_bound("launch mlp_gemm duration=200000\nlaunch ncclDevKernel_AllReduce duration=400000\n"
                "wait 600000",
                LLMPERF_BOUND_COMMUNICATION, "limited by communication between GPUs (6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_was_launched_ahead_is_not_launch_bound),
        cmocka_unit_test(an_operator_in_which_the_host_waits_is_not_launch_bound),
        cmocka_unit_test(short_kernels_between_slow_launches_are_launch_bound),
        cmocka_unit_test(work_that_waits_after_its_launch_is_gap_bound),
        cmocka_unit_test(a_host_that_works_before_its_first_launch_is_the_limit),
        cmocka_unit_test(collectives_of_one_rank_are_communication),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
