/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of nsys stats. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/vendor/nsys/csv.h"
#include "lib/vendor/numbers.h"
#include "llmperf/profile.h"

#define TIME_MOST 9.2e18 /* ns, as int64_t */

static const struct lp_field *cell(const struct lp_nsys_table *table, enum lp_nsys_column column)
{
    return lp_csv_field(table->csv, table->columns[column]);
}

/* A number in ns or bytes; NaN: none. */
static double number(const struct lp_nsys_table *table, enum lp_nsys_column column)
{
    const struct lp_field *field = cell(table, column);
    double value;

    if (lp_number_parse_decimal_comma(field->text, field->length, &value) != LP_NUMBER_FINE)
        return NAN;
    return value * table->factors[column];
}

/* Whole numbers: ids and counts. */
static uint64_t whole(const struct lp_nsys_table *table, enum lp_nsys_column column)
{
    double value = number(table, column);

    return value > 0 && value < TIME_MOST ? (uint64_t)(value + 0.5) : 0;
}

static bool time_of(const struct lp_nsys_table *table, enum lp_nsys_column column,
                    int64_t *time_out)
{
    double value = number(table, column);

    if (!(fabs(value) < TIME_MOST))
        return false;
    *time_out = (int64_t)llround(value);
    return true;
}

/* Start, and duration or end. */
static bool span_of(const struct lp_nsys_table *table, enum lp_nsys_column start,
                    enum lp_nsys_column duration, int64_t *start_out, int64_t *end_out)
{
    int64_t length;

    if (!time_of(table, start, start_out))
        return false;
    if (duration == COLUMN_END)
        return time_of(table, duration, end_out);
    if (!time_of(table, duration, &length) || length < 0 ||
        __builtin_add_overflow(*start_out, length, end_out))
        return false;
    return true;
}

static uint64_t thread_of(const struct lp_nsys_table *table)
{
    return (whole(table, COLUMN_PID) & 0xffffff) << 24 | (whole(table, COLUMN_TID) & 0xffffff);
}

/* ":name" is in the default domain, "Domain:name" in another one. Older versions print the bare
 * name; then "aten::mm" has no domain. */
static int label_of(struct lp_nsys_csv *reader, const char *text, struct lp_text *label)
{
    const char *colon = strchr(text, ':');
    char domain[256];

    label->length = 0;
    if (!colon || colon[1] == ':' || colon - text >= (ptrdiff_t)sizeof(domain)) {
        lp_range_label(label, NULL, text, reader->flags);
    } else if (colon == text) {
        lp_range_label(label, NULL, text + 1, reader->flags);
    } else {
        snprintf(domain, sizeof(domain), "%.*s", (int)(colon - text), text);
        lp_range_label(label, domain, colon + 1, reader->flags);
    }
    return label->failed ? lp_out_of_memory() : 0;
}

static int find_label(struct lp_nsys_csv *reader, const struct lp_field *field, uint32_t *label_out)
{
    struct lp_text label = { NULL, 0, 0, false };
    int status = label_of(reader, field->text, &label);

    if (status == 0 &&
        (*label_out = lp_names_intern(&reader->timeline.labels, label.bytes)) == LP_HASHMAP_NONE)
        status = LLMPERF_ENOMEM;
    lp_text_clear(&label);
    return status;
}

/* Traces */

static int take_span(struct lp_nsys_csv *reader, const struct lp_nsys_table *table, bool projected)
{
    struct lp_span span = { .thread = thread_of(table) };
    int status;

    if (!span_of(table, COLUMN_START, projected ? COLUMN_DURATION : COLUMN_END, &span.start,
                 &span.end)) {
        reader->rows_cut++;
        return 0;
    }
    if ((status = find_label(reader, cell(table, COLUMN_NAME), &span.label)) < 0)
        return status;
    return projected ? lp_vector_push(&reader->projected_spans, span)
                     : lp_vector_push(&reader->timeline.spans, span);
}

