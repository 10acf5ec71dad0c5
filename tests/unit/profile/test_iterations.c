/* SPDX-License-Identifier: Apache-2.0 */
/** Busy and idle time of an instance against a slow count, and reading iterations while they are
 * written. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/record/paths.h"
#include "lib/profile/iterations.h"
#include "llmperf/profile.h"

#define UNIT  0x10001u
#define INNER 0x10002u

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Kernels on two streams, every time a multiple of 64 ns as the launch times are. */
static void make_kernels(struct lp_activity *kernels, size_t count)
{
    uint64_t random = 7, free_ns[2] = { 64000, 64000 }, called_ns = 64000;

    for (size_t i = 0; i < count; i++) {
        size_t stream = next_random(&random) % 2;
        uint64_t start_ns;

        called_ns += 64 * (next_random(&random) % 50);
        start_ns = called_ns + 128 > free_ns[stream] ? called_ns + 128 : free_ns[stream];
        start_ns += 64 * (next_random(&random) % 8);
        free_ns[stream] = start_ns + 64 * (1 + next_random(&random) % 30);
        kernels[i] = (struct lp_activity){ .start_ns = start_ns,
                                           .end_ns = free_ns[stream],
                                           .unit = UNIT,
                                           .queued = lp_queued(called_ns),
                                           .kind = LLMPERF_ACTIVITY_KERNEL };
    }
}

/* Records of two streams come a little out of order. */
static void shuffle(struct lp_activity *kernels, size_t count)
{
    uint64_t random = 11;

    for (size_t i = 0; i + 64 < count; i++) {
        size_t other = i + next_random(&random) % 64;
        struct lp_activity kernel = kernels[i];

        kernels[i] = kernels[other];
        kernels[other] = kernel;
    }
}

struct sums {
    uint64_t span_ns, busy_ns, launch_ns, wait_ns;
};

