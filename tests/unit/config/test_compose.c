/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations out of several files: what the differential test against Hydra
 * (tests/cli/test_config.sh) does not see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/sha256.h"
#include "lib/config/nearest.h"
#include "llmperf/sys/config.h"

static char folder[] = "/tmp/llmperf-compose-XXXXXX";
static char path_buffer[256];

static const char *path_of(const char *name)
{
    snprintf(path_buffer, sizeof(path_buffer), "%s/%s", folder, name);
    return path_buffer;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int try_compose(const char *text, const char *const *overrides, llmperf_config **config_out)
{
    size_t count = 0;

    while (overrides && overrides[count])
        count++;
    write_file("first.yaml", text);
    return llmperf_config_compose(path_of("first.yaml"), overrides, count, NULL, config_out);
}

static llmperf_config *compose(const char *text, const char *const *overrides)
{
    llmperf_config *config = NULL;

    if (try_compose(text, overrides, &config) < 0)
        fail_msg("%s", llmperf_last_error());
    return config;
}

/* Composition fails with this status, and the message holds both parts. */
static void refused(const char *text, const char *override, int status, const char *part,
                    const char *other)
{
    const char *overrides[] = { override, NULL };
    llmperf_config *config = NULL;

    assert_int_equal(try_compose(text, overrides, &config), status);
    assert_null(config);
    if (!strstr(llmperf_last_error(), part) || !strstr(llmperf_last_error(), other))
        fail_msg("\"%s\" and \"%s\" are not in \"%s\"", part, other, llmperf_last_error());
}

static void check_yaml(const llmperf_config *config, const char *key, const char *expected)
{
    char *text = NULL;

    assert_int_equal(llmperf_config_document(config, key, LLMPERF_CONFIG_YAML, &text), LLMPERF_OK);
    assert_string_equal(text, expected);
    llmperf_text_free(text);
}

static void unknown_keys_name_the_nearest_one(void **state)
{
    const char *text = "run: {mode: deep, top_n_kernels: 8}\nartifacts: {dir: runs}\n";

    (void)state;
    refused(text, "run.mod=light", LLMPERF_EINVAL,
            "run.mod=light: key run.mod does not exist; nearest: run.mode",
            "+run.mod=light adds it");
    refused(text, "artefacts.dir=x", LLMPERF_EINVAL, "nearest: artifacts.dir", "");
    refused(text, "top_n_kernels=x", LLMPERF_EINVAL, "nearest: run.top_n_kernels", "");
    refused(text, "run={mdoe: x}", LLMPERF_EINVAL, "key run.mdoe does not exist; nearest: run.mode",
            "");
    refused(text, "~runs", LLMPERF_EINVAL, "nearest: run", "");
    refused(text, "wholly_different=1", LLMPERF_EINVAL, "key wholly_different does not exist; +",
            "");
}

static void values_that_a_key_does_not_take_are_refused(void **state)
{
    const char *text = "session: {tier: light, overhead_budget_permille: 10}\n"
                       "run: {mode: \"${session.tier}\"}\n"
                       "artifacts: {keep_trace: false}\n";
    const char *tiers = "is not one of regions, light, deep, counters";
    llmperf_config *config = NULL;

    (void)state;
    refused(text, "run.mode=bogus", LLMPERF_EFORMAT, "run.mode=bogus: run.mode: bogus", tiers);
    refused(text, "session.tier=Deep", LLMPERF_EFORMAT, "session.tier=Deep: session.tier: Deep",
            tiers);
    refused("a: 1\nrun: {mode: of}\n", NULL, LLMPERF_EFORMAT, ".yaml:2: run.mode: of", tiers);
    refused(text, "run.mode={a: 1}", LLMPERF_EFORMAT, "run.mode is a map", "");
    refused(text, "session.overhead_budget_permille=1001", LLMPERF_EFORMAT, "between 1 and 1000",
            "");
    refused(text, "session.overhead_budget_permille=1.5", LLMPERF_EFORMAT, "integer", "");
    refused(text, "artifacts.keep_trace=maybe", LLMPERF_EFORMAT, "artifacts.keep_trace is", "true");
    refused(text, "+pipeline.ncu.ncu_cli.replay_mode=all", LLMPERF_EFORMAT,
            "all is not one of kernel", "");
    /* Nothing, what is still to be given, and keys of the same name elsewhere are fine. */
    config = compose(text, (const char *[]){ "run.mode=null", "session.tier=???",
                                             "+other.run.mode=bogus", NULL });
    llmperf_config_free(config);
}

static void interpolation_errors_name_file_line_and_nearest_key(void **state)
{
    (void)state;
    refused("a: 1\nmodel:\n  name: x\nb: ${model.nmae}\n", NULL, LLMPERF_EFORMAT,
            "first.yaml:4: b refers to a key that does not exist: model.nmae",
            "nearest: model.name");
    refused("a: ${b}\nb: [1, '${a}']\n", NULL, LLMPERF_EFORMAT, "first.yaml:", "refers to itself");
    refused("a: {b: '${a}'}\n", NULL, LLMPERF_EFORMAT, "a refers to itself", "");
    refused("a: ${nonsense:1}\n", NULL, LLMPERF_EFORMAT, "first.yaml:1", "known resolvers: oc.env");
    refused("a: 'x${b}'\nb: {c: 1}\n", NULL, LLMPERF_EFORMAT, "inserts a list or map into a string",
            "first.yaml:1");
    refused("a: ${b\n", NULL, LLMPERF_EFORMAT, "is missing a closing }", "first.yaml:1");
    refused("a: ${oc.env:LP_ABSENT_VARIABLE}\n", NULL, LLMPERF_EFORMAT,
            "first.yaml:1: a needs an environment variable that is not set: LP_ABSENT_VARIABLE",
            "");
    refused("a: 1\n", "a=${b.c}", LLMPERF_EFORMAT,
            "a=${b.c}: a refers to a key that does not exist: b.c", "");
}

static void the_distance_of_keys_is_in_letters(void **state)
{
    (void)state;
    assert_int_equal(lp_distance("model", "model"), 0);
    assert_int_equal(lp_distance("modl", "model"), 1);
    assert_int_equal(lp_distance("model", "modl"), 1);
    assert_int_equal(lp_distance("kitten", "sitting"), 3);
    assert_int_equal(lp_distance("", "abc"), 3);
    assert_int_equal(lp_distance("mdoel", "model"), 1);
    assert_int_equal(lp_distance("ca", "abc"), 3);
}

static void a_missing_value_is_not_selected(void **state)
{
    llmperf_config *config =
        compose("asked: ???\nplain: ${oc.select:asked}\nother: ${oc.select:asked,7}\n", NULL);

    (void)state;
    check_yaml(config, "plain", "null\n");
    check_yaml(config, "other", "7\n");
    llmperf_config_free(config);
}

static void an_argument_with_an_interpolation_may_stand_in_quotes(void **state)
{
    llmperf_config *config = compose("name: b, c}\n"
                                     "text: ${oc.select:absent,\"a ${name}\"}\n"
                                     "other: ${oc.select:absent,'a ${name}'}\n",
                                     NULL);

    (void)state;
    check_yaml(config, "text", "'a b, c}'\n");
    check_yaml(config, "other", "'a b, c}'\n");
    llmperf_config_free(config);
}

static void underscores_stand_alone_between_the_digits_of_a_number(void **state)
{
    llmperf_config *config = compose(
        "a: 1\n", (const char *[]){ "+one=1_0", "+two=1__0", "+last=10_", "+first=_10", NULL });

    (void)state;
    check_yaml(config, "one", "10\n");
    check_yaml(config, "two", "'1__0'\n");
    check_yaml(config, "last", "'10_'\n");
    check_yaml(config, "first", "_10\n");
    llmperf_config_free(config);
}

static void numbers_are_written_as_python_writes_them(void **state)
{
    llmperf_config *config = compose("a: 1.0e15\nb: 1.0e16\nc: 0.0001\nd: 0.00001\ne: 1e\n"
                                     "text: ${a} ${b} ${c} ${d}\nno_number: [1e, 1e+, .e1, 1e1]\n",
                                     NULL);
    char *text = NULL;

    (void)state;
    check_yaml(config, "text", "'1000000000000000.0 1e+16 0.0001 1e-05'\n");
    assert_int_equal(llmperf_config_document(config, "no_number", LLMPERF_CONFIG_JSON, &text),
                     LLMPERF_OK);
    assert_non_null(strstr(text, "\"1e\""));
    assert_non_null(strstr(text, "\"1e+\""));
    assert_non_null(strstr(text, "\".e1\""));
    assert_non_null(strstr(text, "10.0"));
    llmperf_text_free(text);
    llmperf_config_free(config);
}

static void missing_options_list_what_there_is(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("db"), 0700), 0);
    write_file("db/mysql.yaml", "port: 1\n");
    write_file("db/postgres.yaml", "port: 2\n");
    refused("defaults:\n  - db: postgers\n", NULL, LLMPERF_ENOENT,
            "first.yaml:2: configuration not found: db/postgers", "available: postgres, mysql");
    refused("defaults: [{db: mysql}]\n", "db=oracle", LLMPERF_ENOENT, "db/oracle",
            "available: mysql, postgres");
    refused("defaults: [{db@a.b: mysql}]\n", "db=postgres", LLMPERF_EINVAL,
            "db=postgres: the defaults list has no db; nearest: db@a.b",
            "add it with +db=postgres");
    refused("defaults:\n  - db: ???\n", NULL, LLMPERF_EINVAL, "choose an option: db=…",
            "available: mysql, postgres");
    refused("defaults: [{override db: mysql}]\n", NULL, LLMPERF_EFORMAT, "first.yaml:1",
            "there is no db to override");
    refused("defaults: {db: mysql}\n", NULL, LLMPERF_EFORMAT, "first.yaml:1",
            "defaults must be a list");
    refused("defaults: [7]\n", NULL, LLMPERF_EFORMAT, "first.yaml:1",
            "group: option, a path or _self_");
    refused("defaults: [{db: 7}]\n", NULL, LLMPERF_EFORMAT, "first.yaml:1",
            "a list of strings or null");
    refused("defaults: [_self_, _self_]\n", NULL, LLMPERF_EFORMAT, "_self_ appears twice", "");
    refused("defaults: [{override db: mysql}, {db: mysql}]\n", NULL, LLMPERF_EFORMAT,
            "move overrides to the end", "first.yaml:1");
}

