/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/output/json/row_fields.h"

#include <math.h>

#define LENGTH(array)         (sizeof(array) / sizeof((array)[0]))
#define REGION(type, field)   #field, LP_FIELD_##type, offsetof(llmperf_region_stats, field)
#define KERNEL(type, field)   #field, LP_FIELD_##type, offsetof(llmperf_kernel_stats, field)
#define OPERATOR(type, field) #field, LP_FIELD_##type, offsetof(llmperf_operator_stats, field)
#define SPREAD(type, field)   #field, LP_FIELD_##type, offsetof(llmperf_iteration_stats, field)
#define METRIC(type, field)   #field, LP_FIELD_##type, offsetof(llmperf_metric_stats, field)
#define LEDGER(type, field)   #field, LP_FIELD_##type, offsetof(llmperf_ledger, field)

static const struct lp_field_name region_fields[] = {
    { REGION(TEXT, path) },
    { REGION(TEXT, label) },
    { REGION(TEXT, parent) },
    { REGION(TEXT, stage) },
    { REGION(WORD, depth) },
    { REGION(DEVICE, device) },
    { REGION(WORD, process_id) },
    { REGION(COUNT, instances) },
    { REGION(COUNT, truncated) },
    { REGION(NUMBER, wall_sum_ms) },
    { REGION(NUMBER, wall_mean_ms) },
    { REGION(NUMBER, wall_std_ms) },
    { REGION(NUMBER, wall_min_ms) },
    { REGION(NUMBER, wall_max_ms) },
    { REGION(NUMBER, wall_p50_ms) },
    { REGION(NUMBER, wall_p95_ms) },
    { REGION(NUMBER, wall_p99_ms) },
    { REGION(NUMBER, gpu_busy_ms) },
    { REGION(NUMBER, exclusive_gpu_busy_ms) },
    { REGION(NUMBER, kernel_ms) },
    { REGION(NUMBER, exclusive_kernel_ms) },
    { REGION(NUMBER, memcpy_ms) },
    { REGION(NUMBER, memset_ms) },
    { REGION(NUMBER, idle_ms) },
    { REGION(COUNT, kernel_count) },
    { REGION(COUNT, memcpy_count) },
    { REGION(COUNT, memset_count) },
    { REGION(COUNT, memcpy_bytes) },
    { REGION(COUNT, tokens) },
    { REGION(COUNT, sequences) },
    { REGION(COUNT, context) },
    { REGION(COUNT, flops) },
    { REGION(COUNT, bytes) },
    { REGION(NUMBER, skipped_fraction) },
    { REGION(COUNT, window_instances) },
    { REGION(NUMBER, window_ms) },
};

static const struct lp_field_name kernel_fields[] = {
    { KERNEL(TEXT, name) },       { KERNEL(TEXT, demangled) },   { KERNEL(TEXT, short_name) },
    { KERNEL(TEXT, region) },     { KERNEL(TEXT, captured_in) }, { KERNEL(WORD, kind) },
    { KERNEL(DEVICE, device) },   { KERNEL(COUNT, calls) },      { KERNEL(COUNT, bytes) },
    { KERNEL(NUMBER, total_ms) }, { KERNEL(NUMBER, mean_ms) },   { KERNEL(NUMBER, min_ms) },
    { KERNEL(NUMBER, max_ms) },   { KERNEL(NUMBER, p50_ms) },    { KERNEL(NUMBER, p95_ms) },
    { KERNEL(NUMBER, p99_ms) },   { KERNEL(NUMBER, share) },
};

static const struct lp_field_name operator_fields[] = {
    { OPERATOR(TEXT, name) },           { OPERATOR(TEXT, stage) },
    { OPERATOR(COUNT, calls) },         { OPERATOR(NUMBER, total_time_ms) },
    { OPERATOR(NUMBER, cuda_time_ms) }, { OPERATOR(NUMBER, mean_ms) },
};

