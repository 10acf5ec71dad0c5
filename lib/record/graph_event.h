/* SPDX-License-Identifier: Apache-2.0 */
/** Host events of CUDA graphs, in the order in which they happened in the process, on any thread. A
 * node id is graph << 32
 * index. An executable graph has its own graph id, which device records contain. */
#ifndef LP_RECORD_GRAPH_EVENT_H
#define LP_RECORD_GRAPH_EVENT_H

#include <assert.h>
#include <stdint.h>

/** Kinds of graph events. The numbers are stored in recordings. */
enum lp_graph_event_kind {
    LP_GRAPH_NODE_CREATED = 1, /* node, by capture or by an explicit call; path: open region */
    LP_GRAPH_NODE_CLONED = 2,  /* node is a copy of the node `origin` */
    LP_GRAPH_NODE_REMOVED = 3, /* node was taken out of its graph */
    LP_GRAPH_INLINED = 4, /* the nodes of graph `origin` (a child graph or conditional body) were
                             added after the last node of graph `node` */
    LP_GRAPH_INSTANTIATED = 5, /* graph `node` is executable, instantiated from graph `origin`;
                                  detail 1: it may be launched from the device */
    LP_GRAPH_NODE_UPDATED = 6, /* from the call with this correlation id on, the node of an
                                  executable graph does what node `origin` does */
    LP_GRAPH_UPDATED = 7,      /* the whole executable graph `node` was updated from graph `origin`;
                                  comes after its NODE_UPDATED, which are of changed nodes only */
    LP_GRAPH_DESTROYED = 8,    /* graph `node`, executable or not; device records may still come */
    LP_GRAPH_LOST = 9,         /* `origin` events were lost before this one */
    LP_GRAPH_NOT_RECORDED = 10, /* the recording's version did not store graph events */
    LP_GRAPH_EVENT_LAST = LP_GRAPH_NOT_RECORDED
};

/** An event of a graph. For whole graphs the index in the id is 0. */
struct lp_graph_event {
    uint64_t node, origin;
    uint32_t path; /* see paths.h */
    uint32_t correlation;
    uint32_t kind; /* enum lp_graph_event_kind */
    uint32_t detail;
};
static_assert(sizeof(struct lp_graph_event) == 32, "logs are sized by it");

#define LP_GRAPH_NODE(graph, index) ((uint64_t)(graph) << 32 | (uint32_t)(index))
#define LP_GRAPH_OF(node)           ((uint32_t)((node) >> 32))
#define LP_GRAPH_INDEX(node)        ((uint32_t)(node))

/** Value of an LP_LAUNCH_GRAPH record: the executable graph (0: not known) and the correlation
 * id. */
#define LP_LAUNCH_VALUE(graph, correlation) LP_GRAPH_NODE(graph, correlation)

#endif
