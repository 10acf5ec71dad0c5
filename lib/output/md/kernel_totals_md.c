/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by short name: what stands in a row for each region, layer after layer, as one. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/vector.h"
#include "lib/output/format/markdown.h"
#include "lib/output/md/tables_md.h"
#include "lib/profile/fields.h"

struct total {
    const char *name;
    uint64_t calls, rows;
    double total_ms, share;
};

struct totals {
    LP_VECTOR(struct total) items;
};

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct total *)left)->name, ((const struct total *)right)->name);
}

static int compare_times(const void *left, const void *right)
{
    const struct total *a = left, *b = right;
    int order = (a->total_ms < b->total_ms) - (a->total_ms > b->total_ms);

    return order ? order : strcmp(a->name, b->name);
}

static void sort(struct totals *totals, int (*compare)(const void *, const void *))
{
    if (totals->items.count > 0)
        qsort(totals->items.items, totals->items.count, sizeof(struct total), compare);
}

/* Neighbours of one name become one. */
static void join(struct totals *totals)
{
    size_t count = 0;

    for (size_t i = 0; i < totals->items.count; i++) {
        struct total *last = count > 0 ? &totals->items.items[count - 1] : NULL;
        const struct total *total = &totals->items.items[i];

        if (!last || strcmp(last->name, total->name) != 0) {
            totals->items.items[count++] = *total;
            continue;
        }
        last->calls += total->calls;
        last->rows += total->rows;
        last->total_ms += total->total_ms;
        last->share += total->share;
    }
    totals->items.count = count;
}

static int add_up(struct totals *totals, const llmperf_profile *profile)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_KERNEL); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (lp_vector_push(&totals->items, ((struct total){ kernel.short_name, kernel.calls, 1,
                                                            kernel.total_ms, kernel.share })) < 0)
            return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    sort(totals, compare_names);
    join(totals);
    sort(totals, compare_times);
    return 0;
}

static void add_rows(const struct totals *totals, size_t limit, struct lp_text *out)
{
    lp_text_puts(out,
                 "| Kernel, all regions | Rows below | Total ms | Calls | Mean ms | Share % |\n"
                 "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < totals->items.count && i < limit; i++) {
        const struct total *total = &totals->items.items[i];

        lp_text_puts(out, "|");
        lp_md_cell_code(out, total->name);
        lp_md_cell_count(out, total->rows);
        lp_md_cell_number(out, total->total_ms);
        lp_md_cell_count(out, total->calls);
        lp_md_cell_number(out, total->total_ms / (double)total->calls);
        lp_md_cell_number(out, 100 * total->share);
        lp_text_puts(out, "\n");
    }
    if (totals->items.count > limit)
        lp_text_printf(out, "\n%zu more names in kernels.md.\n", totals->items.count - limit);
    lp_text_puts(out, "\n");
}

int lp_table_kernel_names(const llmperf_profile *profile, size_t limit, struct lp_text *out)
{
    struct totals totals = { 0 };
    int status = add_up(&totals, profile);

    /* Where each name has one row, the table of rows says the same. */
    if (status == 0 && totals.items.count < lp_row_count(profile, LP_ROW_KERNEL))
        add_rows(&totals, limit, out);
    lp_vector_clear(&totals.items);
    return status;
}
