/* SPDX-License-Identifier: Apache-2.0 */
/** When CUPTI leaves the process between sampling bursts: at times that the test chooses. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/regions/safepoint.h"
#include "lib/regions/sampler.h"
#include "lib/record/paths.h"
#include "lib/session/session.h"
#include "lib/device/device.h"

#define MS UINT64_C(1000000)

static void collect_nothing(enum lp_collect what)
{
    (void)what;
}

static bool is_so(void)
{
    return true;
}

static int answer; /* of the source that is to leave or to join */

static int leave_or_join(struct lp_device_source *source)
{
    (void)source;
    return answer;
}

static bool may_stop;

static bool is_ready(void)
{
    return may_stop;
}

static const struct lp_device_detach detach = { is_ready, is_so, leave_or_join, leave_or_join };
static const struct lp_device_ops ops = { .live = true,
                                          .collect = collect_nothing,
                                          .detach = &detach };
static struct lp_device_source source = { .ops = &ops };
static struct llmperf_session session;
static uint64_t begin_ns;

static void no_activities(void *context, const struct lp_activity *activities, size_t count)
{
    (void)context;
    (void)activities;
    (void)count;
}

static int begin(void **state)
{
    const struct lp_attribution_sink sink = { .activities = no_activities };

    (void)state;
    may_stop = true;
    answer = 0;
    session = (struct llmperf_session){ .source = &source };
    session.options.tier = LLMPERF_TIER_LIGHT;
    session.options.flags = LLMPERF_SESSION_DETACH;
    session.attribution = lp_attribution_create(&sink);
    session.totals = lp_totals_create(&session.names);
    if (!session.attribution || !session.totals ||
        lp_sampling_init(&session.sampling, "prefill,decode_step", 10) < 0)
        return -1;
    lp_detach_begin(&session);
    begin_ns = lp_clock_now();
    return 0;
}

static int end(void **state)
{
    (void)state;
    lp_detach_end(&session);
    lp_sampling_end(&session, begin_ns);
    lp_sampling_clear(&session.sampling);
    lp_attribution_free(session.attribution);
    lp_totals_free(session.totals);
    lp_names_clear(&session.names);
    return 0;
}

/* All calls of the burst, which bring records. */
static void run_burst(void)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    struct lp_thread *thread = lp_thread_get();
    uint64_t value;

    while (lp_sampler_burst_left() > 0) {
        assert_int_equal(lp_sampler_open(thread, node, &value), LP_BEGIN_NOW);
        lp_sampler_close(thread);
        session.activities += 100;
    }
}

static enum lp_detach_state look(uint64_t ms)
{
    assert_false(lp_detach_look(&session, begin_ns + ms * MS));
    return session.detach.state;
}

static void it_leaves_at_the_next_call_after_a_burst(void **state)
{
    (void)state;
    assert_int_equal(look(100), LP_DETACH_BURST);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_NONE);
    run_burst();
    assert_int_equal(look(200), LP_DETACH_LEAVING);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_REQUESTED);
}

/* A server without a request. */
static void it_waits_for_that_call_as_long_as_it_takes(void **state)
{
    (void)state;
    session.detach.graphs = 10;
    look(100);
    run_burst();
    assert_int_equal(look(3000), LP_DETACH_LEAVING);
    assert_int_equal(look(3600000), LP_DETACH_LEAVING);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_REQUESTED);
}

static void it_stays_while_graphs_are_made_and_for_good_after_a_minute(void **state)
{
    (void)state;
    run_burst();
    for (uint64_t ms = 1000; ms <= 60000; ms += 1000) {
        session.detach.graphs++;
        assert_int_equal(look(ms), LP_DETACH_BURST);
    }
    session.detach.graphs++;
    assert_int_equal(look(61001), LP_DETACH_OFF);
}

static void it_leaves_two_seconds_after_the_last_graph(void **state)
{
    (void)state;
    run_burst();
    session.detach.graphs++;
    assert_int_equal(look(1000), LP_DETACH_BURST);
    assert_int_equal(look(2900), LP_DETACH_BURST);
    assert_int_equal(look(3000), LP_DETACH_LEAVING);
}

/* Five minutes for the first call, half a minute for each further one. */
static void it_stays_if_kernels_run_outside_sampled_regions(void **state)
{
    (void)state;
    session.activities = 5000;
    assert_int_equal(look(299000), LP_DETACH_BURST);
    assert_int_equal(look(301000), LP_DETACH_OFF);
}

static void it_stays_if_calls_cease_and_kernels_do_not(void **state)
{
    (void)state;
    run_burst();
    assert_int_equal(look(1000), LP_DETACH_LEAVING);
    session.activities += 500;
    assert_int_equal(look(100000), LP_DETACH_LEAVING);
    session.activities += 1000;
    assert_int_equal(look(100100), LP_DETACH_OFF);
}

