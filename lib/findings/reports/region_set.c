/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/findings/reports/region_set.h"
#include "lib/profile/fields.h"
#include "llmperf/profile.h"
#include "lib/findings/limits/measured.h"

/* Was it launched in the region or in a nested one? */
static bool is_within(const llmperf_kernel_stats *kernel, const llmperf_region_stats *region)
{
    return kernel->kind == LLMPERF_ACTIVITY_KERNEL && kernel->device == region->device &&
           lp_region_is_in(kernel->region, region->path);
}

static int compare_names(const void *left, const void *right)
{
    const struct lp_region_kernel *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : a->device - b->device;
}

static int compare_times(const void *left, const void *right)
{
    const struct lp_region_kernel *a = left, *b = right;

    if (a->total_ms != b->total_ms)
        return a->total_ms < b->total_ms ? 1 : -1;
    return compare_names(left, right);
}

/* Merge the rows of a kernel that several nested regions launched. */
static void join_kernels(struct lp_region_part *part)
{
    size_t kept = 0;

    if (part->kernels.count == 0)
        return;
    lp_vector_sort(&part->kernels, compare_names);
    for (size_t i = 1; i < part->kernels.count; i++) {
        struct lp_region_kernel *into = &part->kernels.items[kept];
        const struct lp_region_kernel *more = &part->kernels.items[i];

        if (compare_names(into, more) == 0) {
            into->calls += more->calls;
            into->total_ms += more->total_ms;
        } else {
            part->kernels.items[++kept] = *more;
        }
    }
    part->kernels.count = kept + 1;
    lp_vector_sort(&part->kernels, compare_times);
}

static void cut_kernels(struct lp_region_part *part, size_t most)
{
    for (size_t i = most; i < part->kernels.count; i++) {
        part->kernels_left++;
        part->left_ms += part->kernels.items[i].total_ms;
    }
    if (part->kernels.count > most)
        part->kernels.count = most;
}

static int collect_kernels(const struct lp_region_set *set, struct lp_region_part *part)
{
    size_t count = lp_row_count(set->findings->profile, LP_ROW_KERNEL);

    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(set->findings->profile, LP_ROW_KERNEL, i);
        struct lp_region_kernel row;

        if (!is_within(kernel, &part->row->stats))
            continue;
        part->calls += kernel->calls;
        part->total_ms += kernel->total_ms;
        if (!lp_kernel_rule_shows(part->rule, kernel))
            continue;
        part->selected_calls += kernel->calls;
        part->selected_ms += kernel->total_ms;
        row = (struct lp_region_kernel){ kernel->demangled ? kernel->demangled : kernel->name,
                                         kernel->device, kernel->calls, kernel->total_ms };
        if (lp_vector_push(&part->kernels, row) < 0)
            return LLMPERF_ENOMEM;
    }
    join_kernels(part);
    cut_kernels(part, set->options.most_kernels);
    return 0;
}

/* Device time, else wall time, for choosing the longest regions. */
static double weight_of(const struct lp_region_finding *row)
{
    if (row->stats.gpu_busy_ms > 0)
        return row->stats.gpu_busy_ms;
    return isnan(row->stats.wall_sum_ms) ? 0 : row->stats.wall_sum_ms * 1e-6;
}

static int compare_weights(const void *left, const void *right)
{
    const struct lp_region_finding *const *a = left, *const *b = right;
    double x = weight_of(*a), y = weight_of(*b);

    if (x != y)
        return x < y ? 1 : -1;
    return LP_ORDER(*a, *b);
}

static int compare_places(const void *left, const void *right)
{
    const struct lp_region_finding *const *a = left, *const *b = right;

    return LP_ORDER(*a, *b);
}

static int add_parts(struct lp_region_set *set, const struct lp_region_finding **rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lp_region_part part = { .row = rows[i],
                                       .rule =
                                           lp_region_options_rule(&set->options, &rows[i]->stats) };

        if (collect_kernels(set, &part) < 0 || lp_vector_push(&set->parts, part) < 0) {
            lp_vector_clear(&part.kernels);
            return lp_out_of_memory();
        }
    }
    return 0;
}

