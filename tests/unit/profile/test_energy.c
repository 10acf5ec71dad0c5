/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of calls from samples of a counter: interpolation, error bounds, damaged counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/profile/energy/energy.h"
#include "llmperf/profile.h"

#define MS UINT64_C(1000000)

static struct lp_energy energy;

static int start_afresh(void **state)
{
    (void)state;
    energy = (struct lp_energy){ 0 };
    return 0;
}

static int clear(void **state)
{
    (void)state;
    lp_energy_clear(&energy);
    return 0;
}

static void check_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%g is not %g within %g", value, expected, error);
}

static struct lp_gpu_sample sample_at(uint64_t time_ns)
{
    struct lp_gpu_sample sample = { .time_ns = time_ns };

    for (int i = 0; i < LP_GPU_VALUES; i++)
        sample.values[i] = LLMPERF_UNKNOWN;
    return sample;
}

static void count(uint64_t time_ns, uint64_t energy_mj)
{
    struct lp_gpu_sample sample = sample_at(time_ns);

    sample.values[LP_GPU_ENERGY_MJ] = energy_mj;
    sample.values[LP_GPU_POWER_LIMIT] = 700000;
    lp_energy_sample(&energy, &sample);
}

static void call(uint32_t node, bool outermost, uint64_t begin_ns, uint64_t end_ns)
{
    lp_energy_call(&energy,
                   &(struct lp_energy_call){ node, outermost, true, begin_ns, end_ns, 0, 0 });
}

static const struct lp_energy_stage *stage_of(uint32_t node)
{
    uint32_t row = lp_hashmap_get(&energy.stage_rows, node, 0);

    assert_int_not_equal(row, LP_HASHMAP_NONE);
    return &energy.stages.items[row];
}

static void energy_between_samples_is_on_a_straight_line(void **state)
{
    (void)state;
    count(1000 * MS, 5000);
    count(1100 * MS, 55000);  /* 500 W */
    count(1200 * MS, 155000); /* 1000 W */
    call(1, true, 1050 * MS, 1150 * MS);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules, 25 + 50, 1e-9);
    check_near(energy.gpus.items[0].stages_j, 75, 1e-9);
    check_near(energy.gpus.items[0].now.joules, 150, 1e-9);
}

static void call_waits_until_the_energy_at_its_end_is_known(void **state)
{
    (void)state;
    count(1000 * MS, 0);
    call(1, true, 1000 * MS, 1150 * MS);
    count(1100 * MS, 50000);
    assert_int_equal(energy.stages.count, 0);
    count(1200 * MS, 100000);
    check_near(stage_of(1)->joules, 75, 1e-9);
}

static void counter_that_is_updated_rarely_gives_no_steps(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= 40; i++) /* read every 20 ms, updated every 100 ms */
        count(1000 * MS + 20 * MS * i, i / 5 * 50000);
    call(1, true, 1010 * MS, 1310 * MS);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules, 150, 1e-9);
    assert_int_equal(energy.gpus.items[0].curve.update_ns, 120 * MS);
}

static void stages_and_outside_are_the_total_with_nested_stages_once(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= 100; i++)
        count(1000 * MS + 100 * MS * i, i * i * 1000);
    for (uint64_t i = 0; i < 30; i++)
        call(2, false, 2000 * MS + 100 * MS * i, 2090 * MS + 100 * MS * i);
    call(1, true, 1950 * MS, 5050 * MS);
    call(3, true, 6000 * MS, 9000 * MS);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules + stage_of(3)->joules, energy.gpus.items[0].stages_j, 1e-9);
    check_near(energy.gpus.items[0].now.joules, 10000, 1e-9);
    assert_true(stage_of(2)->joules < stage_of(1)->joules);
    assert_int_equal(stage_of(2)->calls, 30);
}

static void outermost_calls_of_two_threads_count_their_common_time_once(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= 20; i++)
        count(1000 * MS + 100 * MS * i, i * 50000);
    call(1, true, 1000 * MS, 2000 * MS);
    call(2, true, 1500 * MS, 2500 * MS);
    lp_energy_settle(&energy);
    check_near(energy.gpus.items[0].stages_j, 750, 1e-9);
    assert_int_equal(stage_of(2)->shared_ns, 500 * MS);
}

