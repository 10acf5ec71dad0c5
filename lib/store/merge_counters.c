/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the counters of one preset, collected group by group in several runs of one program, into
 * the profile of the first run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/sys/run.h"

#define PARTS_MOST 64u
#define RANGES     "range_profiler"

/* A quantity that is computed from several parts. */
struct whole {
    llmperf_metric_stats metric; /* named after the quantity */
    uint64_t seen;               /* bit set of parts */
    unsigned parts;
};

struct merger {
    llmperf_profile *out;
    LP_VECTOR(struct whole) wholes;
    struct lp_hashmap keys; /* (region, name) -> index in `wholes` */
};

/* How the run's work differs from that of the first run; "": it does not. */
static void compare_work(const llmperf_profile *first, const llmperf_profile *other, char *why,
                         size_t size)
{
    why[0] = '\0';
    for (size_t i = 0; i < first->regions.count && i < other->regions.count && !why[0]; i++) {
        const llmperf_region_stats *a = &first->regions.items[i].stats;
        const llmperf_region_stats *b = &other->regions.items[i].stats;
        int order = strcmp(a->path, b->path);

        if (order == 0 && a->device == b->device && a->instances == b->instances)
            continue;
        if (order != 0 || a->device != b->device)
            snprintf(why, size, "it has regions that the first run does not have: %.300s", b->path);
        else
            snprintf(why, size,
                     "%.300s has %" PRIu64 " calls in it and %" PRIu64 " in the first run", a->path,
                     b->instances, a->instances);
    }
    if (!why[0] && first->regions.count != other->regions.count)
        snprintf(why, size, "it has %zu regions, the first run has %zu", other->regions.count,
                 first->regions.count);
}

/* Process ids differ between runs; the order of region rows does not. */
static uint32_t process_in_first(const llmperf_profile *first, const llmperf_profile *other,
                                 uint32_t process_id)
{
    for (size_t i = 0; i < other->regions.count; i++)
        if (other->regions.items[i].stats.process_id == process_id)
            return first->regions.items[i].stats.process_id;
    return process_id;
}

/* Read a name such as "flops_fp32 (part 2 of 3)". Returns the length of the quantity's name; 0: not
 * a part. */
static size_t read_part(const char *name, unsigned *part, unsigned *parts)
{
    const char *at = strstr(name, " (part ");

    return at && sscanf(at, " (part %u of %u)", part, parts) == 2 && *part >= 1 &&
                   *part <= *parts && *parts <= PARTS_MOST
               ? (size_t)(at - name)
               : 0;
}

static bool is_same(const llmperf_metric_stats *a, const llmperf_metric_stats *b)
{
    return a->device == b->device && a->process_id == b->process_id &&
           lp_compare_text(a->name, b->name) == 0 && lp_compare_text(a->region, b->region) == 0 &&
           lp_compare_text(a->kernel, b->kernel) == 0;
}

static uint64_t hash(const char *text)
{
    return text ? lp_hash_text(text, strlen(text)) : 0;
}

static struct whole *find_whole(struct merger *merger, const llmperf_metric_stats *metric,
                                unsigned parts)
{
    struct whole fresh = { .metric = *metric, .parts = parts };
    uint64_t key = hash(metric->region), second = hash(metric->name) + parts;
    uint32_t index;

    while ((index = lp_hashmap_get(&merger->keys, key, second)) != LP_HASHMAP_NONE) {
        struct whole *whole = &merger->wholes.items[index];

        if (whole->parts == parts && is_same(&whole->metric, metric))
            return whole;
        second++;
    }
    index = (uint32_t)merger->wholes.count;
    fresh.metric.mean = 0;
    fresh.metric.std = fresh.metric.min = fresh.metric.max = NAN; /* not known for a sum */
    if (lp_vector_push(&merger->wholes, fresh) < 0 ||
        lp_hashmap_put(&merger->keys, key, second, index) < 0)
        return NULL;
    return &merger->wholes.items[index];
}

static int add_part(struct merger *merger, const llmperf_metric_stats *metric, size_t length,
                    unsigned part, unsigned parts)
{
    llmperf_metric_stats named = *metric;
    struct whole *whole;
    char name[300];

    snprintf(name, sizeof(name), "%.*s", (int)(length < 299 ? length : 299), metric->name);
    if (!(named.name = lp_profile_text(merger->out, name)) ||
        !(whole = find_whole(merger, &named, parts)))
        return lp_out_of_memory();
    if (whole->seen & UINT64_C(1) << (part - 1))
        return 0;
    whole->seen |= UINT64_C(1) << (part - 1);
    whole->metric.mean += metric->mean;
    if (metric->count < whole->metric.count)
        whole->metric.count = metric->count;
    return 0;
}

