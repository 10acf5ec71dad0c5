/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/schema/json_schema.h"

/* Our schemas need about ten levels. The limit ends a $ref that refers to itself. */
#define DEPTH_MAX 256

/* Position of a value: a linked list on the stack, printed only in errors. */
struct place {
    const struct place *parent; /* NULL: top level */
    const char *key;            /* NULL: array index, or top level */
    size_t index;
};

struct check {
    const json_t *root; /* schema document, for $ref */
    unsigned depth;
    bool unusable;   /* the fault is in the schema */
    char fault[512]; /* "$.regions[0].path: is null, must be string" */
};

/* A keyword of a schema and the value to check. */
struct rule {
    const char *name;
    const json_t *schema; /* the schema with the keyword */
    json_t *word;         /* value of the keyword in it */
    const json_t *value;
    const struct place *place;
};

static bool check_value(struct check *check, const json_t *schema, const json_t *value,
                        const struct place *place);

static size_t print_place(char *text, size_t size, const struct place *place)
{
    size_t length;
    int more;

    if (!place->parent)
        return (size_t)snprintf(text, size, "$");
    length = print_place(text, size, place->parent);
    if (length >= size)
        return length;
    if (!place->key)
        more = snprintf(text + length, size - length, "[%zu]", place->index);
    else
        more = snprintf(text + length, size - length, ".%s", place->key);
    return length + (size_t)more;
}