/* "[CUDA memcpy Host-to-Device]", in older versions "[CUDA memcpy HtoD]"; "[CUDA memset]". */
static uint8_t kind_of(const char *name, const char **name_out)
{
    static const char *const copies[][2] = {
        { "HtoD", "[memcpy HtoD]" }, { "Host-to-Device", "[memcpy HtoD]" },
        { "DtoH", "[memcpy DtoH]" }, { "Device-to-Host", "[memcpy DtoH]" },
        { "DtoD", "[memcpy DtoD]" }, { "Device-to-Device", "[memcpy DtoD]" },
        { "HtoH", "[memcpy HtoH]" }, { "Host-to-Host", "[memcpy HtoH]" },
        { "PtoP", "[memcpy PtoP]" }, { "Peer-to-Peer", "[memcpy PtoP]" },
    };

    *name_out = name;
    if (strncmp(name, "[CUDA memset", 12) == 0) {
        *name_out = "[memset]";
        return LLMPERF_ACTIVITY_MEMSET;
    }
    if (strncmp(name, "[CUDA memcpy", 12) != 0 && strncmp(name, "[CUDA Unified", 13) != 0)
        return LLMPERF_ACTIVITY_KERNEL;
    *name_out = "[memcpy]";
    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
        if (strstr(name, copies[i][0]))
            *name_out = copies[i][1];
    return LLMPERF_ACTIVITY_MEMCPY;
}

/* "NVIDIA Thor (0)", or the number alone. */
static bool device_of(const struct lp_field *field, uint16_t *device_out)
{
    const char *open = strrchr(field->text, '('), *close = open ? strchr(open, ')') : NULL;
    const char *digits = open ? open + 1 : field->text;
    size_t length = open && close ? (size_t)(close - digits) : strlen(digits);
    double value;

    if (lp_number_parse(digits, length, &value) != LP_NUMBER_FINE || value < 0 ||
        value > UINT16_MAX)
        return false;
    *device_out = (uint16_t)value;
    return true;
}

static int take_op(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    struct lp_op op = { .correlation = (uint32_t)whole(table, COLUMN_CORRELATION),
                        .bytes = whole(table, COLUMN_BYTES),
                        .stream = (uint32_t)whole(table, COLUMN_STREAM) };
    const char *name;

    op.kind = kind_of(cell(table, COLUMN_NAME)->text, &name);
    if (!span_of(table, COLUMN_START, COLUMN_DURATION, &op.start, &op.end) ||
        !device_of(cell(table, COLUMN_DEVICE), &op.device)) {
        reader->rows_cut++;
        return 0;
    }
    if ((op.name = lp_names_intern(&reader->timeline.names, name)) == LP_HASHMAP_NONE)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&reader->timeline.ops, op);
}

static int take_call(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    struct lp_host_call call = { .thread = thread_of(table),
                                 .correlation = (uint32_t)whole(table, COLUMN_CORRELATION),
                                 .kind = lp_nsys_call_kind(cell(table, COLUMN_NAME)->text),
                                 .failed = whole(table, COLUMN_RESULT) != 0 };

    if (!span_of(table, COLUMN_START, COLUMN_DURATION, &call.start, &call.end)) {
        reader->rows_cut++;
        return 0;
    }
    return lp_vector_push(&reader->calls, call);
}

/* A launch and its kernel are in one row; the row number serves as correlation id. */
static int take_launch(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    struct lp_host_call call = { .thread = thread_of(table),
                                 .correlation = (uint32_t)reader->launches.count + 1,
                                 .kind = LP_CALL_KERNEL };
    struct lp_op op = { .correlation = call.correlation, .kind = LLMPERF_ACTIVITY_KERNEL };
    int status;

    if (!span_of(table, COLUMN_START, COLUMN_DURATION, &call.start, &call.end) ||
        !span_of(table, COLUMN_KERNEL_START, COLUMN_KERNEL_DURATION, &op.start, &op.end) ||
        !device_of(cell(table, COLUMN_DEVICE), &op.device)) {
        reader->rows_cut++;
        return 0;
    }
    op.process = call.thread & LP_THREAD_PROCESS;
    if ((op.name = lp_names_intern(&reader->timeline.names, cell(table, COLUMN_KERNEL)->text)) ==
        LP_HASHMAP_NONE)
        return LLMPERF_ENOMEM;
    if ((status = lp_vector_push(&reader->launches, op)) < 0)
        return status;
    return lp_vector_push(&reader->launch_calls, call);
}

