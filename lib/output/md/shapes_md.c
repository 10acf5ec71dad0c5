/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/findings/stage_shapes.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"
#include "lib/output/md/table.h"

#define REASONS_MOST 12
#define TOP_SHAPES   20

struct rows {
    LP_VECTOR(llmperf_kernel_shape) items; /* rows of all layers together */
};

static int compare_rows(const void *left, const void *right)
{
    const llmperf_kernel_shape *a = left, *b = right;

    return (a->total_ms < b->total_ms) - (a->total_ms > b->total_ms);
}

/* Rates of the sums, and the region that captured a graph's kernel. */
static void complete(llmperf_kernel_shape *row)
{
    if (row->captured_in)
        row->region = row->captured_in;
    row->mean_ms = row->total_ms / (double)row->calls;
    row->tflops = row->call_flops / row->mean_ms / 1e9;
    row->gbs = row->call_bytes / row->mean_ms / 1e6;
}

static int add_up(const struct lp_kernel_shapes *shapes, struct rows *rows)
{
    for (size_t i = 0; i < shapes->rows.count; i++) {
        const llmperf_kernel_shape *row = &shapes->rows.items[i];
        size_t k = 0;

        if (row->kind != LLMPERF_ACTIVITY_KERNEL || row->others)
            continue;
        while (k < rows->items.count && !lp_kernel_shapes_alike(&rows->items.items[k], row))
            k++;
        if (k == rows->items.count) {
            if (lp_vector_push(&rows->items, *row) < 0)
                return lp_out_of_memory();
            continue;
        }
        rows->items.items[k].calls += row->calls;
        rows->items.items[k].total_ms += row->total_ms;
    }
    for (size_t i = 0; i < rows->items.count; i++)
        complete(&rows->items.items[i]);
    if (rows->items.count > 0)
        qsort(rows->items.items, rows->items.count, sizeof(llmperf_kernel_shape), compare_rows);
    return 0;
}

static void show_name(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    struct lp_text brief = { NULL, 0, 0, false };

    (void)findings;
    lp_kernel_short_name(&brief, ((const llmperf_kernel_shape *)row)->name);
    lp_md_code(out, brief.bytes ? brief.bytes : "");
    out->failed |= brief.failed;
    lp_text_clear(&brief);
}

static void extent(struct lp_text *out, const uint64_t sizes[3])
{
    if (sizes[0] == LLMPERF_UNKNOWN || sizes[1] == LLMPERF_UNKNOWN || sizes[2] == LLMPERF_UNKNOWN) {
        lp_text_puts(out, LP_MD_UNKNOWN);
        return;
    }
    lp_text_printf(out, "%" PRIu64, sizes[0]);
    if (sizes[1] > 1 || sizes[2] > 1)
        lp_text_printf(out, "x%" PRIu64, sizes[1]);
    if (sizes[2] > 1)
        lp_text_printf(out, "x%" PRIu64, sizes[2]);
}

static void show_grid(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_kernel_shape *shape = row;

    (void)findings;
    extent(out, (const uint64_t[]){ shape->grid_x, shape->grid_y, shape->grid_z });
    lp_text_puts(out, " / ");
    extent(out, (const uint64_t[]){ shape->block_x, shape->block_y, shape->block_z });
}

static bool is_sized(const llmperf_kernel_shape *row)
{
    return row->m != LLMPERF_UNKNOWN || row->head_dim != LLMPERF_UNKNOWN;
}

static void show_shape(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const llmperf_kernel_shape *shape = row;

    (void)findings;
    if (shape->model_operator)
        lp_text_printf(out, "%s ", shape->model_operator);
    if (is_sized(shape))
        lp_kernel_shape_size(shape, out);
    else if (!shape->model_operator)
        lp_text_puts(out, LP_MD_UNKNOWN);
}

