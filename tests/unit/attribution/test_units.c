/* SPDX-License-Identifier: Apache-2.0 */
/** When an instance of a stage is done: at times and answers of the device that the test chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/attribution/units.h"

#define MS   UINT64_C(1000000)
#define AWAY 100000u /* ms: times are not near 0 */

static size_t done;

static void count_done(void *context, uint32_t unit)
{
    (void)context;
    (void)unit;
    done++;
}

static const struct lp_attribution_sink sink = { .units.done = count_done };

static uint64_t at(uint64_t ms)
{
    return (AWAY + ms) * MS;
}

static size_t settle(struct lp_units *units, uint64_t ms)
{
    lp_units_settle(units, at(ms), false, &sink);
    return done;
}

/* One that began at 0 and ended at 10 ms. */
static uint32_t begin(struct lp_units *units)
{
    done = 0;
    return lp_units_begin(units, LP_UNIT_NONE, at(0));
}

static void a_slot_that_is_used_again_has_another_id(void **state)
{
    struct lp_units units = { .asked_ns = at(0) };
    uint32_t first = begin(&units), second;

    (void)state;
    lp_units_end(&units, first, at(10));
    lp_units_settle(&units, at(20), true, &sink);
    second = begin(&units);
    assert_int_equal(second & UINT16_MAX, first & UINT16_MAX);
    assert_int_not_equal(second, first);
    assert_null(lp_units_find(&units, first));
    assert_non_null(lp_units_find(&units, second));
    lp_units_clear(&units);
}

static void what_launched_nothing_waits_for_no_answer(void **state)
{
    struct lp_units units = { .asked_ns = at(0) };

    (void)state;
    lp_units_end(&units, begin(&units), at(10));
    assert_int_equal(settle(&units, 900), 0);
    assert_int_equal(units.unanswered, 0);
    assert_int_equal(settle(&units, 1010), 1);
    lp_units_clear(&units);
}

static void a_copy_that_may_bring_no_record_waits_for_an_answer(void **state)
{
    struct lp_units units = { .asked_ns = at(0) };
    uint32_t id = begin(&units);

    (void)state;
    lp_units_launched(&units, id, false);
    lp_units_end(&units, id, at(10));
    units.asked_ns = at(200); /* While the copy ran, perhaps. */
    assert_int_equal(settle(&units, 1100), 0);
    assert_int_equal(units.unanswered, 1);
    units.asked_ns = at(1200);
    lp_units_landed(&units, id, false, at(1200)); /* It brought the copy. */
    assert_int_equal(settle(&units, 1200), 0);
    assert_int_equal(settle(&units, 2300), 0);
    units.asked_ns = at(2300); /* And this one nothing. */
    assert_int_equal(settle(&units, 2400), 1);
    assert_int_equal(units.unanswered, 0);
    lp_units_clear(&units);
}

static void an_outer_instance_waits_for_the_work_of_inner_ones(void **state)
{
    struct lp_units units = { .asked_ns = at(0) };
    uint32_t outer = begin(&units), inner = lp_units_begin(&units, outer, at(1));

    (void)state;
    lp_units_launched(&units, inner, false);
    lp_units_end(&units, inner, at(9));
    lp_units_end(&units, outer, at(10));
    assert_int_equal(settle(&units, 1100), 0);
    assert_int_equal(units.unanswered, 2);
    units.asked_ns = at(1100);
    assert_int_equal(settle(&units, 1200), 2);
    lp_units_clear(&units);
}

static void where_nobody_asks_the_device_time_alone_decides(void **state)
{
    struct lp_units units = { .asked_ns = 0 };
    uint32_t id = begin(&units);

    (void)state;
    lp_units_launched(&units, id, true);
    lp_units_end(&units, id, at(10));
    assert_int_equal(settle(&units, 5000), 0); /* A record is pending. */
    lp_units_landed(&units, id, true, at(5000));
    assert_int_equal(settle(&units, 5900), 0);
    assert_int_equal(settle(&units, 6000), 1);
    lp_units_clear(&units);
}

static void a_device_that_never_answers_is_waited_for_for_a_minute(void **state)
{
    struct lp_units units = { .asked_ns = at(0) };
    uint32_t id = begin(&units);

    (void)state;
    lp_units_launched(&units, id, true);
    lp_units_end(&units, id, at(10));
    assert_int_equal(settle(&units, 59000), 0);
    assert_int_equal(settle(&units, 60010), 1);
    lp_units_clear(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_that_is_used_again_has_another_id),
        cmocka_unit_test(what_launched_nothing_waits_for_no_answer),
        cmocka_unit_test(a_copy_that_may_bring_no_record_waits_for_an_answer),
        cmocka_unit_test(an_outer_instance_waits_for_the_work_of_inner_ones),
        cmocka_unit_test(where_nobody_asks_the_device_time_alone_decides),
        cmocka_unit_test(a_device_that_never_answers_is_waited_for_for_a_minute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
