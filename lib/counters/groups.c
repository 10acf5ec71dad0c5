/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a preset into groups. CUPTI plans whole sets only, so what fits into one pass is found by
 * asking for the passes of trial sets. */
#include "lib/counters/groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"

#define TIME_METRIC "gpu__time_duration.sum"
#define TERMS_MOST  8
#define TERM_BYTES  256

/* A quantity or a part of one, with the chosen candidate. */
struct unit {
    const char *quantity, *unit, *about, *candidate;
    size_t passes; /* passes when alone; 0: the chip lacks it */
    bool taken;    /* in a group */
};

struct planner {
    const char *chip;
    const uint8_t *availability;
    const struct lp_counter_preset *preset;
    LP_VECTOR(struct unit) units;
    LP_VECTOR(uint32_t) members; /* unit numbers of all groups, one group after the other */
    LP_VECTOR(size_t) ends;      /* end of each group in `members` */
    uint32_t time;               /* unit of device time; units.count: none */
    struct lp_strings pool;
};

/* Sets of units */

static int add_quantity(struct lp_counter_preset *trial, const struct unit *unit)
{
    struct lp_counter_quantity wanted = { .quantity = unit->quantity,
                                          .unit = unit->unit,
                                          .about = unit->about };

    if (lp_vector_push(&wanted.candidates, unit->candidate) < 0 ||
        lp_vector_push(&trial->quantities, wanted) < 0) {
        lp_vector_clear(&wanted.candidates);
        return lp_out_of_memory();
    }
    return 0;
}

static void clear_trial(struct lp_counter_preset *trial)
{
    for (size_t i = 0; i < trial->quantities.count; i++)
        lp_vector_clear(&trial->quantities.items[i].candidates);
    lp_vector_clear(&trial->quantities);
}

/* The set of some units and, if it is one, of unit `more`. */
static int open_units(const struct planner *planner, const uint32_t *members, size_t count,
                      uint32_t more, struct lp_counter_set **set_out)
{
    struct lp_counter_preset trial = { .name = planner->preset->name,
                                       .method = planner->preset->method,
                                       .ranges = planner->preset->ranges };
    int status = 0;

    for (size_t i = 0; i < count && status == 0; i++)
        status = add_quantity(&trial, &planner->units.items[members[i]]);
    if (status == 0 && more < planner->units.count)
        status = add_quantity(&trial, &planner->units.items[more]);
    if (status == 0)
        status = lp_counter_set_open(planner->chip, planner->availability, &trial, set_out);
    clear_trial(&trial);
    return status;
}

/* Passes of one candidate; 0: it cannot be collected. */
static int count_alone(const struct planner *planner, const char *candidate, size_t *passes_out)
{
    const struct unit unit = { .quantity = "trial", .candidate = candidate };
    struct lp_counter_preset trial = { .name = planner->preset->name,
                                       .method = planner->preset->method,
                                       .ranges = planner->preset->ranges };
    struct lp_counter_set *set = NULL;
    int status = add_quantity(&trial, &unit);

    *passes_out = 0;
    if (status == 0)
        status = lp_counter_set_open(planner->chip, planner->availability, &trial, &set);
    if (status == 0)
        *passes_out = set->passes;
    lp_counter_set_free(set);
    clear_trial(&trial);
    return status == LLMPERF_ENOMEM ? status : 0;
}

/* Units */

static int add_unit(struct planner *planner, const struct lp_counter_quantity *wanted,
                    const char *quantity, const char *candidate, size_t passes)
{
    struct unit unit = { quantity, wanted->unit, wanted->about, candidate, passes, false };

    if (strcmp(candidate, TIME_METRIC) == 0 && planner->time == UINT32_MAX)
        planner->time = (uint32_t)planner->units.count;
    return lp_vector_push(&planner->units, unit) < 0 ? lp_out_of_memory() : 0;
}

/* The terms of "a + 2 * b". Returns their number; 0: too many or too long. */
static size_t split_terms(const char *candidate, char terms[TERMS_MOST][TERM_BYTES])
{
    size_t count = 0;

    for (const char *at = candidate; *at;) {
        size_t length = strcspn(at, "+"), end = length;

        while (end > 0 && at[end - 1] == ' ')
            end--;
        if (count == TERMS_MOST || end >= TERM_BYTES)
            return 0;
        memcpy(terms[count], at, end);
        terms[count++][end] = '\0';
        at += length;
        at += strspn(at, "+ ");
    }
    return count;
}

