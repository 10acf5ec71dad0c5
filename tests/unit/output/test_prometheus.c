/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of Prometheus: labels of any text, and base units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/output/format/documents.h"
#include "lib/output/rows/prometheus.h"
#include "lib/statistics/histogram.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "tests/support/rows.h"
#include "tests/support/text.h"
#include "lib/base/text.h"

static void a_label_of_any_text_stays_on_its_line(void **state)
{
    struct lp_text out = { NULL, 0, 0, false };

    (void)state;
    lp_text_puts(&out, "x{");
    lp_prometheus_label(&out, "kernel", "a\nb\"c\\d");
    lp_prometheus_label(&out, "none", NULL);
    assert_string_equal(out.bytes, "x{kernel=\"a b\\\"c\\\\d\",none=\"\"");
    lp_text_clear(&out);
}

/* Two instances of a stage, 500 ms and 1500 ms. */
static llmperf_profile *profile_of_a_stage(void)
{
    struct lp_iteration_stats_row row = { LLMPERF_ITERATION_STATS_INIT, { NULL, 0 } };
    llmperf_profile *profile = lp_profile_create();
    struct lp_histogram histogram = { 0 };
    struct lp_text text = { NULL, 0, 0, false };

    assert_int_equal(lp_histogram_add(&histogram, 500000000), 0);
    assert_int_equal(lp_histogram_add(&histogram, 1500000000), 0);
    lp_histogram_encode(&histogram, &text);
    row.stats.region = lp_profile_text(profile, "LLM@prefill");
    row.stats.quantity = lp_profile_text(profile, "wall");
    row.stats.count = 2;
    row.stats.sum_ms = 2000;
    row.histogram.bytes = lp_strings_add_bytes(&profile->pool, text.bytes, text.length);
    row.histogram.size = text.length;
    assert_int_equal(lp_vector_push(&profile->iteration_stats, row), 0);
    lp_histogram_clear(&histogram);
    lp_text_clear(&text);
    return profile;
}

static void histograms_of_stages_are_in_seconds(void **state)
{
    llmperf_profile *profile = profile_of_a_stage();
    struct lp_text out = { NULL, 0, 0, false };

    (void)state;
    lp_prometheus_stages(profile, &out);
    assert_text_has(out.bytes, "llmperf_stage_wall_seconds_sum{region=\"LLM@prefill\"} 2\n");
    assert_text_has(out.bytes, "llmperf_stage_wall_seconds_count{region=\"LLM@prefill\"} 2\n");
    assert_text_has(out.bytes, "{region=\"LLM@prefill\",le=\"0.30\"} 0\n");
    assert_text_has(out.bytes, "{region=\"LLM@prefill\",le=\"1.0\"} 1\n");
    assert_text_has(out.bytes, "{region=\"LLM@prefill\",le=\"2.0\"} 2\n");
    lp_text_clear(&out);
    llmperf_profile_free(profile);
}

static void host_times_of_a_region_on_two_devices_stand_there_once(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    struct lp_text out = { NULL, 0, 0, false };
    const char *at;

    (void)state;
    put_region_row(profile, "LLM@prefill", 7, 0, 3, 2, 0);
    put_region_row(profile, "LLM@prefill", 7, 1, 3, 2, 0);
    finish_rows(profile);
    assert_int_equal(lp_prometheus(profile, &out), 0);
    at = strstr(out.bytes, "\nllmperf_region_instances_total{");
    assert_non_null(at);
    assert_null(strstr(at + 1, "\nllmperf_region_instances_total{"));
    lp_text_clear(&out);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_of_any_text_stays_on_its_line),
        cmocka_unit_test(histograms_of_stages_are_in_seconds),
        cmocka_unit_test(host_times_of_a_region_on_two_devices_stand_there_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
