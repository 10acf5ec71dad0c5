/* SPDX-License-Identifier: Apache-2.0 */
/* Totals in the text format of Prometheus (exposition format 0.0.4). Base units: seconds and bytes.
 * What is not known has no sample. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/output/format/documents.h"
#include "lib/output/rows/prometheus.h"
#include "lib/output/json/row_fields.h"
#include "lib/findings/findings.h"
#include "llmperf/profile.h"
#include "lib/base/text.h"

enum source { REGION, KERNEL };

/* A family of samples: one for each row that knows the field. */
static const struct family {
    const char *name, *type, *help;
    enum source source;
    const char *field;
    double factor;
    bool
        host; /* repeats in the rows of a region on several devices: taken once, without a device */
} families[] = {
    { "llmperf_region_instances_total", "counter", "Complete instances of a region.", REGION,
      "instances", 1, true },
    { "llmperf_region_wall_seconds_total", "counter", "Host time in complete instances.", REGION,
      "wall_sum_ms", 1e-3, true },
    { "llmperf_region_wall_p50_seconds", "gauge", "Median host time of an instance.", REGION,
      "wall_p50_ms", 1e-3, true },
    { "llmperf_region_wall_p95_seconds", "gauge", "95th percentile of host time.", REGION,
      "wall_p95_ms", 1e-3, true },
    { "llmperf_region_wall_p99_seconds", "gauge", "99th percentile of host time.", REGION,
      "wall_p99_ms", 1e-3, true },
    { "llmperf_region_tokens_total", "counter", "Tokens that the program counted.", REGION,
      "tokens", 1, true },
    { "llmperf_region_sequences_total", "counter", "Sequences that the program counted.", REGION,
      "sequences", 1, true },
    { "llmperf_region_flops_total", "counter", "FLOPs that the program or the model gave.", REGION,
      "flops", 1, true },
    { "llmperf_region_bytes_total", "counter",
      "Bytes of device memory that the program or the model gave.", REGION, "bytes", 1, true },
    { "llmperf_region_gpu_busy_seconds_total", "counter",
      "Union of device intervals, nested regions included.", REGION, "gpu_busy_ms", 1e-3, false },
    { "llmperf_region_kernel_seconds_total", "counter",
      "Sum of kernel durations, nested regions included.", REGION, "kernel_ms", 1e-3, false },
    { "llmperf_region_kernels_total", "counter", "Kernels, nested regions included.", REGION,
      "kernel_count", 1, false },
    { "llmperf_region_copy_bytes_total", "counter", "Bytes of copies, nested regions included.",
      REGION, "memcpy_bytes", 1, false },
    { "llmperf_kernel_calls_total", "counter", "Calls of a kernel, copy or set in a region.",
      KERNEL, "calls", 1, false },
    { "llmperf_kernel_seconds_total", "counter", "Device time of a kernel, copy or set.", KERNEL,
      "total_ms", 1e-3, false },
    { "llmperf_kernel_p95_seconds", "gauge", "95th percentile of the duration of a call.", KERNEL,
      "p95_ms", 1e-3, false },
};

static void put_device(struct lp_text *out, int32_t device)
{
    char text[16];

    if (device < 0)
        return;
    snprintf(text, sizeof(text), "%d", device);
    lp_prometheus_label(out, "device", text);
}

static void put_region_labels(struct lp_text *out, const llmperf_region_stats *region, bool host)
{
    char process[16];

    snprintf(process, sizeof(process), "%u", region->process_id);
    lp_prometheus_label(out, "region", region->path);
    lp_prometheus_label(out, "process", process);
    if (!host)
        put_device(out, region->device);
}

