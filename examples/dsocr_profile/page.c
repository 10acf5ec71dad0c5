/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of pages, data sets, and which of them are run. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llmperf/llmperf.h"
#include "llmperf/sys/config.h"
#include "number.h"
#include "page.h"

#define PATH_BYTES 4096

static int fail_memory(char *problem, size_t size)
{
    snprintf(problem, size, "out of memory");
    return -1;
}

static int add_page(struct pages *pages, const char *name, const char *path, const char *category,
                    size_t width, size_t height)
{
    struct page *items = realloc(pages->items, (pages->count + 1) * sizeof(*items)), *page;

    if (!items)
        return -1;
    pages->items = items;
    page = &items[pages->count];
    page->name = strdup(name);
    page->path = path ? strdup(path) : NULL;
    page->category = strdup(category);
    page->width = width;
    page->height = height;
    if (!page->name || !page->category || (path && !page->path)) {
        free(page->name);
        free(page->path);
        free(page->category);
        return -1;
    }
    pages->count++;
    return 0;
}

static int add_file(struct pages *pages, const char *path, const char *category, char *problem,
                    size_t problem_size)
{
    char *absolute = realpath(path, NULL);
    size_t width, height;
    int status;

    if (!absolute) {
        snprintf(problem, problem_size, "cannot open %.400s: %s", path, strerror(errno));
        return -1;
    }
    status = image_size(absolute, &width, &height, problem, problem_size);
    if (status == 0 &&
        add_page(pages, strrchr(absolute, '/') + 1, absolute, category, width, height) < 0)
        status = fail_memory(problem, problem_size);
    free(absolute);
    return status;
}

/* "1240x1754". */
static int is_shape(const char *word, size_t *width, size_t *height)
{
    char rest;

    return sscanf(word, "%5zux%5zu%c", width, height, &rest) == 2 && *width > 0 && *height > 0;
}

static void folder_of(const char *path, char *out)
{
    const char *slash = strrchr(path, '/');

    snprintf(out, PATH_BYTES, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
}

static int add_line(struct pages *pages, const char *list, char *line, char *problem, size_t size)
{
    char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest);
    const char *category;
    char folder[PATH_BYTES], path[2 * PATH_BYTES];
    size_t width, height;

    if (!word || *word == '#')
        return 0;
    category = strtok_r(NULL, " \t\r\n", &rest);
    category = category ? category : "";
    if (is_shape(word, &width, &height))
        return add_page(pages, word, NULL, category, width, height) < 0 ? fail_memory(problem, size)
                                                                        : 0;
    folder_of(list, folder);
    snprintf(path, sizeof(path), "%s%s", *word == '/' ? "" : folder, word);
    return add_file(pages, path, category, problem, size);
}

int pages_read_list(struct pages *pages, const char *path, char *problem, size_t problem_size)
{
    FILE *file = fopen(path, "r");
    char line[PATH_BYTES];
    int status = 0;

    if (!file) {
        snprintf(problem, problem_size, "cannot read %.400s: %s", path, strerror(errno));
        return -1;
    }
    while (status == 0 && fgets(line, sizeof(line), file))
        status = add_line(pages, path, line, problem, problem_size);
    fclose(file);
    if (status == 0 && pages->count == 0) {
        snprintf(problem, problem_size, "%.400s names no page", path);
        status = -1;
    }
    return status;
}

static int64_t integer_or(const llmperf_config *config, const char *key, int64_t otherwise)
{
    int64_t value;

    return llmperf_config_integer(config, key, &value) == LLMPERF_OK && value >= 0 ? value
                                                                                   : otherwise;
}

static const char *text_or(const llmperf_config *config, const char *key, const char *otherwise)
{
    const char *value;

    return llmperf_config_text(config, key, &value) == LLMPERF_OK ? value : otherwise;
}

static int add_shapes(struct pages *pages, const llmperf_config *config, char *problem, size_t size)
{
    char key[64];

    for (size_t i = 0; i < llmperf_config_length(config, "pages"); i++) {
        int64_t width, height;
        const char *name, *category;

        snprintf(key, sizeof(key), "pages.%zu.width", i);
        width = integer_or(config, key, 0);
        snprintf(key, sizeof(key), "pages.%zu.height", i);
        height = integer_or(config, key, 0);
        snprintf(key, sizeof(key), "pages.%zu.category", i);
        category = text_or(config, key, "");
        snprintf(key, sizeof(key), "pages.%zu.name", i);
        name = text_or(config, key, "page");
        if (width < 1 || height < 1 || width > 65535 || height > 65535) {
            snprintf(problem, size, "pages.%zu: width and height must be 1 to 65535", i);
            return -1;
        }
        if (add_page(pages, name, NULL, category, (size_t)width, (size_t)height) < 0)
            return fail_memory(problem, size);
    }
    return 0;
}

