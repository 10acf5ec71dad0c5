/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attribution/graph_map.h"
#include "lib/attribution/graph_update.h"
#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "llmperf/activity.h"

#define UNMAPPED LP_GRAPH_REASON
#define SPANS    64u
#define SPANS_MANY                                                                                 \
    8192u /* of a graph with conditional nodes: more launches than one flush brings */
#define TIDY_GRAPHS 1024u

static_assert(LP_PATH_LIMIT < UNMAPPED, "a path id leaves the top bit free");

/* Finding */

struct lp_graph *lp_graph_map_find(struct lp_graph_map *map, uint32_t id)
{
    uint32_t position;

    if (id == map->last_id && id != 0)
        return &map->graphs.items[map->last];
    position = lp_hashmap_get(&map->index, id, 0);
    if (position == LP_HASHMAP_NONE)
        return NULL;
    map->last_id = id;
    map->last = position;
    return &map->graphs.items[position];
}

/* The graph of an id, a new one if it was not heard of. Valid until the next call. */
static struct lp_graph *find_or_add(struct lp_graph_map *map, uint32_t id)
{
    const struct lp_graph fresh = { .id = id };
    struct lp_graph *graph = lp_graph_map_find(map, id);

    if (graph)
        return graph;
    if (lp_vector_push(&map->graphs, fresh) < 0) {
        map->failed = true;
        return NULL;
    }
    if (lp_hashmap_put(&map->index, id, 0, (uint32_t)map->graphs.count - 1) < 0) {
        map->graphs.count--;
        map->failed = true;
    }
    return lp_graph_map_find(map, id);
}

/* Forgetting */

static void empty_graph(struct lp_graph *graph)
{
    for (size_t i = 0; i < graph->old.count; i++)
        free(graph->old.items[i].paths);
    lp_vector_clear(&graph->old);
    lp_vector_clear(&graph->paths);
    lp_vector_clear(&graph->sources);
    lp_vector_clear(&graph->changes);
    lp_vector_clear(&graph->spans);
    graph->dead = true;
}

void lp_graph_map_clear(struct lp_graph_map *map)
{
    for (size_t i = 0; i < map->graphs.count; i++)
        empty_graph(&map->graphs.items[i]);
    lp_vector_clear(&map->graphs);
    lp_vector_clear(&map->dead);
    lp_hashmap_clear(&map->index);
    *map = (struct lp_graph_map){ .failed = map->failed };
}

static size_t bytes_of(const struct lp_graph *graph)
{
    return sizeof(*graph) + graph->paths.capacity * (sizeof(uint32_t) + sizeof(uint64_t)) +
           graph->old.count * graph->paths.count * sizeof(uint32_t) +
           graph->spans.capacity * sizeof(struct lp_graph_span);
}

/* Ids are never used again: graphs without arrays need not be found. */
static void tidy_graphs(struct lp_graph_map *map)
{
    size_t kept = 0;

    if (map->emptied < TIDY_GRAPHS || map->emptied * 2 < map->graphs.count)
        return;
    lp_hashmap_reset(&map->index);
    for (size_t i = 0; i < map->graphs.count; i++) {
        struct lp_graph *graph = &map->graphs.items[i];

        if (graph->dead && graph->paths.capacity == 0)
            continue;
        if (lp_hashmap_put(&map->index, graph->id, 0, (uint32_t)kept) < 0)
            map->failed = true;
        map->graphs.items[kept++] = *graph;
    }
    map->graphs.count = kept;
    map->emptied = 0;
    map->last_id = 0;
}

static void forget_graph(struct lp_graph_map *map, struct lp_graph *graph)
{
    empty_graph(graph);
    map->emptied++;
}

