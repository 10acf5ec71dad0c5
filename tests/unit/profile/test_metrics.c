/* SPDX-License-Identifier: Apache-2.0 */
/* Named metrics: put together by key, ordered, kept in run files, shown in metrics.json. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"

static llmperf_metric_stats metric(const char *name, const char *region, const char *kernel,
                                   double value)
{
    llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;

    stats.name = name;
    stats.unit = "byte";
    stats.source = "ncu";
    stats.region = region;
    stats.kernel = kernel;
    stats.count = 1;
    stats.mean = stats.min = stats.max = value;
    stats.std = NAN;
    return stats;
}

static void add(llmperf_profile *profile, llmperf_metric_stats stats)
{
    assert_int_equal(lp_profile_add_metric(profile, &stats), 0);
}

static llmperf_metric_stats row(const llmperf_profile *profile, size_t index)
{
    llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;

    assert_int_equal(llmperf_profile_metric(profile, index, &stats), 0);
    return stats;
}

static void results_of_one_key_become_one_row(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

    (void)state;
    for (size_t i = 0; i < 8; i++)
        add(profile, metric("dram__bytes.sum", "LLM@prefill", "gemm", values[i]));
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 1);
    assert_int_equal(row(profile, 0).count, 8);
    assert_float_equal(row(profile, 0).mean, 5, 1e-12);
    assert_float_equal(row(profile, 0).std, sqrt(32.0 / 7), 1e-12);
    assert_float_equal(row(profile, 0).min, 2, 0);
    assert_float_equal(row(profile, 0).max, 9, 0);
    llmperf_profile_free(profile);
}

static void each_part_of_the_key_tells_rows_apart(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_metric_stats other = metric("a", "R", "k", 1);

    (void)state;
    add(profile, other);
    for (int part = 0; part < 7; part++) {
        other = metric("a", "R", "k", 1);
        other.name = part == 0 ? "b" : other.name;
        other.group = part == 1 ? "g" : other.group;
        other.source = part == 2 ? "pm_sampling" : other.source;
        other.region = part == 3 ? NULL : other.region;
        other.kernel = part == 4 ? NULL : other.kernel;
        other.device = part == 5 ? 1 : other.device;
        other.process_id = part == 6 ? 7 : other.process_id;
        add(profile, other);
    }
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 8);
    llmperf_profile_free(profile);
}

static void rows_are_found_again_after_they_were_ordered(void **state)
{
    llmperf_profile *profile = lp_profile_create();

    (void)state;
    add(profile, metric("z", "B", NULL, 1));
    add(profile, metric("a", "A", "k", 1));
    add(profile, metric("z", "A", NULL, 1));
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_string_equal(row(profile, 0).region, "A");
    assert_null(row(profile, 0).kernel);
    assert_string_equal(row(profile, 1).kernel, "k");
    assert_string_equal(row(profile, 2).region, "B");
    add(profile, metric("z", "B", NULL, 3));
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 3);
    assert_float_equal(row(profile, 2).mean, 2, 1e-12);
    llmperf_profile_free(profile);
}

static void texts_stay_while_they_agree(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_metric_stats text = metric("launch__policy", "", "k", NAN);

    (void)state;
    text.count = 0;
    text.text = "PolicySpread";
    add(profile, text);
    add(profile, text);
    assert_string_equal(row(profile, 0).text, "PolicySpread");
    text.text = "PolicyOther";
    add(profile, text);
    assert_null(row(profile, 0).text);
    assert_true(isnan(row(profile, 0).mean));
    assert_int_equal(row(profile, 0).count, 0);
    llmperf_profile_free(profile);
}

static void a_row_past_the_end_is_an_error(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_count(NULL, LLMPERF_ROWS_METRICS), 0);
    assert_int_equal(llmperf_profile_metric(NULL, 0, &stats), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_metric(profile, 0, &stats), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

static char run_path[] = "/tmp/llmperf-metrics-XXXXXX";

static int make_path(void **state)
{
    int file = mkstemp(run_path);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(run_path);
}

static void metrics_come_back_from_a_run_file(void **state)
{
    llmperf_profile *profile = lp_profile_create(), *again;
    llmperf_metric_stats full = metric("a", "R", "k", 2.5);

    (void)state;
    full.group = "Section";
    full.text = "text";
    full.device = 3;
    full.process_id = 9;
    add(profile, full);
    add(profile, metric("b", NULL, NULL, NAN));
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_profile_save(profile, run_path), 0);
    assert_int_equal(llmperf_profile_open(run_path, &again), 0);
    assert_int_equal(llmperf_profile_count(again, LLMPERF_ROWS_METRICS), 2);
    assert_null(row(again, 0).region);
    assert_true(isnan(row(again, 0).mean));
    assert_string_equal(row(again, 1).group, "Section");
    assert_string_equal(row(again, 1).unit, "byte");
    assert_string_equal(row(again, 1).source, "ncu");
    assert_string_equal(row(again, 1).text, "text");
    assert_int_equal(row(again, 1).device, 3);
    assert_int_equal(row(again, 1).process_id, 9);
    assert_int_equal(row(again, 1).count, 1);
    assert_float_equal(row(again, 1).mean, 2.5, 0);
    assert_true(isnan(row(again, 1).std));
    llmperf_profile_free(again);
    llmperf_profile_free(profile);
}

static void add_region(llmperf_profile *profile, const char *path)
{
    struct lp_region_row region = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };

    region.stats.path = region.stats.label = path;
    region.stats.kind = LLMPERF_REGION_STAGE;
    assert_int_equal(lp_vector_push(&profile->regions, region), 0);
}

static void regions_show_their_own_counters(void **state)
{
    llmperf_profile *profile = lp_profile_create();
    llmperf_metric_stats grouped = metric("SM Frequency", "B", NULL, 2);
    json_t *root, *regions, *counters;
    char *text;

    (void)state;
    add_region(profile, "A");
    add_region(profile, "B");
    add(profile, metric("dram__bytes.sum", "A", NULL, 7));
    add(profile, metric("dram__bytes.sum", "A", "kernel", 8));
    grouped.group = "Speed";
    add(profile, grouped);
    grouped.group = "Clocks";
    grouped.mean = 3;
    add(profile, grouped);
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_METRICS_JSON, &text), 0);
    root = json_loads(text, 0, NULL);
    regions = json_object_get(root, "regions");
    counters = json_object_get(json_array_get(regions, 0), "counters");
    assert_int_equal(json_object_size(counters), 1);
    assert_float_equal(json_number_value(json_object_get(counters, "dram__bytes.sum")), 7, 0);
    counters = json_object_get(json_array_get(regions, 1), "counters");
    assert_int_equal(json_object_size(counters), 2);
    assert_float_equal(json_number_value(json_object_get(counters, "SM Frequency (ncu: Clocks)")),
                       3, 0);
    assert_int_equal(json_array_size(json_object_get(root, "metrics")), 4);
    json_decref(root);
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_one_key_become_one_row),
        cmocka_unit_test(each_part_of_the_key_tells_rows_apart),
        cmocka_unit_test(rows_are_found_again_after_they_were_ordered),
        cmocka_unit_test(texts_stay_while_they_agree),
        cmocka_unit_test(a_row_past_the_end_is_an_error),
        cmocka_unit_test(metrics_come_back_from_a_run_file),
        cmocka_unit_test(regions_show_their_own_counters),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
