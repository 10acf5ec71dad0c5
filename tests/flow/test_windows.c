/* SPDX-License-Identifier: Apache-2.0 */
/** Triggered windows of tier light on the fake device of running threads: a rule that holds has the
 * next instances collected one and all, and what is sampled says of the others what it said before.
 */
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

#include "lib/base/clock.h"
#include "lib/sources/fake/fake.h"
#include "tests/support/at_once.h"
#include "tests/support/play.h"

#define FAST_KERNELS 20
#define SLOW_KERNELS 60
#define PATIENCE_NS  UINT64_C(30000000000)

static struct {
    pthread_mutex_t lock;
    unsigned opened, last;
} told = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };

static void hear(void *user, int32_t level, const char *line)
{
    (void)user;
    pthread_mutex_lock(&told.lock);
    if (strncmp(line, "window ", 7) == 0 && level == LLMPERF_LOG_WARN) {
        told.opened += strstr(line, "calls are collected completely") != NULL;
        told.last += strstr(line, "is the last one of rule") != NULL;
    }
    pthread_mutex_unlock(&told.lock);
}

static llmperf_session *start(const char *rules, uint32_t budget_permille)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    told.opened = told.last = 0;
    llmperf_log_set(hear, NULL, LLMPERF_LOG_WARN);
    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.overhead_budget_permille = budget_permille;
    options.rules = rules;
    if (llmperf_session_start(&options, &session) < 0)
        fail_msg("%s", llmperf_last_error());
    return session;
}

static llmperf_profile *stop(llmperf_session *session)
{
    llmperf_profile *profile = stop_session(session);

    llmperf_log_set(NULL, NULL, LLMPERF_LOG_NONE);
    return profile;
}

static llmperf_session_state state_of(const llmperf_session *session)
{
    llmperf_session_state state = LLMPERF_SESSION_STATE_INIT;

    assert_int_equal(llmperf_session_status(session, &state), 0);
    return state;
}

/* A slow step takes longer and launches more. */
static void run_step(bool slow)
{
    llmperf_decode_step_begin(1, 100);
    llmperf_region_begin("attention");
    for (int i = 0; i < (slow ? SLOW_KERNELS : FAST_KERNELS); i++)
        lp_fake_launch("gemm", 7, 500);
    llmperf_region_end();
    if (slow)
        lp_fake_copy(7, 900);
    llmperf_region_count(LLMPERF_QUANTITY_FLOPS, slow ? 3000 : 1000);
    usleep(slow ? 3000 : 300);
    llmperf_decode_step_end();
}

struct steps {
    uint64_t fast, slow;
};

/* Slow steps until so many windows are over. */
static void run_until(const llmperf_session *session, uint64_t windows, struct steps *steps)
{
    uint64_t begin_ns = lp_clock_now();
    llmperf_session_state state = state_of(session);

    while (state.windows < windows || state.window_open) {
        if (lp_clock_now() - begin_ns > PATIENCE_NS)
            fail_msg("%llu of %llu windows", (unsigned long long)state.windows,
                     (unsigned long long)windows);
        run_step(true);
        steps->slow++;
        state = state_of(session);
    }
}

static void run_fast(int count, struct steps *steps)
{
    for (int i = 0; i < count; i++)
        run_step(false);
    steps->fast += (uint64_t)count;
}

static llmperf_window_stats window_of(const llmperf_profile *profile, size_t index)
{
    llmperf_window_stats window = LLMPERF_WINDOW_STATS_INIT;

    assert_int_equal(llmperf_profile_window(profile, index, &window), 0);
    return window;
}

#define RULE "decode_step p50 above 2 ms for 300 ms collect 10 cooldown 1 s limit 3"

