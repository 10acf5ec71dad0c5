/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of the fake device: what they say is what comes, faults included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/regions/capture.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "tests/support/facts.h"
#include "lib/device/device.h"

static int play_file(struct facts *facts, const char *path, bool memory_activities)
{
    struct lp_device_options options = { .path = path,
                                         .pool_bytes = 1 << 20,
                                         .memory_activities = memory_activities,
                                         .names = &facts->names };
    struct lp_device_sink sink = { facts, take_fact_host, take_fact_activities, NULL, NULL, NULL,
                                   NULL };
    struct lp_device_source *source = NULL;
    int status = lp_device_open_fake(&options, &source);

    if (status < 0) {
        assert_null(source);
        return status;
    }
    assert_false(source->ops->live);
    assert_int_equal(source->ops->start(source), 0);
    do {
        facts->calls++;
        source->ops->flush(source, false);
        source->ops->take(source);
        status = source->ops->deliver(source, &sink);
    } while (status > 0);
    source->ops->stats(source, &facts->stats);
    source->ops->close(source);
    return status;
}

static int play_bytes(struct facts *facts, const char *bytes, size_t size, bool memory_activities)
{
    char path[] = "fake-script-XXXXXX";
    int fd = mkstemp(path), status;

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(lp_file_write(path, bytes, size), 0);
    status = play_file(facts, path, memory_activities);
    unlink(path);
    return status;
}

static int play(struct facts *facts, const char *text)
{
    return play_bytes(facts, text, strlen(text), true);
}

static void a_faulty_script_is_refused_with_its_line_and_a_way_out(void **state)
{
    static const struct {
        const char *script, *says[2];
    } cases[] = {
        { "lunch gemm", { ":1: unknown statement \"lunch\"", "write one of thread" } },
        { "# fine\n\nbegin a\nlaunch", { ":4: launch needs a name", "write: launch NAME" } },
        { "launch \"gemm", { ":1: a closing quote is missing", "\"NAME\"" } },
        { "launch \"gemm\"x",
          { ":1: unexpected characters after the closing quote", "write: launch NAME" } },
        { "launch \"\"", { ":1: the name is empty", "write: launch NAME" } },
        { "graph a,,b", { ":1: the name is empty", "write: graph NAME,NAME" } },
        { "graph a,", { ":1: graph needs a name", "write: graph NAME,NAME" } },
        { "launch gemm streem=3", { ":1: launch does not accept \"streem\"", "[stream=N]" } },
        { "launch gemm 3", { ":1: launch does not accept \"3\"", "write: launch" } },
        { "launch gemm bytes=3", { ":1: launch does not accept \"bytes\"", "write: launch" } },
        { "launch gemm stream=3 stream=4", { ":1: stream= is given more than once", "once" } },
        { "launch gemm stream=", { ":1: launch needs a number", "write: launch" } },
        { "launch gemm stream=-1", { ":1: \"-1\" is not a number", "digits only" } },
        { "launch gemm stream=4294967296",
          { ":1: 4294967296 is out of range", "0 to 4294967295" } },
        { "launch gemm context=4294967296",
          { ":1: 4294967296 is out of range", "0 to 4294967295" } },
        { "launch gemm device=65536", { ":1: 65536 is out of range", "0 to 65535" } },
        { "wait 99999999999999999999999999999",
          { ":1: 99999999999999999999999999999 is out of range", "to 1000000000000000000" } },
        { "wait", { ":1: wait needs an argument", "write: wait NS" } },
        { "wait 1 2", { ":1: wait does not accept \"2\"", "write: wait NS" } },
        { "thread 1024", { ":1: 1024 is out of range", "0 to 1023" } },
        { "begin a kind=phase", { ":1: begin does not accept \"phase\"", "kind=stage|operator" } },
        { "begin a kind=", { ":1: begin does not accept \"\"", "kind=stage|operator" } },
        { "count apples 3", { ":1: count does not accept \"apples\"", "tokens|sequences" } },
        { "count tokens", { ":1: count needs a number", "write: count" } },
        { "copy sideways", { ":1: copy does not accept \"sideways\"", "htod|dtoh" } },
        { "fault explode", { ":1: fault does not accept \"explode\"", "late_launch" } },
        { "fault drop every=0", { ":1: 0 is out of range", "from 1 to" } },
        { "end end", { ":1: end does not accept \"end\"", "write: end" } },
        { "done", { ":1: done without repeat", "write repeat N" } },
        { "wait 1\nrepeat 2\nrepeat 3\ndone\nwait 1", { ":2: repeat without done", "write done" } },
        { "repeat 0\ndone", { ":1: 0 is out of range", "from 1 to 1000000000" } },
        { "repeat 1000000001\ndone", { ":1: 1000000001 is out of range", "from 1 to 1000000000" } },
        { "repeat 100000\nrepeat 10000\nrepeat 2\ndone\ndone\ndone",
          { ":3: nested repeats have more than 1000000000 rounds", "smaller" } },
        { "repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat "
          "1\nrepeat 1\nrepeat 1\nrepeat 1\n"
          "repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\n",
          { ":17: repeats are nested more than 16 deep", "fewer" } },
        { "b\x1b[31m\xff", { ":1: unknown statement \"b [31m\xef\xbf\xbd\"", "write one of" } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct facts facts = { 0 };

        assert_int_equal(play(&facts, cases[i].script), LLMPERF_EFORMAT);
        for (int part = 0; part < 2; part++)
            if (!strstr(llmperf_last_error(), cases[i].says[part]))
                fail_msg("%s\nlacks: %s", llmperf_last_error(), cases[i].says[part]);
        clear_facts(&facts);
    }
}

static void a_zero_byte_is_refused(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play_bytes(&facts, "wait 1\nwa\0it 1\n", 15, true), LLMPERF_EFORMAT);
    assert_non_null(strstr(llmperf_last_error(), ":2: the file contains a zero byte"));
    clear_facts(&facts);
}

