/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of profiles that fake sessions make, and the pieces that they are built from. */
#include <jansson.h>
#include <math.h>
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

#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "llmperf/sys.h"
#include "tests/support/text.h"
#include "tests/support/locales.h"
#include "lib/output/format/json_writer.h"
#include "lib/base/text.h"

static char folder[] = "/tmp/llmperf-output-XXXXXX";

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

static llmperf_profile *run(llmperf_session_options *options)
{
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;

    if (llmperf_session_start(options, &session) < 0 || llmperf_session_stop(session, &profile) < 0)
        fail_msg("%s", llmperf_last_error());
    llmperf_session_free(session);
    return profile;
}

static llmperf_profile *run_script(const char *script)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/script", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(script, file) >= 0);
    assert_int_equal(fclose(file), 0);
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.device_path = path;
    return run(&options);
}

static llmperf_profile *run_without_device(void)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_NONE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    llmperf_prefill_begin(5);
    llmperf_prefill_end();
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_session_free(session);
    return profile;
}

static char *document(const llmperf_profile *profile, uint32_t kind)
{
    char *text = NULL;

    if (llmperf_document_text(profile, kind, &text) < 0)
        fail_msg("%s", llmperf_last_error());
    return text;
}

static json_t *metrics(const llmperf_profile *profile)
{
    char path[128], *text = document(profile, LLMPERF_DOCUMENT_METRICS_JSON);
    json_t *root = json_loads(text, 0, NULL);

    assert_non_null(root);
    snprintf(path, sizeof(path), "%s/metrics.json", folder);
    assert_int_equal(llmperf_document_write(profile, LLMPERF_DOCUMENT_METRICS_JSON, path), 0);
    if (llmperf_validate(path, NULL) < 0)
        fail_msg("%s", llmperf_last_error());
    llmperf_text_free(text);
    return root;
}

static bool has_note(const json_t *root, const char *part)
{
    json_t *note;
    size_t i;

    json_array_foreach(json_object_get(root, "notes"), i,
                       note) if (strstr(json_string_value(note), part)) return true;
    return false;
}

static const char two_stages[] = "begin LLM@prefill tokens=512\n"
                                 "begin attention\nlaunch gemm duration=80000\nend\n"
                                 "wait 1000000\nend\n"
                                 "launch outside duration=1000\n";

