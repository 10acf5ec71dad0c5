/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/findings/limits/facts.h"
#include "lib/findings/reports/shown_regions.h"
#include "lib/output/md/ncu_md.h"
#include "lib/output/format/markdown.h"
#include "lib/output/format/documents.h"
#include "lib/output/md/folds.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"
#include "lib/base/text.h"

const char *lp_verdict_words(uint32_t verdict)
{
    switch (verdict) {
    case LLMPERF_VERDICT_COMPLETE:
        return NULL;
    case LLMPERF_VERDICT_SAMPLED:
        return "The run was sampled: only a share of the work was collected.";
    case LLMPERF_VERDICT_NO_DEVICE:
        return "No GPU was observed: all times are host times.";
    case LLMPERF_VERDICT_DEAD:
        return "Kernels were launched, but no records were received: GPU times are unknown.";
    default:
        return "Records are missing: GPU times are lower bounds.";
    }
}

void lp_table_warning(const llmperf_profile *profile, struct lp_text *out)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    if (lp_verdict_words(ledger.verdict))
        lp_text_printf(out, "**Verdict: %s** – %s\n\n",
                       llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
                       lp_verdict_words(ledger.verdict));
}

#define TOP_OPERATORS 15
#define TOP_NAMES     10
#define TOP_KERNELS   15

static void add_no_kernels(const struct lp_findings *findings, struct lp_text *out)
{
    lp_text_puts(out, findings->device_known ? "No device activity was seen.\n"
                                             : "No kernels: no device activity was observed.\n");
}

static void add_operators(const struct lp_findings *findings, const struct lp_folds *folds,
                          size_t limit, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Operator", lp_show_fold_name),
        LP_COLUMN_CODE("Stage", struct lp_fold, region),
        LP_COLUMN("Rows", struct lp_fold, rows),
        LP_COLUMN("Calls", struct lp_fold, calls),
        LP_COLUMN("Host ms", struct lp_fold, wall_ms),
        LP_COLUMN("GPU busy ms", struct lp_fold, total_ms),
        LP_COLUMN_ESTIMATE("All calls", struct lp_fold, estimate_ms),
        LP_COLUMN("Least", struct lp_fold, least_ms),
        LP_COLUMN("Most", struct lp_fold, most_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&folds->items),
                                    .limit = limit, .all_in = "operators.md" };

    lp_table_add(findings, &table, out);
    if (lp_folds_any(folds))
        lp_text_puts(out,
                     "\n* stands for a number: the row is the sum of several, such as layers.\n");
}

void lp_table_operators(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_OPERATOR);
    struct lp_folds folds = { 0 };

    for (size_t i = 0; i < count; i++) {
        const llmperf_operator_stats *row = lp_row_at(findings->profile, LP_ROW_OPERATOR, i);
        struct lp_fold fold = {
            .name = row->name, .region = row->stage, .calls = row->calls, LP_ESTIMATE_OF(row)
        };

        fold.total_ms = findings->device_known ? row->cuda_time_ms : (double)NAN;
        fold.wall_ms = row->total_time_ms;
        if (lp_folds_add(&folds, lp_hash_without_numbers(row->name), &fold) < 0)
            out->failed = true;
    }
    lp_folds_sort(&folds);
    if (count == 0)
        lp_text_puts(out, "No operator was marked (regions below a stage).\n");
    else
        add_operators(findings, &folds, limit, out);
    lp_folds_clear(&folds);
}

void lp_operators_section_md(const struct lp_findings *findings, struct lp_text *out)
{
    lp_table_operators(findings, lp_findings_top(findings, TOP_OPERATORS), out);
}

static void show_operator_busy(const struct lp_findings *findings, const void *row,
                               struct lp_text *out)
{
    lp_md_number(out, findings->device_known ? ((const llmperf_operator_stats *)row)->cuda_time_ms
                                             : (double)NAN);
}

static void add_all_operators(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Operator", llmperf_operator_stats, name),
        LP_COLUMN_CODE("Stage", llmperf_operator_stats, stage),
        LP_COLUMN("Calls", llmperf_operator_stats, calls),
        LP_COLUMN("Host ms", llmperf_operator_stats, total_time_ms),
        LP_COLUMN("Mean ms", llmperf_operator_stats, mean_ms),
        LP_COLUMN_NUMBER("GPU busy ms", show_operator_busy),
        LP_COLUMN_ESTIMATE("All calls", llmperf_operator_stats, estimate_ms),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_ROWS(findings->profile, LP_ROW_OPERATOR) };

    if (table.row_count == 0)
        lp_text_puts(out, "No operator was marked (regions below a stage).\n");
    lp_table_add(findings, &table, out);
}

static void show_stage_label(const struct lp_findings *findings, const void *row,
                             struct lp_text *out)
{
    const struct lp_class_total *total = row;

    (void)findings;
    if (total->stage)
        lp_md_code(out, total->stage);
    else
        lp_text_puts(out, "(no stage)");
}

