/* SPDX-License-Identifier: Apache-2.0 */
/* From a name or a path to a model. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/analysis/model_fields.h"
#include "lib/base/file.h"
#include "lib/base/status.h"
#include "llmperf/config.h"

#define PATH_BYTES 4096
/* A config.json has some kilobytes; label maps of classifiers bring it to a few hundred. */
#define FILE_BYTES_MAX (16 << 20)

static const char *const nested_keys[] = { "text_config", "language_config", "llm_config" };
#define NESTED_KEYS (sizeof(nested_keys) / sizeof(nested_keys[0]))

/* model/NAME/arch/NAME.default.yaml of the data files. */
static bool find_by_name(const char *name, char *path)
{
    const char *folder = strchr(name, '/') ? NULL : llmperf_config_dir();
    char plain[256];

    if (!folder || strlen(name) >= sizeof(plain))
        return false;
    snprintf(plain, sizeof(plain), "%s", name);
    for (char *at = plain; *at; at++)
        if (*at == '-' || *at == '.')
            *at = '_';
    return snprintf(path, PATH_BYTES, "%s/model/%s/arch/%s.default.yaml", folder, plain, plain) <
               PATH_BYTES &&
           lp_path_exists(path);
}

static int find_file(const char *name, char *path)
{
    if (strlen(name) + sizeof("/config.json") > PATH_BYTES)
        return lp_error(LLMPERF_ENOENT, "the path of the model is too long");
    if (lp_path_is_folder(name))
        snprintf(path, PATH_BYTES, "%s/config.json", name);
    else if (lp_path_exists(name) || !find_by_name(name, path))
        snprintf(path, PATH_BYTES, "%s", name);
    if (lp_path_exists(path))
        return 0;
    return lp_error(LLMPERF_ENOENT,
                    "%.200s is no file and no model of the data files; give a config.json, a "
                    "folder with one, or a name; see llmperf model --list",
                    path);
}

static int check_file(const char *path)
{
    struct stat info;

    if (stat(path, &info) < 0)
        return lp_error(LLMPERF_EIO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return lp_error(LLMPERF_EFORMAT, "%s is not a regular file; give a config.json", path);
    if (info.st_size > FILE_BYTES_MAX)
        return lp_error(LLMPERF_EFORMAT,
                        "%s has %" PRIu64 " bytes; a model description has at most %d", path,
                        (uint64_t)info.st_size, FILE_BYTES_MAX);
    return 0;
}

/* "llama_3_8b" of llama_3_8b.default.yaml; the folder's name of a config.json. */
static const char *name_of(struct llmperf_model *model, const char *path)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    size_t length = strcspn(start, ".");

    if (strcmp(start, "config.json") == 0 && slash) {
        const char *end = slash;

        start = path;
        for (const char *at = path; at < end; at++)
            if (*at == '/')
                start = at + 1;
        length = (size_t)(end - start);
    }
    return lp_strings_add_bytes(&model->texts, start, length);
}

static const char *first_architecture(const struct lp_fields *fields)
{
    return lp_field_length(fields, "architectures") > 0
               ? lp_field_element_word(fields, "architectures", 0)
               : NULL;
}

/* Family of a map by what it says of itself; NULL: nothing that is known. */
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
        "%s: model_type \"%.40s\" is not supported; supported are llama, mistral, "
        "mixtral, qwen2, qwen2_moe, qwen3, qwen3_moe, gemma2, gemma3, "
        "deepseek_v2, deepseek_v3, DeepSeek-OCR, gpt2, vit, clip_vision_model, "
        "sam, resnet, shallow_resnet; if its layers are those of one of these, "
        "say so in a copy, else let the program count FLOPs and bytes",
        file, type);
}

/* Keys of the root that its nested map says as well belong to that map. */
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
        lp_reader_assume(reader, "model_type is absent: shallow_resnet (by its keys)");
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

/* All that llmperf_model_info says fits 64 bits, and is what the file declares. */
static int check_total(struct lp_reader *reader)
{
    struct lp_parameters parameters;
    lp_u128 total;

    lp_model_parameters(reader->model, &parameters);
    total = lp_parameters_total(&parameters);
    /* Eight bytes a weight is more than any format takes. */
    if (total > INT64_MAX / 8)
        return lp_reader_fail(reader, LLMPERF_EFORMAT, "%s: the model has more than 2^60 weights",
                              reader->file);
    if (reader->model->declared_parameters && reader->model->declared_parameters != total)
        lp_reader_warn(reader, "%s: parameters_total is %" PRIu64 ", the description has %" PRIu64,
                       reader->file, reader->model->declared_parameters, (uint64_t)total);
    return reader->status;
}

static int read_tree(struct llmperf_model *model, const char *path, struct lp_yaml_tree *tree)
{
    struct lp_reader reader = { .model = model, .file = path };
    struct lp_fields root = { &reader, lp_yaml_root(tree), "", 1 };
    int status;

    reader.root = &root;
    if (root.map->kind != LP_YAML_MAP)
        return lp_error(LLMPERF_EFORMAT, "%s:1: a model description is a map of keys", path);
    model->source = lp_strings_add(&model->texts, path);
    model->name = name_of(model, path);
    if ((status = read_root(&root)) == 0)
        status = check_total(&reader);
    if (status == 0 && (!model->name || !model->source))
        status = lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", path);
    lp_vector_clear(&reader.used);
    return status;
}

int llmperf_model_open(const char *name, llmperf_model **model_out)
{
    struct lp_yaml_tree *tree = NULL;
    llmperf_model *model;
    char path[PATH_BYTES];
    int status;

    if (!name || !*name || !model_out)
        return lp_error(LLMPERF_EINVAL, "model and model_out are required");
    if ((status = find_file(name, path)) < 0 || (status = check_file(path)) < 0 ||
        (status = lp_yaml_read(path, &tree)) < 0)
        return status;
    model = calloc(1, sizeof(*model));
    status = model ? read_tree(model, path, tree)
                   : lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", path);
    lp_yaml_free(tree);
    if (status < 0)
        llmperf_model_free(model);
    else
        *model_out = model;
    return status;
}
