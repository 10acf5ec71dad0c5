/* SPDX-License-Identifier: Apache-2.0 */
/* After an update of an executable graph its kernels belong to the graph that it was updated with,
 * and those of launches before it to the one that held then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/graphs.h"
#include "tests/support/play.h"

/* The driver reports changed nodes only; the others belong to the new graph all the same. */
static void after_an_update_the_new_graph_counts(void **state)
{
    (void)state;
    check_captured(TWO_LAYERS "graph a,b graph=2 index=0\n"
                              "begin again0\nnode graph=5 index=0\nend\n"
                              "begin again1\nnode graph=5 index=1\nend\n"
                              "node_update graph=2 index=0 from=5 source=0\n"
                              "graph_update graph=2 from=5\ngraph_destroy graph=5\n"
                              "graph c,b graph=2 index=0\n",
                   0,
                   CAPTURED({ "a", "", "LLM@layer0", 1 }, { "b", "", "LLM@layer1", 1 },
                            { "c", "", "LLM@again0", 1 }, { "b", "", "LLM@again1", 1 }));
}

static void an_update_that_changes_nothing_still_moves_the_region(void **state)
{
    (void)state;
    check_captured(TWO_LAYERS "begin again\nnode graph=5 index=0 nodes=2\nend\n"
                              "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n",
                   0, CAPTURED({ "a", "", "LLM@again", 1 }, { "b", "", "LLM@again", 1 }));
}

/* A launch before the update whose record comes after it. */
static void records_of_launches_before_an_update_keep_the_old_region(void **state)
{
    (void)state;
    check_captured(TWO_LAYERS "fault late\ngraph a,b graph=2 index=0\nfault none\n"
                              "begin again\nnode graph=5 index=0 nodes=2\nend\n"
                              "node_update graph=2 index=0 from=5 source=0\n"
                              "node_update graph=2 index=1 from=5 source=1\n"
                              "graph_update graph=2 from=5\nrepeat 3000\nlaunch x\ndone\n"
                              "graph c,d graph=2 index=0\n",
                   0,
                   CAPTURED({ "a", "", "LLM@layer0", 1 }, { "b", "", "LLM@layer1", 1 },
                            { "c", "", "LLM@again", 1 }, { "d", "", "LLM@again", 1 }));
}

/* Nodes pair by how the graph hangs together, not by when they were made. */
static void nodes_that_the_driver_names_win_over_their_order(void **state)
{
    (void)state;
    check_captured(
        TWO_LAYERS
        "begin second\nnode graph=5 index=0\nend\nbegin first\nnode graph=5 index=1\nend\n"
        "node_update graph=2 index=0 from=5 source=1\n"
        "node_update graph=2 index=1 from=5 source=0\n"
        "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n",
        0, CAPTURED({ "a", "", "LLM@first", 1 }, { "b", "", "LLM@second", 1 }));
}

static void a_removed_node_does_not_shift_an_update(void **state)
{
    (void)state;
    check_captured(
        TWO_LAYERS
        "begin gone\nnode graph=5 index=0\nend\nnode_remove graph=5 index=0\n"
        "begin again0\nnode graph=5 index=1\nend\nbegin again1\nnode graph=5 index=2\nend\n"
        "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n",
        0, CAPTURED({ "a", "", "LLM@again0", 1 }, { "b", "", "LLM@again1", 1 }));
}

/* An engine that captures anew for each token; the arrays that launches under way need stay. */
static void thousands_of_updates_keep_their_regions(void **state)
{
    (void)state;
    check_captured(TWO_LAYERS
                   "repeat 3000\n"
                   "begin even\nnode graph=5 index=0 nodes=2\nend\n"
                   "node_update graph=2 index=0 from=5 source=0\ngraph_update graph=2 from=5\n"
                   "graph a,b graph=2 index=0\n"
                   "begin odd\nnode graph=6 index=0 nodes=2\nend\n"
                   "node_update graph=2 index=0 from=6 source=0\ngraph_update graph=2 from=6\n"
                   "graph a,b graph=2 index=0\n"
                   "done\n",
                   0, CAPTURED({ "b", "", "LLM@even", 3000 }, { "b", "", "LLM@odd", 3000 }));
}

static void kernels_of_child_graphs_are_in_the_region_that_captured_the_child(void **state)
{
    (void)state;
    check_captured(NESTED "begin step\ngraph o graph=10 index=0\ngraph l,m graph=10 index=2\n"
                          "graph i,j graph=10 index=5\nend\n",
                   0,
                   CAPTURED({ "o", "LLM@step", "LLM@outer", 1 }, { "l", "LLM@step", "LLM@last", 1 },
                            { "m", "LLM@step", "LLM@middle", 1 },
                            { "i", "LLM@step", "LLM@inner", 1 },
                            { "j", "LLM@step", "LLM@inner", 1 }));
}

static void an_update_reaches_child_graphs(void **state)
{
    (void)state;
    check_captured(
        NESTED "begin inner2\nnode graph=21 index=0 nodes=2\nend\n"
               "begin outer2\nnode graph=24 index=0 nodes=3\nend\n"
               "node_update graph=10 index=5 from=21 source=0\n"
               "graph_update graph=10 from=24\n"
               "graph o graph=10 index=0\ngraph l,m graph=10 index=2\ngraph i,j graph=10 index=5\n",
        0,
        CAPTURED({ "o", "", "LLM@outer2", 1 }, { "l", "", "LLM@outer2", 1 },
                 { "i", "", "LLM@inner2", 1 }, { "j", "", "LLM@inner2", 1 },
                 /* Nothing was said of this child: its nodes do what they did. */
                 { "m", "", "LLM@middle", 1 }));
}

/* A driver that numbers otherwise than we think must not give kernels to the wrong layer. */
static void nested_nodes_that_are_numbered_otherwise_are_not_known(void **state)
{
    (void)state;
    check_captured(
        "begin child\nnode graph=1 index=0 nodes=2\nend\nbegin outer\nnode graph=2 index=0\nend\n"
        "node_clone graph=10 index=0 from=2 source=0\n"
        "node_clone graph=11 index=0 from=1 source=0 nodes=2\n"
        "graph_inline graph=10 from=11\nnode graph=10 index=9\n"
        "instantiate graph=10 from=2\ngraph o,a,b graph=10 index=0\n",
        2,
        CAPTURED({ "o", "", "LLM@outer", 1 },
                 { "a", "", "LLM@(captured before profiling)/LLM@graph 10 node 1", 1 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_an_update_the_new_graph_counts),
        cmocka_unit_test(an_update_that_changes_nothing_still_moves_the_region),
        cmocka_unit_test(records_of_launches_before_an_update_keep_the_old_region),
        cmocka_unit_test(nodes_that_the_driver_names_win_over_their_order),
        cmocka_unit_test(a_removed_node_does_not_shift_an_update),
        cmocka_unit_test(thousands_of_updates_keep_their_regions),
        cmocka_unit_test(kernels_of_child_graphs_are_in_the_region_that_captured_the_child),
        cmocka_unit_test(an_update_reaches_child_graphs),
        cmocka_unit_test(nested_nodes_that_are_numbered_otherwise_are_not_known),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
