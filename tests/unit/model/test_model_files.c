/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: what is read, what is reported, and files that must be refused with one clear line.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "llmperf/model.h"

static char folder[] = "/tmp/llmperf-model-XXXXXX";
static char file_path[64];

/* A small model, to be put in braces. */
#define LLAMA                                                                                      \
    "\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "                   \
    "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100, "                \
    "\"torch_dtype\": \"bfloat16\", \"tie_word_embeddings\": false"

static void write_text(const char *text)
{
    FILE *file = fopen(file_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static llmperf_model *open_text(const char *text)
{
    llmperf_model *model = NULL;

    write_text(text);
    if (llmperf_model_open(file_path, &model) < 0)
        fail_msg("%s", llmperf_last_error());
    return model;
}

static llmperf_model_info info_of(const llmperf_model *model)
{
    llmperf_model_info info = LLMPERF_MODEL_INFO_INIT;

    assert_int_equal(llmperf_model_info_get(model, &info), 0);
    return info;
}

static void assert_one_line_with(const char *part)
{
    if (!strstr(llmperf_last_error(), part) || strchr(llmperf_last_error(), '\n'))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

static void assert_path_refused(const char *path, int status, const char *part)
{
    llmperf_model *model = NULL;

    assert_int_equal(llmperf_model_open(path, &model), status);
    assert_null(model);
    assert_one_line_with(part);
}

static void assert_refused(const char *text, const char *part)
{
    write_text(text);
    assert_path_refused(file_path, LLMPERF_EFORMAT, part);
    assert_one_line_with(file_path);
}

static void assert_lists(const char *(*list)(const llmperf_model *, size_t),
                         const llmperf_model *model, const char *part)
{
    for (size_t i = 0; list(model, i); i++)
        if (strstr(list(model, i), part))
            return;
    fail_msg("nothing says \"%s\"", part);
}

static void a_missing_key_is_named_with_its_file(void **state)
{
    static const char *const needed[] = { "hidden_size", "num_hidden_layers", "num_attention_heads",
                                          "intermediate_size", "vocab_size" };
    char text[1024], wanted[64];

    (void)state;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        char *key;

        snprintf(text, sizeof(text), "{%s}", LLAMA);
        key = strstr(text, needed[i]);
        assert_non_null(key);
        memset(key, 'x', strlen(needed[i]));
        snprintf(wanted, sizeof(wanted), "%s is missing", needed[i]);
        assert_refused(text, wanted);
    }
    assert_refused("{\"hidden_size\": 64}", "model_type is missing");
}

static void a_value_of_a_wrong_kind_is_named(void **state)
{
    static const char *const values[][2] = {
        { "\"64\"", "is \"64\"" },
        { "-64", "is -64" },
        { "0", "is 0" },
        { "64.0", "is 64.0" },
        { "6e1", "is 6e1" },
        { "NaN", "is NaN" },
        { "true", "is true" },
        { "[64]", "is a list" },
        { "{\"a\": 1}", "is a map" },
        { "99999999999999999999999", "is 99999999999999999999999" },
        { "4194305", "between 1 and 4194304" },
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        snprintf(text, sizeof(text),
                 "{\"model_type\": \"llama\",\n \"num_hidden_layers\": 2,\n \"hidden_size\": %s}",
                 values[i][0]);
        assert_refused(text, values[i][1]);
        assert_one_line_with(":3: hidden_size");
    }
    assert_refused("{\"model_type\": \"llama\", \"hidden_size\": null}", "hidden_size is missing");
    assert_refused("{" LLAMA ", \"mlp_bias\": \"yes\"}", "mlp_bias is \"yes\"");
    assert_refused("{\"model_type\": [\"llama\"]}", "model_type is a list");
    assert_refused("{\"model_type\": \"llama\", \"torch_dtype\": \"int8\"}", "torch_dtype");
}

static void shapes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_refused("{" LLAMA ", \"num_key_value_heads\": 3}",
                   "not a multiple of num_key_value_heads");
    assert_refused("{" LLAMA ", \"num_key_value_heads\": 0}", "num_key_value_heads");
    assert_refused("{\"model_type\": \"llama\", \"hidden_size\": 65, \"num_hidden_layers\": 2, "
                   "\"num_attention_heads\": 4, \"intermediate_size\": 1, \"vocab_size\": 9}",
                   "add head_dim");
    assert_refused("{\"model_type\": \"mixtral\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
                   "\"num_attention_heads\": 4, \"intermediate_size\": 1, \"vocab_size\": 9, "
                   "\"num_local_experts\": 4, \"num_experts_per_tok\": 5}",
                   "exceeds the number of experts");
    assert_refused("{\"model_type\": \"mixtral\", \"hidden_size\": 4194304, \"num_hidden_layers\": "
                   "4096, \"num_attention_heads\": 4, \"intermediate_size\": 4194304, "
                   "\"vocab_size\": 9, \"num_local_experts\": 65536, \"num_experts_per_tok\": 5}",
                   "more than 2^60 weights");
    assert_refused("{\"model_type\": \"mistral\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
                   "\"num_attention_heads\": 4, \"intermediate_size\": 1, \"vocab_size\": 9, "
                   "\"sliding_window\": 8, \"layer_types\": [\"full_attention\"]}",
                   "each of the 2 layers");
    assert_refused("{\"model_type\": \"vit\", \"hidden_size\": 65, \"num_hidden_layers\": 2, "
                   "\"num_attention_heads\": 4, \"intermediate_size\": 1, \"image_size\": 224, "
                   "\"patch_size\": 16}",
                   "multiple of num_attention_heads");
    assert_refused("{\"model_type\": \"resnet\", \"embedding_size\": 64, \"depths\": [3, 4], "
                   "\"hidden_sizes\": [64]}",
                   "same length");
}

static void a_family_that_is_not_known_is_refused(void **state)
{
    (void)state;
    write_text("{\"model_type\": \"mamba2\", \"hidden_size\": 64}");
    assert_path_refused(file_path, LLMPERF_ENOTSUP, "\"mamba2\" is not supported");
    write_text("{\"model_type\": \"mistral\", \"hidden_size\": 64, \"num_hidden_layers\": 1, "
               "\"num_attention_heads\": 4, \"intermediate_size\": 1, \"vocab_size\": 9, "
               "\"sliding_window\": 8, \"layer_types\": [\"linear_attention\"]}");
    assert_path_refused(file_path, LLMPERF_ENOTSUP, "linear_attention");
}

static void what_is_no_description_is_refused(void **state)
{
    char *deep = malloc(20001);

    (void)state;
    assert_refused("", "map of keys");
    assert_refused("[1, 2]", "map of keys");
    assert_refused("42", "map of keys");
    assert_refused("{\"model_type\": \"llama\", ", file_path);
    assert_refused("{\"model_type\": \"llama\", \"model_type\": \"gpt2\"}", file_path);
    assert_non_null(deep);
    memset(deep, '[', 20000);
    deep[20000] = '\0';
    assert_refused(deep, file_path);
    free(deep);
}

static void paths_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    unlink(file_path);
    assert_path_refused(file_path, LLMPERF_ENOENT, file_path);
    assert_path_refused("no_such_model", LLMPERF_ENOENT, "no_such_model");
    assert_path_refused("", LLMPERF_EINVAL, "required");
    assert_path_refused(folder, LLMPERF_ENOENT, "config.json");
    assert_path_refused("/dev/zero", LLMPERF_EFORMAT, "not a regular file");
    assert_int_equal(llmperf_model_open("x", NULL), LLMPERF_EINVAL);
}

