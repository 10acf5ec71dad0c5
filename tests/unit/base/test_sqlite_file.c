/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite files of strangers: what would run code of theirs is refused, and what leads back into
 * itself ends; files that hold each row once never come near a limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/sqlite_file.h"
#include "tests/support/run_files.h"

#define PAGE  512
#define LEVEL 15 /* pages above the only leaf */
#define TWICE 20 /* how often a page leads to the one below it */

static bool is_table(const char *name)
{
    struct lp_sqlite file;
    bool has = false;

    assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
    assert_int_equal(lp_sqlite_has_table(&file, name, &has), SQLITE_OK);
    lp_sqlite_close(&file);
    return has;
}

static void only_tables_whose_columns_are_stored_are_tables(void **state)
{
    (void)state;
    run_sql(run_path, "CREATE TABLE plain(id INTEGER PRIMARY KEY, a);"
                      "CREATE VIEW view AS SELECT a FROM plain;"
                      "CREATE TABLE virtually(a, b GENERATED ALWAYS AS (hex(a)) VIRTUAL);"
                      "CREATE TABLE stored(a, b GENERATED ALWAYS AS (hex(a)) STORED);"
                      "CREATE TABLE hidden_id(a, RowId)");
    assert_true(is_table("plain"));
    assert_false(is_table("view"));
    assert_false(is_table("virtually"));
    assert_false(is_table("stored"));
    assert_false(is_table("hidden_id"));
    assert_false(is_table("missing"));
}

/* @return the code that ended the statement */
static int read_all(struct lp_sqlite *file, const char *sql, uint64_t *rows_out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);

    *rows_out = 0;
    if (code == SQLITE_OK)
        while ((code = lp_sqlite_step(file, statement)) == SQLITE_ROW && *rows_out < 1000000)
            (*rows_out)++;
    sqlite3_finalize(statement);
    return code;
}

static void views_are_not_read(void **state)
{
    struct lp_sqlite file;
    uint64_t rows;

    (void)state;
    run_sql(run_path,
            "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
            "FROM n) SELECT i FROM n");
    assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
    assert_int_equal(read_all(&file, "SELECT i FROM endless", &rows), SQLITE_ERROR);
    assert_int_equal(rows, 0);
    lp_sqlite_close(&file);
}

/* The limit on steps is the last one: it also ends what gives no rows. */
static void work_without_end_is_ended(void **state)
{
    struct lp_sqlite file;
    uint64_t rows;

    (void)state;
    run_sql(run_path, "CREATE TABLE t(a)");
    assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
    assert_int_equal(read_all(&file,
                              "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
                              "SELECT max(i) FROM n",
                              &rows),
                     SQLITE_CORRUPT);
    assert_true(file.exhausted);
    assert_non_null(strstr(lp_sqlite_message(&file), "than a file of this size can contain"));
    lp_sqlite_close(&file);
}

static void put_word(uint8_t *at, uint32_t word, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(word >> 8 * (bytes - 1 - i));
}

/* A page of a table's tree whose children are all the same page. */
static void make_inner_page(uint8_t page[PAGE], uint32_t child)
{
    size_t end = PAGE;

    memset(page, 0, PAGE);
    page[0] = 5; /* type */
    put_word(page + 3, TWICE, 2);
    put_word(page + 8, child, 4);
    for (unsigned i = 0; i < TWICE; i++) {
        end -= 5;
        put_word(page + end, child, 4);
        page[end + 4] = (uint8_t)(i + 1);
        put_word(page + 12 + 2 * i, (uint32_t)end, 2);
    }
    put_word(page + 5, (uint32_t)end, 2);
}

/* A table of one leaf becomes a tree that comes to this leaf 20 ^ 16 times. The last page of the
 * file is its root. */
