/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema check: each keyword on values that fit and values that do not, and what a message
 * says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/output/schema/json_schema.h"
#include "llmperf/api.h"

static int check(const char *schema, const char *text)
{
    return lp_json_check("doc", text, strlen(text), "schema", schema, strlen(schema));
}

struct example {
    const char *schema, *good, *bad; /* values divided by blanks; "" is none */
};

static void check_all(const char *schema, const char *values, int expected)
{
    char *copy = strdup(values), *rest = NULL;

    assert_non_null(copy);
    for (char *value = strtok_r(copy, " ", &rest); value; value = strtok_r(NULL, " ", &rest)) {
        int status = check(schema, value);

        if (status != expected)
            fail_msg("%s with %s: %d (%s)", schema, value, status, llmperf_last_error());
    }
    free(copy);
}

static void keywords_mean_what_json_schema_says(void **state)
{
    static const struct example examples[] = {
        { "{}", "1 null [] {} \"a\" true 1.5", "" },
        { "true", "1 null", "" },
        { "false", "", "1 null" },
        { "{\"type\":\"integer\"}", "0 -3 9007199254740993 1.0 1e3", "1.5 \"1\" null true [] {}" },
        { "{\"type\":\"number\"}", "0 1.5 -1e-9", "\"1\" null true" },
        { "{\"type\":\"string\"}", "\"\" \"a\"", "0 null" },
        { "{\"type\":\"boolean\"}", "true false", "0 1 null \"true\"" },
        { "{\"type\":\"null\"}", "null", "0 false \"\" [] {}" },
        { "{\"type\":\"object\"}", "{}", "[] null" },
        { "{\"type\":\"array\"}", "[] [1]", "{} null" },
        { "{\"type\":[\"number\",\"null\"]}", "1 1.5 null", "\"a\" true [] {}" },
        { "{\"enum\":[\"a\",1,null,false]}", "\"a\" 1 1.0 null false",
          "\"b\" 2 0 true [] {} \"1\"" },
        { "{\"const\":1}", "1 1.0", "2 true \"1\" null" },
        { "{\"const\":\"x\"}", "\"x\"", "\"y\" 1" },
        { "{\"minimum\":0}", "0 0.0 5 \"a\" null", "-1 -0.001" },
        { "{\"maximum\":1}", "1 1.0 0 -5 \"long\"", "1.0001 2" },
        { "{\"exclusiveMinimum\":0}", "0.001 1", "0 -1" },
        { "{\"minLength\":2}", "\"ab\" \"\\u00e9\\u00e9\" 1 []", "\"\" \"a\" \"\\u00e9\"" },
        { "{\"minItems\":1}", "[0] {} 1", "[]" },
        { "{\"maxItems\":1}", "[] [0]", "[0,1]" },
        { "{\"required\":[\"a\",\"b\"]}", "{\"a\":1,\"b\":null} [] 1", "{} {\"a\":1} {\"b\":1}" },
        { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{} {\"a\":\"x\"} {\"b\":1} []",
          "{\"a\":1}" },
        { "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{} {\"a\":1} 1",
          "{\"b\":1}" },
        { "{\"additionalProperties\":{\"type\":\"number\"}}", "{} {\"x\":1}", "{\"x\":\"1\"}" },
        { "{\"items\":{\"type\":\"number\"}}", "[] [1,2] {} 1", "[\"a\"] [1,null]" },
        { "{\"$defs\":{\"n\":{\"type\":\"number\"}},\"$ref\":\"#/$defs/n\"}", "1", "\"a\"" },
        /* 2020-12: what stands beside $ref counts too. */
        { "{\"$defs\":{\"n\":{\"type\":\"number\"}},\"$ref\":\"#/$defs/n\",\"minimum\":2}", "2",
          "1" },
        /* A list of lists of …: the schema leads back to itself. */
        { "{\"$defs\":{\"l\":{\"items\":{\"$ref\":\"#/$defs/l\"},\"type\":\"array\"}},"
          "\"$ref\":\"#/$defs/l\"}",
          "[] [[],[[]]]", "1 [[1]]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        check_all(examples[i].schema, examples[i].good, LLMPERF_OK);
        check_all(examples[i].schema, examples[i].bad, LLMPERF_EFORMAT);
    }
}

static void schemas_that_we_cannot_honour_are_refused(void **state)
{
    static const char *const schemas[] = {
        "{\"pattern\":\"^a\"}",
        "{\"typ\":\"string\"}",
        "{\"anyOf\":[true]}",
        "{\"$ref\":\"other.json\"}",
        "{\"$ref\":\"#/$defs/missing\"}",
        "{\"$ref\":1}",
        "{\"type\":1}",
        "{\"const\":[1]}",
        "{\"minimum\":\"0\"}",
        "{\"minItems\":1.5}",
        "{\"required\":\"a\"}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":1}}",
        "{\"items\":[]}",
        "{\"additionalProperties\":0}",
        "[]",
        "1",
        "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"format\":\"x\"}}}}}",
        "{\"type\":",
        "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
        if (check(schemas[i], "{\"a\":{\"b\":1}}") != LLMPERF_EFORMAT ||
            !strstr(llmperf_last_error(), "schema"))
            fail_msg("%s was taken (%s)", schemas[i], llmperf_last_error());
}

static void message_names_place_and_reason(void **state)
{
    static const struct {
        const char *schema, *text, *message;
    } examples[] = {
        { "{\"type\":\"object\"}", "1",
          "doc does not match schema: $: is integer, must be object" },
        { "{\"properties\":{\"a\":{\"items\":{\"properties\":{\"b\":{\"type\":[\"number\",\"null\"]"
          "}}}}}}",
          "{\"a\":[{},{\"b\":\"x\"}]}", "$.a[1].b: is string, must be number or null" },
        { "{\"required\":[\"run_id\"]}", "{}", "$: key \"run_id\" is missing" },
        { "{\"additionalProperties\":false}", "{\"extra\":1}",
          "$.extra: is not allowed by the schema" },
        { "{\"enum\":[\"a\",null]}", "\"b\"", "must be a or null" },
        { "{\"maximum\":1}", "1.56", "is 1.56, must be at most 1" },
        { "{\"minLength\":2}", "\"a\"", "has 1 characters, must have at least 2" },
        { "{\"maxItems\":0}", "[1]", "has 1 elements, must have at most 0" },
        { "{\"typo\":1}", "1",
          "schema schema cannot be used at $: \"typo\": this keyword is not supported" },
        { "{}", "{\"a\":\n nul}", "doc is not valid JSON: line 2" },
        { "{}", "{\"a\":1,\"a\":2}", "doc is not valid JSON" },
        { "{}", "", "doc is not valid JSON" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        assert_int_equal(check(examples[i].schema, examples[i].text), LLMPERF_EFORMAT);
        if (!strstr(llmperf_last_error(), examples[i].message))
            fail_msg("\"%s\" does not hold \"%s\"", llmperf_last_error(), examples[i].message);
    }
}

static void reference_in_a_circle_ends(void **state)
{
    (void)state;
    assert_int_equal(
        check("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$ref\":\"#/$defs/a\"}", "1"),
        LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), "nested more than"));
}

static void deep_document_is_no_crash(void **state)
{
    char text[2001];

    (void)state;
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = '\0';
    assert_int_equal(
        check("{\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}},\"$ref\":\"#/$defs/a\"}",
              text),
        LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), "nested more than"));
}

static void long_place_leaves_room_for_the_reason(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'k', sizeof(text));
    memcpy(text, "{\"", 2);
    memcpy(text + sizeof(text) - 6, "\": 1}", 6);
    assert_int_equal(check("{\"additionalProperties\":false}", text), LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), "is not allowed by the schema"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keywords_mean_what_json_schema_says),
        cmocka_unit_test(schemas_that_we_cannot_honour_are_refused),
        cmocka_unit_test(message_names_place_and_reason),
        cmocka_unit_test(reference_in_a_circle_ends),
        cmocka_unit_test(deep_document_is_no_crash),
        cmocka_unit_test(long_place_leaves_room_for_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
