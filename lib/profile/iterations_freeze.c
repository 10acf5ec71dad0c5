/* SPDX-License-Identifier: Apache-2.0 */
/** The end of iterations: their rows in a profile, what they say of its other rows, their memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/profile/iterations.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"

/* Calls at a time that are more than calls that only touch. */
#define AT_ONCE 1.05

enum row_of { OF_TIME, OF_CLASS, OF_WARM_UP };

static int add_stats(llmperf_profile *profile, const char *region, const char *quantity,
                     enum row_of of, const struct lp_distribution *distribution,
                     const struct lp_stage_sampling *sampling, size_t index)
{
    struct lp_iteration_stats_row row = { .stats = LLMPERF_ITERATION_STATS_INIT };
    llmperf_iteration_stats *stats = &row.stats;

    stats->region = region;
    stats->quantity = lp_profile_text(profile, quantity);
    stats->is_class = of == OF_CLASS;
    stats->warm_up = of == OF_WARM_UP;
    stats->count = distribution->count;
    stats->sum_ms = (double)distribution->sum_ns / 1e6;
    stats->mean_ms = lp_distribution_mean(distribution);
    stats->std_ms = lp_distribution_std(distribution);
    stats->min_ms = stats->count > 0 ? lp_to_ms(distribution->min_ns) : (double)NAN;
    stats->max_ms = stats->count > 0 ? lp_to_ms(distribution->max_ns) : (double)NAN;
    stats->estimate_calls = LLMPERF_UNKNOWN;
    LP_NO_ESTIMATE(stats);
    if (sampling)
        lp_stage_sampling_estimate(sampling, index, stats);
    lp_set_percentiles(LP_ROW_SPREAD, stats, &distribution->histogram, stats->min_ms,
                       stats->max_ms);
    if (!stats->quantity ||
        lp_profile_histogram(profile, &distribution->histogram, &row.histogram) < 0)
        return lp_out_of_memory();
    return lp_vector_push(&profile->iteration_stats, row);
}

/* More work in each call, or work that takes longer with the same kernels, is no warm-up: a batch
 * became smaller, or prefill and decoding are one stage. */
#define MORE_WORK  1.25
#define SAME_COUNT 1.1

static uint64_t amount_of(const llmperf_iteration *row, bool flops)
{
    uint64_t amount = flops ? row->flops : row->tokens;

    return amount == LLMPERF_UNKNOWN ? 0 : amount;
}

static bool have_more(const struct lp_stage_total *stage, size_t calls, bool flops)
{
    const struct lp_stage_amount *amount = flops ? &stage->flops : &stage->tokens;
    double first = 0, rest;

    for (size_t i = 0; i < calls; i++)
        first += (double)amount_of(&stage->held.items[i].row, flops);
    rest = (amount->all - first) / (double)(stage->calls - stage->window_units - calls);
    return first / (double)calls > MORE_WORK * rest;
}

/* Of the collected ones of some held calls: calls, host time, busy time, activities. */
struct work_sum {
    double calls, wall_ms, busy_ms, activities;
};

static struct work_sum work_of(const struct lp_stage_total *stage, size_t first, size_t last)
{
    struct work_sum sum = { 0 };

    for (size_t i = first; i < last; i++) {
        const llmperf_iteration *row = &stage->held.items[i].row;

        if (row->activities == LLMPERF_UNKNOWN)
            continue;
        sum.calls++;
        sum.wall_ms += row->wall_ms;
        sum.busy_ms += row->busy_ms;
        sum.activities += (double)row->activities;
    }
    return sum;
}

/* A first call alone is compared by its amount of work only: its kernels may start late. */
static bool run_longer(const struct lp_stage_total *stage, size_t calls)
{
    struct work_sum first = work_of(stage, 0, calls);
    struct work_sum rest = work_of(stage, calls, stage->held.count);
    double count = first.activities / first.calls / (rest.activities / rest.calls);

    return calls > 1 && count < SAME_COUNT && count > 1 / SAME_COUNT &&
           first.busy_ms / first.calls - rest.busy_ms / rest.calls >
               (first.wall_ms / first.calls - rest.wall_ms / rest.calls) / 2;
}

