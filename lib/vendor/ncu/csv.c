/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in the output of ncu, between other output of ncu and the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/utf8.h"
#include "lib/record/paths.h"
#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/ncu/nvtx.h"
#include "lib/vendor/numbers.h"

#define COLUMN_NONE SIZE_MAX

/* Columns of page raw that are not metrics. */
enum ncu_column {
    NCU_ID,
    NCU_PROCESS,
    NCU_PUSH_POP,
    NCU_START_STOP,
    NCU_KERNEL,
    NCU_BLOCK,
    NCU_GRID,
    NCU_DEVICE,
    NCU_CC,
    NCU_SECTION,
    NCU_BODY,
    NCU_NAME,
    NCU_UNIT,
    NCU_VALUE,
    NCU_INVOCATIONS,
    NCU_MINIMUM,
    NCU_MAXIMUM,
    NCU_AVERAGE,
    NCU_COLUMNS
};

/* Prefixes: names of NVTX columns end with a list of their contents. */
static const struct {
    const char *start;
    bool whole;
    enum ncu_column column;
} roles[] = {
    { "ID", true, NCU_ID },
    { "Process ID", true, NCU_PROCESS },
    { "thread Domain:Push/Pop_Range", false, NCU_PUSH_POP },
    { "Id:Domain:Start/Stop_Range", false, NCU_START_STOP },
    { "Kernel Name", true, NCU_KERNEL },
    { "Block Size", true, NCU_BLOCK },
    { "Grid Size", true, NCU_GRID },
    { "Device", true, NCU_DEVICE },
    { "CC", true, NCU_CC },
    { "Section Name", true, NCU_SECTION },
    { "Body Item Label", true, NCU_BODY },
    { "Metric Name", true, NCU_NAME },
    { "Metric Unit", true, NCU_UNIT },
    { "Metric Value", true, NCU_VALUE },
    { "Invocations", true, NCU_INVOCATIONS },
    { "Minimum", true, NCU_MINIMUM },
    { "Maximum", true, NCU_MAXIMUM },
    { "Average", true, NCU_AVERAGE },
};

static const char *const ignored[] = { "Process Name", "Host Name", "Kernel Time", "Context",
                                       "Stream" };

/* The current table. */
struct table {
    struct lp_ncu *ncu;
    struct lp_csv *csv;
    size_t columns[NCU_COLUMNS]; /* column numbers; COLUMN_NONE: missing */
    size_t width;                /* columns in the header */
    bool quoted;
    bool app_range;                /* ranges were measured with application replay */
    LP_VECTOR(const char *) names; /* page raw: names of metrics by column; NULL: not a metric */
    LP_VECTOR(uint32_t) metrics;   /* page raw: by column */
    LP_VECTOR(char) key;           /* key of the previous result, to detect a new one */
    uint32_t target;
    bool again;
};

static bool has(const struct table *table, enum ncu_column column)
{
    return table->columns[column] != COLUMN_NONE;
}

static const struct lp_field *cell(const struct table *table, enum ncu_column column)
{
    return lp_csv_field(table->csv, table->columns[column]);
}

/* Headers */

