/* SPDX-License-Identifier: Apache-2.0 */
/** Checksums of a run file: CRC-32C over the rows of each table, stored in the table "checksum"
 * when the file is closed. Files that are still being written, were left by a killed program, or
 * come from earlier versions have none.
 * @threads one at a time per object */
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

/** Running checksum of one table. Zero-initialised; lp_text_clear(&bytes) at the end. */
struct lp_store_sum {
    uint32_t crc;
    struct lp_text bytes; /* of the last row */
};

/** Add the next row of lp_store_sql_select(). Call it before reading a value, which may convert its
 * type. 0 or LLMPERF_ENOMEM. */
int lp_store_sum_row(struct lp_store_sum *sum, struct sqlite3_stmt *row);

/** The checksums stored in a file, by lp_row_id; -1: not stored. */
struct lp_store_checksums {
    bool any;
    int64_t crc[LP_ROW_KINDS];
};

/** Compute and store the checksums of all tables, in a transaction, once per file.
 * @return SQLITE_OK or SQLite's error */
int lp_store_keep_checksums(struct sqlite3 *db);

/** Read the stored checksums; their table must exist.
 * @return SQLITE_OK or SQLite's error */
int lp_store_read_checksums(struct lp_sqlite *file, struct lp_store_checksums *kept_out);

#endif
