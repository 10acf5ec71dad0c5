/* SPDX-License-Identifier: Apache-2.0 */
/* Writes run files. Only changed rows are written again. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "lib/store/checksum.h"
#include "lib/store/columns.h"

/* A row of the file. */
struct row_state {
    uint64_t id;
    uint64_t key;         /* of the key columns */
    uint64_t fingerprint; /* hash of the row as last written */
    uint64_t write;       /* number of the last write with this row */
};

/* Rows of one table. */
struct row_set {
    enum lp_row_id id;
    sqlite3_stmt *put, *drop;
    struct lp_hashmap by_key; /* (key, number of earlier rows with that key) -> index in `states` */
    LP_VECTOR(struct row_state) states;
    uint64_t last_id;
    size_t changed, kept; /* rows, in the last write */
};

struct lp_store {
    sqlite3 *db;
    char *path;
    const char *shown; /* path in messages, if `path` is a temporary file */
    uint64_t write;    /* number of the current write */
    struct row_set sets[LP_ROW_KINDS];
    bool committed; /* at least once */
    bool unknown;   /* a write failed: the file's rows are not known */
    bool shares_stale;
};

static const char *name_of(const struct lp_store *store)
{
    return store->shown ? store->shown : store->path;
}

static int write_error(const struct lp_store *store)
{
    if (sqlite3_errcode(store->db) == SQLITE_NOMEM)
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", name_of(store));
    return lp_error(LLMPERF_EIO,
                    "cannot write %s: %s; check that its folder exists, is writable and has space",
                    name_of(store), sqlite3_errmsg(store->db));
}

static int run_sql(const struct lp_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : write_error(store);
}

/* @param bound  Result of binding the parameters. */
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

static int bind_field(sqlite3_stmt *statement, int at, const struct lp_row_field *field,
                      const void *row)
{
    const void *value = (const char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_NAME:
    case LP_FIELD_TEXT:
        return sqlite3_bind_text(statement, at, *(const char *const *)value, -1, SQLITE_STATIC);
    case LP_FIELD_WORD:
        return sqlite3_bind_int64(statement, at, *(const uint32_t *)value);
    case LP_FIELD_DEVICE:
        return *(const int32_t *)value < 0
                   ? sqlite3_bind_null(statement, at)
                   : sqlite3_bind_int(statement, at, *(const int32_t *)value);
    case LP_FIELD_COUNT:
        return bind_count(statement, at, *(const uint64_t *)value);
    case LP_FIELD_NUMBER: /* SQLite stores NaN as NULL */
        return sqlite3_bind_double(statement, at, *(const double *)value);
    case LP_FIELD_BLOB:
        return bind_blob(statement, at, value);
    }
    return SQLITE_MISUSE;
}

static int put_row(const struct lp_store *store, sqlite3_stmt *put, const struct lp_row_kind *kind,
                   uint64_t id, const void *row)
{
    int bound = sqlite3_bind_int64(put, 1, (sqlite3_int64)id);

    for (size_t i = 0; i < lp_store_column_count(kind) && bound == SQLITE_OK; i++)
        bound = bind_field(put, (int)i + 2, &kind->fields[i], row);
    return run_statement(store, put, bound);
}

/* Index a state by its key. Rows of a profile with equal keys get consecutive `twin` numbers. */
static int index_state(struct row_set *set, size_t index, uint64_t twin)
{
    uint64_t key = set->states.items[index].key;

    while (lp_hashmap_get(&set->by_key, key, twin) != LP_HASHMAP_NONE)
        twin++;
    return lp_hashmap_put(&set->by_key, key, twin, (uint32_t)index);
}

static int add_state(struct row_set *set, uint64_t key, uint64_t twin)
{
    struct row_state fresh = { set->last_id + 1, key, 0, 0 };

    if (lp_vector_push(&set->states, fresh) < 0)
        return LLMPERF_ENOMEM;
    if (index_state(set, set->states.count - 1, twin) < 0) {
        set->states.count--;
        return LLMPERF_ENOMEM;
    }
    set->last_id++;
    return 0;
}