static void a_missing_script_is_told(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play_file(&facts, "/no/such/script", true), LLMPERF_ENOENT);
    clear_facts(&facts);
}

static void an_empty_script_is_over_at_once(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, ""), 0);
    assert_int_equal(play(&facts, "# nothing\r\n\r\n"), 0);
    assert_int_equal(facts.calls, 2);
    assert_int_equal(facts.calls_back, 0);
    clear_facts(&facts);
}

static void regions_and_counts_reach_the_sink(void **state)
{
    struct facts facts = { 0 };
    uint32_t top = lp_path_intern(LP_PATH_ROOT, "fake top"), inner = lp_path_intern(top, "in");
    const struct lp_record expected[] = {
        { 1000000, 0, top, LP_RECORD_REGION_BEGIN, 0 },
        { 1000000, 5, top, LP_RECORD_COUNT, LLMPERF_QUANTITY_TOKENS },
        { 1000000, 9, top, LP_RECORD_COUNT, LLMPERF_QUANTITY_CONTEXT },
        { 1001000, 0, inner, LP_RECORD_REGION_BEGIN, 0 },
        { 1002000, 77, inner, LP_RECORD_COUNT, LLMPERF_QUANTITY_BYTES },
        { 1003500, 0, inner, LP_RECORD_REGION_END, 0 },
        { 2000000, 0, top, LP_RECORD_REGION_END, 0 },
        { 2001000, 0, LP_PATH_ROOT, LP_RECORD_UNBALANCED, 0 },
        { 2002000, 0, LP_PATH_ROOT, LP_RECORD_THREAD_EXIT, 0 },
    };

    (void)state;
    assert_int_equal(
        play(
            &facts,
            "thread 3\nbegin \"fake top\" tokens=5 context=9 kind=stage\nbegin in\ncount bytes 77\n"
            "wait 500\nend\nat 2000000\nend\nend # too many\nexit\n"),
        0);
    assert_int_equal(facts.host.count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < facts.host.count; i++) {
        assert_memory_equal(&facts.host.items[i], &expected[i], sizeof(expected[i]));
        assert_int_equal(facts.host_thread.items[i], 3);
    }
    assert_int_equal(lp_path_kind(top), LLMPERF_REGION_STAGE);
    clear_facts(&facts);
}

