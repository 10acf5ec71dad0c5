/* SPDX-License-Identifier: Apache-2.0 */
/* The amount of work in a call of a region, and how a different amount may change its time. */
#include <math.h>

#include "lib/compare/compare.h"
#include "lib/compare/reader.h"

#define LITTLE 0.01 /* amounts within this are equal */

static double amount_of(uint64_t amount)
{
    return amount == LLMPERF_UNKNOWN || amount == 0 ? (double)NAN : (double)amount;
}

struct lp_compare_work lp_compare_counted(const llmperf_region_stats *stats)
{
    return (struct lp_compare_work){ { [LP_COMPARE_TOKENS] = amount_of(stats->tokens),
                                       [LP_COMPARE_FLOPS] = amount_of(stats->flops),
                                       [LP_COMPARE_CONTEXT] = amount_of(stats->context),
                                       [LP_COMPARE_SEQUENCES] = amount_of(stats->sequences),
                                       [LP_COMPARE_BYTES] = amount_of(stats->bytes),
                                       [LP_COMPARE_STAGES] = NAN } };
}

static bool is_counted(const struct lp_compare_work *work)
{
    for (int i = 0; i < LP_COMPARE_STAGES; i++)
        if (!isnan(work->amounts[i]))
            return true;
    return false;
}

/* Count the stage in each enclosing region, up to the next stage. */
static void count_stage(struct lp_compare_reader *reader, const struct lp_compare_wall *wall)
{
    size_t at = reader->places.items[wall->place].around;

    for (; at != SIZE_MAX; at = reader->places.items[at].around) {
        struct lp_compare_wall *around = lp_compare_find_wall(reader, at, wall->process);
        double *stages = around ? &around->all.amounts[LP_COMPARE_STAGES] : NULL;

        if (stages)
            *stages = (isnan(*stages) ? 0 : *stages) + (double)wall->of.instances;
        if (reader->places.items[at].stage)
            return;
    }
}

void lp_compare_share_work(struct lp_compare_reader *reader)
{
    for (size_t i = 0; i < reader->walls.count; i++) {
        struct lp_compare_wall *wall = &reader->walls.items[i];
        const struct lp_compare_place *place = &reader->places.items[wall->place];
        const struct lp_compare_wall *around =
            place->in_one ? lp_compare_find_wall(reader, place->around, wall->process) : NULL;

        if (place->stage)
            count_stage(reader, wall);
        else if (around && !is_counted(&wall->all))
            for (int k = 0; k < LP_COMPARE_STAGES; k++)
                wall->all.amounts[k] = around->all.amounts[k];
    }
}

/* Index of the process that a number refers to; SIZE_MAX: all processes. */
static size_t process_of(const struct lp_compare_reader *reader, const struct lp_compare_key *key,
                         uint32_t number)
{
    const struct lp_members *members = &reader->members;

    if (number != LP_COMPARE_NOBODY && strcmp(key->quantity, LP_COMPARE_WALL) == 0) {
        for (size_t i = 0; i < members->processes.count; i++)
            if (members->processes.items[i].number == number)
                return i;
    } else if (number != LP_COMPARE_NOBODY) {
        for (size_t i = 0; i < members->gpus.count; i++)
            if (members->gpus.items[i].number == number)
                return members->gpus.items[i].process;
    }
    return SIZE_MAX;
}

/* Mean work per call of a key, for the process or GPU with this number. */
static struct lp_compare_work work_of(struct lp_compare_reader *reader,
                                      const struct lp_compare_key *key, uint32_t number)
{
    size_t place = lp_compare_find_place(reader, key->region, false);
    size_t only = process_of(reader, key, number);
    struct lp_compare_work work = { { 0 } };
    double instances = 0;

    for (size_t i = 0; i < reader->members.processes.count; i++) {
        const struct lp_compare_wall *wall =
            only == SIZE_MAX || only == i ? lp_compare_find_wall(reader, place, i) : NULL;

        for (int k = 0; wall && k < LP_COMPARE_AMOUNTS; k++)
            work.amounts[k] += wall->all.amounts[k];
        instances += wall ? (double)wall->of.instances : 0;
    }
    for (int k = 0; k < LP_COMPARE_AMOUNTS; k++)
        work.amounts[k] = instances > 0 ? work.amounts[k] / instances : (double)NAN;
    return work;
}

