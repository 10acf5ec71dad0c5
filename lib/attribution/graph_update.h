/* SPDX-License-Identifier: Apache-2.0 */
/** Updates of executable graphs. For lib/attribution/graph_*.c only. */
#ifndef LP_ATTRIBUTION_GRAPH_UPDATE_H
#define LP_ATTRIBUTION_GRAPH_UPDATE_H

#include "lib/attribution/graph_map.h"

/** The first word of the update with this correlation id: keep what held before. */
void lp_graph_begin_update(struct lp_graph_map *map, struct lp_graph *graph, uint32_t correlation);

/** The update is complete: nodes that it did not name follow graph `origin` as well. */
void lp_graph_end_update(struct lp_graph_map *map, uint32_t id, uint32_t origin);

#endif