static size_t warm_up_of(const struct lp_stage_total *stage)
{
    double first_ms[LP_WARM_UP_HELD];
    size_t calls;

    for (size_t i = 0; i < stage->held.count; i++)
        first_ms[i] = stage->held.items[i].row.wall_ms;
    calls = lp_warm_up_calls(first_ms, stage->held.count, &stage->times[LP_TIME_WALL]);
    return calls > 0 && !have_more(stage, calls, true) && !have_more(stage, calls, false) &&
                   !run_longer(stage, calls)
               ? calls
               : 0;
}

static int copy_steady(struct lp_stage_total *steady, const struct lp_stage_total *stage)
{
    int status = 0;

    if (stage->steady && !(steady->steady = calloc(1, sizeof(*steady->steady))))
        return lp_out_of_memory();
    if (stage->steady)
        *steady->steady = *stage->steady;
    for (size_t i = 0; status == 0 && i < LP_TIMES; i++)
        status = lp_distribution_copy(&steady->times[i], &stage->times[i]);
    for (size_t i = 0; status == 0 && i < LLMPERF_ITERATION_CLASSES; i++) {
        if (!stage->classes[i])
            continue;
        steady->classes[i] = calloc(1, sizeof(*steady->classes[i]));
        status = steady->classes[i] ? lp_distribution_copy(steady->classes[i], stage->classes[i])
                                    : lp_out_of_memory();
    }
    return status;
}

static int add_rows_of(llmperf_profile *profile, const struct lp_stage_total *steady,
                       const struct lp_stage_total *warm_up, const char *region,
                       const struct lp_classifier *classifier)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < LP_TIMES; i++) {
        if (steady->times[i].count + warm_up->times[i].count > 0)
            status = add_stats(profile, region, lp_time_names[i].name, OF_TIME, &steady->times[i],
                               i == LP_TIME_WALL ? NULL : steady->steady, i);
        if (status == 0 && warm_up->times[i].count > 0)
            status = add_stats(profile, region, lp_time_names[i].name, OF_WARM_UP,
                               &warm_up->times[i], NULL, i);
    }
    for (size_t i = 0; status == 0 && classifier->name && i < LLMPERF_ITERATION_CLASSES; i++)
        if (steady->classes[i])
            status = add_stats(profile, region, classifier->name(classifier->context, i), OF_CLASS,
                               steady->classes[i], steady->steady, LP_TIMES + i);
    return status;
}

static int add_stage(llmperf_profile *profile, const struct lp_stage_total *stage,
                     const struct lp_classifier *classifier)
{
    struct lp_stage_total steady = { 0 }, warm_up = { 0 };
    const char *region = lp_profile_text(profile, stage->path);
    size_t calls = warm_up_of(stage);
    int status = region ? copy_steady(&steady, stage) : lp_out_of_memory();

    for (size_t i = 0; status == 0 && i < stage->held.count; i++)
        status = lp_stage_add_call(i < calls ? &warm_up : &steady, &stage->held.items[i]);
    if (status == 0)
        status = add_rows_of(profile, &steady, &warm_up, region, classifier);
    lp_stage_clear(&steady);
    lp_stage_clear(&warm_up);
    return status;
}

static int name_classes(llmperf_profile *profile, const struct lp_classifier *classifier)
{
    const char *name = NULL;
    char key[32];
    int status = 0;

    for (size_t i = 0; status == 0 && classifier->name && i < LLMPERF_ITERATION_CLASSES; i++) {
        if (!(name = classifier->name(classifier->context, i)))
            break;
        snprintf(key, sizeof(key), LP_CLASS_FACT "%zu", i);
        status = lp_profile_set_fact(profile, key, name);
    }
    return status;
}

