/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/config/inside.h"
#include "lib/config/nearest.h"
#include "lib/config/scalar.h"

#define PARTS_MOST 64

/* State of a change. */
struct edit {
    struct lp_values *values;
    struct lp_value *root;
    const struct lp_override *override;
    bool add; /* add missing keys */
};

static int count_parts(const char *key)
{
    int count = 1;

    for (; *key; key++)
        count += *key == '.';
    return count;
}

int lp_edit_embed(struct lp_values *values, struct lp_value *root, const char *key,
                  const struct lp_value *map)
{
    struct lp_value *whole = (struct lp_value *)map;

    if (count_parts(key) > PARTS_MOST)
        return lp_error(LLMPERF_EFORMAT, "package %.60s… is nested more than %d levels deep", key,
                        PARTS_MOST);
    if (!*key)
        return lp_value_merge(values, root, map);
    if (!(whole = lp_value_copy(values, map)))
        return LLMPERF_ENOMEM;
    for (const char *end = key + strlen(key); end > key;) {
        const char *start = memrchr(key, '.', (size_t)(end - key));
        struct lp_value *outer = lp_value_new(values, LP_VALUE_MAP, map->file, map->line);
        const char *part;

        start = start ? start + 1 : key;
        part = lp_values_printf(values, "%.*s", (int)(end - start), start);
        if (!outer || !part || lp_value_put(values, outer, part, whole) < 0)
            return LLMPERF_ENOMEM;
        whole = outer;
        end = start > key ? start - 1 : key;
    }
    return lp_value_merge(values, root, whole);
}

static int no_key(const struct edit *edit, const char *key)
{
    const char *text = edit->override->text;

    return lp_error(LLMPERF_EINVAL, "%s: key %s does not exist%s; +%s adds it", text, key,
                    lp_nearest_key(edit->values, edit->root, key), text);
}

static bool is_container(const struct lp_value *value)
{
    return value && value->kind != LP_VALUE_TEXT;
}

/* The map at a path whose keys must exist. */
static int check_keys(const struct edit *edit, const struct lp_value *into,
                      const struct lp_value *from)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < from->count; i++) {
        const struct lp_value_entry *entry = &from->entries[i];
        const struct lp_value *old = lp_value_get(into, entry->key, strlen(entry->key));

        if (!old)
            return no_key(edit, lp_values_printf(edit->values, "%s.%s",
                                                 lp_value_key(edit->values, into), entry->key));
        if (old->kind == LP_VALUE_MAP && entry->value->kind == LP_VALUE_MAP)
            status = check_keys(edit, old, entry->value);
    }
    return status;
}

static int set_element(const struct edit *edit, struct lp_value *list, struct lp_value *old,
                       struct lp_value *value)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].value != old)
            continue;
        list->entries[i].value = value;
        value->parent = list;
        return 0;
    }
    return no_key(edit, edit->override->key);
}

static int set_last(const struct edit *edit, struct lp_value *parent, const char *key)
{
    struct lp_value *old = lp_value_get(parent, key, strlen(key)), *value = edit->override->value;
    int status;

    if (!old && !edit->add)
        return no_key(edit, edit->override->key);
    if (old && old->kind == LP_VALUE_MAP && value->kind == LP_VALUE_MAP) {
        status = edit->add ? 0 : check_keys(edit, old, value);
        return status < 0 ? status : lp_value_merge(edit->values, old, value);
    }
    return parent->kind == LP_VALUE_LIST ? set_element(edit, parent, old, value)
                                         : lp_value_put(edit->values, parent, key, value);
}

/* The map or list that contains the last part of the key. */
static int find_parent(const struct edit *edit, struct lp_value **parent_out, const char **last_out)
{
    const char *at = edit->override->key;
    struct lp_value *parent = edit->root;

    for (const char *dot; (dot = strchr(at, '.')); at = dot + 1) {
        struct lp_value *next = lp_value_get(parent, at, (size_t)(dot - at));
        const char *key;

        if (!is_container(next)) {
            if (!edit->add || parent->kind != LP_VALUE_MAP)
                return no_key(edit, edit->override->key);
            key = lp_values_printf(edit->values, "%.*s", (int)(dot - at), at);
            next = lp_value_new(edit->values, LP_VALUE_MAP, edit->override->text, 0);
            if (!key || !next || lp_value_put(edit->values, parent, key, next) < 0)
                return LLMPERF_ENOMEM;
        }
        parent = next;
    }
    *parent_out = parent;
    *last_out = at;
    return 0;
}

static int set_value(const struct edit *edit)
{
    struct lp_value *parent = NULL;
    const char *last = NULL;
    int status = find_parent(edit, &parent, &last);

    return status < 0 ? status : set_last(edit, parent, last);
}

static bool is_null(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT && lp_scalar_type(value) == LP_SCALAR_NULL;
}

static bool is_equal(const struct lp_value *left, const struct lp_value *right)
{
    struct lp_text a = { 0 }, b = { 0 };
    bool equal = left->kind == right->kind && left->count == right->count;

    if (equal && left->kind == LP_VALUE_TEXT) {
        lp_scalar_add_json(&a, left);
        lp_scalar_add_json(&b, right);
        equal = a.bytes && b.bytes && strcmp(a.bytes, b.bytes) == 0;
        lp_text_clear(&a);
        lp_text_clear(&b);
    }
    for (size_t i = 0; equal && i < left->count; i++) {
        const struct lp_value_entry *entry = &left->entries[i];
        const struct lp_value *other = entry->key
                                           ? lp_value_get(right, entry->key, strlen(entry->key))
                                           : right->entries[i].value;

        equal = other && is_equal(entry->value, other);
    }
    return equal;
}

static int remove_value(const struct edit *edit)
{
    const struct lp_override *override = edit->override;
    struct lp_value *old = lp_value_at(edit->root, override->key);

    if (!old || is_null(old))
        return lp_error(LLMPERF_EINVAL, "%s: there is no key %s to remove%s", override->text,
                        override->key, lp_nearest_key(edit->values, edit->root, override->key));
    if (override->value && !is_null(override->value) && !is_equal(old, override->value))
        return lp_error(LLMPERF_EINVAL,
                        "%s: %s has another value; ~%s removes it whatever its value",
                        override->text, override->key, override->key);
    for (size_t i = 0; i < old->parent->count; i++)
        if (old->parent->entries[i].value == old) {
            lp_value_remove(old->parent, i);
            break;
        }
    return 0;
}

int lp_edit_apply(struct lp_values *values, struct lp_value *root,
                  const struct lp_override *override)
{
    struct edit edit = { values, root, override, override->kind != LP_OVERRIDE_CHANGE };
    const struct lp_value *old;

    if (override->package || strchr(override->key, '/'))
        return lp_error(LLMPERF_EINVAL, "%s: group %s does not exist", override->text,
                        override->key);
    if (count_parts(override->key) > PARTS_MOST)
        return lp_error(LLMPERF_EINVAL, "%.60s…: a key can have at most %d parts", override->text,
                        PARTS_MOST);
    if (override->kind == LP_OVERRIDE_REMOVE)
        return remove_value(&edit);
    old = lp_value_at(root, override->key);
    if (override->kind == LP_OVERRIDE_ADD && old && !is_null(old) && !is_container(override->value))
        return lp_error(LLMPERF_EINVAL, "%s: %s exists already; change it with %s, or write ++",
                        override->text, override->key, override->text + 1);
    return set_value(&edit);
}
