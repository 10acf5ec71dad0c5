/* SPDX-License-Identifier: Apache-2.0 */
/* Run files: what goes in comes out, and writing again and again leaves what was written last. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "tests/support/run_files.h"

/* Round trip */

static void each_field_survives(void **state)
{
    llmperf_profile *profile = make_numbered_profile(3);

    (void)state;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    assert_run_holds(run_folder, profile);
    llmperf_profile_free(profile);
}

static void unknown_values_survive(void **state)
{
    llmperf_profile *profile = make_unknown_profile(2);

    (void)state;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    assert_sql_gives("SELECT count(*) FROM region WHERE device IS NULL AND parent IS NULL AND "
                     "tokens IS NULL AND idle_ms IS NULL AND wall_histogram IS NULL",
                     "1");
    assert_sql_gives("SELECT count(*) FROM kernel WHERE device IS NULL AND region IS NULL AND "
                     "calls IS NULL AND total_ms IS NULL AND histogram IS NULL",
                     "1");
    llmperf_profile_free(profile);
}

static void extreme_values_survive(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    llmperf_region_stats *stats = &add_region_row(profile, 5000)->stats;

    (void)state;
    stats->stage = ""; /* not the same as none */
    stats->instances = 0;
    stats->tokens = UINT64_MAX - 1;
    stats->bytes = (uint64_t)INT64_MAX + 1;
    stats->device = UINT16_MAX;
    stats->wall_sum_ms = DBL_MAX;
    stats->wall_std_ms = DBL_TRUE_MIN;
    stats->wall_min_ms = HUGE_VAL;
    stats->kernel_ms = 0;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void an_empty_profile_survives(void **state)
{
    llmperf_profile *profile = lp_profile_create();

    (void)state;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void long_texts_and_many_lines_survive(void **state)
{
    llmperf_profile *profile = make_numbered_profile(0);
    char *name = malloc(100001);

    (void)state;
    memset(name, 'x', 100000);
    name[100000] = '\0';
    add_kernel_row(profile, 5000)->stats.name = lp_profile_text(profile, name);
    for (int i = 0; i < 500; i++)
        assert_ok(lp_profile_note(profile, "note %d", i));
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    free(name);
    llmperf_profile_free(profile);
}

static void columns_for_people_are_in_the_file(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    llmperf_kernel_stats *stats = &profile->kernels.items[0].stats;

    (void)state;
    stats->demangled = "f(int)";
    stats->short_name = "f";
    stats->share = 0.25;
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_sql_gives("SELECT demangled || short_name || share FROM kernel", "f(int)f0.25");
    assert_sql_gives("SELECT value FROM fact WHERE key='run_id'", "20260101-000000-1");
    assert_sql_gives("SELECT group_concat(line) FROM problem", "first problem,second; 'problem'");
    assert_sql_gives("PRAGMA application_id", "1280068944"); /* "LLMP" */
    assert_sql_gives("PRAGMA user_version", "6");
    llmperf_profile_free(profile);
}

static void rows_with_one_key_stay_two_rows(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_region_row twin = profile->regions.items[0];
    struct lp_store *store = create_run_store();

    (void)state;
    assert_ok(lp_vector_push(&profile->regions, twin));
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

/* Writing again and again */

static void a_later_write_replaces_what_changed(void **state)
{
    llmperf_profile *profile = make_numbered_profile(3);
    struct lp_store *store = create_run_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    profile->regions.items[1].stats.tokens++;
    profile->kernels.items[2].durations = (struct lp_blob){ "\7", 1 };
    profile->ledger.kernels_seen++;
    profile->problems.count = 1;
    add_region_row(profile, 7000);
    assert_ok(lp_profile_set_fact(profile, "source", "cupti"));
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void rows_that_vanish_are_removed_and_may_come_back(void **state)
{
    llmperf_profile *profile = make_numbered_profile(3);
    struct lp_store *store = create_run_store();

    (void)state;
    profile->regions.items[0].stats.device = -1;
    assert_ok(lp_store_write(store, profile));
    profile->regions.items[0].stats.device = 2;
    profile->kernels.count = 1;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    profile->regions.items[0].stats.device = -1;
    profile->kernels.count = 3;
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    llmperf_profile_free(profile);
}

/* What somebody else wrote into a row shows whether the store wrote it again. */
static void unchanged_rows_are_not_written_again(void **state)
{
    llmperf_profile *profile = make_numbered_profile(2);
    struct lp_store *store = create_run_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    run_sql(run_path, "UPDATE region SET flops=7; UPDATE kernel SET bytes=7");
    profile->regions.items[0].stats.instances++;
    profile->kernels.items[0].stats.share = 0.5; /* follows from other rows */
    assert_ok(lp_store_write(store, profile));
    assert_sql_gives("SELECT count(*) FROM region WHERE flops=7", "1");
    assert_sql_gives("SELECT count(*) FROM kernel WHERE bytes=7", "2");
    assert_ok(lp_store_close(store));
    llmperf_profile_free(profile);
}

static void shares_are_right_when_the_file_is_closed(void **state)
{
    llmperf_profile *profile = make_numbered_profile(2);
    struct lp_store *store = create_run_store();

    (void)state;
    profile->kernels.items[0].stats.total_ms = 3;
    profile->kernels.items[1].stats.total_ms = 3;
    assert_ok(lp_store_write(store, profile));
    profile->kernels.items[1].stats.total_ms = 9;
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_close(store));
    assert_sql_gives("SELECT group_concat(share) FROM (SELECT share FROM kernel ORDER BY share)",
                     "0.25,0.75");
    llmperf_profile_free(profile);
}

static void a_write_after_a_failed_one_is_whole(void **state)
{
    llmperf_profile *profile = make_numbered_profile(200);
    struct lp_store *store = create_run_store();
    struct rlimit limit, small;

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 65536; /* the log is longer already */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (unsigned i = 0; i < 150; i++)
        profile->regions.items[i].stats.instances++;
    profile->kernels.count = 10;
    assert_int_equal(lp_store_write(store, profile), LLMPERF_EIO);
    assert_error_has(run_path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_ok(lp_store_write(store, profile));
    assert_run_holds(run_path, profile);
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void a_closed_run_is_one_file(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_store *store = create_run_store();

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_true(run_file_exists("-wal"));
    assert_ok(lp_store_close(store));
    assert_ok(lp_store_close(NULL));
    assert_true(run_file_exists(""));
    assert_false(run_file_exists("-wal"));
    assert_false(run_file_exists("-shm"));
    assert_false(run_file_exists("-journal"));
    llmperf_profile_free(profile);
}

static void a_reader_that_stays_does_not_fail_the_close(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_store *store = create_run_store();
    sqlite3 *reader = NULL;

    (void)state;
    assert_ok(lp_store_write(store, profile));
    assert_int_equal(sqlite3_open_v2(run_path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM region", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_ok(lp_store_close(store));
    sqlite3_close(reader);
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_run_folder, remove_run_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_field_survives),
        CASE(unknown_values_survive),
        CASE(extreme_values_survive),
        CASE(an_empty_profile_survives),
        CASE(long_texts_and_many_lines_survive),
        CASE(columns_for_people_are_in_the_file),
        CASE(rows_with_one_key_stay_two_rows),
        CASE(a_later_write_replaces_what_changed),
        CASE(rows_that_vanish_are_removed_and_may_come_back),
        CASE(unchanged_rows_are_not_written_again),
        CASE(shares_are_right_when_the_file_is_closed),
        CASE(a_write_after_a_failed_one_is_whole),
        CASE(a_closed_run_is_one_file),
        CASE(a_reader_that_stays_does_not_fail_the_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
