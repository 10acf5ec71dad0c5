/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/output/format/json_writer.h"
#include "llmperf/profile.h"

/* Most texts need no escapes. */
static bool is_plain(const char *raw)
{
    for (; *raw; raw++)
        if (*raw < 0x20 || *raw > 0x7e || *raw == '"' || *raw == '\\')
            return false;
    return true;
}

static void quote(struct lp_text *out, const char *raw)
{
    struct lp_text clean = { NULL, 0, 0, false };

    if (is_plain(raw)) {
        lp_text_add(out, "\"", 1);
        lp_text_puts(out, raw);
        lp_text_add(out, "\"", 1);
        return;
    }
    lp_text_clean(&clean, raw);
    if (!clean.failed)
        lp_text_json(out, clean.bytes);
    out->failed |= clean.failed;
    lp_text_clear(&clean);
}

static void new_line(struct lp_json *json)
{
    lp_text_add(&json->text, "\n", 1);
    for (unsigned i = 0; i < json->depth; i++)
        lp_text_add(&json->text, "  ", 2);
}

static void start_value(struct lp_json *json, const char *key)
{
    if (json->comma)
        lp_text_add(&json->text, ",", 1);
    if (json->depth > 0)
        new_line(json);
    if (key) {
        quote(&json->text, key);
        lp_text_add(&json->text, ": ", 2);
    }
    json->comma = true;
}

void lp_json_raw(struct lp_json *json, const char *key, const char *value)
{
    start_value(json, key);
    lp_text_puts(&json->text, value);
}

void lp_json_open(struct lp_json *json, const char *key, char bracket)
{
    start_value(json, key);
    lp_text_add(&json->text, &bracket, 1);
    json->depth++;
    json->comma = false;
}

void lp_json_close(struct lp_json *json, char bracket)
{
    bool empty = !json->comma;

    json->depth--;
    if (!empty)
        new_line(json);
    lp_text_add(&json->text, &bracket, 1);
    json->comma = true;
    if (json->depth == 0)
        lp_text_add(&json->text, "\n", 1);
}

void lp_json_null(struct lp_json *json, const char *key)
{
    start_value(json, key);
    lp_text_puts(&json->text, "null");
}

void lp_json_string(struct lp_json *json, const char *key, const char *value)
{
    if (!value) {
        lp_json_null(json, key);
        return;
    }
    start_value(json, key);
    quote(&json->text, value);
}

static void add_whole(struct lp_text *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    lp_text_add(out, digits + at, sizeof(digits) - at);
}

void lp_json_count(struct lp_json *json, const char *key, uint64_t value)
{
    if (value == LLMPERF_UNKNOWN) {
        lp_json_null(json, key);
        return;
    }
    start_value(json, key);
    add_whole(&json->text, value);
}

void lp_json_integer(struct lp_json *json, const char *key, int64_t value)
{
    start_value(json, key);
    if (value < 0)
        lp_text_add(&json->text, "-", 1);
    add_whole(&json->text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void lp_json_bool(struct lp_json *json, const char *key, bool value)
{
    start_value(json, key);
    lp_text_puts(&json->text, value ? "true" : "false");
}

/* A program's locale may have another decimal point, even of several bytes. */
static void mend_decimal_point(char *digits)
{
    char *out = digits;

    for (const char *in = digits; *in;) {
        size_t plain = strspn(in, "0123456789eE+-");

        memmove(out, in, plain);
        out += plain;
        in += plain;
        if (*in) {
            *out++ = '.';
            in += strcspn(in, "0123456789eE+-");
        }
    }
    *out = '\0';
}

void lp_json_number(struct lp_json *json, const char *key, double value)
{
    char digits[64];

    if (!isfinite(value)) {
        lp_json_null(json, key);
        return;
    }
    /* 15 digits: milliseconds keep their nanoseconds for 11 days, and 0.1 is written as 0.1 */
    snprintf(digits, sizeof(digits), "%.15g", value);
    if (digits[strspn(digits, "0123456789eE+-.")])
        mend_decimal_point(digits);
    start_value(json, key);
    lp_text_puts(&json->text, digits);
}
