/* SPDX-License-Identifier: Apache-2.0 */
/* Run files that are replaced, killed, cut, foreign, read-only or read meanwhile: never worse than
 * an error. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "tests/support/run_files.h"
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Replacing */

static void create_replaces_a_run_and_its_log(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_store *store;

    (void)state;
    leave_killed_run(5);
    store = create_run_store();
    assert_ok(lp_store_write(store, profile));
    assert_ok(lp_store_close(store));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void save_does_not_apply_the_log_of_the_run_it_replaces(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);

    (void)state;
    leave_killed_run(5);
    assert_true(run_file_exists("-wal"));
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
}

static void a_save_that_fails_leaves_the_old_run(void **state)
{
    llmperf_profile *profile = make_numbered_profile(2);
    struct rlimit limit, small;

    (void)state;
    save_rows(run_path, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 8192;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(llmperf_profile_save(profile, run_path), LLMPERF_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    llmperf_profile_free(profile);
    profile = make_numbered_profile(1);
    assert_run_holds(run_path, profile);
    llmperf_profile_free(profile);
    assert_int_equal(unlink(run_path), 0);
    assert_int_equal(rmdir(run_folder), 0); /* nothing else was left */
    assert_int_equal(mkdir(run_folder, 0700), 0);
}

static void places_that_cannot_be_written_are_errors(void **state)
{
    llmperf_profile *profile = make_numbered_profile(1);
    struct lp_store *store = NULL;
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/missing/run.llmperf", run_folder);
    assert_int_equal(llmperf_profile_save(profile, path), LLMPERF_EIO);
    assert_error_has("check that its folder exists");
    assert_int_equal(lp_store_create(path, &store), LLMPERF_EIO);
    assert_int_equal(lp_store_create(run_folder, &store), LLMPERF_EIO);
    assert_null(store);
    assert_int_equal(llmperf_profile_save(profile, run_folder), LLMPERF_EIO);
    assert_error_has("it is a folder");
    assert_int_equal(llmperf_profile_save(NULL, run_path), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_save(profile, NULL), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_save(profile, ""), LLMPERF_EINVAL);
    llmperf_profile_free(profile);
}

/* Killed, damaged, foreign */

static void a_run_of_a_killed_program_is_readable(void **state)
{
    llmperf_profile *profile = make_numbered_profile(20);

    (void)state;
    leave_killed_run(20);
    assert_true(run_file_exists("-wal"));
    assert_run_holds(run_path, profile);
    assert_run_holds(run_folder, profile);
    llmperf_profile_free(profile);
}

static void a_run_without_a_commit_says_so(void **state)
{
    struct lp_store *store = create_run_store();

    (void)state;
    assert_not_opened(run_path, LLMPERF_ENOENT, "before the first write");
    assert_ok(lp_store_close(store));
    assert_not_opened(run_path, LLMPERF_ENOENT, "before the first write");
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    assert_ok(lp_file_write(path, bytes, size));
}

static void a_file_cut_anywhere_is_an_error(void **state)
{
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    save_rows(run_path, 40);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    for (size_t length = 1; length < size; length += length < 300 ? 7 : 509) {
        write_file(other_path, bytes, length);
        assert_not_opened(other_path, LLMPERF_EFORMAT, other_path);
    }
    free(bytes);
}

/* The log ends where the disk was full or the machine stopped: its whole commits count. */
static void a_log_cut_anywhere_is_read_as_far_as_it_goes(void **state)
{
    char log_path[128], other_log[128], *bytes = NULL, *log = NULL;
    size_t size = 0, log_size = 0, opened = 0;

    (void)state;
    leave_killed_run(40);
    snprintf(log_path, sizeof(log_path), "%s-wal", run_path);
    snprintf(other_log, sizeof(other_log), "%s-wal", other_path);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    assert_ok(lp_file_read(log_path, &log, &log_size));
    for (size_t part = 0; part <= 64; part++) {
        llmperf_profile *profile = NULL;
        int status;

        write_file(other_path, bytes, size);
        write_file(other_log, log, log_size * part / 64);
        status = llmperf_profile_open(other_path, &profile);
        assert_true(status == 0 || status == LLMPERF_ENOENT || status == LLMPERF_EFORMAT);
        opened += status == 0;
        llmperf_profile_free(profile);
    }
    assert_int_equal(opened, 1); /* the only commit is the last thing in the log */
    free(bytes);
    free(log);
}

static void flipped_bytes_do_no_worse_than_an_error(void **state)
{
    uint64_t seed = 4101842887655102017;
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    save_rows(run_path, 12);
    assert_ok(lp_file_read(run_path, &bytes, &size));
    for (int round = 0; round < 1500; round++) {
        llmperf_profile *profile = NULL;
        char *copy = malloc(size);
        int status;

        memcpy(copy, bytes, size);
        for (int i = 0; i < 1 + round % 8; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            copy[(seed >> 8) % size] = (char)seed;
        }
        write_file(other_path, copy, size);
        status = llmperf_profile_open(other_path, &profile);
        assert_true(status == 0 ? profile != NULL : profile == NULL);
        llmperf_profile_free(profile);
        free(copy);
    }
    free(bytes);
}

static void other_files_are_not_runs(void **state)
{
    char garbage[9000];

    (void)state;
    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (char)(i * 7919 >> 3);
    write_file(run_path, garbage, sizeof(garbage));
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not an llmperf run");
    write_file(run_path, "", 0);
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not an llmperf run");
    assert_int_equal(unlink(run_path), 0);
    run_sql(run_path, "CREATE TABLE region(path)");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "is not an llmperf run");
}

static void a_newer_format_names_both_versions(void **state)
{
    (void)state;
    save_rows(run_path, 1);
    run_sql(run_path, "PRAGMA user_version=7");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "format 7");
    assert_error_has("formats up to 6");
}

