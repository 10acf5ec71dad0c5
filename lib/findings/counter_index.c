/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "lib/findings/counter_index.h"
#include "lib/profile/fields.h"

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The index of `path`'s first row, or LP_HASHMAP_NONE and in *twin_out the place for it. */
static uint32_t find_first(const struct lp_counter_index *index, const char *path, uint64_t hash,
                           uint64_t *twin_out)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
    uint64_t twin = 0;
    uint32_t row;

    while ((row = lp_hashmap_get(&index->first, hash, twin)) != LP_HASHMAP_NONE &&
           llmperf_profile_metric(index->profile, row, &metric) == 0 &&
           !same_text(metric.region, path))
        twin++;
    *twin_out = twin;
    return row;
}

int lp_counter_index_init(struct lp_counter_index *index, const llmperf_profile *profile)
{
    const char *before = NULL;
    int status = 0;

    *index = (struct lp_counter_index){ profile, { NULL, 0, 0 } };
    for (size_t i = 0; status == 0 && i < lp_row_count(profile, LP_ROW_METRIC); i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        uint64_t hash, twin;

        if (llmperf_profile_metric(profile, i, &metric) < 0 || !metric.region ||
            same_text(metric.region, before))
            continue;
        before = metric.region;
        hash = lp_hash_text(before, strlen(before));
        if (find_first(index, before, hash, &twin) == LP_HASHMAP_NONE)
            status = lp_hashmap_put(&index->first, hash, twin, (uint32_t)i);
    }
    return status;
}

void lp_counter_index_clear(struct lp_counter_index *index)
{
    lp_hashmap_clear(&index->first);
}

size_t lp_counter_index_find(const struct lp_counter_index *index, const char *path)
{
    uint64_t twin;
    uint32_t row = find_first(index, path, lp_hash_text(path, strlen(path)), &twin);

    return row != LP_HASHMAP_NONE ? row : lp_row_count(index->profile, LP_ROW_METRIC);
}
