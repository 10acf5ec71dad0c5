/* SPDX-License-Identifier: Apache-2.0 */
/** Untrusted SQLite files, opened read-only. Everything that would run code from the file (views,
 * triggers, generated columns, virtual tables) is disabled or refused. Work and memory are limited
 * in proportion to the file size: files that store each row once stay far below the limits; files
 * with cyclic pages exceed them and are refused.
 * @threads one at a time per object */
#ifndef LP_BASE_SQLITE_FILE_H
#define LP_BASE_SQLITE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

/** Must not be moved while it is open. */
struct lp_sqlite {
    struct sqlite3 *db;
    uint64_t steps_left; /* of SQLite's virtual machine */
    uint64_t bytes_left; /* of rows; each table is read once */
    bool exhausted;      /* a limit was exceeded */
};

/** Functions that return a code return SQLite's.
 * @param immutable  Read without locks and without companion files. `file->db` is also set on
 * failure, for the message. */
int lp_sqlite_open(struct lp_sqlite *file, const char *path, bool immutable);
void lp_sqlite_close(struct lp_sqlite *file);

/** Set the limits from the sizes of file and log, as lp_sqlite_open() does; again after a snapshot
 * of a growing file. */
void lp_sqlite_measure(struct lp_sqlite *file, const char *path);

/** As sqlite3_step(). SQLITE_CORRUPT: a limit was exceeded. */
int lp_sqlite_step(struct lp_sqlite *file, struct sqlite3_stmt *statement);

/** First column of the first row; *number_out is unchanged if there is none. */
int lp_sqlite_number(struct lp_sqlite *file, const char *sql, int *number_out);

/** Is this an ordinary table with stored columns only? Not views, virtual tables, tables without
 * row ids or with generated columns. */
int lp_sqlite_has_table(struct lp_sqlite *file, const char *name, bool *has_out);

/** Text of the last error. */
const char *lp_sqlite_message(const struct lp_sqlite *file);

#endif
