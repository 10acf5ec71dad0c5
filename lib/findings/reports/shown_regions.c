/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/reports/shown_regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "llmperf/region.h"

struct candidate {
    double time_ms;
    size_t index;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = LP_ORDER(b->time_ms, a->time_ms);

    return order ? order : LP_ORDER(a->index, b->index);
}

static double time_of(const struct lp_findings *findings, const llmperf_region_stats *stats)
{
    double busy_ms = findings->device_known ? stats->gpu_busy_ms : (double)NAN;

    return !isnan(busy_ms) ? busy_ms : stats->instances > 0 ? stats->wall_sum_ms : 0;
}

uint64_t lp_hash_without_numbers(const char *path)
{
    uint64_t hash = 0;

    while (*path) {
        size_t digits = strspn(path, "0123456789"), others = strcspn(path + digits, "0123456789");

        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + (digits > 0);
        hash ^= lp_hash_text(path + digits, others);
        path += digits + others;
    }
    return hash;
}

/* All of them if they fit, else the longest of each kind. */
static int choose_others(struct lp_shown_regions *chosen, const struct lp_findings *findings,
                         const struct candidate *others, size_t count)
{
    bool room = count <= LP_SHOWN_REGIONS;
    struct lp_hashmap kinds = { 0 };
    size_t shown = 0;
    int status = 0;

    for (size_t i = 0; i < count && shown < LP_SHOWN_REGIONS && status == 0; i++) {
        uint64_t kind =
            lp_hash_without_numbers(findings->regions.items[others[i].index].stats.path);

        if (!room && lp_hashmap_get(&kinds, kind, 0) != LP_HASHMAP_NONE)
            continue;
        chosen->shown[others[i].index] = true;
        shown++;
        status = lp_hashmap_put(&kinds, kind, 0, 0);
    }
    chosen->left = count - shown;
    lp_hashmap_clear(&kinds);
    return status;
}

int lp_shown_regions_choose(struct lp_shown_regions *chosen, const struct lp_findings *findings,
                            bool (*has)(const struct lp_region_finding *region))
{
    struct candidate *others = calloc(findings->regions.count + 1, sizeof(*others));
    size_t count = 0;
    int status;

    *chosen = (struct lp_shown_regions){ calloc(findings->regions.count + 1, sizeof(bool)), 0 };
    if (!others || !chosen->shown) {
        free(others);
        return lp_out_of_memory();
    }
    for (size_t i = 0; i < findings->regions.count; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];

        if (!has(region))
            continue;
        chosen->shown[i] = region->stats.kind == LLMPERF_REGION_STAGE;
        if (!chosen->shown[i])
            others[count++] = (struct candidate){ time_of(findings, &region->stats), i };
    }
    qsort(others, count, sizeof(*others), compare_candidates);
    status = choose_others(chosen, findings, others, count);
    free(others);
    return status < 0 ? lp_out_of_memory() : 0;
}

void lp_shown_regions_clear(struct lp_shown_regions *chosen)
{
    free(chosen->shown);
    *chosen = (struct lp_shown_regions){ NULL, 0 };
}

void lp_shown_regions_note(const struct lp_shown_regions *chosen, struct lp_text *out)
{
    if (chosen->left > 0)
        lp_text_printf(
            out,
            "\n%zu more rows in metrics.json. Beside the stages these are the regions with "
            "the most time, at most %u; of those whose names differ in numbers only, such "
            "as layers, one.\n",
            chosen->left, LP_SHOWN_REGIONS);
}
