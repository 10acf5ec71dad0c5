/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about graphs and their nodes. */
#include "lib/sources/fake/player.h"

/* An event of a graph.
 * @param more  Which of several nodes. */
static int report_graph(struct lp_fake_player *player, const struct lp_fake_thread *thread,
                        const struct lp_fake_op *op, uint32_t more)
{
    static const uint32_t kinds[] = {
        [LP_FAKE_NODE] = LP_GRAPH_NODE_CREATED,
        [LP_FAKE_NODE_CLONE] = LP_GRAPH_NODE_CLONED,
        [LP_FAKE_NODE_REMOVE] = LP_GRAPH_NODE_REMOVED,
        [LP_FAKE_NODE_UPDATE] = LP_GRAPH_NODE_UPDATED,
        [LP_FAKE_GRAPH_INLINE] = LP_GRAPH_INLINED,
        [LP_FAKE_INSTANTIATE] = LP_GRAPH_INSTANTIATED,
        [LP_FAKE_GRAPH_UPDATE] = LP_GRAPH_UPDATED,
        [LP_FAKE_GRAPH_DESTROY] = LP_GRAPH_DESTROYED,
    };
    bool nodes = op->verb <= LP_FAKE_NODE_UPDATE;
    struct lp_graph_event event = {
        .node = LP_GRAPH_NODE(op->values[LP_FAKE_GRAPH_ID], op->values[LP_FAKE_INDEX]),
        .origin = LP_GRAPH_NODE(op->values[LP_FAKE_FROM], op->values[LP_FAKE_SOURCE]),
        .path = lp_fake_thread_path(thread),
        .kind = kinds[op->verb],
        .detail = (uint32_t)op->values[LP_FAKE_LAUNCHABLE],
    };

    event.node += nodes ? more : 0;
    event.origin += nodes ? more : 0;
    /* Changed nodes are reported before the update call ends. */
    if (event.kind == LP_GRAPH_NODE_UPDATED)
        event.correlation = player->correlation + 1;
    else if (event.kind == LP_GRAPH_UPDATED)
        event.correlation = ++player->correlation;
    return lp_vector_push(&player->graphs, event);
}

int lp_fake_play_graph_event(struct lp_fake_player *player, const struct lp_fake_thread *thread,
                             const struct lp_fake_op *op)
{
    struct lp_fake_op each = *op;
    bool several = op->verb == LP_FAKE_NODE || op->verb == LP_FAKE_NODE_CLONE ||
                   op->verb == LP_FAKE_INSTANTIATE;
    int status = 0;

    if (!several)
        return report_graph(player, thread, op, 0);
    if (op->verb == LP_FAKE_INSTANTIATE)
        each.verb = LP_FAKE_NODE_CLONE;
    for (uint32_t i = 0; status == 0 && i < op->values[LP_FAKE_NODES]; i++)
        status = report_graph(player, thread, &each, i);
    if (status == 0 && op->verb == LP_FAKE_INSTANTIATE)
        status = report_graph(player, thread, op, 0);
    return status;
}

int lp_fake_play_graphs_lost(struct lp_fake_player *player, uint64_t number)
{
    const struct lp_graph_event event = { .kind = LP_GRAPH_LOST, .origin = number };

    return lp_vector_push(&player->graphs, event);
}
