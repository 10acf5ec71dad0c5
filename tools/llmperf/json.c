/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define MOST_EXACT 9007199254740992.0 /* 2^53 */

void json_members(json_t *object, const struct json_member *members, const void *row)
{
    for (; members->key; members++) {
        const char *at = (const char *)row + members->offset;
        uint64_t count;
        double value;

        memcpy(&count, at, sizeof(count));
        memcpy(&value, at, sizeof(value));
        json_object_set_new(object, members->key,
                            members->kind == JSON_COUNT ? json_count(count) : json_double(value));
    }
}

json_t *json_double(double value)
{
    bool whole = fabs(value) < MOST_EXACT && trunc(value) == value;

    return whole             ? json_integer((json_int_t)value)
           : isfinite(value) ? json_real(value)
                             : json_null();
}

json_t *json_count(uint64_t value)
{
    return value == LLMPERF_UNKNOWN ? json_null()
           : value > INT64_MAX      ? json_real((double)value)
                                    : json_integer((json_int_t)value);
}

json_t *json_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char *copy = value ? NULL : strdup(text);

    for (char *at = copy; at && *at; at++)
        *at = (unsigned char)*at >= 0x80 ? '?' : *at;
    value = copy ? json_string(copy) : value;
    free(copy);
    return value;
}

json_t *json_capability(int32_t capability)
{
    return capability > 0 ? json_sprintf("%d.%d", capability / 10, capability % 10) : json_null();
}

void json_add_text(json_t *array, const char *text)
{
    json_array_append_new(array, json_text(text));
}

int json_output(json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    int code = text ? EXIT_FINE : fail_with(LLMPERF_ENOMEM, "out of memory for the JSON output");

    if (text)
        print("%s\n", text);
    free(text);
    json_decref(root);
    return code;
}
