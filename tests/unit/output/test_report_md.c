/* SPDX-License-Identifier: Apache-2.0 */
/* What report.md says beyond the tables of test_output.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "llmperf/llmperf.h"
#include "tests/support/sample.h"
#include "tests/support/text.h"

static int clear_environment(void **state)
{
    (void)state;
    unsetenv("LLMPERF_DTYPE");
    unsetenv("LLMPERF_PEAK_TFLOPS");
    unsetenv("LLMPERF_BANDWIDTH_GBS");
    return 0;
}

static void sections_stand_in_their_order(void **state)
{
    static const char *const sections[] = { "tokens/s**: **",
                                            "## Where the time goes",
                                            "## What to look at first",
                                            "**Complete**",
                                            "## Further advice",
                                            "## Stages",
                                            "## Roofline, MFU and MBU",
                                            "## Calls of stages",
                                            "## Kernel classes",
                                            "## Operators",
                                            "## Kernels",
                                            "## Aggregates",
                                            "## Completeness",
                                            "## Environment",
                                            "## Notes" };
    char *text = sample_report_md(sample_profile());
    const char *at = text;

    (void)state;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        assert_text_has(at, sections[i]);
        at = strstr(at, sections[i]) + 1;
    }
    llmperf_text_free(text);
}

static void decode_leads_with_its_distance_from_the_floor(void **state)
{
    char *text = sample_report_md(sample_profile());

    (void)state;
    assert_text_has(text, "- `" SAMPLE_STEP
                          "`: 10.0 ms of host time, mean of 300 calls, 800 tokens/s, 2.80x the "
                          "memory-bandwidth bound of 3.57 ms, MBU 35.7 % (89.4 % while busy), MFU "
                          "1.30 % (3.25 % while busy), GPU 0 busy 40.0 %");
    assert_text_has(text, "All stages together: MBU 35.3 % (86.3 % while busy), MFU 2.26 % (5.54 % "
                          "while busy).\n");
    assert_text_has(text,
                    "| `" SAMPLE_STEP "` | 0 | 1072 | 2.797 | 1.119 | 35.75 | 89.37 | 1.300 | "
                    "3.251 | 7.499 | 32.17 | 4290 | launch | model, program |");
    assert_text_has(text, "balanced, neither is;");
    assert_text_has(text, "- bf16 peak: 989.4 TFLOP/s (table, confidence high: ");
    assert_text_has(text, "- ridge: 206.1 FLOP/B");
    llmperf_text_free(text);
}

static void a_missing_dtype_is_told_where_mfu_would_stand(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text, *headline, *section;

    (void)state;
    assert_int_equal(lp_profile_set_fact(profile, "dtype", ""), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    text = sample_report_md(profile);
    headline = strstr(text, "MFU, lower bounds and the advice based on them are withheld: "
                            "the dtype that the program computes in is not known");
    section = strstr(text, "MFU, floors and bounds are unknown: the dtype");
    assert_true(headline && headline < strstr(text, "## Where the time goes"));
    assert_true(section && section > strstr(text, "## Roofline, MFU and MBU"));
    for (size_t i = 0; i < 2; i++) {
        const char *line = i == 0 ? headline : section;

        assert_text_has(line, "set LLMPERF_DTYPE (bf16");
        assert_text_has(line, "run.dtype");
        assert_text_has(line, "model_path of the session");
    }
    llmperf_text_free(text);
    /* Of work that nobody gave there is no MFU with a dtype either. */
    profile = sample_rows();
    assert_int_equal(lp_profile_set_fact(profile, "dtype", ""), 0);
    for (size_t i = 0; i < profile->regions.count; i++)
        profile->regions.items[i].stats.flops = LLMPERF_UNKNOWN;
    assert_int_equal(lp_profile_finish(profile), 0);
    text = sample_report_md(profile);
    assert_text_lacks(text, "are withheld: the dtype");
    llmperf_text_free(text);
}

#define LAYERS 30

