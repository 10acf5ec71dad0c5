/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters to metrics of regions: counted ones, and samples against what ran when. */
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

#include "lib/regions/capture.h"
#include "lib/record/paths.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "lib/device/device.h"
#include "lib/sources/replay/recording.h"

#define US UINT64_C(1000)

static const struct lp_counter_heading columns[] = {
    { "gpu_time", "gpu__time_duration.sum", "ns", LP_COUNTER_SUM },
    { "dram_read_bytes", "dram__bytes_read.sum", "byte", LP_COUNTER_SUM },
};

static const struct lp_counter_heading sampled[] = {
    { "sm_active", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", LP_COUNTER_MEAN },
    { "dram_read_bytes", "dram__bytes_read.sum", "byte", LP_COUNTER_SUM },
};

static const struct lp_counter_plan range_plan = { "GH100", "light", "range", "none", 1,
                                                   0,       0,       columns, 2 };
static const struct lp_counter_plan pm_plan = { "GH100", "pm",     "pm",    "none", 1,
                                                2,       100 * US, sampled, 2 };

static struct lp_names names;

static struct lp_counter_totals *make_totals(const struct lp_counter_plan *plan)
{
    struct lp_counter_totals *totals = lp_counter_totals_create(&names);

    assert_non_null(totals);
    assert_null(lp_counter_totals_current_plan(totals));
    lp_counter_totals_plan(totals, plan);
    return totals;
}

static void put(struct lp_counter_totals *totals, uint32_t kind, uint32_t node, const char *name,
                double first, double second)
{
    const struct lp_counter_fact fact = { .kind = kind,
                                          .node = node,
                                          .name = lp_names_intern(&names, name) };
    const double values[] = { first, second };

    lp_counter_totals_fact(totals, &fact, values);
}

static llmperf_profile *freeze(struct lp_counter_totals *totals)
{
    llmperf_profile *profile = lp_profile_create();

    lp_counter_totals_settle(totals);
    assert_non_null(profile);
    assert_int_equal(lp_counter_totals_add(totals, 7, profile), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    lp_counter_totals_free(totals);
    return profile;
}

static llmperf_metric_stats find(const llmperf_profile *profile, const char *region,
                                 const char *kernel, const char *name)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_METRICS); i++) {
        llmperf_profile_metric(profile, i, &metric);
        if (strcmp(metric.region, region) == 0 && strcmp(metric.name, name) == 0 &&
            (kernel ? metric.kernel && strcmp(metric.kernel, kernel) == 0 : !metric.kernel))
            return metric;
    }
    fail_msg("no %s of %s", name, region);
    return metric;
}

