/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of several processes and GPUs held against each other: a job is what its ranks make it, and
 * ranks are no repeats of one another. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/compare/compare.h"
#include "lib/profile/profile.h"
#include "llmperf/llmperf.h"
#include "tests/support/play.h"
#include "tests/support/compared.h"
#include "tests/support/rows.h"
#include "tests/support/text.h"

#define STEP  "LLM@decode_step"
#define COUNT 100 /* instances in each rank */
#define RANKS 4

/* What a rank does in each step, and how far the steps are apart. */
struct rank {
    double wall_ms, wall_std_ms, gemm_ms, reduce_ms;
    uint32_t process;
    int32_t device;
};

static void add_rank(llmperf_profile *profile, const struct rank *rank)
{
    put_region_row(profile, STEP, rank->process, rank->device, COUNT, rank->wall_ms,
                   rank->wall_std_ms);
    if (rank->gemm_ms > 0)
        put_kernel_row(profile, "sgemm_kernel", STEP, rank->device, COUNT, rank->gemm_ms, 0.1);
    if (rank->reduce_ms > 0)
        put_kernel_row(profile, "ncclDevKernel_AllReduce_Sum", STEP, rank->device, COUNT,
                       rank->reduce_ms, 0.1);
}

static llmperf_profile *make_job(const struct rank *ranks, size_t count)
{
    llmperf_profile *profile = lp_profile_create();

    for (size_t i = 0; i < count; i++)
        add_rank(profile, &ranks[i]);
    finish_rows(profile);
    return profile;
}

/* Two ranks; the second one takes so long. */
static llmperf_profile *make_pair(double second_wall_ms)
{
    const struct rank ranks[] = { { 10, 0.1, 4, 0, 7, 0 }, { second_wall_ms, 0.1, 5, 0, 8, 1 } };

    return make_job(ranks, 2);
}

static struct lp_comparison compare_sides(const llmperf_profile *const *base, size_t base_count,
                                          const llmperf_profile *const *fresh, size_t fresh_count)
{
    const struct lp_compare_runs sides[] = { { base, base_count }, { fresh, fresh_count } };
    struct lp_comparison comparison = { .reason = "" };

    assert_int_equal(lp_compare(&sides[0], &sides[1], 0.05, &comparison), 0);
    return comparison;
}

static const struct lp_compare_row *find(const struct lp_comparison *comparison,
                                         enum lp_compare_scope scope, uint32_t number,
                                         const char *quantity)
{
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const struct lp_compare_key *key = &comparison->rows.items[i].key;

        if (key->scope == scope && key->number == number && strcmp(key->quantity, quantity) == 0)
            return &comparison->rows.items[i];
    }
    return NULL;
}

static struct lp_compare_row row_of(const struct lp_comparison *comparison,
                                    enum lp_compare_scope scope, uint32_t number,
                                    const char *quantity)
{
    const struct lp_compare_row *row = find(comparison, scope, number, quantity);

    if (!row)
        fail_msg("no row of %s", quantity);
    return row ? *row : (struct lp_compare_row){ .change = NAN };
}

static struct lp_compare_row job_row(const struct lp_comparison *comparison, const char *quantity)
{
    return row_of(comparison, LP_COMPARE_JOB, 0, quantity);
}

