/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernels/collective_match.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RANKS_MOST 64u

/* GPUs leave a collective together: within this time and a tenth of the transfer. */
#define APART_NS UINT64_C(20000)

/* The next call of each GPU. */
struct heads {
    const struct lp_rank_calls *ranks;
    size_t count;
    size_t at[RANKS_MOST];
};

static const struct lp_rank_call *head(const struct heads *heads, size_t rank)
{
    return &heads->ranks[rank].items.items[heads->at[rank]];
}

static bool have_calls(const struct heads *heads)
{
    for (size_t i = 0; i < heads->count; i++)
        if (heads->at[i] >= heads->ranks[i].items.count)
            return false;
    return true;
}

struct extremes {
    uint64_t first_start_ns, last_start_ns, first_end_ns, last_end_ns;
    size_t first_to_end; /* GPU */
};

static struct extremes extremes_of(const struct heads *heads)
{
    struct extremes out = { UINT64_MAX, 0, UINT64_MAX, 0, 0 };

    for (size_t i = 0; i < heads->count; i++) {
        const struct lp_rank_call *call = head(heads, i);

        out.first_start_ns =
            call->start_ns < out.first_start_ns ? call->start_ns : out.first_start_ns;
        out.last_start_ns = call->start_ns > out.last_start_ns ? call->start_ns : out.last_start_ns;
        out.last_end_ns = call->end_ns > out.last_end_ns ? call->end_ns : out.last_end_ns;
        if (call->end_ns < out.first_end_ns) {
            out.first_end_ns = call->end_ns;
            out.first_to_end = i;
        }
    }
    return out;
}

static bool is_one(const struct extremes *times)
{
    return times->last_start_ns < times->first_end_ns &&
           times->last_end_ns - times->first_end_ns <=
               APART_NS + (times->last_end_ns - times->last_start_ns) / 10;
}

static void count_one(const struct heads *heads, const struct extremes *times,
                      struct lp_matched *sums)
{
    for (size_t i = 0; i < heads->count; i++) {
        const struct lp_rank_call *call = head(heads, i);
        struct lp_matched *sum = &sums[call->row];

        sum->calls++;
        sum->waiting_ns += times->last_start_ns - call->start_ns;
        sum->transfer_ns += call->end_ns - times->last_start_ns;
        sum->last +=
            call->start_ns == times->last_start_ns && times->first_start_ns < times->last_start_ns;
        sum->ranks = (uint32_t)heads->count;
    }
}

/* A call that ends before the others start, or leaves before them, has no partner: those after it
 * start later. NULL sums: only count. */
static uint64_t match(const struct lp_rank_calls *ranks, size_t count, struct lp_matched *sums)
{
    struct heads heads = { ranks, count, { 0 } };
    uint64_t matched = 0;

    while (have_calls(&heads)) {
        struct extremes times = extremes_of(&heads);

        if (!is_one(&times)) {
            heads.at[times.first_to_end]++;
            continue;
        }
        matched++;
        if (sums)
            count_one(&heads, &times, sums);
        for (size_t i = 0; i < count; i++)
            heads.at[i]++;
    }
    return matched;
}

/* Most calls of a GPU in the time that all have calls of: what is kept of each may begin and end at
 * another time. */
static uint64_t most_common(const struct lp_rank_calls *ranks, size_t count)
{
    uint64_t from_ns = 0, to_ns = UINT64_MAX, most = 0;

    for (size_t i = 0; i < count; i++) {
        const struct lp_rank_call *items = ranks[i].items.items;
        size_t calls = ranks[i].items.count;

        if (calls == 0)
            return 0;
        from_ns = items[0].start_ns > from_ns ? items[0].start_ns : from_ns;
        to_ns = items[calls - 1].end_ns < to_ns ? items[calls - 1].end_ns : to_ns;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t calls = 0;

        for (size_t k = 0; k < ranks[i].items.count; k++)
            calls += ranks[i].items.items[k].end_ns > from_ns &&
                     ranks[i].items.items[k].start_ns < to_ns;
        most = calls > most ? calls : most;
    }
    return most;
}

static bool fits(const struct lp_rank_calls *ranks, size_t count, size_t group)
{
    for (size_t first = 0; first < count; first += group) {
        uint64_t most = most_common(ranks + first, group);

        if (most == 0 ||
            (double)match(ranks + first, group, NULL) < LP_MATCHED_SHARE * (double)most)
            return false;
    }
    return true;
}

void lp_collectives_match(const struct lp_rank_calls *ranks, size_t count, struct lp_matched *sums)
{
    for (size_t group = count; group > 1 && count <= RANKS_MOST; group--) {
        if (count % group != 0 || !fits(ranks, count, group))
            continue;
        for (size_t first = 0; first < count; first += group)
            match(ranks + first, group, sums);
        return;
    }
}

double lp_bus_factor(const char *kind, uint64_t ranks)
{
    double n = (double)ranks;

    if (!kind || ranks < 2)
        return NAN;
    if (strcmp(kind, "all_reduce") == 0)
        return 2 * (n - 1) / n;
    /* The message is the part of one GPU, nccl-tests' size that of all together. */
    if (strcmp(kind, "all_gather") == 0 || strcmp(kind, "reduce_scatter") == 0 ||
        strcmp(kind, "all_to_all") == 0)
        return n - 1;
    return strcmp(kind, "broadcast") == 0 || strcmp(kind, "reduce") == 0 ||
                   strcmp(kind, "send_recv") == 0
               ? 1
               : NAN;
}
