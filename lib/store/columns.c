/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/profile/data.h"
#include "lib/store/columns.h"

#define LEDGER(type, field)    #field, LP_COLUMN_##type, offsetof(llmperf_ledger, field)
#define REGION(type, field)    #field, LP_COLUMN_##type, offsetof(struct lp_region_row, stats.field)
#define KERNEL(type, field)    #field, LP_COLUMN_##type, offsetof(struct lp_kernel_row, stats.field)
#define METRIC(type, field)    #field, LP_COLUMN_##type, offsetof(llmperf_metric_stats, field)
#define ITERATION(type, field) #field, LP_COLUMN_##type, offsetof(llmperf_iteration, field)
#define CLASS(index)                                                                               \
    "class_" #index "_ms", LP_COLUMN_NUMBER,                                                       \
        offsetof(llmperf_iteration, class_ms) + (index) * sizeof(double)
#define SPREAD(type, field)                                                                        \
#field, LP_COLUMN_##type, offsetof(struct lp_iteration_stats_row, stats.field)
#define WINDOW(type, field)        #field, LP_COLUMN_##type, offsetof(llmperf_window_stats, field)
#define WINDOW_KERNEL(type, field) #field, LP_COLUMN_##type, offsetof(llmperf_window_kernel, field)
#define LENGTH(array)              (sizeof(array) / sizeof((array)[0]))

static const struct lp_store_column ledger_columns[] = {
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
    { LEDGER(COUNT, graphs_device_launchable) },
    { LEDGER(COUNT, kernels_outside_window) },
    { LEDGER(COUNT, kernels_in_windows) },
    { LEDGER(COUNT, launches_duplicate) },
    { LEDGER(COUNT, graph_records_missing) },
    { LEDGER(COUNT, memory_missing) },
    { LEDGER(COUNT, records_before_launch) },
    { LEDGER(COUNT, records_foreign) },
    { LEDGER(COUNT, names_over_limit) },
    { LEDGER(COUNT, source_errors) },
    { LEDGER(COUNT, regions_abandoned) },
    { LEDGER(COUNT, regions_over_limit) },
};

static const struct lp_store_column region_columns[] = {
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
    { REGION(NUMBER, skipped_fraction) },
    { REGION(WORD, flops_origin) },
    { REGION(WORD, bytes_origin) },
    { REGION(COUNT, window_instances) },
    { REGION(NUMBER, window_ms) },
    { REGION(COUNT, window_flops) },
    { REGION(COUNT, window_bytes) },
    { "wall_histogram", LP_COLUMN_BLOB, offsetof(struct lp_region_row, wall) },
};

static const struct lp_store_column kernel_columns[] = {
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
    { "histogram", LP_COLUMN_BLOB, offsetof(struct lp_kernel_row, durations) },
    { KERNEL(NUMBER, share) }, /* last and not compared: it changes whenever another row does */
};

static const struct lp_store_column iteration_columns[] = {
    { ITERATION(COUNT, sequence) },
    { ITERATION(NAME, region) },
    { ITERATION(COUNT, begin_ns) },
    { ITERATION(COUNT, activities) },
    { ITERATION(COUNT, tokens) },
    { ITERATION(COUNT, sequences) },
    { ITERATION(COUNT, context) },
    { ITERATION(COUNT, flops) },
    { ITERATION(COUNT, bytes) },
    { ITERATION(NUMBER, wall_ms) },
    { ITERATION(NUMBER, span_ms) },
    { ITERATION(NUMBER, busy_ms) },
    { ITERATION(NUMBER, idle_ms) },
    { ITERATION(NUMBER, idle_launch_ms) },
    { ITERATION(NUMBER, idle_wait_ms) },
    { CLASS(0) },
    { CLASS(1) },
    { CLASS(2) },
    { CLASS(3) },
    { CLASS(4) },
    { CLASS(5) },
    { CLASS(6) },
    { CLASS(7) },
    { CLASS(8) },
    { CLASS(9) },
    { CLASS(10) },
    { CLASS(11) },
    { CLASS(12) },
    { CLASS(13) },
    { CLASS(14) },
    { CLASS(15) },
    { "deep_window", LP_COLUMN_COUNT, offsetof(llmperf_iteration, window) },
};

