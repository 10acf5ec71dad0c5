/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of quantised checkpoints, computed by hand from the shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "llmperf/model.h"

#define LLAMA_70B                                                                                  \
    "\"model_type\": \"llama\", \"hidden_size\": 8192, \"num_hidden_layers\": 80, "                \
    "\"num_attention_heads\": 64, \"num_key_value_heads\": 8, \"intermediate_size\": 28672, "      \
    "\"vocab_size\": 128256, \"torch_dtype\": \"bfloat16\", \"tie_word_embeddings\": false"
/* Linear layers: 80 x (8192 x 80 x 128 + 8192 x 8192 + 3 x 8192 x 28672). */
#define LINEAR_70B UINT64_C(68451041280)
/* Attention of them: 80 x (8192 x 80 x 128 + 8192 x 8192). */
#define ATTENTION_70B UINT64_C(12079595520)
/* Two tables of 128256 x 8192, 161 norms of 8192. */
#define PLAIN_70B UINT64_C(2102665216)
/* 80 x 2 x 8 x 128 */
#define CACHE_70B UINT64_C(163840)

#define MIXTRAL                                                                                    \
    "\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "              \
    "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"intermediate_size\": 14336, "      \
    "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"vocab_size\": 32000, "                \
    "\"sliding_window\": null, \"torch_dtype\": \"bfloat16\", \"tie_word_embeddings\": false"
/* 32 x (4096 x 48 x 128 + 4096 x 4096); 32 x 8 x 3 x 4096 x 14336. */
#define ATTENTION_MIXTRAL UINT64_C(1342177280)
#define EXPERTS_MIXTRAL   UINT64_C(45097156608)
/* Two tables of 32000 x 4096, 65 norms of 4096, 32 routers of 8 x 4096. */
#define PLAIN_MIXTRAL UINT64_C(263458816)

static char folder[] = "/tmp/llmperf-quantised-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* @param beside  hf_quant_config.json, or NULL. */
static llmperf_model *open_files(const char *config, const char *beside)
{
    llmperf_model *model = NULL;
    char path[128];

    write_file("config.json", config);
    if (beside)
        write_file("hf_quant_config.json", beside);
    snprintf(path, sizeof(path), "%s/config.json", folder);
    if (llmperf_model_open(path, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    snprintf(path, sizeof(path), "%s/hf_quant_config.json", folder);
    unlink(path);
    return model;
}

static void assert_sizes(llmperf_model *model, uint64_t weights, uint64_t cache)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

    assert_int_equal(llmperf_model_info_get(model, &info), 0);
    if (info.weight_bytes != weights)
        fail_msg("%llu bytes of weights", (unsigned long long)info.weight_bytes);
    assert_int_equal(info.kv_bytes_per_token, cache);
    if (llmperf_model_warning(model, 0))
        fail_msg("%s", llmperf_model_warning(model, 0));
    llmperf_model_free(model);
}

static void a_file_of_modelopt_beside_the_config_is_read(void **state)
{
    (void)state;
    /* One byte per weight and per element of the cache. */
    assert_sizes(open_files("{" LLAMA_70B "}",
                            "{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": "
                            "{\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\", "
                            "\"exclude_modules\": [\"lm_head\"]}}"),
                 LINEAR_70B + 2 * PLAIN_70B, CACHE_70B);
    /* 16 weights in 9 bytes. */
    assert_sizes(open_files("{" LLAMA_70B "}",
                            "{\"quantization\": {\"quant_algo\": \"NVFP4\", "
                            "\"kv_cache_quant_algo\": \"NVFP4\", \"group_size\": 16, "
                            "\"exclude_modules\": [\"lm_head\"]}}"),
                 LINEAR_70B / 16 * 9 + 2 * PLAIN_70B, CACHE_70B / 16 * 9);
    /* Patterns: attention stays in 16 bits in the layers 0 and 79. */
    assert_sizes(open_files("{" LLAMA_70B "}",
                            "{\"quantization\": {\"quant_algo\": \"FP8\", \"exclude_modules\": "
                            "[\"lm_head\", \"model.layers.0.self_attn*\", "
                            "\"model.layers.79.self_attn*\"]}}"),
                 LINEAR_70B + 2 * (ATTENTION_70B / 80) + 2 * PLAIN_70B, 2 * CACHE_70B);
    /* Nothing beside it: 16 bits. */
    assert_sizes(open_files("{" LLAMA_70B "}", NULL), 2 * (LINEAR_70B + PLAIN_70B), 2 * CACHE_70B);
}

#define FP8_ATTENTION                                                                              \
    "{\"targets\": [\"re:.*self_attn\\\\.[qkvo]_proj$\"], \"weights\": {\"num_bits\": 8, "         \
    "\"type\": \"float\"}, \"input_activations\": {\"num_bits\": 8, \"type\": \"float\"}}"
#define INT4_LINEAR                                                                                \
    "{\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 4, \"type\": \"int\", "               \
    "\"group_size\": 128}}"

static void each_config_group_has_its_targets(void **state)
{
    static const char *const orders[] = { FP8_ATTENTION ", \"group_1\": " INT4_LINEAR,
                                          INT4_LINEAR ", \"group_1\": " FP8_ATTENTION };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof(text),
                 "{%s, \"quantization_config\": {\"quant_method\": \"compressed-tensors\", "
                 "\"config_groups\": {\"group_0\": %s}, \"ignore\": [\"lm_head\", "
                 "\"re:.*block_sparse_moe.gate\"]}}",
                 MIXTRAL, orders[i]);
        /* Attention in one byte, experts in 133 bytes for 256, the others in two: 25298403328. */
        assert_sizes(open_files(text, NULL),
                     ATTENTION_MIXTRAL + EXPERTS_MIXTRAL / 256 * 133 + 2 * PLAIN_MIXTRAL, 131072);
    }
}

