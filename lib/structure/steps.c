/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/structure/steps.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/structure/gaps.h"

#define LEAST_UNITS  6u
#define LEAST_STEPS  3u
#define LEVELS       8u /* of the most frequent ones are tried */
#define LEAST_KEYS   3u
#define SIZES        16u /* different sizes of segments */
#define WIDEST       8u  /* a step has at most this many times the usual units */
#define LONG_HEAD    4u  /* times the usual launches before the first unit are a long head */
#define LONG_HEAD_AT 64u
#define MOST_OUTSIDE 4u   /* products before and after the units, for each among them */
#define COMPARED     512u /* steps, at most: the search is linear */

/* Shares in percent. */
#define LEAST_EXACT   80u /* units in segments whose size recurs */
#define LEAST_EVIDENT 80u /* of the marked gaps */
#define LEAST_USUAL   90u /* of the marked gaps have an evidence that all need */
#define SECOND_SHARE  10u /* units in those of a second model */
#define MAIN_SHARE    25u /* units in segments of the size that counts as a step */

struct finder {
    const struct lp_token *tokens;
    uint32_t count;
    bool final;
    struct lp_gaps gaps;
    lp_gap_list marked;
    uint32_t least_evidence; /* of the end of a step */
    uint32_t first;          /* gap before which passes choose no token */
    struct lp_steps *steps;
    bool follows;
};

/* Units */

/* The softmax of sampling, of a router or of a loss is not followed by a product. */
static int find_attention(struct finder *finder)
{
    struct lp_steps *steps = finder->steps;
    bool after_product = true, softmax = false;

    for (uint32_t i = 0; i < finder->count; i++) {
        uint8_t role = finder->tokens[i].role;

        if (role == LP_ROLE_ATTENTION || role == LP_ROLE_SOFTMAX) {
            if (after_product && lp_vector_push(&steps->units, i) < 0)
                return lp_out_of_memory();
            softmax = role == LP_ROLE_SOFTMAX && (after_product || softmax);
            after_product = false;
        } else if (softmax && (role == LP_ROLE_SAMPLING || role == LP_ROLE_EXPERTS ||
                               role == LP_ROLE_BACKWARD || role == LP_ROLE_COPY_OUT)) {
            steps->units.count--;
            softmax = false;
            after_product = true;
        } else if (role == LP_ROLE_PRODUCT || role == LP_ROLE_EXPERTS || role == LP_ROLE_BACKWARD) {
            softmax = false;
            after_product = true;
        }
    }
    return 0;
}

static int find_products(struct finder *finder)
{
    for (uint32_t i = 0; i < finder->count; i++)
        if (finder->tokens[i].role == LP_ROLE_PRODUCT &&
            lp_vector_push(&finder->steps->units, i) < 0)
            return lp_out_of_memory();
    return 0;
}

/* Which level is that of steps */

struct size_count {
    uint32_t units, segments;
};

struct sizes {
    struct size_count items[SIZES];
    uint32_t count, others; /* units in segments that found no place */
    uint64_t units;
};

static void count_segment(struct sizes *sizes, uint32_t units)
{
    uint32_t at = 0;

    sizes->units += units;
    while (at < sizes->count && sizes->items[at].units != units)
        at++;
    if (at == SIZES) {
        sizes->others += units;
        return;
    }
    sizes->count += at == sizes->count;
    sizes->items[at] = (struct size_count){ units, sizes->items[at].segments + 1 };
}

static struct sizes count_segments(const lp_gap_list *marked)
{
    struct sizes sizes = { 0 };

    for (size_t i = 1; i < marked->count; i++)
        count_segment(&sizes, marked->items[i] - marked->items[i - 1]);
    return sizes;
}

/* The units of a step: the largest size with a fair share of them, because a step of speculative
 * decoding has small passes of its draft model before the large one. */
static uint32_t main_size(const struct sizes *sizes)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->items[i].segments + 1 >= LEAST_STEPS && sizes->items[i].units > most &&
            (uint64_t)sizes->items[i].units * sizes->items[i].segments * 100 >=
                sizes->units * MAIN_SHARE)
            most = sizes->items[i].units;
    return most;
}

