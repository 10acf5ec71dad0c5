/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/attribution/attribution.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"
#include "tests/support/memory.h"

#define WINDOW (32u << 20) /* the most launches that are remembered */

/* What attribution passed on. */
struct found {
    size_t activities, regions, truncated;
    uint64_t wall_ns, quantity;
    struct lp_activity last;
    uint32_t last_region;
    uint64_t in_windows;
};

static void take_region(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                        enum lp_in_window window)
{
    struct found *found = context;

    found->regions += !truncated;
    found->truncated += truncated;
    found->wall_ns += wall_ns;
    found->last_region = node;
    found->in_windows += window != LP_WINDOW_NOT;
}

static void take_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                       enum lp_in_window window)
{
    (void)node;
    (void)window;
    ((struct found *)context)->quantity += quantity * amount;
}

static void take_activities(void *context, const struct lp_activity *activities, size_t count)
{
    struct found *found = context;

    found->activities += count;
    found->last = activities[count - 1];
}

static struct lp_attribution *create(struct found *found)
{
    const struct lp_attribution_sink sink = {
        .context = found, .region = take_region, .count = take_count, .activities = take_activities
    };
    struct lp_attribution *attribution = lp_attribution_create(&sink);

    assert_non_null(attribution);
    return attribution;
}

static void tell(struct lp_attribution *attribution, uint16_t kind, uint16_t detail, uint32_t node,
                 uint64_t value, uint64_t time_ns)
{
    const struct lp_record record = { time_ns, value, node, kind, detail };

    lp_attribution_host(attribution, 0, &record, 1);
}

static void launch(struct lp_attribution *attribution, enum lp_launch_kind kind, uint32_t id)
{
    tell(attribution, LP_RECORD_LAUNCH, (uint16_t)kind, 7, id, 1000);
}

static struct lp_activity kernel(uint32_t id)
{
    return (struct lp_activity){
        .start_ns = 2000, .end_ns = 3000, .correlation = id, .kind = LLMPERF_ACTIVITY_KERNEL
    };
}

static void run(struct lp_attribution *attribution, struct lp_activity activity)
{
    lp_attribution_activities(attribution, &activity, 1);
}

static llmperf_ledger close_books(struct lp_attribution *attribution)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    lp_attribution_settle(attribution, 0, true);
    lp_attribution_ledger(attribution, &ledger);
    lp_attribution_free(attribution);
    return ledger;
}

static void a_record_waits_two_rounds_for_its_launch(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    run(attribution, kernel(1));
    run(attribution, kernel(2));
    lp_attribution_settle(attribution, 0, false);
    assert_int_equal(found.activities, 0);
    launch(attribution, LP_LAUNCH_KERNEL, 1);
    lp_attribution_settle(attribution, 0, false);
    assert_int_equal(found.activities, 2);
    launch(attribution, LP_LAUNCH_KERNEL, 2); /* too late */
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, 1);
    assert_int_equal(ledger.kernels_unattributed, 1);
    assert_int_equal(ledger.launches_missing, 1);
}

static void uncounted(struct lp_attribution *attribution, uint32_t first, uint32_t last)
{
    tell(attribution, LP_RECORD_UNCOUNTED, 0, LP_PATH_ROOT, LP_UNCOUNTED_VALUE(first, last), 1000);
}

/* Stretches of two threads that cross, one that grows, and one around the end of the ids. */
static void records_of_uncounted_launches_stand_beside(void **state)
{
    static const uint32_t beside[] = { 10, 15, 25, 30, 100, 120, UINT32_MAX, 3 };
    static const uint32_t unknown[] = { 9, 31, 99, 121, UINT32_MAX - 3, 4 };
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    uncounted(attribution, 10, 20);
    uncounted(attribution, 15, 30);
    uncounted(attribution, 100, 110);
    uncounted(attribution, 100, 120);
    uncounted(attribution, UINT32_MAX - 2, 3);
    launch(attribution, LP_LAUNCH_KERNEL, 17); /* by another thread */
    run(attribution, kernel(17));
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
        run(attribution, kernel(beside[i]));
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        run(attribution, kernel(unknown[i]));
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, 1);
    assert_int_equal(ledger.kernels_outside_window, sizeof(beside) / sizeof(beside[0]));
    assert_int_equal(ledger.kernels_unattributed, sizeof(unknown) / sizeof(unknown[0]));
}

