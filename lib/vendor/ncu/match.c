/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/vendor/ncu/match.h"
#include "lib/profile/fields.h"
#include "llmperf/profile.h"

#define SUFFIX_REGIONS 4096 /* regions searched for a path with the given end */

/* A kernel of the timeline. */
struct candidate {
    const char *name, *demangled, *region;
    const char *base; /* last component of the short name */
    uint32_t next;    /* next candidate with the same hash */
};

struct lp_ncu_matcher {
    const llmperf_profile *profile;
    LP_VECTOR(struct candidate) kernels;
    LP_VECTOR(const char *) regions;
    struct lp_hashmap first;     /* hash of the base name -> candidate */
    struct lp_hashmap by_region; /* hash of the path -> region */
    struct lp_text scratch;
    size_t strange_kernels, strange_regions;
};

static const char *last_part(const char *short_name)
{
    const char *part = short_name;

    for (const char *at = short_name; (at = strstr(at, "::")); at += 2)
        part = at + 2;
    return part;
}

static uint64_t hash(const char *text)
{
    return lp_hash_text(text, strlen(text));
}

static int add_kernel(struct lp_ncu_matcher *matcher, const llmperf_kernel_stats *stats)
{
    struct candidate candidate = { stats->name, stats->demangled, stats->region,
                                   last_part(stats->short_name), LP_HASHMAP_NONE };
    uint64_t key = hash(candidate.base);

    candidate.next = lp_hashmap_get(&matcher->first, key, 0);
    if (lp_hashmap_put(&matcher->first, key, 0, (uint32_t)matcher->kernels.count) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&matcher->kernels, candidate);
}

static int fill(struct lp_ncu_matcher *matcher)
{
    int status = 0;

    for (size_t i = 0; i < lp_row_count(matcher->profile, LP_ROW_KERNEL) && status == 0; i++) {
        llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;

        if (llmperf_profile_kernel(matcher->profile, i, &stats) == 0 &&
            stats.kind == LLMPERF_ACTIVITY_KERNEL)
            status = add_kernel(matcher, &stats);
    }
    for (size_t i = 0; i < lp_row_count(matcher->profile, LP_ROW_REGION) && status == 0; i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

        if (llmperf_profile_region(matcher->profile, i, &stats) < 0 ||
            (matcher->regions.count > 0 &&
             strcmp(matcher->regions.items[matcher->regions.count - 1], stats.path) == 0))
            continue;
        if ((status = lp_hashmap_put(&matcher->by_region, hash(stats.path), 0,
                                     (uint32_t)matcher->regions.count)) == 0)
            status = lp_vector_push(&matcher->regions, stats.path);
    }
    return status;
}

int lp_ncu_matcher_create(const llmperf_profile *profile, struct lp_ncu_matcher **matcher_out)
{
    struct lp_ncu_matcher *matcher = calloc(1, sizeof(*matcher));
    int status;

    if (!matcher)
        return lp_out_of_memory();
    matcher->profile = profile;
    if ((status = fill(matcher)) < 0)
        lp_ncu_matcher_free(matcher);
    else
        *matcher_out = matcher;
    return status;
}

void lp_ncu_matcher_free(struct lp_ncu_matcher *matcher)
{
    if (!matcher)
        return;
    lp_vector_clear(&matcher->kernels);
    lp_vector_clear(&matcher->regions);
    lp_hashmap_clear(&matcher->first);
    lp_hashmap_clear(&matcher->by_region);
    lp_text_clear(&matcher->scratch);
    free(matcher);
}

static bool is_end_of(const char *path, const char *end)
{
    size_t length = strlen(path), end_length = strlen(end);

    return length > end_length && path[length - end_length - 1] == '/' &&
           strcmp(path + length - end_length, end) == 0;
}

/* The region with this path, or the only one whose path ends with it. */
static const char *match_region(struct lp_ncu_matcher *matcher, const char *region)
{
    uint32_t row = lp_hashmap_get(&matcher->by_region, hash(region), 0);
    const char *found = NULL;

    if (row != LP_HASHMAP_NONE && strcmp(matcher->regions.items[row], region) == 0)
        return matcher->regions.items[row];
    if (!*region)
        return region;
    for (size_t i = 0; i < matcher->regions.count && i < SUFFIX_REGIONS; i++) {
        if (!is_end_of(matcher->regions.items[i], region))
            continue;
        if (found)
            return NULL;
        found = matcher->regions.items[i];
    }
    return found;
}

/* The kernel with this name in any region; else the only kernel of this region with this function
 * name. */
static const char *match_kernel(struct lp_ncu_matcher *matcher, const char *region,
                                const char *kernel)
{
    const char *only = NULL;
    bool several = false;
    uint32_t row;

    matcher->scratch.length = 0;
    lp_kernel_shorten(&matcher->scratch, kernel);
    if (matcher->scratch.failed)
        return NULL;
    row = lp_hashmap_get(&matcher->first, hash(last_part(matcher->scratch.bytes)), 0);
    for (; row != LP_HASHMAP_NONE; row = matcher->kernels.items[row].next) {
        const struct candidate *candidate = &matcher->kernels.items[row];

        if (strcmp(candidate->demangled, kernel) == 0)
            return candidate->name;
        if (strcmp(candidate->base, last_part(matcher->scratch.bytes)) != 0 ||
            (region && (!candidate->region || strcmp(candidate->region, region) != 0)))
            continue;
        several |= only && strcmp(only, candidate->name) != 0;
        only = candidate->name;
    }
    return several ? NULL : only;
}

int lp_ncu_match(struct lp_ncu_matcher *matcher, struct lp_ncu_place *place)
{
    const char *region = place->region ? match_region(matcher, place->region) : NULL;
    const char *kernel;

    if (place->region && !region)
        matcher->strange_regions++;
    place->region = region ? region : place->region;
    place->process_id = 0;
    if (!place->kernel)
        return 0;
    kernel = match_kernel(matcher, region, place->kernel);
    if (matcher->scratch.failed)
        return lp_out_of_memory();
    if (kernel)
        place->kernel = kernel;
    else
        matcher->strange_kernels++;
    return 0;
}

int lp_ncu_matcher_describe(const struct lp_ncu_matcher *matcher, llmperf_profile *profile)
{

    if (matcher->strange_kernels == 0 && matcher->strange_regions == 0)
        return 0;
    return lp_profile_note(
        profile,
        "ncu: %zu kernels and %zu ranges could not be matched with the timeline; their "
        "metrics are listed under ncu's names",
        matcher->strange_kernels, matcher->strange_regions);
}
