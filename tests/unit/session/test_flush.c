/* SPDX-License-Identifier: Apache-2.0 */
/** When the driver is asked for partly filled buffers: at times that the test chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "lib/regions/sampler.h"
#include "lib/record/paths.h"
#include "lib/session/session.h"
#include "llmperf/profile.h"
#include "lib/device/device.h"

#define MS UINT64_C(1000000)

static const struct lp_device_ops live_ops = { .name = "live", .live = true };
static const struct lp_device_ops finite_ops = { .name = "finite", .live = false };
static struct lp_device_source source = { .ops = &live_ops };
static struct llmperf_session session;
static uint64_t begin_ns;

static uint64_t at(uint64_t ms)
{
    return begin_ns + ms * MS;
}

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
    session = (struct llmperf_session){ .source = &source };
    source.ops = &live_ops;
    session.attribution = lp_attribution_create(&sink);
    session.totals = lp_totals_create(&session.names);
    begin_ns = lp_clock_now();
    lp_flush_made(&session, at(0));
    session.flush.came_ns = at(0);
    return session.attribution && session.totals ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    lp_sampling_clear(&session.sampling);
    lp_attribution_free(session.attribution);
    lp_totals_free(session.totals);
    lp_names_clear(&session.names);
    return 0;
}

static bool due(uint64_t ms, bool commit)
{
    return lp_flush_is_due(&session, at(ms), commit);
}

static void launch(uint32_t id)
{
    const struct lp_record record = { at(0), id, 7, LP_RECORD_LAUNCH, LP_LAUNCH_KERNEL };

    lp_attribution_host(session.attribution, 0, &record, 1);
}

static void report(uint32_t id, uint64_t ms)
{
    struct lp_activity activity = {
        .start_ns = at(0), .end_ns = at(0) + 1, .correlation = id, .kind = LLMPERF_ACTIVITY_KERNEL
    };

    lp_attribution_activities(session.attribution, &activity, 1);
    session.activities++;
    lp_flush_look(&session, at(ms));
}

/* The records of a second ago, and nothing since. */
static void fall_quiet(void)
{
    launch(1);
    report(1, 0);
    lp_flush_made(&session, at(0));
}

static void with_records_on_it_is_made_once_a_second_and_before_commits(void **state)
{
    (void)state;
    fall_quiet();
    assert_false(due(900, false));
    assert_true(due(1000, false));
    assert_false(due(400, true));
    assert_true(due(500, true));
}

static void with_records_off_it_is_made_only_if_something_is_under_way(void **state)
{
    (void)state;
    fall_quiet();
    session.paused = true;
    assert_false(due(5000, true));
    launch(2); /* Its record is pending. */
    assert_true(due(1000, false));
    report(2, 500);
    assert_true(due(1000, false)); /* Launched since the last one. */
    lp_flush_made(&session, at(1000));
    assert_false(due(9000, true));
    session.paused = false;
    session.sampling.on = true;
    assert_false(due(9000, true));
}

static void a_device_that_holds_all_back_is_asked_more_often(void **state)
{
    (void)state;
    fall_quiet();
    launch(2);
    lp_flush_made(&session, at(950));
    assert_false(due(1040, false));
    assert_true(due(1050, false)); /* more than a second without a record */
    report(2, 1050);
    lp_flush_made(&session, at(1050));
    assert_false(due(2040, false));
}

/* Before a kernel that runs for seconds can hold its answer back. */
static void a_driver_that_has_reported_nothing_is_asked_soon(void **state)
{
    (void)state;
    session.paused = true;         /* Not asked for anything else. */
    assert_false(due(500, false)); /* Nothing was launched. */
    launch(1);
    lp_flush_made(&session, at(20));
    assert_false(due(99, false));
    assert_false(due(119, false));
    assert_true(due(120, false));
    lp_flush_made(&session, at(120));
    assert_true(due(220, false));
    report(1, 230);
    launch(2);
    lp_flush_look(&session, at(230));
    lp_flush_made(&session, at(230));
    assert_false(due(1229, false));
    assert_true(due(1230, false));
}

static void silence_begins_with_a_launch(void **state)
{
    (void)state;
    fall_quiet();
    lp_flush_look(&session, at(50000)); /* Nothing was launched until then. */
    launch(2);
    lp_flush_look(&session, at(50020));
    lp_flush_made(&session, at(50800));
    assert_false(due(50990, false));
    assert_true(due(51000, false));
}

