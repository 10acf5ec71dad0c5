/* SPDX-License-Identifier: Apache-2.0 */
/* Per region: host time of an instance, and device time by kernel class of what an instance
 * launched, nested regions included. Means are held against each other by Welch's test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/analysis/analysis.h"
#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/compare.h"
#include "llmperf/activity.h"

#define MINOR         0.01  /* share of a run's time below which nothing is judged */
#define NORMAL_P95    1.645 /* of the normal distribution */
#define QUANTITY_WALL "wall"
#define QUANTITY_ALL  "device"

enum { BASE, FRESH };

/* What is added up of one quantity of one region of one run. */
struct sum {
    double total_ms, variance; /* of the total */
    uint64_t calls;
    bool known; /* the variance is */
    /* From the iterations of a stage, which know better. */
    double mean_ms, std_ms;
    uint64_t count;
};

struct row {
    const char *region, *quantity;
    struct sum sums[2];
};

/* Instances of a region: of its rows, each process once. */
struct place {
    const char *path;
    uint64_t instances[2];
    double collected[2];           /* instances whose device work was not left out by sampling */
    double wall_ms[2], squares[2]; /* squared differences from the mean */
};

struct builder {
    LP_VECTOR(struct row) rows;
    LP_VECTOR(struct place) places;
    struct lp_hashmap row_keys, place_keys;
    struct lp_comparison *out;
};

static uint64_t hash(const char *text)
{
    return lp_hash_text(text, strlen(text));
}

static struct row *find_row(struct builder *builder, const char *region, const char *quantity)
{
    struct row fresh = { .region = region, .quantity = quantity };
    uint64_t key = hash(region), second = hash(quantity);
    uint32_t index;

    while ((index = lp_hashmap_get(&builder->row_keys, key, second)) != LP_HASHMAP_NONE) {
        struct row *row = &builder->rows.items[index];

        if (strcmp(row->region, region) == 0 && strcmp(row->quantity, quantity) == 0)
            return row;
        second++;
    }
    index = (uint32_t)builder->rows.count;
    if (lp_vector_push(&builder->rows, fresh) < 0 ||
        lp_hashmap_put(&builder->row_keys, key, second, index) < 0)
        return NULL;
    return &builder->rows.items[index];
}

static struct place *find_place(struct builder *builder, const char *path, bool make)
{
    struct place fresh = { .path = path };
    uint64_t key = hash(path), second = 0;
    uint32_t index;

    while ((index = lp_hashmap_get(&builder->place_keys, key, second)) != LP_HASHMAP_NONE) {
        if (strcmp(builder->places.items[index].path, path) == 0)
            return &builder->places.items[index];
        second++;
    }
    index = (uint32_t)builder->places.count;
    if (!make || lp_vector_push(&builder->places, fresh) < 0 ||
        lp_hashmap_put(&builder->place_keys, key, second, index) < 0)
        return NULL;
    return &builder->places.items[index];
}

/* Regions */

static int add_region(struct builder *builder, int side, const llmperf_region_stats *stats)
{
    struct place *place = find_place(builder, stats->path, true);
    double mean, apart, n, more = (double)stats->instances;

    if (!place)
        return LLMPERF_ENOMEM;
    if (stats->instances == 0 || isnan(stats->wall_sum_ms))
        return 0;
    n = (double)place->instances[side];
    mean = n > 0 ? place->wall_ms[side] / n : 0;
    apart = stats->wall_sum_ms / more - mean;
    place->squares[side] += n > 0 ? apart * apart * n * more / (n + more) : 0;
    if (stats->instances > 1)
        place->squares[side] += stats->wall_std_ms * stats->wall_std_ms * (more - 1);
    place->wall_ms[side] += stats->wall_sum_ms;
    place->instances[side] += stats->instances;
    place->collected[side] +=
        (more - (double)stats->window_instances) * (1 - stats->skipped_fraction);
    if (stats->depth == 0)
        builder->out->reference_ms[side][0] += stats->wall_sum_ms;
    return 0;
}

/* A region's rows on several devices repeat its host times. */
static int add_regions(struct builder *builder, int side, const llmperf_profile *profile)
{
    llmperf_region_stats before = LLMPERF_REGION_STATS_INIT;
    int status = 0;

    for (size_t i = 0; i < llmperf_profile_region_count(profile) && status == 0; i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;

        llmperf_profile_region(profile, i, &stats);
        if (!before.path || strcmp(before.path, stats.path) != 0 ||
            before.process_id != stats.process_id)
            status = add_region(builder, side, &stats);
        before = stats;
    }
    return status;
}

/* Kernels */

/* How far calls are apart, from percentiles: profiles keep no sum of squares. */
static double spread_of(const llmperf_kernel_stats *kernel)
{
    double spread = (kernel->p95_ms - kernel->p50_ms) / NORMAL_P95;

    return kernel->calls < 2 ? (double)NAN : spread;
}

