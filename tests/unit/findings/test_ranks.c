/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that work on one stage together: what each computes, how long it is in collectives, and
 * which one the others wait for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/findings.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/text.h"

#define REDUCE "launch ncclDevKernel_AllReduce_Sum_bf16_RING_LL "
#define WORK   "launch ampere_bf16_gemm_128x128 "

/* Four steps, then what ends them. GPU 0 computes 300 us and sums up twice, 20 us each; GPU 1
 * computes 200 us and is in its sums for 70 and 60 us. */
#define STEPS(end)                                                                                 \
    "begin LLM@decode_all\n"                                                                       \
    "repeat 4\n"                                                                                   \
    "begin LLM@decode_step\n" WORK "device=0 duration=300000\n" REDUCE                             \
    "device=0 duration=20000\n" REDUCE "device=0 duration=20000\n" WORK                            \
    "device=1 duration=200000\n" REDUCE "device=1 duration=70000\n" REDUCE                         \
    "device=1 duration=60000\nwait 400000\nend\n"                                                  \
    "done\n" end "end\n"

static void ranks_of(const char *script, const struct lp_findings **findings,
                     llmperf_profile **profile)
{
    *profile = play_script(script);
    assert_int_equal(lp_findings_of(*profile, findings), 0);
}

static void the_last_gpu_is_in_collectives_the_shortest(void **state)
{
    const struct lp_findings *findings;
    llmperf_profile *profile;
    const struct lp_rank *rows, *waits, *last;

    (void)state;
    ranks_of(STEPS(""), &findings, &profile);
    assert_int_equal(findings->ranks.rows.count, 2);
    rows = findings->ranks.rows.items;
    for (int32_t device = 0; device < 2; device++) {
        assert_string_equal(rows[device].region, "LLM@decode_all/LLM@decode_step");
        assert_int_equal(rows[device].device, device);
        assert_int_equal(rows[device].instances, 4);
        check_close(rows[device].collective_count, 2);
    }
    check_close(rows[0].compute_ms, 0.3);
    check_close(rows[1].compute_ms, 0.2);
    check_close(rows[0].collective_ms, 0.04);
    check_close(rows[1].collective_ms, 0.13);
    check_close(rows[0].waiting_ms, 0);
    check_close(rows[1].waiting_ms, 0.09);
    lp_ranks_extremes(&findings->ranks, rows[0].region, &waits, &last);
    assert_int_equal(waits->device, 1);
    assert_int_equal(last->device, 0);
    llmperf_profile_free(profile);
}

/* GPU 1 is busier, because it waits for GPU 0: that one is what the stage is about. */
static void waiting_makes_no_gpu_the_busiest(void **state)
{
    const struct lp_findings *findings;
    llmperf_profile *profile;

    (void)state;
    ranks_of("begin LLM@decode_step\n" WORK "device=0 duration=300000\n" REDUCE
             "device=0 duration=40000\n" WORK "device=1 duration=250000\n" REDUCE
             "device=1 duration=150000\nwait 400000\nend\n",
             &findings, &profile);
    assert_int_equal(findings->regions.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(findings->regions.items[i].advised,
                         findings->regions.items[i].stats.device == 0);
    check_close(lp_ranks_waiting(&findings->ranks, "LLM@decode_step", 1), 0.11);
    check_close(lp_ranks_waiting(&findings->ranks, "LLM@decode_step", 0), 0);
    check_close(lp_ranks_waiting(&findings->ranks, "LLM@prefill", 1), 0);
    llmperf_profile_free(profile);
}

static void the_documents_say_so(void **state)
{
    const struct lp_findings *findings;
    llmperf_profile *profile;
    char *text;

    (void)state;
    ranks_of(STEPS(""), &findings, &profile);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_text_has(text, "## GPUs that work together");
    assert_text_has(text, "| `LLM@decode_all/LLM@decode_step` | 1 | 4 |");
    assert_text_has(text, "GPU 1 waits at least 0.0900 ms a call of LLM@decode_step (");
    assert_text_has(text, "for GPU 0, which arrives last");
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD, &text),
                     0);
    assert_text_has(text, "; 2 GPUs work on it together and spend 0.0400 to 0.130 ms "
                          "per call in communication.");
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_text_has(text, "# TYPE llmperf_rank_waiting_seconds gauge\n");
    assert_text_has(text, "llmperf_rank_compute_seconds{region=\"LLM@decode_all/LLM@decode_step\"");
    assert_text_has(text, "device=\"1\"} 0.00013\n");
    assert_text_has(text, "device=\"0\"} 0\n");
    llmperf_text_free(text);
    text = lasting_metrics(profile);
    assert_text_has(text, "uneven_ranks");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