static int compare_starts(const void *left, const void *right)
{
    const struct lp_activity *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Calls that came while the device was idle: how long their work took to begin. */
static uint64_t next_latency(uint64_t latency_ns, uint64_t sample_ns)
{
    if (sample_ns == 0)
        return latency_ns;
    if (latency_ns == 0)
        return sample_ns;
    if (sample_ns > latency_ns)
        return latency_ns + latency_ns / 64 + 1;
    return latency_ns - latency_ns / 64 - 1;
}

static struct sums count_slowly(const struct lp_activity *kernels, size_t count)
{
    struct lp_activity *sorted = malloc(count * sizeof(*sorted));
    struct sums sums = { 0, 0, 0, 0 };
    uint64_t end_ns = 0, latency_ns = 0;

    memcpy(sorted, kernels, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_starts);
    for (size_t i = 0; i < count; i++) {
        uint64_t called_ns = (uint64_t)sorted[i].queued << 6, start_ns = sorted[i].start_ns;
        uint64_t could_ns = called_ns + latency_ns; /* begin, on an idle device */

        if (i == 0 || start_ns <= end_ns) {
            end_ns = sorted[i].end_ns > end_ns ? sorted[i].end_ns : end_ns;
            continue;
        }
        if (called_ns > end_ns) {
            sums.launch_ns += start_ns - end_ns;
            latency_ns = next_latency(latency_ns, start_ns - called_ns);
        } else if (could_ns > start_ns) {
            sums.launch_ns += start_ns - end_ns;
        } else if (could_ns > end_ns) {
            sums.launch_ns += could_ns - end_ns;
            sums.wait_ns += start_ns - could_ns;
        } else {
            sums.wait_ns += start_ns - end_ns;
        }
        end_ns = sorted[i].end_ns;
    }
    sums.span_ns = end_ns - sorted[0].start_ns;
    sums.busy_ns = sums.span_ns - sums.launch_ns - sums.wait_ns;
    free(sorted);
    return sums;
}

static void begin_unit(struct lp_iterations *iterations)
{
    assert_int_equal(lp_iterations_init(iterations), 0);
    lp_iterations_begin(iterations, UNIT, 0, lp_path_intern(LP_PATH_ROOT, "LLM@prefill"), 1000,
                        true, 0);
}

/* Takes the kernels. */
static void check_kernels(struct lp_activity *kernels, size_t count)
{
    struct lp_iterations iterations;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    struct sums sums = count_slowly(kernels, count);
    uint32_t node;

    begin_unit(&iterations);
    for (size_t i = 0; i < count; i++)
        lp_iterations_add(&iterations, &kernels[i], 3);
    assert_non_null(lp_iterations_end(&iterations, UNIT, 2000, false));
    lp_iterations_done(&iterations, UNIT, true, &node, &row);
    assert_true(lp_iteration_ring_next(iterations.recent, 0, &row));
    assert_int_equal(row.activities, count);
    assert_true(fabs(row.span_ms * 1e6 - (double)sums.span_ns) < 0.01);
    assert_true(fabs(row.busy_ms * 1e6 - (double)sums.busy_ns) < 0.01);
    assert_true(fabs(row.idle_launch_ms * 1e6 - (double)sums.launch_ns) < 0.01);
    assert_true(fabs(row.idle_wait_ms * 1e6 - (double)sums.wait_ns) < 0.01);
    assert_true(count < 100 || (sums.launch_ns > 0 && sums.wait_ns > 0));
    lp_iterations_clear(&iterations);
    free(kernels);
}

static void check_instance(size_t count)
{
    struct lp_activity *kernels = malloc(count * sizeof(*kernels));

    make_kernels(kernels, count);
    shuffle(kernels, count);
    check_kernels(kernels, count);
}

static void times_are_those_of_a_slow_count(void **state)
{
    (void)state;
    check_instance(2);
    check_instance(700);
}

static void an_instance_of_any_length_is_exact_in_bounded_memory(void **state)
{
    (void)state;
    check_instance(600000);
}

/* Each device has its buffers: those of one come after those of another of the same time. */
static void buffers_of_several_devices_may_come_one_after_the_other(void **state)
{
    const size_t count = 400000, buffer = 20000;
    struct lp_activity *kernels = malloc(count * sizeof(*kernels));
    struct lp_activity *arrived = malloc(count * sizeof(*kernels));
    size_t out = 0;

    (void)state;
    make_kernels(kernels, count);
    for (size_t from = 0; from < count; from += 4 * buffer)
        for (size_t device = 0; device < 4; device++)
            for (size_t i = device; i < 4 * buffer; i += 4)
                arrived[out++] = kernels[from + i];
    assert_int_equal(out, count);
    free(kernels);
    check_kernels(arrived, count);
}

/* Behind what is kept nothing can be put in order: that is counted. */
static void what_comes_far_too_late_is_counted(void **state)
{
    struct lp_activity kernel = { .unit = UNIT };
    struct lp_iterations iterations;

    (void)state;
    begin_unit(&iterations);
    for (uint64_t i = 1; i <= 300000; i++) {
        kernel.start_ns = i * 1000;
        kernel.end_ns = kernel.start_ns + 10;
        lp_iterations_add(&iterations, &kernel, 0);
    }
    assert_int_equal(iterations.unordered, 0);
    kernel.start_ns = 500;
    kernel.end_ns = 600;
    lp_iterations_add(&iterations, &kernel, 0);
    assert_int_equal(iterations.unordered, 1);
    lp_iterations_clear(&iterations);
}

/* Longer than 32 bits of nanoseconds. */
static void work_of_many_seconds_is_exact(void **state)
{
    const uint64_t s = UINT64_C(1000000000);
    const struct lp_activity kernels[] = {
        { .start_ns = s, .end_ns = 12 * s, .unit = UNIT, .queued = lp_queued(s) },
        { .start_ns = 2 * s, .end_ns = 3 * s, .unit = UNIT, .queued = lp_queued(s) },
        { .start_ns = 11 * s, .end_ns = 20 * s, .unit = UNIT, .queued = lp_queued(s) },
        { .start_ns = 26 * s, .end_ns = 27 * s, .unit = UNIT, .queued = lp_queued(25 * s) },
        { .start_ns = 29 * s, .end_ns = 38 * s, .unit = UNIT, .queued = lp_queued(26 * s) },
    };
    struct lp_iterations iterations;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint32_t node;

    (void)state;
    begin_unit(&iterations);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        lp_iterations_add(&iterations, &kernels[i], 3);
    lp_iterations_end(&iterations, UNIT, 2000, false);
    assert_true(lp_iterations_done(&iterations, UNIT, true, &node, &row));
    assert_int_equal(row.activities, 5);
    assert_true(fabs(row.busy_ms - 29000) < 1e-6);
    assert_true(fabs(row.span_ms - 37000) < 1e-6);
    assert_true(fabs(row.idle_host_ms - 6000) < 1e-6);
    assert_true(fabs(row.idle_wait_ms - 2000) < 1e-6);
    assert_true(fabs(row.class_ms[3] - 31000) < 1e-6);
    lp_iterations_clear(&iterations);
}

/* Calls every 7 us, work of 2 us that begins 6 us after its call: the next call comes before the
 * work of this one is over, and the host is late all the same. */
static void a_launch_takes_its_time_to_reach_the_device(void **state)
{
    const uint64_t us = 1024, steps = 1000; /* a multiple of 64 ns */
    struct lp_activity kernel = { .unit = UNIT };
    struct lp_iterations iterations;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint32_t node;

    (void)state;
    begin_unit(&iterations);
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t called_ns = 1000 * us + i * 7 * us + (i == 0 ? 0 : 4 * us);

        kernel.queued = lp_queued(called_ns);
        kernel.start_ns = called_ns + 6 * us;
        kernel.end_ns = kernel.start_ns + 2 * us;
        lp_iterations_add(&iterations, &kernel, 0);
    }
    /* Its call was long ago: it waits for something else. */
    kernel.start_ns += 100 * us;
    kernel.end_ns += 100 * us;
    lp_iterations_add(&iterations, &kernel, 0);
    lp_iterations_end(&iterations, UNIT, 2000, false);
    assert_true(lp_iterations_done(&iterations, UNIT, true, &node, &row));
    assert_true(fabs(row.idle_launch_ms * 1e6 - (double)((9 + 998 * 5) * us)) < 0.01);
    assert_true(fabs(row.idle_wait_ms * 1e6 - (double)(98 * us)) < 0.01);
    lp_iterations_clear(&iterations);
}

