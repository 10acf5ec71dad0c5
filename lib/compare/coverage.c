/* SPDX-License-Identifier: Apache-2.0 */
/* How much of each run's time the other side has as well. Without it "nothing is slower" may only
 * mean that nothing could be compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/base/status.h"
#include "lib/compare/compare.h"
#include "lib/compare/reader.h"
#include "lib/profile/fields.h"

#define ENOUGH 0.5 /* share of a run's time */

/* The runs of a side are contiguous in the table. */
struct side {
    const char *name;
    const struct lp_compare_runs *runs;
    size_t first;
};

struct sides {
    const struct lp_compare_table *table;
    struct side of[2];
    LP_VECTOR(size_t) around; /* by key: the enclosing region's key; SIZE_MAX: none */
    double same_kernels[2];   /* by side: share of the time outside of regions in kernels that both
                                 sides have */
};

static bool has(const struct sides *sides, size_t key, size_t run)
{
    return !isnan(sides->table->values.items[key * sides->table->runs + run].of.mean_ms);
}

static bool side_has(const struct sides *sides, const struct side *side, size_t key)
{
    for (size_t i = 0; i < side->runs->count; i++)
        if (has(sides, key, side->first + i))
            return true;
    return false;
}

static bool is_outermost(const struct sides *sides, size_t key, size_t run)
{
    while ((key = sides->around.items[key]) != SIZE_MAX)
        if (has(sides, key, run))
            return false;
    return true;
}

/* If an enclosing region is shared, its time includes this one. */
static bool is_within_shared(const struct sides *sides, size_t key, size_t run,
                             const struct side *other)
{
    while ((key = sides->around.items[key]) != SIZE_MAX)
        if (has(sides, key, run) && side_has(sides, other, key))
            return true;
    return false;
}

static double share_of(const struct sides *sides, size_t at, size_t run, const char *quantity)
{
    const struct lp_compare_table *table = sides->table;
    const struct side *other = &sides->of[!at];
    double all = 0, shared = 0;

    for (size_t i = 0; i < table->keys.count; i++) {
        const struct lp_compare_key *key = &table->keys.items[i];
        double total_ms = table->values.items[i * table->runs + run].of.total_ms;

        if (key->scope != LP_COMPARE_JOB || strcmp(key->quantity, quantity) != 0 ||
            !has(sides, i, run))
            continue;
        all += is_outermost(sides, i, run) ? total_ms : 0;
        if (side_has(sides, other, i) && !is_within_shared(sides, i, run, other))
            shared += total_ms * (*key->region ? 1 : sides->same_kernels[at]);
    }
    return all > 0 ? fmin(shared / all, 1) : (double)NAN;
}

/* @param path  Buffer for the longest path. */
static size_t around_of(const struct lp_compare_table *table, struct lp_compare_key key, char *path)
{
    size_t around = SIZE_MAX;
    char *slash;

    key.region = memcpy(path, key.region, strlen(key.region) + 1);
    while (around == SIZE_MAX && (slash = strrchr(path, '/'))) {
        *slash = '\0';
        around = lp_compare_find_key(table, &key);
    }
    return around;
}

static int find_around(struct sides *sides)
{
    const struct lp_compare_table *table = sides->table;
    size_t longest = 0;
    char *path;

    for (size_t i = 0; i < table->keys.count; i++)
        if (strlen(table->keys.items[i].region) > longest)
            longest = strlen(table->keys.items[i].region);
    path = malloc(longest + 1);
    if (!path || lp_vector_reserve(&sides->around, table->keys.count) < 0) {
        free(path);
        return LLMPERF_ENOMEM;
    }
    for (size_t i = 0; i < table->keys.count; i++)
        sides->around.items[sides->around.count++] = around_of(table, table->keys.items[i], path);
    free(path);
    return 0;
}

/* The next kernel launched outside of regions; advances *at. */
static bool next_outside(const llmperf_profile *profile, size_t *at, llmperf_kernel_stats *kernel)
{
    while (*at < lp_row_count(profile, LP_ROW_KERNEL)) {
        *kernel = (llmperf_kernel_stats)LLMPERF_KERNEL_STATS_INIT;
        llmperf_profile_kernel(profile, (*at)++, kernel);
        if (kernel->region && !*kernel->region && !isnan(kernel->total_ms) && kernel->calls > 0)
            return true;
    }
    return false;
}

static int add_names(const struct lp_compare_runs *runs, struct lp_hashmap *names)
{
    llmperf_kernel_stats kernel;

    for (size_t i = 0; i < runs->count; i++)
        for (size_t at = 0; next_outside(runs->profiles[i], &at, &kernel);)
            if (lp_hashmap_put(names, lp_compare_hash(kernel.demangled), strlen(kernel.demangled),
                               0) < 0)
                return LLMPERF_ENOMEM;
    return 0;
}

