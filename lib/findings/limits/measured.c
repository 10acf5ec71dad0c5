/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/base/vector.h"
#include "lib/findings/limits/achievable.h"
#include "lib/findings/limits/measured.h"
#include "lib/profile/fields.h"

/* The first row of `path`; LP_HASHMAP_NONE: none, and *twin_out is the free second word for it. */
static uint32_t find_first(const struct lp_counter_index *index, const char *path, uint64_t hash,
                           uint64_t *twin_out)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
    uint64_t twin = 0;
    uint32_t row;

    while ((row = lp_hashmap_get(&index->first, hash, twin)) != LP_HASHMAP_NONE &&
           llmperf_profile_metric(index->profile, row, &metric) == 0 &&
           !lp_text_same(metric.region, path))
        twin++;
    *twin_out = twin;
    return row;
}

int lp_counter_index_init(struct lp_counter_index *index, const llmperf_profile *profile)
{
    const char *before = NULL;
    int status = 0;

    *index = (struct lp_counter_index){ profile, { NULL, 0, 0 } };
    for (size_t i = 0; status == 0 && i < lp_row_count(profile, LP_ROW_METRIC); i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        uint64_t hash, twin;

        if (llmperf_profile_metric(profile, i, &metric) < 0 || !metric.region ||
            lp_text_same(metric.region, before))
            continue;
        before = metric.region;
        hash = lp_hash_text(before, strlen(before));
        if (find_first(index, before, hash, &twin) == LP_HASHMAP_NONE)
            status = lp_hashmap_put(&index->first, hash, twin, (uint32_t)i);
    }
    return status;
}

void lp_counter_index_clear(struct lp_counter_index *index)
{
    lp_hashmap_clear(&index->first);
}

size_t lp_counter_index_find(const struct lp_counter_index *index, const char *path)
{
    uint64_t twin;
    uint32_t row = find_first(index, path, lp_hash_text(path, strlen(path)), &twin);

    return row != LP_HASHMAP_NONE ? row : lp_row_count(index->profile, LP_ROW_METRIC);
}

/* Quantities of the presets that count FLOPs, and the peak of each. */
static const struct {
    const char *quantity, *dtype;
} operations[] = {
    { "tensor_flops_bf16", "bf16" }, { "tensor_flops_fp16", "fp16" },
    { "tensor_flops_fp8", "fp8" },   { "tensor_flops_fp4", "fp4" },
    { "tensor_flops_tf32", "tf32" }, { "tensor_flops_fp64", "fp64" },
    { "flops_fp32", "fp32" },        { "flops_fp64", "fp64" },
};
#define OPERATIONS LP_LENGTH(operations)

struct sums {
    double flops, floor_ms; /* floor: FLOPs of each dtype / its peak, summed */
    double read, written, time_ns, instances;
    bool any, fp32, unknown_peak; /* fp32: work outside of tensor cores was counted */
};

static void add_operation(struct sums *sums, const struct lp_limits *limits, size_t operation,
                          double amount)
{
    double peak = lp_peak_tflops(limits, operations[operation].dtype);

    sums->any = true;
    sums->fp32 |= strcmp(operations[operation].quantity, "flops_fp32") == 0;
    sums->flops += amount;
    if (amount == 0)
        return;
    if (!isfinite(peak))
        sums->unknown_peak = true;
    else
        sums->floor_ms += amount / (peak * 1e9);
}

static void add_metric(struct sums *sums, const struct lp_limits *limits,
                       const llmperf_metric_stats *metric)
{
    if (strcmp(metric->name, "gpu_time") == 0) {
        sums->time_ns = metric->mean;
        sums->instances = (double)metric->count;
    } else if (strcmp(metric->name, "dram_read_bytes") == 0) {
        sums->read = metric->mean;
    } else if (strcmp(metric->name, "dram_write_bytes") == 0) {
        sums->written = metric->mean;
    }
    for (size_t i = 0; i < OPERATIONS; i++)
        if (strcmp(metric->name, operations[i].quantity) == 0)
            add_operation(sums, limits, i, metric->mean);
}

static struct sums collect(const struct lp_counter_index *index, const struct lp_limits *limits,
                           const llmperf_region_stats *region)
{
    struct sums sums = { 0, 0, NAN, NAN, NAN, 0, false, false, false };
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    for (size_t i = lp_counter_index_find(index, region->path);
         i < lp_row_count(index->profile, LP_ROW_METRIC) &&
         llmperf_profile_metric(index->profile, i, &metric) == 0 && metric.region &&
         strcmp(metric.region, region->path) == 0;
         i++)
        if (!metric.kernel && metric.count > 0 && metric.device == region->device &&
            (metric.process_id == 0 || metric.process_id == region->process_id) &&
            strcmp(metric.source, "range_profiler") == 0)
            add_metric(&sums, limits, &metric);
    return sums;
}

static const char *why_no_hfu(const struct sums *sums, const struct lp_limits *limits,
                              const llmperf_region_stats *region)
{
    if (!sums->any)
        return "no operations were counted in this region: use tier counters with a preset that "
               "counts them";
    if (sums->flops == 0 && !sums->fp32)
        return "its tensor cores were idle, and other operations were not counted: CUPTI counts "
               "them only with kernel replay (replay=kernel)";
    if (!limits || !limits->hardware)
        return "the GPU's peaks are unknown";
    if (sums->unknown_peak)
        return "the GPU has no known peak for a dtype that was counted";
    if (region->truncated > 0)
        return "a call was cut by the start or the end of the session";
    return !(region->gpu_busy_ms > 0) ? "the device time of the region is unknown" : NULL;
}

void lp_measured_of(const struct lp_counter_index *index, const struct lp_limits *limits,
                    const llmperf_region_stats *region, struct lp_measured *measured)
{
    struct sums sums = collect(index, limits, region);

    measured->flops = sums.flops > 0 || sums.fp32 ? sums.flops : NAN;
    measured->bytes = sums.read + sums.written;
    measured->intensity = measured->bytes > 0 ? measured->flops / measured->bytes : NAN;
    measured->time_ms = sums.time_ns / 1e6;
    measured->instances = sums.instances;
    measured->hfu_reason = why_no_hfu(&sums, limits, region);
    measured->hfu = measured->hfu_reason
                        ? NAN
                        : sums.floor_ms * (double)region->instances / region->gpu_busy_ms;
    if (measured->hfu > 1) {
        measured->hfu = NAN;
        measured->hfu_reason = "above 1: the peak is too low for this GPU or its clocks";
    }
}
