/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/yaml_tree.h"
#include "lib/config/value.h"

struct lp_value *lp_value_new(struct lp_values *values, enum lp_value_kind kind, const char *file,
                              uint32_t line)
{
    struct lp_value *value;

    if (values->all.count >= LP_VALUES_MOST) {
        lp_error(LLMPERF_ENOMEM, "%s: the configuration holds more than %d values", file,
                 LP_VALUES_MOST);
        return NULL;
    }
    value = calloc(1, sizeof(*value));
    if (!value || lp_vector_push(&values->all, value) < 0) {
        free(value);
        lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", file);
        return NULL;
    }
    value->kind = kind;
    value->file = file;
    value->line = line;
    return value;
}

struct lp_value *lp_value_text(struct lp_values *values, const char *text, bool is_string,
                               const char *file, uint32_t line)
{
    struct lp_value *value = lp_value_new(values, LP_VALUE_TEXT, file, line);

    if (!value)
        return NULL;
    value->text = lp_strings_add(&values->texts, text);
    value->is_string = is_string;
    if (!value->text)
        lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", file);
    return value->text ? value : NULL;
}

const char *lp_values_printf(struct lp_values *values, const char *format, ...)
{
    const char *kept = NULL;
    char *text = NULL;
    va_list args;
    int length;

    va_start(args, format);
    length = vasprintf(&text, format, args);
    va_end(args);
    if (length >= 0) {
        kept = lp_strings_add(&values->texts, text);
        free(text);
    }
    if (!kept)
        lp_out_of_memory();
    return kept;
}

void lp_values_clear(struct lp_values *values)
{
    for (size_t i = 0; i < values->all.count; i++) {
        free(values->all.items[i]->entries);
        free(values->all.items[i]);
    }
    lp_vector_clear(&values->all);
    lp_strings_clear(&values->texts);
}

static int append(struct lp_value *parent, const char *key, struct lp_value *value)
{
    if (lp_vector_grow((void **)&parent->entries, parent->count, &parent->capacity, 1,
                       sizeof(*parent->entries)) < 0)
        return lp_error(LLMPERF_ENOMEM, "out of memory while reading %s", parent->file);
    parent->entries[parent->count++] = (struct lp_value_entry){ key, value };
    value->parent = parent;
    return 0;
}

/* The line is that of the key or list element. */
static struct lp_value *from_yaml(struct lp_values *values, const struct lp_yaml_node *node,
                                  const char *file, uint32_t line)
{
    struct lp_value *value;

    if (node->kind == LP_YAML_TEXT)
        return lp_value_text(values, node->text, node->is_string, file, line);
    value =
        lp_value_new(values, node->kind == LP_YAML_MAP ? LP_VALUE_MAP : LP_VALUE_LIST, file, line);
    for (size_t i = 0; value && i < node->count; i++) {
        const struct lp_yaml_entry *entry = &node->entries[i];
        struct lp_value *child = from_yaml(values, entry->value, file, entry->line);
        const char *key = entry->key ? lp_values_printf(values, "%s", entry->key) : NULL;

        if (!child || (entry->key && !key) || append(value, key, child) < 0)
            return NULL;
    }
    return value;
}

/* Limit the keys of a map: look-ups are linear. 0 or LLMPERF_EFORMAT. */
static int check_maps(const struct lp_yaml_node *node, const char *file, uint32_t line)
{
    int status = 0;

    if (node->kind == LP_YAML_MAP && node->count > LP_VALUE_KEYS)
        return lp_error(LLMPERF_EFORMAT, "%s:%u: the map has %zu keys; at most %d are supported",
                        file, line, node->count, LP_VALUE_KEYS);
    for (size_t i = 0; node->kind != LP_YAML_TEXT && i < node->count && status == 0; i++)
        status = check_maps(node->entries[i].value, file, node->entries[i].line);
    return status;
}

static int take_tree(struct lp_values *values, struct lp_yaml_tree *tree,
                     struct lp_value **value_out)
{
    const struct lp_yaml_node *root = lp_yaml_root(tree);
    const char *file = lp_values_printf(values, "%s", lp_yaml_name(tree));
    int status = file ? check_maps(root, file, root->line) : LLMPERF_ENOMEM;

