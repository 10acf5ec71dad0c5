/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a model by name or path. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/fields.h"
#include "lib/base/status.h"
#include "lib/config/config.h"
#include "lib/model/configured.h"
#include "llmperf/model.h"
#include "llmperf/sys/config.h"

static const char *const nested_keys[] = { "text_config", "language_config", "llm_config" };
#define NESTED_KEYS LP_LENGTH(nested_keys)

static const char *first_architecture(const struct lp_fields *fields)
{
    return lp_field_length(fields, "architectures") > 0
               ? lp_field_element_word(fields, "architectures", 0)
               : NULL;
}

/* Family from a map's own keys; NULL: not known. */
static const char *decoder_family(const struct lp_fields *fields)
{
    const char *family = lp_decoder_family(lp_field_word(fields, "model_type"));

    return family ? family : lp_decoder_family(first_architecture(fields));
}

static int fail_family(const struct lp_fields *root)
{
    const char *type = lp_field_word(root, "model_type");
    const char *file = root->reader->file;

    if (!type)
        return lp_reader_fail(root->reader, LLMPERF_EFORMAT, "%s: model_type is missing; add it",
                              file);
    return lp_reader_fail(
        root->reader, LLMPERF_ENOTSUP,
        "%s: model_type \"%.40s\" is not supported; supported are llama, mistral, mixtral, qwen2, "
        "qwen2_moe, qwen3, qwen3_moe, gemma2, gemma3, deepseek_v2, deepseek_v3, DeepSeek-OCR, "
        "gpt2, vit, clip_vision_model, sam, resnet, shallow_resnet; if its layers match one of "
        "these, set that model_type in a copy of the file; otherwise let the program count FLOPs "
        "and bytes (llmperf_region_count)",
        file, type);
}

/* Some files have the decoder's keys both at the root and in its nested map: the map's are used. */
static void skip_doubled(const struct lp_fields *root, const struct lp_fields *nested)
{
    for (size_t i = 0; i < nested->map->count; i++)
        lp_field_skip(root, nested->map->entries[i].key);
}

static int read_with_decoder(const struct lp_fields *root)
{
    struct lp_reader *reader = root->reader;
    struct lp_fields text = *root;
    const char *family;
    bool nested = false;

    for (size_t i = 0; i < NESTED_KEYS && !nested; i++)
        nested = lp_field_map(root, nested_keys[i], &text);
    family = decoder_family(&text);
    if (!family && nested)
        family = decoder_family(root);
    if (!family)
        return fail_family(root);
    reader->model->family = family;
    lp_read_formats(&text);
    if (reader->status == 0)
        lp_read_decoder(&text, family);
    if (reader->status == 0)
        lp_read_encoder(root);
    if (nested && reader->status == 0) {
        skip_doubled(root, &text);
        lp_fields_report_unknown(&text);
    }
    return reader->status;
}

static bool looks_like_shallow_resnet(const struct lp_fields *root)
{
    return lp_field_is_absent(root, "model_type") && !lp_field_is_absent(root, "blocks") &&
           !lp_field_is_absent(root, "classes") && !lp_field_is_absent(root, "input");
}

static int read_root(const struct lp_fields *root)
{
    struct lp_reader *reader = root->reader;
    const char *family = lp_vision_family(lp_field_word(root, "model_type"));
    const char *name = lp_field_word(root, "name");

    if (name)
        reader->model->name = lp_strings_add(&reader->model->texts, name);
    reader->model->declared_parameters = lp_field_or(root, "parameters_total", 0, INT64_MAX, NULL);
    if (looks_like_shallow_resnet(root)) {
        lp_reader_assume(reader,
                         "model_type is absent: taken as shallow_resnet, judging by its keys");
        family = lp_vision_family("shallow_resnet");
    }
    if (reader->status < 0)
        return reader->status;
    if (!family) {
        read_with_decoder(root);
    } else {
        reader->model->family = family;
        lp_read_formats(root);
        if (reader->status == 0)
            lp_read_vision(root, family);
    }
    if (reader->status == 0)
        lp_fields_report_unknown(root);
    return reader->status;
}

/* Check that llmperf_model_info fits 64 bits and agrees with the numbers that the file declares. */
static int check_total(struct lp_reader *reader)
{
    struct lp_parameters parameters;
    lp_u128 total;

    lp_model_parameters(reader->model, &parameters);
    total = lp_parameters_total(&parameters);
    /* No format has eight bytes per weight. */
    if (total > INT64_MAX / 8)
        return lp_reader_fail(reader, LLMPERF_EFORMAT, "%s: the model has more than 2^60 weights",
                              reader->file);
    if (reader->model->declared_parameters && reader->model->declared_parameters != total)
        lp_reader_warn(
            reader, "%s: parameters_total is %" PRIu64 ", but the description adds up to %" PRIu64,
            reader->file, reader->model->declared_parameters, (uint64_t)total);
    return reader->status;
}

/* @param source  Name in errors.
 * @param path  Prefix of keys in errors. */
static int read_map(struct llmperf_model *model, const char *source, const struct lp_yaml_node *map,
                    const char *path)
{
    struct lp_reader reader = { .model = model, .file = source };
    struct lp_fields root = { &reader, map, path, map->line };
    int status;

    reader.root = &root;
    if (map->kind != LP_YAML_MAP)
        return lp_error(LLMPERF_EFORMAT,
                        "%s:%" PRIu32 ": a model description must be a map of keys", source,
                        map->line);
    if ((status = read_root(&root)) == 0)
        status = check_total(&reader);
    if (status == 0 && (!model->name || !model->source))
        status = lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", source);
    lp_vector_clear(&reader.used);
    return status;
}

static int read_model(const char *source, const struct lp_yaml_node *map, const char *path,
                      llmperf_model **model_out)
{
    llmperf_model *model = calloc(1, sizeof(*model));
    size_t length;
    const char *name = lp_model_name(source, &length);
    int status;

    if (!model)
        return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", source);
    model->source = lp_strings_add(&model->texts, source);
    model->name = lp_strings_add_bytes(&model->texts, name, length);
    if ((status = read_map(model, source, map, path)) < 0)
        llmperf_model_free(model);
    else
        *model_out = model;
    return status;
}

int llmperf_model_open(const char *name, llmperf_model **model_out)
{
    struct lp_yaml_tree *tree = NULL;
    char path[LP_MODEL_PATH_BYTES] = "config of the program";
    int status;

    if (!name || !*name || !model_out)
        return lp_error(LLMPERF_EINVAL, "model and model_out are required");
    if (*name == '{')
        status = lp_yaml_parse(path, name, strlen(name), &tree);
    else if ((status = lp_model_find(name, path)) == 0)
        status = lp_yaml_read(path, &tree);
    if (status < 0)
        return status;
    status = read_model(path, lp_yaml_root(tree), "", model_out);
    lp_yaml_free(tree);
    return status;
}

/* Lines in errors are those of the whole document, as `llmperf config` prints it. */
int lp_model_configured(const llmperf_config *config, llmperf_model **model_out)
{
    static const char source[] = "the configuration";
    struct lp_yaml_tree *tree = NULL;
    char *text;
    int status = llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &text);

    if (status < 0)
        return status;
    status = lp_yaml_parse(source, text, strlen(text), &tree);
    llmperf_text_free(text);
    if (status < 0)
        return status;
    status =
        read_model(source, lp_yaml_get(lp_yaml_root(tree), "model", 5)->value, "model.", model_out);
    lp_yaml_free(tree);
    return status;
}
