/* SPDX-License-Identifier: Apache-2.0 */
/** JSON documents of the commands, built with jansson. */
#ifndef LLMPERF_TOOL_JSON_H
#define LLMPERF_TOOL_JSON_H

#include <stddef.h>
#include <stdint.h>

struct json_t; /* of jansson */

/** An object: keys and types of its members, and their values. Types: d double, u uint64_t, i int,
 * b bool, t text, o json_t *, which is taken; "name:t calls:u share:d". */
struct json_t *json_object_of(const char *members, ...);

/** Add members to an object. */
void json_add(struct json_t *object, const char *members, ...);

/** null for NaN and infinity; 61, not 61.0. */
struct json_t *json_double(double value);

/** null for LLMPERF_UNKNOWN. */
struct json_t *json_count(uint64_t value);

/** null for NULL. Bytes that are not UTF-8, as in names of files, become "?". */
struct json_t *json_text(const char *text);

/** "9.0" of 90; null for 0. */
struct json_t *json_capability(int32_t capability);

/** Add a text to an array. */
void json_add_text(struct json_t *array, const char *text);

/** Print a document and free it. @return exit code */
int json_output(struct json_t *root);

#endif
