/* SPDX-License-Identifier: Apache-2.0 */
/** What happens to CUDA graphs on the host: facts of fixed layout, in the order in which they
 * happened in the process, whatever thread they happened on. A node id is graph << 32 | index; the
 * executable graph of an instantiation is a graph of its own, whose id is in device records. */
#ifndef LP_RECORD_GRAPH_EVENT_H
#define LP_RECORD_GRAPH_EVENT_H

#include <assert.h>
#include <stdint.h>

/** Kinds of graph events. The numbers are stored in recordings. */
enum lp_graph_event_kind {
    LP_GRAPH_NODE_CREATED = 1, /* node, by capture or by an explicit call; path: open region */
    LP_GRAPH_NODE_CLONED = 2,  /* node is a copy of the node `origin` */
    LP_GRAPH_NODE_REMOVED = 3, /* node was taken out of its graph */
    LP_GRAPH_INLINED = 4, /* the nodes of graph `origin` (a child graph, the body of a conditional
                             node) moved after the last node of graph `node` */
    LP_GRAPH_INSTANTIATED = 5, /* graph `node` is executable, made from graph `origin`; detail 1: it
                                  may be launched from the device */
    LP_GRAPH_NODE_UPDATED = 6, /* node of an executable graph does what node `origin` says, from the
                                  call with this correlation id on */
    LP_GRAPH_UPDATED = 7,      /* the same for the whole executable graph `node` and graph `origin`;
                                  comes after its NODE_UPDATED, which report changed nodes only */
    LP_GRAPH_DESTROYED = 8,    /* graph `node`, executable or not; device records may still come */
    LP_GRAPH_LOST = 9,         /* `origin` events were lost before this one */
    LP_GRAPH_NOT_RECORDED = 10, /* a recording of a version that did not keep graph events */
    LP_GRAPH_EVENT_LAST = LP_GRAPH_NOT_RECORDED
};

/** A host fact about a graph. Where a graph is meant, the index of its id is 0. */
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

/** A launch record of kind LP_LAUNCH_GRAPH has the executable graph beside the correlation id; 0:
 * not known. */
#define LP_LAUNCH_VALUE(graph, correlation) LP_GRAPH_NODE(graph, correlation)

#endif