static void a_file_of_ten_gigabytes_is_not_read(void **state)
{
    (void)state;
    write_text("{}");
    if (truncate(file_path, (off_t)10 << 30) < 0)
        skip(); /* the file system has no holes */
    assert_path_refused(file_path, LLMPERF_EFORMAT, "10737418240 bytes");
    unlink(file_path);
}

static void unknown_keys_are_reported_with_their_line(void **state)
{
    llmperf_model *model =
        open_text("{" LLAMA ",\n \"rope_theta\": 1e6,\n \"new_idea\": {\"a\": [1]}}");

    (void)state;
    assert_lists(llmperf_model_warning, model, ":3: unknown key new_idea");
    assert_null(llmperf_model_warning(model, 1));
    llmperf_model_free(model);
}

static void a_thousand_unknown_keys_are_cut_short(void **state)
{
    static char text[40000];
    size_t at = (size_t)snprintf(text, sizeof(text), "{" LLAMA), warnings = 0;
    llmperf_model *model;

    (void)state;
    for (int i = 0; i < 1000; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, ", \"k%d\": 1", i);
    snprintf(text + at, sizeof(text) - at, "}");
    model = open_text(text);
    while (llmperf_model_warning(model, warnings))
        warnings++;
    assert_int_equal(warnings, 101);
    assert_lists(llmperf_model_warning, model, "are not shown");
    llmperf_model_free(model);
}

