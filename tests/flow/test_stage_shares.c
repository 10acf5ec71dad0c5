/* SPDX-License-Identifier: Apache-2.0 */
/** FLOPs and bytes of one GPU of several that share the session's model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

#define MODEL "llama_3_8b"

/* One token behind 99 others: what one GPU of several does of it. */
#define BEGIN            "begin LLM@decode_step sequences=1 tokens=1 context=100\n"
#define LAUNCH(device)   "launch a device=" device " duration=1000\n"
#define STEP             BEGIN "end\n"
#define ON_A_GPU(device) BEGIN LAUNCH(device) "end\n"
#define ON_TWO_GPUS      BEGIN LAUNCH("0") LAUNCH("1") "end\n"

static llmperf_profile *play_share(const char *model, uint32_t tensor, uint32_t expert,
                                   const char *script)
{
    llmperf_session_options options = script_options(script);

    options.model_path = model;
    options.tensor_parallel = tensor;
    options.expert_parallel = expert;
    return play_options(&options);
}

static void check_step(const char *model, uint32_t tensor, uint32_t expert, uint64_t flops,
                       uint64_t bytes)
{
    llmperf_profile *profile = play_share(model, tensor, expert, STEP);
    llmperf_region_stats step = find_region(profile, "LLM@decode_step", -1);

    assert_int_equal(step.flops, flops);
    assert_int_equal(step.bytes, bytes);
    assert_int_equal(step.flops_origin, LLMPERF_WORK_MODEL);
    llmperf_profile_free(profile);
}

/* A layer has 4096 x 6144 weights for query, key and value, 4096 x 4096 behind attention and
 * 3 x 4096 x 14336 in the MLP, the head 4096 x 128256: 7504658432, twice as many FLOPs, and
 * 4 x 4096 x 100 more a layer for attention. Bytes are two a weight; norms and the row of the
 * embedding, 540672, are whole on each GPU; 101 tokens of the cache are read or written, 131072 on
 * all GPUs together. */
static void a_gpu_of_several_has_its_share_of_a_dense_model(void **state)
{
    (void)state;
    check_step(MODEL, 0, 0, UINT64_C(15061745664), 15009316864 + 540672 + 101 * 131072);
    check_step(MODEL, 1, 0, UINT64_C(15061745664), 15009316864 + 540672 + 101 * 131072);
    check_step(MODEL, 2, 0, UINT64_C(7530872832), 7504658432 + 540672 + 101 * 65536);
    check_step(MODEL, 8, 0, UINT64_C(1882718208), 1876164608 + 540672 + 101 * 16384);
}

/* Eight KV heads on sixteen GPUs: each has one, its weights 2 x 4096 x 128 and its cache. */
static void fewer_kv_heads_than_gpus_are_copied(void **state)
{
    const char config[] = "{\"model_type\": \"llama\", \"hidden_size\": 256, "
                          "\"intermediate_size\": 512, \"num_attention_heads\": 8, "
                          "\"num_key_value_heads\": 1, \"num_hidden_layers\": 2, "
                          "\"vocab_size\": 1024, \"tie_word_embeddings\": false, "
                          "\"torch_dtype\": \"bfloat16\"}";
    const char *path = write_test_file("one_kv_head.json", config, sizeof(config) - 1);
    llmperf_profile *profile;

    (void)state;
    check_step(MODEL, 16, 0, UINT64_C(941359104), 971636736 + 540672 + 101 * 16384);
    /* One KV head: 2686976 FLOPs of products and 204800 of attention, over four GPUs. Each has
     * 2 x (256 x 128 + 64 x 256 + 3 x 256 x 128) weights and 256 x 256 of the head; 3072 bytes are
     * whole, and so is the cache: 128 a token and layer. */
    check_step(path, 4, 0, (2686976 + 204800) / 4, 720896 + 3072 + 101 * 256);
    profile = play_share(path, 4, 0, STEP);
    assert_string_equal(llmperf_profile_fact(profile, "model_tensor_parallel"), "4");
    assert_string_equal(llmperf_profile_fact(profile, "model_expert_parallel"), "1");
    llmperf_profile_free(profile);
}

