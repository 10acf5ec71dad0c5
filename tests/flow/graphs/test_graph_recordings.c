/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/gpu/test_graphs.cu and test_graph_updates.cu do on an H200, from recordings of it: the
 * numbering of a real driver, without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/play.h"

static llmperf_profile *play(const char *name)
{
    const char *data = getenv("LLMPERF_TEST_DATA");
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    char path[512];

    assert_non_null(data);
    snprintf(path, sizeof(path), "%s/h200/graphs/%s.llmrec", data, name);
    options.tier = LLMPERF_TIER_DEEP;
    options.device_source = LLMPERF_SOURCE_REPLAY;
    options.device_path = path;
    return play_options(&options);
}

/* Kernels, copies and sets of a launch region and a capture region. `name` "": any; else part of
 * the name. */
static void expect(const llmperf_profile *profile, const char *region, const char *captured,
                   const char *name, uint64_t wanted)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (kernel.region && !strcmp(kernel.region, region) && strstr(kernel.demangled, name) &&
            kernel.captured_in && !strcmp(kernel.captured_in, captured))
            calls += kernel.calls;
    }
    if (calls != wanted)
        fail_msg("%llu of %s in %s x %s, not %llu", (unsigned long long)calls, name, region,
                 captured, (unsigned long long)wanted);
}

static void expect_whole(const llmperf_profile *profile, uint64_t unmapped)
{
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(ledger_of(profile).graph_nodes_unmapped, unmapped);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
}

static void a_graph_captured_before_is_named_and_capturing_again_heals(void **state)
{
    llmperf_profile *profile = play("late");
    uint64_t before = 0;

    (void)state;
    expect_whole(profile, 45);
    expect(profile, "LLM@step", "LLM@again", "numbered<0", 5);
    expect(profile, "LLM@step", "LLM@again", "numbered<1", 5);
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNELS); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (strstr(kernel.captured_in, "LLM@(captured before profiling)/LLM@graph "))
            before += kernel.calls;
    }
    assert_int_equal(before, 45);
    llmperf_profile_free(profile);
}

static void copies_sets_and_branches_are_where_they_were_captured(void **state)
{
    llmperf_profile *profile = play("mixed");

    (void)state;
    expect_whole(profile, 0);
    expect(profile, "LLM@one", "LLM@in", "", 6);
    expect(profile, "LLM@one", "LLM@fork", "", 6);
    expect(profile, "LLM@one", "LLM@out", "", 6);
    expect(profile, "LLM@two", "LLM@in", "[memset]", 4);
    expect(profile, "LLM@two", "LLM@fork", "numbered<3", 4);
    expect(profile, "LLM@two", "LLM@out", "memcpy", 4);
    llmperf_profile_free(profile);
}

static void expect_nested(const llmperf_profile *profile, const char *region, const char *prefix,
                          uint64_t times)
{
    static const struct {
        const char *part;
        uint64_t kernels;
    } parts[] = { { "outer", 3 }, { "one", 4 }, { "two", 2 }, { "deep", 2 } };

    for (size_t i = 0; i < 4; i++) {
        char captured[128];

        snprintf(captured, sizeof(captured), "LLM@%s/LLM@%s", prefix, parts[i].part);
        expect(profile, region, captured, "numbered", parts[i].kernels * times);
    }
}

static void child_graphs_and_their_updates_keep_their_regions(void **state)
{
    llmperf_profile *profile = play("nested");

    (void)state;
    expect_whole(profile, 0);
    expect_nested(profile, "LLM@before", "first", 3);
    expect_nested(profile, "LLM@after", "second", 3);
    expect(profile, "LLM@after", "LLM@second/LLM@deep", "numbered<15", 3);
    expect(profile, "LLM@after", "LLM@second/LLM@two", "numbered<17", 3);
    expect(profile, "LLM@again", "LLM@same/LLM@outer", "numbered", 9);
    expect_nested(profile, "LLM@other", "same", 2);
    llmperf_profile_free(profile);
}

static void an_update_moves_changed_and_unchanged_nodes(void **state)
{
    llmperf_profile *profile = play("update");

    (void)state;
    expect_whole(profile, 0);
    for (int i = 0; i < 3; i++) {
        char captured[32];

        snprintf(captured, sizeof(captured), "LLM@old%d", i);
        expect(profile, "LLM@step", captured, "numbered<9", 10);
        snprintf(captured, sizeof(captured), "LLM@new%d", i);
        expect(profile, "LLM@step", captured, "numbered<9", 20);
    }
    llmperf_profile_free(profile);
}

static void set_parameters_keep_the_node_and_name_the_kernel(void **state)
{
    llmperf_profile *profile = play("parameters");

    (void)state;
    expect_whole(profile, 0);
    expect(profile, "LLM@before", "LLM@made", "numbered<0", 2);
    expect(profile, "LLM@before", "LLM@made", "numbered<1", 2);
    expect(profile, "LLM@after", "LLM@made", "numbered<7", 2);
    expect(profile, "LLM@after", "LLM@child", "numbered<2", 2);
    llmperf_profile_free(profile);
}

static void bodies_of_conditional_nodes_are_in_launch_and_capture_region(void **state)
{
    llmperf_profile *profile = play("conditional");

    (void)state;
    expect_whole(profile, 0);
    for (int i = 0; i < 2; i++) {
        const char *region = i ? "LLM@odd" : "LLM@even";

        expect(profile, region, "LLM@around", "numbered<0", 5);
        expect(profile, region, "LLM@around", "numbered<5", 5);
        expect(profile, region, "LLM@body", "numbered<1", 15);
        expect(profile, region, "LLM@body", "count_down", 15);
        expect(profile, region, "LLM@child", "numbered", 30);
    }
    llmperf_profile_free(profile);
}

static void threads_and_streams_share_graphs(void **state)
{
    llmperf_profile *profile = play("threads");

    (void)state;
    expect_whole(profile, 0);
    expect(profile, "LLM@left", "LLM@captured_elsewhere", "numbered<6", 100);
    expect(profile, "LLM@right", "LLM@captured_elsewhere", "numbered<6", 100);
    llmperf_profile_free(profile);
}

static void a_later_session_knows_what_was_captured_before_it(void **state)
{
    llmperf_profile *profile = play("later_session");

    (void)state;
    expect_whole(profile, 0);
    expect(profile, "LLM@step", "LLM@early0", "numbered<9", 4);
    expect(profile, "LLM@step", "LLM@paused1", "numbered<9", 4);
    expect(profile, "LLM@step", "LLM@between2", "numbered<9", 4);
    llmperf_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_captured_before_is_named_and_capturing_again_heals),
        cmocka_unit_test(copies_sets_and_branches_are_where_they_were_captured),
        cmocka_unit_test(child_graphs_and_their_updates_keep_their_regions),
        cmocka_unit_test(an_update_moves_changed_and_unchanged_nodes),
        cmocka_unit_test(set_parameters_keep_the_node_and_name_the_kernel),
        cmocka_unit_test(bodies_of_conditional_nodes_are_in_launch_and_capture_region),
        cmocka_unit_test(threads_and_streams_share_graphs),
        cmocka_unit_test(a_later_session_knows_what_was_captured_before_it),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