static void the_next_instances_are_collected_one_and_all(void **context)
{
    llmperf_session *session = start(RULE, 1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile;
    llmperf_window_stats window;
    llmperf_window_kernel kernel = LLMPERF_WINDOW_KERNEL_INIT;

    (void)context;
    run_fast(scaled(1500, 500), &steps);
    assert_int_equal(state_of(session).windows, 0);
    run_until(session, 1, &steps);
    run_fast(50, &steps);
    profile = stop(session);
    assert_int_equal(told.opened, 1);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS), 1);
    window = window_of(profile, 0);
    assert_int_equal(window.number, 1);
    assert_string_equal(window.rule, RULE);
    assert_string_equal(window.region, "LLM@decode_step");
    assert_string_equal(window.quantity, "p50");
    assert_string_equal(window.unit, "ms");
    assert_true(window.value > 2 && window.threshold == 2);
    assert_true(window.value_units >= 5);
    assert_int_equal(window.units_asked, 10);
    assert_int_equal(window.units, 10);
    assert_int_equal(window.kernel_count, 10 * SLOW_KERNELS);
    assert_int_equal(window.memory_count, 10);
    check_close(window.kernel_ms, 10 * SLOW_KERNELS * 0.0005);
    check_close(window.memory_ms, 10 * 0.0009);
    assert_true(window.busy_ms > 0 && window.wall_ms > window.busy_ms);
    assert_true(window.triggered_ns <= window.begin_ns && window.begin_ns < window.end_ns);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_WINDOW_KERNELS), 2);
    assert_int_equal(llmperf_profile_window_kernel(profile, 0, &kernel), 0);
    assert_string_equal(kernel.name, "gemm");
    assert_string_equal(kernel.region, "LLM@decode_step/LLM@attention");
    assert_int_equal(kernel.calls, 10 * SLOW_KERNELS);
    assert_int_equal(ledger_of(profile).kernels_in_windows, 10 * SLOW_KERNELS);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(ledger_of(profile).verdict, LLMPERF_VERDICT_SAMPLED);
    llmperf_profile_free(profile);
}

/* What the planted truth is, and what the sample says of it without the windows. */
static void what_is_sampled_stays_a_random_sample(void **context)
{
    llmperf_session *session = start(RULE, 1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile;
    llmperf_region_stats step;
    llmperf_iteration_stats busy;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint64_t in_windows = 0, windowed = 0, sampled = 0;

    (void)context;
    run_fast(scaled(1500, 500), &steps);
    run_until(session, 2, &steps);
    run_fast(50, &steps);
    profile = stop(session);
    step = find_region(profile, "LLM@decode_step", 0);
    busy = find_all_calls(profile, NULL, "busy");
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS); i++)
        in_windows += window_of(profile, i).units + window_of(profile, i).units_left_out;
    /* Host times and amounts are of everything, and the part of windows is reported. */
    assert_int_equal(step.instances, steps.fast + steps.slow);
    assert_int_equal(step.flops, 1000 * steps.fast + 3000 * steps.slow);
    assert_int_equal(step.window_instances, in_windows);
    assert_int_equal(step.window_flops, 3000 * in_windows); /* All in the slow phase. */
    assert_true(step.window_ms > 0 && step.window_ms < step.wall_sum_ms);
    /* Device numbers are of the sample: each instance with its kernels, none of a window. */
    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_ITERATIONS); i++) {
        assert_int_equal(llmperf_profile_iteration(profile, i, &row), 0);
        windowed += row.window != 0;
        sampled += row.window == 0 && !isnan(row.busy_ms);
        if (row.window != 0)
            assert_int_equal(row.activities, SLOW_KERNELS + 1);
    }
    assert_int_equal(windowed, 20);
    assert_true(sampled <= busy.count);
    assert_true(busy.count < (steps.fast + steps.slow) / 2);
    check_close(step.gpu_busy_ms, busy.sum_ms);
    assert_int_equal(step.memcpy_count, 0);
    assert_int_equal(find_kernel(profile, "gemm", "LLM@decode_step/LLM@attention").calls +
                         ledger_of(profile).kernels_in_windows,
                     ledger_of(profile).kernels_attributed);
    /* The share is one of the instances that the sample was drawn from. */
    check_close(1 - step.skipped_fraction, ledger_of(profile).sampled_fraction);
    check_close(step.idle_ms,
                fmax(0, (step.wall_sum_ms - step.window_ms) * (1 - step.skipped_fraction) -
                            step.gpu_busy_ms));
    check_close(find_region(profile, "LLM@decode_step/LLM@attention", 0).skipped_fraction,
                step.skipped_fraction);
    llmperf_profile_free(profile);
}