/* Returns false, so that a failing check can `return fail(…)`. */
__attribute__((format(printf, 3, 4))) static bool fail(struct check *check,
                                                       const struct place *place,
                                                       const char *format, ...)
{
    /* A position that is too long is cut; the reason is printed in full. */
    char where[256];
    size_t length;
    va_list args;

    print_place(where, sizeof(where), place);
    length = (size_t)snprintf(check->fault, sizeof(check->fault), "%s: ", where);
    va_start(args, format);
    vsnprintf(check->fault + length, sizeof(check->fault) - length, format, args);
    va_end(args);
    return false;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
        [JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
        [JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
    };

    return names[json_typeof(value)];
}

/* In JSON Schema 1.0 is an integer. */
static bool is_type(const json_t *type, const json_t *value)
{
    const char *name = json_is_string(type) ? json_string_value(type) : "";

    if (json_is_real(value) && strcmp(name, "integer") == 0)
        return json_real_value(value) == floor(json_real_value(value));
    return strcmp(name, type_name(value)) == 0 ||
           (json_is_integer(value) && strcmp(name, "number") == 0);
}

/* In JSON Schema 1 equals 1.0; in jansson it does not. */
static bool is_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_typeof(a) == json_typeof(b) ? json_equal(a, b)
                                                : json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

/* The value is one choice or a list of choices. */
static const json_t *choice_at(const json_t *word, size_t index)
{
    return json_is_array(word) ? json_array_get(word, index) : index == 0 ? word : NULL;
}

/* "number or null" of ["number", "null"]. */
static void print_choices(char *text, size_t size, const json_t *word)
{
    struct lp_text out = { 0 };
    const json_t *choice;

    for (size_t i = 0; (choice = choice_at(word, i)); i++) {
        char *value = json_dumps(choice, JSON_ENCODE_ANY | JSON_COMPACT);

        lp_text_printf(&out, "%s%s", i ? " or " : "",
                       json_is_string(choice) ? json_string_value(choice)
                       : value                ? value
                                              : "?");
        free(value);
    }
    snprintf(text, size, "%s", out.failed || !out.bytes ? "another value" : out.bytes);
    lp_text_clear(&out);
}

static bool check_type(struct check *check, const struct rule *rule)
{
    const json_t *type;
    char wanted[128];

    for (size_t i = 0; (type = choice_at(rule->word, i)); i++)
        if (is_type(type, rule->value))
            return true;
    print_choices(wanted, sizeof(wanted), rule->word);
    return fail(check, rule->place, "is %s, must be %s", type_name(rule->value), wanted);
}

/* enum and const. */
static bool check_choice(struct check *check, const struct rule *rule)
{
    const json_t *choice;
    char wanted[256];

    for (size_t i = 0; (choice = choice_at(rule->word, i)); i++)
        if (is_equal(choice, rule->value))
            return true;
    print_choices(wanted, sizeof(wanted), rule->word);
    return fail(check, rule->place, "must be %s", wanted);
}

static double count_characters(const char *string)
{
    size_t count = 0;

    for (; *string; string++)
        count += ((unsigned char)*string & 0xc0) != 0x80;
    return (double)count;
}

/* Bounds of a number, of the characters of a string, or of the elements of an array. */
static bool check_bound(struct check *check, const struct rule *rule)
{
    double limit = json_number_value(rule->word);
    double size = json_is_string(rule->value)  ? count_characters(json_string_value(rule->value))
                  : json_is_array(rule->value) ? (double)json_array_size(rule->value)
                                               : json_number_value(rule->value);
    bool is_most = strncmp(rule->name, "max", 3) == 0, is_number = json_is_number(rule->value);
    bool is_more = strncmp(rule->name, "exclusive", 9) == 0;

    if (is_most ? size <= limit : is_more ? size > limit : size >= limit)
        return true;
    return fail(check, rule->place, "%s %g%s, must %s %s %g", is_number ? "is" : "has", size,
                json_is_string(rule->value)  ? " characters"
                : json_is_array(rule->value) ? " elements"
                                             : "",
                is_number ? "be" : "have",
                is_most   ? "at most"
                : is_more ? "more than"
                          : "at least",
                limit);
}

static bool check_required(struct check *check, const struct rule *rule)
{
    json_t *key;
    size_t i;

    json_array_foreach(rule->word, i, key)
    {
        if (json_is_string(key) && !json_object_get(rule->value, json_string_value(key)))
            return fail(check, rule->place, "key \"%s\" is missing", json_string_value(key));
    }
    return true;
}

static bool check_properties(struct check *check, const struct rule *rule)
{
    const char *key;
    json_t *child_schema;

    json_object_foreach((json_t *)rule->word, key, child_schema)
    {
        const json_t *child = json_object_get(rule->value, key);
        struct place below = { rule->place, key, 0 };

        if (child && !check_value(check, child_schema, child, &below))
            return false;
    }
    return true;
}

static bool check_additional(struct check *check, const struct rule *rule)
{
    const json_t *named = json_object_get(rule->schema, "properties");
    const char *key;
    json_t *child;

    json_object_foreach((json_t *)rule->value, key, child)
    {
        struct place below = { rule->place, key, 0 };

        if (!json_object_get(named, key) && !check_value(check, rule->word, child, &below))
            return false;
    }
    return true;
}

static bool check_items(struct check *check, const struct rule *rule)
{
    json_t *child;
    size_t i;

    json_array_foreach(rule->value, i, child)
    {
        struct place below = { rule->place, NULL, i };

        if (!check_value(check, rule->word, child, &below))
            return false;
    }
    return true;
}

static bool check_ref(struct check *check, const struct rule *rule)
{
    const char *name = json_string_value(rule->word);
    const size_t prefix = strlen("#/$defs/");
    const json_t *target =
        strncmp(name, "#/$defs/", prefix) == 0
            ? json_object_get(json_object_get(check->root, "$defs"), name + prefix)
            : NULL;

    if (target)
        return check_value(check, target, rule->value, rule->place);
    check->unusable = true;
    return fail(check, rule->place, "%s is not one of its $defs", name);
}

#define IS(type)   (1u << JSON_##type)
#define IS_NUMBER  (IS(INTEGER) | IS(REAL))
#define IS_BOOLEAN (IS(TRUE) | IS(FALSE))
#define IS_SINGLE  (IS(STRING) | IS_NUMBER | IS_BOOLEAN | IS(NULL))
#define IS_ANY     (IS_SINGLE | IS(OBJECT) | IS(ARRAY))
#define IS_SCHEMA  (IS(OBJECT) | IS_BOOLEAN)

static const struct keyword {
    const char *name;
    bool (*check)(struct check *check, const struct rule *rule); /* NULL: does not check values */
    unsigned words;  /* types that the keyword may have, a set of IS() */
    unsigned values; /* types of values that it checks, a set of IS() */
} keywords[] = {
    { "$schema", NULL, IS_ANY, 0 },
    { "$id", NULL, IS_ANY, 0 },
    { "$comment", NULL, IS_ANY, 0 },
    { "$defs", NULL, IS_ANY, 0 },
    { "title", NULL, IS_ANY, 0 },
    { "description", NULL, IS_ANY, 0 },
    { "default", NULL, IS_ANY, 0 },
    { "examples", NULL, IS_ANY, 0 },
    { "$ref", check_ref, IS(STRING), IS_ANY },
    { "type", check_type, IS(STRING) | IS(ARRAY), IS_ANY },
    { "enum", check_choice, IS(ARRAY), IS_ANY },
    { "const", check_choice, IS_SINGLE, IS_ANY },
    { "minimum", check_bound, IS_NUMBER, IS_NUMBER },
    { "maximum", check_bound, IS_NUMBER, IS_NUMBER },
    { "exclusiveMinimum", check_bound, IS_NUMBER, IS_NUMBER },
    { "minLength", check_bound, IS(INTEGER), IS(STRING) },
    { "minItems", check_bound, IS(INTEGER), IS(ARRAY) },
    { "maxItems", check_bound, IS(INTEGER), IS(ARRAY) },
    { "required", check_required, IS(ARRAY), IS(OBJECT) },
    { "properties", check_properties, IS(OBJECT), IS(OBJECT) },
    { "additionalProperties", check_additional, IS_SCHEMA, IS(OBJECT) },
    { "items", check_items, IS_SCHEMA, IS(ARRAY) },
};

static const struct keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i].name, name) == 0)
            return &keywords[i];
    return NULL;
}

