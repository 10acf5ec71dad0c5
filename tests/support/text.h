/* SPDX-License-Identifier: Apache-2.0 */
/** What a text says; the test fails with the text if it does not. NULL says nothing. */
#ifndef TESTS_SUPPORT_TEXT_H
#define TESTS_SUPPORT_TEXT_H

void assert_text_has(const char *text, const char *part);
void assert_text_lacks(const char *text, const char *part);

#endif
