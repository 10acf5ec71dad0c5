/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers and units as nsys and ncu print them. @threads any thread */
#ifndef LP_VENDOR_NUMBERS_H
#define LP_VENDOR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

enum lp_number {
    LP_NUMBER_NONE, /* no number: "n/a", "", "(148, 1, 1)", "PolicySpread", "nan", "inf" */
    LP_NUMBER_FINE,
    LP_NUMBER_COMMA /* made of digits, but with a comma that does not separate thousands */
};

/** A number with a decimal point; commas may separate groups of three digits. The locale does not
 * matter. @param value_out  set for LP_NUMBER_FINE */
enum lp_number lp_number_parse(const char *text, size_t length, double *value_out);

/** A number whose comma is a decimal comma: nsys prints no thousands. */
enum lp_number lp_number_parse_decimal_comma(const char *text, size_t length, double *value_out);

/** The base unit of `unit`, and what a value must be multiplied with; unknown units are kept with
 * factor 1: the tools scale the wrong part of composite ones. */
const char *lp_unit_base(const char *unit, double *factor_out);

#endif
