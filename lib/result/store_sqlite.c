/* SPDX-License-Identifier: Apache-2.0 */
/* Run files: an SQLite database, application id "LLMP", user_version = format. Tables: ledger (one
 * row), region and kernel with a column for each field of the public structs, fact, problem, note.
 * NULL stands for NaN, LLMPERF_UNKNOWN, device -1 and NULL text. Histograms are blobs as
 * lp_histogram_encode() writes them. While a run goes on, kernel.share is as of the row's last
 * change; readers of this library and a closed file have it right. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/result/profile_data.h"
#include "lib/result/result.h"

#define APPLICATION_ID 0x4c4c4d50 /* "LLMP" */
#define FORMAT         1
#define BUSY_MS        2000
#define DEVICE_MAX     65535 /* records hold 16 bits */

/* Columns: creating, writing and reading go by these lists. */

enum column_type {
    COLUMN_NAME,   /* text, never NULL */
    COLUMN_TEXT,   /* text */
    COLUMN_WORD,   /* uint32_t */
    COLUMN_DEVICE, /* int32_t, -1: NULL */
    COLUMN_COUNT,  /* uint64_t, LLMPERF_UNKNOWN: NULL; over INT64_MAX it wraps and comes back */
    COLUMN_NUMBER, /* double, NaN: NULL */
    COLUMN_BLOB    /* struct lp_blob */
};

struct column {
    const char *name;
    enum column_type type;
    size_t offset;
};

struct table {
    const char *name;
    const char *id;
    const struct column *columns;
    size_t count;
    size_t keys;     /* the first columns say which row it is; 0: its position does */
    size_t compared; /* if these did not change, the row is not written again */
};

#define LEDGER(type, field) #field, COLUMN_##type, offsetof(llmperf_ledger, field)
#define REGION(type, field) #field, COLUMN_##type, offsetof(struct lp_region_row, stats.field)
#define KERNEL(type, field) #field, COLUMN_##type, offsetof(struct lp_kernel_row, stats.field)
#define LENGTH(array)       (sizeof(array) / sizeof((array)[0]))

static const struct column ledger_columns[] = {
    { LEDGER(COUNT, launches_expected) },
    { LEDGER(COUNT, graph_launches) },
    { LEDGER(COUNT, memory_calls) },
    { LEDGER(COUNT, kernels_seen) },
    { LEDGER(COUNT, graph_kernels_seen) },
    { LEDGER(COUNT, memory_seen) },
    { LEDGER(COUNT, kernels_attributed) },
    { LEDGER(COUNT, kernels_outside) },
    { LEDGER(COUNT, kernels_unattributed) },
    { LEDGER(COUNT, launches_missing) },
    { LEDGER(COUNT, records_dropped) },
    { LEDGER(COUNT, records_invalid_time) },
    { LEDGER(COUNT, records_incomplete) },
    { LEDGER(COUNT, records_duplicate) },
    { LEDGER(COUNT, records_late) },
    { LEDGER(COUNT, graph_nodes_unmapped) },
    { LEDGER(COUNT, regions_dropped) },
    { LEDGER(COUNT, regions_truncated) },
    { LEDGER(COUNT, regions_unbalanced) },
    { LEDGER(NUMBER, cupti_overhead_ms) },
    { LEDGER(NUMBER, sampled_fraction) },
    { LEDGER(NUMBER, attributed_gpu_time_share) },
    { LEDGER(WORD, verdict) },
};

static const struct column region_columns[] = {
    { REGION(NAME, path) },
    { REGION(DEVICE, device) },
    { REGION(WORD, process_id) },
    { REGION(NAME, label) },
    { REGION(TEXT, parent) },
    { REGION(TEXT, stage) },
    { REGION(WORD, depth) },
    { REGION(WORD, kind) },
    { REGION(COUNT, instances) },
    { REGION(COUNT, truncated) },
    { REGION(NUMBER, wall_sum_ms) },
    { REGION(NUMBER, wall_mean_ms) },
    { REGION(NUMBER, wall_std_ms) },
    { REGION(NUMBER, wall_min_ms) },
    { REGION(NUMBER, wall_max_ms) },
    { REGION(NUMBER, wall_p50_ms) },
    { REGION(NUMBER, wall_p95_ms) },
    { REGION(NUMBER, wall_p99_ms) },
    { REGION(NUMBER, gpu_busy_ms) },
    { REGION(NUMBER, exclusive_gpu_busy_ms) },
    { REGION(NUMBER, kernel_ms) },
    { REGION(NUMBER, exclusive_kernel_ms) },
    { REGION(NUMBER, memcpy_ms) },
    { REGION(NUMBER, memset_ms) },
    { REGION(NUMBER, idle_ms) },
    { REGION(COUNT, kernel_count) },
    { REGION(COUNT, memcpy_count) },
    { REGION(COUNT, memset_count) },
    { REGION(COUNT, memcpy_bytes) },
    { REGION(COUNT, tokens) },
    { REGION(COUNT, sequences) },
    { REGION(COUNT, context) },
    { REGION(COUNT, flops) },
    { REGION(COUNT, bytes) },
    { "wall_histogram", COLUMN_BLOB, offsetof(struct lp_region_row, wall) },
};

