/* SPDX-License-Identifier: Apache-2.0 */
/** What a run file holds: an SQLite database, application id "LLMP", user_version = format. Tables:
 * ledger (one row), region, kernel, iteration and iteration_stats with a column for each field of
 * the public structs, fact, problem, note, metric, deep_window and deep_window_kernel; checksum
 * (store_checksum.h). NULL stands
 * for NaN, LLMPERF_UNKNOWN, device -1 and NULL text. Histograms are blobs as lp_histogram_encode()
 * writes them. While a run goes on, kernel.share is as of the row's last change; readers of this
 * library and a closed file have it right. @threads any thread */
#ifndef LP_STORE_COLUMNS_H
#define LP_STORE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"

#define LP_STORE_APPLICATION 0x4c4c4d50 /* "LLMP" */
#define LP_STORE_FORMAT      3
#define LP_STORE_BUSY_MS     2000 /* a reader and a writer wait this long for each other */

enum lp_column_type {
    LP_COLUMN_NAME,   /* text, never NULL */
    LP_COLUMN_TEXT,   /* text */
    LP_COLUMN_WORD,   /* uint32_t */
    LP_COLUMN_DEVICE, /* int32_t, -1: NULL */
    LP_COLUMN_COUNT,  /* uint64_t, LLMPERF_UNKNOWN: NULL; over INT64_MAX it wraps and comes back */
    LP_COLUMN_NUMBER, /* double, NaN: NULL */
    LP_COLUMN_BLOB    /* struct lp_blob */
};

struct lp_store_column {
    const char *name;
    enum lp_column_type type;
    size_t offset; /* of the field in the row */
};

struct lp_store_table {
    const char *name;
    const char *id;
    const struct lp_store_column *columns;
    size_t count;
    size_t keys;     /* the first columns say which row it is; 0: its position does */
    size_t compared; /* if these did not change, the row is not written again */
    bool optional;   /* files of older versions do not have it */
};

/* Rows: llmperf_ledger, struct lp_region_row, lp_kernel_row, lp_fact; const char * for a problem
 * and a note; llmperf_metric_stats, llmperf_iteration, struct lp_iteration_stats_row,
 * llmperf_window_stats, llmperf_window_kernel. */
enum lp_store_table_id {
    LP_STORE_LEDGER,
    LP_STORE_REGION,
    LP_STORE_KERNEL,
    LP_STORE_FACT,
    LP_STORE_PROBLEM,
    LP_STORE_NOTE,
    LP_STORE_METRIC,
    LP_STORE_ITERATION,
    LP_STORE_ITERATION_STATS,
    LP_STORE_WINDOW,
    LP_STORE_WINDOW_KERNEL
};
#define LP_STORE_TABLES 11

/** By lp_store_table_id. Creating, writing and reading go by these lists. */
extern const struct lp_store_table lp_store_tables[LP_STORE_TABLES];

/** Append the statement that creates the table, with its semicolon. */
void lp_store_sql_create(struct lp_text *sql, const struct lp_store_table *table);

/** Append the statement that writes or replaces a row: parameter 1 is its id, the columns follow.
 */
void lp_store_sql_put(struct lp_text *sql, const struct lp_store_table *table);

/** Append the statement that deletes the row with the id of parameter 1. */
void lp_store_sql_drop(struct lp_text *sql, const struct lp_store_table *table);

/** Append the query for all columns of all rows, by id. */
void lp_store_sql_select(struct lp_text *sql, const struct lp_store_table *table);

/** Was this process forked while its parent had a run file open? SQLite's locks may then be held by
 * a thread that the child does not have: it must not be called. */
bool lp_store_is_orphaned(void);

/** Hash of these columns of a row. */
uint64_t lp_store_hash(const struct lp_store_column *columns, size_t count, const void *row);

#endif
