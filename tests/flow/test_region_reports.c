/* SPDX-License-Identifier: Apache-2.0 */
/* The folder regions/ of a run: which regions and kernels it shows, and what it says where there is
 * nothing to show. */
#include <dirent.h>
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
#include <jansson.h>

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/output/run_dir/region_report.h"
#include "llmperf/sys.h"

static char folder[] = "/tmp/llmperf-regions-XXXXXX";
static char run_dir[128];
static int runs;

/* Ranges A, A/A1 and B with 21 kernels each of three names. */
static const char three_ranges[] =
    "begin A\n"
    "repeat 7\nlaunch gemm_a duration=3000\nlaunch softmax duration=2000\n"
    "launch copy_kernel duration=1000\ndone\n"
    "begin A1\n"
    "repeat 7\nlaunch gemm_a duration=3000\nlaunch softmax duration=2000\n"
    "launch norm duration=1000\ndone\n"
    "end\nend\n"
    "begin B\n"
    "repeat 7\nlaunch gemm_b duration=3000\nlaunch softmax duration=2000\n"
    "launch copy_kernel duration=1000\ndone\n"
    "end\n";

static void write_file(const char *path, const char *text)
{
    assert_int_equal(lp_file_write(path, text, strlen(text)), 0);
}

static int play(const char *script, const char *config)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char script_path[160], config_path[160];
    llmperf_session *session = NULL;
    int status;

    snprintf(run_dir, sizeof(run_dir), "%s/run%d", folder, runs++);
    snprintf(script_path, sizeof(script_path), "%s.txt", run_dir);
    snprintf(config_path, sizeof(config_path), "%s.yaml", run_dir);
    write_file(script_path, script);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = script_path;
    options.run_dir = run_dir;
    if (config) {
        write_file(config_path, config);
        options.config_path = config_path;
    }
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    status = llmperf_session_stop(session, NULL);
    llmperf_session_free(session);
    return status;
}

static bool exists(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/regions/%s", run_dir, name);
    return access(path, R_OK) == 0;
}

/* A report of the run; it fits its schema. */
static json_t *report(const char *name)
{
    char path[512];
    json_error_t error;
    json_t *root;

    snprintf(path, sizeof(path), "%s/regions/%s", run_dir, name);
    if (llmperf_validate(path, NULL) < 0)
        fail_msg("%s", llmperf_last_error());
    root = json_load_file(path, 0, &error);
    assert_non_null(root);
    return root;
}

static char *text_of(const char *name)
{
    char path[512], *text;
    size_t size;

    snprintf(path, sizeof(path), "%s/regions/%s", run_dir, name);
    assert_int_equal(lp_file_read(path, &text, &size), 0);
    return text;
}

static void assert_file_has(const char *name, const char *part)
{
    char *text = text_of(name);

    if (!strstr(text, part))
        fail_msg("\"%s\" is not in %s:\n%s", part, name, text);
    free(text);
}

static json_t *region(const json_t *root, const char *name)
{
    json_t *element;
    size_t i;

    json_array_foreach(json_object_get(root, "regions"), i,
                       element) if (strcmp(json_string_value(json_object_get(element, "name")),
                                           name) == 0) return element;
    fail_msg("no region %s", name);
    return NULL;
}

static json_int_t calls_of(const json_t *region_, const char *kernel)
{
    json_t *element;
    size_t i;

    json_array_foreach(
        json_object_get(region_, "kernels"), i,
        element) if (strcmp(json_string_value(json_object_get(element, "kernel_name")), kernel) ==
                     0) return json_integer_value(json_object_get(element, "calls"));
    return 0;
}

static json_int_t metric(const json_t *region_, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(region_, "metrics"), name));
}