static void forget(struct lp_comparison *comparison, llmperf_profile *base, llmperf_profile *fresh)
{
    lp_compare_clear(comparison);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

/* Their steps take 10 and 14 ms, each within 0.1: taken for 200 repeats of 12 ms they would be 2 ms
 * apart, and a growth of 6 % would be lost in it. */
static void ranks_of_a_job_are_no_repeats(void **state)
{
    llmperf_profile *base = make_pair(14), *fresh = make_pair(14.84);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row wall = job_row(&comparison, "wall");

    (void)state;
    check_close(wall.base.of.mean_ms, 14);
    check_close(wall.base.of.error_ms, 0.01);
    assert_int_equal(wall.base.of.instances, COUNT);
    assert_int_equal(wall.base.number, 1);
    check_close(wall.change, 0.06);
    assert_true(wall.noise_ms < 0.05);
    assert_int_equal(wall.verdict, LP_COMPARE_SLOWER);
    forget(&comparison, base, fresh);
}

static void each_rank_is_held_against_the_same_one(void **state)
{
    llmperf_profile *base = make_pair(14), *fresh = make_pair(12);
    struct lp_comparison comparison;

    (void)state;
    fresh->regions.items[0].stats.wall_sum_ms = 11.9 * COUNT;
    comparison = compare_profiles(base, fresh);
    assert_true(comparison.has_ranks && comparison.paired);
    check_close(row_of(&comparison, LP_COMPARE_PROCESS, 0, "wall").base.of.mean_ms, 10);
    check_close(row_of(&comparison, LP_COMPARE_PROCESS, 0, "wall").fresh.of.mean_ms, 11.9);
    assert_int_equal(row_of(&comparison, LP_COMPARE_PROCESS, 0, "wall").verdict, LP_COMPARE_SLOWER);
    assert_int_equal(row_of(&comparison, LP_COMPARE_PROCESS, 1, "wall").verdict, LP_COMPARE_FASTER);
    check_close(row_of(&comparison, LP_COMPARE_GPU, 1, "GEMM").base.of.mean_ms, 5);
    /* Nobody waits for rank 0: the job became faster, which is what its exit code says. */
    assert_int_equal(job_row(&comparison, "wall").verdict, LP_COMPARE_FASTER);
    assert_int_equal(comparison.slower, 0);
    assert_int_equal(comparison.parts_slower, 1);
    forget(&comparison, base, fresh);
}

static void device_time_of_a_job_is_that_of_all_gpus(void **state)
{
    llmperf_profile *base = make_pair(14), *fresh = make_pair(14);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row device = job_row(&comparison, "device");

    (void)state;
    check_close(device.base.of.mean_ms, 9);
    check_close(device.base.of.total_ms, 9 * COUNT);
    assert_int_equal(device.base.of.instances, COUNT);
    /* 0.1 / sqrt(100) of each, however they depend on one another. */
    check_close(device.base.of.error_ms, 0.02);
    check_close(device.base.of.freedom, COUNT - 1);
    check_close(device.change, 0);
    forget(&comparison, base, fresh);
}

/* GPU 0 computes 300 us and sums up for 20, GPU 1 computes 200 us and is in its sum for 120. */
static llmperf_profile *play_uneven(const char *first_us)
{
    char script[400];

    snprintf(
        script, sizeof(script),
        "repeat 4\nbegin " STEP "\n"
        "launch sgemm_kernel device=0 duration=%s000\n"
        "launch ncclDevKernel_AllReduce_Sum device=0 duration=20000\n"
        "launch sgemm_kernel device=1 duration=200000\n"
        "launch ncclDevKernel_AllReduce_Sum device=1 duration=120000\nwait 700000\nend\ndone\n",
        first_us);
    return play_script(script);
}

static void what_gpus_do_together_stands_apart(void **state)
{
    llmperf_profile *base = play_uneven("300"), *fresh = play_uneven("500");
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state;
    check_close(job_row(&comparison, "computing").base.of.mean_ms, 0.3);
    check_close(job_row(&comparison, "computing").fresh.of.mean_ms, 0.5);
    assert_int_equal(job_row(&comparison, "computing").base.number, 0);
    assert_int_equal(job_row(&comparison, "computing").verdict, LP_COMPARE_SLOWER);
    check_close(job_row(&comparison, "communicating").base.of.mean_ms, 0.02);
    /* GPU 1 is launched 2 us later. */
    check_close(job_row(&comparison, "waiting").base.of.mean_ms, 0.098);
    assert_int_equal(job_row(&comparison, "waiting").base.number, 1);
    assert_int_equal(job_row(&comparison, "waiting").verdict, LP_COMPARE_SAME);
    check_close(job_row(&comparison, "collective").base.of.mean_ms, 0.14);
    forget(&comparison, base, fresh);
}

/* Ids of processes are given out anew, GPUs are chosen anew: the launcher's number stays. */
static void launchers_say_which_rank_is_the_same(void **state)
{
    const struct rank first[] = { { 10, 0.1, 4, 0, 7, 0 }, { 14, 0.1, 4, 0, 8, 1 } };
    const struct rank second[] = { { 14, 0.1, 4, 0, 7, 0 }, { 10, 0.1, 4, 0, 9, 1 } };
    llmperf_profile *base = make_job(first, 2), *fresh = make_job(second, 2);
    struct lp_comparison comparison;

    (void)state;
    assert_int_equal(lp_profile_set_fact(base, "process_id", "7 8"), 0);
    assert_int_equal(lp_profile_set_fact(base, "rank", "0 1"), 0);
    assert_int_equal(lp_profile_set_fact(fresh, "process_id", "9 7"), 0);
    assert_int_equal(lp_profile_set_fact(fresh, "rank", "0 1"), 0);
    comparison = compare_profiles(base, fresh);
    check_close(row_of(&comparison, LP_COMPARE_PROCESS, 0, "wall").change, 0);
    check_close(row_of(&comparison, LP_COMPARE_PROCESS, 1, "wall").change, 0);
    lp_compare_clear(&comparison);
    /* One number for all is that of somebody else. */
    assert_int_equal(lp_profile_set_fact(fresh, "rank", "3 3"), 0);
    comparison = compare_profiles(base, fresh);
    check_close(row_of(&comparison, LP_COMPARE_PROCESS, 0, "wall").change, 0.4);
    forget(&comparison, base, fresh);
}

static void ranks_are_named_by_merging(void **state)
{
    static const char *const envs[] = {
        "{\"variables\": {\"RANK\": \"3\", \"SLURM_PROCID\": \"0\"}}",
        "{\"variables\": {\"PMI_RANK\": \"2\"}}", "{}"
    };
    llmperf_profile *runs[3], *merged, *again;

    (void)state;
    for (int i = 0; i < 3; i++) {
        runs[i] = lp_profile_create();
        put_region_row(runs[i], STEP, 7, i, COUNT, 10 + i, 1);
        finish_rows(runs[i]);
        assert_int_equal(lp_profile_set_fact(runs[i], "process_id", "7"), 0);
        assert_int_equal(lp_profile_set_fact(runs[i], "env", envs[i]), 0);
    }
    assert_int_equal(lp_profile_rank(runs[0], 7), 3);
    assert_int_equal(llmperf_profile_merge((const llmperf_profile *const *)runs, 2, &merged), 0);
    assert_string_equal(llmperf_profile_fact(merged, "process_id"), "7 4194311");
    assert_string_equal(llmperf_profile_fact(merged, "rank"), "3 2");
    assert_int_equal(lp_profile_rank(merged, 7), 3);
    assert_int_equal(lp_profile_rank(merged, 4194311), 2);
    assert_int_equal(lp_profile_rank(merged, 9), -1);
    assert_int_equal(
        llmperf_profile_merge((const llmperf_profile *const[]){ merged, runs[2] }, 2, &again), 0);
    assert_string_equal(llmperf_profile_fact(again, "process_id"), "7 4194311 8388615");
    assert_string_equal(llmperf_profile_fact(again, "rank"), "3 2 ?");
    assert_int_equal(lp_profile_rank(again, 8388615), -1);
    llmperf_profile_free(again);
    llmperf_profile_free(merged);
    for (int i = 0; i < 3; i++)
        llmperf_profile_free(runs[i]);
}

static void other_numbers_of_ranks_are_told_and_not_paired(void **state)
{
    static const struct rank ranks[] = { { 6, 0.1, 2, 1, 1, 0 },
                                         { 6, 0.1, 2, 1, 2, 1 },
                                         { 6, 0.1, 2, 1, 3, 2 },
                                         { 7, 0.1, 2, 1, 4, 3 } };
    llmperf_profile *base = make_pair(14), *fresh = make_job(ranks, RANKS);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    char *text;

    (void)state;
    assert_true(comparison.has_ranks && !comparison.paired);
    for (size_t i = 0; i < comparison.rows.count; i++)
        assert_int_equal(comparison.rows.items[i].key.scope, LP_COMPARE_JOB);
    assert_int_equal(job_row(&comparison, "wall").verdict, LP_COMPARE_FASTER);
    check_close(job_row(&comparison, "device").fresh.of.mean_ms, 12);
    assert_int_equal(job_row(&comparison, "device").verdict, LP_COMPARE_UNLIKE);
    assert_int_equal(comparison.slower, 0);
    lp_compare_clear(&comparison);
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL), 0);
    assert_text_has(text, "complete, 2 ranks\n");
    assert_text_has(text, "complete, 4 ranks\n");
    assert_text_has(text, "have different ranks");
    assert_text_has(text, "sums over different numbers of GPUs");
    assert_text_has(text, "| `LLM@decode_step` | job (rank 1, then 3) | wall | 14.00 | 7.000 |");
    llmperf_text_free(text);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

