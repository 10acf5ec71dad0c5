/* SPDX-License-Identifier: Apache-2.0 */
/* Reading YAML files and looking values up. */
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

#include "lib/base/yaml_tree.h"
#include "llmperf/sys/config.h"
#include "tests/support/locales.h"

static char folder[] = "/tmp/llmperf-config-XXXXXX";
static char file_path[64];

static void write_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(file_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static llmperf_config *open_text(const char *text)
{
    llmperf_config *config = NULL;

    write_bytes(text, strlen(text));
    if (llmperf_config_open(file_path, &config) < 0)
        fail_msg("%s", llmperf_last_error());
    return config;
}

static void assert_error_has(const char *part)
{
    if (!strstr(llmperf_last_error(), part))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

/* The file is refused and the message holds `part`. */
static void assert_refused(const char *text, const char *part)
{
    llmperf_config *config = NULL;

    write_bytes(text, strlen(text));
    assert_int_equal(llmperf_config_open(file_path, &config), LLMPERF_EFORMAT);
    assert_null(config);
    assert_error_has(file_path);
    assert_error_has(part);
}

static int64_t integer(const llmperf_config *config, const char *key)
{
    int64_t value = -1;

    if (llmperf_config_integer(config, key, &value) < 0)
        fail_msg("%s", llmperf_last_error());
    return value;
}

static double number(const llmperf_config *config, const char *key)
{
    double value = -1;

    if (llmperf_config_number(config, key, &value) < 0)
        fail_msg("%s", llmperf_last_error());
    return value;
}

static const char *text(const llmperf_config *config, const char *key)
{
    const char *value = NULL;

    if (llmperf_config_text(config, key, &value) < 0)
        fail_msg("%s", llmperf_last_error());
    return value;
}

static void values_are_found_by_dotted_key(void **state)
{
    llmperf_config *config = open_text("name: tiny\n"
                                       "input:\n"
                                       "  shape: [3, 64, 48]\n"
                                       "blocks:\n"
                                       "  - {width: 16, scale: 0.5}\n"
                                       "  - width: -7\n"
                                       "    scale: 1e-5\n");

    (void)state;
    assert_string_equal(text(config, "name"), "tiny");
    assert_int_equal(integer(config, "input.shape.2"), 48);
    assert_int_equal(integer(config, "blocks.1.width"), -7);
    assert_true(number(config, "blocks.0.scale") == 0.5);
    assert_true(number(config, "blocks.1.scale") == 1e-5);
    assert_true(number(config, "input.shape.0") == 3.0);
    assert_string_equal(text(config, "input.shape.1"), "64");
    llmperf_config_free(config);
}

static void length_counts_elements_and_keys(void **state)
{
    llmperf_config *config = open_text("list: [a, b, c]\nmap: {x: 1, y: 2}\nvalue: 5\nnone: []\n");

    (void)state;
    assert_int_equal(llmperf_config_length(config, "list"), 3);
    assert_int_equal(llmperf_config_length(config, "map"), 2);
    assert_int_equal(llmperf_config_length(config, "value"), 0);
    assert_int_equal(llmperf_config_length(config, "none"), 0);
    assert_int_equal(llmperf_config_length(config, "absent"), 0);
    assert_int_equal(llmperf_config_length(config, ""), 4);
    llmperf_config_free(config);
}

static void missing_keys_name_file_line_and_key(void **state)
{
    static const char *const keys[] = {
        "b",     "a.y",       "a.list.3", "a.list.-1", "a.list.01",          "a.list.x",
        "a.",    ".a",        "a.x.deep", "a..x",      "a.list.99999999999", ".",
        "a.lis", "a.listing", "a.list."
    };
    llmperf_config *config = open_text("# comment\na:\n  x: 1\n  list: [1, 2, 3]\n");
    int64_t value = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (llmperf_config_integer(config, keys[i], &value) != LLMPERF_ENOENT)
            fail_msg("\"%s\" was found", keys[i]);
    assert_int_equal(value, 42);
    assert_int_equal(llmperf_config_integer(config, "a.list.3", &value), LLMPERF_ENOENT);
    assert_error_has(file_path);
    assert_error_has(":4:");
    assert_error_has("a.list.3");
    llmperf_config_free(config);
}

static void integers_are_strict(void **state)
{
    static const char *const bad[] = { "0x10",
                                       "1_000",
                                       "9223372036854775808",
                                       "12abc",
                                       "1.0",
                                       "1e3",
                                       "010",
                                       "\"5\"",
                                       "'5'",
                                       "true",
                                       "~",
                                       "null",
                                       "",
                                       "+",
                                       "+-1",
                                       "1 2",
                                       "[1]",
                                       "{x: 1}",
                                       "0b1",
                                       ".5",
                                       "!!str 5",
                                       "٣",
                                       "-9223372036854775809" };
    char yaml[128];
    int64_t value = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        llmperf_config *config;

        snprintf(yaml, sizeof(yaml), "first: 1\nsize: %s\n", bad[i]);
        config = open_text(yaml);
        if (llmperf_config_integer(config, "size", &value) != LLMPERF_EFORMAT)
            fail_msg("%s was taken for an integer", bad[i]);
        assert_error_has(file_path);
        assert_error_has(":2: size");
        llmperf_config_free(config);
    }
    assert_int_equal(value, 42);
}

static void integers_reach_both_ends(void **state)
{
    llmperf_config *config =
        open_text("top: 9223372036854775807\nend: -9223372036854775808\nplus: +3\nzero: 0\n");

    (void)state;
    assert_true(integer(config, "top") == INT64_MAX);
    assert_true(integer(config, "end") == INT64_MIN);
    assert_int_equal(integer(config, "plus"), 3);
    assert_int_equal(integer(config, "zero"), 0);
    llmperf_config_free(config);
}

static void numbers_are_strict(void **state)
{
    static const char *const bad[] = { "0x1p3", "1e999",   "-1e999", ".inf", "nan",   ".nan", "inf",
                                       "1,5",   "1_0.5",   "1.5x",   ".",    "e5",    "1e",   "1e+",
                                       "1.5.2", "\"1.5\"", "07.5",   "~",    "[1.5]", "1e5 x" };
    char yaml[128];
    double value = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        llmperf_config *config;

        snprintf(yaml, sizeof(yaml), "first: 1\nscale: %s\n", bad[i]);
        config = open_text(yaml);
        if (llmperf_config_number(config, "scale", &value) != LLMPERF_EFORMAT)
            fail_msg("%s was taken for a number", bad[i]);
        assert_error_has(file_path);
        assert_error_has(":2: scale");
        llmperf_config_free(config);
    }
    assert_true(value == 42.0);
}

