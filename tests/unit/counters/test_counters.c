/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters without a GPU: presets, and what they come to on each chip. What needs libcupti
 * is skipped where it is not installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/counters/counters.h"
#include "llmperf/sys.h"

static char path[] = "/tmp/llmperf-counters-XXXXXX";

static int read_text(const char *text, struct lp_counter_preset **preset)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return lp_counter_preset_read(path, "mine", preset);
}

static void assert_refused(const char *text, const char *part)
{
    struct lp_counter_preset *preset = NULL;

    assert_int_equal(read_text(text, &preset), LLMPERF_EFORMAT);
    assert_null(preset);
    if (!strstr(llmperf_last_error(), part))
        fail_msg("\"%s\" is not in \"%s\"", part, llmperf_last_error());
}

static bool have_cupti(void)
{
#ifdef SANITIZED
    print_message(
        "skipped: libcupti opens libraries in a way that sanitizers end the program for\n");
    return false;
#endif
    if (llmperf_counters_chip(0))
        return true;
    print_message("skipped: %s\n", llmperf_last_error());
    return false;
}

static llmperf_counter_info row(const llmperf_counters *counters, size_t index)
{
    llmperf_counter_info info = LLMPERF_COUNTER_INFO_INIT;

    assert_int_equal(llmperf_counters_info(counters, index, &info), 0);
    return info;
}

static const char *metric_of(const llmperf_counters *counters, const char *quantity)
{
    for (size_t i = 0; i < llmperf_counters_count(counters); i++)
        if (strcmp(row(counters, i).quantity, quantity) == 0)
            return row(counters, i).metric;
    return NULL;
}

static void preset_keeps_quantities_and_candidates_in_order(void **state)
{
    struct lp_counter_preset *preset = NULL;

    (void)state;
    assert_int_equal(read_text("about: two\nmethod: pm\npasses: 1\nquantities:\n"
                               "  b: {unit: byte, from: [x__b.sum, y__b.sum]}\n"
                               "  a: {from: [x__a.sum + 2 * x__c.sum]}\n",
                               &preset),
                     0);
    assert_string_equal(preset->name, "mine");
    assert_string_equal(preset->about, "two");
    assert_int_equal(preset->method, LP_COUNTER_PM);
    assert_int_equal(preset->most_passes, 1);
    assert_int_equal(preset->quantities.count, 2);
    assert_string_equal(preset->quantities.items[0].quantity, "b");
    assert_string_equal(preset->quantities.items[0].unit, "byte");
    assert_int_equal(preset->quantities.items[0].candidates.count, 2);
    assert_string_equal(preset->quantities.items[0].candidates.items[1], "y__b.sum");
    assert_null(preset->quantities.items[1].unit);
    lp_counter_preset_free(preset);
}

static void wrong_presets_are_refused_with_line_and_remedy(void **state)
{
    (void)state;
    assert_refused("quantities: {a: {from: [x.sum]}}\n", "\"method\" must be range, pm or pc");
    assert_refused("method: twice\nquantities: {a: {from: [x.sum]}}\n", "\"method\"");
    assert_refused("method: range\n", "\"quantities\" must be a map");
    assert_refused("method: range\nquantities: {}\n", "\"quantities\" must be a map");
    assert_refused("method: range\nquantities:\n  a: 1\n", ":3: a quantity must be a map");
    assert_refused("method: range\nquantities:\n  a: {from: []}\n",
                   ":3: a quantity needs \"from\"");
    assert_refused("method: range\nquantities:\n  a: {from: [{}]}\n",
                   "a candidate must be a string");
    assert_refused("method: range\npasses: 0\nquantities: {a: {from: [x]}}\n", "\"passes\"");
    assert_refused("method: range\npasses: two\nquantities: {a: {from: [x]}}\n", "\"passes\"");
}

static void presets_are_listed(void **state)
{
    char *text = NULL, *rest = NULL, before[64] = "";

    (void)state;
    assert_int_equal(llmperf_counters_presets(&text), 0);
    assert_non_null(strstr(text, "\nlight\n"));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(strcmp(before, line) < 0);
        snprintf(before, sizeof(before), "%s", line);
    }
    llmperf_text_free(text);
}

/* What a chip can be asked for at all: Volta cannot be sampled, and Xavier's counters are not
 * reached by this interface. */
static bool may_lack(const char *chip, const char *preset)
{
    return strcmp(chip, "GV11B") == 0 ||
           (strcmp(chip, "GV100") == 0 &&
            (strncmp(preset, "pm", 2) == 0 || strcmp(preset, "live") == 0));
}

static void check_preset_on_chip(const char *preset, const char *chip)
{
    llmperf_counters *counters = NULL;
    int status = llmperf_counters_open(chip, preset, &counters);
    uint32_t passes;

    if (status == LLMPERF_ENOTSUP && may_lack(chip, preset))
        return;
    if (status < 0)
        fail_msg("%s on %s: %s", preset, chip, llmperf_last_error());
    passes = llmperf_counters_passes(counters);
    assert_in_range(passes, 1, 32);
    if (strcmp(preset, "light") == 0 || llmperf_counters_method(counters) == LLMPERF_COUNTERS_PM)
        assert_int_equal(passes, 1);
    if (llmperf_counters_method(counters) == LLMPERF_COUNTERS_RANGE)
        assert_string_equal(metric_of(counters, "gpu_time"), "gpu__time_duration.sum");
    else
        assert_true(metric_of(counters, "sm_active") || metric_of(counters, "tensor_active") ||
                    metric_of(counters, "dram_read_bytes"));
    for (size_t i = 0; i < llmperf_counters_count(counters); i++) {
        llmperf_counter_info info = row(counters, i);

        assert_int_equal(info.metric == NULL, info.reason != NULL);
        assert_int_equal(info.metric == NULL, info.unit == NULL);
    }
    llmperf_counters_free(counters);
}

