/* SPDX-License-Identifier: Apache-2.0 */
/** Untrusted SQLite files. They are opened read-only. Whatever would run code of the file (views,
 * triggers, generated columns, virtual tables) is switched off or refused. Work and memory are
 * limited in proportion to the size of the file: a file that stores each row once stays far below
 * the limits, one with cyclic pages exceeds them and is refused.
 * @threads one at a time per object */
#ifndef LP_BASE_SQLITE_FILE_H
#define LP_BASE_SQLITE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/** Stays where it is while it is open. */
struct lp_sqlite {
    struct sqlite3 *db;
    uint64_t steps_left; /* of SQLite's virtual machine */
    uint64_t bytes_left; /* of rows that are read: each table is read once */
    bool exhausted;      /* one of the two was not enough */
};

/** The functions below that return a code return one of SQLite.
 * @param immutable  The file is read without locks, and without the files beside it.
 * `file->db` is also set on failure, for the message. */
int lp_sqlite_open(struct lp_sqlite *file, const char *path, bool immutable);
void lp_sqlite_close(struct lp_sqlite *file);

/** Set the limits by the sizes of the file and its log, as lp_sqlite_open() does: once more when a
 * snapshot was taken of a file that grows. */
void lp_sqlite_measure(struct lp_sqlite *file, const char *path);

/** As sqlite3_step(). SQLITE_CORRUPT: more was read than the file can hold. */
int lp_sqlite_step(struct lp_sqlite *file, struct sqlite3_stmt *statement);

/** The first column of the first row; `*number_out` stays where there is no row. */
int lp_sqlite_number(struct lp_sqlite *file, const char *sql, int *number_out);

/** Is this an ordinary table, all of whose columns are stored? Views, virtual tables, tables
 * without row ids and those with generated columns are not. */
int lp_sqlite_has_table(struct lp_sqlite *file, const char *name, bool *has_out);

/** What went wrong last. */
const char *lp_sqlite_message(const struct lp_sqlite *file);

#endif
