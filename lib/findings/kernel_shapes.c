/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernel_shapes.h"

#include <math.h>

#include "lib/findings/findings.h"
#include "lib/hardware/occupancy.h"
#include "lib/profile/fields.h"
#include "llmperf/sys/hardware.h"

/* Of the GPU that the findings are about; without data all is 0. */
struct gpu {
    struct lp_sm_limits sm;
    double sms;
};

static void read_gpu(struct gpu *gpu, const llmperf_hardware *hardware)
{
    llmperf_hardware_value sms = LLMPERF_HARDWARE_VALUE_INIT;

    *gpu = (struct gpu){ .sms = 0 };
    if (!hardware || llmperf_hardware_quantity(hardware, LLMPERF_HARDWARE_SMS, &sms) < 0 ||
        !(sms.value >= 1) || lp_sm_limits_read(llmperf_hardware_capability(hardware), &gpu->sm) < 0)
        return;
    gpu->sms = sms.value;
}

static bool is_known(const llmperf_kernel_shape *row)
{
    return row->grid_x != LLMPERF_UNKNOWN && row->grid_y != LLMPERF_UNKNOWN &&
           row->grid_z != LLMPERF_UNKNOWN && row->block_x != LLMPERF_UNKNOWN &&
           row->block_y != LLMPERF_UNKNOWN && row->block_z != LLMPERF_UNKNOWN &&
           row->registers != LLMPERF_UNKNOWN && row->static_shared_bytes != LLMPERF_UNKNOWN &&
           row->dynamic_shared_bytes != LLMPERF_UNKNOWN;
}

static void apply(const struct gpu *gpu, llmperf_kernel_shape *row)
{
    const struct lp_block block = { row->block_x * row->block_y * row->block_z, row->registers,
                                    row->static_shared_bytes + row->dynamic_shared_bytes };
    uint64_t blocks = lp_blocks_per_sm(&gpu->sm, &block);

    if (blocks == 0)
        return;
    row->blocks_per_sm = blocks;
    row->occupancy = (double)(blocks * lp_block_warps(&block)) / gpu->sm.warps;
    row->waves = (double)row->grid_x * (double)row->grid_y * (double)row->grid_z /
                 (gpu->sms * (double)blocks);
    row->tail_share = 1 - row->waves / ceil(row->waves);
}

int lp_kernel_shapes_init(struct lp_kernel_shapes *shapes, const struct lp_findings *findings)
{
    size_t count = lp_row_count(findings->profile, LP_ROW_KERNEL_SHAPE);
    struct gpu gpu;

    if (count == 0)
        return 0;
    if (lp_vector_reserve(&shapes->rows, count) < 0)
        return LLMPERF_ENOMEM;
    read_gpu(&gpu, findings->limits.hardware);
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_shape *row = lp_row_at(findings->profile, LP_ROW_KERNEL_SHAPE, i);

        shapes->rows.items[i] = *row;
        if (is_known(row) && lp_findings_describes(findings, row->device))
            apply(&gpu, &shapes->rows.items[i]);
    }
    shapes->rows.count = count;
    return 0;
}

void lp_kernel_shapes_clear(struct lp_kernel_shapes *shapes)
{
    lp_vector_clear(&shapes->rows);
}
