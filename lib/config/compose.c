/* SPDX-License-Identifier: Apache-2.0 */
/* Composes a configuration from files and overrides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/config/options.h"
#include "lib/config/config.h"
#include "lib/config/defaults.h"
#include "lib/config/inside.h"
#include "lib/config/interpolate.h"
#include "lib/config/scalar.h"

#define MODEL "model"
#define USUAL "config"

/* State of one composition. */
struct composition {
    struct lp_repository repository;
    struct lp_values *values;
    struct lp_value *root;
    bool is_empty;     /* no file: only the options of a run */
    const char *model; /* merged before that text; NULL: none */
    const char *name;  /* name of the first file in its folder */
    struct lp_override *overrides;
    size_t override_count;
    time_t now;
};

static bool is_file(const char *name)
{
    return lp_path_exists(name) && !lp_path_is_folder(name) &&
           (strchr(name, '/') || strstr(name, ".yaml") || strstr(name, ".yml"));
}

/* Works without data files: then there are only the options. */
static bool is_usual_run(const struct composition *composition)
{
    return strcmp(composition->name, USUAL) == 0;
}

/* A file's own folder is searched before that of the library. */
static int choose_roots(struct composition *composition, const char *name)
{
    struct lp_repository *repository = &composition->repository;
    const char *data = llmperf_config_dir(), *slash = strrchr(name, '/');
    const char *folder;

    composition->name = name;
    if (is_file(name)) {
        folder = slash ? lp_values_printf(composition->values, "%.*s",
                                          slash == name ? 1 : (int)(slash - name), name)
                       : ".";
        if (!folder)
            return LLMPERF_ENOMEM;
        repository->roots[repository->root_count++] = folder;
        composition->name = slash ? slash + 1 : name;
    } else if (!data && !is_usual_run(composition)) {
        return LLMPERF_ENOENT; /* llmperf_config_dir() set the error */
    }
    if (data)
        repository->roots[repository->root_count++] = data;
    return 0;
}

static bool chooses_groups(const struct composition *composition)
{
    for (size_t i = 0; i < composition->override_count; i++)
        if (lp_override_is_group(&composition->repository, &composition->overrides[i]))
            return true;
    return false;
}

static int check_first(struct composition *composition, const char *name)
{
    const struct lp_source *source;
    int status = lp_repository_load(&composition->repository, composition->name, &source);

    if (status < 0 || source)
        return status;
    composition->is_empty = is_usual_run(composition) && !chooses_groups(composition);
    if (composition->is_empty)
        return 0;
    return lp_error(LLMPERF_ENOENT,
                    "configuration %s not found: it is neither a .yaml file nor a name in %s%s",
                    name, composition->repository.roots[0],
                    lp_repository_options(&composition->repository, ".", name));
}

/* "model=NAME": that folder has groups and no options, so nothing else can be meant. */
static bool names_model(const struct lp_override *override)
{
    const struct lp_value *value = override->value;

    return override->kind != LP_OVERRIDE_REMOVE && !override->package &&
           strcmp(override->key, MODEL) == 0 && value && value->kind == LP_VALUE_TEXT &&
           lp_scalar_type(value) == LP_SCALAR_STRING;
}

static int parse_override(struct composition *composition, const char *text, const char **model)
{
    struct lp_override *override = &composition->overrides[composition->override_count];
    int status = text ? lp_override_parse(composition->values, text, override)
                      : lp_error(LLMPERF_EINVAL, "an override must not be NULL");

    if (status < 0)
        return status;
    if (names_model(override))
        *model = override->value->text;
    else
        composition->override_count++;
    return 0;
}

static int parse_overrides(struct composition *composition, const char *const *texts, size_t count)
{
    const char *model = NULL;
    int status = 0;

    composition->overrides = calloc(count + 1, sizeof(*composition->overrides));
    if (!composition->overrides)
        return lp_out_of_memory();
    for (size_t i = 0; status == 0 && i < count; i++)
        status = parse_override(composition, texts[i], &model);
    if (!composition->model)
        composition->model = model;
    return status;
}

static int merge_parts(struct composition *composition)
{
    struct lp_parts parts = { 0 };
    int status =
        lp_defaults_expand(&composition->repository, composition->name, composition->overrides,
                           composition->override_count, composition->now, &parts);

    for (size_t i = 0; status == 0 && i < parts.list.count; i++)
        status = lp_edit_embed(composition->values, composition->root, parts.list.items[i].package,
                               parts.list.items[i].source->content);
    lp_vector_clear(&parts.list);
    return status;
}

/* Check these first: other values refer to them, and errors would name those. */
static int check_maps(const struct composition *composition)
{
    static const struct {
        const char *key, *group;
    } maps[] = { { "run", "run.mode" },
                 { "session", "profiling/session@session" },
                 { "artifacts", "artifacts.dir" },
                 { "pipeline", "profiling/counters@pipeline.counters" } };
    char place[512];

    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        const struct lp_value *value =
            lp_value_get(composition->root, maps[i].key, strlen(maps[i].key));

        if (value && value->kind == LP_VALUE_TEXT && lp_scalar_type(value) == LP_SCALAR_STRING)
            return lp_error(LLMPERF_EFORMAT,
                            "%s: %s must be a map, not the string %.80s; write %s=…",
                            lp_value_place(value, place, sizeof(place)), maps[i].key, value->text,
                            maps[i].group);
    }
    return 0;
}

