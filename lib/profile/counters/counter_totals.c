/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/record/paths.h"
#include "lib/profile/counters/counter_totals.h"

#define SKIPS_REPORTED 20u /* reported in notes, one line each */
#define ACTIVE_LEAST   5u  /* intervals needed for a mean length */

struct lp_counter_totals *lp_counter_totals_create(const struct lp_names *names)
{
    struct lp_counter_totals *totals = calloc(1, sizeof(*totals));

    if (totals)
        totals->names = names;
    return totals;
}

void lp_counter_totals_free(struct lp_counter_totals *totals)
{
    if (!totals)
        return;
    lp_sample_regions_free(totals->samples);
    lp_stall_sums_clear(&totals->stalls);
    lp_vector_clear(&totals->columns);
    lp_vector_clear(&totals->rows);
    lp_vector_clear(&totals->sums);
    lp_vector_clear(&totals->skips);
    lp_hashmap_clear(&totals->row_index);
    lp_hashmap_clear(&totals->skip_index);
    lp_strings_clear(&totals->pool);
    free(totals);
}

static bool keep_columns(struct lp_counter_totals *totals, const struct lp_counter_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct lp_counter_heading column = {
            lp_strings_add(&totals->pool, plan->columns[i].quantity),
            lp_strings_add(&totals->pool, plan->columns[i].metric),
            lp_strings_add(&totals->pool, plan->columns[i].unit), plan->columns[i].combine
        };

        if (!column.quantity || !column.metric || !column.unit ||
            lp_vector_push(&totals->columns, column) < 0)
            return false;
    }
    return true;
}

void lp_counter_totals_plan(struct lp_counter_totals *totals, const struct lp_counter_plan *plan)
{
    if (totals->plan.count > 0) { /* a session has one plan; only its interval may change */
        totals->plan.interval_ns = plan->interval_ns;
        if (totals->samples)
            lp_sample_regions_interval(totals->samples, plan->interval_ns);
        return;
    }
    if (plan->count == 0)
        return;
    totals->plan = *plan;
    totals->plan.chip = lp_strings_add(&totals->pool, plan->chip);
    totals->plan.preset = lp_strings_add(&totals->pool, plan->preset);
    totals->plan.method = lp_strings_add(&totals->pool, plan->method);
    totals->plan.replay = lp_strings_add(&totals->pool, plan->replay);
    if (strcmp(plan->method, "pm") == 0)
        totals->samples = lp_sample_regions_create(plan);
    if (strcmp(plan->method, "pc") == 0)
        totals->stalls.columns = plan->count;
    if (!keep_columns(totals, plan) || !totals->plan.chip || !totals->plan.preset ||
        !totals->plan.method || !totals->plan.replay ||
        (!totals->samples && strcmp(plan->method, "pm") == 0))
        totals->failed = true;
    totals->plan.columns = totals->columns.items;
}

static void add_value(struct lp_counter_sum *sum, double value)
{
    double apart = value - sum->mean;

    if (isnan(value))
        return;
    sum->min = sum->count == 0 ? value : fmin(sum->min, value);
    sum->max = sum->count == 0 ? value : fmax(sum->max, value);
    sum->count++;
    sum->mean += apart / (double)sum->count;
    sum->spread += apart * (value - sum->mean);
}

static int make_row(struct lp_counter_totals *totals, const struct lp_counter_fact *fact)
{
    struct lp_counter_row row = { fact->kind, fact->node, fact->name, fact->device,
                                  totals->sums.count };

    if (lp_vector_reserve(&totals->sums, totals->columns.count) < 0 ||
        lp_vector_push(&totals->rows, row) < 0)
        return LLMPERF_ENOMEM;
    memset(totals->sums.items + totals->sums.count, 0,
           totals->columns.count * sizeof(*totals->sums.items));
    totals->sums.count += totals->columns.count;
    return 0;
}

/* The name of a region's row is unused and must not be part of the key. */
static struct lp_counter_sum *find_sums(struct lp_counter_totals *totals,
                                        struct lp_counter_fact fact)
{
    uint64_t key0, key1;
    uint32_t row;

    if (fact.kind != LP_COUNTER_KERNEL)
        fact.name = 0;
    key0 = (uint64_t)fact.node << 32 | fact.name;
    key1 = (uint64_t)fact.kind << 32 | fact.device;
    row = lp_hashmap_get(&totals->row_index, key0, key1);
    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)totals->rows.count;
        if (make_row(totals, &fact) < 0 || lp_hashmap_put(&totals->row_index, key0, key1, row) < 0)
            return NULL;
    }
    return totals->sums.items + totals->rows.items[row].sums;
}

static bool add_skip(struct lp_counter_totals *totals, const struct lp_counter_fact *fact)
{
    uint32_t row = lp_hashmap_get(&totals->skip_index, fact->node, fact->name);
    struct lp_counter_skip skip = { fact->node, fact->name, 0 };

    if (row == LP_HASHMAP_NONE) {
        row = (uint32_t)totals->skips.count;
        if (lp_vector_push(&totals->skips, skip) < 0 ||
            lp_hashmap_put(&totals->skip_index, fact->node, fact->name, row) < 0)
            return false;
    }
    totals->skips.items[row].count++;
    return true;
}

