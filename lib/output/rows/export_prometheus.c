/* SPDX-License-Identifier: Apache-2.0 */
/* Totals in the text format of Prometheus (0.0.4), in seconds and bytes. Unknown values have no
 * sample. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/output/format/documents.h"
#include "lib/output/rows/prometheus.h"
#include "lib/output/format/row_fields.h"
#include "lib/findings/findings.h"
#include "llmperf/profile.h"
#include "lib/base/text.h"

/* Is this a host number, which rows of further devices repeat? It is written once, without
 * device. */
static bool is_of_host(enum lp_row_id id, const struct lp_row_field *field)
{
    return id == LP_ROW_REGION && field->unknown != LP_UNKNOWN_NO_DEVICE &&
           field->unknown != LP_UNKNOWN_NO_ENERGY;
}

static void put_device(struct lp_text *out, int32_t device)
{
    char text[16];

    if (device < 0)
        return;
    snprintf(text, sizeof(text), "%d", device);
    lp_prometheus_label(out, "device", text);
}

/* A device of -1 is not named. */
static void put_region_labels(struct lp_text *out, const char *path, uint32_t process_id,
                              int32_t device)
{
    char process[16];

    snprintf(process, sizeof(process), "%u", process_id);
    lp_prometheus_label(out, "region", path);
    lp_prometheus_label(out, "process", process);
    put_device(out, device);
}

/* Outside of regions the label is ""; unknown regions have no label. */
static void put_kernel_labels(struct lp_text *out, const llmperf_kernel_stats *kernel)
{
    lp_prometheus_label(out, "kernel", kernel->demangled);
    lp_prometheus_label(out, "kind", llmperf_name(LLMPERF_NAME_ACTIVITY, kernel->kind));
    if (kernel->region)
        lp_prometheus_label(out, "region", kernel->region);
    if (kernel->captured_in)
        lp_prometheus_label(out, "captured_in", kernel->captured_in);
    /* Two kernels may have the same demangled name. */
    if (strcmp(kernel->name, kernel->demangled) != 0)
        lp_prometheus_label(out, "symbol", kernel->name);
    put_device(out, kernel->device);
}

static void put_host_call_labels(struct lp_text *out, const llmperf_host_call *row)
{
    lp_prometheus_label(out, "call", row->call);
    lp_prometheus_label(out, "region", row->region);
}

/* Sizes of messages are no label: they differ with each batch. */
static void put_collective_labels(struct lp_text *out, const struct lp_collective *row)
{
    put_region_labels(out, row->region ? row->region : "", row->process_id, row->device);
    lp_prometheus_label(out, "kernel", row->kernel);
}

static bool is_repeated(const llmperf_region_stats *before, const llmperf_region_stats *region)
{
    return before->path && strcmp(before->path, region->path) == 0 &&
           before->process_id == region->process_id;
}

static void put_labels(enum lp_row_id id, const struct lp_row_field *field, const void *row,
                       struct lp_text *out)
{
    const llmperf_region_stats *region = row;
    const struct lp_rank *rank = row;
    const struct lp_collective *collective = row;
    const llmperf_energy *energy = row;

    if (id == LP_ROW_REQUESTS)
        return;
    if (id == LP_ROW_ENERGY) {
        put_device(out, energy->device);
        return;
    }
    if (id == LP_ROW_KERNEL)
        put_kernel_labels(out, row);
    else if (id == LP_ROW_HOST_CALL)
        put_host_call_labels(out, row);
    else if (id == LP_ROW_COLLECTIVE)
        put_collective_labels(out, collective);
    else if (id == LP_ROW_RANK)
        put_region_labels(out, rank->region, rank->process_id, rank->device);
    else
        put_region_labels(out, region->path, region->process_id,
                          is_of_host(id, field) ? -1 : region->device);
}

/* A metric, with a sample for each row where it is known. Sums are counters. */
static void put_family(enum lp_row_id id, const char *rows, size_t count,
                       const struct lp_row_field *field, struct lp_text *out)
{
    size_t length = strlen(field->series), size = lp_row_kinds[id].row_size;
    bool counter = length > 6 && strcmp(field->series + length - 6, "_total") == 0;

    lp_text_printf(out, "# HELP llmperf_%s %s\n# TYPE llmperf_%s %s\n", field->series, field->text,
                   field->series, counter ? "counter" : "gauge");
    for (size_t i = 0; i < count; i++) {
        const void *row = rows + i * size;
        double value = lp_field_value(field, row) * (strcmp(field->unit, "ms") == 0 ? 1e-3 : 1);

        if (!isfinite(value) || (i > 0 && is_of_host(id, field) &&
                                 is_repeated((const void *)(rows + (i - 1) * size), row)))
            continue;
        lp_text_printf(out, "llmperf_%s{", field->series);
        put_labels(id, field, row, out);
        lp_prometheus_value(out, value);
    }
}

static void put_families(enum lp_row_id id, const void *rows, size_t count, struct lp_text *out)
{
    for (size_t i = 0; i < lp_row_kinds[id].count; i++)
        if (lp_row_kinds[id].fields[i].series)
            put_family(id, rows, count, &lp_row_kinds[id].fields[i], out);
}