/* Two experts of eight, 3 x 4096 x 14336 weights each, work on the token. Their share is half of
 * each; or all of them lie on eight GPUs, whose four replicas touch 8 (1 - (3/4)^4) of them. */
static void experts_are_split_or_spread(void **state)
{
    const uint64_t others = 1342177280 + 2097152 + 131072000 + 540672 + 101 * 65536;

    (void)state;
    check_step("mixtral_8x7b", 2, 0, UINT64_C(12774801408), others + 11274289152);
    check_step("mixtral_8x7b", 2, 2, UINT64_C(12774801408), others + 11274289152);
    check_step("mixtral_8x7b", 2, 8, UINT64_C(12774801408), others + 7707033600);
}

static void ranks_of_a_job_do_the_model_once(void **state)
{
    llmperf_profile *parts[2], *whole, *merged;
    uint64_t flops = 0;

    (void)state;
    whole = play_share(MODEL, 1, 0, STEP);
    for (size_t i = 0; i < 2; i++)
        parts[i] = play_share(MODEL, 2, 0, STEP);
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    for (size_t i = 0; i < llmperf_profile_count(merged, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        assert_int_equal(llmperf_profile_region(merged, i, &region), 0);
        if (strcmp(region.path, "LLM@decode_step") == 0) {
            flops += region.flops;
            assert_true(2 * region.flops == UINT64_C(15061745664)); /* MFU is of its share */
        }
    }
    assert_true(flops == find_region(whole, "LLM@decode_step", -1).flops);
    assert_false(has_note(merged, "different parallel layouts"));
    llmperf_profile_free(merged);
    assert_int_equal(
        llmperf_profile_merge((const llmperf_profile *const[]){ whole, parts[0] }, 2, &merged), 0);
    assert_true(has_note(merged, "different parallel layouts"));
    llmperf_profile_free(merged);
    llmperf_profile_free(whole);
    for (size_t i = 0; i < 2; i++)
        llmperf_profile_free(parts[i]);
}

/* Two runs of one process each; told or not, on one GPU or on two. */
static bool is_missing_layout_noted(uint32_t tensor, const char *second)
{
    llmperf_profile *parts[2], *merged;
    bool noted;

    parts[0] = play_share(MODEL, tensor, 0, ON_A_GPU("0"));
    parts[1] = play_share(MODEL, tensor, 0, second);
    assert_false(has_note(parts[1], "no parallel layout"));
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    noted =
        has_note(merged, "on each of the 2 GPUs of the merged runs: no parallel layout was given");
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
    return noted;
}

static void merged_ranks_of_whom_nobody_told_are_noted(void **state)
{
    (void)state;
    assert_true(is_missing_layout_noted(0, ON_A_GPU("1")));
    assert_false(is_missing_layout_noted(0, ON_A_GPU("0")));
    assert_false(is_missing_layout_noted(1, ON_A_GPU("1")));
    assert_false(is_missing_layout_noted(2, ON_A_GPU("1")));
}

static void refuse_share(const char *model, uint32_t tensor, uint32_t expert, const char *why)
{
    llmperf_session_options options = script_options(STEP);
    llmperf_session *session = NULL;

    options.model_path = model;
    options.tensor_parallel = tensor;
    options.expert_parallel = expert;
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error(why);
}

static void a_model_that_cannot_be_shared_so_is_refused(void **state)
{
    (void)state;
    refuse_share(MODEL, 3, 0, "tensor_parallel 3 does not divide the number of heads (32)");
    refuse_share(MODEL, 65537, 0, "tensor_parallel is 65537; it must be between 1 and 65536");
    refuse_share(MODEL, 0, 2, "expert_parallel must be 1, or tensor_parallel x data_parallel");
    refuse_share("mixtral_8x7b", 4, 2, "expert_parallel must be 1");
    refuse_share("resnet_50", 2, 0, "has no decoder");
}

/* Some engines split the encoder and some run it on each GPU. */
static void a_shared_encoder_is_counted_by_the_program(void **state)
{
    llmperf_profile *profile =
        play_share("deepseek_ocr", 2, 0, "begin LLM@vision sequences=1\nend\n" STEP);

    (void)state;
    assert_true(find_region(profile, "LLM@vision", -1).flops == LLMPERF_UNKNOWN);
    assert_true(find_region(profile, "LLM@decode_step", -1).flops != LLMPERF_UNKNOWN);
    assert_true(has_note(
        profile, "LLM@vision: it is unknown whether 2 GPUs (tensor_parallel) share the encoder"));
    llmperf_profile_free(profile);
    profile =
        play_share("deepseek_ocr", 2, 0, "begin LLM@vision sequences=1 flops=1000 bytes=10\nend\n");
    assert_true(find_region(profile, "LLM@vision", -1).flops == 1000);
    assert_false(has_note(profile, "cannot compute the work"));
    llmperf_profile_free(profile);
}

/* What is noted where the environment has so many ranks; "": nothing. */
static void check_ranks(const char *variable, const char *ranks, uint32_t tensor,
                        const char *script, const char *note)
{
    llmperf_profile *profile;

    assert_int_equal(setenv(variable, ranks, 1), 0);
    profile = play_share(MODEL, tensor, 0, script);
    assert_int_equal(unsetenv(variable), 0);
    if (*note)
        assert_true(has_note(profile, note));
    else
        assert_false(has_note(profile, variable));
    llmperf_profile_free(profile);
}

static void ranks_of_whom_nobody_told_are_noted(void **state)
{
    llmperf_profile *profile;

    (void)state;
    check_ranks("WORLD_SIZE", "8", 0, STEP, "on each of the 8 ranks (WORLD_SIZE)");
    check_ranks("OMPI_COMM_WORLD_SIZE", "2", 0, STEP, "set tensor_parallel of the session");
    check_ranks("WORLD_SIZE", "6", 4, STEP, "tensor_parallel 4 does not divide the 6 ranks");
    check_ranks("WORLD_SIZE", "1", 0, STEP, "");
    check_ranks("WORLD_SIZE", "8", 8, STEP, "");
    check_ranks("WORLD_SIZE", "8", 1, STEP, "");
    check_ranks("WORLD_SIZE", "8", 0, "begin LLM@prefill flops=5 bytes=5\nend\n", "");
    check_ranks("WORLD_SIZE", "1", 0, ON_TWO_GPUS, "on each of the 2 GPUs of this process");
    check_ranks("WORLD_SIZE", "1", 2, ON_TWO_GPUS, "");
    setenv("WORLD_SIZE", "8", 1);
    profile = play_share(MODEL, 2, 0, STEP);
    unsetenv("WORLD_SIZE");
    assert_non_null(strstr(llmperf_profile_fact(profile, "model_assumption.0"),
                           "one GPU of 2 that share each layer"));
    assert_non_null(strstr(llmperf_profile_fact(profile, "model_assumption.1"),
                           "8 ranks (WORLD_SIZE) with tensor_parallel 2 are 4 replicas"));
    llmperf_profile_free(profile);
}

static void the_summary_says_that_no_layout_was_given(void **state)
{
    llmperf_profile *profile = play_share(MODEL, 0, 0, ON_TWO_GPUS);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD, &text),
                     0);
    assert_non_null(strstr(text, "No parallel layout was given for the 2 GPUs of this process"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void the_environment_tells_the_share(void **state)
{
    static const char *const wrong[] = { "two", "0", "-1", "2x", "65537", "99999999999999999999" };
    llmperf_session_options options = script_options(STEP);
    llmperf_session *session = NULL;

    (void)state;
    setenv("LLMPERF_TENSOR_PARALLEL", "8", 1);
    setenv("LLMPERF_EXPERT_PARALLEL", "8", 1);
    check_step("mixtral_8x7b", 0, 0, 25549602816 / 8,
               (1342177280 + 131072000 + 101 * 65536) / 4 + 2097152 + 540672 + 11274289152 / 4);
    unsetenv("LLMPERF_EXPERT_PARALLEL");
    check_step(MODEL, 2, 0, UINT64_C(7530872832), 7504658432 + 540672 + 101 * 65536);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv("LLMPERF_TENSOR_PARALLEL", wrong[i], 1);
        assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
        check_error("must be between 1 and 65536");
    }
    unsetenv("LLMPERF_TENSOR_PARALLEL");
}

static void the_configuration_tells_the_share_behind_the_environment(void **state)
{
    static const char told[] = "session: {tensor_parallel: 2, expert_parallel: 1}\n";
    static const char wrong[] = "session: {tensor_parallel: 0}\n";
    static const char stages[] = "session: {tensor_parallel: 2, pipeline_parallel: 4}\n";
    llmperf_session_options options = script_options(STEP);
    llmperf_session *session = NULL;
    llmperf_profile *profile;

    (void)state;
    options.model_path = MODEL;
    options.config_path = write_test_file("told.yaml", told, sizeof(told) - 1);
    profile = play_options(&options);
    assert_true(find_region(profile, "LLM@decode_step", -1).flops == UINT64_C(7530872832));
    llmperf_profile_free(profile);
    setenv("LLMPERF_TENSOR_PARALLEL", "8", 1);
    profile = play_options(&options);
    unsetenv("LLMPERF_TENSOR_PARALLEL");
    assert_true(find_region(profile, "LLM@decode_step", -1).flops == UINT64_C(1882718208));
    llmperf_profile_free(profile);
    options.config_path = write_test_file("wrong.yaml", wrong, sizeof(wrong) - 1);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
    check_error("must be between 1 and 65536");
    options.config_path = write_test_file("stages.yaml", stages, sizeof(stages) - 1);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EFORMAT);
    check_error(
        "session.pipeline_parallel: a session cannot compute the work of one pipeline stage");
}