static void complete_profile_leads_with_its_verdict(void **state)
{
    llmperf_profile *profile = run_script(two_stages);
    char *text = document(profile, LLMPERF_DOCUMENT_REPORT_MD);

    (void)state;
    assert_memory_equal(text, "# ", 2);
    assert_text_has(text, "\n\n**Complete**: 2 kernels seen from 2 launches, 100 % of device time");
    assert_text_has(text, "\n- `LLM@prefill`: 1.00");
    assert_text_has(text, "| `LLM@attention` | `LLM@prefill` | 1 |");
    assert_text_has(text, "| `gemm` | `LLM@prefill/LLM@attention` | 1 | 1 | 0.08000 |");
    assert_text_has(text, "| `outside` | (no region) | 1 | 1 | 0.001000 |");
    assert_text_has(text, "| (no region) | 0 | – | 0.001000 | – |");
    assert_text_has(text, "Verdict: **complete**.");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void incomplete_profile_withholds_its_headline(void **state)
{
    llmperf_profile *profile =
        run_script("begin LLM@prefill\nlaunch a\nfault drop\nlaunch b\nlaunch c\nend\n");
    char *text = document(profile, LLMPERF_DOCUMENT_REPORT_MD);
    char *kernels = document(profile, LLMPERF_DOCUMENT_KERNELS_MD);
    json_t *root = metrics(profile);
    const json_t *ledger = json_object_get(root, "ledger");

    (void)state;
    assert_text_has(text, "\n\n**Incomplete: device times are lower bounds.**\n");
    assert_text_has(text, "Summary withheld: 33.3 %");
    assert_text_lacks(text, " ms of device time");
    assert_text_has(kernels, "**Verdict: incomplete**");
    assert_string_equal(json_string_value(json_object_get(ledger, "verdict")), "incomplete");
    assert_int_equal(json_integer_value(json_object_get(ledger, "launches_missing")), 2);
    assert_true(json_array_size(json_object_get(ledger, "problems")) > 0);
    json_decref(root);
    llmperf_text_free(kernels);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void dead_profile_has_no_device_times(void **state)
{
    llmperf_profile *profile =
        run_script("begin LLM@prefill\nfault drop\nlaunch a\nlaunch b\nend\n");
    char *text = document(profile, LLMPERF_DOCUMENT_REPORT_MD);
    json_t *root = metrics(profile);
    const json_t *region = json_array_get(json_object_get(root, "regions"), 0);

    (void)state;
    assert_text_has(text, "\n\n**No records received**: kernels were launched");
    assert_text_lacks(text, "GPU busy ms | Busy/wall %");
    assert_true(json_is_null(json_object_get(region, "gpu_busy_ms")));
    assert_true(json_is_null(json_object_get(region, "kernel_count")));
    assert_true(has_note(root, "Device times and counts are null"));
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void no_device_is_said_plainly_and_is_never_zero(void **state)
{
    llmperf_profile *profile = run_without_device();
    char *text = document(profile, LLMPERF_DOCUMENT_REPORT_MD);
    json_t *root = metrics(profile);
    const json_t *region = json_array_get(json_object_get(root, "regions"), 0);
    static const char *const unknown[] = { "gpu_busy_ms",  "kernel_ms", "exclusive_gpu_busy_ms",
                                           "kernel_count", "memcpy_ms", "idle_ms",
                                           "device",       "mfu",       "hfu",
                                           "mbu",          "bound",     "time_floor_ms" };

    (void)state;
    assert_text_has(text, "\n\n**No device: host times only.**");
    assert_text_has(text, "- `LLM@prefill`: ");
    assert_text_lacks(text, "GPU 0");
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        if (!json_is_null(json_object_get(region, unknown[i])))
            fail_msg("%s is not null", unknown[i]);
    assert_true(json_number_value(json_object_get(json_object_get(region, "wall_ms"), "sum")) > 0);
    assert_int_equal(json_integer_value(json_object_get(region, "tokens")), 5);
    assert_true(
        json_is_null(json_object_get(json_object_get(root, "ledger"), "launches_expected")));
    assert_true(has_note(root, "no model was given"));
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void metrics_hold_what_the_profile_holds(void **state)
{
    llmperf_profile *profile = run_script(two_stages);
    json_t *root = metrics(profile), *row;
    const json_t *aggregates = json_object_get(root, "aggregates");
    size_t i, prefills = 0;

    (void)state;
    assert_int_equal(json_array_size(json_object_get(root, "regions")), 3);
    assert_int_equal(json_array_size(json_object_get(root, "stages")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "operators")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "kernels")), 2);
    json_array_foreach(json_object_get(root, "regions"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "path")), "LLM@prefill") != 0)
            continue;
        prefills++;
        assert_int_equal(json_integer_value(json_object_get(row, "tokens")), 512);
        assert_true(fabs(json_number_value(json_object_get(row, "gpu_busy_ms")) - 0.08) < 1e-9);
        assert_true(json_is_null(json_object_get(row, "parent")));
    }
    assert_int_equal(prefills, 1);
    assert_true(fabs(json_number_value(json_object_get(aggregates, "device_ms")) - 0.081) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(aggregates, "outside_regions_ms")) - 0.001) <
                1e-9);
    assert_int_equal(json_array_size(json_object_get(root, "iterations")), 1);
    json_decref(root);
    llmperf_profile_free(profile);
}

