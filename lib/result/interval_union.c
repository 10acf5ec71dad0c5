/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/result/interval_union.h"

#define MERGE_LEAST 256u /* pending intervals that are worth a merge */
#define MERGE_PART  8u   /* or this part of the open ones, so that a merge costs O(1) an interval */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int lp_union_add(struct lp_interval_union *set, uint64_t start, uint64_t end)
{
    struct lp_interval *last;

    if (start < set->folded_until) {
        set->late++;
        start = set->folded_until;
    }
    if (end <= start)
        return 0;
    if (set->pending.count > 0) {
        last = &set->pending.items[set->pending.count - 1];
        if (start >= last->start && start <= last->end) {
            last->end = later(last->end, end);
            return 0;
        }
        if (start < last->start)
            set->pending_sorted_not = true;
    }
    return lp_vector_push(&set->pending, (struct lp_interval){ start, end });
}

bool lp_union_due(const struct lp_interval_union *set)
{
    size_t part = set->open.count / MERGE_PART;

    return set->pending.count >= (part > MERGE_LEAST ? part : MERGE_LEAST);
}

/* Index behind the ascending run that starts at `from`. */
static size_t run_end(const struct lp_interval *items, size_t from, size_t count)
{
    size_t at = from + 1;

    while (at < count && items[at].start >= items[at - 1].start)
        at++;
    return at < count ? at : count;
}

/* Merge the runs [left, middle) and [middle, right) of `from` to the same place of `to`. */
static void merge_runs(const struct lp_interval *from, struct lp_interval *to, size_t left,
                       size_t middle, size_t right)
{
    size_t a = left, b = middle;

    for (size_t out = left; out < right; out++)
        if (a < middle && (b == right || from[a].start <= from[b].start))
            to[out] = from[a++];
        else
            to[out] = from[b++];
}

/* Natural merge sort: streams are ordered in themselves, so there are few runs and few passes. The
 * second half of the vector's memory is the other buffer and stays for the next time. */
static int sort_pending(lp_intervals *pending)
{
    size_t count = pending->count, runs;
    struct lp_interval *from, *to, *swap;

    if (lp_vector_reserve(pending, count) < 0)
        return LLMPERF_ENOMEM;
    from = pending->items;
    to = pending->items + count;
    do {
        runs = 0;
        for (size_t left = 0, middle, right; left < count; left = right) {
            middle = run_end(from, left, count);
            right = middle < count ? run_end(from, middle, count) : count;
            merge_runs(from, to, left, middle, right);
            runs++;
        }
        swap = from;
        from = to;
        to = swap;
    } while (runs > 1);
    if (from != pending->items)
        memcpy(pending->items, from, count * sizeof(*from));
    return 0;
}

/* Join sorted intervals that overlap or touch. */
static void coalesce(lp_intervals *sorted)
{
    struct lp_interval *last = sorted->items;

    for (size_t i = 1; i < sorted->count; i++) {
        const struct lp_interval *next = &sorted->items[i];

        if (next->start <= last->end)
            last->end = later(last->end, next->end);
        else
            *++last = *next;
    }
    sorted->count = (size_t)(last - sorted->items) + 1;
}

/* Merge `more` into the open intervals from `first` on, from the back, so that no second buffer is
 * needed: the write position stays behind both read positions. Room was reserved. */
static void merge_tail(lp_intervals *open, size_t first, const lp_intervals *more)
{
    size_t a = open->count, b = more->count, end = a + b, out = end;
    const struct lp_interval *next;
    struct lp_interval last;

    while (a > first || b > 0) {
        if (b == 0 || (a > first && open->items[a - 1].end > more->items[b - 1].end))
            next = &open->items[--a];
        else
            next = &more->items[--b];
        if (out < end && next->end >= open->items[out].start) {
            if (next->start < open->items[out].start)
                open->items[out].start = next->start;
        } else {
            last = *next;
            open->items[--out] = last;
        }
    }
    memmove(&open->items[first], &open->items[out], (end - out) * sizeof(*open->items));
    open->count = first + (end - out);
}

int lp_union_merge(struct lp_interval_union *set)
{
    size_t first = set->open.count;

    if (set->pending.count == 0)
        return 0;
    if (lp_vector_reserve(&set->open, set->pending.count) < 0 ||
        (set->pending_sorted_not && sort_pending(&set->pending) < 0))
        return LLMPERF_ENOMEM;
    set->pending_sorted_not = false;
    coalesce(&set->pending);
    while (first > 0 && set->open.items[first - 1].end >= set->pending.items[0].start)
        first--;
    merge_tail(&set->open, first, &set->pending);
    return 0;
}

void lp_union_settled(struct lp_interval_union *set)
{
    set->pending.count = 0;
    set->pending_sorted_not = false;
}

void lp_union_fold(struct lp_interval_union *set, uint64_t until)
{
    lp_intervals *open = &set->open;
    size_t gone = 0;

    assert(set->pending.count == 0);
    if (until <= set->folded_until)
        return;
    set->folded_until = until;
    while (gone < open->count && open->items[gone].end <= until) {
        set->folded_ns += open->items[gone].end - open->items[gone].start;
        gone++;
    }
    if (gone < open->count && open->items[gone].start < until) {
        set->folded_ns += until - open->items[gone].start;
        open->items[gone].start = until;
    }
    if (gone > 0)
        memmove(open->items, open->items + gone, (open->count - gone) * sizeof(*open->items));
    open->count -= gone;
}

uint64_t lp_union_length(const struct lp_interval_union *set)
{
    uint64_t length = set->folded_ns;

    assert(set->pending.count == 0);
    for (size_t i = 0; i < set->open.count; i++)
        length += set->open.items[i].end - set->open.items[i].start;
    return length;
}

void lp_union_clear(struct lp_interval_union *set)
{
    lp_vector_clear(&set->open);
    lp_vector_clear(&set->pending);
    *set = (struct lp_interval_union){ .late = 0 };
}
