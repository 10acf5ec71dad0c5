/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/ncu/ncu_table.h"

#include <string.h>

#include "lib/profile/fields.h"

#define COLUMN(member) offsetof(struct lp_ncu_kernel, member)
#define GPU_SOL        "GPU Speed Of Light Throughput", "SpeedOfLight"
#define MEMORY         "Memory Workload Analysis", "MemoryWorkloadAnalysis"
#define COMPUTE        "Compute Workload Analysis", "ComputeWorkloadAnalysis"
#define OCCUPANCY      "Occupancy", "Occupancy"
#define SCHEDULER      "Scheduler Statistics", "SchedulerStats"
#define WARPS          "Warp State Statistics", "WarpStateStats"
#define LAUNCH         "Launch Statistics", "LaunchStats"
#define ELAPSED        ".avg.pct_of_peak_sustained_elapsed"
#define ACTIVE         ".avg.pct_of_peak_sustained_active"

/* clang-format off */
const struct lp_ncu_metric_row lp_ncu_table[] = {
    { GPU_SOL, "Duration", "gpu__time_duration.sum", "us", 1e-3, COLUMN(duration_ms) },
    { GPU_SOL, "Compute (SM) Throughput", "sm__throughput" ELAPSED, "%", 1, COLUMN(sm_percent) },
    { GPU_SOL, "Memory Throughput", "gpu__compute_memory_throughput" ELAPSED, "%", 1, COLUMN(memory_percent) },
    { GPU_SOL, "DRAM Throughput", "gpu__dram_throughput" ELAPSED, "%", 1, 0 },
    { GPU_SOL, "L1/TEX Cache Throughput", "l1tex__throughput" ACTIVE, "%", 1, 0 },
    { GPU_SOL, "L2 Cache Throughput", "lts__throughput" ELAPSED, "%", 1, 0 },
    { GPU_SOL, "SM Frequency", "gpc__cycles_elapsed.avg.per_second", "GHz", 1e-9, 0 },
    { GPU_SOL, "DRAM Frequency", "dram__cycles_elapsed.avg.per_second", "GHz", 1e-9, 0 },
    { GPU_SOL, "Elapsed Cycles", "gpc__cycles_elapsed.max", "cycle", 1, 0 },
    { GPU_SOL, "SM Active Cycles", "sm__cycles_active.avg", "cycle", 1, 0 },
    { COMPUTE, "Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active", "inst/cycle", 1, 0 },
    { COMPUTE, "Issue Slots Busy", "sm__instruction_throughput" ACTIVE, "%", 1, 0 },
    { MEMORY, "Memory Throughput", "dram__bytes.sum.per_second", "GB/s", 1e-9, COLUMN(dram_gbs) },
    { MEMORY, "DRAM Bytes Read", "dram__bytes_read.sum", "MB", 1e-6, COLUMN(dram_read_mb) },
    { MEMORY, "DRAM Bytes Written", "dram__bytes_write.sum", "MB", 1e-6, COLUMN(dram_write_mb) },
    { MEMORY, "Mem Busy", "gpu__compute_memory_access_throughput" ELAPSED, "%", 1, 0 },
    { MEMORY, "Max Bandwidth", "gpu__compute_memory_request_throughput" ELAPSED, "%", 1, 0 },
    { MEMORY, "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", "%", 1, COLUMN(l1_hit_percent) },
    { MEMORY, "L2 Hit Rate", "lts__t_sector_hit_rate.pct", "%", 1, COLUMN(l2_hit_percent) },
    { MEMORY, "Mem Pipes Busy", "sm__memory_throughput" ELAPSED, "%", 1, 0 },
    { OCCUPANCY, "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", "%", 1, COLUMN(occupancy_limit_percent) },
    { OCCUPANCY, "Achieved Occupancy", "sm__warps_active" ACTIVE, "%", 1, COLUMN(occupancy_percent) },
    { OCCUPANCY, "Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle", "warp", 1, 0 },
    { OCCUPANCY, "Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active", "warp", 1, 0 },
    { OCCUPANCY, "Block Limit SM", "launch__occupancy_limit_blocks", "block", 1, COLUMN(limit_blocks) },
    { OCCUPANCY, "Block Limit Registers", "launch__occupancy_limit_registers", "block", 1, COLUMN(limit_registers) },
    { OCCUPANCY, "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem", "block", 1, COLUMN(limit_shared) },
    { OCCUPANCY, "Block Limit Warps", "launch__occupancy_limit_warps", "block", 1, COLUMN(limit_warps) },
    { SCHEDULER, "One or More Eligible", "smsp__issue_active" ACTIVE, "%", 1, 0 },
    { SCHEDULER, "No Eligible", "smsp__issue_inst0" ACTIVE, "%", 1, 0 },
    { SCHEDULER, "Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active", "", 1, 0 },
    { SCHEDULER, "Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active", "warp", 1, 0 },
    { SCHEDULER, "Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active", "warp", 1, 0 },
    { WARPS, "Warp Cycles Per Issued Instruction", "smsp__average_warp_latency_per_inst_issued.ratio", "cycle", 1, COLUMN(issue_cycles) },
    { WARPS, "Warp Cycles Per Executed Instruction", "smsp__average_warps_active_per_inst_executed.ratio", "cycle", 1, 0 },
    { WARPS, "Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio", "", 1, 0 },
    { WARPS, "Avg. Not Predicated Off Threads Per Warp", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "", 1, 0 },
    { LAUNCH, "Registers Per Thread", "launch__registers_per_thread", "", 1, COLUMN(registers) },
    { LAUNCH, "Waves Per SM", "launch__waves_per_multiprocessor", "", 1, COLUMN(waves) },
    { LAUNCH, "Grid Size", "launch__grid_size", "", 1, 0 },
    { LAUNCH, "Block Size", "launch__block_size", "", 1, 0 },
    { NULL, NULL, NULL, NULL, NULL, 0, 0 }
};
/* clang-format on */

const struct lp_ncu_metric_row *lp_ncu_row_of(const llmperf_metric_stats *metric)
{
    if (!metric->source || strcmp(metric->source, "ncu") != 0)
        return NULL;
    for (const struct lp_ncu_metric_row *row = lp_ncu_table; row->section; row++)
        if (strcmp(metric->name, row->metric) == 0 ||
            (metric->group && strcmp(metric->name, row->label) == 0 &&
             strcmp(metric->group, row->section) == 0))
            return row;
    return NULL;
}

bool lp_ncu_warp_state(const llmperf_metric_stats *metric,
                       const struct lp_stall_reason **reason_out)
{
    static const char before[] = "smsp__average_warps_issue_stalled_";
    const char *state = metric->name + sizeof(before) - 1;

    if (!metric->source || strcmp(metric->source, "ncu") != 0 || metric->count == 0 ||
        strncmp(metric->name, before, sizeof(before) - 1) != 0 ||
        !strstr(state, "_per_issue_active.ratio") || strstr(state, "not_issued"))
        return false;
    *reason_out = lp_stall_reason_find(state);
    return true;
}