/* Summaries */

static struct lp_nsys_sum read_sum(const struct lp_nsys_csv *reader,
                                   const struct lp_nsys_table *table, uint32_t name)
{
    return (struct lp_nsys_sum){ .name = name,
                                 .count = whole(table, COLUMN_COUNT),
                                 .total = number(table, COLUMN_TOTAL),
                                 .avg = number(table, COLUMN_AVG),
                                 .med = number(table, COLUMN_MED),
                                 .min = number(table, COLUMN_MIN),
                                 .max = number(table, COLUMN_MAX),
                                 .std = number(table, COLUMN_STD),
                                 .table = reader->tables };
}

static int take_kernel_sum(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    uint32_t name = lp_names_intern(&reader->names, cell(table, COLUMN_NAME)->text);
    struct lp_nsys_sum sum = read_sum(reader, table, name);

    if (name == LP_HASHMAP_NONE)
        return LLMPERF_ENOMEM;
    if (sum.count == 0 || isnan(sum.total)) {
        reader->rows_cut++;
        return 0;
    }
    sum.has_time = true;
    return lp_vector_push(&reader->kernels, sum);
}

/* Times and sizes of memory copies are in two reports, which are merged here. */
static int take_memory(struct lp_nsys_csv *reader, const struct lp_nsys_table *table, bool size)
{
    struct lp_nsys_sum fresh = { .total = NAN, .avg = NAN, .med = NAN, .min = NAN, .max = NAN };
    struct lp_nsys_sum sum;
    const char *text;
    uint32_t row;

    kind_of(cell(table, COLUMN_OPERATION)->text, &text);
    if ((fresh.name = lp_names_intern(&reader->names, text)) == LP_HASHMAP_NONE)
        return LLMPERF_ENOMEM;
    sum = read_sum(reader, table, fresh.name);
    if (sum.count == 0 || isnan(sum.total)) {
        reader->rows_cut++;
        return 0;
    }
    row = lp_hashmap_get(&reader->memory_rows, fresh.name, 0);
    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)reader->memory.count;
        if (lp_vector_push(&reader->memory, fresh) < 0 ||
            lp_hashmap_put(&reader->memory_rows, fresh.name, 0, row) < 0)
            return LLMPERF_ENOMEM;
    }
    fresh = reader->memory.items[row];
    if (!size) {
        sum.bytes = fresh.bytes;
        sum.has_bytes = fresh.has_bytes;
        sum.has_time = true;
        reader->memory.items[row] = sum;
        return 0;
    }
    reader->memory.items[row].count = fresh.has_time ? fresh.count : sum.count;
    reader->memory.items[row].bytes = (uint64_t)(sum.total + 0.5);
    reader->memory.items[row].has_bytes = true;
    return 0;
}

static void take_call_sum(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    uint64_t count = whole(table, COLUMN_COUNT);
    const char *name = cell(table, COLUMN_NAME)->text;

    /* Operating system calls have the same table. */
    if (strncmp(name, "cu", 2) != 0)
        return;
    reader->has_call_sum = true;
    switch (lp_nsys_call_kind(name)) {
    case LP_CALL_KERNEL:
        reader->launch_calls_sum += count;
        break;
    case LP_CALL_GRAPH:
        reader->graph_calls_sum += count;
        break;
    case LP_CALL_MEMORY:
        reader->memory_calls_sum += count;
        break;
    default:
        break;
    }
}

