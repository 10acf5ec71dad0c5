/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/order.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "llmperf/api.h"

#define HELD 262144u /* events at most; at least half of them once the buffer was full */

int lp_trace_order_init(struct lp_trace_order *order, void *context,
                        void (*pass)(void *context, const struct lp_trace_event *event))
{
    *order = (struct lp_trace_order){ .context = context, .pass = pass };
    order->events = malloc(HELD * sizeof(*order->events));
    order->keys = malloc(HELD * sizeof(*order->keys));
    order->spare = malloc(HELD * sizeof(*order->spare));
    return order->events && order->keys && order->spare ? 0 : LLMPERF_ENOMEM;
}

void lp_trace_order_clear(struct lp_trace_order *order)
{
    free(order->events);
    free(order->keys);
    free(order->spare);
    *order = (struct lp_trace_order){ 0 };
}

/* End of the ascending run of events that starts at `from`. */
static size_t end_of_run(const struct lp_trace_key *keys, size_t from, size_t count)
{
    size_t end = from + 1;

    while (end < count && keys[end - 1].time_ns <= keys[end].time_ns)
        end++;
    return end;
}

/* Of equal times the left one comes first: the order is stable. */
static void merge_runs(const struct lp_trace_key *from, size_t left, size_t middle, size_t end,
                       struct lp_trace_key *to)
{
    size_t right = middle;

    for (size_t at = left; at < end; at++)
        to[at] = right == end || (left < middle && from[left].time_ns <= from[right].time_ns)
                     ? from[left++]
                     : from[right++];
}

/* Merge adjacent ascending runs until one is left: batches of each thread and of the device are
 * sorted.
 * @return whether there were several */
static bool merge_pass(const struct lp_trace_key *from, struct lp_trace_key *to, size_t count)
{
    size_t runs = 0;

    for (size_t left = 0, end; left < count; left = end, runs++) {
        size_t middle = end_of_run(from, left, count);

        end = middle < count ? end_of_run(from, middle, count) : count;
        merge_runs(from, left, middle, end, to);
    }
    return runs > 1;
}

static void sort_keys(struct lp_trace_order *order)
{
    bool more = true;

    for (size_t i = 0; i < order->count; i++)
        order->keys[i] = (struct lp_trace_key){ order->events[i].time_ns, (uint32_t)i };
    while (more) {
        struct lp_trace_key *merged = order->spare;

        more = merge_pass(order->keys, merged, order->count);
        order->spare = order->keys;
        order->keys = merged;
    }
}

static int compare_indexes(const void *left, const void *right)
{
    uint32_t a = ((const struct lp_trace_key *)left)->index,
             b = ((const struct lp_trace_key *)right)->index;

    return LP_ORDER(a, b);
}

/* Pass on the oldest; the others keep their order of arrival. */
static void pass_oldest(struct lp_trace_order *order, size_t count)
{
    size_t left = order->count - count;

    sort_keys(order);
    for (size_t i = 0; i < count; i++)
        order->pass(order->context, &order->events[order->keys[i].index]);
    if (left > 0)
        qsort(order->keys + count, left, sizeof(*order->keys), compare_indexes);
    for (size_t i = 0; i < left; i++)
        order->events[i] = order->events[order->keys[count + i].index];
    order->count = left;
}

void lp_trace_order_add(struct lp_trace_order *order, const struct lp_trace_event *event)
{
    order->events[order->count++] = *event;
    if (order->count == HELD)
        pass_oldest(order, HELD / 2);
}

void lp_trace_order_flush(struct lp_trace_order *order)
{
    pass_oldest(order, order->count);
}
