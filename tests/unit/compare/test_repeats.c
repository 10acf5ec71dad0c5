/* SPDX-License-Identifier: Apache-2.0 */
/* Runs beside each other: mean and spread by hand, runs that are apart, and runs that are no
 * repeats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "lib/compare/repeats.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/sys.h"
#include "tests/support/play.h"

#define RUNS_MOST 8

struct work {
    const char *path;
    uint64_t instances;
    double wall_ms, busy_ms;
    uint32_t process_id;
};

static void add_region(llmperf_profile *profile, const struct work *work)
{
    struct lp_region_row row = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };
    const char *slash = strrchr(work->path, '/');

    row.stats.path = work->path;
    row.stats.label = slash ? slash + 1 : work->path;
    row.stats.depth = slash ? 1 : 0;
    row.stats.kind = slash ? LLMPERF_REGION_OPERATOR : LLMPERF_REGION_STAGE;
    row.stats.process_id = work->process_id;
    row.stats.instances = work->instances;
    row.stats.wall_sum_ms = work->wall_ms * (double)work->instances;
    row.stats.wall_mean_ms = row.stats.wall_p50_ms = work->wall_ms;
    row.stats.wall_p95_ms = row.stats.wall_p99_ms = work->wall_ms;
    row.stats.gpu_busy_ms = work->busy_ms;
    row.stats.tokens = row.stats.flops = row.stats.bytes = LLMPERF_UNKNOWN;
    assert_int_equal(lp_vector_push(&profile->regions, row), 0);
}

static void set_fact(llmperf_profile *profile, const char *key, const char *value)
{
    assert_int_equal(lp_profile_set_fact(profile, key, value), 0);
}

static llmperf_profile *make_run(const struct work *works, size_t count)
{
    llmperf_profile *profile = lp_profile_create();

    for (size_t i = 0; i < count; i++)
        add_region(profile, &works[i]);
    profile->ledger.verdict = LLMPERF_VERDICT_COMPLETE;
    set_fact(profile, "tier", "deep");
    assert_int_equal(lp_profile_finish(profile), 0);
    return profile;
}

/* A run of one stage whose instances take that long. */
static llmperf_profile *make_prefill(double wall_ms)
{
    const struct work work = { "LLM@prefill", 4, wall_ms, wall_ms, 1 };

    return make_run(&work, 1);
}

struct job {
    llmperf_profile *runs[RUNS_MOST];
    size_t count;
    struct lp_repeats repeats;
};

static void read_job(struct job *job)
{
    assert_int_equal(
        lp_repeats_read(&job->repeats, (const llmperf_profile *const *)job->runs, job->count, 0.10),
        0);
}

static void clear_job(struct job *job)
{
    lp_repeats_clear(&job->repeats);
    for (size_t i = 0; i < job->count; i++)
        llmperf_profile_free(job->runs[i]);
}

static const struct lp_repeats_row *row_of(const struct lp_repeats *repeats, const char *region,
                                           uint32_t process, const char *quantity)
{
    for (size_t i = 0; i < repeats->rows.count; i++) {
        const struct lp_repeats_row *row = &repeats->rows.items[i];

        if (row->subject->scope == LP_REPEATS_REGION && row->subject->process == process &&
            strcmp(row->subject->region, region) == 0 && strcmp(row->quantity, quantity) == 0)
            return row;
    }
    fail_msg("no row %s of %s", quantity, region);
    return NULL;
}

static bool has_line(const char *const *lines, size_t count, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], part))
            return true;
    return false;
}

#define HAS_DIFFERENCE(job, part)                                                                  \
    has_line((job)->repeats.differences.items, (job)->repeats.differences.count, part)

static void mean_spread_and_deviation_are_of_the_runs(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(11), make_prefill(12) },
                       .count = 3 };
    const struct lp_repeats_row *row;

    (void)state;
    read_job(&job);
    row = row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean");
    assert_int_equal(row->count, 3);
    check_close(row->mean, 11);
    check_close(row->std, 1);
    check_close(row->cv, 1.0 / 11);
    check_close(row->min, 10);
    check_close(row->max, 12);
    check_close(row->spread, 2.0 / 11);
    assert_true(row->judged && row->differs);
    /* Wall and busy time. */
    assert_int_equal(job.repeats.differing, 2);
    assert_int_equal(job.repeats.differences.count, 0);
    clear_job(&job);
}