static int find_state(struct row_set *set, uint64_t write, const void *row,
                      struct row_state **state_out)
{
    uint64_t key = lp_row_hash(set->id, row, NULL), twin = 0;
    uint32_t index;

    while ((index = lp_hashmap_get(&set->by_key, key, twin)) != LP_HASHMAP_NONE &&
           set->states.items[index].write == write)
        twin++;
    if (index == LP_HASHMAP_NONE) {
        if (add_state(set, key, twin) < 0)
            return LLMPERF_ENOMEM;
        index = (uint32_t)set->states.count - 1;
    }
    *state_out = &set->states.items[index];
    (*state_out)->write = write;
    return 0;
}

/* A share changes whenever another row changes; that alone does not rewrite a row. */
static bool is_compared(const struct lp_row_field *field)
{
    return field->merge != LP_MERGE_SHARE;
}

static int put_if_changed(const struct lp_store *store, struct row_set *set, const void *row)
{
    uint64_t fingerprint = lp_row_hash(set->id, row, is_compared) | 1;
    struct row_state *state;
    int status;

    if ((status = find_state(set, store->write, row, &state)) < 0)
        return status;
    if (state->fingerprint == fingerprint) {
        set->kept++;
        return 0;
    }
    set->changed++;
    state->fingerprint = fingerprint;
    return put_row(store, set->put, &lp_row_kinds[set->id], state->id, row);
}

/* Iterations come and go during a session: forget the state of deleted rows. */
static int forget_dropped(struct row_set *set, uint64_t write)
{
    size_t kept = 0;
    int status = 0;

    lp_hashmap_reset(&set->by_key);
    for (size_t i = 0; i < set->states.count && status == 0; i++) {
        if (set->states.items[i].write != write)
            continue;
        set->states.items[kept] = set->states.items[i];
        status = index_state(set, kept++, 0);
    }
    set->states.count = kept;
    return status;
}

/* Delete rows that the profile no longer has, such as a region's row without device once it has
 * one. */
static int drop_vanished(const struct lp_store *store, struct row_set *set)
{
    size_t dropped = 0;
    int status = 0;

    for (size_t i = 0; i < set->states.count && status == 0; i++) {
        const struct row_state *state = &set->states.items[i];

        if (state->write == store->write)
            continue;
        dropped++;
        status = run_statement(store, set->drop,
                               sqlite3_bind_int64(set->drop, 1, (sqlite3_int64)state->id));
    }
    set->changed += dropped;
    return status < 0 || dropped == 0 ? status : forget_dropped(set, store->write);
}

static int put_rows(const struct lp_store *store, struct row_set *set,
                    const llmperf_profile *profile)
{
    int status = 0;

    set->changed = set->kept = 0;
    for (size_t i = 0; i < lp_row_count(profile, set->id) && status == 0; i++)
        status = put_if_changed(store, set, lp_row_at(profile, set->id, i));
    return status < 0 ? status : drop_vanished(store, set);
}

/* After a failed write the file's rows may differ from the state in memory: delete them all. */
static int begin_anew(struct lp_store *store)
{
    int status = 0;

    for (size_t i = 0; i < LP_ROW_KINDS && status == 0; i++) {
        struct row_set *set = &store->sets[i];
        struct lp_text sql = { NULL, 0, 0, false };

        if (!lp_row_kinds[i].table)
            continue;
        set->states.count = 0;
        set->last_id = 0;
        lp_hashmap_reset(&set->by_key);
        lp_text_printf(&sql, "DELETE FROM %s", lp_row_kinds[i].table);
        status = sql.failed ? lp_error(LLMPERF_ENOMEM, "out of memory") : run_sql(store, sql.bytes);
        lp_text_clear(&sql);
    }
    return status;
}

