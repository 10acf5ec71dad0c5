/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/base/variable.h"
#include "lib/config/interpolate.h"
#include "lib/config/nearest.h"
#include "lib/config/override.h"
#include "lib/config/scalar.h"

#define DEPTH_MOST     100
#define TEXT_MOST      (1u << 20)
#define ARGUMENTS_MOST 2
#define BLANKS         " \t\n"

/* State while a text is read. */
struct reader {
    struct lp_interpolation *whole;
    struct lp_value *owner; /* the text's node */
    const char *at;
};

static int evaluate(struct reader *reader, struct lp_value **value_out);

static int fail(const struct lp_value *owner, struct lp_values *values, const char *problem,
                const char *what, const char *more)
{
    char place[512];

    return lp_error(LLMPERF_EFORMAT, "%s: %s %s %s%s", lp_value_place(owner, place, sizeof(place)),
                    lp_value_key(values, owner), problem, what, more);
}

static int refuse(const struct reader *reader, const char *problem, const char *what)
{
    return fail(reader->owner, reader->whole->values, problem, what, "");
}

bool lp_has_interpolation(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT && strstr(value->text, "${");
}

static struct lp_value *make_text(const struct reader *reader, const char *text)
{
    return lp_value_text(reader->whole->values, text, true, reader->owner->file,
                         reader->owner->line);
}

static const char *owner_place(const struct reader *reader)
{
    char place[512];
    const char *kept = lp_values_printf(reader->whole->values, "%s",
                                        lp_value_place(reader->owner, place, sizeof(place)));

    return kept ? kept : reader->owner->file;
}

/* Texts */

/* Backslashes before "${": two give one; an odd one escapes "${". */
static void add_plain(struct reader *reader, struct lp_text *out)
{
    const char *start = reader->at, *found;
    size_t slashes = 0;

    found = strstr(start, "${");
    if (!found) {
        lp_text_puts(out, start);
        reader->at += strlen(start);
        return;
    }
    while (found - slashes > start && found[-1 - (ptrdiff_t)slashes] == '\\')
        slashes++;
    lp_text_add(out, start, (size_t)(found - start) - slashes + slashes / 2);
    reader->at = found;
    if (slashes % 2) {
        lp_text_puts(out, "${");
        reader->at += 2;
    }
}

static int add_value(struct reader *reader, const struct lp_value *value, struct lp_text *out)
{
    if (value->kind != LP_VALUE_TEXT)
        return refuse(reader, "inserts a list or map into a string:", reader->owner->text);
    lp_scalar_add_str(out, value);
    if (out->length > TEXT_MOST)
        return refuse(reader, "becomes", "longer than 1 MiB");
    return 0;
}

/* A text with interpolations. If it is a single interpolation, the result is the value itself. */
static int read_text(struct reader *reader, struct lp_value **value_out)
{
    const char *start = reader->at;
    struct lp_text text = { 0 };
    struct lp_value *value;
    int status = 0;

    *value_out = NULL;
    lp_text_puts(&text, "");
    while (status == 0 && *reader->at) {
        bool first = reader->at == start;

        if (strncmp(reader->at, "${", 2) != 0) {
            add_plain(reader, &text);
            continue;
        }
        status = evaluate(reader, &value);
        if (status == 0 && first && !*reader->at)
            *value_out = value;
        else if (status == 0)
            status = add_value(reader, value, &text);
    }
    if (status == 0 && !*value_out) {
        *value_out = text.failed ? NULL : make_text(reader, text.bytes);
        status = *value_out ? 0 : LLMPERF_ENOMEM;
    }
    lp_text_clear(&text);
    return status;
}

/* Keys */

/* Follow a path. Values on it are resolved first, as they may refer to maps. NULL and 0: not
 * found. */
static int follow(struct lp_interpolation *whole, struct lp_value *from, const char *path,
                  struct lp_value **value_out)
{
    struct lp_value *at = from;
    const char *key;
    size_t length;
    int status = 0;

    *value_out = NULL;
    while (at && status == 0 && *path) {
        at = lp_path_next(&path, &key, &length) ? lp_value_get(at, key, length) : NULL;
        if (at && (at->kind == LP_VALUE_TEXT || !*path))
            status = lp_interpolate(whole, at);
    }
    *value_out = at;
    return status;
}

/* One dot is the map or list with the text, each further dot its parent. */
static int find_key(struct reader *reader, const char *path, struct lp_value **value_out)
{
    struct lp_value *from = *path == '.' ? reader->owner : reader->whole->root;
    const char *keys = path;

    for (; from && *keys == '.'; keys++)
        from = from->parent;
    *value_out = NULL;
    return from && *keys ? follow(reader->whole, from, keys, value_out) : 0;
}

