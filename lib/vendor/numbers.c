/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vendor/numbers.h"

#define NUMBER_BYTES 64

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Numbers that do not fit into 2^53 or have an exponent. `text` ends with NUL. */
static bool parse_slowly(const char *text, double *value_out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *end;

    pthread_once(&once, make_locale);
    if (!c_locale)
        return false;
    *value_out = strtod_l(text, &end, c_locale);
    return end != text && !*end && isfinite(*value_out);
}

/* Digits with at most one point: mantissa and power of ten are exact, so their quotient is rounded
 * once, as strtod() does it. */
static bool parse_quickly(const char *text, size_t length, double *value_out)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    bool negative = length > 0 && text[0] == '-';
    size_t at = negative, point = SIZE_MAX, digits = 0;
    uint64_t mantissa = 0;

    for (; at < length; at++) {
        if (text[at] == '.' && point == SIZE_MAX) {
            point = digits;
            continue;
        }
        if (text[at] < '0' || text[at] > '9' || ++digits > 19)
            return false;
        mantissa = mantissa * 10 + (uint64_t)(text[at] - '0');
    }
    if (digits == 0 || mantissa > UINT64_C(1) << 53)
        return false;
    *value_out = (double)mantissa / powers[point == SIZE_MAX ? 0 : digits - point];
    if (negative)
        *value_out = -*value_out;
    return true;
}

static bool is_numeric(const char *text, size_t length)
{
    size_t digits = 0;

    for (size_t i = 0; i < length; i++) {
        if (isdigit((unsigned char)text[i]))
            digits++;
        else if (!strchr("+-.,eE", text[i]) || !text[i])
            return false;
    }
    return digits > 0 && (isdigit((unsigned char)text[0]) || strchr("+-.", text[0]));
}

/* 1 to 3 digits, then groups of exactly three, then the rest without commas. */
static bool has_groups(const char *text, size_t length)
{
    size_t at = text[0] == '-' || text[0] == '+', run = 0;

    while (at < length && isdigit((unsigned char)text[at])) {
        at++;
        run++;
    }
    if (run < 1 || run > 3)
        return false;
    while (at < length && text[at] == ',') {
        for (run = 0; ++at < length && isdigit((unsigned char)text[at]);)
            run++;
        if (run != 3)
            return false;
    }
    return !memchr(text + at, ',', length - at);
}

enum lp_number lp_number_parse(const char *text, size_t length, double *value_out)
{
    char plain[NUMBER_BYTES];
    size_t used = 0;

    if (parse_quickly(text, length, value_out))
        return LP_NUMBER_FINE;
    if (length == 0 || length >= sizeof(plain) || !is_numeric(text, length))
        return LP_NUMBER_NONE;
    if (memchr(text, ',', length) && !has_groups(text, length))
        return LP_NUMBER_COMMA;
    for (size_t i = 0; i < length; i++)
        if (text[i] != ',')
            plain[used++] = text[i];
    plain[used] = '\0';
    return parse_quickly(plain, used, value_out) || parse_slowly(plain, value_out) ? LP_NUMBER_FINE
                                                                                   : LP_NUMBER_NONE;
}

enum lp_number lp_number_parse_decimal_comma(const char *text, size_t length, double *value_out)
{
    const char *comma = length ? memchr(text, ',', length) : NULL;
    char plain[NUMBER_BYTES];

    if (!comma)
        return lp_number_parse(text, length, value_out);
    if (length >= sizeof(plain) || !is_numeric(text, length) || memchr(text, '.', length) ||
        memchr(comma + 1, ',', length - (size_t)(comma + 1 - text)))
        return LP_NUMBER_NONE;
    memcpy(plain, text, length);
    plain[length] = '\0';
    plain[comma - text] = '.';
    return lp_number_parse(plain, length, value_out);
}

/* In steps of 10^3, also bytes: ncu and nsys print no KiB. */
static const struct {
    const char *unit, *base;
    double factor;
} units[] = {
    { "ns", "ns", 1 },
    { "us", "ns", 1e3 },
    { "ms", "ns", 1e6 },
    { "s", "ns", 1e9 },
    { "sec", "ns", 1e9 },
    { "nsecond", "ns", 1 },
    { "usecond", "ns", 1e3 },
    { "msecond", "ns", 1e6 },
    { "second", "ns", 1e9 },
    { "byte", "byte", 1 },
    { "B", "byte", 1 },
    { "bytes", "byte", 1 },
    { "Kbyte", "byte", 1e3 },
    { "KB", "byte", 1e3 },
    { "Mbyte", "byte", 1e6 },
    { "MB", "byte", 1e6 },
    { "Gbyte", "byte", 1e9 },
    { "GB", "byte", 1e9 },
    { "Tbyte", "byte", 1e12 },
    { "hz", "hz", 1 },
    { "Khz", "hz", 1e3 },
    { "Mhz", "hz", 1e6 },
    { "Ghz", "hz", 1e9 },
    { "byte/s", "byte/s", 1 },
    { "Kbyte/s", "byte/s", 1e3 },
    { "Mbyte/s", "byte/s", 1e6 },
    { "Gbyte/s", "byte/s", 1e9 },
    { "Tbyte/s", "byte/s", 1e12 },
    { "byte/second", "byte/s", 1 },
    { "Kbyte/second", "byte/s", 1e3 },
    { "Mbyte/second", "byte/s", 1e6 },
    { "Gbyte/second", "byte/s", 1e9 },
    { "Tbyte/second", "byte/s", 1e12 },
    { "MB/s", "byte/s", 1e6 },
    { "MBps", "byte/s", 1e6 },
    { "byte/block", "byte/block", 1 },
    { "Kbyte/block", "byte/block", 1e3 },
    { "Mbyte/block", "byte/block", 1e6 },
    { "byte/cycle", "byte/cycle", 1 },
    { "Kbyte/cycle", "byte/cycle", 1e3 },
    { "Mbyte/cycle", "byte/cycle", 1e6 },
};

const char *lp_unit_base(const char *unit, double *factor_out)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].unit, unit) == 0) {
            *factor_out = units[i].factor;
            return units[i].base;
        }
    *factor_out = 1;
    return unit;
}