/* Remove classes without a name in the table. */
static void drop_unnamed(llmperf_iteration *row, const struct lp_classifier *classifier)
{
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++)
        if (!classifier->name || !classifier->name(classifier->context, i))
            row->class_ms[i] = NAN;
}

static int add_iteration(const llmperf_iteration *row, const struct lp_classifier *classifier,
                         llmperf_profile *profile)
{
    llmperf_iteration copy = *row;

    drop_unnamed(&copy, classifier);
    copy.region = lp_profile_text(profile, row->region);
    return copy.region ? lp_vector_push(&profile->iterations, copy) : lp_out_of_memory();
}

/* The newest, and before them the first of each stage: warm-up shows there. */
static int add_rows(const struct lp_iterations *iterations, const struct lp_classifier *classifier,
                    llmperf_profile *profile)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint64_t oldest = UINT64_MAX;
    int status = 0;

    while (status == 0 && lp_iteration_ring_next(iterations->recent, row.sequence, &row)) {
        oldest = row.sequence < oldest ? row.sequence : oldest;
        status = add_iteration(&row, classifier, profile);
    }
    for (size_t i = 0; status == 0 && i < iterations->stages.count; i++)
        if (iterations->stages.items[i].held.count > 0 &&
            iterations->stages.items[i].held.items[0].row.sequence < oldest)
            status =
                add_iteration(&iterations->stages.items[i].held.items[0].row, classifier, profile);
    return status;
}

/* NULL: no call of the path was followed. */
static const struct lp_stage_total *stage_at(const struct lp_iterations *iterations, uint32_t node)
{
    uint32_t row = lp_hashmap_get(&iterations->stage_rows, node, 0);

    return row == LP_HASHMAP_NONE ? NULL : &iterations->stages.items[row];
}

/* Only stages that were sampled themselves, not enclosing ones. */
static bool is_sampled(const struct lp_stage_total *stage)
{
    return stage->collected > 0;
}

static double collected_share(const struct lp_stage_total *stage)
{
    uint64_t instances = stage->calls - stage->window_units;

    if (stage->flops.instances == instances)
        return stage->flops.collected / stage->flops.all;
    if (stage->tokens.instances == instances)
        return stage->tokens.collected / stage->tokens.all;
    return (double)stage->collected / (double)instances;
}

/* A path in a sampled stage has that stage's share. */
static void pass_down(const struct lp_iterations *iterations, double *fractions, uint32_t count)
{
    for (uint32_t i = LP_PATH_OTHER + 1; i < count; i++) {
        uint32_t node = lp_path_nth(i);
        const struct lp_stage_total *stage = stage_at(iterations, node);

        if (fractions[lp_path_get(node)->parent] > 0)
            fractions[node] = fractions[lp_path_get(node)->parent];
        else if (stage && is_sampled(stage) && lp_stage_sampled_ns(stage) > 0)
            fractions[node] = collected_share(stage);
    }
}

/* A sampled stage inside another one is part of it, and is not counted again. */
static bool is_outermost_within(const struct lp_iterations *iterations,
                                const struct lp_stage_total *stage, uint32_t node)
{
    const struct lp_stage_total *outer;
    uint32_t above = stage->node;

    if (!is_sampled(stage))
        return false;
    while (above != node && above != LP_PATH_ROOT) {
        above = lp_path_get(above)->parent;
        outer = stage_at(iterations, above);
        if (outer && is_sampled(outer))
            return false;
    }
    return above == node;
}

/* Share of all sampled stages inside a path; 0: there is none. */
static double share_within(const struct lp_iterations *iterations, uint32_t node)
{
    double collected_ns = 0, all_ns = 0;

    for (size_t i = 0; i < iterations->stages.count; i++) {
        const struct lp_stage_total *stage = &iterations->stages.items[i];

        if (!is_outermost_within(iterations, stage, node))
            continue;
        collected_ns += collected_share(stage) * (double)lp_stage_sampled_ns(stage);
        all_ns += (double)lp_stage_sampled_ns(stage);
    }
    return all_ns > 0 ? collected_ns / all_ns : 0;
}

