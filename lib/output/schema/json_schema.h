/* SPDX-License-Identifier: Apache-2.0 */
/** The part of JSON Schema 2020-12 that our schemas use: type, enum and const (of single values),
 * minimum, maximum, exclusiveMinimum, minLength, properties, required, additionalProperties, items,
 * minItems, maxItems, $ref to one of $defs; true and false as schemas. Other keywords that apply to
 * a value are an error, not ignored.
 * @threads any thread */
#ifndef LP_OUTPUT_SCHEMA_JSON_SCHEMA_H
#define LP_OUTPUT_SCHEMA_JSON_SCHEMA_H

#include <stddef.h>

/** Check a document against a schema, both as JSON text; the names are for messages.
 * @return 0; LLMPERF_EFORMAT: the error names the document, the position ("$.regions[0].path") and
 * the fault, or says that the schema is invalid. */
int lp_json_check(const char *name, const char *text, size_t size, const char *schema_name,
                  const char *schema_text, size_t schema_size);

#endif
