/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a graph that end with a later replay are found, in batches of any size; others are
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/trace/export/graph_ends.h"
#include "llmperf/profile.h"

#define NODES    60
#define LAUNCHES 3
#define NODE_NS  5000

static void no_region(void *context, uint32_t node, uint64_t wall_ns, bool truncated,
                      enum lp_in_window window)
{
    (void)context, (void)node, (void)wall_ns, (void)truncated, (void)window;
}

static void no_count(void *context, uint32_t node, uint32_t quantity, uint64_t amount,
                     enum lp_in_window window)
{
    (void)context, (void)node, (void)quantity, (void)amount, (void)window;
}

static void no_activities(void *context, const struct lp_activity *activities, size_t count)
{
    (void)context, (void)activities, (void)count;
}

/* Launches of a chain of nodes; those of an odd number end `late_ns` after they should. */
static void fill(struct lp_activity *activities, uint64_t late_ns)
{
    memset(activities, 0, sizeof(*activities) * LAUNCHES * NODES);
    for (uint32_t i = 0; i < LAUNCHES * NODES; i++) {
        uint32_t launch = i / NODES;

        activities[i].kind = LLMPERF_ACTIVITY_KERNEL;
        activities[i].correlation = 100 + launch;
        activities[i].graph = 5;
        activities[i].graph_node = 1 + i % NODES;
        activities[i].start_ns = 1000000 + i * NODE_NS;
        activities[i].end_ns = activities[i].start_ns + NODE_NS - 1000 + (launch % 2 ? late_ns : 0);
    }
}

static void launch_all(struct lp_attribution *attribution)
{
    struct lp_record records[LAUNCHES];

    for (uint32_t i = 0; i < LAUNCHES; i++)
        records[i] = (struct lp_record){ .time_ns = 1000 + i,
                                         .value = LP_LAUNCH_VALUE(5u, 100 + i),
                                         .kind = LP_RECORD_LAUNCH,
                                         .detail = LP_LAUNCH_GRAPH };
    lp_attribution_host(attribution, 0, records, LAUNCHES);
}

/* Records found among `all`, handed over `batch` at a time. */
static uint64_t found_of(struct lp_activity *all, size_t batch, bool counted)
{
    const struct lp_attribution_sink sink = { .region = no_region,
                                              .count = no_count,
                                              .activities = no_activities };
    struct lp_attribution *attribution = lp_attribution_create(&sink);
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    struct lp_graph_ends ends = { .count = 0 };

    assert_non_null(attribution);
    lp_attribution_sample(attribution);
    if (counted)
        launch_all(attribution);
    for (size_t at = 0; at < LAUNCHES * NODES; at += batch)
        lp_graph_ends_pass(&ends, attribution, all + at,
                           LAUNCHES * NODES - at < batch ? LAUNCHES * NODES - at : batch);
    lp_graph_ends_settle(&ends, attribution);
    lp_attribution_settle(attribution, 0, true);
    lp_attribution_ledger(attribution, &ledger);
    lp_attribution_free(attribution);
    assert_int_equal(ledger.records_invalid_time, ends.records);
    /* What is held is handed on, once. */
    assert_int_equal(ledger.kernels_outside_window + ledger.kernels_seen +
                         ledger.records_invalid_time,
                     LAUNCHES * NODES);
    return ends.records;
}

static uint64_t found(struct lp_activity *all, size_t batch)
{
    return found_of(all, batch, true);
}

static void ends_of_a_later_replay_are_found(void **state)
{
    static const size_t batches[] = { LAUNCHES * NODES, 512, 100, NODES, 61, 63, 9, 8, 7, 3, 1 };
    struct lp_activity all[LAUNCHES * NODES];

    (void)state;
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        fill(all, 40000000);
        assert_int_equal(found(all, batches[i]), NODES);
        fill(all, 0);
        assert_int_equal(found(all, batches[i]), 0);
    }
}

static void launches_that_do_not_count_are_left_alone(void **state)
{
    struct lp_activity all[LAUNCHES * NODES];

    (void)state;
    fill(all, 40000000);
    assert_int_equal(found_of(all, 100, false), 0);
}

static void branches_that_run_at_once_are_right(void **state)
{
    struct lp_activity all[LAUNCHES * NODES];

    (void)state;
    fill(all, 0);
    /* Seven nodes of a launch lie over each other, and one node over all others. */
    for (int i = 1; i < LP_GRAPH_ENDS_MIN; i++)
        all[i].end_ns = all[LP_GRAPH_ENDS_MIN].start_ns - 1;
    all[NODES].end_ns = all[2 * NODES - 1].end_ns;
    assert_int_equal(found(all, 100), 0);
}

static void kernels_of_no_graph_are_left_alone(void **state)
{
    struct lp_activity all[LAUNCHES * NODES];

    (void)state;
    fill(all, 40000000);
    for (size_t i = 0; i < LAUNCHES * NODES; i++)
        all[i].graph = 0;
    assert_int_equal(found(all, 100), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_a_later_replay_are_found),
        cmocka_unit_test(launches_that_do_not_count_are_left_alone),
        cmocka_unit_test(branches_that_run_at_once_are_right),
        cmocka_unit_test(kernels_of_no_graph_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