static void runs_within_the_threshold_do_not_differ(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(10.9) }, .count = 2 };

    (void)state;
    read_job(&job);
    assert_int_equal(job.repeats.judged, 2);
    assert_int_equal(job.repeats.differing, 0);
    /* Of two runs nobody can say which one is apart. */
    assert_false(
        lp_repeats_is_outlier(row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean"), 1, 0.0001));
    clear_job(&job);
}

static void the_run_that_is_apart_is_named(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(10.1), make_prefill(14),
                                 make_prefill(9.9), make_prefill(10.05) },
                       .count = 5 };
    const struct lp_repeats_row *row;

    (void)state;
    read_job(&job);
    row = row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean");
    check_close(row->median, 10.05);
    assert_true(fabs(row->deviation - 0.05) < 1e-9);
    for (size_t run = 0; run < 5; run++)
        assert_int_equal(lp_repeats_is_outlier(row, run, 0.10), run == 2);
    clear_job(&job);
}

static void a_wide_spread_without_a_centre_has_no_run_apart(void **state)
{
    struct job job = { { make_prefill(10), make_prefill(13), make_prefill(16) }, .count = 3 };
    const struct lp_repeats_row *row;

    (void)state;
    read_job(&job);
    row = row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean");
    assert_true(row->differs);
    for (size_t run = 0; run < 3; run++)
        assert_false(lp_repeats_is_outlier(row, run, 0.10));
    clear_job(&job);
}

static void small_regions_are_shown_and_not_judged(void **state)
{
    const struct work slow[] = { { "LLM@prefill", 1, 100, 100, 1 },
                                 { "LLM@prefill/LLM@tiny", 1, 0.5, 0.5, 1 } };
    const struct work fast[] = { { "LLM@prefill", 1, 100, 100, 1 },
                                 { "LLM@prefill/LLM@tiny", 1, 0.1, 0.1, 1 } };
    struct job job = { .runs = { make_run(slow, 2), make_run(fast, 2) }, .count = 2 };
    const struct lp_repeats_row *row;

    (void)state;
    read_job(&job);
    row = row_of(&job.repeats, "LLM@prefill/LLM@tiny", 0, "wall_ms.mean");
    assert_true(row->differs);
    assert_false(row->judged);
    assert_int_equal(job.repeats.differing, 0);
    clear_job(&job);
}

static void processes_meet_by_their_order(void **state)
{
    const struct work first[] = { { "LLM@prefill", 1, 10, 10, 700 },
                                  { "LLM@prefill", 1, 20, 20, 900 } };
    const struct work second[] = { { "LLM@prefill", 1, 10, 10, 12 },
                                   { "LLM@prefill", 1, 20, 20, 13 } };
    struct job job = { .runs = { make_run(first, 2), make_run(second, 2) }, .count = 2 };

    (void)state;
    read_job(&job);
    check_close(row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean")->max, 10);
    check_close(row_of(&job.repeats, "LLM@prefill", 1, "wall_ms.mean")->min, 20);
    assert_int_equal(job.repeats.differences.count, 0);
    clear_job(&job);
}

static void ranks_meet_by_the_number_of_their_launcher(void **state)
{
    const struct work first[] = { { "LLM@prefill", 1, 10, 10, 700 },
                                  { "LLM@prefill", 1, 20, 20, 900 } };
    const struct work second[] = { { "LLM@prefill", 1, 20, 20, 12 },
                                   { "LLM@prefill", 1, 10, 10, 13 } };
    struct job job = { .runs = { make_run(first, 2), make_run(second, 2) }, .count = 2 };

    (void)state;
    assert_int_equal(lp_profile_set_fact(job.runs[0], "process_id", "700 900"), 0);
    assert_int_equal(lp_profile_set_fact(job.runs[0], "rank", "0 1"), 0);
    assert_int_equal(lp_profile_set_fact(job.runs[1], "process_id", "12 13"), 0);
    assert_int_equal(lp_profile_set_fact(job.runs[1], "rank", "1 0"), 0);
    read_job(&job);
    check_close(row_of(&job.repeats, "LLM@prefill", 0, "wall_ms.mean")->max, 10);
    check_close(row_of(&job.repeats, "LLM@prefill", 1, "wall_ms.mean")->min, 20);
    clear_job(&job);
}

static void other_work_is_no_repeat(void **state)
{
    const struct work four = { "LLM@prefill", 4, 10, 10, 1 },
                      five = { "LLM@prefill", 5, 10, 10, 1 };
    const struct work more[] = { { "LLM@prefill", 4, 10, 10, 1 }, { "LLM@vision", 1, 5, 5, 1 } };
    struct job job = { .runs = { make_run(&four, 1), make_run(&five, 1), make_run(more, 2) },
                       .count = 3 };
    const struct lp_repeats_row *row;

    (void)state;
    read_job(&job);
    assert_true(HAS_DIFFERENCE(&job, "LLM@prefill: 4 calls in run 1, 5 calls in run 2"));
    assert_true(HAS_DIFFERENCE(&job, "LLM@vision: not in run 1, 1 calls in run 3"));
    row = row_of(&job.repeats, "LLM@vision", 0, "wall_ms.mean");
    assert_int_equal(row->count, 1);
    assert_true(isnan(row->values[0]) && isnan(row->std) && isnan(row->spread));
    assert_non_null(row->reason);
    assert_false(row->judged);
    clear_job(&job);
}

static void another_setting_is_no_repeat(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(10), make_prefill(10) },
                       .count = 3 };

    (void)state;
    set_fact(job.runs[2], "tier", "light");
    set_fact(job.runs[2], "config_fingerprint", "abc");
    set_fact(job.runs[0], "env",
             "{\"program\": \"a\", \"gpus\": [{\"device\": 0, \"name\": \"NVIDIA H200\"}]}");
    set_fact(job.runs[1], "env",
             "{\"program\": \"a\", \"gpus\": [{\"device\": 0, \"name\": \"NVIDIA A100\"}]}");
    job.runs[1]->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    read_job(&job);
    assert_true(HAS_DIFFERENCE(&job, "tier: deep in run 1, light in run 3"));
    assert_true(HAS_DIFFERENCE(&job, "configuration (SHA-256): unknown in run 1, abc in run 3"));
    assert_true(HAS_DIFFERENCE(&job, "GPU: NVIDIA H200 in run 1, NVIDIA A100 in run 2"));
    assert_true(HAS_DIFFERENCE(&job, "program: a in run 1, unknown in run 3"));
    assert_true(
        has_line(job.repeats.cautions.items, job.repeats.cautions.count, "run 2 is incomplete"));
    clear_job(&job);
}