void lp_counter_totals_fact(struct lp_counter_totals *totals, const struct lp_counter_fact *fact,
                            const double *values)
{
    struct lp_counter_sum *sums;

    if (fact->kind == LP_COUNTER_SAMPLE) {
        if (totals->samples)
            lp_sample_regions_sample(totals->samples, fact, values);
        return;
    }
    if (fact->kind == LP_COUNTER_STALL) {
        if (totals->stalls.columns > 0 && lp_stall_sums_add(&totals->stalls, fact, values) < 0)
            totals->failed = true;
        return;
    }
    if (fact->kind == LP_COUNTER_SKIP) {
        totals->failed = !add_skip(totals, fact) || totals->failed;
        return;
    }
    if (!(sums = find_sums(totals, *fact))) {
        totals->failed = true;
        return;
    }
    for (size_t i = 0; i < totals->columns.count; i++)
        add_value(&sums[i], values[i]);
}

void lp_counter_totals_activities(struct lp_counter_totals *totals,
                                  const struct lp_activity *activities, size_t count)
{
    if (totals->samples)
        lp_sample_regions_activities(totals->samples, activities, count);
}

void lp_counter_totals_host(struct lp_counter_totals *totals, uint32_t thread,
                            const struct lp_record *records, size_t count)
{
    if (totals->samples)
        lp_sample_regions_host(totals->samples, thread, records, count);
}

void lp_counter_totals_settle(struct lp_counter_totals *totals)
{
    if (totals->samples)
        lp_sample_regions_settle(totals->samples);
}

bool lp_counter_totals_shortest(const struct lp_counter_totals *totals, double least_ns,
                                bool (*wanted)(void *context, uint32_t node), void *context,
                                struct lp_counter_active *shortest_out)
{
    size_t count = totals->samples ? lp_sample_regions_count(totals->samples) : 0;
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        struct lp_sample_row row;

        lp_sample_regions_row(totals->samples, i, &row);
        if (row.elsewhere || row.active_count < ACTIVE_LEAST || !(row.active_ns >= least_ns) ||
            (found && row.active_ns >= shortest_out->length_ns) || !wanted(context, row.node))
            continue;
        *shortest_out = (struct lp_counter_active){ row.node, row.active_ns };
        found = true;
    }
    return found;
}

const struct lp_counter_plan *lp_counter_totals_current_plan(const struct lp_counter_totals *totals)
{
    return totals->plan.count > 0 ? &totals->plan : NULL;
}

/* Metrics of a profile */

struct writer {
    const struct lp_counter_totals *totals;
    llmperf_profile *profile;
    uint32_t process_id;
    struct lp_text path;
};

static const char *path_of(struct writer *writer, uint32_t node)
{
    writer->path.length = 0;
    lp_text_puts(&writer->path, "");
    lp_path_print(&writer->path, node);
    return writer->path.failed ? NULL : writer->path.bytes;
}

static int put_sum(struct writer *writer, const struct lp_counter_row *row, size_t column,
                   const char *path)
{
    const struct lp_counter_totals *totals = writer->totals;
    const struct lp_counter_sum *sum = &totals->sums.items[row->sums + column];
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;
    char name[300];

    snprintf(name, sizeof(name), "%s%s", row->kind == LP_COUNTER_OWN ? "exclusive_" : "",
             totals->columns.items[column].quantity);
    metric.name = name;
    metric.unit = totals->columns.items[column].unit;
    metric.group = totals->plan.preset;
    metric.source = "range_profiler";
    metric.region = path;
    metric.kernel = row->kind == LP_COUNTER_KERNEL ? lp_names_text(totals->names, row->name) : NULL;
    metric.device = row->device;
    metric.process_id = writer->process_id;
    metric.count = sum->count;
    metric.mean = sum->count > 0 ? sum->mean : NAN;
    metric.min = sum->count > 0 ? sum->min : NAN;
    metric.max = sum->count > 0 ? sum->max : NAN;
    metric.std = sum->count > 1 ? sqrt(sum->spread / (double)(sum->count - 1)) : NAN;
    return lp_profile_add_metric(writer->profile, &metric);
}

static int put_rows(struct writer *writer)
{
    const struct lp_counter_totals *totals = writer->totals;
    int status = 0;

    for (size_t i = 0; i < totals->rows.count && status == 0; i++) {
        const struct lp_counter_row *row = &totals->rows.items[i];
        const char *path = path_of(writer, row->node);

        if (!path)
            return lp_out_of_memory();
        for (size_t c = 0; c < totals->columns.count && status == 0; c++)
            status = put_sum(writer, row, c, path);
    }
    return status;
}

