/* SPDX-License-Identifier: Apache-2.0 */
/* Iterations and their statistics in a run file. */
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

#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "tests/support/memory.h"
#include "tests/support/run_files.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/llmperf-iterations-%ld.llmperf", (long)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* Every field has a value of its own, so that two that change places are seen. */
static llmperf_iteration make_iteration(llmperf_profile *profile, uint64_t sequence)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;

    row.region = lp_profile_text(profile, "LLM@decode_all/LLM@decode_step");
    row.sequence = sequence;
    row.begin_ns = 1000 + sequence;
    row.activities = 17;
    row.tokens = 2;
    row.sequences = 3;
    row.context = 4;
    row.flops = 5;
    row.bytes = LLMPERF_UNKNOWN;
    row.wall_ms = 1.5;
    row.span_ms = 2.5;
    row.busy_ms = 3.5;
    row.idle_ms = 4.5;
    row.idle_launch_ms = 5.5;
    row.idle_wait_ms = NAN;
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++)
        row.class_ms[i] = i == 7 ? (double)NAN : (double)i + 0.25;
    return row;
}

static struct lp_iteration_stats_row make_stats(llmperf_profile *profile, const char *quantity,
                                                uint32_t is_class, double sum_ms)
{
    struct lp_iteration_stats_row row = { .stats = LLMPERF_ITERATION_STATS_INIT };

    row.stats.region = lp_profile_text(profile, "LLM@decode_all/LLM@decode_step");
    row.stats.quantity = lp_profile_text(profile, quantity);
    row.stats.is_class = is_class;
    row.stats.count = 9;
    row.stats.sum_ms = sum_ms;
    row.stats.mean_ms = 2;
    row.stats.std_ms = NAN;
    row.stats.min_ms = 3;
    row.stats.max_ms = 4;
    row.stats.p50_ms = 5;
    row.stats.p95_ms = 6;
    row.stats.p99_ms = 7;
    return row;
}

static llmperf_profile *saved_profile(void)
{
    llmperf_profile *profile = lp_profile_create(), *read = NULL;

    assert_int_equal(lp_vector_push(&profile->iterations, make_iteration(profile, 8)), 0);
    assert_int_equal(lp_vector_push(&profile->iterations, make_iteration(profile, 3)), 0);
    assert_int_equal(lp_vector_push(&profile->iteration_stats, make_stats(profile, "norm", 1, 1)),
                     0);
    assert_int_equal(lp_vector_push(&profile->iteration_stats, make_stats(profile, "GEMM", 1, 8)),
                     0);
    assert_int_equal(lp_vector_push(&profile->iteration_stats, make_stats(profile, "idle", 0, 2)),
                     0);
    assert_int_equal(lp_vector_push(&profile->iteration_stats, make_stats(profile, "wall", 0, 1)),
                     0);
    assert_int_equal(lp_profile_set_fact(profile, LP_CLASS_FACT "1", "GEMM"), 0);
    assert_int_equal(llmperf_profile_save(profile, path), 0);
    llmperf_profile_free(profile);
    assert_int_equal(llmperf_profile_open(path, &read), 0);
    return read;
}

static void iterations_survive_in_the_order_of_their_sequence(void **state)
{
    llmperf_profile *profile = saved_profile();
    llmperf_iteration first = LLMPERF_ITERATION_INIT, last = LLMPERF_ITERATION_INIT;
    llmperf_iteration expected = make_iteration(profile, 3);

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS), 2);
    assert_int_equal(llmperf_profile_iteration(profile, 0, &first), 0);
    assert_int_equal(llmperf_profile_iteration(profile, 1, &last), 0);
    assert_int_equal(first.sequence, 3);
    assert_int_equal(last.sequence, 8);
    assert_string_equal(first.region, expected.region);
    expected.region = first.region;
    assert_true(isnan(first.idle_wait_ms) && isnan(first.class_ms[7]));
    expected.idle_wait_ms = first.idle_wait_ms; /* one NaN may differ from another in its bits */
    expected.class_ms[7] = first.class_ms[7];
    assert_memory_equal(&first, &expected, sizeof(first));
    assert_int_equal(llmperf_profile_iteration(profile, 2, &first), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

static void statistics_are_ordered_times_first_then_the_longest_class(void **state)
{
    static const char *const quantities[] = { "wall", "idle", "GEMM", "norm" };
    llmperf_profile *profile = saved_profile();

    (void)state;
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_ITERATION_STATS), 4);
    for (size_t i = 0; i < 4; i++) {
        llmperf_iteration_stats row = LLMPERF_ITERATION_STATS_INIT;

        assert_int_equal(llmperf_profile_iteration_stats(profile, i, &row), 0);
        assert_string_equal(row.quantity, quantities[i]);
        assert_int_equal(row.count, 9);
        assert_true(isnan(row.std_ms));
        assert_float_equal(row.p99_ms, 7, 0);
    }
    llmperf_profile_free(profile);
}

