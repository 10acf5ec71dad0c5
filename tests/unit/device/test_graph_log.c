/* SPDX-License-Identifier: Apache-2.0 */
/* The log of graph events: in order, for every session, and no longer than it matters. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/vector.h"
#include "lib/device/graph_log.h"
#include "llmperf/api.h"
#include "tests/support/play.h"

struct told {
    LP_VECTOR(struct lp_graph_event) events;
};

static void take(void *context, const struct lp_graph_event *events, size_t count)
{
    struct told *told = context;

    for (size_t i = 0; i < count; i++)
        assert_int_equal(lp_vector_push(&told->events, events[i]), 0);
}

static void drain(struct told *told)
{
    const struct lp_device_sink sink = { told, NULL, NULL, take, NULL, NULL, NULL };

    told->events.count = 0;
    lp_graph_log_drain(&sink);
}

static void add(uint32_t kind, uint64_t node, uint64_t origin)
{
    const struct lp_graph_event event = { node, origin, 0, 0, kind, 0 };

    lp_graph_log_add(&event);
}

/* Capture `nodes` into a graph, instantiate it as graph + 1. */
static void capture(uint32_t graph, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++)
        add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(graph, i), 0);
    for (uint32_t i = 0; i < nodes; i++) {
        add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(graph + 1, i), 0);
        add(LP_GRAPH_NODE_CLONED, LP_GRAPH_NODE(graph + 1, i), LP_GRAPH_NODE(graph, i));
    }
    add(LP_GRAPH_INSTANTIATED, LP_GRAPH_NODE(graph + 1, 0), LP_GRAPH_NODE(graph, 0));
}

static int forget(void **state)
{
    (void)state;
    lp_graph_log_end();
    lp_graph_log_forget();
    return 0;
}

static void events_come_in_order_and_once(void **state)
{
    struct told told = { { NULL, 0, 0 } };

    (void)state;
    lp_graph_log_begin();
    capture(1, 2);
    drain(&told);
    assert_int_equal(told.events.count, 5);
    assert_int_equal(told.events.items[0].node, LP_GRAPH_NODE(1, 0));
    assert_int_equal(told.events.items[4].kind, LP_GRAPH_INSTANTIATED);
    drain(&told);
    assert_int_equal(told.events.count, 0);
    add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(1, 0), 0);
    drain(&told);
    assert_int_equal(told.events.count, 1);
    lp_vector_clear(&told.events);
}

static void a_clone_is_told_once(void **state)
{
    struct told told = { { NULL, 0, 0 } };

    (void)state;
    lp_graph_log_begin();
    capture(1, 3);
    drain(&told);
    for (size_t i = 3; i < 6; i++)
        assert_int_equal(told.events.items[i].kind, LP_GRAPH_NODE_CLONED);
    lp_vector_clear(&told.events);
}

static void a_later_session_learns_what_is_alive(void **state)
{
    struct told told = { { NULL, 0, 0 } };

    (void)state;
    lp_graph_log_begin();
    capture(1, 2);
    drain(&told);
    lp_graph_log_end();
    capture(5, 1);
    lp_graph_log_begin();
    drain(&told);
    assert_int_equal(told.events.count, 5 + 3);
    assert_int_equal(told.events.items[5].node, LP_GRAPH_NODE(5, 0));
    lp_vector_clear(&told.events);
}

/* The graph is gone, but what was instantiated from it still runs. */
static void what_an_executable_graph_comes_from_is_kept(void **state)
{
    struct told told = { { NULL, 0, 0 } };

    (void)state;
    capture(1, 2);
    add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(1, 0), 0);
    lp_graph_log_begin();
    drain(&told);
    assert_int_equal(told.events.count, 5 + 1);
    lp_graph_log_end();
    add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(2, 0), 0);
    lp_graph_log_begin();
    drain(&told);
    assert_int_equal(told.events.count, 0);
    assert_int_equal(lp_graph_log_size(), 0);
    lp_vector_clear(&told.events);
}

