/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/config/choices.h"
#include "lib/config/default_item.h"
#include "lib/config/defaults.h"
#include "lib/config/interpolate.h"

#define DEPTH_MOST 64
#define ITEMS_MOST 10000

/* State of an expansion. */
struct expansion {
    struct lp_repository *repository;
    struct lp_values *values;
    struct lp_choices choices;
    struct lp_parts *parts;
    LP_VECTOR(struct lp_default *) items; /* owns all */
    LP_VECTOR(const char *) seen;         /* groups so far */
    time_t now;
    int depth;
};

static int expand(struct expansion *expansion, struct lp_default *item, bool late);

static int refuse(const struct lp_default *item, int status, const char *problem, const char *what,
                  const char *more)
{
    char place[512];

    if (!item->origin)
        return lp_error(status, "%s%s%s", problem, what, more);
    return lp_error(status, "%s: %s%s%s", lp_value_place(item->origin, place, sizeof(place)),
                    problem, what, more);
}

static struct lp_default *add_item(struct expansion *expansion, const struct lp_default *from)
{
    struct lp_default *item = expansion->items.count < ITEMS_MOST ? malloc(sizeof(*item)) : NULL;

    if (!item || lp_vector_push(&expansion->items, item) < 0) {
        free(item);
        lp_error(LLMPERF_ENOMEM, "too many files in the defaults lists");
        return NULL;
    }
    *item = *from;
    return item;
}

static int add_child(struct lp_default *parent, struct lp_default *child)
{
    if (lp_vector_grow((void **)&parent->children, parent->child_count, &parent->child_capacity, 1,
                       sizeof(struct lp_default *)) < 0)
        return lp_out_of_memory();
    parent->children[parent->child_count++] = child;
    return 0;
}

/* A file may declare its own package, relative to the root. */
static int take_header(struct expansion *expansion, struct lp_default *item,
                       const struct lp_source *source)
{
    const char *package = source ? source->package : NULL;

    if (!package)
        return 0;
    if (strcmp(package, "_global_") == 0 || strncmp(package, "_global_.", 9) == 0)
        item->header = package;
    else
        item->header = lp_values_printf(expansion->values, "_global_.%s", package);
    return item->header ? 0 : LLMPERF_ENOMEM;
}

static int no_choice(struct expansion *expansion, const struct lp_default *item)
{
    const char *group = lp_default_group(expansion->values, item);
    const char *key = lp_default_key(expansion->values, item);

    if (!group || !key)
        return LLMPERF_ENOMEM;
    return refuse(item, LLMPERF_EINVAL,
                  "choose an option: ", lp_values_printf(expansion->values, "%s=…", key),
                  lp_repository_options(expansion->repository, group, ""));
}

static int no_file(struct expansion *expansion, const struct lp_default *item, const char *path)
{
    const char *group = lp_default_group(expansion->values, item);

    return refuse(item, LLMPERF_ENOENT, "configuration not found: ", path,
                  group ? lp_repository_options(expansion->repository, group, lp_default_name(item))
                        : "");
}

/* Elements of a file's list, with "_self_" at the end unless the file has it. */
static int read_list(struct expansion *expansion, struct lp_default *parent,
                     const struct lp_source *source, bool more, struct lp_default ***list_out,
                     size_t *count_out)
{
    size_t count = source->defaults ? source->defaults->count : 0;
    struct lp_default **list = calloc(count + 1, sizeof(struct lp_default *));
    struct lp_default item = { .path = "_self_" };
    bool has_self = false, has_other = false;
    int status = list ? 0 : lp_out_of_memory();

    *list_out = list;
    *count_out = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        status = lp_default_read(expansion->values, source->defaults->entries[i].value, &item);
        if (status == 0 && has_self && lp_default_is_self(&item))
            status = refuse(&item, LLMPERF_EFORMAT, "_self_ appears twice in this list", "", "");
        if (status == 0 && !(list[(*count_out)++] = add_item(expansion, &item)))
            status = LLMPERF_ENOMEM;
        has_self |= lp_default_is_self(&item);
        has_other |= !item.override;
    }
    if (status == 0 && !has_self && (count ? has_other : parent->primary && more)) {
        item = (struct lp_default){ .path = "_self_" };
        if (!(list[(*count_out)++] = add_item(expansion, &item)))
            status = LLMPERF_ENOMEM;
    }
    return status;
}

/* "override group: option" applies to nested lists, unless an outer list or override has chosen. */
static int note_overrides(struct expansion *expansion, const struct lp_default *parent,
                          struct lp_default **list, size_t count, bool late)
{
    bool seen = false;
    int status = 0;

