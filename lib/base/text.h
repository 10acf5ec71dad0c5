/* SPDX-License-Identifier: Apache-2.0 */
/** Growing text. A failed allocation sets `failed`; later calls do nothing.
 * @threads one at a time per object */
#ifndef LP_BASE_TEXT_H
#define LP_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lp_text {
    char *bytes; /* NUL-terminated once it is not empty */
    size_t length, capacity;
    bool failed;
};

void lp_text_add(struct lp_text *text, const char *bytes, size_t length);
void lp_text_puts(struct lp_text *text, const char *string);
void lp_text_printf(struct lp_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void lp_text_clear(struct lp_text *text);

/** Append `from` and empty it; not copied if `text` is empty. */
void lp_text_move(struct lp_text *text, struct lp_text *from);

/** Move the bytes out: 0 and *out (free()), or LLMPERF_ENOMEM. The text is empty afterwards. */
int lp_text_take(struct lp_text *text, char **out);

/** malloc'ed copy; NULL: out of memory, or `text` is NULL. */
char *lp_text_copy(const char *string);

/** Are both equal, or both NULL? */
bool lp_text_same(const char *a, const char *b);

/** Append a foreign text on one line and without control characters: lp_text_sanitise(). */
void lp_text_clean(struct lp_text *text, const char *raw);

/** Append a string in double quotes, valid in JSON and YAML; NULL gives null. */
void lp_text_json(struct lp_text *text, const char *string);

/** Append a number of bytes: "25.0 MB", of 10^6. */
void lp_text_size(struct lp_text *text, double bytes);

#endif
