/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions that read a profile. */
#include <stdio.h>
#include <string.h>

#include "lib/base/sized.h"
#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"

const char *llmperf_profile_class(const llmperf_profile *profile, size_t index)
{
    char key[32];

    if (index >= LLMPERF_ITERATION_CLASSES)
        return NULL;
    snprintf(key, sizeof(key), LP_CLASS_FACT "%zu", index);
    return llmperf_profile_fact(profile, key);
}

static int copy_row(const llmperf_profile *profile, enum lp_row_id id, size_t index, void *out)
{
    if (!profile || !out)
        return lp_error(LLMPERF_EINVAL, "profile and out-parameter are required");
    if (index >= lp_row_count(profile, id))
        return lp_error(LLMPERF_EINVAL, "row %zu of %zu does not exist", index,
                        lp_row_count(profile, id));
    return lp_sized_out(out, lp_row_at(profile, id, index), lp_row_kinds[id].size);
}

/* The public functions that read a row. */
#define READ(name, row, kind)                                                                      \
    int llmperf_profile_##name(const llmperf_profile *profile, size_t index, row *out)             \
    {                                                                                              \
        return copy_row(profile, kind, index, out);                                                \
    }
/* clang-format off */
READ(region, llmperf_region_stats, LP_ROW_REGION)
READ(kernel, llmperf_kernel_stats, LP_ROW_KERNEL)
READ(operator, llmperf_operator_stats, LP_ROW_OPERATOR)
READ(window, llmperf_window_stats, LP_ROW_WINDOW)
READ(window_kernel, llmperf_window_kernel, LP_ROW_WINDOW_KERNEL)
READ(energy, llmperf_energy, LP_ROW_ENERGY)
READ(latency, llmperf_latency, LP_ROW_LATENCY)
READ(slow_request, llmperf_slow_request, LP_ROW_SLOW_REQUEST)
READ(host_call, llmperf_host_call, LP_ROW_HOST_CALL)
READ(load, llmperf_load, LP_ROW_LOAD)
READ(iteration, llmperf_iteration, LP_ROW_ITERATION)
READ(iteration_stats, llmperf_iteration_stats, LP_ROW_SPREAD)
READ(capture, llmperf_capture_stats, LP_ROW_CAPTURE)
READ(metric, llmperf_metric_stats, LP_ROW_METRIC)
/* clang-format on */
#undef READ

size_t lp_profile_find_region(const llmperf_profile *profile, const char *path)
{
    size_t from = 0, to = profile->regions.count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (lp_compare_paths(profile->regions.items[middle].stats.path, path) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < profile->regions.count &&
                   strcmp(profile->regions.items[from].stats.path, path) == 0
               ? from
               : profile->regions.count;
}

int llmperf_profile_requests(const llmperf_profile *profile, llmperf_requests *requests_out)
{
    return copy_row(profile, LP_ROW_REQUESTS, 0, requests_out);
}

int llmperf_profile_ledger(const llmperf_profile *profile, llmperf_ledger *ledger_out)
{
    if (!profile || !ledger_out)
        return lp_error(LLMPERF_EINVAL, "profile and ledger are required");
    return lp_sized_out(ledger_out, &profile->ledger, sizeof(*ledger_out));
}

const char *lp_profile_folder(const llmperf_profile *profile)
{
    return profile->folder ? profile->folder : "";
}

const char *llmperf_profile_problem(const llmperf_profile *profile, size_t index)
{
    return profile && index < profile->problems.count ? profile->problems.items[index] : NULL;
}

const char *llmperf_profile_note(const llmperf_profile *profile, size_t index)
{
    return profile && index < profile->notes.count ? profile->notes.items[index] : NULL;
}
