/* SPDX-License-Identifier: Apache-2.0 */
/* How regions become ranges of the profiler and samples facts, over a stand-in for CUPTI. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "llmperf/llmperf.h"
#include "tests/support/counting.h"
#include "lib/counters/counters.h"

static int begin(void **state)
{
    (void)state;
    counting_begin();
    return 0;
}

static void run_region(const char *label, double amount)
{
    llmperf_region_begin(label);
    mock->work(amount);
    llmperf_region_end();
}

static void nested_regions_are_parts_of_those_around_them(void **state)
{
    struct lp_counters *counters = counting_open("light");

    (void)state;
    for (int i = 0; i < 2; i++) {
        llmperf_region_begin("outer");
        mock->work(1);
        run_region("inner", 10);
        mock->work(100);
        llmperf_region_end();
    }
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@outer"), 2);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@outer", 1), 111, 0);
    assert_float_equal(counted_value(LP_COUNTER_OWN, "LLM@outer", 0), 101, 0);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@inner", 0), 10, 0);
    assert_int_equal(counted_facts(LP_COUNTER_SKIP, NULL), 0);
}

static void more_regions_than_one_window_holds_lose_nothing(void **state)
{
    struct lp_counters *counters = counting_open("light");

    (void)state;
    llmperf_region_begin("all");
    for (int i = 0; i < 1000; i++)
        run_region("one", i);
    llmperf_region_end();
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@one"), 1000);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@one", 999), 999, 0);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@all", 0), 999 * 1000 / 2, 0);
}

/* Each costs a millisecond at least, and 1 % of the time is granted. */
static void a_budget_leaves_out_what_it_does_not_cover(void **state)
{
    struct lp_counters *counters;
    size_t one, left_out;

    (void)state;
    mock->set_delay(1000);
    counters = counting_open("light budget=1");
    for (int i = 0; i < 300; i++)
        run_region("one", 7);
    run_region("other", 8);
    assert_string_equal(counting_close(counters), "");
    one = counted_facts(LP_COUNTER_REGION, "LLM@one");
    left_out = counted_facts(LP_COUNTER_SKIP, "LLM@one");
    assert_in_range(one, 1, 100);
    assert_int_equal(one + left_out, 300);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@one", 0), 7, 0);
    assert_string_equal(counted_reason("LLM@one"), "its cost would have exceeded budget=");
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@other"), 1); /* once, in any case */
}

static void only_matching_regions_are_ranges(void **state)
{
    struct lp_counters *counters = counting_open("light include=LLM@b include=LLM@a/LLM@c");

    (void)state;
    run_region("a", 1);
    run_region("b", 2);
    llmperf_region_begin("a");
    run_region("c", 3);
    llmperf_region_end();
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counting_result.count, 2);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@b", 0), 2, 0);
    assert_float_equal(counted_value(LP_COUNTER_REGION, "LLM@c", 0), 3, 0);
}

static void no_matching_region_sets_nothing_up(void **state)
{
    struct lp_counters *counters = counting_open("light include=default@forward");

    (void)state;
    run_region("step", 1);
    assert_non_null(strstr(counting_close(counters), "no region named"));
    assert_int_equal(mock->count("ProfilerInitialize"), 0);
    assert_int_equal(mock->count("RangeProfilerEnable"), 0);
}

static void regions_before_cuda_are_told_and_take_no_room(void **state)
{
    struct lp_counters *counters = counting_open("light");

    (void)state;
    counting_context(NULL);
    for (int i = 0; i < 3000; i++)
        run_region("early", 1);
    counting_context(counters);
    run_region("late", 1);
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_SKIP, "LLM@early"), 3000);
    assert_non_null(strstr(counted_reason("LLM@early"), "no CUDA context"));
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@late"), 1);
}

static void passes_are_the_instances_of_one_region(void **state)
{
    struct lp_counters *counters;

    (void)state;
    mock->set_passes(3);
    counters = counting_open("roofline replay=user");
    for (int i = 0; i < 7; i++)
        run_region("step", 5);
    run_region("other", 1);
    counting_deliver(counters);
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@step"), 2);
    assert_non_null(strstr(counted_reason("LLM@other"), "passes of another region"));
    assert_string_equal(counting_close(counters), "");
    assert_non_null(strstr(counted_reason("LLM@step"), "before all passes"));
}

static void passes_that_differ_are_thrown_away(void **state)
{
    struct lp_counters *counters;

    (void)state;
    mock->set_passes(2);
    counters = counting_open("roofline replay=user");
    run_region("step", 5);
    llmperf_region_begin("step");
    run_region("extra", 1);
    llmperf_region_end();
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_REGION, NULL), 0);
    assert_non_null(strstr(counted_reason("LLM@step"), "did different work"));
}

