/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/md/folds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/reports/shown_regions.h"
#include "lib/output/format/markdown.h"

static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

static void add_to(struct lp_fold *fold, const struct lp_fold *row)
{
    fold->rows++;
    fold->calls += row->calls;
    fold->unlike |= differ(fold->name, row->name) || differ(fold->region, row->region) ||
                    differ(fold->captured_in, row->captured_in);
    fold->total_ms += row->total_ms;
    fold->wall_ms += row->wall_ms;
    fold->estimate_ms += row->estimate_ms;
    fold->estimate_low_ms += row->estimate_low_ms;
    fold->estimate_high_ms += row->estimate_high_ms;
    fold->call_ms += row->call_ms;
    fold->share += row->share;
    fold->least_ms = fmin(fmin(fold->least_ms, fold->first_ms), row->total_ms);
    fold->most_ms = fmax(fmax(fold->most_ms, fold->first_ms), row->total_ms);
}

int lp_folds_add(struct lp_folds *folds, uint64_t hash, const struct lp_fold *row)
{
    uint64_t region = (row->region ? lp_hash_without_numbers(row->region) : 0) ^
                      (row->captured_in ? 3 * lp_hash_without_numbers(row->captured_in) : 0);
    uint32_t at = lp_hashmap_get(&folds->kinds, hash, region);
    struct lp_fold fold = *row;

    if (at != LP_HASHMAP_NONE) {
        add_to(&folds->items.items[at], row);
        return 0;
    }
    fold.rows = 1;
    fold.least_ms = fold.most_ms = NAN;
    fold.first_ms = row->total_ms;
    if (lp_vector_push(&folds->items, fold) < 0)
        return LLMPERF_ENOMEM;
    return lp_hashmap_put(&folds->kinds, hash, region, (uint32_t)folds->items.count - 1);
}

bool lp_folds_any(const struct lp_folds *folds)
{
    for (size_t i = 0; i < folds->items.count; i++)
        if (folds->items.items[i].unlike)
            return true;
    return false;
}

/* Unknown times come last. */
static int compare(const void *left, const void *right)
{
    const struct lp_fold *a = left, *b = right;
    double x = isnan(a->total_ms) ? -1 : a->total_ms, y = isnan(b->total_ms) ? -1 : b->total_ms;

    return (x < y) - (x > y);
}

void lp_folds_sort(struct lp_folds *folds)
{
    if (folds->items.count > 0)
        qsort(folds->items.items, folds->items.count, sizeof(struct lp_fold), compare);
}

void lp_folds_clear(struct lp_folds *folds)
{
    lp_vector_clear(&folds->items);
    lp_hashmap_clear(&folds->kinds);
}

static void show(const char *name, bool unlike, struct lp_text *out)
{
    struct lp_text text = { NULL, 0, 0, false };

    while (unlike && *name) {
        size_t others = strcspn(name, "0123456789"), digits = strspn(name + others, "0123456789");

        lp_text_add(&text, name, others);
        lp_text_puts(&text, digits > 0 ? "*" : "");
        name += others + digits;
    }
    lp_md_code(out, unlike && text.bytes ? text.bytes : name);
    out->failed |= text.failed;
    lp_text_clear(&text);
}

void lp_show_fold_name(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_fold *fold = row;

    (void)findings;
    show(fold->name, fold->unlike, out);
}

void lp_show_fold_captured(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_fold *fold = row;

    (void)findings;
    if (fold->captured_in)
        show(fold->captured_in, fold->unlike, out);
    else
        lp_text_puts(out, LP_MD_UNKNOWN);
}

void lp_show_fold_region(const struct lp_findings *findings, const void *row, struct lp_text *out)
{
    const struct lp_fold *fold = row;

    (void)findings;
    if (!fold->region || !*fold->region)
        lp_text_puts(out, fold->region ? "(no region)" : "(unknown launch)");
    else
        show(fold->region, fold->unlike, out);
}
