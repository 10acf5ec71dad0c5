/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/findings/class_totals.h"
#include "lib/profile/fields.h"

static int compare_text(const char *a, const char *b)
{
    return !a || !b ? (a == NULL) - (b == NULL) : strcmp(a, b);
}

/* Region rows by path, to find the stage of a kernel. */
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

static int add(struct lp_class_totals *totals, const char *stage, const char *kernel_class,
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

static int compare_rows(const void *left, const void *right)
{
    const struct lp_class_total *a = left, *b = right;
    int order = compare_text(a->stage, b->stage);

    if (!order)
        order = (a->total_ms < b->total_ms) - (a->total_ms > b->total_ms);
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
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        status = add(totals, stage_of(&rows, profile, kernel.region), kernel_classes[i], &kernel);
    }
    lp_hashmap_clear(&rows);
    if (status < 0)
        return status;
    share_rows(totals);
    if (totals->rows.count > 0)
        qsort(totals->rows.items, totals->rows.count, sizeof(*totals->rows.items), compare_rows);
    return 0;
}

void lp_class_totals_clear(struct lp_class_totals *totals)
{
    lp_vector_clear(&totals->rows);
}