static void parents_include_nested_regions_and_shared_kernels_count_once(void **state)
{
    json_t *root, *a, *nested;

    (void)state;
    assert_int_equal(play(three_ranges, NULL), 0);
    root = report("report.json");
    a = region(root, "LLM@A");
    nested = region(root, "LLM@A/LLM@A1");
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 3);
    assert_string_equal(json_string_value(json_object_get(nested, "parent")), "LLM@A");
    assert_true(json_is_null(json_object_get(a, "parent")));
    assert_int_equal(json_integer_value(json_object_get(a, "device")), 0);
    assert_string_equal(json_string_value(json_object_get(a, "device_name")), "cuda:0");
    assert_int_equal(metric(a, "kernel_count"), 42);
    assert_int_equal(metric(nested, "kernel_count"), 21);
    assert_int_equal(calls_of(a, "gemm_a"), 14); /* one row of both */
    assert_int_equal(calls_of(a, "norm"), 7);
    assert_int_equal(calls_of(nested, "copy_kernel"), 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "totals"), "kernel_count")), 63);
    json_decref(root);
}

static void reports_stand_by_label_process_device_and_over_all(void **state)
{
    json_t *root;
    char name[64];

    (void)state;
    assert_int_equal(play(three_ranges, NULL), 0);
    snprintf(name, sizeof(name), "process-%ld.json", (long)getpid());
    root = report(name);
    assert_true(strncmp(json_string_value(json_object_get(root, "scope")), "process:", 8) == 0);
    json_decref(root);
    root = report("device-0.json");
    assert_string_equal(json_string_value(json_object_get(root, "scope")), "device:0");
    json_decref(root);
    root = report("LLM@A1/report.json");
    assert_string_equal(json_string_value(json_object_get(root, "label")), "LLM@A1");
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 1);
    json_decref(root);
    assert_true(exists("LLM@A/report.md") && exists("LLM@B/report.md") && exists("report.md") &&
                exists("device-0.md"));
}

static void include_and_exclude_choose_kernels_by_region(void **state)
{
    json_t *root, *a, *b, *selection;

    (void)state;
    assert_int_equal(play(three_ranges, "regions:\n"
                                        "  kernels:\n"
                                        "    - {exclude: copy_kernel}\n"
                                        "    - {region: LLM@B, include: ['regex:^(gemm|softmax)', "
                                        "'copy*'], exclude: [soft*]}\n"),
                     0);
    root = report("report.json");
    a = region(root, "LLM@A");
    b = region(root, "LLM@B");
    assert_int_equal(calls_of(a, "copy_kernel"), 0);
    assert_int_equal(calls_of(a, "softmax"), 14);
    assert_int_equal(metric(a, "selected_kernel_count"), 35);
    assert_int_equal(metric(a, "kernel_count"), 42);
    assert_int_equal(calls_of(b, "softmax"), 0); /* exclude wins */
    assert_int_equal(calls_of(b, "copy_kernel"), 7);
    assert_int_equal(metric(b, "selected_kernel_count"), 14);
    selection = json_object_get(b, "selection");
    assert_int_equal(json_array_size(json_object_get(selection, "include_patterns")), 2);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(selection, "exclude_patterns"), 0)),
        "soft*");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "totals"), "kernel_count")), 49);
    assert_int_equal(strlen(json_string_value(json_object_get(root, "config_fingerprint"))), 64);
    json_decref(root);
    assert_file_has("LLM@B/report.md", "without `soft*` (14 of 21 calls)");
}

static void a_selection_without_a_match_says_so(void **state)
{
    json_t *root;

    (void)state;
    assert_int_equal(play(three_ranges, "regions: {kernels: {include: no_such}}\n"), 0);
    root = report("report.json");
    assert_int_equal(json_array_size(json_object_get(region(root, "LLM@B"), "kernels")), 0);
    assert_true(json_is_true(
        json_object_get(json_object_get(region(root, "LLM@B"), "selection"), "nothing_selected")));
    json_decref(root);
    assert_file_has("report.md", "No kernel of this region matches the selection.");
}

static void no_matching_region_is_a_baseline_report(void **state)
{
    json_t *root;

    (void)state;
    assert_int_equal(play(three_ranges, "regions: {include: LLM@none, aggregate: false}\n"), 0);
    root = report("report.json");
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 0);
    assert_non_null(strstr(json_string_value(json_array_get(json_object_get(root, "notes"), 0)),
                           "no matching regions"));
    json_decref(root);
    assert_file_has("report.md", "no matching regions");
    assert_file_has("report.md", "The whole run: 3 regions");
    assert_int_equal(play("launch gemm\n", NULL), 0);
    assert_file_has("report.md", "no matching regions");
}