static int add_calls(struct builder *builder, int side, const char *region, const char *quantity,
                     const llmperf_kernel_stats *kernel)
{
    struct row *row = find_row(builder, region, quantity);
    double spread = spread_of(kernel);
    struct sum *sum;

    if (!row)
        return LLMPERF_ENOMEM;
    sum = &row->sums[side];
    sum->total_ms += kernel->total_ms;
    sum->calls += kernel->calls;
    /* A kernel that ran once says nothing of noise, and leaves out what the others say. */
    if (!isnan(spread)) {
        sum->variance += spread * spread * (double)kernel->calls;
        sum->known = true;
    }
    return 0;
}

/* In its region and in all around it: those whose path is the front of its path. */
static int add_kernel(struct builder *builder, int side, const llmperf_kernel_stats *kernel)
{
    const char *kernel_class =
        builder->out->classes
            ? lp_kernel_class(builder->out->classes, kernel->demangled, kernel->kind)
            : "all kernels";
    char *path = lp_text_copy(kernel->region);
    int status = path ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");

    builder->out->reference_ms[side][1] += kernel->total_ms;
    while (status == 0) {
        const struct place *place = find_place(builder, path, false);
        char *slash;

        if (place && ((status = add_calls(builder, side, place->path, kernel_class, kernel)) < 0 ||
                      (status = add_calls(builder, side, place->path, QUANTITY_ALL, kernel)) < 0))
            break;
        if (!(slash = strrchr(path, '/')))
            break;
        *slash = '\0';
    }
    free(path);
    return status;
}

static int add_kernels(struct builder *builder, int side, const llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; i < llmperf_profile_kernel_count(profile) && status == 0; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(profile, i, &kernel);
        if (kernel.region && !isnan(kernel.total_ms) && kernel.calls > 0)
            status = add_kernel(builder, side, &kernel);
    }
    return status;
}

static int add_iterations(struct builder *builder, int side, const llmperf_profile *profile)
{
    for (size_t i = 0; i < llmperf_profile_iteration_stats_count(profile); i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
        struct row *row;

        llmperf_profile_iteration_stats(profile, i, &stats);
        if (!stats.is_class || stats.count < 2 || !find_place(builder, stats.region, false))
            continue;
        if (!(row = find_row(builder, stats.region, stats.quantity)))
            return LLMPERF_ENOMEM;
        row->sums[side].mean_ms = stats.mean_ms;
        row->sums[side].std_ms = stats.std_ms;
        row->sums[side].count = stats.count;
    }
    return 0;
}

/* Verdicts */

double lp_student_99(double freedom)
{
    static const double values[] = { 63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499,
                                     3.355,  3.250, 3.169, 3.106, 3.055, 3.012, 2.977,
                                     2.947,  2.921, 2.898, 2.878, 2.861, 2.845 };
    size_t count = sizeof(values) / sizeof(values[0]);

    if (!(freedom >= 1))
        return values[0];
    if (freedom < (double)count)
        return values[(size_t)freedom - 1];
    return 2.576 * (1 + 2.088 / freedom); /* meets the table at 20 within 0.01 */
}

/* Welch 1947, Satterthwaite 1946. */
static double noise_of(const struct lp_compare_side *a, const struct lp_compare_side *b)
{
    double va = a->error_ms * a->error_ms, vb = b->error_ms * b->error_ms, both = va + vb;
    double freedom;

    if (isnan(both))
        return NAN;
    freedom = both > 0 ? both * both / (va * va / a->freedom + vb * vb / b->freedom)
                       : fmin(a->freedom, b->freedom);
    return lp_student_99(freedom) * sqrt(both);
}

static struct lp_compare_side side_of(const struct sum *sum, const struct place *place, int at,
                                      bool iterations)
{
    struct lp_compare_side side = { NAN, NAN, 0, 0, place->instances[at] };
    /* Outside of regions: the run itself. */
    double n = place->collected[at] > 0 ? place->collected[at] : 1;

    if (iterations) {
        side.mean_ms = sum->mean_ms;
        side.error_ms = sum->std_ms / sqrt((double)sum->count);
        side.freedom = (double)sum->count - 1;
        side.total_ms = sum->mean_ms * (double)sum->count;
        side.instances = sum->count;
    } else if (sum->calls > 0) {
        side.mean_ms = sum->total_ms / n;
        side.error_ms = sum->known ? sqrt(sum->variance) / n : (double)NAN;
        side.freedom = fmax((double)sum->calls - 1, 1);
        side.total_ms = sum->total_ms;
    }
    return side;
}

static bool is_minor(const struct lp_comparison *out, const struct lp_compare_row *row, bool wall)
{
    return !(row->base.total_ms >= MINOR * out->reference_ms[BASE][!wall]) &&
           !(row->fresh.total_ms >= MINOR * out->reference_ms[FRESH][!wall]);
}

