/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles put together: rows that meet, rows that stay apart, and the ledger of all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/nsys_file.h"
#include "tests/support/play.h"

/* A run of one process: `count` kernels of `duration` ns each in LLM@prefill. */
static llmperf_profile *make_run(const char *run_id, uint32_t pid, uint32_t count, int64_t duration)
{
    struct nsys_file file;
    llmperf_profile *profile;

    nsys_create(&file, SCHEMA_3_25);
    for (uint32_t i = 1; i <= count; i++) {
        int64_t start = (int64_t)i * 1000000;

        nsys_range(&file, pid, 11, start, start + 100, "LLM@prefill");
        nsys_call(&file, pid, 11, start + 10, start + 20, i);
        nsys_kernel(&file, pid, start + 50, start + 50 + duration, i, 1);
    }
    profile = nsys_import(&file);
    assert_int_equal(lp_profile_set_fact(profile, "run_id", run_id), 0);
    return profile;
}

static llmperf_profile *merge(llmperf_profile *a, llmperf_profile *b)
{
    const llmperf_profile *const both[] = { a, b };
    llmperf_profile *merged;

    assert_int_equal(llmperf_profile_merge(both, 2, &merged), 0);
    return merged;
}

static size_t count_rows(const llmperf_profile *profile, const char *path, uint32_t pid)
{
    size_t count = 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &stats);
        count += strcmp(stats.path, path) == 0 && stats.process_id == pid;
    }
    return count;
}

static void processes_stay_apart_and_kernels_add_up(void **state)
{
    llmperf_profile *a = make_run("a", 10, 30, 100), *b = make_run("b", 20, 10, 300), *both;
    llmperf_kernel_stats kernel;

    (void)state;
    both = merge(a, b);
    kernel = find_kernel(both, "kernel_a", "LLM@prefill");
    assert_int_equal(kernel.calls, 40);
    check_close(kernel.total_ms, 0.006);
    check_close(kernel.mean_ms, 0.00015);
    check_close(kernel.min_ms, 0.0001);
    check_close(kernel.max_ms, 0.0003);
    assert_float_equal(kernel.p50_ms, 0.0001, 0.000002);
    assert_float_equal(kernel.p95_ms, 0.0003, 0.000006);
    check_close(kernel.share, 1);
    assert_int_equal(count_rows(both, "LLM@prefill", 10), 1);
    assert_int_equal(count_rows(both, "LLM@prefill", 20), 1);
    assert_int_equal(ledger_of(both).kernels_seen, 40);
    assert_int_equal(ledger_of(both).launches_expected, 40);
    assert_int_equal(ledger_of(both).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_string_equal(llmperf_profile_fact(both, "merged_from"), "a b");
    assert_string_equal(llmperf_profile_fact(both, "process_id"), "10 20");
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
}

static void process_ids_that_two_runs_share_are_told_apart(void **state)
{
    llmperf_profile *a = make_run("a", 10, 1, 100), *b = make_run("b", 10, 1, 200), *both, *four;
    llmperf_profile *c = make_run("c", 10, 1, 300), *d = make_run("d", 10, 1, 400), *others;

    (void)state;
    both = merge(a, b);
    assert_int_equal(count_rows(both, "LLM@prefill", 10), 1);
    assert_int_equal(count_rows(both, "LLM@prefill", 10 + 4194304), 1);
    others = merge(c, d);
    four = merge(both, others);
    assert_int_equal(count_rows(four, "LLM@prefill", 10 + 2 * 4194304), 1);
    assert_int_equal(count_rows(four, "LLM@prefill", 10 + 3 * 4194304), 1);
    llmperf_profile_free(four);
    llmperf_profile_free(others);
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
    llmperf_profile_free(c);
    llmperf_profile_free(d);
}

static llmperf_region_stats find_row(const llmperf_profile *profile, const char *path)
{
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

    assert_int_equal(llmperf_profile_region(profile, lp_profile_find_region(profile, path), &stats),
                     0);
    return stats;
}

/* Two sessions of a process, and a later process with its id. */
static void runs_of_one_process_become_one_process(void **state)
{
    static const char env[] = "{\"host\": {\"boot_id\": \"b\"}}";
    llmperf_profile *a = make_run("a", 10, 30, 100), *b = make_run("b", 10, 10, 300), *both, *three;
    llmperf_profile *later = make_run("c", 10, 1, 100), *all[] = { a, b, later };
    llmperf_region_stats one, sum;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(lp_profile_set_fact(all[i], "env", env), 0);
        assert_int_equal(lp_profile_set_fact(all[i], "process_started", i < 2 ? "77" : "78"), 0);
    }
    one = find_row(a, "LLM@prefill");
    both = merge(a, b);
    assert_int_equal(llmperf_profile_count(both, LLMPERF_ROWS_REGIONS),
                     llmperf_profile_count(a, LLMPERF_ROWS_REGIONS));
    assert_string_equal(llmperf_profile_fact(both, "process_id"), "10");
    sum = find_row(both, "LLM@prefill");
    assert_int_equal(sum.instances, 40);
    assert_int_equal(sum.kernel_count, 40);
    check_close(sum.kernel_ms, 30 * 0.0001 + 10 * 0.0003);
    check_close(sum.gpu_busy_ms, sum.kernel_ms);
    check_close(sum.wall_mean_ms, one.wall_mean_ms);
    check_close(sum.wall_sum_ms, 40 * one.wall_mean_ms);
    check_close(sum.wall_p50_ms, one.wall_p50_ms);
    three = merge(both, later);
    assert_int_equal(count_rows(three, "LLM@prefill", 10), 1);
    assert_int_equal(count_rows(three, "LLM@prefill", 10 + 4194304), 1);
    llmperf_profile_free(three);
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
    llmperf_profile_free(later);
}

