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

/* The driver tells of changed nodes only; the others belong to the new graph all the same. */
static void after_an_update_the_new_graph_counts(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "graph a,b graph=2 index=0\n"
                               "begin again0\nnode graph=5 index=0\nend\n"
                               "begin again1\nnode graph=5 index=1\nend\n"
                               "node_update graph=2 index=0 from=5 source=0\n"
                               "graph_update graph=2 from=5\ngraph_destroy graph=5\n"
                               "graph c,b graph=2 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@layer1"), 1);
    assert_int_equal(captured_calls(profile, "c", "", "LLM@again0"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@again1"), 1);
    llmperf_profile_free(profile);
}

static void an_update_that_changes_nothing_still_moves_the_region(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "begin again\nnode graph=5 index=0 nodes=2\nend\n"
                               "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@again"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@again"), 1);
    llmperf_profile_free(profile);
}

/* A launch before the update whose record comes after it. */
static void records_of_launches_before_an_update_keep_the_old_region(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "fault late\ngraph a,b graph=2 index=0\nfault none\n"
                               "begin again\nnode graph=5 index=0 nodes=2\nend\n"
                               "node_update graph=2 index=0 from=5 source=0\n"
                               "node_update graph=2 index=1 from=5 source=1\n"
                               "graph_update graph=2 from=5\nrepeat 3000\nlaunch x\ndone\n"
                               "graph c,d graph=2 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@layer1"), 1);
    assert_int_equal(captured_calls(profile, "c", "", "LLM@again"), 1);
    assert_int_equal(captured_calls(profile, "d", "", "LLM@again"), 1);
    llmperf_profile_free(profile);
}

/* Nodes pair by how the graph hangs together, not by when they were made. */
static void nodes_that_the_driver_names_win_over_their_order(void **state)
{
    llmperf_profile *profile = play_script(
        TWO_LAYERS
        "begin second\nnode graph=5 index=0\nend\nbegin first\nnode graph=5 index=1\nend\n"
        "node_update graph=2 index=0 from=5 source=1\n"
        "node_update graph=2 index=1 from=5 source=0\n"
        "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@first"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@second"), 1);
    llmperf_profile_free(profile);
}

static void a_removed_node_does_not_shift_an_update(void **state)
{
    llmperf_profile *profile = play_script(
        TWO_LAYERS
        "begin gone\nnode graph=5 index=0\nend\nnode_remove graph=5 index=0\n"
        "begin again0\nnode graph=5 index=1\nend\nbegin again1\nnode graph=5 index=2\nend\n"
        "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@again0"), 1);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@again1"), 1);
    llmperf_profile_free(profile);
}

/* An engine that captures anew for each token; the arrays that launches under way need stay. */
static void thousands_of_updates_keep_their_regions(void **state)
{
    llmperf_profile *profile = play_script(
        TWO_LAYERS "repeat 3000\n"
                   "begin even\nnode graph=5 index=0 nodes=2\nend\n"
                   "node_update graph=2 index=0 from=5 source=0\ngraph_update graph=2 from=5\n"
                   "graph a,b graph=2 index=0\n"
                   "begin odd\nnode graph=6 index=0 nodes=2\nend\n"
                   "node_update graph=2 index=0 from=6 source=0\ngraph_update graph=2 from=6\n"
                   "graph a,b graph=2 index=0\n"
                   "done\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "b", "", "LLM@even"), 3000);
    assert_int_equal(captured_calls(profile, "b", "", "LLM@odd"), 3000);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void kernels_of_child_graphs_are_in_the_region_that_captured_the_child(void **state)
{
    llmperf_profile *profile =
        play_script(NESTED "begin step\ngraph o graph=10 index=0\ngraph l,m graph=10 index=2\n"
                           "graph i,j graph=10 index=5\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "o", "LLM@step", "LLM@outer"), 1);
    assert_int_equal(captured_calls(profile, "l", "LLM@step", "LLM@last"), 1);
    assert_int_equal(captured_calls(profile, "m", "LLM@step", "LLM@middle"), 1);
    assert_int_equal(captured_calls(profile, "i", "LLM@step", "LLM@inner"), 1);
    assert_int_equal(captured_calls(profile, "j", "LLM@step", "LLM@inner"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void an_update_reaches_child_graphs(void **state)
{
    llmperf_profile *profile = play_script(
        NESTED
        "begin inner2\nnode graph=21 index=0 nodes=2\nend\n"
        "begin outer2\nnode graph=24 index=0 nodes=3\nend\n"
        "node_update graph=10 index=5 from=21 source=0\n"
        "graph_update graph=10 from=24\n"
        "graph o graph=10 index=0\ngraph l,m graph=10 index=2\ngraph i,j graph=10 index=5\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "o", "", "LLM@outer2"), 1);
    assert_int_equal(captured_calls(profile, "l", "", "LLM@outer2"), 1);
    assert_int_equal(captured_calls(profile, "i", "", "LLM@inner2"), 1);
    assert_int_equal(captured_calls(profile, "j", "", "LLM@inner2"), 1);
    /* Nothing was said of this child: its nodes do what they did. */
    assert_int_equal(captured_calls(profile, "m", "", "LLM@middle"), 1);
    llmperf_profile_free(profile);
}

/* A driver that numbers otherwise than we think must not give kernels to the wrong layer. */
static void nested_nodes_that_are_numbered_otherwise_are_not_known(void **state)
{
    llmperf_profile *profile = play_script(
        "begin child\nnode graph=1 index=0 nodes=2\nend\nbegin outer\nnode graph=2 index=0\nend\n"
        "node_clone graph=10 index=0 from=2 source=0\n"
        "node_clone graph=11 index=0 from=1 source=0 nodes=2\n"
        "graph_inline graph=10 from=11\nnode graph=10 index=9\n"
        "instantiate graph=10 from=2\ngraph o,a,b graph=10 index=0\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "o", "", "LLM@outer"), 1);
    assert_int_equal(
        captured_calls(profile, "a", "", "LLM@(captured before profiling)/LLM@graph 10 node 1"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 2);
    llmperf_profile_free(profile);
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
