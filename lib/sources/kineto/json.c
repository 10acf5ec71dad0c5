/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sources/kineto/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/utf8.h"

#define LATEST_NS (INT64_C(1) << 62)

/* Bytes at which scanning stops: in a string, between values, and only outside of all brackets. */
enum { IN_STRING = 1, BETWEEN = 2, OUTSIDE = 4 };

static const uint8_t stops[256] = {
    ['"'] = IN_STRING | BETWEEN,
    ['\\'] = IN_STRING,
    ['\n'] = IN_STRING | OUTSIDE,
    ['{'] = BETWEEN,
    ['['] = BETWEEN,
    ['}'] = BETWEEN,
    [']'] = BETWEEN,
    [','] = OUTSIDE,
    [' '] = OUTSIDE,
    ['\t'] = OUTSIDE,
    ['\r'] = OUTSIDE,
    [':'] = OUTSIDE,
};

static size_t pass(const char *bytes, size_t at, size_t length, uint8_t stop)
{
    while (at < length && !(stops[(unsigned char)bytes[at]] & stop))
        at++;
    return at;
}

static size_t scan_string(struct lp_json_scan *scan, const char *bytes, size_t at, size_t length)
{
    if (scan->escaped) {
        scan->escaped = false;
        return at + 1;
    }
    at = pass(bytes, at, length, IN_STRING);
    if (at == length)
        return at;
    scan->escaped = bytes[at] == '\\';
    scan->broken = bytes[at] == '\n';
    scan->in_string = bytes[at] != '"';
    scan->done = !scan->in_string && scan->depth == 0;
    return at + 1;
}

/* A number or word outside of all brackets ends before the byte that stops it. */
static size_t scan_between(struct lp_json_scan *scan, const char *bytes, size_t at, size_t length)
{
    at = pass(bytes, at, length, scan->depth > 0 ? BETWEEN : BETWEEN | OUTSIDE);
    if (at == length)
        return at;
    switch (bytes[at]) {
    case '"':
        scan->in_string = true;
        return at + 1;
    case '{':
    case '[':
        scan->depth++;
        return at + 1;
    case '}':
    case ']':
        scan->done = scan->depth <= 1;
        return scan->depth == 0 ? at : (scan->depth--, at + 1);
    default:
        scan->done = true;
        return at;
    }
}

size_t lp_json_scan(struct lp_json_scan *scan, const char *bytes, size_t length)
{
    size_t at = 0;

    while (at < length && !scan->done && !scan->broken)
        at = scan->in_string ? scan_string(scan, bytes, at, length)
                             : scan_between(scan, bytes, at, length);
    return at;
}

static void skip(struct lp_json_text *rest, size_t count)
{
    rest->at += count;
    rest->length -= count;
}

/* Without the locale, which isspace() asks. */
static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static void skip_blanks(struct lp_json_text *rest, char also)
{
    size_t at = 0;

    while (at < rest->length && (is_blank(rest->at[at]) || rest->at[at] == also))
        at++;
    skip(rest, at);
}

/* The value at the begin of `rest`, which may end with it. */
static bool cut_value(struct lp_json_text *rest, struct lp_json_text *value)
{
    struct lp_json_scan scan = { .depth = 0 };
    size_t length = lp_json_scan(&scan, rest->at, rest->length);
    bool quoted = rest->length > 0 && *rest->at == '"';

    if (length == 0 || scan.broken || scan.in_string || scan.depth > 0)
        return false;
    *value = (struct lp_json_text){ rest->at + quoted, length - (quoted ? 2 : 0) };
    skip(rest, length);
    return true;
}

struct lp_json_text lp_json_inside(struct lp_json_text object)
{
    if (object.length == 0 || *object.at != '{')
        return (struct lp_json_text){ "", 0 };
    skip(&object, 1);
    return object;
}

bool lp_json_next(struct lp_json_text *rest, struct lp_json_member *member)
{
    skip_blanks(rest, ',');
    if (rest->length > 0 && *rest->at == '}')
        rest->length = 0;
    if (rest->length == 0 || *rest->at != '"' || !cut_value(rest, &member->key))
        return false;
    skip_blanks(rest, ' ');
    if (rest->length == 0 || *rest->at != ':')
        return false;
    skip_blanks(rest, ':');
    return cut_value(rest, &member->value);
}

uint64_t lp_json_whole(struct lp_json_text text, uint64_t otherwise)
{
    uint64_t value = 0;

    if (text.length == 0)
        return otherwise;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.at[i] - '0';

        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return otherwise;
        value = value * 10 + digit;
    }
    return value;
}

/* Numbers with exponents, which are rare. */
static bool read_rounded(struct lp_json_text text, int64_t *ns_out)
{
    char copy[64], *end;
    double value;

    if (text.length == 0 || text.length >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    value = lp_number_read(copy, &end) * 1000;
    if (end == copy || *end || !(fabs(value) < (double)LATEST_NS))
        return false;
    *ns_out = llround(value);
    return true;
}

static bool is_digit(struct lp_json_text text, size_t at)
{
    return at < text.length && text.at[at] >= '0' && text.at[at] <= '9';
}

bool lp_json_time(struct lp_json_text text, int64_t *ns_out)
{
    bool negative = text.length > 0 && *text.at == '-';
    size_t first = negative, i = first, decimals = 0;
    uint64_t value = 0;

    for (; is_digit(text, i) && value < LATEST_NS / 1000; i++)
        value = value * 10 + (uint64_t)(text.at[i] - '0');
    if (i > first && i < text.length && text.at[i] == '.')
        i++;
    else
        decimals = 3;
    value *= decimals ? 1000 : 1;
    for (; is_digit(text, i) && decimals < 3; i++, decimals++)
        value = value * 10 + (uint64_t)(text.at[i] - '0');
    for (; decimals < 3; decimals++)
        value *= 10;
    value += is_digit(text, i) && text.at[i] >= '5';
    while (is_digit(text, i))
        i++;
    if (i == first || i < text.length)
        return read_rounded(text, ns_out);
    *ns_out = negative ? -(int64_t)value : (int64_t)value;
    return value < (uint64_t)LATEST_NS;
}

void lp_json_unescape(struct lp_json_text text, char *out, size_t size)
{
    json_t *string = text.length > 0 && memchr(text.at, '\\', text.length)
                         ? json_loadb(text.at - 1, text.length + 2, JSON_DECODE_ANY, NULL)
                         : NULL;
    char *copy = string || text.length == 0 ? NULL : strndup(text.at, text.length);

    lp_text_sanitise(out, size, string ? json_string_value(string) : copy ? copy : "");
    free(copy);
    json_decref(string);
}
