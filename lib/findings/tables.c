/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/profile/profile.h"
#include "lib/profile/fields.h"

static double mean_of(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* Captures */

/* Complete calls of a region on a device (0: not known), and their collected share. */
static uint64_t calls_of(const llmperf_profile *profile, const llmperf_capture_stats *row,
                         double *collected_out)
{
    size_t count = lp_row_count(profile, LP_ROW_REGION);
    size_t i = row->region ? lp_profile_find_region(profile, row->region) : count;

    for (; i < count; i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        if (strcmp(region.path, row->region) != 0)
            break;
        if (region.device == row->device) {
            *collected_out = 1 - region.skipped_fraction;
            return region.truncated == 0 ? region.instances : 0;
        }
    }
    return 0;
}

static bool is_same_launch(const llmperf_capture_stats *a, const llmperf_capture_stats *b)
{
    return a->device == b->device &&
           (!a->region || !b->region ? a->region == b->region : !strcmp(a->region, b->region));
}

static int add_captures(struct lp_tables *tables, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_CAPTURE);
    double collected = 1;
    uint64_t calls = 0;

    if (lp_vector_reserve(&tables->captures, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct lp_capture_finding *row = &tables->captures.items[tables->captures.count++];

        *row = (struct lp_capture_finding){ .stats = LLMPERF_CAPTURE_STATS_INIT };
        llmperf_profile_capture(profile, i, &row->stats);
        row->first = i == 0 || !is_same_launch(&row->stats, &row[-1].stats);
        calls = row->first ? calls_of(profile, &row->stats, &collected) : calls;
        row->total_ms = row->stats.kernel_ms + row->stats.memory_ms;
        row->calls = calls;
        row->call_ms = mean_of(row->total_ms, calls) / collected;
    }
    return 0;
}

/* Windows */

/* Order of a window's kernel rows: is this row of an earlier window, this one, or a later one? */
static int order_of(const llmperf_profile *profile, size_t index,
                    const llmperf_window_stats *window)
{
    llmperf_window_kernel kernel = LLMPERF_WINDOW_KERNEL_INIT;
    int order;

    llmperf_profile_window_kernel(profile, index, &kernel);
    order = LP_ORDER(kernel.process_id, window->process_id);
    return order ? order : LP_ORDER(kernel.window, window->number);
}

static int add_windows(struct lp_tables *tables, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_WINDOW), kernel = 0;
    size_t kernels = lp_row_count(profile, LP_ROW_WINDOW_KERNEL);

    if (lp_vector_reserve(&tables->windows, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct lp_window_finding *row = &tables->windows.items[tables->windows.count++];
        llmperf_window_stats *stats = &row->stats;

        *row = (struct lp_window_finding){ .stats = LLMPERF_WINDOW_STATS_INIT };
        llmperf_profile_window(profile, i, stats);
        row->per_call = mean_of(1, stats->units);
        row->wall_ms = mean_of(stats->wall_ms, stats->units);
        row->busy_ms = mean_of(stats->busy_ms, stats->units);
        row->idle_ms = mean_of(stats->idle_ms, stats->units);
        while (kernel < kernels && order_of(profile, kernel, stats) < 0)
            kernel++;
        row->first_kernel = kernel;
        while (kernel < kernels && order_of(profile, kernel, stats) == 0)
            kernel++;
        row->kernels = kernel - row->first_kernel;
    }
    return 0;
}

/* Kernels by name */

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct lp_kernel_total *)left)->name,
                  ((const struct lp_kernel_total *)right)->name);
}

static int compare_times(const void *left, const void *right)
{
    const struct lp_kernel_total *a = left, *b = right;
    int order = LP_ORDER(b->total_ms, a->total_ms);

    return order ? order : strcmp(a->name, b->name);
}

/* Merge adjacent rows with the same name. */
static void join_kernels(struct lp_tables *tables)
{
    size_t count = 0;

    for (size_t i = 0; i < tables->kernels.count; i++) {
        struct lp_kernel_total *last = count > 0 ? &tables->kernels.items[count - 1] : NULL;
        const struct lp_kernel_total *total = &tables->kernels.items[i];

        if (!last || strcmp(last->name, total->name) != 0) {
            tables->kernels.items[count++] = *total;
            continue;
        }
        last->calls += total->calls;
        last->rows += total->rows;
        last->total_ms += total->total_ms;
        last->share += total->share;
    }
    tables->kernels.count = count;
}

