/* SPDX-License-Identifier: Apache-2.0 */
/* When a driver that reports nothing is called dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/session/session.h"
#include "lib/record/paths.h"
#include "lib/device/device.h"

static struct lp_device_ops ops = { .name = "fake", .live = true };
static struct lp_device_source source = { .ops = &ops };
static struct lp_names names;
static llmperf_session session;

static void read_stats(const struct lp_device_source *head, struct lp_device_stats *stats)
{
    (void)head;
    *stats = (struct lp_device_stats){ 0 };
}

/* A session with a launch out, about which the driver has been silent for three seconds. */
static void begin(void)
{
    const struct lp_record launch = { lp_clock_now(), 1, LP_PATH_ROOT, LP_RECORD_LAUNCH,
                                      LP_LAUNCH_KERNEL };
    struct lp_attribution_sink sink;

    ops.stats = read_stats;
    session = (llmperf_session){ .source = &source, .totals = lp_totals_create(&names) };
    sink = lp_totals_sink(session.totals);
    session.attribution = lp_attribution_create(&sink);
    lp_health_begin(&session);
    lp_attribution_host(session.attribution, 0, &launch, 1);
    lp_health_look(&session, false);
    assert_true(session.health.silent_ns > 0);
    session.health.silent_ns -= UINT64_C(3000000000);
}

static void end(void)
{
    lp_attribution_free(session.attribution);
    lp_totals_free(session.totals);
}

static void a_driver_is_dead_only_if_it_was_asked_twice(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 5; i++)
        lp_health_look(&session, false);
    assert_false(session.health.dead);
    lp_health_look(&session, true);
    assert_false(session.health.dead);
    lp_health_look(&session, true);
    assert_true(session.health.dead);
    end();
}

static void a_driver_that_was_silent_for_a_moment_is_not_dead(void **state)
{
    (void)state;
    begin();
    session.health.silent_ns = lp_clock_now();
    for (int i = 0; i < 5; i++)
        lp_health_look(&session, true);
    assert_false(session.health.dead);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_is_dead_only_if_it_was_asked_twice),
        cmocka_unit_test(a_driver_that_was_silent_for_a_moment_is_not_dead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