static int read_node(struct reader *reader, const char *path, struct lp_value **value_out)
{
    int status = find_key(reader, path, value_out);

    if (status < 0)
        return status;
    if (!*value_out)
        return fail(reader->owner, reader->whole->values,
                    "refers to a key that does not exist:", path,
                    lp_nearest_key(reader->whole->values, reader->whole->root, path));
    if (lp_value_is_missing(*value_out))
        return refuse(reader, "refers to a value that is still missing (\?\?\?):", path);
    return 0;
}

/* Resolvers: NAME:ARGUMENT,ARGUMENT */

static int call_env(struct reader *reader, struct lp_value **arguments, size_t count,
                    struct lp_value **value_out)
{
    const char *found = lp_variable(arguments[0]->text);
    struct lp_text text = { 0 };

    if (!found && count < 2)
        return refuse(reader, "needs an environment variable that is not set:", arguments[0]->text);
    if (!found && lp_scalar_type(arguments[1]) == LP_SCALAR_NULL) {
        *value_out = arguments[1];
        return 0;
    }
    if (found && !lp_text_is_utf8(found))
        return refuse(reader, "needs valid UTF-8 in the environment variable", arguments[0]->text);
    if (found)
        lp_text_puts(&text, found);
    else
        lp_scalar_add_str(&text, arguments[1]);
    *value_out = text.bytes && !text.failed ? make_text(reader, text.bytes) : make_text(reader, "");
    lp_text_clear(&text);
    return *value_out ? 0 : LLMPERF_ENOMEM;
}

static int call_select(struct reader *reader, struct lp_value **arguments, size_t count,
                       struct lp_value **value_out)
{
    int status = find_key(reader, arguments[0]->text, value_out);

    if (status < 0)
        return status;
    if (*value_out && !lp_value_is_missing(*value_out))
        return 0;
    *value_out = count > 1 ? arguments[1]
                           : lp_value_text(reader->whole->values, "null", false,
                                           reader->owner->file, reader->owner->line);
    return *value_out ? 0 : LLMPERF_ENOMEM;
}

static int call_decode(struct reader *reader, struct lp_value **arguments, size_t count,
                       struct lp_value **value_out)
{
    if (count > 1)
        return refuse(reader, "has too many arguments:", reader->owner->text);
    return lp_override_value(reader->whole->values, owner_place(reader), arguments[0]->text,
                             value_out);
}

static int call_now(struct reader *reader, struct lp_value **arguments, size_t count,
                    struct lp_value **value_out)
{
    char text[256];
    struct tm local;

    if (count > 1)
        return refuse(reader, "has too many arguments:", reader->owner->text);
    localtime_r(&reader->whole->now, &local);
    if (strftime(text, sizeof(text), arguments[0]->text, &local) == 0)
        return refuse(reader, "has a time format with empty output:", arguments[0]->text);
    *value_out = make_text(reader, text);
    return *value_out ? 0 : LLMPERF_ENOMEM;
}

static const struct resolver {
    const char *name;
    int (*call)(struct reader *reader, struct lp_value **arguments, size_t count,
                struct lp_value **value_out);
} resolvers[] = {
    { "oc.env", call_env },
    { "oc.select", call_select },
    { "oc.decode", call_decode },
    { "now", call_now },
};

/* Length of an argument: up to a comma or brace outside of quotes, brackets and nested
 * interpolations. */
static size_t argument_length(const char *text)
{
    size_t i = 0;
    int depth = 0;
    char quote = '\0';

    for (; text[i]; i++) {
        if (text[i] == '\\' && text[i + 1])
            i++;
        else if (quote)
            quote = text[i] == quote ? '\0' : quote;
        else if (text[i] == '"' || text[i] == '\'')
            quote = text[i];
        else if (strchr("[{", text[i]))
            depth++;
        else if (depth > 0 && strchr("]}", text[i]))
            depth--;
        else if (depth == 0 && strchr(",}", text[i]))
            break;
    }
    return i;
}

static int read_argument(struct reader *reader, struct lp_value **value_out)
{
    struct lp_values *values = reader->whole->values;
    size_t length;
    const char *text;

    reader->at += strspn(reader->at, BLANKS);
    length = argument_length(reader->at);
    if (!reader->at[length])
        return refuse(reader, "is missing a closing } in", reader->owner->text);
    text = lp_values_printf(values, "%.*s", (int)length, reader->at);
    if (!text)
        return LLMPERF_ENOMEM;
    reader->at += length;
    if (strstr(text, "${")) {
        struct reader inner = { reader->whole, reader->owner, text };
        bool quoted = (*text == '"' || *text == '\'') && length > 1 && text[length - 1] == *text;

        if (quoted)
            inner.at = lp_values_printf(values, "%.*s", (int)length - 2, text + 1);
        return inner.at ? read_text(&inner, value_out) : LLMPERF_ENOMEM;
    }
    return lp_override_value(values, owner_place(reader), text, value_out);
}