static void an_older_format_names_both_versions(void **state)
{
    (void)state;
    save_rows(run_path, 1);
    run_sql(run_path, "PRAGMA user_version=1");
    assert_not_opened(run_path, LLMPERF_EFORMAT, "format 1 of an earlier version");
    assert_error_has("format 6");
}

static void contents_that_cannot_be_are_errors(void **state)
{
    static const char *const changes[] = {
        "PRAGMA user_version=0",
        "DROP TABLE kernel",
        "ALTER TABLE region DROP COLUMN tokens",
        "UPDATE region SET device=4294967296",
        "UPDATE region SET device=-2147483648",
        "UPDATE kernel SET kind=-1",
        "PRAGMA writable_schema=1; UPDATE sqlite_master SET sql=replace(sql, 'NOT NULL', '')",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        save_rows(run_path, 2);
        run_sql(run_path, changes[i]);
        if (i == LENGTH(changes) - 1)
            run_sql(run_path, "UPDATE region SET path=NULL");
        assert_not_opened(run_path, LLMPERF_EFORMAT, run_path);
    }
}

/* Each would run for ever, or for as long as its file likes, once it is read. */
static void tables_that_are_code_are_refused(void **state)
{
    static const char *const changes[] = {
        ("DROP TABLE region; CREATE VIEW region AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
         "SELECT i+1 FROM n) SELECT i AS id FROM n"),
        "DROP TABLE ledger; CREATE VIEW ledger AS SELECT 1 AS id",
        ("ALTER TABLE fact DROP COLUMN value; ALTER TABLE fact ADD COLUMN value AS "
         "(hex(zeroblob(100000000)))"),
        "DROP TABLE note; CREATE TABLE note(position PRIMARY KEY, line) WITHOUT ROWID",
        "ALTER TABLE kernel ADD COLUMN rowid",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(changes); i++) {
        save_rows(run_path, 2);
        run_sql(run_path, "DROP TABLE checksum");
        run_sql(run_path, changes[i]);
        assert_not_opened(run_path, LLMPERF_EFORMAT, "is damaged");
    }
}

/* SQLite would wait for somebody who writes into the pipe, and create what the link names. */
static void pipes_and_links_beside_a_run_are_not_opened(void **state)
{
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };
    char path[128];

    (void)state;
    save_rows(run_path, 2);
    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        snprintf(path, sizeof(path), "%s%s", run_path, suffixes[i]);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_not_opened(run_path, LLMPERF_EFORMAT, "is not a regular file");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(other_path, path), 0);
        assert_not_opened(run_path, LLMPERF_EFORMAT, "is not a regular file");
        assert_false(lp_path_exists(other_path));
        assert_int_equal(unlink(path), 0);
    }
}

static void a_link_to_a_run_is_read_with_its_log(void **state)
{
    llmperf_profile *profile = make_numbered_profile(20);

    (void)state;
    leave_killed_run(20);
    assert_int_equal(symlink(run_path, other_path), 0);
    assert_run_holds(other_path, profile);
    assert_int_equal(unlink(other_path), 0);
    llmperf_profile_free(profile);
}

static void missing_runs_say_what_to_give(void **state)
{
    llmperf_profile *profile = NULL;

    (void)state;
    assert_not_opened(run_path, LLMPERF_ENOENT, "give a run directory or its run.llmperf");
    assert_not_opened(run_folder, LLMPERF_ENOENT, "give a run directory or its run.llmperf");
    assert_int_equal(llmperf_profile_open(NULL, &profile), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_open(run_path, NULL), LLMPERF_EINVAL);
}

/* Read-only places. Root may write everywhere, so it becomes somebody else for a while. */