static void instances_make_mean_spread_and_bounds(void **state)
{
    struct lp_counter_totals *totals = make_totals(&range_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@a");
    llmperf_metric_stats metric;
    llmperf_profile *profile;

    (void)state;
    put(totals, LP_COUNTER_REGION, node, "", 100, 1000);
    put(totals, LP_COUNTER_REGION, node, "", 200, 3000);
    put(totals, LP_COUNTER_OWN, node, "", 60, 500);
    put(totals, LP_COUNTER_KERNEL, node, "gemm", 50, 10);
    profile = freeze(totals);
    metric = find(profile, "LLM@a", NULL, "dram_read_bytes");
    assert_int_equal(metric.count, 2);
    assert_float_equal(metric.mean, 2000, 1e-9);
    assert_true(fabs(metric.std - 1000 * sqrt(2)) < 1e-9);
    assert_float_equal(metric.min, 1000, 0);
    assert_float_equal(metric.max, 3000, 0);
    assert_string_equal(metric.unit, "byte");
    assert_string_equal(metric.group, "light");
    assert_string_equal(metric.source, "range_profiler");
    assert_int_equal(metric.process_id, 7);
    metric = find(profile, "LLM@a", NULL, "exclusive_dram_read_bytes");
    assert_float_equal(metric.mean, 500, 0);
    assert_true(isnan(metric.std));
    assert_float_equal(find(profile, "LLM@a", "gemm", "gpu_time").mean, 50, 0);
    llmperf_profile_free(profile);
}

static void a_value_that_is_not_known_is_no_result(void **state)
{
    struct lp_counter_totals *totals = make_totals(&range_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@a");
    llmperf_profile *profile;

    (void)state;
    put(totals, LP_COUNTER_REGION, node, "", 100, NAN);
    profile = freeze(totals);
    assert_int_equal(find(profile, "LLM@a", NULL, "dram_read_bytes").count, 0);
    assert_true(isnan(find(profile, "LLM@a", NULL, "dram_read_bytes").mean));
    assert_int_equal(find(profile, "LLM@a", NULL, "gpu_time").count, 1);
    llmperf_profile_free(profile);
}

static void what_was_not_measured_is_told_by_reason(void **state)
{
    struct lp_counter_totals *totals = make_totals(&range_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@a");
    llmperf_profile *profile;

    (void)state;
    put(totals, LP_COUNTER_SKIP, node, "of the weather", 0, 0);
    put(totals, LP_COUNTER_SKIP, node, "of the weather", 0, 0);
    put(totals, LP_COUNTER_SKIP, node, "of the time", 0, 0);
    profile = freeze(totals);
    assert_string_equal(llmperf_profile_note(profile, 0),
                        "counters: 2 calls of LLM@a were not measured: of the weather.");
    assert_string_equal(llmperf_profile_note(profile, 1),
                        "counters: 1 calls of LLM@a were not measured: of the time.");
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_METRICS), 0);
    llmperf_profile_free(profile);
}

static void sample(struct lp_counter_totals *totals, uint64_t start, double percent, double bytes)
{
    const struct lp_counter_fact fact = { .kind = LP_COUNTER_SAMPLE,
                                          .start_ns = start,
                                          .end_ns = start + 100 * US };
    const double values[] = { percent, bytes };

    lp_counter_totals_fact(totals, &fact, values);
}

static void run(struct lp_counter_totals *totals, uint32_t node, uint64_t start, uint64_t end)
{
    const struct lp_activity activity = { .start_ns = start, .end_ns = end, .node = node };

    lp_counter_totals_activities(totals, &activity, 1);
}

static void rest(struct lp_counter_totals *totals, uint32_t node, uint64_t start, uint64_t end)
{
    const struct lp_record records[] = { { start, 0, node, LP_RECORD_REGION_BEGIN, 0 },
                                         { end, 0, node, LP_RECORD_REGION_END, 0 } };

    lp_counter_totals_host(totals, 0, records, 2);
}

static bool is_any(void *context, uint32_t node)
{
    (void)context;
    (void)node;
    return true;
}

/* 1 ms of work at 80 %, 1 ms of nothing, ten times. */
static void samples_are_weighted_by_the_time_that_a_region_ran(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t outer = lp_path_intern(LP_PATH_ROOT, "LLM@outer");
    uint32_t busy = lp_path_intern(outer, "LLM@busy"), idle = lp_path_intern(outer, "LLM@idle");
    uint64_t at = 1000000 * US;
    llmperf_profile *profile;

    (void)state;
    for (int period = 0; period < 10; period++) {
        for (uint64_t i = 0; i < 20; i++)
            sample(totals, at + i * 100 * US, i < 10 ? 80 : 0, i < 10 ? 1e6 : 0);
        run(totals, busy, at, at + 1000 * US);
        rest(totals, idle, at + 1000 * US, at + 2000 * US);
        at += 2000 * US;
    }
    profile = freeze(totals);
    assert_float_equal(find(profile, "LLM@outer/LLM@busy", NULL, "sm_active").mean, 80, 1e-9);
    assert_float_equal(find(profile, "LLM@outer", NULL, "sm_active").mean, 80, 1e-9);
    assert_float_equal(find(profile, "LLM@outer/LLM@idle", NULL, "sm_active").mean, 0, 1e-9);
    /* 1 MB each 100 us */
    assert_float_equal(find(profile, "LLM@outer/LLM@busy", NULL, "dram_read_bytes_per_s").mean,
                       1e10, 1);
    assert_float_equal(find(profile, "LLM@outer/LLM@busy", NULL, "sm_active_p95").mean, 80, 4);
    assert_float_equal(find(profile, "LLM@outer/LLM@busy", NULL, "sm_active_above_50_share").mean,
                       100, 1e-3);
    assert_float_equal(find(profile, "LLM@outer/LLM@busy", NULL, "sampled_time").mean,
                       10000 * (double)US, 1);
    assert_float_equal(find(profile, "LLM@outer/LLM@idle", NULL, "sampled_host_time").mean,
                       10000 * (double)US, 1);
    assert_string_equal(find(profile, "LLM@outer/LLM@idle", NULL, "sm_active").source,
                        "pm_sampling");
    llmperf_profile_free(profile);
}

static void kernels_that_overlap_count_their_time_once(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@overlap");
    llmperf_profile *profile;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        sample(totals, 5000 * US + i * 100 * US, (double)i * 10, 0);
    run(totals, node, 5000 * US, 5800 * US);
    run(totals, node, 5200 * US, 6000 * US);
    profile = freeze(totals);
    assert_float_equal(find(profile, "LLM@overlap", NULL, "sampled_time").mean, 1000 * (double)US,
                       1);
    assert_float_equal(find(profile, "LLM@overlap", NULL, "sm_active").mean, 45, 1e-9);
    llmperf_profile_free(profile);
}

static void a_region_shorter_than_two_samples_has_no_numbers(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@short");
    llmperf_metric_stats metric;
    llmperf_profile *profile;

    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        sample(totals, 9000 * US + i * 100 * US, 50, 0);
        if (i % 5 == 0)
            run(totals, node, 9000 * US + i * 100 * US, 9000 * US + i * 100 * US + 40 * US);
    }
    profile = freeze(totals);
    metric = find(profile, "LLM@short", NULL, "sm_active");
    assert_string_equal(metric.text, "too short to sample");
    assert_int_equal(metric.count, 0);
    assert_true(isnan(metric.mean));
    llmperf_profile_free(profile);
}