static const struct column kernel_columns[] = {
    { KERNEL(NAME, name) },
    { KERNEL(TEXT, region) },
    { KERNEL(TEXT, captured_in) },
    { KERNEL(WORD, kind) },
    { KERNEL(DEVICE, device) },
    { KERNEL(TEXT, demangled) },
    { KERNEL(TEXT, short_name) },
    { KERNEL(COUNT, calls) },
    { KERNEL(COUNT, bytes) },
    { KERNEL(NUMBER, total_ms) },
    { KERNEL(NUMBER, mean_ms) },
    { KERNEL(NUMBER, min_ms) },
    { KERNEL(NUMBER, max_ms) },
    { KERNEL(NUMBER, p50_ms) },
    { KERNEL(NUMBER, p95_ms) },
    { KERNEL(NUMBER, p99_ms) },
    { "histogram", COLUMN_BLOB, offsetof(struct lp_kernel_row, durations) },
    { KERNEL(NUMBER, share) }, /* last and not compared: it changes whenever another row does */
};

static const struct column fact_columns[] = {
    { "key", COLUMN_NAME, offsetof(struct lp_fact, key) },
    { "value", COLUMN_TEXT, offsetof(struct lp_fact, value) },
};

static const struct column line_columns[] = { { "line", COLUMN_NAME, 0 } }; /* of const char * */

enum table_id { LEDGER_TABLE, REGION_TABLE, KERNEL_TABLE, FACT_TABLE, PROBLEM_TABLE, NOTE_TABLE };
#define TABLES 6

static const struct table tables[TABLES] = {
    { "ledger", "id", ledger_columns, LENGTH(ledger_columns), 0, LENGTH(ledger_columns) },
    { "region", "id", region_columns, LENGTH(region_columns), 3, LENGTH(region_columns) },
    { "kernel", "id", kernel_columns, LENGTH(kernel_columns), 5, LENGTH(kernel_columns) - 1 },
    { "fact", "id", fact_columns, LENGTH(fact_columns), 1, LENGTH(fact_columns) },
    { "problem", "position", line_columns, 1, 0, 1 },
    { "note", "position", line_columns, 1, 0, 1 },
};

static const void *field_of(const struct column *column, const void *row)
{
    return (const char *)row + column->offset;
}

static void sql_create(struct lp_text *sql, const struct table *table)
{
    static const char *const types[] = {
        [COLUMN_NAME] = "TEXT NOT NULL", [COLUMN_TEXT] = "TEXT",     [COLUMN_WORD] = "INTEGER",
        [COLUMN_DEVICE] = "INTEGER",     [COLUMN_COUNT] = "INTEGER", [COLUMN_NUMBER] = "REAL",
        [COLUMN_BLOB] = "BLOB",
    };

    lp_text_printf(sql, "CREATE TABLE %s(%s INTEGER PRIMARY KEY", table->name, table->id);
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, ", %s %s", table->columns[i].name, types[table->columns[i].type]);
    lp_text_puts(sql, ");");
}

static void sql_put(struct lp_text *sql, const struct table *table)
{
    lp_text_printf(sql, "INSERT OR REPLACE INTO %s(%s", table->name, table->id);
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, ", %s", table->columns[i].name);
    lp_text_puts(sql, ") VALUES(?");
    for (size_t i = 0; i < table->count; i++)
        lp_text_puts(sql, ", ?");
    lp_text_puts(sql, ")");
}

