/* SPDX-License-Identifier: Apache-2.0 */
/* Requests: limits of the memory, and the order of events of several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/profile/profile.h"
#include "lib/profile/serving/serving.h"
#include "llmperf/request.h"

#define SECOND UINT64_C(1000000000)

static const struct lp_serving_options plain = { 0, 0, 0 };

static void tell(struct lp_serving *serving, uint32_t thread, uint64_t time_ns, uint16_t served,
                 uint64_t request, uint32_t amount)
{
    struct lp_record record = { time_ns, request, amount, LP_RECORD_REQUEST, served };

    lp_serving_host(serving, thread, &record, 1);
}

static llmperf_profile *freeze(struct lp_serving *serving)
{
    llmperf_profile *profile = lp_profile_create();

    lp_serving_settle(serving, UINT64_MAX);
    assert_non_null(profile);
    assert_int_equal(lp_serving_freeze(serving, 1, profile), 0);
    return profile;
}

static llmperf_requests totals_of(struct lp_serving *serving)
{
    llmperf_profile *profile = freeze(serving);
    llmperf_requests requests = LLMPERF_REQUESTS_INIT;

    assert_int_equal(llmperf_profile_requests(profile, &requests), 0);
    llmperf_profile_free(profile);
    return requests;
}

static void requests_above_the_limit_are_counted(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_requests requests;

    (void)state;
    for (uint64_t i = 1; i <= LLMPERF_REQUESTS_OPEN + 10; i++)
        tell(serving, 0, SECOND + i, LP_SERVED_BEGIN, i, 0);
    for (uint64_t i = 1; i <= 5; i++)
        tell(serving, 0, 2 * SECOND + i, LP_SERVED_END, i, 0);
    tell(serving, 0, 3 * SECOND, LP_SERVED_TOKENS, LLMPERF_REQUESTS_OPEN + 1, 1);
    for (uint64_t i = 1; i <= 7; i++)
        tell(serving, 0, 4 * SECOND, LP_SERVED_BEGIN, LLMPERF_REQUESTS_OPEN + 100 + i, 0);
    requests = totals_of(serving);
    assert_int_equal(requests.requests, LLMPERF_REQUESTS_OPEN + 5);
    assert_int_equal(requests.open, LLMPERF_REQUESTS_OPEN);
    assert_int_equal(requests.finished, 5);
    assert_int_equal(requests.over_limit, 10 + 2);
    assert_int_equal(requests.stray_calls, 1);
    lp_serving_free(serving);
}

/* A program that forgets to end requests must not be blind for ever. */
static void silent_requests_make_room_in_a_full_table(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_requests requests;

    (void)state;
    for (uint64_t i = 1; i <= LLMPERF_REQUESTS_OPEN; i++)
        tell(serving, 0, SECOND, LP_SERVED_BEGIN, i, 0);
    tell(serving, 0, 500 * SECOND, LP_SERVED_TOKENS, 9, 1);
    tell(serving, 0, 590 * SECOND, LP_SERVED_BEGIN, 100001, 0);
    tell(serving, 0, 700 * SECOND, LP_SERVED_BEGIN, 100002, 0);
    tell(serving, 0, 701 * SECOND, LP_SERVED_END, 9, 0);
    requests = totals_of(serving);
    assert_int_equal(requests.over_limit, 1);
    assert_int_equal(requests.abandoned, LLMPERF_REQUESTS_OPEN - 1);
    assert_int_equal(requests.open, 1);
    assert_int_equal(requests.finished, 1);
    assert_int_equal(requests.requests, LLMPERF_REQUESTS_OPEN + 1);
    lp_serving_free(serving);
}

static void a_million_requests_need_no_more_slots_than_are_open(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_requests requests;

    (void)state;
    for (uint64_t i = 1; i <= 1000000; i++) {
        tell(serving, 0, SECOND + 3000 * i, LP_SERVED_BEGIN, i, 4);
        tell(serving, 0, SECOND + 3000 * i + 1000, LP_SERVED_FIRST, i, 1);
        tell(serving, 0, SECOND + 3000 * i + 2000, LP_SERVED_END + LLMPERF_FINISH_STOP, i, 0);
    }
    requests = totals_of(serving);
    assert_int_equal(requests.finished, 1000000);
    assert_int_equal(requests.open + requests.over_limit + requests.stray_calls, 0);
    assert_int_equal(requests.prompt_tokens, 4000000);
    lp_serving_free(serving);
}

