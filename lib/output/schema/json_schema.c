/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/output/schema/json_schema.h"
#include "lib/output/schema/json_schema_inspect.h"

/* Our schemas need about ten levels. A $ref that leads back to itself without going down ends here.
 */
#define DEPTH_MAX 256

struct check {
    const json_t *root; /* schema document, for $ref */
    struct lp_json_fault fault;
    unsigned depth;
};

typedef bool (*keyword_check)(struct check *check, const json_t *schema, const json_t *word,
                              const json_t *value, const struct lp_json_place *place);

static bool check_value(struct check *check, const json_t *schema, const json_t *value,
                        const struct lp_json_place *place);

/* JSON Schema counts 1.0 as an integer. */
static bool is_integer(const json_t *value)
{
    return json_is_integer(value) ||
           (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)));
}

static bool is_type(const json_t *value, const char *type)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_STRING:
        return strcmp(type, "string") == 0;
    case JSON_INTEGER:
    case JSON_REAL:
        return strcmp(type, "number") == 0 || (strcmp(type, "integer") == 0 && is_integer(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    default:
        return strcmp(type, "null") == 0;
    }
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = { "object", "array",   "string", "integer",
                                         "number", "boolean", "null" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_type(value, names[i]))
            return names[i];
    return "unknown";
}

/* "number or null" of ["number", "null"]. */
static void print_choices(char *text, size_t size, const json_t *choices)
{
    size_t length = 0, i;
    json_t *choice;

    text[0] = '\0';
    json_array_foreach(choices, i, choice)
    {
        char *value = json_dumps(choice, JSON_ENCODE_ANY | JSON_COMPACT);
        const char *word = json_is_string(choice) ? json_string_value(choice) : value;
        int more =
            snprintf(text + length, size - length, "%s%s", i ? " or " : "", word ? word : "?");

        free(value);
        if (more < 0 || (size_t)more >= size - length)
            return;
        length += (size_t)more;
    }
}

static bool check_type(struct check *check, const json_t *schema, const json_t *word,
                       const json_t *value, const struct lp_json_place *place)
{
    char wanted[128];
    json_t *type;
    size_t i;

    (void)schema;
    if (json_is_string(word)) {
        if (is_type(value, json_string_value(word)))
            return true;
        return lp_json_fail(&check->fault, place, "is %s, must be %s", type_name(value),
                            json_string_value(word));
    }
    json_array_foreach(word, i, type) if (is_type(value, json_string_value(type))) return true;
    print_choices(wanted, sizeof(wanted), word);
    return lp_json_fail(&check->fault, place, "is %s, must be %s", type_name(value), wanted);
}

/* 1 and 1.0 are one value in JSON Schema, but not to jansson. */
static bool is_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static bool check_enum(struct check *check, const json_t *schema, const json_t *word,
                       const json_t *value, const struct lp_json_place *place)
{
    char wanted[256];
    json_t *choice;
    size_t i;

    (void)schema;
    json_array_foreach(word, i, choice) if (is_equal(choice, value)) return true;
    print_choices(wanted, sizeof(wanted), word);
    return lp_json_fail(&check->fault, place, "must be %s", wanted);
}

static bool check_const(struct check *check, const json_t *schema, const json_t *word,
                        const json_t *value, const struct lp_json_place *place)
{
    char *wanted;

    (void)schema;
    if (is_equal(word, value))
        return true;
    wanted = json_dumps(word, JSON_ENCODE_ANY);
    lp_json_fail(&check->fault, place, "must be %s", wanted ? wanted : "another value");
    free(wanted);
    return false;
}

static bool check_minimum(struct check *check, const json_t *schema, const json_t *word,
                          const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_number(value) || json_number_value(value) >= json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "is %g, must be at least %g",
                        json_number_value(value), json_number_value(word));
}

static bool check_maximum(struct check *check, const json_t *schema, const json_t *word,
                          const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_number(value) || json_number_value(value) <= json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "is %g, must be at most %g", json_number_value(value),
                        json_number_value(word));
}

static bool check_exclusive_minimum(struct check *check, const json_t *schema, const json_t *word,
                                    const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_number(value) || json_number_value(value) > json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "is %g, must be more than %g",
                        json_number_value(value), json_number_value(word));
}