/* Work of 400 us at a time: at 300 us too short, at 100 us not. What the coarse samples said is
 * forgotten, and a region that they did for keeps it. */
static void finer_samples_take_the_place_of_too_coarse_ones(void **state)
{
    struct lp_counter_plan plan = pm_plan;
    struct lp_counter_totals *totals;
    uint32_t shorter = lp_path_intern(LP_PATH_ROOT, "LLM@shorter");
    uint32_t longer = lp_path_intern(LP_PATH_ROOT, "LLM@longer");
    uint64_t at = 50000000 * US;
    struct lp_counter_active shortest;
    llmperf_profile *profile;

    (void)state;
    plan.interval_ns = 300 * US;
    totals = make_totals(&plan);
    for (int i = 0; i < 1000; i++, at += 4000 * US) {
        for (uint64_t k = 0; k < 40; k++)
            sample(totals, at + k * 100 * US, 20, 0);
        run(totals, shorter, at, at + 400 * US);
        run(totals, longer, at + 1000 * US, at + 3000 * US);
    }
    assert_true(lp_counter_totals_shortest(totals, 100.0 * US, is_any, NULL, &shortest));
    assert_int_equal(shortest.node, shorter);
    assert_float_equal(shortest.length_ns, 400.0 * US, 1);
    assert_true(lp_counter_totals_shortest(totals, 500.0 * US, is_any, NULL, &shortest));
    assert_int_equal(shortest.node, longer);
    assert_false(lp_counter_totals_shortest(totals, 5000.0 * US, is_any, NULL, &shortest));
    plan.interval_ns = 100 * US;
    lp_counter_totals_plan(totals, &plan);
    for (int i = 0; i < 1000; i++, at += 4000 * US) {
        for (uint64_t k = 0; k < 40; k++)
            sample(totals, at + k * 100 * US, 60, 0);
        run(totals, shorter, at, at + 400 * US);
        run(totals, longer, at + 1000 * US, at + 3000 * US);
    }
    assert_int_equal(lp_counter_totals_current_plan(totals)->interval_ns, 100 * US);
    profile = freeze(totals);
    assert_float_equal(find(profile, "LLM@shorter", NULL, "sm_active").mean, 60, 1e-9);
    assert_float_equal(find(profile, "LLM@shorter", NULL, "sampled_time").mean,
                       1000 * 400 * (double)US, 1);
    assert_true(find(profile, "LLM@longer", NULL, "sm_active").mean > 39 &&
                find(profile, "LLM@longer", NULL, "sm_active").mean < 41);
    llmperf_profile_free(profile);
}

