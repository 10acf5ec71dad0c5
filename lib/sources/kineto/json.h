/* SPDX-License-Identifier: Apache-2.0 */
/** JSON without a tree: the end of a value, and the members of an object in memory. Values are
 * neither copied nor checked any further, so a damaged one costs itself only.
 * @threads one at a time per object */
#ifndef LP_SOURCES_KINETO_JSON_H
#define LP_SOURCES_KINETO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Search for the end of a value that arrives in pieces. Zero-initialised: at its first byte. */
struct lp_json_scan {
    uint64_t depth;
    bool in_string, escaped; /* inside a string; its next byte is escaped */
    bool done;               /* the end was found */
    bool broken;             /* a line ends inside a string: a quote was not escaped */
};

/** Go on with these bytes.
 * @return bytes that belong to the value; all, unless it is done or broken. */
size_t lp_json_scan(struct lp_json_scan *scan, const char *bytes, size_t length);

/** Part of a document. */
struct lp_json_text {
    const char *at;
    size_t length;
};

struct lp_json_member {
    struct lp_json_text key, value; /* strings without their quotes, with their escapes */
};

/** What is inside the brackets of an object; nothing of anything else. */
struct lp_json_text lp_json_inside(struct lp_json_text object);

/** Read the next member of an object; `rest` begins after '{' and shrinks.
 * @return false: no more, or not readable from here on; then `rest` is not empty. */
bool lp_json_next(struct lp_json_text *rest, struct lp_json_member *member);

/** Inline, so that the length of a literal is known when it is compiled. */
static inline bool lp_json_is(struct lp_json_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/** A whole number, also in quotes; `otherwise` if it is none from 0 to UINT64_MAX. */
uint64_t lp_json_whole(struct lp_json_text text, uint64_t otherwise);

/** Microseconds with any fraction as nanoseconds, exact to the last digit.
 * @return false: not a number, or above 146 years. */
bool lp_json_time(struct lp_json_text text, int64_t *ns_out);

/** Copy of a string that has its quotes around it, without escapes: lp_text_sanitise(). */
void lp_json_unescape(struct lp_json_text text, char *out, size_t size);

#endif
