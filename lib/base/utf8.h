/* SPDX-License-Identifier: Apache-2.0 */
/** Texts of other programs: validity as UTF-8, and removal of control characters. @threads any
 * thread */
#ifndef LP_BASE_UTF8_H
#define LP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether all of it is valid UTF-8 (RFC 3629). */
bool lp_text_is_utf8(const char *text);

/** Length of the control character at `at`; 0: it is none. C0, DEL, C1 (terminals obey them), line
 * and paragraph separators, and characters that change the direction of text.
 * @param code_out  Its code point; may be NULL. */
size_t lp_text_control(const char *at, unsigned *code_out);

/** Encode a character; 0 bytes if the number is not one. */
size_t lp_utf8_put(char out[4], uint32_t code);

/** Copy `raw` to `clean` of `size` bytes, cut at a character boundary. Invalid UTF-8 becomes
 * U+FFFD; control characters and those that change the direction of text become blanks.
 * @return length of the clean text. */
size_t lp_text_sanitise(char *clean, size_t size, const char *raw);

#endif