static void calls_use_the_clock_of_the_device_until_one_is_left_out(void **state)
{
    struct lp_energy_call one = { 1, true, true, 1000 * MS, 1100 * MS, 1050 * MS, 200 * MS };

    (void)state;
    for (uint64_t i = 0; i <= 20; i++)
        count(1000 * MS + 100 * MS * i, i * 100000);
    lp_energy_call(&energy, &one);
    one = (struct lp_energy_call){ 2, true, false, 1300 * MS, 1400 * MS, 0, 0 };
    lp_energy_call(&energy, &one);
    one = (struct lp_energy_call){ 3, true, true, 1400 * MS, 1500 * MS, 1450 * MS, 200 * MS };
    lp_energy_call(&energy, &one);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules, 200, 1e-9);
    check_near(stage_of(2)->joules, 100, 1e-9);
    check_near(stage_of(3)->joules, 100, 1e-9);
}

/* By hand: h = 0.1 s at 400 W, s = 0.04 s, P = 700 W: less by min(16, 18) J, more by
 * min(12, 24) J. */
static void error_of_a_part_is_the_bound_of_the_formula(void **state)
{
    struct lp_energy_part part = { 100 * MS, 200 * MS, 40 * MS, 40 };

    (void)state;
    check_near(lp_energy_part_error(&part, 700), 16, 1e-9);
    part.covered_ns = 100 * MS;
    check_near(lp_energy_part_error(&part, 700), 0, 1e-9);
    part.covered_ns = 99 * MS;
    check_near(lp_energy_part_error(&part, 700), 0.4, 1e-9);
    part.covered_ns = 300 * MS; /* overlapping calls */
    check_near(lp_energy_part_error(&part, 700), 0, 1e-9);
}

/* The counter is read each 20 ms and updated each 100 ms: it lags by up to 20 ms. From 100 W to
 * 500 W at the begin, back at the end. */
static void ends_of_a_run_have_the_error_of_the_lag(void **state)
{
    uint64_t mj = 0;

    (void)state;
    for (uint64_t i = 0; i <= 150; i++) {
        count(1000 * MS + 20 * MS * i, mj);
        mj += i % 5 != 4 ? 0 : i < 50 || i >= 100 ? 10000 : 50000;
    }
    call(1, true, 2000 * MS, 3000 * MS);
    lp_energy_settle(&energy);
    assert_int_equal(lp_energy_curve_lag(&energy.gpus.items[0].curve), 20 * MS);
    check_near(stage_of(1)->joules, 500, 1e-6);
    check_near(lp_energy_stage_error(&energy, stage_of(1)), 2 * 0.02 * 400, 1e-6);
}

/* Power is 100 W in one half of each piece and 600 W in the other: no estimate is further off than
 * its bound says. */
static void true_energy_is_within_the_error(void **state)
{
    uint64_t mj = 0;
    double bound;

    (void)state;
    count(1000 * MS, mj);
    for (uint64_t i = 0; i < 50; i++)
        count(1100 * MS + 100 * MS * i, mj += 35000);
    for (uint64_t i = 0; i < 49; i++)
        call(1, true, 1050 * MS + 100 * MS * i, 1100 * MS + 100 * MS * i);
    lp_energy_settle(&energy);
    bound = lp_energy_stage_error(&energy, stage_of(1));
    check_near(stage_of(1)->joules, 49 * 17.5, 1e-6);
    check_near(stage_of(1)->joules, 49 * 30.0, bound);
    check_near(stage_of(1)->joules, 49 * 5.0, bound);
}

static void steps_that_follow_one_another_have_a_small_error(void **state)
{
    const double seconds = 9.9;

    (void)state;
    for (uint64_t i = 0; i <= 100; i++)
        count(1000 * MS + 100 * MS * i, i * 50000);
    for (uint64_t i = 0; i < 990; i++) /* 20 us between two */
        call(1, true, 1001 * MS + 10 * MS * i, 1001 * MS + 10 * MS * i + 10 * MS - 20000);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules, 500 * seconds, 0.003 * 500 * seconds);
    assert_true(lp_energy_stage_error(&energy, stage_of(1)) < 0.02 * 500 * seconds);
}

static void memory_is_bounded_over_days(void **state)
{
    double joules = 0;

    (void)state;
    for (uint64_t i = 0; i <= 864000; i++) /* a day at 10 Hz */
        count(1000 * MS + 100 * MS * i, i * 30000);
    assert_true(energy.gpus.items[0].curve.knots.count <= LP_ENERGY_KNOTS);
    call(1, true, 1000 * MS, 1000 * MS + 864000 * 100 * MS);
    lp_energy_settle(&energy);
    joules = stage_of(1)->joules;
    check_near(joules, 86400 * 300.0, 1e-3);
}