/* Time of the innermost stage around a region; 0: there is none. */
static double stage_of(struct lp_compare_reader *reader, const char *region)
{
    size_t at = lp_compare_find_place(reader, region, false);

    while (at != SIZE_MAX && !reader->places.items[at].stage)
        at = reader->places.items[at].around;
    return at == SIZE_MAX ? 0 : reader->places.items[at].time_ms;
}

int lp_compare_put(struct lp_compare_reader *reader, struct lp_compare_key key,
                   struct lp_compare_mean mean, double whole_ms, uint32_t number)
{
    struct lp_compare_value *value = lp_compare_value_of(reader, &key);

    if (!value)
        return LLMPERF_ENOMEM;
    value->of = mean;
    value->work = work_of(reader, &key, number);
    value->whole_ms = whole_ms;
    value->stage_ms = stage_of(reader, key.region);
    value->number = number;
    return 0;
}

static double ratio_of(const struct lp_compare_row *row, int amount)
{
    double base = row->base.work.amounts[amount], fresh = row->fresh.work.amounts[amount];
    double ratio = base > 0 ? fresh / base : (double)NAN;

    return fabs(ratio - 1) <= LITTLE ? 1 : ratio;
}

/* Does the time include everything that a call does? */
static bool is_whole(const struct lp_compare_row *row)
{
    return strcmp(row->key.quantity, LP_COMPARE_WALL) == 0 ||
           strcmp(row->key.quantity, LP_COMPARE_ALL) == 0;
}

/* The factor by which an amount may change a time. The context length is a measure of attention
 * only; for a whole call, bytes and FLOPs include it. Bytes matter only as a bound on it. */
static double factor_of(const struct lp_compare_row *row, int amount, bool flops)
{
    double ratio = ratio_of(row, amount), bytes = ratio_of(row, LP_COMPARE_BYTES);

    if (amount != LP_COMPARE_CONTEXT || !flops || isnan(bytes) || !is_whole(row))
        return ratio;
    return ratio > 1 ? fmin(ratio, fmax(bytes, 1)) : fmax(ratio, fmin(bytes, 1));
}

/* Nested stages count only if nothing else is known: fewer stages for the same tokens are the same
 * work. */
static bool applies(const struct lp_compare_work_change *so_far, int amount, bool flops)
{
    if (amount == LP_COMPARE_FLOPS)
        return flops;
    if (amount == LP_COMPARE_STAGES)
        return so_far->amount == LP_COMPARE_AMOUNTS;
    return amount != LP_COMPARE_BYTES;
}

struct lp_compare_work_change lp_compare_work_change(const struct lp_compare_row *row,
                                                     bool same_gpus)
{
    struct lp_compare_work_change change = { 1, 1, LP_COMPARE_AMOUNTS, NAN };
    /* Ranks share the FLOPs of a model, so with other numbers of ranks FLOPs per rank do not
     * compare. */
    bool flops = same_gpus && !isnan(ratio_of(row, LP_COMPARE_FLOPS));

    for (int i = 0; i < LP_COMPARE_AMOUNTS; i++) {
        double ratio = ratio_of(row, i), factor = factor_of(row, i, flops);

        if (isnan(ratio) || !applies(&change, i, flops))
            continue;
        if (change.amount == LP_COMPARE_AMOUNTS || change.ratio == 1) {
            change.amount = (enum lp_compare_amount)i;
            change.ratio = ratio;
        }
        change.least = fmin(change.least, factor);
        change.most = fmax(change.most, factor);
    }
    /* Attention is quadratic in the tokens. FLOPs, if known, include that. */
    change.least *= flops ? 1 : change.least;
    change.most *= flops ? 1 : change.most;
    return change;
}

double lp_compare_change_of_each(const struct lp_compare_row *row)
{
    return row->work.amount == LP_COMPARE_CONTEXT ? (double)NAN
                                                  : (1 + row->change) / row->work.ratio - 1;
}

const char *lp_compare_amount_name(enum lp_compare_amount amount)
{
    static const char *const names[] = { "tokens",    "flops", "context",
                                         "sequences", "bytes", "stages" };

    return amount < LP_COMPARE_AMOUNTS ? names[amount] : NULL;
}
