/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/findings/stage_shapes.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/sections_md.h"

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
    if (rows->items.count > 0)
        qsort(rows->items.items, rows->items.count, sizeof(llmperf_kernel_shape), compare_rows);
    return 0;
}

static void name_cell(const char *name, struct lp_text *out)
{
    struct lp_text brief = { NULL, 0, 0, false };

    lp_kernel_short_name(&brief, name);
    lp_md_cell_code(out, brief.bytes);
    out->failed |= brief.failed;
    lp_text_clear(&brief);
}

static void extent(struct lp_text *out, uint64_t x, uint64_t y, uint64_t z)
{
    if (x == LLMPERF_UNKNOWN || y == LLMPERF_UNKNOWN || z == LLMPERF_UNKNOWN) {
        lp_text_puts(out, LP_MD_UNKNOWN);
        return;
    }
    lp_text_printf(out, "%" PRIu64, x);
    if (y > 1 || z > 1)
        lp_text_printf(out, "x%" PRIu64, y);
    if (z > 1)
        lp_text_printf(out, "x%" PRIu64, z);
}

static bool is_sized(const llmperf_kernel_shape *row)
{
    return row->m != LLMPERF_UNKNOWN || row->head_dim != LLMPERF_UNKNOWN;
}

static void shape_cell(const llmperf_kernel_shape *row, struct lp_text *out)
{
    lp_text_puts(out, " ");
    if (row->model_operator)
        lp_text_printf(out, "%s ", row->model_operator);
    if (is_sized(row))
        lp_kernel_shape_size(row, out);
    else if (!row->model_operator)
        lp_text_puts(out, LP_MD_UNKNOWN);
    lp_text_puts(out, " |");
}

static void add_row(const llmperf_kernel_shape *row, struct lp_text *out)
{
    double mean_ms = row->total_ms / (double)row->calls;

    lp_text_puts(out, "|");
    name_cell(row->name, out);
    lp_md_cell_region(out, row->captured_in ? row->captured_in : row->region);
    lp_text_puts(out, " ");
    extent(out, row->grid_x, row->grid_y, row->grid_z);
    lp_text_puts(out, " / ");
    extent(out, row->block_x, row->block_y, row->block_z);
    lp_text_puts(out, " |");
    lp_md_cell_number(out, 100 * row->occupancy);
    shape_cell(row, out);
    lp_md_cell_number(out, row->total_ms);
    lp_md_cell_count(out, row->calls);
    lp_md_cell_number(out, 1e3 * mean_ms);
    lp_md_cell_number(out, row->call_flops / mean_ms / 1e9);
    lp_md_cell_number(out, row->call_bytes / mean_ms / 1e6);
    lp_md_cell_number(out, 100 * row->achievable_ms / mean_ms);
    lp_text_puts(out, "\n");
}

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
    size_t limit = lp_findings_top(findings, TOP_SHAPES);
    struct rows rows = { .items = { NULL, 0, 0 } };

    if (add_up(&findings->kernel_shapes, &rows) < 0) {
        out->failed = true;
    } else if (rows.items.count == 0) {
        lp_text_puts(out, "Unknown: the source reports no launch geometry.\n");
    } else {
        lp_text_puts(out,
                     "| Kernel | Region | Grid / block | Occupancy % | m x n x k, or sequences "
                     "x heads x query x KV length x head dim | Total ms | Calls | Mean us | "
                     "TFLOP/s | GB/s | % of achievable |\n"
                     "| --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | "
                     "---: |\n");
        for (size_t i = 0; i < rows.items.count && i < limit; i++)
            add_row(&rows.items.items[i], out);
        if (rows.items.count > limit)
            lp_text_printf(out, "\n%zu more in metrics.json.\n", rows.items.count - limit);
        add_coverage(&rows, out);
        add_sources(&rows, out);
    }
    lp_vector_clear(&rows.items);
}
