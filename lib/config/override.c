/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/config/override.h"
#include "lib/config/scalar.h"

#define DEPTH_MOST 64
#define BLANKS     " \t"
#define LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS     "0123456789"

/* Characters of a text without quotes; others need a backslash or quotes. */
#define UNQUOTED LETTERS DIGITS "_/-\\+.$%*@?|:" BLANKS
#define ESCAPED  "\\()[]{}:=," BLANKS

struct reader {
    struct lp_values *values;
    const char *owner; /* for errors, and as origin of the values */
    const char *at;
    int depth;
};

static int read_element(struct reader *reader, struct lp_value **value_out);

static int fail(const struct reader *reader, const char *problem)
{
    return lp_error(LLMPERF_EINVAL, "%s: %s%s%.40s", reader->owner, problem,
                    *reader->at ? " at: " : " at its end", reader->at);
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, BLANKS);
}

/* Keywords are those of YAML in any case, but yes, no, on and off are texts. */
static bool is_word(const char *text, const char *word)
{
    size_t i = 0;

    for (; text[i] && word[i]; i++)
        if ((text[i] | 0x20) != word[i])
            return false;
    return text[i] == word[i];
}

static bool is_int(const char *text)
{
    text += *text == '+' || *text == '-';
    if (*text == '0')
        return text[1] == '\0';
    for (const char *at = text; *at; at++)
        if (!strchr(DIGITS, *at) && !(*at == '_' && at > text && at[-1] != '_' && at[1]))
            return false;
    return *text != '\0';
}

/* Like YAML's, but integers have no leading zeros, and "_" must be between digits. */
static bool is_float(const char *text)
{
    size_t whole;

    text += *text == '+' || *text == '-';
    whole = strspn(text, DIGITS "_");
    if (whole > 1 && text[0] == '0')
        return false;
    for (const char *at = text; *at; at++)
        if (*at == '_' &&
            (at == text || !strchr(DIGITS, at[-1]) || !at[1] || !strchr(DIGITS, at[1])))
            return false;
    return lp_scalar_of(text) == LP_SCALAR_FLOAT && (whole || *text == '.') &&
           !strpbrk(text, "infaINFA");
}

/* A text without quotes, escapes and interpolation may be a number or keyword. */
static struct lp_value *classify(const struct reader *reader, char *text)
{
    const char *unsigned_text = text + (*text == '+' || *text == '-');
    const char *written = text;
    bool is_string = false;
    size_t length = 0;

    if (is_word(text, "null")) {
        written = "null";
    } else if (is_word(text, "true") || is_word(text, "false")) {
        written = is_word(text, "true") ? "true" : "false";
    } else if (is_word(unsigned_text, "inf")) {
        written = *text == '-' ? "-.inf" : ".inf";
    } else if (is_word(unsigned_text, "nan")) {
        written = ".nan";
    } else if (is_int(text) || is_float(text)) {
        for (const char *from = text; *from; from++)
            if (*from != '_')
                text[length++] = *from;
        text[length] = '\0';
    } else {
        is_string = true;
    }
    return lp_value_text(reader->values, written, is_string, reader->owner, 0);
}

static int take_value(const struct reader *reader, struct lp_text *text, bool plain,
                      struct lp_value **value_out)
{
    *value_out = NULL;
    if (!text->failed && text->bytes)
        *value_out = plain ? classify(reader, text->bytes)
                           : lp_value_text(reader->values, text->bytes, true, reader->owner, 0);
    else
        lp_out_of_memory();
    lp_text_clear(text);
    return *value_out ? 0 : LLMPERF_ENOMEM;
}

/* In quotes a backslash counts only before the quote: an odd number keeps the quote. */
static int read_quoted(struct reader *reader, struct lp_value **value_out)
{
    struct lp_text text = { 0 };
    char quote = *reader->at++;

    lp_text_puts(&text, "");
    for (;;) {
        size_t slashes = strspn(reader->at, "\\"), kept = slashes;

        if (reader->at[slashes] == quote)
            kept = slashes / 2;
        lp_text_add(&text, reader->at, kept);
        reader->at += slashes;
        if (*reader->at == '\0') {
            lp_text_clear(&text);
            return fail(reader, "a closing quote is missing");
        }
        if (*reader->at == quote && slashes % 2 == 0)
            break;
        lp_text_add(&text, reader->at++, 1);
    }
    reader->at++;
    return take_value(reader, &text, false, value_out);
}

