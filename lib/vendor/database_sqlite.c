/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "lib/base/file.h"
#include "lib/base/progress.h"
#include "lib/base/sqlite_file.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/vendor/database.h"

#define COLUMNS_MOST  32
#define PROGRESS_ROWS 4096

struct lp_database {
    struct lp_sqlite file;
    char *path;
    uint64_t bytes; /* of the file */
};

static int fail(const struct lp_database *database)
{
    int code = sqlite3_errcode(database->file.db) & 0xff;

    if (code == SQLITE_NOMEM)
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", database->path);
    if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_BUSY)
        return lp_error(LLMPERF_EIO,
                        "cannot read %s: %s; copy it to another file and import the copy",
                        database->path, lp_sqlite_message(&database->file));
    return lp_error(LLMPERF_EFORMAT, "%s is damaged: %s; export it again", database->path,
                    lp_sqlite_message(&database->file));
}

static bool has_companion(const char *path, const char *suffix)
{
    struct lp_text name = { NULL, 0, 0, false };
    struct stat info;
    bool found;

    lp_text_printf(&name, "%s%s", path, suffix);
    found = !name.failed && stat(name.bytes, &info) == 0 && info.st_size > 0;
    lp_text_clear(&name);
    return found;
}

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* While a file is being copied or exported it is shorter than its header says: page size at byte 16
 * (1 means 65536), number of pages at byte 28, valid if the versions at bytes 24 and 92 are
 * equal. */
static int check_size(const struct lp_database *database)
{
    uint8_t head[100];
    uint64_t page_bytes;
    FILE *file;
    int status = lp_file_open_stream(database->path, &file);
    size_t got;

    if (status < 0)
        return status;
    got = fread(head, 1, sizeof(head), file);
    fclose(file);
    if (got < sizeof(head))
        return lp_error(LLMPERF_EFORMAT, "%s is empty or cannot be read; export it again",
                        database->path);
    page_bytes = (uint64_t)head[16] << 8 | head[17];
    page_bytes = page_bytes == 1 ? 65536 : page_bytes;
    if (word_at(head + 24) != word_at(head + 92) ||
        database->bytes >= page_bytes * word_at(head + 28))
        return 0;
    return lp_error(LLMPERF_EFORMAT,
                    "%s is incomplete: it, or the file it was copied from, is still being written; "
                    "wait, or export it again",
                    database->path);
}

/* Immutable: SQLite reads it without locks and without its journal. */
static int connect_file(struct lp_database *database)
{
    int code = lp_sqlite_open(&database->file, database->path, true);

    if (code == SQLITE_NOMEM)
        return lp_error(LLMPERF_ENOMEM, "out of memory for %s", database->path);
    return code == SQLITE_OK ? 0 : fail(database);
}

static int open_checked(struct lp_database *database)
{
    struct stat info;
    int status;

    if (stat(database->path, &info) < 0)
        return lp_error(errno == ENOENT ? LLMPERF_ENOENT : LLMPERF_EIO, "cannot read %s: %s",
                        database->path, strerror(errno));
    if (has_companion(database->path, "-journal") || has_companion(database->path, "-wal"))
        return lp_error(LLMPERF_EFORMAT,
                        "%s has an open journal: its writer is still running or was killed; wait, "
                        "or export it again",
                        database->path);
    database->bytes = (uint64_t)info.st_size;
    if ((status = check_size(database)) < 0)
        return status;
    return connect_file(database);
}

int lp_database_open(const char *path, struct lp_database **database_out)
{
    struct lp_database *database = calloc(1, sizeof(*database));
    int status;

    if (!database || !(database->path = lp_text_copy(path))) {
        free(database);
        return lp_out_of_memory();
    }
    if ((status = open_checked(database)) < 0) {
        lp_database_close(database);
        return status;
    }
    *database_out = database;
    return 0;
}

void lp_database_close(struct lp_database *database)
{
    if (!database)
        return;
    lp_sqlite_close(&database->file);
    free(database->path);
    free(database);
}

/* Views, virtual tables and generated columns would run code from the file. */
bool lp_database_has(struct lp_database *database, const char *table)
{
    bool has;

    return lp_sqlite_has_table(&database->file, table, &has) == SQLITE_OK && has;
}

bool lp_database_has_column(struct lp_database *database, const char *table, const char *column)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;

    if (lp_database_has(database, table) &&
        sqlite3_prepare_v2(database->file.db,
                           "SELECT 1 FROM pragma_table_info(?) WHERE name=? COLLATE NOCASE", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC) == SQLITE_OK)
        found = lp_sqlite_step(&database->file, statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

static void write_select(struct lp_text *sql, struct lp_database *database, const char *table,
                         const struct lp_want *wants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lp_text_puts(sql, i ? ", " : "SELECT ");
        if (lp_database_has_column(database, table, wants[i].name))
            lp_text_printf(sql, "\"%s\"", wants[i].name);
        else
            lp_text_puts(sql, "NULL");
    }
    lp_text_printf(sql, " FROM \"%s\" NOT INDEXED", table);
}

static void take_cell(sqlite3_stmt *statement, int at, bool text, struct lp_cell *cell)
{
    cell->text = text ? (const char *)sqlite3_column_text(statement, at) : NULL;
    cell->null = sqlite3_column_type(statement, at) == SQLITE_NULL;
    cell->number = text ? 0 : sqlite3_column_int64(statement, at);
}

/* As its rows are numbered; 0: they are not. */
static uint64_t count_rows(struct lp_database *database, const char *table)
{
    struct lp_text sql = { NULL, 0, 0, false };
    int count = 0;

    lp_text_printf(&sql, "SELECT max(rowid) FROM \"%s\"", table);
    if (!sql.failed)
        lp_sqlite_number(&database->file, sql.bytes, &count);
    lp_text_clear(&sql);
    return count > 0 ? (uint64_t)count : 0;
}

static int visit_rows(struct lp_database *database, sqlite3_stmt *statement, uint64_t rows,
                      const struct lp_want *wants, size_t count,
                      int (*visit)(void *user, const struct lp_cell *cells), void *user)
{
    struct lp_cell cells[COLUMNS_MOST];
    int status = 0, code = SQLITE_DONE;
    uint64_t row = 0;

    while (status == 0 && (code = lp_sqlite_step(&database->file, statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < count; i++)
            take_cell(statement, (int)i, wants[i].text, &cells[i]);
        status = visit(user, cells);
        if (row++ % PROGRESS_ROWS == 0)
            lp_progress("reading a table of the database", row, rows);
    }
    return status < 0 || code == SQLITE_DONE ? status : fail(database);
}

int lp_database_rows(struct lp_database *database, const char *table, const struct lp_want *wants,
                     size_t count, int (*visit)(void *user, const struct lp_cell *cells),
                     void *user)
{
    struct lp_text sql = { NULL, 0, 0, false };
    sqlite3_stmt *statement = NULL;
    int status = 0;

    if (!lp_database_has(database, table))
        return 0;
    write_select(&sql, database, table, wants, count);
    if (sql.failed)
        status = lp_out_of_memory();
    else if (sqlite3_prepare_v2(database->file.db, sql.bytes, -1, &statement, NULL) != SQLITE_OK)
        status = fail(database);
    else
        status =
            visit_rows(database, statement, count_rows(database, table), wants, count, visit, user);
    sqlite3_finalize(statement);
    lp_text_clear(&sql);
    return status;
}