/* Share of the units that are in segments whose size recurs, in percent. */
static uint32_t exact_share(const struct sizes *sizes)
{
    uint64_t exact = 0;

    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->items[i].segments >= 2)
            exact += (uint64_t)sizes->items[i].units * sizes->items[i].segments;
    return sizes->units > 0 ? (uint32_t)(exact * 100 / sizes->units) : 0;
}

/* Share of the marked gaps with this evidence or more, in percent. */
static uint32_t evident_share(const struct finder *finder, uint32_t least)
{
    size_t evident = 0, count = finder->marked.count;

    for (size_t i = 0; i < count; i++)
        evident += finder->marked.items[i] == 0 ||
                   finder->gaps.items.items[finder->marked.items[i]].evidence >= least;
    return count > 0 ? (uint32_t)(evident * 100 / count) : 0;
}

static bool is_evident(const struct finder *finder, uint32_t gap)
{
    return finder->gaps.items.items[gap].evidence >= finder->least_evidence;
}

/* Units between the first and the last marked gap; 0: the gaps of this level do not end steps. */
static int judge_level(struct finder *finder, const struct lp_gap_level *level, uint64_t *units_out)
{
    struct sizes sizes;

    *units_out = 0;
    if (level->keys < LEAST_KEYS)
        return 0;
    if (lp_gaps_mark(&finder->gaps, level->units, &finder->marked) < 0)
        return LLMPERF_ENOMEM;
    sizes = count_segments(&finder->marked);
    if (finder->marked.count >= LEAST_STEPS && main_size(&sizes) > 0 &&
        exact_share(&sizes) >= LEAST_EXACT &&
        evident_share(finder, LP_GAP_EVIDENT) >= LEAST_EVIDENT)
        *units_out = sizes.units;
    return 0;
}

/* What nearly all ends of steps have, such as the choice of a token, must be at each. */
static void drop_weak_gaps(struct finder *finder)
{
    size_t kept = 0;

    finder->least_evidence = LP_GAP_EVIDENT;
    for (uint32_t least = LP_GAP_SAMPLING; least <= LP_GAP_COPY_OUT; least <<= 1)
        if (evident_share(finder, least) >= LEAST_USUAL)
            finder->least_evidence = least;
    for (size_t i = 0; i < finder->marked.count; i++)
        if (finder->marked.items[i] == 0 || is_evident(finder, finder->marked.items[i]) ||
            finder->least_evidence == LP_GAP_EVIDENT)
            finder->marked.items[kept++] = finder->marked.items[i];
    finder->marked.count = kept;
}

/* Passes before the first token are a warm-up, if nearly all others choose one. */
static void drop_warm_up(struct finder *finder)
{
    const uint32_t *marked = finder->marked.items;
    size_t at = marked[0] == 0, begin = at;

    if (evident_share(finder, LP_GAP_SAMPLING) < LEAST_EVIDENT)
        return;
    while (at < finder->marked.count &&
           finder->gaps.items.items[marked[at]].evidence < LP_GAP_SAMPLING)
        at++;
    if (at == begin)
        return;
    finder->first = marked[at - 1];
    finder->marked.count -= at;
    memmove(finder->marked.items, marked + at, finder->marked.count * sizeof(*marked));
}

/* Loops nest: layers in steps in requests. The innermost level at whose ends the host acts is that
 * of steps, if it has more ends than an outer one that more launches mark. A loop that covers much
 * less than another is part of a warm-up. NULL: none. */
static int find_level(struct finder *finder, const struct lp_gap_level **best_out)
{
    const struct lp_gap_level *levels = finder->gaps.levels.items, *best = NULL;
    size_t most = finder->gaps.levels.count < LEVELS ? finder->gaps.levels.count : LEVELS;
    uint64_t covered[LEVELS], ends[LEVELS], widest = 0, of_best = 0;

    for (size_t i = 0; i < most; i++) {
        if (judge_level(finder, &levels[i], &covered[i]) < 0)
            return LLMPERF_ENOMEM;
        ends[i] = finder->marked.count;
        widest = covered[i] > widest ? covered[i] : widest;
    }
    for (size_t i = 0; i < most; i++)
        if (covered[i] * 2 > widest &&
            (!best || (levels[i].units < best->units && ends[i] * 5 > of_best * 6))) {
            best = &levels[i];
            of_best = ends[i];
        }
    *best_out = best;
    return best ? lp_gaps_mark(&finder->gaps, best->units, &finder->marked) : 0;
}

