/* SPDX-License-Identifier: Apache-2.0 */
/** Sorts a nearly sorted stream of events by time, since threads and buffers are drained one after
 * the other. The buffer is large enough for the disorder of a session; an event that comes even
 * later is passed on at once. For lib/trace only.
 * @threads one at a time per object */
#ifndef LP_TRACE_ORDER_H
#define LP_TRACE_ORDER_H

#include "lib/trace/trace.h"

enum lp_trace_event_kind {
    LP_TRACE_BEGIN,
    LP_TRACE_END,
    LP_TRACE_RANGE,
    LP_TRACE_COUNT,
    LP_TRACE_LAUNCH,
    LP_TRACE_ACTIVITY
};

struct lp_trace_event {
    uint64_t time_ns; /* equal times: in order of arrival */
    uint32_t kind;    /* enum lp_trace_event_kind */
    uint32_t thread;
    union {
        struct lp_activity activity;
        struct lp_trace_launch launch;
        struct {
            uint64_t begin_ns, end_ns;
            uint32_t node;
            bool before, truncated, unended;
        } region;
        struct {
            uint64_t amount;
            uint32_t quantity;
        } count;
    } of;
};

struct lp_trace_key {
    uint64_t time_ns;
    uint32_t index; /* of the event */
};

struct lp_trace_order {
    void *context;
    void (*pass)(void *context, const struct lp_trace_event *event);
    struct lp_trace_event *events; /* in order of arrival; allocated once */
    struct lp_trace_key *keys, *spare;
    size_t count;
};

/** 0 or LLMPERF_ENOMEM. Clear `order` in any case. */
int lp_trace_order_init(struct lp_trace_order *order, void *context,
                        void (*pass)(void *context, const struct lp_trace_event *event));

void lp_trace_order_add(struct lp_trace_order *order, const struct lp_trace_event *event);

/** Pass on all buffered events. */
void lp_trace_order_flush(struct lp_trace_order *order);

void lp_trace_order_clear(struct lp_trace_order *order);

#endif