static void class_names_are_those_of_the_run(void **state)
{
    llmperf_profile *profile = saved_profile();

    (void)state;
    assert_null(llmperf_profile_class(profile, 0));
    assert_string_equal(llmperf_profile_class(profile, 1), "GEMM");
    assert_null(llmperf_profile_class(profile, LLMPERF_ITERATION_CLASSES));
    llmperf_profile_free(profile);
}

/* A server runs for months: each commit has the newest iterations. */

#define NEWEST LLMPERF_ITERATIONS_KEPT

static void write_newest(struct lp_store *store, uint64_t last)
{
    llmperf_profile *profile = lp_profile_create();

    for (uint64_t sequence = last - NEWEST + 1; sequence <= last; sequence++)
        assert_ok(lp_vector_push(&profile->iterations, make_iteration(profile, sequence)));
    assert_ok(lp_store_write(store, profile));
    llmperf_profile_free(profile);
}

static void memory_does_not_grow_with_the_iterations_that_were_committed(void **state)
{
    struct lp_store *store = create_run_store();
    uint64_t last = NEWEST;
    size_t before;

    (void)state;
    for (int i = 0; i < 4; i++, last += NEWEST)
        write_newest(store, last);
    before = allocated_bytes();
    for (int i = 0; i < 40; i++, last += NEWEST)
        write_newest(store, last);
    assert_in_range(allocated_bytes(), 0, before + 65536);
    assert_sql_gives("SELECT min(sequence) || ',' || count(*) FROM iteration", "44033,1024");
    assert_ok(lp_store_close(store));
}

/* Triggers count what a commit does to the table. */
static void a_commit_touches_the_rows_that_came_and_went(void **state)
{
    struct lp_store *store = create_run_store();
    uint64_t last = NEWEST;

    (void)state;
    write_newest(store, last);
    run_sql(run_path,
            "CREATE TABLE touched(what TEXT);"
            "CREATE TRIGGER came AFTER INSERT ON iteration BEGIN INSERT INTO touched VALUES('put');"
            "END; CREATE TRIGGER went AFTER DELETE ON iteration BEGIN INSERT INTO touched "
            "VALUES('drop'); END");
    for (int i = 0; i < 30; i++)
        write_newest(store, last += 100);
    assert_sql_gives("SELECT group_concat(what || count) FROM (SELECT what, count(*) AS count FROM "
                     "touched GROUP BY what)",
                     "drop3000,put3000");
    assert_ok(lp_store_close(store));
}

/* The full disk of a night must not cost memory either. */
static void memory_does_not_grow_while_commits_fail(void **state)
{
    struct lp_store *store = create_run_store();
    llmperf_profile *profile = lp_profile_create();
    uint64_t last = NEWEST;
    size_t before;

    (void)state;
    write_newest(store, last);
    run_sql(run_path, "CREATE TRIGGER full BEFORE INSERT ON note BEGIN SELECT RAISE(ABORT, 'full');"
                      "END");
    assert_ok(lp_profile_note(profile, "a note"));
    before = allocated_bytes();
    for (int i = 0; i < 20; i++) {
        profile->iterations.count = 0;
        for (uint64_t k = 0; k < NEWEST; k++)
            assert_ok(lp_vector_push(&profile->iterations, make_iteration(profile, ++last)));
        assert_int_equal(lp_store_write(store, profile), LLMPERF_EIO);
    }
    llmperf_profile_free(profile);
    assert_in_range(allocated_bytes(), 0, before + 262144);
    run_sql(run_path, "DROP TRIGGER full");
    write_newest(store, last);
    assert_sql_gives("SELECT min(sequence) || ',' || count(*) FROM iteration", "20481,1024");
    assert_ok(lp_store_close(store));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)
#define RUN(name)  cmocka_unit_test_setup_teardown(name, make_run_folder, remove_run_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(iterations_survive_in_the_order_of_their_sequence),
        CASE(statistics_are_ordered_times_first_then_the_longest_class),
        CASE(class_names_are_those_of_the_run),
        RUN(memory_does_not_grow_with_the_iterations_that_were_committed),
        RUN(a_commit_touches_the_rows_that_came_and_went),
        RUN(memory_does_not_grow_while_commits_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