/* GPU 1 arrives after 200 us and waits for GPU 0; both leave after 322 us. */
#define TOGETHER                                                                                   \
    "begin LLM@decode_step\n" WORK "device=0 duration=300000\n" REDUCE                             \
    "device=0 duration=20000\n" WORK "device=1 duration=200000\n" REDUCE                           \
    "device=1 duration=118000\nwait 400000\nend\n"

static void each_member_of_a_rank_is_in_the_documents(void **state)
{
    const struct lp_row_kind *kind = &lp_row_kinds[LP_ROW_RANK];
    const struct lp_findings *findings;
    llmperf_profile *profile;
    char *metrics, *prometheus, name[64];

    (void)state;
    ranks_of(TOGETHER, &findings, &profile);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &metrics), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &prometheus), 0);
    assert_non_null(strstr(metrics, "\"ranks\": ["));
    assert_int_equal(kind->count, 13);
    for (size_t i = 0; i < kind->count; i++) {
        snprintf(name, sizeof(name), "\"%s\": ", kind->fields[i].name);
        assert_text_has(strstr(metrics, "\"ranks\": ["), name);
        snprintf(name, sizeof(name), "\nllmperf_%s{", kind->fields[i].series);
        if (kind->fields[i].series)
            assert_text_has(prometheus, name);
    }
    llmperf_text_free(metrics);
    llmperf_text_free(prometheus);
    llmperf_profile_free(profile);
}

/* One of them sums up once more than the other. */
static void unlike_gpus_are_not_compared(void **state)
{
    const struct lp_findings *findings;
    llmperf_profile *profile;
    char *text;

    (void)state;
    ranks_of(STEPS("begin LLM@decode_step\n" REDUCE "device=1 duration=500\nend\n"
                   "begin LLM@decode_step\n" REDUCE "device=1 duration=500\nend\n"),
             &findings, &profile);
    assert_int_equal(findings->ranks.rows.count, 2);
    assert_true(isnan(findings->ranks.rows.items[0].waiting_ms));
    assert_true(isnan(findings->ranks.rows.items[1].waiting_ms));
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    assert_text_has(text, "ranks[].waiting_ms is null");
    assert_null(strstr(text, "uneven_ranks"));
    llmperf_text_free(text);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_PROMETHEUS, &text), 0);
    assert_text_has(text, "\nllmperf_rank_collective_seconds{");
    assert_text_lacks(text, "\nllmperf_rank_waiting_seconds{");
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void nothing_is_said_of_gpus_that_do_not_talk(void **state)
{
    static const char *const scripts[] = {
        "begin LLM@decode_step\n" WORK "device=0\n" WORK "device=1\nend\n",
        "begin LLM@decode_step\n" WORK "device=0\n" REDUCE "device=1\nend\n",
        "begin LLM@decode_step\n" WORK "device=0\n" REDUCE "device=0\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        const struct lp_findings *findings;
        llmperf_profile *profile;

        ranks_of(scripts[i], &findings, &profile);
        assert_int_equal(findings->ranks.rows.count, 0);
        llmperf_profile_free(profile);
    }
}

/* Two processes on GPU 0: whose kernels are these? */
static void processes_that_share_a_gpu_are_not_told_apart(void **state)
{
    llmperf_profile *parts[] = { play_script(STEPS("")), play_script(STEPS("")) }, *merged;
    const struct lp_findings *findings;

    (void)state;
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)parts, 2, &merged), 0);
    assert_int_equal(lp_findings_of(merged, &findings), 0);
    assert_int_equal(findings->ranks.rows.count, 0);
    llmperf_profile_free(merged);
    llmperf_profile_free(parts[0]);
    llmperf_profile_free(parts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_gpu_is_in_collectives_the_shortest),
        cmocka_unit_test(waiting_makes_no_gpu_the_busiest),
        cmocka_unit_test(the_documents_say_so),
        cmocka_unit_test(each_member_of_a_rank_is_in_the_documents),
        cmocka_unit_test(unlike_gpus_are_not_compared),
        cmocka_unit_test(nothing_is_said_of_gpus_that_do_not_talk),
        cmocka_unit_test(processes_that_share_a_gpu_are_not_told_apart),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