static void a_file_that_includes_itself_is_refused(void **state)
{
    (void)state;
    refused("defaults: [first]\n", NULL, LLMPERF_EFORMAT, "include itself", "first.yaml:1");
    refused("- a\n- b\n", NULL, LLMPERF_EFORMAT, "first.yaml:1", "must be a map");
}

static void names_without_a_file_say_what_there_is(void **state)
{
    llmperf_config *config = NULL;

    (void)state;
    assert_int_equal(llmperf_config_compose("conifg", NULL, 0, NULL, &config), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "configuration conifg not found"));
    assert_int_equal(llmperf_config_compose(NULL, NULL, 0, NULL, &config), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_compose("config", NULL, 1, NULL, &config), LLMPERF_EINVAL);
    assert_null(config);
}

/* The folder of the given file comes first, that of the library second. */
static void groups_of_both_folders_are_found(void **state)
{
    llmperf_config *config;
    const char *name;

    (void)state;
    assert_int_equal(setenv("LLMPERF_CONFIG_DIR", getenv("LP_TEST_CONF"), 1), 0);
    assert_int_equal(mkdir(path_of("server"), 0700), 0);
    write_file("server/nginx.yaml", "name: ours\n");
    config = compose("defaults: [{server: nginx}, {schema: mysql_small}]\ndb: {user: u}\n", NULL);
    assert_int_equal(llmperf_config_text(config, "server.name", &name), LLMPERF_OK);
    assert_string_equal(name, "ours");
    assert_int_equal(llmperf_config_text(config, "schema.owner", &name), LLMPERF_OK);
    assert_string_equal(name, "u");
    llmperf_config_free(config);
}

