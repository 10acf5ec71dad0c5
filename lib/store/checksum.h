/* SPDX-License-Identifier: Apache-2.0 */
/** Checksums of a run file: CRC-32C over the rows of each table, kept in the table "checksum" when
 * the file is closed. A file that is being written, or that a killed program left, has none; nor
 * have files of earlier versions. @threads one at a time per object */
#ifndef LP_STORE_CHECKSUM_H
#define LP_STORE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/store/columns.h"

struct lp_sqlite;
struct sqlite3;
struct sqlite3_stmt;

#define LP_STORE_SQL_CHECKSUM                                                                      \
    "CREATE TABLE checksum(id INTEGER PRIMARY KEY, of_table TEXT NOT NULL, crc32c INTEGER NOT "    \
    "NULL);"

/** Of the rows of one table so far. Zeros at first; lp_text_clear(&bytes) at the end. */
struct lp_store_sum {
    uint32_t crc;
    struct lp_text bytes; /* of the last row */
};

/** Add the next row of lp_store_sql_select(), before anything of it is read as another type. 0 or
 * LLMPERF_ENOMEM. */
int lp_store_sum_row(struct lp_store_sum *sum, struct sqlite3_stmt *row);

/** The checksums stored in a file, by lp_row_id; -1: not stored. */
struct lp_store_checksums {
    bool any;
    int64_t crc[LP_ROW_KINDS];
};

/** Compute the checksums of all tables and keep them; within a transaction, once per file. @return
 * SQLITE_OK or SQLite's error */
int lp_store_keep_checksums(struct sqlite3 *db);

/** The stored checksums; the file has a table of them. @return SQLITE_OK or SQLite's error */
int lp_store_read_checksums(struct lp_sqlite *file, struct lp_store_checksums *kept_out);

#endif