static bool become_nobody(void)
{
    return geteuid() != 0 || seteuid(65534) == 0;
}

static void become_self(void)
{
    if (geteuid() != getuid())
        assert_int_equal(seteuid(getuid()), 0);
}

static void a_read_only_folder_is_enough(void **state)
{
    llmperf_profile *profile = make_numbered_profile(2), *found[2] = { NULL, NULL };
    int status[2];

    (void)state;
    snprintf(other_path, sizeof(other_path), "%s/a?b#c%%20.llmperf", run_folder);
    assert_ok(llmperf_profile_save(profile, run_path));
    assert_ok(llmperf_profile_save(profile, other_path));
    run_sql(other_path, "PRAGMA journal_mode=WAL"); /* the log goes away at the close */
    assert_int_equal(chmod(run_path, 0444) + chmod(other_path, 0444) + chmod(run_folder, 0555), 0);
    if (!become_nobody()) {
        llmperf_profile_free(profile);
        skip();
    }
    status[0] = llmperf_profile_open(run_path, &found[0]);
    status[1] = llmperf_profile_open(other_path, &found[1]);
    become_self();
    chmod(run_folder, 0700);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(status[i], 0);
        assert_profiles_equal(profile, found[i]);
        llmperf_profile_free(found[i]);
    }
    llmperf_profile_free(profile);
}

static void a_file_without_permission_is_eio(void **state)
{
    llmperf_profile *found = NULL;
    int status;

    (void)state;
    save_rows(run_path, 1);
    assert_int_equal(chmod(run_path, 0) + chmod(run_folder, 0555), 0);
    if (!become_nobody())
        skip();
    status = llmperf_profile_open(run_path, &found);
    become_self();
    chmod(run_folder, 0700);
    assert_int_equal(status, LLMPERF_EIO);
    assert_null(found);
    assert_error_has(run_path);
}

/* A reader while a writer commits */

#define COMMITS 150

static void *commit_again_and_again(void *done)
{
    llmperf_profile *profile = make_numbered_profile(30);
    struct lp_store *store = NULL;
    int status = lp_store_create(run_path, &store);

    for (uint64_t i = 1; i <= COMMITS && status == 0; i++) {
        profile->ledger.kernels_seen = i;
        for (size_t row = 0; row < profile->regions.count; row++)
            profile->regions.items[row].stats.instances = i;
        profile->kernels.items[i % 30].stats.calls = i;
        status = lp_store_write(store, profile);
    }
    if (lp_store_close(store) < 0)
        status = -1;
    llmperf_profile_free(profile);
    __atomic_store_n((int *)done, status < 0 ? -1 : 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_reader_sees_whole_commits_while_they_are_made(void **state)
{
    uint64_t last = 0, reads = 0;
    pthread_t writer;
    int done = 0;

    (void)state;
    save_rows(run_path, 1); /* so that there is something to read at once */
    assert_int_equal(pthread_create(&writer, NULL, commit_again_and_again, &done), 0);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        llmperf_profile *profile = NULL;

        if (llmperf_profile_open(run_path, &profile) < 0)
            continue; /* not yet created, or nothing in it */
        if (profile->regions.count == 30) {
            assert_true(profile->ledger.kernels_seen >= last);
            last = profile->ledger.kernels_seen;
            for (size_t row = 0; row < profile->regions.count; row++)
                assert_int_equal(profile->regions.items[row].stats.instances, last);
            reads++;
        }
        llmperf_profile_free(profile);
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(done, 1);
    assert_true(reads > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_run_folder, remove_run_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(create_replaces_a_run_and_its_log),
        CASE(save_does_not_apply_the_log_of_the_run_it_replaces),
        CASE(a_save_that_fails_leaves_the_old_run),
        CASE(places_that_cannot_be_written_are_errors),
        CASE(a_run_of_a_killed_program_is_readable),
        CASE(a_run_without_a_commit_says_so),
        CASE(a_file_cut_anywhere_is_an_error),
        CASE(a_log_cut_anywhere_is_read_as_far_as_it_goes),
        CASE(flipped_bytes_do_no_worse_than_an_error),
        CASE(other_files_are_not_runs),
        CASE(a_newer_format_names_both_versions),
        CASE(an_older_format_names_both_versions),
        CASE(contents_that_cannot_be_are_errors),
        CASE(tables_that_are_code_are_refused),
        CASE(pipes_and_links_beside_a_run_are_not_opened),
        CASE(a_link_to_a_run_is_read_with_its_log),
        CASE(missing_runs_say_what_to_give),
        CASE(a_read_only_folder_is_enough),
        CASE(a_file_without_permission_is_eio),
        CASE(a_reader_sees_whole_commits_while_they_are_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
