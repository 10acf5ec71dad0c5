/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks on a multiprocessor, compared with NVIDIA's own calculator where its header is found, and
 * with what Nsight Compute printed for kernels of an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/hardware/occupancy.h"

#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAS_CALCULATOR 1
#endif
#endif

static const int capabilities[] = { 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121 };

static struct lp_sm_limits limits_of(int capability)
{
    struct lp_sm_limits limits;

    assert_int_equal(lp_sm_limits_read(capability, &limits), 0);
    assert_int_equal(limits.capability, capability);
    assert_true(limits.warps > 0 && limits.blocks > 0 && limits.shared_bytes > 0);
    return limits;
}

static uint64_t blocks_on(int capability, uint64_t threads, uint64_t registers, uint64_t shared)
{
    struct lp_sm_limits limits = limits_of(capability);

    return lp_blocks_per_sm(&limits, &(struct lp_block){ threads, registers, shared });
}

static void each_resource_limits_the_blocks(void **state)
{
    (void)state;
    assert_int_equal(blocks_on(90, 32, 16, 0), 32);     /* blocks */
    assert_int_equal(blocks_on(90, 1024, 16, 0), 2);    /* warps */
    assert_int_equal(blocks_on(90, 256, 128, 0), 2);    /* registers */
    assert_int_equal(blocks_on(90, 128, 168, 0), 3);    /* in a quarter of the SM each */
    assert_int_equal(blocks_on(90, 128, 32, 49152), 4); /* shared memory, 1 KiB a block apart */
    assert_int_equal(blocks_on(75, 128, 32, 16384), 4); /* nothing apart before 8.0 */
    assert_int_equal(blocks_on(90, 33, 32, 0), 32);     /* a part of a warp is a warp */
}

static void what_does_not_fit_or_is_not_known_is_0(void **state)
{
    struct lp_sm_limits unknown = { 0, 0, 0, 0 };

    (void)state;
    assert_int_equal(blocks_on(90, 1024, 128, 0), 0);
    assert_int_equal(blocks_on(90, 0, 32, 0), 0);
    assert_int_equal(blocks_on(90, 128, 32, 1 << 20), 0);
    assert_int_equal(blocks_on(90, 128, UINT64_MAX - 1, 0), 0);
    assert_int_equal(lp_blocks_per_sm(&unknown, &(struct lp_block){ 128, 32, 0 }), 0);
}

#ifdef HAS_CALCULATOR
static int calculated(const struct lp_sm_limits *limits, int threads, int registers, int shared)
{
    const cudaOccDeviceProp device = {
        .computeMajor = limits->capability / 10,
        .computeMinor = limits->capability % 10,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiprocessor = (int)limits->warps * 32,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .warpSize = 32,
        .sharedMemPerBlock = 48 << 10,
        .sharedMemPerMultiprocessor = (size_t)limits->shared_bytes,
        .numSms = 1,
        .sharedMemPerBlockOptin =
            (size_t)limits->shared_bytes - (limits->capability >= 80 ? 1024 : 0),
        .reservedSharedMemPerBlock = limits->capability >= 80 ? 1024 : 0,
    };
    const cudaOccFuncAttributes kernel = {
        .maxThreadsPerBlock = 1024,
        .numRegs = registers,
        .maxDynamicSharedSizeBytes = (size_t)shared,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
    };
    const cudaOccDeviceState state = { .cacheConfig = CACHE_PREFER_NONE,
                                       .carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED };
    cudaOccResult result = { .activeBlocksPerMultiprocessor = 0 };

    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state,
                                                             threads, (size_t)shared),
                     CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}
#endif

static void blocks_are_those_of_the_calculator(void **state)
{
    (void)state;
#ifdef HAS_CALCULATOR
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        struct lp_sm_limits limits = limits_of(capabilities[i]);

        for (int threads = 16; threads <= 1024; threads += 48)
            for (int registers = 8; registers <= 255; registers += 13)
                for (int shared = 0; shared < (int)limits.shared_bytes; shared += 3001) {
                    const struct lp_block block = { (uint64_t)threads, (uint64_t)registers,
                                                    (uint64_t)shared };
                    int expected = calculated(&limits, threads, registers, shared);

                    if (lp_blocks_per_sm(&limits, &block) != (uint64_t)expected)
                        fail_msg("%d: %d threads, %d registers, %d bytes: %d blocks, not %d",
                                 capabilities[i], threads, registers, shared,
                                 (int)lp_blocks_per_sm(&limits, &block), expected);
                }
    }
#else
    printf("cuda_occupancy.h not found: not compared\n");
    skip();
#endif
}

static void every_capability_has_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
        limits_of(capabilities[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_resource_limits_the_blocks),
        cmocka_unit_test(what_does_not_fit_or_is_not_known_is_0),
        cmocka_unit_test(every_capability_has_limits),
        cmocka_unit_test(blocks_are_those_of_the_calculator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