static int choose_parts(struct lp_region_set *set)
{
    size_t count = 0, most = set->options.most_regions;
    const struct lp_region_finding **rows = calloc(set->findings->regions.count + 1, sizeof(*rows));
    int status;

    if (!rows)
        return lp_out_of_memory();
    for (size_t i = 0; i < set->findings->regions.count; i++)
        if (lp_region_options_shows(&set->options, &set->findings->regions.items[i].stats))
            rows[count++] = &set->findings->regions.items[i];
    set->matched = count;
    if (count > most) {
        qsort(rows, count, sizeof(*rows), compare_weights);
        count = most;
        qsort(rows, count, sizeof(*rows), compare_places);
    }
    status = add_parts(set, rows, count);
    free(rows);
    return status;
}

int lp_region_set_init(struct lp_region_set *set, const llmperf_profile *profile)
{
    int status;

    *set = (struct lp_region_set){ .matched = 0 };
    lp_clock_utc(set->generated_at, sizeof(set->generated_at));
    if ((status = lp_region_options_init(&set->options, profile)) < 0 ||
        (status = lp_findings_of(profile, &set->findings)) < 0 ||
        (status = lp_counter_index_init(&set->counters, profile)) < 0)
        return status;
    return choose_parts(set);
}

void lp_region_set_clear(struct lp_region_set *set)
{
    for (size_t i = 0; i < set->parts.count; i++)
        lp_vector_clear(&set->parts.items[i].kernels);
    lp_vector_clear(&set->parts);
    lp_counter_index_clear(&set->counters);
    lp_region_options_clear(&set->options);
}

bool lp_region_filter_shows(const struct lp_region_filter *filter,
                            const struct lp_region_part *part)
{
    const llmperf_region_stats *region = &part->row->stats;

    if (filter->label && strcmp(filter->label, region->label) != 0)
        return false;
    if (filter->scope == LP_SCOPE_PROCESS)
        return region->process_id == filter->id;
    return filter->scope != LP_SCOPE_DEVICE || region->device == filter->id;
}

void lp_region_scope_name(const struct lp_region_filter *filter, char *name, size_t size)
{
    if (filter->scope == LP_SCOPE_AGGREGATE)
        snprintf(name, size, "aggregate");
    else
        snprintf(name, size, "%s:%" PRId64,
                 filter->scope == LP_SCOPE_PROCESS ? "process" : "device", filter->id);
}

/* Does a region of the report show this kernel? Nested regions share theirs. */
static bool is_shown(const struct lp_region_set *set, const struct lp_region_filter *filter,
                     const llmperf_kernel_stats *kernel)
{
    for (size_t i = 0; i < set->parts.count; i++) {
        const struct lp_region_part *part = &set->parts.items[i];

        if (lp_region_filter_shows(filter, part) && is_within(kernel, &part->row->stats) &&
            lp_kernel_rule_shows(part->rule, kernel))
            return true;
    }
    return false;
}

void lp_region_totals_of(const struct lp_region_set *set, const struct lp_region_filter *filter,
                         struct lp_region_totals *totals)
{
    size_t count = lp_row_count(set->findings->profile, LP_ROW_KERNEL);

    *totals = (struct lp_region_totals){ 0, 0, 0 };
    for (size_t i = 0; i < set->parts.count; i++)
        totals->regions += lp_region_filter_shows(filter, &set->parts.items[i]);
    for (size_t i = 0; i < count; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(set->findings->profile, LP_ROW_KERNEL, i);

        if (!is_shown(set, filter, kernel))
            continue;
        totals->calls += kernel->calls;
        totals->kernel_ms += kernel->total_ms;
    }
}

const char *lp_region_nothing(const struct lp_region_set *set)
{
    return set->findings->regions.count == 0 ? "no matching regions: the run has no regions"
           : set->matched == 0 ? "no matching regions: no region of the run matches regions.include"
                               : "no matching regions: none in this scope";
}