static void the_aggregate_can_be_switched_off_and_sections_chosen(void **state)
{
    json_t *root, *sections;

    (void)state;
    assert_int_equal(play(three_ranges, "regions: {aggregate: false, sections: [time, kernels], "
                                        "include: ['LLM@A', 'regex:A1$']}\n"),
                     0);
    assert_false(exists("report.json"));
    assert_false(exists("LLM@B"));
    root = report("device-0.json");
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 2);
    sections = json_object_get(region(root, "LLM@A"), "sections");
    assert_non_null(json_object_get(sections, "time"));
    assert_null(json_object_get(sections, "work"));
    assert_null(json_object_get(sections, "counters"));
    json_decref(root);
}

static void of_very_many_regions_the_longest_are_shown(void **state)
{
    struct lp_text script = { NULL, 0, 0, false };
    json_t *root;

    (void)state;
    for (int i = 0; i < 3000; i++)
        lp_text_printf(&script, "begin R%d\nlaunch k duration=%d\nend\n", i, 1000 + i);
    assert_int_equal(play(script.bytes, "regions: {top: 10}\n"), 0);
    lp_text_clear(&script);
    root = report("report.json");
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 10);
    region(root, "LLM@R2999");
    region(root, "LLM@R2990");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "totals"), "regions_omitted")),
        2990);
    json_decref(root);
    assert_file_has("report.md", "2990 more regions are not shown");
}

static void kernels_beyond_the_limit_are_counted(void **state)
{
    json_t *root, *rest;

    (void)state;
    assert_int_equal(play(three_ranges, "regions: {top_kernels: 1}\n"), 0);
    root = report("report.json");
    rest = json_object_get(region(root, "LLM@B"), "kernels_omitted");
    assert_int_equal(json_array_size(json_object_get(region(root, "LLM@B"), "kernels")), 1);
    assert_int_equal(json_integer_value(json_object_get(rest, "kernels")), 2);
    json_decref(root);
}