/* An unresolved "${…}" up to the first brace; nested ones need quotes. */
static int read_interpolation(struct reader *reader, struct lp_text *text)
{
    size_t length = strcspn(reader->at, "}");

    if (length == 2 || !reader->at[length])
        return fail(reader, "${ needs a name and a closing }; quote nested ones");
    lp_text_add(text, reader->at, length + 1);
    reader->at += length + 1;
    return 0;
}

static int read_unquoted(struct reader *reader, const char *end, struct lp_value **value_out)
{
    struct lp_text text = { 0 };
    size_t blanks = 0;
    bool plain = true;
    int status = 0;

    lp_text_puts(&text, "");
    while (status == 0 && *reader->at && !strchr(end, *reader->at)) {
        if (strncmp(reader->at, "${", 2) == 0) {
            status = read_interpolation(reader, &text);
            plain = false;
        } else if (*reader->at == '\\' && reader->at[1] && strchr(ESCAPED, reader->at[1])) {
            lp_text_add(&text, reader->at + 1, 1);
            reader->at += 2;
            plain = false;
        } else if (strchr(UNQUOTED, *reader->at)) {
            blanks = strchr(BLANKS, *reader->at) ? blanks + 1 : 0;
            lp_text_add(&text, reader->at++, 1);
            continue;
        } else {
            status = fail(reader, "quote the value, or escape with a backslash");
        }
        blanks = 0;
    }
    if (status < 0 || text.failed) {
        lp_text_clear(&text);
        return status < 0 ? status : lp_out_of_memory();
    }
    text.length -= blanks;
    text.bytes[text.length] = '\0';
    return take_value(reader, &text, plain, value_out);
}

static int read_list(struct reader *reader, struct lp_value **value_out)
{
    struct lp_value *list = lp_value_new(reader->values, LP_VALUE_LIST, reader->owner, 0);
    struct lp_value *element = NULL;
    int status = list ? 0 : LLMPERF_ENOMEM;

    reader->at++;
    skip_blanks(reader);
    while (status == 0 && *reader->at != ']') {
        if ((status = read_element(reader, &element)) < 0 ||
            (status = lp_value_push(list, element)) < 0)
            break;
        if (*reader->at == ',')
            reader->at++;
        else if (*reader->at != ']')
            return fail(reader, "expected , or ] in a list");
        else
            break;
        skip_blanks(reader);
        if (*reader->at == ']')
            return fail(reader, "an element is missing");
    }
    reader->at += status == 0;
    *value_out = list;
    return status;
}

static int read_key(struct reader *reader, struct lp_value **key_out)
{
    const char *start = reader->at;
    int status = read_unquoted(reader, ":,}", key_out);

    if (status == 0 && (*reader->at != ':' || start == reader->at || memchr(start, '$', 1)))
        return fail(reader, "expected KEY:VALUE in a map");
    reader->at += status == 0;
    return status;
}

static int read_map(struct reader *reader, struct lp_value **value_out)
{
    struct lp_value *map = lp_value_new(reader->values, LP_VALUE_MAP, reader->owner, 0);
    struct lp_value *key = NULL, *element = NULL;
    int status = map ? 0 : LLMPERF_ENOMEM;

    reader->at++;
    skip_blanks(reader);
    while (status == 0 && *reader->at != '}') {
        if ((status = read_key(reader, &key)) < 0 ||
            (status = read_element(reader, &element)) < 0 ||
            (status = lp_value_put(reader->values, map, key->text, element)) < 0)
            break;
        if (*reader->at == ',')
            reader->at++;
        else if (*reader->at != '}')
            return fail(reader, "expected , or } in a map");
        else
            break;
        skip_blanks(reader);
        if (*reader->at == '}')
            return fail(reader, "a key is missing");
    }
    reader->at += status == 0;
    *value_out = map;
    return status;
}

/* A function, "choice(a,b)" or "int(x)": a name followed by a parenthesis. */
static bool is_function(const char *text)
{
    size_t name = strspn(text, LETTERS "_");

    name += name ? strspn(text + name, LETTERS DIGITS "_-") : 0;
    return name && text[name + strspn(text + name, BLANKS)] == '(';
}