static void values_are_looked_up_by_type(void **state)
{
    const char *overrides[] = { "b=TRUE", "+new.key='x y'", "number=1_000", NULL };
    llmperf_config *config =
        compose("a: on\nb: no\nnumber: 5\nempty:\nmap: {x: 1, y: 2}\nasked: ???\n", overrides);
    const char *text = NULL;
    int64_t number;
    int32_t truth;
    uint32_t line;

    (void)state;
    assert_int_equal(llmperf_config_boolean(config, "a", &truth), LLMPERF_OK);
    assert_int_equal(truth, 1);
    assert_int_equal(llmperf_config_boolean(config, "b", &truth), LLMPERF_OK);
    assert_int_equal(truth, 1);
    assert_int_equal(llmperf_config_boolean(config, "number", &truth), LLMPERF_EFORMAT);
    assert_int_equal(llmperf_config_boolean(config, "new.key", &truth), LLMPERF_EFORMAT);
    assert_int_equal(llmperf_config_integer(config, "number", &number), LLMPERF_OK);
    assert_int_equal(number, 1000);
    assert_int_equal(llmperf_config_has(config, "empty"), 0);
    assert_int_equal(llmperf_config_has(config, "absent.key"), 0);
    assert_int_equal(llmperf_config_has(config, "map.y"), 1);
    assert_string_equal(llmperf_config_key(config, "map", 1), "y");
    assert_null(llmperf_config_key(config, "map", 2));
    assert_null(llmperf_config_key(config, "number", 0));
    assert_int_equal(llmperf_config_origin(config, "map.y", &text, &line), LLMPERF_OK);
    assert_int_equal(line, 5);
    assert_non_null(strstr(text, "first.yaml"));
    assert_int_equal(llmperf_config_origin(config, "new.key", &text, &line), LLMPERF_OK);
    assert_int_equal(line, 0);
    assert_string_equal(text, "+new.key='x y'");
    assert_int_equal(llmperf_config_text(config, "asked", &text), LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), "write asked=VALUE"));
    llmperf_config_free(config);
}

