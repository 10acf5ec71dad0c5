/* SPDX-License-Identifier: Apache-2.0 */
/** A place in a JSON document and what is wrong there.
 * @threads one at a time per object */
#ifndef LP_OUTPUT_SCHEMA_JSON_FAULT_H
#define LP_OUTPUT_SCHEMA_JSON_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/** A chain on the caller's stack, printed only when something is wrong. */
struct lp_json_place {
    const struct lp_json_place *parent; /* NULL: the top */
    const char *key;                    /* NULL: an array index, or the top */
    size_t index;
};

/** "$.regions[0].path: is null, must be string" */
struct lp_json_fault {
    char text[512];
};

/** Write the fault down; returns false, so that a failing check can `return lp_json_fail(…)`. */
bool lp_json_fail(struct lp_json_fault *fault, const struct lp_json_place *place,
                  const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
