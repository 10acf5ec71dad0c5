/* SPDX-License-Identifier: Apache-2.0 */
/* What the documents say of ranks that did the same: what they say of one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/findings/cost_centres.h"
#include "lib/findings/findings.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/text.h"
#include "lib/findings/recommend.h"

#define RANKS 3u

/* Steps of many short kernels that come late, and a copy; vision in a prefill. */
#define SCRIPT                                                                                     \
    "begin LLM@prefill tokens=8\nbegin LLM@vision\n"                                               \
    "launch ampere_gemm duration=3000\nend\nlaunch ampere_gemm duration=9000\nwait 20000\nend\n"   \
    "repeat 5\nbegin LLM@decode_step tokens=1\nrepeat 120\n"                                       \
    "launch vectorized_elementwise_kernel duration=300\ndone\n"                                    \
    "copy htod bytes=64 duration=9000\nwait 20000\nend\ndone\n"

/* Ranks that each call their GPU 0; without UUIDs they are taken for one GPU. */
static llmperf_profile *merged_ranks(size_t count, bool uuids)
{
    llmperf_profile *ranks[RANKS], *merged;

    for (size_t i = 0; i < count; i++) {
        char env[128];

        snprintf(env, sizeof(env), "{\"gpus\":[{\"device\":0,\"uuid\":\"GPU-%zu\"}]}", i);
        ranks[i] = play_script(SCRIPT);
        if (uuids)
            assert_int_equal(lp_profile_set_fact(ranks[i], "env", env), 0);
    }
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)ranks, count, &merged),
                     0);
    for (size_t i = 0; i < count; i++)
        llmperf_profile_free(ranks[i]);
    return merged;
}

static void check_same_advice(const struct lp_findings *one, const struct lp_findings *all)
{
    assert_true(one->advice.rows.count >= 3);
    assert_int_equal(one->advice.rows.count, all->advice.rows.count);
    for (size_t i = 0; i < one->advice.rows.count; i++) {
        const llmperf_advice *a = &one->advice.rows.items[i].advice;
        const llmperf_advice *b = &all->advice.rows.items[i].advice;

        assert_string_equal(a->text, b->text);
        assert_int_equal(a->severity, b->severity);
        assert_int_equal(isnan(a->saving_ms), isnan(b->saving_ms));
        if (!isnan(a->saving_ms))
            check_close(a->saving_ms, b->saving_ms);
    }
}

static void check_same_shares(const struct lp_findings *one, const struct lp_findings *all)
{
    const struct lp_cost_centres *a = &one->cost_centres, *b = &all->cost_centres;

    assert_true(a->rows.count >= 3);
    assert_int_equal(a->rows.count, b->rows.count);
    assert_false(a->together);
    assert_true(b->together);
    for (size_t i = 0; i < a->rows.count; i++) {
        assert_string_equal(a->rows.items[i].what, b->rows.items[i].what);
        check_close(RANKS * a->rows.items[i].ms, b->rows.items[i].ms);
        check_close(a->rows.items[i].share, b->rows.items[i].share);
    }
}

static void possible_savings_do_not_grow_with_the_ranks(void **state)
{
    (void)state;
    for (int uuids = 0; uuids < 2; uuids++) {
        llmperf_profile *first = merged_ranks(1, uuids), *ranks = merged_ranks(RANKS, uuids);
        const struct lp_findings *one, *all;

        assert_int_equal(lp_findings_of(first, &one), 0);
        assert_int_equal(lp_findings_of(ranks, &all), 0);
        check_same_advice(one, all);
        check_same_shares(one, all);
        llmperf_profile_free(first);
        llmperf_profile_free(ranks);
    }
}

static char *document(const llmperf_profile *profile, uint32_t kind)
{
    char *text;

    assert_int_equal(llmperf_document_text(profile, kind, &text), 0);
    return text;
}

static void many_ranks_are_one_line_of_the_headline(void **state)
{
    llmperf_profile *two = merged_ranks(2, true), *three = merged_ranks(RANKS, true);
    char *text = document(two, LLMPERF_DOCUMENT_REPORT_MD);

    (void)state;
    assert_text_has(text, "- `LLM@decode_step` of process ");
    assert_text_lacks(text, "each: ");
    llmperf_text_free(text);
    text = document(three, LLMPERF_DOCUMENT_REPORT_MD);
    assert_text_lacks(text, "- `LLM@decode_step` of process ");
    assert_text_has(text, "- `LLM@decode_step` of 3 processes, each: ");
    assert_text_has(text, " ms of host time, mean of 5 calls, ");
    assert_text_has(text, ", GPUs busy ");
    assert_text_has(text, "Vision is part of `LLM@prefill` and counted once: 0.009000 of its "
                          "0.03600 ms of GPU busy time (25.0 %), 3 processes together.");
    llmperf_text_free(text);
    text = document(three, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    assert_text_has(text, " on average (5 calls) in the busiest of 3 processes, which is ");
    assert_text_has(text, ": the time of all stages, summed over processes and GPUs, and ");
    llmperf_text_free(text);
    llmperf_profile_free(two);
    llmperf_profile_free(three);
}

/* Instances and times of the processes are not alike: the line has both ends. */
static void a_line_of_many_ranks_has_the_least_and_the_most(void **state)
{
    static const char *const steps[] = { "1", "2", "4" };
    llmperf_profile *ranks[RANKS], *merged;
    char *text;

    (void)state;
    for (size_t i = 0; i < RANKS; i++) {
        char script[256];

        snprintf(script, sizeof(script),
                 "repeat %s\nbegin LLM@decode_step\nlaunch k duration=%s000\nwait 96000\nend\n"
                 "done\n",
                 steps[i], steps[i]);
        ranks[i] = play_script(script);
    }
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)ranks, RANKS, &merged),
                     0);
    text = document(merged, LLMPERF_DOCUMENT_REPORT_MD);
    assert_text_has(
        text, "- `LLM@decode_step` of 3 processes, each: 0.09800 ms of host time, mean of 1 to 4 "
              "calls, GPUs busy 1.020 to 4.082 %\n");
    llmperf_text_free(text);
    llmperf_profile_free(merged);
    for (size_t i = 0; i < RANKS; i++)
        llmperf_profile_free(ranks[i]);
}

static void without_a_device_the_longest_process_stands_for_all(void **state)
{
    static const char *const scripts[] = { "begin LLM@decode_step\nwait 99000\nend\n",
                                           "begin LLM@decode_step\nwait 299000\nend\n" };
    llmperf_profile *ranks[2], *merged;
    char *text;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        ranks[i] = play_script(scripts[i]);
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)ranks, 2, &merged), 0);
    text = document(merged, LLMPERF_DOCUMENT_STAKEHOLDER_SUMMARY_MD);
    assert_text_has(
        text, "- `LLM@decode_step` took 0.300 ms of host time in the busiest of 2 processes.\n\n");
    assert_text_has(text, "| GPU idle | `LLM@decode_step` | 0.400 ms | 100.0 |");
    llmperf_text_free(text);
    llmperf_profile_free(merged);
    llmperf_profile_free(ranks[0]);
    llmperf_profile_free(ranks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(possible_savings_do_not_grow_with_the_ranks),
        cmocka_unit_test(many_ranks_are_one_line_of_the_headline),
        cmocka_unit_test(a_line_of_many_ranks_has_the_least_and_the_most),
        cmocka_unit_test(without_a_device_the_longest_process_stands_for_all),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