static int put_profile(struct lp_store *store, const llmperf_profile *profile)
{
    int status;

    if ((status = run_sql(store, "BEGIN IMMEDIATE")) < 0 ||
        (status = store->unknown ? begin_anew(store) : 0) < 0)
        return status;
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        if (lp_row_kinds[i].table && (status = put_rows(store, &store->sets[i], profile)) < 0)
            return status;
    return run_sql(store, "COMMIT");
}

int lp_store_write(struct lp_store *store, const llmperf_profile *profile)
{
    const struct row_set *kernels = &store->sets[LP_ROW_KERNEL];
    int status;

    store->write++;
    status = put_profile(store, profile);
    store->unknown = status < 0;
    if (status < 0) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        return status;
    }
    store->committed = true;
    if (kernels->changed > 0)
        store->shares_stale = kernels->kept > 0;
    return 0;
}

/* A log left by another file of this name must never be applied to the new file. */
static void remove_companions(const char *path)
{
    static const char *const suffixes[] = { "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct lp_text name = { NULL, 0, 0, false };

        lp_text_printf(&name, "%s%s", path, suffixes[i]);
        if (!name.failed)
            unlink(name.bytes);
        lp_text_clear(&name);
    }
}

static int prepare(const struct lp_store *store, const struct lp_row_kind *kind,
                   void (*write_sql)(struct lp_text *sql, const struct lp_row_kind *kind),
                   sqlite3_stmt **statement_out)
{
    struct lp_text sql = { NULL, 0, 0, false };
    int status = 0;

    write_sql(&sql, kind);
    if (sql.failed)
        status = lp_error(LLMPERF_ENOMEM, "out of memory");
    else if (sqlite3_prepare_v3(store->db, sql.bytes, -1, SQLITE_PREPARE_PERSISTENT, statement_out,
                                NULL) != SQLITE_OK)
        status = write_error(store);
    lp_text_clear(&sql);
    return status;
}

/* In one transaction, so a reader sees an empty database or all tables. */
static int create_tables(const struct lp_store *store)
{
    struct lp_text sql = { NULL, 0, 0, false };
    int status;

    lp_text_printf(&sql,
                   "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN;"
                   "PRAGMA application_id=%d; PRAGMA user_version=%d;",
                   LP_STORE_APPLICATION, LP_STORE_FORMAT);
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        if (lp_row_kinds[i].table)
            lp_store_sql_create(&sql, &lp_row_kinds[i]);
    lp_text_puts(&sql, LP_STORE_SQL_CHECKSUM "COMMIT");
    status = sql.failed ? lp_error(LLMPERF_ENOMEM, "out of memory") : run_sql(store, sql.bytes);
    lp_text_clear(&sql);
    return status;
}

static int open_database(struct lp_store *store, const char *path)
{
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return write_error(store);
    sqlite3_busy_timeout(store->db, LP_STORE_BUSY_MS);
    return 0;
}

/* The program may be killed at any moment, so the file is renamed to its final name only when it is
 * a valid empty run. */
static int make_file(struct lp_store *store)
{
    char *fresh = NULL;
    int fd, status;

    if (asprintf(&fresh, "%s.new", store->path) < 0)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    remove_companions(fresh); /* left by a killed program */
    if ((fd = lp_file_create(fresh)) < 0) {
        status =
            lp_error(LLMPERF_EIO,
                     "cannot write %s: %s; check that its folder exists, is writable and has space",
                     name_of(store), strerror(errno));
        free(fresh);
        return status;
    }
    close(fd);
    if ((status = open_database(store, fresh)) == 0)
        status = create_tables(store);
    sqlite3_close(store->db);
    store->db = NULL;
    if (status == 0 && rename(fresh, store->path) < 0)
        status = lp_error(LLMPERF_EIO, "cannot replace %s: %s", name_of(store), strerror(errno));
    if (status < 0)
        unlink(fresh);
    free(fresh);
    return status;
}

