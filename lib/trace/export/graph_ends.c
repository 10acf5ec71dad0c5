/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/export/graph_ends.h"

#include <string.h>

#define WAIT_NS UINT64_C(100000000)

/* Adjacent records of a graph launch, in one or two intervals. */
struct run {
    struct lp_activity *pieces[2];
    size_t counts[2];
};

static bool is_of_graph(const struct lp_activity *activity)
{
    return activity->graph != 0 && activity->start_ns != 0 &&
           activity->end_ns >= activity->start_ns;
}

static size_t length_of(const struct run *run)
{
    return run->counts[0] + run->counts[1];
}

/* Do all of them overlap at some time? */
static bool all_overlap(const struct run *run)
{
    uint64_t last_start = 0, first_end = UINT64_MAX;

    for (size_t piece = 0; piece < 2; piece++)
        for (size_t i = 0; i < run->counts[piece]; i++) {
            const struct lp_activity *activity = &run->pieces[piece][i];

            if (activity->start_ns > last_start)
                last_start = activity->start_ns;
            if (activity->end_ns < first_end)
                first_end = activity->end_ns;
        }
    return first_end > last_start;
}

static void take_ends(struct lp_graph_ends *ends, const struct run *run)
{
    for (size_t piece = 0; piece < 2; piece++)
        for (size_t i = 0; i < run->counts[piece]; i++)
            run->pieces[piece][i].end_ns = run->pieces[piece][i].start_ns - 1;
    ends->records += length_of(run);
}

/* Skipped records may have any times. */
static bool is_late(struct lp_graph_ends *ends, struct lp_attribution *attribution,
                    const struct run *run, uint32_t correlation)
{
    if (!lp_attribution_counts(attribution, correlation))
        return false;
    if (ends->records > 0 && ends->late == correlation)
        return true;
    if (length_of(run) < LP_GRAPH_ENDS_MIN || !all_overlap(run))
        return false;
    ends->late = correlation;
    return true;
}

static size_t run_at(const struct lp_activity *activities, size_t count)
{
    size_t length = 0;

    while (length < count && is_of_graph(&activities[length]) &&
           activities[length].correlation == activities[0].correlation)
        length++;
    return length;
}

void lp_graph_ends_settle(struct lp_graph_ends *ends, struct lp_attribution *attribution)
{
    if (ends->count > 0)
        lp_attribution_activities(attribution, ends->held, ends->count);
    ends->count = 0;
}

/* Mark late records.
 * @return how many records at the end of the batch are too few to decide. */
static size_t look(struct lp_graph_ends *ends, struct lp_attribution *attribution,
                   struct lp_activity *activities, size_t count)
{
    size_t at = 0;

    while (at < count) {
        struct run run = { { ends->held, activities + at }, { 0, 0 } };
        size_t length = run_at(activities + at, count - at);

        run.counts[1] = length;
        if (at == 0 && ends->count > 0 && ends->held[0].correlation == activities[0].correlation)
            run.counts[0] = ends->count;
        if (length > 0 && is_late(ends, attribution, &run, activities[at].correlation))
            take_ends(ends, &run);
        else if (length > 0 && at + length == count && length_of(&run) < LP_GRAPH_ENDS_MIN)
            return length;
        at += length > 0 ? length : 1;
    }
    return 0;
}

void lp_graph_ends_pass(struct lp_graph_ends *ends, struct lp_attribution *attribution,
                        struct lp_activity *activities, size_t count)
{
    size_t tail = look(ends, attribution, activities, count), front = count - tail;
    bool joins = front == 0 && tail > 0 && ends->count > 0 &&
                 ends->held[0].correlation == activities[0].correlation;

    if (!joins)
        lp_graph_ends_settle(ends, attribution);
    if (front > 0)
        lp_attribution_activities(attribution, activities, front);
    memcpy(ends->held + ends->count, activities + front, tail * sizeof(*activities));
    ends->count += tail;
}

bool lp_graph_wait_over(struct lp_graph_wait *wait, const struct lp_attribution *attribution,
                        uint64_t now_ns)
{
    uint64_t counted = lp_attribution_counted(attribution);
    bool in = counted == wait->counted && lp_attribution_pending(attribution) == 0;

    wait->counted = counted;
    return in || now_ns - wait->since_ns >= WAIT_NS;
}
