/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "lib/hardware/occupancy.h"
#include "lib/hardware/table.h"

#define SM_REGISTERS           65536u /* of each capability from 7.0 on, and the most of a block */
#define SM_PARTS               4u     /* which have a quarter of the registers each */
#define WARP_REGISTERS_STEP    256u   /* registers are allocated to a warp in steps of this */
#define BLOCK_SHARED_DRIVER    1024u  /* bytes a block that the driver takes, from 8.0 on */
#define BLOCK_SHARED_STEP      128u   /* from 8.0 on */
#define BLOCK_SHARED_STEP_OF_7 256u

static uint64_t round_up(uint64_t number, uint64_t step)
{
    return (number + step - 1) / step * step;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t by_registers(const struct lp_block *block)
{
    uint64_t warps = lp_block_warps(block);
    uint64_t of_warp = round_up(block->registers * LP_WARP_THREADS, WARP_REGISTERS_STEP);

    if (of_warp == 0)
        return UINT64_MAX;
    if (of_warp * round_up(warps, SM_PARTS) > SM_REGISTERS) /* The hardware checks a block so. */
        return 0;
    return SM_REGISTERS / SM_PARTS / of_warp * SM_PARTS / warps;
}

static uint64_t by_shared(const struct lp_sm_limits *limits, const struct lp_block *block)
{
    bool old = limits->capability < 80;
    uint64_t bytes = round_up(block->shared_bytes + (old ? 0 : BLOCK_SHARED_DRIVER),
                              old ? BLOCK_SHARED_STEP_OF_7 : BLOCK_SHARED_STEP);

    return bytes == 0 ? UINT64_MAX : limits->shared_bytes / bytes;
}

uint64_t lp_blocks_per_sm(const struct lp_sm_limits *limits, const struct lp_block *block)
{
    uint64_t warps = lp_block_warps(block);

    if (limits->warps == 0 || warps == 0 || block->registers > SM_REGISTERS)
        return 0;
    return least(least(limits->blocks, limits->warps / warps),
                 least(by_registers(block), by_shared(limits, block)));
}

int lp_sm_limits_read(int32_t capability, struct lp_sm_limits *limits_out)
{
    struct lp_gpu_rates rates;
    int status = lp_gpu_rates_read(capability, &rates);

    if (status == 0)
        *limits_out = rates.sm;
    return status;
}