static void kernels_that_share_a_short_name_have_their_full_one(void **state)
{
    llmperf_profile *profile = run_script("begin LLM@prefill\n"
                                          "launch _Z3addIfEvT_S0_ duration=3000\n"
                                          "launch _Z3addIdEvT_S0_ duration=2000\n"
                                          "launch plain duration=1000\nend\n");
    char *text = document(profile, LLMPERF_DOCUMENT_KERNELS_MD);

    (void)state;
    assert_text_has(text, "| `void add<float>(float, float)` |");
    assert_text_has(text, "| `void add<double>(double, double)` |");
    assert_text_has(text, "| `plain` |");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void kernels_are_sorted_by_total_time(void **state)
{
    llmperf_profile *profile =
        run_script("launch small duration=10\nlaunch big duration=30\nlaunch middle duration=20\n");
    char *text = document(profile, LLMPERF_DOCUMENT_KERNELS_MD);

    (void)state;
    assert_true(strstr(text, "`big`") < strstr(text, "`middle`"));
    assert_true(strstr(text, "`middle`") < strstr(text, "`small`"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void labels_cannot_break_a_table(void **state)
{
    llmperf_profile *profile =
        run_script("begin LLM@prefill\nbegin \"a|b`c\"\nlaunch \"x|y\"\nend\nend\n");
    char *text = document(profile, LLMPERF_DOCUMENT_OPERATORS_MD);
    json_t *root = metrics(profile);

    (void)state;
    assert_text_has(text, "| `` LLM@a\\|b`c `` | `LLM@prefill` | 1 |");
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void empty_profile_has_all_documents(void **state)
{
    llmperf_profile *profile = run_script("wait 1\n");

    (void)state;
    for (uint32_t kind = LLMPERF_DOCUMENT_REPORT_MD; kind <= LLMPERF_DOCUMENT_REPORT_HTML; kind++) {
        char *text = document(profile, kind);

        assert_true(strlen(text) > 0);
        llmperf_text_free(text);
    }
    json_decref(metrics(profile));
    llmperf_profile_free(profile);
}

static void saved_profile_gives_the_same_documents(void **state)
{
    llmperf_profile *profile = run_script(two_stages), *again = NULL;
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/run.llmperf", folder);
    assert_int_equal(llmperf_profile_save(profile, path), 0);
    assert_int_equal(llmperf_profile_open(path, &again), 0);
    for (uint32_t kind = LLMPERF_DOCUMENT_REPORT_MD; kind <= LLMPERF_DOCUMENT_REPORT_HTML; kind++) {
        char *before = document(profile, kind), *after = document(again, kind);

        assert_string_equal(before, after);
        llmperf_text_free(before);
        llmperf_text_free(after);
    }
    llmperf_profile_free(again);
    llmperf_profile_free(profile);
}

static void artifacts_are_whole_and_leave_nothing_else(void **state)
{
    static const char *const files[] = { "report.md",
                                         "stages.md",
                                         "kernels.md",
                                         "operators.md",
                                         "metrics.json",
                                         "env.json",
                                         "stakeholder_summary.md",
                                         "assumptions.md",
                                         "inputs.yaml",
                                         "report.html",
                                         "regions/report.json" };
    llmperf_profile *profile = run_script(two_stages);
    char path[192], command[256];

    (void)state;
    snprintf(path, sizeof(path), "%s/run", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(llmperf_artifacts_write(profile, path), 0);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/run/%s", folder, files[i]);
        assert_int_equal(access(path, R_OK), 0);
    }
    snprintf(command, sizeof(command), "test $(ls -A %s/run | wc -l) = 11", folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof(path), "%s/nowhere", folder);
    assert_int_equal(llmperf_artifacts_write(profile, path), LLMPERF_EIO);
    assert_text_has(llmperf_last_error(), "nowhere");
    llmperf_profile_free(profile);
}

static void links_and_devices_are_written_to_not_replaced(void **state)
{
    llmperf_profile *profile = run_script(two_stages);
    char target[128], path[128];
    struct stat info;

    (void)state;
    snprintf(target, sizeof(target), "%s/target.md", folder);
    snprintf(path, sizeof(path), "%s/link.md", folder);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(llmperf_document_write(profile, LLMPERF_DOCUMENT_REPORT_MD, path), 0);
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(target, &info), 0);
    assert_true(S_ISREG(info.st_mode) && info.st_size > 0);
    assert_int_equal(llmperf_document_write(profile, LLMPERF_DOCUMENT_REPORT_MD, folder),
                     LLMPERF_EIO);
    assert_int_equal(llmperf_text_write("short", path), 0);
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_size, 5);
    assert_int_equal(llmperf_text_write(NULL, path), LLMPERF_EINVAL);
    assert_int_equal(llmperf_text_write("short", NULL), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

static void wrong_arguments_are_refused(void **state)
{
    llmperf_profile *profile = run_script(two_stages);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(NULL, LLMPERF_DOCUMENT_REPORT_MD, &text),
                     LLMPERF_EINVAL);
    assert_int_equal(llmperf_document_text(profile, 0, &text), LLMPERF_EINVAL);
    assert_int_equal(llmperf_document_text(profile, 99, &text), LLMPERF_EINVAL);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, NULL),
                     LLMPERF_EINVAL);
    assert_null(text);
    assert_int_equal(llmperf_document_write(profile, LLMPERF_DOCUMENT_REPORT_MD, NULL),
                     LLMPERF_EINVAL);
    assert_int_equal(llmperf_artifacts_write(NULL, "/tmp"), LLMPERF_EINVAL);
    assert_int_equal(llmperf_artifacts_write(profile, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_validate(NULL, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_validate("/tmp/llmperf-no-such-file", NULL), LLMPERF_ENOENT);
    assert_int_equal(llmperf_machine_check(99, &text), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

static void assert_markdown(void (*add)(struct lp_text *, const char *), const char *raw,
                            const char *expected)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_text_puts(&text, "");
    add(&text, raw);
    assert_string_equal(text.bytes ? text.bytes : "", expected);
    lp_text_clear(&text);
}

static void markdown_signs_are_escaped(void **state)
{
    (void)state;
    assert_markdown(lp_md_text, "a|b", "a\\|b");
    assert_markdown(lp_md_text, "a`b*c<d\\e", "a\\`b\\*c\\<d\\\\e");
    assert_markdown(lp_md_text, "two\nlines\ttab", "two lines tab");
    assert_markdown(lp_md_text, "![x](u) ~y~ &lt;", "!\\[x](u) \\~y\\~ \\&lt;");
    assert_markdown(lp_md_text, "\n# a", "\\# a");
    assert_markdown(lp_md_text, "> a", "\\> a");
    assert_markdown(lp_md_text, "- a - b", "\\- a - b");
    assert_markdown(lp_md_text, "12. a 3. b", "12\\. a 3. b");
    assert_markdown(lp_md_text, "12 a.", "12 a.");
    assert_markdown(lp_md_text, "\x1b[1m", "\\[1m");
    assert_markdown(lp_md_code, "a\xe2\x80\xae|\xc2\x9b", "`a \\| `");
    assert_markdown(lp_md_code, "LLM@mlp", "`LLM@mlp`");
    assert_markdown(lp_md_code, "a|b", "`a\\|b`");
    assert_markdown(lp_md_code, "a\\|b", "`a\\\\\\|b`");
    assert_markdown(lp_md_code, "a`b", "`` a`b ``");
    assert_markdown(lp_md_code, "``", "``` `` ```");
    assert_markdown(lp_md_code, "end\\", "`end\\ `");
    assert_markdown(lp_md_code, "two\nlines", "`two lines`");
    assert_markdown(lp_md_cell_region, "", " (no region) |");
    assert_markdown(lp_md_cell_region, NULL, " (unknown launch) |");
    assert_markdown(lp_md_cell_text, NULL, " – |");
}

static void signs_that_begin_a_line_need_no_escape_in_a_cell(void **state)
{
    struct lp_text text = { NULL, 0, 0, false };

    (void)state;
    lp_text_puts(&text, "- ");
    lp_md_text(&text, "1. a");
    lp_text_puts(&text, "\n|");
    lp_md_cell_text(&text, "0.1.0");
    lp_md_cell_text(&text, "- a");
    assert_string_equal(text.bytes, "- 1\\. a\n| 0.1.0 | - a |");
    lp_text_clear(&text);
}

static void assert_number(double value, const char *expected)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_md_number(&text, value);
    assert_string_equal(text.bytes, expected);
    lp_text_clear(&text);
}

static void numbers_have_four_digits(void **state)
{
    (void)state;
    assert_number(0, "0");
    assert_number(NAN, "–");
    assert_number(1, "1.000");
    assert_number(12.345, "12.35");
    assert_number(123.45, "123.5");
    assert_number(1234.5, "1235");
    assert_number(999.96, "1000");
    assert_number(9.99996, "10.00");
    assert_number(0.5, "0.5000");
    assert_number(0.0012345, "0.001235");
    assert_number(0.000001, "0.000001");
    assert_number(-2.5, "-2.500");
    assert_number(1e12, "1000000000000");
    assert_number(1e15, "1000000000000000");
    assert_number(1e18, "1000000000000000000");
}

static char *json_of_number(double value)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    char *text = NULL;

    lp_json_number(&json, NULL, value);
    assert_int_equal(lp_text_take(&json.text, &text), 0);
    return text;
}

static void json_numbers_do_not_follow_the_locale(void **state)
{
    const double values[] = { 0.1, 1.5e-9, 123456.789, 1e300 };
    static const char *const expected[] = { "0.1", "1.5e-09", "123456.789", "1e+300" };

    (void)state;
    use_decimal_comma();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char *text = json_of_number(values[i]);

        assert_string_equal(text, expected[i]);
        llmperf_text_free(text);
    }
    use_decimal_point();
}

static void json_text_is_always_valid(void **state)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    char *text = NULL;
    json_t *root;

    (void)state;
    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "bad \xff key \"\\", "bad \xc3 value \"\\\x01\n");
    lp_json_string(&json, "none", NULL);
    lp_json_number(&json, "nan", NAN);
    lp_json_number(&json, "infinite", INFINITY);
    lp_json_count(&json, "unknown", LLMPERF_UNKNOWN);
    lp_json_count(&json, "none yet", 0);
    lp_json_count(&json, "large", INT64_MAX);
    lp_json_integer(&json, "negative", INT64_MIN);
    lp_json_open(&json, "list", '[');
    lp_json_bool(&json, NULL, true);
    lp_json_open(&json, NULL, '{');
    lp_json_close(&json, '}');
    lp_json_close(&json, ']');
    lp_json_close(&json, '}');
    assert_int_equal(lp_text_take(&json.text, &text), 0);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_true(json_is_null(json_object_get(root, "nan")));
    assert_true(json_is_null(json_object_get(root, "infinite")));
    assert_true(json_is_null(json_object_get(root, "unknown")));
    assert_true(json_integer_value(json_object_get(root, "large")) == INT64_MAX);
    assert_true(json_integer_value(json_object_get(root, "negative")) == INT64_MIN);
    assert_true(json_is_integer(json_object_get(root, "none yet")));
    assert_int_equal(json_array_size(json_object_get(root, "list")), 2);
    json_decref(root);
    llmperf_text_free(text);
}