static double mean(double a, double weight_a, double b, double weight_b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

static void add_collective(struct lp_collective *into, const struct lp_collective *row)
{
    double calls = (double)into->calls, more = (double)row->calls;
    double transfer_ms = into->transfer_ms * calls, more_ms = row->transfer_ms * more;

    into->bus_gbs = mean(into->bus_gbs, transfer_ms, row->bus_gbs, more_ms);
    into->link_share = mean(into->link_share, transfer_ms, row->link_share, more_ms);
    into->overlap_share =
        mean(into->overlap_share, into->total_ms, row->overlap_share, row->total_ms);
    into->transfer_ms = mean(into->transfer_ms, calls, row->transfer_ms, more);
    into->waiting_ms = mean(into->waiting_ms, calls, row->waiting_ms, more);
    into->total_ms += row->total_ms;
    into->calls += row->calls;
}

/* Messages of all sizes together. */
static int put_collectives(const struct lp_findings *findings, struct lp_text *out)
{
    LP_VECTOR(struct lp_collective) rows = { NULL, 0, 0 };
    int status = 0;

    for (size_t i = 0; i < findings->collectives.rows.count && status == 0; i++) {
        const struct lp_collective *row = &findings->collectives.rows.items[i];
        size_t at = 0;

        while (at < rows.count && !(rows.items[at].process_id == row->process_id &&
                                    rows.items[at].device == row->device &&
                                    lp_text_same(rows.items[at].region, row->region) &&
                                    strcmp(rows.items[at].kernel, row->kernel) == 0))
            at++;
        if (at == rows.count)
            status = lp_vector_push(&rows, *row);
        else
            add_collective(&rows.items[at], row);
    }
    if (status == 0 && rows.count > 0)
        put_families(LP_ROW_COLLECTIVE, rows.items, rows.count, out);
    lp_vector_clear(&rows);
    return status;
}

/* Collectives, and times of GPUs that share a stage. */
static int put_ranks(const llmperf_profile *profile, struct lp_text *out)
{
    const struct lp_findings *findings;
    int status;

    /* A server is scraped often and mostly has one GPU. */
    if (!lp_ranks_possible(profile) && lp_row_count(profile, LP_ROW_COLLECTIVE_CALLS) == 0)
        return 0;
    status = lp_findings_of(profile, &findings);
    if (status == 0)
        status = put_collectives(findings, out);
    if (status == 0 && findings->ranks.rows.count > 0)
        put_families(LP_ROW_RANK, findings->ranks.rows.items, findings->ranks.rows.count, out);
    return status;
}

/* Device times and counts of a region must be divided by this to estimate those of all its
 * calls. */
static void put_sampled_fractions(const llmperf_profile *profile, struct lp_text *out)
{
    llmperf_region_stats before = LLMPERF_REGION_STATS_INIT;

    lp_text_puts(out, "# HELP llmperf_region_sampled_fraction Share of the work whose device "
                      "records were collected; device times and counts are for this share.\n# TYPE "
                      "llmperf_region_sampled_fraction gauge\n");
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++) {
        llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;

        if (llmperf_profile_region(profile, i, &region) < 0)
            continue;
        if (region.device >= 0 && isfinite(region.skipped_fraction) &&
            !is_repeated(&before, &region)) {
            lp_text_puts(out, "llmperf_region_sampled_fraction{");
            put_region_labels(out, region.path, region.process_id, -1);
            lp_prometheus_value(out, 1 - region.skipped_fraction);
        }
        before = region;
    }
}

static void put_metrics(const llmperf_profile *profile, struct lp_text *out)
{
    lp_text_puts(out, "# HELP llmperf_metric Mean of a named metric over its results.\n"
                      "# TYPE llmperf_metric gauge\n");
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_METRIC); i++) {
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
    const struct lp_row_kind *kind = &lp_row_kinds[LP_ROW_LEDGER];
    llmperf_ledger room;
    const llmperf_ledger *ledger = lp_shown_row(profile, LP_ROW_LEDGER, 0, &room);

    lp_text_puts(out, "# HELP llmperf_run_info The run and its verdict.\n"
                      "# TYPE llmperf_run_info gauge\nllmperf_run_info{");
    lp_prometheus_label(out, "run_id", llmperf_profile_fact(profile, "run_id"));
    lp_prometheus_label(out, "verdict", llmperf_name(LLMPERF_NAME_VERDICT, ledger->verdict));
    lp_prometheus_value(out, 1);
    lp_text_puts(out,
                 "# HELP llmperf_ledger Expected and seen records; see docs/reference/metrics.md.\n"
                 "# TYPE llmperf_ledger gauge\n");
    for (size_t i = 0; i < kind->count; i++) {
        double value = lp_field_value(&kind->fields[i], ledger);

        if (kind->fields[i].type == LP_FIELD_WORD || !isfinite(value))
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
    put_families(LP_ROW_REGION, lp_row_at(profile, LP_ROW_REGION, 0),
                 lp_row_count(profile, LP_ROW_REGION), out);
    put_families(LP_ROW_KERNEL, lp_row_at(profile, LP_ROW_KERNEL, 0),
                 lp_row_count(profile, LP_ROW_KERNEL), out);
    put_sampled_fractions(profile, out);
    lp_prometheus_stages(profile, out);
    lp_prometheus_windows(profile, out);
    if (lp_row_count(profile, LP_ROW_HOST_CALL) > 0)
        put_families(LP_ROW_HOST_CALL, lp_row_at(profile, LP_ROW_HOST_CALL, 0),
                     lp_row_count(profile, LP_ROW_HOST_CALL), out);
    if (lp_row_count(profile, LP_ROW_REQUESTS) > 0)
        put_families(LP_ROW_REQUESTS, lp_row_at(profile, LP_ROW_REQUESTS, 0), 1, out);
    lp_prometheus_requests(profile, out);
    if (lp_row_count(profile, LP_ROW_ENERGY) > 0)
        put_families(LP_ROW_ENERGY, lp_row_at(profile, LP_ROW_ENERGY, 0),
                     lp_row_count(profile, LP_ROW_ENERGY), out);
    put_metrics(profile, out);
    status = put_ranks(profile, out);
    return out->failed ? LLMPERF_ENOMEM : status;
}
