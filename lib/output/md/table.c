/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/md/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/output/format/markdown.h"

struct rows {
    LP_VECTOR(const void *) items; /* that are shown */
    size_t left;
};

static void add_word(struct lp_text *out, const struct lp_column *column, const char *text)
{
    if (!text)
        lp_text_puts(out, LP_MD_UNKNOWN);
    else if (column->kind == LP_CELL_TEXT)
        lp_md_text(out, text);
    else
        lp_md_code(out, text);
}

static void add_count(struct lp_text *out, uint64_t count, double factor)
{
    if (count == LLMPERF_UNKNOWN || (factor >= 1 && factor <= 1))
        lp_md_count(out, count);
    else
        lp_md_number(out, (double)count * factor);
}

static double divisor_of(const struct lp_column *column, const void *row)
{
    const void *member = (const char *)row + column->per;

    return column->per_kind == LP_CELL_COUNT ? (double)*(const uint64_t *)member
                                             : *(const double *)member;
}

/* A number with its interval. */
static void add_sampled(const struct lp_column *column, const double *member, const void *row,
                        struct lp_text *out)
{
    const struct lp_interval *error = (const void *)((const char *)row + column->per);
    double value = column->factor * *member;
    struct lp_interval limits = { member[1], member[2] };

    if (column->kind != LP_CELL_ESTIMATE)
        limits = column->kind == LP_CELL_TIME ? lp_interval_of(value, *error)
                                              : lp_interval_of_rate(value, *error);
    lp_md_interval(out, value, limits, 4);
}

static void add_value(const struct lp_findings *findings, const struct lp_column *column,
                      const void *row, struct lp_text *out)
{
    const void *member = (const char *)row + column->offset;

    switch (column->kind) {
    case LP_CELL_NUMBER:
        lp_md_number(out, column->factor * *(const double *)member);
        break;
    case LP_CELL_DURATION:
        lp_md_time(out, *(const double *)member);
        break;
    case LP_CELL_RATIO:
        lp_md_number(out, column->factor * *(const double *)member / divisor_of(column, row));
        break;
    case LP_CELL_TIME:
    case LP_CELL_RATE:
    case LP_CELL_ESTIMATE:
        add_sampled(column, member, row, out);
        break;
    case LP_CELL_COUNT:
        add_count(out, *(const uint64_t *)member, column->factor);
        break;
    case LP_CELL_WORD:
        lp_md_count(out, *(const uint32_t *)member);
        break;
    case LP_CELL_DEVICE:
        lp_md_count(out, *(const int32_t *)member < 0 ? LLMPERF_UNKNOWN
                                                      : (uint64_t) * (const int32_t *)member);
        break;
    case LP_CELL_SHOWN:
    case LP_CELL_WORDS:
        column->show(findings, row, out);
        break;
    case LP_CELL_REGION:
        lp_show_region(
            findings, *(const char *const *)member,
            column->per ? *(const uint32_t *)(const void *)((const char *)row + column->per) : 0,
            out);
        break;
    default:
        add_word(out, column, *(const char *const *)member);
    }
}

static bool is_unknown(const struct lp_findings *findings, const struct lp_column *column,
                       const struct rows *rows, struct lp_text *out)
{
    struct lp_text cell = { NULL, 0, 0, false };
    bool unknown = true;

    for (size_t i = 0; unknown && i < rows->items.count; i++) {
        lp_text_clear(&cell);
        /* Not at the start of a line, where some characters are escaped. */
        lp_text_puts(&cell, "|");
        add_value(findings, column, rows->items.items[i], &cell);
        unknown = cell.bytes && strcmp(cell.bytes, "|" LP_MD_UNKNOWN) == 0;
        out->failed |= cell.failed;
    }
    lp_text_clear(&cell);
    return unknown;
}

static void add_head(const struct lp_column *const *columns, size_t count, struct lp_text *out)
{
    lp_text_puts(out, "|");
    for (size_t i = 0; i < count; i++)
        lp_text_printf(out, " %s |", columns[i]->title);
    lp_text_puts(out, "\n|");
    for (size_t i = 0; i < count; i++)
        lp_text_puts(out, columns[i]->kind >= LP_CELL_TEXT && columns[i]->kind != LP_CELL_SHOWN
                              ? " --- |"
                              : " ---: |");
    lp_text_puts(out, "\n");
}