static void a_record_without_an_id_belongs_to_no_launch(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    run(attribution, kernel(LP_CORRELATION_NONE));
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_unattributed, 1);
    assert_true(found.last.node == LP_PATH_UNKNOWN);
    assert_true(ledger.attributed_gpu_time_share == 0);
}

static void what_kernels_launch_themselves_is_no_duplicate(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    struct lp_activity child = kernel(1);
    llmperf_ledger ledger;

    (void)state;
    child.device_launched = 1;
    launch(attribution, LP_LAUNCH_KERNEL, 1);
    run(attribution, child);
    assert_int_equal(lp_attribution_pending(attribution), 1);
    run(attribution, kernel(1));
    assert_int_equal(lp_attribution_pending(attribution), 0);
    run(attribution, child);
    ledger = close_books(attribution);
    assert_int_equal(ledger.records_duplicate, 0);
    assert_int_equal(ledger.kernels_attributed, 3);
    assert_int_equal(ledger.launches_missing, 0);
}

static void nobody_waits_for_what_has_come_in_any_shape(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    struct lp_activity bad = kernel(1), copy = kernel(4);
    llmperf_ledger ledger;

    (void)state;
    bad.end_ns = 1;
    copy.kind = LLMPERF_ACTIVITY_MEMCPY;
    launch(attribution, LP_LAUNCH_KERNEL, 1);
    launch(attribution, LP_LAUNCH_KERNEL, 2);
    launch(attribution, LP_LAUNCH_GRAPH, 3);
    launch(attribution, LP_LAUNCH_MEMORY, 4);
    launch(attribution, LP_LAUNCH_MEMORY, 5);
    assert_int_equal(lp_attribution_pending(attribution), 3);
    assert_int_equal(lp_attribution_pending_memory(attribution), 2);
    run(attribution, bad);
    run(attribution, bad);
    assert_int_equal(lp_attribution_pending(attribution), 2);
    tell(attribution, LP_RECORD_LAUNCH_CANCELLED, 0, 0, 2, 1000);
    tell(attribution, LP_RECORD_LAUNCH_CANCELLED, 0, 0, 2, 1000); /* once is enough */
    assert_int_equal(lp_attribution_pending(attribution), 1);
    run(attribution, kernel(3));
    run(attribution, kernel(3));
    assert_int_equal(lp_attribution_pending(attribution), 0);
    run(attribution, copy);
    tell(attribution, LP_RECORD_LAUNCH_CANCELLED, 0, 0, 5, 1000);
    assert_int_equal(lp_attribution_pending_memory(attribution), 0);
    ledger = close_books(attribution);
    assert_int_equal(ledger.launches_expected, 1);
    assert_int_equal(ledger.launches_missing, 0);
    assert_int_equal(ledger.records_invalid_time, 2);
    assert_int_equal(ledger.memory_calls, 1);
}

static void a_good_record_after_a_bad_one_still_counts(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    struct lp_activity bad = kernel(1);
    llmperf_ledger ledger;

    (void)state;
    bad.start_ns = 0;
    launch(attribution, LP_LAUNCH_KERNEL, 1);
    run(attribution, bad);
    run(attribution, kernel(1));
    assert_int_equal(lp_attribution_pending(attribution), 0);
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, 1);
    assert_int_equal(ledger.records_duplicate, 0);
    assert_int_equal(ledger.records_incomplete, 1);
}

