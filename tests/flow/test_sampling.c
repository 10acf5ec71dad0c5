/* SPDX-License-Identifier: Apache-2.0 */
/** Tier light on the fake device of running threads: what is collected is whole instances, and each
 * number says its share. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/sources/fake/fake.h"
#include "tests/support/at_once.h"
#include "tests/support/play.h"

#define KERNELS 20

static llmperf_session *start_light(uint32_t budget_permille, const char *regions)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = budget_permille;
    options.sample_regions = regions;
    return start_options(&options);
}

static void run_step(unsigned pause_us)
{
    llmperf_decode_step_begin(1, 100);
    llmperf_region_begin("attention");
    for (int i = 0; i < KERNELS; i++)
        lp_fake_launch("gemm", 7, 500);
    llmperf_region_end();
    usleep(pause_us);
    llmperf_decode_step_end();
}

/* Without the first call, and without those that measure the cost of collecting. */
static void check_estimate(const llmperf_iteration_stats *busy, uint64_t steps)
{
    uint64_t apart = busy->warm_up > 1 ? busy->warm_up : 1;

    assert_in_range(busy->estimate_calls, steps - 64, steps - 1);
    assert_in_range(busy->estimate_collected, (busy->count - apart) * 7 / 10, busy->count - apart);
    assert_true(busy->estimate_ms >= busy->min_ms && busy->estimate_ms <= busy->max_ms);
    if (busy->estimate_reason)
        assert_true(isnan(busy->estimate_low_ms) && isnan(busy->estimate_high_ms));
    else
        assert_true(busy->estimate_low_ms <= busy->estimate_ms &&
                    busy->estimate_ms <= busy->estimate_high_ms);
}

/* Beside the estimate stands its interval, or why it has none. */
static void check_report(const llmperf_profile *profile, const llmperf_iteration_stats *busy)
{
    char *text = NULL;

    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_non_null(strstr(text, "Estimated for all calls but "));
    assert_non_null(strstr(text, "The first call: "));
    assert_non_null(
        strstr(text, busy->estimate_reason ? busy->estimate_reason : "from the sampled calls"));
    llmperf_text_free(text);
}

static void some_instances_are_collected_and_those_whole(void **state)
{
    llmperf_session *session = start_light(1, NULL);
    llmperf_profile *profile;
    llmperf_region_stats step;
    llmperf_iteration_stats busy;
    int steps = 3000;

    (void)state;
    for (int i = 0; i < steps; i++)
        run_step(100);
    profile = stop_session(session);
    step = find_region(profile, "LLM@decode_step", 0);
    busy = find_all_calls(profile, NULL, "busy");
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    assert_int_equal(step.instances, steps);
    assert_int_equal(step.tokens, steps);
    assert_true(busy.count >= 1 && busy.count < (uint64_t)steps / 2);
    assert_int_equal(step.kernel_count, busy.count * KERNELS);
    assert_int_equal(ledger_of(profile).kernels_seen, busy.count * KERNELS);
    assert_int_equal(ledger_of(profile).launches_expected, busy.count * KERNELS);
    assert_true(step.skipped_fraction > 0.1 && step.skipped_fraction < 1);
    check_close(1 - step.skipped_fraction, ledger_of(profile).sampled_fraction);
    check_close(find_region(profile, "LLM@decode_step/LLM@attention", 0).skipped_fraction,
                step.skipped_fraction);
    check_close(busy.sum_ms, step.gpu_busy_ms);
    check_close(1 - step.skipped_fraction, (double)busy.count / steps);
    check_estimate(&busy, (uint64_t)steps);
    check_report(profile, &busy);
    llmperf_profile_free(profile);
}