/* Each layer of the step with two parts; the longest is the seventh. */
static void layers_are_shown_by_one_of_them(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text, *json, *table, path[128], part[160], row[176];
    llmperf_region_stats *stats;
    size_t rows = 0;

    (void)state;
    for (int layer = 0; layer < LAYERS; layer++) {
        double busy_ms = layer == 7 ? 20 : 10;

        snprintf(path, sizeof(path), SAMPLE_STEP "/LLM@layer%02d", layer);
        for (int of = 0; of < 3; of++) {
            static const char *const parts[] = { "", "/LLM@attention", "/LLM@mlp" };

            snprintf(part, sizeof(part), "%s%s", path, parts[of]);
            stats = sample_region(profile, part, of ? path : SAMPLE_STEP, SAMPLE_STEPS, 0.1,
                                  busy_ms / (1 + of));
            stats->kind = LLMPERF_REGION_OPERATOR;
            stats->flops = 1000000000;
            stats->bytes = 100000000;
        }
    }
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &json), 0);
    text = sample_report_md(profile);
    table = strstr(text, "## Roofline, MFU and MBU");
    *strstr(table, "\n## Calls of stages") = '\0';
    assert_text_has(table, "| `" SAMPLE_STEP "` |");
    assert_text_has(table, "| `" SAMPLE_STEP "/LLM@layer07` |");
    assert_text_has(table, "| `" SAMPLE_STEP "/LLM@layer07/LLM@attention` |");
    assert_text_has(table, "| `" SAMPLE_STEP "/LLM@layer07/LLM@mlp` |");
    assert_text_has(table, "87 more rows in metrics.json.");
    assert_text_lacks(table, "LLM@layer08");
    for (int layer = 0; layer < LAYERS; layer++) {
        snprintf(row, sizeof(row), "\"path\": \"" SAMPLE_STEP "/LLM@layer%02d\"", layer);
        rows += strstr(json, row) != NULL;
    }
    assert_int_equal(rows, LAYERS);
    llmperf_text_free(json);
    llmperf_text_free(text);
}

static void add_metric(llmperf_profile *profile, const char *name, const char *unit, double mean)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    metric.name = name;
    metric.unit = unit;
    metric.source = "range_profiler";
    metric.region = SAMPLE_STEP;
    metric.device = 0;
    metric.count = 3;
    metric.mean = metric.min = metric.max = mean;
    assert_int_equal(lp_profile_add_metric(profile, &metric), 0);
}

/* The sample's step has 128.7 GFLOP and 17.16 GB of model work. 500 GFLOP of bf16 take 0.505 ms
 * of 4. */
static void work_that_was_counted_stands_beside_the_models(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text;

    (void)state;
    add_metric(profile, "gpu_time", "ns", 4e6);
    add_metric(profile, "tensor_flops_bf16", "flop", 5e11);
    add_metric(profile, "dram_read_bytes", "byte", 2e10);
    add_metric(profile, "dram_write_bytes", "byte", 1e9);
    assert_int_equal(lp_profile_finish(profile), 0);
    text = sample_report_md(profile);
    assert_text_has(text, "## Hardware counters");
    assert_text_has(text, "| `" SAMPLE_STEP
                          "` | 0 | 3 | 128.7 | 500.0 | 3.886 | 17.16 | 21.00 | 1.224 | 12.63 |");
    llmperf_text_free(text);
    text = sample_report_md(sample_profile());
    assert_text_lacks(text, "Hardware counters");
    llmperf_text_free(text);
}

static void vision_is_a_nested_row_and_a_note(void **state)
{
    char *text = sample_report_md(sample_profile());

    (void)state;
    assert_text_has(text, "| ↳ `LLM@prefill/LLM@vision` | host | 1 | 12.00 |");
    assert_text_has(text,
                    "Vision is part of `LLM@prefill` and counted once: 11.00 of its 46.00 ms of "
                    "GPU busy time (23.9 %).");
    llmperf_text_free(text);
}

static void iterations_are_a_budget(void **state)
{
    char *text = sample_report_md(sample_profile());

    (void)state;
    assert_text_has(text, "`" SAMPLE_STEP "`: 300 calls.");
    assert_text_has(text, "| …… busy | 4.000 | 40.00 |");
    assert_text_has(text, "| ……… waiting for launch | 4.000 | 40.00 |");
    assert_text_has(text, "| ……… gaps between kernels | 1.000 | 10.00 |");
    llmperf_text_free(text);
}

static void recommendations_stand_above_and_in_full(void **state)
{
    char *text = sample_report_md(sample_profile());

    (void)state;
    assert_text_has(text, "## What to look at first\n\n1. **High, saves up to 1200 ms** (4.00 ms a "
                          "call: 1333 tokens/s instead of 800): For 40.0 % of the time of "
                          "LLM@decode_step (its time is 2.80x its memory-bandwidth bound) the GPU "
                          "waits for the host to launch");
    assert_text_has(strstr(text, "## Further advice\n\n4. "), "runs at batch size 8");
    llmperf_text_free(text);
}