/* Threads */

struct visitor {
    void *context;
    const char *label;
};

static void *visit(void *given)
{
    const struct visitor *visitor = given;

    counting_context(visitor->context);
    run_region(visitor->label, 1000);
    lp_counters_launch(LP_LAUNCH_KERNEL, "theirs", visitor->context, 1);
    return NULL;
}

static void visit_as(void *context, const char *label)
{
    struct visitor visitor = { context, label };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, visit, &visitor), 0);
    pthread_join(thread, NULL);
}

static int contexts[2];

static void a_second_thread_with_its_own_context_is_told(void **state)
{
    struct lp_counters *counters = counting_open("light");
    struct lp_counters_state now;

    (void)state;
    llmperf_region_begin("mine");
    mock->work(1);
    visit_as(&contexts[1], "theirs");
    llmperf_region_end();
    lp_counters_state(counters, &now);
    assert_int_equal(now.others, 0); /* They are in another context. */
    assert_string_equal(counting_close(counters), "");
    assert_non_null(strstr(counted_reason("LLM@theirs"), "another CUDA context"));
}

static void launches_of_other_threads_are_told(void **state)
{
    struct lp_counters *counters;
    struct lp_counters_state now;

    (void)state;
    counting_context(&contexts[0]);
    counters = counting_open("light");
    llmperf_region_begin("mine");
    visit_as(&contexts[0], "theirs");
    llmperf_region_end();
    lp_counters_launch(LP_LAUNCH_KERNEL, "later", &contexts[0], 2);
    lp_counters_state(counters, &now);
    assert_int_equal(now.others, 1);
    assert_string_equal(counting_close(counters), "");
    assert_non_null(strstr(counted_reason("LLM@theirs"), "another thread was being measured"));
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@mine"), 1);
}

static void work_in_another_context_is_not_counted_as_nothing(void **state)
{
    struct lp_counters *counters;

    (void)state;
    counting_context(&contexts[0]);
    counters = counting_open("light");
    run_region("first", 1);
    counting_context(&contexts[1]);
    run_region("elsewhere", 1);
    counting_context(&contexts[0]);
    llmperf_region_begin("both");
    lp_counters_launch(LP_LAUNCH_KERNEL, "there", &contexts[1], 3);
    llmperf_region_end();
    run_region("last", 1);
    assert_string_equal(counting_close(counters), "");
    assert_non_null(strstr(counted_reason("LLM@elsewhere"), "another CUDA context"));
    assert_non_null(strstr(counted_reason("LLM@both"), "launched work in a CUDA context"));
    assert_int_equal(counted_facts(LP_COUNTER_REGION, NULL), 2);
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@last"), 1);
}

static void a_session_that_gets_its_source_later_counts_from_then_on(void **state)
{
    struct lp_counters *counters = counting_open_early("light");

    (void)state;
    run_region("early", 1);
    lp_counters_attach();
    run_region("step", 1);
    assert_string_equal(counting_close(counters), "");
    lp_counters_attach(); /* Nobody counts: no harm. */
    assert_int_equal(counted_facts(LP_COUNTER_REGION, "LLM@step"), 1);
    assert_int_equal(counted_facts(LP_COUNTER_SKIP, "LLM@early"), 1);
}

static void a_session_without_a_source_says_so(void **state)
{
    struct lp_counters *counters = counting_open_early("light");

    (void)state;
    run_region("step", 1);
    assert_non_null(strstr(counting_close(counters), "device activity is not collected"));
    assert_int_equal(mock->count("ProfilerInitialize"), 0);
}

/* Samples */

static void samples_are_set_up_by_the_collector(void **state)
{
    struct lp_counters *counters = counting_open("pm");

    (void)state;
    llmperf_region_begin("step");
    assert_int_equal(mock->count("PmSamplingEnable"), 0);
    counting_deliver(counters);
    assert_int_equal(mock->count("PmSamplingEnable"), 1);
    assert_int_equal(lp_counters_interval(counters), COUNTING_INTERVAL_NS);
    llmperf_region_end();
    mock->sample(11, 50);
    counting_deliver(counters);
    assert_float_equal(counted_value(LP_COUNTER_SAMPLE, NULL, 0), 50, 0);
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_SAMPLE, NULL), 10); /* The first began before. */
}

