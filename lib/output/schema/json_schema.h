/* SPDX-License-Identifier: Apache-2.0 */
/** JSON Schema 2020-12, the part that our schemas use: type, enum and const (of single values),
 * minimum, maximum, exclusiveMinimum, minLength, properties, required, additionalProperties, items,
 * minItems, maxItems, $ref to one of $defs; true and false as schemas. Any other keyword that
 * applies to a value of the document is an error, not ignored.
 * @threads any thread */
#ifndef LP_OUTPUT_SCHEMA_JSON_SCHEMA_H
#define LP_OUTPUT_SCHEMA_JSON_SCHEMA_H

#include <stddef.h>

/** Check a document against a schema; both are JSON text, the names are for messages.
 *
 * @return 0; LLMPERF_EFORMAT: the error text names the document, the place in it
 * ("$.regions[0].path") and what is wrong, or that the schema itself cannot be used. */
int lp_json_check(const char *name, const char *text, size_t size, const char *schema_name,
                  const char *schema_text, size_t schema_size);

#endif