static int choose_rows(const struct lp_findings *findings, const struct lp_table *table,
                       struct rows *rows)
{
    for (size_t i = 0; i < table->row_count; i++) {
        const void *row = table->row_size > 0 ? (const char *)table->rows + i * table->row_size
                                              : ((const void *const *)table->rows)[i];

        if (table->has && !table->has(findings, row))
            continue;
        if (table->limit > 0 && rows->items.count == table->limit)
            rows->left++;
        else if (lp_vector_push(&rows->items, row) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

#define COLUMNS_MOST 24

static void add_table(const struct lp_findings *findings, const struct lp_table *table,
                      const struct rows *rows, struct lp_text *out)
{
    const struct lp_column *columns[COLUMNS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < table->column_count && count < COLUMNS_MOST; i++)
        if (!is_unknown(findings, &table->columns[i], rows, out))
            columns[count++] = &table->columns[i];
    add_head(columns, count, out);
    for (size_t i = 0; i < rows->items.count; i++) {
        lp_text_puts(out, "|");
        for (size_t k = 0; k < count; k++) {
            lp_text_puts(out, " ");
            add_value(findings, columns[k], rows->items.items[i], out);
            lp_text_puts(out, " |");
        }
        lp_text_puts(out, "\n");
    }
    if (rows->left > 0)
        lp_text_printf(out, "\n%zu more in %s.\n", rows->left, table->all_in);
}

void lp_table_add(const struct lp_findings *findings, const struct lp_table *table,
                  struct lp_text *out)
{
    struct rows rows = { .items = { NULL, 0, 0 } };

    if (choose_rows(findings, table, &rows) < 0)
        out->failed = true;
    else if (rows.items.count > 0)
        add_table(findings, table, &rows, out);
    lp_vector_clear(&rows.items);
}

void lp_md_time(struct lp_text *out, double ms)
{
    if (isnan(ms))
        lp_text_puts(out, LP_MD_UNKNOWN);
    else
        lp_text_printf(out, ms >= 1000 ? "%s s" : "%s ms",
                       LP_NUMBER(ms >= 1000 ? ms / 1000 : ms, 3));
}

void lp_md_warm_up(struct lp_text *out, const struct lp_region_finding *region)
{
    if (region->warm_up_calls == 0)
        return;
    lp_text_puts(out, " after warm-up (");
    if (region->warm_up_calls == 1)
        lp_text_puts(out, "first call ");
    else
        lp_text_printf(out, "calls 1 to %" PRIu64 ": ", region->warm_up_calls);
    lp_md_time(out, region->warm_up_ms);
    lp_text_puts(out, ")");
}

void lp_pair_head(struct lp_text *out)
{
    lp_text_puts(out, "| | |\n| --- | --- |\n");
}

void lp_pair_text(struct lp_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    lp_text_puts(out, "|");
    lp_md_cell_text(out, name);
    lp_md_cell_text(out, value);
    lp_text_puts(out, "\n");
}

void lp_pair_number(struct lp_text *out, const char *name, double value)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_number(out, value);
    lp_text_puts(out, "\n");
}

void lp_pair_count(struct lp_text *out, const char *name, uint64_t value)
{
    lp_text_printf(out, "| %s |", name);
    lp_md_cell_count(out, value);
    lp_text_puts(out, "\n");
}

void lp_show_region(const struct lp_findings *findings, const char *path, uint32_t process_id,
                    struct lp_text *out)
{
    uint32_t process = lp_shown_process(findings->profile, process_id);

    if (!path || !*path) {
        lp_text_puts(out, path ? "(no region)" : "(unknown launch)");
        return;
    }
    lp_md_code(out, path);
    if (process > 0)
        lp_text_printf(out, " of process %" PRIu32, process);
}

void lp_show_bound(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_utilisation *use = &((const struct lp_region_finding *)row)->use;

    (void)findings;
    lp_md_text(out, llmperf_name(LLMPERF_NAME_BOUND, use->bound));
}