/* A call from 1000 to 2000 whose kernel runs from 5000 to 6000, after one of the same length. */
static llmperf_iteration after_another(bool collected, uint64_t end_ns)
{
    struct lp_activity kernels[] = { { .start_ns = 3000, .end_ns = 4500, .unit = UNIT },
                                     { .start_ns = 5000, .end_ns = 6000, .unit = INNER } };
    struct lp_iterations iterations;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint32_t node = lp_path_intern(LP_PATH_ROOT, "LLM@decode_step");

    assert_int_equal(lp_iterations_init(&iterations), 0);
    lp_iterations_begin(&iterations, UNIT, 0, node, 500, collected, 0);
    if (collected)
        lp_iterations_add(&iterations, &kernels[0], 0);
    lp_iterations_end(&iterations, UNIT, 900, false);
    lp_iterations_done(&iterations, UNIT, true, &node, &row);
    lp_iterations_begin(&iterations, INNER, 0, node, 1000, true, 0);
    lp_iterations_add(&iterations, &kernels[1], 0);
    lp_iterations_end(&iterations, INNER, end_ns, false);
    assert_true(lp_iterations_done(&iterations, INNER, true, &node, &row));
    lp_iterations_clear(&iterations);
    return row;
}

static void elapsed_time_begins_when_the_device_was_free(void **state)
{
    (void)state;
    assert_true(fabs(after_another(true, 2000).elapsed_ms * 1e6 - 1500) < 0.01);
    /* Not collected: work that runs on after its region was launched ahead. */
    assert_true(fabs(after_another(false, 2000).elapsed_ms * 1e6 - 1000) < 0.01);
    /* The host waited for it, so nothing ran before. */
    assert_true(fabs(after_another(false, 7000).elapsed_ms * 1e6 - 6000) < 0.01);
    assert_true(fabs(after_another(false, 7000).after_ms * 1e6 - 1000) < 0.01);
}

static void late_work_of_a_finished_instance_changes_nothing_but_a_count(void **state)
{
    struct lp_activity kernel = { .start_ns = 64000, .end_ns = 65000, .unit = UNIT };
    struct lp_iterations iterations;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint32_t node;

    (void)state;
    begin_unit(&iterations);
    lp_iterations_end(&iterations, UNIT, 2000, false);
    lp_iterations_done(&iterations, UNIT, true, &node, &row);
    lp_iterations_add(&iterations, &kernel, 0);
    lp_iterations_done(&iterations, UNIT, true, &node, &row);
    assert_int_equal(iterations.late, 1);
    assert_int_equal(iterations.sequence, 1);
    lp_iterations_clear(&iterations);
}

#define ROWS 200000u

static struct lp_iteration_ring ring;

static void *write_rows(void *context)
{
    (void)context;
    for (uint64_t i = 1; i <= ROWS; i++) {
        llmperf_iteration row = LLMPERF_ITERATION_INIT;

        row.sequence = row.begin_ns = row.tokens = row.bytes = i;
        row.class_ms[LLMPERF_ITERATION_CLASSES - 1] = (double)i;
        lp_iteration_ring_put(&ring, &row);
    }
    return NULL;
}

