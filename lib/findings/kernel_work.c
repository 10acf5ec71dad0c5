/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/kernel_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/findings/kernels/kernel_amounts.h"
#include "lib/findings/limits/achievable.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"

static const char no_counters[] =
    "not counted by kernel; use tier counters with replay=kernel and preset roofline, or ncu";
static const char no_flops[] = "not all of its FLOPs were counted; use preset roofline, or ncu "
                               "with section SpeedOfLight_RooflineChart";
static const char no_bytes[] = "its bytes of device memory were not counted";
static const char no_time[] = "its device time is unknown";

struct reader {
    const struct lp_findings *findings;
    struct lp_kernel_works *works;
    struct lp_hashmap keys; /* (name, device) of all kernels -> row */
};

static struct lp_kernel_work *find(struct reader *reader, const char *name, int32_t device,
                                   bool make)
{
    struct lp_kernel_work work = { .name = name, .device = device };
    uint64_t key = lp_hash_text(name, strlen(name)), second = (uint32_t)device;
    uint32_t index;

    while ((index = lp_hashmap_get(&reader->keys, key, second)) != LP_HASHMAP_NONE) {
        struct lp_kernel_work *found = &reader->works->rows.items[index];

        if (found->device == device && strcmp(found->name, name) == 0)
            return found;
        second += 1ull << 32;
    }
    index = (uint32_t)reader->works->rows.count;
    if (!make || lp_vector_push(&reader->works->rows, work) < 0 ||
        lp_hashmap_put(&reader->keys, key, second, index) < 0)
        return NULL;
    return &reader->works->rows.items[index];
}

static int add_kernels(struct reader *reader)
{
    const llmperf_profile *profile = reader->findings->profile;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(profile, LP_ROW_KERNEL, i);
        struct lp_kernel_work *work;

        if (kernel->kind != LLMPERF_ACTIVITY_KERNEL)
            continue;
        if (!(work = find(reader, kernel->name, kernel->device, true)))
            return lp_out_of_memory();
        work->short_name = kernel->short_name;
        work->demangled = kernel->demangled;
        work->calls += kernel->calls;
        work->total_ms += kernel->total_ms > 0 ? kernel->total_ms : 0;
    }
    return 0;
}

/* CUPTI gives no times of kernels that it replays: their time is a counter. */
static int add_counted(struct reader *reader)
{
    const llmperf_profile *profile = reader->findings->profile;
    int status = 0;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_METRIC) && status == 0; i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        struct lp_kernel_work *work;

        llmperf_profile_metric(profile, i, &metric);
        if (!metric.kernel || metric.count == 0 || strcmp(metric.name, "gpu_time") != 0)
            continue;
        if (!(work = find(reader, metric.kernel, metric.device, true)))
            return lp_out_of_memory();
        if (!work->short_name) /* it has only counters */
            status = lp_kernel_names(&reader->works->pool, work->name, &work->demangled,
                                     &work->short_name);
        work->counted_ms += metric.mean * (double)metric.count / 1e6;
        work->counted_calls += metric.count;
    }
    return status;
}

static int compare_works(const void *left, const void *right)
{
    const struct lp_kernel_work *a = left, *b = right;
    int order = LP_ORDER(b->total_ms, a->total_ms);

    order = order ? order : strcmp(a->name, b->name);
    return order ? order : a->device - b->device;
}

