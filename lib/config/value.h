/* SPDX-License-Identifier: Apache-2.0 */
/** Values of a configuration: a tree that can be changed, whose nodes know the file and line that
 * they come from. For lib/config only.
 * @threads one at a time per tree; reading from several threads is fine */
#ifndef LP_CONFIG_VALUE_H
#define LP_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strings.h"
#include "lib/base/vector.h"

#define LP_VALUES_MOST 1000000 /* nodes of a tree */
#define LP_VALUE_DEPTH 256     /* levels of a tree */
#define LP_VALUE_KEYS  8192    /* of one map in a file */

enum lp_value_kind { LP_VALUE_TEXT, LP_VALUE_LIST, LP_VALUE_MAP };

/* How far interpolation has come. */
enum lp_value_state { LP_VALUE_WRITTEN, LP_VALUE_RESOLVING, LP_VALUE_RESOLVED };

struct lp_value_entry {
    const char *key; /* NULL in a list */
    struct lp_value *value;
};

struct lp_value {
    enum lp_value_kind kind;
    enum lp_value_state state;
    const char *file; /* a path, or the override that it comes from */
    uint32_t line;    /* 0: an override */
    bool is_string;   /* a text that is never a number, a truth value or null */
    const char *text; /* LP_VALUE_TEXT, as it was written */
    struct lp_value *parent;
    struct lp_value_entry *entries; /* LP_VALUE_LIST, LP_VALUE_MAP */
    size_t count, capacity;
};

/** Owns all nodes and texts, those that are in no tree any more, too. Zero-initialised: empty. */
struct lp_values {
    struct lp_strings texts;
    LP_VECTOR(struct lp_value *) all;
};

/** A new node without a parent. NULL: no memory or too many; the error is set (LLMPERF_ENOMEM). */
struct lp_value *lp_value_new(struct lp_values *values, enum lp_value_kind kind, const char *file,
                              uint32_t line);

/** A new text. `text` is copied. */
struct lp_value *lp_value_text(struct lp_values *values, const char *text, bool is_string,
                               const char *file, uint32_t line);

/** Text in `values`; NULL without memory, with the error set. */
const char *lp_values_printf(struct lp_values *values, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void lp_values_clear(struct lp_values *values);

/** Read a file as YAML into new nodes. 0, LLMPERF_ENOENT, LLMPERF_EIO, LLMPERF_EFORMAT,
 * LLMPERF_ENOMEM. */
int lp_value_read(struct lp_values *values, const char *path, struct lp_value **value_out);

/** The same for text; `name` is used in errors. */
int lp_value_parse(struct lp_values *values, const char *name, const char *text, size_t size,
                   struct lp_value **value_out);

/** Entry of a map; -1 if there is none. `key` need not end with NUL. */
ptrdiff_t lp_value_find(const struct lp_value *map, const char *key, size_t length);

/** Element of a map by key or of a list by decimal index; NULL. */
struct lp_value *lp_value_get(const struct lp_value *value, const char *key, size_t length);

/** Take the next key off a path of dots and brackets ("a.b", "list.0", "list[0]"). False: no path.
 */
bool lp_path_next(const char **path, const char **key, size_t *length);

/** Dotted key of a value within its tree, for messages. */
const char *lp_value_key(struct lp_values *values, const struct lp_value *value);

/** Follow dots and brackets ("a.b", "list.0", "list[0]"); NULL. "" is the value itself. */
struct lp_value *lp_value_at(const struct lp_value *value, const char *path);

/** Set an entry of a map, in place of one of the same key. `key` is copied. 0 or LLMPERF_ENOMEM. */
int lp_value_put(struct lp_values *values, struct lp_value *map, const char *key,
                 struct lp_value *value);

/** Append to a list. 0 or LLMPERF_ENOMEM. */
int lp_value_push(struct lp_value *list, struct lp_value *value);

/** Take an entry out of a list or map. */
void lp_value_remove(struct lp_value *value, size_t index);

/** A copy of a whole tree, without a parent. NULL: no memory, too many nodes or too deep. */
struct lp_value *lp_value_copy(struct lp_values *values, const struct lp_value *from);

/** Merge one map into another: maps key by key, all else by replacement; "???" replaces nothing. A
 * map that meets "${key}" of a map is merged with a copy of that. `from` is unchanged. 0,
 * LLMPERF_ENOMEM. */
int lp_value_merge(struct lp_values *values, struct lp_value *into, const struct lp_value *from);

/** "???": a required value that is missing. */
bool lp_value_is_missing(const struct lp_value *value);

/** "file:line", or the override. */
const char *lp_value_place(const struct lp_value *value, char *place, size_t size);

#endif
