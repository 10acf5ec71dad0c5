/* SPDX-License-Identifier: Apache-2.0 */
/* Graph events: nodes created, cloned and removed; graphs instantiated and updated. */
#include "lib/attribution/graph_inside.h"
#include "lib/record/paths.h"

/* During instantiation the driver adds nodes of its own. Their ids show whether nested nodes were
 * numbered as expected. */
static void create_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = lp_graph_map_add(map, LP_GRAPH_OF(event->node));

    if (!graph || graph->executable)
        return;
    if (graph->inlined > 0 && LP_GRAPH_INDEX(event->node) != graph->paths.count) {
        for (size_t i = graph->inlined; i < graph->paths.count; i++)
            graph->paths.items[i] = LP_PATH_UNKNOWN;
        graph->inlined = 0;
    }
    lp_graph_map_set(map, graph, LP_GRAPH_INDEX(event->node), event->path, event->node);
}

static void clone_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    uint32_t path = lp_graph_map_path(map, event->origin);
    struct lp_graph *graph = lp_graph_map_add(map, LP_GRAPH_OF(event->node));

    if (graph)
        lp_graph_map_set(map, graph, LP_GRAPH_INDEX(event->node), path, event->origin);
}

static void remove_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = lp_graph_map_find(map, LP_GRAPH_OF(event->node));

    if (graph && LP_GRAPH_INDEX(event->node) < graph->paths.count)
        lp_graph_map_set(map, graph, LP_GRAPH_INDEX(event->node), LP_PATH_UNKNOWN, 0);
}

/* Nodes of a nested graph get the next free indices, in order. */
static void inline_graph(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *outer = lp_graph_map_add(map, LP_GRAPH_OF(event->node));
    uint32_t position = outer ? map->last : 0;
    struct lp_graph *inner = lp_graph_map_find(map, LP_GRAPH_OF(event->origin));

    if (!outer || !inner || inner == &map->graphs.items[position])
        return;
    outer = &map->graphs.items[position];
    if (outer->inlined == 0)
        outer->inlined = (uint32_t)outer->paths.count;
    for (size_t i = 0; i < inner->paths.count; i++)
        if (inner->sources.items[i] != 0)
            lp_graph_map_set(map, outer, (uint32_t)outer->paths.count, inner->paths.items[i],
                             inner->sources.items[i]);
    lp_graph_map_forget(map, inner);
}

static void instantiate(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = lp_graph_map_add(map, LP_GRAPH_OF(event->node));

    if (!graph)
        return;
    graph->executable = true;
    graph->path = event->path;
    graph->origin = LP_GRAPH_OF(event->origin);
    map->device_launchable += event->detail != 0;
    for (size_t i = 0; i < graph->paths.count; i++)
        if (LP_GRAPH_OF(graph->sources.items[i]) == graph->id) { /* created by the driver */
            graph->paths.items[i] = LP_PATH_UNKNOWN;
            graph->sources.items[i] = 0;
        }
}

static void update(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    uint32_t path = lp_graph_map_path(map, event->origin);
    struct lp_graph *graph = lp_graph_map_add(map, LP_GRAPH_OF(event->node));

    if (!graph)
        return;
    lp_graph_begin_update(map, graph, event->correlation);
    if (event->kind == LP_GRAPH_NODE_UPDATED) {
        uint32_t index = LP_GRAPH_INDEX(event->node);
        struct lp_graph_change change = { 0, index };

        if (index < graph->sources.count)
            change.source = graph->sources.items[index];
        if (lp_vector_push(&graph->changes, change) < 0)
            map->failed = true;
        lp_graph_map_set(map, graph, index, path, event->origin);
    } else {
        lp_graph_end_update(map, graph->id, LP_GRAPH_OF(event->origin));
    }
}

void lp_graph_map_event(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    switch (event->kind) {
    case LP_GRAPH_NODE_CREATED:
        create_node(map, event);
        break;
    case LP_GRAPH_NODE_CLONED:
        clone_node(map, event);
        break;
    case LP_GRAPH_NODE_REMOVED:
        remove_node(map, event);
        break;
    case LP_GRAPH_INLINED:
        inline_graph(map, event);
        break;
    case LP_GRAPH_INSTANTIATED:
        instantiate(map, event);
        break;
    case LP_GRAPH_NODE_UPDATED:
    case LP_GRAPH_UPDATED:
        update(map, event);
        break;
    case LP_GRAPH_DESTROYED:
        lp_graph_map_destroy(map, LP_GRAPH_OF(event->node));
        break;
    case LP_GRAPH_LOST:
        map->lost += event->origin;
        break;
    case LP_GRAPH_NOT_RECORDED:
        map->not_recorded = true;
        break;
    default:
        break;
    }
}