static void numbers_take_every_plain_spelling(void **state)
{
    llmperf_config *config = open_text("a: .5\nb: 5.\nc: -2E+3\nd: 0\ne: 1e-320\nf: 0.25\n");

    (void)state;
    assert_true(number(config, "a") == 0.5);
    assert_true(number(config, "b") == 5.0);
    assert_true(number(config, "c") == -2000.0);
    assert_true(number(config, "d") == 0.0);
    assert_true(number(config, "e") > 0.0);
    assert_true(number(config, "f") == 0.25);
    llmperf_config_free(config);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    llmperf_config *config = open_text("a: 1.5\n");

    (void)state;
    use_decimal_comma();
    assert_true(number(config, "a") == 1.5);
    use_decimal_point();
    llmperf_config_free(config);
}

static void texts_are_not_null_and_not_lists(void **state)
{
    llmperf_config *config = open_text("none:\ntilde: ~\nlist: [1]\nempty: \"\"\nquoted: "
                                       "\"null\"\nyes: yes\nlong: |\n  two\n  lines\n");
    const char *value = "unchanged";

    (void)state;
    assert_int_equal(llmperf_config_text(config, "none", &value), LLMPERF_EFORMAT);
    assert_error_has("none is empty");
    assert_int_equal(llmperf_config_text(config, "tilde", &value), LLMPERF_EFORMAT);
    assert_int_equal(llmperf_config_text(config, "list", &value), LLMPERF_EFORMAT);
    assert_error_has("list is a list");
    assert_string_equal(value, "unchanged");
    assert_string_equal(text(config, "empty"), "");
    assert_string_equal(text(config, "quoted"), "null");
    assert_string_equal(text(config, "yes"), "yes");
    assert_string_equal(text(config, "long"), "two\nlines\n");
    llmperf_config_free(config);
}