    *value_out = status == 0 ? from_yaml(values, root, file, root->line) : NULL;
    lp_yaml_free(tree);
    return status < 0 ? status : *value_out ? 0 : LLMPERF_ENOMEM;
}

int lp_value_read(struct lp_values *values, const char *path, struct lp_value **value_out)
{
    struct lp_yaml_tree *tree;
    int status = lp_yaml_read(path, &tree);

    return status < 0 ? status : take_tree(values, tree, value_out);
}

int lp_value_parse(struct lp_values *values, const char *name, const char *text, size_t size,
                   struct lp_value **value_out)
{
    struct lp_yaml_tree *tree;
    int status = lp_yaml_parse(name, text, size, &tree);

    return status < 0 ? status : take_tree(values, tree, value_out);
}

ptrdiff_t lp_value_find(const struct lp_value *map, const char *key, size_t length)
{
    if (map->kind != LP_VALUE_MAP)
        return -1;
    for (size_t i = 0; i < map->count; i++)
        if (strncmp(map->entries[i].key, key, length) == 0 && map->entries[i].key[length] == '\0')
            return (ptrdiff_t)i;
    return -1;
}

/* List element by decimal index without sign or leading zeros. */
static struct lp_value *element(const struct lp_value *list, const char *index, size_t length)
{
    size_t number = 0;

    if (length == 0 || length > 9 || (length > 1 && index[0] == '0'))
        return NULL;
    for (size_t i = 0; i < length; i++) {
        if (index[i] < '0' || index[i] > '9')
            return NULL;
        number = number * 10 + (size_t)(index[i] - '0');
    }
    return number < list->count ? list->entries[number].value : NULL;
}

struct lp_value *lp_value_get(const struct lp_value *value, const char *key, size_t length)
{
    ptrdiff_t at;

    if (value->kind == LP_VALUE_LIST)
        return element(value, key, length);
    at = lp_value_find(value, key, length);
    return at < 0 ? NULL : value->entries[at].value;
}

bool lp_path_next(const char **path, const char **key, size_t *length)
{
    const char *at = *path;
    bool bracket = *at == '[';

    *key = bracket ? ++at : at;
    *length = strcspn(at, bracket ? "]" : ".[");
    at += *length;
    if (*length == 0 || (bracket && *at++ != ']'))
        return false;
    *path = at + (*at == '.');
    /* A dot separates two keys and cannot be last; a bracket needs no dot before it. */
    return *at == '.' ? at[1] != '\0' && at[1] != '[' : *at == '[' || *at == '\0';
}

struct lp_value *lp_value_at(const struct lp_value *value, const char *path)
{
    const struct lp_value *at = value;
    const char *key;
    size_t length;

    while (at && *path)
        at = lp_path_next(&path, &key, &length) ? lp_value_get(at, key, length) : NULL;
    return (struct lp_value *)at;
}

static bool add_key(struct lp_text *out, const struct lp_value *value)
{
    const struct lp_value *parent = value->parent;

    if (!parent)
        return false;
    if (add_key(out, parent))
        lp_text_puts(out, ".");
    for (size_t i = 0; i < parent->count; i++) {
        if (parent->entries[i].value != value)
            continue;
        if (parent->kind == LP_VALUE_MAP)
            lp_text_puts(out, parent->entries[i].key);
        else
            lp_text_printf(out, "%zu", i);
    }
    return true;
}

const char *lp_value_key(struct lp_values *values, const struct lp_value *value)
{
    struct lp_text text = { 0 };
    const char *key;

    add_key(&text, value);
    key = text.bytes ? lp_strings_add(&values->texts, text.bytes) : NULL;
    lp_text_clear(&text);
    return key ? key : "the configuration";
}

int lp_value_put(struct lp_values *values, struct lp_value *map, const char *key,
                 struct lp_value *value)
{
    ptrdiff_t at = lp_value_find(map, key, strlen(key));
    const char *kept;

