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

int llmperf_profile_region(const llmperf_profile *profile, size_t index,
                           llmperf_region_stats *stats_out)
{
    return copy_row(profile, LP_ROW_REGION, index, stats_out);
}

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

int llmperf_profile_kernel(const llmperf_profile *profile, size_t index,
                           llmperf_kernel_stats *stats_out)
{
    return copy_row(profile, LP_ROW_KERNEL, index, stats_out);
}

int llmperf_profile_operator(const llmperf_profile *profile, size_t index,
                             llmperf_operator_stats *stats_out)
{
    return copy_row(profile, LP_ROW_OPERATOR, index, stats_out);
}

int llmperf_profile_window(const llmperf_profile *profile, size_t index,
                           llmperf_window_stats *stats_out)
{
    return copy_row(profile, LP_ROW_WINDOW, index, stats_out);
}

int llmperf_profile_window_kernel(const llmperf_profile *profile, size_t index,
                                  llmperf_window_kernel *kernel_out)
{
    return copy_row(profile, LP_ROW_WINDOW_KERNEL, index, kernel_out);
}

int llmperf_profile_energy(const llmperf_profile *profile, size_t index, llmperf_energy *energy_out)
{
    return copy_row(profile, LP_ROW_ENERGY, index, energy_out);
}

int llmperf_profile_requests(const llmperf_profile *profile, llmperf_requests *requests_out)
{
    return copy_row(profile, LP_ROW_REQUESTS, 0, requests_out);
}

int llmperf_profile_latency(const llmperf_profile *profile, size_t index,
                            llmperf_latency *latency_out)
{
    return copy_row(profile, LP_ROW_LATENCY, index, latency_out);
}

int llmperf_profile_slow_request(const llmperf_profile *profile, size_t index,
                                 llmperf_slow_request *request_out)
{
    return copy_row(profile, LP_ROW_SLOW_REQUEST, index, request_out);
}

int llmperf_profile_host_call(const llmperf_profile *profile, size_t index,
                              llmperf_host_call *call_out)
{
    return copy_row(profile, LP_ROW_HOST_CALL, index, call_out);
}

int llmperf_profile_load(const llmperf_profile *profile, size_t index, llmperf_load *load_out)
{
    return copy_row(profile, LP_ROW_LOAD, index, load_out);
}

int llmperf_profile_iteration(const llmperf_profile *profile, size_t index,
                              llmperf_iteration *iteration_out)
{
    return copy_row(profile, LP_ROW_ITERATION, index, iteration_out);
}

int llmperf_profile_iteration_stats(const llmperf_profile *profile, size_t index,
                                    llmperf_iteration_stats *stats_out)
{
    return copy_row(profile, LP_ROW_SPREAD, index, stats_out);
}

int llmperf_profile_capture(const llmperf_profile *profile, size_t index,
                            llmperf_capture_stats *stats_out)
{
    return copy_row(profile, LP_ROW_CAPTURE, index, stats_out);
}

int llmperf_profile_metric(const llmperf_profile *profile, size_t index,
                           llmperf_metric_stats *stats_out)
{
    return copy_row(profile, LP_ROW_METRIC, index, stats_out);
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