static void aliases_share_their_anchor(void **state)
{
    llmperf_config *config =
        open_text("base: &b {width: 16, list: &l [1, 2]}\nsame: *b\nagain: [*l, *b]\n"
                  "late: &l 7\nnow: *l\n");

    (void)state;
    assert_int_equal(integer(config, "same.width"), 16);
    assert_int_equal(integer(config, "again.0.1"), 2);
    assert_int_equal(integer(config, "again.1.list.0"), 1);
    assert_int_equal(integer(config, "now"), 7);
    llmperf_config_free(config);
}

static void bad_aliases_are_refused(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: *nothing\n", ":2: alias *nothing has no matching anchor");
    assert_refused("a: &a\n  b: *a\n", ":2: alias *a is used inside");
    assert_refused("base: &b {x: 1}\nuse:\n  <<: *b\n", ":3: merge keys");
}

static void aliases_that_multiply_are_refused(void **state)
{
    char yaml[2048];
    int at = snprintf(yaml, sizeof(yaml), "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");

    (void)state;
    for (int i = 1; i < 12; i++)
        at += snprintf(yaml + at, sizeof(yaml) - (size_t)at,
                       "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1,
                       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_refused(yaml, "aliases that expand");
}

static void damaged_files_are_refused_with_a_line(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: 2\na: 3\n", ":3: key \"a\" appears twice");
    assert_refused("a: &x 1\nb: 2\nm:\n  k: 1\n  k: *x\n", ":5: key \"k\" appears twice");
    assert_refused("a: 1\n---\nb: 2\n", ":2: a second YAML document");
    assert_refused("a: [1, 2\nb: 3\n", ":2: ");
    assert_refused("a: 1\n\tb: 2\n", ":2: ");
    assert_refused("a: 1\nb: \"no end\n", ":");
    assert_refused("a: !!int \"5\"\n", ":1: tag tag:yaml.org,2002:int");
    assert_refused("a: !mine [1]\n", ":1: a tag");
    assert_refused("? [1, 2]\n: 3\n", ":1: a list or map as a key");
    assert_refused("a: \"x\\0y\"\n", ":1: a string contains a NUL");
    assert_refused("a: \xff\xfe\n", ":1: ");
}

static void depth_is_bounded(void **state)
{
    char deep[100 * 1000];
    llmperf_config *config;

    (void)state;
    memset(deep, '[', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_refused(deep, ":1: nested more than 64 levels deep");
    memset(deep, '[', LP_YAML_DEPTH);
    memset(deep + LP_YAML_DEPTH, ']', LP_YAML_DEPTH);
    deep[2 * LP_YAML_DEPTH] = '\0';
    config = open_text(deep);
    assert_int_equal(llmperf_config_length(config, "0.0.0"), 1);
    llmperf_config_free(config);
}

static void an_empty_file_has_no_keys(void **state)
{
    static const char *const empty[] = { "", "\n\n", "# only words\n", "---\n", "--- ~\n" };
    int64_t value;

    (void)state;
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        llmperf_config *config = open_text(empty[i]);

        assert_int_equal(llmperf_config_integer(config, "a", &value), LLMPERF_ENOENT);
        assert_int_equal(llmperf_config_length(config, ""), 0);
        llmperf_config_free(config);
    }
}

static void byte_order_mark_and_windows_lines_are_read(void **state)
{
    llmperf_config *config = open_text("\xef\xbb\xbf"
                                       "a: 1\r\nb: two\r\n");

    (void)state;
    assert_int_equal(integer(config, "a"), 1);
    assert_string_equal(text(config, "b"), "two");
    llmperf_config_free(config);
}

