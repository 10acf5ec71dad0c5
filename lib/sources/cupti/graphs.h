/* SPDX-License-Identifier: Apache-2.0 */
/** Writes what CUPTI's callbacks report about CUDA graphs to the graph log. @threads any thread, in
 * callbacks */
#ifndef LP_SOURCES_CUPTI_GRAPHS_H
#define LP_SOURCES_CUPTI_GRAPHS_H

#include <stdbool.h>

#include "lib/cupti/symbols.h"

/** Driver calls that matter for graphs, see LP_CUPTI_GRAPH_CALLS. */
enum lp_graph_call {
    LP_GRAPH_CALL_NONE,
    LP_GRAPH_CALL_REMOVE,
    LP_GRAPH_CALL_UPDATE,
    LP_GRAPH_CALL_SET_CHILD,
    LP_GRAPH_CALL_INSTANTIATE,
    LP_GRAPH_CALL_INSTANTIATE_WITH
};

/** Required resource callbacks, ended by 0. */
extern const uint32_t lp_cupti_graph_resources[];

/** Does this CUPTI have the functions that identify graphs? */
bool lp_cupti_graphs_known(const struct lp_cupti *cupti);

/** One of these resource callbacks. */
void lp_cupti_graph_resource(const struct lp_cupti *cupti, uint32_t id,
                             const struct lp_cupti_resource_data *data);

/** Begin or end of one of these calls. */
void lp_cupti_graph_call(const struct lp_cupti *cupti, enum lp_graph_call call,
                         const struct lp_cupti_callback_data *data);

/** Executable graph of a graph launch call; 0: not known. */
uint32_t lp_cupti_launched_graph(const struct lp_cupti *cupti,
                                 const struct lp_cupti_callback_data *data);

#endif