static void counter_that_goes_back_is_bridged_by_the_power(void **state)
{
    struct lp_gpu_sample sample;

    (void)state;
    for (uint64_t i = 0; i <= 20; i++) {
        sample = sample_at(1000 * MS + 100 * MS * i);
        sample.values[LP_GPU_ENERGY_MJ] = i < 10 ? 900000 + i * 40000 : i * 40000;
        sample.values[LP_GPU_POWER_MW] = 400000;
        lp_energy_sample(&energy, &sample);
    }
    call(1, true, 1000 * MS, 3000 * MS);
    lp_energy_settle(&energy);
    assert_int_equal(energy.gpus.items[0].resets, 1);
    check_near(stage_of(1)->joules, 800, 1e-6);
}

static void counter_that_leaps_without_power_leaves_the_energy_unknown(void **state)
{
    (void)state;
    count(1000 * MS, 10);
    count(1100 * MS, UINT64_MAX - 1);
    assert_int_equal(energy.gpus.items[0].source, LP_ENERGY_NONE);
}

static void power_is_integrated_where_there_is_no_counter(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= 10; i++) {
        struct lp_gpu_sample sample = sample_at(1000 * MS + 100 * MS * i);

        sample.values[LP_GPU_POWER_MW] = i * 100000;
        lp_energy_sample(&energy, &sample);
    }
    assert_int_equal(energy.gpus.items[0].source, LP_ENERGY_POWER);
    check_near(energy.gpus.items[0].now.joules, 500, 1e-9);
}

static void times_that_go_back_are_passed_over(void **state)
{
    (void)state;
    count(1000 * MS, 0);
    count(1100 * MS, 50000);
    count(900 * MS, 60000);
    count(1200 * MS, 100000);
    call(1, true, 1150 * MS, 1100 * MS);
    call(1, true, 500 * MS, 5000 * MS);
    lp_energy_settle(&energy);
    check_near(stage_of(1)->joules, 100, 1e-9);
    assert_int_equal(stage_of(1)->metered_ns, 200 * MS);
}

static void clocks_are_those_of_a_gpu_that_is_not_idle(void **state)
{
    const struct {
        uint64_t reasons, mhz;
    } samples[] = { { 1, 300 }, { 1, 300 }, { 4, 1500 }, { 0, 1900 }, { 0x28, 1100 }, { 1, 300 } };

    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        struct lp_gpu_sample sample = sample_at(1000 * MS + 100 * MS * i);

        sample.values[LP_GPU_ENERGY_MJ] = i * 1000;
        sample.values[LP_GPU_REASONS] = samples[i].reasons;
        sample.values[LP_GPU_SM_MHZ] = samples[i].mhz;
        lp_energy_sample(&energy, &sample);
    }
    call(1, true, 1200 * MS, 1400 * MS);
    lp_energy_settle(&energy);
    check_near(energy.gpus.items[0].now.clock_cycles / energy.gpus.items[0].now.clock_s, 1500,
               1e-6);
    check_near(stage_of(1)->clock_cycles / stage_of(1)->clock_s, 1600, 1e-6);
    assert_int_equal(energy.gpus.items[0].active_ns, 300 * MS);
    assert_int_equal(energy.gpus.items[0].throttled_ns, 200 * MS);
    assert_int_equal(energy.gpus.items[0].power_cap_ns, 100 * MS);
    assert_int_equal(energy.gpus.items[0].thermal_ns, 100 * MS);
    assert_int_equal(energy.gpus.items[0].sm_least, 1100);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start_afresh, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(energy_between_samples_is_on_a_straight_line),
        CASE(call_waits_until_the_energy_at_its_end_is_known),
        CASE(counter_that_is_updated_rarely_gives_no_steps),
        CASE(stages_and_outside_are_the_total_with_nested_stages_once),
        CASE(outermost_calls_of_two_threads_count_their_common_time_once),
        CASE(calls_use_the_clock_of_the_device_until_one_is_left_out),
        CASE(error_of_a_part_is_the_bound_of_the_formula),
        CASE(ends_of_a_run_have_the_error_of_the_lag),
        CASE(true_energy_is_within_the_error),
        CASE(steps_that_follow_one_another_have_a_small_error),
        CASE(memory_is_bounded_over_days),
        CASE(counter_that_goes_back_is_bridged_by_the_power),
        CASE(counter_that_leaps_without_power_leaves_the_energy_unknown),
        CASE(power_is_integrated_where_there_is_no_counter),
        CASE(times_that_go_back_are_passed_over),
        CASE(clocks_are_those_of_a_gpu_that_is_not_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