/* It need not be one that the library knows as a stage. */
static void any_region_can_be_sampled(void **state)
{
    llmperf_session *session = start_light(10, "APP@turn");
    llmperf_profile *profile;
    llmperf_region_stats turn;
    uint64_t collected;
    int turns = 1000;

    (void)state;
    for (int i = 0; i < turns; i++) {
        llmperf_region_begin("server");
        llmperf_region_begin("APP@turn");
        for (int k = 0; k < KERNELS; k++)
            lp_fake_launch("gemm", 7, 500);
        usleep(100);
        llmperf_region_end();
        llmperf_region_end();
    }
    profile = stop_session(session);
    turn = find_region(profile, "LLM@server/APP@turn", 0);
    collected = find_all_calls(profile, NULL, "busy").count;
    assert_int_equal(turn.instances, turns);
    assert_true(collected > 0 && collected < (uint64_t)turns / 2);
    assert_int_equal(turn.kernel_count, collected * KERNELS);
    check_close(ledger_of(profile).sampled_fraction, (double)collected / turns);
    check_close(1 - turn.skipped_fraction, (double)collected / turns);
    llmperf_profile_free(profile);
}

/* Instances that are not alike, and that take longer when they are collected: the share is that of
 * their FLOPs, and if some have none, of their tokens, and of their number if some have none
 * either. */
static void the_share_is_that_of_the_work(void **state)
{
    static const struct {
        uint64_t flops, tokens; /* of instance 7 */
    } cases[] = { { 700, 8 }, { 0, 8 }, { 0, 0 } };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        llmperf_session *session = start_light(20, "LLM@prefill");
        llmperf_iteration row = LLMPERF_ITERATION_INIT;
        llmperf_profile *profile;
        double all = 0, collected = 0;

        for (uint64_t i = 0; i < 400; i++) {
            llmperf_region_attr attr = LLMPERF_REGION_ATTR_INIT;
            bool seventh = i == 7;

            attr.label = "LLM@prefill";
            attr.flops = seventh ? cases[c].flops : 100 * (i % 10 + 1);
            attr.tokens = seventh ? cases[c].tokens : i % 5 + 1;
            llmperf_region_begin_attr(&attr);
            lp_fake_launch("gemm", 7, 500);
            usleep(100);
            llmperf_region_end();
        }
        profile = stop_session(session);
        for (size_t i = 0; llmperf_profile_iteration(profile, i, &row) == 0; i++) {
            double work = c == 0 ? (double)row.flops : c == 1 ? (double)row.tokens : 1;

            all += work;
            collected += row.activities == LLMPERF_UNKNOWN ? 0 : work;
        }
        assert_true(collected > 0 && collected < all);
        check_close(1 - find_region(profile, "LLM@prefill", 0).skipped_fraction, collected / all);
        llmperf_profile_free(profile);
    }
}

static void a_budget_of_everything_collects_everything(void **state)
{
    llmperf_session *session = start_light(1000, NULL);
    llmperf_profile *profile;

    (void)state;
    for (int i = 0; i < 50; i++)
        run_step(0);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_COMPLETE);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, 50 * KERNELS);
    llmperf_profile_free(profile);
}

static void regions_outside_of_sampled_ones_have_no_device_numbers(void **state)
{
    llmperf_session *session = start_light(10, "LLM@decode_step");
    llmperf_profile *profile;
    llmperf_region_stats warmup;

    (void)state;
    llmperf_region_begin("warmup");
    lp_fake_launch("gemm", 7, 500);
    llmperf_region_end();
    run_step(0);
    profile = stop_session(session);
    warmup = find_region(profile, "LLM@warmup", -1);
    assert_true(isnan(warmup.gpu_busy_ms) && warmup.kernel_count == LLMPERF_UNKNOWN);
    check_close(warmup.skipped_fraction, 1);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, KERNELS);
    llmperf_profile_free(profile);
}

static _Atomic bool done;

static void *launch_beside(void *context)
{
    (void)context;
    while (!atomic_load(&done)) {
        llmperf_region_begin("background");
        lp_fake_launch("beside", 9, 100);
        llmperf_region_end();
        usleep(5);
    }
    return NULL;
}

