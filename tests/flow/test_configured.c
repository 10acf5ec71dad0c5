/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions that take their values from a configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/base/sha256.h"
#include "tests/support/play.h"

static llmperf_profile *play_with(const char *config, llmperf_session_options *options)
{
    options->config_path = write_test_file("session.yaml", config, strlen(config));
    return play_options(options);
}

static llmperf_session_options some_options(void)
{
    llmperf_session_options options = script_options("begin LLM@prefill\nlaunch k\nend\n");

    options.tier = LLMPERF_TIER_DEFAULT;
    return options;
}

static char *content(const char *path)
{
    char *text = NULL;
    size_t size;

    if (lp_file_read(path, &text, &size) < 0)
        fail_msg("%s", llmperf_last_error());
    return text;
}

static void refused(const char *config, int status, const char *part)
{
    llmperf_session_options options = some_options();
    llmperf_session *session = NULL;

    options.config_path = write_test_file("session.yaml", config, strlen(config));
    assert_int_equal(llmperf_session_start(&options, &session), status);
    assert_null(session);
    check_error(part);
}

static void values_that_the_program_leaves_open_come_from_the_configuration(void **state)
{
    llmperf_session_options options = some_options();
    char text[512], *kept, hex[65];
    llmperf_profile *profile;

    (void)state;
    snprintf(text, sizeof(text),
             "run: {id: night, mode: light, dtype: bf16}\nartifacts: {dir: '%s', keep_runs: 3}\n",
             in_test_folder("configured"));
    profile = play_with(text, &options);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "light");
    assert_string_equal(llmperf_profile_fact(profile, "run_id"), "night");
    assert_string_equal(llmperf_profile_fact(profile, "dtype"), "bf16");
    assert_null(llmperf_profile_fact(profile, "model"));
    kept = content(in_test_folder("configured/night/config.yaml"));
    lp_sha256(kept, strlen(kept), hex);
    assert_string_equal(llmperf_profile_fact(profile, "config_fingerprint"), hex);
    assert_string_equal(llmperf_profile_fact(profile, "config"), kept);
    free(kept);
    kept = content(in_test_folder("configured/night/report.md"));
    assert_non_null(strstr(kept, hex));
    free(kept);
    llmperf_profile_free(profile);
}

static void the_limit_of_paths_comes_from_the_configuration(void **state)
{
    llmperf_session_options options;
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    char script[4096] = "begin LLM@prefill\nlaunch k\nend\n";
    llmperf_profile *profile;

    for (int i = 0; i < 40; i++) {
        char line[64];

        snprintf(line, sizeof(line), "begin APP@request%d\nlaunch k\nend\n", i);
        strcat(script, line);
    }
    options = script_options(script);
    profile = play_with("session: {path_limit: 16}\n", &options);
    assert_int_equal(llmperf_profile_ledger(profile, &ledger), 0);
    assert_true(ledger.regions_over_limit >= 20);
    llmperf_profile_free(profile);
    refused("session: {path_limit: 8}\n", LLMPERF_EFORMAT, "path_limit");
    (void)state;
}

static void what_the_program_says_wins(void **state)
{
    llmperf_session_options options = some_options();
    llmperf_profile *profile;

    (void)state;
    options.tier = LLMPERF_TIER_DEEP;
    options.run_dir = in_test_folder("said");
    options.run_id = "said";
    profile = play_with(
        "mode: base\nrun: {id: other, mode: light}\nartifacts: {dir: /nonexistent/place}\n",
        &options);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "deep");
    assert_string_equal(llmperf_profile_fact(profile, "run_id"), "said");
    llmperf_profile_free(profile);
}

static void the_environment_comes_before_the_configuration(void **state)
{
    llmperf_session_options options = some_options();
    llmperf_profile *profile;

    (void)state;
    setenv("LLMPERF_TIER", "regions", 1);
    setenv("LLMPERF_OUT", in_test_folder("env-first"), 1);
    profile =
        play_with("run: {id: a, mode: light}\nartifacts: {dir: /nonexistent/place}\n", &options);
    unsetenv("LLMPERF_TIER");
    unsetenv("LLMPERF_OUT");
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "regions");
    assert_true(lp_path_exists(in_test_folder("env-first/a/run.llmperf")));
    llmperf_profile_free(profile);
}

static void sampled_regions_come_from_the_environment_or_the_configuration(void **state)
{
    static const char *const both = "run: {mode: light}\nsession: {sample_regions: 'forward,,'}\n";

    (void)state;
    refused(both, LLMPERF_EINVAL, "sample_regions accepts up to");
    setenv("LLMPERF_SAMPLE_REGIONS", "forward", 1);
    {
        llmperf_session_options options = some_options();

        llmperf_profile_free(play_with(both, &options));
    }
    setenv("LLMPERF_SAMPLE_REGIONS", "forward,,", 1);
    refused("run: {mode: light}\n", LLMPERF_EINVAL, "sample_regions accepts up to");
    unsetenv("LLMPERF_SAMPLE_REGIONS");
}