static int matches_any(const llmperf_config *config, const char *name)
{
    char key[64];

    for (size_t i = 0; i < llmperf_config_length(config, "fallback_patterns"); i++) {
        snprintf(key, sizeof(key), "fallback_patterns.%zu", i);
        if (fnmatch(text_or(config, key, ""), name, FNM_CASEFOLD) == 0)
            return 1;
    }
    return 0;
}

static int add_folder(struct pages *pages, const llmperf_config *config, const char *root,
                      char *problem, size_t size)
{
    struct dirent **entries;
    int count = scandir(root, &entries, NULL, alphasort), status = 0;
    char path[2 * PATH_BYTES];

    if (count < 0) {
        snprintf(problem, size, "cannot read the folder %.400s: %s", root, strerror(errno));
        return -1;
    }
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", root, entries[i]->d_name);
        if (status == 0 && matches_any(config, entries[i]->d_name))
            status = add_file(pages, path, "", problem, size);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* The list's paths lie below root, whatever its own folder. */
static int add_subset(struct pages *pages, const char *root, const char *subset, char *problem,
                      size_t size)
{
    char path[2 * PATH_BYTES], line[PATH_BYTES], below[PATH_BYTES];
    FILE *file;
    int status = 0;

    snprintf(path, sizeof(path), "%s%s%s", *subset == '/' ? "" : root, *subset == '/' ? "" : "/",
             subset);
    snprintf(below, sizeof(below), "%.4000s/list", root);
    if (!(file = fopen(path, "r"))) {
        snprintf(problem, size, "cannot read %.400s: %s", path, strerror(errno));
        return -1;
    }
    while (status == 0 && fgets(line, sizeof(line), file))
        status = add_line(pages, below, line, problem, size);
    fclose(file);
    return status;
}

static int add_dataset(struct pages *pages, const llmperf_config *config, char *problem,
                       size_t size)
{
    const char *root = text_or(config, "root", ""), *subset = text_or(config, "subset", "");
    int status;

    if (!*root)
        status = add_shapes(pages, config, problem, size);
    else if (*subset)
        status = add_subset(pages, root, subset, problem, size);
    else
        status = add_folder(pages, config, root, problem, size);
    if (status == 0 && pages->count == 0) {
        snprintf(problem, size, "the data set has no page%s%.400s", *root ? " in " : "", root);
        status = -1;
    }
    return status;
}

int pages_read_dataset(struct pages *pages, const char *name, struct sampling *sampling,
                       char *problem, size_t problem_size)
{
    llmperf_config *config = NULL;
    char path[PATH_BYTES];
    const char *random;
    int status;

    if (strchr(name, '/') || strchr(name, '.'))
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "dataset/%s.yaml", name);
    if (llmperf_config_open(path, &config) < 0) {
        snprintf(problem, problem_size, "%s", llmperf_last_error());
        return -1;
    }
    sampling->epochs = (size_t)integer_or(config, "sampling.epochs", 1);
    sampling->samples = (size_t)integer_or(config, "sampling.samples", 0);
    sampling->seed = (uint64_t)integer_or(config, "sampling.seed", 0);
    random = text_or(config, "sampling.random", "false");
    sampling->random = strcmp(random, "true") == 0;
    status = add_dataset(pages, config, problem, problem_size);
    llmperf_config_free(config);
    return status;
}

int pages_sample(struct pages *pages, const struct sampling *sampling)
{
    size_t samples = sampling->samples ? sampling->samples : pages->count;

    pages->runs = samples * sampling->epochs;
    pages->order = malloc((pages->runs + 1) * sizeof(*pages->order));
    if (!pages->order)
        return -1;
    for (size_t i = 0; i < pages->runs; i++)
        pages->order[i] =
            (sampling->random ? random_bits(sampling->seed, i) : i % samples) % pages->count;
    return 0;
}

void pages_clear(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        free(pages->items[i].name);
        free(pages->items[i].path);
        free(pages->items[i].category);
    }
    free(pages->items);
    free(pages->order);
    memset(pages, 0, sizeof(*pages));
}