/* GPUs that work on a stage together. */
static const struct rank_family {
    const char *name, *help;
    size_t offset; /* of a double of struct lp_rank, ms */
} rank_families[] = {
    { "llmperf_rank_compute_seconds",
      "Kernels of an instance that are no collectives, where GPUs work together.",
      offsetof(struct lp_rank, compute_ms) },
    { "llmperf_rank_collective_seconds", "Collectives of an instance, waiting included.",
      offsetof(struct lp_rank, collective_ms) },
    { "llmperf_rank_waiting_seconds", "Waiting for other GPUs in collectives, at least.",
      offsetof(struct lp_rank, waiting_ms) },
};

static void put_rank_family(const struct lp_ranks *ranks, const struct rank_family *family,
                            struct lp_text *out)
{
    lp_text_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help,
                   family->name);
    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct lp_rank *rank = &ranks->rows.items[i];
        double value = *(const double *)((const char *)rank + family->offset);
        const llmperf_region_stats region = { .path = rank->region,
                                              .process_id = rank->process_id,
                                              .device = rank->device };

        if (!isfinite(value))
            continue;
        lp_text_printf(out, "%s{", family->name);
        put_region_labels(out, &region, false);
        lp_prometheus_value(out, value * 1e-3);
    }
}

static int put_ranks(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    if (!lp_ranks_possible(profile)) /* A server is asked often, and mostly has one GPU. */
        return 0;
    status = lp_findings_of(profile, &findings);
    for (size_t i = 0; i < sizeof(rank_families) / sizeof(rank_families[0]) && status == 0; i++)
        if (findings->ranks.rows.count > 0)
            put_rank_family(&findings->ranks, &rank_families[i], out);
    return status;
}

/* Launched with no region open is region "", not known has no label. */
static void put_kernel_labels(struct lp_text *out, const llmperf_kernel_stats *kernel)
{
    lp_prometheus_label(out, "kernel", kernel->demangled);
    lp_prometheus_label(out, "kind", llmperf_activity_kind_name(kernel->kind));
    if (kernel->region)
        lp_prometheus_label(out, "region", kernel->region);
    if (kernel->captured_in)
        lp_prometheus_label(out, "captured_in", kernel->captured_in);
    /* Two names may read alike: the raw one tells them apart. */
    if (strcmp(kernel->name, kernel->demangled) != 0)
        lp_prometheus_label(out, "symbol", kernel->name);
    put_device(out, kernel->device);
}

static double value_of(const struct lp_row_kind *kind, const char *name, const void *row)
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct lp_field_name *field = &kind->fields[i];
        const void *at = (const char *)row + field->offset;

        if (strcmp(field->name, name) != 0)
            continue;
        if (field->type == LP_FIELD_NUMBER)
            return *(const double *)at;
        return *(const uint64_t *)at == LLMPERF_UNKNOWN ? (double)NAN
                                                        : (double)*(const uint64_t *)at;
    }
    return NAN;
}

static bool is_repeated(const llmperf_region_stats *before, const llmperf_region_stats *region)
{
    return before->path && strcmp(before->path, region->path) == 0 &&
           before->process_id == region->process_id;
}

static const struct lp_row_kind *kind_of(enum source source)
{
    const char *name = source == REGION ? "region" : "kernel";

    for (size_t i = 0; i < lp_row_kind_count; i++)
        if (strcmp(lp_row_kinds[i].name, name) == 0)
            return &lp_row_kinds[i];
    return NULL;
}

static void put_family(const llmperf_profile *profile, const struct family *family,
                       struct lp_text *out)
{
    const struct lp_row_kind *kind = kind_of(family->source);
    llmperf_region_stats before = LLMPERF_REGION_STATS_INIT;

    lp_text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
                   family->type);
    for (size_t i = 0; i < kind->count(profile); i++) {
        union lp_any_row row;
        double value;
        bool again;

        if (kind->get(profile, i, &row) < 0)
            continue;
        again = family->host && is_repeated(&before, &row.region);
        if (family->source == REGION)
            before = row.region;
        value = value_of(kind, family->field, &row) * family->factor;
        if (again || !isfinite(value))
            continue;
        lp_text_printf(out, "%s{", family->name);
        if (family->source == REGION)
            put_region_labels(out, &row.region, family->host);
        else
            put_kernel_labels(out, &row.kernel);
        lp_prometheus_value(out, value);
    }
}

