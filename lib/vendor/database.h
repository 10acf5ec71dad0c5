/* SPDX-License-Identifier: Apache-2.0 */
/** SQLite files written by other programs, opened read-only and not trusted. Tables and columns
 * depend on the program's version, so any of them may be missing.
 * @threads one at a time per object */
#ifndef LP_VENDOR_DATABASE_H
#define LP_VENDOR_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lp_database;

/** A value; NULL if the table lacks the column. */
struct lp_cell {
    int64_t number;
    const char *text; /* of text columns; valid during the row's visit */
    bool null;
};

/** A column to read. */
struct lp_want {
    const char *name;
    bool text;
};

/** 0; LLMPERF_ENOENT, LLMPERF_EFORMAT (not a database, truncated, still being written),
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_database_open(const char *path, struct lp_database **database_out);
void lp_database_close(struct lp_database *database);

/** Is there a table with this name? Views and virtual tables do not count: they would run code from
 * the file. */
bool lp_database_has(struct lp_database *database, const char *table);

/** Does a table have this column? */
bool lp_database_has_column(struct lp_database *database, const char *table, const char *column);

/** Visit the rows of a table in any order; none if it is missing. A negative result of a visit ends
 * the loop and is returned.
 * @return 0, the result of a visit, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_database_rows(struct lp_database *database, const char *table, const struct lp_want *wants,
                     size_t count, int (*visit)(void *user, const struct lp_cell *cells),
                     void *user);

#endif
