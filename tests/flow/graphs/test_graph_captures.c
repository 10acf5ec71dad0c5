/* SPDX-License-Identifier: Apache-2.0 */
/* What ran in graphs, by launch region and capture region, as one table: of a profile, of a saved
 * run and in the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

static llmperf_capture_stats find_capture(const llmperf_profile *profile, const char *region,
                                          const char *captured)
{
    llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_CAPTURES); i++) {
        assert_int_equal(llmperf_profile_capture(profile, i, &row), 0);
        if (!strcmp(row.region, region) && !strcmp(row.captured_in, captured))
            return row;
    }
    fail_msg("no row of %s x %s", region, captured);
    return row;
}

/* Layers 2 and 10, the first with two parts, replayed ten times. */
#define LAYERS                                                                                     \
    "begin layer10\nnode graph=1 index=0\nend\n"                                                   \
    "begin layer2\nbegin attention\nnode graph=1 index=1\nend\n"                                   \
    "begin mlp\nnode graph=1 index=2\nend\nend\ninstantiate graph=2 from=1 nodes=3\n"              \
    "begin LLM@decode_step\nrepeat 10\n"                                                           \
    "graph a,b,\"[memcpy DtoD]\" graph=2 index=0 duration=2000\ndone\nend\n"                       \
    "launch eager\n"

static void captures_are_told_by_layer(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    llmperf_capture_stats row;

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_CAPTURES), 4);
    row = find_capture(profile, "LLM@decode_step", "LLM@layer2");
    assert_int_equal(row.kernel_count, 10);
    assert_int_equal(row.memory_count, 10);
    check_close(row.kernel_ms, 0.02);
    check_close(row.memory_ms, 0.02);
    check_close(row.exclusive_ms, 0);
    check_close(row.share, 2.0 / 3);
    assert_int_equal(row.depth, 0);
    row = find_capture(profile, "LLM@decode_step", "LLM@layer2/LLM@attention");
    check_close(row.exclusive_ms, 0.02);
    assert_int_equal(row.depth, 1);
    llmperf_profile_free(profile);
}

static void layer_2_comes_before_layer_10(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    static const char *const order[] = { "LLM@layer2", "LLM@layer2/LLM@attention",
                                         "LLM@layer2/LLM@mlp", "LLM@layer10" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

        assert_int_equal(llmperf_profile_capture(profile, i, &row), 0);
        assert_string_equal(row.captured_in, order[i]);
    }
    llmperf_profile_free(profile);
}

static void the_report_has_the_layers_of_the_graph(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_non_null(strstr(text, "Launched in `LLM@decode_step`, device 0:"));
    assert_non_null(strstr(text, "| `LLM@layer*` | 2 | 30 |"));
    assert_non_null(strstr(
        text, "| `LLM@layer2/LLM@attention` | 1 | 10 | 0.02000 | 0.02000 | 20.00 | 33.33 |"));
    assert_non_null(strstr(text, "| `a` | `LLM@decode_step` | `LLM@layer10` |"));
    assert_non_null(strstr(text, "| `eager` | (no region) | – | 1 |"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void without_graphs_there_is_no_such_table(void **state)
{
    llmperf_profile *profile = play_script("begin a\nlaunch k\nend\n");
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_CAPTURES), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, "Captured in"));
    assert_null(strstr(text, "CUDA graphs by"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void nodes_without_a_capture_share_one_row(void **state)
{
    llmperf_profile *profile = play_script("begin step\ngraph a,b graph=9 index=3\nend\n");

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_CAPTURES), 1);
    assert_int_equal(
        find_capture(profile, "LLM@step", "LLM@(captured before profiling)").kernel_count, 2);
    llmperf_profile_free(profile);
}

static void captures_of_a_saved_run_are_the_same(void **state)
{
    llmperf_profile *profile = play_script(LAYERS), *opened = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_save(profile, in_test_folder("run.llmperf")), 0);
    assert_int_equal(llmperf_profile_open(in_test_folder("run.llmperf"), &opened), 0);
    assert_int_equal(llmperf_profile_count(opened, LLMPERF_ROWS_CAPTURES), 4);
    check_close(find_capture(opened, "LLM@decode_step", "LLM@layer2").kernel_ms, 0.02);
    llmperf_profile_free(profile);
    llmperf_profile_free(opened);
}

static void a_row_that_does_not_exist_is_an_error(void **state)
{
    llmperf_profile *profile = play_script("launch a\n");
    llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_capture(profile, 0, &row), LLMPERF_EINVAL);
    check_error("row 0 of 0 does not exist");
    assert_int_equal(llmperf_profile_capture(NULL, 0, &row), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_count(NULL, LLMPERF_ROWS_CAPTURES), 0);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_are_told_by_layer),
        cmocka_unit_test(layer_2_comes_before_layer_10),
        cmocka_unit_test(the_report_has_the_layers_of_the_graph),
        cmocka_unit_test(without_graphs_there_is_no_such_table),
        cmocka_unit_test(nodes_without_a_capture_share_one_row),
        cmocka_unit_test(captures_of_a_saved_run_are_the_same),
        cmocka_unit_test(a_row_that_does_not_exist_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