    for (size_t i = 0; status == 0 && i < count; i++) {
        if (lp_default_is_self(list[i]))
            continue;
        status = lp_default_place(expansion->values, list[i],
                                  lp_default_group(expansion->values, parent),
                                  lp_default_package(expansion->values, parent, true));
        if (status == 0 && seen && !list[i]->override && !list[i]->external)
            status = refuse(list[i], LLMPERF_EFORMAT,
                            "an \"override\" comes before this entry; move overrides to the end",
                            "", "");
        if (status == 0 && list[i]->override && late)
            status = refuse(list[i], LLMPERF_EFORMAT,
                            "a file chosen by interpolation cannot contain overrides", "", "");
        if (status == 0 && list[i]->override)
            status = lp_choices_override(&expansion->choices, list[i]);
        seen |= list[i]->override;
    }
    return status;
}

/* Several options of a group are several files. */
static int add_options(struct expansion *expansion, struct lp_default *parent,
                       const struct lp_default *several, bool late)
{
    int status = 0;

    for (size_t i = several->names->count; status == 0 && i-- > 0;) {
        struct lp_default one = *several, *item;

        one.names = NULL;
        one.group = NULL;
        one.path = lp_values_printf(expansion->values, "%s/%s", several->group,
                                    several->names->entries[i].value->text);
        if (!one.path || !(item = add_item(expansion, &one)) || add_child(parent, item) < 0)
            return LLMPERF_ENOMEM;
        if (lp_default_is_open(item))
            return refuse(item, LLMPERF_EFORMAT, "a list of options cannot contain interpolations",
                          "", "");
        status = expand(expansion, item, late);
    }
    return status;
}

/* In reverse order, so that overrides in later files are known before earlier files are read. */
static int add_children(struct expansion *expansion, struct lp_default *parent,
                        struct lp_default **list, size_t count, bool late)
{
    int status = 0;

    for (size_t i = count; status == 0 && i-- > 0;) {
        struct lp_default *item = list[i];

        if (item->override)
            continue;
        if (!lp_default_is_self(item))
            status = lp_choices_apply(&expansion->choices, item);
        if (status == 0 && item->names)
            status = add_options(expansion, parent, item, late);
        else if (status == 0 && (status = add_child(parent, item)) == 0 &&
                 !lp_default_is_self(item) && !lp_default_is_open(item))
            status = expand(expansion, item, late);
    }
    return status;
}

/* Options that refer to other choices: "db_${db}". */
static int resolve_open(struct expansion *expansion, struct lp_default *item)
{
    struct lp_interpolation whole = { expansion->values, NULL, expansion->now, 0 };
    const char *file = item->origin ? item->origin->file : "defaults";
    struct lp_value *text = lp_value_text(
        expansion->values, item->group ? item->name : lp_default_path(expansion->values, item),
        true, file, item->origin ? item->origin->line : 0);
    int status = lp_choices_map(&expansion->choices, &whole.root);

    if (status < 0 || !text)
        return status < 0 ? status : LLMPERF_ENOMEM;
    if ((status = lp_value_put(expansion->values, whole.root, "defaults", text)) < 0 ||
        (status = lp_interpolate(&whole, text)) < 0)
        return status;
    if (text->kind != LP_VALUE_TEXT)
        return refuse(item, LLMPERF_EFORMAT, "an option must be a string", "", "");
    if (item->group)
        item->name = text->text;
    else
        item->path = lp_values_printf(expansion->values, "/%s", text->text);
    return item->group || item->path ? 0 : LLMPERF_ENOMEM;
}

static int expand_open(struct expansion *expansion, struct lp_default *parent)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < parent->child_count; i++) {
        struct lp_default *item = parent->children[i];

        if (lp_default_is_open(item) && (status = resolve_open(expansion, item)) == 0)
            status = expand(expansion, item, true);
    }
    return status;
}

static int expand_list(struct expansion *expansion, struct lp_default *item,
                       const struct lp_source *source, bool late)
{
    struct lp_default **list;
    size_t count;
    int status;

    if (!lp_default_group(expansion->values, item) ||
        !lp_default_package(expansion->values, item, true))
        return LLMPERF_ENOMEM;
    status =
        read_list(expansion, item, source, expansion->choices.appended.count > 0, &list, &count);
    for (size_t i = 0; item->primary && status == 0 && i < expansion->choices.appended.count; i++) {
        struct lp_default **grown = realloc(list, (count + 1) * sizeof(struct lp_default *));

        if (grown)
            list = grown;
        if (!grown || !(list[count++] = add_item(expansion, &expansion->choices.appended.items[i])))
            status = lp_out_of_memory();
    }
    if (status == 0 && (status = note_overrides(expansion, item, list, count, late)) == 0 &&
        (status = add_children(expansion, item, list, count, late)) == 0)
        status = expand_open(expansion, item);
    free(list);
    return status;
}

