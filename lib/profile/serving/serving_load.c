/* SPDX-License-Identifier: Apache-2.0 */
/* The load over time, in a fixed number of intervals: when they are used up, two become one. */
#include "lib/profile/serving/serving_state.h"

#define WIDTH_NS UINT64_C(100000000)

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct lp_load_point add_points(const struct lp_load_point *a, const struct lp_load_point *b)
{
    return (struct lp_load_point){ a->begun + b->begun,
                                   a->ended + b->ended,
                                   a->prompt_tokens + b->prompt_tokens,
                                   a->output_tokens + b->output_tokens,
                                   larger(a->running_max, b->running_max),
                                   a->steps + b->steps,
                                   a->batch + b->batch,
                                   larger(a->batch_max, b->batch_max),
                                   a->context + b->context,
                                   larger(a->context_max, b->context_max) };
}

static void halve(struct lp_load_series *series)
{
    for (size_t i = 0; i < LP_LOAD_POINTS / 2; i++)
        series->points[i] = add_points(&series->points[2 * i], &series->points[2 * i + 1]);
    for (size_t i = LP_LOAD_POINTS / 2; i < LP_LOAD_POINTS; i++)
        series->points[i] = (struct lp_load_point){ 0 };
    series->width_ns *= 2;
    series->last /= 2;
}

struct lp_load_point *lp_load_at(struct lp_load_series *series, uint64_t time_ns, uint64_t open)
{
    uint64_t since_ns, at;

    if (series->begin_ns == 0) {
        series->begin_ns = time_ns;
        series->width_ns = WIDTH_NS;
    }
    since_ns = time_ns > series->begin_ns ? time_ns - series->begin_ns : 0;
    while ((at = since_ns / series->width_ns) >= LP_LOAD_POINTS) {
        while (series->last < LP_LOAD_POINTS - 1)
            series->points[++series->last].running_max = open;
        halve(series);
    }
    while (series->last < at)
        series->points[++series->last].running_max = open;
    return &series->points[at];
}
