/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of fields: what is made from them has each field. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/output/format/documents.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "tests/support/run_files.h"

static void each_count_of_the_ledger_is_added_up(void **state)
{
    const struct lp_row_kind *kind = &lp_row_kinds[LP_ROW_LEDGER];
    size_t counts = 0;

    (void)state;
    for (size_t i = 0; i < kind->count; i++) {
        const struct lp_row_field *field = &kind->fields[i];
        llmperf_ledger sum = LLMPERF_LEDGER_INIT, more = LLMPERF_LEDGER_INIT;

        if (field->type != LP_FIELD_COUNT)
            continue;
        *(uint64_t *)(void *)((char *)&sum + field->offset) = 40;
        *(uint64_t *)(void *)((char *)&more + field->offset) = 2;
        lp_row_add(LP_ROW_LEDGER, &sum, &more, 1, 1);
        assert_true(lp_field_value(field, &sum) == 42);
        lp_field_forget(field, &more);
        lp_row_add(LP_ROW_LEDGER, &sum, &more, 1, 1);
        assert_false(lp_field_known(field, &sum));
        counts++;
    }
    assert_true(counts > 30);
}

static void the_share_of_attributed_time_is_weighted_by_device_time(void **state)
{
    llmperf_ledger sum = LLMPERF_LEDGER_INIT, more = LLMPERF_LEDGER_INIT;

    (void)state;
    sum.attributed_gpu_time_share = NAN;
    more.attributed_gpu_time_share = 1;
    lp_row_add(LP_ROW_LEDGER, &sum, &more, 0, 30);
    assert_true(sum.attributed_gpu_time_share == 1);
    more.attributed_gpu_time_share = 0.5;
    lp_row_add(LP_ROW_LEDGER, &sum, &more, 30, 10);
    assert_float_equal(sum.attributed_gpu_time_share, 0.875, 1e-12);
}

static void rows_with_the_same_keys_are_the_same_row(void **state)
{
    llmperf_kernel_stats a = { .name = "k", .region = "r", .device = 1, .calls = 1 }, b = a;
    char name[] = "k";

    (void)state;
    b.name = name;
    b.calls = 7;
    assert_int_equal(lp_row_compare(LP_ROW_KERNEL, &a, &b), 0);
    assert_true(lp_row_hash(LP_ROW_KERNEL, &a, NULL) == lp_row_hash(LP_ROW_KERNEL, &b, NULL));
    b.captured_in = "";
    assert_true(lp_row_compare(LP_ROW_KERNEL, &a, &b) < 0);
    b = a;
    b.device = -1; /* not known */
    assert_true(lp_row_compare(LP_ROW_KERNEL, &a, &b) > 0);
    b.region = "s"; /* a key before the device */
    assert_true(lp_row_compare(LP_ROW_KERNEL, &a, &b) < 0);
}

static void a_row_after_the_last_is_none(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    size_t count = lp_row_count(profile, LP_ROW_REGION);

    (void)state;
    assert_non_null(lp_row_at(profile, LP_ROW_REGION, count - 1));
    assert_null(lp_row_at(profile, LP_ROW_REGION, count));
    llmperf_profile_free(profile);
}

static void percentiles_lie_between_the_limits_or_are_unknown(void **state)
{
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
    struct lp_histogram histogram = { 0 };

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(lp_histogram_add(&histogram, 1000003), 0);
    lp_set_percentiles(LP_ROW_SPREAD, &stats, &histogram, 1.000003, 1.000003);
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        assert_true(lp_percentile(LP_ROW_SPREAD, &stats, i) == 1.000003);
    assert_true(stats.p95_ms == 1.000003);
    lp_set_percentiles(LP_ROW_SPREAD, &stats, NULL, 0, 0);
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        assert_true(isnan(lp_percentile(LP_ROW_SPREAD, &stats, i)));
    lp_histogram_clear(&histogram);
}

static void assert_has(const struct lp_text *text, const char *format, const char *name)
{
    char wanted[100];

    snprintf(wanted, sizeof(wanted), format, name);
    if (!strstr(text->bytes, wanted))
        fail_msg("%s is missing", wanted);
}

static void each_number_of_the_rows_is_in_the_exports(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_text csv = { NULL, 0, 0, false }, lines = csv, metrics = csv, prometheus = csv;

    (void)state;
    profile->ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    assert_int_equal(lp_rows_csv(profile, &csv), 0);
    assert_int_equal(lp_rows_jsonl(profile, &lines), 0);
    assert_int_equal(lp_metrics_json(profile, &metrics), 0);
    assert_int_equal(lp_prometheus(profile, &prometheus), 0);
    for (int id = LP_ROW_LEDGER; id <= LP_ROW_KERNEL; id++)
        for (size_t i = 0; i < lp_row_kinds[id].count; i++) {
            const struct lp_row_field *field = &lp_row_kinds[id].fields[i];
            const char *dot = field->json ? strchr(field->json, '.') : NULL;

            if (field->type == LP_FIELD_COUNT || field->type == LP_FIELD_NUMBER) {
                assert_has(&csv, ",%s,", field->name);
                assert_has(&lines, "\"%s\": ", field->name);
            }
            if (field->json)
                assert_has(&metrics, "\"%s\": ", dot ? dot + 1 : field->json);
            if (field->series)
                assert_has(&prometheus, "\nllmperf_%s{", field->series);
        }
    lp_text_clear(&csv);
    lp_text_clear(&lines);
    lp_text_clear(&metrics);
    lp_text_clear(&prometheus);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_count_of_the_ledger_is_added_up),
        cmocka_unit_test(the_share_of_attributed_time_is_weighted_by_device_time),
        cmocka_unit_test(rows_with_the_same_keys_are_the_same_row),
        cmocka_unit_test(a_row_after_the_last_is_none),
        cmocka_unit_test(percentiles_lie_between_the_limits_or_are_unknown),
        cmocka_unit_test(each_number_of_the_rows_is_in_the_exports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
