/* SPDX-License-Identifier: Apache-2.0 */
/** Text of other people: is it UTF-8, and what of it can be shown. @threads any thread */
#ifndef LP_BASE_UTF8_H
#define LP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether all of it is valid UTF-8 (RFC 3629). */
bool lp_text_is_utf8(const char *text);

/** Length in bytes of the control character at `at`, 0 if there is none: C0, DEL, C1 (terminals
 * obey them), line and paragraph separators, and characters that turn the direction of text.
 * @param code_out  Its code point; NULL is fine. */
size_t lp_text_control(const char *at, unsigned *code_out);

/** UTF-8 of one character; 0 bytes for a number that is none. */
size_t lp_utf8_put(char out[4], uint32_t code);

/** Copy `raw` to `clean` of `size` bytes: cut at a character boundary, invalid UTF-8 becomes
 * U+FFFD, control characters and those that turn the direction of text a blank.
 * @return length of the clean text. */
size_t lp_text_sanitise(char *clean, size_t size, const char *raw);

#endif
