/* SPDX-License-Identifier: Apache-2.0 */
/* Finds tables in the output of nsys stats and identifies reports by their columns: names of
 * reports and columns changed between versions, their meaning did not. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/vendor/nsys/csv.h"
#include "lib/vendor/numbers.h"

#define NAME_BYTES 64

/* In lower case, without units. */
static const struct {
    const char *name;
    enum lp_nsys_column column;
} names[] = {
    { "total time", COLUMN_TOTAL },
    { "total", COLUMN_TOTAL },
    { "total range time", COLUMN_TOTAL },
    { "instances", COLUMN_COUNT },
    { "num calls", COLUMN_COUNT },
    { "calls", COLUMN_COUNT },
    { "count", COLUMN_COUNT },
    { "operations", COLUMN_COUNT },
    { "kern inst", COLUMN_COUNT },
    { "range instances", COLUMN_COUNT },
    { "avg", COLUMN_AVG },
    { "average", COLUMN_AVG },
    { "med", COLUMN_MED },
    { "median", COLUMN_MED },
    { "min", COLUMN_MIN },
    { "minimum", COLUMN_MIN },
    { "max", COLUMN_MAX },
    { "maximum", COLUMN_MAX },
    { "stddev", COLUMN_STD },
    { "name", COLUMN_NAME },
    { "api function", COLUMN_NAME },
    { "range", COLUMN_RANGE },
    { "nvtx range", COLUMN_RANGE },
    { "style", COLUMN_STYLE },
    { "operation", COLUMN_OPERATION },
    { "kernel name", COLUMN_KERNEL },
    { "start", COLUMN_START },
    { "api start", COLUMN_START },
    { "orig start", COLUMN_START },
    { "end", COLUMN_END },
    { "duration", COLUMN_DURATION },
    { "api dur", COLUMN_DURATION },
    { "orig duration", COLUMN_DURATION },
    { "corrid", COLUMN_CORRELATION },
    { "bytes", COLUMN_BYTES },
    { "device", COLUMN_DEVICE },
    { "devid", COLUMN_DEVICE },
    { "strm", COLUMN_STREAM },
    { "pid", COLUMN_PID },
    { "tid", COLUMN_TID },
    { "result", COLUMN_RESULT },
    { "lvl", COLUMN_LEVEL },
    { "total proj time", COLUMN_PROJECTED },
    { "projected start", COLUMN_PROJECTED },
    { "proj avg", COLUMN_PROJECTED_AVG },
    { "proj min", COLUMN_PROJECTED_MIN },
    { "proj max", COLUMN_PROJECTED_MAX },
    { "proj stddev", COLUMN_PROJECTED_STD },
    { "kernel start", COLUMN_KERNEL_START },
    { "kernel dur", COLUMN_KERNEL_DURATION },
};

/* The first rule whose columns are all present. The order matters: a projection trace has all
 * columns of a range trace. */
static const struct {
    enum lp_nsys_report report;
    enum lp_nsys_column needs[5];
    size_t count;
} rules[] = {
    { REPORT_LAUNCH_TRACE,
      { COLUMN_START, COLUMN_DURATION, COLUMN_KERNEL_START, COLUMN_KERNEL_DURATION, COLUMN_PID },
      5 },
    { REPORT_PROJECTION_TRACE,
      { COLUMN_PROJECTED, COLUMN_START, COLUMN_DURATION, COLUMN_NAME, COLUMN_TID },
      5 },
    { REPORT_RANGE_TRACE, { COLUMN_START, COLUMN_END, COLUMN_NAME, COLUMN_PID, COLUMN_TID }, 5 },
    { REPORT_CALL_TRACE,
      { COLUMN_START, COLUMN_DURATION, COLUMN_CORRELATION, COLUMN_PID, COLUMN_TID },
      5 },
    { REPORT_DEVICE_TRACE,
      { COLUMN_START, COLUMN_DURATION, COLUMN_CORRELATION, COLUMN_DEVICE, COLUMN_NAME },
      5 },
    { REPORT_RANGE_KERNEL_SUM, { COLUMN_RANGE, COLUMN_KERNEL, COLUMN_TOTAL, COLUMN_COUNT }, 4 },
    { REPORT_PROJECTION_SUM, { COLUMN_RANGE, COLUMN_PROJECTED, COLUMN_TOTAL, COLUMN_COUNT }, 4 },
    { REPORT_RANGE_SUM, { COLUMN_RANGE, COLUMN_TOTAL, COLUMN_COUNT }, 3 },
    { REPORT_MEMORY_TIME, { COLUMN_OPERATION, COLUMN_TOTAL, COLUMN_COUNT }, 3 },
    { REPORT_KERNEL_SUM, { COLUMN_NAME, COLUMN_TOTAL, COLUMN_COUNT }, 3 },
};

/* "Total Time (ns)" -> "total time" and "ns"; "Time(%)" -> "time" and "%". */
static void split_header(const char *text, char name[NAME_BYTES], char unit[NAME_BYTES])
{
    const char *open = strrchr(text, '('), *close = open ? strchr(open, ')') : NULL;
    size_t length = open && close ? (size_t)(open - text) : strlen(text), used = 0;

    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    for (size_t i = 0; i < length && used + 1 < NAME_BYTES; i++)
        name[used++] = (char)tolower((unsigned char)text[i]);
    name[used] = '\0';
    unit[0] = '\0';
    if (open && close && (size_t)(close - open) < NAME_BYTES)
        snprintf(unit, NAME_BYTES, "%.*s", (int)(close - open - 1), open + 1);
}