static void other_threads_are_told_apart_from_the_sampled_one(void **state)
{
    llmperf_session *session = start_light(100, "decode_step");
    llmperf_profile *profile;
    pthread_t thread;

    (void)state;
    atomic_store(&done, false);
    assert_int_equal(pthread_create(&thread, NULL, launch_beside, NULL), 0);
    for (int i = 0; i < scaled(2000, 300); i++)
        run_step(50);
    atomic_store(&done, true);
    pthread_join(thread, NULL);
    profile = stop_session(session);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count,
                     find_all_calls(profile, NULL, "busy").count * KERNELS);
    assert_true(isnan(find_region(profile, "LLM@background", -1).gpu_busy_ms));
    llmperf_profile_free(profile);
}

static void *decode(void *context)
{
    (void)context;
    for (int i = 0; i < scaled(1000, 200); i++)
        run_step(20);
    return NULL;
}

static void threads_take_turns_at_being_sampled(void **state)
{
    llmperf_session *session = start_light(200, NULL);
    llmperf_profile *profile;
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).instances, 4 * scaled(1000, 200));
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count,
                     find_all_calls(profile, NULL, "busy").count * KERNELS);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    llmperf_profile_free(profile);
}

static void a_program_without_such_regions_is_sampled_in_windows(void **state)
{
    llmperf_session *session = start_light(100, NULL);
    llmperf_profile *profile;
    llmperf_ledger ledger;

    (void)state;
    for (int i = 0; i < 1500; i++) {
        llmperf_region_begin("work");
        lp_fake_launch("gemm", 7, 500);
        usleep(1000);
        llmperf_region_end();
    }
    profile = stop_session(session);
    ledger = ledger_of(profile);
    assert_int_equal(ledger.verdict, LLMPERF_VERDICT_SAMPLED);
    assert_true(ledger.kernels_seen > 0 && ledger.kernels_seen < 1400);
    assert_true(ledger.sampled_fraction > 0 && ledger.sampled_fraction < 0.9);
    check_close(1 - find_region(profile, "LLM@work", 0).skipped_fraction, ledger.sampled_fraction);
    llmperf_profile_free(profile);
}

static void a_window_that_stop_cuts_is_closed(void **state)
{
    llmperf_session *session = start_light(10, NULL);
    llmperf_profile *profile;

    (void)state;
    llmperf_decode_step_begin(1, 100);
    lp_fake_launch("gemm", 7, 500);
    llmperf_profile_free(stop_session(session));
    lp_fake_launch("gemm", 7, 500); /* of no session */
    llmperf_decode_step_end();
    session = start_light(10, NULL);
    run_step(0);
    profile = stop_session(session);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, KERNELS);
    assert_int_equal(ledger_of(profile).kernels_seen, KERNELS);
    llmperf_profile_free(profile);
}

static void labels_that_cannot_be_are_refused(void **state)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    (void)state;
    options.device_source = LLMPERF_SOURCE_NONE;
    options.sample_regions = "prefill,,decode_step";
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error("sample_regions");
    options.sample_regions = "a,b,c,d,e,f,g,h,i";
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error("up to 8");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_instances_are_collected_and_those_whole),
        cmocka_unit_test(any_region_can_be_sampled),
        cmocka_unit_test(the_share_is_that_of_the_work),
        cmocka_unit_test(a_budget_of_everything_collects_everything),
        cmocka_unit_test(regions_outside_of_sampled_ones_have_no_device_numbers),
        cmocka_unit_test(other_threads_are_told_apart_from_the_sampled_one),
        cmocka_unit_test(threads_take_turns_at_being_sampled),
        cmocka_unit_test(a_program_without_such_regions_is_sampled_in_windows),
        cmocka_unit_test(a_window_that_stop_cuts_is_closed),
        cmocka_unit_test(labels_that_cannot_be_are_refused),
    };

    return run_cases_at_once(argc, argv, tests, make_test_folder, remove_test_folder);
}
