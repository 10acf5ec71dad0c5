/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/store/merge_rows.h"

static uint64_t mix_text(uint64_t hash, const char *text)
{
    uint64_t word = text ? lp_hash_text(text, strlen(text)) : 1;

    return (hash ^ word) * 0x9e3779b97f4a7c15u;
}

static bool take_text(llmperf_profile *out, const char **text)
{
    const char *copy = lp_profile_text(out, *text);
    bool fine = copy || !*text;

    *text = copy;
    return fine;
}

static bool take_blob(llmperf_profile *out, struct lp_blob *blob)
{
    if (!blob->bytes)
        return true;
    blob->bytes = lp_strings_add_bytes(&out->pool, blob->bytes, blob->size);
    return blob->bytes != NULL;
}

/* Durations of one more part. Those of the first stay encoded until a second one comes. */
static int add_durations(struct lp_merged_row *row, const struct lp_blob *first,
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

static int encode(llmperf_profile *out, const struct lp_merged_row *row, struct lp_blob *blob)
{
    struct lp_text text = { NULL, 0, 0, false };

    lp_histogram_encode(&row->durations, &text);
    *blob = (struct lp_blob){ NULL, 0 };
    if (!text.failed && text.length > 0) {
        blob->bytes = lp_strings_add_bytes(&out->pool, text.bytes, text.length);
        blob->size = text.length;
    }
    lp_text_clear(&text);
    return text.failed || (text.length > 0 && !blob->bytes)
               ? lp_error(LLMPERF_ENOMEM, "out of memory")
               : 0;
}

static double quantile_ms(const struct lp_merged_row *row, double fraction, double min_ms,
                          double max_ms)
{
    return fmin(fmax(lp_histogram_quantile(&row->durations, fraction) / 1e6, min_ms), max_ms);
}

/* Kernels */

static uint64_t kernel_hash(const llmperf_kernel_stats *stats)
{
    uint64_t hash = mix_text((uint64_t)stats->kind << 32 | (uint32_t)stats->device, stats->name);

    return mix_text(mix_text(hash, stats->region), stats->captured_in);
}

static bool same_kernel(const llmperf_kernel_stats *a, const llmperf_kernel_stats *b)
{
    return a->kind == b->kind && a->device == b->device && lp_compare_text(a->name, b->name) == 0 &&
           lp_compare_text(a->region, b->region) == 0 &&
           lp_compare_text(a->captured_in, b->captured_in) == 0;
}

static int add_kernel(struct lp_merged_rows *rows, llmperf_profile *out,
                      const struct lp_kernel_row *from, uint64_t hash, uint64_t twin)
{
    struct lp_kernel_row row = *from;
    struct lp_merged_row merged = { .parts = 1, .known = from->durations.bytes != NULL };

    if (!take_text(out, &row.stats.name) || !take_text(out, &row.stats.region) ||
        !take_text(out, &row.stats.captured_in) || !take_blob(out, &row.durations))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (lp_hashmap_put(&rows->kernel_keys, hash, twin, (uint32_t)out->kernels.count) < 0 ||
        lp_vector_push(&rows->kernels, merged) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&out->kernels, row);
}

static uint64_t add_counts(uint64_t a, uint64_t b)
{
    return a == LLMPERF_UNKNOWN || b == LLMPERF_UNKNOWN ? LLMPERF_UNKNOWN : a + b;
}

int lp_merge_kernel(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_kernel_row *from)
{
    uint64_t hash = kernel_hash(&from->stats), twin = 0;
    llmperf_kernel_stats *into;
    uint32_t row;

    while ((row = lp_hashmap_get(&rows->kernel_keys, hash, twin)) != LP_HASHMAP_NONE &&
           !same_kernel(&out->kernels.items[row].stats, &from->stats))
        twin++;
    if (row == LP_HASHMAP_NONE)
        return add_kernel(rows, out, from, hash, twin);
    into = &out->kernels.items[row].stats;
    into->calls = add_counts(into->calls, from->stats.calls);
    into->bytes = add_counts(into->bytes, from->stats.bytes);
    into->total_ms += from->stats.total_ms;
    into->mean_ms = into->total_ms / (double)into->calls;
    into->min_ms = fmin(into->min_ms, from->stats.min_ms);
    into->max_ms = fmax(into->max_ms, from->stats.max_ms);
    return add_durations(&rows->kernels.items[row], &out->kernels.items[row].durations,
                         &from->durations);
}

static int finish_kernel(llmperf_profile *out, const struct lp_merged_row *merged,
                         struct lp_kernel_row *row)
{
    llmperf_kernel_stats *stats = &row->stats;

    if (merged->parts < 2)
        return 0;
    stats->p50_ms = stats->p95_ms = stats->p99_ms = NAN;
    row->durations = (struct lp_blob){ NULL, 0 };
    if (!merged->known)
        return 0;
    stats->p50_ms = quantile_ms(merged, 0.50, stats->min_ms, stats->max_ms);
    stats->p95_ms = quantile_ms(merged, 0.95, stats->min_ms, stats->max_ms);
    stats->p99_ms = quantile_ms(merged, 0.99, stats->min_ms, stats->max_ms);
    return encode(out, merged, &row->durations);
}

/* The spread of iterations */

static uint64_t spread_hash(const llmperf_iteration_stats *stats)
{
    return mix_text(mix_text(stats->is_class, stats->quantity), stats->region);
}

static bool same_spread(const llmperf_iteration_stats *a, const llmperf_iteration_stats *b)
{
    return a->is_class == b->is_class && lp_compare_text(a->quantity, b->quantity) == 0 &&
           lp_compare_text(a->region, b->region) == 0;
}

static int add_spread(struct lp_merged_rows *rows, llmperf_profile *out,
                      const struct lp_iteration_stats_row *from, uint64_t hash, uint64_t twin)
{
    struct lp_iteration_stats_row row = *from;
    struct lp_merged_row merged = { .parts = 1, .known = from->histogram.bytes != NULL };

    if (!take_text(out, &row.stats.region) || !take_text(out, &row.stats.quantity) ||
        !take_blob(out, &row.histogram))
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    if (lp_hashmap_put(&rows->spread_keys, hash, twin, (uint32_t)out->iteration_stats.count) < 0 ||
        lp_vector_push(&rows->spreads, merged) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&out->iteration_stats, row);
}

static double squares(const llmperf_iteration_stats *stats)
{
    return stats->count > 1 ? stats->std_ms * stats->std_ms * (double)(stats->count - 1) : 0;
}

/* As for metrics: Chan, Golub, LeVeque 1979. */
static void put_together(llmperf_iteration_stats *into, const llmperf_iteration_stats *more)
{
    double a = (double)into->count, b = (double)more->count, both = a + b;
    double apart = more->mean_ms - into->mean_ms;
    double spread = squares(into) + squares(more) + apart * apart * a * b / both;

    into->mean_ms += apart * b / both;
    into->std_ms = both > 1 ? sqrt(spread / (both - 1)) : (double)NAN;
    into->sum_ms += more->sum_ms;
    into->min_ms = fmin(into->min_ms, more->min_ms);
    into->max_ms = fmax(into->max_ms, more->max_ms);
    into->count += more->count;
}

int lp_merge_spread(struct lp_merged_rows *rows, llmperf_profile *out,
                    const struct lp_iteration_stats_row *from)
{
    uint64_t hash = spread_hash(&from->stats), twin = 0;
    uint32_t row;

    while ((row = lp_hashmap_get(&rows->spread_keys, hash, twin)) != LP_HASHMAP_NONE &&
           !same_spread(&out->iteration_stats.items[row].stats, &from->stats))
        twin++;
    if (row == LP_HASHMAP_NONE)
        return add_spread(rows, out, from, hash, twin);
    if (from->stats.count == 0)
        return 0;
    if (out->iteration_stats.items[row].stats.count == 0)
        out->iteration_stats.items[row].stats.mean_ms = 0;
    put_together(&out->iteration_stats.items[row].stats, &from->stats);
    return add_durations(&rows->spreads.items[row], &out->iteration_stats.items[row].histogram,
                         &from->histogram);
}

static int finish_spread(llmperf_profile *out, const struct lp_merged_row *merged,
                         struct lp_iteration_stats_row *row)
{
    llmperf_iteration_stats *stats = &row->stats;

    if (merged->parts < 2)
        return 0;
    stats->p50_ms = stats->p95_ms = stats->p99_ms = NAN;
    row->histogram = (struct lp_blob){ NULL, 0 };
    if (!merged->known)
        return 0;
    stats->p50_ms = quantile_ms(merged, 0.50, stats->min_ms, stats->max_ms);
    stats->p95_ms = quantile_ms(merged, 0.95, stats->min_ms, stats->max_ms);
    stats->p99_ms = quantile_ms(merged, 0.99, stats->min_ms, stats->max_ms);
    return encode(out, merged, &row->histogram);
}

int lp_merge_finish(struct lp_merged_rows *rows, llmperf_profile *out)
{
    int status = 0;

    for (size_t i = 0; i < rows->kernels.count && status == 0; i++)
        status = finish_kernel(out, &rows->kernels.items[i], &out->kernels.items[i]);
    for (size_t i = 0; i < rows->spreads.count && status == 0; i++)
        status = finish_spread(out, &rows->spreads.items[i], &out->iteration_stats.items[i]);
    return status;
}

void lp_merge_clear(struct lp_merged_rows *rows)
{
    for (size_t i = 0; i < rows->kernels.count; i++)
        lp_histogram_clear(&rows->kernels.items[i].durations);
    for (size_t i = 0; i < rows->spreads.count; i++)
        lp_histogram_clear(&rows->spreads.items[i].durations);
    lp_vector_clear(&rows->kernels);
    lp_vector_clear(&rows->spreads);
    lp_hashmap_clear(&rows->kernel_keys);
    lp_hashmap_clear(&rows->spread_keys);
}