static void times_that_cannot_be_are_left_out(void **state)
{
    static const struct {
        uint64_t start_ns, end_ns;
        bool valid;
    } times[] = {
        { 1, 1, true },
        { 5, 4, false },
        { 1, 86400000000001, true }, /* a day */
        { 1, 86400000000002, false },
        { 3600000001000, 3600000001001, true }, /* an hour behind the launch */
        { 3600000001001, 3600000001002, false },
        { UINT64_C(1) << 63, UINT64_C(1) << 63, false },
        { UINT64_MAX, UINT64_MAX, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct found found = { 0 };
        struct lp_attribution *attribution = create(&found);
        struct lp_activity activity = kernel(1);

        activity.start_ns = times[i].start_ns;
        activity.end_ns = times[i].end_ns;
        launch(attribution, LP_LAUNCH_KERNEL, 1);
        run(attribution, activity);
        assert_int_equal(found.activities, times[i].valid);
        assert_int_equal(close_books(attribution).records_invalid_time, !times[i].valid);
    }
}

static void without_host_records_any_time_of_a_clock_is_fine(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    struct lp_activity activity = kernel(1);

    (void)state;
    activity.start_ns = UINT64_C(1) << 61;
    activity.end_ns = activity.start_ns + 1;
    run(attribution, activity);
    assert_int_equal(close_books(attribution).kernels_unattributed, 1);
}

static void forgotten_launches_are_missing_and_memory_is_bounded(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    launch(attribution, LP_LAUNCH_KERNEL, 1);
    launch(attribution, LP_LAUNCH_KERNEL, 2);
    run(attribution, kernel(2));
    launch(attribution, LP_LAUNCH_KERNEL, 1 + WINDOW);
    assert_int_equal(lp_attribution_pending(attribution), 1);
    run(attribution, kernel(1)); /* nobody knows it any more */
    run(attribution, kernel(1 + WINDOW));
    launch(attribution, LP_LAUNCH_KERNEL, UINT32_MAX);
    run(attribution, kernel(UINT32_MAX));
    ledger = close_books(attribution);
    assert_int_equal(ledger.launches_missing, 1);
    assert_int_equal(ledger.kernels_unattributed, 1);
    assert_int_equal(ledger.kernels_attributed, 3);
}

/* A collector that falls behind sees millions of launches before the first of their records. */
static void a_backlog_of_launches_is_not_forgotten(void **state)
{
    const uint32_t backlog = 3000000;
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    for (uint32_t id = 1; id <= backlog; id++)
        launch(attribution, LP_LAUNCH_KERNEL, id);
    lp_attribution_settle(attribution, 0, false);
    for (uint32_t id = 1; id <= backlog; id++)
        run(attribution, kernel(id));
    lp_attribution_settle(attribution, 0, false);
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, backlog);
    assert_int_equal(ledger.kernels_unattributed, 0);
    assert_int_equal(ledger.launches_missing, 0);
}

static void launch_at(struct lp_attribution *attribution, enum lp_launch_kind kind, uint32_t id,
                      uint64_t time_ns)
{
    tell(attribution, LP_RECORD_LAUNCH, (uint16_t)kind, 7, id, time_ns);
}

static struct lp_activity kernel_at(uint32_t id, uint64_t time_ns)
{
    struct lp_activity activity = kernel(id);

    activity.start_ns = time_ns;
    activity.end_ns = time_ns + 500;
    return activity;
}

/* A server that launches ten times a second, for 20 hours; a graph waits for 15 minutes before it
 * runs. */
static void launches_of_a_quiet_server_are_forgotten(void **state)
{
    const uint64_t apart_ns = UINT64_C(100000000);
    const uint32_t graph = 5000, wait = 9000, count = 20 * 36000;
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    uint64_t now_ns = 1000;
    size_t before = 0;
    llmperf_ledger ledger;

    (void)state;
    for (uint32_t id = 1; id <= count; id++, now_ns += apart_ns) {
        launch_at(attribution, id == graph ? LP_LAUNCH_GRAPH : LP_LAUNCH_KERNEL, id, now_ns);
        if (id != graph)
            run(attribution, kernel_at(id, now_ns));
        if (id == graph + wait)
            run(attribution, kernel_at(graph, now_ns));
        if (id % 100 == 0)
            lp_attribution_settle(attribution, now_ns, false);
        before = id == count / 4 ? allocated_bytes() : before;
    }
    assert_in_range(allocated_bytes(), 0, before + 131072);
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, count);
    assert_int_equal(ledger.launches_missing, 0);
}

