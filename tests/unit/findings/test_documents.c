/* SPDX-License-Identifier: Apache-2.0 */
/* stakeholder_summary.md, assumptions.md and inputs.yaml. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
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

/* Of a profile, which is freed. */
static char *document_of(llmperf_profile *profile, uint32_t document)
{
    char *text = NULL;

    if (llmperf_document_text(profile, document, &text) < 0)
        fail_msg("%s", llmperf_last_error());
    llmperf_profile_free(profile);
    return text;
}

static void summary_names_the_largest_costs(void **state)
{
    char *text = document_of(sample_profile(), LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);

    (void)state;
    assert_text_has(text, "- `LLM@decode_step` takes 10.0 ms of host time on average (300 calls), "
                          "which is 800 tokens/s; "
                          "this GPU could do it in 3.57 ms at best.");
    /* Steps 3000 ms, prefill 50 ms, vision 12 ms, in prefill. */
    assert_text_has(text,
                    "| GPU idle, waiting for the host to launch | `LLM@decode_step` | 1.20 s | "
                    "39.33 | use CUDA graphs, or give each launch more work | 1.20 s |");
    assert_text_has(text, "| matrix products | `LLM@decode_step` | 700 ms | 22.94 |");
    assert_text_has(text, "\nEverything else: ");
    assert_text_has(text,
                    "## Where to act\n\n1. **High, saves up to 1200 ms** (4.00 ms a call: 1333 "
                    "tokens/s instead of 800): For 40.0 % of the time of LLM@decode_step");
    assert_text_has(text, "calls varies");
    llmperf_text_free(text);
}