static void little_of_the_work_seen_withholds_what_it_means(void **state)
{
    llmperf_profile *profile = sample_profile();
    char *text;

    (void)state;
    profile->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    profile->ledger.kernels_attributed /= 2;
    text = sample_report_md(profile);
    assert_text_has(text, "Summary withheld: 50.0 %");
    assert_text_has(text, "\n\nWithheld: ");
    assert_text_lacks(text, "waits for the host to launch");
    llmperf_text_free(text);
}

static void unknown_work_says_why(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text;

    (void)state;
    for (size_t i = 0; i < profile->regions.count; i++)
        profile->regions.items[i].stats.flops = profile->regions.items[i].stats.bytes =
            LLMPERF_UNKNOWN;
    profile->iteration_stats.count = profile->iterations.count = 0;
    assert_int_equal(lp_profile_finish(profile), 0);
    text = sample_report_md(profile);
    assert_text_has(text, "\n\nUnknown: the program counted no FLOPs");
    assert_text_lacks(text, "## Calls of stages");
    assert_text_lacks(text, "x the memory-bandwidth bound");
    llmperf_text_free(text);
}

/* Ranges of a program that knows no stages: the longest twenty, and stages.md has all. */
static void without_a_stage_the_longest_regions_are_shown(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text, *all, path[32];
    const char *first, *second;

    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        snprintf(path, sizeof(path), "APP@call%02d", i);
        sample_region(profile, path, NULL, 1, 1, 100000 + i);
    }
    for (size_t i = 0; i < profile->regions.count; i++)
        profile->regions.items[i].stats.kind = LLMPERF_REGION_OPERATOR;
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_STAGES_MD, &all), 0);
    text = sample_report_md(profile);
    assert_text_has(text, "No stage was marked");
    first = strstr(text, "\n| `APP@call29` | host | 1 |");
    second = strstr(text, "\n| `APP@call28` | host | 1 |");
    assert_true(first && second && first < second);
    assert_text_has(text, "\n| `APP@call10` | 0 | 1.000 | 100010 |");
    assert_text_lacks(text, "APP@call09");
    assert_text_has(text, " more in stages.md.");
    assert_text_has(all, "APP@call09");
    assert_text_lacks(all, " more in stages.md.");
    llmperf_text_free(text);
    llmperf_text_free(all);
}

static void kernels_of_many_regions_are_added_up_by_name(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text;

    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        char path[160];

        snprintf(path, sizeof(path), SAMPLE_STEP "/LLM@layer%02d", i);
        sample_region(profile, path, SAMPLE_STEP, SAMPLE_STEPS, 0.1, 10)->kind =
            LLMPERF_REGION_OPERATOR;
        sample_kernel(profile, "void experts<1>(int)", path, LLMPERF_ACTIVITY_KERNEL, 2, 3);
        sample_kernel(profile, "void experts<2>(int)", path, LLMPERF_ACTIVITY_KERNEL, 2, 1);
    }
    assert_int_equal(lp_profile_finish(profile), 0);
    text = sample_report_md(profile);
    assert_text_has(text, "\n| `experts` | 60 | 120 | 120.0 | 1.000 | ");
    assert_text_has(text,
                    "\n| `experts` | `" SAMPLE_STEP "/LLM@layer*` | 60 | 120 | 120.0 | 1.000 | ");
    assert_text_has(text, "| `LLM@layer*` | ");
    llmperf_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_stand_in_their_order),
        cmocka_unit_test(decode_leads_with_its_distance_from_the_floor),
        cmocka_unit_test(a_missing_dtype_is_told_where_mfu_would_stand),
        cmocka_unit_test(layers_are_shown_by_one_of_them),
        cmocka_unit_test(without_a_stage_the_longest_regions_are_shown),
        cmocka_unit_test(kernels_of_many_regions_are_added_up_by_name),
        cmocka_unit_test(work_that_was_counted_stands_beside_the_models),
        cmocka_unit_test(vision_is_a_nested_row_and_a_note),
        cmocka_unit_test(iterations_are_a_budget),
        cmocka_unit_test(recommendations_stand_above_and_in_full),
        cmocka_unit_test(little_of_the_work_seen_withholds_what_it_means),
        cmocka_unit_test(unknown_work_says_why),
    };

    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