static void a_group_may_have_any_name(void **state)
{
    (void)state;
    /* 16 weights in 9 bytes; the cache in 4 bits as well. */
    assert_sizes(open_files("{" LLAMA_70B ", \"quantization_config\": {\"quant_method\": "
                            "\"compressed-tensors\", \"config_groups\": {\"nvfp4\": {\"targets\": "
                            "[\"Linear\"], \"weights\": {\"num_bits\": 4, \"type\": \"float\", "
                            "\"group_size\": 16}}}, \"kv_cache_scheme\": {\"num_bits\": 4, "
                            "\"type\": \"float\"}, \"ignore\": [\"lm_head\"]}}",
                            NULL),
                 LINEAR_70B / 16 * 9 + 2 * PLAIN_70B, CACHE_70B / 16 * 9);
}

/* As Kimi K2: int4 with a scale of 16 bits for 32 weights, 9 bytes for 16, in the experts only. */
static void symmetric_groups_of_32_have_no_zero_points(void **state)
{
    (void)state;
    assert_sizes(open_files("{" MIXTRAL ", \"quantization_config\": {\"quant_method\": "
                            "\"compressed-tensors\", \"format\": \"pack-quantized\", "
                            "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], "
                            "\"weights\": {\"num_bits\": 4, \"type\": \"int\", \"group_size\": 32, "
                            "\"symmetric\": true, \"strategy\": \"group\"}}}, \"ignore\": "
                            "[\"lm_head\", \"re:.*self_attn.*\", \"re:.*shared_experts.*\"]}}",
                            NULL),
                 EXPERTS_MIXTRAL / 16 * 9 + 2 * (ATTENTION_MIXTRAL + PLAIN_MIXTRAL), 131072);
}

/* Llama 3.1 405B: attention of all layers and the MLP of the first and the last are left out. */
static void modules_of_single_layers_stay_in_16_bits(void **state)
{
    static const char *const matrices[] = { "q_proj", "k_proj", "v_proj", "o_proj" };
    static char text[65536];
    size_t used = (size_t)snprintf(
        text, sizeof(text),
        "{\"model_type\": \"llama\", \"hidden_size\": 16384, \"num_hidden_layers\": 126, "
        "\"num_attention_heads\": 128, \"num_key_value_heads\": 8, \"intermediate_size\": 53248, "
        "\"vocab_size\": 128256, \"torch_dtype\": \"bfloat16\", \"tie_word_embeddings\": false, "
        "\"quantization_config\": {\"quant_method\": \"fbgemm_fp8\", \"modules_to_not_convert\": "
        "[\"lm_head\", \"model.layers.0.mlp.gate_proj\", \"model.layers.0.mlp.up_proj\", "
        "\"model.layers.0.mlp.down_proj\", \"model.layers.125.mlp.gate_proj\", "
        "\"model.layers.125.mlp.up_proj\", \"model.layers.125.mlp.down_proj\"");

    (void)state;
    for (int i = 0; i < 126; i++)
        for (size_t j = 0; j < 4; j++)
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                                     ", \"model.layers.%d.self_attn.%s\"", i, matrices[j]);
    snprintf(text + used, sizeof(text) - used, "]}}");
    /* MLP of 124 layers, 3 x 16384 x 53248 each, in one byte: 324538466304. In two: 2 MLPs, 126
     * times attention of 570425344, two tables of 128256 x 16384 and 253 norms of 16384. */
    assert_sizes(open_files(text, NULL),
                 UINT64_C(324538466304) + 2 * (UINT64_C(5234491392) + UINT64_C(71873593344) +
                                               UINT64_C(4202692608) + UINT64_C(4145152)),
                 516096);
}