static void a_device_that_stays_silent_is_asked_less_and_less_often(void **state)
{
    (void)state;
    fall_quiet();
    session.paused = true; /* Not asked for anything else. */
    launch(2);
    lp_flush_look(&session, at(1));
    lp_flush_made(&session, at(9900));
    assert_false(due(10100, false));
    assert_true(due(10200, false));
    lp_flush_made(&session, at(60000));
    assert_true(due(61000, false)); /* Its record is pending: once a second. */
    assert_false(due(60900, false));
}

static void while_records_pour_in_a_quiet_thread_is_not_left_behind(void **state)
{
    (void)state;
    fall_quiet();
    session.activities += 150000;
    assert_false(due(600, false));
    session.activities += 60000;
    assert_true(due(600, false));
    assert_false(due(90, false));
    lp_flush_made(&session, at(600));
    assert_false(due(900, false));
}

static void one_launch_without_a_record_is_asked_for_once_a_second(void **state)
{
    (void)state;
    launch(1);
    launch(2);
    report(2, 0); /* That of 1 never comes. */
    lp_flush_made(&session, at(5000));
    assert_false(due(5900, false));
    assert_true(due(6000, false));
}

static void a_source_of_its_own_time_is_not_asked(void **state)
{
    (void)state;
    launch(1);
    source.ops = &finite_ops;
    assert_false(due(9000, true));
    session.source = NULL;
    assert_false(due(9000, true));
}

static void collect_nothing(enum lp_collect what)
{
    (void)what;
}

/* A window for all threads costs what its records cost, and they must have been asked for. */
static void what_a_window_cost_is_known_only_when_it_was_asked_for(void **state)
{
    static const struct lp_device_ops ops = { .live = true, .collect = collect_nothing };

    (void)state;
    source.ops = &ops;
    session.options.tier = LLMPERF_TIER_LIGHT;
    assert_int_equal(lp_sampling_init(&session.sampling, "prefill,decode_step", 10), 0);
    lp_detach_begin(&session);
    lp_sampling_adjust(&session, at(2000));
    assert_true(session.sampling.window_ns == at(2000));
    lp_sampling_adjust(&session, at(2020));
    assert_true(session.sampling.closed_ns == at(2020));
    lp_flush_made(&session, at(2030)); /* Work of the window may run still. */
    assert_false(due(2500, false));
    assert_true(due(2520, false));
    lp_sampling_adjust(&session, at(2600));
    assert_true(session.sampling.closed_ns == at(2020)); /* Not yet. */
    session.activities += 10000;
    lp_flush_made(&session, at(2600));
    assert_false(due(2620, false));
    lp_sampling_adjust(&session, at(2620));
    assert_true(session.sampling.closed_ns == 0);
    assert_true(session.sampling.next_ns >= at(2020 + 2000)); /* 10000 x 2 us at 1 % */
    lp_sampling_end(&session, at(0));
}

/* The answer before the window's end may have come while its graph ran. */
static void a_window_with_graphs_settles_behind_two_answers_of_its_own(void **state)
{
    const char *const labels[] = { "LLM@decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    struct lp_thread *thread = lp_thread_get();
    uint64_t value;

    (void)state;
    session.sampling.on = true;
    lp_sampler_begin(labels, 1, 1, collect_nothing, NULL);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(thread, node, &value), LP_BEGIN_NOW);
    lp_sampler_graph();
    lp_sampler_close(thread);
    assert_true(lp_sampler_settles());
    lp_sampling_settle(&session, at(10)); /* Asked last at 0. */
    assert_true(due(11, false));
    lp_flush_made(&session, at(11));
    lp_sampling_settle(&session, at(11));
    assert_true(lp_sampler_settles());
    lp_flush_made(&session, at(12));
    lp_sampling_settle(&session, at(12));
    assert_false(lp_sampler_settles());
    lp_sampler_end();
}

#define PLAYED(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAYED(with_records_on_it_is_made_once_a_second_and_before_commits),
        PLAYED(with_records_off_it_is_made_only_if_something_is_under_way),
        PLAYED(a_device_that_holds_all_back_is_asked_more_often),
        PLAYED(a_driver_that_has_reported_nothing_is_asked_soon),
        PLAYED(silence_begins_with_a_launch),
        PLAYED(a_device_that_stays_silent_is_asked_less_and_less_often),
        PLAYED(while_records_pour_in_a_quiet_thread_is_not_left_behind),
        PLAYED(one_launch_without_a_record_is_asked_for_once_a_second),
        PLAYED(a_source_of_its_own_time_is_not_asked),
        PLAYED(what_a_window_cost_is_known_only_when_it_was_asked_for),
        PLAYED(a_window_with_graphs_settles_behind_two_answers_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
