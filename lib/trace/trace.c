/* SPDX-License-Identifier: Apache-2.0 */
/* Receives records, buffers them until they can be sorted, and passes them to a writer. */
#include "lib/trace/trace.h"

#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/trace/lanes.h"
#include "lib/trace/order.h"
#include "llmperf/profile.h"

struct open_counts {
    uint64_t of[LP_TRACE_QUANTITIES];
};

struct trace_thread {
    uint64_t
        last_ns; /* time of its last event; times must not decrease, or events would not nest */
    struct lp_trace_event held; /* a launch that may still turn out to have failed */
    bool holds;
    LP_VECTOR(struct open_counts) open; /* open regions that were passed on */
};

struct lp_trace {
    struct lp_trace_writer *writer;
    struct lp_trace_order order;
    struct lp_trace_lanes lanes;
    struct lp_trace_links links;
    struct lp_trace_stream ranges;
    LP_VECTOR(struct trace_thread) threads;
    llmperf_trace_summary summary;
    uint64_t newest_ns;
    uint64_t shift_ns; /* from the process's clock to the file's */
    bool failed;       /* memory ran out: events are missing */
};

/* A process's time on the file's clock. 0: not known. */
static uint64_t shifted(const struct lp_trace *trace, uint64_t time_ns)
{
    return time_ns ? time_ns + trace->shift_ns : 0;
}

static struct trace_thread *find_thread(struct lp_trace *trace, uint32_t thread)
{
    struct trace_thread *found = lp_vector_at(&trace->threads, thread);

    trace->failed |= !found;
    return found;
}

/* Output in order */

static void note_time(struct lp_trace *trace, uint64_t begin_ns, uint64_t end_ns)
{
    llmperf_trace_summary *summary = &trace->summary;

    if (summary->first_ns == 0 || begin_ns < summary->first_ns)
        summary->first_ns = begin_ns;
    if (end_ns > summary->last_ns)
        summary->last_ns = end_ns;
}

static void write_begin(struct lp_trace *trace, const struct lp_trace_event *event)
{
    const struct lp_trace_region region = { .begin_ns = event->of.region.begin_ns,
                                            .thread = event->thread,
                                            .node = event->of.region.node,
                                            .before = event->of.region.before };

    if (lp_vector_push(&trace->threads.items[event->thread].open, (struct open_counts){ { 0 } }) <
        0)
        trace->failed = true;
    trace->summary.regions++;
    trace->writer->ops->region_begin(trace->writer, &region);
}

static void write_end(struct lp_trace *trace, const struct lp_trace_event *event)
{
    struct trace_thread *thread = &trace->threads.items[event->thread];
    struct lp_trace_region region = { .begin_ns = event->of.region.begin_ns,
                                      .end_ns = event->of.region.end_ns,
                                      .thread = event->thread,
                                      .node = event->of.region.node,
                                      .before = event->of.region.before,
                                      .truncated = event->of.region.truncated,
                                      .unended = event->of.region.unended };

    if (thread->open.count > 0) {
        thread->open.count--;
        for (size_t i = 0; i < LP_TRACE_QUANTITIES; i++)
            region.counts[i] = thread->open.items[thread->open.count].of[i];
    }
    trace->writer->ops->region_end(trace->writer, &region);
}

static void write_range(struct lp_trace *trace, const struct lp_trace_event *event)
{
    const struct lp_trace_region range = { .begin_ns = event->of.region.begin_ns,
                                           .end_ns = event->of.region.end_ns,
                                           .thread = event->thread,
                                           .node = event->of.region.node,
                                           .before = event->of.region.before,
                                           .truncated = event->of.region.truncated };

    trace->summary.regions++;
    trace->writer->ops->range(trace->writer, &range,
                              lp_trace_stream_lane(&trace->ranges, range.begin_ns, range.end_ns));
}

static void add_count(struct lp_trace *trace, const struct lp_trace_event *event)
{
    struct trace_thread *thread = &trace->threads.items[event->thread];

    if (thread->open.count > 0 && event->of.count.quantity < LP_TRACE_QUANTITIES)
        thread->open.items[thread->open.count - 1].of[event->of.count.quantity] +=
            event->of.count.amount;
}

static void write_activity(struct lp_trace *trace, const struct lp_activity *activity)
{
    llmperf_trace_summary *summary = &trace->summary;
    bool linked = !activity->device_launched && activity->correlation != LP_CORRELATION_NONE &&
                  lp_trace_link_take(&trace->links, activity->correlation);

    summary->kernels += activity->kind == LLMPERF_ACTIVITY_KERNEL;
    summary->graphs += activity->kind == LLMPERF_ACTIVITY_GRAPH;
    summary->memory +=
        activity->kind != LLMPERF_ACTIVITY_KERNEL && activity->kind != LLMPERF_ACTIVITY_GRAPH;
    trace->writer->ops->activity(trace->writer, activity, lp_trace_lane(&trace->lanes, activity),
                                 linked);
}