static void defaults_of_the_framework_are_listed(void **state)
{
    llmperf_model *model =
        open_text("{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
                  "\"num_attention_heads\": 4, \"intermediate_size\": 8, \"vocab_size\": 9}");

    (void)state;
    assert_int_equal(info_of(model).kv_heads, 4);
    assert_lists(llmperf_model_assumption, model, "num_key_value_heads is absent: 4");
    assert_lists(llmperf_model_assumption, model, "torch_dtype is absent: bf16");
    assert_lists(llmperf_model_assumption, model, "tie_word_embeddings is absent: false");
    assert_null(llmperf_model_warning(model, 0));
    llmperf_model_free(model);
}

/* Mistral's configuration class has a window of 4096; null says that there is none. */
static void an_explicit_null_is_not_an_absent_key(void **state)
{
    static const char base[] = "{\"model_type\": \"mistral\", \"hidden_size\": 64, "
                               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                               "\"intermediate_size\": 8, \"vocab_size\": 9";
    char text[512];
    llmperf_model *model;

    (void)state;
    snprintf(text, sizeof(text), "%s}", base);
    model = open_text(text);
    assert_int_equal(info_of(model).window, 4096);
    llmperf_model_free(model);
    snprintf(text, sizeof(text), "%s, \"sliding_window\": null}", base);
    model = open_text(text);
    assert_int_equal(info_of(model).window, 0);
    llmperf_model_free(model);
}

static void layer_types_say_which_layers_have_a_window(void **state)
{
    llmperf_model *model = open_text(
        "{\"model_type\": \"gemma2\", \"hidden_size\": 64, \"num_hidden_layers\": 3, "
        "\"num_attention_heads\": 4, \"num_key_value_heads\": 4, \"intermediate_size\": 8, "
        "\"vocab_size\": 9, \"sliding_window\": 16, \"head_dim\": 16, \"layer_types\": "
        "[\"sliding_attention\", \"full_attention\", \"full_attention\"]}");

    (void)state;
    assert_int_equal(info_of(model).window_layers, 1);
    assert_int_equal(info_of(model).window, 16);
    llmperf_model_free(model);
}

