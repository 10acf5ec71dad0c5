/* SPDX-License-Identifier: Apache-2.0 */
/** How often sampled counters are read, by tier, region and what a sample costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/session/counter_pace.h"
#include "llmperf/session.h"

#define US 1000u

static void a_short_request_waits_until_the_cost_of_a_sample_is_known(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 70 * US), 200 * US);
    assert_string_equal(pace.reason, "requested");
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 500 * US), 500 * US);
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 0), 200 * US);
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_LIGHT, 0), 1000 * US);
}

static void a_request_that_the_machine_sustains_is_taken(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 70 * US);
    assert_int_equal(lp_counter_pace_sustained(&pace, 200 * US, 42.0 * US, 0), 70 * US);
    assert_string_equal(pace.reason, "requested");
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 1500);
    assert_int_equal(lp_counter_pace_sustained(&pace, 200 * US, 0, 0), 1500); /* to the ns */
}

static void a_machine_that_is_too_slow_gets_a_longer_interval_and_it_is_said(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 100 * US);
    assert_int_equal(lp_counter_pace_sustained(&pace, 200 * US, 100.0 * US, 0), 120 * US);
    assert_string_equal(
        pace.reason, "100 us was requested; this machine cannot read samples fast enough for that");
}

static void lost_samples_make_the_interval_longer_and_it_stays_so(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 100 * US);
    assert_int_equal(lp_counter_pace_sustained(&pace, 200 * US, 50.0 * US, 0.005), 100 * US);
    pace.changes = 1;
    assert_int_equal(lp_counter_pace_sustained(&pace, 100 * US, 50.0 * US, 0.006), 125 * US);
    pace.changes = 2;
    assert_int_equal(lp_counter_pace_sustained(&pace, 125 * US, 50.0 * US, 0), 125 * US);
}

static void four_samples_fit_into_a_stretch_of_work(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 0);
    assert_int_equal(lp_counter_pace_fit(&pace, 1200.0 * US, 0), 300 * US);
    assert_int_equal(lp_counter_pace_fit(&pace, 435.0 * US, 0), 100 * US);
    assert_int_equal(lp_counter_pace_fit(&pace, 1e9, 0), 1000 * US);     /* no coarser */
    assert_int_equal(lp_counter_pace_fit(&pace, 20.0 * US, 0), 50 * US); /* no finer */
}

static void the_collector_bounds_it_in_tier_light_above_all(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 0);
    assert_int_equal(lp_counter_pace_fit(&pace, 400.0 * US, 28.0 * US), 100 * US);
    assert_int_equal(lp_counter_pace_fit(&pace, 200.0 * US, 28.0 * US), 60 * US);
    lp_counter_pace_begin(&pace, LLMPERF_TIER_LIGHT, 0);
    assert_int_equal(lp_counter_pace_fit(&pace, 400.0 * US, 28.0 * US), 560 * US);
    assert_int_equal(lp_counter_pace_fit(&pace, 400.0 * US, 400.0 * US), 1000 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_request_waits_until_the_cost_of_a_sample_is_known),
        cmocka_unit_test(a_request_that_the_machine_sustains_is_taken),
        cmocka_unit_test(a_machine_that_is_too_slow_gets_a_longer_interval_and_it_is_said),
        cmocka_unit_test(lost_samples_make_the_interval_longer_and_it_stays_so),
        cmocka_unit_test(four_samples_fit_into_a_stretch_of_work),
        cmocka_unit_test(the_collector_bounds_it_in_tier_light_above_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