static const struct lp_store_column iteration_stats_columns[] = {
    { SPREAD(NAME, region) },
    { SPREAD(NAME, quantity) },
    { SPREAD(WORD, is_class) },
    { SPREAD(COUNT, count) },
    { SPREAD(NUMBER, sum_ms) },
    { SPREAD(NUMBER, mean_ms) },
    { SPREAD(NUMBER, std_ms) },
    { SPREAD(NUMBER, min_ms) },
    { SPREAD(NUMBER, max_ms) },
    { SPREAD(NUMBER, p50_ms) },
    { SPREAD(NUMBER, p95_ms) },
    { SPREAD(NUMBER, p99_ms) },
    { "histogram", LP_COLUMN_BLOB, offsetof(struct lp_iteration_stats_row, histogram) },
};

static const struct lp_store_column fact_columns[] = {
    { "key", LP_COLUMN_NAME, offsetof(struct lp_fact, key) },
    { "value", LP_COLUMN_TEXT, offsetof(struct lp_fact, value) },
};

static const struct lp_store_column line_columns[] = { { "line", LP_COLUMN_NAME,
                                                         0 } }; /* of const char * */

static const struct lp_store_column metric_columns[] = {
    { METRIC(NAME, name) },
    { "metric_group", LP_COLUMN_TEXT, offsetof(llmperf_metric_stats, group) }, /* GROUP is SQL */
    { METRIC(NAME, source) },
    { METRIC(TEXT, region) },
    { METRIC(TEXT, kernel) },
    { METRIC(DEVICE, device) },
    { METRIC(WORD, process_id) },
    { METRIC(NAME, unit) },
    { METRIC(TEXT, text) },
    { METRIC(COUNT, count) },
    { METRIC(NUMBER, mean) },
    { METRIC(NUMBER, std) },
    { METRIC(NUMBER, min) },
    { METRIC(NUMBER, max) },
};

static const struct lp_store_column window_columns[] = {
    { WINDOW(WORD, process_id) },
    { WINDOW(COUNT, number) },
    { WINDOW(TEXT, rule) },
    { WINDOW(TEXT, region) },
    { WINDOW(TEXT, quantity) },
    { WINDOW(TEXT, unit) },
    { WINDOW(NUMBER, value) },
    { WINDOW(NUMBER, threshold) },
    { WINDOW(COUNT, value_units) },
    { WINDOW(COUNT, triggered_ns) },
    { WINDOW(COUNT, begin_ns) },
    { WINDOW(COUNT, end_ns) },
    { WINDOW(COUNT, units_asked) },
    { WINDOW(COUNT, units) },
    { WINDOW(COUNT, units_left_out) },
    { WINDOW(COUNT, kernel_count) },
    { WINDOW(COUNT, memory_count) },
    { WINDOW(NUMBER, wall_ms) },
    { WINDOW(NUMBER, busy_ms) },
    { WINDOW(NUMBER, idle_ms) },
    { WINDOW(NUMBER, kernel_ms) },
    { WINDOW(NUMBER, memory_ms) },
};

static const struct lp_store_column window_kernel_columns[] = {
    { "deep_window", LP_COLUMN_COUNT, offsetof(llmperf_window_kernel, window) }, /* WINDOW is SQL */
    { WINDOW_KERNEL(WORD, process_id) },
    { WINDOW_KERNEL(NAME, name) },
    { WINDOW_KERNEL(TEXT, region) },
    { WINDOW_KERNEL(TEXT, captured_in) },
    { WINDOW_KERNEL(WORD, kind) },
    { WINDOW_KERNEL(COUNT, calls) },
    { WINDOW_KERNEL(NUMBER, total_ms) },
};