/* The thread that launches: each of these takes the state of the one before, with its name. */

static uint16_t begun; /* how its newest call began */

static void begin_call(void)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    struct lp_thread *thread = lp_thread_get();
    uint64_t value;

    begun = lp_sampler_open(thread, node, &value);
    if (thread->window_depth > 0)
        lp_sampler_close(thread);
}

static void *make_calls(void *unused)
{
    (void)unused;
    do
        begin_call();
    while (lp_sampler_burst_left() > 0);
    return NULL;
}

static pthread_t start_calls(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, make_calls, NULL), 0);
    return thread;
}

static pthread_t stop_thread(void)
{
    pthread_t thread = start_calls();

    while (lp_safepoint_state() != LP_SAFEPOINT_WAITING)
        usleep(100);
    return thread;
}

/* Up to the request. */
static void run_burst_aside(void)
{
    look(100);
    pthread_join(start_calls(), NULL);
    session.activities += 1000;
    assert_int_equal(look(200), LP_DETACH_LEAVING);
}

/* Up to the moment in which CUPTI leaves; the source's answer as given. */
static void leave(int status)
{
    pthread_t thread;

    run_burst_aside();
    thread = stop_thread();
    assert_true(lp_detach_look(&session, begin_ns + 201 * MS));
    answer = status;
    lp_detach_leave(&session);
    pthread_join(thread, NULL);
    assert_int_equal(begun, LP_BEGIN_SKIPPED);
    answer = 0;
}

/* The budget has room for the next burst. */
static void wait_to_join(uint64_t ms)
{
    look(ms);
    session.detach.next_ns = 0;
    session.detach.next_work_ns = 0;
    assert_int_equal(look(ms + 1), LP_DETACH_JOINING);
}

static void it_leaves_and_comes_back_at_the_safepoint(void **state)
{
    pthread_t thread;

    (void)state;
    leave(0);
    assert_int_equal(session.detach.state, LP_DETACH_OUT);
    assert_true(lp_detach_is_out(&session));
    wait_to_join(5000);
    thread = stop_thread();
    assert_int_equal(look(5002), LP_DETACH_BURST);
    pthread_join(thread, NULL);
    assert_int_equal(lp_sampler_burst_left(), 0); /* Its call was the first of the burst. */
    assert_false(lp_detach_is_out(&session));
}

static void it_stays_if_the_source_refuses_to_leave(void **state)
{
    (void)state;
    leave(LLMPERF_ESTATE);
    assert_int_equal(session.detach.state, LP_DETACH_OFF);
}

static void it_tries_again_if_the_source_does_not_come_back(void **state)
{
    pthread_t thread;

    (void)state;
    leave(0);
    wait_to_join(5000);
    answer = LLMPERF_EBUSY;
    thread = stop_thread();
    assert_int_equal(look(5002), LP_DETACH_OUT);
    pthread_join(thread, NULL);
    assert_int_equal(begun, LP_BEGIN_SKIPPED);
    assert_int_equal(look(5003), LP_DETACH_OUT);
}

static void a_pause_takes_the_request_to_join_back(void **state)
{
    (void)state;
    leave(0);
    wait_to_join(5000);
    lp_detach_end(&session);
    assert_int_equal(session.detach.state, LP_DETACH_OUT);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_NONE);
}

static void it_stays_for_now_if_the_thread_could_not_stop(void **state)
{
    (void)state;
    run_burst_aside();
    may_stop = false;
    pthread_join(start_calls(), NULL);
    assert_int_equal(lp_safepoint_state(), LP_SAFEPOINT_MISSED);
    assert_int_equal(look(201), LP_DETACH_BURST);
    assert_int_equal(look(202), LP_DETACH_BURST); /* not at once */
    assert_int_equal(look(302), LP_DETACH_LEAVING);
}

#define PLAYED(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAYED(it_leaves_at_the_next_call_after_a_burst),
        PLAYED(it_waits_for_that_call_as_long_as_it_takes),
        PLAYED(it_stays_while_graphs_are_made_and_for_good_after_a_minute),
        PLAYED(it_leaves_two_seconds_after_the_last_graph),
        PLAYED(it_stays_if_kernels_run_outside_sampled_regions),
        PLAYED(it_stays_if_calls_cease_and_kernels_do_not),
        PLAYED(it_leaves_and_comes_back_at_the_safepoint),
        PLAYED(it_stays_if_the_source_refuses_to_leave),
        PLAYED(it_tries_again_if_the_source_does_not_come_back),
        PLAYED(a_pause_takes_the_request_to_join_back),
        PLAYED(it_stays_for_now_if_the_thread_could_not_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
