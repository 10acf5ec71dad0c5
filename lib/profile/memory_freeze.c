/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/totals.h"

static llmperf_memory make_row(const struct lp_memory *memory, size_t device, uint32_t process_id)
{
    llmperf_memory row = LLMPERF_MEMORY_INIT;

    lp_row_forget(LP_ROW_MEMORY, &row);
    row.device = memory->devices[device].device;
    row.process_id = process_id;
    return row;
}

/* Calls that are not followed make the balance unknown. */
static bool is_balanced(const struct lp_memory *memory)
{
    return memory->over_limit == 0;
}

static void add_total(llmperf_memory *row, const struct lp_memory_total *total)
{
    row->allocations += total->allocations;
    row->frees += total->frees;
    row->unmatched += total->unmatched;
    row->allocated_bytes += total->allocated_bytes;
    row->freed_bytes += total->freed_bytes;
    if (total->largest_bytes > row->largest_bytes)
        row->largest_bytes = total->largest_bytes;
    if (total->context_tokens > 0 &&
        (row->context_tokens == LLMPERF_UNKNOWN || total->context_tokens > row->context_tokens))
        row->context_tokens = total->context_tokens;
}

static int add_device(const struct lp_memory *memory, size_t index, uint32_t process_id,
                      llmperf_profile *profile)
{
    const struct lp_memory_device *device = &memory->devices[index];
    llmperf_memory row = make_row(memory, index, process_id);
    bool balanced = is_balanced(memory);

    for (size_t i = 0; i < memory->rows.count; i++)
        if (memory->rows.items[i].device == index)
            add_total(&row, &memory->rows.items[i]);
    if (device->reserved_bytes > 0) {
        row.pool_reserved_bytes = device->reserved_bytes;
        row.pool_used_bytes = device->used_bytes;
    }
    if (balanced) {
        row.live_bytes = device->live_bytes;
        row.held_bytes = device->peak_bytes;
    }
    if (balanced && device->peak_bytes > 0) {
        row.peak_bytes = device->peak_bytes;
        row.peak_ns = device->peak_ns;
    }
    if (balanced && memory->first_stage_ns > 0)
        row.kept_bytes = lp_memory_kept(memory, index);
    return lp_row_push(profile, LP_ROW_MEMORY, &row);
}

static int add_points(const struct lp_memory *memory, size_t index, uint32_t process_id,
                      llmperf_profile *profile)
{
    const struct lp_memory_device *device = &memory->devices[index];
    int status = 0;

    for (size_t i = 0; i < device->levels.count && status == 0 && is_balanced(memory); i++) {
        const struct lp_memory_point point = { device->device, process_id,
                                               device->levels.items[i].time_ns,
                                               device->levels.items[i].bytes };

        status = lp_row_push(profile, LP_ROW_MEMORY_POINT, &point);
    }
    return status;
}

static int add_region(const struct lp_memory *memory, const struct lp_memory_total *total,
                      uint32_t process_id, llmperf_profile *profile)
{
    llmperf_memory row = make_row(memory, total->device, process_id);
    bool balanced = is_balanced(memory);

    if (!(row.region = lp_profile_path(profile, total->node)))
        return LLMPERF_ENOMEM;
    add_total(&row, total);
    if (balanced) {
        row.live_bytes = total->live_bytes;
        row.held_bytes = total->held_bytes;
    }
    if (balanced && total->has_peak)
        row.peak_bytes = total->peak_bytes;
    return lp_row_push(profile, LP_ROW_MEMORY, &row);
}

int lp_memory_freeze(const struct lp_memory *memory, uint32_t process_id, llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < memory->device_count && status == 0; i++)
        if ((status = add_device(memory, i, process_id, profile)) == 0)
            status = add_points(memory, i, process_id, profile);
    for (size_t i = 0; i < memory->rows.count && status == 0; i++)
        status = add_region(memory, &memory->rows.items[i], process_id, profile);
    if (status == 0 && memory->over_limit > 0)
        status = lp_profile_note(profile,
                                 "%" PRIu64
                                 " allocations of device memory are not followed (more than %u "
                                 "were live at once, or on more than %u devices): live and "
                                 "peak bytes are unknown",
                                 memory->over_limit, LP_MEMORY_LIVE, LP_MEMORY_DEVICES);
    return status;
}
