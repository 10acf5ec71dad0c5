/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/compare/members.h"

#include <stdlib.h>

#include "lib/base/status.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

size_t lp_member_process_at(const struct lp_members *members, uint32_t id)
{
    for (size_t i = 0; i < members->processes.count; i++)
        if (members->processes.items[i].id == id)
            return i;
    return SIZE_MAX;
}

size_t lp_member_gpu_at(const struct lp_members *members, int32_t device)
{
    for (size_t i = 0; i < members->gpus.count; i++)
        if (members->gpus.items[i].device == device)
            return i;
    return SIZE_MAX;
}

/* Finding */

static int add_gpu(struct lp_members *members, int32_t device)
{
    const struct lp_member_gpu gpu = { device, 0, SIZE_MAX };

    return lp_member_gpu_at(members, device) != SIZE_MAX ? 0 : lp_vector_push(&members->gpus, gpu);
}

static int add_region(struct lp_members *members, const llmperf_profile *profile,
                      const llmperf_region_stats *region)
{
    size_t at = lp_member_process_at(members, region->process_id);
    struct lp_member_process *process;

    if (at == SIZE_MAX) {
        const struct lp_member_process fresh = { .rank =
                                                     lp_profile_rank(profile, region->process_id),
                                                 .id = region->process_id,
                                                 .device = -1 };

        at = members->processes.count;
        if (lp_vector_push(&members->processes, fresh) < 0)
            return LLMPERF_ENOMEM;
    }
    process = &members->processes.items[at];
    if (region->device < 0)
        return 0;
    if (process->device < 0 || region->device < process->device)
        process->device = region->device;
    return add_gpu(members, region->device);
}

static int find_all(struct lp_members *members, const llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION) && status == 0; i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &region);
        status = add_region(members, profile, &region);
    }
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_KERNEL) && status == 0; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);

        status = add_gpu(members, kernel->device);
    }
    return status;
}

/* Order */

static int compare_processes(const void *left, const void *right)
{
    const struct lp_member_process *a = left, *b = right;
    int order = (a->device < 0) - (b->device < 0);

    order = order ? order : LP_ORDER(a->rank, b->rank);
    order = order ? order : LP_ORDER(a->device, b->device);
    return order ? order : LP_ORDER(a->id, b->id);
}

static int compare_gpus(const void *left, const void *right)
{
    const struct lp_member_gpu *a = left, *b = right;
    int order = LP_ORDER(a->process, b->process);

    return order ? order : LP_ORDER(a->device, b->device);
}

/* Processes started by one rank of a launcher inherit its number: equal numbers do not identify
 * them. */
static bool ranks_are_distinct(const struct lp_members *members)
{
    for (size_t i = 0; i < members->with_gpu; i++)
        if (members->processes.items[i].rank < 0 ||
            (i > 0 && members->processes.items[i].rank == members->processes.items[i - 1].rank))
            return false;
    return true;
}

static void number_processes(struct lp_members *members)
{
    struct lp_member_process *items = members->processes.items;
    size_t count = members->processes.count;

    if (count == 0)
        return;
    qsort(items, count, sizeof(*items), compare_processes);
    while (members->with_gpu < count && items[members->with_gpu].device >= 0)
        members->with_gpu++;
    members->with_gpu = members->with_gpu ? members->with_gpu : count;
    if (!ranks_are_distinct(members)) {
        for (size_t i = 0; i < count; i++)
            items[i].rank = -1;
        qsort(items, count, sizeof(*items), compare_processes);
    }
    for (size_t i = 0; i < count; i++)
        items[i].number =
            i < members->with_gpu && items[i].rank >= 0 ? (uint32_t)items[i].rank : (uint32_t)i;
}

/* Assign GPUs to processes, which are in order now. */
static void number_gpus(struct lp_members *members, const llmperf_profile *profile)
{
    size_t owned = 0, pairs = 0;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
        size_t process, gpu;

        llmperf_profile_region(profile, i, &region);
        process = lp_member_process_at(members, region.process_id);
        gpu = lp_member_gpu_at(members, region.device);
        if (gpu == SIZE_MAX)
            continue;
        if (members->gpus.items[gpu].process != SIZE_MAX &&
            members->gpus.items[gpu].process != process)
            pairs = SIZE_MAX / 2; /* two processes on one GPU */
        if (process < members->gpus.items[gpu].process)
            members->gpus.items[gpu].process = process;
    }
    lp_vector_sort(&members->gpus, compare_gpus);
    for (size_t i = 0; i < members->gpus.count; i++) {
        const struct lp_member_gpu *gpu = &members->gpus.items[i];

        owned += gpu->process != SIZE_MAX;
        pairs += gpu->process != SIZE_MAX && (i == 0 || gpu[-1].process != gpu->process);
    }
    members->one_gpu_each = owned == members->gpus.count && pairs == owned &&
                            (owned == 0 || owned == members->with_gpu);
    for (size_t i = 0; i < members->gpus.count; i++)
        members->gpus.items[i].number =
            members->one_gpu_each ? members->processes.items[members->gpus.items[i].process].number
                                  : (uint32_t)i;
}

int lp_members_find(struct lp_members *members, const llmperf_profile *profile)
{
    int status = find_all(members, profile);

    if (status < 0)
        return status;
    number_processes(members);
    number_gpus(members, profile);
    return 0;
}

void lp_members_clear(struct lp_members *members)
{
    lp_vector_clear(&members->processes);
    lp_vector_clear(&members->gpus);
    *members = (struct lp_members){ .with_gpu = 0 };
}