static const struct lp_field_name spread_fields[] = {
    { SPREAD(TEXT, region) },   { SPREAD(TEXT, quantity) }, { SPREAD(WORD, is_class) },
    { SPREAD(COUNT, count) },   { SPREAD(NUMBER, sum_ms) }, { SPREAD(NUMBER, mean_ms) },
    { SPREAD(NUMBER, std_ms) }, { SPREAD(NUMBER, min_ms) }, { SPREAD(NUMBER, max_ms) },
    { SPREAD(NUMBER, p50_ms) }, { SPREAD(NUMBER, p95_ms) }, { SPREAD(NUMBER, p99_ms) },
};

static const struct lp_field_name metric_fields[] = {
    { METRIC(TEXT, name) },     { METRIC(TEXT, unit) },       { METRIC(TEXT, group) },
    { METRIC(TEXT, source) },   { METRIC(TEXT, region) },     { METRIC(TEXT, kernel) },
    { METRIC(DEVICE, device) }, { METRIC(WORD, process_id) }, { METRIC(COUNT, count) },
    { METRIC(TEXT, text) },     { METRIC(NUMBER, mean) },     { METRIC(NUMBER, std) },
    { METRIC(NUMBER, min) },    { METRIC(NUMBER, max) },
};

static const struct lp_field_name ledger_fields[] = {
    { LEDGER(COUNT, launches_expected) },      { LEDGER(COUNT, graph_launches) },
    { LEDGER(COUNT, memory_calls) },           { LEDGER(COUNT, kernels_seen) },
    { LEDGER(COUNT, graph_kernels_seen) },     { LEDGER(COUNT, memory_seen) },
    { LEDGER(COUNT, kernels_attributed) },     { LEDGER(COUNT, kernels_outside) },
    { LEDGER(COUNT, kernels_unattributed) },   { LEDGER(COUNT, launches_missing) },
    { LEDGER(COUNT, records_dropped) },        { LEDGER(COUNT, records_invalid_time) },
    { LEDGER(COUNT, records_incomplete) },     { LEDGER(COUNT, records_duplicate) },
    { LEDGER(COUNT, records_late) },           { LEDGER(COUNT, graph_nodes_unmapped) },
    { LEDGER(COUNT, kernels_outside_window) }, { LEDGER(COUNT, kernels_in_windows) },
    { LEDGER(COUNT, launches_duplicate) },     { LEDGER(COUNT, graph_records_missing) },
    { LEDGER(COUNT, memory_missing) },         { LEDGER(COUNT, records_before_launch) },
    { LEDGER(COUNT, records_foreign) },        { LEDGER(COUNT, names_over_limit) },
    { LEDGER(COUNT, source_errors) },          { LEDGER(COUNT, graphs_device_launchable) },
    { LEDGER(COUNT, regions_dropped) },        { LEDGER(COUNT, regions_truncated) },
    { LEDGER(COUNT, regions_unbalanced) },     { LEDGER(COUNT, regions_abandoned) },
    { LEDGER(COUNT, regions_over_limit) },     { LEDGER(NUMBER, cupti_overhead_ms) },
    { LEDGER(NUMBER, sampled_fraction) },      { LEDGER(NUMBER, attributed_gpu_time_share) },
};

_Static_assert(sizeof(llmperf_ledger) == offsetof(llmperf_ledger, launches_expected) +
                                             sizeof(uint64_t) * LENGTH(ledger_fields) +
                                             2 * sizeof(uint32_t),
               "each number of the ledger is in the list");

static int get_region(const llmperf_profile *profile, size_t index, void *row)
{
    *(llmperf_region_stats *)row = (llmperf_region_stats)LLMPERF_REGION_STATS_INIT;
    return llmperf_profile_region(profile, index, row);
}