static bool check_exclusive_maximum(struct check *check, const json_t *schema, const json_t *word,
                                    const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_number(value) || json_number_value(value) < json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "is %g, must be less than %g",
                        json_number_value(value), json_number_value(word));
}

static size_t count_characters(const char *string)
{
    size_t count = 0;

    for (; *string; string++)
        count += ((unsigned char)*string & 0xc0) != 0x80;
    return count;
}

static bool check_min_length(struct check *check, const json_t *schema, const json_t *word,
                             const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_string(value) ||
        (double)count_characters(json_string_value(value)) >= json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "must have at least %g characters",
                        json_number_value(word));
}

static bool check_min_items(struct check *check, const json_t *schema, const json_t *word,
                            const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_array(value) || (double)json_array_size(value) >= json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "must have at least %g elements",
                        json_number_value(word));
}

static bool check_max_items(struct check *check, const json_t *schema, const json_t *word,
                            const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    if (!json_is_array(value) || (double)json_array_size(value) <= json_number_value(word))
        return true;
    return lp_json_fail(&check->fault, place, "must have at most %g elements",
                        json_number_value(word));
}

static bool check_required(struct check *check, const json_t *schema, const json_t *word,
                           const json_t *value, const struct lp_json_place *place)
{
    json_t *key;
    size_t i;

    (void)schema;
    if (!json_is_object(value))
        return true;
    json_array_foreach(
        word, i, key) if (!json_object_get(value,
                                           json_string_value(
                                               key))) return lp_json_fail(&check->fault, place,
                                                                          "key \"%s\" is missing",
                                                                          json_string_value(key));
    return true;
}

static bool check_properties(struct check *check, const json_t *schema, const json_t *word,
                             const json_t *value, const struct lp_json_place *place)
{
    const char *key;
    json_t *child;

    (void)schema;
    if (!json_is_object(value))
        return true;
    json_object_foreach((json_t *)value, key, child)
    {
        const json_t *child_schema = json_object_get(word, key);
        struct lp_json_place below = { place, key, 0 };

        if (child_schema && !check_value(check, child_schema, child, &below))
            return false;
    }
    return true;
}

static bool check_additional(struct check *check, const json_t *schema, const json_t *word,
                             const json_t *value, const struct lp_json_place *place)
{
    const json_t *named = json_object_get(schema, "properties");
    const char *key;
    json_t *child;

    if (!json_is_object(value))
        return true;
    json_object_foreach((json_t *)value, key, child)
    {
        struct lp_json_place below = { place, key, 0 };

        if (json_object_get(named, key))
            continue;
        if (json_is_false(word))
            return lp_json_fail(&check->fault, &below, "is not allowed by the schema");
        if (!check_value(check, word, child, &below))
            return false;
    }
    return true;
}

static bool check_prefix_items(struct check *check, const json_t *schema, const json_t *word,
                               const json_t *value, const struct lp_json_place *place)
{
    json_t *child;
    size_t i;

    (void)schema;
    json_array_foreach(value, i, child)
    {
        struct lp_json_place below = { place, NULL, i };

        if (i < json_array_size(word) &&
            !check_value(check, json_array_get(word, i), child, &below))
            return false;
    }
    return true;
}

static bool check_items(struct check *check, const json_t *schema, const json_t *word,
                        const json_t *value, const struct lp_json_place *place)
{
    size_t first = json_array_size(json_object_get(schema, "prefixItems")), i;
    json_t *child;

    json_array_foreach(value, i, child)
    {
        struct lp_json_place below = { place, NULL, i };

        if (i >= first && !check_value(check, word, child, &below))
            return false;
    }
    return true;
}

static bool check_ref(struct check *check, const json_t *schema, const json_t *word,
                      const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    return check_value(check, lp_schema_resolve(check->root, json_string_value(word)), value,
                       place);
}

/* How many alternatives take the value; the fault of the first one that does not stays in
 * check->what. */
