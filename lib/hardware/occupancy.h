/* SPDX-License-Identifier: Apache-2.0 */
/** Theoretical occupancy: how many blocks of a launch fit on a multiprocessor at once. The rules
 * are those of NVIDIA's occupancy calculator (cuda_occupancy.h of CUDA 13.0) for compute
 * capability 7.0 and later, with the largest share of the L1 cache as shared memory, which the
 * driver gives where a kernel needs it. Barriers and clusters are left out.
 * @threads any thread */
#ifndef LP_HARDWARE_OCCUPANCY_H
#define LP_HARDWARE_OCCUPANCY_H

#include <stdint.h>

/** Limits of a multiprocessor; 0: not known. */
struct lp_sm_limits {
    int32_t capability;     /* x 10 */
    uint32_t warps, blocks; /* resident at once */
    uint64_t shared_bytes;
};

/** What a block takes. */
struct lp_block {
    uint64_t threads;
    uint64_t registers;    /* per thread */
    uint64_t shared_bytes; /* static and dynamic */
};

#define LP_WARP_THREADS 32u

/** Limits of a compute capability (x 10) from conf/hardware/rates.yaml; 0 where it has none. 0,
 * LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_sm_limits_read(int32_t capability, struct lp_sm_limits *limits_out);

/** Warps of a block. */
static inline uint64_t lp_block_warps(const struct lp_block *block)
{
    return (block->threads + LP_WARP_THREADS - 1) / LP_WARP_THREADS;
}

/** Blocks on a multiprocessor at once; 0: the block does not fit, or the limits are not known. */
uint64_t lp_blocks_per_sm(const struct lp_sm_limits *limits, const struct lp_block *block);

#endif