static void sparse_attention_is_refused(void **state)
{
    llmperf_model *model = NULL;
    char path[128];

    (void)state;
    write_file("config.json",
               "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
               "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100, "
               "\"kv_lora_rank\": 16, \"q_lora_rank\": 16, \"qk_nope_head_dim\": 8, "
               "\"qk_rope_head_dim\": 4, \"v_head_dim\": 8, \"torch_dtype\": \"bfloat16\", "
               "\"tie_word_embeddings\": false, \"index_topk\": 2048}");
    snprintf(path, sizeof(path), "%s/config.json", folder);
    assert_int_equal(llmperf_model_open(path, &model), LLMPERF_ENOTSUP);
    assert_non_null(strstr(llmperf_last_error(), "index_topk"));
}

static void a_file_without_folder_has_its_neighbour_too(void **state)
{
    char before[4096];
    llmperf_model *model = NULL;

    (void)state;
    write_file("config.json", "{" LLAMA_70B "}");
    write_file("hf_quant_config.json", "{\"quantization\": {\"quant_algo\": \"FP8\", "
                                       "\"exclude_modules\": [\"lm_head\"]}}");
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(llmperf_model_open("config.json", &model), 0);
    unlink("hf_quant_config.json");
    assert_int_equal(chdir(before), 0);
    assert_sizes(model, LINEAR_70B + 2 * PLAIN_70B, 2 * CACHE_70B);
}

/* Such expressions would take gigabytes, or minutes: the test would end at its time limit. */
static void expressions_that_would_take_the_machine_are_left_out(void **state)
{
    static const char *const entries[] = { "re:((((a{1,200}){1,200}){1,200}){1,200}){1,200}",
                                           "re:.{1,30000}", "re:(a*)*\\\\1" };
    char text[2048];

    (void)state;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        llmperf_model *model;

        snprintf(text, sizeof(text),
                 "{" LLAMA_70B ", \"quantization_config\": {\"quant_method\": \"fp8\", "
                 "\"ignore\": [\"%s\"]}}",
                 entries[i]);
        model = open_files(text, NULL);
        assert_non_null(strstr(llmperf_model_warning(model, 0), "cannot be read and is left out"));
        llmperf_model_free(model);
    }
}

static void a_warning_names_the_file_that_it_is_about(void **state)
{
    llmperf_model *model =
        open_files("{" LLAMA_70B "}", "{\"quantization\": {\"quant_algo\": \"MIXED_PRECISION\"}}");

    (void)state;
    assert_non_null(strstr(llmperf_model_warning(model, 0), "/hf_quant_config.json:1: unknown"));
    llmperf_model_free(model);
}

static void more_patterns_than_a_checkpoint_has_are_left_out(void **state)
{
    static char text[65536];
    llmperf_model *model;
    size_t used = (size_t)snprintf(text, sizeof(text),
                                   "{" LLAMA_70B ", \"quantization_config\": {\"quant_method\": "
                                   "\"fp8\", \"ignore\": [\"lm_head\"");

    (void)state;
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ", \"re:.*x%d\"", i);
    snprintf(text + used, sizeof(text) - used, "]}}");
    model = open_files(text, NULL);
    assert_non_null(strstr(llmperf_model_warning(model, 0), "after so many patterns"));
    llmperf_model_free(model);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/config.json", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_modelopt_beside_the_config_is_read),
        cmocka_unit_test(each_config_group_has_its_targets),
        cmocka_unit_test(a_group_may_have_any_name),
        cmocka_unit_test(modules_of_single_layers_stay_in_16_bits),
        cmocka_unit_test(symmetric_groups_of_32_have_no_zero_points),
        cmocka_unit_test(sparse_attention_is_refused),
        cmocka_unit_test(a_file_without_folder_has_its_neighbour_too),
        cmocka_unit_test(expressions_that_would_take_the_machine_are_left_out),
        cmocka_unit_test(a_warning_names_the_file_that_it_is_about),
        cmocka_unit_test(more_patterns_than_a_checkpoint_has_are_left_out),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