/* Any two programs have time outside of regions, so only kernels of the same name count there. */
static int find_same_kernels(struct sides *sides, size_t at)
{
    const struct lp_compare_runs *runs = sides->of[at].runs;
    struct lp_hashmap names = { 0 };
    double all = 0, same = 0;
    int status = add_names(sides->of[!at].runs, &names);
    llmperf_kernel_stats kernel;

    for (size_t i = 0; i < runs->count; i++)
        for (size_t next = 0; next_outside(runs->profiles[i], &next, &kernel);) {
            all += kernel.total_ms;
            if (lp_hashmap_get(&names, lp_compare_hash(kernel.demangled),
                               strlen(kernel.demangled)) != LP_HASHMAP_NONE)
                same += kernel.total_ms;
        }
    sides->same_kernels[at] = all > 0 ? same / all : 0;
    lp_hashmap_clear(&names);
    return status;
}

/* Reasons */

static void name_run(const struct side *side, size_t run, char *name, size_t size)
{
    if (side->runs->count == 1)
        snprintf(name, size, "%s", side->name);
    else
        snprintf(name, size, "run %zu of %s", run + 1, side->name);
}

/* ncu runs kernels one by one, so that their times are others. */
static bool is_of_ncu(const llmperf_profile *profile)
{
    const char *source = llmperf_profile_fact(profile, "source");

    return source && strcmp(source, "ncu") == 0;
}

/* Set the reason for a run, unless there is one. */
static void check_missing(struct lp_comparison *out, const struct side *side, size_t run,
                          bool device)
{
    const struct lp_compare_coverage *coverage = &out->coverage.items[side->first + run];
    bool dead = lp_compare_run_verdict(side->runs->profiles[run]) == LLMPERF_VERDICT_DEAD;
    char name[48];

    name_run(side, run, name, sizeof(name));
    if (dead)
        snprintf(out->reason, sizeof(out->reason), "%s received no device records (verdict dead)",
                 name);
    else if (isnan(device ? coverage->device : coverage->host))
        snprintf(out->reason, sizeof(out->reason), "%s has no %s", name,
                 device ? "kernels" : "kernels and no regions");
}

static void check_share(struct lp_comparison *out, const struct side *side,
                        const struct side *other, size_t run, bool device)
{
    const struct lp_compare_coverage *coverage = &out->coverage.items[side->first + run];
    double share = device ? coverage->device : coverage->host;
    char name[48];

    if (share >= ENOUGH)
        return;
    name_run(side, run, name, sizeof(name));
    snprintf(out->reason, sizeof(out->reason),
             "only %s %% of the %s time of %s is in %s that %s has too", LP_NUMBER(share * 100, 3),
             device ? "device" : "host", name, device ? "regions or kernels" : "regions",
             other->name);
}

static void check_judged(struct lp_comparison *out)
{
    for (size_t i = 0; i < out->rows.count; i++) {
        const struct lp_compare_row *row = &out->rows.items[i];

        if (row->key.scope == LP_COMPARE_JOB &&
            (row->verdict == LP_COMPARE_SAME || row->verdict == LP_COMPARE_SLOWER ||
             row->verdict == LP_COMPARE_FASTER))
            return;
    }
    snprintf(out->reason, sizeof(out->reason), "no region has times that can be compared");
}

/* The first reason that holds: a missing region or device explains the low share that it causes.
 * Device time decides if any run has it, otherwise host time. */
static void find_reason(struct lp_comparison *out, const struct sides *sides)
{
    const struct side *base = &sides->of[0], *fresh = &sides->of[1];
    size_t runs = out->coverage.count;
    bool device = false;

    if (is_of_ncu(base->runs->profiles[0]) != is_of_ncu(fresh->runs->profiles[0]))
        snprintf(out->reason, sizeof(out->reason),
                 "%s was measured by ncu, kernel by kernel, and the other side was not",
                 is_of_ncu(fresh->runs->profiles[0]) ? fresh->name : base->name);
    for (size_t i = 0; i < runs; i++)
        device |= !isnan(out->coverage.items[i].device);
    for (size_t i = 0; i < 2 * runs && !out->reason[0]; i++) {
        const struct side *side = i % runs < fresh->first ? base : fresh;
        size_t run = i % runs - side->first;

        if (i < runs)
            check_missing(out, side, run, device);
        else
            check_share(out, side, side == base ? fresh : base, run, device);
    }
    if (!out->reason[0])
        check_judged(out);
}

static int measure(struct lp_comparison *out, struct sides *sides)
{
    int status = find_around(sides);

    for (size_t at = 0; at < 2 && status == 0; at++)
        status = find_same_kernels(sides, at);
    for (size_t at = 0; at < 2 && status == 0; at++)
        for (size_t i = 0; i < sides->of[at].runs->count && status == 0; i++) {
            size_t run = sides->of[at].first + i;

            status = lp_vector_push(
                &out->coverage,
                ((struct lp_compare_coverage){ share_of(sides, at, run, LP_COMPARE_ALL),
                                               share_of(sides, at, run, LP_COMPARE_WALL) }));
        }
    return status;
}

int lp_compare_cover(struct lp_comparison *out, const struct lp_compare_table *table,
                     const struct lp_compare_runs *base, const struct lp_compare_runs *fresh)
{
    struct sides sides = { .table = table,
                           .of = { { "base", base, 0 }, { "new", fresh, base->count } } };
    int status = measure(out, &sides);

    lp_vector_clear(&sides.around);
    if (status < 0)
        return lp_out_of_memory();
    find_reason(out, &sides);
    return 0;
}
