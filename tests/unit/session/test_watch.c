/* SPDX-License-Identifier: Apache-2.0 */
/** When rules of triggered windows hold: instances and looks at times that the test chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/regions/sampler.h"
#include "lib/record/paths.h"
#include "lib/session/session.h"
#include "lib/session/watch.h"

#define MS       UINT64_C(1000000)
#define BEGIN_MS 1000u
#define LOOK_MS                                                                                    \
    220u /* between two looks: 200 ms, and then up to 20 till the collector's next round */

static llmperf_session session;
static uint64_t now_ms;

static void begin(const char *rule)
{
    session = (llmperf_session){ .sampling.on = true };
    if (lp_watch_init(&session.watch, rule) < 0)
        fail_msg("%s", llmperf_last_error());
    session.watch.since_ns = session.watch.looked_ns = BEGIN_MS * MS;
    now_ms = BEGIN_MS;
}

static void end(void)
{
    lp_sampler_cut();
    lp_watch_clear(&session.watch);
}

static void end_step(uint64_t end_ms, uint64_t wall_ms)
{
    const uint64_t quantities[8] = { 0 };
    struct lp_watcher watcher = lp_watch_watcher(&session);

    watcher.ended(watcher.context, lp_path_intern(LP_PATH_ROOT, "LLM@decode_step"), end_ms * MS,
                  wall_ms * MS, quantities);
}

/* Steps of 1 ms up to then; those within the burst take 4 ms. */
static void run_until(uint64_t end_ms, uint64_t burst_ms, uint64_t burst_end_ms)
{
    while (now_ms < end_ms) {
        uint64_t wall_ms = now_ms >= burst_ms && now_ms < burst_end_ms ? 4 : 1;

        now_ms += wall_ms;
        end_step(now_ms, wall_ms);
    }
}

static void look(void)
{
    lp_watch_look(&session, now_ms * MS);
}

/* One look after another, a burst of 75 ms between two of them. */
static size_t windows_with_a_burst_at(uint64_t offset_ms)
{
    size_t windows;

    begin("decode_step p50 above 2 ms for 50 ms");
    for (uint64_t at = BEGIN_MS + LOOK_MS; at <= BEGIN_MS + 5 * LOOK_MS; at += LOOK_MS) {
        uint64_t burst_ms = BEGIN_MS + 2 * LOOK_MS + offset_ms;

        run_until(at, burst_ms, burst_ms + 75);
        look();
    }
    windows = session.watch.triggers.count;
    end();
    return windows;
}

static void a_burst_between_two_looks_is_seen_wherever_it_lies(void **state)
{
    (void)state;
    for (uint64_t offset_ms = 0; offset_ms < LOOK_MS; offset_ms += 5)
        if (windows_with_a_burst_at(offset_ms) != 1)
            fail_msg("a burst %u ms behind a look is not seen", (unsigned)offset_ms);
}

static void a_burst_that_is_too_short_is_none(void **state)
{
    (void)state;
    begin("decode_step p50 above 2 ms for 50 ms");
    for (uint64_t at = BEGIN_MS + LOOK_MS; at <= BEGIN_MS + 5 * LOOK_MS; at += LOOK_MS) {
        run_until(at, BEGIN_MS + 2 * LOOK_MS + 60, BEGIN_MS + 2 * LOOK_MS + 76);
        look();
    }
    assert_int_equal(session.watch.triggers.count, 0);
    end();
}

static void nothing_is_said_before_the_span_has_passed(void **state)
{
    (void)state;
    begin("decode_step p50 above 2 ms for 400 ms");
    run_until(BEGIN_MS + LOOK_MS, BEGIN_MS, BEGIN_MS + 10 * LOOK_MS);
    look();
    assert_int_equal(session.watch.triggers.count, 0);
    run_until(BEGIN_MS + 2 * LOOK_MS, BEGIN_MS, BEGIN_MS + 10 * LOOK_MS);
    look();
    assert_int_equal(session.watch.triggers.count, 1);
    end();
}

