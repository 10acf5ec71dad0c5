/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of several runs as one: groups, parts of sums, and runs that did other work. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/sys.h"
#include "tests/support/play.h"

static void add_region(llmperf_profile *profile, const char *path, uint64_t instances,
                       uint32_t process_id)
{
    struct lp_region_row row = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };

    row.stats.path = row.stats.label = path;
    row.stats.kind = LLMPERF_REGION_STAGE;
    row.stats.instances = instances;
    row.stats.process_id = process_id;
    assert_int_equal(lp_vector_push(&profile->regions, row), 0);
}

static llmperf_profile *make_run(const char *id, uint64_t instances, uint32_t process_id)
{
    llmperf_profile *profile = lp_profile_create();

    add_region(profile, "LLM@a", instances, process_id);
    add_region(profile, "LLM@b", 2, process_id);
    profile->ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    assert_int_equal(lp_profile_set_fact(profile, "run_id", id), 0);
    assert_int_equal(lp_profile_finish(profile), 0);
    return profile;
}

static void count(llmperf_profile *profile, const char *region, const char *name, uint64_t times,
                  double mean)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    metric.name = name;
    metric.unit = "flop";
    metric.group = "roofline";
    metric.source = "range_profiler";
    metric.region = region;
    metric.process_id = profile->regions.items[0].stats.process_id;
    metric.count = times;
    metric.mean = metric.min = metric.max = mean;
    metric.std = 1;
    assert_int_equal(lp_profile_add_metric(profile, &metric), 0);
}

static const llmperf_metric_stats *find(const llmperf_profile *profile, const char *region,
                                        const char *name)
{
    for (size_t i = 0; i < profile->metrics.count; i++)
        if (strcmp(profile->metrics.items[i].name, name) == 0 &&
            strcmp(profile->metrics.items[i].region, region) == 0)
            return &profile->metrics.items[i];
    return NULL;
}

static llmperf_profile *merge(llmperf_profile **runs, size_t number, size_t *merged)
{
    llmperf_profile *out = NULL;

    assert_int_equal(llmperf_profile_merge_counters((const llmperf_profile *const *)runs, number,
                                                    "all", merged, &out),
                     0);
    return out;
}

static void free_runs(llmperf_profile **runs, size_t number)
{
    for (size_t i = 0; i < number; i++)
        llmperf_profile_free(runs[i]);
}