static int read_arguments(struct reader *reader, struct lp_value **arguments, size_t *count)
{
    int status = 0;

    do {
        reader->at++; /* the colon, or a comma */
        if (*count == ARGUMENTS_MOST)
            return refuse(reader, "has too many arguments:", reader->owner->text);
        status = read_argument(reader, &arguments[*count]);
        if (status == 0 && arguments[*count]->kind != LP_VALUE_TEXT)
            status = refuse(reader, "has a list or map as an argument:", reader->owner->text);
        ++*count;
    } while (status == 0 && *reader->at == ',');
    reader->at += status == 0;
    return status;
}

static int read_call(struct reader *reader, const char *name, struct lp_value **value_out)
{
    struct lp_value *arguments[ARGUMENTS_MOST] = { NULL };
    size_t count = 0;
    int status = read_arguments(reader, arguments, &count);

    if (status < 0)
        return status;
    for (size_t i = 0; i < sizeof(resolvers) / sizeof(resolvers[0]); i++)
        if (strcmp(resolvers[i].name, name) == 0)
            return resolvers[i].call(reader, arguments, count, value_out);
    return fail(reader->owner, reader->whole->values, "uses an unknown resolver:", name,
                "; known resolvers: oc.env, oc.select, oc.decode, now");
}

/* The name up to ':' or '}'; may contain interpolations. */
static int read_name(struct reader *reader, struct lp_text *name)
{
    struct lp_value *value;
    int status = 0;

    reader->at += 2 + strspn(reader->at + 2, BLANKS);
    lp_text_puts(name, "");
    while (status == 0 && *reader->at && !strchr(":}", *reader->at)) {
        if (strncmp(reader->at, "${", 2) != 0)
            lp_text_add(name, reader->at++, 1);
        else if ((status = evaluate(reader, &value)) == 0)
            status = add_value(reader, value, name);
    }
    while (status == 0 && name->length && strchr(BLANKS, name->bytes[name->length - 1]))
        name->bytes[--name->length] = '\0';
    if (status == 0 && !*reader->at)
        status = refuse(reader, "is missing a closing } in", reader->owner->text);
    if (status == 0 && name->length == 0)
        status = refuse(reader, "is missing a name in", reader->owner->text);
    return status == 0 && name->failed ? lp_out_of_memory() : status;
}

/* "${…}" at the current position. */
static int evaluate(struct reader *reader, struct lp_value **value_out)
{
    struct lp_text name = { 0 };
    int status;

    *value_out = NULL;
    if (++reader->whole->depth > DEPTH_MOST) {
        status = refuse(reader, "is nested too deeply:", "interpolations of interpolations");
    } else if ((status = read_name(reader, &name)) == 0) {
        if (*reader->at == ':') {
            status = read_call(reader, name.bytes, value_out);
        } else {
            reader->at++;
            status = read_node(reader, name.bytes, value_out);
        }
    }
    reader->whole->depth--;
    lp_text_clear(&name);
    return status;
}

/* Nodes */

/* The node becomes a copy of the referenced value, in its own position. */
static int become(struct lp_values *values, struct lp_value *node, const struct lp_value *from)
{
    struct lp_value *copy = lp_value_copy(values, from), *parent = node->parent;

    if (!copy)
        return LLMPERF_ENOMEM;
    *node = *copy;
    node->parent = parent;
    copy->entries = NULL;
    copy->count = copy->capacity = 0;
    for (size_t i = 0; i < node->count; i++)
        node->entries[i].value->parent = node;
    return 0;
}

static int resolve_text(struct lp_interpolation *whole, struct lp_value *node)
{
    struct reader reader = { whole, node, node->text };
    const char *file = node->file;
    uint32_t line = node->line;
    struct lp_value *value;
    int status;

    if (!lp_has_interpolation(node))
        return 0;
    if ((status = read_text(&reader, &value)) < 0 ||
        (status = become(whole->values, node, value)) < 0)
        return status;
    node->file = file;
    node->line = line;
    return 0;
}

int lp_interpolate(struct lp_interpolation *whole, struct lp_value *value)
{
    int status = 0;

    if (value->state == LP_VALUE_RESOLVED)
        return 0;
    if (value->state == LP_VALUE_RESOLVING)
        return fail(value, whole->values, "refers to itself", "", "");
    if (++whole->depth > DEPTH_MOST)
        return fail(value, whole->values,
                    "is nested too deeply:", "interpolations of interpolations", "");
    value->state = LP_VALUE_RESOLVING;
    if (value->kind == LP_VALUE_TEXT)
        status = resolve_text(whole, value);
    else
        for (size_t i = 0; status == 0 && i < value->count; i++)
            status = lp_interpolate(whole, value->entries[i].value);
    value->state = LP_VALUE_RESOLVED;
    whole->depth--;
    return status;
}