/* 1: each term fits into a pass, and is a unit now; 0: not all fit. */
static int add_parts(struct planner *planner, const struct lp_counter_quantity *wanted,
                     const char *candidate)
{
    char terms[TERMS_MOST][TERM_BYTES], name[TERM_BYTES];
    size_t count = split_terms(candidate, terms), passes = 1;
    int status = 0;

    for (size_t i = 0; i < count && passes == 1 && status == 0; i++)
        status = count_alone(planner, terms[i], &passes);
    if (status < 0 || count < 2 || passes != 1)
        return status;
    for (size_t i = 0; i < count && status == 0; i++) {
        const char *quantity, *term = lp_strings_add(&planner->pool, terms[i]);

        snprintf(name, sizeof(name), "%.200s (part %zu of %zu)", wanted->quantity, i + 1, count);
        quantity = lp_strings_add(&planner->pool, name);
        status =
            term && quantity ? add_unit(planner, wanted, quantity, term, 1) : lp_out_of_memory();
    }
    return status < 0 ? status : 1;
}

/* Choose the best candidate that fits into one pass, whole or in parts; else the best one. */
static int add_units(struct planner *planner, const struct lp_counter_quantity *wanted)
{
    const char *fallback = NULL;
    size_t fallback_passes = 0, passes;
    int status;

    for (size_t i = 0; i < wanted->candidates.count; i++) {
        const char *candidate = wanted->candidates.items[i];

        if ((status = count_alone(planner, candidate, &passes)) < 0)
            return status;
        if (passes == 1)
            return add_unit(planner, wanted, wanted->quantity, candidate, 1);
        if (passes == 0)
            continue;
        if ((status = add_parts(planner, wanted, candidate)) != 0)
            return status < 0 ? status : 0;
        if (!fallback) {
            fallback = candidate;
            fallback_passes = passes;
        }
    }
    return add_unit(planner, wanted, wanted->quantity,
                    fallback ? fallback : wanted->candidates.items[0], fallback_passes);
}

/* Groups */

static size_t group_begin(const struct planner *planner, size_t group)
{
    return group > 0 ? planner->ends.items[group - 1] : 0;
}

/* 1: the unit fits into the group's pass; 0: it does not. */
static int fits(const struct planner *planner, size_t group, uint32_t unit)
{
    size_t begin = group_begin(planner, group);
    struct lp_counter_set *set = NULL;
    int status = open_units(planner, planner->members.items + begin,
                            planner->ends.items[group] - begin, unit, &set);

    if (status == 0)
        status = set->passes == 1;
    else if (status == LLMPERF_EINVAL || status == LLMPERF_ENOTSUP)
        status = 0;
    lp_counter_set_free(set);
    return status;
}

static int add_member(struct planner *planner, uint32_t unit)
{
    planner->units.items[unit].taken = true;
    if (lp_vector_push(&planner->members, unit) < 0)
        return lp_out_of_memory();
    planner->ends.items[planner->ends.count - 1] = planner->members.count;
    return 0;
}

static int open_group(struct planner *planner)
{
    return lp_vector_push(&planner->ends, planner->members.count) < 0 ? lp_out_of_memory() : 0;
}

/* Percentages and means of the parts of a region are weighted by device time; sums are not. */
static bool needs_time(const struct planner *planner, const struct unit *unit)
{
    return planner->time < planner->units.count &&
           (!strstr(unit->candidate, ".sum") || strstr(unit->candidate, "pct") ||
            strstr(unit->candidate, ".per_") || strstr(unit->candidate, "ratio"));
}

static void take_back(struct planner *planner)
{
    uint32_t unit = planner->members.items[--planner->members.count];

    planner->units.items[unit].taken = false;
    planner->ends.items[planner->ends.count - 1] = planner->members.count;
}

/* Add device time to a group of one member. 1: added; 0: it does not fit into the pass. */
static int add_time(struct planner *planner)
{
    size_t group = planner->ends.count - 1;
    uint32_t first = planner->members.items[group_begin(planner, group)];
    int status;

    if (first == planner->time)
        return 1;
    if (planner->time >= planner->units.count)
        return 0;
    if ((status = fits(planner, group, planner->time)) == 1)
        return add_member(planner, planner->time) < 0 ? LLMPERF_ENOMEM : 1;
    return status;
}