static void sql_drop(struct lp_text *sql, const struct table *table)
{
    lp_text_printf(sql, "DELETE FROM %s WHERE %s=?", table->name, table->id);
}

static void sql_select(struct lp_text *sql, const struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, "%s %s", i ? "," : "SELECT", table->columns[i].name);
    lp_text_printf(sql, " FROM %s ORDER BY %s", table->name, table->id);
}

/* Writing */

struct row_state {
    uint64_t fingerprint; /* of the row as it was committed; 0: unknown */
    uint64_t write;       /* the last write that had this row */
    bool stored;          /* may be in the file */
};

/* Rows of one table. A row keeps its id, which is its index here + 1. */
struct row_set {
    const struct table *table;
    sqlite3_stmt *put, *drop;
    struct lp_hashmap by_key; /* hash of the key columns, how many rows before have that hash */
    LP_VECTOR(struct row_state) states;
    size_t changed, kept; /* of the last write */
};

struct lp_store {
    sqlite3 *db;
    char *path;
    uint64_t write; /* number of the current write */
    struct row_set sets[TABLES];
    bool shares_stale;
};

static int write_error(const struct lp_store *store)
{
    if (sqlite3_errcode(store->db) == SQLITE_NOMEM)
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", store->path);
    return lp_error(LLMPERF_EIO, "cannot write %s: %s; is its folder there, writable and not full?",
                    store->path, sqlite3_errmsg(store->db));
}

static int run_sql(const struct lp_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : write_error(store);
}

/* Run a statement that gives no rows. `bound`: what binding returned. */
static int run_statement(const struct lp_store *store, sqlite3_stmt *statement, int bound)
{
    int status = 0;

    if (bound != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE)
        status = write_error(store);
    sqlite3_reset(statement);
    return status;
}

static int bind_count(sqlite3_stmt *statement, int at, uint64_t count)
{
    return count == LLMPERF_UNKNOWN ? sqlite3_bind_null(statement, at)
                                    : sqlite3_bind_int64(statement, at, (sqlite3_int64)count);
}

static int bind_blob(sqlite3_stmt *statement, int at, const struct lp_blob *blob)
{
    return sqlite3_bind_blob64(statement, at, blob->bytes, blob->size, SQLITE_STATIC);
}

static int bind_column(sqlite3_stmt *statement, int at, const struct column *column,
                       const void *row)
{
    const void *field = field_of(column, row);

    switch (column->type) {
    case COLUMN_NAME:
    case COLUMN_TEXT:
        return sqlite3_bind_text(statement, at, *(const char *const *)field, -1, SQLITE_STATIC);
    case COLUMN_WORD:
        return sqlite3_bind_int64(statement, at, *(const uint32_t *)field);
    case COLUMN_DEVICE:
        return *(const int32_t *)field < 0
                   ? sqlite3_bind_null(statement, at)
                   : sqlite3_bind_int(statement, at, *(const int32_t *)field);
    case COLUMN_COUNT:
        return bind_count(statement, at, *(const uint64_t *)field);
    case COLUMN_NUMBER: /* SQLite makes NULL of NaN */
        return sqlite3_bind_double(statement, at, *(const double *)field);
    case COLUMN_BLOB:
        return bind_blob(statement, at, field);
    }
    return SQLITE_MISUSE;
}

static int put_row(const struct lp_store *store, sqlite3_stmt *put, const struct table *table,
                   uint64_t id, const void *row)
{
    int bound = sqlite3_bind_int64(put, 1, (sqlite3_int64)id);

    for (size_t i = 0; i < table->count && bound == SQLITE_OK; i++)
        bound = bind_column(put, (int)i + 2, &table->columns[i], row);
    return run_statement(store, put, bound);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_column(const struct column *column, const void *row)
{
    const void *field = field_of(column, row);
    const struct lp_blob *blob = field;
    uint64_t word = 0;

    switch (column->type) {
    case COLUMN_NAME:
    case COLUMN_TEXT:
        if (*(const char *const *)field)
            word = lp_hash_text(*(const char *const *)field, strlen(*(const char *const *)field));
        break;
    case COLUMN_WORD:
    case COLUMN_DEVICE:
        word = *(const uint32_t *)field;
        break;
    case COLUMN_COUNT:
    case COLUMN_NUMBER:
        memcpy(&word, field, sizeof(word));
        break;
    case COLUMN_BLOB:
        if (blob->bytes)
            word = lp_hash_text(blob->bytes, blob->size);
        break;
    }
    return word;
}

static uint64_t hash_columns(const struct column *columns, size_t count, const void *row)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < count; i++)
        hash = mix(hash, hash_column(&columns[i], row));
    return hash;
}