static void what_lay_in_a_cooldown_opens_nothing(void **state)
{
    (void)state;
    begin("decode_step p50 above 2 ms for 50 ms");
    session.watch.rules[0].next_ns = (BEGIN_MS + 3 * LOOK_MS) * MS;
    for (uint64_t at = BEGIN_MS + LOOK_MS; at <= BEGIN_MS + 5 * LOOK_MS; at += LOOK_MS) {
        run_until(at, BEGIN_MS + LOOK_MS, BEGIN_MS + 3 * LOOK_MS - 60);
        look();
    }
    assert_int_equal(session.watch.triggers.count, 0);
    end();
}

/* One instance after another, each 1 ms longer than the one before, in the 200 ms up to the look.
 */
static double value_of(const char *quantity, uint64_t count)
{
    char rule[80];
    double value;

    snprintf(rule, sizeof(rule), "decode_step %s above 0.5 ms for 200 ms", quantity);
    begin(rule);
    for (uint64_t i = 1; i <= count; i++)
        end_step(BEGIN_MS + LOOK_MS, i);
    now_ms = BEGIN_MS + LOOK_MS;
    look();
    assert_int_equal(session.watch.triggers.count, 1);
    value = session.watch.triggers.items[0].value;
    end();
    return value;
}

static void percentiles_are_the_first_value_that_enough_lie_at_or_below(void **state)
{
    (void)state;
    assert_true(value_of("p50", 200) == 100);
    assert_true(value_of("p95", 200) == 190);
    assert_true(value_of("p99", 200) == 198);
    assert_true(value_of("p99", 50) == 50);
    assert_true(value_of("p50", 21) == 11);
    assert_true(value_of("max", 200) == 200);
}

static size_t windows_of(const char *rule, uint64_t wall_ms)
{
    size_t windows;

    begin(rule);
    for (uint64_t i = 0; i < 50; i++)
        end_step(BEGIN_MS + LOOK_MS, wall_ms);
    now_ms = BEGIN_MS + LOOK_MS;
    look();
    windows = session.watch.triggers.count;
    end();
    return windows;
}

static void a_value_that_equals_the_threshold_is_neither_above_nor_below(void **state)
{
    (void)state;
    assert_int_equal(windows_of("decode_step p50 above 2 ms for 200 ms", 2), 0);
    assert_int_equal(windows_of("decode_step p50 above 2 ms for 200 ms", 3), 1);
    assert_int_equal(windows_of("decode_step p50 below 2 ms for 200 ms", 2), 0);
    assert_int_equal(windows_of("decode_step p50 below 2 ms for 200 ms", 1), 1);
}

static void a_window_is_followed_by_a_pause_19_times_as_long(void **state)
{
    (void)state;
    begin("decode_step p50 above 2 ms for 50 ms cooldown 0 s");
    run_until(BEGIN_MS + LOOK_MS, BEGIN_MS, BEGIN_MS + 10 * LOOK_MS);
    look();
    assert_true(session.watch.open);
    lp_sampler_cut();
    run_until(now_ms + 100, BEGIN_MS, BEGIN_MS + 10 * LOOK_MS);
    look();
    assert_false(session.watch.open);
    assert_true(session.watch.next_ns == now_ms * MS + 19 * 100 * MS);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_between_two_looks_is_seen_wherever_it_lies),
        cmocka_unit_test(a_burst_that_is_too_short_is_none),
        cmocka_unit_test(nothing_is_said_before_the_span_has_passed),
        cmocka_unit_test(what_lay_in_a_cooldown_opens_nothing),
        cmocka_unit_test(percentiles_are_the_first_value_that_enough_lie_at_or_below),
        cmocka_unit_test(a_value_that_equals_the_threshold_is_neither_above_nor_below),
        cmocka_unit_test(a_window_is_followed_by_a_pause_19_times_as_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