static void reports_say_how_the_model_is_shared(void **state)
{
    llmperf_profile *profile = play_share("mixtral_8x7b", 2, 8, STEP);
    char *metrics = NULL, *assumptions = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &metrics), 0);
    assert_non_null(strstr(metrics, "\"tensor_parallel\": 2"));
    assert_non_null(strstr(metrics, "\"expert_parallel\": 8"));
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_ASSUMPTIONS_MD, &assumptions),
                     0);
    assert_non_null(strstr(assumptions, "one GPU of 2 that share each layer"));
    assert_non_null(strstr(assumptions, "whose 4 replicas all work on steps of the same size"));
    llmperf_text_free(metrics);
    llmperf_text_free(assumptions);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_of_several_has_its_share_of_a_dense_model),
        cmocka_unit_test(fewer_kv_heads_than_gpus_are_copied),
        cmocka_unit_test(experts_are_split_or_spread),
        cmocka_unit_test(ranks_of_a_job_do_the_model_once),
        cmocka_unit_test(merged_ranks_of_whom_nobody_told_are_noted),
        cmocka_unit_test(a_model_that_cannot_be_shared_so_is_refused),
        cmocka_unit_test(a_shared_encoder_is_counted_by_the_program),
        cmocka_unit_test(ranks_of_whom_nobody_told_are_noted),
        cmocka_unit_test(the_summary_says_that_no_layout_was_given),
        cmocka_unit_test(the_environment_tells_the_share),
        cmocka_unit_test(the_configuration_tells_the_share_behind_the_environment),
        cmocka_unit_test(reports_say_how_the_model_is_shared),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