/* Add a run's counters; those of the first run are already in the result. */
static int take_metrics(struct merger *merger, const llmperf_profile *first,
                        const llmperf_profile *from)
{
    int status = 0;

    for (size_t i = 0; i < from->metrics.count && status == 0; i++) {
        llmperf_metric_stats metric = from->metrics.items[i];
        unsigned part, parts;
        size_t length;

        if (lp_compare_text(metric.source, RANGES) != 0 || metric.count == 0)
            continue;
        metric.process_id = process_in_first(first, from, metric.process_id);
        if ((length = read_part(metric.name, &part, &parts)) > 0)
            status = add_part(merger, &metric, length, part, parts);
        else if (from != first && !lp_profile_has_metric(merger->out, &metric))
            status = lp_profile_add_metric(merger->out, &metric);
    }
    return status;
}

/* A run's notes say which counters it lacks. */
static int take_notes(struct merger *merger, const llmperf_profile *from, size_t number)
{
    int status = 0;

    for (size_t i = 0; i < from->notes.count && status == 0; i++)
        if (strncmp(from->notes.items[i], "counters: ", 10) == 0 ||
            strncmp(from->notes.items[i], "no hardware counters", 20) == 0)
            status = lp_profile_note(merger->out, "run %zu: %s", number, from->notes.items[i]);
    return status;
}

/* Remove quantities of which some part is missing. */
static int drop_parts(llmperf_profile *profile)
{
    size_t kept = 0;

    for (size_t i = 0; i < profile->metrics.count; i++) {
        unsigned part, parts;

        if (read_part(profile->metrics.items[i].name, &part, &parts) == 0)
            profile->metrics.items[kept++] = profile->metrics.items[i];
    }
    profile->metrics.count = kept;
    lp_hashmap_clear(&profile->metric_rows);
    return 0;
}

static int add_wholes(struct merger *merger)
{
    int status = 0;

    for (size_t i = 0; i < merger->wholes.count && status == 0; i++) {
        const struct whole *whole = &merger->wholes.items[i];
        uint64_t all = whole->parts == 64 ? UINT64_MAX : (UINT64_C(1) << whole->parts) - 1;

        if (whole->seen == all)
            status = lp_profile_add_metric(merger->out, &whole->metric);
        else
            status = lp_profile_note(
                merger->out,
                "counters: %s of %s is unknown because not all of its parts were measured.",
                whole->metric.name, whole->metric.region ? whole->metric.region : "a region");
    }
    return status;
}

static int merge_runs(struct merger *merger, const llmperf_profile *const *profiles, size_t count,
                      size_t *merged_out)
{
    int status = take_metrics(merger, profiles[0], profiles[0]);
    char why[500];

    *merged_out = 1;
    for (size_t i = 1; i < count && status == 0; i++) {
        compare_work(profiles[0], profiles[i], why, sizeof(why));
        if (why[0]) {
            status = lp_profile_note(merger->out, "counters: those of run %zu were skipped: %s.",
                                     i + 1, why);
            continue;
        }
        ++*merged_out;
        if ((status = take_metrics(merger, profiles[0], profiles[i])) == 0)
            status = take_notes(merger, profiles[i], i + 1);
    }
    if (status == 0 && (status = drop_parts(merger->out)) == 0)
        status = add_wholes(merger);
    return status;
}

static int add_line(llmperf_profile *out, size_t merged, size_t count)
{

    return lp_profile_note(
        out,
        "counters: merged from %zu of %zu runs of the program, one counter pass per run; "
        "times and kernels are from the first run.",
        merged, count);
}

int llmperf_profile_merge_counters(const llmperf_profile *const *profiles, size_t count,
                                   const char *run_id, size_t *merged_out,
                                   llmperf_profile **profile_out)
{
    struct merger merger = { .out = NULL };
    size_t merged = 0;
    int status;

    if (!profiles || count == 0 || !profile_out)
        return lp_error(LLMPERF_EINVAL, "profiles and profile_out are required");
    for (size_t i = 0; i < count; i++)
        if (!profiles[i])
            return lp_error(LLMPERF_EINVAL, "profile %zu is NULL", i);
    if ((status = lp_profile_join(profiles, 1, &merger.out)) < 0)
        return status;
    if ((status = merge_runs(&merger, profiles, count, &merged)) == 0 &&
        (status = add_line(merger.out, merged, count)) == 0 &&
        (!run_id || (status = lp_profile_set_fact(merger.out, "run_id", run_id)) == 0))
        status = lp_profile_finish(merger.out);
    lp_vector_clear(&merger.wholes);
    lp_hashmap_clear(&merger.keys);
    if (status < 0) {
        llmperf_profile_free(merger.out);
        return status;
    }
    if (merged_out)
        *merged_out = merged;
    *profile_out = merger.out;
    return 0;
}