/* The collector reads one ring after the other: a token may be read before its request. */
static void events_of_threads_count_in_the_order_of_time(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_requests requests;

    (void)state;
    tell(serving, 1, 3 * SECOND, LP_SERVED_TOKENS, 1, 2);
    tell(serving, 1, 5 * SECOND, LP_SERVED_BEGIN, 2, 0);
    tell(serving, 0, 2 * SECOND, LP_SERVED_BEGIN, 1, 8);
    lp_serving_settle(serving, 4 * SECOND);
    tell(serving, 0, 4 * SECOND + 1, LP_SERVED_END, 1, 0);
    requests = totals_of(serving);
    assert_int_equal(requests.stray_calls, 0);
    assert_int_equal(requests.finished, 1);
    assert_int_equal(requests.open, 1);
    assert_int_equal(requests.output_tokens, 2);
    lp_serving_free(serving);
}

/* In a recording nobody says up to when all is there: the newest two seconds wait. */
static void a_recording_holds_back_the_newest_two_seconds(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_profile *profile = lp_profile_create();
    llmperf_requests requests = LLMPERF_REQUESTS_INIT;

    (void)state;
    tell(serving, 0, 10 * SECOND, LP_SERVED_BEGIN, 1, 0);
    tell(serving, 0, 12 * SECOND, LP_SERVED_BEGIN, 2, 0);
    tell(serving, 0, 13 * SECOND, LP_SERVED_BEGIN, 3, 0);
    lp_serving_settle(serving, 0);
    assert_int_equal(lp_serving_freeze(serving, 1, profile), 0);
    assert_int_equal(llmperf_profile_requests(profile, &requests), 0);
    assert_int_equal(requests.requests, 1);
    assert_int_equal(totals_of(serving).requests, 3);
    llmperf_profile_free(profile);
    lp_serving_free(serving);
}

static void an_arrival_is_of_the_request_that_it_names(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    llmperf_profile *profile;
    llmperf_latency queue = LLMPERF_LATENCY_INIT;
    struct lp_record lost = { 3 * SECOND, 2 * SECOND, 1, LP_RECORD_REQUEST, LP_SERVED_ARRIVAL };

    (void)state;
    lp_serving_host(serving, 0, &lost, 1); /* the begin of request 1 was dropped */
    tell(serving, 0, 4 * SECOND, LP_SERVED_BEGIN, 2, 0);
    lost.node = 3;
    lp_serving_host(serving, 0, &lost, 1);
    tell(serving, 0, 5 * SECOND, LP_SERVED_BEGIN, 3, 0);
    profile = freeze(serving);
    assert_int_equal(llmperf_profile_latency(profile, 0, &queue), 0);
    assert_string_equal(queue.quantity, "queue");
    assert_int_equal(queue.count, 1);
    assert_true(queue.mean_ms == 3000);
    llmperf_profile_free(profile);
    lp_serving_free(serving);
}

/* 1000 s in at most 128 intervals; nothing is lost when two become one. */
static void load_over_a_long_time_stays_bounded(void **state)
{
    struct lp_serving *serving = lp_serving_create(&plain);
    uint64_t begun = 0, ended = 0, output = 0;
    llmperf_profile *profile;
    llmperf_load load = LLMPERF_LOAD_INIT;
    size_t count;

    (void)state;
    tell(serving, 0, SECOND, LP_SERVED_BEGIN, 9999, 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        tell(serving, 0, SECOND * (i + 1), LP_SERVED_BEGIN, i, 0);
        tell(serving, 0, SECOND * (i + 1) + 1, LP_SERVED_TOKENS, i, 3);
        tell(serving, 0, SECOND * (i + 1) + 2, LP_SERVED_END, i, 0);
    }
    profile = freeze(serving);
    count = llmperf_profile_count(profile, LLMPERF_ROWS_LOAD);
    assert_in_range(count, 64, 128);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(llmperf_profile_load(profile, i, &load), 0);
        assert_int_equal(load.running_max, 2);
        assert_int_equal(load.batch_max, LLMPERF_UNKNOWN);
        begun += load.begun;
        ended += load.ended;
        output += load.output_tokens;
    }
    assert_int_equal(begun, 1001);
    assert_int_equal(ended, 1000);
    assert_int_equal(output, 3000);
    llmperf_profile_free(profile);
    lp_serving_free(serving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_above_the_limit_are_counted),
        cmocka_unit_test(silent_requests_make_room_in_a_full_table),
        cmocka_unit_test(a_million_requests_need_no_more_slots_than_are_open),
        cmocka_unit_test(events_of_threads_count_in_the_order_of_time),
        cmocka_unit_test(a_recording_holds_back_the_newest_two_seconds),
        cmocka_unit_test(an_arrival_is_of_the_request_that_it_names),
        cmocka_unit_test(load_over_a_long_time_stays_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
