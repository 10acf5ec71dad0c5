/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of CUDA graphs are rows by the region that launched the graph and by the one that
 * captured the node, whatever is done to the graph in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/graphs.h"
#include "tests/support/play.h"

static void a_replayed_kernel_is_in_its_launch_and_its_capture_region(void **state)
{
    llmperf_profile *profile =
        play_script("begin warmup\n" TWO_LAYERS "end\n"
                    "launch eager\n"
                    "begin LLM@decode_step\nrepeat 100\ngraph a,b graph=2 index=0\ndone\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "LLM@decode_step", "LLM@warmup/LLM@layer0"), 100);
    assert_int_equal(captured_calls(profile, "b", "LLM@decode_step", "LLM@warmup/LLM@layer1"), 100);
    assert_int_equal(captured_calls(profile, "eager", "", NULL), 1);
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
    assert_int_equal(captured_calls(profile, "gemm", "", "LLM@layer0"), 2);
    assert_int_equal(captured_calls(profile, "gemm", "", "LLM@layer1"), 2);
    check_close(find_captured(profile, "gemm", "", "LLM@layer1").total_ms, 0.0004);
    llmperf_profile_free(profile);
}

static void capture_outside_of_regions_is_known_and_empty(void **state)
{
    llmperf_profile *profile = play_script("node graph=1 index=0\ninstantiate graph=2 from=1\n"
                                           "begin step\ngraph a graph=2 index=0\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "LLM@step", ""), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void graphs_captured_one_after_another_stay_apart(void **state)
{
    (void)state;
    check_captured("begin small\nnode graph=1 index=0\nend\ninstantiate graph=2 from=1\n"
                   "begin large\nnode graph=4 index=0\nend\ninstantiate graph=5 from=4\n"
                   "repeat 10\ngraph a graph=2 index=0\ngraph a graph=5 index=0\ndone\n"
                   "graph a graph=5 index=0\n",
                   0, CAPTURED({ "a", "", "LLM@small", 10 }, { "a", "", "LLM@large", 11 }));
}

static void a_second_instantiation_maps_like_the_first(void **state)
{
    (void)state;
    check_captured(TWO_LAYERS "instantiate graph=4 from=1 nodes=2\ngraph_destroy graph=1\n"
                              "graph a,b graph=2 index=0\ngraph a,b graph=4 index=0\n",
                   0, CAPTURED({ "a", "", "LLM@layer0", 2 }, { "b", "", "LLM@layer1", 2 }));
}

static void a_cloned_graph_keeps_its_regions(void **state)
{
    (void)state;
    check_captured("begin layer0\nnode graph=1 index=0\nend\n"
                   "node_clone graph=7 index=0 from=1 source=0\ngraph_destroy graph=1\n"
                   "begin added\nnode graph=7 index=1\nend\n"
                   "instantiate graph=8 from=7 nodes=2\ngraph a,b graph=8 index=0\n",
                   0, CAPTURED({ "a", "", "LLM@layer0", 1 }, { "b", "", "LLM@added", 1 }));
}

static void explicit_nodes_are_in_the_region_open_at_their_creation(void **state)
{
    llmperf_profile *profile =
        play_script("begin build\nbegin gemm\nnode graph=3 index=0\nend\nbegin copies\nnode "
                    "graph=3 index=1 nodes=2\n"
                    "end\nend\ninstantiate graph=4 from=3 nodes=3\n"
                    "begin step\ngraph k,\"[memcpy DtoD]\",\"[memset]\" graph=4 index=0\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "k", "LLM@step", "LLM@build/LLM@gemm"), 1);
    assert_int_equal(captured_calls(profile, "[memcpy DtoD]", "LLM@step", "LLM@build/LLM@copies"),
                     1);
    assert_int_equal(captured_calls(profile, "[memset]", "LLM@step", "LLM@build/LLM@copies"), 1);
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
    assert_int_equal(captured_calls(profile, "x", "LLM@a", "LLM@layer0"), 1);
    assert_int_equal(captured_calls(profile, "y", "LLM@b", "LLM@layer1"), 1);
    assert_int_equal(find_captured(profile, "y", "LLM@b", "LLM@layer1").device, 1);
    llmperf_profile_free(profile);
}

static void records_that_come_after_the_graph_was_destroyed_are_known(void **state)
{
    llmperf_profile *profile = play_script(
        TWO_LAYERS "fault late\ngraph a,b graph=2 index=0\nfault none\n"
                   "graph_destroy graph=1\ngraph_destroy graph=2\nrepeat 5000\nlaunch x\ndone\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "", "LLM@layer0"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void a_graph_captured_before_is_named_node_by_node(void **state)
{
    llmperf_profile *profile =
        play_script("begin step\nrepeat 10\ngraph a,b graph=12 index=16\ndone\nend\n");

    (void)state;
    assert_int_equal(captured_calls(profile, "a", "LLM@step",
                                    "LLM@(captured before profiling)/LLM@graph 12 node 16"),
                     10);
    assert_int_equal(captured_calls(profile, "b", "LLM@step",
                                    "LLM@(captured before profiling)/LLM@graph 12 node 17"),
                     10);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 20);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_true(has_note(
        profile, "20 kernels, memcpys and memsets of CUDA graphs have no known capture region"));
    llmperf_profile_free(profile);
}

/* Instantiated while a session runs, captured before. */
static void nodes_of_an_unknown_origin_were_captured_before(void **state)
{
    llmperf_profile *profile =
        play_script("instantiate graph=9 from=2 nodes=2\ngraph a,b graph=9 index=0\n");

    (void)state;
    assert_int_equal(
        captured_calls(profile, "a", "", "LLM@(captured before profiling)/LLM@graph 9 node 0"), 1);
    llmperf_profile_free(profile);
}

static void capturing_again_heals(void **state)
{
    (void)state;
    check_captured(
        "graph a,b graph=2 index=0\n"
        "begin again0\nnode graph=5 index=0\nend\nbegin again1\nnode graph=5 index=1\nend\n"
        "node_update graph=2 index=0 from=5 source=0\ngraph_update graph=2 from=5\n"
        "graph a,b graph=2 index=0\n"
        "begin new\nnode graph=7 index=0 nodes=2\nend\ninstantiate graph=8 from=7 nodes=2\n"
        "graph a,b graph=8 index=0\n",
        2,
        CAPTURED({ "a", "", "LLM@again0", 1 }, { "b", "", "LLM@again1", 1 },
                 { "b", "", "LLM@new", 1 }));
}

static void nodes_above_the_limit_share_one_row(void **state)
{
    (void)state;
    check_captured(
        "graph a graph=3 index=999999\n"
        "graph b graph=3 index=4000000000\n",
        2,
        CAPTURED({ "a", "", "LLM@(captured before profiling)/LLM@graph 3 node 999999", 1 },
                 { "b", "", "LLM@(captured before profiling)/LLM@graph 3 node 4000000000", 1 }));
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
    assert_int_equal(captured_calls(profile, "[graph]", "LLM@step", "LLM@capture"), 4);
    assert_int_equal(find_captured(profile, "[graph]", "LLM@step", "LLM@capture").kind,
                     LLMPERF_ACTIVITY_GRAPH);
    check_close(find_captured(profile, "[graph]", "LLM@step", "LLM@capture").total_ms, 0.024);
    assert_int_equal(find_region(profile, "LLM@step", 0).kernel_count, 1);
    assert_int_equal(find_region(profile, "LLM@step", 0).memset_count, 0);
    check_close(find_region(profile, "LLM@step", 0).gpu_busy_ms, 0.025);
    assert_int_equal(ledger_of(profile).kernels_seen, 1);
    assert_int_equal(ledger_of(profile).memory_seen, 0);
    assert_int_equal(ledger_of(profile).graph_launches, 5);
    assert_int_equal(ledger_of(profile).graph_records_missing,
                     1); /* The last launch was reported. */
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_CAPTURES), 0);
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
    assert_int_equal(captured_calls(replayed, "j", "LLM@step", "LLM@inner"), 1);
    assert_int_equal(captured_calls(replayed, "j", "LLM@step", "LLM@step/LLM@inner2"), 1);
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
        cmocka_unit_test(a_recording_replays_to_the_same),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