static bool check_keyword(struct check *check, const struct rule *rule)
{
    const struct keyword *keyword = find_keyword(rule->name);

    check->unusable = !keyword || !(keyword->words & 1u << json_typeof(rule->word));
    if (check->unusable)
        return fail(check, rule->place, "\"%s\": this %s is not supported", rule->name,
                    keyword ? "keyword's value" : "keyword");
    return !(keyword->values & 1u << json_typeof(rule->value)) || keyword->check(check, rule);
}

static bool check_value(struct check *check, const json_t *schema, const json_t *value,
                        const struct place *place)
{
    struct rule rule = { .schema = schema, .value = value, .place = place };
    bool good = true;

    if (json_is_boolean(schema))
        return json_is_true(schema) || fail(check, place, "is not allowed by the schema");
    check->unusable = !json_is_object(schema);
    if (check->unusable)
        return fail(check, place, "a schema must be an object or a boolean");
    if (check->depth == DEPTH_MAX)
        return fail(check, place, "document or schema is nested more than %d levels deep",
                    DEPTH_MAX);
    check->depth++;
    json_object_foreach((json_t *)schema, rule.name, rule.word)
    {
        if (!(good = check_keyword(check, &rule)))
            break;
    }
    check->depth--;
    return good;
}

static int parse(const char *name, const char *text, size_t size, json_t **value_out)
{
    json_error_t error;

    /* jansson rejects the zero byte \u0000 by default; we read strings as C strings. */
    *value_out = json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (*value_out)
        return 0;
    return lp_error(LLMPERF_EFORMAT, "%s is not valid JSON: line %d, column %d: %s", name,
                    error.line, error.column, error.text);
}

int lp_json_check(const char *name, const char *text, size_t size, const char *schema_name,
                  const char *schema_text, size_t schema_size)
{
    const struct place top = { NULL, NULL, 0 };
    struct check check = { .root = NULL };
    json_t *schema = NULL, *value = NULL;
    int status;

    if ((status = parse(schema_name, schema_text, schema_size, &schema)) == 0 &&
        (status = parse(name, text, size, &value)) == 0) {
        check.root = schema;
        if (!check_value(&check, schema, value, &top))
            status = check.unusable ? lp_error(LLMPERF_EFORMAT, "schema %s cannot be used at %s",
                                               schema_name, check.fault)
                                    : lp_error(LLMPERF_EFORMAT, "%s does not match %s: %s", name,
                                               schema_name, check.fault);
    }
    json_decref(schema);
    json_decref(value);
    return status;
}
