/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "lib/regions/threads.h"
#include "lib/regions/capture.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"
#include "lib/device/device.h"

#define RING 1024u /* the smallest */

struct told {
    LP_VECTOR(struct lp_record) records;
    LP_VECTOR(uint32_t) threads;
};

static void take_host(void *context, uint32_t thread, const struct lp_record *records, size_t count)
{
    struct told *told = context;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lp_vector_push(&told->records, records[i]), 0);
        assert_int_equal(lp_vector_push(&told->threads, thread), 0);
    }
}

static struct told drain(void)
{
    struct told told = { .records = { NULL, 0, 0 }, .threads = { NULL, 0, 0 } };
    const struct lp_device_sink sink = { &told, take_host, NULL, NULL, NULL, NULL, NULL };

    lp_capture_drain(&sink);
    return told;
}

static size_t clear(struct told *told)
{
    size_t count = told->records.count;

    lp_vector_clear(&told->records);
    lp_vector_clear(&told->threads);
    return count;
}

static void begin(uint64_t ring_bytes)
{
    struct told told;

    lp_capture_begin(ring_bytes, true);
    told = drain();
    clear(&told);
}

static void count_up(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        llmperf_region_count(LLMPERF_QUANTITY_TOKENS, i);
}

static void a_full_ring_drops_the_newest_and_counts_them(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    llmperf_region_begin("full");
    count_up(1, 3001);
    told = drain();
    assert_int_equal(told.records.count, RING + 1);
    assert_int_equal(told.records.items[0].kind, LP_RECORD_REGION_BEGIN);
    for (uint32_t i = 1; i < RING; i++)
        assert_int_equal(told.records.items[i].value, i);
    assert_int_equal(told.records.items[RING].kind, LP_RECORD_LOST);
    assert_int_equal(told.records.items[RING].value, 3001 - RING);
    clear(&told);
    told = drain();
    assert_int_equal(clear(&told), 0);
    llmperf_region_end(); /* There is room again. */
    told = drain();
    assert_int_equal(told.records.items[0].kind, LP_RECORD_REGION_END);
    assert_int_equal(clear(&told), 1);
    lp_capture_end();
}

static void records_keep_their_order_around_the_end_of_the_ring(void **state)
{
    uint64_t next = 1;

    (void)state;
    begin(1);
    llmperf_region_begin("around");
    for (int round = 0; round < 20; round++) {
        struct told told;

        count_up((uint64_t)round * 700 + 1, (uint64_t)round * 700 + 701);
        told = drain();
        for (size_t i = 0; i < told.records.count; i++)
            if (told.records.items[i].kind == LP_RECORD_COUNT)
                assert_int_equal(told.records.items[i].value, next++);
        clear(&told);
    }
    assert_int_equal(next, 20 * 700 + 1);
    llmperf_region_end();
    lp_capture_end();
}

static void each_epoch_has_rings_of_its_size(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    llmperf_region_begin("sized");
    lp_capture_end();
    begin(UINT64_C(1) << 20);
    count_up(1, 10001);
    told = drain();
    assert_int_equal(told.records.count, 10001); /* and the open region */
    clear(&told);
    lp_capture_end();
    begin(1);
    count_up(1, 10001);
    told = drain();
    assert_int_equal(told.records.count, RING + 1);
    assert_int_equal(told.records.items[RING].value, 10001 - RING);
    clear(&told);
    llmperf_region_end();
    lp_capture_end();
}

static void open_regions_are_told_first(void **state)
{
    struct told told;

    (void)state;
    llmperf_region_begin("outer");
    llmperf_region_begin("inner");
    begin(1);
    count_up(7, 8);
    told = drain();
    assert_int_equal(told.records.count, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(told.records.items[i].kind, LP_RECORD_REGION_BEGIN);
        assert_int_equal(told.records.items[i].detail, 1);
        assert_string_equal(lp_path_get(told.records.items[i].node)->name, i ? "inner" : "outer");
    }
    assert_int_equal(told.records.items[2].node, told.records.items[1].node);
    clear(&told);
    llmperf_region_end();
    llmperf_region_end();
    lp_capture_end();
}