static void intervals_of_uncounted_launches_are_bounded(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    size_t before = 0;
    llmperf_ledger ledger;

    (void)state;
    for (uint32_t pause = 1; pause <= 40000; pause++) {
        uncounted(attribution, pause * 100, pause * 100 + 10);
        before = pause == 10000 ? allocated_bytes() : before;
    }
    assert_in_range(allocated_bytes(), 0, before + 1024);
    run(attribution, kernel(40000 * 100 + 5));
    run(attribution, kernel(39000 * 100 + 5));
    run(attribution, kernel(39000 * 100 + 50));
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_outside_window, 2);
    assert_int_equal(ledger.kernels_unattributed, 1);
}

static void one_launch_for_several_devices_brings_a_record_each(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    launch(attribution, LP_LAUNCH_KERNEL_MULTI, 1);
    for (uint16_t device = 0; device < 300; device++) {
        struct lp_activity activity = kernel(1);

        activity.device = device;
        run(attribution, activity);
    }
    ledger = close_books(attribution);
    assert_int_equal(ledger.kernels_attributed, 300);
    assert_int_equal(ledger.records_duplicate, 0);
}

static void regions_of_a_triggered_window_are_told_apart(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);

    (void)state;
    tell(attribution, LP_RECORD_REGION_BEGIN, LP_BEGIN_SKIPPED, 5, 0, 1000); /* around it */
    tell(attribution, LP_RECORD_REGION_BEGIN, LP_BEGIN_TRIGGERED, 6, 3, 1100);
    tell(attribution, LP_RECORD_REGION_BEGIN, LP_BEGIN_NOW, 7, 0, 1200);
    tell(attribution, LP_RECORD_REGION_END, 0, 7, 0, 1300);
    tell(attribution, LP_RECORD_REGION_END, 0, 6, 0, 1400);
    assert_int_equal(found.regions, 2);
    assert_int_equal(found.in_windows, 2);
    tell(attribution, LP_RECORD_REGION_BEGIN, LP_BEGIN_LEFT_OUT, 6, 3, 1500);
    tell(attribution, LP_RECORD_REGION_END, 0, 6, 0, 1600);
    assert_int_equal(found.in_windows, 3);
    tell(attribution, LP_RECORD_REGION_BEGIN, LP_BEGIN_SKIPPED, 6, 0, 1700);
    tell(attribution, LP_RECORD_REGION_END, 0, 6, 0, 1800);
    tell(attribution, LP_RECORD_REGION_END, 0, 5, 0, 1900);
    assert_int_equal(found.regions, 5);
    assert_int_equal(found.in_windows, 3);
    close_books(attribution);
}

static void a_lost_end_cuts_its_region_only(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    tell(attribution, LP_RECORD_REGION_BEGIN, 0, 5, 0, 1000);
    tell(attribution, LP_RECORD_REGION_BEGIN, 0, 6, 0, 1100);
    tell(attribution, LP_RECORD_LOST, 0, 0, 1, 1200);
    tell(attribution, LP_RECORD_REGION_END, 0, 5, 0, 1300);
    assert_int_equal(found.regions, 1);
    assert_int_equal(found.wall_ns, 300);
    assert_int_equal(found.last_region, 5);
    assert_int_equal(found.truncated, 1);
    tell(attribution, LP_RECORD_REGION_END, 0, 6, 0, 1400); /* its begin was lost */
    tell(attribution, LP_RECORD_REGION_BEGIN, 0, 5, 0, 2000);
    tell(attribution, LP_RECORD_REGION_END, 0, 5, 0, 1999); /* a clock that went back */
    tell(attribution, LP_RECORD_REGION_BEGIN, 1, 5, 0, 3000);
    tell(attribution, LP_RECORD_REGION_END, 0, 5, 0, 3001);
    tell(attribution, LP_RECORD_COUNT, 2, 5, 21, 3001);
    assert_int_equal(found.regions, 1);
    assert_int_equal(found.truncated, 4);
    assert_int_equal(found.quantity, 42);
    ledger = close_books(attribution);
    assert_int_equal(ledger.regions_dropped, 1);
    assert_int_equal(ledger.regions_truncated, 4);
}

