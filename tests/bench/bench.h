/* SPDX-License-Identifier: Apache-2.0 */
/** What the benchmarks share: clocks, the median, and the rows that run.sh gathers into one table.
 */
#ifndef LP_TESTS_BENCH_BENCH_H
#define LP_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "llmperf/llmperf.h"

#define BENCH_MOST_ROUNDS 64

struct bench_samples {
    size_t count;
    double values[BENCH_MOST_ROUNDS];
};

static inline uint64_t bench_time_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline void bench_add(struct bench_samples *samples, double value)
{
    if (samples->count < BENCH_MOST_ROUNDS)
        samples->values[samples->count++] = value;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Sorts the samples. 0 if there are none. */
static inline double bench_median(struct bench_samples *samples)
{
    size_t middle = samples->count / 2;

    if (samples->count == 0)
        return 0;
    qsort(samples->values, samples->count, sizeof(double), bench_compare);
    return samples->count % 2 ? samples->values[middle]
                              : (samples->values[middle - 1] + samples->values[middle]) / 2;
}

/** A row of the table: lines that start with a bar. */
static inline void bench_row(const char *what, const char *measured, const char *beside,
                             const char *target, bool met)
{
    printf("| %s | %s | %s | %s | %s |\n", what, measured, beside, target, met ? "yes" : "NO");
}

/** Ends the program with the library's error text if a call failed. */
static inline void bench_need(int status, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, llmperf_last_error());
    exit(1);
}

#endif
