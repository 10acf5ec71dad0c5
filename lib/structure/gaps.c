/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/structure/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"

#define SIZES       4u    /* of struct lp_gap_key */
#define MOST_WEIGHT 1023u /* larger ones count as this */

/* A pause is this much longer than usual. */
#define PAUSE_TIMES 4u
#define PAUSE_NS    UINT64_C(2000)

static int find_row(struct lp_gaps *gaps, uint64_t key0, uint64_t key1, uint32_t *row_out)
{
    static const struct lp_gap_key fresh = { .last = UINT32_MAX };
    int status;

    *row_out = lp_hashmap_get(&gaps->rows, key0, key1);
    if (*row_out != LP_HASHMAP_NONE)
        return 0;
    *row_out = (uint32_t)gaps->keys.count;
    if ((status = lp_vector_push(&gaps->keys, fresh)) < 0)
        return status;
    return lp_hashmap_put(&gaps->rows, key0, key1, *row_out);
}

/* Counts of the most frequent sizes, with errors below a fifth (Misra and Gries). */
static void count_size(struct lp_gap_key *key, uint32_t size)
{
    uint32_t vacant = SIZES;

    key->intervals++;
    for (uint32_t i = 0; i < SIZES; i++) {
        if (key->hits[i] > 0 && key->sizes[i] == size) {
            key->hits[i]++;
            return;
        }
        vacant = key->hits[i] == 0 ? i : vacant;
    }
    if (vacant < SIZES) {
        key->sizes[vacant] = size;
        key->hits[vacant] = 1;
        return;
    }
    for (uint32_t i = 0; i < SIZES; i++)
        key->hits[i]--;
}

/* Several occurrences in one gap are one. */
static void count_key(struct lp_gap_key *key, uint32_t units, uint32_t part)
{
    if (key->last != UINT32_MAX && key->last != units && key->part == part)
        count_size(key, units - key->last);
    key->last = units;
    key->part = part;
}

static int count_keys(struct lp_gaps *gaps)
{
    uint32_t units = 0, part = 0;
    int status = 0;

    for (uint32_t i = 0; i < gaps->count && status == 0; i++) {
        uint64_t key = gaps->tokens[i].key;
        uint64_t before = i > 0 && !gaps->tokens[i].cut ? gaps->tokens[i - 1].key : UINT32_MAX;

        if ((status = find_row(gaps, key, UINT64_MAX, &gaps->single[i])) < 0 ||
            (status = find_row(gaps, key, before, &gaps->pair[i])) < 0)
            break;
        part += gaps->tokens[i].cut;
        count_key(&gaps->keys.items[gaps->single[i]], units, part);
        count_key(&gaps->keys.items[gaps->pair[i]], units, part);
        units += units < gaps->steps->units.count && gaps->steps->units.items[units] == i;
    }
    return status;
}

/* Units between nearly all occurrences of a key; 0: it varies. */
static uint32_t level_of(const struct lp_gap_key *key, uint32_t *hits_out)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < SIZES; i++)
        best = key->hits[i] > key->hits[best] ? i : best;
    *hits_out = key->hits[best];
    return key->intervals >= 2 && key->hits[best] * UINT64_C(4) >= key->intervals * UINT64_C(3)
               ? key->sizes[best]
               : 0;
}

uint8_t lp_gaps_role(const struct lp_gaps *gaps, uint32_t token)
{
    uint32_t hits;

    return level_of(&gaps->keys.items[gaps->pair[token]], &hits) == 1 ? LP_ROLE_OTHER
                                                                      : gaps->tokens[token].role;
}

static int compare_levels(const void *left, const void *right)
{
    const struct lp_gap_level *a = left, *b = right;

    return a->hits != b->hits ? LP_ORDER(b->hits, a->hits) : LP_ORDER(a->units, b->units);
}

static int collect_levels(struct lp_gaps *gaps)
{
    int status = 0;

    for (size_t i = 0; i < gaps->keys.count && status == 0; i++) {
        uint32_t hits, units = level_of(&gaps->keys.items[i], &hits);
        size_t at = 0;

        if (units < 2)
            continue;
        while (at < gaps->levels.count && gaps->levels.items[at].units != units)
            at++;
        if (at == gaps->levels.count)
            status = lp_vector_push(&gaps->levels, (struct lp_gap_level){ units, 0, 0 });
        if (status == 0) {
            gaps->levels.items[at].keys++;
            gaps->levels.items[at].hits += hits;
        }
    }
    if (gaps->levels.count > 1)
        lp_vector_sort(&gaps->levels, compare_levels);
    return status;
}

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return LP_ORDER(a, b);
}

static int judge_pauses(struct lp_gaps *gaps)
{
    size_t count = gaps->items.count;
    uint64_t *sorted = malloc(count * sizeof(*sorted)), usual;

    if (!sorted)
        return lp_out_of_memory();
    for (size_t i = 0; i < count; i++)
        sorted[i] = gaps->items.items[i].pause_ns;
    qsort(sorted, count, sizeof(*sorted), compare_times);
    usual = sorted[count / 2];
    free(sorted);
    for (size_t i = 0; i < count; i++)
        if (gaps->items.items[i].pause_ns > usual * PAUSE_TIMES + PAUSE_NS)
            gaps->items.items[i].evidence |= LP_GAP_PAUSE;
    return 0;
}

