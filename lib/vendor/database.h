/* SPDX-License-Identifier: Apache-2.0 */
/** An SQLite file that another program wrote: opened read-only and never trusted. Tables and
 * columns come and go with the versions of that program, so any of them may be missing.
 * @threads one at a time per object */
#ifndef LP_VENDOR_DATABASE_H
#define LP_VENDOR_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lp_database;

/** A value; of a column that the table lacks, NULL. */
struct lp_cell {
    int64_t number;
    const char *text; /* columns read as text; valid until the row's visit ends */
    bool null;
};

/** A column that is wanted. */
struct lp_want {
    const char *name;
    bool text;
};

/** 0; LLMPERF_ENOENT, LLMPERF_EFORMAT (no database, cut, still being written), LLMPERF_EIO,
 * LLMPERF_ENOMEM. */
int lp_database_open(const char *path, struct lp_database **database_out);
void lp_database_close(struct lp_database *database);

/** Is there a table of this name? Views and virtual tables are none: they run the file's own code.
 */
bool lp_database_has(struct lp_database *database, const char *table);

/** Has a table this column? */
bool lp_database_has_column(struct lp_database *database, const char *table, const char *column);

/** Visit each row of a table, in no order; none if it is missing. A visit that returns below 0 ends
 * it with that status.
 * @return 0, what a visit returned, LLMPERF_EFORMAT, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_database_rows(struct lp_database *database, const char *table, const struct lp_want *wants,
                     size_t count, int (*visit)(void *user, const struct lp_cell *cells),
                     void *user);

#endif