static int read_element(struct reader *reader, struct lp_value **value_out)
{
    int status;

    skip_blanks(reader);
    if (is_function(reader->at))
        return fail(reader, "functions and sweeps are not supported; quote the string");
    if (++reader->depth > DEPTH_MOST)
        return fail(reader, "nested too deeply");
    if (*reader->at == '[')
        status = read_list(reader, value_out);
    else if (*reader->at == '{')
        status = read_map(reader, value_out);
    else if (*reader->at == '"' || *reader->at == '\'')
        status = read_quoted(reader, value_out);
    else if (*reader->at == '\0' || strchr(",]})", *reader->at))
        status = fail(reader, "a value is missing");
    else
        status = read_unquoted(reader, ",]})", value_out);
    reader->depth--;
    if (status == 0)
        skip_blanks(reader);
    return status;
}

static int read_all(struct reader *reader, struct lp_value **value_out)
{
    int status;

    if (*reader->at == '\0') {
        *value_out = lp_value_text(reader->values, "", true, reader->owner, 0);
        return *value_out ? 0 : LLMPERF_ENOMEM;
    }
    if ((status = read_element(reader, value_out)) < 0)
        return status;
    if (*reader->at == ',')
        return fail(reader, "several values; write [a,b] for a list, or quote them");
    return *reader->at ? fail(reader, "unexpected characters after the value") : 0;
}

int lp_override_value(struct lp_values *values, const char *owner, const char *text,
                      struct lp_value **value_out)
{
    struct reader reader = { values, owner, text, 0 };

    *value_out = NULL;
    return read_all(&reader, value_out);
}

/* Parts of a key: names and numbers separated by dots, or names separated by slashes. */
static bool is_key(const char *key)
{
    for (const char *at = key;; at++) {
        size_t length = strcspn(at, "./");
        bool number = strspn(at, DIGITS) == length;

        if (length == 0 || strspn(at, LETTERS DIGITS "_$-") < length ||
            (!number && strchr(DIGITS "-", *at)))
            return false;
        at += length;
        if (!*at)
            return true;
        if (strchr(key, '/') && *at == '.')
            return false;
    }
}

static int split_key(struct lp_values *values, const char *key, size_t length,
                     struct lp_override *out)
{
    const char *package = memchr(key, '@', length);

    out->key =
        lp_values_printf(values, "%.*s", (int)(package ? package - key : (ptrdiff_t)length), key);
    if (package)
        out->package =
            lp_values_printf(values, "%.*s", (int)(key + length - package - 1), package + 1);
    if (!out->key || (package && !out->package))
        return LLMPERF_ENOMEM;
    if (!is_key(out->key) || (out->package && *out->package && !is_key(out->package)))
        return lp_error(LLMPERF_EINVAL,
                        "%s: \"%.*s\" is not a key; write a.b=VALUE or group=CHOICE", out->text,
                        (int)length, key);
    return 0;
}

int lp_override_parse(struct lp_values *values, const char *text, struct lp_override *out)
{
    const char *key = text, *equals;
    int status;

    *out = (struct lp_override){ .kind = LP_OVERRIDE_CHANGE };
    if (!lp_text_is_utf8(text))
        return lp_error(LLMPERF_EINVAL, "an override is not valid UTF-8");
    if (!(out->text = lp_values_printf(values, "%s", text)))
        return LLMPERF_ENOMEM;
    if (*key == '~')
        out->kind = LP_OVERRIDE_REMOVE;
    else if (*key == '+')
        out->kind = key[1] == '+' ? LP_OVERRIDE_FORCE : LP_OVERRIDE_ADD;
    key += out->kind == LP_OVERRIDE_FORCE ? 2 : out->kind != LP_OVERRIDE_CHANGE;
    equals = strchr(key, '=');
    if (!equals && out->kind != LP_OVERRIDE_REMOVE)
        return lp_error(LLMPERF_EINVAL, "%s: expected KEY=VALUE, +KEY=VALUE or ~KEY", text);
    if ((status = split_key(values, key, equals ? (size_t)(equals - key) : strlen(key), out)) < 0)
        return status;
    return equals ? lp_override_value(values, out->text, equals + 1 + strspn(equals + 1, BLANKS),
                                      &out->value)
                  : 0;
}