void lp_iterations_fractions(const struct lp_iterations *iterations, bool sampled,
                             double *fractions, uint32_t nodes, uint32_t count)
{
    for (uint32_t node = 0; node < nodes; node++)
        fractions[node] = sampled ? 0 : 1;
    if (!sampled)
        return;
    pass_down(iterations, fractions, count);
    for (uint32_t node = LP_PATH_OTHER + 1; node < nodes; node++)
        if (fractions[node] <= 0)
            fractions[node] = share_within(iterations, node);
}

double lp_iterations_fraction(const struct lp_iterations *iterations)
{
    return share_within(iterations, LP_PATH_ROOT);
}

/* The sample that the calls of a path are part of: of the outermost sampled stage; NULL: none. Did
 * calls of a stage around it run at the same time? Then those that were not collected had other
 * work beside them. */
static const struct lp_stage_sampling *sampling_of(const struct lp_iterations *iterations,
                                                   uint32_t node, bool *at_once_out)
{
    const struct lp_stage_sampling *outermost = NULL;

    for (; iterations->sampled && node != LP_PATH_ROOT && node != LP_PATH_UNKNOWN;
         node = lp_path_get(node)->parent) {
        const struct lp_stage_total *stage = stage_at(iterations, node);

        if (!stage)
            continue;
        outermost = stage->sampling ? stage->sampling : outermost;
        *at_once_out |=
            (double)stage->calls_ns >
            AT_ONCE *
                (double)iterations->active.rows.items[stage - iterations->stages.items].own.ns;
    }
    return outermost;
}

/* What the sample says of all calls.
 * @param share  Part of the estimated time that the row reports. */
#define SET_ESTIMATE(row, total, share)                                                            \
    ((row)->estimate_collected = (total).collected, (row)->estimate_reason = (total).reason,       \
     (row)->estimate_ms = (share) * (total).ms, (row)->estimate_low_ms = (share) * (total).low_ms, \
     (row)->estimate_high_ms = (share) * (total).high_ms)

/* Regions have the union of their intervals, which is estimated as the same part of their sum. */
void lp_iterations_estimate_region(const struct lp_iterations *iterations, uint32_t node,
                                   size_t row, llmperf_region_stats *stats)
{
    bool at_once = false;
    const struct lp_stage_sampling *sampling = sampling_of(iterations, node, &at_once);
    double sum_ms = stats->kernel_ms + stats->memcpy_ms + stats->memset_ms;
    struct lp_sampled_total total;

    LP_NO_ESTIMATE(stats);
    if (!sampling || !(sum_ms > 0)) {
        if (stats->skipped_fraction > 0 && stats->skipped_fraction < 1)
            stats->estimate_reason = iterations->sampled ? LP_PART_COLLECTED : LP_CHANCE_UNKNOWN;
        return;
    }
    total = lp_stage_sampling_total(sampling, LP_SAMPLED_REGIONS, row);
    if (at_once) {
        total.low_ms = total.high_ms = NAN;
        total.reason = "calls ran at the same time";
    }
    SET_ESTIMATE(stats, total, stats->gpu_busy_ms / sum_ms);
}

void lp_iterations_estimate_kernel(const struct lp_iterations *iterations, uint32_t node,
                                   size_t row, bool all, llmperf_kernel_stats *stats)
{
    bool at_once = false;
    const struct lp_stage_sampling *sampling = sampling_of(iterations, node, &at_once);
    struct lp_sampled_total total;

    LP_NO_ESTIMATE(stats);
    if (!sampling) {
        stats->estimate_reason = all ? NULL : LP_CHANCE_UNKNOWN;
        return;
    }
    total = lp_stage_sampling_total(sampling, LP_SAMPLED_KERNELS, row);
    SET_ESTIMATE(stats, total, 1);
}