static void a_rule_that_always_holds_is_held_back(void **context)
{
    llmperf_session *session =
        start("decode_step p50 above 1 us for 200 ms collect 10 cooldown 0 s limit 3", 1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile;
    uint64_t begin_ns = lp_clock_now(), open_ns = 0;

    (void)context;
    run_until(session, 3, &steps);
    for (int i = 0; i < 500; i++) /* longer than any pause behind a window */
        run_step(true);
    assert_int_equal(state_of(session).windows, 3);
    assert_int_equal(told.opened, 3);
    assert_int_equal(told.last, 1);
    profile = stop(session);
    for (size_t i = 0; i < 3; i++) {
        llmperf_window_stats window = window_of(profile, i);

        assert_int_equal(window.number, i + 1);
        assert_int_equal(window.units, 10);
        open_ns += window.end_ns - window.triggered_ns;
        if (i < 2) /* 5 % of the time at most */
            assert_true(window_of(profile, i + 1).triggered_ns - window.end_ns >=
                        19 * (window.end_ns - window.triggered_ns));
    }
    assert_true(open_ns < lp_clock_now() - begin_ns);
    llmperf_profile_free(profile);
}

static _Atomic bool over;

static void *decode(void *context)
{
    (void)context;
    while (!atomic_load(&over))
        run_step(true);
    return NULL;
}

static void instances_of_all_threads_are_taken(void **context)
{
    llmperf_session *session =
        start("decode_step mean above 1 ms for 300 ms collect 40 limit 1", 1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile;
    llmperf_window_stats window;
    pthread_t threads[3];

    (void)context;
    atomic_store(&over, false);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, decode, NULL), 0);
    run_until(session, 1, &steps);
    atomic_store(&over, true);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    profile = stop(session);
    window = window_of(profile, 0);
    assert_int_equal(window.units, 40);
    assert_int_equal(window.kernel_count, 40 * SLOW_KERNELS);
    assert_int_equal(window.memory_count, 40);
    assert_int_equal(ledger_of(profile).launches_missing, 0);
    assert_int_equal(ledger_of(profile).kernels_unattributed, 0);
    llmperf_profile_free(profile);
}

static void a_stop_closes_the_window(void **context)
{
    llmperf_session *session = start("decode_step mean above 1 ms for 300 ms collect 1000", 1);
    uint64_t begin_ns = lp_clock_now(), count = 0;
    llmperf_profile *profile;
    llmperf_window_stats window;

    (void)context;
    while (!state_of(session).window_open) {
        if (lp_clock_now() - begin_ns > PATIENCE_NS)
            fail_msg("no window");
        run_step(true);
    }
    for (; count < 100; count++)
        run_step(true);
    profile = stop(session);
    window = window_of(profile, 0);
    assert_true(window.units > 0 && window.units < 1000);
    assert_int_equal(window.units_asked, 1000);
    assert_int_equal(window.kernel_count, window.units * SLOW_KERNELS);
    llmperf_profile_free(profile);
    session = start(NULL, 1); /* The next one knows of no window. */
    run_step(false);
    profile = stop(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS), 0);
    assert_int_equal(find_region(profile, "LLM@decode_step", 0).kernel_count, FAST_KERNELS);
    llmperf_profile_free(profile);
}

