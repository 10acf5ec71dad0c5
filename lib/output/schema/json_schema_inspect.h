/* SPDX-License-Identifier: Apache-2.0 */
/** A JSON schema before it is used: are all its keywords known, and do their values mean something?
 * After that a check needs to look at documents only.
 * @threads any thread */
#ifndef LP_OUTPUT_SCHEMA_JSON_SCHEMA_INSPECT_H
#define LP_OUTPUT_SCHEMA_JSON_SCHEMA_INSPECT_H

#include <stdbool.h>

#include "lib/output/schema/json_fault.h"

struct json_t;

/** Can the schema be used? If not, `fault` says where and why. */
bool lp_schema_inspect(const struct json_t *schema, struct lp_json_fault *fault);

/** Schema that a $ref names: "#", "#/$defs/region". NULL: there is none. */
const struct json_t *lp_schema_resolve(const struct json_t *root, const char *reference);

#endif