static void pass(void *context, const struct lp_trace_event *event)
{
    struct lp_trace *trace = context;

    note_time(trace, event->time_ns,
              event->kind == LP_TRACE_ACTIVITY ? event->of.activity.end_ns : event->time_ns);
    switch (event->kind) {
    case LP_TRACE_BEGIN:
        write_begin(trace, event);
        break;
    case LP_TRACE_END:
        write_end(trace, event);
        break;
    case LP_TRACE_RANGE:
        note_time(trace, event->time_ns, event->of.region.end_ns);
        write_range(trace, event);
        break;
    case LP_TRACE_COUNT:
        add_count(trace, event);
        break;
    case LP_TRACE_LAUNCH:
        trace->summary.launches++;
        lp_trace_link_open(&trace->links, event->of.launch.correlation);
        trace->writer->ops->launch(trace->writer, &event->of.launch);
        break;
    default:
        write_activity(trace, &event->of.activity);
    }
}

/* Input in order of arrival */

static void add_on_thread(struct lp_trace *trace, struct trace_thread *thread,
                          struct lp_trace_event *event)
{
    if (event->time_ns < thread->last_ns)
        event->time_ns = thread->last_ns;
    thread->last_ns = event->time_ns;
    if (event->time_ns > trace->newest_ns)
        trace->newest_ns = event->time_ns;
    lp_trace_order_add(&trace->order, event);
}

/* The record directly follows its launch. */
static void release_launch(struct lp_trace *trace, struct trace_thread *thread)
{
    if (!thread->holds)
        return;
    thread->holds = false;
    thread->held.of.launch.time_ns =
        thread->held.time_ns > thread->last_ns ? thread->held.time_ns : thread->last_ns;
    add_on_thread(trace, thread, &thread->held);
}

static void take_begin(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns,
                       bool before)
{
    struct lp_trace *trace = context;
    struct trace_thread *state = find_thread(trace, thread);
    struct lp_trace_event event = { .kind = LP_TRACE_BEGIN, .thread = thread };

    if (!state)
        return;
    begin_ns = event.time_ns = shifted(trace, begin_ns);
    release_launch(trace, state);
    event.of.region.begin_ns = begin_ns > state->last_ns ? begin_ns : state->last_ns;
    event.of.region.node = node;
    event.of.region.before = before;
    add_on_thread(trace, state, &event);
}

static void take_end(void *context, uint32_t thread, uint32_t node, uint64_t begin_ns,
                     uint64_t end_ns, bool truncated)
{
    struct lp_trace *trace = context;
    struct trace_thread *state = find_thread(trace, thread);
    struct lp_trace_event event = { .kind = LP_TRACE_END, .thread = thread };

    if (!state)
        return;
    release_launch(trace, state);
    begin_ns = shifted(trace, begin_ns);
    event.time_ns = end_ns ? shifted(trace, end_ns) : trace->newest_ns;
    if (event.time_ns < state->last_ns)
        event.time_ns = state->last_ns;
    event.of.region.begin_ns = begin_ns < event.time_ns ? begin_ns : event.time_ns;
    event.of.region.end_ns = event.time_ns;
    event.of.region.node = node;
    event.of.region.truncated = truncated;
    event.of.region.unended = end_ns == 0;
    add_on_thread(trace, state, &event);
}

static void ignore_region(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                          enum lp_in_window window)
{
    (void)context;
    (void)node;
    (void)wall_ns;
    (void)truncated;
    (void)window;
}

static void ignore_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                         enum lp_in_window window)
{
    (void)context;
    (void)node;
    (void)quantity;
    (void)amount;
    (void)window;
}

static void take_activities(void *context, const struct lp_activity *activities, size_t count)
{
    struct lp_trace *trace = context;

    for (size_t i = 0; i < count; i++) {
        struct lp_trace_event event = { .kind = LP_TRACE_ACTIVITY };
        struct lp_activity *activity = &event.of.activity;

        *activity = activities[i];
        activity->start_ns = event.time_ns = shifted(trace, activity->start_ns);
        activity->end_ns = shifted(trace, activity->end_ns);
        activity->queued += lp_queued(trace->shift_ns);
        if (activity->end_ns > trace->newest_ns)
            trace->newest_ns = activity->end_ns;
        lp_trace_order_add(&trace->order, &event);
    }
}

struct lp_attribution_sink lp_trace_sink(struct lp_trace *trace)
{
    return (struct lp_attribution_sink){ .context = trace,
                                         .region = ignore_region,
                                         .count = ignore_count,
                                         .activities = take_activities,
                                         .spans = { take_begin, take_end } };
}

static void take_launch(struct trace_thread *state, uint32_t thread, const struct lp_record *record)
{
    bool graph = record->detail == LP_LAUNCH_GRAPH;

    state->holds = true;
    state->held = (struct lp_trace_event){ .time_ns = record->time_ns,
                                           .kind = LP_TRACE_LAUNCH,
                                           .thread = thread };
    state->held.of.launch =
        (struct lp_trace_launch){ .time_ns = record->time_ns,
                                  .thread = thread,
                                  .node = record->node,
                                  .correlation = (uint32_t)record->value,
                                  .graph = graph ? LP_GRAPH_OF(record->value) : 0,
                                  .kind = record->detail };
}

