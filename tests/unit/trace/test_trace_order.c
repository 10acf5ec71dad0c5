/* SPDX-License-Identifier: Apache-2.0 */
/** Events put in order, the lanes of a stream, and the writers on facts made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/file.h"
#include "lib/record/paths.h"
#include "lib/trace/lanes.h"
#include "lib/trace/order.h"
#include "llmperf/profile.h"
#include "tests/support/play.h"

#define EVENTS 700000u /* more than are held back */

struct passed {
    uint64_t last_ns, last_of_thread[4];
    size_t count, back;
};

static void take(void *context, const struct lp_trace_event *event)
{
    struct passed *passed = context;

    passed->back += event->time_ns < passed->last_ns;
    passed->last_ns = event->time_ns;
    passed->count++;
    /* Events of one time stay in the order in which they came. */
    assert_true(event->of.count.amount > passed->last_of_thread[event->thread]);
    passed->last_of_thread[event->thread] = event->of.count.amount;
}

static void add(struct lp_trace_order *order, uint64_t time_ns, uint32_t thread, uint64_t number)
{
    struct lp_trace_event event = { .time_ns = time_ns, .thread = thread };

    event.of.count.amount = number;
    lp_trace_order_add(order, &event);
}

/* Threads are drained one after the other, each in its own order. */
static void batches_of_threads_come_out_in_the_order_of_time(void **state)
{
    struct passed passed = { 0 };
    struct lp_trace_order order;
    uint64_t number = 0;

    (void)state;
    assert_int_equal(lp_trace_order_init(&order, &passed, take), 0);
    for (uint64_t batch = 0; number < EVENTS; batch++)
        for (uint32_t thread = 0; thread < 4; thread++)
            for (uint64_t i = 0; i < 1000; i++)
                add(&order, batch * 1000 + i / 2, thread, ++number);
    lp_trace_order_flush(&order);
    assert_int_equal(passed.count, number);
    assert_int_equal(passed.back, 0);
    lp_trace_order_clear(&order);
}

static void an_event_that_comes_too_late_is_passed_on_all_the_same(void **state)
{
    struct passed passed = { 0 };
    struct lp_trace_order order;

    (void)state;
    assert_int_equal(lp_trace_order_init(&order, &passed, take), 0);
    for (uint64_t number = 1; number <= EVENTS; number++)
        add(&order, number == EVENTS ? 5 : 1000 + number, number == EVENTS, number);
    lp_trace_order_flush(&order);
    assert_int_equal(passed.count, EVENTS);
    assert_int_equal(passed.back, 1);
    lp_trace_order_clear(&order);
}

static struct lp_activity activity_of(uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
    return (struct lp_activity){ .start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .context = 1,
                                 .stream = stream,
                                 .kind = LLMPERF_ACTIVITY_KERNEL,
                                 .node = LP_PATH_ROOT,
                                 .captured = LP_PATH_UNKNOWN };
}

static uint32_t lane_of(struct lp_trace_lanes *lanes, uint32_t stream, uint64_t start_ns,
                        uint64_t end_ns)
{
    const struct lp_activity activity = activity_of(stream, start_ns, end_ns);

    return lp_trace_lane(lanes, &activity);
}

static void what_overlaps_on_a_stream_gets_a_lane_of_its_own(void **state)
{
    struct lp_trace_lanes lanes = { { NULL, 0, 0 }, { NULL, 0, 0 } };

    (void)state;
    assert_int_equal(lane_of(&lanes, 7, 10, 20), 0);
    assert_int_equal(lane_of(&lanes, 7, 15, 30), 1);
    assert_int_equal(lane_of(&lanes, 8, 15, 30), 0);
    assert_int_equal(lane_of(&lanes, 7, 16, 18), 2);
    assert_int_equal(lane_of(&lanes, 7, 20, 40), 0);
    assert_int_equal(lane_of(&lanes, 7, 25, 26), 2);
    assert_int_equal(lane_of(&lanes, 7, 40, 41), 0);
    lp_trace_lanes_clear(&lanes);
}

static void a_launch_has_one_arrow(void **state)
{
    struct lp_trace_links links = { { NULL, 0, 0 }, { NULL, 0, 0 } };

    (void)state;
    assert_false(lp_trace_link_take(&links, 5));
    lp_trace_link_open(&links, 5);
    assert_true(lp_trace_link_take(&links, 5));
    assert_false(lp_trace_link_take(&links, 5));
    lp_trace_link_open(&links, 5); /* correlation ids wrap */
    assert_true(lp_trace_link_take(&links, 5));
    for (uint32_t id = 10; id < 400010; id++)
        lp_trace_link_open(&links, id);
    assert_true(lp_trace_link_take(&links, 400009));
    assert_true(lp_trace_link_take(&links, 300010));
    assert_false(lp_trace_link_take(&links, 10)); /* forgotten: memory is bounded */
    lp_trace_links_clear(&links);
}

