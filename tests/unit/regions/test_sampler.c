/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of several threads: records are on from the begin of a window to its end. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/regions/sampler.h"
#include "lib/record/paths.h"
#include "lib/record/record.h"
#include "tests/support/play.h"

#define THREADS 4
#define ROUNDS  20000

static _Atomic int records_on;
static _Atomic unsigned windows, spoilt;

/* Others run between the two: a switch takes its time. */
static void collect(enum lp_collect what)
{
    sched_yield();
    atomic_store(&records_on, what == LP_COLLECT_KERNELS || what == LP_COLLECT_ALL);
    sched_yield();
}

static bool takes(enum lp_launch_kind kind)
{
    return lp_sampler_takes(lp_thread_get(), kind, atomic_load(&lp_sampler_word));
}

static void *run_instances(void *argument)
{
    struct lp_thread *thread = lp_thread_get();
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value;

    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (lp_sampler_open(thread, node, &value) != LP_BEGIN_NOW)
            continue;
        windows++;
        for (int look = 0; look < 5; look++) {
            spoilt += !atomic_load(&records_on);
            sched_yield();
        }
        lp_sampler_close(thread);
    }
    return NULL;
}

static void a_window_is_left_before_another_opens(void **state)
{
    const char *const labels[] = { "decode_step" };
    pthread_t threads[THREADS];

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, run_instances, NULL), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_true(windows > 0);
    assert_int_equal(spoilt, 0);
    assert_int_equal(records_on, 0);
    lp_sampler_end();
}

static void the_end_takes_the_window_away(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value;

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_SKIPPED);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_NOW);
    assert_int_equal(records_on, 1);
    assert_true(takes(LP_LAUNCH_KERNEL));
    assert_false(takes(LP_LAUNCH_MEMORY)); /* they bring no records */
    lp_sampler_end();
    assert_int_equal(records_on, 0);
    lp_sampler_close(lp_thread_get());
    assert_int_equal(records_on, 0);
}

static void a_label_of_domain_llm_also_samples_stages_of_engines(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t stage = lp_path_intern(LP_PATH_ROOT, "engine@decode_step");
    uint32_t other = lp_path_intern(LP_PATH_ROOT, "other@decode_step");
    uint64_t value;

    (void)state;
    lp_path_set_kind(stage, LLMPERF_REGION_STAGE);
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    lp_sampler_open(lp_thread_get(), other, &value);
    assert_int_equal(records_on, 0);
    assert_int_equal(lp_sampler_open(lp_thread_get(), stage, &value), LP_BEGIN_NOW);
    assert_int_equal(records_on, 1);
    lp_sampler_close(lp_thread_get());
    lp_sampler_end();
}

/* A thread may have seen sampling on just before it ended. It must not switch records any more: a
 * session that collects everything may have them on. */
static void after_the_end_no_window_opens(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value;

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    lp_sampler_end();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_SKIPPED);
    assert_int_equal(records_on, 0);
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_NOW);
    lp_sampler_close(lp_thread_get());
    lp_sampler_end();
}

static void *take_place(void *argument)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t number;

    *(uint16_t *)argument = lp_sampler_open(lp_thread_get(), node, &number);
    lp_thread_self->window_depth = 0; /* It ends in the middle, and its window is not left. */
    return NULL;
}

/* Windows are numbered from 1 in each session. */
static void an_instance_of_an_earlier_session_does_not_close_a_window(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint16_t taken = 0;
    pthread_t other;
    uint64_t number;

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    lp_sampler_trigger(1, 1);
    assert_true(lp_sampler_triggered());
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &number), LP_BEGIN_TRIGGERED);
    lp_sampler_end();
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    lp_sampler_trigger(1, 1);
    assert_true(lp_sampler_triggered());
    assert_int_equal(pthread_create(&other, NULL, take_place, &taken), 0);
    pthread_join(other, NULL);
    assert_int_equal(taken, LP_BEGIN_TRIGGERED);
    assert_false(takes(LP_LAUNCH_KERNEL));
    lp_sampler_close(lp_thread_get());
    assert_true(lp_sampler_triggered());
    lp_sampler_end();
    assert_int_equal(records_on, 0);
}

/* Its launches would lose their records in the middle. */
static void cupti_does_not_leave_while_a_call_is_collected(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value;

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_burst(2);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_NOW);
    assert_false(lp_sampler_detach());
    assert_int_equal(lp_sampler_burst_left(), 1);
    lp_sampler_close(lp_thread_get());
    assert_true(lp_sampler_detach());
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_SKIPPED);
    lp_sampler_end();
}

static void *run_until_over(void *argument)
{
    struct lp_thread *thread = lp_thread_get();
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value;

    while (!atomic_load((_Atomic bool *)argument)) {
        if (lp_sampler_open(thread, node, &value) != LP_BEGIN_NOW)
            continue;
        windows++;
        lp_sampler_close(thread);
    }
    return NULL;
}