void lp_iterations_fill(const struct lp_iterations *iterations, uint32_t node,
                        llmperf_region_stats *stats)
{
    const struct lp_stage_total *stage = stage_at(iterations, node);

    stats->active_ms = stats->collected_wall_ms = NAN;
    if (!stage || stats->instances == 0)
        return;
    /* While a program runs, and in a run of one that was killed, the last calls are still to come.
     */
    if (stage->calls <= stats->instances)
        stats->collected_wall_ms = (double)stage->collected_ns / 1e6;
    if (stage->calls == stats->instances)
        stats->active_ms =
            (double)iterations->active.rows.items[stage - iterations->stages.items].own.ns / 1e6;
}

int lp_iterations_freeze(struct lp_iterations *iterations, const struct lp_names *names,
                         const struct lp_classifier *classifier, llmperf_profile *profile)
{
    int status = iterations->stages.count > 0 ? name_classes(profile, classifier) : 0;

    for (size_t i = 0; status == 0 && i < iterations->stages.count; i++)
        status = add_stage(profile, &iterations->stages.items[i], classifier);
    if (status == 0)
        status = add_rows(iterations, classifier, profile);
    for (size_t i = 0; status == 0 && i < iterations->stages.count; i++)
        status = lp_kept_call_freeze(&iterations->stages.items[i].kept,
                                     iterations->stages.items[i].path, names, classifier, profile);
    if (status == 0 && iterations->late > 0)
        status = lp_profile_note(profile,
                                 "%llu device records came after their iteration was closed: "
                                 "its times are too small by them; totals are not",
                                 (unsigned long long)iterations->late);
    if (status == 0 && iterations->unordered > 0)
        status = lp_profile_note(profile,
                                 "%llu device records came after 250,000 later ones of their "
                                 "iteration: its busy time is too short and its idle time too "
                                 "long by at most their durations; totals are correct",
                                 (unsigned long long)iterations->unordered);
    return status;
}

void lp_stage_clear(struct lp_stage_total *stage)
{
    lp_vector_clear(&stage->held);
    lp_stage_sampling_clear(stage->sampling);
    free(stage->sampling);
    free(stage->steady);
    for (size_t i = 0; i < LP_TIMES; i++)
        lp_distribution_clear(&stage->times[i]);
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++) {
        if (stage->classes[i])
            lp_distribution_clear(stage->classes[i]);
        free(stage->classes[i]);
    }
}

void lp_iterations_clear(struct lp_iterations *iterations)
{
    for (size_t i = 0; i < iterations->works.count; i++) {
        if (iterations->works.items[i]) {
            lp_vector_clear(&iterations->works.items[i]->spans);
            lp_vector_clear(&iterations->works.items[i]->calls);
            lp_kept_call_clear(&iterations->works.items[i]->kept);
            for (size_t by = 0; by < LP_SAMPLED_BY; by++)
                lp_vector_clear(&iterations->works.items[i]->times[by]);
        }
        free(iterations->works.items[i]);
    }
    for (size_t i = 0; i < iterations->stages.count; i++) {
        free(iterations->stages.items[i].path);
        lp_kept_call_clear(&iterations->stages.items[i].kept);
        lp_stage_clear(&iterations->stages.items[i]);
    }
    for (size_t i = 0; i < iterations->devices.count; i++)
        lp_vector_clear(&iterations->devices.items[i].work.spans);
    lp_vector_clear(&iterations->devices);
    lp_vector_clear(&iterations->works);
    lp_windows_clear(&iterations->windows);
    lp_host_calls_clear(&iterations->host_calls);
    lp_vector_clear(&iterations->stages);
    lp_busy_clear(&iterations->active);
    free(iterations->recent);
    lp_hashmap_clear(&iterations->stage_rows);
    lp_hashmap_clear(&iterations->begun);
    lp_energy_clear(&iterations->energy);
}