static void what_holds_not_opens_nothing(void **context)
{
    llmperf_session *session = start("decode_step p99 below 1 us for 200 ms;"
                                     "prefill mean above 1 us for 200 ms;"
                                     "decode_step tokens/s above 1000000 for 200 ms",
                                     1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile;

    (void)context;
    run_fast(scaled(2500, 1500), &steps);
    assert_int_equal(state_of(session).windows, 0);
    profile = stop(session);
    assert_int_equal(llmperf_profile_count(profile, LLMPERF_ROWS_WINDOWS), 0);
    assert_int_equal(ledger_of(profile).kernels_in_windows, 0);
    llmperf_profile_free(profile);
}

static void rates_and_idle_shares_open_windows_too(void **context)
{
    static const char *const rules[] = { "decode_step tokens/s below 500 for 300 ms limit 1",
                                         "decode_step idle above 0.1 % for 500 ms limit 1" };

    (void)context;
    for (size_t i = 0; i < 2; i++) {
        llmperf_session *session = start(rules[i], 500);
        struct steps steps = { 0, 0 };
        llmperf_profile *profile;

        run_until(session, 1, &steps);
        profile = stop(session);
        assert_int_equal(window_of(profile, 0).units, 20);
        assert_string_equal(window_of(profile, 0).quantity, i == 0 ? "tokens/s" : "idle");
        llmperf_profile_free(profile);
    }
}

static void windows_stand_in_the_run_and_in_its_reports(void **context)
{
    llmperf_session *session = start(RULE, 1);
    struct steps steps = { 0, 0 };
    llmperf_profile *profile, *again = NULL;
    const char *path = in_test_folder("windows.llmperf");
    char *text = NULL, *before, *after;

    (void)context;
    run_until(session, 1, &steps);
    profile = stop(session);
    assert_int_equal(llmperf_document_text(profile, LLMPERF_DOCUMENT_REPORT_MD, &text), 0);
    assert_non_null(strstr(text, "## Triggered windows"));
    assert_non_null(strstr(text, RULE));
    llmperf_text_free(text);
    before = lasting_metrics(profile);
    assert_non_null(strstr(before, "\"units_asked\": 10"));
    assert_int_equal(llmperf_profile_save(profile, path), 0);
    assert_int_equal(llmperf_profile_open(path, &again), 0);
    after = lasting_metrics(again);
    assert_string_equal(before, after);
    free(before);
    free(after);
    llmperf_profile_free(profile);
    llmperf_profile_free(again);
}

static void a_rule_that_cannot_be_is_no_session(void **context)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_session *session = NULL;

    (void)context;
    options.tier = LLMPERF_TIER_LIGHT;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.rules = "decode_step p98 > 3 ms";
    assert_int_equal(llmperf_session_start(&options, &session), LLMPERF_EINVAL);
    check_error("\"p98\" is not a known quantity");
}

static void rules_of_a_session_that_does_not_sample_are_noted(void **context)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;
    llmperf_profile *profile;

    (void)context;
    options.device_source = LLMPERF_SOURCE_FAKE;
    options.tier = LLMPERF_TIER_DEEP;
    options.rules = RULE;
    profile = play_options(&options);
    assert_true(has_note(profile, "rules have no effect; use tier light"));
    llmperf_profile_free(profile);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_instances_are_collected_one_and_all),
        cmocka_unit_test(what_is_sampled_stays_a_random_sample),
        cmocka_unit_test(a_rule_that_always_holds_is_held_back),
        cmocka_unit_test(instances_of_all_threads_are_taken),
        cmocka_unit_test(a_stop_closes_the_window),
        cmocka_unit_test(what_holds_not_opens_nothing),
        cmocka_unit_test(rates_and_idle_shares_open_windows_too),
        cmocka_unit_test(windows_stand_in_the_run_and_in_its_reports),
        cmocka_unit_test(a_rule_that_cannot_be_is_no_session),
        cmocka_unit_test(rules_of_a_session_that_does_not_sample_are_noted),
    };

    return run_cases_at_once(argc, argv, tests, make_test_folder, remove_test_folder);
}