/* Rows do not move any more from here on. */
static int keep_top(struct reader *reader)
{
    struct lp_kernel_works *works = reader->works;
    double all = 0;

    for (size_t i = 0; i < works->rows.count; i++) {
        struct lp_kernel_work *work = &works->rows.items[i];

        if (work->total_ms == 0) {
            work->total_ms = work->counted_ms;
            work->calls = work->counted_calls;
        }
        all += work->total_ms;
    }
    lp_vector_sort(&works->rows, compare_works);
    if (works->rows.count > LP_KERNEL_WORK_MOST)
        works->rows.count = LP_KERNEL_WORK_MOST;
    lp_hashmap_reset(&reader->keys);
    for (size_t i = 0; i < works->rows.count; i++) {
        struct lp_kernel_work *work = &works->rows.items[i];
        uint64_t second = (uint32_t)work->device, key;

        key = lp_hash_text(work->name, strlen(work->name));
        while (lp_hashmap_get(&reader->keys, key, second) != LP_HASHMAP_NONE)
            second += 1ull << 32;
        if (lp_hashmap_put(&reader->keys, key, second, (uint32_t)i) < 0)
            return lp_out_of_memory();
        work->share = all > 0 ? work->total_ms / all : (double)NAN;
        work->flops = work->bytes = NAN;
        work->time_ms = work->calls > 0 && work->total_ms > 0 ? work->total_ms / (double)work->calls
                                                              : (double)NAN;
    }
    return 0;
}

/* Counters of kernels */

static int take_counters(struct reader *reader)
{
    const llmperf_profile *profile = reader->findings->profile;
    struct lp_kernel_work *rows = reader->works->rows.items;
    size_t count = reader->works->rows.count;
    struct lp_kernel_amounts *amounts = calloc(count + 1, sizeof(*amounts));

    if (!amounts)
        return lp_out_of_memory();
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_METRIC); i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        const struct lp_kernel_work *work;

        llmperf_profile_metric(profile, i, &metric);
        if (metric.kernel && (work = find(reader, metric.kernel, metric.device, false)))
            lp_kernel_amounts_add(&amounts[work - rows], &metric);
    }
    for (size_t i = 0; i < count; i++) {
        struct lp_kernel_counted counted;

        if (!amounts[i].source)
            continue;
        lp_kernel_amounts_read(&amounts[i], &counted);
        rows[i].source = amounts[i].source;
        rows[i].flops = counted.flops;
        rows[i].bytes = counted.bytes;
        rows[i].dtype = counted.dtype;
        if (counted.time_ns > 0)
            rows[i].time_ms = counted.time_ns / 1e6;
    }
    free(amounts);
    return 0;
}

/* Regions that run only one kernel */

static int index_regions(struct lp_hashmap *regions, const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (lp_hashmap_put(regions, lp_hash_text(stats->path, strlen(stats->path)),
                           (uint32_t)stats->device, (uint32_t)i) < 0)
            return lp_out_of_memory();
    }
    return 0;
}

/* The region that launched all calls of this kernel and nothing else; NULL: none. Kernels of
 * processes with equal paths are one row, with more calls than any region: they have none. */
static const struct lp_region_finding *only_region_of(const struct lp_hashmap *regions,
                                                      const struct lp_findings *findings,
                                                      const llmperf_kernel_stats *kernel)
{
    const llmperf_region_stats *stats;
    uint32_t index = LP_HASHMAP_NONE;

    if (kernel->region)
        index = lp_hashmap_get(regions, lp_hash_text(kernel->region, strlen(kernel->region)),
                               (uint32_t)kernel->device);
    if (index == LP_HASHMAP_NONE)
        return NULL;
    stats = &findings->regions.items[index].stats;
    return strcmp(stats->path, kernel->region) == 0 && stats->kernel_count == kernel->calls &&
                   stats->memcpy_count + stats->memset_count == 0 && stats->truncated == 0 &&
                   stats->skipped_fraction == 0 && stats->instances > 0
               ? &findings->regions.items[index]
               : NULL;
}

static void take_region(struct lp_kernel_work *work, const struct lp_region_finding *region,
                        const struct lp_limits *limits)
{
    const struct lp_measured *measured = &region->measured;
    const llmperf_region_stats *stats = &region->stats;
    double calls = (double)stats->kernel_count / (double)stats->instances;

    if (measured->flops > 0 && measured->bytes > 0) {
        work->flops = measured->flops / calls;
        work->bytes = measured->bytes / calls;
        work->source = "counters of a region that runs only this kernel";
    } else if (stats->flops != LLMPERF_UNKNOWN && stats->bytes != LLMPERF_UNKNOWN) {
        work->flops = (double)stats->flops / (double)stats->kernel_count;
        work->bytes = (double)stats->bytes / (double)stats->kernel_count;
        work->source = stats->flops_origin == LLMPERF_WORK_MODEL
                           ? "the model, in a region that runs only this kernel"
                           : "the program, in a region that runs only this kernel";
    } else {
        return;
    }
    work->time_ms = stats->kernel_ms / (double)stats->kernel_count;
    work->dtype = limits->dtype[0] ? limits->dtype : NULL;
}