static int open_store(struct lp_store *store)
{
    int status;

    if (unlink(store->path) < 0 && errno != ENOENT)
        return lp_error(LLMPERF_EIO, "cannot replace %s: %s", name_of(store), strerror(errno));
    remove_companions(store->path);
    if ((status = make_file(store)) < 0 || (status = open_database(store, store->path)) < 0 ||
        (status = run_sql(
             store,
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY")) < 0)
        return status;
    for (size_t i = 0; i < LP_ROW_KINDS && status == 0; i++) {
        struct row_set *set = &store->sets[i];

        set->id = (enum lp_row_id)i;
        if (lp_row_kinds[i].table &&
            (status = prepare(store, &lp_row_kinds[i], lp_store_sql_put, &set->put)) == 0)
            status = prepare(store, &lp_row_kinds[i], lp_store_sql_drop, &set->drop);
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
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        clear_rows(&store->sets[i]);
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

static _Atomic int open_stores;
static _Atomic bool orphaned;

static void begin_child(void)
{
    if (atomic_load(&open_stores) > 0)
        atomic_store(&orphaned, true);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, begin_child);
}

bool lp_store_is_orphaned(void)
{
    return atomic_load(&orphaned);
}

static int create(const char *path, const char *shown, struct lp_store **store_out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct lp_size_signal held;
    struct lp_store *store;
    int status;

    pthread_once(&once, watch_forks);
    if (lp_store_is_orphaned())
        return lp_error(LLMPERF_ESTATE,
                        "a forked child of a profiled process cannot write run files");
    store = calloc(1, sizeof(*store));

    if (!store || !(store->path = lp_text_copy(path))) {
        free(store);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    store->shown = shown;
    lp_size_signal_hold(&held);
    status = open_store(store);
    lp_size_signal_release(&held);
    if (status < 0) {
        free_store(store);
        return status;
    }
    atomic_fetch_add(&open_stores, 1);
    *store_out = store;
    return 0;
}

int lp_store_create(const char *path, struct lp_store **store_out)
{
    return create(path, NULL, store_out);
}

/* Must be the last write. */
static int keep_checksums(const struct lp_store *store)
{
    int status = run_sql(store, "BEGIN IMMEDIATE");

    if (status < 0)
        return status;
    status = lp_store_keep_checksums(store->db) == SQLITE_OK ? run_sql(store, "COMMIT")
                                                             : write_error(store);
    if (status < 0)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int lp_store_close(struct lp_store *store)
{
    int status = 0, code;

    if (!store)
        return 0;
    if (store->shares_stale)
        status = run_sql(store, "UPDATE kernel SET share = coalesce(total_ms /"
                                " (SELECT sum(total_ms) FROM kernel), 0)");
    if (status == 0 && store->committed)
        status = keep_checksums(store);
    /* An open reader keeps the log in use; then the log stays, and nothing is lost. */
    code = sqlite3_exec(store->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE",
                        NULL, NULL, NULL);
    if (status == 0 && code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
        status = write_error(store);
    free_store(store);
    atomic_fetch_sub(&open_stores, 1);
    return status;
}

static int save_as(const llmperf_profile *profile, const char *temporary, const char *path)
{
    struct lp_store *store;
    int status, closed;

    if ((status = create(temporary, path, &store)) < 0)
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
    struct lp_size_signal held;
    int status;

    if (!profile || !path || !*path)
        return lp_error(LLMPERF_EINVAL, "profile and path are required");
    if (lp_path_is_folder(path))
        return lp_error(LLMPERF_EIO, "cannot write %s: it is a folder; give a file name", path);
    lp_text_printf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    if (temporary.failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    lp_size_signal_hold(&held);
    status = save_as(profile, temporary.bytes, path);
    lp_size_signal_release(&held);
    if (status < 0) {
        unlink(temporary.bytes);
        remove_companions(temporary.bytes);
    }
    lp_text_clear(&temporary);
    return status;
}
