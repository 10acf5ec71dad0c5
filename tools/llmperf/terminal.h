/* SPDX-License-Identifier: Apache-2.0 */
/** What a terminal can do that a file cannot: colours, a screen, keys. */
#ifndef LLMPERF_TOOL_TERMINAL_H
#define LLMPERF_TOOL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum terminal_style { STYLE_NONE, STYLE_HEADING, STYLE_GOOD, STYLE_WARNING, STYLE_BAD };

/** Is this file descriptor a terminal that can move its cursor? */
bool terminal_takes_codes(int fd);

/** Does its locale have UTF-8? */
bool terminal_has_unicode(void);

/** Change the style of what is printed from here on; without effect if standard output is not a
 * terminal, or with NO_COLOR. */
void terminal_style(enum terminal_style style);

/** Print a text whose words "ok", "slower", "dead" … are coloured. */
void terminal_print_words(const char *text);

/** Print a word in its colour. */
void terminal_print_word(const char *word);

/** Take the whole screen, without its scrollback, until terminal_close_screen(). */
void terminal_open_screen(void);
void terminal_close_screen(void);

/** Begin a frame: clear the screen. */
void terminal_begin_frame(size_t *rows, size_t *columns);

enum terminal_event { EVENT_TIMEOUT, EVENT_RESIZE, EVENT_QUIT };

/** Wait for a key or a signal, at most so long. EVENT_QUIT: q, or a signal that ends programs. */
enum terminal_event terminal_wait(int milliseconds);

#endif