/* Add all other units that fit into the pass. */
static int fill_group(struct planner *planner, bool timed)
{
    int status = 0;

    for (uint32_t i = 0; i < planner->units.count && status >= 0; i++) {
        const struct unit *unit = &planner->units.items[i];

        if (unit->taken || unit->passes != 1 || (!timed && needs_time(planner, unit)))
            continue;
        if ((status = fits(planner, planner->ends.count - 1, i)) == 1)
            status = add_member(planner, i);
    }
    return status < 0 ? status : 0;
}

/* Next unit that fits into one pass; units.count: none. */
static uint32_t next_unit(const struct planner *planner)
{
    uint32_t i = 0;

    while (i < planner->units.count &&
           (planner->units.items[i].passes != 1 || planner->units.items[i].taken))
        i++;
    return i;
}

/* A group that starts with a unit. A unit that needs device time in its group but leaves no room
 * for it in the pass is deferred. */
static int make_group(struct planner *planner, uint32_t unit)
{
    int status, timed;

    if ((status = open_group(planner)) < 0 || (status = add_member(planner, unit)) < 0 ||
        (status = timed = add_time(planner)) < 0)
        return status;
    if (timed || !needs_time(planner, &planner->units.items[unit]))
        return fill_group(planner, timed != 0);
    planner->units.items[unit].passes = 2;
    take_back(planner);
    planner->ends.count--;
    return 0;
}

/* A unit that needs several passes has its own group, with device time. */
static int make_long_group(struct planner *planner, uint32_t unit)
{
    int status;

    if ((status = open_group(planner)) < 0 || (status = add_member(planner, unit)) < 0)
        return status;
    return planner->time < planner->units.count && planner->time != unit
               ? add_member(planner, planner->time)
               : 0;
}

static int make_groups(struct planner *planner)
{
    uint32_t unit;
    int status = 0;

    while (status == 0 && (unit = next_unit(planner)) < planner->units.count)
        status = make_group(planner, unit);
    for (uint32_t i = 0; i < planner->units.count && status == 0; i++)
        if (planner->units.items[i].passes > 1)
            status = make_long_group(planner, i);
    /* Nothing can be counted: the first group reports it. */
    return status == 0 && planner->ends.count == 0 ? open_group(planner) : status;
}

static int plan(struct planner *planner)
{
    int status = 0;

    for (size_t i = 0; i < planner->preset->quantities.count && status == 0; i++)
        status = add_units(planner, &planner->preset->quantities.items[i]);
    return status == 0 ? make_groups(planner) : status;
}

/* Quantities that the chip lacks are reported by the set that requests them: the first one. */
static int add_lacking(struct planner *planner)
{
    size_t begin = planner->members.count;

    for (uint32_t i = 0; i < planner->units.count; i++)
        if (planner->units.items[i].passes == 0 && lp_vector_push(&planner->members, i) < 0)
            return lp_out_of_memory();
    return (int)(planner->members.count - begin);
}

static int open_chosen(struct planner *planner, uint32_t group, struct lp_counter_set **set_out)
{
    size_t begin = group_begin(planner, group - 1), count = planner->ends.items[group - 1] - begin;
    uint32_t *members = NULL;
    int status, lacking = 0;

    if (group == 1 && (lacking = add_lacking(planner)) < 0)
        return lacking;
    if (!(members = malloc((count + (size_t)lacking + 1) * sizeof(*members))))
        return lp_out_of_memory();
    memcpy(members, planner->members.items + begin, count * sizeof(*members));
    if (lacking > 0)
        memcpy(members + count, planner->members.items + planner->members.count - lacking,
               (size_t)lacking * sizeof(*members));
    status = open_units(planner, members, count + (size_t)lacking, (uint32_t)planner->units.count,
                        set_out);
    free(members);
    return status;
}

int lp_counter_set_open_group(const char *chip, const uint8_t *availability,
                              const struct lp_counter_preset *preset, uint32_t group,
                              uint32_t *groups_out, struct lp_counter_set **set_out)
{
    struct planner planner = {
        .chip = chip, .availability = availability, .preset = preset, .time = UINT32_MAX
    };
    int status = plan(&planner);

    if (status == 0) {
        *groups_out = (uint32_t)planner.ends.count;
        if (group == 0 || group > planner.ends.count)
            status = lp_error(LLMPERF_EINVAL,
                              "counters %s have %zu groups on %s; group %u does not exist",
                              preset->name, planner.ends.count, chip, group);
        else
            status = open_chosen(&planner, group, set_out);
    }
    lp_vector_clear(&planner.units);
    lp_vector_clear(&planner.members);
    lp_vector_clear(&planner.ends);
    lp_strings_clear(&planner.pool);
    return status;
}