static void the_yaml_needs_quotes_only_where_it_must(void **state)
{
    const char *overrides[] = {
        "+text='yes'",          "+number='12'", "+tab='a\tb'", "+quote='it\\'s'",
        "+path=/data/x-1.yaml", "+empty={}",    NULL
    };
    llmperf_config *config =
        compose("a: [1, [2, {b: c}], []]\nm: {n: {o: 1.50, p: null}}\n", overrides);

    (void)state;
    check_yaml(config, "",
               "a:\n  - 1\n  - - 2\n    - b: c\n  - []\nm:\n  n:\n    o: 1.50\n    p: null\ntext: "
               "'yes'\nnumber: '12'\ntab: \"a\\x09b\"\n"
               "quote: 'it''s'\npath: /data/x-1.yaml\nempty: {}\n");
    check_yaml(config, "m.n.o", "1.50\n");
    check_yaml(config, "a.1", "- 2\n- b: c\n");
    llmperf_config_free(config);
}

static void json_holds_numbers_and_truth_values(void **state)
{
    llmperf_config *config =
        compose("a: 0x10\nb: [on, 1e3, \"1\", .inf]\nc: {}\nd: \"q\\\"\\n\"\n", NULL);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_config_document(config, "", LLMPERF_CONFIG_JSON, &text), LLMPERF_OK);
    assert_string_equal(text, "{\n  \"a\": 16,\n  \"b\": [\n    true,\n    1000.0,\n    \"1\",\n   "
                              " null\n  ],\n  \"c\": {},\n"
                              "  \"d\": \"q\\\"\\u000a\"\n}\n");
    llmperf_text_free(text);
    text = NULL;
    assert_int_equal(llmperf_config_document(config, "", 9, &text), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_document(config, "e", 0, &text), LLMPERF_ENOENT);
    assert_null(text);
    llmperf_config_free(config);
}

/* A composition that was written is a configuration again, and the same. */
static void a_written_composition_composes_to_itself(void **state)
{
    const char *overrides[] = { "+odd='#not a comment: - ?'", NULL };
    llmperf_config *config, *again = NULL;
    char *text = NULL;

    (void)state;
    config = compose("a: 1\nb: 'x\\${y} \\\\${a} c:\\temp'\nlist: [\"\\u2028\\x85\", \"\\ufeff\", "
                     "' lead', 'end ']\n",
                     overrides);
    assert_int_equal(llmperf_config_document(config, "", LLMPERF_CONFIG_YAML, &text), LLMPERF_OK);
    again = compose(text, NULL);
    check_yaml(again, "", text);
    check_yaml(again, "b", "'x\\${y} \\1 c:\\temp'\n");
    llmperf_text_free(text);
    llmperf_config_free(config);
    llmperf_config_free(again);
}

