/* SPDX-License-Identifier: Apache-2.0 */
/** Seen with CUPTI 13.0 and driver 580: an instantiation clones the graph and its nested graphs and
 * reports GRAPHEXEC_CREATE_STARTING. Then it moves the nodes of each nested graph after the last
 * node of the executable graph and reports GRAPH_DESTROY_STARTING for the emptied graph, depth
 * first. At the end it reports GRAPHEXEC_CREATED. An update reports only nodes whose parameters
 * change. */
#include "lib/sources/cupti/graphs.h"
#include "lib/device/graph_log.h"
#include "lib/regions/threads.h"
#include "lib/record/paths.h"

const uint32_t lp_cupti_graph_resources[] = {
    LP_CUPTI_RESOURCE_GRAPH_DESTROY_STARTING,     LP_CUPTI_RESOURCE_GRAPHNODE_CREATED,
    LP_CUPTI_RESOURCE_GRAPHEXEC_CREATE_STARTING,  LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED,
    LP_CUPTI_RESOURCE_GRAPHEXEC_DESTROY_STARTING, LP_CUPTI_RESOURCE_GRAPHNODE_CLONED,
    LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED,          0,
};

/* Reported by the current calls on this thread so far. */
static __thread uint32_t instantiating; /* executable graph; 0: none */
static __thread uint32_t updating;      /* correlation id of the update call; 0: none */
static __thread bool for_device;        /* the instantiate call wants launches from the device */

bool lp_cupti_graphs_known(const struct lp_cupti *cupti)
{
    return cupti->GetGraphId && cupti->GetGraphNodeId;
}

static uint64_t graph_id(const struct lp_cupti *cupti, void *graph)
{
    uint32_t id = 0;

    return graph && cupti->GetGraphId(graph, &id) == LP_CUPTI_SUCCESS ? LP_GRAPH_NODE(id, 0) : 0;
}

/* An executable graph is also a graph, with the same id. */
static uint64_t exec_id(const struct lp_cupti *cupti, void *exec)
{
    uint32_t id = 0;

    if (!cupti->GetGraphExecId)
        return graph_id(cupti, exec);
    return exec && cupti->GetGraphExecId(exec, &id) == LP_CUPTI_SUCCESS ? LP_GRAPH_NODE(id, 0) : 0;
}

static uint64_t node_id(const struct lp_cupti *cupti, void *node)
{
    uint64_t id = 0;

    return node && cupti->GetGraphNodeId(node, &id) == LP_CUPTI_SUCCESS ? id : 0;
}

static void add(enum lp_graph_event_kind kind, uint64_t node, uint64_t origin, uint32_t detail)
{
    const struct lp_thread *thread = lp_thread_self;
    const struct lp_graph_event event = { node,     origin, thread ? thread->node : LP_PATH_ROOT,
                                          updating, kind,   detail };

    if (LP_GRAPH_OF(node) != 0)
        lp_graph_log_add(&event);
}

static void end_graph(uint64_t graph)
{
    if (instantiating != 0 && LP_GRAPH_OF(graph) != 0 && LP_GRAPH_OF(graph) != instantiating)
        add(LP_GRAPH_INLINED, LP_GRAPH_NODE(instantiating, 0), graph, 0);
    else
        add(LP_GRAPH_DESTROYED, graph, 0, 0);
}

void lp_cupti_graph_resource(const struct lp_cupti *cupti, uint32_t id,
                             const struct lp_cupti_resource_data *data)
{
    const struct lp_cupti_graph_data *graph = data->descriptor;

    switch (id) {
    case LP_CUPTI_RESOURCE_GRAPHNODE_CREATED:
        add(LP_GRAPH_NODE_CREATED, node_id(cupti, graph->node), 0, 0);
        break;
    case LP_CUPTI_RESOURCE_GRAPHNODE_CLONED:
        add(LP_GRAPH_NODE_CLONED, node_id(cupti, graph->node), node_id(cupti, graph->original_node),
            0);
        break;
    case LP_CUPTI_RESOURCE_GRAPHEXEC_CREATE_STARTING:
        instantiating = LP_GRAPH_OF(exec_id(cupti, graph->exec));
        break;
    case LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED:
        add(LP_GRAPH_INSTANTIATED, exec_id(cupti, graph->exec), graph_id(cupti, graph->graph),
            for_device);
        instantiating = 0;
        break;
    case LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED:
        add(LP_GRAPH_NODE_UPDATED, node_id(cupti, graph->original_node),
            node_id(cupti, graph->node), 0);
        break;
    case LP_CUPTI_RESOURCE_GRAPHEXEC_DESTROY_STARTING:
        add(LP_GRAPH_DESTROYED, exec_id(cupti, graph->exec), 0, 0);
        break;
    case LP_CUPTI_RESOURCE_GRAPH_DESTROY_STARTING:
        end_graph(graph_id(cupti, graph->graph));
        break;
    default:
        break;
    }
}

static void begin_call(const struct lp_cupti *cupti, enum lp_graph_call call,
                       const struct lp_cupti_callback_data *data)
{
    void *const *parameters = data->function_parameters;
    uint64_t flags = 0;

    if (call == LP_GRAPH_CALL_REMOVE)
        add(LP_GRAPH_NODE_REMOVED, node_id(cupti, parameters[0]), 0, 0);
    else if (call == LP_GRAPH_CALL_UPDATE || call == LP_GRAPH_CALL_SET_CHILD)
        updating = data->correlation_id;
    else if (call == LP_GRAPH_CALL_INSTANTIATE)
        flags = (uint64_t)(uintptr_t)parameters[2];
    else if (call == LP_GRAPH_CALL_INSTANTIATE_WITH && parameters[2])
        flags = *(const uint64_t *)parameters[2];
    for_device = (flags & LP_CUPTI_INSTANTIATE_DEVICE_LAUNCH) != 0;
}

static void end_call(const struct lp_cupti *cupti, enum lp_graph_call call,
                     const struct lp_cupti_callback_data *data)
{
    void *const *parameters = data->function_parameters;
    const int *result = data->function_return_value;

    if (call == LP_GRAPH_CALL_UPDATE && result && *result == 0)
        add(LP_GRAPH_UPDATED, exec_id(cupti, parameters[0]), graph_id(cupti, parameters[1]), 0);
    updating = 0;
    instantiating = 0; /* also if it failed half way */
    for_device = false;
}

void lp_cupti_graph_call(const struct lp_cupti *cupti, enum lp_graph_call call,
                         const struct lp_cupti_callback_data *data)
{
    if (data->site == LP_CUPTI_SITE_ENTER)
        begin_call(cupti, call, data);
    else
        end_call(cupti, call, data);
}

uint32_t lp_cupti_launched_graph(const struct lp_cupti *cupti,
                                 const struct lp_cupti_callback_data *data)
{
    void *const *parameters = data->function_parameters;

    if (!lp_cupti_graphs_known(cupti))
        return 0;
    return LP_GRAPH_OF(exec_id(cupti, parameters[0]));
}
