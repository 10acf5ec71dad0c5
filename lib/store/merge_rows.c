/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/statistics/distribution.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "lib/store/merge_rows.h"

/* Add a part's histogram. The first part's stays encoded until there is a second. */
static int add_histogram(struct lp_merged_row *row, const struct lp_blob *first,
                         const struct lp_blob *more)
{
    int status = 0;

    if (row->parts == 1 && first->bytes)
        status = lp_histogram_decode(&row->durations, first->bytes, first->size);
    row->known = row->known && more->bytes;
    row->parts++;
    return status < 0 || !more->bytes
               ? status
               : lp_histogram_decode(&row->durations, more->bytes, more->size);
}

/* The row of `out` with the keys of `from`; LP_HASHMAP_NONE: a new row was appended. */
static int find_or_add(struct lp_merged_list *list, llmperf_profile *out, enum lp_row_id id,
                       void *from, bool known, uint32_t *row_out)
{
    uint64_t hash = lp_row_hash(id, from, NULL), twin = 0;
    struct lp_merged_row merged = { .parts = 1, .known = known };
    uint32_t count = (uint32_t)lp_row_count(out, id);

    while ((*row_out = lp_hashmap_get(&list->keys, hash, twin)) != LP_HASHMAP_NONE &&
           lp_row_compare(id, lp_row_at(out, id, *row_out), from) != 0)
        twin++;
    if (*row_out != LP_HASHMAP_NONE)
        return 0;
    if (lp_row_keep(out, id, from) < 0 || lp_hashmap_put(&list->keys, hash, twin, count) < 0 ||
        lp_vector_push(&list->rows, merged) < 0)
        return LLMPERF_ENOMEM;
    return lp_row_push(out, id, from);
}

/* Runs of one process follow one another. */
int lp_merge_region(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_region_row *from)
{
    struct lp_region_row copy = *from;
    const llmperf_region_stats *more = &from->stats;
    llmperf_region_stats *into;
    uint32_t row;
    int status =
        find_or_add(&rows->regions, out, LP_ROW_REGION, &copy, from->wall.bytes != NULL, &row);

    if (status < 0 || row == LP_HASHMAP_NONE)
        return status;
    into = &out->regions.items[row].stats;
    if (into->instances == 0)
        into->wall_mean_ms = into->wall_std_ms = into->wall_sum_ms = 0;
    if (more->instances > 0)
        lp_moments_add(into->instances, &into->wall_mean_ms, &into->wall_std_ms, more->instances,
                       more->wall_mean_ms, more->wall_std_ms);
    lp_row_add(LP_ROW_REGION, into, more, (double)into->instances, (double)more->instances);
    return add_histogram(&rows->regions.rows.items[row], &out->regions.items[row].wall,
                         &from->wall);
}

int lp_merge_kernel(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_kernel_row *from)
{
    struct lp_kernel_row copy = *from, *into;
    uint32_t row;
    int status =
        find_or_add(&rows->kernels, out, LP_ROW_KERNEL, &copy, from->durations.bytes != NULL, &row);

    if (status < 0 || row == LP_HASHMAP_NONE)
        return status;
    into = &out->kernels.items[row];
    lp_row_add(LP_ROW_KERNEL, into, from, 1, 1);
    into->stats.mean_ms = into->stats.total_ms / (double)into->stats.calls;
    return add_histogram(&rows->kernels.rows.items[row], &into->durations, &from->durations);
}

int lp_merge_shape(struct lp_merged_rows *rows, llmperf_profile *out,
                   const llmperf_kernel_shape *from)
{
    llmperf_kernel_shape copy = *from, *into;
    uint32_t row;
    int status = find_or_add(&rows->shapes, out, LP_ROW_KERNEL_SHAPE, &copy, false, &row);

    if (status < 0 || row == LP_HASHMAP_NONE)
        return status;
    into = &out->kernel_shapes.items[row];
    lp_row_add(LP_ROW_KERNEL_SHAPE, into, from, 1, 1);
    into->mean_ms = into->total_ms / (double)into->calls;
    return 0;
}

/* Processes that work together wait for each other, so their errors may be the same: half widths
 * are added as means are. */
static int merge_estimates(llmperf_profile *out, llmperf_iteration_stats *into,
                           const llmperf_iteration_stats *more)
{
    double a = (double)into->estimate_calls, b = (double)more->estimate_calls;

    if (into->estimate_calls == LLMPERF_UNKNOWN || more->estimate_calls == LLMPERF_UNKNOWN) {
        into->estimate_calls = LLMPERF_UNKNOWN;
        LP_NO_ESTIMATE(into);
        return 0;
    }
    into->estimate_calls += more->estimate_calls;
    into->estimate_collected += more->estimate_collected;
    into->estimate_ms = (a * into->estimate_ms + b * more->estimate_ms) / (a + b);
    into->estimate_low_ms = (a * into->estimate_low_ms + b * more->estimate_low_ms) / (a + b);
    into->estimate_high_ms = (a * into->estimate_high_ms + b * more->estimate_high_ms) / (a + b);
    if (into->estimate_reason || !more->estimate_reason)
        return 0;
    into->estimate_reason = lp_profile_text(out, more->estimate_reason);
    return into->estimate_reason ? 0 : LLMPERF_ENOMEM;
}

