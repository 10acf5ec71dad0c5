/* SPDX-License-Identifier: Apache-2.0 */
/** Values of a configuration: a mutable tree whose nodes have file and line. For lib/config only.
 * @threads one at a time per tree; reading from several threads is fine */
#ifndef LP_CONFIG_VALUE_H
#define LP_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"

#define LP_VALUES_MOST 1000000 /* nodes of a tree */
#define LP_VALUE_DEPTH 256     /* nesting of a tree */
#define LP_VALUE_KEYS  8192    /* keys of a map in a file */

enum lp_value_kind { LP_VALUE_TEXT, LP_VALUE_LIST, LP_VALUE_MAP };

/* State of interpolation. */
enum lp_value_state { LP_VALUE_WRITTEN, LP_VALUE_RESOLVING, LP_VALUE_RESOLVED };

struct lp_value_entry {
    const char *key; /* NULL in a list */
    struct lp_value *value;
};

struct lp_value {
    enum lp_value_kind kind;
    enum lp_value_state state;
    const char *file; /* path, or the override */
    uint32_t line;    /* 0: an override */
    bool is_string;   /* never a number, boolean or null */
    const char *text; /* LP_VALUE_TEXT, as written */
    struct lp_value *parent;
    struct lp_value_entry *entries; /* LP_VALUE_LIST, LP_VALUE_MAP */
    size_t count, capacity;
};

/** Owns all nodes and texts, even those that are in no tree. Zero-initialised: empty. */
struct lp_values {
    struct lp_strings texts;
    LP_VECTOR(struct lp_value *) all;
};

/** A new node without parent. NULL: out of memory, or too many nodes; sets the error
 * (LLMPERF_ENOMEM). */
struct lp_value *lp_value_new(struct lp_values *values, enum lp_value_kind kind, const char *file,
                              uint32_t line);

/** A new text node with a copy of `text`. */
struct lp_value *lp_value_text(struct lp_values *values, const char *text, bool is_string,
                               const char *file, uint32_t line);

/** Copy a text into `values`; NULL: out of memory, with the error set. */
const char *lp_values_printf(struct lp_values *values, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void lp_values_clear(struct lp_values *values);

/** Read a YAML file into new nodes. 0, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_EFORMAT,
 * LLMPERF_ENOMEM. */
int lp_value_read(struct lp_values *values, const char *path, struct lp_value **value_out);

/** The same for a text; `name` is used in errors. */
int lp_value_parse(struct lp_values *values, const char *name, const char *text, size_t size,
                   struct lp_value **value_out);

/** Index of a map's entry; -1: none. `key` need not be NUL-terminated. */
ptrdiff_t lp_value_find(const struct lp_value *map, const char *key, size_t length);

/** Value in a map by key, or in a list by decimal index; NULL: none. */
struct lp_value *lp_value_get(const struct lp_value *value, const char *key, size_t length);

/** Split the next key off a path with dots and brackets ("a.b", "list.0", "list[0]"). False:
 * invalid. */
bool lp_path_next(const char **path, const char **key, size_t *length);

/** Dotted key of a value in its tree, for messages. */
const char *lp_value_key(struct lp_values *values, const struct lp_value *value);

/** Value at a path ("a.b", "list.0", "list[0]"); NULL: none. "" is the value itself. */
struct lp_value *lp_value_at(const struct lp_value *value, const char *path);

/** Set an entry of a map, added if new. `key` is copied. 0 or LLMPERF_ENOMEM. */
int lp_value_put(struct lp_values *values, struct lp_value *map, const char *key,
                 struct lp_value *value);

/** Append to a list. 0 or LLMPERF_ENOMEM. */
int lp_value_push(struct lp_value *list, struct lp_value *value);

/** Remove an entry of a list or map. */
void lp_value_remove(struct lp_value *value, size_t index);

/** Copy a tree, without parent. NULL: out of memory, too many nodes, or too deep. */
struct lp_value *lp_value_copy(struct lp_values *values, const struct lp_value *from);

/** Merge a map into another: maps by key, other values are replaced, except by "???". If `into` has
 * "${key}" of a map, the map is merged with a copy of that map. `from` is unchanged. 0 or
 * LLMPERF_ENOMEM. */
int lp_value_merge(struct lp_values *values, struct lp_value *into, const struct lp_value *from);

/** Is it "???", a missing required value? */
bool lp_value_is_missing(const struct lp_value *value);

/** "file:line", or the override. */
const char *lp_value_place(const struct lp_value *value, char *place, size_t size);

#endif