static void lead_back(void)
{
    uint8_t *bytes = NULL;
    uint32_t pages;
    size_t size;

    assert_ok(lp_file_read(run_path, (char **)&bytes, &size));
    pages = (uint32_t)(size / PAGE);
    bytes = realloc(bytes, size + (LEVEL + 1) * PAGE);
    assert_non_null(bytes);
    memcpy(bytes + size, bytes + size - PAGE, PAGE);
    for (uint32_t i = 1; i <= LEVEL; i++)
        make_inner_page(bytes + size + (size_t)i * PAGE, pages + i);
    make_inner_page(bytes + size - PAGE, pages + LEVEL + 1);
    put_word(bytes + 28, pages + LEVEL + 1, 4);
    assert_ok(lp_file_write(run_path, bytes, size + (LEVEL + 1) * PAGE));
    free(bytes);
}

static void pages_that_lead_back_end_the_reading(void **state)
{
    struct lp_sqlite file;
    uint64_t rows;

    (void)state;
    run_sql(run_path, "PRAGMA page_size=512; CREATE TABLE t(a); INSERT INTO t VALUES('row')");
    lead_back();
    assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
    assert_int_equal(read_all(&file, "SELECT a FROM t", &rows), SQLITE_CORRUPT);
    assert_in_range(rows, 100, 20000);
    lp_sqlite_close(&file);
}

/* A row of three bytes that holds a megabyte: a default stands in the file once. */
static void long_defaults_of_short_rows_end_the_reading(void **state)
{
    char *sql = malloc(600000);
    struct lp_sqlite file;
    uint64_t rows;

    (void)state;
    run_sql(run_path, "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
                      "FROM n WHERE i<1000) INSERT INTO t SELECT NULL FROM n");
    snprintf(sql, 600000, "ALTER TABLE t ADD COLUMN b DEFAULT '%0500000d'", 0);
    run_sql(run_path, sql);
    free(sql);
    assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
    assert_int_equal(read_all(&file, "SELECT a, b FROM t", &rows), SQLITE_CORRUPT);
    assert_in_range(rows, 1, 10);
    lp_sqlite_close(&file);
}

#define THOUSANDS(values)                                                                          \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<30000) INSERT INTO t "   \
    "SELECT " values " FROM n"

static void rows_that_are_stored_once_stay_far_from_the_limits(void **state)
{
    static const char *const files[] = {
        "CREATE TABLE t(a, b, c, d, e, f, g, h);" THOUSANDS("NULL,NULL,0,0,NULL,NULL,1,NULL"),
        "CREATE TABLE t(a REAL);" THOUSANDS("NULL"),
        "CREATE TABLE t(a, b, c);" THOUSANDS("i, 'name', zeroblob(100 + i % 400)"),
        "PRAGMA page_size=512; CREATE TABLE t(a, b, c, d);" THOUSANDS("i, zeroblob(900), i, i"),
        "PRAGMA encoding='UTF-16'; CREATE TABLE t(a);" THOUSANDS("printf('%.30c', '漢')"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct lp_sqlite file;
        uint64_t rows, steps, bytes;

        run_sql(run_path, files[i]);
        assert_int_equal(lp_sqlite_open(&file, run_path, true), SQLITE_OK);
        steps = file.steps_left - 4000000;
        bytes = file.bytes_left - 65536;
        assert_int_equal(read_all(&file, "SELECT * FROM t", &rows), SQLITE_DONE);
        assert_int_equal(rows, 30000);
        assert_true(file.steps_left - 4000000 > steps / 2);
        assert_true(file.bytes_left - 65536 > bytes / 8);
        lp_sqlite_close(&file);
        assert_int_equal(remove(run_path), 0);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_run_folder, remove_run_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(only_tables_whose_columns_are_stored_are_tables),
        CASE(views_are_not_read),
        CASE(work_without_end_is_ended),
        CASE(pages_that_lead_back_end_the_reading),
        CASE(long_defaults_of_short_rows_end_the_reading),
        CASE(rows_that_are_stored_once_stay_far_from_the_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