static int take_regions(struct reader *reader)
{
    const struct lp_findings *findings = reader->findings;
    struct lp_hashmap regions = { NULL, 0, 0 };
    int status = index_regions(&regions, findings);

    for (size_t i = 0; status == 0 && i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);
        const struct lp_region_finding *region;
        struct lp_kernel_work *work;

        if (kernel->kind != LLMPERF_ACTIVITY_KERNEL ||
            !(work = find(reader, kernel->name, kernel->device, false)) || work->source ||
            !(region = only_region_of(&regions, findings, kernel)))
            continue;
        take_region(work, region, &findings->limits);
    }
    lp_hashmap_clear(&regions);
    return status;
}

/* Result */

static void finish(const struct lp_findings *findings, struct lp_kernel_work *work)
{
    double bandwidth = findings->limits.bandwidth.value;
    double peak = lp_findings_describes(findings, work->device)
                      ? lp_peak_tflops(&findings->limits, work->dtype)
                      : (double)NAN;

    work->intensity = work->bytes > 0 ? work->flops / work->bytes : (double)NAN;
    work->achieved_tflops = work->time_ms > 0 ? work->flops / work->time_ms / 1e9 : (double)NAN;
    work->achieved_gbs = work->time_ms > 0 ? work->bytes / work->time_ms / 1e6 : (double)NAN;
    work->attainable_tflops = NAN;
    if (work->intensity > 0 && !isnan(peak) && bandwidth > 0)
        work->attainable_tflops = fmin(peak, work->intensity * bandwidth / 1e3);
    work->reason = !work->source          ? no_counters
                   : isnan(work->flops)   ? no_flops
                   : isnan(work->bytes)   ? no_bytes
                   : !(work->time_ms > 0) ? no_time
                                          : NULL;
}

static struct lp_roof roof_of(const struct lp_limits *limits, const struct lp_kernel_works *works)
{
    struct lp_roof roof = { limits->peak.value, limits->bandwidth.value, NAN, limits->dtype };

    for (size_t i = 0; isnan(roof.peak_tflops) && i < works->rows.count; i++) {
        const struct lp_kernel_work *work = &works->rows.items[i];

        if (!lp_kernel_work_has_point(work) || isnan(lp_peak_tflops(limits, work->dtype)))
            continue;
        roof.peak_tflops = lp_peak_tflops(limits, work->dtype);
        roof.dtype = work->dtype;
    }
    roof.ridge = roof.peak_tflops * 1e3 / roof.bandwidth_gbs;
    return roof;
}

bool lp_kernel_work_has_point(const struct lp_kernel_work *work)
{
    return work->intensity > 0 && work->achieved_tflops > 0;
}

int lp_kernel_works_read(struct lp_kernel_works *works, const struct lp_findings *findings)
{
    struct reader reader = { .findings = findings, .works = works };
    int status;

    if ((status = add_kernels(&reader)) == 0 && (status = add_counted(&reader)) == 0 &&
        (status = keep_top(&reader)) == 0 && (status = take_counters(&reader)) == 0)
        status = take_regions(&reader);
    for (size_t i = 0; status == 0 && i < works->rows.count; i++)
        finish(findings, &works->rows.items[i]);
    works->roof = roof_of(&findings->limits, works);
    lp_hashmap_clear(&reader.keys);
    return status;
}

void lp_kernel_works_clear(struct lp_kernel_works *works)
{
    lp_vector_clear(&works->rows);
    lp_strings_clear(&works->pool);
}
