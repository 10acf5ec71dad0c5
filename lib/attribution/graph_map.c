/* SPDX-License-Identifier: Apache-2.0 */
/* Known graphs (add, find, forget) and the paths of their nodes. */
#include <stdlib.h>
#include <string.h>

#include "lib/attribution/graph_inside.h"
#include "lib/record/paths.h"

#define TIDY_GRAPHS 1024u

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

struct lp_graph *lp_graph_map_add(struct lp_graph_map *map, uint32_t id)
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

/* Graph ids are never reused, so graphs without arrays can be forgotten. */
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

void lp_graph_map_forget(struct lp_graph_map *map, struct lp_graph *graph)
{
    empty_graph(graph);
    map->emptied++;
}

/* Records of destroyed executable graphs may still come while the driver holds them. */
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
            lp_graph_map_forget(map, oldest);
    }
    map->dead.count -= gone;
    if (gone > 0)
        memmove(map->dead.items, map->dead.items + gone,
                map->dead.count * sizeof(*map->dead.items));
}

void lp_graph_map_destroy(struct lp_graph_map *map, uint32_t id)
{
    struct lp_graph *graph = lp_graph_map_find(map, id);

    if (!graph || graph->dead)
        return;
    graph->dead = true;
    if (graph->executable || graph->last_launch || graph->spans.count > 0)
        bury(map, id);
    else
        lp_graph_map_forget(map, graph);
    tidy_graphs(map);
}

/* Nodes */

void lp_graph_map_set(struct lp_graph_map *map, struct lp_graph *graph, uint32_t index,
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
