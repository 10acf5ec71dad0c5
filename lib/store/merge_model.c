/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/merge_model.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/profile/data.h"
#include "lib/profile/profile.h"

static bool is_derived(const llmperf_region_stats *region)
{
    return region->flops_origin == LLMPERF_WORK_MODEL || region->bytes_origin == LLMPERF_WORK_MODEL;
}

/* Is this the first row of its path with this device? */
static bool is_new_device(const llmperf_profile *profile, size_t row)
{
    const llmperf_region_stats *region = &profile->regions.items[row].stats;

    for (size_t i = 0; i < row; i++) {
        const llmperf_region_stats *other = &profile->regions.items[i].stats;

        if (other->device == region->device && is_derived(other) &&
            strcmp(other->path, region->path) == 0)
            return false;
    }
    return true;
}

uint64_t lp_profile_model_gpus(const llmperf_profile *profile)
{
    const char *path = NULL;
    uint64_t most = 0, gpus = 0;

    for (size_t i = 0; i < profile->regions.count; i++) {
        const llmperf_region_stats *region = &profile->regions.items[i].stats;

        if (!is_derived(region))
            continue;
        if (!path || strcmp(path, region->path) != 0)
            gpus = 0;
        path = region->path;
        gpus += is_new_device(profile, i);
        most = gpus > most ? gpus : most;
    }
    return most;
}

int lp_profile_note_shared_by(llmperf_profile *profile, const char *who)
{
    int status = lp_profile_set_fact(profile, LP_SHARED_BY_FACT, who);

    return status < 0 ? status
                      : lp_profile_note(
                            profile,
                            "FLOPs and bytes are counted for the whole model on each of the %s: no "
                            "parallel layout was given, so they are taken for replicas. If they "
                            "share its layers, MFU and MBU are too high: set tensor_parallel of "
                            "the session (LLMPERF_TENSOR_PARALLEL, session.tensor_parallel), or "
                            "set it to 1 if they are replicas.",
                            who);
}

/* Without the fact the run has the whole model: the same as "1". */
static bool is_other(const llmperf_profile *a, const llmperf_profile *b, const char *fact)
{
    const char *one = llmperf_profile_fact(a, fact), *other = llmperf_profile_fact(b, fact);

    return strcmp(one ? one : "1", other ? other : "1") != 0;
}

int lp_merged_model_notes(const llmperf_profile *const *parts, size_t count, llmperf_profile *out)
{
    const llmperf_profile *first = NULL;
    uint64_t gpus = lp_profile_model_gpus(out);
    bool other = false;
    char who[64];

    for (size_t i = 0; i < count; i++) {
        if (lp_profile_model_gpus(parts[i]) == 0)
            continue;
        first = first ? first : parts[i];
        other = other || is_other(first, parts[i], LP_TENSOR_FACT) ||
                is_other(first, parts[i], LP_EXPERT_FACT);
    }
    if (other)
        return lp_profile_note(out, "merged: the runs have different parallel layouts; each run's "
                                    "FLOPs and bytes are for its own layout");
    if (gpus <= 1 || llmperf_profile_fact(first, LP_TENSOR_FACT) ||
        llmperf_profile_fact(out, LP_SHARED_BY_FACT))
        return 0;
    snprintf(who, sizeof(who), "%" PRIu64 " GPUs of the merged runs", gpus);
    return lp_profile_note_shared_by(out, who);
}