const struct lp_store_table lp_store_tables[LP_STORE_TABLES] = {
    { "ledger", "id", ledger_columns, LENGTH(ledger_columns), 0, LENGTH(ledger_columns), false },
    { "region", "id", region_columns, LENGTH(region_columns), 3, LENGTH(region_columns), false },
    { "kernel", "id", kernel_columns, LENGTH(kernel_columns), 5, LENGTH(kernel_columns) - 1,
      false },
    { "fact", "id", fact_columns, LENGTH(fact_columns), 1, LENGTH(fact_columns), false },
    { "problem", "position", line_columns, 1, 0, 1, false },
    { "note", "position", line_columns, 1, 0, 1, false },
    { "metric", "id", metric_columns, LENGTH(metric_columns), 7, LENGTH(metric_columns), true },
    { "iteration", "id", iteration_columns, LENGTH(iteration_columns), 1, LENGTH(iteration_columns),
      false },
    { "iteration_stats", "id", iteration_stats_columns, LENGTH(iteration_stats_columns), 3,
      LENGTH(iteration_stats_columns), false },
    { "deep_window", "id", window_columns, LENGTH(window_columns), 2, LENGTH(window_columns),
      false },
    { "deep_window_kernel", "id", window_kernel_columns, LENGTH(window_kernel_columns), 6,
      LENGTH(window_kernel_columns), false },
};

void lp_store_sql_create(struct lp_text *sql, const struct lp_store_table *table)
{
    static const char *const types[] = {
        [LP_COLUMN_NAME] = "TEXT NOT NULL", [LP_COLUMN_TEXT] = "TEXT",
        [LP_COLUMN_WORD] = "INTEGER",       [LP_COLUMN_DEVICE] = "INTEGER",
        [LP_COLUMN_COUNT] = "INTEGER",      [LP_COLUMN_NUMBER] = "REAL",
        [LP_COLUMN_BLOB] = "BLOB",
    };

    lp_text_printf(sql, "CREATE TABLE %s(%s INTEGER PRIMARY KEY", table->name, table->id);
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, ", %s %s", table->columns[i].name, types[table->columns[i].type]);
    lp_text_puts(sql, ");");
}

void lp_store_sql_put(struct lp_text *sql, const struct lp_store_table *table)
{
    lp_text_printf(sql, "INSERT OR REPLACE INTO %s(%s", table->name, table->id);
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, ", %s", table->columns[i].name);
    lp_text_puts(sql, ") VALUES(?");
    for (size_t i = 0; i < table->count; i++)
        lp_text_puts(sql, ", ?");
    lp_text_puts(sql, ")");
}

void lp_store_sql_drop(struct lp_text *sql, const struct lp_store_table *table)
{
    lp_text_printf(sql, "DELETE FROM %s WHERE %s=?", table->name, table->id);
}

void lp_store_sql_select(struct lp_text *sql, const struct lp_store_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        lp_text_printf(sql, "%s %s", i ? "," : "SELECT", table->columns[i].name);
    /* The id of a row is its place in the table: nothing has to be sorted, whatever the file holds.
     */
    lp_text_printf(sql, " FROM %s NOT INDEXED ORDER BY rowid", table->name);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_column(const struct lp_store_column *column, const void *row)
{
    const void *field = (const char *)row + column->offset;
    const struct lp_blob *blob = field;
    uint64_t word = 0;

    switch (column->type) {
    case LP_COLUMN_NAME:
    case LP_COLUMN_TEXT:
        if (*(const char *const *)field)
            word = lp_hash_text(*(const char *const *)field, strlen(*(const char *const *)field));
        break;
    case LP_COLUMN_WORD:
    case LP_COLUMN_DEVICE:
        word = *(const uint32_t *)field;
        break;
    case LP_COLUMN_COUNT:
    case LP_COLUMN_NUMBER:
        memcpy(&word, field, sizeof(word));
        break;
    case LP_COLUMN_BLOB:
        if (blob->bytes)
            word = lp_hash_text(blob->bytes, blob->size);
        break;
    }
    return word;
}

uint64_t lp_store_hash(const struct lp_store_column *columns, size_t count, const void *row)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < count; i++)
        hash = mix(hash, hash_column(&columns[i], row));
    return hash;
}