static void cut_and_changed_bytes_never_crash(void **state)
{
    static const char yaml[] = "a: &x {b: [1, 2.5, \"three\", 'four'], c: |\n    five\n  }\nd: "
                               "*x\n? e\n: - f\n  - {g: h}\n";
    char bytes[sizeof(yaml)];
    struct lp_yaml_tree *tree;
    size_t read = 0;

    (void)state;
    for (size_t length = 0; length < sizeof(yaml); length++)
        for (int byte = 0; byte < 256; byte += 5) {
            memcpy(bytes, yaml, sizeof(yaml));
            bytes[length] = (char)byte;
            if (lp_yaml_parse("bytes", bytes, byte % 2 ? length : sizeof(yaml) - 1, &tree) == 0) {
                read++;
                lp_yaml_free(tree);
            }
        }
    assert_true(read > 0);
}

static void missing_files_are_told_from_unreadable_ones(void **state)
{
    llmperf_config *config = NULL;

    (void)state;
    assert_int_equal(llmperf_config_open("/nonexistent/model.yaml", &config), LLMPERF_ENOENT);
    assert_error_has("/nonexistent/model.yaml");
    assert_int_equal(llmperf_config_open(folder, &config), LLMPERF_EINVAL);
    assert_error_has("is a folder, not a regular file");
    assert_int_equal(llmperf_config_open(NULL, &config), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_open(file_path, NULL), LLMPERF_EINVAL);
    assert_null(config);
    llmperf_config_free(NULL);
}

static void missing_arguments_are_refused(void **state)
{
    llmperf_config *config = open_text("a: 1\n");
    const char *string;
    double real;
    int64_t value;

    (void)state;
    assert_int_equal(llmperf_config_integer(NULL, "a", &value), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_integer(config, NULL, &value), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_integer(config, "a", NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_number(NULL, "a", &real), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_text(NULL, "a", &string), LLMPERF_EINVAL);
    assert_int_equal(llmperf_config_length(NULL, "a"), 0);
    assert_int_equal(llmperf_config_length(config, NULL), 0);
    llmperf_config_free(config);
}

static void the_folder_of_the_environment_comes_first(void **state)
{
    llmperf_config *config = NULL;

    (void)state;
    write_bytes("a: 5\n", 5);
    setenv("LLMPERF_CONFIG_DIR", folder, 1);
    assert_string_equal(llmperf_config_dir(), folder);
    assert_int_equal(llmperf_config_open("file.yaml", &config), 0);
    assert_int_equal(integer(config, "a"), 5);
    llmperf_config_free(config);
    assert_int_equal(llmperf_config_open("absent.yaml", &config), LLMPERF_ENOENT);
    setenv("LLMPERF_CONFIG_DIR", "/nonexistent/conf", 1);
    assert_null(llmperf_config_dir());
    assert_error_has("LLMPERF_CONFIG_DIR=/nonexistent/conf");
}

static void without_environment_the_data_folder_is_found(void **state)
{
    struct stat info;
    const char *found;

    (void)state;
    unsetenv("LLMPERF_CONFIG_DIR");
    found = llmperf_config_dir();
    assert_non_null(found);
    assert_int_equal(found[0], '/');
    assert_int_equal(stat(found, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_ptr_equal(found, llmperf_config_dir());
    setenv("LLMPERF_CONFIG_DIR", "", 1);
    assert_string_equal(llmperf_config_dir(), found);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_path, sizeof(file_path), "%s/file.yaml", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_dotted_key),
        cmocka_unit_test(length_counts_elements_and_keys),
        cmocka_unit_test(missing_keys_name_file_line_and_key),
        cmocka_unit_test(integers_are_strict),
        cmocka_unit_test(integers_reach_both_ends),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(numbers_take_every_plain_spelling),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(texts_are_not_null_and_not_lists),
        cmocka_unit_test(aliases_share_their_anchor),
        cmocka_unit_test(bad_aliases_are_refused),
        cmocka_unit_test(aliases_that_multiply_are_refused),
        cmocka_unit_test(damaged_files_are_refused_with_a_line),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(an_empty_file_has_no_keys),
        cmocka_unit_test(byte_order_mark_and_windows_lines_are_read),
        cmocka_unit_test(cut_and_changed_bytes_never_crash),
        cmocka_unit_test(missing_files_are_told_from_unreadable_ones),
        cmocka_unit_test(missing_arguments_are_refused),
        cmocka_unit_test(the_folder_of_the_environment_comes_first),
        cmocka_unit_test(without_environment_the_data_folder_is_found),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
