/* SPDX-License-Identifier: Apache-2.0 */
/** What a run file holds: an SQLite database, application id "LLMP", user_version = format. A table
 * for each kind of rows that has one, with a column for each of its fields (fields.h), and the
 * table of checksums (checksum.h). NULL represents NaN, LLMPERF_UNKNOWN, device -1 and NULL text;
 * counts above INT64_MAX are stored as negative numbers and restored. Histograms are blobs as
 * lp_histogram_encode() writes them. While a run is open, kernel.share dates from the row's last
 * change; it is correct in closed files and when read by this library. @threads any thread */
#ifndef LP_STORE_COLUMNS_H
#define LP_STORE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "lib/profile/fields.h"

#define LP_STORE_APPLICATION 0x4c4c4d50 /* "LLMP" */
/* 6: device_time, host_call, collective_calls, active_ms, memory, energy */
#define LP_STORE_FORMAT  6
#define LP_STORE_BUSY_MS 2000 /* how long a reader and a writer wait for each other */

/** How many fields of a row are columns: all but the last ones, which are computed when it is read.
 */
size_t lp_store_column_count(const struct lp_row_kind *kind);

/** Column name of a field, and of the row id. Static text. */
const char *lp_store_column_name(const struct lp_row_field *field);
const char *lp_store_id_name(const struct lp_row_kind *kind);

/** Append CREATE TABLE for a kind of row, with semicolon. */
void lp_store_sql_create(struct lp_text *sql, const struct lp_row_kind *kind);

/** Append the statement that inserts or replaces a row. Parameter 1 is its id, the columns
 * follow. */
void lp_store_sql_put(struct lp_text *sql, const struct lp_row_kind *kind);

/** Append the statement that deletes the row whose id is parameter 1. */
void lp_store_sql_drop(struct lp_text *sql, const struct lp_row_kind *kind);

/** Append the query for all columns of all rows, by id. */
void lp_store_sql_select(struct lp_text *sql, const struct lp_row_kind *kind);

/** Was this process forked while its parent had a run file open? Then SQLite must not be called:
 * its locks may be held by a thread that does not exist in the child. */
bool lp_store_is_orphaned(void);

#endif
