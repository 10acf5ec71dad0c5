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
#define LAYER_WITHOUT_ATTENTION                                                                    \
    "launch input_reduce_fusion duration=2000\n"                                                   \
    "launch gemm_fusion_dot duration=5000\n"                                                       \
    "launch fusion_510 duration=5000\n"                                                            \
    "launch gemm_fusion_dot_4 duration=5000\n"                                                     \
    "launch gemm_fusion_dot_96 duration=5000\n"                                                    \
    "launch gemm_fusion_dot_97 duration=5000\n"
#define FUSED_DECODE                                                                               \
    "launch loop_gather_fusion duration=2000\n"                                                    \
    "repeat 4\n" LAYER_WITHOUT_ATTENTION "done\n"                                                  \
    "launch gemm_fusion_dot_general_145 duration=9000\n"                                           \
    "launch input_reduce_select_fusion duration=1000\n"                                            \
    "wait 200000\n"

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
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD,
                   "20 steps of 4 layers, 2 of prefill and 18 of decode, were found");
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "confidence 1.00");
    llmperf_profile_free(profile);
}

/* The attention of decode is fused into kernels whose names do not show it, as XLA does. */
static void attention_of_prefill_alone_does_not_hide_decode(void **state)
{
    llmperf_profile *profile =
        play_script("repeat 3\n" PREFILL "repeat 20\n" FUSED_DECODE "done\ndone\nexit\n");

    (void)state;
    assert_in_range(find_region(profile, "found@step", 0).instances, 57, 63);
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

static void regions_without_kernels_change_nothing(void **state)
{
    llmperf_profile *profile = play_script(
        "begin inputs\nend\nbegin load\ncopy htod bytes=64 duration=500\nend\n" REQUEST REQUEST
        "exit\n");

    (void)state;
    assert_int_equal(find_region(profile, "LLM@load", 0).memcpy_count, 1);
    assert_int_equal(find_region(profile, "found@decode", 0).instances, 18);
    assert_int_equal(find_region(profile, "found@prefill", 0).instances, 2);
    llmperf_profile_free(profile);
}

static void what_does_not_repeat_has_no_steps(void **state)
{
    llmperf_profile *profile = play_script("repeat 3000\nlaunch gemm duration=2000\ndone\nexit\n");

    (void)state;
    assert_false(has_region(profile, "found@step"));
    assert_non_null(strstr(llmperf_profile_fact(profile, "found"), "\"steps\": null"));
    check_document(profile, LLMPERF_DOCUMENT_REPORT_MD, "no steps were found: no sequence of");
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

/* As a PASS, of four sequences: the grids of the norms and of the activation say how many tokens
 * there are, that of the choice how many sequences. */
#define SIZED(gemm, attention, norm, other, choice)                                                \
    "copy htod bytes=64 duration=500\n"                                                            \
    "repeat 4\n" norm "launch " gemm "_qkv duration=" attention "\n"                               \
    "launch flash_fwd_" gemm " duration=" attention "\n"                                           \
    "launch " gemm "_o duration=" attention "\n" norm other "launch " gemm                         \
    "_down duration=" attention "\n"                                                               \
    "done\n"                                                                                       \
    "launch gemm_head duration=9000\n"                                                             \
    "launch argmax_kernel duration=1000 grid=" choice "\n"                                         \
    "copy dtoh bytes=4 duration=500\n"                                                             \
    "wait 20000\n"
#define EAGER(grid)        "launch \"at::native::elementwise_kernel<128, " grid "\n"
#define ENGINE(name, grid) "launch vllm::" name "_kernel duration=2000 grid=" grid "\n"
#define EAGER_REQUEST(prompt, prompt2, choice)                                                     \
    SIZED("gemm_128x128", "40000", EAGER("2, mul>\" duration=2000 grid=" prompt),                  \
          EAGER("4, mul>\" duration=2000 grid=" prompt2), choice)                                  \
    "repeat 9\n" SIZED("gemm_64x8", "5000", EAGER("2, mul>\" duration=2000 grid=32"),              \
                       EAGER("4, mul>\" duration=2000 grid=16"), "4") "done\n"
#define ENGINE_REQUEST                                                                             \
    SIZED("gemm_128x128", "40000", ENGINE("rms_norm", "512"), ENGINE("act_and_mul", "512"), "4")   \
    "repeat 9\n" SIZED("gemm_64x8", "5000", ENGINE("rms_norm", "4"), ENGINE("act_and_mul", "4"),   \
                       "4") "done\n"

static llmperf_profile *play_with_model(const char *script)
{
    llmperf_session_options options = script_options(script);

    options.model_path = "llama_3_2_1b";
    return play_options(&options);
}

/* 18 steps of four sequences, twice from 129 to 137 tokens each. */
static void grids_say_what_a_step_computes(void **state)
{
    llmperf_profile *found = play_with_model(EAGER_REQUEST("4096", "2048", "4")
                                                 EAGER_REQUEST("4096", "2048", "4") "exit\n");
    llmperf_profile *marked = play_with_model("begin LLM@prefill tokens=512 sequences=4\nend\n"
                                              "begin LLM@decode_step sequences=4 context=516\nend\n"
                                              "begin LLM@decode_step sequences=4 context=548\nend\n"
                                              "exit\n");
    llmperf_region_stats prefill = find_region(found, "found@prefill", 0);
    llmperf_region_stats decode = find_region(found, "found@decode", 0);

    (void)state;
    assert_int_equal(prefill.tokens, 2 * 512);
    assert_int_equal(prefill.sequences, 2 * 4);
    assert_int_equal(decode.tokens, 18 * 4);
    assert_int_equal(decode.context, 2 * 9 * (516 + 548) / 2);
    assert_true(prefill.flops == 2 * find_region(marked, "LLM@prefill", -1).flops);
    assert_true(decode.flops == 9 * find_region(marked, "LLM@decode_step", -1).flops);
    assert_true(decode.bytes == 9 * find_region(marked, "LLM@decode_step", -1).bytes);
    check_document(found, LLMPERF_DOCUMENT_REPORT_MD, "TPOT ");
    check_document(found, LLMPERF_DOCUMENT_REPORT_MD, "batch 4");
    llmperf_profile_free(found);
    llmperf_profile_free(marked);
}

static void a_prompt_of_other_sequences_has_no_known_context(void **state)
{
    llmperf_profile *profile = play_with_model(EAGER_REQUEST("4096", "2048", "4")
                                                   EAGER_REQUEST("4096", "2048", "1") "exit\n");

    (void)state;
    assert_int_equal(find_region(profile, "found@prefill", 0).tokens, 2 * 512);
    assert_true(find_region(profile, "found@prefill", 0).sequences == LLMPERF_UNKNOWN);
    assert_true(find_region(profile, "found@decode", 0).flops == LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "number and length of its sequences do not follow"));
    llmperf_profile_free(profile);
}

static void engines_that_keep_prompts_have_tokens_without_context(void **state)
{
    llmperf_profile *profile = play_with_model(ENGINE_REQUEST ENGINE_REQUEST "exit\n");

    (void)state;
    assert_int_equal(find_region(profile, "found@prefill", 0).tokens, 2 * 512);
    assert_int_equal(find_region(profile, "found@decode", 0).tokens, 18 * 4);
    assert_int_equal(find_region(profile, "found@decode", 0).context, LLMPERF_UNKNOWN);
    assert_true(find_region(profile, "found@decode", 0).flops == LLMPERF_UNKNOWN);
    llmperf_profile_free(profile);
    profile = play_script(ENGINE_REQUEST ENGINE_REQUEST "exit\n"); /* without a model, too */
    assert_int_equal(find_region(profile, "found@decode", 0).tokens, 18 * 4);
    llmperf_profile_free(profile);
}

static void kernels_that_disagree_say_nothing(void **state)
{
    llmperf_profile *profile = play_with_model(EAGER_REQUEST("4096", "2040", "4")
                                                   EAGER_REQUEST("4096", "2040", "4") "exit\n");

    (void)state;
    assert_int_equal(find_region(profile, "found@prefill", 0).tokens, LLMPERF_UNKNOWN);
    assert_true(has_note(profile, "its tokens do not follow from its kernels"));
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_stages_are_like_marked_ones),
        cmocka_unit_test(attention_of_prefill_alone_does_not_hide_decode),
        cmocka_unit_test(marked_regions_win),
        cmocka_unit_test(regions_without_kernels_change_nothing),
        cmocka_unit_test(what_does_not_repeat_has_no_steps),
        cmocka_unit_test(no_step_extends_over_what_was_not_collected),
        cmocka_unit_test(grids_say_what_a_step_computes),
        cmocka_unit_test(a_prompt_of_other_sequences_has_no_known_context),
        cmocka_unit_test(engines_that_keep_prompts_have_tokens_without_context),
        cmocka_unit_test(kernels_that_disagree_say_nothing),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
