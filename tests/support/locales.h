/* SPDX-License-Identifier: Apache-2.0 */
/** A locale with a decimal comma, made for the test: machines need not have one installed. */
#ifndef TESTS_SUPPORT_LOCALES_H
#define TESTS_SUPPORT_LOCALES_H

/** Numbers of the C library have a comma from now on. Where localedef or its character maps
 * (Debian: package locales) are missing the running test is skipped. */
void use_decimal_comma(void);

/** As at the start of a program. */
void use_decimal_point(void);

#endif
