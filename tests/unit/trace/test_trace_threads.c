/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer of traces is given of one thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/record/names.h"
#include "lib/record/paths.h"
#include "lib/trace/trace.h"

static uint64_t begun_ns, launched_ns, ended_ns;

static void begin(struct lp_trace_writer *writer, const struct lp_trace_facts *facts)
{
    (void)writer, (void)facts;
}

static void take_begin(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    (void)writer;
    begun_ns = region->begin_ns;
}

static void take_end(struct lp_trace_writer *writer, const struct lp_trace_region *region)
{
    (void)writer;
    ended_ns = region->end_ns;
}

static void take_launch(struct lp_trace_writer *writer, const struct lp_trace_launch *launch)
{
    (void)writer;
    launched_ns = launch->time_ns;
}

static const struct lp_trace_writer_ops ops = {
    .begin = begin, .region_begin = take_begin, .region_end = take_end, .launch = take_launch
};

/* A begin at 2000 ns, a launch and an end at these times. */
static void write_thread(uint64_t launch_ns, uint64_t end_ns)
{
    const struct lp_record launch = { launch_ns, 1, LP_PATH_ROOT, LP_RECORD_LAUNCH,
                                      LP_LAUNCH_KERNEL };
    llmperf_trace_summary summary = LLMPERF_TRACE_SUMMARY_INIT;
    struct lp_trace_writer writer = { &ops };
    struct lp_names names = { 0 };
    const struct lp_trace_facts facts = { .names = &names, .title = "" };
    struct lp_trace *trace = lp_trace_create(&writer, &facts);
    struct lp_attribution_sink sink;
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "step");

    assert_non_null(trace);
    sink = lp_trace_sink(trace);
    sink.spans.begin(sink.context, 0, node, 2000, false);
    lp_trace_host(trace, 0, &launch);
    sink.spans.end(sink.context, 0, node, 2000, end_ns, false);
    assert_int_equal(lp_trace_end(trace, &summary), 0);
    lp_trace_free(trace);
}

static void events_of_a_thread_keep_their_times_and_their_order(void **state)
{
    (void)state;
    write_thread(2500, 3000);
    assert_int_equal(begun_ns, 2000);
    assert_int_equal(launched_ns, 2500);
    assert_int_equal(ended_ns, 3000);
    /* A clock may go back by a little: nothing is written before what it came after. */
    write_thread(1990, 1995);
    assert_int_equal(begun_ns, 2000);
    assert_int_equal(launched_ns, 2000);
    assert_int_equal(ended_ns, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_a_thread_keep_their_times_and_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