static void a_backslash_alone_is_escaped_in_json(void **state)
{
    struct lp_json json = { { NULL, 0, 0, false }, 0, false };
    char *text = NULL;
    json_t *root;

    (void)state;
    lp_json_open(&json, NULL, '{');
    lp_json_string(&json, "plain\\key", "C:\\new");
    lp_json_string(&json, "unclean", "\n\\u0041");
    lp_json_close(&json, '}');
    assert_int_equal(lp_text_take(&json.text, &text), 0);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_string_equal(json_string_value(json_object_get(root, "plain\\key")), "C:\\new");
    assert_string_equal(json_string_value(json_object_get(root, "unclean")), " \\u0041");
    json_decref(root);
    llmperf_text_free(text);
}

static void environment_holds_no_value_outside_the_list(void **state)
{
    llmperf_profile *profile;
    char *text;
    json_t *root;

    (void)state;
    setenv("SOME_API_KEY", "secret-1", 1);
    setenv("LLMPERF_UNHEARD_OF", "secret-2", 1);
    setenv("LD_PRELOAD_NOT", "secret-3", 1);
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    profile = run_without_device();
    text = document(profile, LLMPERF_DOCUMENT_ENV_JSON);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_text_lacks(text, "secret-");
    assert_text_lacks(text, "SOME_API_KEY");
    assert_text_has(text, "\"LLMPERF_UNHEARD_OF\": \"(set)\"");
    assert_text_has(text, "\"CUDA_LAUNCH_BLOCKING\": \"0\"");
    assert_true(json_is_array(json_object_get(root, "gpus")));
    assert_true(json_is_object(json_object_get(root, "host")));
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
    unsetenv("SOME_API_KEY");
    unsetenv("LLMPERF_UNHEARD_OF");
    unsetenv("LD_PRELOAD_NOT");
    unsetenv("CUDA_LAUNCH_BLOCKING");
}

