/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/status.h"
#include "lib/config/default_item.h"
#include "lib/config/scalar.h"

#define GLOBAL "_global_"
#define GROUP  "_group_"

static int refuse(const struct lp_value *element, const char *problem)
{
    char place[512];

    return lp_error(LLMPERF_EFORMAT, "%s: %s", lp_value_place(element, place, sizeof(place)),
                    problem);
}

static bool is_name(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT && lp_scalar_type(value) == LP_SCALAR_STRING;
}

/* "path@package"; "_here_" is the package of the parent. */
static int split_package(struct lp_values *values, const char *text, const char **left_out,
                         const char **package_out)
{
    const char *at = strchr(text, '@');

    if (!at) {
        *left_out = text;
        return 0;
    }
    *left_out = lp_values_printf(values, "%.*s", (int)(at - text), text);
    *package_out = lp_values_printf(values, "%s", strcmp(at + 1, "_here_") == 0 ? "" : at + 1);
    return *left_out && *package_out ? 0 : LLMPERF_ENOMEM;
}

static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*text, word, length) != 0 || (*text)[length] != ' ')
        return false;
    *text += length + strspn(*text + length, " ");
    return true;
}

static int read_choice(struct lp_default *item, const struct lp_value *value)
{
    if (value->kind == LP_VALUE_TEXT && lp_scalar_type(value) == LP_SCALAR_NULL)
        return 0;
    if (is_name(value)) {
        item->name = value->text;
        return 0;
    }
    for (size_t i = 0; i < value->count; i++)
        if (value->kind != LP_VALUE_LIST || !is_name(value->entries[i].value))
            return refuse(value, "options of a group must be strings; quote numbers");
    if (value->kind != LP_VALUE_LIST)
        return refuse(value, "the option of a group must be a string, a list of strings or null");
    item->names = value;
    return 0;
}

int lp_default_read(struct lp_values *values, const struct lp_value *element,
                    struct lp_default *out)
{
    const char *key;
    bool found = true;
    int status;

    *out = (struct lp_default){ .origin = element };
    if (is_name(element)) {
        status = split_package(values, element->text, &out->path, &out->package);
        return status == 0 && (!*out->path || (lp_default_is_self(out) && out->package))
                   ? refuse(element, "file name missing; write group: option, a path or _self_")
                   : status;
    }
    if (element->kind != LP_VALUE_MAP || element->count != 1)
        return refuse(element, "an element of defaults must be group: option, a path or _self_");
    key = element->entries[0].key;
    while (found) {
        bool optional = take_word(&key, "optional"), override = take_word(&key, "override");

        out->optional |= optional;
        out->override |= override;
        found = optional || override;
    }
    if ((status = split_package(values, key, &out->group, &out->package)) < 0)
        return status;
    if (!*out->group || strchr(out->group, ' '))
        return refuse(element, "group name missing; write group: option");
    return read_choice(out, element->entries[0].value);
}

bool lp_default_is_self(const struct lp_default *item)
{
    return item->path && strcmp(item->path, "_self_") == 0;
}

bool lp_default_is_open(const struct lp_default *item)
{
    const char *text = item->group ? item->name : item->path;

    return text && strstr(text, "${");
}

const char *lp_default_name(const struct lp_default *item)
{
    const char *slash = item->path ? strrchr(item->path, '/') : NULL;

    if (item->group)
        return item->name;
    return slash ? slash + 1 : item->path;
}

/* Absolute path in the tree of groups; a leading slash means that it already is. */
static const char *from_root(struct lp_values *values, const struct lp_default *item,
                             const char *path)
{
    if (*path == '/')
        return path + 1;
    if (!*item->parent_folder)
        return path;
    return *path ? lp_values_printf(values, "%s/%s", item->parent_folder, path)
                 : item->parent_folder;
}

static const char *folder_of(struct lp_values *values, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return "";
    return slash == path ? "/" : lp_values_printf(values, "%.*s", (int)(slash - path), path);
}

/* The group as written. */
static const char *written_group(struct lp_values *values, const struct lp_default *item)
{
    return item->group ? item->group : folder_of(values, item->path);
}

const char *lp_default_group(struct lp_values *values, const struct lp_default *item)
{
    const char *group = written_group(values, item);

    return group ? from_root(values, item, group) : NULL;
}

const char *lp_default_path(struct lp_values *values, const struct lp_default *item)
{
    const char *group;

    if (!item->group)
        return from_root(values, item, item->path);
    group = lp_default_group(values, item);
    return group ? lp_values_printf(values, "%s/%s", group, item->name ? item->name : "") : NULL;
}

static const char *with_dots(struct lp_values *values, const char *group)
{
    char *dotted = (char *)lp_values_printf(values, "%s", group);

    for (char *at = dotted; at && *at; at++)
        if (*at == '/')
            *at = '.';
    return dotted;
}

/* After the last "_global_" a package is relative to the root. */
static const char *cut_global(const char *package)
{
    const char *found = NULL;

    for (const char *at = package; (at = strstr(at, GLOBAL)); at++)
        found = at;
    if (!found)
        return package;
    found += strlen(GLOBAL);
    return *found ? found + 1 : found;
}

const char *lp_default_package(struct lp_values *values, const struct lp_default *item,
                               bool with_header)
{
    const char *package = item->package ? item->package : with_header ? item->header : NULL;
    const char *group, *joined;

    if (!package) {
        group = written_group(values, item);
        package = group ? with_dots(values, group + (*group == '/')) : NULL;
    }
    if (!package)
        return NULL;
    if (!*item->parent_package)
        joined = package;
    else if (!*package)
        joined = item->parent_package;
    else
        joined = lp_values_printf(values, "%s.%s", item->parent_package, package);
    return joined ? cut_global(joined) : NULL;
}

const char *lp_default_key(struct lp_values *values, const struct lp_default *item)
{
    const char *group = lp_default_group(values, item);
    const char *package = lp_default_package(values, item, false);
    const char *usual = group ? with_dots(values, group) : NULL;

    if (!usual || !package)
        return NULL;
    if (strcmp(usual, package) == 0)
        return group;
    return lp_values_printf(values, "%s@%s", group, *package ? package : GLOBAL);
}

int lp_default_place(struct lp_values *values, struct lp_default *item, const char *folder,
                     const char *package)
{
    const char *found, *group;

    if (!folder || !package) /* out of memory */
        return LLMPERF_ENOMEM;
    item->parent_folder = folder;
    item->parent_package = package;
    if (!item->package || item->package_is_whole || !(found = strstr(item->package, GROUP)))
        return 0;
    group = lp_default_group(values, item);
    group = group ? with_dots(values, group) : NULL;
    if (!group)
        return LLMPERF_ENOMEM;
    item->package = lp_values_printf(values, GLOBAL ".%.*s%s%s", (int)(found - item->package),
                                     item->package, group, found + strlen(GROUP));
    item->package_is_whole = true;
    return item->package ? 0 : LLMPERF_ENOMEM;
}