/* One after the other, each with a kernel of its own; the second lies in the first. */
static void run_nested(struct lp_iterations *iterations, bool inner_collected, bool outer_collected)
{
    uint32_t prefill = lp_path_intern(LP_PATH_ROOT, "LLM@prefill"), node;
    struct lp_activity kernel = { .start_ns = 2000, .end_ns = 2500, .unit = UNIT };
    llmperf_iteration row = LLMPERF_ITERATION_INIT;

    lp_iterations_begin(iterations, UNIT, 0, prefill, 1000, outer_collected, 3);
    lp_iterations_begin(iterations, INNER, UNIT, lp_path_intern(prefill, "LLM@vision"), 1500,
                        inner_collected, 3);
    lp_iterations_add(iterations, &kernel, 0);
    kernel.unit = INNER;
    kernel.start_ns = 3000;
    kernel.end_ns = 3100;
    lp_iterations_add(iterations, &kernel, 0);
    lp_iterations_end(iterations, INNER, 5000, false);
    lp_iterations_end(iterations, UNIT, 9000, false);
    assert_true(lp_iterations_done(iterations, INNER, true, &node, &row));
    assert_true(lp_iterations_done(iterations, UNIT, true, &node, &row));
}

static void a_window_counts_a_stage_in_a_stage_once(void **state)
{
    struct lp_iterations iterations;
    const struct lp_window_total *window;

    (void)state;
    assert_int_equal(lp_iterations_init(&iterations), 0);
    run_nested(&iterations, true, true);
    window = lp_windows_find(&iterations.windows, 3);
    assert_non_null(window);
    assert_int_equal(window->units, 1);
    assert_int_equal(window->wall_ns, 8000);
    assert_int_equal(window->busy_ns, 600);
    assert_int_equal(window->idle_ns, 500);
    run_nested(&iterations, false, false);
    assert_int_equal(window->units, 1);
    assert_int_equal(window->left_out, 1);
    run_nested(&iterations, true, false); /* The window opened in the middle of the outer one. */
    assert_int_equal(window->units, 2);
    assert_int_equal(window->left_out, 2);
    assert_int_equal(window->wall_ns, 8000 + 3500);
    assert_int_equal(window->busy_ns, 600 + 100);
    lp_iterations_clear(&iterations);
}

/* The host counts a call when it ends, the others when their device work is known. */
static void collected_calls_are_known_before_the_last_ones_are_done(void **state)
{
    struct lp_iterations iterations;
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;
    llmperf_iteration row = LLMPERF_ITERATION_INIT;
    uint32_t prefill = lp_path_intern(LP_PATH_ROOT, "LLM@prefill"), node;

    (void)state;
    begin_unit(&iterations);
    lp_iterations_end(&iterations, UNIT, 9000, false);
    assert_true(lp_iterations_done(&iterations, UNIT, true, &node, &row));
    stats.instances = 2;
    lp_iterations_fill(&iterations, prefill, &stats);
    assert_true(stats.collected_wall_ms == 0.008);
    assert_true(isnan(stats.active_ms)); /* of two calls, not of one */
    stats.instances = 1;
    lp_iterations_fill(&iterations, prefill, &stats);
    assert_true(stats.collected_wall_ms == 0.008 && !isnan(stats.active_ms));
    lp_iterations_clear(&iterations);
}

static void rows_that_are_read_while_others_are_written_are_whole(void **state)
{
    pthread_t writer;
    uint64_t last = 0;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, write_rows, NULL), 0);
    while (last < ROWS) {
        llmperf_iteration row = LLMPERF_ITERATION_INIT;

        if (!lp_iteration_ring_next(&ring, last, &row))
            continue;
        assert_true(row.sequence > last && row.sequence <= ROWS);
        assert_true(row.begin_ns == row.sequence && row.tokens == row.sequence &&
                    row.bytes == row.sequence);
        assert_true((uint64_t)row.class_ms[LLMPERF_ITERATION_CLASSES - 1] == row.sequence);
        last = row.sequence;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_a_slow_count),
        cmocka_unit_test(an_instance_of_any_length_is_exact_in_bounded_memory),
        cmocka_unit_test(buffers_of_several_devices_may_come_one_after_the_other),
        cmocka_unit_test(what_comes_far_too_late_is_counted),
        cmocka_unit_test(work_of_many_seconds_is_exact),
        cmocka_unit_test(a_launch_takes_its_time_to_reach_the_device),
        cmocka_unit_test(elapsed_time_begins_when_the_device_was_free),
        cmocka_unit_test(late_work_of_a_finished_instance_changes_nothing_but_a_count),
        cmocka_unit_test(a_window_counts_a_stage_in_a_stage_once),
        cmocka_unit_test(collected_calls_are_known_before_the_last_ones_are_done),
        cmocka_unit_test(rows_that_are_read_while_others_are_written_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