static void doctor_answers_in_both_formats(void **state)
{
    char *text = NULL, *json = NULL;
    int status = llmperf_machine_check(LLMPERF_TEXT_PLAIN, &text);
    json_t *root;

    (void)state;
    assert_true(status == LLMPERF_OK || status == LLMPERF_ENODEVICE);
    assert_text_has(text, " driver ");
    assert_text_has(text, " nsys ");
    assert_int_equal(llmperf_machine_check(LLMPERF_TEXT_JSON, &json), status);
    root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_int_equal(json_is_true(json_object_get(root, "usable")), status == LLMPERF_OK);
    assert_true(json_array_size(json_object_get(root, "checks")) >= 6);
    json_decref(root);
    llmperf_text_free(json);
    llmperf_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_profile_leads_with_its_verdict),
        cmocka_unit_test(incomplete_profile_withholds_its_headline),
        cmocka_unit_test(dead_profile_has_no_device_times),
        cmocka_unit_test(no_device_is_said_plainly_and_is_never_zero),
        cmocka_unit_test(metrics_hold_what_the_profile_holds),
        cmocka_unit_test(kernels_that_share_a_short_name_have_their_full_one),
        cmocka_unit_test(kernels_are_sorted_by_total_time),
        cmocka_unit_test(labels_cannot_break_a_table),
        cmocka_unit_test(empty_profile_has_all_documents),
        cmocka_unit_test(saved_profile_gives_the_same_documents),
        cmocka_unit_test(artifacts_are_whole_and_leave_nothing_else),
        cmocka_unit_test(links_and_devices_are_written_to_not_replaced),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(markdown_signs_are_escaped),
        cmocka_unit_test(signs_that_begin_a_line_need_no_escape_in_a_cell),
        cmocka_unit_test(numbers_have_four_digits),
        cmocka_unit_test(json_numbers_do_not_follow_the_locale),
        cmocka_unit_test(json_text_is_always_valid),
        cmocka_unit_test(a_backslash_alone_is_escaped_in_json),
        cmocka_unit_test(environment_holds_no_value_outside_the_list),
        cmocka_unit_test(doctor_answers_in_both_formats),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