static void every_preset_resolves_on_every_chip(void **state)
{
    const char *chip;
    char *presets = NULL;

    (void)state;
    if (!have_cupti())
        skip();
    assert_int_equal(llmperf_counters_presets(&presets), 0);
    for (char *preset = strtok(presets, "\n"); preset; preset = strtok(NULL, "\n"))
        for (size_t c = 0; (chip = llmperf_counters_chip(c)); c++)
            if (strcmp(preset, "stalls") != 0) /* its reasons depend on the GPU */
                check_preset_on_chip(preset, chip);
    llmperf_text_free(presets);
}

static void names_follow_the_chip(void **state)
{
    llmperf_counters *counters;

    (void)state;
    if (!have_cupti())
        skip();
    assert_int_equal(llmperf_counters_open("GH100", "light", &counters), 0);
    assert_string_equal(metric_of(counters, "dram_read_bytes"), "dram__bytes_read.sum");
    llmperf_counters_free(counters);
    assert_int_equal(llmperf_counters_open("GB202", "light", &counters), 0);
    assert_string_equal(metric_of(counters, "dram_read_bytes"), "dram__bytes_op_read.sum");
    llmperf_counters_free(counters);
}

/* CUPTI 13.0 plans roofline for GH100 in 7 passes; other versions may differ by a few. */
static void what_does_not_fit_into_the_passes_is_told(void **state)
{
    llmperf_counters *counters;

    (void)state;
    if (!have_cupti())
        skip();
    assert_int_equal(llmperf_counters_open("GH100", "roofline", &counters), 0);
    assert_true(llmperf_counters_passes(counters) > 1);
    llmperf_counters_free(counters);
    assert_int_equal(llmperf_counters_open("GB202", "light", &counters), 0);
    assert_null(metric_of(counters, "tensor_flops_fp8"));
    for (size_t i = 0; i < llmperf_counters_count(counters); i++)
        if (!row(counters, i).metric)
            assert_non_null(strstr(row(counters, i).reason, "passes"));
    llmperf_counters_free(counters);
}

static void metrics_by_their_own_names_work(void **state)
{
    llmperf_counters *counters;

    (void)state;
    if (!have_cupti())
        skip();
    assert_int_equal(llmperf_counters_open("GH100", "dram__bytes_read.sum,no__such.sum", &counters),
                     0);
    assert_int_equal(llmperf_counters_count(counters), 2);
    assert_string_equal(row(counters, 0).metric, "dram__bytes_read.sum");
    assert_string_equal(row(counters, 0).unit, "byte");
    assert_null(row(counters, 1).metric);
    assert_non_null(strstr(row(counters, 1).reason, "no__such.sum"));
    llmperf_counters_free(counters);
}

static void wrong_questions_are_refused(void **state)
{
    llmperf_counter_info info = LLMPERF_COUNTER_INFO_INIT;
    llmperf_counters *counters = NULL;

    (void)state;
    assert_int_equal(llmperf_counters_open(NULL, "light", &counters), LLMPERF_EINVAL);
    assert_int_equal(llmperf_counters_open("GH100", "no_such", &counters), LLMPERF_ENOENT);
    assert_non_null(strstr(llmperf_last_error(), "no_such"));
    assert_int_equal(llmperf_counters_info(NULL, 0, &info), LLMPERF_EINVAL);
    assert_int_equal(llmperf_counters_count(NULL), 0);
    assert_int_equal(llmperf_counters_passes(NULL), 0);
    llmperf_counters_free(NULL);
    if (!have_cupti())
        skip();
    assert_int_equal(llmperf_counters_open("GX999", "light", &counters), LLMPERF_EINVAL);
    assert_non_null(strstr(llmperf_last_error(), "GX999"));
    assert_int_equal(llmperf_counters_open("GH100", "no__such.sum", &counters), LLMPERF_EINVAL);
    assert_int_equal(llmperf_counters_list("GH100", "regex:(", 0, &counters), LLMPERF_EINVAL);
    assert_int_equal(llmperf_counters_list("GH100", "*", 2, &counters), LLMPERF_EINVAL);
    assert_int_equal(llmperf_counters_list("GH100", "dram__bytes_*", 0, &counters), 0);
    assert_true(llmperf_counters_count(counters) >= 2);
    assert_int_equal(llmperf_counters_info(counters, 1000, &info), LLMPERF_EINVAL);
    info.struct_size = 0;
    assert_int_equal(llmperf_counters_info(counters, 0, &info), LLMPERF_EINVAL);
    llmperf_counters_free(counters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preset_keeps_quantities_and_candidates_in_order),
        cmocka_unit_test(wrong_presets_are_refused_with_line_and_remedy),
        cmocka_unit_test(presets_are_listed),
        cmocka_unit_test(every_preset_resolves_on_every_chip),
        cmocka_unit_test(names_follow_the_chip),
        cmocka_unit_test(what_does_not_fit_into_the_passes_is_told),
        cmocka_unit_test(metrics_by_their_own_names_work),
        cmocka_unit_test(wrong_questions_are_refused),
    };
    int fd = mkstemp(path), failed;

    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
