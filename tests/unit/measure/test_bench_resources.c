/* SPDX-License-Identifier: Apache-2.0 */
/* What measuring takes of a GPU it gives back, also where it cannot begin. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/measure/bench.h"
#include "lib/measure/copies.h"
#include "tests/mock/cuda_bench.h"
#include "tests/support/play.h"

#define MIB ((size_t)1 << 20)

static struct mock_cuda_bench *gpu;

static int load_gpu(void **state)
{
    struct mock_cuda_bench *(*get)(void);
    char path[4096];
    void *library, *address;

    (void)state;
    snprintf(path, sizeof(path), "%s/libcuda.so.1", getenv("LLMPERF_MOCK"));
    if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) ||
        !(address = dlsym(library, "mock_cuda_bench")))
        return -1;
    memcpy(&get, &address, sizeof(address));
    gpu = get();
    *gpu = (struct mock_cuda_bench){ .free_bytes = 1024 * MIB };
    return 0;
}

static void assert_nothing_is_held(void)
{
    assert_int_equal(gpu->retained, 0);
    assert_int_equal(gpu->pushed, 0);
    assert_int_equal(gpu->buffers, 0);
    assert_int_equal(gpu->streams, 0);
    assert_int_equal(gpu->events, 0);
}

static void all_is_given_back(void **state)
{
    struct lp_bench bench;

    (void)state;
    assert_int_equal(lp_bench_open(&bench, 0, NULL, 100 * MIB), 0);
    assert_int_equal(bench.buffer_bytes, 100 * MIB);
    assert_int_equal(gpu->buffers, LP_BENCH_BUFFERS);
    assert_int_equal(gpu->retained, 1);
    lp_bench_close(&bench);
    assert_nothing_is_held();
}

static void no_more_than_a_quarter_of_the_free_memory_is_taken_for_each(void **state)
{
    struct lp_bench bench;

    (void)state;
    assert_int_equal(lp_bench_open(&bench, 0, NULL, 4096 * MIB), 0);
    assert_int_equal(gpu->largest, 256 * MIB);
    lp_bench_close(&bench);
    assert_nothing_is_held();
}

static void too_little_memory_is_an_error(void **state)
{
    struct lp_bench bench;

    (void)state;
    gpu->free_bytes = 63 * MIB;
    assert_int_equal(lp_bench_open(&bench, 0, NULL, 100 * MIB), LLMPERF_ENOMEM);
    check_error("63 MB are free");
    assert_nothing_is_held();
    gpu->free_bytes = 64 * MIB;
    assert_int_equal(lp_bench_open(&bench, 0, NULL, 100 * MIB), 0);
    lp_bench_close(&bench);
}

static void what_fails_half_way_leaves_nothing_behind(void **state)
{
    int *const results[] = { &gpu->push_result, &gpu->stream_result, &gpu->event_result };
    struct lp_bench bench;

    (void)state;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        *results[i] = 999;
        assert_int_equal(lp_bench_open(&bench, 0, NULL, 100 * MIB), LLMPERF_ENODEVICE);
        check_error("failed with 999");
        assert_nothing_is_held();
        *results[i] = 0;
    }
}

static const struct lp_sweep_point *find_point(const struct lp_sweep *sweep, const char *what,
                                               uint64_t bytes)
{
    const struct lp_sweep_point *point = lp_sweep_nearest(sweep, what, bytes, 1, 1);

    assert_non_null(point);
    assert_int_equal(point->m, bytes);
    return point;
}

static void copies_are_measured_by_size_direction_and_memory(void **state)
{
    struct lp_sweep sweep = { .count = 0 };
    struct lp_bench bench;

    (void)state;
    assert_int_equal(lp_bench_open(&bench, 0, NULL, 256 * MIB), 0);
    bench.seconds = 0.001;
    gpu->runs_copies = 1;
    lp_measure_copies(&bench, &sweep);
    gpu->runs_copies = 0;
    lp_bench_close(&bench);
    assert_int_equal(sweep.count, 25);
    assert_int_equal(find_point(&sweep, "htod_pinned", 4096)->ns, 1000 + 4096 / 64);
    assert_int_equal(find_point(&sweep, "dtoh_pageable", 1 << 16)->ns, 1000 + (1 << 16) / 4);
    assert_int_equal(find_point(&sweep, "dtod", 1 << 20)->ns, 1000 + (1 << 20) / 2048);
    assert_null(gpu->pinned);
    assert_nothing_is_held();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_is_given_back, load_gpu),
        cmocka_unit_test_setup(copies_are_measured_by_size_direction_and_memory, load_gpu),
        cmocka_unit_test_setup(no_more_than_a_quarter_of_the_free_memory_is_taken_for_each,
                               load_gpu),
        cmocka_unit_test_setup(too_little_memory_is_an_error, load_gpu),
        cmocka_unit_test_setup(what_fails_half_way_leaves_nothing_behind, load_gpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
