/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/store/columns.h"

/* GROUP and WINDOW are SQL keywords; id is that of the row. */
const char *lp_store_column_name(const struct lp_row_field *field)
{
    if (strcmp(field->name, "id") == 0)
        return "request_id";
    if (strcmp(field->name, "group") == 0)
        return "metric_group";
    return strcmp(field->name, "window") == 0 ? "deep_window" : field->name;
}

size_t lp_store_column_count(const struct lp_row_kind *kind)
{
    size_t count = kind->count;

    while (count > 0 && kind->fields[count - 1].merge == LP_MERGE_LATER)
        count--;
    return count;
}

/* Problems and notes are keyed by their position; other rows may move. */
const char *lp_store_id_name(const struct lp_row_kind *kind)
{
    return kind == &lp_row_kinds[LP_ROW_PROBLEM] || kind == &lp_row_kinds[LP_ROW_NOTE] ? "position"
                                                                                       : "id";
}

void lp_store_sql_create(struct lp_text *sql, const struct lp_row_kind *kind)
{
    static const char *const types[] = {
        [LP_FIELD_NAME] = "TEXT NOT NULL", [LP_FIELD_TEXT] = "TEXT",
        [LP_FIELD_WORD] = "INTEGER",       [LP_FIELD_DEVICE] = "INTEGER",
        [LP_FIELD_COUNT] = "INTEGER",      [LP_FIELD_NUMBER] = "REAL",
        [LP_FIELD_BLOB] = "BLOB",
    };

    lp_text_printf(sql, "CREATE TABLE %s(%s INTEGER PRIMARY KEY", kind->table,
                   lp_store_id_name(kind));
    for (size_t i = 0; i < lp_store_column_count(kind); i++)
        lp_text_printf(sql, ", %s %s", lp_store_column_name(&kind->fields[i]),
                       types[kind->fields[i].type]);
    lp_text_puts(sql, ");");
}

void lp_store_sql_put(struct lp_text *sql, const struct lp_row_kind *kind)
{
    lp_text_printf(sql, "INSERT OR REPLACE INTO %s(%s", kind->table, lp_store_id_name(kind));
    for (size_t i = 0; i < lp_store_column_count(kind); i++)
        lp_text_printf(sql, ", %s", lp_store_column_name(&kind->fields[i]));
    lp_text_puts(sql, ") VALUES(?");
    for (size_t i = 0; i < lp_store_column_count(kind); i++)
        lp_text_puts(sql, ", ?");
    lp_text_puts(sql, ")");
}

void lp_store_sql_drop(struct lp_text *sql, const struct lp_row_kind *kind)
{
    lp_text_printf(sql, "DELETE FROM %s WHERE %s=?", kind->table, lp_store_id_name(kind));
}

void lp_store_sql_select(struct lp_text *sql, const struct lp_row_kind *kind)
{
    for (size_t i = 0; i < lp_store_column_count(kind); i++)
        lp_text_printf(sql, "%s %s", i ? "," : "SELECT", lp_store_column_name(&kind->fields[i]));
    /* The id is the rowid, so no sorting is needed, whatever the file holds. */
    lp_text_printf(sql, " FROM %s NOT INDEXED ORDER BY rowid", kind->table);
}