/* Passes of several models follow one another in any number: each gap in which a token is chosen,
 * or copied to the host, ends one. */
static int mark_evident(struct finder *finder)
{
    struct sizes sizes;

    finder->marked.count = 0;
    finder->least_evidence = LP_GAP_SAMPLING;
    for (uint32_t i = 0; i < finder->gaps.items.count; i++)
        if (is_evident(finder, i) && lp_vector_push(&finder->marked, i) < 0)
            return lp_out_of_memory();
    sizes = count_segments(&finder->marked);
    if (main_size(&sizes) < 2 || exact_share(&sizes) < LEAST_EXACT)
        finder->marked.count = 0;
    return 0;
}

static int choose_gaps(struct finder *finder)
{
    const struct lp_gap_level *level;
    int status = find_level(finder, &level);

    if (status == 0 && level)
        drop_weak_gaps(finder);
    if (status == 0 && level && finder->marked.count > 0)
        drop_warm_up(finder);
    return status < 0 || level ? status : mark_evident(finder);
}

/* From marked gaps to steps */

static int add_step(struct finder *finder, uint32_t first, uint32_t end)
{
    struct lp_step step = { .first_unit = first, .units = end - first };

    return step.units <= WIDEST * finder->steps->units_per_step
               ? lp_vector_push(&finder->steps->items, step)
               : 0;
}

/* A pass of a draft model: a small segment whose size recurs. */
static bool is_small(const struct sizes *sizes, uint32_t units, uint32_t usual)
{
    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->items[i].units == units)
            return units < usual && sizes->items[i].segments >= LEAST_STEPS;
    return false;
}

/* Units of the steps of a smaller model that takes turns with the large one; 0: there is none.
 * Passes of a draft model come before each step of the large one, those of an encoder one at a
 * time. */
static uint32_t find_second(const struct finder *finder, const struct sizes *sizes, uint32_t usual)
{
    uint32_t before = 0, large = 0, drafted = 0, small = 0, repeated = 0, second = 0;

    for (size_t i = 1; i < finder->marked.count; i++) {
        uint32_t units = finder->marked.items[i] - finder->marked.items[i - 1];

        large += units >= usual;
        drafted += units >= usual && before > 0 && before < usual;
        small += units < usual;
        repeated += units < usual && before == units;
        before = units;
    }
    for (uint32_t i = 0; i < sizes->count; i++)
        if (is_small(sizes, sizes->items[i].units, usual) && sizes->items[i].units > second &&
            (uint64_t)sizes->items[i].units * sizes->items[i].segments * 100 >=
                sizes->units * SECOND_SHARE)
            second = sizes->items[i].units;
    return repeated * 2 > small && drafted * 2 < large ? second : 0;
}

uint64_t lp_steps_units(const struct lp_steps *steps)
{
    uint64_t units = 0;

    for (size_t i = 0; i < steps->items.count; i++)
        units += steps->items.items[i].units;
    return units;
}

/* Share of the units between marked gaps that are in steps of a usual size. */
static double claimed_share(const struct lp_steps *steps, const struct sizes *sizes)
{
    uint64_t units = lp_steps_units(steps);

    return units < sizes->units ? (double)units / (double)sizes->units : 1;
}

/* Smaller segments belong to the step that follows. What is before the first marked gap is a step
 * of its own only if it has the size of one. */
static int add_segments(struct finder *finder)
{
    struct lp_steps *steps = finder->steps;
    struct sizes sizes = count_segments(&finder->marked);
    uint32_t first = finder->first, before = first, all = (uint32_t)steps->units.count, least;
    int status = 0;

    if (!finder->final && finder->marked.items[finder->marked.count - 1] == all)
        finder->marked.count--; /* more launches may follow before the step ends */
    steps->units_per_step = main_size(&sizes);
    if (steps->units_per_step == 0)
        return 0;
    steps->second = find_second(finder, &sizes, steps->units_per_step);
    least = steps->second ? steps->second : steps->units_per_step;
    for (size_t i = 0; i < finder->marked.count && status == 0; i++) {
        uint32_t gap = finder->marked.items[i];
        bool draft = !steps->second && is_small(&sizes, gap - before, least);

        before = gap;
        if (draft || gap - first < least)
            continue;
        status = add_step(finder, first, gap);
        first = gap;
    }
    if (status == 0 && finder->final && all - first >= least)
        status = add_step(finder, first, all);
    steps->confidence = claimed_share(steps, &sizes);
    return status;
}