static void kernels_wait_for_their_stream(void **state)
{
    struct facts facts = { 0 };
    const struct lp_activity *kernel;

    (void)state;
    assert_int_equal(play(&facts, "launch a duration=5000\nlaunch \"b c\"\nlaunch d stream=8 "
                                  "device=2 context=4 delay=10\n"),
                     0);
    assert_int_equal(facts.activities.count, 3);
    kernel = facts.activities.items;
    assert_int_equal(kernel[0].start_ns, 1002000);
    assert_int_equal(kernel[0].end_ns, 1007000);
    assert_int_equal(kernel[1].start_ns, 1007000);
    assert_int_equal(kernel[1].end_ns, 1008000);
    assert_int_equal(kernel[2].start_ns, 1002010);
    assert_int_equal(kernel[0].stream, 7);
    assert_int_equal(kernel[0].context, 1);
    assert_int_equal(kernel[2].stream, 8);
    assert_int_equal(kernel[2].device, 2);
    assert_int_equal(kernel[2].context, 4);
    assert_string_equal(fact_name(&facts, 1), "b c");
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(kernel[i].kind, LLMPERF_ACTIVITY_KERNEL);
        assert_int_equal(kernel[i].correlation, i + 1);
        assert_int_equal(facts.host.items[i].kind, LP_RECORD_LAUNCH);
        assert_int_equal(facts.host.items[i].detail, LP_LAUNCH_KERNEL);
        assert_int_equal(facts.host.items[i].value, i + 1);
    }
    clear_facts(&facts);
}

static void kernels_of_a_graph_share_a_correlation_id(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "graph a,\"b,c d\",e duration=10\ngraph x graph=9\n"), 0);
    assert_int_equal(facts.host.count, 2);
    assert_int_equal(facts.host.items[0].detail, LP_LAUNCH_GRAPH);
    assert_int_equal(facts.activities.count, 4);
    assert_string_equal(fact_name(&facts, 1), "b,c d");
    for (size_t i = 0; i < 3; i++) {
        const struct lp_activity *kernel = &facts.activities.items[i];

        assert_int_equal(kernel->correlation, 1);
        assert_int_equal(kernel->graph, 1);
        assert_int_equal(kernel->graph_node, (UINT64_C(1) << 32) + i + 1);
        assert_int_equal(kernel->start_ns, 1002000 + 10 * i);
    }
    assert_int_equal(facts.activities.items[3].graph, 9);
    clear_facts(&facts);
}

static void copies_and_sets_come_only_if_wanted(void **state)
{
    static const char script[] = "copy dtoh bytes=64\nset bytes=32\nlaunch a\n";
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, script), 0);
    assert_int_equal(facts.activities.count, 3);
    assert_int_equal(facts.host.items[0].detail, LP_LAUNCH_MEMORY);
    assert_int_equal(facts.activities.items[0].kind, LLMPERF_ACTIVITY_MEMCPY);
    assert_int_equal(facts.activities.items[0].bytes, 64);
    assert_string_equal(fact_name(&facts, 0), "[memcpy DtoH]");
    assert_int_equal(facts.activities.items[1].kind, LLMPERF_ACTIVITY_MEMSET);
    assert_int_equal(facts.activities.items[1].bytes, 32);
    clear_facts(&facts);
    assert_int_equal(play_bytes(&facts, script, strlen(script), false), 0);
    assert_int_equal(facts.host.count, 1);
    assert_int_equal(facts.activities.count, 1);
    clear_facts(&facts);
}

static void a_failed_or_captured_launch_is_taken_back(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "launch_fail a\ncapture b\nlaunch c\n"), 0);
    assert_int_equal(facts.activities.count, 1);
    assert_int_equal(facts.activities.items[0].correlation, 3);
    assert_int_equal(count_host_records(&facts, LP_RECORD_LAUNCH), 3);
    assert_int_equal(count_host_records(&facts, LP_RECORD_LAUNCH_CANCELLED), 2);
    assert_int_equal(facts.host.items[1].value, 1);
    assert_int_equal(facts.host.items[3].value, 2);
    clear_facts(&facts);
}

static void repeats_multiply(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "repeat 30\nrepeat 40\nlaunch a\ndone\nlaunch b\ndone\n"), 0);
    assert_int_equal(facts.activities.count, 30 * 41);
    clear_facts(&facts);
}