static void take_range(struct lp_trace *trace, struct trace_thread *state, uint32_t thread,
                       const struct lp_record *record)
{
    struct lp_trace_event event = { .kind = LP_TRACE_RANGE, .thread = thread };
    uint64_t length_ns = record->value < record->time_ns ? record->value : 0;

    release_launch(trace, state);
    event.time_ns = event.of.region.begin_ns = record->time_ns - length_ns;
    event.of.region.end_ns = record->time_ns;
    event.of.region.node = record->node;
    event.of.region.before = event.of.region.truncated = record->detail != 0;
    if (record->time_ns > trace->newest_ns)
        trace->newest_ns = record->time_ns;
    lp_trace_order_add(&trace->order, &event);
}

static void take_count(struct lp_trace *trace, struct trace_thread *state, uint32_t thread,
                       const struct lp_record *record)
{
    struct lp_trace_event event = { .time_ns = record->time_ns,
                                    .kind = LP_TRACE_COUNT,
                                    .thread = thread };

    release_launch(trace, state);
    event.of.count.amount = record->value;
    event.of.count.quantity = record->detail;
    add_on_thread(trace, state, &event);
}

void lp_trace_host(struct lp_trace *trace, uint32_t thread, const struct lp_record *original)
{
    struct trace_thread *state = find_thread(trace, thread);
    struct lp_record here = *original, *record = &here;

    if (!state)
        return;
    here.time_ns = shifted(trace, original->time_ns);
    switch (record->kind) {
    case LP_RECORD_LAUNCH:
        release_launch(trace, state);
        take_launch(state, thread, record);
        break;
    case LP_RECORD_LAUNCH_CANCELLED:
        state->holds = state->holds && state->held.of.launch.correlation != (uint32_t)record->value;
        break;
    case LP_RECORD_RANGE:
        take_range(trace, state, thread, record);
        break;
    case LP_RECORD_COUNT:
        take_count(trace, state, thread, record);
        break;
    default:
        break;
    }
}

void lp_trace_plan(struct lp_trace *trace, const struct lp_counter_plan *plan)
{
    trace->writer->ops->plan(trace->writer, plan);
}

void lp_trace_counter(struct lp_trace *trace, const struct lp_counter_fact *fact,
                      const double *values)
{
    struct lp_counter_fact here = *fact;

    if (fact->kind != LP_COUNTER_SAMPLE) /* values of regions have no time */
        return;
    here.start_ns = shifted(trace, fact->start_ns);
    here.end_ns = shifted(trace, fact->end_ns);
    trace->summary.samples++;
    note_time(trace, here.start_ns, here.end_ns);
    trace->writer->ops->sample(trace->writer, &here, values);
}

static void release_all(struct lp_trace *trace)
{
    for (size_t i = 0; i < trace->threads.count; i++)
        release_launch(trace, &trace->threads.items[i]);
}

void lp_trace_remark(struct lp_trace *trace, const char *text)
{
    release_all(trace);
    lp_trace_order_flush(&trace->order);
    trace->writer->ops->remark(trace->writer, trace->summary.last_ns, text);
}

struct lp_trace *lp_trace_create(struct lp_trace_writer *writer, const struct lp_trace_facts *facts)
{
    struct lp_trace *trace = calloc(1, sizeof(*trace));

    if (!trace)
        return NULL;
    trace->writer = writer;
    trace->shift_ns = facts->shift_ns;
    trace->summary = (llmperf_trace_summary)LLMPERF_TRACE_SUMMARY_INIT;
    if (lp_trace_order_init(&trace->order, trace, pass) < 0) {
        lp_trace_free(trace);
        return NULL;
    }
    writer->ops->begin(writer, facts);
    return trace;
}

void lp_trace_free(struct lp_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->threads.count; i++)
        lp_vector_clear(&trace->threads.items[i].open);
    lp_vector_clear(&trace->threads);
    lp_vector_clear(&trace->ranges.ends);
    lp_trace_order_clear(&trace->order);
    lp_trace_lanes_clear(&trace->lanes);
    lp_trace_links_clear(&trace->links);
    free(trace);
}

static void add_summary(llmperf_trace_summary *sum, const llmperf_trace_summary *part)
{
    sum->kernels += part->kernels;
    sum->memory += part->memory;
    sum->graphs += part->graphs;
    sum->regions += part->regions;
    sum->launches += part->launches;
    sum->samples += part->samples;
    if (part->first_ns && (sum->first_ns == 0 || part->first_ns < sum->first_ns))
        sum->first_ns = part->first_ns;
    if (part->last_ns > sum->last_ns)
        sum->last_ns = part->last_ns;
}

int lp_trace_end(struct lp_trace *trace, llmperf_trace_summary *summary_out)
{
    release_all(trace);
    lp_trace_order_flush(&trace->order);
    add_summary(summary_out, &trace->summary);
    return trace->failed ? lp_error(LLMPERF_ENOMEM, "out of memory: the trace would be incomplete")
                         : 0;
}
