/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/config/scalar.h"

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool is_null(const char *text)
{
    static const char *const words[] = { "", "~", "null", "Null", "NULL" };

    return is_one_of(text, words, sizeof(words) / sizeof(words[0]));
}

static bool is_true(const char *text)
{
    static const char *const words[] = { "true", "True", "TRUE", "yes", "Yes",
                                         "YES",  "on",   "On",   "ON" };

    return is_one_of(text, words, sizeof(words) / sizeof(words[0]));
}

static bool is_false(const char *text)
{
    static const char *const words[] = { "false", "False", "FALSE", "no", "No",
                                         "NO",    "off",   "Off",   "OFF" };

    return is_one_of(text, words, sizeof(words) / sizeof(words[0]));
}

static bool is_all(const char *text, const char *set)
{
    return *text && strspn(text, set) == strlen(text);
}

static const char *skip_sign(const char *text)
{
    return text + (*text == '+' || *text == '-');
}

static bool is_int(const char *text)
{
    text = skip_sign(text);
    if (strncmp(text, "0x", 2) == 0)
        return is_all(text + 2, "0123456789abcdefABCDEF_");
    if (strncmp(text, "0b", 2) == 0)
        return is_all(text + 2, "01_");
    if (text[0] == '0')
        return text[1] == '\0' || is_all(text + 1, "01234567_");
    return *text >= '1' && *text <= '9' && is_all(text, "0123456789_");
}

static bool is_special_float(const char *text)
{
    static const char *const infinite[] = { ".inf", ".Inf", ".INF" };
    static const char *const nan[] = { ".nan", ".NaN", ".NAN" };

    return is_one_of(skip_sign(text), infinite, 3) || is_one_of(text, nan, 3);
}

/* A number with a point or exponent, and a digit before or after the point. */
static bool is_float(const char *text)
{
    size_t whole, fraction = 0;
    bool point, exponent;

    if (is_special_float(text))
        return true;
    text = skip_sign(text);
    whole = strspn(text, "0123456789_");
    if (whole && *text == '_')
        return false;
    text += whole;
    if ((point = *text == '.')) {
        fraction = strspn(text + 1, "0123456789_");
        text += 1 + fraction;
    }
    if ((exponent = *text == 'e' || *text == 'E')) {
        text = skip_sign(text + 1);
        if (!is_all(text, "0123456789"))
            return false;
        text += strlen(text);
    }
    return *text == '\0' && (point || exponent) && (whole || fraction);
}

enum lp_scalar lp_scalar_of(const char *text)
{
    if (is_null(text))
        return LP_SCALAR_NULL;
    if (is_true(text) || is_false(text))
        return LP_SCALAR_BOOL;
    if (is_int(text))
        return LP_SCALAR_INT;
    return is_float(text) ? LP_SCALAR_FLOAT : LP_SCALAR_STRING;
}

enum lp_scalar lp_scalar_type(const struct lp_value *value)
{
    return value->is_string ? LP_SCALAR_STRING : lp_scalar_of(value->text);
}

bool lp_scalar_true(const char *text)
{
    return is_true(text);
}

/* Copy without underscores. Numbers of more than 99 characters are cut; no valid value is as
 * long. */
static void plain_digits(char digits[100], const char *text)
{
    size_t length = 0;

    for (; *text && length < 99; text++)
        if (*text != '_')
            digits[length++] = *text;
    digits[length] = '\0';
}

static void add_int(struct lp_text *out, const char *text)
{
    bool negative = *text == '-';
    char digits[100];
    int base;

    plain_digits(digits, skip_sign(text));
    if (digits[0] != '0' || !digits[1]) {
        lp_text_printf(out, "%s%s", negative && strcmp(digits, "0") != 0 ? "-" : "", digits);
        return;
    }
    base = digits[1] == 'x' ? 16 : digits[1] == 'b' ? 2 : 8;
    lp_text_printf(out, "%s%llu", negative ? "-" : "",
                   strtoull(base == 8 ? digits : digits + 2, NULL, base));
}

static double to_double(const char *text)
{
    char digits[100], *end;

    plain_digits(digits, text);
    return lp_number_read(digits, &end);
}

/* Fewest digits that read back as the same double, from "d.ddde±xx". */
static void shortest(double value, char digits[32], int *exponent)
{
    char text[40];
    int length = 0;

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (const char *at = text; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[length++] = *at;
    digits[length] = '\0';
    *exponent = atoi(strchr(text, 'e') + 1);
}

/* As Python's repr(): exponents below -4 or from 16 on are written. */
static void add_double(struct lp_text *out, double value)
{
    char digits[32];
    int exponent, count;

    shortest(fabs(value), digits, &exponent);
    count = (int)strlen(digits);
    lp_text_puts(out, signbit(value) ? "-" : "");
    if (exponent < -4 || exponent >= 16)
        lp_text_printf(out, "%c%s%se%c%02d", digits[0], count > 1 ? "." : "", digits + 1,
                       exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        lp_text_printf(out, "0.%.*s%s", -exponent - 1, "0000", digits);
    else if (count <= exponent + 1)
        lp_text_printf(out, "%s%.*s.0", digits, exponent + 1 - count, "0000000000000000");
    else
        lp_text_printf(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

static void add_float(struct lp_text *out, const char *text, bool json)
{
    bool special = is_special_float(text);
    double value = special ? NAN : to_double(text);

    if (isfinite(value))
        add_double(out, value);
    else if (json)
        lp_text_puts(out, "null");
    else if (special && strchr("iI", skip_sign(text)[1]))
        lp_text_puts(out, *text == '-' ? "-inf" : "inf");
    else
        lp_text_puts(out, special ? "nan" : *text == '-' ? "-inf" : "inf");
}

static void add_scalar(struct lp_text *out, const struct lp_value *value, bool json)
{
    switch (lp_scalar_type(value)) {
    case LP_SCALAR_NULL:
        lp_text_puts(out, json ? "null" : "None");
        break;
    case LP_SCALAR_BOOL:
        lp_text_puts(out, is_true(value->text) ? json ? "true" : "True" : json ? "false" : "False");
        break;
    case LP_SCALAR_INT:
        add_int(out, value->text);
        break;
    case LP_SCALAR_FLOAT:
        add_float(out, value->text, json);
        break;
    case LP_SCALAR_STRING:
        (json ? lp_text_json : lp_text_puts)(out, value->text);
    }
}

void lp_scalar_add_str(struct lp_text *out, const struct lp_value *value)
{
    add_scalar(out, value, false);
}

void lp_scalar_add_json(struct lp_text *out, const struct lp_value *value)
{
    add_scalar(out, value, true);
}