static void the_usual_configuration_names_a_model_and_its_dtype(void **state)
{
    llmperf_session_options options = some_options();
    llmperf_profile *profile;

    (void)state;
    options.run_dir = in_test_folder("usual");
    profile = play_with("defaults:\n- config\n- _self_\n- override model/deepseek_ocr/arch@model: "
                        "deepseek_ocr.default\n"
                        "- override model/deepseek_ocr/infer@infer: deepseek_ocr.default\n- "
                        "override profiling/session@session: light\n",
                        &options);
    assert_string_equal(llmperf_profile_fact(profile, "tier"), "light");
    assert_string_equal(llmperf_profile_fact(profile, "dtype"), "bf16");
    assert_string_equal(llmperf_profile_fact(profile, "model_name"), "deepseek_ocr");
    assert_string_equal(llmperf_profile_fact(profile, "model"), "config.yaml");
    llmperf_profile_free(profile);
}

static void wrong_values_name_their_place(void **state)
{
    (void)state;
    refused("a: 1\nrun:\n  mode: depe\n", LLMPERF_EFORMAT,
            "session.yaml:3: run.mode: depe is not one of regions, light");
    refused("run:\n  mdoe: deep\n", LLMPERF_EFORMAT,
            "session.yaml:2: run.mdoe: unknown key; nearest: run.mode");
    refused("artefacts: {dir: x}\n", LLMPERF_EFORMAT, "artefacts: unknown key; nearest: artifacts");
    refused("artifacts:\n  keep_runs: -1\n", LLMPERF_EFORMAT,
            "session.yaml:2: artifacts.keep_runs: must be between 0");
    refused("artifacts:\n  keep_runs: many\n", LLMPERF_EFORMAT,
            "session.yaml:2: artifacts.keep_runs is many");
    refused("run: {id: a/b}\nartifacts: {dir: x}\n", LLMPERF_EINVAL, "folder name without a path");
    refused("run: {mode: '${nothing}'}\n", LLMPERF_EFORMAT, "session.yaml:1");
    refused("inputs: {manifest: /nonexistent/list.yaml}\n", LLMPERF_ENOENT,
            "/nonexistent/list.yaml");
    refused("defaults: [{hardware: nothing}]\n", LLMPERF_ENOENT, "hardware/nothing");
}

static void a_manifest_is_kept_with_absolute_paths_and_sizes(void **state)
{
    llmperf_session_options options = some_options();
    const char *manifest =
        "inputs:\n- page.png\n- {path: /absent/b.png, category: 'text: heavy', pages: 3}\n";
    char text[512], *kept, expected[1024];

    (void)state;
    write_test_file("page.png", "12345", 5);
    write_test_file("manifest.yaml", manifest, strlen(manifest));
    snprintf(text, sizeof(text), "inputs: {manifest: '%s'}\n", in_test_folder("manifest.yaml"));
    options.run_dir = in_test_folder("with-inputs");
    llmperf_profile_free(play_with(text, &options));
    kept = content(in_test_folder("with-inputs/inputs.yaml"));
    snprintf(expected, sizeof(expected),
             "inputs:\n  - path: \"%s\"\n    size_bytes: 5\n  - path: \"/absent/b.png\"\n    "
             "size_bytes: null\n    \"category\": 'text: heavy'\n"
             "    \"pages\": 3\n",
             in_test_folder("page.png"));
    assert_non_null(strstr(kept, expected));
    free(kept);
}

/* An hour old, so that nobody takes it for a run that goes on. */
static void make_old_run(const char *name, int age_s)
{
    struct utimbuf times = { time(NULL) - age_s, time(NULL) - age_s };
    char path[128];

    snprintf(path, sizeof(path), "kept/%s", name);
    assert_int_equal(lp_folder_make(in_test_folder(path)), 0);
    snprintf(path, sizeof(path), "kept/%s/run.llmperf", name);
    write_test_file(path, "x", 1);
    assert_int_equal(utime(in_test_folder(path), &times), 0);
}

static bool has_run(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "kept/%s", name);
    return lp_path_exists(in_test_folder(path));
}

static void only_the_newest_runs_are_kept(void **state)
{
    llmperf_session_options options;
    char text[512];

    (void)state;
    make_old_run("oldest", 9000);
    make_old_run("older", 8000);
    make_old_run("old", 7000);
    make_old_run("running", 1);
    assert_int_equal(lp_folder_make(in_test_folder("kept/notes")), 0);
    snprintf(text, sizeof(text), "run: {id: mine}\nartifacts: {dir: '%s', keep_runs: 3}\n",
             in_test_folder("kept"));
    options = some_options();
    llmperf_profile_free(play_with(text, &options));
    assert_false(has_run("oldest"));
    assert_false(has_run("older"));
    assert_true(has_run("old"));
    assert_true(has_run("running"));
    assert_true(has_run("mine"));
    assert_true(has_run("notes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_the_program_leaves_open_come_from_the_configuration),
        cmocka_unit_test(the_limit_of_paths_comes_from_the_configuration),
        cmocka_unit_test(what_the_program_says_wins),
        cmocka_unit_test(the_environment_comes_before_the_configuration),
        cmocka_unit_test(sampled_regions_come_from_the_environment_or_the_configuration),
        cmocka_unit_test(the_usual_configuration_names_a_model_and_its_dtype),
        cmocka_unit_test(wrong_values_name_their_place),
        cmocka_unit_test(a_manifest_is_kept_with_absolute_paths_and_sizes),
        cmocka_unit_test(only_the_newest_runs_are_kept),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