static void work_on_another_gpu_is_not_held_against_the_samples_of_this_one(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@second_gpu");
    uint64_t at = 70000000 * US;
    struct lp_activity activity = { .start_ns = at, .end_ns = at + 900 * US, .node = node };
    llmperf_metric_stats metric;
    llmperf_profile *profile;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        sample(totals, at + i * 100 * US, 70, 0);
    activity.device = 1;
    lp_counter_totals_activities(totals, &activity, 1);
    rest(totals, node, at, at + 1000 * US);
    profile = freeze(totals);
    metric = find(profile, "LLM@second_gpu", NULL, "sm_active");
    assert_string_equal(metric.text, "ran on another GPU than the sampled one");
    assert_int_equal(metric.count, 0);
    llmperf_profile_free(profile);
}

/* A snapshot has all but the last two seconds. */
static void values_are_there_while_samples_come(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@live");
    uint64_t at = 90000000 * US;
    llmperf_profile *profile = lp_profile_create();

    (void)state;
    for (uint64_t i = 0; i < 40000; i++) {
        sample(totals, at + i * 100 * US, 30, 0);
        if (i % 10 == 9)
            run(totals, node, at + (i - 9) * 100 * US, at + (i + 1) * 100 * US);
    }
    assert_int_equal(lp_counter_totals_add(totals, 7, profile), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    assert_float_equal(find(profile, "LLM@live", NULL, "sm_active").mean, 30, 1e-9);
    assert_true(find(profile, "LLM@live", NULL, "sampled_time").mean > 1.4e9);
    llmperf_profile_free(profile);
    lp_counter_totals_free(totals);
}

/* What is folded while the session goes on comes to the same as at the end, and memory stays
 * bounded. */
static void long_sessions_are_folded_on_the_way(void **state)
{
    struct lp_counter_totals *totals = make_totals(&pm_plan);
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@long");
    uint64_t at = 20000000 * US;
    llmperf_profile *profile;

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        sample(totals, at + i * 100 * US, i % 20 < 10 ? 60 : 0, 0);
        if (i % 20 == 9)
            run(totals, node, at + (i - 9) * 100 * US, at + (i + 1) * 100 * US);
    }
    profile = freeze(totals);
    assert_float_equal(find(profile, "LLM@long", NULL, "sm_active").mean, 60, 1e-6);
    assert_float_equal(find(profile, "LLM@long", NULL, "sampled_time").mean,
                       50000 * 100 * (double)US, 1e3);
    llmperf_profile_free(profile);
}

/* Recording */

static char path[] = "/tmp/llmperf-counter-recording-XXXXXX";

static void take_nothing_host(void *context, uint32_t thread, const struct lp_record *records,
                              size_t count)
{
    (void)context;
    (void)thread;
    (void)records;
    (void)count;
}

static void take_nothing(void *context, struct lp_activity *activities, size_t count)
{
    (void)context;
    (void)activities;
    (void)count;
}