static void groups_come_together_under_the_first_run(void **state)
{
    llmperf_profile *runs[] = { make_run("one", 3, 70), make_run("two", 3, 90) }, *out;
    size_t merged = 0;

    (void)state;
    count(runs[0], "LLM@a", "gpu_time", 3, 100);
    count(runs[0], "LLM@a", "dram_read_bytes", 3, 5);
    count(runs[1], "LLM@a", "gpu_time", 3, 140);
    count(runs[1], "LLM@a", "flops_fp32", 3, 7);
    count(runs[1], "LLM@b", "flops_fp32", 2, 8);
    out = merge(runs, 2, &merged);
    assert_int_equal(merged, 2);
    assert_string_equal(llmperf_profile_fact(out, "run_id"), "all");
    assert_int_equal(out->metrics.count, 4);
    /* A quantity of both is that of the first. */
    check_close(find(out, "LLM@a", "gpu_time")->mean, 100);
    assert_int_equal(find(out, "LLM@a", "gpu_time")->count, 3);
    check_close(find(out, "LLM@a", "flops_fp32")->mean, 7);
    check_close(find(out, "LLM@a", "flops_fp32")->std, 1);
    check_close(find(out, "LLM@b", "flops_fp32")->mean, 8);
    /* Processes are those of the first run. */
    assert_int_equal(find(out, "LLM@b", "flops_fp32")->process_id, 70);
    assert_int_equal(out->ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(has_note(out, "merged from 2 of 2 runs"));
    llmperf_profile_free(out);
    free_runs(runs, 2);
}

static void parts_of_a_sum_are_added_up(void **state)
{
    llmperf_profile *runs[] = { make_run("one", 3, 1), make_run("two", 3, 1),
                                make_run("three", 3, 1) },
                    *out;
    const llmperf_metric_stats *whole;
    size_t merged = 0;

    (void)state;
    count(runs[0], "LLM@a", "fp16 (part 1 of 3)", 3, 10);
    count(runs[0], "LLM@a", "fp8 (part 1 of 2)", 3, 10);
    count(runs[1], "LLM@a", "fp16 (part 2 of 3)", 2, 200);
    count(runs[2], "LLM@a", "fp16 (part 3 of 3)", 3, 3000);
    out = merge(runs, 3, &merged);
    whole = find(out, "LLM@a", "fp16");
    assert_non_null(whole);
    check_close(whole->mean, 3210);
    assert_int_equal(whole->count, 2);
    assert_true(isnan(whole->std) && isnan(whole->min) && isnan(whole->max));
    /* One that lacks a part is not known. */
    assert_null(find(out, "LLM@a", "fp8"));
    assert_true(has_note(out, "not all of its parts"));
    assert_null(find(out, "LLM@a", "fp16 (part 1 of 3)"));
    assert_int_equal(out->metrics.count, 1);
    llmperf_profile_free(out);
    free_runs(runs, 3);
}

static void a_run_with_other_work_is_left_out_and_told(void **state)
{
    llmperf_profile *runs[] = { make_run("one", 3, 1), make_run("two", 4, 1),
                                make_run("three", 3, 1), make_run("four", 3, 1) },
                    *out;
    size_t merged = 0;

    (void)state;
    add_region(runs[2], "LLM@c", 1, 1);
    for (int i = 0; i < 4; i++)
        count(runs[i], "LLM@a",
              i == 0   ? "first"
              : i == 1 ? "second"
              : i == 2 ? "third"
                       : "fourth",
              3, 1);
    out = merge(runs, 4, &merged);
    assert_int_equal(merged, 2);
    assert_non_null(find(out, "LLM@a", "first"));
    assert_non_null(find(out, "LLM@a", "fourth"));
    assert_null(find(out, "LLM@a", "second"));
    assert_null(find(out, "LLM@a", "third"));
    assert_true(has_note(out, "those of run 2 were skipped: LLM@a has 4 calls in it and 3"));
    assert_true(has_note(out, "those of run 3 were skipped: it has 3 regions"));
    assert_true(has_note(out, "merged from 2 of 4 runs"));
    /* Its times are all there. */
    assert_int_equal(out->ledger.verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(out);
    free_runs(runs, 4);
}

static void what_a_run_could_not_count_is_told(void **state)
{
    llmperf_profile *runs[] = { make_run("one", 3, 1), make_run("two", 3, 1) }, *out;
    size_t merged = 0;

    (void)state;
    assert_int_equal(lp_profile_note(runs[1], "no hardware counters: no permission"), 0);
    out = merge(runs, 2, &merged);
    assert_true(has_note(out, "run 2: no hardware counters: no permission"));
    llmperf_profile_free(out);
    free_runs(runs, 2);
}

static void wrong_arguments_are_refused(void **state)
{
    llmperf_profile *out = NULL;
    const llmperf_profile *none[] = { NULL };

    (void)state;
    assert_int_equal(llmperf_profile_merge_counters(NULL, 1, NULL, NULL, &out), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_merge_counters(none, 0, NULL, NULL, &out), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_merge_counters(none, 1, NULL, NULL, &out), LLMPERF_EINVAL);
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_come_together_under_the_first_run),
        cmocka_unit_test(parts_of_a_sum_are_added_up),
        cmocka_unit_test(a_run_with_other_work_is_left_out_and_told),
        cmocka_unit_test(what_a_run_could_not_count_is_told),
        cmocka_unit_test(wrong_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