static void the_fingerprint_is_that_of_the_file(void **state)
{
    llmperf_config *config = compose("a: 1\nb: [x]\n", NULL), *parsed = NULL;
    char *hex = NULL, expected[65];

    (void)state;
    lp_sha256("a: 1\nb:\n  - x\n", 14, expected);
    assert_int_equal(llmperf_config_fingerprint(config, &hex), LLMPERF_OK);
    assert_string_equal(hex, expected);
    llmperf_text_free(hex);
    assert_int_equal(llmperf_config_parse("a: 1\nb: [x]\n", &parsed), LLMPERF_OK);
    assert_int_equal(llmperf_config_fingerprint(parsed, &hex), LLMPERF_OK);
    assert_string_equal(hex, expected);
    llmperf_text_free(hex);
    assert_int_equal(llmperf_config_fingerprint(NULL, &hex), LLMPERF_EINVAL);
    llmperf_config_free(parsed);
    llmperf_config_free(config);
    assert_int_equal(llmperf_config_parse("a: [", &parsed), LLMPERF_EFORMAT);
}

/* No limit of ours lets a small file take the machine. */
static void growth_is_bounded(void **state)
{
    char text[4096] = "a0: [x, x, x, x, x, x, x, x, x, x]\n", *deep;
    llmperf_config *config = NULL;
    const char *overrides[] = { NULL, NULL };

    (void)state;
    for (int i = 1; i < 12; i++)
        snprintf(text + strlen(text), 300,
                 "a%d: ['${a%d}', '${a%d}', '${a%d}', '${a%d}', '${a%d}', '${a%d}', '${a%d}', "
                 "'${a%d}']\n",
                 i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_int_equal(try_compose(text, NULL, &config), LLMPERF_ENOMEM);
    snprintf(text, sizeof(text), "a0: %0200d\n", 0);
    for (int i = 1; i < 12; i++)
        snprintf(text + strlen(text), 300, "a%d: 'x${a%d}${a%d}${a%d}${a%d}${a%d}${a%d}'\n", i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_int_equal(try_compose(text, NULL, &config), LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), "longer than 1 MiB"));
    deep = malloc(100001);
    assert_non_null(deep);
    memset(deep, '[', 100000);
    memcpy(deep, "+a=", 3);
    deep[100000] = '\0';
    overrides[0] = deep;
    assert_int_equal(try_compose("a: 1\n", overrides, &config), LLMPERF_EINVAL);
    for (int i = 1; i < 50000; i++)
        memcpy(deep + 2 * i - 1, "a.", 2);
    memcpy(deep + 99998, "=1", 3);
    assert_int_equal(try_compose("a: 1\n", overrides, &config), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "at most 64 parts"));
    free(deep);
}

static int make_folder(void **state)
{
    const char *data = getenv("LLMPERF_TEST_DATA");
    static char conf[512];

    (void)state;
    snprintf(conf, sizeof(conf), "%s/config/conf", data ? data : "");
    return mkdtemp(folder) && setenv("LP_TEST_CONF", conf, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {
        "first.yaml", "db/mysql.yaml", "db/postgres.yaml", "server/nginx.yaml", "db", "server"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_keys_name_the_nearest_one),
        cmocka_unit_test(values_that_a_key_does_not_take_are_refused),
        cmocka_unit_test(interpolation_errors_name_file_line_and_nearest_key),
        cmocka_unit_test(the_distance_of_keys_is_in_letters),
        cmocka_unit_test(a_missing_value_is_not_selected),
        cmocka_unit_test(an_argument_with_an_interpolation_may_stand_in_quotes),
        cmocka_unit_test(underscores_stand_alone_between_the_digits_of_a_number),
        cmocka_unit_test(numbers_are_written_as_python_writes_them),
        cmocka_unit_test(missing_options_list_what_there_is),
        cmocka_unit_test(a_file_that_includes_itself_is_refused),
        cmocka_unit_test(names_without_a_file_say_what_there_is),
        cmocka_unit_test(groups_of_both_folders_are_found),
        cmocka_unit_test(values_are_looked_up_by_type),
        cmocka_unit_test(the_yaml_needs_quotes_only_where_it_must),
        cmocka_unit_test(json_holds_numbers_and_truth_values),
        cmocka_unit_test(a_written_composition_composes_to_itself),
        cmocka_unit_test(the_fingerprint_is_that_of_the_file),
        cmocka_unit_test(growth_is_bounded),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