static void wrong_configurations_are_refused_with_the_line(void **state)
{
    static const struct {
        const char *config, *part;
    } cases[] = {
        { "regions:\n  kernels:\n    - {include: 'regex:('}\n", "regex:(" },
        { "regions: 1\n", "regions: this key must be a map" },
        { "regions:\n  aggregate: perhaps\n", ":2: regions: aggregate" },
        { "regions: {top: many}\n", "top" },
        { "regions: {sections: [time, weather]}\n", "sections must be" },
        { "regions: {kernels: 1}\n", "kernels must be a map" },
        { "regions: {include: {}}\n", "patterns must be" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(play(three_ranges, cases[i].config) < 0);
        if (!strstr(llmperf_last_error(), cases[i].part))
            fail_msg("\"%s\" is not in \"%s\"", cases[i].part, llmperf_last_error());
    }
}

static double number(const json_t *region_, const char *section, const char *name)
{
    return json_number_value(
        json_object_get(json_object_get(json_object_get(region_, "sections"), section), name));
}

static void assert_report_holds(const char *part)
{
    char path[512], *text = NULL;
    size_t size;

    snprintf(path, sizeof(path), "%s/report.md", run_dir);
    assert_int_equal(lp_file_read(path, &text, &size), 0);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
    free(text);
}

/* An H200's counters, recorded there: two products of 8192 x 8192, a copy of 1 GiB nested between
 * them. */
static void a_recording_brings_its_counters(void **state)
{
    const double products = 2 * 2.0 * 8192 * 8192 * 8192, bytes = 1 << 30;
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;
    char path[512];
    json_t *root, *outer, *inner;

    (void)state;
    snprintf(path, sizeof(path), "%s/h200/counters.llmrec", getenv("LLMPERF_TEST_DATA"));
    snprintf(run_dir, sizeof(run_dir), "%s/run%d", folder, runs++);
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = path;
    options.run_dir = run_dir;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    assert_int_equal(llmperf_session_stop(session, NULL), 0);
    llmperf_session_free(session);
    root = report("report.json");
    outer = region(root, "LLM@outer");
    inner = region(root, "LLM@outer/LLM@inner");
    assert_true(number(outer, "counters", "tensor_flops_bf16") / products > 0.98 &&
                number(outer, "counters", "tensor_flops_bf16") / products < 1.02);
    assert_true(number(inner, "counters", "dram_read_bytes") / bytes > 0.98 &&
                number(inner, "counters", "dram_read_bytes") / bytes < 1.02);
    assert_true(number(inner, "counters", "tensor_flops_bf16") == 0);
    assert_true(number(outer, "counters", "dram_read_bytes") >
                number(outer, "counters", "exclusive_dram_read_bytes"));
    assert_true(number(outer, "work", "measured_instances") == 3);
    assert_true(number(outer, "work", "hfu") > 0.01 && number(outer, "work", "hfu") < 0.1);
    assert_int_equal(metric(outer, "kernel_count"), 9);
    json_decref(root);
    assert_report_holds("| `LLM@outer` | 0 | 3 | 2199 | 36.76 |");
}

static void assert_folder(const char *label, bool twin, const char *expected)
{
    struct lp_text name = { NULL, 0, 0, false };

    lp_region_folder_name(label, twin, &name);
    if (strncmp(name.bytes, expected, strlen(expected)) != 0)
        fail_msg("%s is %s, not %s", label, name.bytes, expected);
    assert_true(name.length < 128);
    assert_null(strchr(name.bytes, '/'));
    assert_int_not_equal(name.bytes[0], '.');
    lp_text_clear(&name);
}

static void folder_names_are_safe_and_differ(void **state)
{
    struct lp_text a = { NULL, 0, 0, false }, b = { NULL, 0, 0, false };
    char longest[1000];

    (void)state;
    assert_folder("LLM@prefill", false, "LLM@prefill");
    assert_folder("LLM@a b/c", false, "LLM@a_b_c-");
    assert_folder("..", false, "_.-");
    assert_folder("LLM@caf\xc3\xa9", false, "LLM@caf__-");
    assert_folder("LLM@a", true, "LLM@a-");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_folder(longest, false, "xxxx");
    lp_region_folder_name("LLM@a b", false, &a);
    lp_region_folder_name("LLM@a_b", false, &b);
    assert_string_not_equal(a.bytes, b.bytes);
    a.length = b.length = 0;
    lp_region_folder_name("LLM@a b", false, &a);
    lp_region_folder_name("LLM@a/b", false, &b);
    assert_string_not_equal(a.bytes, b.bytes);
    lp_text_clear(&a);
    lp_text_clear(&b);
}

static void labels_that_differ_in_case_only_have_folders_of_their_own(void **state)
{
    struct dirent *entry;
    char path[256];
    int folders = 0;
    DIR *stream;

    (void)state;
    assert_int_equal(play("begin a\nlaunch k\nend\nbegin A\nlaunch k\nend\n", NULL), 0);
    snprintf(path, sizeof(path), "%s/regions", run_dir);
    assert_non_null(stream = opendir(path));
    while ((entry = readdir(stream)))
        folders += strncmp(entry->d_name, "LLM@", 4) == 0 && strchr(entry->d_name, '-') != NULL;
    closedir(stream);
    assert_int_equal(folders, 2);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_include_nested_regions_and_shared_kernels_count_once),
        cmocka_unit_test(reports_stand_by_label_process_device_and_over_all),
        cmocka_unit_test(include_and_exclude_choose_kernels_by_region),
        cmocka_unit_test(a_selection_without_a_match_says_so),
        cmocka_unit_test(no_matching_region_is_a_baseline_report),
        cmocka_unit_test(the_aggregate_can_be_switched_off_and_sections_chosen),
        cmocka_unit_test(of_very_many_regions_the_longest_are_shown),
        cmocka_unit_test(kernels_beyond_the_limit_are_counted),
        cmocka_unit_test(wrong_configurations_are_refused_with_the_line),
        cmocka_unit_test(a_recording_brings_its_counters),
        cmocka_unit_test(folder_names_are_safe_and_differ),
        cmocka_unit_test(labels_that_differ_in_case_only_have_folders_of_their_own),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
