/* SPDX-License-Identifier: Apache-2.0 */
/* Joins operations with their calls by correlation id and process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/record/record.h"
#include "lib/vendor/timeline.h"
#include "llmperf/profile.h"

void lp_timeline_clear(struct lp_timeline *timeline)
{
    for (size_t i = 0; i < timeline->processes.count; i++) {
        lp_structure_free(timeline->processes.items[i].structure);
        lp_totals_free(timeline->processes.items[i].totals);
    }
    lp_kernel_classes_free(timeline->classes);
    lp_names_clear(&timeline->names);
    lp_names_clear(&timeline->labels);
    lp_vector_clear(&timeline->ops);
    lp_vector_clear(&timeline->links);
    lp_vector_clear(&timeline->lonely);
    lp_vector_clear(&timeline->spans);
    lp_vector_clear(&timeline->node_events);
    lp_vector_clear(&timeline->processes);
    lp_vector_clear(&timeline->path_bytes);
    lp_vector_clear(&timeline->works);
    lp_hashmap_clear(&timeline->link_rows);
    lp_hashmap_clear(&timeline->process_rows);
    lp_hashmap_clear(&timeline->nodes);
}

/* Programs that mark no range get steps and layers by their launches. */
static int make_totals(struct lp_timeline *timeline, struct lp_process *process)
{
    struct lp_attribution_sink results;

    if (!timeline->classes) /* without the table nothing is found */
        (void)lp_kernel_classes_open(NULL, &timeline->classes);
    if (!(process->totals = lp_totals_create(&timeline->names)))
        return lp_out_of_memory();
    lp_totals_set_imported(process->totals);
    results = lp_totals_sink(process->totals);
    if (!(process->structure = lp_structure_create(&results, &timeline->names)))
        return lp_out_of_memory();
    lp_structure_set_classes(process->structure, timeline->classes);
    lp_totals_set_filter(
        process->totals,
        &(struct lp_totals_filter){ process->structure, lp_structure_take, lp_structure_mark });
    return 0;
}

int lp_timeline_process(struct lp_timeline *timeline, uint64_t key, struct lp_process **process_out)
{
    struct lp_process process = { .key = key, .ledger = LLMPERF_LEDGER_INIT };
    uint32_t row = lp_hashmap_get(&timeline->process_rows, key, 0);

    if (row == LP_HASHMAP_NONE) {
        if (timeline->processes.count == LP_TIMELINE_PROCESSES)
            return lp_error(LLMPERF_EFORMAT, "the file has more than %u processes; export fewer",
                            LP_TIMELINE_PROCESSES);
        row = (uint32_t)timeline->processes.count;
        process.process_id = (uint32_t)(key >> 24 & 0xffffff);
        process.ledger.tracing_overhead_ms = NAN;
        process.ledger.sampled_fraction = 1;
        if (make_totals(timeline, &process) < 0 ||
            lp_vector_push(&timeline->processes, process) < 0) {
            lp_structure_free(process.structure);
            lp_totals_free(process.totals);
            return lp_out_of_memory();
        }
        if (lp_hashmap_put(&timeline->process_rows, key, 0, row) < 0)
            return LLMPERF_ENOMEM;
    }
    *process_out = &timeline->processes.items[row];
    return 0;
}

int lp_timeline_incomplete(struct lp_timeline *timeline, uint64_t process)
{
    struct lp_process *found;
    int status = lp_timeline_process(timeline, process, &found);

    if (status == 0)
        found->ledger.records_incomplete++;
    return status;
}

static int compare_ops(const void *left, const void *right)
{
    const struct lp_op *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

void lp_timeline_sort(void *items, size_t count, size_t size,
                      int (*compare)(const void *, const void *))
{
    const char *at = items;

    for (size_t i = 1; i < count; i++)
        if (compare(at + (i - 1) * size, at + i * size) > 0) {
            qsort(items, count, size, compare);
            return;
        }
}

static int link_op(struct lp_timeline *timeline, struct lp_op *op)
{
    struct lp_link link = { .call = { .rank = UINT8_MAX }, .node = LP_PATH_ROOT };
    uint32_t row;

    op->link = LP_HASHMAP_NONE;
    if (op->correlation == LP_CORRELATION_NONE)
        return 0;
    row = lp_hashmap_get(&timeline->link_rows, op->process, op->correlation);
    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)timeline->links.count;
        if (lp_vector_push(&timeline->links, link) < 0 ||
            lp_hashmap_put(&timeline->link_rows, op->process, op->correlation, row) < 0)
            return LLMPERF_ENOMEM;
    }
    op->link = row;
    timeline->links.items[row].has_nodes |= op->graph != LP_OP_GRAPH;
    timeline->links.items[row].kernels += op->kind == LLMPERF_ACTIVITY_KERNEL;
    return 0;
}

int lp_timeline_index(struct lp_timeline *timeline)
{
    int status = 0;

    /* Sort rows approximately by time, and put duplicates next to each other, for the busy
     * times. */
    lp_timeline_sort(timeline->ops.items, timeline->ops.count, sizeof(*timeline->ops.items),
                     compare_ops);
    for (size_t i = 0; i < timeline->ops.count && status == 0; i++)
        status = link_op(timeline, &timeline->ops.items[i]);
    return status;
}

static bool is_twin(const struct lp_op *a, const struct lp_op *b)
{
    return compare_ops(a, b) == 0 && a->process == b->process && a->device == b->device &&
           a->stream == b->stream && a->kind == b->kind && a->graph_node == b->graph_node;
}

/* Equal rows are adjacent, mixed with those of other devices. */
bool lp_timeline_is_duplicate(const struct lp_timeline *timeline, size_t index)
{
    const struct lp_op *op = &timeline->ops.items[index];

    for (size_t i = index, looked = 0; i-- > 0 && looked < 64; looked++) {
        if (compare_ops(&timeline->ops.items[i], op) != 0)
            return false;
        if (is_twin(&timeline->ops.items[i], op))
            return op->correlation != LP_CORRELATION_NONE;
    }
    return false;
}

int lp_timeline_call(struct lp_timeline *timeline, const struct lp_host_call *call)
{
    uint32_t row = lp_hashmap_get(&timeline->link_rows, call->process, call->correlation);
    struct lp_host_call *known;

    if (row == LP_HASHMAP_NONE)
        return call->failed || (call->kind != LP_CALL_KERNEL && call->kind != LP_CALL_GRAPH)
                   ? 0
                   : lp_vector_push(&timeline->lonely, *call);
    known = &timeline->links.items[row].call;
    if (call->rank < known->rank || (call->rank == known->rank && call->start < known->start))
        *known = *call;
    return 0;
}

void lp_timeline_forget_calls(const struct lp_timeline *timeline, llmperf_ledger *ledger)
{
    ledger->graphs_device_launchable = LLMPERF_UNKNOWN;
    if (!timeline->calls_known)
        ledger->launches_expected = ledger->graph_launches = ledger->memory_calls =
            ledger->launches_missing = LLMPERF_UNKNOWN;
}