/* Where steps begin and end */

static uint32_t gap_begin(const struct finder *finder, uint32_t gap)
{
    return gap == 0 ? 0 : finder->steps->units.items[gap - 1] + 1;
}

static uint32_t gap_end(const struct finder *finder, uint32_t gap)
{
    return gap < finder->steps->units.count ? finder->steps->units.items[gap] : finder->count;
}

/* After the first copy to the host that follows the choice of a token, or the last copy if none is
 * chosen; else after the choice, else after the longest pause. */
static uint32_t find_end(const struct finder *finder, uint32_t begin, uint32_t end)
{
    const struct lp_token *tokens = finder->tokens;
    uint32_t chosen = 0, copied = 0, paused = begin;
    uint64_t longest = 0;

    for (uint32_t i = begin; i < end; i++) {
        uint64_t before_ns = i > begin ? tokens[i - 1].launch_ns : tokens[i].launch_ns;
        uint8_t role = lp_gaps_role(&finder->gaps, i);

        if (role == LP_ROLE_SAMPLING) {
            chosen = i + 1;
            copied = 0;
        } else if (role == LP_ROLE_COPY_OUT && (!chosen || !copied)) {
            copied = i + 1;
        }
        if (tokens[i].launch_ns > before_ns + longest) {
            longest = tokens[i].launch_ns - before_ns;
            paused = i;
        }
    }
    return copied ? copied : chosen ? chosen : paused;
}

/* The kernel before a token; 0: none. Memsets and copies may be there the first time only. */
static uint32_t kernel_before(const struct finder *finder, uint32_t at)
{
    while (at > 0 && finder->tokens[at - 1].role >= LP_ROLE_MEMORY)
        at--;
    return at;
}

/* First of the launches before a token that are the same as those before another one. */
static uint32_t match_back(const struct finder *finder, uint32_t at, uint32_t other,
                           uint32_t other_begin)
{
    uint32_t before = kernel_before(finder, at), of_other = kernel_before(finder, other);

    while (before > 0 && of_other > other_begin &&
           finder->tokens[before - 1].key == finder->tokens[of_other - 1].key) {
        at = before - 1;
        before = kernel_before(finder, at);
        of_other = kernel_before(finder, of_other - 1);
    }
    return at;
}

static uint32_t head_of(const struct lp_steps *steps, const struct lp_step *step)
{
    return steps->units.items[step->first_unit] - step->begin;
}

/* A step after launches that belong to none begins as the other step that is most like it:
 * compilation and warm-up are not part of it. */
static void cut_head(const struct finder *finder, struct lp_step *step, uint32_t usual)
{
    const struct lp_steps *steps = finder->steps;
    uint32_t unit = steps->units.items[step->first_unit], earliest = unit;
    bool is_long = head_of(steps, step) > usual * LONG_HEAD + LONG_HEAD_AT;

    if (!is_long && (step != steps->items.items || finder->follows))
        return;
    for (size_t i = 0; i < steps->items.count; i += steps->items.count / COMPARED + 1) {
        const struct lp_step *other = &steps->items.items[i];
        uint32_t begin =
            other == step
                ? unit
                : match_back(finder, unit, steps->units.items[other->first_unit], other->begin);

        earliest = begin < earliest ? begin : earliest;
    }
    if (is_long || earliest + usual / 2 <= unit)
        step->begin = earliest;
}

/* Drop the steps of which a part was not collected. */
static void drop_cut(const struct finder *finder)
{
    struct lp_steps *steps = finder->steps;
    size_t kept = 0;

    for (size_t i = 0; i < steps->items.count; i++) {
        const struct lp_step step = steps->items.items[i];
        bool cut = false;

        for (uint32_t at = gap_begin(finder, step.first_unit); at <= step.end && at < finder->count;
             at++)
            cut |= finder->tokens[at].cut;
        if (!cut)
            steps->items.items[kept++] = step;
    }
    steps->items.count = kept;
}

