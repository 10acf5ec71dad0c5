/* SPDX-License-Identifier: Apache-2.0 */
/** The CUPTI source from end to end where graphs are made, updated and launched, over stand-ins for
 * libcupti and libcuda. Each session gives CUPTI up at its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/cupti/captures.h"
#include "lib/record/graph_event.h"
#include "tests/support/at_once.h"
#include "tests/support/driver.h"
#include "tests/support/graphs.h"

#define NODE(graph, index) ((void *)LP_GRAPH_NODE(graph, index))
#define GRAPH(id)          ((void *)(uintptr_t)(id))

static void capture_node(const char *region, uint32_t graph, uint32_t index)
{
    const struct mock_resource node = { LP_CUPTI_RESOURCE_GRAPHNODE_CREATED,
                                        { .node = NODE(graph, index) } };
    struct mock_call captured = kernel;

    captured.records = 0;
    captured.resources = &node;
    captured.resource_count = 1;
    llmperf_region_begin(region);
    driver->call(&captured);
    llmperf_region_end();
}

/* Graph 2 from graph 1 of two nodes. */
static void instantiate(void)
{
    static const struct mock_resource steps[] = {
        { LP_CUPTI_RESOURCE_GRAPHNODE_CLONED, { .node = NODE(2, 0), .original_node = NODE(1, 0) } },
        { LP_CUPTI_RESOURCE_GRAPHNODE_CLONED, { .node = NODE(2, 1), .original_node = NODE(1, 1) } },
        { LP_CUPTI_RESOURCE_GRAPHEXEC_CREATE_STARTING, { .exec = GRAPH(2), .graph = GRAPH(1) } },
        { LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED, { .exec = GRAPH(2), .graph = GRAPH(1) } },
    };
    const struct mock_call call = { .id = INSTANTIATE, .resources = steps, .resource_count = 4 };

    driver->call(&call);
}

static void launch_graph(uint32_t kind, uint32_t records)
{
    const struct mock_call call = { .id = LAUNCH_GRAPH,
                                    .kind = kind,
                                    .records = records,
                                    .name = "node",
                                    .node = LP_GRAPH_NODE(2, 0),
                                    .parameters = { GRAPH(2) } };

    driver->call(&call);
}

static void kernels_of_a_graph_name_the_region_that_captured_them(void **state)
{
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    capture_node("first", 1, 0);
    capture_node("second", 1, 1);
    instantiate();
    llmperf_region_begin("replay");
    for (int i = 0; i < 3; i++)
        launch_graph(LP_CUPTI_KIND_CONCURRENT_KERNEL, 2);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).graph_launches, 3);
    assert_int_equal(ledger_of(profile).graph_kernels_seen, 6);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    assert_int_equal(ledger_of(profile).launches_expected, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(captured_calls(profile, "node", "LLM@replay", "LLM@first"), 3);
    assert_int_equal(captured_calls(profile, "node", "LLM@replay", "LLM@second"), 3);
    llmperf_profile_free(profile);
}

static void graphs_that_change_are_followed(void **state)
{
    static const struct mock_resource steps[] = {
        { LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED,
          { .original_node = NODE(2, 0), .node = NODE(3, 0) } },
        { LP_CUPTI_RESOURCE_GRAPHNODE_UPDATED,
          { .original_node = NODE(2, 1), .node = NODE(3, 1) } },
    };
    static const struct mock_resource gone[] = {
        { LP_CUPTI_RESOURCE_GRAPH_DESTROY_STARTING, { .graph = GRAPH(1) } },
        { LP_CUPTI_RESOURCE_GRAPHEXEC_DESTROY_STARTING, { .exec = GRAPH(2) } },
        { 999, { .graph = GRAPH(1) } },
    };
    const struct mock_call update = {
        .id = UPDATE, .parameters = { GRAPH(2), GRAPH(3) }, .resources = steps, .resource_count = 2
    };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    capture_node("first", 1, 0);
    capture_node("second", 1, 1);
    instantiate();
    launch_graph(LP_CUPTI_KIND_CONCURRENT_KERNEL, 2);
    capture_node("third", 3, 0);
    capture_node("fourth", 3, 1);
    driver->call(&update);
    launch_graph(LP_CUPTI_KIND_CONCURRENT_KERNEL, 2);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        driver->tell_resource(gone[i].id, &gone[i].graph);
    profile = stop_session(session);
    assert_int_equal(captured_calls(profile, "node", "", "LLM@first"), 1);
    assert_int_equal(captured_calls(profile, "node", "", "LLM@second"), 1);
    assert_int_equal(captured_calls(profile, "node", "", "LLM@third"), 1);
    assert_int_equal(captured_calls(profile, "node", "", "LLM@fourth"), 1);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, 0);
    llmperf_profile_free(profile);
}

static void launches_from_the_device_are_said(void **state)
{
    struct mock_call call = {
        .id = INSTANTIATE, .parameters = { NULL, NULL, GRAPH(LP_CUPTI_INSTANTIATE_DEVICE_LAUNCH) }
    };
    static const struct mock_resource created = { LP_CUPTI_RESOURCE_GRAPHEXEC_CREATED,
                                                  { .exec = GRAPH(9), .graph = GRAPH(8) } };
    const uint64_t flags = LP_CUPTI_INSTANTIATE_DEVICE_LAUNCH;
    const struct mock_call with = { .id = 656, /* cuGraphInstantiateWithParams */
                                    .parameters = { NULL, NULL, &flags },
                                    .resources = &created,
                                    .resource_count = 1 };
    llmperf_session *session = start_deep();
    llmperf_profile *profile;

    (void)state;
    call.resources = &created;
    call.resource_count = 1;
    driver->call(&call);
    driver->call(&with);
    instantiate();
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).graphs_device_launchable, 2);
    llmperf_profile_free(profile);
}

/* Whole graphs or nodes: one of the two for a process. */
static void whole_graphs_are_one_span_each(void **state)
{
    llmperf_session_options options = deep_options();
    llmperf_session *session;
    llmperf_profile *profile;

    (void)state;
    options.flags |= LLMPERF_SESSION_GRAPH_LEVEL;
    set_context(&options);
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_ESTATE);
    check_error("before CUDA is used");
    set_context(NULL);
    session = start_with(&options);
    assert_true(driver->is_on(0, LP_CUPTI_KIND_GRAPH_TRACE));
    llmperf_region_begin("replay");
    launch_graph(LP_CUPTI_KIND_GRAPH_TRACE, 1);
    llmperf_region_end();
    profile = stop_session(session);
    assert_int_equal(find_kernel(profile, "[graph]", "LLM@replay").calls, 1);
    llmperf_profile_free(profile);
    refuse(LLMPERF_ESTATE, "as whole graphs");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kernels_of_a_graph_name_the_region_that_captured_them, reset_driver),
        cmocka_unit_test_setup(graphs_that_change_are_followed, reset_driver),
        cmocka_unit_test_setup(launches_from_the_device_are_said, reset_driver),
        cmocka_unit_test_setup(whole_graphs_are_one_span_each, reset_driver),
    };

    load_driver();
    return run_cases_at_once(argc, argv, tests, NULL, NULL);
}
