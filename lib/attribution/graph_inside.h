/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of lp_graph_map, for lib/attribution/graph_*.c only. If memory runs out, `failed` is
 * set. */
#ifndef LP_ATTRIBUTION_GRAPH_INSIDE_H
#define LP_ATTRIBUTION_GRAPH_INSIDE_H

#include "lib/attribution/graph_map.h"

/** The graph, added if new; NULL: out of memory. Valid until a graph is added. */
struct lp_graph *lp_graph_map_add(struct lp_graph_map *map, uint32_t id);

/** Free the graph's arrays; its counters are kept. */
void lp_graph_map_forget(struct lp_graph_map *map, struct lp_graph *graph);

/** A graph was destroyed. Arrays that records may still need are kept for some time. */
void lp_graph_map_destroy(struct lp_graph_map *map, uint32_t id);

/** Set a node's path and the node that it follows; `source` 0: the node does not exist. */
void lp_graph_map_set(struct lp_graph_map *map, struct lp_graph *graph, uint32_t index,
                      uint32_t path, uint64_t source);

/** Path that captured a node; LP_PATH_UNKNOWN: not known. */
uint32_t lp_graph_map_path(struct lp_graph_map *map, uint64_t node);

/* Updates of executable graphs (graph_update.c). */

/** The first event of the update with this correlation id: keep the current paths for earlier
 * launches. */
void lp_graph_begin_update(struct lp_graph_map *map, struct lp_graph *graph, uint32_t correlation);

/** The update is complete: nodes without an event follow graph `origin` as well. */
void lp_graph_end_update(struct lp_graph_map *map, uint32_t id, uint32_t origin);

#endif