#define SMALL_CLASS 0.01

static bool is_large(const struct lp_findings *findings, const void *row)
{
    (void)findings;
    return ((const struct lp_class_total *)row)->share >= SMALL_CLASS;
}

void lp_classes_md(const struct lp_findings *findings, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_WORDS("Stage", show_stage_label),
        LP_COLUMN("Class", struct lp_class_total, kernel_class),
        LP_COLUMN("Calls", struct lp_class_total, calls),
        LP_COLUMN("Total ms", struct lp_class_total, total_ms),
        LP_COLUMN_TIMES("Share of stage %", struct lp_class_total, share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->class_totals.rows),
                                    .has = is_large };

    if (lp_row_count(findings->profile, LP_ROW_KERNEL) == 0)
        add_no_kernels(findings, out);
    else if (!findings->classes)
        lp_text_puts(out, "Unknown: kernel_classes.yaml could not be read (set LLMPERF_CONFIG_DIR "
                          "to its folder).\n");
    else {
        lp_table_add(findings, &table, out);
        lp_text_puts(out, "\nClasses below 1 % of a stage are in metrics.json.\n");
    }
}

void lp_table_kernel_names(const struct lp_findings *findings, size_t limit, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel, all regions", struct lp_kernel_total, name),
        LP_COLUMN("Rows", struct lp_kernel_total, rows),
        LP_COLUMN("Calls", struct lp_kernel_total, calls),
        LP_COLUMN("Total ms", struct lp_kernel_total, total_ms),
        LP_COLUMN("Mean ms", struct lp_kernel_total, mean_ms),
        LP_COLUMN_TIMES("Share %", struct lp_kernel_total, share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns),
                                    LP_TABLE_VECTOR(&findings->tables.kernels), .limit = limit,
                                    .all_in = "kernels.md" };

    lp_table_add(findings, &table, out);
    lp_text_puts(out, "\n");
}

/* If each name has one row, the table of rows has the same content. */
static bool names_repeat(const struct lp_findings *findings)
{
    return findings->tables.kernels.count < lp_row_count(findings->profile, LP_ROW_KERNEL);
}

/* Why "All calls" has no ± in some rows. */
static void add_estimate_reasons(const char *const *reason, size_t count, size_t stride,
                                 struct lp_text *out)
{
    lp_md_reasons(out, "No interval for all calls of some kernels", reason, count, stride);
}

static void add_folded_kernels(const struct lp_findings *findings, const struct lp_folds *folds,
                               struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel", struct lp_fold, name),
        LP_COLUMN_WORDS("Region", lp_show_fold_region),
        LP_COLUMN_WORDS("Captured in", lp_show_fold_captured),
        LP_COLUMN("Rows", struct lp_fold, rows),
        LP_COLUMN("Calls", struct lp_fold, calls),
        LP_COLUMN("Total ms", struct lp_fold, total_ms),
        LP_COLUMN_ESTIMATE("All calls", struct lp_fold, estimate_ms),
        LP_COLUMN_PER("Mean ms", struct lp_fold, total_ms, 1, calls),
        LP_COLUMN_TIMES("Share %", struct lp_fold, share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&folds->items),
                                    .limit = lp_findings_top(findings, TOP_KERNELS),
                                    .all_in = "kernels.md" };

    lp_table_add(findings, &table, out);
    if (lp_folds_any(folds))
        lp_text_puts(out,
                     "\n* stands for a number: the row is the sum of several, such as layers.\n");
}

void lp_kernels_section_md(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_KERNEL);
    const llmperf_kernel_stats *kernel;
    struct lp_folds folds = { 0 };

    if (count == 0) {
        add_no_kernels(findings, out);
        return;
    }
    if (names_repeat(findings))
        lp_table_kernel_names(findings, lp_findings_top(findings, TOP_NAMES), out);
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_stats *row = lp_row_at(findings->profile, LP_ROW_KERNEL, i);
        struct lp_fold fold = { .name = row->short_name,
                                .region = row->region,
                                .captured_in = row->captured_in,
                                .calls = row->calls,
                                .total_ms = row->total_ms,
                                .share = row->share,
                                LP_ESTIMATE_OF(row) };

        if (lp_folds_add(&folds, lp_hash_text(row->short_name, strlen(row->short_name)), &fold) < 0)
            out->failed = true;
    }
    lp_folds_sort(&folds);
    add_folded_kernels(findings, &folds, out);
    lp_folds_clear(&folds);
    kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, 0);
    add_estimate_reasons(&kernel->estimate_reason, count, lp_row_kinds[LP_ROW_KERNEL].row_size,
                         out);
}

/* A row of kernels.md. */
struct kernel_row {
    llmperf_kernel_stats stats;
    const char *name; /* the short one, if that stands for one kernel only */
};