static int name_model(struct composition *composition, struct lp_value *description,
                      const char *path)
{
    size_t length;
    const char *name = lp_model_name(path, &length);
    struct lp_value *value;

    if (lp_value_get(description, "name", strlen("name")))
        return 0;
    if (!(name = lp_values_printf(composition->values, "%.*s", (int)length, name)) ||
        !(value = lp_value_text(composition->values, name, true, path, 1)))
        return LLMPERF_ENOMEM;
    return lp_value_put(composition->values, description, "name", value);
}

/* Set the name too: nothing else in the configuration refers to the file. */
static int put_model(struct composition *composition, const char *model)
{
    struct lp_value *description;
    char path[LP_MODEL_PATH_BYTES];
    int status;

    if ((status = lp_model_find(model, path)) < 0 ||
        (status = lp_value_read(composition->values, path, &description)) < 0)
        return status;
    if (description->kind != LP_VALUE_MAP)
        return lp_error(LLMPERF_EFORMAT, "%s:1: a model description must be a map of keys", path);
    if ((status = name_model(composition, description, path)) < 0)
        return status;
    return lp_value_put(composition->values, composition->root, MODEL, description);
}

/* The model's key has a text: a name now, or after interpolation if it contains "${". */
static const struct lp_value *find_model_name(const struct composition *composition)
{
    const struct lp_value *value = lp_value_get(composition->root, MODEL, strlen(MODEL));

    return value && value->kind == LP_VALUE_TEXT && lp_scalar_type(value) != LP_SCALAR_NULL &&
                   !lp_value_is_missing(value) && !lp_has_interpolation(value)
               ? value
               : NULL;
}

static int place_model(struct composition *composition)
{
    const struct lp_value *named = find_model_name(composition);
    char place[512];
    int status;

    if (!composition->model && !named)
        return 0;
    if (composition->model)
        return put_model(composition, composition->model);
    if ((status = put_model(composition, named->text)) >= 0)
        return status;
    return lp_error(status, "%s: " MODEL ": %s", lp_value_place(named, place, sizeof(place)),
                    llmperf_last_error());
}

/* An option's key need not be in a file. */
static int apply(const struct composition *composition, struct lp_override *override)
{
    if (override->kind == LP_OVERRIDE_CHANGE && lp_option_find(override->key))
        override->kind = LP_OVERRIDE_FORCE;
    return lp_edit_apply(composition->values, composition->root, override);
}

static int compose(struct composition *composition, const char *name, const char *const *overrides,
                   size_t count)
{
    struct lp_interpolation interpolation = { composition->values, NULL, composition->now, 0 };
    const struct lp_source *first;
    int status;

    if ((status = parse_overrides(composition, overrides, count)) < 0 ||
        (status = choose_roots(composition, name)) < 0 ||
        (status = check_first(composition, name)) < 0 ||
        (status = lp_repository_load(&composition->repository, composition->name, &first)) < 0)
        return status;
    composition->root =
        lp_value_new(composition->values, LP_VALUE_MAP, first ? first->content->file : USUAL, 1);
    if (!composition->root)
        return LLMPERF_ENOMEM;
    if ((!composition->is_empty && (status = merge_parts(composition)) < 0) ||
        (status = place_model(composition)) < 0)
        return status;
    composition->model = NULL; /* it is merged now, and overrides may change it */
    for (size_t i = 0; status == 0 && i < composition->override_count; i++)
        if (!lp_override_is_group(&composition->repository, &composition->overrides[i]))
            status = apply(composition, &composition->overrides[i]);
    interpolation.root = composition->root;
    if (status == 0)
        status = check_maps(composition);
    if (status == 0)
        status = lp_interpolate(&interpolation, composition->root);
    return status < 0 ? status : place_model(composition);
}

int llmperf_config_compose(const char *name, const char *const *overrides, size_t override_count,
                           const char *model, llmperf_config **config_out)
{
    struct composition composition = { .now = time(NULL), .model = model };
    llmperf_config *config;
    int status;

    if (!name || !config_out || (override_count && !overrides))
        return lp_error(LLMPERF_EINVAL, "name, overrides and config_out are required");
    if (!*name)
        return lp_error(
            LLMPERF_EINVAL,
            "the name of the configuration is empty; give a YAML file or a name such as config");
    config = calloc(1, sizeof(*config));
    if (!config)
        return lp_out_of_memory();
    composition.values = composition.repository.values = &config->values;
    status = compose(&composition, name, overrides, override_count);
    config->root = composition.root;
    config->composed = true;
    if (status == 0)
        status = lp_options_check(config);
    lp_repository_clear(&composition.repository);
    free(composition.overrides);
    if (status < 0)
        llmperf_config_free(config);
    else
        *config_out = config;
    return status;
}

int lp_config_set(llmperf_config *config, const char *text)
{
    struct lp_override override;
    int status = lp_override_parse(&config->values, text, &override);

    if (status < 0)
        return status;
    if (override.kind == LP_OVERRIDE_CHANGE)
        override.kind = LP_OVERRIDE_FORCE;
    return lp_edit_apply(&config->values, config->root, &override);
}