static int put_sampled(struct writer *writer, const struct lp_sample_row *row, const char *path,
                       const char *name, const char *unit, double value)
{
    llmperf_metric_stats metric = LLMPERF_METRIC_STATS_INIT;

    metric.name = name;
    metric.unit = unit;
    metric.group = writer->totals->plan.preset;
    metric.source = "pm_sampling";
    metric.region = path;
    metric.text = row->elsewhere   ? "ran on another GPU than the sampled one"
                  : row->too_short ? "too short to sample"
                                   : NULL;
    metric.device = -1;
    metric.process_id = writer->process_id;
    metric.count = metric.text || isnan(value) ? 0 : 1;
    metric.mean = metric.min = metric.max = metric.count ? value : NAN;
    metric.std = NAN;
    return lp_profile_add_metric(writer->profile, &metric);
}

/* Sampled sums are reported as rates: "dram_read_bytes" as "dram_read_bytes_per_s". */
static int put_sample_column(struct writer *writer, size_t index, const struct lp_sample_row *row,
                             const char *path, size_t column)
{
    const struct lp_counter_heading *heading = &writer->totals->columns.items[column];
    bool rate = heading->combine == LP_COUNTER_SUM, percent = strcmp(heading->unit, "%") == 0;
    struct lp_sample_value value;
    char name[300], unit[80];
    int status;

    lp_sample_regions_value(writer->totals->samples, index, column, &value);
    snprintf(unit, sizeof(unit), "%s%s", heading->unit, rate ? "/s" : "");
    snprintf(name, sizeof(name), "%s%s", heading->quantity, rate ? "_per_s" : "");
    if ((status = put_sampled(writer, row, path, name, unit, value.mean)) < 0)
        return status;
    snprintf(name, sizeof(name), "%s%s_p95", heading->quantity, rate ? "_per_s" : "");
    if ((status = put_sampled(writer, row, path, name, unit, value.p95)) < 0 || !percent)
        return status;
    snprintf(name, sizeof(name), "%s_above_50_share", heading->quantity);
    if ((status = put_sampled(writer, row, path, name, "%", value.above_50)) < 0)
        return status;
    snprintf(name, sizeof(name), "%s_above_80_share", heading->quantity);
    return put_sampled(writer, row, path, name, "%", value.above_80);
}

static int put_samples(struct writer *writer)
{
    const struct lp_sample_regions *samples = writer->totals->samples;
    int status = 0;

    for (size_t i = 0; samples && status == 0 && i < lp_sample_regions_count(samples); i++) {
        struct lp_sample_row row;
        const char *path;

        lp_sample_regions_row(samples, i, &row);
        if (!(path = path_of(writer, row.node)))
            return lp_out_of_memory();
        status = put_sampled(writer, &row, path, row.host ? "sampled_host_time" : "sampled_time",
                             "ns", row.time_ns);
        for (size_t c = 0; c < writer->totals->columns.count && status == 0; c++)
            status = put_sample_column(writer, i, &row, path, c);
    }
    return status;
}

static int note_skips(struct writer *writer)
{
    const struct lp_counter_totals *totals = writer->totals;
    int status = 0;

    for (size_t i = 0; i < totals->skips.count && i < SKIPS_REPORTED && status == 0; i++) {
        const struct lp_counter_skip *skip = &totals->skips.items[i];
        const char *path = path_of(writer, skip->node);
        const char *reason = lp_names_text(totals->names, skip->reason);

        status = lp_profile_note(writer->profile,
                                 "counters: %" PRIu64 " calls of %s were not measured: %s.",
                                 skip->count, path ? path : "a region", reason ? reason : "");
    }
    if (status == 0 && totals->skips.count > SKIPS_REPORTED)
        status = lp_profile_note(writer->profile,
                                 "counters: calls of %zu more regions were not measured.",
                                 totals->skips.count - SKIPS_REPORTED);
    return status;
}

static int note_samples(struct writer *writer)
{
    const struct lp_sample_regions *samples = writer->totals->samples;
    int status = 0;

    if (!samples)
        return 0;
    status = lp_profile_note(
        writer->profile,
        "counters: %" PRIu64 " samples, one every %.6g us; GPU clocks may be locked while "
        "sampling, and no other profiler can use the counters.",
        lp_sample_regions_samples(samples), (double)writer->totals->plan.interval_ns / 1e3);
    if (status == 0 && lp_sample_regions_late(samples) > 0)
        status = lp_profile_note(writer->profile,
                                 "counters: %" PRIu64
                                 " device records came too late to be matched with samples.",
                                 lp_sample_regions_late(samples));
    return status;
}

int lp_counter_totals_add(const struct lp_counter_totals *totals, uint32_t process_id,
                          llmperf_profile *profile)
{
    struct writer writer = { totals, profile, process_id, { NULL, 0, 0, false } };
    bool failed = totals->failed || (totals->samples && lp_sample_regions_failed(totals->samples));
    int status;

    if (totals->plan.count == 0)
        return 0;
    if ((status = put_rows(&writer)) == 0 && (status = put_samples(&writer)) == 0 &&
        (status = note_skips(&writer)) == 0)
        status = note_samples(&writer);
    if (status == 0 && totals->stalls.columns > 0)
        status =
            lp_stalls_freeze(&totals->stalls, &totals->plan, totals->names, process_id, profile);
    if (status == 0 && failed)
        status = lp_profile_problem(profile, "out of memory: hardware counters are missing");
    lp_text_clear(&writer.path);
    return status;
}