static void one_run_given_twice_is_told(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(10) }, .count = 2 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        set_fact(job.runs[i], "run_id", "same");
        set_fact(job.runs[i], "created_at", "2026-01-01T00:00:00Z");
    }
    read_job(&job);
    assert_true(HAS_DIFFERENCE(&job, "runs 1 and 2 are the same run"));
    clear_job(&job);
}

static void json_has_null_and_a_reason(void **state)
{
    struct job job = { .runs = { make_prefill(10), make_prefill(12) }, .count = 2 };
    uint64_t findings = 0;
    json_t *root, *row;
    char *text = NULL;
    size_t i;
    bool seen = false;

    (void)state;
    assert_int_equal(llmperf_repeats_compare((const llmperf_profile *const *)job.runs, 2, 10,
                                             LLMPERF_TEXT_JSON, &text, &findings),
                     LLMPERF_OK);
    assert_int_equal(findings, 2);
    assert_non_null(root = json_loads(text, 0, NULL));
    assert_int_equal(json_integer_value(json_object_get(root, "repeats")), 2);
    json_array_foreach(json_object_get(root, "rows"), i, row)
    {
        const char *quantity = json_string_value(json_object_get(row, "quantity"));

        if (strcmp(quantity, "tokens_per_s") != 0)
            continue;
        seen = true;
        assert_true(json_is_null(json_object_get(row, "mean")));
        assert_true(json_is_null(json_array_get(json_object_get(row, "values"), 1)));
        assert_string_equal(json_string_value(json_object_get(row, "reason")),
                            "the program counted no tokens");
    }
    assert_true(seen);
    json_decref(root);
    llmperf_text_free(text);
    clear_job(&job);
}

static void wrong_arguments_are_refused(void **state)
{
    llmperf_profile *run = make_prefill(1);
    const llmperf_profile *runs[] = { run, NULL };
    char *text;

    (void)state;
    assert_int_equal(llmperf_repeats_compare(runs, 1, 10, LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_EINVAL);
    assert_int_equal(llmperf_repeats_compare(runs, 2, 10, LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_EINVAL);
    check_error("profile 2 of 2 is NULL");
    runs[1] = run;
    assert_int_equal(llmperf_repeats_compare(runs, 2, -1, LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_EINVAL);
    assert_int_equal(llmperf_repeats_compare(runs, 2, (double)NAN, LLMPERF_TEXT_PLAIN, &text, NULL),
                     LLMPERF_EINVAL);
    assert_int_equal(llmperf_repeats_compare(runs, 2, 10, 7, &text, NULL), LLMPERF_EINVAL);
    llmperf_profile_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_spread_and_deviation_are_of_the_runs),
        cmocka_unit_test(runs_within_the_threshold_do_not_differ),
        cmocka_unit_test(the_run_that_is_apart_is_named),
        cmocka_unit_test(a_wide_spread_without_a_centre_has_no_run_apart),
        cmocka_unit_test(small_regions_are_shown_and_not_judged),
        cmocka_unit_test(processes_meet_by_their_order),
        cmocka_unit_test(ranks_meet_by_the_number_of_their_launcher),
        cmocka_unit_test(other_work_is_no_repeat),
        cmocka_unit_test(another_setting_is_no_repeat),
        cmocka_unit_test(one_run_given_twice_is_told),
        cmocka_unit_test(json_has_null_and_a_reason),
        cmocka_unit_test(wrong_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