static void the_worst_verdict_counts_and_problems_name_their_run(void **state)
{
    llmperf_profile *a = make_run("good", 10, 1, 100), *b = make_run("bad", 20, 1, 100), *both;

    (void)state;
    assert_int_equal(lp_profile_problem(b, "something is missing"), 0);
    lp_profile_ledger_edit(b)->launches_expected = LLMPERF_UNKNOWN;
    lp_profile_ledger_edit(b)->attributed_gpu_time_share = 0.5;
    lp_profile_ledger_edit(a)->kernels_outside_window = 2;
    lp_profile_ledger_edit(b)->kernels_outside_window = 3;
    both = merge(a, b);
    assert_int_equal(ledger_of(both).kernels_outside_window, 5);
    assert_int_equal(ledger_of(both).graphs_device_launchable, LLMPERF_UNKNOWN);
    assert_int_equal(ledger_of(both).verdict, LLMPERF_VERDICT_INCOMPLETE);
    assert_true(has_problem(both, "bad: something is missing"));
    assert_int_equal(ledger_of(both).launches_expected, LLMPERF_UNKNOWN);
    check_close(ledger_of(both).attributed_gpu_time_share, 0.75);
    llmperf_profile_free(both);
    lp_profile_ledger_edit(b)->verdict = LLMPERF_VERDICT_NO_DEVICE;
    both = merge(a, b);
    assert_int_equal(ledger_of(both).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
}

static void operators_count_each_process(void **state)
{
    llmperf_profile *runs[2], *both;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct nsys_file file;

        nsys_create(&file, SCHEMA_3_25);
        nsys_range(&file, 10 + i, 11, 0, 100, "aten::mm");
        runs[i] = nsys_import(&file);
    }
    both = merge(runs[0], runs[1]);
    assert_int_equal(find_operator(both, "default@aten::mm", NULL).calls, 2);
    check_close(find_operator(both, "default@aten::mm", NULL).total_time_ms, 0.0002);
    llmperf_profile_free(both);
    llmperf_profile_free(runs[0]);
    llmperf_profile_free(runs[1]);
}

static void add_spread(llmperf_profile *profile, uint64_t count, double mean, double std)
{
    struct lp_iteration_stats_row row = { LLMPERF_ITERATION_STATS_INIT, { NULL, 0 } };

    row.stats.region = lp_profile_text(profile, "LLM@prefill");
    row.stats.quantity = lp_profile_text(profile, "wall");
    row.stats.count = count;
    row.stats.mean_ms = mean;
    row.stats.sum_ms = mean * (double)count;
    row.stats.std_ms = std;
    row.stats.min_ms = mean - 1;
    row.stats.max_ms = mean + 1;
    assert_int_equal(lp_vector_push(&profile->iteration_stats, row), 0);
}

static void add_estimate(llmperf_profile *profile, uint64_t calls, double mean, double half,
                         const char *reason)
{
    llmperf_iteration_stats *stats;

    add_spread(profile, 2, mean, 1);
    stats = &profile->iteration_stats.items[profile->iteration_stats.count - 1].stats;
    stats->estimate_calls = calls;
    stats->estimate_collected = 2;
    stats->estimate_ms = mean;
    stats->estimate_low_ms = reason ? NAN : mean - half;
    stats->estimate_high_ms = reason ? NAN : mean + half;
    stats->estimate_reason = reason;
}