static enum lp_compare_verdict judge(const struct lp_comparison *out,
                                     const struct lp_compare_row *row, bool wall)
{
    double difference = row->fresh.mean_ms - row->base.mean_ms;

    if (isnan(row->base.mean_ms))
        return LP_COMPARE_ONLY_NEW;
    if (isnan(row->fresh.mean_ms))
        return LP_COMPARE_ONLY_BASE;
    if (is_minor(out, row, wall))
        return LP_COMPARE_MINOR;
    if (!(fabs(difference) > out->threshold * row->base.mean_ms) ||
        fabs(difference) <= row->noise_ms)
        return LP_COMPARE_SAME;
    return difference > 0 ? LP_COMPARE_SLOWER : LP_COMPARE_FASTER;
}

static int add_result(struct lp_comparison *out, struct lp_compare_row row, bool wall)
{
    row.change = row.base.mean_ms > 0 ? row.fresh.mean_ms / row.base.mean_ms - 1 : (double)NAN;
    row.noise_ms = noise_of(&row.base, &row.fresh);
    row.verdict = judge(out, &row, wall);
    out->slower += row.verdict == LP_COMPARE_SLOWER;
    out->faster += row.verdict == LP_COMPARE_FASTER;
    return lp_vector_push(&out->rows, row);
}

static struct lp_compare_side wall_of(const struct place *place, int side)
{
    struct lp_compare_side out = { NAN, NAN, 0, place->wall_ms[side], place->instances[side] };
    double n = (double)place->instances[side];

    if (n > 0)
        out.mean_ms = place->wall_ms[side] / n;
    if (n > 1) {
        out.error_ms = sqrt(place->squares[side] / (n - 1) / n);
        out.freedom = n - 1;
    }
    return out;
}

static int add_results(struct builder *builder)
{
    int status = 0;

    for (size_t i = 0; i < builder->places.count && status == 0; i++) {
        const struct place *place = &builder->places.items[i];
        struct lp_compare_row row = { place->path,           QUANTITY_WALL, wall_of(place, BASE),
                                      wall_of(place, FRESH), NAN,           NAN,
                                      LP_COMPARE_SAME };

        if (place->instances[BASE] + place->instances[FRESH] > 0)
            status = add_result(builder->out, row, true);
    }
    for (size_t i = 0; i < builder->rows.count && status == 0; i++) {
        const struct row *from = &builder->rows.items[i];
        const struct place *place = find_place(builder, from->region, false);
        bool iterations = from->sums[BASE].count > 0 && from->sums[FRESH].count > 0;
        struct lp_compare_row row = { from->region,
                                      from->quantity,
                                      side_of(&from->sums[BASE], place, BASE, iterations),
                                      side_of(&from->sums[FRESH], place, FRESH, iterations),
                                      NAN,
                                      NAN,
                                      LP_COMPARE_SAME };

        if (!isnan(row.base.mean_ms) || !isnan(row.fresh.mean_ms))
            status = add_result(builder->out, row, false);
    }
    return status;
}

static bool is_lonely(const struct lp_compare_row *row)
{
    return row->verdict == LP_COMPARE_ONLY_BASE || row->verdict == LP_COMPARE_ONLY_NEW;
}

/* Where most time was lost or won comes first, behind it what only one run has. */
static double weight(const struct lp_compare_row *row)
{
    return fabs(fmax(row->fresh.total_ms, 0) - fmax(row->base.total_ms, 0));
}

static int compare_rows(const void *left, const void *right)
{
    const struct lp_compare_row *a = left, *b = right;
    double first = weight(a), second = weight(b);
    int order = is_lonely(a) - is_lonely(b);

    order = order ? order : (first < second) - (first > second);
    order = order ? order : strcmp(a->region, b->region);
    return order ? order : strcmp(a->quantity, b->quantity);
}

int lp_compare(const llmperf_profile *base, const llmperf_profile *fresh, double threshold,
               struct lp_comparison *out)
{
    const llmperf_profile *runs[] = { base, fresh };
    struct builder builder = { .out = out };
    int status = 0;

    out->threshold = threshold;
    if (lp_kernel_classes_open(NULL, &out->classes) < 0)
        out->classes = NULL;
    for (int side = BASE; side <= FRESH && status == 0; side++)
        status = add_regions(&builder, side, runs[side]);
    for (int side = BASE; side <= FRESH && status == 0; side++)
        if ((status = add_kernels(&builder, side, runs[side])) == 0)
            status = add_iterations(&builder, side, runs[side]);
    if (status == 0)
        status = add_results(&builder);
    if (out->rows.count > 0)
        qsort(out->rows.items, out->rows.count, sizeof(*out->rows.items), compare_rows);
    lp_vector_clear(&builder.rows);
    lp_vector_clear(&builder.places);
    lp_hashmap_clear(&builder.row_keys);
    lp_hashmap_clear(&builder.place_keys);
    return status;
}

void lp_compare_clear(struct lp_comparison *comparison)
{
    lp_vector_clear(&comparison->rows);
    lp_kernel_classes_free(comparison->classes);
    comparison->classes = NULL;
}

const char *lp_compare_verdict_name(enum lp_compare_verdict verdict)
{
    static const char *const names[] = { "same",         "slower",      "faster",
                                         "only in base", "only in new", "minor" };

    return names[verdict];
}