static int collect_evidence(struct lp_gaps *gaps)
{
    const struct lp_steps *steps = gaps->steps;
    static const struct lp_gap fresh = { 0 };
    uint32_t gap = 0;

    for (size_t i = 0; i <= steps->units.count; i++)
        if (lp_vector_push(&gaps->items, fresh) < 0)
            return lp_out_of_memory();
    for (uint32_t i = 0; i < gaps->count; i++) {
        const struct lp_token *token = &gaps->tokens[i];
        uint64_t before_ns = i > 0 ? gaps->tokens[i - 1].launch_ns : token->launch_ns;
        uint64_t pause_ns = token->launch_ns > before_ns ? token->launch_ns - before_ns : 0;
        struct lp_gap *item = &gaps->items.items[gap];
        uint8_t role = lp_gaps_role(gaps, i);

        item->pause_ns = pause_ns > item->pause_ns ? pause_ns : item->pause_ns;
        item->evidence |= role == LP_ROLE_COPY_OUT   ? LP_GAP_COPY_OUT
                          : role == LP_ROLE_SAMPLING ? LP_GAP_SAMPLING
                          : role == LP_ROLE_COPY_IN  ? LP_GAP_COPY_IN
                                                     : 0;
        gap += gap < steps->units.count && steps->units.items[gap] == i;
    }
    return judge_pauses(gaps);
}

int lp_gaps_make(struct lp_gaps *gaps, const struct lp_token *tokens, uint32_t count,
                 const struct lp_steps *steps)
{
    int status;

    *gaps = (struct lp_gaps){ .tokens = tokens, .count = count, .steps = steps };
    gaps->single = calloc(count + 1, sizeof(*gaps->single));
    gaps->pair = calloc(count + 1, sizeof(*gaps->pair));
    if (!gaps->single || !gaps->pair)
        return lp_out_of_memory();
    if ((status = count_keys(gaps)) < 0 || (status = collect_levels(gaps)) < 0)
        return status;
    return collect_evidence(gaps);
}

/* A key counts once in a gap: a backward pass there has many launches. */
static uint32_t weight_of(struct lp_gap_key *key, uint32_t gap, uint32_t level)
{
    uint32_t hits;
    bool counts = key->last != gap && level_of(key, &hits) == level;

    key->last = gap;
    return counts;
}

static void weigh(struct lp_gaps *gaps, uint32_t level)
{
    const struct lp_steps *steps = gaps->steps;
    uint32_t gap = 0;

    for (size_t i = 0; i < gaps->keys.count; i++)
        gaps->keys.items[i].last = UINT32_MAX;
    for (size_t i = 0; i < gaps->items.count; i++)
        gaps->items.items[i].weight = 0;
    for (uint32_t i = 0; i < gaps->count; i++) {
        gaps->items.items[gap].weight += weight_of(&gaps->keys.items[gaps->single[i]], gap, level) +
                                         weight_of(&gaps->keys.items[gaps->pair[i]], gap, level);
        gap += gap < steps->units.count && steps->units.items[gap] == i;
    }
}

/* Median weight of the heaviest gaps, as many as there may be steps. */
static uint32_t usual_weight(const struct lp_gaps *gaps, uint32_t level)
{
    uint32_t counts[MOST_WEIGHT + 1] = { 0 }, weight = MOST_WEIGHT;
    size_t seen = 0, wanted = gaps->steps->units.count / level / 2 + 1;

    for (size_t i = 0; i < gaps->items.count; i++)
        counts[gaps->items.items[i].weight < MOST_WEIGHT ? gaps->items.items[i].weight
                                                         : MOST_WEIGHT]++;
    while (weight > 1 && (seen += counts[weight]) < wanted)
        weight--;
    return weight;
}

/* Between steps of two kinds only the end of the one or the begin of the other is as usual. */
static bool is_marked(const struct lp_gap *gap, uint32_t usual)
{
    uint32_t times = gap->evidence >= LP_GAP_SAMPLING ? 4 : 2;

    return gap->weight > 0 && gap->weight * times >= usual;
}

static bool is_better(const struct lp_gap *gap, const struct lp_gap *other)
{
    return gap->evidence != other->evidence ? gap->evidence > other->evidence
                                            : gap->weight > other->weight;
}

/* Special first and last layers also mark each step once: of gaps that are closer than the units of
 * a step, the one with more evidence counts. */
int lp_gaps_mark(struct lp_gaps *gaps, uint32_t level, lp_gap_list *marked)
{
    uint32_t usual;

    weigh(gaps, level);
    usual = usual_weight(gaps, level);
    marked->count = 0;
    for (uint32_t i = 0; i < gaps->items.count; i++) {
        const struct lp_gap *gap = &gaps->items.items[i];

        if (!is_marked(gap, usual))
            continue;
        if (marked->count > 0 && i - marked->items[marked->count - 1] < level) {
            if (is_better(gap, &gaps->items.items[marked->items[marked->count - 1]]))
                marked->items[marked->count - 1] = i;
        } else if (lp_vector_push(marked, i) < 0) {
            return lp_out_of_memory();
        }
    }
    return 0;
}

void lp_gaps_clear(struct lp_gaps *gaps)
{
    lp_hashmap_clear(&gaps->rows);
    lp_vector_clear(&gaps->keys);
    lp_vector_clear(&gaps->levels);
    lp_vector_clear(&gaps->items);
    free(gaps->single);
    free(gaps->pair);
}