/* The number of the first row with the short name of each row. 0 or LLMPERF_ENOMEM. */
static int find_first(const struct kernel_row *rows, size_t count, size_t *first)
{
    struct lp_hashmap names = { 0 };
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++) {
        const char *name = rows[i].stats.short_name;
        uint64_t hash = lp_hash_text(name, strlen(name));
        uint32_t at = lp_hashmap_get(&names, hash, 0);

        first[i] = at == LP_HASHMAP_NONE ? i : at;
        if (at == LP_HASHMAP_NONE)
            status = lp_hashmap_put(&names, hash, 0, (uint32_t)i);
    }
    lp_hashmap_clear(&names);
    return status;
}

/* Instances of a template have one short name. */
static void name_rows(struct kernel_row *rows, size_t count, const size_t *first)
{
    for (size_t i = 0; i < count; i++) {
        rows[i].name = rows[i].stats.short_name;
        if (strcmp(rows[i].stats.demangled, rows[first[i]].stats.demangled) != 0)
            rows[first[i]].name = NULL;
    }
    for (size_t i = count; i-- > 0;)
        if (!rows[first[i]].name)
            rows[i].name = rows[i].stats.demangled;
}

static void add_kernel_rows(const struct lp_findings *findings, struct kernel_row *rows,
                            size_t count, struct lp_text *out)
{
    static const struct lp_column columns[] = {
        LP_COLUMN_CODE("Kernel", struct kernel_row, name),
        LP_COLUMN_REGION("Region", struct kernel_row, stats.region),
        LP_COLUMN_CODE("Captured in", struct kernel_row, stats.captured_in),
        LP_COLUMN("GPU", struct kernel_row, stats.device),
        LP_COLUMN("Total ms", struct kernel_row, stats.total_ms),
        LP_COLUMN_ESTIMATE("All calls", struct kernel_row, stats.estimate_ms),
        LP_COLUMN("Calls", struct kernel_row, stats.calls),
        LP_COLUMN("Mean ms", struct kernel_row, stats.mean_ms),
        LP_COLUMN("p50 ms", struct kernel_row, stats.p50_ms),
        LP_COLUMN("p95 ms", struct kernel_row, stats.p95_ms),
        LP_COLUMN("p99 ms", struct kernel_row, stats.p99_ms),
        LP_COLUMN_TIMES("Share %", struct kernel_row, stats.share, 100),
    };
    const struct lp_table table = { LP_TABLE_COLUMNS(columns), .rows = rows,
                                    .row_size = sizeof(*rows), .row_count = count };

    lp_table_add(findings, &table, out);
    add_estimate_reasons(&rows->stats.estimate_reason, count, sizeof(*rows), out);
}

static void add_all_kernels(const struct lp_findings *findings, struct lp_text *out)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_KERNEL);
    struct kernel_row *rows = calloc(count + 1, sizeof(*rows));
    size_t *first = calloc(count + 1, sizeof(*first));

    for (size_t i = 0; rows && i < count; i++) {
        rows[i].stats = (llmperf_kernel_stats)LLMPERF_KERNEL_STATS_INIT;
        llmperf_profile_kernel(findings->profile, i, &rows[i].stats);
    }
    if (!rows || !first || find_first(rows, count, first) < 0) {
        out->failed = true;
    } else {
        name_rows(rows, count, first);
        add_kernel_rows(findings, rows, count, out);
    }
    free(rows);
    free(first);
}

static void add_kernels(const struct lp_findings *findings, struct lp_text *out)
{
    if (lp_row_count(findings->profile, LP_ROW_KERNEL) == 0) {
        add_no_kernels(findings, out);
        return;
    }
    if (names_repeat(findings))
        lp_table_kernel_names(findings, 0, out);
    add_all_kernels(findings, out);
    if (findings->ncu_kernels.rows.count > 0)
        lp_text_puts(out, "\n## Kernels measured by ncu\n\n");
    lp_ncu_md(findings, SIZE_MAX, out);
}

static void add_stages(const struct lp_findings *findings, struct lp_text *out)
{
    lp_table_stages(findings, SIZE_MAX, out);
}

/* A document with one table. */
static int add_document(const llmperf_profile *profile, const char *name,
                        void (*add)(const struct lp_findings *findings, struct lp_text *out),
                        struct lp_text *out)
{
    const struct lp_findings *findings;
    int status = lp_findings_of(profile, &findings);

    if (status < 0)
        return status;
    lp_text_printf(out, "# %s: ", name);
    lp_md_text(out, findings->about.title);
    lp_text_puts(out, "\n\n");
    lp_table_warning(profile, out);
    add(findings, out);
    return 0;
}

int lp_stages_md(const llmperf_profile *profile, struct lp_text *out)
{
    return add_document(profile, "Stages", add_stages, out);
}

int lp_kernels_md(const llmperf_profile *profile, struct lp_text *out)
{
    return add_document(profile, "Kernels", add_kernels, out);
}

int lp_operators_md(const llmperf_profile *profile, struct lp_text *out)
{
    return add_document(profile, "Operators", add_all_operators, out);
}