/* Of destroyed executable graphs records may still come, for as long as the driver holds them. */
static void bury(struct lp_graph_map *map, uint32_t id)
{
    struct lp_dead_graph dead = { id, bytes_of(lp_graph_map_find(map, id)) };
    size_t gone = 0;

    map->dead_bytes += dead.bytes;
    if (lp_vector_push(&map->dead, dead) < 0)
        map->failed = true;
    while (map->dead_bytes > LP_GRAPH_DEAD_BYTES && gone < map->dead.count) {
        struct lp_graph *oldest = lp_graph_map_find(map, map->dead.items[gone].id);

        map->dead_bytes -= map->dead.items[gone++].bytes;
        if (oldest)
            forget_graph(map, oldest);
    }
    map->dead.count -= gone;
    if (gone > 0)
        memmove(map->dead.items, map->dead.items + gone,
                map->dead.count * sizeof(*map->dead.items));
}

static void destroy_graph(struct lp_graph_map *map, uint32_t id)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);

    if (!graph || graph->dead)
        return;
    graph->dead = true;
    if (graph->executable || graph->last_launch || graph->spans.count > 0)
        bury(map, id);
    else
        forget_graph(map, graph);
    tidy_graphs(map);
}

/* Nodes */

static void set_node(struct lp_graph_map *map, struct lp_graph *graph, uint32_t index,
                     uint32_t path, uint64_t source)
{
    while (graph->paths.count <= index && index < LP_GRAPH_INDEX_LIMIT)
        if (lp_vector_push(&graph->paths, LP_PATH_UNKNOWN) < 0 ||
            lp_vector_push(&graph->sources, 0) < 0) {
            map->failed = true;
            graph->paths.count = graph->sources.count;
            return;
        }
    if (index >= LP_GRAPH_INDEX_LIMIT) {
        map->lost++;
        return;
    }
    graph->paths.items[index] = path;
    graph->sources.items[index] = source;
}

uint32_t lp_graph_map_path(struct lp_graph_map *map, uint64_t node)
{
    const struct lp_graph *graph = lp_graph_map_find(map, LP_GRAPH_OF(node));

    return graph && LP_GRAPH_INDEX(node) < graph->paths.count
               ? graph->paths.items[LP_GRAPH_INDEX(node)]
               : LP_PATH_UNKNOWN;
}

/* In a graph that is being instantiated the driver makes nodes of its own too. Their ids say
 * whether nested nodes were numbered as we think. */
static void create_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = find_or_add(map, LP_GRAPH_OF(event->node));

    if (!graph || graph->executable)
        return;
    if (graph->inlined > 0 && LP_GRAPH_INDEX(event->node) != graph->paths.count) {
        for (size_t i = graph->inlined; i < graph->paths.count; i++)
            graph->paths.items[i] = LP_PATH_UNKNOWN;
        graph->inlined = 0;
    }
    set_node(map, graph, LP_GRAPH_INDEX(event->node), event->path, event->node);
}

static void clone_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    uint32_t path = lp_graph_map_path(map, event->origin);
    struct lp_graph *graph = find_or_add(map, LP_GRAPH_OF(event->node));

    if (graph)
        set_node(map, graph, LP_GRAPH_INDEX(event->node), path, event->origin);
}

static void remove_node(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = lp_graph_map_find(map, LP_GRAPH_OF(event->node));

    if (graph && LP_GRAPH_INDEX(event->node) < graph->paths.count)
        set_node(map, graph, LP_GRAPH_INDEX(event->node), LP_PATH_UNKNOWN, 0);
}

/* The nodes of a nested graph get the next free indices, in their order and without gaps. */
static void inline_graph(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *outer = find_or_add(map, LP_GRAPH_OF(event->node));
    uint32_t position = outer ? map->last : 0;
    struct lp_graph *inner = lp_graph_map_find(map, LP_GRAPH_OF(event->origin));

    if (!outer || !inner || inner == &map->graphs.items[position])
        return;
    outer = &map->graphs.items[position];
    if (outer->inlined == 0)
        outer->inlined = (uint32_t)outer->paths.count;
    for (size_t i = 0; i < inner->paths.count; i++)
        if (inner->sources.items[i] != 0)
            set_node(map, outer, (uint32_t)outer->paths.count, inner->paths.items[i],
                     inner->sources.items[i]);
    forget_graph(map, inner);
}

