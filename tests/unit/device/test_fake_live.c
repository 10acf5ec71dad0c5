/* SPDX-License-Identifier: Apache-2.0 */
/* The fake device that a program launches on, from several threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/regions/capture.h"
#include "lib/sources/fake/fake.h"
#include "llmperf/region.h"
#include "tests/support/facts.h"
#include "lib/device/device.h"

#define LIVE_THREADS  4
#define LIVE_LAUNCHES 5000

static void *launch_many(void *stream)
{
    for (int i = 0; i < LIVE_LAUNCHES; i++) {
        llmperf_region_begin("LLM@decode_step");
        lp_fake_launch(i % 2 ? "odd" : "even", *(uint32_t *)stream, 100);
        llmperf_region_end();
    }
    return NULL;
}

static struct lp_device_source *open_live(struct facts *facts, uint64_t pool_bytes)
{
    struct lp_device_options options = { .pool_bytes = pool_bytes,
                                         .memory_activities = true,
                                         .names = &facts->names };
    struct lp_device_source *source = NULL;

    assert_int_equal(lp_device_open_fake(&options, &source), 0);
    assert_true(source->ops->live);
    lp_capture_begin(UINT64_C(1) << 22, true);
    assert_int_equal(source->ops->start(source), 0);
    return source;
}

/* What the collector does in each round. */
static void collect(struct lp_device_source *source, struct facts *facts, bool force)
{
    struct lp_device_sink sink = { facts, take_fact_host, take_fact_activities, NULL, NULL, NULL,
                                   NULL };

    facts->calls++;
    source->ops->flush(source, force);
    source->ops->take(source);
    lp_capture_drain(&sink);
    assert_int_equal(source->ops->deliver(source, &sink), 0);
}

static void close_live(struct lp_device_source *source, struct facts *facts)
{
    source->ops->pause(source);
    collect(source, facts, true);
    lp_capture_end();
    source->ops->stats(source, &facts->stats);
    source->ops->close(source);
}

/* Each id once, and its launch in the same call or an earlier one. */
static void check_live(const struct facts *facts)
{
    uint32_t most = 0, *call;

    for (size_t i = 0; i < facts->host.count; i++)
        if (facts->host.items[i].kind == LP_RECORD_LAUNCH && facts->host.items[i].value > most)
            most = (uint32_t)facts->host.items[i].value;
    call = calloc(most + 1u, sizeof(*call));
    assert_non_null(call);
    for (size_t i = 0; i < facts->host.count; i++)
        if (facts->host.items[i].kind == LP_RECORD_LAUNCH)
            call[facts->host.items[i].value] = facts->host_call.items[i];
    for (size_t i = 0; i < facts->activities.count; i++) {
        const struct lp_activity *activity = &facts->activities.items[i];

        assert_in_range(activity->correlation, 1, most);
        assert_in_range(call[activity->correlation], 1, facts->activity_call.items[i]);
        assert_int_equal(activity->end_ns, activity->start_ns + 100);
        assert_int_equal(activity->context, 1);
        call[activity->correlation] = 0;
    }
    free(call);
}

static void live_launches_of_many_threads_all_arrive(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) { /* twice: threads and buffers are used again */
        struct facts facts = { 0 };
        struct lp_device_source *source = open_live(&facts, 64 << 20);
        pthread_t threads[LIVE_THREADS];
        uint32_t streams[LIVE_THREADS];

        for (uint32_t i = 0; i < LIVE_THREADS; i++) {
            streams[i] = i;
            assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &streams[i]), 0);
        }
        for (int i = 0; i < 20; i++)
            collect(source, &facts, false);
        for (uint32_t i = 0; i < LIVE_THREADS; i++)
            pthread_join(threads[i], NULL);
        close_live(source, &facts);
        assert_int_equal(facts.stats.records_dropped, 0);
        assert_int_equal(facts.activities.count, LIVE_THREADS * LIVE_LAUNCHES);
        assert_int_equal(facts.names.texts.count, 2);
        check_live(&facts);
        clear_facts(&facts);
    }
}

static void live_kernels_of_a_stream_do_not_overlap(void **state)
{
    struct facts facts = { 0 };
    struct lp_device_source *source = open_live(&facts, 1 << 20);
    uint64_t before_ns = lp_clock_now();

    (void)state;
    for (int i = 0; i < 10; i++)
        lp_fake_launch("long", 99, 1000000);
    close_live(source, &facts);
    assert_int_equal(facts.activities.count, 10);
    assert_true(facts.activities.items[0].start_ns >= before_ns);
    for (size_t i = 1; i < 10; i++)
        assert_true(facts.activities.items[i].start_ns >= facts.activities.items[i - 1].end_ns);
    clear_facts(&facts);
}

static void a_full_pool_drops_and_counts(void **state)
{
    struct facts facts = { 0 };
    struct lp_device_source *source =
        open_live(&facts, 1); /* The pool is at its limit after the tests before. */
    const int launches = 400000;

    (void)state;
    for (int i = 0; i < launches; i++)
        lp_fake_launch("a", 5, 100);
    close_live(source, &facts);
    assert_true(facts.stats.records_dropped > 0);
    assert_int_equal(facts.activities.count + facts.stats.records_dropped, launches);
    clear_facts(&facts);
}

static void a_paused_device_launches_nothing(void **state)
{
    struct facts facts = { 0 };
    struct lp_device_source *source = open_live(&facts, 1 << 20);

    (void)state;
    lp_fake_launch("a", 1, 100);
    source->ops->pause(source);
    lp_fake_launch("b", 1, 100);
    assert_int_equal(source->ops->start(source), 0);
    lp_fake_launch("c", 1, 100);
    close_live(source, &facts);
    lp_fake_launch("d", 1, 100);
    assert_int_equal(facts.activities.count, 2);
    assert_int_equal(count_host_records(&facts, LP_RECORD_LAUNCH), 2);
    assert_string_equal(fact_name(&facts, 1), "c");
    clear_facts(&facts);
}

static void a_kernel_is_reported_when_it_is_over(void **state)
{
    struct facts facts = { 0 };
    struct lp_device_source *source = open_live(&facts, 1 << 20);

    (void)state;
    lp_fake_launch("long", 98, UINT64_C(3600000000000));
    collect(source, &facts, false);
    assert_int_equal(facts.activities.count, 0);
    close_live(source, &facts);
    assert_int_equal(facts.activities.count, 1);
    clear_facts(&facts);
}

static void a_closed_session_leaves_nothing_to_the_next(void **state)
{
    struct facts facts = { 0 };
    struct lp_device_source *source = open_live(&facts, 1 << 20);

    (void)state;
    lp_fake_launch("old", 1, 100);
    source->ops->close(source);
    lp_capture_end();
    source = open_live(&facts, 1 << 20);
    lp_fake_launch("new", 1, 100);
    close_live(source, &facts);
    assert_int_equal(facts.activities.count, 1);
    assert_string_equal(fact_name(&facts, 0), "new");
    clear_facts(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_launches_of_many_threads_all_arrive),
        cmocka_unit_test(live_kernels_of_a_stream_do_not_overlap),
        cmocka_unit_test(a_full_pool_drops_and_counts),
        cmocka_unit_test(a_paused_device_launches_nothing),
        cmocka_unit_test(a_kernel_is_reported_when_it_is_over),
        cmocka_unit_test(a_closed_session_leaves_nothing_to_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
