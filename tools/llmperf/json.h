/* SPDX-License-Identifier: Apache-2.0 */
/** JSON documents of the commands, built with jansson. */
#ifndef LLMPERF_TOOL_JSON_H
#define LLMPERF_TOOL_JSON_H

#include <stddef.h>
#include <stdint.h>

struct json_t; /* of jansson */

/** A number of a struct: its key and its place. */
struct json_member {
    const char *key;
    size_t offset;
    enum { JSON_COUNT, JSON_DOUBLE } kind;
};

#define JSON_U64(type, key, name)                                                                  \
    {                                                                                              \
        key, offsetof(type, name), JSON_COUNT                                                      \
    }
#define JSON_F64(type, key, name)                                                                  \
    {                                                                                              \
        key, offsetof(type, name), JSON_DOUBLE                                                     \
    }

/** Add the numbers of a struct to an object. @param members  the last one has key NULL */
void json_members(struct json_t *object, const struct json_member *members, const void *row);

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