int lp_merge_spread(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_iteration_stats_row *from)
{
    struct lp_iteration_stats_row copy = *from, *into;
    const llmperf_iteration_stats *more = &from->stats;
    uint32_t row;
    int status =
        find_or_add(&rows->spreads, out, LP_ROW_SPREAD, &copy, from->histogram.bytes != NULL, &row);

    if (status < 0 || row == LP_HASHMAP_NONE || more->count == 0)
        return status;
    into = &out->iteration_stats.items[row];
    if (into->stats.count == 0)
        into->stats.mean_ms = 0;
    lp_moments_add(into->stats.count, &into->stats.mean_ms, &into->stats.std_ms, more->count,
                   more->mean_ms, more->std_ms);
    if ((status = merge_estimates(out, &into->stats, more)) < 0)
        return status;
    lp_row_add(LP_ROW_SPREAD, into, from, 1, 1);
    return add_histogram(&rows->spreads.rows.items[row], &into->histogram, &from->histogram);
}

/* Means and percentiles follow from the sums and the histogram: lp_profile_derive_requests(). */
int lp_merge_latency(struct lp_merged_rows *rows, llmperf_profile *out,
                     const struct lp_latency_row *from)
{
    struct lp_latency_row copy = *from, *into;
    uint32_t row;
    int status = find_or_add(&rows->latencies, out, LP_ROW_LATENCY, &copy, true, &row);

    if (status < 0 || row == LP_HASHMAP_NONE)
        return status;
    into = &out->latencies.items[row];
    lp_row_add(LP_ROW_LATENCY, into, from, 1, 1);
    return add_histogram(&rows->latencies.rows.items[row], &into->histogram, &from->histogram);
}

int lp_merge_host_call(struct lp_merged_rows *rows, llmperf_profile *out,
                       const llmperf_host_call *from)
{
    llmperf_host_call copy = *from;
    uint32_t row;
    int status = find_or_add(&rows->host_calls, out, LP_ROW_HOST_CALL, &copy, false, &row);

    if (status == 0 && row != LP_HASHMAP_NONE)
        lp_row_add(LP_ROW_HOST_CALL, &out->host_calls.items[row], from, 1, 1);
    return status;
}

int lp_merge_requests(llmperf_profile *out, const llmperf_requests *from)
{
    if (out->requests.count == 0)
        return lp_vector_push(&out->requests, *from);
    lp_row_add(LP_ROW_REQUESTS, &out->requests.items[0], from, 1, 1);
    return 0;
}

static int finish(llmperf_profile *out, enum lp_row_id id, const struct lp_merged_row *merged,
                  void *row, struct lp_blob *histogram, double min_ms, double max_ms)
{
    if (merged->parts < 2)
        return 0;
    lp_set_percentiles(id, row, merged->known ? &merged->durations : NULL, min_ms, max_ms);
    *histogram = (struct lp_blob){ NULL, 0 };
    return merged->known ? lp_profile_histogram(out, &merged->durations, histogram) : 0;
}

int lp_merge_finish(struct lp_merged_rows *rows, llmperf_profile *out)
{
    int status = 0;

    for (size_t i = 0; i < rows->regions.rows.count && status == 0; i++) {
        struct lp_region_row *row = &out->regions.items[i];

        status = finish(out, LP_ROW_REGION, &rows->regions.rows.items[i], row, &row->wall,
                        row->stats.wall_min_ms, row->stats.wall_max_ms);
    }
    for (size_t i = 0; i < rows->kernels.rows.count && status == 0; i++) {
        struct lp_kernel_row *row = &out->kernels.items[i];

        status = finish(out, LP_ROW_KERNEL, &rows->kernels.rows.items[i], row, &row->durations,
                        row->stats.min_ms, row->stats.max_ms);
    }
    for (size_t i = 0; i < rows->spreads.rows.count && status == 0; i++) {
        struct lp_iteration_stats_row *row = &out->iteration_stats.items[i];

        status = finish(out, LP_ROW_SPREAD, &rows->spreads.rows.items[i], row, &row->histogram,
                        row->stats.min_ms, row->stats.max_ms);
    }
    for (size_t i = 0; i < rows->latencies.rows.count && status == 0; i++)
        if (rows->latencies.rows.items[i].parts > 1)
            status = lp_profile_histogram(out, &rows->latencies.rows.items[i].durations,
                                          &out->latencies.items[i].histogram);
    return status;
}

static void clear_list(struct lp_merged_list *list)
{
    for (size_t i = 0; i < list->rows.count; i++)
        lp_histogram_clear(&list->rows.items[i].durations);
    lp_vector_clear(&list->rows);
    lp_hashmap_clear(&list->keys);
}

void lp_merge_clear(struct lp_merged_rows *rows)
{
    clear_list(&rows->regions);
    clear_list(&rows->kernels);
    clear_list(&rows->shapes);
    clear_list(&rows->spreads);
    clear_list(&rows->latencies);
    clear_list(&rows->host_calls);
}
