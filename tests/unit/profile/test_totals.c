/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "lib/profile/totals.h"
#include "llmperf/profile.h"
#include "tests/support/play.h"

static struct lp_activity span(uint32_t node, uint64_t start_ns, uint64_t end_ns)
{
    return (struct lp_activity){ .start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .node = node,
                                 .captured = LP_PATH_UNKNOWN,
                                 .kind = LLMPERF_ACTIVITY_KERNEL };
}

static llmperf_profile *freeze(struct lp_totals *totals)
{
    const llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    assert_int_equal(lp_totals_freeze(totals, &ledger, 1, &profile), 0);
    return profile;
}

/* Spans of a parent and of its children, in all orders: the first child changes how a row is kept.
 */
static void busy_time_does_not_depend_on_order(void **state)
{
    uint32_t parent = lp_path_intern(LP_PATH_ROOT, "parent");
    uint32_t child = lp_path_intern(parent, "child"), deep = lp_path_intern(child, "deep");
    const struct lp_activity spans[] = { span(parent, 1000, 1100), span(child, 1050, 1200),
                                         span(deep, 1190, 1300), span(parent, 2000, 2010) };
    struct lp_names names = { 0 };

    (void)state;
    lp_names_intern(&names, "k");
    for (int order = 0; order < 24; order++) {
        struct lp_totals *totals = lp_totals_create(&names);
        int left[] = { 0, 1, 2, 3 };
        llmperf_profile *profile;

        for (int i = 0, rest = order; i < 4; i++) {
            int pick = rest % (4 - i);

            rest /= 4 - i;
            lp_totals_activities(totals, &spans[left[pick]], 1);
            memmove(left + pick, left + pick + 1, (size_t)(3 - pick) * sizeof(left[0]));
        }
        for (int look = 0; look < 2; look++) { /* Freezing changes nothing. */
            profile = freeze(totals);
            check_close(find_region(profile, "LLM@parent", 0).gpu_busy_ms, 310e-6);
            check_close(find_region(profile, "LLM@parent", 0).exclusive_gpu_busy_ms, 110e-6);
            check_close(find_region(profile, "LLM@parent/LLM@child", 0).gpu_busy_ms, 250e-6);
            check_close(find_region(profile, "LLM@parent", 0).kernel_ms, 370e-6);
            assert_false(has_region(profile, ""));
            llmperf_profile_free(profile);
        }
        lp_totals_free(totals);
    }
    lp_names_clear(&names);
}

static void old_intervals_become_a_sum_and_later_ones_are_late(void **state)
{
    const uint64_t count = UINT64_C(2200000), batch = 500;
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "long run");
    struct lp_names names = { 0 };
    struct lp_totals *totals = lp_totals_create(&names);
    struct lp_activity spans[500];
    llmperf_profile *profile;

    (void)state;
    lp_names_intern(&names, "k");
    for (uint64_t i = 0; i < count; i += batch) {
        for (uint64_t k = 0; k < batch; k++)
            spans[k] = span(node, (i + k + 1) * 10, (i + k + 1) * 10 + 5);
        lp_totals_activities(totals, spans, batch);
    }
    assert_true(totals->busy.queues.items[0].log.count < count); /* Memory is bounded. */
    assert_int_equal(lp_totals_late(totals), 0);
    spans[0] = span(node, 1, 8); /* years later */
    lp_totals_activities(totals, spans, 1);
    profile = freeze(totals);
    check_close(find_region(profile, "LLM@long run", 0).gpu_busy_ms, (double)count * 5e-6);
    check_close(find_kernel(profile, "k", "LLM@long run").total_ms, (double)count * 5e-6 + 7e-6);
    assert_int_equal(ledger_of(profile).records_late, 1);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_INCOMPLETE);
    llmperf_profile_free(profile);
    lp_totals_free(totals);
    lp_names_clear(&names);
}