static void processes_that_share_a_gpu_are_no_ranks(void **state)
{
    static const struct rank ranks[] = { { 10, 0.1, 2, 0, 1, 0 }, { 12, 0.1, 3, 0, 2, 0 } };
    llmperf_profile *base = make_job(ranks, 2), *fresh = make_job(ranks, 2);
    struct lp_comparison comparison = compare_profiles(base, fresh);
    struct lp_compare_row wall = row_of(&comparison, LP_COMPARE_PROCESS, 1, "wall");
    struct lp_compare_row device = row_of(&comparison, LP_COMPARE_GPU, 0, "device");

    (void)state;
    assert_string_equal(lp_compare_noun(&comparison, &wall.key), "process");
    assert_string_equal(lp_compare_noun(&comparison, &device.key), "gpu");
    /* Of an instance of either: 500 ms in 200. */
    check_close(device.base.of.mean_ms, 2.5);
    forget(&comparison, base, fresh);
}

static void a_process_without_a_gpu_is_no_rank(void **state)
{
    static const struct rank ranks[] = { { 10, 0.1, 2, 0, 8, 0 }, { 2, 0.1, 0, 0, 1, -1 } };
    llmperf_profile *base = make_job(ranks, 2), *fresh = make_job(ranks, 1);
    struct lp_comparison comparison = compare_profiles(base, fresh);

    (void)state;
    assert_false(comparison.has_ranks);
    check_close(job_row(&comparison, "wall").change, 0);
    forget(&comparison, base, fresh);
}