/* The state of a row; rows with the same key in one profile each have their own. */
static int find_state(struct row_set *set, uint64_t write, const void *row, uint32_t *index_out)
{
    uint64_t key = hash_columns(set->table->columns, set->table->keys, row), twin = 0;
    uint32_t index;

    while ((index = lp_hashmap_get(&set->by_key, key, twin)) != LP_HASHMAP_NONE &&
           set->states.items[index].write == write)
        twin++;
    if (index == LP_HASHMAP_NONE) {
        index = (uint32_t)set->states.count;
        if (lp_vector_push(&set->states, (struct row_state){ 0, 0, false }) < 0)
            return LLMPERF_ENOMEM;
        if (lp_hashmap_put(&set->by_key, key, twin, index) < 0) {
            set->states.count--;
            return LLMPERF_ENOMEM;
        }
    }
    set->states.items[index].write = write;
    *index_out = index;
    return 0;
}

static int put_if_changed(const struct lp_store *store, struct row_set *set, const void *row)
{
    uint64_t fingerprint = hash_columns(set->table->columns, set->table->compared, row) | 1;
    struct row_state *state;
    uint32_t index;
    int status;

    if ((status = find_state(set, store->write, row, &index)) < 0)
        return status;
    state = &set->states.items[index];
    if (state->fingerprint == fingerprint) {
        set->kept++;
        return 0;
    }
    set->changed++;
    state->fingerprint = fingerprint;
    state->stored = true;
    return put_row(store, set->put, set->table, (uint64_t)index + 1, row);
}

/* A row goes away when, for example, a region that had no device gets one. */
static int drop_vanished(const struct lp_store *store, struct row_set *set)
{
    int status = 0;

    for (size_t i = 0; i < set->states.count && status == 0; i++) {
        struct row_state *state = &set->states.items[i];

        if (!state->stored || state->write == store->write)
            continue;
        set->changed++;
        status =
            run_statement(store, set->drop, sqlite3_bind_int64(set->drop, 1, (sqlite3_int64)i + 1));
        *state = (struct row_state){ 0, 0, status < 0 };
    }
    return status;
}

static int put_rows(const struct lp_store *store, struct row_set *set, const void *rows,
                    size_t row_size, size_t count)
{
    int status = 0;

    set->changed = set->kept = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = put_if_changed(store, set, (const char *)rows + i * row_size);
    return status < 0 ? status : drop_vanished(store, set);
}

#define PUT_LIST(store, table, list)                                                               \
    put_rows(store, &(store)->sets[table], (list).items, sizeof(*(list).items), (list).count)

static int put_profile(struct lp_store *store, const llmperf_profile *profile)
{
    int status;

    if ((status = run_sql(store, "BEGIN IMMEDIATE")) < 0 ||
        (status = put_rows(store, &store->sets[LEDGER_TABLE], &profile->ledger,
                           sizeof(profile->ledger), 1)) < 0 ||
        (status = PUT_LIST(store, REGION_TABLE, profile->regions)) < 0 ||
        (status = PUT_LIST(store, KERNEL_TABLE, profile->kernels)) < 0 ||
        (status = PUT_LIST(store, FACT_TABLE, profile->facts)) < 0 ||
        (status = PUT_LIST(store, PROBLEM_TABLE, profile->problems)) < 0 ||
        (status = PUT_LIST(store, NOTE_TABLE, profile->notes)) < 0)
        return status;
    return run_sql(store, "COMMIT");
}

/* After a failed write nobody knows which rows the file has. */
static void forget_rows(struct row_set *set)
{
    for (size_t i = 0; i < set->states.count; i++) {
        set->states.items[i].fingerprint = 0;
        set->states.items[i].stored = true;
    }
}

int lp_store_write(struct lp_store *store, const llmperf_profile *profile)
{
    const struct row_set *kernels = &store->sets[KERNEL_TABLE];
    int status;

    store->write++;
    status = put_profile(store, profile);
    if (status < 0) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        for (size_t i = 0; i < TABLES; i++)
            forget_rows(&store->sets[i]);
        return status;
    }
    if (kernels->changed > 0)
        store->shares_stale = kernels->kept > 0;
    return 0;
}