    if (at >= 0) {
        map->entries[at].value = value;
        value->parent = map;
        return 0;
    }
    kept = lp_values_printf(values, "%s", key);
    return kept ? append(map, kept, value) : LLMPERF_ENOMEM;
}

int lp_value_push(struct lp_value *list, struct lp_value *value)
{
    return append(list, NULL, value);
}

void lp_value_remove(struct lp_value *value, size_t index)
{
    value->count--;
    memmove(&value->entries[index], &value->entries[index + 1],
            (value->count - index) * sizeof(*value->entries));
}

static struct lp_value *copy_tree(struct lp_values *values, const struct lp_value *from, int depth)
{
    struct lp_value *copy;

    if (depth == LP_VALUE_DEPTH) {
        lp_error(LLMPERF_EFORMAT, "%s:%u: nested more than %d levels deep", from->file, from->line,
                 LP_VALUE_DEPTH);
        return NULL;
    }
    copy = lp_value_new(values, from->kind, from->file, from->line);
    if (!copy)
        return NULL;
    copy->state = from->state;
    copy->is_string = from->is_string;
    copy->text = from->text; /* in the same pool */
    for (size_t i = 0; i < from->count; i++) {
        struct lp_value *child = copy_tree(values, from->entries[i].value, depth + 1);

        if (!child || append(copy, from->entries[i].key, child) < 0)
            return NULL;
    }
    return copy;
}

struct lp_value *lp_value_copy(struct lp_values *values, const struct lp_value *from)
{
    return copy_tree(values, from, 0);
}

bool lp_value_is_missing(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT && strcmp(value->text, "???") == 0;
}

/* The list or map that a text refers to, if the text is a single interpolation of a key ("${a.b}",
 * "${.c}"); else NULL. */
static const struct lp_value *stands_for(struct lp_values *values, const struct lp_value *text)
{
    const struct lp_value *at = text;

    for (int hops = 0; hops < LP_VALUE_DEPTH && at && at->kind == LP_VALUE_TEXT; hops++) {
        size_t length = strlen(at->text);
        const char *path;

        if (strncmp(at->text, "${", 2) != 0 || strcspn(at->text + 2, ":${}") != length - 3 ||
            !(path = lp_values_printf(values, "%.*s", (int)length - 3, at->text + 2)))
            return NULL;
        for (bool relative = *path == '.'; at && (relative ? *path == '.' : at->parent != NULL);
             path += relative)
            at = at->parent;
        at = at ? lp_value_at(at, path) : NULL;
    }
    return at && at->kind != LP_VALUE_TEXT ? at : NULL;
}

static int merge_entry(struct lp_values *values, struct lp_value *into,
                       const struct lp_value_entry *entry)
{
    struct lp_value *old = lp_value_get(into, entry->key, strlen(entry->key)), *copy;
    const struct lp_value *meant;

    if (entry->value->kind == LP_VALUE_MAP && old && old->kind == LP_VALUE_TEXT &&
        (meant = stands_for(values, old))) {
        if (!(old = lp_value_copy(values, meant)) ||
            lp_value_put(values, into, entry->key, old) < 0)
            return LLMPERF_ENOMEM;
    }
    if (old && old->kind == LP_VALUE_MAP && entry->value->kind == LP_VALUE_MAP)
        return lp_value_merge(values, old, entry->value);
    if (old && lp_value_is_missing(entry->value))
        return 0;
    copy = lp_value_copy(values, entry->value);
    return copy ? lp_value_put(values, into, entry->key, copy) : LLMPERF_ENOMEM;
}

int lp_value_merge(struct lp_values *values, struct lp_value *into, const struct lp_value *from)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < from->count; i++)
        status = merge_entry(values, into, &from->entries[i]);
    return status;
}

const char *lp_value_place(const struct lp_value *value, char *place, size_t size)
{
    if (value->line)
        snprintf(place, size, "%s:%u", value->file, value->line);
    else
        snprintf(place, size, "%s", value->file);
    return place;
}
