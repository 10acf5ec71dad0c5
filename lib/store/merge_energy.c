/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merge_energy.h"

#include <math.h>

#include "lib/base/status.h"
#include "lib/profile/fields.h"

static llmperf_energy *find_gpu(llmperf_profile *out, int32_t device)
{
    for (size_t i = 0; i < out->energy.count; i++)
        if (out->energy.items[i].device == device)
            return &out->energy.items[i];
    return NULL;
}

static bool has_counter(const llmperf_energy *row)
{
    return row->counter_begin_mj != LLMPERF_UNKNOWN && row->counter_end_mj != LLMPERF_UNKNOWN;
}

/* The counter is the GPU's: it tells whether two processes read the same time. Without it they are
 * taken to be of one job. */
static bool is_same_time(const llmperf_energy *a, const llmperf_energy *b)
{
    return !has_counter(a) || !has_counter(b) ||
           (a->counter_begin_mj < b->counter_end_mj && b->counter_begin_mj < a->counter_end_mj);
}

static void set_sum(llmperf_energy *into, const llmperf_energy *a, const llmperf_energy *b)
{
    into->energy_j = a->energy_j + b->energy_j;
    into->energy_error_j = a->energy_error_j + b->energy_error_j;
    into->stages_j = a->stages_j + b->stages_j;
    into->outside_j = a->outside_j + b->outside_j;
    into->duration_ms = a->duration_ms + b->duration_ms;
    into->active_ms = a->active_ms + b->active_ms;
    into->counter_begin_mj = into->counter_end_mj = LLMPERF_UNKNOWN;
}

int lp_merge_energy(llmperf_profile *out, const llmperf_energy *from)
{
    llmperf_energy copy = *from, *into = find_gpu(out, from->device), before;

    if (!into)
        return lp_row_keep(out, LP_ROW_ENERGY, &copy) < 0 ? LLMPERF_ENOMEM
                                                          : lp_vector_push(&out->energy, copy);
    before = *into;
    lp_row_add(LP_ROW_ENERGY, into, from, before.duration_ms, from->duration_ms);
    if (!is_same_time(&before, from)) {
        set_sum(into, &before, from);
    } else {
        if (has_counter(&before) && has_counter(from))
            into->energy_j = (double)(into->counter_end_mj - into->counter_begin_mj) / 1e3;
        into->stages_j = into->outside_j = NAN;
    }
    into->power_w = into->energy_j * 1e3 / into->duration_ms;
    if (into->process_id != from->process_id)
        into->process_id = 0;
    return 0;
}

void lp_merge_energy_finish(llmperf_profile *out)
{
    for (size_t i = 0; i < out->regions.count; i++) {
        llmperf_region_stats *region = &out->regions.items[i].stats;
        const llmperf_energy *gpu = find_gpu(out, region->device);

        if (gpu && isnan(gpu->stages_j))
            region->energy_j = region->energy_error_j = NAN;
    }
}