/* The parts of a trace that no recording of these tests has. */
static char *write_all(uint32_t format, const char *file)
{
    static const struct lp_counter_heading columns[] = { { "dram_read_bytes", "m", "byte", 1 },
                                                         { "busy \"%\"", "m", "%", 2 } };
    const struct lp_counter_plan plan = { "GH100", "p", "pm", "none", 1, 2, 1000, columns, 2 };
    const struct lp_counter_fact fact = { .start_ns = 100,
                                          .end_ns = 200,
                                          .kind = LP_COUNTER_SAMPLE };
    const struct lp_record range = { 900, 500, lp_path_intern(LP_PATH_ROOT, "D@free"),
                                     LP_RECORD_RANGE, 0 };
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    struct lp_names names = { 0 };
    const struct lp_trace_facts facts = { .names = &names, .title = "by hand", .process_id = 77 };
    struct lp_activity graph = activity_of(7, 300, 400);
    struct lp_attribution_sink sink;
    struct lp_trace_writer *writer;
    struct lp_trace *trace;
    char *bytes = NULL;
    size_t size;

    graph.kind = LLMPERF_ACTIVITY_GRAPH;
    graph.name = lp_names_intern(&names, "[graph]");
    graph.graph = 9;
    assert_int_equal(lp_trace_writer_open(format, in_test_folder(file), &writer), 0);
    assert_non_null(trace = lp_trace_create(writer, &facts));
    sink = lp_trace_sink(trace);
    lp_trace_plan(trace, &plan);
    lp_trace_counter(trace, &fact, (const double[]){ 12.5, 99 });
    sink.activities(sink.context, &graph, 1);
    lp_trace_host(trace, 0, &range);
    lp_trace_remark(trace, "something to know");
    assert_int_equal(lp_trace_end(trace, &summary), 0);
    assert_int_equal(writer->ops->finish(writer), 0);
    assert_int_equal(summary.samples, 1);
    assert_int_equal(summary.graphs, 1);
    assert_int_equal(summary.regions, 1);
    assert_int_equal(summary.first_ns, 100);
    assert_int_equal(summary.last_ns, 900);
    lp_trace_free(trace);
    writer->ops->free(writer);
    lp_names_clear(&names);
    assert_int_equal(lp_file_read(in_test_folder(file), &bytes, &size), 0);
    return bytes;
}

static void counters_ranges_graphs_and_remarks_are_written(void **state)
{
    char *json = write_all(LLMPERF_TRACE_CHROME, "hand.json");

    (void)state;
    assert_non_null(strstr(json, "\"dram_read_bytes [byte]\",\"pid\":0,\"tid\":0,\"ts\":0.100,"
                                 "\"args\":{\"value\":12.5"));
    assert_non_null(strstr(json, "\"busy \\\"%\\\" [%]\""));
    assert_non_null(
        strstr(json, "\"D@free\",\"pid\":77,\"tid\":1000000,\"ts\":0.400,\"dur\":0.500"));
    assert_non_null(strstr(json, "\"[graph]\",\"pid\":0,\"tid\":7,\"ts\":0.300,\"dur\":0.100"));
    assert_non_null(strstr(json, "\"something to know\""));
    free(json);
    free(write_all(LLMPERF_TRACE_PERFETTO, "hand.pftrace"));
    free(write_all(LLMPERF_TRACE_NSYS_SQLITE, "hand.sqlite"));
}

static void a_writer_that_is_given_up_leaves_no_file(void **state)
{
    (void)state;
    for (uint32_t format = 1; format <= 3; format++) {
        struct lp_trace_writer *writer;

        assert_int_equal(lp_trace_writer_open(format, in_test_folder("given_up"), &writer), 0);
        writer->ops->free(writer);
        assert_false(lp_path_exists(in_test_folder("given_up")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_of_threads_come_out_in_the_order_of_time),
        cmocka_unit_test(an_event_that_comes_too_late_is_passed_on_all_the_same),
        cmocka_unit_test(what_overlaps_on_a_stream_gets_a_lane_of_its_own),
        cmocka_unit_test(a_launch_has_one_arrow),
        cmocka_unit_test(counters_ranges_graphs_and_remarks_are_written),
        cmocka_unit_test(a_writer_that_is_given_up_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