static void inlined_graphs_go_with_the_graph_that_took_them_in(void **state)
{
    (void)state;
    add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(1, 0), 0);
    add(LP_GRAPH_NODE_CLONED, LP_GRAPH_NODE(3, 0), LP_GRAPH_NODE(1, 0));
    add(LP_GRAPH_INLINED, LP_GRAPH_NODE(2, 0), LP_GRAPH_NODE(3, 0));
    add(LP_GRAPH_INSTANTIATED, LP_GRAPH_NODE(2, 0), LP_GRAPH_NODE(9, 0));
    add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(1, 0), 0);
    lp_graph_log_begin();
    assert_int_equal(lp_graph_log_size(), 4 + 1);
    lp_graph_log_end();
    add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(2, 0), 0);
    lp_graph_log_begin();
    assert_int_equal(lp_graph_log_size(), 0);
}

/* An engine that captures anew and updates for each token, for ever. */
static void updates_without_end_need_no_more_room(void **state)
{
    struct told told = { { NULL, 0, 0 } };
    size_t most = 0;

    (void)state;
    lp_graph_log_begin();
    capture(1, 50);
    for (uint32_t graph = 10; graph < 10 + (uint32_t)scaled(5000, 500); graph++) {
        for (uint32_t i = 0; i < 50; i++)
            add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(graph, i), 0);
        add(LP_GRAPH_NODE_UPDATED, LP_GRAPH_NODE(2, 7), LP_GRAPH_NODE(graph, 7));
        add(LP_GRAPH_UPDATED, LP_GRAPH_NODE(2, 0), LP_GRAPH_NODE(graph, 0));
        add(LP_GRAPH_DESTROYED, LP_GRAPH_NODE(graph, 0), 0);
        drain(&told);
        most = lp_graph_log_size() > most ? lp_graph_log_size() : most;
    }
    assert_true(most < 5000);
    lp_graph_log_end();
    lp_graph_log_begin();
    drain(&told);
    assert_true(told.events.count < 250);
    assert_int_equal(told.events.items[told.events.count - 2].kind, LP_GRAPH_UPDATED);
    lp_vector_clear(&told.events);
}

static void *write_many(void *graph)
{
    for (uint32_t i = 0; i < 2000; i++)
        add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE((uintptr_t)graph, i), 0);
    return NULL;
}

static void threads_lose_nothing_and_keep_their_order(void **state)
{
    struct told told = { { NULL, 0, 0 } };
    uint32_t next[5] = { 0 };
    pthread_t threads[4];

    (void)state;
    lp_graph_log_begin();
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_many, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    drain(&told);
    assert_int_equal(told.events.count, 8000);
    for (size_t i = 0; i < told.events.count; i++) {
        uint32_t graph = LP_GRAPH_OF(told.events.items[i].node);

        assert_int_equal(LP_GRAPH_INDEX(told.events.items[i].node), next[graph]++);
    }
    lp_vector_clear(&told.events);
}

static void above_the_limit_events_are_counted(void **state)
{
    struct told told = { { NULL, 0, 0 } };

    (void)state;
    for (uint32_t i = 0; i < LP_GRAPH_LOG_LIMIT + 10; i++)
        add(LP_GRAPH_NODE_CREATED, LP_GRAPH_NODE(1, i), 0);
    lp_graph_log_begin();
    drain(&told);
    assert_int_equal(told.events.items[0].kind, LP_GRAPH_LOST);
    assert_int_equal(told.events.items[0].origin, 10);
    assert_int_equal(told.events.count, LP_GRAPH_LOG_LIMIT + 1);
    lp_vector_clear(&told.events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(events_come_in_order_and_once, forget),
        cmocka_unit_test_setup(a_clone_is_told_once, forget),
        cmocka_unit_test_setup(a_later_session_learns_what_is_alive, forget),
        cmocka_unit_test_setup(what_an_executable_graph_comes_from_is_kept, forget),
        cmocka_unit_test_setup(inlined_graphs_go_with_the_graph_that_took_them_in, forget),
        cmocka_unit_test_setup(updates_without_end_need_no_more_room, forget),
        cmocka_unit_test_setup(threads_lose_nothing_and_keep_their_order, forget),
        cmocka_unit_test_setup(above_the_limit_events_are_counted, forget),
    };

    return cmocka_run_group_tests(tests, NULL, forget);
}