/* There are more than one image holds. */
static void no_sample_is_lost_between_two_looks(void **state)
{
    struct lp_counters *counters = counting_open("pm");
    struct lp_counters_state now;

    (void)state;
    llmperf_region_begin("step");
    llmperf_region_end();
    counting_deliver(counters);
    for (int i = 0; i < 20; i++) {
        mock->sample(200, i);
        counting_deliver(counters);
    }
    lp_counters_state(counters, &now);
    assert_int_equal(now.samples_lost, 0);
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_SAMPLE, NULL), 3999);
    for (size_t i = 1; i < counting_result.count; i++)
        assert_int_equal(counting_result.facts[i].start_ns, counting_result.facts[i - 1].end_ns);
}

static void samples_that_are_missing_are_counted(void **state)
{
    struct lp_counters *counters = counting_open("pm");
    struct lp_counters_state now;

    (void)state;
    llmperf_region_begin("step");
    llmperf_region_end();
    counting_deliver(counters);
    mock->sample(100, 50);
    mock->lose(7);
    mock->sample(100, 50);
    counting_deliver(counters);
    lp_counters_state(counters, &now);
    assert_int_equal(now.samples_lost, 7);
    counting_close(counters);
}

static void another_interval_takes_over_between_two_samples(void **state)
{
    struct lp_counters *counters = counting_open("pm");
    size_t plans;

    (void)state;
    llmperf_region_begin("step");
    llmperf_region_end();
    counting_deliver(counters);
    mock->sample(5, 50);
    counting_deliver(counters);
    plans = counting_result.plans;
    assert_int_equal(plans, 1);
    mock->sample(3, 60); /* These are still out when the interval changes. */
    counting_resample(counters, COUNTING_INTERVAL_NS / 2);
    assert_int_equal(mock->interval(), COUNTING_INTERVAL_NS / 2);
    assert_int_equal(lp_counters_interval(counters), COUNTING_INTERVAL_NS / 2);
    assert_int_equal(counting_result.plans, 2);
    assert_int_equal(counting_result.plan.interval_ns, COUNTING_INTERVAL_NS / 2);
    assert_int_equal(counted_facts(LP_COUNTER_SAMPLE, NULL), 7);
    mock->sample(4, 70);
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_SAMPLE, NULL), 10);
    assert_int_equal(counting_result.facts[counting_result.count - 1].end_ns -
                         counting_result.facts[counting_result.count - 1].start_ns,
                     COUNTING_INTERVAL_NS / 2);
}

static void a_pause_takes_no_samples(void **state)
{
    struct lp_counters *counters = counting_open("pm");
    unsigned stops;

    (void)state;
    llmperf_region_begin("step");
    llmperf_region_end();
    counting_deliver(counters);
    stops = mock->count("PmSamplingStop"); /* of warming up */
    lp_counters_pause(counters, true);
    mock->sample(5, 50);
    lp_counters_pause(counters, false);
    mock->sample(3, 50);
    assert_string_equal(counting_close(counters), "");
    assert_int_equal(counted_facts(LP_COUNTER_SAMPLE, NULL), 2);
    assert_int_equal(mock->count("PmSamplingStop"), stops + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nested_regions_are_parts_of_those_around_them, begin),
        cmocka_unit_test_setup(more_regions_than_one_window_holds_lose_nothing, begin),
        cmocka_unit_test_setup(a_budget_leaves_out_what_it_does_not_cover, begin),
        cmocka_unit_test_setup(only_matching_regions_are_ranges, begin),
        cmocka_unit_test_setup(no_matching_region_sets_nothing_up, begin),
        cmocka_unit_test_setup(regions_before_cuda_are_told_and_take_no_room, begin),
        cmocka_unit_test_setup(passes_are_the_instances_of_one_region, begin),
        cmocka_unit_test_setup(passes_that_differ_are_thrown_away, begin),
        cmocka_unit_test_setup(a_second_thread_with_its_own_context_is_told, begin),
        cmocka_unit_test_setup(launches_of_other_threads_are_told, begin),
        cmocka_unit_test_setup(work_in_another_context_is_not_counted_as_nothing, begin),
        cmocka_unit_test_setup(a_session_that_gets_its_source_later_counts_from_then_on, begin),
        cmocka_unit_test_setup(a_session_without_a_source_says_so, begin),
        cmocka_unit_test_setup(samples_are_set_up_by_the_collector, begin),
        cmocka_unit_test_setup(no_sample_is_lost_between_two_looks, begin),
        cmocka_unit_test_setup(samples_that_are_missing_are_counted, begin),
        cmocka_unit_test_setup(another_interval_takes_over_between_two_samples, begin),
        cmocka_unit_test_setup(a_pause_takes_no_samples, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