static const struct lp_column columns[] = {
    LP_COLUMN_WORDS("Kernel", show_name),
    LP_COLUMN_REGION("Region", llmperf_kernel_shape, region),
    LP_COLUMN_WORDS("Grid / block", show_grid),
    LP_COLUMN_TIMES("Occupancy %", llmperf_kernel_shape, occupancy, 100),
    LP_COLUMN_WORDS("m x n x k, or sequences x heads x query x KV length x head dim", show_shape),
    LP_COLUMN("Total ms", llmperf_kernel_shape, total_ms),
    LP_COLUMN("Calls", llmperf_kernel_shape, calls),
    LP_COLUMN_TIMES("Mean us", llmperf_kernel_shape, mean_ms, 1e3),
    LP_COLUMN("TFLOP/s", llmperf_kernel_shape, tflops),
    LP_COLUMN("GB/s", llmperf_kernel_shape, gbs),
    LP_COLUMN_PER("% of achievable", llmperf_kernel_shape, achievable_ms, 100, mean_ms),
};

/* How much of the time of kernels of class GEMM and attention has a shape, and why the rest has
 * none. */
static void add_coverage(const struct rows *rows, struct lp_text *out)
{
    struct {
        const char *reason;
        double ms;
    } reasons[REASONS_MOST];
    double known_ms = 0, all_ms = 0;
    size_t count = 0;

    for (size_t i = 0; i < rows->items.count; i++) {
        const llmperf_kernel_shape *row = &rows->items.items[i];
        size_t k = 0;

        known_ms += is_sized(row) ? row->total_ms : 0;
        all_ms += is_sized(row) || row->shape_reason ? row->total_ms : 0;
        if (!row->shape_reason)
            continue;
        while (k < count && strcmp(reasons[k].reason, row->shape_reason) != 0)
            k++;
        if (k == REASONS_MOST)
            continue;
        if (k == count) {
            reasons[count].reason = row->shape_reason;
            reasons[count++].ms = 0;
        }
        reasons[k].ms += row->total_ms;
    }
    if (!(all_ms > 0))
        return;
    lp_text_printf(out, "\nShapes are known for %s %% of the time of GEMM and attention kernels.",
                   LP_NUMBER(100 * known_ms / all_ms, 3));
    for (size_t i = 0; i < count; i++)
        lp_text_printf(out, "%s %s %%: %s",
                       i ? ";" : " The rest:", LP_NUMBER(100 * reasons[i].ms / all_ms, 3),
                       reasons[i].reason);
    lp_text_puts(out, count > 0 ? ".\n" : "\n");
}

/* With the most time. */
static const char *source_of(const struct rows *rows, bool attention)
{
    for (size_t i = 0; i < rows->items.count; i++)
        if (rows->items.items[i].achievable_source &&
            (rows->items.items[i].head_dim != LLMPERF_UNKNOWN) == attention)
            return rows->items.items[i].achievable_source;
    return NULL;
}

static void add_sources(const struct rows *rows, struct lp_text *out)
{
    const char *products = source_of(rows, false), *attention = source_of(rows, true);

    lp_text_puts(out, "\nLayers are one row, named by the first.");
    if (products)
        lp_text_printf(out,
                       " Achievable: the roofline bound of the product at the rate that good "
                       "kernels reach (%s).",
                       products);
    if (attention)
        lp_text_printf(out, " Achievable attention: %s.", attention);
    lp_text_puts(out, "\n");
}

void lp_shapes_md(const struct lp_findings *findings, struct lp_text *out)
{
    struct rows rows = { .items = { NULL, 0, 0 } };

    if (add_up(&findings->kernel_shapes, &rows) < 0) {
        out->failed = true;
    } else if (rows.items.count == 0) {
        lp_text_puts(out, "Unknown: the source reports no launch geometry.\n");
    } else {
        lp_table_add(findings,
                     &(const struct lp_table){
                         LP_TABLE_COLUMNS(columns), LP_TABLE_VECTOR(&rows.items),
                         .limit = lp_findings_top(findings, TOP_SHAPES), .all_in = "metrics.json" },
                     out);
        add_coverage(&rows, out);
        add_sources(&rows, out);
    }
    lp_vector_clear(&rows.items);
}