static void place_steps(struct finder *finder)
{
    struct lp_steps *steps = finder->steps;
    struct lp_step *last = &steps->items.items[steps->items.count - 1];
    uint32_t tail = finder->count, unit = 0;

    for (struct lp_step *step = steps->items.items; step <= last; step++) {
        uint32_t gap = step->first_unit + step->units;

        tail = step > steps->items.items ? step[-1].end - unit : tail;
        unit = steps->units.items[gap - 1];
        step->end = find_end(finder, gap_begin(finder, gap), gap_end(finder, gap));
        step->begin =
            step > steps->items.items && step[-1].first_unit + step[-1].units == step->first_unit
                ? step[-1].end
                : gap_begin(finder, step->first_unit);
    }
    if (last->end > unit + tail) /* nothing shows where the last one ends */
        last->end = unit + tail;
    steps->kept_from = last->end;
    for (struct lp_step *step = steps->items.items; step <= last; step++)
        cut_head(finder, step, head_of(steps, last));
    drop_cut(finder);
}

static int find_by_units(struct finder *finder)
{
    struct lp_steps *steps = finder->steps;
    int status;

    if (steps->units.count < LEAST_UNITS)
        return 0;
    if ((status = lp_gaps_make(&finder->gaps, finder->tokens, finder->count, steps)) == 0)
        status = choose_gaps(finder);
    if (status == 0 && finder->marked.count > 0)
        status = add_segments(finder);
    if (status < 0 || steps->items.count < LEAST_STEPS)
        steps->items.count = 0;
    else
        place_steps(finder);
    lp_gaps_clear(&finder->gaps);
    lp_vector_clear(&finder->marked);
    return status;
}

/* A compiler may fuse the attention of some passes into kernels that do not show it. Nearly all
 * matrix products of a step are then before its first unit or after its last. */
static bool units_are_few(const struct finder *finder)
{
    const struct lp_steps *steps = finder->steps;
    uint64_t among = 0, outside = 0;

    for (size_t i = 0; i < steps->items.count; i++) {
        const struct lp_step *step = &steps->items.items[i];
        const uint32_t *units = &steps->units.items[step->first_unit];

        for (uint32_t at = step->begin; step->units > 1 && at < step->end; at++)
            if (finder->tokens[at].role == LP_ROLE_PRODUCT)
                *(at > units[0] && at < units[step->units - 1] ? &among : &outside) += 1;
    }
    return outside > among * MOST_OUTSIDE;
}

int lp_steps_find(const struct lp_token *tokens, uint32_t count, bool final, bool follows,
                  struct lp_steps *steps)
{
    struct finder finder = {
        .tokens = tokens, .count = count, .final = final, .steps = steps, .follows = follows
    };
    int status;

    *steps = (struct lp_steps){ .by_attention = true };
    if ((status = find_attention(&finder)) == 0)
        status = find_by_units(&finder);
    if (status < 0 || (steps->items.count > 0 && !units_are_few(&finder)))
        return status;
    lp_steps_clear(steps);
    *steps = (struct lp_steps){ .by_attention = false };
    if ((status = find_products(&finder)) == 0)
        status = find_by_units(&finder);
    return status;
}

void lp_steps_clear(struct lp_steps *steps)
{
    lp_vector_clear(&steps->units);
    lp_vector_clear(&steps->items);
}

int lp_steps_split(struct lp_steps *steps, struct lp_steps *second)
{
    size_t kept = 0;

    *second = *steps;
    second->units_per_step = steps->second;
    second->items.items = NULL;
    second->items.count = second->items.capacity = 0;
    for (size_t i = 0; steps->second && i < steps->items.count; i++) {
        const struct lp_step step = steps->items.items[i];

        if (step.units >= steps->units_per_step)
            steps->items.items[kept++] = step;
        else if (lp_vector_push(&second->items, step) < 0)
            return lp_out_of_memory();
    }
    steps->items.count = steps->second ? kept : steps->items.count;
    return 0;
}