/* Processes may have chosen the same calls: errors are not taken to be independent. */
static void estimates_are_put_together_by_their_calls(void **state)
{
    static const char *const reasons[] = { NULL, "too few" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        llmperf_profile *a = lp_profile_create(), *b = lp_profile_create(), *both;
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

        add_estimate(a, 100, 2, 1, NULL);
        add_estimate(b, 300, 6, 1, reasons[i]);
        both = merge(a, b);
        llmperf_profile_free(a);
        llmperf_profile_free(b);
        assert_int_equal(llmperf_profile_iteration_stats(both, 0, &stats), 0);
        assert_int_equal(stats.estimate_calls, 400);
        assert_int_equal(stats.estimate_collected, 4);
        check_close(stats.estimate_ms, 5);
        if (reasons[i]) {
            assert_string_equal(stats.estimate_reason, reasons[i]);
            assert_true(isnan(stats.estimate_low_ms) && isnan(stats.estimate_high_ms));
        } else {
            check_close(stats.estimate_low_ms, 4);
            check_close(stats.estimate_high_ms, 6);
        }
        llmperf_profile_free(both);
    }
}

static void spreads_are_put_together_exactly(void **state)
{
    llmperf_profile *a = lp_profile_create(), *b = lp_profile_create(), *both;
    llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;

    (void)state; /* 1, 3 and 5, 7: together mean 4, squares 20. */
    add_spread(a, 2, 2, sqrt(2));
    add_spread(b, 2, 6, sqrt(2));
    both = merge(a, b);
    assert_int_equal(llmperf_profile_count(both, LLMPERF_ROWS_ITERATION_STATS), 1);
    assert_int_equal(llmperf_profile_iteration_stats(both, 0, &stats), 0);
    assert_int_equal(stats.count, 4);
    check_close(stats.mean_ms, 4);
    check_close(stats.std_ms, sqrt(20.0 / 3));
    check_close(stats.min_ms, 1);
    check_close(stats.max_ms, 7);
    assert_true(isnan(stats.p50_ms)); /* without histograms */
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
}

/* The middle of their bucket is none of the values that were seen. */
static void percentiles_of_merged_rows_lie_between_their_extremes(void **state)
{
    llmperf_profile *a = make_run("a", 1, 60, 1000003), *b = make_run("b", 2, 60, 1000003);
    llmperf_profile *both = merge(a, b);
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_kernel(both, 0, &kernel), 0);
    assert_int_equal(kernel.calls, 120);
    assert_true(kernel.min_ms == kernel.max_ms);
    assert_true(kernel.p50_ms == kernel.min_ms);
    assert_true(kernel.p99_ms == kernel.max_ms);
    llmperf_profile_free(both);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
}

static void a_damaged_histogram_is_an_error(void **state)
{
    llmperf_profile *a = make_run("a", 10, 2, 100), *b = make_run("b", 20, 2, 100), *both;
    const llmperf_profile *parts[] = { a, b };

    (void)state;
    b->kernels.items[0].durations = (struct lp_blob){ "\xff\xff\xff", 3 };
    assert_int_equal(llmperf_profile_merge(parts, 2, &both), LLMPERF_EFORMAT);
    check_error("histogram is damaged");
    llmperf_profile_free(a);
    llmperf_profile_free(b);
}

static void nothing_is_not_merged(void **state)
{
    const llmperf_profile *none[] = { NULL };
    llmperf_profile *out;

    (void)state;
    assert_int_equal(llmperf_profile_merge(none, 0, &out), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_merge(none, 1, &out), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_merge(NULL, 1, &out), LLMPERF_EINVAL);
}

/* "A1 B0": GPU A is number 1 of its process, B is number 0; "?0": one without a UUID. */
static void set_gpus(llmperf_profile *profile, const char *host, const char *gpus)
{
    char env[1024];
    int length = snprintf(env, sizeof(env), "{\"host\":{\"hostname\":\"%s\"},\"gpus\":[", host);

    for (const char *at = gpus; *at; at += at[2] ? 3 : 2) {
        char uuid[16] = "null";

        if (*at != '?')
            snprintf(uuid, sizeof(uuid), "\"GPU-%c\"", *at);
        length += snprintf(env + length, sizeof(env) - (size_t)length,
                           "%s{\"device\":%c,\"name\":\"G%c\",\"uuid\":%s}", at == gpus ? "" : ",",
                           at[1], *at, uuid);
    }
    snprintf(env + length, sizeof(env) - (size_t)length, "]}");
    assert_int_equal(lp_profile_set_fact(profile, "env", env), 0);
}