/* A write-ahead log that belongs to another file of this name must never be applied to ours. */
static void remove_companions(const char *path)
{
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        struct lp_text name = { NULL, 0, 0, false };

        lp_text_printf(&name, "%s%s", path, suffixes[i]);
        if (!name.failed)
            unlink(name.bytes);
        lp_text_clear(&name);
    }
}

static int prepare(const struct lp_store *store, const struct table *table,
                   void (*write_sql)(struct lp_text *sql, const struct table *table),
                   sqlite3_stmt **statement_out)
{
    struct lp_text sql = { NULL, 0, 0, false };
    int status = 0;

    write_sql(&sql, table);
    if (sql.failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else if (sqlite3_prepare_v3(store->db, sql.bytes, -1, SQLITE_PREPARE_PERSISTENT, statement_out,
                                NULL) != SQLITE_OK)
        status = write_error(store);
    lp_text_clear(&sql);
    return status;
}

/* In one transaction: who opens the file meanwhile sees an empty database or all of it. */
static int create_tables(const struct lp_store *store)
{
    struct lp_text sql = { NULL, 0, 0, false };
    int status;

    lp_text_printf(&sql,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; BEGIN;"
                   "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   APPLICATION_ID, FORMAT);
    for (size_t i = 0; i < TABLES; i++)
        sql_create(&sql, &tables[i]);
    lp_text_puts(&sql, "COMMIT");
    status = sql.failed ? lp_error(LLMPERF_ENOMEM, "out of memory") : run_sql(store, sql.bytes);
    lp_text_clear(&sql);
    return status;
}

static int open_store(struct lp_store *store)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int status;

    if (unlink(store->path) < 0 && errno != ENOENT)
        return lp_error(LLMPERF_EIO, "cannot replace %s: %s", store->path, strerror(errno));
    remove_companions(store->path);
    if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        return write_error(store);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    status = create_tables(store);
    for (size_t i = 0; i < TABLES && status == 0; i++) {
        struct row_set *set = &store->sets[i];

        set->table = &tables[i];
        if ((status = prepare(store, set->table, sql_put, &set->put)) == 0)
            status = prepare(store, set->table, sql_drop, &set->drop);
    }
    return status;
}

static void clear_rows(struct row_set *set)
{
    sqlite3_finalize(set->put);
    sqlite3_finalize(set->drop);
    lp_hashmap_clear(&set->by_key);
    lp_vector_clear(&set->states);
}

static void free_store(struct lp_store *store)
{
    for (size_t i = 0; i < TABLES; i++)
        clear_rows(&store->sets[i]);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

int lp_store_create(const char *path, struct lp_store **store_out)
{
    struct lp_store *store = calloc(1, sizeof(*store));
    int status;

    if (!store || !(store->path = lp_text_copy(path))) {
        free(store);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    if ((status = open_store(store)) < 0) {
        free_store(store);
        return status;
    }
    *store_out = store;
    return 0;
}

int lp_store_close(struct lp_store *store)
{
    int status = 0, code;

    if (!store)
        return 0;
    if (store->shares_stale)
        status = run_sql(store, "UPDATE kernel SET share = coalesce(total_ms /"
                                " (SELECT sum(total_ms) FROM kernel), 0)");
    /* A reader that stays holds the log: then it stays too, and nothing is lost. */
    code = sqlite3_exec(store->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE",
                        NULL, NULL, NULL);
    if (status == 0 && code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
        status = write_error(store);
    free_store(store);
    return status;
}

static int save_as(const llmperf_profile *profile, const char *temporary, const char *path)
{
    struct lp_store *store;
    int status, closed;

    if ((status = lp_store_create(temporary, &store)) < 0)
        return status;
    status = lp_store_write(store, profile);
    closed = lp_store_close(store);
    if (status < 0 || closed < 0)
        return status < 0 ? status : closed;
    remove_companions(path);
    if (rename(temporary, path) < 0)
        return lp_error(LLMPERF_EIO, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

int llmperf_profile_save(const llmperf_profile *profile, const char *path)
{
    struct lp_text temporary = { NULL, 0, 0, false };
    int status;

    if (!profile || !path || !*path)
        return lp_error(LLMPERF_EINVAL, "profile and path are required");
    if (lp_path_is_folder(path))
        return lp_error(LLMPERF_EIO, "cannot write %s: it is a folder; name a file in it", path);
    lp_text_printf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    if (temporary.failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    status = save_as(profile, temporary.bytes, path);
    if (status < 0) {
        unlink(temporary.bytes);
        remove_companions(temporary.bytes);
    }
    lp_text_clear(&temporary);
    return status;
}

/* Reading */

static int damaged(const char *path, const char *reason)
{
    return lp_error(LLMPERF_EFORMAT, "%s is damaged: %s", path, reason);
}

static int read_error(sqlite3 *db, const char *path)
{
    int code = sqlite3_extended_errcode(db);

    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", path);
    case SQLITE_NOTADB:
        return lp_error(LLMPERF_EFORMAT, "%s is not a run of this library", path);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a table or a column is missing */
    case SQLITE_TOOBIG:
        return damaged(path, sqlite3_errmsg(db));
    default:
        break;
    }
    if (code == SQLITE_IOERR_SHORT_READ)
        return damaged(path, "it is too short");
    return lp_error(LLMPERF_EIO,
                    "cannot read %s: %s; may you read it? or copy its folder and "
                    "open the copy",
                    path, sqlite3_errmsg(db));
}

static int read_number(sqlite3 *db, const char *sql, int *number_out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        *number_out = sqlite3_column_int(statement, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code;
}

/* `path` as a URI, so that it can carry an option. */
static void write_uri(struct lp_text *uri, const char *path)
{
    lp_text_puts(uri, *path == '/' ? "file://" : "file:");
    for (const char *at = path; *at; at++) {
        if (strchr("?#%", *at))
            lp_text_printf(uri, "%%%02x", (unsigned char)*at);
        else
            lp_text_add(uri, at, 1);
    }
    lp_text_puts(uri, "?immutable=1");
}

/* Open and take a snapshot: all that follows is read as of one commit. *db_out is also set on
 * failure, for the message. */
static int connect_reader(const char *path, bool immutable, sqlite3 **db_out)
{
    struct lp_text uri = { NULL, 0, 0, false };
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0);
    int code, ignored;

    if (immutable)
        write_uri(&uri, path);
    code = uri.failed ? SQLITE_NOMEM
                      : sqlite3_open_v2(immutable ? uri.bytes : path, db_out, flags, NULL);
    lp_text_clear(&uri);
    if (code != SQLITE_OK)
        return code;
    sqlite3_busy_timeout(*db_out, BUSY_MS);
    code = sqlite3_exec(*db_out, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; BEGIN",
                        NULL, NULL, NULL);
    /* BEGIN alone reads nothing. */
    return code == SQLITE_OK ? read_number(*db_out, "SELECT count(*) FROM sqlite_master", &ignored)
                             : code;
}

static bool has_log(const char *path)
{
    struct lp_text name = { NULL, 0, 0, false };
    struct stat info;
    bool found;

    lp_text_printf(&name, "%s-wal", path);
    found = name.failed || (stat(name.bytes, &info) == 0 && info.st_size > 0);
    lp_text_clear(&name);
    return found;
}

static int open_reader(const char *path, sqlite3 **db_out)
{
    sqlite3 *db = NULL;
    int code = connect_reader(path, false, &db) & 0xff, status;

    /* A file in WAL mode on a read-only medium: SQLite wants to make an index of a log that is not
     * there. Without a log the file alone is complete. */
    if ((code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && !has_log(path)) {
        sqlite3_close(db);
        db = NULL;
        code = connect_reader(path, true, &db) & 0xff;
    }
    if (code != SQLITE_OK) {
        status = read_error(db, path);
        sqlite3_close(db);
        return status;
    }
    *db_out = db;
    return 0;
}

static int check_format(sqlite3 *db, const char *path)
{
    int application = 0, format = 0;

    if (read_number(db, "PRAGMA application_id", &application) != SQLITE_OK ||
        read_number(db, "PRAGMA user_version", &format) != SQLITE_OK)
        return read_error(db, path);
    if (application != APPLICATION_ID)
        return lp_error(LLMPERF_EFORMAT, "%s is not a run of this library", path);
    if (format > FORMAT)
        return lp_error(LLMPERF_EFORMAT,
                        "%s has format %d, this library reads up to format %d; use a newer one",
                        path, format, FORMAT);
    return format == FORMAT ? 0 : damaged(path, "its format is not set");
}

/* SQLite takes the missing part of a last page for zeros. With a log, pages may be only in there.
 */
static int check_size(sqlite3 *db, const char *path)
{
    int pages = 0, page_bytes = 0;
    struct stat info;

    if (read_number(db, "PRAGMA page_count", &pages) != SQLITE_OK ||
        read_number(db, "PRAGMA page_size", &page_bytes) != SQLITE_OK)
        return read_error(db, path);
    if (has_log(path) || stat(path, &info) < 0 || info.st_size >= (off_t)pages * page_bytes)
        return 0;
    return damaged(path, "its end is missing");
}

/* A profile that is being read. */
struct reader {
    sqlite3 *db;
    const char *path;
    llmperf_profile *profile;
    sqlite3_stmt *rows; /* of the table that is being read */
    size_t count;       /* of its rows */
};

static int out_of_memory(const struct reader *reader)
{
    return lp_error(LLMPERF_ENOMEM, "out of memory for %s", reader->path);
}

/* *text_out is NULL for NULL. */
static int read_text(const struct reader *reader, int at, const char **text_out)
{
    const char *text;

    *text_out = NULL;
    if (sqlite3_column_type(reader->rows, at) == SQLITE_NULL)
        return 0;
    text = (const char *)sqlite3_column_text(reader->rows, at);
    *text_out = text ? lp_profile_text(reader->profile, text) : NULL;
    return *text_out ? 0 : out_of_memory(reader);
}

static int read_name(const struct reader *reader, int at, const char **text_out)
{
    int status = read_text(reader, at, text_out);

    return status < 0 || *text_out ? status : damaged(reader->path, "a name is missing");
}

static int read_blob(const struct reader *reader, int at, struct lp_blob *blob_out)
{
    const void *bytes = sqlite3_column_blob(reader->rows, at);
    size_t size = (size_t)sqlite3_column_bytes(reader->rows, at);

    *blob_out = (struct lp_blob){ NULL, 0 };
    if (!bytes)
        return 0;
    *blob_out = (struct lp_blob){ lp_strings_add_bytes(&reader->profile->pool, bytes, size), size };
    return blob_out->bytes ? 0 : out_of_memory(reader);
}

static int read_integer(const struct reader *reader, int at, sqlite3_int64 most,
                        sqlite3_int64 *value_out)
{
    *value_out = sqlite3_column_int64(reader->rows, at);
    return *value_out >= 0 && *value_out <= most
               ? 0
               : damaged(reader->path, "a number is out of range");
}

static int read_column(const struct reader *reader, int at, const struct column *column, void *row)
{
    void *field = (char *)row + column->offset;
    bool null = sqlite3_column_type(reader->rows, at) == SQLITE_NULL;
    sqlite3_int64 value = -1;
    int status = 0;

    switch (column->type) {
    case COLUMN_NAME:
        return read_name(reader, at, field);
    case COLUMN_TEXT:
        return read_text(reader, at, field);
    case COLUMN_BLOB:
        return read_blob(reader, at, field);
    case COLUMN_WORD:
        status = read_integer(reader, at, UINT32_MAX, &value);
        *(uint32_t *)field = (uint32_t)value;
        break;
    case COLUMN_DEVICE:
        if (!null)
            status = read_integer(reader, at, DEVICE_MAX, &value);
        *(int32_t *)field = (int32_t)value;
        break;
    case COLUMN_COUNT:
        value = sqlite3_column_int64(reader->rows, at);
        *(uint64_t *)field = null ? LLMPERF_UNKNOWN : (uint64_t)value;
        break;
    case COLUMN_NUMBER:
        *(double *)field = null ? (double)NAN : sqlite3_column_double(reader->rows, at);
        break;
    }
    return status;
}

static int read_columns(const struct reader *reader, const struct table *table, void *row)
{
    int status = 0;

    for (size_t i = 0; i < table->count && status == 0; i++)
        status = read_column(reader, (int)i, &table->columns[i], row);
    return status;
}

static int take_ledger(const struct reader *reader)
{
    return read_columns(reader, &tables[LEDGER_TABLE], &reader->profile->ledger);
}

static int take_region(const struct reader *reader)
{
    struct lp_region_row row = { .stats = LLMPERF_REGION_STATS_INIT };
    int status = read_columns(reader, &tables[REGION_TABLE], &row);

    return status < 0 ? status : lp_vector_push(&reader->profile->regions, row);
}

static int take_kernel(const struct reader *reader)
{
    struct lp_kernel_row row = { .stats = LLMPERF_KERNEL_STATS_INIT };
    int status = read_columns(reader, &tables[KERNEL_TABLE], &row);

    return status < 0 ? status : lp_vector_push(&reader->profile->kernels, row);
}

static int take_fact(const struct reader *reader)
{
    struct lp_fact fact;
    int status = read_columns(reader, &tables[FACT_TABLE], &fact);

    return status < 0 ? status : lp_vector_push(&reader->profile->facts, fact);
}

static int take_problem(const struct reader *reader)
{
    const char *line;
    int status = read_columns(reader, &tables[PROBLEM_TABLE], &line);

    return status < 0 ? status : lp_vector_push(&reader->profile->problems, line);
}

static int take_note(const struct reader *reader)
{
    const char *line;
    int status = read_columns(reader, &tables[NOTE_TABLE], &line);

    return status < 0 ? status : lp_vector_push(&reader->profile->notes, line);
}

/* Call `take` for each row. */
static int read_rows(struct reader *reader, const char *sql,
                     int (*take)(const struct reader *reader))
{
    int code = sqlite3_prepare_v2(reader->db, sql, -1, &reader->rows, NULL), status = 0;

    while (code == SQLITE_OK && status == 0 && sqlite3_step(reader->rows) == SQLITE_ROW) {
        status = take(reader);
        reader->count++;
    }
    code = sqlite3_errcode(reader->db);
    if (status == 0 && code != SQLITE_OK && code != SQLITE_DONE)
        status = read_error(reader->db, reader->path);
    sqlite3_finalize(reader->rows);
    reader->rows = NULL;
    return status;
}

static int read_table(struct reader *reader, enum table_id id,
                      int (*take)(const struct reader *reader))
{
    struct lp_text sql = { NULL, 0, 0, false };
    int status;

    reader->count = 0;
    sql_select(&sql, &tables[id]);
    status = sql.failed ? out_of_memory(reader) : read_rows(reader, sql.bytes, take);
    lp_text_clear(&sql);
    return status;
}

static int read_profile(struct reader *reader)
{
    int status;

    if ((status = check_format(reader->db, reader->path)) < 0 ||
        (status = check_size(reader->db, reader->path)) < 0 ||
        (status = read_table(reader, LEDGER_TABLE, take_ledger)) < 0)
        return status;
    if (reader->count == 0)
        return lp_error(LLMPERF_EFORMAT, "%s is empty: its program ended before the first commit",
                        reader->path);
    if ((status = read_table(reader, REGION_TABLE, take_region)) < 0 ||
        (status = read_table(reader, KERNEL_TABLE, take_kernel)) < 0 ||
        (status = read_table(reader, FACT_TABLE, take_fact)) < 0 ||
        (status = read_table(reader, PROBLEM_TABLE, take_problem)) < 0 ||
        (status = read_table(reader, NOTE_TABLE, take_note)) < 0)
        return status;
    return lp_profile_finish(reader->profile);
}

static int open_file(const char *path, llmperf_profile **profile_out)
{
    struct reader reader = { NULL, path, NULL, NULL, 0 };
    int status;

    if (!lp_path_exists(path))
        return lp_error(LLMPERF_ENOENT,
                        "%s does not exist; give a run directory or its run.llmperf", path);
    if ((status = open_reader(path, &reader.db)) < 0)
        return status;
    reader.profile = lp_profile_create();
    status = reader.profile ? read_profile(&reader) : out_of_memory(&reader);
    sqlite3_close(reader.db);
    if (status < 0) {
        llmperf_profile_free(reader.profile);
        return status;
    }
    *profile_out = reader.profile;
    return 0;
}

int llmperf_profile_open(const char *run, llmperf_profile **profile_out)
{
    char *path;
    int status;

    if (!run || !profile_out)
        return lp_error(LLMPERF_EINVAL, "run and profile_out are required");
    path = lp_path_is_folder(run) ? lp_path_join(run, "run.llmperf") : lp_text_copy(run);
    if (!path)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    status = open_file(path, profile_out);
    free(path);
    return status;
}
