/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <string.h>

#include "lib/output/schema/json_schema_inspect.h"

/* The schema itself, before it is used: a keyword that we do not know would otherwise pass
 * everything. */

/* What the value of a keyword must be for the keyword to mean anything. */
enum shape {
    SHAPE_ANY,
    SHAPE_STRING,
    SHAPE_NUMBER,
    SHAPE_COUNT,
    SHAPE_SINGLE,
    SHAPE_SINGLES,
    SHAPE_STRINGS,
    SHAPE_TYPES,
    SHAPE_REF,
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,
    SHAPE_SCHEMA_MAP
};

static const struct keyword {
    const char *name;
    enum shape shape;
} keywords[] = {
    { "$schema", SHAPE_STRING },
    { "$id", SHAPE_STRING },
    { "$comment", SHAPE_STRING },
    { "$defs", SHAPE_SCHEMA_MAP },
    { "title", SHAPE_STRING },
    { "description", SHAPE_STRING },
    { "default", SHAPE_ANY },
    { "examples", SHAPE_ANY },
    { "$ref", SHAPE_REF },
    { "type", SHAPE_TYPES },
    { "enum", SHAPE_SINGLES },
    { "const", SHAPE_SINGLE },
    { "minimum", SHAPE_NUMBER },
    { "maximum", SHAPE_NUMBER },
    { "exclusiveMinimum", SHAPE_NUMBER },
    { "exclusiveMaximum", SHAPE_NUMBER },
    { "minLength", SHAPE_COUNT },
    { "minItems", SHAPE_COUNT },
    { "maxItems", SHAPE_COUNT },
    { "required", SHAPE_STRINGS },
    { "properties", SHAPE_SCHEMA_MAP },
    { "additionalProperties", SHAPE_SCHEMA },
    { "prefixItems", SHAPE_SCHEMAS },
    { "items", SHAPE_SCHEMA },
    { "allOf", SHAPE_SCHEMAS },
    { "anyOf", SHAPE_SCHEMAS },
    { "oneOf", SHAPE_SCHEMAS },
};

static const struct keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i].name, name) == 0)
            return &keywords[i];
    return NULL;
}

struct inspection {
    const json_t *root;
    struct lp_json_fault *fault;
};

/* The schema itself, before it is used: a keyword that we do not know would otherwise pass
 * everything. */

static bool inspect_schema(struct inspection *inspection, const json_t *schema,
                           const struct lp_json_place *place);

static bool is_single(const json_t *value)
{
    return value && !json_is_object(value) && !json_is_array(value);
}

static bool is_type_word(const json_t *value)
{
    static const char *const names[] = { "object", "array",   "string", "integer",
                                         "number", "boolean", "null" };

    for (size_t i = 0; json_is_string(value) && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(json_string_value(value), names[i]) == 0)
            return true;
    return false;
}

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

/* A list, not empty unless `may_be_empty`, of elements that pass. */
static bool is_list(const json_t *list, bool (*is_good)(const json_t *element), bool may_be_empty)
{
    json_t *element;
    size_t i;

    if (!json_is_array(list) || (!may_be_empty && json_array_size(list) == 0))
        return false;
    json_array_foreach(list, i, element) if (!is_good(element)) return false;
    return true;
}

static bool inspect_list(struct inspection *inspection, const json_t *list,
                         const struct lp_json_place *place)
{
    json_t *schema;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) == 0)
        return lp_json_fail(inspection->fault, place, "must be a list of schemas");
    json_array_foreach(list, i, schema)
    {
        struct lp_json_place below = { place, NULL, i };

        if (!inspect_schema(inspection, schema, &below))
            return false;
    }
    return true;
}

static bool inspect_map(struct inspection *inspection, const json_t *map,
                        const struct lp_json_place *place)
{
    const char *key;
    json_t *schema;

    if (!json_is_object(map))
        return lp_json_fail(inspection->fault, place, "must be an object of schemas");
    json_object_foreach((json_t *)map, key, schema)
    {
        struct lp_json_place below = { place, key, 0 };

        if (!inspect_schema(inspection, schema, &below))
            return false;
    }
    return true;
}

static bool inspect_ref(struct inspection *inspection, const json_t *word,
                        const struct lp_json_place *place)
{
    const json_t *target =
        json_is_string(word) ? lp_schema_resolve(inspection->root, json_string_value(word)) : NULL;

    if (json_is_object(target) || json_is_boolean(target))
        return true;
    return lp_json_fail(inspection->fault, place, "refers to a schema that is not in this file");
}

static bool inspect_word(struct inspection *inspection, enum shape shape, const json_t *word,
                         const struct lp_json_place *place)
{
    switch (shape) {
    case SHAPE_ANY:
        return true;
    case SHAPE_STRING:
        return json_is_string(word) || lp_json_fail(inspection->fault, place, "must be a string");
    case SHAPE_NUMBER:
        return json_is_number(word) || lp_json_fail(inspection->fault, place, "must be a number");
    case SHAPE_COUNT:
        return (json_is_integer(word) && json_integer_value(word) >= 0) ||
               lp_json_fail(inspection->fault, place, "must be a non-negative integer");
    case SHAPE_SINGLE:
        return is_single(word) ||
               lp_json_fail(inspection->fault, place, "objects and arrays are not supported here");
    case SHAPE_SINGLES:
        return is_list(word, is_single, false) ||
               lp_json_fail(inspection->fault, place, "must be a list of single values");
    case SHAPE_STRINGS:
        return is_list(word, is_string, true) ||
               lp_json_fail(inspection->fault, place, "must be a list of strings");
    case SHAPE_TYPES:
        return is_type_word(word) || is_list(word, is_type_word, false) ||
               lp_json_fail(inspection->fault, place, "must be a type or a list of types");
    case SHAPE_REF:
        return inspect_ref(inspection, word, place);
    case SHAPE_SCHEMA:
        return inspect_schema(inspection, word, place);
    case SHAPE_SCHEMAS:
        return inspect_list(inspection, word, place);
    default:
        return inspect_map(inspection, word, place);
    }
}

static bool inspect_schema(struct inspection *inspection, const json_t *schema,
                           const struct lp_json_place *place)
{
    const char *key;
    json_t *word;

    if (json_is_boolean(schema))
        return true;
    if (!json_is_object(schema))
        return lp_json_fail(inspection->fault, place, "a schema must be an object or a boolean");
    json_object_foreach((json_t *)schema, key, word)
    {
        const struct keyword *keyword = find_keyword(key);
        struct lp_json_place below = { place, key, 0 };

        if (!keyword)
            return lp_json_fail(inspection->fault, &below, "this keyword is not supported");
        if (!inspect_word(inspection, keyword->shape, word, &below))
            return false;
    }
    return true;
}

const struct json_t *lp_schema_resolve(const struct json_t *root, const char *reference)
{
    const json_t *at = root;
    char key[128];

    if (*reference++ != '#')
        return NULL;
    while (at && *reference == '/') {
        size_t length = strcspn(++reference, "/");

        /* "~" and "%" start escapes of JSON pointers; our names need none. */
        if (length >= sizeof(key) || strcspn(reference, "~%") < length)
            return NULL;
        memcpy(key, reference, length);
        key[length] = '\0';
        at = json_object_get(at, key);
        reference += length;
    }
    return *reference ? NULL : at;
}

bool lp_schema_inspect(const struct json_t *schema, struct lp_json_fault *fault)
{
    const struct lp_json_place top = { NULL, NULL, 0 };
    struct inspection inspection = { schema, fault };

    return inspect_schema(&inspection, schema, &top);
}