/* A run of 10 and one of 12 ms, each known to 0.01: that says nothing of the next run. */
static void repeats_of_jobs_say_how_far_jobs_are_apart(void **state)
{
    llmperf_profile *runs[] = { make_pair(10), make_pair(12), make_pair(14),
                                make_pair(13), make_pair(15), make_pair(11) };
    struct lp_comparison comparison = compare_sides((const llmperf_profile *const *)runs, 3,
                                                    (const llmperf_profile *const *)runs + 3, 3);
    struct lp_compare_row wall = job_row(&comparison, "wall");

    (void)state;
    check_close(wall.base.of.mean_ms, 12);
    check_close(wall.fresh.of.mean_ms, 13);
    check_close(wall.base.of.error_ms, 2 / sqrt(3));
    check_close(wall.base.of.freedom, 2);
    assert_int_equal(wall.base.runs, 3);
    assert_int_equal(wall.base.of.instances, 3 * COUNT);
    assert_int_equal(wall.verdict, LP_COMPARE_SAME);
    lp_compare_clear(&comparison);
    comparison = compare_profiles(runs[0], runs[1]);
    assert_int_equal(job_row(&comparison, "wall").verdict, LP_COMPARE_SLOWER);
    lp_compare_clear(&comparison);
    comparison = compare_sides((const llmperf_profile *const *)runs, 1,
                               (const llmperf_profile *const *)runs + 1, 2);
    check_close(job_row(&comparison, "wall").base.of.error_ms, 0.01);
    check_close(job_row(&comparison, "wall").fresh.of.error_ms, 1);
    lp_compare_clear(&comparison);
    for (int i = 0; i < 6; i++)
        llmperf_profile_free(runs[i]);
}

static void texts_say_whose_a_row_is(void **state)
{
    llmperf_profile *base = make_pair(14), *fresh = make_pair(18);
    const llmperf_profile *twice[] = { base, base };
    json_t *root, *row;
    char *text;

    (void)state;
    assert_int_equal(compare_pair(base, fresh, 5, LLMPERF_TEXT_PLAIN, &text, NULL), 0);
    assert_text_has(text, "**Regression**: 1 slower, 0 faster");
    assert_text_has(text, "Single ranks: 1 slower, 0 faster");
    assert_text_has(text, "| `LLM@decode_step` | job (rank 1) | wall | 14.00 | 18.00 |");
    assert_text_has(text, "## Single ranks");
    assert_text_has(text, "| `LLM@decode_step` | rank 1 | wall | 14.00 | 18.00 |");
    llmperf_text_free(text);
    assert_int_equal(llmperf_runs_compare(twice, 2, twice, 1, 5, LLMPERF_TEXT_JSON, &text, NULL),
                     0);
    assert_non_null(root = json_loads(text, 0, NULL));
    row = json_object_get(root, "base");
    assert_int_equal(json_array_size(json_object_get(row, "runs")), 2);
    row = json_array_get(json_object_get(row, "runs"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "gpus")), 2);
    assert_true(json_is_true(json_object_get(root, "same_ranks")));
    row = json_array_get(json_object_get(root, "rows"), 0);
    assert_non_null(json_object_get(row, "scope"));
    json_decref(root);
    llmperf_text_free(text);
    assert_int_equal(llmperf_runs_compare(twice, 0, twice, 1, 5, 0, &text, NULL), LLMPERF_EINVAL);
    twice[1] = NULL;
    assert_int_equal(llmperf_runs_compare(twice, 2, twice, 1, 5, 0, &text, NULL), LLMPERF_EINVAL);
    llmperf_profile_free(base);
    llmperf_profile_free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_job_are_no_repeats),
        cmocka_unit_test(each_rank_is_held_against_the_same_one),
        cmocka_unit_test(device_time_of_a_job_is_that_of_all_gpus),
        cmocka_unit_test(what_gpus_do_together_stands_apart),
        cmocka_unit_test(launchers_say_which_rank_is_the_same),
        cmocka_unit_test(ranks_are_named_by_merging),
        cmocka_unit_test(other_numbers_of_ranks_are_told_and_not_paired),
        cmocka_unit_test(processes_that_share_a_gpu_are_no_ranks),
        cmocka_unit_test(a_process_without_a_gpu_is_no_rank),
        cmocka_unit_test(repeats_of_jobs_say_how_far_jobs_are_apart),
        cmocka_unit_test(texts_say_whose_a_row_is),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