bool lp_ncu_is_header(const char *line, size_t length)
{
    static const char *const starts[] = { "\"ID\",\"", "\"Process ID\",\"", "ID,Process ID,",
                                          "Process ID,Process Name," };

    for (size_t i = 0; i < LP_LENGTH(starts); i++)
        if (length > strlen(starts[i]) && memcmp(line, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static enum ncu_column role_of(const char *name)
{
    for (size_t i = 0; i < LP_LENGTH(roles); i++)
        if (roles[i].whole ? strcmp(name, roles[i].start) == 0
                           : strncmp(name, roles[i].start, strlen(roles[i].start)) == 0)
            return roles[i].column;
    return NCU_COLUMNS;
}

static bool is_ignored(const char *name)
{
    for (size_t i = 0; i < LP_LENGTH(ignored); i++)
        if (strcmp(name, ignored[i]) == 0)
            return true;
    return false;
}

/* With range replay the profiled range is the last in its cell, after the enclosing ones. With
 * application replay ranges inside it follow, so the first one counts. Such results have no columns
 * of single launches. */
static void look_for_app_range(struct table *table)
{
    bool launches = false, waves = false;

    for (size_t i = 0; i < table->names.count; i++) {
        const char *name = table->names.items[i];

        launches |= name && strncmp(name, "launch__", 8) == 0;
        waves |= name && strcmp(name, "launch__waves_per_multiprocessor") == 0;
    }
    table->app_range = launches && !waves;
}

static int read_header(struct table *table)
{
    const struct lp_field *fields = table->csv->fields.items;
    int status = 0;

    table->width = table->csv->fields.count;
    for (size_t i = 0; i < NCU_COLUMNS; i++)
        table->columns[i] = COLUMN_NONE;
    for (size_t i = 0; i < table->width && status == 0; i++) {
        enum ncu_column column = role_of(fields[i].text);
        const char *name = NULL;

        if (column != NCU_COLUMNS && !has(table, column))
            table->columns[column] = i;
        else if (!is_ignored(fields[i].text) && *fields[i].text &&
                 !(name = lp_strings_add(&table->ncu->pool, fields[i].text)))
            return lp_out_of_memory();
        status = lp_vector_push(&table->names, name);
    }
    look_for_app_range(table);
    return status;
}

/* Targets */

static int32_t device_of(const struct lp_field *field)
{
    double number;

    return lp_number_parse(field->text, field->length, &number) == LP_NUMBER_FINE && number >= 0 &&
                   number <= 65535
               ? (int32_t)number
               : -1;
}

static uint32_t process_of(const struct lp_field *field)
{
    double number;

    return lp_number_parse(field->text, field->length, &number) == LP_NUMBER_FINE && number > 0 &&
                   number < UINT32_MAX
               ? (uint32_t)number
               : 0;
}

/* Results of a range have no grid, and "range" as kernel name. */
static bool is_range(const struct table *table)
{
    return !has(table, NCU_GRID) && has(table, NCU_PUSH_POP) &&
           strcmp(cell(table, NCU_KERNEL)->text, "range") == 0;
}

static int note_gpu(struct lp_ncu *ncu, int32_t device, const char *cc)
{
    int major, minor;

    if (sscanf(cc, "%4d.%4d", &major, &minor) != 2)
        major = minor = 0;
    return lp_ncu_note_gpu(ncu, device, major, minor);
}

static int find_target(struct table *table)
{
    struct lp_ncu *ncu = table->ncu;
    bool range = is_range(table);
    size_t most = range && table->app_range ? 1 : SIZE_MAX;
    bool known = has(table, NCU_PUSH_POP) || has(table, NCU_START_STOP);
    const char *push_pop = cell(table, NCU_PUSH_POP)->text;
    int32_t device = device_of(cell(table, NCU_DEVICE));
    uint32_t node = LP_PATH_UNKNOWN;
    int status = 0;

    if (known)
        status = strchr(push_pop, '"') ? lp_ncu_path(push_pop, false, most, ncu->flags, &node)
                                       : lp_ncu_path(cell(table, NCU_START_STOP)->text, true, most,
                                                     ncu->flags, &node);
    if (status < 0 || (status = note_gpu(ncu, device, cell(table, NCU_CC)->text)) < 0)
        return status;
    table->target = lp_ncu_target(ncu, node, range ? NULL : cell(table, NCU_KERNEL)->text, device,
                                  process_of(cell(table, NCU_PROCESS)));
    return table->target == LP_HASHMAP_NONE ? lp_out_of_memory() : 0;
}

/* Columns that identify a result. */
static const enum ncu_column key_columns[] = { NCU_ID,   NCU_PROCESS, NCU_KERNEL, NCU_PUSH_POP,
                                               NCU_GRID, NCU_BLOCK,   NCU_DEVICE, NCU_START_STOP };

static bool is_same_result(const struct table *table)
{
    size_t at = 0;

    for (size_t i = 0; i < LP_LENGTH(key_columns); i++) {
        const struct lp_field *field = cell(table, key_columns[i]);

        if (table->key.count - at < field->length + 1 ||
            memcmp(table->key.items + at, field->text, field->length + 1) != 0)
            return false;
        at += field->length + 1;
    }
    return at == table->key.count;
}

static int keep_key(struct table *table)
{
    table->key.count = 0;
    for (size_t i = 0; i < LP_LENGTH(key_columns); i++) {
        const struct lp_field *field = cell(table, key_columns[i]);

        if (lp_vector_reserve(&table->key, field->length + 1) < 0)
            return LLMPERF_ENOMEM;
        memcpy(table->key.items + table->key.count, field->text, field->length + 1);
        table->key.count += field->length + 1;
    }
    return 0;
}

/* The row begins a result of this many launches. */
static int begin_result(struct table *table, uint64_t count)
{
    const struct lp_field *id = cell(table, has(table, NCU_ID) ? NCU_ID : NCU_GRID);
    int status;

    if ((status = keep_key(table)) < 0 || (status = find_target(table)) < 0)
        return status;
    return lp_ncu_result(table->ncu, table->target, lp_hash_text(id->text, id->length), count,
                         &table->again);
}

/* Page raw */

/* The row of units follows the header and has no id; some tables lack it. */
static int read_units(struct table *table)
{
    const struct lp_field *fields = table->csv->fields.items;
    bool units = table->csv->fields.count == table->width && cell(table, NCU_ID)->length == 0 &&
                 cell(table, NCU_KERNEL)->length == 0;

    for (size_t i = 0; i < table->width; i++) {
        uint32_t metric = LP_HASHMAP_NONE;

        if (table->names.items[i] &&
            (metric = lp_ncu_metric(table->ncu, table->names.items[i], units ? fields[i].text : "",
                                    NULL)) == LP_HASHMAP_NONE)
            return lp_out_of_memory();
        if (lp_vector_push(&table->metrics, metric) < 0)
            return LLMPERF_ENOMEM;
    }
    return units;
}

static int take_raw(struct table *table)
{
    struct lp_ncu *ncu = table->ncu;
    const struct lp_field *fields = table->csv->fields.items;
    struct lp_ncu_target *target;
    int status = begin_result(table, 1);

    if (status < 0)
        return status;
    target = &ncu->targets.items[table->target];
    if (target->raw_file == 0)
        target->raw_file = ncu->file;
    if (table->again &&
        target->raw_file != ncu->file) /* a repeated page, for example in other units */
        return 0;
    for (size_t i = 0; i < table->width && status == 0; i++) {
        struct lp_ncu_value *value;

        if (table->metrics.items[i] == LP_HASHMAP_NONE)
            continue;
        if (!(value = lp_ncu_value(ncu, table->target, table->metrics.items[i])))
            return ncu->left_out > 0 ? 0 : lp_out_of_memory();
        status = lp_ncu_put(ncu, value, &fields[i], table->again);
    }
    return status;
}

static int visit_raw(struct table *table)
{
    int units;

    if (table->metrics.count == 0) {
        if ((units = read_units(table)) != 0)
            return units < 0 ? units : 0;
    }
    if (table->csv->fields.count != table->width) {
        table->ncu->rows_cut++;
        return 0;
    }
    return take_raw(table);
}

/* Page details, and the summary */

static uint32_t metric_of_row(struct table *table)
{
    const char *section = cell(table, NCU_SECTION)->text, *body = cell(table, NCU_BODY)->text;
    char group[512];

    snprintf(group, sizeof(group), "%s%s%s", section, *body ? ": " : "", body);
    return lp_ncu_metric(table->ncu, cell(table, NCU_NAME)->text, cell(table, NCU_UNIT)->text,
                         *group ? group : NULL);
}

static int take_summary(struct table *table, struct lp_ncu_value *value, uint64_t count)
{
    static const enum ncu_column columns[] = { NCU_AVERAGE, NCU_MINIMUM, NCU_MAXIMUM };
    double numbers[LP_LENGTH(columns)];

    for (size_t i = 0; i < LP_LENGTH(columns); i++) {
        const struct lp_field *field = cell(table, columns[i]);

        if (lp_number_parse(field->text, field->length, &numbers[i]) != LP_NUMBER_FINE)
            return 0;
    }
    lp_ncu_put_summary(table->ncu, value, count, numbers);
    return 0;
}

static uint64_t invocations(const struct table *table)
{
    const struct lp_field *field = cell(table, NCU_INVOCATIONS);
    double number;

    return lp_number_parse(field->text, field->length, &number) == LP_NUMBER_FINE && number >= 1 &&
                   number < UINT32_MAX
               ? (uint64_t)number
               : 1;
}

/* Rows of rules have no metric; rows of metrics have no columns of rules. */
static int visit_details(struct table *table)
{
    size_t needed = table->columns[has(table, NCU_VALUE) ? NCU_VALUE : NCU_AVERAGE];
    bool summary = !has(table, NCU_VALUE);
    uint64_t count = summary ? invocations(table) : 1;
    struct lp_ncu_value *value;
    uint32_t metric;
    int status;

    if (table->csv->fields.count <= needed) {
        table->ncu->rows_cut++;
        return 0;
    }
    if (cell(table, NCU_NAME)->length == 0)
        return 0;
    if (!is_same_result(table) && (status = begin_result(table, count)) < 0)
        return status;
    if ((metric = metric_of_row(table)) == LP_HASHMAP_NONE)
        return lp_out_of_memory();
    if (!(value = lp_ncu_value(table->ncu, table->target, metric)))
        return table->ncu->left_out > 0 ? 0 : lp_out_of_memory();
    return summary ? take_summary(table, value, count)
                   : lp_ncu_put(table->ncu, value, cell(table, NCU_VALUE), table->again);
}

/* A table ends at a line that does not start with a quote, or at another header. */
static int ends_here(struct table *table)
{
    const char *line;
    size_t length;
    int status = lp_csv_peek(table->csv, &line, &length);

    if (status <= 0)
        return status < 0 ? status : 1;
    return length == 0 || (table->quoted ? line[0] != '"' : !memchr(line, ',', length)) ||
           lp_ncu_is_header(line, length);
}

static int read_rows(struct table *table)
{
    bool details = has(table, NCU_NAME) && (has(table, NCU_VALUE) || has(table, NCU_AVERAGE));
    int status;

    while ((status = ends_here(table)) == 0) {
        if ((status = lp_csv_record(table->csv)) <= 0)
            break;
        if (table->csv->cut) {
            table->ncu->rows_cut++;
            return 0;
        }
        if ((status = details ? visit_details(table) : visit_raw(table)) < 0)
            break;
    }
    return status < 0 ? status : 0;
}

static int read_table(struct lp_ncu *ncu, struct lp_csv *csv, bool quoted)
{
    struct table table = { .ncu = ncu, .csv = csv, .quoted = quoted };
    int status = lp_csv_record(csv);

    ncu->tables++;
    if (status > 0 && (status = read_header(&table)) == 0)
        status = read_rows(&table);
    lp_vector_clear(&table.names);
    lp_vector_clear(&table.metrics);
    lp_vector_clear(&table.key);
    return status;
}

/* Whole files */

static void note_line(struct lp_ncu *ncu, const char *line, size_t length)
{
    static const char error[] = "==ERROR== ", none[] = "==WARNING== No kernels were profiled";
    char text[sizeof(ncu->error)];
    bool is_error = length > strlen(error) && memcmp(line, error, strlen(error)) == 0;
    bool is_none = length >= strlen(none) && memcmp(line, none, strlen(none)) == 0;

    if ((!is_error && !is_none) || (*ncu->error && !is_error))
        return;
    snprintf(text, sizeof(text), "%.*s", (int)(length < 200 ? length : 200), line);
    lp_text_sanitise(ncu->error, sizeof(ncu->error), text);
}

static int read_tables(struct lp_ncu *ncu, struct lp_csv *csv)
{
    const char *line;
    size_t length;
    int status;

    while ((status = lp_csv_peek(csv, &line, &length)) > 0) {
        if (lp_ncu_is_header(line, length)) {
            status = read_table(ncu, csv, line[0] == '"');
        } else {
            note_line(ncu, line, length);
            status = lp_csv_skip(csv);
        }
        if (status < 0)
            return status;
    }
    return status;
}

int lp_ncu_is_raw(const char *path, bool *raw_out)
{
    struct lp_csv csv;
    const char *line;
    size_t length;
    int status = lp_csv_open(&csv, path);

    *raw_out = false;
    if (status < 0)
        return status;
    while ((status = lp_csv_peek(&csv, &line, &length)) > 0) {
        if (lp_ncu_is_header(line, length)) {
            *raw_out = !memmem(line, length, "Metric Name", strlen("Metric Name"));
            status = 0;
            break;
        }
        if ((status = lp_csv_skip(&csv)) < 0)
            break;
    }
    lp_csv_close(&csv);
    return status;
}

int lp_ncu_read(struct lp_ncu *ncu, const char *path)
{
    uint32_t tables = ncu->tables;
    struct lp_csv csv;
    int status;

    ncu->file++;
    *ncu->error = '\0';
    if ((status = lp_csv_open(&csv, path)) < 0)
        return status;
    status = read_tables(ncu, &csv);
    lp_csv_close(&csv);
    if (status < 0 || ncu->tables > tables)
        return status;
    return lp_error(LLMPERF_EFORMAT, "%s holds no ncu results%s%s", path,
                    *ncu->error ? ": " : "; ncu was killed, or no kernel was profiled", ncu->error);
}
