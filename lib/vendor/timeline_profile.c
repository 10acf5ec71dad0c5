/* SPDX-License-Identifier: Apache-2.0 */
/* Makes totals and a ledger for each process from what is joined and what is not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/record/record.h"
#include "lib/profile/data.h"
#include "lib/vendor/timeline.h"
#include "llmperf/profile.h"

/* Launches without operation */

#define BATCH 256u

static int compare_calls(const void *left, const void *right)
{
    const struct lp_host_call *a = left, *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int compare_events(const void *left, const void *right)
{
    const struct lp_node_event *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* A launch under stream capture creates a graph node instead of a kernel: the node's event is
 * inside the call. Events are sorted by thread and time. */
static bool was_captured(const struct lp_timeline *timeline, const struct lp_host_call *call)
{
    size_t low = 0, high = timeline->node_events.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lp_node_event *event = &timeline->node_events.items[middle];

        if (event->thread < call->thread ||
            (event->thread == call->thread && event->start < call->start))
            low = middle + 1;
        else
            high = middle;
    }
    return low < timeline->node_events.count &&
           timeline->node_events.items[low].thread == call->thread &&
           timeline->node_events.items[low].start <= call->end;
}

static int count_lonely(struct lp_timeline *timeline)
{
    lp_timeline_sort(timeline->lonely.items, timeline->lonely.count,
                     sizeof(*timeline->lonely.items), compare_calls);
    for (size_t i = 0; i < timeline->lonely.count; i++) {
        const struct lp_host_call *call = &timeline->lonely.items[i];
        struct lp_process *process;
        int status;

        if ((i > 0 && compare_calls(call - 1, call) == 0) || was_captured(timeline, call))
            continue;
        if ((status = lp_timeline_process(timeline, call->process, &process)) < 0)
            return status;
        if (call->kind == LP_CALL_GRAPH) {
            process->ledger.graph_launches++;
            continue;
        }
        process->ledger.launches_expected++;
        process->ledger.launches_missing++;
    }
    return 0;
}

static int count_links(struct lp_timeline *timeline)
{
    for (size_t i = 0; i < timeline->links.count; i++) {
        const struct lp_link *link = &timeline->links.items[i];
        struct lp_process *process;
        int status;

        if (link->call.rank == UINT8_MAX)
            continue;
        if ((status = lp_timeline_process(timeline, link->call.process, &process)) < 0)
            return status;
        process->ledger.launches_expected += link->call.kind == LP_CALL_KERNEL;
        process->ledger.graph_launches += link->call.kind == LP_CALL_GRAPH;
        process->ledger.memory_calls += link->call.kind == LP_CALL_MEMORY;
    }
    return 0;
}

/* Graph nodes */

static int index_events(struct lp_timeline *timeline, struct lp_hashmap *events)
{
    for (size_t i = 0; i < timeline->node_events.count; i++) {
        const struct lp_node_event *event = &timeline->node_events.items[i];

        if (lp_hashmap_put(events, event->thread & timeline->process_mask, event->graph_node,
                           (uint32_t)i) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

/* The path where a node was created. Nodes are copied at instantiation, so there may be several
 * steps back. */
static uint32_t captured_in(const struct lp_timeline *timeline, const struct lp_hashmap *events,
                            const struct lp_op *op)
{
    uint64_t graph_node = op->graph_node;
    uint32_t node = LP_PATH_UNKNOWN;

    for (int step = 0; step < 8 && graph_node; step++) {
        uint32_t row = lp_hashmap_get(events, op->process, graph_node);

        if (row == LP_HASHMAP_NONE)
            break;
        node = timeline->node_events.items[row].node;
        graph_node = timeline->node_events.items[row].original;
    }
    return node;
}

/* Totals */

struct feed {
    struct lp_timeline *timeline;
    struct lp_hashmap events;
    struct lp_activity batch[BATCH];
    struct lp_process *process; /* of the batch */
    size_t count;
};

static void flush(struct feed *feed)
{
    if (feed->count > 0)
        lp_totals_take(feed->process->totals, feed->batch, feed->count);
    feed->count = 0;
}

static void count_op(struct lp_process *process, const struct lp_op *op, uint32_t node,
                     uint32_t captured)
{
    llmperf_ledger *ledger = &process->ledger;
    uint64_t duration = (uint64_t)op->end - (uint64_t)op->start;

    process->device_ns += duration;
    if (node != LP_PATH_UNKNOWN)
        process->attributed_ns += duration;
    if (op->graph != LP_OP_SINGLE && captured == LP_PATH_UNKNOWN)
        ledger->graph_nodes_unmapped++;
    if (op->kind != LLMPERF_ACTIVITY_KERNEL) {
        ledger->memory_seen++;
        return;
    }
    ledger->kernels_seen++;
    ledger->graph_kernels_seen += op->graph != LP_OP_SINGLE;
    if (node == LP_PATH_UNKNOWN)
        ledger->kernels_unattributed++;
    else
        ledger->kernels_attributed++;
    ledger->kernels_outside += node == LP_PATH_ROOT;
}

/* Maps signed to unsigned times in the same order. */
static uint64_t unsign(int64_t time)
{
    return (uint64_t)time ^ UINT64_C(1) << 63;
}

/* Length of the call that launched it alone; 0: not known. */
static uint32_t call_length(const struct lp_link *link)
{
    const struct lp_host_call *call = &link->call;

    if (call->rank == UINT8_MAX || call->end == INT64_MAX || call->end <= call->start ||
        (call->kind != LP_CALL_KERNEL && call->kind != LP_CALL_MEMORY))
        return 0;
    return call->end - call->start > UINT32_MAX ? UINT32_MAX : (uint32_t)(call->end - call->start);
}

/* Time of the launch call; if it was not seen, that of the start. */
static uint32_t queued_of(const struct lp_link *link, const struct lp_op *op)
{
    bool seen = link && link->call.rank != UINT8_MAX && link->call.start <= op->start;

    return lp_queued(unsign(seen ? link->call.start : op->start));
}

static void feed_op(struct feed *feed, const struct lp_op *op)
{
    const struct lp_link *link =
        op->link == LP_HASHMAP_NONE ? NULL : &feed->timeline->links.items[op->link];
    uint32_t node = link && link->call.rank != UINT8_MAX ? link->node : LP_PATH_UNKNOWN;
    uint32_t captured =
        op->graph == LP_OP_NODE ? captured_in(feed->timeline, &feed->events, op) : LP_PATH_UNKNOWN;

    count_op(feed->process, op, node, captured);
    if (op->graph != LP_OP_SINGLE && captured == LP_PATH_UNKNOWN) /* then the value is the reason */
        captured =
            lp_path_intern(LP_PATH_ROOT, op->graph == LP_OP_NODE ? "LLM@(capture not recorded)"
                                                                 : "LLM@(graph traced as a whole)");
    feed->batch[feed->count++] = (struct lp_activity){ .start_ns = unsign(op->start),
                                                       .end_ns = unsign(op->end),
                                                       .bytes = op->bytes,
                                                       .graph_node = op->graph_node,
                                                       .correlation = op->correlation,
                                                       .name = op->name,
                                                       .shape = op->shape,
                                                       .stream = op->stream,
                                                       .device = op->device,
                                                       .kind = op->kind,
                                                       .node = node,
                                                       .captured = captured,
                                                       .queued = queued_of(link, op),
                                                       .call_ns = link ? call_length(link) : 0 };
    if (feed->count == BATCH)
        flush(feed);
}

static int feed_ops(struct feed *feed)
{
    struct lp_timeline *timeline = feed->timeline;

    for (size_t i = 0; i < timeline->ops.count; i++) {
        const struct lp_op *op = &timeline->ops.items[i];
        int status;

        if (!feed->process || feed->process->key != op->process) {
            flush(feed);
            if ((status = lp_timeline_process(timeline, op->process, &feed->process)) < 0)
                return status;
        }
        if (op->graph == LP_OP_GRAPH && op->link != LP_HASHMAP_NONE &&
            timeline->links.items[op->link].has_nodes)
            continue;
        if (op->end < op->start || (uint64_t)op->end - (uint64_t)op->start > LP_ACTIVITY_LONGEST_NS)
            feed->process->ledger.records_invalid_time++;
        else if (lp_timeline_is_duplicate(timeline, i))
            feed->process->ledger.records_duplicate++;
        else
            feed_op(feed, op);
    }
    flush(feed);
    return 0;
}

static int add_up(struct lp_timeline *timeline)
{
    struct feed *feed = calloc(1, sizeof(*feed));
    int status;

    if (!feed)
        return lp_out_of_memory();
    feed->timeline = timeline;
    if ((status = index_events(timeline, &feed->events)) == 0)
        status = feed_ops(feed);
    lp_hashmap_clear(&feed->events);
    free(feed);
    return status;
}

/* Profiles */

static int compare_processes(const void *left, const void *right)
{
    const struct lp_process *a = left, *b = right;
    int order = (a->process_id > b->process_id) - (a->process_id < b->process_id);

    return order ? order : (a->key > b->key) - (a->key < b->key);
}

/* Start times as the export has them; those before its origin are not known. */
static void sign_times(llmperf_profile *profile)
{
    for (size_t i = 0; i < profile->kernel_shapes.count; i++) {
        uint64_t *first_ns = &profile->kernel_shapes.items[i].first_ns;

        if (*first_ns != LLMPERF_UNKNOWN)
            *first_ns = *first_ns >> 63 ? *first_ns ^ UINT64_C(1) << 63 : LLMPERF_UNKNOWN;
    }
}

static int freeze(struct lp_timeline *timeline, struct lp_process *process,
                  llmperf_profile **profile_out)
{
    llmperf_ledger *ledger = &process->ledger;
    char process_id[16];
    int status;

    snprintf(process_id, sizeof(process_id), "%u", process->process_id);
    ledger->attributed_gpu_time_share =
        process->device_ns > 0 ? (double)process->attributed_ns / (double)process->device_ns
                               : (double)NAN;
    if (timeline->ops.count == 0 && !timeline->calls_known)
        ledger->verdict = LLMPERF_VERDICT_NO_DEVICE;
    lp_structure_settle(process->structure, LP_STRUCTURE_END, false);
    status = lp_totals_freeze(process->totals, ledger, process->process_id, profile_out);
    if (status < 0)
        return status;
    sign_times(*profile_out);
    if ((status = lp_profile_set_fact(*profile_out, "process_id", process_id)) < 0 ||
        (status = lp_structure_fill(process->structure, *profile_out)) < 0)
        llmperf_profile_free(*profile_out);
    return status;
}

static int freeze_all(struct lp_timeline *timeline, llmperf_profile **profiles, size_t *count)
{
    int status = 0;

    lp_timeline_sort(timeline->processes.items, timeline->processes.count,
                     sizeof(*timeline->processes.items), compare_processes);
    for (; *count < timeline->processes.count && status == 0; ++*count)
        status = freeze(timeline, &timeline->processes.items[*count], &profiles[*count]);
    *count -= status < 0;
    return status;
}

int lp_timeline_profiles(struct lp_timeline *timeline, llmperf_profile ***profiles_out,
                         size_t *count_out)
{
    llmperf_profile **profiles;
    size_t count = 0;
    int status;

    lp_timeline_sort(timeline->node_events.items, timeline->node_events.count,
                     sizeof(*timeline->node_events.items), compare_events);
    if ((status = lp_timeline_project(timeline)) < 0 || (status = count_links(timeline)) < 0 ||
        (status = count_lonely(timeline)) < 0 || (status = add_up(timeline)) < 0)
        return status;
    profiles = calloc(timeline->processes.count + 1, sizeof(*profiles));
    if (!profiles)
        return lp_out_of_memory();
    if ((status = freeze_all(timeline, profiles, &count)) < 0) {
        while (count-- > 0)
            llmperf_profile_free(profiles[count]);
        free(profiles);
        return status;
    }
    *profiles_out = profiles;
    *count_out = count;
    return 0;
}
