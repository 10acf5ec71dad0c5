/* SPDX-License-Identifier: Apache-2.0 */
/** Writer of JSON text. Its output is always valid: invalid UTF-8 is replaced, infinite numbers and
 * NaN become null, and the decimal point does not depend on the locale. text.failed keeps a failed
 * allocation.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_FORMAT_JSON_WRITER_H
#define LP_OUTPUT_FORMAT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/text.h"

/** Zero-initialised: empty document. */
struct lp_json {
    struct lp_text text;
    unsigned depth;
    bool comma; /* a value precedes the next one */
};

/** Values in an object need a key. In an array and at the top it is NULL. */
void lp_json_open(struct lp_json *json, const char *key, char bracket);
void lp_json_close(struct lp_json *json, char bracket);

/** NULL, LLMPERF_UNKNOWN and NaN are written as null. */
void lp_json_string(struct lp_json *json, const char *key, const char *value);
void lp_json_count(struct lp_json *json, const char *key, uint64_t value);
void lp_json_number(struct lp_json *json, const char *key, double value);
void lp_json_integer(struct lp_json *json, const char *key, int64_t value);
void lp_json_bool(struct lp_json *json, const char *key, bool value);
void lp_json_null(struct lp_json *json, const char *key);

/** @param value  JSON. */
void lp_json_raw(struct lp_json *json, const char *key, const char *value);

#endif