/* What ThreadSanitizer is to look at: sampling begins anew, of other labels, while threads look. */
static void labels_change_while_threads_run(void **state)
{
    const char *const labels[][2] = { { "prefill", "LLM@decode_step" },
                                      { "LLM@decode_step", "vision" } };
    _Atomic bool over = false;
    pthread_t threads[THREADS];

    (void)state;
    atomic_store(&windows, 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, run_until_over, &over), 0);
    for (int i = 0; i < scaled(100, 1000) || atomic_load(&windows) == 0; i++) {
        lp_sampler_begin(labels[i % 2], (size_t)(1 + i / 2 % 2), 1, collect, NULL);
        lp_sampler_go();
        sched_yield();
        lp_sampler_end();
    }
    atomic_store(&over, true);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(records_on, 0);
}

/* Each call has the chance that its record says. */
static void one_call_of_each_block_is_sampled(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    unsigned places[10] = { 0 };
    uint64_t value;

    (void)state;
    lp_sampler_begin(labels, 1, 10, collect, NULL);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_NOW);
    assert_true(value == (1 | LP_CHANCE_FIRST));
    lp_sampler_close(lp_thread_get());
    for (int block = 0; block < 10000; block++) {
        int sampled = 0;

        for (int i = 0; i < 10; i++) {
            if (lp_sampler_open(lp_thread_get(), node, &value) == LP_BEGIN_NOW) {
                sampled++;
                places[i]++;
                lp_sampler_close(lp_thread_get());
            }
            assert_int_equal(LP_CHANCE_EVERY(value), 10);
        }
        assert_int_equal(sampled, 1);
    }
    lp_sampler_end();
    for (int i = 0; i < 10; i++)
        assert_in_range(places[i], 850, 1150); /* 5 standard deviations */
}

/* Places of the sampled calls in ten blocks, one decimal digit each. */
static uint64_t places_with_seed(uint64_t seed)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value, places = 0;

    lp_sampler_seed(seed);
    lp_sampler_begin(labels, 1, 10, collect, NULL);
    lp_sampler_go();
    for (int i = -1; i < 100; i++) /* the first call is always sampled */
        if (lp_sampler_open(lp_thread_get(), node, &value) == LP_BEGIN_NOW) {
            places = 10 * places + (uint64_t)(i < 0 ? 0 : i % 10);
            lp_sampler_close(lp_thread_get());
        }
    lp_sampler_end();
    return places;
}

static void a_seed_decides_which_calls_are_sampled(void **state)
{
    (void)state;
    assert_true(places_with_seed(1) == places_with_seed(1));
    assert_true(places_with_seed(1) != places_with_seed(UINT64_C(0xfedcba9876543210)));
}

static void *sample_one(void *argument)
{
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint64_t value = 0;

    *(uint16_t *)argument = lp_sampler_open(lp_thread_get(), node, &value);
    if (*(uint16_t *)argument == LP_BEGIN_NOW)
        lp_sampler_close(lp_thread_get());
    return NULL;
}

/* If the second one were skipped, calls that overlap would be sampled less often. */
static void calls_of_two_threads_are_sampled_at_once(void **state)
{
    const char *const labels[] = { "decode_step" };
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");
    uint16_t taken = LP_BEGIN_SKIPPED;
    pthread_t other;
    uint64_t value = 0;

    (void)state;
    lp_sampler_begin(labels, 1, 1, collect, NULL);
    lp_sampler_go();
    assert_int_equal(lp_sampler_open(lp_thread_get(), node, &value), LP_BEGIN_NOW);
    assert_int_equal(pthread_create(&other, NULL, sample_one, &taken), 0);
    pthread_join(other, NULL);
    assert_int_equal(taken, LP_BEGIN_NOW);
    assert_int_equal(records_on, 1);
    assert_true(takes(LP_LAUNCH_KERNEL));
    lp_sampler_close(lp_thread_get());
    assert_int_equal(records_on, 0);
    lp_sampler_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_left_before_another_opens),
        cmocka_unit_test(the_end_takes_the_window_away),
        cmocka_unit_test(a_label_of_domain_llm_also_samples_stages_of_engines),
        cmocka_unit_test(after_the_end_no_window_opens),
        cmocka_unit_test(an_instance_of_an_earlier_session_does_not_close_a_window),
        cmocka_unit_test(cupti_does_not_leave_while_a_call_is_collected),
        cmocka_unit_test(labels_change_while_threads_run),
        cmocka_unit_test(one_call_of_each_block_is_sampled),
        cmocka_unit_test(a_seed_decides_which_calls_are_sampled),
        cmocka_unit_test(calls_of_two_threads_are_sampled_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
