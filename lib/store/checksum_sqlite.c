/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <sqlite3.h>

#include "lib/base/sqlite_file.h"
#include "lib/base/status.h"
#include "lib/base/varint.h"
#include "lib/store/checksum.h"

/* Checksums cover values, not pages, so VACUUM or dump and restore do not change them. */

/* Append the type and the value, or its size. */
static void add_word(struct lp_text *bytes, int type, uint64_t word)
{
    char tagged[1 + sizeof(word)] = { (char)type };

    for (size_t i = 0; i < sizeof(word); i++)
        tagged[1 + i] = (char)(word >> (8 * i)); /* little endian on every machine */
    lp_text_add(bytes, tagged, sizeof(tagged));
}

static void add_sized(struct lp_text *bytes, int type, const void *value, int size)
{
    add_word(bytes, type, (uint64_t)size);
    if (size > 0)
        lp_text_add(bytes, value, (size_t)size);
}

static void add_value(struct lp_text *bytes, sqlite3_stmt *row, int at)
{
    int type = sqlite3_column_type(row, at);
    const void *value;
    double number;
    uint64_t word = 0;

    switch (type) {
    case SQLITE_INTEGER:
        word = (uint64_t)sqlite3_column_int64(row, at);
        break;
    case SQLITE_FLOAT:
        number = sqlite3_column_double(row, at);
        memcpy(&word, &number, sizeof(word));
        break;
    case SQLITE_TEXT: /* converts to UTF-8, so it comes before the size */
        value = sqlite3_column_text(row, at);
        add_sized(bytes, type, value, value ? sqlite3_column_bytes(row, at) : 0);
        return;
    case SQLITE_BLOB:
        value = sqlite3_column_blob(row, at);
        add_sized(bytes, type, value, value ? sqlite3_column_bytes(row, at) : 0);
        return;
    default:
        break;
    }
    add_word(bytes, type, word);
}

/* Includes the checksum of the rows before, so a changed order is found. */
int lp_store_sum_row(struct lp_store_sum *sum, struct sqlite3_stmt *row)
{
    sum->bytes.length = 0;
    add_word(&sum->bytes, 0, sum->crc);
    for (int i = 0; i < sqlite3_column_count(row); i++)
        add_value(&sum->bytes, row, i);
    if (sum->bytes.failed)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    sum->crc = lp_crc32c(sum->bytes.bytes, sum->bytes.length);
    return 0;
}

static int sum_table(sqlite3 *db, const char *sql, uint32_t *crc_out)
{
    struct lp_store_sum sum = { 0 };
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        code = lp_store_sum_row(&sum, row) < 0 ? SQLITE_NOMEM : SQLITE_OK;
    sqlite3_finalize(row);
    lp_text_clear(&sum.bytes);
    *crc_out = sum.crc;
    return code;
}

static int keep_checksum(sqlite3 *db, const struct lp_row_kind *kind)
{
    struct lp_text sql = { NULL, 0, 0, false };
    uint32_t crc = 0;
    int code;

    lp_store_sql_select(&sql, kind);
    code = sql.failed ? SQLITE_NOMEM : sum_table(db, sql.bytes, &crc);
    sql.length = 0;
    lp_text_printf(&sql, "INSERT INTO checksum(of_table, crc32c) VALUES('%s', %u)", kind->table,
                   crc);
    if (code == SQLITE_DONE)
        code = sql.failed ? SQLITE_NOMEM : sqlite3_exec(db, sql.bytes, NULL, NULL, NULL);
    lp_text_clear(&sql);
    return code;
}

int lp_store_keep_checksums(struct sqlite3 *db)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < LP_ROW_KINDS && code == SQLITE_OK; i++)
        if (lp_row_kinds[i].table)
            code = keep_checksum(db, &lp_row_kinds[i]);
    return code;
}

static void take_checksum(struct lp_store_checksums *kept, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);

    kept->any = true;
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        if (name && lp_row_kinds[i].table && strcmp(lp_row_kinds[i].table, name) == 0 &&
            sqlite3_column_type(row, 1) == SQLITE_INTEGER)
            kept->crc[i] = sqlite3_column_int64(row, 1);
}

int lp_store_read_checksums(struct lp_sqlite *file, struct lp_store_checksums *kept_out)
{
    sqlite3_stmt *row = NULL;
    int code =
        sqlite3_prepare_v2(file->db, "SELECT of_table, crc32c FROM checksum", -1, &row, NULL);

    kept_out->any = false;
    for (size_t i = 0; i < LP_ROW_KINDS; i++)
        kept_out->crc[i] = -1;
    while (code == SQLITE_OK && (code = lp_sqlite_step(file, row)) == SQLITE_ROW) {
        take_checksum(kept_out, row);
        code = SQLITE_OK;
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
