/* SPDX-License-Identifier: Apache-2.0 */
/** Steps and layers that are found reach the reports like stages that are marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/play.h"

#define PASS(gemm, attention)                                                                      \
    "copy htod bytes=64 duration=500\n"                                                            \
    "launch embedding_kernel duration=2000\n"                                                      \
    "repeat 4\n"                                                                                   \
    "launch rms_norm_kernel duration=2000\n"                                                       \
    "launch " gemm "_qkv duration=" attention "\n"                                                 \
    "launch rotary_kernel duration=1000\n"                                                         \
    "launch flash_fwd_" gemm " duration=" attention "\n"                                           \
    "launch " gemm "_o duration=" attention "\n"                                                   \
    "launch rms_norm_kernel duration=2000\n"                                                       \
    "launch " gemm "_up duration=" attention "\n"                                                  \
    "launch silu_and_mul_kernel duration=1000\n"                                                   \
    "launch " gemm "_down duration=" attention "\n"                                                \
    "done\n"                                                                                       \
    "launch gemm_head duration=9000\n"                                                             \
    "launch argmax_kernel duration=1000\n"                                                         \
    "copy dtoh bytes=4 duration=500\n"                                                             \
    "wait 20000\n"

#define PREFILL PASS("gemm_128x128", "40000")
#define DECODE  PASS("gemm_64x8", "5000")
#define REQUEST PREFILL "repeat 9\n" DECODE "done\n"

static void found_stages_are_like_marked_ones(void **state)
{
    llmperf_profile *profile = play_script(REQUEST REQUEST "exit\n");
    llmperf_region_stats decode = find_region(profile, "found@decode", 0);
    llmperf_region_stats layer = find_region(profile, "found@decode/found@layer03", 0);
    llmperf_iteration_stats wall = find_spread(profile, "found@prefill", "wall");

    (void)state;
    assert_int_equal(decode.kind, LLMPERF_REGION_STAGE);
    assert_int_equal(decode.instances, 18);
    assert_int_equal(decode.kernel_count, 18 * (4 * 9 + 3));
    assert_int_equal(layer.instances, 18);
    assert_int_equal(layer.kernel_count, 18 * 9);
    assert_int_equal(wall.count, 2);
    assert_int_equal(find_kernel(profile, "argmax_kernel", "found@prefill").calls, 2);
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON,
                   "\"found\": {\"steps\": {\"count\": 20, \"prefill\": 2, \"decode\": 18}, "
                   "\"layers\": {\"count\": 4, \"kernels\": 9}");
    check_document(profile, LLMPERF_DOCUMENT_METRICS_JSON, "{\"name\": \"qkv\", \"launches\": 80,");
    assert_true(
        has_note(profile, "20 steps of 4 layers were found, 2 of prefill and 18 of decode"));
    llmperf_profile_free(profile);
}

static void marked_regions_win(void **state)
{
    llmperf_profile *profile = play_script("begin LLM@prefill\n" PREFILL "end\nrepeat 9\n"
                                           "begin own\n" DECODE "end\ndone\n" REQUEST "exit\n");

    (void)state;
    assert_int_equal(find_region(profile, "LLM@own", 0).instances, 9);
    assert_false(has_region(profile, "found@decode"));
    assert_int_equal(find_kernel(profile, "argmax_kernel", "").calls, 10);
    assert_null(llmperf_profile_fact(profile, "found"));
    llmperf_profile_free(profile);
}

static void what_does_not_repeat_has_no_steps(void **state)
{
    llmperf_profile *profile = play_script("repeat 3000\nlaunch gemm duration=2000\ndone\nexit\n");

    (void)state;
    assert_false(has_region(profile, "found@step"));
    assert_non_null(strstr(llmperf_profile_fact(profile, "found"), "\"steps\": null"));
    llmperf_profile_free(profile);
}

static void run_pass(void)
{
    lp_fake_launch("embedding_kernel", 7, 2000);
    for (int layer = 0; layer < 6; layer++) {
        lp_fake_launch("rms_norm_kernel", 7, 2000);
        lp_fake_launch("gemm_qkv", 7, 5000);
        usleep(300); /* windows begin and end in steps */
        lp_fake_launch("flash_fwd_kernel", 7, 5000);
        lp_fake_launch("gemm_o", 7, 5000);
        lp_fake_launch("gemm_up", 7, 5000);
        lp_fake_launch("gemm_down", 7, 5000);
    }
    lp_fake_launch("gemm_head", 7, 9000);
    lp_fake_launch("argmax_kernel", 7, 1000);
}

/* All kernels of a step, and no more; their time is not that of the whole run. */
static uint64_t check_steps(llmperf_profile *profile)
{
    llmperf_region_stats step = find_region(profile, "found@step", 0);

    assert_true(step.instances >= 3);
    assert_int_equal(step.kernel_count, step.instances * 39);
    assert_true(step.skipped_fraction == 0);
    assert_true(step.gpu_busy_ms <= step.active_ms * 1.001);
    llmperf_profile_free(profile);
    return step.instances;
}

/* Tier light collects windows of 20 ms of a program without regions. */
static void no_step_extends_over_what_was_not_collected(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;
    llmperf_session *session;
    uint64_t steps;
    time_t end = time(NULL) + 4;

    (void)state;
    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.record_path = in_test_folder("light.llmrec");
    session = start_options(&options);
    while (time(NULL) < end)
        run_pass();
    profile = stop_session(session);
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "calls, found as a whole in what was");
    steps = check_steps(profile);
    options = (llmperf_session_options)LLMPERF_SESSION_OPTIONS_INIT;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("light.llmrec");
    assert_int_equal(check_steps(play_options(&options)), steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_stages_are_like_marked_ones),
        cmocka_unit_test(marked_regions_win),
        cmocka_unit_test(what_does_not_repeat_has_no_steps),
        cmocka_unit_test(no_step_extends_over_what_was_not_collected),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