static void each_call_delivers_a_bounded_part_host_first(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "repeat 10000\nlaunch a\ndone\n"), 0);
    assert_int_equal(facts.activities.count, 10000);
    assert_in_range(facts.calls, 10, 12); /* launch and done: 1000 rounds a call */
    assert_false(facts.host_after_activities);
    for (size_t i = 0; i < facts.activities.count; i++)
        assert_int_equal(facts.activity_call.items[i], facts.host_call.items[i]);
    clear_facts(&facts);
}

static void faults_change_every_nth_record(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(
        play(&facts, "repeat 9\nlaunch a\ndone\nfault drop every=3\nrepeat 9\nlaunch b\ndone\n"
                     "fault duplicate every=2\nrepeat 4\nlaunch c\ndone\nfault none\nlaunch d\n"),
        0);
    assert_int_equal(facts.activities.count, 9 + 6 + 6 + 1);
    assert_int_equal(facts.activities.items[9].correlation, 10);
    assert_int_equal(facts.activities.items[11].correlation, 13);
    assert_int_equal(facts.activities.items[16].correlation,
                     facts.activities.items[17].correlation);
    assert_int_equal(facts.stats.records_dropped, 0);
    clear_facts(&facts);
}

static void faulty_times_are_as_named(void **state)
{
    struct facts facts = { 0 };
    const struct lp_activity *kernel;

    (void)state;
    assert_int_equal(
        play(&facts,
             "fault zero_time\nlaunch a\nfault no_end\nlaunch a\nfault reversed_time\nlaunch a\n"
             "launch a duration=0\nfault far_future\nlaunch a\n"),
        0);
    kernel = facts.activities.items;
    assert_int_equal(kernel[0].start_ns, 0);
    assert_int_equal(kernel[0].end_ns, 0);
    assert_true(kernel[1].start_ns > 0);
    assert_int_equal(kernel[1].end_ns, 0);
    assert_int_equal(kernel[2].start_ns, kernel[2].end_ns + 1000);
    assert_true(kernel[3].start_ns > kernel[3].end_ns);
    assert_true(kernel[4].start_ns > UINT64_C(300000000000000000));
    clear_facts(&facts);
}

static void a_late_record_comes_last(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(
        play(&facts, "fault late\nlaunch first\nfault none\nrepeat 5000\nlaunch a\ndone\n"), 0);
    assert_int_equal(facts.activities.count, 5001);
    assert_string_equal(fact_name(&facts, 5000), "first");
    assert_int_equal(facts.activities.items[5000].correlation, 1);
    assert_int_equal(facts.activity_call.items[5000], facts.calls);
    clear_facts(&facts);
}

static void a_late_launch_comes_one_call_after_its_record(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "begin a\nfault late_launch every=2\ngraph a,b\nlaunch c\nend\n"),
                     0);
    assert_int_equal(facts.calls, 2);
    assert_int_equal(facts.activities.count, 3);
    assert_int_equal(facts.activity_call.items[2], 1);
    assert_int_equal(facts.host.count, 4);
    assert_int_equal(facts.host.items[1].value, LP_LAUNCH_VALUE(1, 1));
    assert_int_equal(facts.host_call.items[1], 1);
    assert_int_equal(facts.host.items[2].kind, LP_RECORD_LAUNCH);
    assert_int_equal(facts.host.items[2].value, facts.activities.items[2].correlation);
    assert_int_equal(facts.host.items[2].node, facts.host.items[0].node);
    assert_int_equal(facts.host_call.items[2], 2);
    assert_int_equal(facts.host.items[3].kind, LP_RECORD_REGION_END); /* a thread keeps its order */
    clear_facts(&facts);
}

static void an_unknown_correlation_was_never_launched(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(
        play(&facts, "fault unknown_correlation every=2\nrepeat 100\nlaunch a\ndone\n"), 0);
    assert_int_equal(facts.activities.items[0].correlation, 1);
    for (size_t i = 1; i < 100; i += 2)
        assert_true(facts.activities.items[i].correlation > 100);
    clear_facts(&facts);
}