/* Read the file of an element and the files that it includes. */
static int expand_file(struct expansion *expansion, struct lp_default *item, bool late)
{
    const struct lp_source *source = NULL;
    const char *path = lp_default_path(expansion->values, item), *name = lp_default_name(item);
    bool missing = name && strcmp(name, "???") == 0;
    int status = path ? 0 : LLMPERF_ENOMEM;

    if (status == 0 && name && !missing)
        status = lp_repository_load(expansion->repository, path, &source);
    if (status < 0 || (status = take_header(expansion, item, source)) < 0)
        return status;
    if ((status = lp_choices_remove(&expansion->choices, item)) < 0 || item->deleted)
        return status;
    if ((status = lp_choices_learn(&expansion->choices, item)) < 0 || !name)
        return status;
    if (missing)
        return no_choice(expansion, item);
    if (!source && item->optional) {
        item->deleted = true;
        return 0;
    }
    return source ? expand_list(expansion, item, source, late) : no_file(expansion, item, path);
}

static int expand(struct expansion *expansion, struct lp_default *item, bool late)
{
    int status;

    if (expansion->depth == DEPTH_MOST)
        return refuse(item, LLMPERF_EFORMAT, "defaults lists are nested more than ", "64 deep",
                      "; does a file include itself?");
    expansion->depth++;
    status = expand_file(expansion, item, late);
    expansion->depth--;
    return status;
}

/* A group may appear only once. */
static int note_group(struct expansion *expansion, const struct lp_default *item)
{
    const char *key = item->group ? lp_default_key(expansion->values, item) : NULL;

    if (!item->group)
        return 0;
    for (size_t i = 0; key && i < expansion->seen.count; i++)
        if (strcmp(expansion->seen.items[i], key) == 0)
            return refuse(item, LLMPERF_EFORMAT,
                          "this group appears twice in the defaults lists: ", key, "");
    return key && lp_vector_push(&expansion->seen, key) == 0 ? 0 : lp_out_of_memory();
}

static int add_part(struct expansion *expansion, const struct lp_default *item)
{
    const char *path = lp_default_path(expansion->values, item);
    struct lp_part part = { NULL, lp_default_package(expansion->values, item, true) };
    int status = path && part.package ? 0 : LLMPERF_ENOMEM;

    if (status == 0)
        status = lp_repository_load(expansion->repository, path, &part.source);
    if (status == 0 && part.source && lp_vector_push(&expansion->parts->list, part) < 0)
        status = lp_out_of_memory();
    return status;
}

static int collect(struct expansion *expansion, const struct lp_default *item)
{
    int status = 0;

    if (item->deleted || !lp_default_name(item))
        return 0;
    if (item->child_count == 0) {
        status = note_group(expansion, item);
        return status < 0 ? status : add_part(expansion, item);
    }
    for (size_t i = item->child_count; status == 0 && i-- > 0;) {
        const struct lp_default *child = item->children[i];

        status = lp_default_is_self(child) ? add_part(expansion, item) : collect(expansion, child);
    }
    return status;
}

static void clear(struct expansion *expansion)
{
    for (size_t i = 0; i < expansion->items.count; i++) {
        free(expansion->items.items[i]->children);
        free(expansion->items.items[i]);
    }
    lp_vector_clear(&expansion->items);
    lp_vector_clear(&expansion->seen);
    lp_choices_clear(&expansion->choices);
}

int lp_defaults_expand(struct lp_repository *repository, const char *name,
                       const struct lp_override *overrides, size_t override_count, time_t now,
                       struct lp_parts *parts_out)
{
    struct expansion expansion = {
        .repository = repository, .values = repository->values, .parts = parts_out, .now = now
    };
    struct lp_default first = {
        .path = name, .primary = true, .parent_folder = "", .parent_package = ""
    };
    struct lp_default *root = add_item(&expansion, &first);
    int status = root ? 0 : LLMPERF_ENOMEM;

    lp_choices_init(&expansion.choices, repository);
    for (size_t i = 0; status == 0 && i < override_count; i++)
        if (lp_override_is_group(repository, &overrides[i]))
            status = lp_choices_add(&expansion.choices, &overrides[i]);
    if (status == 0 && (status = expand(&expansion, root, false)) == 0 &&
        (status = collect(&expansion, root)) == 0)
        status = lp_choices_check(&expansion.choices);
    clear(&expansion);
    return status;
}
