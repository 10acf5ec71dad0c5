/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/vendor/numbers.h"

#define NUMBER_BYTES 64

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
    char plain[NUMBER_BYTES], *end;
    size_t used = 0;

    if (length == 0 || length >= sizeof(plain) || !is_numeric(text, length))
        return LP_NUMBER_NONE;
    if (memchr(text, ',', length) && !has_groups(text, length))
        return LP_NUMBER_COMMA;
    for (size_t i = 0; i < length; i++)
        if (text[i] != ',')
            plain[used++] = text[i];
    plain[used] = '\0';
    *value_out = lp_number_read(plain, &end);
    return *end || !isfinite(*value_out) ? LP_NUMBER_NONE : LP_NUMBER_FINE;
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
