/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of single nodes of a graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/attribution/graph_inside.h"
#include "lib/record/paths.h"

static void tell(struct lp_graph_map *map, uint16_t kind, uint64_t node, uint32_t path)
{
    const struct lp_graph_event event = { .kind = kind, .node = node, .path = path };

    lp_graph_map_event(map, &event);
}

static void a_node_that_was_removed_has_no_path(void **state)
{
    struct lp_graph_map map = { 0 };

    (void)state;
    tell(&map, LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(1, 0), 5);
    tell(&map, LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(1, 1), 6);
    assert_int_equal(lp_graph_map_path(&map, LP_GRAPH_NODE(1, 0)), 5);
    tell(&map, LP_GRAPH_NODE_REMOVED, LP_GRAPH_NODE(1, 0), 0);
    assert_int_equal(lp_graph_map_path(&map, LP_GRAPH_NODE(1, 0)), LP_PATH_UNKNOWN);
    assert_int_equal(lp_graph_map_path(&map, LP_GRAPH_NODE(1, 1)), 6);
    lp_graph_map_clear(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_was_removed_has_no_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
