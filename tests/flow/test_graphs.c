/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of CUDA graphs are told by the region that launched the graph and by the one that
 * captured the node, whatever is done to the graph in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

/* Row of a kernel in a launch region and a capture region; fails the test if there is none.
 * `captured` NULL: of no graph. */
static llmperf_kernel_stats find_captured(const llmperf_profile *profile, const char *name,
                                          const char *region, const char *captured)
{
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        assert_int_equal(llmperf_profile_kernel(profile, i, &stats), 0);
        if (!strcmp(stats.name, name) && stats.region && !strcmp(stats.region, region) &&
            (!captured ? !stats.captured_in
                       : stats.captured_in && !strcmp(stats.captured_in, captured)))
            return stats;
    }
    for (size_t i = 0; i < llmperf_profile_kernel_count(profile); i++) {
        llmperf_profile_kernel(profile, i, &stats);
        print_error("%s in %s x %s: %llu\n", stats.name, stats.region ? stats.region : "(unseen)",
                    stats.captured_in ? stats.captured_in : "(none)",
                    (unsigned long long)stats.calls);
    }
    fail_msg("no %s in %s x %s", name, region, captured ? captured : "(none)");
    return stats;
}

static uint64_t calls(const llmperf_profile *profile, const char *name, const char *region,
                      const char *captured)
{
    return find_captured(profile, name, region, captured).calls;
}

/* Two layers captured, one node each; the executable graph is 2. */
#define TWO_LAYERS                                                                                 \
    "begin layer0\nnode graph=1 index=0\nend\n"                                                    \
    "begin layer1\nnode graph=1 index=1\nend\n"                                                    \
    "instantiate graph=2 from=1 nodes=2\n"

static void a_replayed_kernel_is_in_its_launch_and_its_capture_region(void **state)
{
    llmperf_profile *profile =
        play_script("begin warmup\n" TWO_LAYERS "end\n"
                    "launch eager\n"
                    "begin LLM@decode_step\nrepeat 100\ngraph a,b graph=2 index=0\ndone\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "LLM@decode_step", "LLM@warmup/LLM@layer0"), 100);
    assert_int_equal(calls(profile, "b", "LLM@decode_step", "LLM@warmup/LLM@layer1"), 100);
    assert_int_equal(calls(profile, "eager", "", NULL), 1);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, 200);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void one_kernel_in_two_layers_is_two_rows(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "graph gemm,gemm graph=2 index=0 duration=100\n"
                               "graph gemm,gemm graph=2 index=0 duration=300\n");

    (void)state;
    assert_int_equal(calls(profile, "gemm", "", "LLM@layer0"), 2);
    assert_int_equal(calls(profile, "gemm", "", "LLM@layer1"), 2);
    check_close(find_captured(profile, "gemm", "", "LLM@layer1").total_ms, 0.0004);
    llmperf_profile_free(profile);
}

static void capture_outside_of_regions_is_known_and_empty(void **state)
{
    llmperf_profile *profile = play_script("node graph=1 index=0\ninstantiate graph=2 from=1\n"
                                           "begin step\ngraph a graph=2 index=0\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "LLM@step", ""), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void graphs_captured_one_after_another_stay_apart(void **state)
{
    llmperf_profile *profile =
        play_script("begin small\nnode graph=1 index=0\nend\ninstantiate graph=2 from=1\n"
                    "begin large\nnode graph=4 index=0\nend\ninstantiate graph=5 from=4\n"
                    "repeat 10\ngraph a graph=2 index=0\ngraph a graph=5 index=0\ndone\n"
                    "graph a graph=5 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@small"), 10);
    assert_int_equal(calls(profile, "a", "", "LLM@large"), 11);
    llmperf_profile_free(profile);
}

static void a_second_instantiation_maps_like_the_first(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "instantiate graph=4 from=1 nodes=2\ngraph_destroy graph=1\n"
                               "graph a,b graph=2 index=0\ngraph a,b graph=4 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@layer0"), 2);
    assert_int_equal(calls(profile, "b", "", "LLM@layer1"), 2);
    llmperf_profile_free(profile);
}

