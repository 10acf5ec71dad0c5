/* SPDX-License-Identifier: Apache-2.0 */
/** Human-readable numbers, with a decimal point in any locale of the host program. @threads any
 * thread */
#ifndef LP_BASE_NUMBER_H
#define LP_BASE_NUMBER_H

/** Enough for any number. */
#define LP_NUMBER_BYTES 340

/** `digits` significant digits (1 to 9), at most six decimals (1 ns in ms); "?" for NaN.
 * @param out  LP_NUMBER_BYTES.
 * @return out. */
const char *lp_number(char *out, double value, int digits);

/** The same, in a buffer that lives as long as the enclosing block. */
#define LP_NUMBER(value, digits) lp_number((char[LP_NUMBER_BYTES]){ 0 }, (value), (digits))

/** strtod() with '.' as decimal point in any locale. */
double lp_number_read(const char *text, char **end_out);

#endif