static void clocks_may_differ_by_a_millisecond(void **state)
{
    const uint64_t called_ns = 50000000;
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);

    (void)state;
    launch_at(attribution, LP_LAUNCH_KERNEL, 1, called_ns);
    run(attribution, kernel_at(1, called_ns - 500000));
    launch_at(attribution, LP_LAUNCH_KERNEL, 2, called_ns);
    run(attribution, kernel_at(2, called_ns - 2000000));
    assert_int_equal(close_books(attribution).records_before_launch, 1);
}

static void run_nodes(struct lp_attribution *attribution, uint32_t id, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct lp_activity node = kernel(id);

        node.graph = 5;
        node.graph_node = UINT64_C(5) << 32 | (i + 1);
        run(attribution, node);
    }
}

/* The count of a launch's records ends there: above it nobody knows how many there should be. */
static void launches_of_graphs_may_bring_over_65535_records(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);
    llmperf_ledger ledger;

    (void)state;
    for (uint32_t id = 1; id <= 2; id++)
        tell(attribution, LP_RECORD_LAUNCH, LP_LAUNCH_GRAPH, 7, UINT64_C(5) << 32 | id, 1000);
    run_nodes(attribution, 1, 70000);
    assert_int_equal(lp_attribution_pending(attribution), 1);
    run_nodes(attribution, 2, 30000);
    assert_int_equal(lp_attribution_pending(attribution), 0);
    ledger = close_books(attribution);
    assert_int_equal(ledger.graph_kernels_seen, 100000);
    assert_int_equal(ledger.graph_records_missing, 0);
}

static void launches_of_graphs_that_bring_fewer_records_lack_some(void **state)
{
    struct found found = { 0 };
    struct lp_attribution *attribution = create(&found);

    (void)state;
    for (uint32_t id = 1; id <= 2; id++)
        tell(attribution, LP_RECORD_LAUNCH, LP_LAUNCH_GRAPH, 7, UINT64_C(5) << 32 | id, 1000);
    run_nodes(attribution, 1, 100);
    run_nodes(attribution, 2, 97);
    assert_int_equal(close_books(attribution).graph_records_missing, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_may_differ_by_a_millisecond),
        cmocka_unit_test(launches_of_graphs_may_bring_over_65535_records),
        cmocka_unit_test(launches_of_graphs_that_bring_fewer_records_lack_some),
        cmocka_unit_test(a_record_waits_two_rounds_for_its_launch),
        cmocka_unit_test(records_of_uncounted_launches_stand_beside),
        cmocka_unit_test(a_record_without_an_id_belongs_to_no_launch),
        cmocka_unit_test(what_kernels_launch_themselves_is_no_duplicate),
        cmocka_unit_test(nobody_waits_for_what_has_come_in_any_shape),
        cmocka_unit_test(a_good_record_after_a_bad_one_still_counts),
        cmocka_unit_test(times_that_cannot_be_are_left_out),
        cmocka_unit_test(without_host_records_any_time_of_a_clock_is_fine),
        cmocka_unit_test(forgotten_launches_are_missing_and_memory_is_bounded),
        cmocka_unit_test(a_backlog_of_launches_is_not_forgotten),
        cmocka_unit_test(launches_of_a_quiet_server_are_forgotten),
        cmocka_unit_test(intervals_of_uncounted_launches_are_bounded),
        cmocka_unit_test(one_launch_for_several_devices_brings_a_record_each),
        cmocka_unit_test(regions_of_a_triggered_window_are_told_apart),
        cmocka_unit_test(a_lost_end_cuts_its_region_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