static void kernels_of_unseen_launches_are_in_no_region(void **state)
{
    struct lp_names names = { 0 };
    struct lp_totals *totals = lp_totals_create(&names);
    const struct lp_activity activity = span(LP_PATH_UNKNOWN, 1000, 1500);
    llmperf_profile *profile;

    (void)state;
    lp_names_intern(&names, "k");
    lp_totals_activities(totals, &activity, 1);
    profile = freeze(totals);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS), 0);
    assert_int_equal(find_kernel(profile, "k", NULL).calls, 1);
    llmperf_profile_free(profile);
    lp_totals_free(totals);
    lp_totals_free(NULL);
    lp_names_clear(&names);
}

static llmperf_kernel_shape find_shape(const llmperf_profile *profile, uint64_t grid_x)
{
    llmperf_kernel_shape shape = LLMPERF_KERNEL_SHAPE_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES); i++) {
        assert_int_equal(llmperf_profile_kernel_shape(profile, i, &shape), 0);
        if (shape.grid_x == grid_x)
            return shape;
    }
    fail_msg("no shape with %u blocks", (unsigned)grid_x);
    return shape;
}

static void shapes_past_the_limit_are_one_row_and_none_is_lost(void **state)
{
    const uint32_t shapes = LP_KERNEL_SHAPES + 10, rounds = 3;
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "shapes");
    struct lp_names names = { 0 };
    struct lp_totals *totals = lp_totals_create(&names);
    struct lp_activity activity = span(node, 1000, 1500);
    llmperf_kernel_shape others, first;
    llmperf_profile *profile;

    (void)state;
    lp_names_intern(&names, "k");
    for (uint32_t i = 0; i < rounds * shapes; i++) {
        const struct lp_shape shape = { .grid = { i % shapes + 1, 1, 1 }, .block = { 32, 1, 1 } };

        activity.shape = lp_shapes_intern(&names.shapes, &shape);
        activity.call_ns = i % shapes == 0 ? 640 : 0;
        lp_totals_activities(totals, &activity, 1);
    }
    activity.shape = LP_SHAPE_OTHER; /* the table of shapes was full */
    lp_totals_activities(totals, &activity, 1);
    profile = freeze(totals);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_KERNEL_SHAPES),
                     LP_KERNEL_SHAPES + 1);
    others = find_shape(profile, LLMPERF_UNKNOWN);
    assert_int_equal(others.others, 1);
    assert_int_equal(others.calls, 10 * rounds + 1);
    check_close(others.total_ms, (10 * rounds + 1) * 500e-6);
    assert_true(isnan(others.launch_ms));
    first = find_shape(profile, 1);
    assert_int_equal(first.others, 0);
    assert_int_equal(first.calls, rounds);
    assert_int_equal(first.block_x, 32);
    assert_int_equal(first.timed_launches, rounds);
    check_close(first.launch_ms, rounds * 640e-6);
    assert_int_equal(find_kernel(profile, "k", "LLM@shapes").calls, rounds * shapes + 1);
    llmperf_profile_free(profile);
    lp_totals_free(totals);
    lp_names_clear(&names);
}

static void wall_spread_survives_large_offsets(void **state)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "steady");
    struct lp_names names = { 0 };
    struct lp_totals *totals = lp_totals_create(&names);
    llmperf_region_stats region;
    llmperf_profile *profile;

    (void)state; /* Hours long, a nanosecond apart: a sum of squares would lose it. */
    for (int i = 0; i < 1000; i++)
        lp_totals_region(totals, node, UINT64_C(4000000000000) + (i % 2 ? 1 : 3), false,
                         LP_WINDOW_NOT);
    profile = freeze(totals);
    region = find_region(profile, "LLM@steady", -1);
    check_close(region.wall_mean_ms, 4000000.000002);
    assert_in_range((int)(region.wall_std_ms * 1e9), 999, 1001);
    llmperf_profile_free(profile);
    lp_totals_free(totals);
    lp_names_clear(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_time_does_not_depend_on_order),
        cmocka_unit_test(old_intervals_become_a_sum_and_later_ones_are_late),
        cmocka_unit_test(kernels_of_unseen_launches_are_in_no_region),
        cmocka_unit_test(shapes_past_the_limit_are_one_row_and_none_is_lost),
        cmocka_unit_test(wall_spread_survives_large_offsets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
