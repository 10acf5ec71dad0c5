/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "lib/base/sqlite_file.h"
#include "lib/base/text.h"

#define VALUE_MOST     (16 << 20) /* bytes */
#define CALLBACK_STEPS 256
#define PAGE_STEPS     8 /* reading a page takes about as long as this many steps */

/* Reading a table takes at most two steps for each byte of the file: a NULL is one byte. */
#define STEPS_PER_BYTE 16
#define STEPS_LEAST    4000000
/* UTF-16 texts become up to half as large again when read as UTF-8. */
#define BYTES_PER_BYTE 2
#define BYTES_LEAST    65536
#define ROW_BYTES      4 /* least bytes of a row: size, id and position on the page */

static uint64_t pages_fetched(sqlite3 *db)
{
    static const int counters[] = { SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS };
    uint64_t pages = 0;

    for (int i = 0; i < 2; i++) {
        int count = 0, peak = 0;

        sqlite3_db_status(db, counters[i], &count, &peak, 1);
        pages += (uint64_t)count;
    }
    return pages;
}

static bool take(struct lp_sqlite *file, uint64_t *left, uint64_t amount)
{
    if (amount > *left) {
        file->exhausted = true;
        return false;
    }
    *left -= amount;
    return true;
}

/* A result other than 0 ends the statement with SQLITE_INTERRUPT. */
static int count_steps(void *user)
{
    struct lp_sqlite *file = user;
    uint64_t steps = CALLBACK_STEPS + PAGE_STEPS * pages_fetched(file->db);

    return !take(file, &file->steps_left, steps);
}

static uint64_t size_of(const char *path, const char *suffix)
{
    struct lp_text name = { NULL, 0, 0, false };
    struct stat info;
    uint64_t size = 0;

    lp_text_printf(&name, "%s%s", path, suffix);
    if (!name.failed && stat(name.bytes, &info) == 0 && info.st_size > 0)
        size = (uint64_t)info.st_size;
    lp_text_clear(&name);
    return size;
}

void lp_sqlite_measure(struct lp_sqlite *file, const char *path)
{
    uint64_t bytes = size_of(path, "") + size_of(path, "-wal");

    file->steps_left = STEPS_LEAST + STEPS_PER_BYTE * bytes;
    file->bytes_left = BYTES_LEAST + BYTES_PER_BYTE * bytes;
}

/* mmap: a file truncated meanwhile would crash the program (SIGBUS). */
static int harden(struct lp_sqlite *file)
{
    sqlite3 *db = file->db;

    sqlite3_progress_handler(db, CALLBACK_STEPS, count_steps, file);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sqlite3_exec(db,
                        "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA mmap_size=0;"
                        "PRAGMA temp_store=MEMORY",
                        NULL, NULL, NULL);
}

/* `path` as a URI, to which an option can be added. */
static void write_uri(struct lp_text *uri, const char *path, bool immutable)
{
    lp_text_puts(uri, *path == '/' ? "file://" : "file:");
    for (const char *at = path; *at; at++) {
        if (strchr("?#%", *at))
            lp_text_printf(uri, "%%%02x", (unsigned char)*at);
        else
            lp_text_add(uri, at, 1);
    }
    lp_text_puts(uri, immutable ? "?immutable=1" : "");
}

int lp_sqlite_open(struct lp_sqlite *file, const char *path, bool immutable)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    struct lp_text uri = { NULL, 0, 0, false };
    int code;

    *file = (struct lp_sqlite){ NULL, 0, 0, false };
    write_uri(&uri, path, immutable);
    code = uri.failed ? SQLITE_NOMEM : sqlite3_open_v2(uri.bytes, &file->db, flags, NULL);
    lp_text_clear(&uri);
    if (code != SQLITE_OK)
        return code;
    lp_sqlite_measure(file, path);
    return harden(file);
}

void lp_sqlite_close(struct lp_sqlite *file)
{
    sqlite3_close(file->db);
    file->db = NULL;
}

/* Least number of bytes that a row takes in the file. */
static uint64_t row_bytes(sqlite3_stmt *row)
{
    int columns = sqlite3_column_count(row);
    uint64_t bytes =
        ROW_BYTES + (uint64_t)columns / 2; /* trailing NULL columns may not be stored */

    for (int i = 0; i < columns; i++) {
        int type = sqlite3_column_type(row, i);

        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            bytes += (uint64_t)sqlite3_column_bytes(row, i);
    }
    return bytes;
}

int lp_sqlite_step(struct lp_sqlite *file, struct sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);

    if (code == SQLITE_ROW)
        take(file, &file->bytes_left, row_bytes(statement));
    return file->exhausted ? SQLITE_CORRUPT : code;
}

int lp_sqlite_number(struct lp_sqlite *file, const char *sql, int *number_out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK && (code = lp_sqlite_step(file, statement)) == SQLITE_ROW)
        *number_out = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Views and virtual tables have no root page. A column with the name of the row id would hide
 * it. */
int lp_sqlite_has_table(struct lp_sqlite *file, const char *name, bool *has_out)
{
    static const char sql[] =
        "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1 COLLATE NOCASE AND rootpage>0"
        " AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1)"
        " WHERE hidden<>0 OR name='rowid' COLLATE NOCASE)";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = lp_sqlite_step(file, statement);
    sqlite3_finalize(statement);
    *has_out = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

const char *lp_sqlite_message(const struct lp_sqlite *file)
{
    return file->exhausted ? "SQLite read more than a file of this size can contain"
                           : sqlite3_errmsg(file->db);
}