static void instantiate(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    struct lp_graph *graph = find_or_add(map, LP_GRAPH_OF(event->node));

    if (!graph)
        return;
    graph->executable = true;
    graph->path = event->path;
    graph->origin = LP_GRAPH_OF(event->origin);
    map->device_launchable += event->detail != 0;
    for (size_t i = 0; i < graph->paths.count; i++)
        if (LP_GRAPH_OF(graph->sources.items[i]) == graph->id) { /* the driver's own */
            graph->paths.items[i] = LP_PATH_UNKNOWN;
            graph->sources.items[i] = 0;
        }
}

static void update(struct lp_graph_map *map, const struct lp_graph_event *event)
{
    uint32_t path = lp_graph_map_path(map, event->origin);
    struct lp_graph *graph = find_or_add(map, LP_GRAPH_OF(event->node));

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
        set_node(map, graph, index, path, event->origin);
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
        destroy_graph(map, LP_GRAPH_OF(event->node));
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

/* Launches */

void lp_graph_map_launch(struct lp_graph_map *map, uint32_t id, uint32_t correlation, uint32_t node)
{
    struct lp_graph *graph = id ? find_or_add(map, id) : NULL;

    if (!graph)
        return;
    graph->launched_in_many =
        graph->launched_in_many || (graph->last_launch != 0 && graph->launch_node != node);
    graph->launch_node = node;
    graph->last_launch = correlation;
    graph->launches++;
}

/* Seldom: all are looked at. */
void lp_graph_map_void(struct lp_graph_map *map, uint32_t correlation)
{
    for (size_t i = 0; i < map->graphs.count; i++)
        if (map->graphs.items[i].last_launch == correlation && map->graphs.items[i].launches > 0)
            map->graphs.items[i].launches--;
}

uint64_t lp_graph_map_missing(const struct lp_graph_map *map)
{
    uint64_t missing = 0, launches = 0, records = 0;

    for (size_t i = 0; i < map->graphs.count; i++) {
        const struct lp_graph *graph = &map->graphs.items[i];
        uint64_t expected = graph->launches * graph->most;

        launches += graph->launches;
        records += graph->records;
        /* Above the range of lp_launch.seen nobody knows how many there were. */
        if (!graph->has_bodies && graph->most < UINT16_MAX && expected > graph->records)
            missing += expected - graph->records;
    }
    return records == 0 ? launches : missing;
}

static void add_span(struct lp_graph_map *map, struct lp_graph *graph,
                     const struct lp_activity *activity)
{
    struct lp_graph_span span = { activity->start_ns, activity->correlation };

    if (graph->spans.count >= (graph->has_bodies ? SPANS_MANY : SPANS)) {
        graph->span_at = (graph->span_at + 1) % (uint32_t)graph->spans.count;
        graph->spans.items[graph->span_at] = span;
    } else if (lp_vector_push(&graph->spans, span) < 0) {
        map->failed = true;
    } else {
        graph->span_at = (uint32_t)graph->spans.count - 1;
    }
}

void lp_graph_map_seen(struct lp_graph_map *map, const struct lp_activity *activity)
{
    struct lp_graph *graph = find_or_add(map, activity->graph);
    struct lp_graph_span *span;

    if (!graph)
        return;
    span = graph->spans.count > 0 ? &graph->spans.items[graph->span_at] : NULL;
    if (!span || span->correlation != activity->correlation)
        add_span(map, graph, activity);
    else if (activity->start_ns < span->start_ns)
        span->start_ns = activity->start_ns;
}

uint32_t lp_graph_map_launch_of(struct lp_graph_map *map, const struct lp_activity *activity,
                                bool all_in)
{
    struct lp_graph *graph = lp_graph_map_find(map, activity->graph);
    const struct lp_graph_span *best = NULL;

    if (!graph)
        return LP_CORRELATION_NONE;
    graph->has_bodies = true;
    if (!all_in)
        return LP_CORRELATION_NONE;
    for (size_t i = 0; i < graph->spans.count; i++) {
        const struct lp_graph_span *span = &graph->spans.items[i];

        if (span->start_ns <= activity->start_ns && (!best || span->start_ns > best->start_ns))
            best = span;
    }
    if (best)
        return best->correlation;
    /* Nothing but bodies ran: which launch it was matters only if they were of several regions. */
    return graph->launched_in_many ? LP_CORRELATION_NONE : graph->last_launch;
}

/* Where a node was captured */

/* An older array may lack what the present one knows. */
static bool is_known_now(const struct lp_graph *graph, uint32_t index)
{
    return index < graph->paths.count && graph->paths.items[index] != LP_PATH_UNKNOWN;
}

static const char *reason_of(const struct lp_graph_map *map, const struct lp_graph *graph,
                             uint32_t index)
{
    bool made_here =
        graph->executable && (index >= graph->sources.count || graph->sources.items[index] == 0);

    if (map->not_recorded)
        return "LLM@(capture not recorded)";
    if (made_here || (graph->forgotten != 0 && is_known_now(graph, index)))
        return "LLM@(graph node not known)";
    return "LLM@(captured before profiling)";
}

/* A path that names graph and node below the reason; the reason alone above the limit. */
static uint32_t make_unmapped(struct lp_graph_map *map, const struct lp_graph *graph,
                              uint32_t index)
{
    uint32_t path = lp_path_intern(LP_PATH_ROOT, reason_of(map, graph, index));
    char label[64];

    if (map->named >= LP_GRAPH_NAMED_NODES)
        return path;
    map->named++;
    snprintf(label, sizeof(label), "LLM@graph %u node %u", graph->id, index);
    return lp_path_intern(path, label);
}

static uint32_t name_unmapped(struct lp_graph_map *map, struct lp_graph *graph, uint32_t index)
{
    uint32_t path = make_unmapped(map, graph, index);

    if (index >= LP_GRAPH_INDEX_LIMIT || is_known_now(graph, index))
        return path;
    set_node(map, graph, index, path | UNMAPPED,
             index < graph->sources.count ? graph->sources.items[index] : 0);
    return path;
}

/* Ids wrap: the sign of the difference says which launch was first. */
static uint32_t path_then(const struct lp_graph *graph, uint32_t index, uint32_t correlation)
{
    if (graph->forgotten != 0 && (int32_t)(correlation - graph->forgotten) < 0)
        return LP_PATH_UNKNOWN;
    for (size_t i = 0; i < graph->old.count && correlation != LP_CORRELATION_NONE; i++) {
        const struct lp_graph_version *version = &graph->old.items[i];

        if ((int32_t)(correlation - version->until) < 0)
            return index < version->count ? version->paths[index] : LP_PATH_UNKNOWN;
    }
    return index < graph->paths.count ? graph->paths.items[index] : LP_PATH_UNKNOWN;
}

uint32_t lp_graph_map_captured(struct lp_graph_map *map, const struct lp_activity *activity,
                               uint32_t correlation, bool *unmapped)
{
    struct lp_graph *graph = find_or_add(map, activity->graph);
    uint32_t index = LP_GRAPH_INDEX(activity->graph_node), path;

    *unmapped = true;
    if (!graph)
        return LP_PATH_UNKNOWN;
    if (activity->kind == LLMPERF_ACTIVITY_GRAPH && graph->executable) {
        *unmapped = false;
        return graph->path;
    }
    path = path_then(graph, index, correlation);
    if (path == LP_PATH_UNKNOWN)
        return name_unmapped(map, graph, index);
    *unmapped = (path & UNMAPPED) != 0;
    return path & ~UNMAPPED;
}