static int get_kernel(const llmperf_profile *profile, size_t index, void *row)
{
    *(llmperf_kernel_stats *)row = (llmperf_kernel_stats)LLMPERF_KERNEL_STATS_INIT;
    return llmperf_profile_kernel(profile, index, row);
}

static int get_operator(const llmperf_profile *profile, size_t index, void *row)
{
    *(llmperf_operator_stats *)row = (llmperf_operator_stats)LLMPERF_OPERATOR_STATS_INIT;
    return llmperf_profile_operator(profile, index, row);
}

static int get_spread(const llmperf_profile *profile, size_t index, void *row)
{
    *(llmperf_iteration_stats *)row = (llmperf_iteration_stats)LLMPERF_ITERATION_STATS_INIT;
    return llmperf_profile_iteration_stats(profile, index, row);
}

static int get_metric(const llmperf_profile *profile, size_t index, void *row)
{
    *(llmperf_metric_stats *)row = (llmperf_metric_stats)LLMPERF_METRIC_STATS_INIT;
    return llmperf_profile_metric(profile, index, row);
}

static size_t one(const llmperf_profile *profile)
{
    return profile != NULL;
}

static int get_ledger(const llmperf_profile *profile, size_t index, void *row)
{
    llmperf_ledger *ledger = row;
    int status;

    (void)index;
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    status = llmperf_profile_ledger(profile, ledger);
    if (ledger->verdict == LLMPERF_VERDICT_NO_DEVICE) {
        /* Without a device source nobody counted launches: not known is not none. */
        ledger->launches_expected = ledger->graph_launches = LLMPERF_UNKNOWN;
        ledger->memory_calls = ledger->launches_missing = LLMPERF_UNKNOWN;
        ledger->sampled_fraction = NAN;
    }
    return status;
}

const struct lp_row_kind lp_row_kinds[] = {
    { "ledger", ledger_fields, LENGTH(ledger_fields), one, get_ledger },
    { "region", region_fields, LENGTH(region_fields), llmperf_profile_region_count, get_region },
    { "kernel", kernel_fields, LENGTH(kernel_fields), llmperf_profile_kernel_count, get_kernel },
    { "operator", operator_fields, LENGTH(operator_fields), llmperf_profile_operator_count,
      get_operator },
    { "iterations", spread_fields, LENGTH(spread_fields), llmperf_profile_iteration_stats_count,
      get_spread },
    { "metric", metric_fields, LENGTH(metric_fields), llmperf_profile_metric_count, get_metric },
};
const size_t lp_row_kind_count = LENGTH(lp_row_kinds);

void lp_field_json(struct lp_json *json, const struct lp_field_name *field, const void *row)
{
    const void *at = (const char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_TEXT:
        lp_json_string(json, field->name, *(const char *const *)at);
        break;
    case LP_FIELD_WORD:
        lp_json_count(json, field->name, *(const uint32_t *)at);
        break;
    case LP_FIELD_DEVICE:
        lp_json_count(json, field->name,
                      *(const int32_t *)at < 0 ? LLMPERF_UNKNOWN
                                               : (uint64_t) * (const int32_t *)at);
        break;
    case LP_FIELD_COUNT:
        lp_json_count(json, field->name, *(const uint64_t *)at);
        break;
    case LP_FIELD_NUMBER:
        lp_json_number(json, field->name, *(const double *)at);
        break;
    }
}

bool lp_field_known(const struct lp_field_name *field, const void *row)
{
    const void *at = (const char *)row + field->offset;

    switch (field->type) {
    case LP_FIELD_TEXT:
        return *(const char *const *)at != NULL;
    case LP_FIELD_DEVICE:
        return *(const int32_t *)at >= 0;
    case LP_FIELD_COUNT:
        return *(const uint64_t *)at != LLMPERF_UNKNOWN;
    case LP_FIELD_NUMBER:
        return isfinite(*(const double *)at);
    case LP_FIELD_WORD:
        break;
    }
    return true;
}
