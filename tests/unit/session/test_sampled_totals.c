/* SPDX-License-Identifier: Apache-2.0 */
/* What sampling knows of the instances of a stage, and what it makes of that. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/attribution/attribution.h"
#include "lib/base/clock.h"
#include "lib/record/paths.h"
#include "lib/session/sampling.h"
#include "lib/session/session.h"
#include "llmperf/profile.h"
#include "tests/support/play.h"
#include "lib/regions/sampler.h"

#define STEP_NS UINT64_C(100000)

static struct lp_names names;
static struct lp_totals *totals;
static struct lp_attribution *attribution;
static uint64_t now_ns;
static uint32_t correlation;

static void begin(void)
{
    struct lp_attribution_sink sink;

    lp_names_intern(&names, "k");
    assert_non_null(totals = lp_totals_create(&names));
    sink = lp_totals_sink(totals);
    assert_non_null(attribution = lp_attribution_create(&sink));
    lp_attribution_sample(attribution);
    now_ns = 1000000000;
    correlation = 0;
}

static void end(void)
{
    lp_attribution_free(attribution);
    lp_totals_free(totals);
    lp_names_clear(&names);
}

static void tell(uint16_t kind, uint16_t detail, uint64_t value)
{
    const struct lp_record record = { now_ns, value, lp_path_intern(LP_PATH_ROOT, "decode_step"),
                                      kind, detail };

    lp_attribution_host(attribution, 0, &record, 1);
}

static void run_kernel(void)
{
    struct lp_activity kernel = { .start_ns = now_ns + 100,
                                  .end_ns = now_ns + 200,
                                  .correlation = ++correlation,
                                  .kind = LLMPERF_ACTIVITY_KERNEL };

    tell(LP_RECORD_LAUNCH, LP_LAUNCH_KERNEL, correlation);
    lp_attribution_activities(attribution, &kernel, 1);
}

static uint64_t step_ns = STEP_NS;

static uint32_t chance; /* of calls that begin with LP_BEGIN_NOW */

/* Steps of step_ns each, which begin like that; `kernels` in each that is collected. */
static void run_steps(unsigned count, enum lp_begin how, unsigned kernels)
{
    for (unsigned i = 0; i < count; i++) {
        tell(LP_RECORD_REGION_BEGIN, (uint16_t)how,
             how == LP_BEGIN_TRIGGERED ? 1
             : how == LP_BEGIN_NOW     ? chance
                                       : 0);
        for (unsigned k = 0; k < kernels; k++)
            run_kernel();
        now_ns += step_ns;
        tell(LP_RECORD_REGION_END, 0, 0);
    }
}

static double sampled_fraction(void)
{
    lp_attribution_settle(attribution, now_ns, true);
    lp_totals_sample(totals, true, NAN);
    return lp_totals_sampled_fraction(totals);
}

static void instances_of_windows_are_none_of_the_sample(void **state)
{
    const llmperf_ledger ledger = LLMPERF_LEDGER_INIT;
    llmperf_profile *profile = NULL;

    (void)state;
    begin();
    run_steps(2, LP_BEGIN_NOW, 1);
    run_steps(2, LP_BEGIN_SKIPPED, 0);
    run_steps(4, LP_BEGIN_TRIGGERED, 1);
    check_close(sampled_fraction(), 0.5);
    assert_int_equal(lp_totals_freeze(totals, &ledger, 1, &profile), 0);
    check_close(find_region(profile, "LLM@decode_step", 0).skipped_fraction, 0.5);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).window_instances, 4);
    llmperf_profile_free(profile);
    end();
}

/* 100 kernels of 0.6 us in a step of 100 us cost 60 %: 1 % of the time is one step of 60. */
static void what_costs_more_than_the_budget_is_sampled_less(void **state)
{
    static llmperf_session session;

    (void)state;
    begin();
    run_steps(10, LP_BEGIN_NOW, 100);
    lp_attribution_settle(attribution, now_ns, true);
    session = (llmperf_session){ .totals = totals };
    assert_int_equal(lp_sampling_init(&session.sampling, "decode_step", 10), 0);
    session.sampling.on = true;
    session.sampling.switch_ns = 0;
    session.sampling.seen_ns = lp_clock_now();
    assert_int_equal(session.sampling.labels[0].every, 50);
    lp_sampling_adjust(&session, session.sampling.seen_ns);
    assert_int_equal(session.sampling.labels[0].every, 60);
    lp_sampling_clear(&session.sampling);
    end();
}

/* Collected steps take 150 us, others 100 us: 50 us of 125 us, and 1 % of the time is one of 40.
 * The first one, 100 ms of warm-up, says nothing. */
static void what_collecting_costs_is_learnt_from_both_kinds_of_steps(void **state)
{
    static llmperf_session session;

    (void)state;
    begin();
    step_ns = 1000 * STEP_NS;
    chance = 1 | LP_CHANCE_FIRST;
    run_steps(1, LP_BEGIN_NOW, 1);
    step_ns = 3 * STEP_NS / 2;
    chance = 50 | LP_CHANCE_COST;
    run_steps(30, LP_BEGIN_NOW, 1);
    chance = 0;
    step_ns = STEP_NS;
    run_steps(30, LP_BEGIN_SKIPPED, 0);
    lp_attribution_settle(attribution, now_ns, true);
    session = (llmperf_session){ .totals = totals };
    assert_int_equal(lp_sampling_init(&session.sampling, "decode_step", 10), 0);
    session.sampling.on = true;
    session.sampling.switch_ns = 0;
    session.sampling.seen_ns = lp_clock_now();
    lp_sampling_adjust(&session, session.sampling.seen_ns);
    assert_int_equal(session.sampling.labels[0].every, 40);
    lp_sampling_clear(&session.sampling);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_of_windows_are_none_of_the_sample),
        cmocka_unit_test(what_costs_more_than_the_budget_is_sampled_less),
        cmocka_unit_test(what_collecting_costs_is_learnt_from_both_kinds_of_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
