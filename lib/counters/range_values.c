/* SPDX-License-Identifier: Apache-2.0 */
/* Computes values of regions from those of ranges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/counters/range.h"

static const char reason_lost[] = "CUPTI lost one of its ranges";

static struct lp_range_frame *top(struct lp_ranges *ranges)
{
    return ranges->frame_count > 0 ? &ranges->frames[ranges->frame_count - 1] : NULL;
}

static void add_value(double *sum, enum lp_counter_combine combine, double value, double weight)
{
    bool first = sum[1] == 0;

    if (isnan(value))
        return;
    if (combine == LP_COUNTER_MAX)
        sum[0] = first ? value : fmax(sum[0], value);
    else if (combine == LP_COUNTER_MIN)
        sum[0] = first ? value : fmin(sum[0], value);
    else
        sum[0] += combine == LP_COUNTER_MEAN ? value * weight : value;
    sum[1] += weight;
}

static double value_of(const double *sum, enum lp_counter_combine combine)
{
    if (sum[1] == 0)
        return NAN;
    return combine == LP_COUNTER_MEAN ? sum[0] / sum[1] : sum[0];
}

static void add_part(struct lp_counters *counters, const double *values)
{
    struct lp_ranges *ranges = counters->ranges;
    const struct lp_counter_set *set = counters->set;
    size_t columns = set->columns.count;
    double weight = counters->time_column < columns ? values[counters->time_column] : 1;

    weight = weight > 0 ? weight : 1;
    for (size_t c = 0; c < columns; c++) {
        enum lp_counter_combine combine = set->columns.items[c].combine;

        for (uint32_t f = 0; f < ranges->frame_count; f++)
            add_value(ranges->frames[f].inclusive + 2 * c, combine, values[c], weight);
        if (ranges->frame_count > 0)
            add_value(top(ranges)->own + 2 * c, combine, values[c], weight);
    }
}

static void spoil_frames(struct lp_ranges *ranges, const char *reason)
{
    for (uint32_t f = 0; f < ranges->frame_count; f++)
        if (!ranges->frames[f].reason)
            ranges->frames[f].reason = reason;
}

static void begin_frame(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;
    size_t columns = counters->set->columns.count;
    struct lp_range_frame *frame;

    if (ranges->frame_count > 0)
        top(ranges)->nested = true;
    frame = &ranges->frames[ranges->frame_count++];
    frame->node = node;
    frame->nested = false;
    frame->reason = ranges->spoilt;
    memset(frame->inclusive, 0, 4 * columns * sizeof(double));
}

static void put_sums(struct lp_counters *counters, uint32_t kind, uint32_t node, const double *sums)
{
    double *values = counters->ranges->scratch.items;

    for (size_t c = 0; c < counters->set->columns.count; c++)
        values[c] = value_of(sums + 2 * c, counters->set->columns.items[c].combine);
    lp_counter_put(counters, kind, node, NULL, values);
}

static void end_frame(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_range_frame *frame = top(ranges);

    if (!frame)
        return;
    ranges->frame_count--;
    if (frame->reason) {
        lp_counter_put(counters, LP_COUNTER_SKIP, frame->node, frame->reason, NULL);
        return;
    }
    put_sums(counters, LP_COUNTER_REGION, frame->node, frame->inclusive);
    if (frame->nested)
        put_sums(counters, LP_COUNTER_OWN, frame->node, frame->own);
}

static void play_part(struct lp_counters *counters, uint32_t range)
{
    struct lp_ranges *ranges = counters->ranges;
    double *values = ranges->values.items;

    if (range == LP_RANGE_NO_PART ||
        lp_counter_set_evaluate(counters->set, ranges->data, ranges->data_size, range, values) < 0)
        spoil_frames(ranges, reason_lost);
    else
        add_part(counters, values);
}

/* @param by_part  Range of each part; LP_RANGE_NO_PART: none. */
void lp_range_play(struct lp_counters *counters, const uint32_t *by_part)
{
    struct lp_ranges *ranges = counters->ranges;

    for (size_t i = 0; i < ranges->events.count; i++) {
        const struct lp_range_event *event = &ranges->events.items[i];

        switch (event->kind) {
        case LP_RANGE_BEGIN:
            begin_frame(counters, event->node);
            break;
        case LP_RANGE_PART:
            play_part(counters, by_part[event->part]);
            break;
        case LP_RANGE_LOST:
            spoil_frames(ranges, event->reason);
            break;
        case LP_RANGE_END:
            end_frame(counters);
            break;
        }
    }
    ranges->events.count = 0;
}

void lp_range_put_event(struct lp_ranges *ranges, enum lp_range_event_kind kind, uint32_t node,
                        uint32_t part, const char *reason)
{
    struct lp_range_event event = { kind, node, part, reason };

    ranges->shape = (ranges->shape ^ ((uint64_t)kind << 32 | node)) * 0x9e3779b97f4a7c15u;
    if (lp_vector_push(&ranges->events, event) < 0)
        ranges->uneven = true; /* Out of memory: nothing of this window can be reported. */
}

int lp_range_sums_make(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    size_t columns = counters->set->columns.count;
    double *sums = calloc(LLMPERF_REGION_DEPTH * 4 * columns, sizeof(*sums));

    if (!sums || lp_vector_reserve(&ranges->values, columns) < 0 ||
        lp_vector_reserve(&ranges->scratch, columns) < 0) {
        free(sums);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    for (size_t f = 0; f < LLMPERF_REGION_DEPTH; f++) {
        ranges->frames[f].inclusive = sums + f * 4 * columns;
        ranges->frames[f].own = ranges->frames[f].inclusive + 2 * columns;
    }
    return 0;
}