static void take_plan(void *context, const struct lp_counter_plan *plan)
{
    lp_counter_totals_plan(context, plan);
}

static void take_counter(void *context, const struct lp_counter_fact *fact, const double *values)
{
    lp_counter_totals_fact(context, fact, values);
}

static void record_and_replay(void (*write)(const struct lp_device_sink *sink),
                              struct lp_counter_totals *totals)
{
    struct lp_device_sink nobody = {
        NULL, take_nothing_host, take_nothing, NULL, NULL, NULL, NULL
    };
    struct lp_device_sink sink = { totals,    take_nothing_host, take_nothing, NULL,
                                   take_plan, take_counter,      NULL };
    struct lp_device_options options = { .path = path, .names = &names };
    struct lp_device_stats stats = { 0 };
    struct lp_device_source *source;
    struct lp_recorder *recorder;

    assert_int_equal(
        lp_recorder_open(path, &names, &(struct lp_recorder_options){ 0, false, false }, &recorder),
        0);
    nobody = lp_recorder_sink(recorder, &nobody);
    write(&nobody);
    assert_int_equal(lp_recorder_close(recorder, &stats, "{}"), 0);
    assert_int_equal(lp_device_open_replay(&options, &source), 0);
    while (source->ops->deliver(source, &sink) > 0)
        ;
    source->ops->close(source);
}

static void write_facts(const struct lp_device_sink *sink)
{
    struct lp_counter_fact fact = { .kind = LP_COUNTER_REGION,
                                    .node = lp_path_intern(LP_PATH_ROOT, "LLM@recorded"),
                                    .name = lp_names_intern(&names, "") };
    const double values[] = { 1.5e9, 1e-3 };

    sink->plan(sink->context, &range_plan);
    for (int i = 0; i < 5000; i++) /* more than one chunk */
        sink->counter(sink->context, &fact, values);
    fact.kind = LP_COUNTER_SKIP;
    fact.name = lp_names_intern(&names, "late");
    sink->counter(sink->context, &fact, NULL);
}

static void a_recording_keeps_plan_and_facts(void **state)
{
    struct lp_counter_totals *totals = lp_counter_totals_create(&names);
    llmperf_metric_stats metric;
    llmperf_profile *profile;

    (void)state;
    record_and_replay(write_facts, totals);
    assert_string_equal(lp_counter_totals_current_plan(totals)->chip, "GH100");
    assert_string_equal(lp_counter_totals_current_plan(totals)->columns[1].metric,
                        "dram__bytes_read.sum");
    profile = freeze(totals);
    metric = find(profile, "LLM@recorded", NULL, "dram_read_bytes");
    assert_int_equal(metric.count, 5000);
    assert_true(metric.min == 1e-3 && metric.max == 1e-3);
    assert_non_null(strstr(llmperf_profile_note(profile, 0), "1 calls of LLM@recorded"));
    llmperf_profile_free(profile);
}

static int clean_up(void **state)
{
    (void)state;
    lp_names_clear(&names);
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_make_mean_spread_and_bounds),
        cmocka_unit_test(a_value_that_is_not_known_is_no_result),
        cmocka_unit_test(what_was_not_measured_is_told_by_reason),
        cmocka_unit_test(samples_are_weighted_by_the_time_that_a_region_ran),
        cmocka_unit_test(kernels_that_overlap_count_their_time_once),
        cmocka_unit_test(a_region_shorter_than_two_samples_has_no_numbers),
        cmocka_unit_test(finer_samples_take_the_place_of_too_coarse_ones),
        cmocka_unit_test(work_on_another_gpu_is_not_held_against_the_samples_of_this_one),
        cmocka_unit_test(values_are_there_while_samples_come),
        cmocka_unit_test(long_sessions_are_folded_on_the_way),
        cmocka_unit_test(a_recording_keeps_plan_and_facts),
    };
    int fd = mkstemp(path);

    close(fd);
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
