/* SPDX-License-Identifier: Apache-2.0 */
/** What the GPU tests share: a check that counts, and a session around some work. */
#ifndef LP_TESTS_GPU_CHECK_H
#define LP_TESTS_GPU_CHECK_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llmperf/llmperf.h"

#define SKIPPED 77

static int checks_failed;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition);                          \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            checks_failed++;                                                                       \
        }                                                                                          \
    } while (0)

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("FAILED %s:%d: %s: %s\n", __FILE__, __LINE__, #call,                            \
                   cudaGetErrorString(status_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/** A kernel that lasts so many clock cycles of its SM. */
[[maybe_unused]] static __global__ void spin(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

/** Skips the test without a device. */
static inline void need_device(int wanted)
{
    int count = 0;

    if (cudaGetDeviceCount(&count) != cudaSuccess || count < wanted) {
        printf("skipped: %d CUDA device(s), %d needed\n", count, wanted);
        exit(SKIPPED);
    }
}

/** A session over CUPTI, or the end of the test. */
static inline llmperf_session *start_with(llmperf_session_options options)
{
    llmperf_session *session = NULL;

    options.device_source = LLMPERF_SOURCE_CUPTI;
    if (llmperf_session_start(&options, &session) < 0) {
        printf("FAILED: %s\n", llmperf_last_error());
        exit(1);
    }
    return session;
}

/** With a budget of 1000 tier light collects every kernel; 0: the default. */
static inline llmperf_session *start_session(uint32_t tier, uint32_t budget_permille = 1000)
{
    llmperf_session_options options = LLMPERF_SESSION_OPTIONS_INIT;

    options.tier = tier;
    options.overhead_budget_permille = budget_permille;
    return start_with(options);
}

static inline llmperf_profile *stop_session(llmperf_session *session)
{
    llmperf_profile *profile = NULL;

    CHECK(llmperf_session_stop(session, &profile) == LLMPERF_OK, "%s", llmperf_last_error());
    llmperf_session_free(session);
    if (!profile)
        exit(1);
    return profile;
}

static inline llmperf_ledger ledger_of(const llmperf_profile *profile)
{
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    return ledger;
}

static inline void expect_complete(const llmperf_profile *profile)
{
    llmperf_ledger ledger = ledger_of(profile);

    CHECK(ledger.verdict == LLMPERF_VERDICT_COMPLETE, "verdict %s, first problem: %s",
          llmperf_name(LLMPERF_NAME_VERDICT, ledger.verdict),
          llmperf_profile_problem(profile, 0) ? llmperf_profile_problem(profile, 0) : "none");
}

/** Row of a path on a device; exits if there is none. */
static inline llmperf_region_stats region_of(const llmperf_profile *profile, const char *path,
                                             int device)
{
    llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

    for (size_t i = 0; i < llmperf_profile_count(profile, LLMPERF_ROWS_REGIONS); i++) {
        llmperf_profile_region(profile, i, &stats);
        if (!strcmp(stats.path, path) && stats.device == device)
            return stats;
    }
    printf("FAILED: no region %s on device %d\n", path, device);
    exit(1);
}

static inline int finish(void)
{
    printf(checks_failed ? "%d checks failed\n" : "all checks passed\n", checks_failed);
    return checks_failed ? 1 : 0;
}

#endif