static uint64_t calls_on(const llmperf_profile *profile, int32_t device)
{
    llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    uint64_t calls = 0, in_regions = 0, activities = 0;

    for (size_t i = 0; llmperf_profile_kernel(profile, i, &kernel) == 0; i++)
        calls += kernel.device == device ? kernel.calls : 0;
    for (size_t i = 0; llmperf_profile_region(profile, i, &region) == 0; i++)
        in_regions += region.device == device ? region.kernel_count : 0;
    assert_int_equal(calls, in_regions);
    for (size_t i = 0; i < profile->devices.count; i++)
        activities +=
            profile->devices.items[i].device == device ? profile->devices.items[i].activities : 0;
    assert_int_equal(calls, activities);
    return calls;
}

/* Runs of 30 and 10 kernels on the device that each calls 0. */
static llmperf_profile *merge_on(const char *host_a, const char *gpus_a, const char *host_b,
                                 const char *gpus_b)
{
    llmperf_profile *a = make_run("a", 10, 30, 100), *b = make_run("b", 20, 10, 300), *both;

    set_gpus(a, host_a, gpus_a);
    set_gpus(b, host_b, gpus_b);
    both = merge(a, b);
    llmperf_profile_free(a);
    llmperf_profile_free(b);
    return both;
}

static void one_number_may_be_two_gpus(void **state)
{
    llmperf_profile *both = merge_on("h", "A0", "h", "B0"), *more, *all;

    (void)state;
    assert_int_equal(calls_on(both, 0), 30);
    assert_int_equal(calls_on(both, 1), 10);
    assert_true(has_note(both, "GPUs were renumbered"));
    assert_non_null(strstr(llmperf_profile_fact(both, "env"), "\"uuid\":\"GPU-A\""));
    assert_non_null(strstr(llmperf_profile_fact(both, "env"), "\"device\":1,\"name\":\"GB\""));
    /* A run of GPU B alone finds it again, under its number of the merged run. */
    more = make_run("c", 30, 7, 100);
    set_gpus(more, "h", "B0");
    all = merge(both, more);
    assert_int_equal(calls_on(all, 0), 30);
    assert_int_equal(calls_on(all, 1), 17);
    llmperf_profile_free(all);
    llmperf_profile_free(more);
    llmperf_profile_free(both);
}

static void one_gpu_may_have_two_numbers(void **state)
{
    llmperf_profile *both = merge_on("h", "A0 B1", "h", "B0 A1");

    (void)state;
    assert_int_equal(calls_on(both, 0), 30);
    assert_int_equal(calls_on(both, 1), 10);
    llmperf_profile_free(both);
    both = merge_on("h", "A0 B1", "h", "A0 B1");
    assert_int_equal(calls_on(both, 0), 40);
    assert_false(has_note(both, "GPUs were renumbered"));
    llmperf_profile_free(both);
}

static void gpus_without_a_uuid_are_known_by_their_number(void **state)
{
    static const char *const pairs[][2] = { { "?0", "?0" }, { "A0", "?0" }, { "?0", "A0" } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        llmperf_profile *both = merge_on("h", pairs[i][0], "h", pairs[i][1]);

        assert_int_equal(calls_on(both, 0), 40);
        assert_false(has_note(both, "hosts"));
        llmperf_profile_free(both);
    }
}

static void gpus_of_several_hosts_stay_apart(void **state)
{
    llmperf_profile *both = merge_on("red", "A0 B1", "blue", "C0 D1");

    (void)state;
    assert_int_equal(calls_on(both, 0), 30);
    assert_int_equal(calls_on(both, 2), 10);
    assert_true(has_note(both, "merged: runs from 2 hosts: red, blue"));
    llmperf_profile_free(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_stay_apart_and_kernels_add_up),
        cmocka_unit_test(process_ids_that_two_runs_share_are_told_apart),
        cmocka_unit_test(runs_of_one_process_become_one_process),
        cmocka_unit_test(the_worst_verdict_counts_and_problems_name_their_run),
        cmocka_unit_test(operators_count_each_process),
        cmocka_unit_test(spreads_are_put_together_exactly),
        cmocka_unit_test(estimates_are_put_together_by_their_calls),
        cmocka_unit_test(percentiles_of_merged_rows_lie_between_their_extremes),
        cmocka_unit_test(a_damaged_histogram_is_an_error),
        cmocka_unit_test(nothing_is_not_merged),
        cmocka_unit_test(one_number_may_be_two_gpus),
        cmocka_unit_test(one_gpu_may_have_two_numbers),
        cmocka_unit_test(gpus_without_a_uuid_are_known_by_their_number),
        cmocka_unit_test(gpus_of_several_hosts_stay_apart),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
