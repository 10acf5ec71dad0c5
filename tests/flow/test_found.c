/* SPDX-License-Identifier: Apache-2.0 */
/** Steps and layers that are found reach the reports like stages that are marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_stages_are_like_marked_ones),
        cmocka_unit_test(marked_regions_win),
        cmocka_unit_test(what_does_not_repeat_has_no_steps),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
