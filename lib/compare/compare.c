/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the means of both sides with Welch's test. The samples are the runs where a side has
 * several; in a single run they are the calls of a region in one process, or the kernel calls on
 * one GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/compare/compare.h"

/* Several runs: the mean of their means; its error comes from how much these vary. */
static struct lp_compare_side side_of_several(const struct lp_compare_value *values, size_t count,
                                              bool iterations)
{
    struct lp_compare_side side = { .of = { 0, NAN, 0, 0, 0 }, .number = LP_COMPARE_NOBODY };
    double squares = 0, runs;

    for (size_t i = 0; i < count; i++) {
        const struct lp_compare_mean *mean = iterations ? &values[i].iterations : &values[i].of;
        double apart = mean->mean_ms - side.of.mean_ms;

        if (isnan(mean->mean_ms))
            continue;
        side.runs++;
        side.of.mean_ms += apart / side.runs;
        squares += apart * (mean->mean_ms - side.of.mean_ms);
        side.of.total_ms += (mean->total_ms - side.of.total_ms) / side.runs;
        side.whole_ms += (values[i].whole_ms - side.whole_ms) / side.runs;
        side.stage_ms += (values[i].stage_ms - side.stage_ms) / side.runs;
        for (int k = 0; k < LP_COMPARE_AMOUNTS; k++)
            side.work.amounts[k] += (values[i].work.amounts[k] - side.work.amounts[k]) / side.runs;
        side.of.instances += mean->instances;
    }
    runs = side.runs;
    side.of.mean_ms = side.runs ? side.of.mean_ms : (double)NAN;
    if (side.runs > 1) {
        side.of.error_ms = sqrt(squares / (runs - 1) / runs);
        side.of.freedom = runs - 1;
    }
    return side;
}

static struct lp_compare_side side_of(const struct lp_compare_value *values, size_t count,
                                      bool iterations)
{
    const struct lp_compare_mean *mean = iterations ? &values->iterations : &values->of;

    if (count > 1)
        return side_of_several(values, count, iterations);
    return (struct lp_compare_side){ .of = *mean,
                                     .work = values->work,
                                     .whole_ms = values->whole_ms,
                                     .stage_ms = values->stage_ms,
                                     .single_sample = values->single_sample,
                                     .runs = isnan(mean->mean_ms) ? 0u : 1u,
                                     .number = values->number };
}

static int add_row(struct lp_comparison *out, struct lp_compare_row row, bool sum)
{
    bool job = row.key.scope == LP_COMPARE_JOB;
    double base = row.base.of.mean_ms;

    if (isnan(base) && isnan(row.fresh.of.mean_ms))
        return 0;
    row.change = base > 0 ? row.fresh.of.mean_ms / base - 1 : (double)NAN;
    row.work = lp_compare_work_change(&row, out->same_gpus);
    row.noise_ms = lp_compare_noise(&row.base.of, &row.fresh.of);
    row.verdict = lp_compare_judge(out, &row, sum);
    if ((row.verdict == LP_COMPARE_SLOWER || row.verdict == LP_COMPARE_FASTER) &&
        lp_compare_is_small(out, &row)) {
        row.verdict = LP_COMPARE_MINOR;
        out->small += job;
    }
    *(job ? &out->slower : &out->parts_slower) += row.verdict == LP_COMPARE_SLOWER;
    *(job ? &out->faster : &out->parts_faster) += row.verdict == LP_COMPARE_FASTER;
    out->other_work += job && row.verdict == LP_COMPARE_WORK;
    return lp_vector_push(&out->rows, row);
}

static bool all_have_iterations(const struct lp_compare_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i].iterations.mean_ms))
            return false;
    return true;
}

static bool is_sum(const struct lp_compare_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i].of.mean_ms) && values[i].number != LP_COMPARE_NOBODY)
            return false;
    return true;
}

static int add_rows(struct lp_comparison *out, const struct lp_compare_table *table, size_t base)
{
    int status = 0;

    for (size_t i = 0; i < table->keys.count && status == 0; i++) {
        const struct lp_compare_value *values = &table->values.items[i * table->runs];
        bool iterations = all_have_iterations(values, table->runs);
        struct lp_compare_row row = { .key = table->keys.items[i],
                                      .base = side_of(values, base, iterations),
                                      .fresh =
                                          side_of(values + base, table->runs - base, iterations) };

        if (row.key.scope == LP_COMPARE_JOB || out->paired)
            status = add_row(out, row, is_sum(values, table->runs));
    }
    return status;
}