/* By which device times and counts of a region are divided to be those of all its instances. */
static void put_sampled_fractions(const llmperf_profile *profile, struct lp_text *out)
{
    llmperf_region_stats before = LLMPERF_REGION_STATS_INIT;

    lp_text_puts(out, "# HELP llmperf_region_sampled_fraction Share of the work whose device side "
                      "was collected; device times and counts are of this share.\n"
                      "# TYPE llmperf_region_sampled_fraction gauge\n");
    for (size_t i = 0; i < llmperf_profile_region_count(profile); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        if (llmperf_profile_region(profile, i, &region) < 0)
            continue;
        if (region.device >= 0 && isfinite(region.skipped_fraction) &&
            !is_repeated(&before, &region)) {
            lp_text_puts(out, "llmperf_region_sampled_fraction{");
            put_region_labels(out, &region, true);
            lp_prometheus_value(out, 1 - region.skipped_fraction);
        }
        before = region;
    }
}

static void put_metrics(const llmperf_profile *profile, struct lp_text *out)
{
    lp_text_puts(out, "# HELP llmperf_metric Mean of a named metric over its results.\n"
                      "# TYPE llmperf_metric gauge\n");
    for (size_t i = 0; i < llmperf_profile_metric_count(profile); i++) {
        llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
        char process[16];

        if (llmperf_profile_metric(profile, i, &metric) < 0 || !isfinite(metric.mean))
            continue;
        lp_text_puts(out, "llmperf_metric{");
        lp_prometheus_label(out, "name", metric.name);
        lp_prometheus_label(out, "unit", metric.unit);
        lp_prometheus_label(out, "source", metric.source);
        if (metric.group)
            lp_prometheus_label(out, "group", metric.group);
        if (metric.region)
            lp_prometheus_label(out, "region", metric.region);
        if (metric.kernel)
            lp_prometheus_label(out, "kernel", metric.kernel);
        snprintf(process, sizeof(process), "%u", metric.process_id);
        if (metric.process_id)
            lp_prometheus_label(out, "process", process);
        put_device(out, metric.device);
        lp_prometheus_value(out, metric.mean);
    }
}

static void put_ledger(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_row_kind *kind = &lp_row_kinds[0];
    llmperf_ledger ledger = LLMPERF_LEDGER_INIT;

    llmperf_profile_ledger(profile, &ledger);
    lp_text_puts(out, "# HELP llmperf_run_info The run, and how complete it is.\n"
                      "# TYPE llmperf_run_info gauge\nllmperf_run_info{");
    lp_prometheus_label(out, "run_id", llmperf_profile_fact(profile, "run_id"));
    lp_prometheus_label(out, "verdict", llmperf_verdict_name(ledger.verdict));
    lp_prometheus_value(out, 1);
    lp_text_puts(out, "# HELP llmperf_ledger Expected against seen; see docs/metrics.md.\n"
                      "# TYPE llmperf_ledger gauge\n");
    for (size_t i = 0; i < kind->field_count; i++) {
        double value = value_of(kind, kind->fields[i].name, &ledger);

        if (!isfinite(value))
            continue;
        lp_text_puts(out, "llmperf_ledger{");
        lp_prometheus_label(out, "quantity", kind->fields[i].name);
        lp_prometheus_value(out, value);
    }
}

int lp_prometheus(const llmperf_profile *profile, struct lp_text *out)
{
    int status;

    put_ledger(profile, out);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        put_family(profile, &families[i], out);
    put_sampled_fractions(profile, out);
    lp_prometheus_stages(profile, out);
    lp_prometheus_windows(profile, out);
    put_metrics(profile, out);
    status = put_ranks(profile, out);
    return out->failed ? LLMPERF_ENOMEM : status;
}