static void a_cloned_graph_keeps_its_regions(void **state)
{
    llmperf_profile *profile =
        play_script("begin layer0\nnode graph=1 index=0\nend\n"
                    "node_clone graph=7 index=0 from=1 source=0\ngraph_destroy graph=1\n"
                    "begin added\nnode graph=7 index=1\nend\n"
                    "instantiate graph=8 from=7 nodes=2\ngraph a,b graph=8 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@added"), 1);
    llmperf_profile_free(profile);
}

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
    assert_int_equal(calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@layer1"), 1);
    assert_int_equal(calls(profile, "c", "", "LLM@again0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@again1"), 1);
    llmperf_profile_free(profile);
}

static void an_update_that_changes_nothing_still_moves_the_region(void **state)
{
    llmperf_profile *profile =
        play_script(TWO_LAYERS "begin again\nnode graph=5 index=0 nodes=2\nend\n"
                               "graph_update graph=2 from=5\ngraph a,b graph=2 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@again"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@again"), 1);
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
    assert_int_equal(calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@layer1"), 1);
    assert_int_equal(calls(profile, "c", "", "LLM@again"), 1);
    assert_int_equal(calls(profile, "d", "", "LLM@again"), 1);
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
    assert_int_equal(calls(profile, "a", "", "LLM@first"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@second"), 1);
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
    assert_int_equal(calls(profile, "a", "", "LLM@again0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@again1"), 1);
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
    assert_int_equal(calls(profile, "b", "", "LLM@even"), 3000);
    assert_int_equal(calls(profile, "b", "", "LLM@odd"), 3000);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

/* Outer: node, child (two nodes, of which the second is a child of two nodes), node. In the
 * executable graph the children's nodes follow behind all others. */
#define NESTED                                                                                     \
    "begin inner\nnode graph=1 index=0 nodes=2\nend\n"                                             \
    "begin middle\nnode graph=2 index=0\nend\n"                                                    \
    "node_clone graph=3 index=0 from=1 source=0 nodes=2\nnode graph=2 index=1\n"                   \
    "begin outer\nnode graph=4 index=0\nend\n"                                                     \
    "node_clone graph=5 index=0 from=2 source=0\n"                                                 \
    "node_clone graph=6 index=0 from=3 source=0 nodes=2\n"                                         \
    "node_clone graph=5 index=1 from=2 source=1\nnode graph=4 index=1\n"                           \
    "begin last\nnode graph=4 index=2\nend\n"                                                      \
    "graph_destroy graph=1\ngraph_destroy graph=2\ngraph_destroy graph=3\n"                        \
    "node_clone graph=10 index=0 from=4 source=0\n"                                                \
    "node_clone graph=11 index=0 from=5 source=0\n"                                                \
    "node_clone graph=12 index=0 from=6 source=0 nodes=2\n"                                        \
    "node_clone graph=11 index=1 from=5 source=1\n"                                                \
    "node_clone graph=10 index=1 from=4 source=1 nodes=2\n"                                        \
    "graph_inline graph=10 from=11\ngraph_inline graph=10 from=12\nnode graph=10 index=7\n"        \
    "instantiate graph=10 from=4 nodes=3\n"

static void kernels_of_child_graphs_are_in_the_region_that_captured_the_child(void **state)
{
    llmperf_profile *profile =
        play_script(NESTED "begin step\ngraph o graph=10 index=0\ngraph l,m graph=10 index=2\n"
                           "graph i,j graph=10 index=5\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "o", "LLM@step", "LLM@outer"), 1);
    assert_int_equal(calls(profile, "l", "LLM@step", "LLM@last"), 1);
    assert_int_equal(calls(profile, "m", "LLM@step", "LLM@middle"), 1);
    assert_int_equal(calls(profile, "i", "LLM@step", "LLM@inner"), 1);
    assert_int_equal(calls(profile, "j", "LLM@step", "LLM@inner"), 1);
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
    assert_int_equal(calls(profile, "o", "", "LLM@outer2"), 1);
    assert_int_equal(calls(profile, "l", "", "LLM@outer2"), 1);
    assert_int_equal(calls(profile, "i", "", "LLM@inner2"), 1);
    assert_int_equal(calls(profile, "j", "", "LLM@inner2"), 1);
    /* Nothing was said of this child: its nodes do what they did. */
    assert_int_equal(calls(profile, "m", "", "LLM@middle"), 1);
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
    assert_int_equal(calls(profile, "o", "", "LLM@outer"), 1);
    assert_int_equal(calls(profile, "a", "", "LLM@(captured before profiling)/LLM@graph 10 node 1"),
                     1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 2);
    llmperf_profile_free(profile);
}

/* Kernels in the body of a conditional node name no launch. */
#define CONDITIONAL                                                                                \
    "begin head\nnode graph=1 index=0 nodes=2\nend\nbegin body\nnode graph=2 index=0\nend\n"       \
    "node_clone graph=5 index=0 from=1 source=0 nodes=2\n"                                         \
    "node_clone graph=6 index=0 from=2 source=0\ngraph_inline graph=5 from=6\n"                    \
    "instantiate graph=5 from=1 nodes=2\n"

static void kernels_of_conditional_bodies_find_their_launch(void **state)
{
    llmperf_profile *profile = play_script(
        CONDITIONAL "begin step\nrepeat 50\ngraph h,c,b graph=5 index=0 body=1\ndone\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "h", "LLM@step", "LLM@head"), 50);
    assert_int_equal(calls(profile, "b", "LLM@step", "LLM@body"), 50);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    llmperf_profile_free(profile);
}

static void conditional_bodies_go_to_the_launch_that_ran_them(void **state)
{
    llmperf_profile *profile =
        play_script(CONDITIONAL "repeat 20\nbegin one\ngraph h,c,b graph=5 index=0 body=1\nend\n"
                                "begin two\ngraph h,c,b graph=5 index=0 body=1\n"
                                "graph h,c,b graph=5 index=0 body=1\nend\ndone\n");

    (void)state;
    assert_int_equal(calls(profile, "b", "LLM@one", "LLM@body"), 20);
    assert_int_equal(calls(profile, "b", "LLM@two", "LLM@body"), 40);
    llmperf_profile_free(profile);
}

static void a_graph_of_bodies_only_is_in_the_region_of_its_launches(void **state)
{
    llmperf_profile *profile = play_script(
        CONDITIONAL "begin step\nrepeat 5\ngraph b graph=5 index=2 body=1\ndone\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "b", "LLM@step", "LLM@body"), 5);
    llmperf_profile_free(profile);
}

static void bodies_of_an_unclear_launch_are_not_guessed(void **state)
{
    llmperf_profile *profile =
        play_script(CONDITIONAL "begin one\ngraph b graph=5 index=2 body=1\nend\n"
                                "begin two\ngraph b graph=5 index=2 body=1\nend\n");

    (void)state;
    assert_int_equal(ledger_of(profile).kernels_unattributed, 2);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

static void explicit_nodes_are_in_the_region_open_at_their_creation(void **state)
{
    llmperf_profile *profile =
        play_script("begin build\nbegin gemm\nnode graph=3 index=0\nend\nbegin copies\nnode "
                    "graph=3 index=1 nodes=2\n"
                    "end\nend\ninstantiate graph=4 from=3 nodes=3\n"
                    "begin step\ngraph k,\"[memcpy DtoD]\",\"[memset]\" graph=4 index=0\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "k", "LLM@step", "LLM@build/LLM@gemm"), 1);
    assert_int_equal(calls(profile, "[memcpy DtoD]", "LLM@step", "LLM@build/LLM@copies"), 1);
    assert_int_equal(calls(profile, "[memset]", "LLM@step", "LLM@build/LLM@copies"), 1);
    assert_int_equal(find_region(profile, "LLM@step", 0).memcpy_count, 1);
    assert_int_equal(find_region(profile, "LLM@step", 0).memset_count, 1);
    llmperf_profile_free(profile);
}

static void a_graph_captured_by_one_thread_is_launched_by_others(void **state)
{
    llmperf_profile *profile =
        play_script("thread 3\n" TWO_LAYERS "exit\n"
                    "thread 1\nbegin a\ngraph x,y graph=2 index=0 stream=1\nend\n"
                    "thread 2\nbegin b\ngraph x,y graph=2 index=0 stream=2 device=1\nend\n");

    (void)state;
    assert_int_equal(calls(profile, "x", "LLM@a", "LLM@layer0"), 1);
    assert_int_equal(calls(profile, "y", "LLM@b", "LLM@layer1"), 1);
    assert_int_equal(find_captured(profile, "y", "LLM@b", "LLM@layer1").device, 1);
    llmperf_profile_free(profile);
}

static void records_that_come_after_the_graph_was_destroyed_are_known(void **state)
{
    llmperf_profile *profile = play_script(
        TWO_LAYERS "fault late\ngraph a,b graph=2 index=0\nfault none\n"
                   "graph_destroy graph=1\ngraph_destroy graph=2\nrepeat 5000\nlaunch x\ndone\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void a_graph_captured_before_is_named_node_by_node(void **state)
{
    llmperf_profile *profile =
        play_script("begin step\nrepeat 10\ngraph a,b graph=12 index=16\ndone\nend\n");

    (void)state;
    assert_int_equal(
        calls(profile, "a", "LLM@step", "LLM@(captured before profiling)/LLM@graph 12 node 16"),
        10);
    assert_int_equal(
        calls(profile, "b", "LLM@step", "LLM@(captured before profiling)/LLM@graph 12 node 17"),
        10);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 20);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(has_note(profile, "20 graph records ran nodes whose capture was not seen"));
    llmperf_profile_free(profile);
}

/* Instantiated while a session runs, captured before. */
static void nodes_of_an_unknown_origin_were_captured_before(void **state)
{
    llmperf_profile *profile =
        play_script("instantiate graph=9 from=2 nodes=2\ngraph a,b graph=9 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@(captured before profiling)/LLM@graph 9 node 0"),
                     1);
    llmperf_profile_free(profile);
}

static void capturing_again_heals(void **state)
{
    llmperf_profile *profile = play_script(
        "graph a,b graph=2 index=0\n"
        "begin again0\nnode graph=5 index=0\nend\nbegin again1\nnode graph=5 index=1\nend\n"
        "node_update graph=2 index=0 from=5 source=0\ngraph_update graph=2 from=5\n"
        "graph a,b graph=2 index=0\n"
        "begin new\nnode graph=7 index=0 nodes=2\nend\ninstantiate graph=8 from=7 nodes=2\n"
        "graph a,b graph=8 index=0\n");

    (void)state;
    assert_int_equal(calls(profile, "a", "", "LLM@again0"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@again1"), 1);
    assert_int_equal(calls(profile, "b", "", "LLM@new"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 2);
    llmperf_profile_free(profile);
}

static void nodes_above_the_limit_share_one_row(void **state)
{
    llmperf_profile *profile = play_script("graph a graph=3 index=999999\n"
                                           "graph b graph=3 index=4000000000\n");

    (void)state;
    assert_int_equal(
        calls(profile, "a", "", "LLM@(captured before profiling)/LLM@graph 3 node 999999"), 1);
    assert_int_equal(
        calls(profile, "b", "", "LLM@(captured before profiling)/LLM@graph 3 node 4000000000"), 1);
    llmperf_profile_free(profile);
}

static void lost_events_are_counted(void **state)
{
    llmperf_profile *profile = play_script("graph_lost 7\nlaunch a\n");

    (void)state;
    assert_int_equal(ledger_of(profile).regions_dropped, 7);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
}

static void graphs_that_the_device_may_launch_are_counted(void **state)
{
    llmperf_profile *profile =
        play_script("node graph=1 index=0\ninstantiate graph=2 from=1 launchable=1\nlaunch a\n");

    (void)state;
    assert_int_equal(ledger_of(profile).graphs_device_launchable, 1);
    assert_true(has_note(profile, "1 graphs were instantiated for launch from the device"));
    llmperf_profile_free(profile);
}

static llmperf_capture_stats find_capture(const llmperf_profile *profile, const char *region,
                                          const char *captured)
{
    llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_capture_count(profile); i++) {
        assert_int_equal(llmperf_profile_capture(profile, i, &row), 0);
        if (!strcmp(row.region, region) && !strcmp(row.captured_in, captured))
            return row;
    }
    fail_msg("no row of %s x %s", region, captured);
    return row;
}

/* Layers 2 and 10, the first with two parts, replayed ten times. */
#define LAYERS                                                                                     \
    "begin layer10\nnode graph=1 index=0\nend\n"                                                   \
    "begin layer2\nbegin attention\nnode graph=1 index=1\nend\n"                                   \
    "begin mlp\nnode graph=1 index=2\nend\nend\ninstantiate graph=2 from=1 nodes=3\n"              \
    "begin LLM@decode_step\nrepeat 10\n"                                                           \
    "graph a,b,\"[memcpy DtoD]\" graph=2 index=0 duration=2000\ndone\nend\n"                       \
    "launch eager\n"

static void captures_are_told_by_layer(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    llmperf_capture_stats row;

    (void)state;
    assert_int_equal(llmperf_profile_capture_count(profile), 4);
    row = find_capture(profile, "LLM@decode_step", "LLM@layer2");
    assert_int_equal(row.kernel_count, 10);
    assert_int_equal(row.memory_count, 10);
    check_close(row.kernel_ms, 0.02);
    check_close(row.memory_ms, 0.02);
    check_close(row.exclusive_ms, 0);
    check_close(row.share, 2.0 / 3);
    assert_int_equal(row.depth, 0);
    row = find_capture(profile, "LLM@decode_step", "LLM@layer2/LLM@attention");
    check_close(row.exclusive_ms, 0.02);
    assert_int_equal(row.depth, 1);
    llmperf_profile_free(profile);
}

static void layer_2_comes_before_layer_10(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    static const char *const order[] = { "LLM@layer2", "LLM@layer2/LLM@attention",
                                         "LLM@layer2/LLM@mlp", "LLM@layer10" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

        assert_int_equal(llmperf_profile_capture(profile, i, &row), 0);
        assert_string_equal(row.captured_in, order[i]);
    }
    llmperf_profile_free(profile);
}

static void the_report_has_the_layers_of_the_graph(void **state)
{
    llmperf_profile *profile = play_script(LAYERS);
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_non_null(strstr(text, "Launched in `LLM@decode_step`, device 0:"));
    assert_non_null(
        strstr(text, "| `LLM@layer2/LLM@attention` | 10 | 0.02000 | 0.02000 | 20.00 | 33.33 |"));
    assert_non_null(strstr(text, "| `a` | `LLM@decode_step` | `LLM@layer10` |"));
    assert_non_null(strstr(text, "| `eager` | (no region) | |"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void without_graphs_there_is_no_such_table(void **state)
{
    llmperf_profile *profile = play_script("begin a\nlaunch k\nend\n");
    char *text = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_capture_count(profile), 0);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_null(strstr(text, "Captured in"));
    assert_null(strstr(text, "CUDA graphs by"));
    llmperf_text_free(text);
    llmperf_profile_free(profile);
}

static void nodes_without_a_capture_share_one_row(void **state)
{
    llmperf_profile *profile = play_script("begin step\ngraph a,b graph=9 index=3\nend\n");

    (void)state;
    assert_int_equal(llmperf_profile_capture_count(profile), 1);
    assert_int_equal(
        find_capture(profile, "LLM@step", "LLM@(captured before profiling)").kernel_count, 2);
    llmperf_profile_free(profile);
}

static void captures_of_a_saved_run_are_the_same(void **state)
{
    llmperf_profile *profile = play_script(LAYERS), *opened = NULL;

    (void)state;
    assert_int_equal(llmperf_profile_save(profile, in_test_folder("run.llmperf")), 0);
    assert_int_equal(llmperf_profile_open(in_test_folder("run.llmperf"), &opened), 0);
    assert_int_equal(llmperf_profile_capture_count(opened), 4);
    check_close(find_capture(opened, "LLM@decode_step", "LLM@layer2").kernel_ms, 0.02);
    llmperf_profile_free(profile);
    llmperf_profile_free(opened);
}

static void a_row_that_does_not_exist_is_an_error(void **state)
{
    llmperf_profile *profile = play_script("launch a\n");
    llmperf_capture_stats row = LLMPERF_CAPTURE_STATS_INIT;

    (void)state;
    assert_int_equal(llmperf_profile_capture(profile, 0, &row), LLMPERF_EINVAL);
    check_error("row 0 of 0 does not exist");
    assert_int_equal(llmperf_profile_capture(NULL, 0, &row), LLMPERF_EINVAL);
    assert_int_equal(llmperf_profile_capture_count(NULL), 0);
    llmperf_profile_free(profile);
}

/* A graph as one span: its time counts, its kernels do not, and a launch while the session was
 * paused (whose record the driver brings all the same) counts nowhere. */
static void at_graph_level_a_graph_is_one_span(void **state)
{
    llmperf_session_options options = script_options(
        "begin capture\nnode graph=1 index=0 nodes=3\ninstantiate graph=2 from=1 nodes=3\nend\n"
        "begin step\nrepeat 4\ngraph a,b,\"[memset]\" graph=2 index=0 duration=2000\ndone\nlaunch "
        "k\n"
        "end\nfault unknown_correlation\ngraph a graph=2 index=0\n");
    llmperf_profile *profile;

    (void)state;
    options.flags = LLMPERF_SESSION_GRAPH_LEVEL;
    profile = play_options(&options);
    assert_int_equal(calls(profile, "[graph]", "LLM@step", "LLM@capture"), 4);
    assert_int_equal(find_captured(profile, "[graph]", "LLM@step", "LLM@capture").kind,
                     LLMPERF_ACTIVITY_GRAPH);
    check_close(find_captured(profile, "[graph]", "LLM@step", "LLM@capture").total_ms, 0.024);
    assert_int_equal(find_region(profile, "LLM@step", 0).kernel_count, 1);
    assert_int_equal(find_region(profile, "LLM@step", 0).memset_count, 0);
    check_close(find_region(profile, "LLM@step", 0).gpu_busy_ms, 0.025);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    assert_int_equal(ledger_of(profile).memory_seen, 0);
    assert_int_equal(ledger_of(profile).graph_launches, 5);
    assert_int_equal(ledger_of(profile).graph_records_missing, 1); /* The last launch was told. */
    assert_int_equal(llmperf_profile_capture_count(profile), 0);
    assert_true(has_note(profile, "Graph level:"));
    llmperf_profile_free(profile);
}

static void a_recording_replays_to_the_same(void **state)
{
    const char *script = NESTED "begin step\ngraph o graph=10 index=0\ngraph i,j graph=10 index=5\n"
                                "begin inner2\nnode graph=21 index=0 nodes=2\nend\n"
                                "node_update graph=10 index=5 from=21 source=0\n"
                                "graph_update graph=10 from=4\ngraph i,j graph=10 index=5\n"
                                "graph z graph=77 index=3\nend\n";
    llmperf_session_options options = script_options(script);
    llmperf_profile *played, *replayed;
    char *a, *b;

    (void)state;
    options.record_path = in_test_folder("graphs.llmprec");
    played = play_options(&options);
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = in_test_folder("graphs.llmprec");
    options.record_path = NULL;
    replayed = play_options(&options);
    a = lasting_metrics(played);
    b = lasting_metrics(replayed);
    assert_string_equal(a, b);
    assert_int_equal(calls(replayed, "j", "LLM@step", "LLM@inner"), 1);
    assert_int_equal(calls(replayed, "j", "LLM@step", "LLM@step/LLM@inner2"), 1);
    free(a);
    free(b);
    llmperf_profile_free(played);
    llmperf_profile_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replayed_kernel_is_in_its_launch_and_its_capture_region),
        cmocka_unit_test(one_kernel_in_two_layers_is_two_rows),
        cmocka_unit_test(capture_outside_of_regions_is_known_and_empty),
        cmocka_unit_test(graphs_captured_one_after_another_stay_apart),
        cmocka_unit_test(a_second_instantiation_maps_like_the_first),
        cmocka_unit_test(a_cloned_graph_keeps_its_regions),
        cmocka_unit_test(after_an_update_the_new_graph_counts),
        cmocka_unit_test(an_update_that_changes_nothing_still_moves_the_region),
        cmocka_unit_test(records_of_launches_before_an_update_keep_the_old_region),
        cmocka_unit_test(nodes_that_the_driver_names_win_over_their_order),
        cmocka_unit_test(a_removed_node_does_not_shift_an_update),
        cmocka_unit_test(thousands_of_updates_keep_their_regions),
        cmocka_unit_test(kernels_of_child_graphs_are_in_the_region_that_captured_the_child),
        cmocka_unit_test(an_update_reaches_child_graphs),
        cmocka_unit_test(nested_nodes_that_are_numbered_otherwise_are_not_known),
        cmocka_unit_test(kernels_of_conditional_bodies_find_their_launch),
        cmocka_unit_test(conditional_bodies_go_to_the_launch_that_ran_them),
        cmocka_unit_test(a_graph_of_bodies_only_is_in_the_region_of_its_launches),
        cmocka_unit_test(bodies_of_an_unclear_launch_are_not_guessed),
        cmocka_unit_test(explicit_nodes_are_in_the_region_open_at_their_creation),
        cmocka_unit_test(a_graph_captured_by_one_thread_is_launched_by_others),
        cmocka_unit_test(records_that_come_after_the_graph_was_destroyed_are_known),
        cmocka_unit_test(a_graph_captured_before_is_named_node_by_node),
        cmocka_unit_test(nodes_of_an_unknown_origin_were_captured_before),
        cmocka_unit_test(capturing_again_heals),
        cmocka_unit_test(nodes_above_the_limit_share_one_row),
        cmocka_unit_test(lost_events_are_counted),
        cmocka_unit_test(graphs_that_the_device_may_launch_are_counted),
        cmocka_unit_test(at_graph_level_a_graph_is_one_span),
        cmocka_unit_test(captures_are_told_by_layer),
        cmocka_unit_test(layer_2_comes_before_layer_10),
        cmocka_unit_test(the_report_has_the_layers_of_the_graph),
        cmocka_unit_test(without_graphs_there_is_no_such_table),
        cmocka_unit_test(nodes_without_a_capture_share_one_row),
        cmocka_unit_test(captures_of_a_saved_run_are_the_same),
        cmocka_unit_test(a_row_that_does_not_exist_is_an_error),
        cmocka_unit_test(a_recording_replays_to_the_same),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