/* Only runs with the same ranks are compared rank by rank: a rank of two has other work than one of
 * four. */
static void pair_ranks(struct lp_comparison *out)
{
    const struct lp_compare_ranks *first = out->ranks.items;

    out->paired = out->same_gpus = true;
    for (size_t i = 0; i < out->ranks.count; i++) {
        const struct lp_compare_ranks *ranks = &out->ranks.items[i];

        out->has_ranks |= ranks->several;
        out->same_gpus &= ranks->gpus == first->gpus;
        out->paired &= ranks->one_gpu_each == first->one_gpu_each &&
                       ranks->processes.count == first->processes.count &&
                       (first->processes.count == 0 ||
                        memcmp(ranks->processes.items, first->processes.items,
                               first->processes.count * sizeof(*first->processes.items)) == 0);
    }
    out->paired &= out->has_ranks && out->same_gpus;
}

static bool is_lonely(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_ONLY_BASE || row->verdict == LP_COMPARE_ONLY_NEW;
}

/* Rows of both sides first, largest difference of totals first; then rows of one side. */
static double weight(const struct lp_compare_row *row)
{
    return fabs(fmax(row->fresh.of.total_ms, 0) - fmax(row->base.of.total_ms, 0));
}

static int compare_rows(const void *left, const void *right)
{
    const struct lp_compare_row *a = left, *b = right;
    double first = weight(a), second = weight(b);
    int order = is_lonely(a) - is_lonely(b);

    order = order ? order : LP_ORDER(second, first);
    order = order ? order : strcmp(a->key.region, b->key.region);
    order = order ? order : strcmp(a->key.quantity, b->key.quantity);
    order = order ? order : LP_ORDER(a->key.scope, b->key.scope);
    return order ? order : LP_ORDER(a->key.number, b->key.number);
}

/* @param first  Index of this side's first run among all runs. */
static int read_runs(struct lp_comparison *out, struct lp_compare_table *table,
                     const struct lp_compare_runs *runs, size_t first)
{
    int status = 0;

    for (size_t i = 0; i < runs->count && status == 0; i++) {
        if (lp_vector_push(&out->ranks, (struct lp_compare_ranks){ .gpus = 0 }) < 0)
            return lp_out_of_memory();
        status = lp_compare_read(table, first + i, runs->profiles[i],
                                 &out->ranks.items[out->ranks.count - 1]);
    }
    return status;
}

int lp_compare(const struct lp_compare_runs *base, const struct lp_compare_runs *fresh,
               double threshold, struct lp_comparison *out)
{
    struct lp_compare_table table = { .runs = base->count + fresh->count };
    int status;

    out->threshold = threshold;
    if ((status = read_runs(out, &table, base, 0)) == 0 &&
        (status = read_runs(out, &table, fresh, base->count)) == 0) {
        pair_ranks(out);
        if ((status = add_rows(out, &table, base->count)) == 0)
            status = lp_compare_cover(out, &table, base, fresh);
    }
    lp_vector_sort(&out->rows, compare_rows);
    lp_compare_table_clear(&table);
    return status < 0 ? status : lp_compare_explain(out, base, fresh);
}

void lp_compare_clear(struct lp_comparison *comparison)
{
    for (size_t i = 0; i < comparison->ranks.count; i++)
        lp_vector_clear(&comparison->ranks.items[i].processes);
    for (size_t i = 0; i < comparison->changes.count; i++)
        lp_vector_clear(&comparison->changes.items[i].causes);
    lp_vector_clear(&comparison->changes);
    lp_vector_clear(&comparison->ranks);
    lp_vector_clear(&comparison->rows);
    lp_vector_clear(&comparison->coverage);
}

const char *lp_compare_outcome(const struct lp_comparison *comparison)
{
    if (comparison->reason[0])
        return "not comparable";
    return comparison->slower > 0 ? "regression" : "no regression";
}

const char *lp_compare_noun(const struct lp_comparison *comparison,
                            const struct lp_compare_key *key)
{
    bool one_gpu_each = true;

    for (size_t i = 0; i < comparison->ranks.count; i++)
        one_gpu_each &= comparison->ranks.items[i].one_gpu_each;
    if (one_gpu_each)
        return "rank";
    return strcmp(key->quantity, "wall") == 0 ? "process" : "gpu";
}
