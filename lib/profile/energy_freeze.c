/* SPDX-License-Identifier: Apache-2.0 */
/* Energy to rows of a profile. */
#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/profile/data.h"
#include "lib/profile/totals.h"

/* Least share of the time of a stage for which energy must be known, and most in which another
 * stage ran. */
#define METERED 0.99
#define SHARED  0.01

static double scaled(uint64_t value, double factor)
{
    return value == LLMPERF_UNKNOWN ? (double)NAN : (double)value * factor;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static const char *why_unknown(const struct lp_energy_gpu *gpu)
{
    if (gpu->last.values[LP_GPU_MIG] == 1)
        return "the GPU is divided into MIG instances: its energy and clocks are those of all";
    if (gpu->resets > 0 && gpu->source == LP_ENERGY_NONE)
        return "the energy counter went back, and the power is not reported";
    if (gpu->source == LP_ENERGY_NONE)
        return "NVML reports neither energy nor power of this GPU";
    if (gpu->samples < 2)
        return "fewer than two samples were read: the run is too short";
    return gpu->curve.knots.count < 2 ? "the energy counter did not change" : NULL;
}

static void set_energy(const struct lp_energy_gpu *gpu, llmperf_energy *row)
{
    bool counter = gpu->source == LP_ENERGY_COUNTER;

    if ((row->reason = why_unknown(gpu)))
        return;
    row->source = counter ? "counter" : "power";
    row->energy_j = gpu->now.joules;
    row->energy_error_j = lp_energy_total_error(gpu);
    row->stages_j = gpu->stages_j;
    row->outside_j = fmax(gpu->now.joules - gpu->stages_j, 0);
    row->update_ms = (double)gpu->curve.update_ns / 1e6;
    row->power_w = gpu->now.joules * 1e9 /
                   (double)(lp_energy_curve_end(&gpu->curve) - lp_energy_curve_begin(&gpu->curve));
    if (counter && gpu->resets == 0) {
        row->counter_begin_mj = gpu->first_mj;
        row->counter_end_mj = gpu->counted_mj;
    }
}

static void set_clocks(const struct lp_energy_gpu *gpu, llmperf_energy *row)
{
    const uint64_t *values = gpu->last.values;

    if (gpu->now.clock_s > 0)
        row->sm_clock_mhz = gpu->now.clock_cycles / gpu->now.clock_s;
    row->sm_clock_min_mhz = scaled(gpu->sm_least, 1);
    row->sm_clock_max_mhz = scaled(values[LP_GPU_SM_MOST_MHZ], 1);
    if (gpu->memory_clock_ns > 0)
        row->memory_clock_mhz = gpu->memory_clock_sum / (double)gpu->memory_clock_ns;
    row->memory_clock_min_mhz = scaled(gpu->memory_clock_least, 1);
    row->memory_clock_max_mhz = scaled(values[LP_GPU_MEMORY_MOST], 1);
    if (gpu->state_ns == 0)
        return;
    row->active_ms = (double)gpu->active_ns / 1e6;
    row->throttled_share = share_of(gpu->throttled_ns, gpu->active_ns);
    row->power_cap_share = share_of(gpu->power_cap_ns, gpu->active_ns);
    row->thermal_share = share_of(gpu->thermal_ns, gpu->active_ns);
    row->slowdown_share = share_of(gpu->slowdown_ns, gpu->active_ns);
}

static int add_gpu(const struct lp_energy_gpu *gpu, uint32_t process_id, llmperf_profile *profile)
{
    llmperf_energy row = LLMPERF_ENERGY_INIT;

    lp_row_forget(LP_ROW_ENERGY, &row);
    row.device = gpu->last.device;
    row.process_id = process_id;
    row.samples = gpu->samples;
    row.duration_ms = (double)(gpu->last.time_ns - gpu->first_ns) / 1e6;
    row.power_max_w = scaled(gpu->power_most, 1e-3);
    row.power_limit_w = scaled(gpu->last.values[LP_GPU_POWER_LIMIT], 1e-3);
    row.temperature_max_c = scaled(gpu->celsius_most, 1);
    row.memory_begin_bytes = gpu->used_first;
    row.memory_peak_bytes = gpu->used_most;
    row.memory_end_bytes = gpu->used_last;
    row.memory_total_bytes = gpu->last.values[LP_GPU_MEMORY_BYTES];
    row.read_ms = (double)gpu->read_ns / 1e6;
    set_energy(gpu, &row);
    set_clocks(gpu, &row);
    return lp_row_push(profile, LP_ROW_ENERGY, &row);
}

static void set_stage(const struct lp_energy *energy, const struct lp_energy_stage *stage,
                      llmperf_region_stats *row)
{
    const struct lp_energy_gpu *gpu = &energy->gpus.items[stage->gpu];

    if (share_of(stage->metered_ns, stage->time_ns) >= METERED && stage->clock_s > 0)
        row->sm_clock_mhz = stage->clock_cycles / stage->clock_s;
    if (why_unknown(gpu) || !(share_of(stage->metered_ns, stage->time_ns) >= METERED) ||
        share_of(stage->shared_ns, stage->time_ns) > SHARED)
        return;
    row->energy_j = stage->joules;
    row->energy_error_j = lp_energy_stage_error(energy, stage);
}

static int add_stage(const struct lp_energy *energy, const struct lp_energy_stage *stage,
                     llmperf_profile *profile)
{
    uint16_t device = energy->gpus.items[stage->gpu].last.device;
    struct lp_text path = { NULL, 0, 0, false };

    lp_path_print(&path, stage->node);
    for (size_t i = 0; i < profile->regions.count && !path.failed; i++) {
        llmperf_region_stats *row = &profile->regions.items[i].stats;

        if (row->device == device && strcmp(row->path, path.bytes) == 0)
            set_stage(energy, stage, row);
    }
    lp_text_clear(&path);
    return path.failed ? lp_out_of_memory() : 0;
}

int lp_energy_freeze(const struct lp_energy *energy, uint32_t process_id, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < energy->gpus.count && status == 0; i++) {
        status = add_gpu(&energy->gpus.items[i], process_id, profile);
        if (status == 0 && energy->gpus.items[i].resets > 0)
            status = lp_profile_note(profile,
                                     "GPU %u: the energy counter went back or leapt %llu "
                                     "times; the energy in between is that of the power",
                                     energy->gpus.items[i].last.device,
                                     (unsigned long long)energy->gpus.items[i].resets);
    }
    for (size_t i = 0; i < energy->stages.count && status == 0; i++)
        status = add_stage(energy, &energy->stages.items[i], profile);
    return status;
}