static void quantisation_gives_the_format_of_the_weights(void **state)
{
    static const struct {
        const char *config;
        uint32_t dtype;
    } cases[] = {
        { "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}",
          LLMPERF_DTYPE_FP8_BLOCK128 },
        { "{\"quant_method\": \"fp8\"}", LLMPERF_DTYPE_FP8 },
        { "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}",
          LLMPERF_DTYPE_INT4_G128 },
        { "{\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": 128}", LLMPERF_DTYPE_INT8 },
        { "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32}", LLMPERF_DTYPE_INT4_G32 },
        { "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64}", LLMPERF_DTYPE_INT4_G64 },
        { "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": -1}",
          LLMPERF_DTYPE_INT4_CHANNEL },
        { "{\"quant_method\": \"mxfp4\"}", LLMPERF_DTYPE_MXFP4 },
        { "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}", LLMPERF_DTYPE_NVFP4 },
        { "{\"quant_method\": \"bitsandbytes\", \"bnb_4bit_quant_type\": \"nf4\"}",
          LLMPERF_DTYPE_NF4 },
        { "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "
          "{\"weights\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}}}}",
          LLMPERF_DTYPE_NVFP4 },
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_model *model;

        snprintf(text, sizeof(text), "{%s, \"quantization_config\": %s}", LLAMA, cases[i].config);
        model = open_text(text);
        assert_int_equal(info_of(model).weight_dtype, cases[i].dtype);
        assert_int_equal(info_of(model).kv_dtype, LLMPERF_DTYPE_BF16);
        llmperf_model_free(model);
    }
}

static uint32_t computes_in(const llmperf_model *model, uint32_t weight_dtype)
{
    llmperf_operator_work op = LLMPERF_OPERATOR_WORK_INIT;
    llmperf_step step = LLMPERF_STEP_INIT;

    step.phase = LLMPERF_PHASE_DECODE;
    step.requests = 1;
    step.weight_dtype = weight_dtype;
    for (size_t i = 0; llmperf_model_operator(model, &step, i, &op) == 0; i++) {
        if (strcmp(op.name, "attention") == 0)
            assert_int_equal(op.compute_dtype, LLMPERF_DTYPE_BF16);
        if (strcmp(op.name, "mlp") == 0)
            return op.compute_dtype;
    }
    fail();
    return 0;
}

static void quantised_activations_are_what_layers_compute_in(void **state)
{
    static const struct {
        const char *config;
        uint32_t dtype;
    } cases[] = {
        { "{\"quant_method\": \"fp8\", \"activation_scheme\": \"dynamic\"}", LLMPERF_DTYPE_FP8 },
        { "{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\"}", LLMPERF_DTYPE_FP8 },
        { "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128}", LLMPERF_DTYPE_BF16 },
        { "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "
          "{\"weights\": {\"num_bits\": 8, \"type\": \"int\"}, \"input_activations\": "
          "{\"num_bits\": 8, \"type\": \"int\"}}}}",
          LLMPERF_DTYPE_INT8 },
        { "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "
          "{\"weights\": {\"num_bits\": 8, \"type\": \"float\"}, \"input_activations\": null}}}",
          LLMPERF_DTYPE_BF16 },
        { "{\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\"}", LLMPERF_DTYPE_NVFP4 },
        { "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "
          "{\"weights\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}, "
          "\"input_activations\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}}}}",
          LLMPERF_DTYPE_NVFP4 },
        { "{\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": "
          "{\"weights\": {\"num_bits\": 4, \"type\": \"float\", \"group_size\": 16}}}}",
          LLMPERF_DTYPE_BF16 },
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_model *model;

        snprintf(text, sizeof(text), "{%s, \"quantization_config\": %s}", LLAMA, cases[i].config);
        model = open_text(text);
        assert_int_equal(info_of(model).activation_dtype, cases[i].dtype);
        assert_int_equal(computes_in(model, LLMPERF_DTYPE_DEFAULT), cases[i].dtype);
        assert_int_equal(computes_in(model, LLMPERF_DTYPE_BF16), LLMPERF_DTYPE_BF16);
        llmperf_model_free(model);
    }
}

