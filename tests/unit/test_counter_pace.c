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

static void what_was_asked_for_is_taken(void **state)
{
    struct lp_counter_pace pace;

    (void)state;
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 70 * US), 70 * US);
    assert_true(pace.asked);
    assert_string_equal(pace.reason, "asked for");
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_COUNTERS, 0), 200 * US);
    assert_false(pace.asked);
    assert_int_equal(lp_counter_pace_begin(&pace, LLMPERF_TIER_LIGHT, 0), 1000 * US);
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
        cmocka_unit_test(what_was_asked_for_is_taken),
        cmocka_unit_test(four_samples_fit_into_a_stretch_of_work),
        cmocka_unit_test(the_collector_bounds_it_in_tier_light_above_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