/* Region of a range, at the top level: summaries do not contain nesting. */
static int find_region(struct lp_nsys_csv *reader, const struct lp_field *field,
                       struct lp_nsys_region **region_out)
{
    struct lp_nsys_region fresh = {
        .wall = NAN, .avg = NAN, .med = NAN, .min = NAN, .max = NAN, .std = NAN
    };
    struct lp_text label = { NULL, 0, 0, false };
    int status = label_of(reader, field->text, &label);
    uint32_t row;

    if (status == 0)
        fresh.node = lp_path_intern(LP_PATH_ROOT, label.bytes);
    lp_text_clear(&label);
    if (status < 0)
        return status;
    row = lp_hashmap_get(&reader->region_rows, fresh.node, 0);
    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)reader->regions.count;
        if (lp_vector_push(&reader->regions, fresh) < 0 ||
            lp_hashmap_put(&reader->region_rows, fresh.node, 0, row) < 0)
            return LLMPERF_ENOMEM;
    }
    *region_out = &reader->regions.items[row];
    return 0;
}

static void take_wall(const struct lp_nsys_table *table, struct lp_nsys_region *region)
{
    region->instances = whole(table, COLUMN_COUNT);
    region->wall = number(table, COLUMN_TOTAL);
    region->avg = region->instances ? region->wall / (double)region->instances : (double)NAN;
    region->med = number(table, COLUMN_MED);
    region->min = number(table, COLUMN_MIN);
    region->max = number(table, COLUMN_MAX);
    region->std = number(table, COLUMN_STD);
}

static void take_projection(const struct lp_nsys_table *table, struct lp_nsys_region *region)
{
    if (region->instances == 0) {
        region->instances = whole(table, COLUMN_COUNT);
        region->wall = number(table, COLUMN_TOTAL);
        region->avg = region->instances ? region->wall / (double)region->instances : (double)NAN;
    }
    region->projected_avg = number(table, COLUMN_PROJECTED_AVG);
    region->projected_min = number(table, COLUMN_PROJECTED_MIN);
    region->projected_max = number(table, COLUMN_PROJECTED_MAX);
    region->projected_std = number(table, COLUMN_PROJECTED_STD);
    region->has_projection = true;
}

static int take_region(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    struct lp_nsys_region *region;
    int status = find_region(reader, cell(table, COLUMN_RANGE), &region);

    if (status < 0)
        return status;
    if (table->report == REPORT_RANGE_SUM) {
        take_wall(table, region);
    } else if (table->report == REPORT_PROJECTION_SUM) {
        take_projection(table, region);
    } else if (!isnan(number(table, COLUMN_TOTAL))) {
        region->kernels += whole(table, COLUMN_COUNT);
        region->kernel_time += number(table, COLUMN_TOTAL);
        region->has_kernels = true;
    }
    return 0;
}

int lp_nsys_csv_row(struct lp_nsys_csv *reader, const struct lp_nsys_table *table)
{
    switch (table->report) {
    case REPORT_KERNEL_SUM:
        return take_kernel_sum(reader, table);
    case REPORT_CALL_SUM:
        take_call_sum(reader, table);
        return 0;
    case REPORT_MEMORY_TIME:
    case REPORT_MEMORY_SIZE:
        return take_memory(reader, table, table->report == REPORT_MEMORY_SIZE);
    case REPORT_RANGE_SUM:
    case REPORT_RANGE_KERNEL_SUM:
    case REPORT_PROJECTION_SUM:
        return take_region(reader, table);
    case REPORT_RANGE_TRACE:
    case REPORT_PROJECTION_TRACE:
        return take_span(reader, table, table->report == REPORT_PROJECTION_TRACE);
    case REPORT_DEVICE_TRACE:
        return take_op(reader, table);
    case REPORT_CALL_TRACE:
        return take_call(reader, table);
    case REPORT_LAUNCH_TRACE:
        return take_launch(reader, table);
    case REPORT_NONE:
        break;
    }
    return 0;
}
