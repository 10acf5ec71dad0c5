/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/base/secret.h"
#include "lib/base/utf8.h"
#include "lib/config/inside.h"
#include "lib/config/scalar.h"

#define SAFE_FIRST "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/"
#define SAFE       SAFE_FIRST "0123456789.+-@^()"

/* Is it read as the same text without quotes by any YAML reader? */
static bool is_plain(const char *text)
{
    return *text && strchr(SAFE_FIRST, *text) && strspn(text, SAFE) == strlen(text) &&
           lp_scalar_of(text) == LP_SCALAR_STRING;
}

/* Characters that need quotes and an escape: control characters, line ends of any kind, and
 * non-characters of YAML. Returns their length in UTF-8; 0 for other characters. */
static size_t escape(const char *text, char name[8])
{
    const unsigned char *byte = (const unsigned char *)text;
    unsigned code;
    size_t length = lp_text_control(text, &code);

    if (byte[0] == 0xef &&
        ((byte[1] == 0xbf && byte[2] >= 0xbe) || (byte[1] == 0xbb && byte[2] == 0xbf))) {
        length = 3;
        code = 0xf000u | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu);
    }
    snprintf(name, 8, code > 0xff ? "\\u%04x" : "\\x%02x", code & 0xffff);
    return length;
}

static bool needs_escapes(const char *text)
{
    char name[8];

    for (; *text; text++)
        if (escape(text, name))
            return true;
    return false;
}

static void add_double_quoted(struct lp_text *out, const char *text)
{
    char name[8];

    lp_text_puts(out, "\"");
    while (*text) {
        size_t length = escape(text, name);

        if (length)
            lp_text_puts(out, name);
        else if (*text == '"' || *text == '\\')
            lp_text_printf(out, "\\%c", *text);
        else
            lp_text_add(out, text, 1);
        text += length ? length : 1;
    }
    lp_text_puts(out, "\"");
}

static void add_quoted(struct lp_text *out, const char *text)
{
    if (is_plain(text)) {
        lp_text_puts(out, text);
        return;
    }
    if (needs_escapes(text)) {
        add_double_quoted(out, text);
        return;
    }
    lp_text_puts(out, "'");
    for (; *text; text++)
        lp_text_puts(out, *text == '\'' ? "''" : (char[]){ *text, '\0' });
    lp_text_puts(out, "'");
}

/* "${" in a resolved text gets a backslash, and backslashes before it are doubled. */
static void add_string(struct lp_text *out, const struct lp_value *value)
{
    const char *text = value->text, *found;
    struct lp_text escaped = { 0 };

    if (value->state != LP_VALUE_RESOLVED || !strstr(text, "${")) {
        add_quoted(out, text);
        return;
    }
    while ((found = strstr(text, "${"))) {
        size_t slashes = 0;

        while (found - slashes > text && found[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        lp_text_add(&escaped, text, (size_t)(found - text));
        lp_text_add(&escaped, found - slashes, slashes);
        lp_text_puts(&escaped, "\\${");
        text = found + 2;
    }
    lp_text_puts(&escaped, text);
    if (escaped.failed)
        out->failed = true;
    else
        add_quoted(out, escaped.bytes);
    lp_text_clear(&escaped);
}

static void add_scalar(struct lp_text *out, const struct lp_value *value)
{
    enum lp_scalar type = lp_scalar_type(value);

    if (type == LP_SCALAR_STRING)
        add_string(out, value);
    else
        lp_text_puts(out, type == LP_SCALAR_NULL ? "null" : value->text);
}

static void indent(struct lp_text *out, int level)
{
    for (int i = 0; i < level; i++)
        lp_text_puts(out, "  ");
}

static bool is_flat(const struct lp_value *value)
{
    return value->kind == LP_VALUE_TEXT || value->count == 0;
}

static void add_flat(struct lp_text *out, const struct lp_value *value)
{
    if (value->kind == LP_VALUE_TEXT)
        add_scalar(out, value);
    else
        lp_text_puts(out, value->kind == LP_VALUE_LIST ? "[]" : "{}");
    lp_text_puts(out, "\n");
}

/* Documents are stored and shown, so placeholders of secrets ("${oc.env:NAME}") are not
 * resolved. */
static bool is_secret(const struct lp_value *map, const struct lp_value_entry *entry)
{
    const struct lp_value *value = entry->value;

    return map->kind == LP_VALUE_MAP && value->kind == LP_VALUE_TEXT && *value->text &&
           lp_secret_is_name(entry->key, strlen(entry->key)) &&
           lp_scalar_type(value) == LP_SCALAR_STRING &&
           (value->state == LP_VALUE_RESOLVED || !strstr(value->text, "${"));
}

/* Entries of a map or list; the first continues the current line. */
static void add_entries(struct lp_text *out, const struct lp_value *value, int level)
{
    for (size_t i = 0; i < value->count && !out->failed; i++) {
        const struct lp_value_entry *entry = &value->entries[i];
        bool same_line = value->kind == LP_VALUE_LIST || is_flat(entry->value);

        if (i > 0)
            indent(out, level);
        if (value->kind == LP_VALUE_LIST) {
            lp_text_puts(out, "- ");
        } else {
            add_quoted(out, entry->key);
            lp_text_puts(out, same_line ? ": " : ":\n");
        }
        if (is_secret(value, entry)) {
            lp_text_puts(out, "'" LP_SECRET_MASK "'\n");
            continue;
        }
        if (is_flat(entry->value)) {
            add_flat(out, entry->value);
            continue;
        }
        if (!same_line)
            indent(out, level + 1);
        add_entries(out, entry->value, level + 1);
    }
}

void lp_emit_yaml(struct lp_text *out, const struct lp_value *value)
{
    if (is_flat(value))
        add_flat(out, value);
    else
        add_entries(out, value, 0);
}

static void add_json(struct lp_text *out, const struct lp_value *value, int level)
{
    if (value->kind == LP_VALUE_TEXT) {
        lp_scalar_add_json(out, value);
        return;
    }
    lp_text_puts(out, value->kind == LP_VALUE_MAP ? "{" : "[");
    for (size_t i = 0; i < value->count && !out->failed; i++) {
        lp_text_puts(out, i ? ",\n" : "\n");
        indent(out, level + 1);
        if (value->kind == LP_VALUE_MAP) {
            lp_text_json(out, value->entries[i].key);
            lp_text_puts(out, ": ");
        }
        if (is_secret(value, &value->entries[i]))
            lp_text_json(out, LP_SECRET_MASK);
        else
            add_json(out, value->entries[i].value, level + 1);
    }
    if (value->count) {
        lp_text_puts(out, "\n");
        indent(out, level);
    }
    lp_text_puts(out, value->kind == LP_VALUE_MAP ? "}" : "]");
}

void lp_emit_json(struct lp_text *out, const struct lp_value *value)
{
    add_json(out, value, 0);
    lp_text_puts(out, "\n");
}