static void reorder_loses_nothing_and_is_the_same_each_time(void **state)
{
    struct facts facts[2] = { { .calls = 0 }, { .calls = 0 } };
    uint64_t sum = 0, moved = 0;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(play(&facts[i], "fault reorder\nrepeat 100\nlaunch a\ndone\n"), 0);
    assert_int_equal(facts[0].activities.count, 100);
    for (size_t i = 0; i < 100; i++) {
        sum += facts[0].activities.items[i].correlation;
        moved += facts[0].activities.items[i].correlation != i + 1;
        assert_int_equal(facts[0].activities.items[i].correlation,
                         facts[1].activities.items[i].correlation);
    }
    assert_int_equal(sum, 5050);
    assert_true(moved > 50);
    clear_facts(&facts[0]);
    clear_facts(&facts[1]);
}

static void what_the_driver_says_is_in_the_stats(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "driver_drop 3\ndriver_drop 4\nincomplete 2\n"), 0);
    assert_int_equal(facts.stats.records_dropped, 7);
    assert_int_equal(facts.stats.records_incomplete, 2);
    assert_false(facts.stats.has_overhead);
    assert_int_equal(play(&facts, "overhead 55\n"), 0);
    assert_int_equal(facts.stats.overhead_ns, 55);
    assert_true(facts.stats.has_overhead);
    clear_facts(&facts);
}

static void the_clock_never_overflows(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(
        play(&facts,
             "repeat 100\nwait 1000000000000000000\nlaunch a duration=1000000000000000000\ndone\n"),
        0);
    for (size_t i = 0; i < 100; i++)
        assert_true(facts.activities.items[i].start_ns <= facts.activities.items[i].end_ns);
    clear_facts(&facts);
}

static void regions_below_the_depth_limit_are_in_the_deepest(void **state)
{
    struct facts facts = { 0 };

    (void)state;
    assert_int_equal(play(&facts, "repeat 130\nbegin a\ndone\nlaunch k\nrepeat 131\nend\ndone\n"),
                     0);
    assert_int_equal(count_host_records(&facts, LP_RECORD_REGION_BEGIN), LLMPERF_REGION_DEPTH);
    assert_int_equal(count_host_records(&facts, LP_RECORD_REGION_END), LLMPERF_REGION_DEPTH);
    assert_int_equal(count_host_records(&facts, LP_RECORD_UNBALANCED), 1);
    assert_int_equal(lp_path_get(facts.host.items[LLMPERF_REGION_DEPTH].node)->depth,
                     LLMPERF_REGION_DEPTH);
    clear_facts(&facts);
}

static void the_example_scripts_play(void **state)
{
    static const struct {
        const char *file;
        size_t kernels;
    } examples[] = {
        { "two_stages", 3 + 3 * 6 }, { "faults", 11 }, { "clean_10000", 10000 }, { "late", 6000 }
    };
    const char *data = getenv("LLMPERF_TEST_DATA");

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct facts facts = { 0 };
        char path[4096];

        snprintf(path, sizeof(path), "%s/fake/%s.txt", data ? data : "tests/data",
                 examples[i].file);
        if (play_file(&facts, path, true) < 0)
            fail_msg("%s", llmperf_last_error());
        assert_int_equal(facts.activities.count, examples[i].kernels);
        clear_facts(&facts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faulty_script_is_refused_with_its_line_and_a_way_out),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(a_missing_script_is_told),
        cmocka_unit_test(an_empty_script_is_over_at_once),
        cmocka_unit_test(regions_and_counts_reach_the_sink),
        cmocka_unit_test(kernels_wait_for_their_stream),
        cmocka_unit_test(kernels_of_a_graph_share_a_correlation_id),
        cmocka_unit_test(copies_and_sets_come_only_if_wanted),
        cmocka_unit_test(a_failed_or_captured_launch_is_taken_back),
        cmocka_unit_test(repeats_multiply),
        cmocka_unit_test(each_call_delivers_a_bounded_part_host_first),
        cmocka_unit_test(faults_change_every_nth_record),
        cmocka_unit_test(faulty_times_are_as_named),
        cmocka_unit_test(a_late_record_comes_last),
        cmocka_unit_test(a_late_launch_comes_one_call_after_its_record),
        cmocka_unit_test(an_unknown_correlation_was_never_launched),
        cmocka_unit_test(reorder_loses_nothing_and_is_the_same_each_time),
        cmocka_unit_test(what_the_driver_says_is_in_the_stats),
        cmocka_unit_test(the_clock_never_overflows),
        cmocka_unit_test(regions_below_the_depth_limit_are_in_the_deepest),
        cmocka_unit_test(the_example_scripts_play),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