static int add_kernels(struct lp_tables *tables, const llmperf_profile *profile)
{
    size_t count = lp_row_count(profile, LP_ROW_KERNEL);

    if (lp_vector_reserve(&tables->kernels, count) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);

        tables->kernels.items[tables->kernels.count++] =
            (struct lp_kernel_total){ kernel->short_name, kernel->calls, 1,
                                      kernel->total_ms,   NAN,           kernel->share };
    }
    lp_vector_sort(&tables->kernels, compare_names);
    join_kernels(tables);
    lp_vector_sort(&tables->kernels, compare_times);
    for (size_t i = 0; i < tables->kernels.count; i++)
        tables->kernels.items[i].mean_ms =
            tables->kernels.items[i].total_ms / (double)tables->kernels.items[i].calls;
    return 0;
}

int lp_tables_init(struct lp_tables *tables, const llmperf_profile *profile)
{
    *tables = (struct lp_tables){ .captures = { NULL, 0, 0 } };
    if (add_captures(tables, profile) < 0 || add_windows(tables, profile) < 0 ||
        add_kernels(tables, profile) < 0)
        return LLMPERF_ENOMEM;
    return 0;
}

void lp_tables_clear(struct lp_tables *tables)
{
    lp_vector_clear(&tables->captures);
    lp_vector_clear(&tables->windows);
    lp_vector_clear(&tables->kernels);
}

/* Kernel classes */

static int compare_text(const char *a, const char *b)
{
    return !a || !b ? (a == NULL) - (b == NULL) : strcmp(a, b);
}

/* Index of region rows by path, to find the stage of a kernel. */
static int index_regions(struct lp_hashmap *rows, const llmperf_profile *profile)
{
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        if (lp_hashmap_put(rows, lp_hash_text(region.path, strlen(region.path)),
                           strlen(region.path), (uint32_t)i) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

static const char *stage_of(const struct lp_hashmap *rows, const llmperf_profile *profile,
                            const char *path)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    uint32_t row = path ? lp_hashmap_get(rows, lp_hash_text(path, strlen(path)), strlen(path))
                        : LP_HASHMAP_NONE;

    if (row == LP_HASHMAP_NONE)
        return NULL;
    llmperf_profile_region(profile, row, &region);
    return region.stage;
}

static int add_class(struct lp_class_totals *totals, const char *stage, const char *kernel_class,
                     const llmperf_kernel_stats *kernel)
{
    struct lp_class_total fresh = { stage, kernel_class, kernel->calls, kernel->total_ms, 0 };

    for (size_t i = 0; i < totals->rows.count; i++) {
        struct lp_class_total *row = &totals->rows.items[i];

        if (strcmp(row->kernel_class, kernel_class) != 0 || compare_text(row->stage, stage))
            continue;
        row->calls += kernel->calls;
        row->total_ms += kernel->total_ms;
        return 0;
    }
    return lp_vector_push(&totals->rows, fresh);
}

static int compare_classes(const void *left, const void *right)
{
    const struct lp_class_total *a = left, *b = right;
    int order = compare_text(a->stage, b->stage);

    if (!order)
        order = LP_ORDER(b->total_ms, a->total_ms);
    return order ? order : strcmp(a->kernel_class, b->kernel_class);
}

static void share_rows(struct lp_class_totals *totals)
{
    for (size_t i = 0; i < totals->rows.count; i++) {
        double stage_ms = 0;

        for (size_t k = 0; k < totals->rows.count; k++)
            if (!compare_text(totals->rows.items[i].stage, totals->rows.items[k].stage))
                stage_ms += totals->rows.items[k].total_ms;
        totals->rows.items[i].share = stage_ms > 0 ? totals->rows.items[i].total_ms / stage_ms : 0;
    }
}

int lp_class_totals_init(struct lp_class_totals *totals, const llmperf_profile *profile,
                         const char *const *kernel_classes)
{
    struct lp_hashmap rows = { NULL, 0, 0 };
    int status;

    *totals = (struct lp_class_totals){ 0 };
    status = index_regions(&rows, profile);
    for (size_t i = 0; status == 0 && i < lp_row_count(profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);

        status =
            add_class(totals, stage_of(&rows, profile, kernel->region), kernel_classes[i], kernel);
    }
    lp_hashmap_clear(&rows);
    if (status < 0)
        return status;
    share_rows(totals);
    lp_vector_sort(&totals->rows, compare_classes);
    return 0;
}

void lp_class_totals_clear(struct lp_class_totals *totals)
{
    lp_vector_clear(&totals->rows);
}
