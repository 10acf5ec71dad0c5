/* SPDX-License-Identifier: Apache-2.0 */
/** Named metrics of a profile: search by key, merge, sort. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/statistics/distribution.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

static int compare_owners(const llmperf_metric_stats *a, const llmperf_metric_stats *b)
{
    int order = !a->region || !b->region ? (a->region != NULL) - (b->region != NULL)
                                         : lp_compare_paths(a->region, b->region);

    if (order)
        return order;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->process_id != b->process_id)
        return a->process_id < b->process_id ? -1 : 1;
    return lp_compare_text(a->kernel, b->kernel);
}

static int compare_metrics(const void *left, const void *right)
{
    const llmperf_metric_stats *a = left, *b = right;
    int order = compare_owners(a, b);

    order = order ? order : lp_compare_text(a->name, b->name);
    order = order ? order : lp_compare_text(a->group, b->group);
    return order ? order : lp_compare_text(a->source, b->source);
}

void lp_profile_sort_metrics(llmperf_profile *profile)
{
    lp_vector_sort(&profile->metrics, compare_metrics);
    lp_hashmap_clear(&profile->metric_rows); /* the rows have moved */
}

/* The row of a key; LP_HASHMAP_NONE: none, and *twin_out is the free second word for it. */
static uint32_t find_row(const llmperf_profile *profile, const llmperf_metric_stats *stats,
                         uint64_t *twin_out)
{
    uint64_t key = lp_row_hash(LP_ROW_METRIC, stats, NULL), twin = 0;
    uint32_t row;

    while ((row = lp_hashmap_get(&profile->metric_rows, key, twin)) != LP_HASHMAP_NONE &&
           lp_row_compare(LP_ROW_METRIC, &profile->metrics.items[row], stats) != 0)
        twin++;
    *twin_out = twin;
    return row;
}

static int index_rows(llmperf_profile *profile)
{
    for (size_t i = profile->metric_rows.count; i < profile->metrics.count; i++) {
        uint64_t twin;

        if (find_row(profile, &profile->metrics.items[i], &twin) == LP_HASHMAP_NONE &&
            lp_hashmap_put(&profile->metric_rows,
                           lp_row_hash(LP_ROW_METRIC, &profile->metrics.items[i], NULL), twin,
                           (uint32_t)i) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

static void add_results(llmperf_metric_stats *into, const llmperf_metric_stats *more)
{
    if (lp_compare_text(into->text, more->text) != 0)
        into->text = NULL;
    if (more->count == 0)
        return;
    if (into->count == 0) {
        into->mean = more->mean;
        into->std = more->std;
        into->min = into->max = NAN; /* fmin() and fmax() ignore NaN */
    } else {
        lp_moments_add(into->count, &into->mean, &into->std, more->count, more->mean, more->std);
    }
    lp_row_add(LP_ROW_METRIC, into, more, 1, 1);
}

/* Copy a text into the profile, or reuse `before` if equal. False: out of memory. */
static bool keep_text(llmperf_profile *profile, const char **text, const char *before)
{
    if (!*text)
        return true;
    *text = before && strcmp(before, *text) == 0 ? before : lp_profile_text(profile, *text);
    return *text != NULL;
}

/* Consecutive metrics share most texts, and kernel names are long. */
static bool keep_texts(llmperf_profile *profile, llmperf_metric_stats *row)
{
    static const llmperf_metric_stats none = LLMPERF_METRIC_STATS_INIT;
    const llmperf_metric_stats *before =
        profile->metrics.count > 0 ? &profile->metrics.items[profile->metrics.count - 1] : &none;

    return keep_text(profile, &row->name, before->name) &&
           keep_text(profile, &row->unit, before->unit) &&
           keep_text(profile, &row->group, before->group) &&
           keep_text(profile, &row->source, before->source) &&
           keep_text(profile, &row->region, before->region) &&
           keep_text(profile, &row->kernel, before->kernel) &&
           keep_text(profile, &row->text, before->text);
}

int lp_profile_add_metric(llmperf_profile *profile, const llmperf_metric_stats *stats)
{
    llmperf_metric_stats row = *stats;
    uint64_t twin;
    uint32_t found;

    if (index_rows(profile) < 0)
        return LLMPERF_ENOMEM;
    if ((found = find_row(profile, stats, &twin)) != LP_HASHMAP_NONE) {
        add_results(&profile->metrics.items[found], stats);
        return 0;
    }
    row.struct_size = sizeof(row);
    if (!keep_texts(profile, &row))
        return lp_out_of_memory();
    found = (uint32_t)profile->metrics.count;
    if (lp_vector_push(&profile->metrics, row) < 0 ||
        lp_hashmap_put(&profile->metric_rows, lp_row_hash(LP_ROW_METRIC, &row, NULL), twin, found) <
            0)
        return LLMPERF_ENOMEM;
    return 0;
}

bool lp_profile_has_metric(llmperf_profile *profile, const llmperf_metric_stats *stats)
{
    uint64_t twin;

    return index_rows(profile) == 0 && find_row(profile, stats, &twin) != LP_HASHMAP_NONE;
}