static void between_epochs_nothing_is_kept(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    lp_capture_end();
    llmperf_region_begin("between");
    count_up(1, 100);
    llmperf_region_end();
    llmperf_region_end();
    begin(1);
    told = drain();
    assert_int_equal(clear(&told), 0);
    lp_capture_end();
}

static void what_was_written_can_be_read_after_the_end(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    llmperf_region_begin("ended");
    lp_capture_end();
    llmperf_region_end();
    told = drain();
    assert_int_equal(clear(&told), 1);
}

static atomic_int woken;

static void wake(void)
{
    atomic_fetch_add(&woken, 1);
}

static void a_half_full_ring_wakes_the_collector(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    llmperf_region_begin("woken"); /* joins */
    lp_capture_on_pressure(wake);
    count_up(1, RING / 2 - 8);
    assert_int_equal(atomic_load(&woken), 0);
    count_up(1, 32);
    assert_int_equal(atomic_load(&woken), 1);
    lp_capture_on_pressure(NULL);
    count_up(1, 2 * RING);
    assert_int_equal(atomic_load(&woken), 1);
    told = drain();
    clear(&told);
    llmperf_region_end();
    lp_capture_end();
}

static void *open_and_leave(void *unused)
{
    llmperf_region_begin("left");
    return unused;
}

static void the_state_of_an_ended_thread_is_used_again(void **state)
{
    uint32_t thread = 0;

    (void)state;
    begin(1);
    for (int i = 0; i < 3; i++) {
        struct told told;
        pthread_t running;

        assert_int_equal(pthread_create(&running, NULL, open_and_leave, NULL), 0);
        pthread_join(running, NULL);
        told = drain();
        assert_int_equal(told.records.count, 2);
        assert_int_equal(told.records.items[0].kind, LP_RECORD_REGION_BEGIN);
        assert_int_equal(lp_path_get(told.records.items[0].node)->depth, 1);
        assert_int_equal(told.records.items[1].kind, LP_RECORD_THREAD_EXIT);
        assert_true(i == 0 || told.threads.items[0] == thread);
        thread = told.threads.items[0];
        clear(&told);
    }
    lp_capture_end();
}

/* Two gaps: what was launched in the first is forgotten with the first launch of the second. */
static void launches_that_are_not_kept_are_told_by_their_ids(void **state)
{
    struct told told;

    (void)state;
    begin(1);
    lp_capture_end();
    lp_thread_launch(LP_LAUNCH_KERNEL, 0, 4);
    lp_thread_launch(LP_LAUNCH_KERNEL, 0, 7);
    lp_capture_begin(1, true);
    lp_thread_launch(LP_LAUNCH_KERNEL, 0, 9);
    told = drain();
    assert_int_equal(told.records.count, 2);
    assert_int_equal(told.records.items[0].kind, LP_RECORD_LAUNCH);
    assert_int_equal(told.records.items[1].kind, LP_RECORD_UNCOUNTED);
    assert_int_equal(LP_UNCOUNTED_FIRST(told.records.items[1].value), 4);
    assert_int_equal(LP_UNCOUNTED_LAST(told.records.items[1].value), 7);
    clear(&told);
    told = drain();
    assert_int_equal(clear(&told), 0);
    lp_capture_end();
    lp_thread_launch(LP_LAUNCH_KERNEL, 0, 11);
    told = drain();
    assert_int_equal(told.records.count, 1);
    assert_int_equal(told.records.items[0].value, LP_UNCOUNTED_VALUE(11, 11));
    clear(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_ring_drops_the_newest_and_counts_them),
        cmocka_unit_test(records_keep_their_order_around_the_end_of_the_ring),
        cmocka_unit_test(each_epoch_has_rings_of_its_size),
        cmocka_unit_test(open_regions_are_told_first),
        cmocka_unit_test(between_epochs_nothing_is_kept),
        cmocka_unit_test(what_was_written_can_be_read_after_the_end),
        cmocka_unit_test(a_half_full_ring_wakes_the_collector),
        cmocka_unit_test(the_state_of_an_ended_thread_is_used_again),
        cmocka_unit_test(launches_that_are_not_kept_are_told_by_their_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
