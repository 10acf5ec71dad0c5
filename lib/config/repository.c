/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/yaml_tree.h"
#include "lib/config/nearest.h"
#include "lib/config/repository.h"

#define HEADER_BYTES 512
#define OPTIONS_MOST 64

void lp_repository_clear(struct lp_repository *repository)
{
    for (size_t i = 0; i < repository->sources.count; i++)
        free(repository->sources.items[i]);
    lp_vector_clear(&repository->sources);
}

bool lp_repository_has_group(const struct lp_repository *repository, const char *group)
{
    bool found = false;

    for (size_t i = 0; !found && i < repository->root_count; i++) {
        char *path = lp_path_join(repository->roots[i], group);

        found = path && lp_path_is_folder(path);
        free(path);
    }
    return found;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Path of a configuration file; NULL and 0: no root has it. */
static int find_file(const struct lp_repository *repository, const char *path,
                     const char **file_out)
{
    *file_out = NULL;
    for (size_t i = 0; i < repository->root_count; i++) {
        const char *file =
            lp_values_printf(repository->values, "%s/%s%s", repository->roots[i], path,
                             ends_with(path, ".yaml") || ends_with(path, ".yml") ? "" : ".yaml");

        if (!file)
            return LLMPERF_ENOMEM;
        if (lp_path_exists(file)) {
            *file_out = file;
            return 0;
        }
    }
    return 0;
}

/* Find "# @package NAME" in the lines with '@' at the start of the file; any other line ends the
 * search, as in Hydra. */
static int read_header(struct lp_repository *repository, struct lp_source *source,
                       const char *bytes)
{
    char text[HEADER_BYTES + 1], *line, *rest = text, name[HEADER_BYTES], extra[2];

    snprintf(text, sizeof(text), "%s", bytes);
    while ((line = strsep(&rest, "\n"))) {
        line += strspn(line, " \t\r");
        if (!*line)
            continue;
        if (*line != '#' || line[1 + strspn(line + 1, " \t")] != '@')
            break;
        if (sscanf(line, "# @package %511s %1s", name, extra) == 1 &&
            !(source->package = lp_values_printf(repository->values, "%s", name)))
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* Remove the defaults list from the file's values. */
static int take_defaults(struct lp_source *source)
{
    struct lp_value *content = source->content;
    ptrdiff_t at = lp_value_find(content, "defaults", strlen("defaults"));
    char place[512];

    if (at < 0)
        return 0;
    source->defaults = content->entries[at].value;
    lp_value_remove(content, (size_t)at);
    if (source->defaults->kind == LP_VALUE_LIST)
        return 0;
    return lp_error(LLMPERF_EFORMAT, "%s: defaults must be a list",
                    lp_value_place(source->defaults, place, sizeof(place)));
}

static int read_source(struct lp_repository *repository, struct lp_source *source, const char *file)
{
    char *bytes;
    size_t size;
    int status = lp_file_read_most(file, LP_YAML_BYTES, &bytes, &size);

    if (status < 0)
        return status;
    if ((status = lp_value_parse(repository->values, file, bytes, size, &source->content)) == 0)
        status = read_header(repository, source, bytes);
    free(bytes);
    if (status < 0)
        return status;
    if (source->content->kind == LP_VALUE_TEXT && !*source->content->text)
        source->content->kind = LP_VALUE_MAP; /* an empty file */
    if (source->content->kind != LP_VALUE_MAP)
        return lp_error(LLMPERF_EFORMAT, "%s:%u: a configuration must be a map of keys to values",
                        file, source->content->line);
    return take_defaults(source);
}

static const struct lp_source *find_source(const struct lp_repository *repository, const char *path)
{
    for (size_t i = 0; i < repository->sources.count; i++)
        if (strcmp(repository->sources.items[i]->path, path) == 0)
            return repository->sources.items[i];
    return NULL;
}

int lp_repository_load(struct lp_repository *repository, const char *path,
                       const struct lp_source **source_out)
{
    struct lp_source *source;
    const char *file;
    int status;

    if ((*source_out = find_source(repository, path)))
        return 0;
    if ((status = find_file(repository, path, &file)) < 0 || !file)
        return status;
    source = calloc(1, sizeof(*source));
    if (!source || lp_vector_push(&repository->sources, source) < 0) {
        free(source);
        return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", file);
    }
    source->path = ""; /* cannot be found before it is read */
    if ((status = read_source(repository, source, file)) < 0)
        return status;
    source->path = lp_values_printf(repository->values, "%s", path);
    if (!source->path)
        return LLMPERF_ENOMEM;
    *source_out = source;
    return 0;
}

struct options {
    char *names[OPTIONS_MOST];
    size_t count;
};

static void add_option(struct options *options, const char *name, size_t length)
{
    for (size_t i = 0; i < options->count; i++)
        if (strlen(options->names[i]) == length && strncmp(options->names[i], name, length) == 0)
            return;
    if (options->count < OPTIONS_MOST && (options->names[options->count] = strndup(name, length)))
        options->count++;
}

static void add_options(struct options *options, const char *root, const char *group)
{
    char *path = lp_path_join(root, group);
    DIR *folder = path ? opendir(path) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (ends_with(entry->d_name, ".yaml"))
            add_option(options, entry->d_name, strlen(entry->d_name) - strlen(".yaml"));
    if (folder)
        closedir(folder);
    free(path);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void put_nearest_first(struct options *options, const char *name)
{
    size_t best = 0;
    char *nearest;

    for (size_t i = 1; i < options->count; i++)
        if (lp_distance(name, options->names[i]) < lp_distance(name, options->names[best]))
            best = i;
    nearest = options->names[best];
    if (!lp_distance_is_near(name, lp_distance(name, nearest)))
        return;
    memmove(&options->names[1], &options->names[0], best * sizeof(options->names[0]));
    options->names[0] = nearest;
}

const char *lp_repository_options(const struct lp_repository *repository, const char *group,
                                  const char *name)
{
    struct options options = { .count = 0 };
    struct lp_text text = { 0 };
    const char *kept;

    for (size_t i = 0; i < repository->root_count; i++)
        add_options(&options, repository->roots[i], group);
    if (options.count == 0)
        return "";
    qsort(options.names, options.count, sizeof(options.names[0]), compare_names);
    put_nearest_first(&options, name);
    for (size_t i = 0; i < options.count; i++) {
        lp_text_printf(&text, "%s%s", i ? ", " : "; available: ", options.names[i]);
        free(options.names[i]);
    }
    kept = text.bytes ? lp_strings_add(&repository->values->texts, text.bytes) : NULL;
    lp_text_clear(&text);
    return kept ? kept : "";
}
