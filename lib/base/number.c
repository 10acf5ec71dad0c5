/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/number.h"

#define DECIMALS_MOST 6

/* Digits by integer arithmetic: printf's decimal point follows the locale. */
static int put_decimal(char *out, size_t size, double value, int decimals)
{
    uint64_t scale = 1, scaled;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    scaled = (uint64_t)llround(value * (double)scale);
    if (decimals == 0)
        return snprintf(out, size, "%" PRIu64, scaled);
    return snprintf(out, size, "%" PRIu64 ".%0*" PRIu64, scaled / scale, decimals, scaled % scale);
}

const char *lp_number(char *out, double value, int digits)
{
    const char *sign = value < 0 ? "-" : "";
    double size = fabs(value), limit;
    int decimals = 0, length;

    if (isnan(value)) {
        snprintf(out, LP_NUMBER_BYTES, "?");
        return out;
    }
    length = snprintf(out, LP_NUMBER_BYTES, "%s", sign);
    if (size >= 1e15) { /* also "inf" */
        snprintf(out + length, LP_NUMBER_BYTES - (size_t)length, "%.0f", size);
        return out;
    }
    /* Rounding up would add a digit: use one decimal less. */
    limit = pow(10, digits - 1) * (1 - 0.5 * pow(10, -digits));
    while (size > 0 && decimals < DECIMALS_MOST && size < limit) {
        limit /= 10;
        decimals++;
    }
    put_decimal(out + length, LP_NUMBER_BYTES - (size_t)length, size, decimals);
    return out;
}

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double lp_number_read(const char *text, char **end_out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_locale);
    return c_locale ? strtod_l(text, end_out, c_locale) : strtod(text, end_out);
}