static void summary_has_six_tables_on_two_pages(void **state)
{
    static const char *const titles[] = { "## Environment", "## Aggregates",    "## Stages",
                                          "## MFU and MBU", "## Top operators", "## Top kernels" };
    char *text = document_of(sample_profile(), LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    const char *at = text;
    size_t lines = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        assert_text_has(at, titles[i]);
        at = strstr(at, titles[i]) + 1;
    }
    assert_text_has(text,
                    "| `LLM@decode_all/LLM@decode_step` | 300 | 10.00 | 800.0 | 98.36 | 40.00 |");
    assert_text_has(text, "All stages together: MBU 35.3 % (86.3 % while busy)");
    assert_text_has(text, "| `nvjet_gemm_b` | 1 | 60000 | 700.0 |");
    for (at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_true(lines < 110);
    llmperf_text_free(text);
}

/* Twice the kernels in the same time: two of them ran at once. */
static void cost_centres_never_add_up_to_more_than_all_of_the_time(void **state)
{
    llmperf_profile *profile = sample_rows();
    const struct lp_findings *findings;
    double shares = 0;

    (void)state;
    for (size_t i = 0; i < profile->kernels.count; i++)
        profile->kernels.items[i].stats.total_ms *= 4;
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    for (size_t i = 0; i < findings->cost_centres.rows.count; i++) {
        const struct lp_cost_centre *row = &findings->cost_centres.rows.items[i];

        shares += row->share;
        assert_true(isnan(row->saving_ms) || row->saving_ms <= row->ms);
    }
    assert_true(findings->cost_centres.overlapped);
    assert_true(shares > 0.99 && shares < 1 + 1e-9);
    llmperf_profile_free(profile);
}

/* Saving of the most severe advice on steps; a share of their device work was not collected. */
static double possible_saving(double skipped_fraction)
{
    llmperf_profile *profile = sample_profile();
    const struct lp_findings *findings;
    double ms;

    sample_find(profile, SAMPLE_STEP)->skipped_fraction = skipped_fraction;
    assert_int_equal(lp_findings_of(profile, &findings), 0);
    assert_string_equal(findings->advice.rows.items[0].advice.id, "launch_bound");
    ms = findings->advice.rows.items[0].advice.saving_ms;
    llmperf_profile_free(profile);
    return ms;
}

static void advice_on_a_sampled_stage_is_on_all_its_instances(void **state)
{
    (void)state;
    assert_true(possible_saving(0) > 0);
    assert_true(fabs(possible_saving(0.75) - 4 * possible_saving(0)) < 1e-6);
}

/* Half of 300 steps of 10 ms was collected: in 1200 ms of the 1500 that those took the device was
 * busy. */
static llmperf_profile *half_sampled_profile(void)
{
    llmperf_profile *profile = sample_profile();
    llmperf_region_stats *step = sample_find(profile, SAMPLE_STEP);

    step->skipped_fraction = 0.5;
    step->gpu_busy_ms = 0.4 * step->wall_sum_ms;
    profile->ledger.verdict = LLMPERF_VERDICT_SAMPLED;
    profile->ledger.sampled_fraction = 0.5;
    return profile;
}

static void busy_share_of_a_sampled_stage_is_of_the_time_that_was_collected(void **state)
{
    char *text = document_of(half_sampled_profile(), LLMPERF_DOCUMENT_REPORT_MD);

    (void)state;
    assert_text_has(text, "GPU 0 busy 80.0 %");
    assert_text_has(text, " | 1500 | 1200 | 80.00 | ");
    assert_text_has(
        text, "This run was sampled: all other columns of this table are for the collected calls");
    llmperf_text_free(text);
}

static void least_time_of_a_sampled_stage_is_of_an_instance(void **state)
{
    char *text = document_of(half_sampled_profile(), LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);

    (void)state;
    assert_text_has(text, "this GPU could do it in 3.57 ms at best.");
    llmperf_text_free(text);
}

static void summary_of_a_clean_run_has_nothing_uncertain(void **state)
{
    llmperf_profile *profile = sample_profile();
    char *text;

    (void)state;
    sample_find(profile, SAMPLE_STEP)->wall_std_ms = 0.1;
    text = document_of(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    assert_text_has(text, "- Nothing is known to be missing.");
    llmperf_text_free(text);
}

static void summary_of_a_damaged_run_withholds_costs(void **state)
{
    llmperf_profile *profile = sample_profile();
    char *text;

    (void)state;
    profile->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    profile->ledger.kernels_attributed /= 2;
    assert_int_equal(lp_profile_add_problem(profile, "half of it is missing"), 0);
    text = document_of(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    assert_text_has(text, "Where the time goes is withheld");
    assert_text_lacks(text, "matrix products");
    assert_text_has(text, "- half of it is missing\n");
    assert_text_has(text, "lower bounds");
    llmperf_text_free(text);
}

static void summary_without_a_device_is_of_the_host(void **state)
{
    llmperf_profile *profile = sample_rows();
    char *text;

    (void)state;
    profile->kernels.count = profile->iterations.count = profile->iteration_stats.count = 0;
    profile->ledger.verdict = LLMPERF_VERDICT_NO_DEVICE;
    assert_int_equal(lp_profile_finish(profile), 0);
    text = document_of(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    assert_text_has(text, "| host time | `LLM@decode_step` | 3.00 s | 98.36 |");
    assert_text_has(text, "| host time | `LLM@prefill` | 38.0 ms |"); /* of 50 */
    assert_text_has(text, "| host time | `LLM@vision` | 12.0 ms |");
    assert_text_has(text, "No GPU was observed");
    llmperf_text_free(text);
}

static void assumptions_name_batch_dtype_peaks_and_model(void **state)
{
    llmperf_profile *profile = sample_profile();
    char *text;

    (void)state;
    assert_int_equal(lp_profile_set_fact(profile, "model", "llama_3_8b"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "model_convention", "exact-v1"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "model_assumption.0", "tied: no"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "model_assumption.1", "second"), 0);
    assert_int_equal(lp_profile_set_fact(profile, "model_warning.0", "unknown key *x*"), 0);
    text = document_of(profile, LLMPERF_DOCUMENT_ASSUMPTIONS_MD);
    assert_text_has(text, "| `" SAMPLE_STEP "` | 300 | 8.000 | 8.000 | 16384 | model | program |");
    assert_text_has(text, "- Dtype of the peaks: bf16\n");
    assert_text_has(text, "- Dense peak: 989.4 TFLOP/s (table, confidence high: ");
    assert_text_has(text, "- Counting convention: exact-v1\n");
    assert_text_has(text,
                    "- Assumed: tied: no\n- Assumed: second\n- Warning: unknown key \\*x\\*\n");
    assert_text_has(text, "- Tier: deep\n");
    assert_text_has(text, "- A multiply-add is 2 FLOPs.\n");
    assert_text_has(text, "including the first: a warm-up inside");
    llmperf_text_free(text);
}

static void assumptions_claim_only_what_holds_for_the_run(void **state)
{
    llmperf_profile *profile = sample_profile();
    char *text;

    (void)state;
    for (size_t i = 0; i < profile->regions.count; i++)
        profile->regions.items[i].stats.flops_origin =
            profile->regions.items[i].stats.bytes_origin = LLMPERF_WORK_UNKNOWN;
    profile->ledger.verdict = LLMPERF_VERDICT_SAMPLED;
    assert_int_equal(lp_profile_finish(profile), 0);
    text = document_of(profile, LLMPERF_DOCUMENT_ASSUMPTIONS_MD);
    assert_null(strstr(text, "FLOPs and bytes are those that"));
    assert_text_has(text, "- No model was given.\n");
    assert_null(strstr(text, "multiply-add"));
    assert_null(strstr(text, "neither locked nor read"));
    assert_null(strstr(text, "a warm-up inside"));
    assert_text_has(text, "Device times are of the collected calls");
    llmperf_text_free(text);
}

static void inputs_are_listed_up_to_a_limit_and_counted_beyond(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_input input = LLMPERF_INPUT_INIT;
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;
    char *text;

    (void)state;
    options.device_source = LLMPERF_SOURCE_NONE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    assert_int_equal(llmperf_session_add_input(session, &input), LLMPERF_EINVAL);
    assert_int_equal(llmperf_session_add_input(session, NULL), LLMPERF_EINVAL);
    input.path = "/nowhere/x.png";
    input.kind = "image";
    input.width = 1024;
    for (int i = 0; i < 1002; i++)
        assert_int_equal(llmperf_session_add_input(session, &input), 0);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    assert_int_equal(llmperf_session_add_input(session, &input), LLMPERF_ESTATE);
    llmperf_session_free(session);
    text = document_of(profile, LLMPERF_DOCUMENT_INPUTS_YAML);
    assert_text_has(
        text, "inputs:\n  - path: \"/nowhere/x.png\"\n    name: \"x.png\"\n    kind: \"image\"\n"
              "    size_bytes: null\n    width: 1024\n    height: null\n");
    assert_text_has(text, "\nnot_listed: 2\n");
    llmperf_text_free(text);
}

static void relative_inputs_become_absolute_and_get_their_size(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_input input = LLMPERF_INPUT_INIT;
    char name[] = "llmperf-input-XXXXXX";
    llmperf_profile *profile = NULL;
    llmperf_session *session = NULL;
    char *text;
    FILE *file;

    (void)state;
    file = fdopen(mkstemp(name), "w");
    assert_non_null(file);
    assert_int_equal(fputs("1234567", file) >= 0 && fclose(file) == 0, 1);
    options.device_source = LLMPERF_SOURCE_NONE;
    assert_int_equal(llmperf_session_start(&options, &session), 0);
    input.path = name;
    assert_int_equal(llmperf_session_add_input(session, &input), 0);
    input.path = "not/there";
    assert_int_equal(llmperf_session_add_input(session, &input), 0);
    assert_int_equal(remove(name), 0);
    assert_int_equal(llmperf_session_stop(session, &profile), 0);
    llmperf_session_free(session);
    text = document_of(profile, LLMPERF_DOCUMENT_INPUTS_YAML);
    assert_text_has(text, "  - path: \"/");
    assert_text_lacks(text, "path: \"llmperf-input");
    assert_text_lacks(text, "path: \"not");
    assert_text_has(text, "/not/there\"");
    assert_text_has(text, "size_bytes: 7\n");
    llmperf_text_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_names_the_largest_costs),
        cmocka_unit_test(summary_has_six_tables_on_two_pages),
        cmocka_unit_test(cost_centres_never_add_up_to_more_than_all_of_the_time),
        cmocka_unit_test(advice_on_a_sampled_stage_is_on_all_its_instances),
        cmocka_unit_test(busy_share_of_a_sampled_stage_is_of_the_time_that_was_collected),
        cmocka_unit_test(least_time_of_a_sampled_stage_is_of_an_instance),
        cmocka_unit_test(summary_of_a_clean_run_has_nothing_uncertain),
        cmocka_unit_test(summary_of_a_damaged_run_withholds_costs),
        cmocka_unit_test(summary_without_a_device_is_of_the_host),
        cmocka_unit_test(assumptions_name_batch_dtype_peaks_and_model),
        cmocka_unit_test(assumptions_claim_only_what_holds_for_the_run),
        cmocka_unit_test(inputs_are_listed_up_to_a_limit_and_counted_beyond),
        cmocka_unit_test(relative_inputs_become_absolute_and_get_their_size),
    };

    return cmocka_run_group_tests(tests, clear_environment, NULL);
}
