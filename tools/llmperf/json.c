/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define MOST_EXACT 9007199254740992.0 /* 2^53 */

static json_t *value_of(char type, va_list *args)
{
    switch (type) {
    case 'd':
        return json_double(va_arg(*args, double));
    case 'u':
        return json_count(va_arg(*args, uint64_t));
    case 'i':
        return json_integer(va_arg(*args, int));
    case 'b':
        return json_boolean(va_arg(*args, int));
    case 't':
        return json_text(va_arg(*args, const char *));
    default:
        return va_arg(*args, json_t *);
    }
}

static void add(json_t *object, const char *members, va_list *args)
{
    char key[64];

    for (members += strspn(members, " "); *members; members += strspn(members, " ")) {
        size_t length = strcspn(members, ":");

        snprintf(key, sizeof(key), "%.*s", (int)length, members);
        json_object_set_new(object, key, value_of(members[length + 1], args));
        members += length + 2;
    }
}

json_t *json_object_of(const char *members, ...)
{
    json_t *object = json_object();
    va_list args;

    va_start(args, members);
    add(object, members, &args);
    va_end(args);
    return object;
}

void json_add(json_t *object, const char *members, ...)
{
    va_list args;

    va_start(args, members);
    add(object, members, &args);
    va_end(args);
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
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    int code = text ? EXIT_FINE : fail_with(LLMPERF_ENOMEM, "out of memory for the JSON output");

    if (text)
        print("%s\n", text);
    free(text);
    json_decref(root);
    return code;
}