static void a_quantised_cache_is_smaller(void **state)
{
    static const struct {
        const char *config;
        uint32_t dtype;
    } cases[] = {
        { "{\"quant_method\": \"modelopt\", \"quant_algo\": \"FP8\", "
          "\"kv_cache_quant_algo\": \"FP8\"}",
          LLMPERF_DTYPE_FP8 },
        { "{\"quant_method\": \"fp8\", \"kv_cache_scheme\": {\"num_bits\": 8, \"type\": "
          "\"float\"}}",
          LLMPERF_DTYPE_FP8 },
        { "{\"quant_method\": \"fp8\", \"kv_cache_scheme\": {\"num_bits\": 8, \"type\": \"int\"}}",
          LLMPERF_DTYPE_INT8 },
        { "{\"quant_method\": \"fp8\", \"kv_cache_scheme\": null}", LLMPERF_DTYPE_BF16 },
    };
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        llmperf_model *model;

        snprintf(text, sizeof(text), "{%s, \"quantization_config\": %s}", LLAMA, cases[i].config);
        model = open_text(text);
        assert_int_equal(info_of(model).kv_dtype, cases[i].dtype);
        llmperf_model_free(model);
    }
}

static void an_unknown_quantisation_is_a_warning(void **state)
{
    llmperf_model *model =
        open_text("{" LLAMA ", \"quantization_config\": {\"quant_method\": \"magic\"}}");

    (void)state;
    assert_int_equal(info_of(model).weight_dtype, LLMPERF_DTYPE_BF16);
    assert_lists(llmperf_model_warning, model, "weights are counted as bf16");
    llmperf_model_free(model);
    model = open_text("{" LLAMA ", \"quantization_config\": {\"quant_method\": "
                      "\"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\": "
                      "{\"num_bits\": 4, \"type\": \"int\", \"group_size\": 64}}}}}");
    assert_int_equal(info_of(model).weight_dtype, LLMPERF_DTYPE_BF16);
    assert_lists(llmperf_model_warning, model, "weights are counted as bf16");
    llmperf_model_free(model);
}

static void parts_left_unquantised_stay_in_16_bits(void **state)
{
    llmperf_model *all = open_text("{" LLAMA ", \"quantization_config\": {\"quant_method\": "
                                   "\"mxfp4\"}}");
    uint64_t bytes = info_of(all).weight_bytes, attention = info_of(all).parameters_attention_in +
                                                            info_of(all).parameters_attention_out;
    llmperf_model *part =
        open_text("{" LLAMA ", \"quantization_config\": {\"quant_method\": \"mxfp4\", "
                  "\"modules_to_not_convert\": [\"model.layers.*.self_attn\", \"lm_head\"]}}");

    (void)state;
    assert_true(info_of(part).weight_bytes == bytes + attention * 2 - attention * 17 / 32);
    llmperf_model_free(all);
    llmperf_model_free(part);
}

static void yaml_and_a_folder_with_a_config_are_read(void **state)
{
    llmperf_model *model = open_text("# a comment\nname: tiny\nmodel_type: llama\n"
                                     "hidden_size: 64\nnum_hidden_layers: 2\n"
                                     "num_attention_heads: 4\nintermediate_size: 128\n"
                                     "vocab_size: 100\nparameters_total: 5\n");
    char path[96];

    (void)state;
    assert_string_equal(info_of(model).name, "tiny");
    assert_lists(llmperf_model_warning, model, "parameters_total is 5");
    llmperf_model_free(model);
    write_text("{" LLAMA "}");
    snprintf(path, sizeof(path), "%s/config.json", folder);
    assert_int_equal(rename(file_path, path), 0);
    assert_int_equal(llmperf_model_open(folder, &model), 0);
    assert_string_equal(info_of(model).name, strrchr(folder, '/') + 1);
    llmperf_model_free(model);
    unlink(path);
}

/* Each model of the data files has the parameters that it declares, and leaves nothing to report.
 */