static size_t count_matches(struct check *check, const json_t *alternatives, const json_t *value,
                            const struct lp_json_place *place)
{
    struct lp_json_fault first = { "" };
    size_t matches = 0, i;
    json_t *alternative;

    json_array_foreach(alternatives, i, alternative)
    {
        if (check_value(check, alternative, value, place))
            matches++;
        else if (!first.text[0])
            first = check->fault;
    }
    check->fault = first;
    return matches;
}

static bool check_all_of(struct check *check, const json_t *schema, const json_t *word,
                         const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    return count_matches(check, word, value, place) == json_array_size(word);
}

static bool check_any_of(struct check *check, const json_t *schema, const json_t *word,
                         const json_t *value, const struct lp_json_place *place)
{
    (void)schema;
    return count_matches(check, word, value, place) > 0;
}

static bool check_one_of(struct check *check, const json_t *schema, const json_t *word,
                         const json_t *value, const struct lp_json_place *place)
{
    size_t matches = count_matches(check, word, value, place);

    (void)schema;
    if (matches > 1)
        return lp_json_fail(&check->fault, place,
                            "matches %zu alternatives, must match exactly one", matches);
    return matches == 1;
}

/* Keywords that say nothing about a value stand in json_schema_inspect.c only. */
static const struct keyword {
    const char *name;
    keyword_check check;
} keywords[] = {
    { "$ref", check_ref },
    { "type", check_type },
    { "enum", check_enum },
    { "const", check_const },
    { "minimum", check_minimum },
    { "maximum", check_maximum },
    { "exclusiveMinimum", check_exclusive_minimum },
    { "exclusiveMaximum", check_exclusive_maximum },
    { "minLength", check_min_length },
    { "minItems", check_min_items },
    { "maxItems", check_max_items },
    { "required", check_required },
    { "properties", check_properties },
    { "additionalProperties", check_additional },
    { "prefixItems", check_prefix_items },
    { "items", check_items },
    { "allOf", check_all_of },
    { "anyOf", check_any_of },
    { "oneOf", check_one_of },
};

static bool check_keywords(struct check *check, const json_t *schema, const json_t *value,
                           const struct lp_json_place *place)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        const json_t *word = json_object_get(schema, keywords[i].name);

        if (word && !keywords[i].check(check, schema, word, value, place))
            return false;
    }
    return true;
}

static bool check_value(struct check *check, const json_t *schema, const json_t *value,
                        const struct lp_json_place *place)
{
    bool good;

    if (json_is_boolean(schema))
        return json_is_true(schema) ||
               lp_json_fail(&check->fault, place, "no value is allowed here");
    if (check->depth == DEPTH_MAX)
        return lp_json_fail(&check->fault, place,
                            "document or schema is nested more than %d levels deep", DEPTH_MAX);
    check->depth++;
    good = check_keywords(check, schema, value, place);
    check->depth--;
    return good;
}

static int parse(const char *name, const char *text, size_t size, json_t **value_out)
{
    json_error_t error;

    /* Zero bytes are legal as \u0000 but we read strings as C strings; jansson refuses them by
     * default. */
    *value_out = json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (*value_out)
        return 0;
    return lp_error(LLMPERF_EFORMAT, "%s is not valid JSON: line %d, column %d: %s", name,
                    error.line, error.column, error.text);
}

int lp_json_check(const char *name, const char *text, size_t size, const char *schema_name,
                  const char *schema_text, size_t schema_size)
{
    const struct lp_json_place top = { NULL, NULL, 0 };
    struct check check = { .root = NULL };
    json_t *schema = NULL, *value = NULL;
    int status;

    if ((status = parse(schema_name, schema_text, schema_size, &schema)) < 0 ||
        (status = parse(name, text, size, &value)) < 0)
        goto out;
    check.root = schema;
    if (!lp_schema_inspect(schema, &check.fault))
        status = lp_error(LLMPERF_EFORMAT, "schema %s cannot be used: %s", schema_name,
                          check.fault.text);
    else if (!check_value(&check, schema, value, &top))
        status = lp_error(LLMPERF_EFORMAT, "%s does not match %s: %s", name, schema_name,
                          check.fault.text);
out:
    json_decref(schema);
    json_decref(value);
    return status;
}