/* Units from the header; times without unit are ns. */
static double factor_of(const char *unit)
{
    double factor;

    lp_unit_base(unit, &factor);
    return factor;
}

static bool has(const struct lp_nsys_table *table, enum lp_nsys_column column)
{
    return table->columns[column] != SIZE_MAX;
}

static enum lp_nsys_report find_report(const struct lp_nsys_table *table, bool in_bytes)
{
    for (size_t i = 0; i < LP_LENGTH(rules); i++) {
        size_t found = 0;

        while (found < rules[i].count && has(table, rules[i].needs[found]))
            found++;
        if (found == rules[i].count)
            return rules[i].report == REPORT_MEMORY_TIME && in_bytes ? REPORT_MEMORY_SIZE
                                                                     : rules[i].report;
    }
    return REPORT_NONE;
}

/* Tables of kernels have a column "instances", those of calls a column "calls"; otherwise they are
 * alike. */
static bool counts_calls(const struct lp_csv *csv, const struct lp_nsys_table *table)
{
    char name[NAME_BYTES], unit[NAME_BYTES];

    split_header(csv->fields.items[table->columns[COLUMN_COUNT]].text, name, unit);
    return strcmp(name, "num calls") == 0 || strcmp(name, "calls") == 0;
}

static void read_header(struct lp_csv *csv, struct lp_nsys_table *table)
{
    bool in_bytes = false;

    *table = (struct lp_nsys_table){ .csv = csv, .width = csv->fields.count };
    for (size_t i = 0; i < COLUMN_COUNT_OF_COLUMNS; i++)
        table->columns[i] = SIZE_MAX;
    for (size_t i = 0; i < csv->fields.count; i++) {
        char name[NAME_BYTES], unit[NAME_BYTES];

        split_header(csv->fields.items[i].text, name, unit);
        for (size_t k = 0; k < LP_LENGTH(names); k++) {
            if (strcmp(names[k].name, name) != 0 || has(table, names[k].column))
                continue;
            table->columns[names[k].column] = i;
            table->factors[names[k].column] = factor_of(unit);
            in_bytes |= names[k].column == COLUMN_TOTAL && strstr(unit, "B");
        }
    }
    table->report = find_report(table, in_bytes);
    if (table->report == REPORT_KERNEL_SUM && counts_calls(csv, table))
        table->report = REPORT_CALL_SUM;
}

bool lp_nsys_csv_is_header(const char *line, size_t length)
{
    static const char *const starts[] = {
        "Time (%),", "Time(%),",       "Total (",   "Start (",      "Start(",    "NVTX Range,",
        "Range,",    "Name,Projected", "API Start", "\"Time (%)\"", "\"Start (",
    };

    for (size_t i = 0; i < LP_LENGTH(starts); i++)
        if (length > strlen(starts[i]) && memcmp(line, starts[i], strlen(starts[i])) == 0)
            return memchr(line, ',', length) != NULL;
    return false;
}

/* A table ends at an empty line, at the next title, or at a line that is not a row. */
static int ends_here(struct lp_csv *csv)
{
    const char *line;
    size_t length;
    int status = lp_csv_peek(csv, &line, &length);

    if (status <= 0)
        return status < 0 ? status : 1;
    return length < 3 || line[0] == ' ' || !memchr(line, ',', length) ||
           lp_nsys_csv_is_header(line, length);
}

static int read_table(struct lp_nsys_csv *reader, struct lp_csv *csv)
{
    struct lp_nsys_table table;
    int status = lp_csv_record(csv);

    if (status <= 0)
        return status;
    read_header(csv, &table);
    reader->tables += table.report != REPORT_NONE;
    while ((status = ends_here(csv)) == 0) {
        if ((status = lp_csv_record(csv)) <= 0)
            break;
        if (csv->cut || csv->fields.count != table.width)
            reader->rows_cut++;
        else if ((status = lp_nsys_csv_row(reader, &table)) < 0)
            break;
    }
    return status < 0 ? status : 0;
}

/* Tables with aligned columns and a line of dashes. */
static bool is_ruler(const char *line, size_t length)
{
    size_t dashes = 0;

    for (size_t i = 0; i < length; i++) {
        if (line[i] != '-' && line[i] != ' ')
            return false;
        dashes += line[i] == '-';
    }
    return dashes > 20;
}

static int read_tables(struct lp_nsys_csv *reader, struct lp_csv *csv, bool *ruler_out)
{
    const char *line;
    size_t length;
    int status;

    *ruler_out = false;
    while ((status = lp_csv_peek(csv, &line, &length)) > 0) {
        if (lp_nsys_csv_is_header(line, length)) {
            status = read_table(reader, csv);
        } else {
            *ruler_out |= is_ruler(line, length);
            reader->skipped += length > 8 && memcmp(line, "SKIPPED:", 8) == 0;
            status = lp_csv_skip(csv);
        }
        if (status < 0)
            return status;
    }
    return status;
}

int lp_nsys_csv_read(struct lp_nsys_csv *reader, const char *path)
{
    uint32_t tables = reader->tables;
    struct lp_csv csv;
    bool ruler;
    int status;

    if ((status = lp_csv_open(&csv, path)) < 0)
        return status;
    status = read_tables(reader, &csv, &ruler);
    lp_csv_close(&csv);
    if (status < 0 || reader->tables > tables)
        return status;
    if (ruler)
        return lp_error(LLMPERF_EFORMAT,
                        "%s is a formatted table, not CSV; create it with nsys stats --format csv",
                        path);
    return lp_error(LLMPERF_EFORMAT, "%s holds no nsys stats table%s", path,
                    reader->skipped ? ": the export has no data for this report" : "");
}