static void models_of_the_data_files_are_whole(void **state)
{
    char path[1024];
    struct dirent *entry;
    int seen = 0;
    DIR *models;

    (void)state;
    snprintf(path, sizeof(path), "%s/model", getenv("LLMPERF_CONFIG_DIR"));
    models = opendir(path);
    assert_non_null(models);
    while ((entry = readdir(models)) != NULL) {
        llmperf_model *model;

        if (entry->d_name[0] == '.')
            continue;
        if (llmperf_model_open(entry->d_name, &model) < 0)
            fail_msg("%s", llmperf_last_error());
        if (llmperf_model_warning(model, 0))
            fail_msg("%s", llmperf_model_warning(model, 0));
        assert_string_equal(info_of(model).name, entry->d_name);
        llmperf_model_free(model);
        seen++;
    }
    closedir(models);
    assert_true(seen >= 15);
}

static void a_model_is_found_by_its_usual_name(void **state)
{
    llmperf_model *model;

    (void)state;
    assert_int_equal(llmperf_model_open("llama-3-8b", &model), 0);
    assert_int_equal(info_of(model).parameters_total, UINT64_C(8030261248));
    llmperf_model_free(model);
    assert_int_equal(llmperf_model_open("qwen2.5-7b", &model), 0);
    llmperf_model_free(model);
    assert_path_refused("../model/llama_3_8b", LLMPERF_ENOENT, "neither a file");
}

/* 64 x 64 x 3 x 9 x 16, six times 64 x 64 x 16 x 9 x 16, 16 x 10; twice. */
static void the_shallow_resnet_of_the_examples_is_known(void **state)
{
    llmperf_step step = LLMPERF_STEP_INIT;
    llmperf_work work = LLMPERF_WORK_INIT;
    llmperf_model *model;

    (void)state;
    assert_int_equal(llmperf_model_open("dummy_shallow_resnet", &model), 0);
    step.phase = LLMPERF_PHASE_VISION;
    step.images = 4;
    assert_int_equal(llmperf_model_work(model, &step, &work), 0);
    assert_int_equal(work.model_flops,
                     UINT64_C(4) * 2 * (4096 * 3 * 9 * 16 + 6 * 4096 * 16 * 9 * 16 + 160));
    llmperf_model_free(model);
}

static void nothing_is_a_model(void **state)
{
    (void)state;
    llmperf_model_free(NULL);
    assert_null(llmperf_model_warning(NULL, 0));
    assert_null(llmperf_model_assumption(NULL, 0));
    assert_int_equal(llmperf_model_info_get(NULL, NULL), LLMPERF_EINVAL);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_path, sizeof(file_path), "%s/model.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_key_is_named_with_its_file),
        cmocka_unit_test(a_value_of_a_wrong_kind_is_named),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(a_family_that_is_not_known_is_refused),
        cmocka_unit_test(what_is_no_description_is_refused),
        cmocka_unit_test(paths_that_lead_nowhere_are_refused),
        cmocka_unit_test(a_file_of_ten_gigabytes_is_not_read),
        cmocka_unit_test(unknown_keys_are_reported_with_their_line),
        cmocka_unit_test(a_thousand_unknown_keys_are_cut_short),
        cmocka_unit_test(defaults_of_the_framework_are_listed),
        cmocka_unit_test(an_explicit_null_is_not_an_absent_key),
        cmocka_unit_test(layer_types_say_which_layers_have_a_window),
        cmocka_unit_test(quantisation_gives_the_format_of_the_weights),
        cmocka_unit_test(quantised_activations_are_what_layers_compute_in),
        cmocka_unit_test(a_quantised_cache_is_smaller),
        cmocka_unit_test(an_unknown_quantisation_is_a_warning),
        cmocka_unit_test(parts_left_unquantised_stay_in_16_bits),
        cmocka_unit_test(yaml_and_a_folder_with_a_config_are_read),
        cmocka_unit_test(models_of_the_data_files_are_whole),
        cmocka_unit_test(a_model_is_found_by_its_usual_name),
        cmocka_unit_test(the_shallow_resnet_of_the_examples_is_known),
        cmocka_unit_test(nothing_is_a_model),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
