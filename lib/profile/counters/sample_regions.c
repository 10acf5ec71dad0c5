/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/vector.h"
#include "lib/record/paths.h"
#include "lib/profile/counters/sample_regions.h"
#include "llmperf/region.h"

#define FOLD_NS    UINT64_C(500000000)  /* fold what is older than SETTLED_NS this often */
#define SETTLED_NS UINT64_C(2000000000) /* records that old have arrived */
#define KEPT_MOST  (1u << 20) /* intervals; above it they are folded even without new samples */
#define BINS       640u       /* 16 for each octave: values are within 4.4 % */
#define BIN_ZERO   128        /* bin of 1.0 */
#define NO_DEVICE  UINT32_MAX

struct interval {
    uint64_t start, end;
    uint32_t node;
};

typedef LP_VECTOR(struct interval) intervals;

/* Samples of a region during its device time or its wall time. */
struct basis {
    bool used;
    uint64_t interval_ns; /* longest interval of its samples */
    uint64_t from_ns;     /* earlier samples are too long for it */
    double time_ns;
    uint64_t covered_until; /* so that concurrent work counts once */
    uint64_t active_count;
    double *sums; /* by column: sum of value x time */
    double *bins; /* by column: a row of BINS, time by value */
};

struct region {
    struct basis device, host;
    bool elsewhere; /* it ran on a device without samples */
};

struct host_stack {
    uint32_t depth;
    uint64_t starts[LLMPERF_REGION_DEPTH];
    uint32_t nodes[LLMPERF_REGION_DEPTH];
};

struct lp_sample_regions {
    size_t columns;
    bool *rate, *percent; /* by column */
    uint64_t interval_ns;
    LP_VECTOR(struct interval) times; /* of samples; node is unused */
    LP_VECTOR(double) values;         /* a row for each sample */
    intervals activities, host;
    LP_VECTOR(struct region) regions;      /* by node */
    LP_VECTOR(uint32_t) rows;              /* nodes with samples */
    LP_VECTOR(struct host_stack *) stacks; /* by thread */
    uint64_t folded_until, changed_ns, samples, late;
    uint32_t device; /* the sampled device; NO_DEVICE: not known yet */
    bool failed;
};

struct lp_sample_regions *lp_sample_regions_create(const struct lp_counter_plan *plan)
{
    struct lp_sample_regions *regions = calloc(1, sizeof(*regions));

    if (!regions)
        return NULL;
    regions->columns = plan->count;
    regions->interval_ns = plan->interval_ns;
    regions->device = NO_DEVICE;
    regions->rate = calloc(plan->count, sizeof(*regions->rate));
    regions->percent = calloc(plan->count, sizeof(*regions->percent));
    if (!regions->rate || !regions->percent) {
        lp_sample_regions_free(regions);
        return NULL;
    }
    for (size_t i = 0; i < plan->count; i++) {
        regions->rate[i] = plan->columns[i].combine == LP_COUNTER_SUM;
        regions->percent[i] = strcmp(plan->columns[i].unit, "%") == 0;
    }
    return regions;
}

static void clear_basis(struct basis *basis)
{
    free(basis->sums);
    free(basis->bins);
}

void lp_sample_regions_free(struct lp_sample_regions *regions)
{
    if (!regions)
        return;
    for (size_t i = 0; i < regions->regions.count; i++) {
        clear_basis(&regions->regions.items[i].device);
        clear_basis(&regions->regions.items[i].host);
    }
    for (size_t i = 0; i < regions->stacks.count; i++)
        free(regions->stacks.items[i]);
    lp_vector_clear(&regions->times);
    lp_vector_clear(&regions->values);
    lp_vector_clear(&regions->activities);
    lp_vector_clear(&regions->host);
    lp_vector_clear(&regions->regions);
    lp_vector_clear(&regions->rows);
    lp_vector_clear(&regions->stacks);
    free(regions->rate);
    free(regions->percent);
    free(regions);
}

/* Sums */

static struct region *find_region(struct lp_sample_regions *regions, uint32_t node)
{
    struct region *region = lp_vector_at(&regions->regions, node);

    regions->failed |= !region;
    return region;
}

static bool open_basis(struct lp_sample_regions *regions, struct region *region,
                       struct basis *basis, uint32_t node)
{
    if (basis->used)
        return true;
    basis->sums = calloc(regions->columns, sizeof(*basis->sums));
    basis->bins = calloc(regions->columns * BINS, sizeof(*basis->bins));
    if (!basis->sums || !basis->bins ||
        (!region->device.used && !region->host.used && lp_vector_push(&regions->rows, node) < 0)) {
        clear_basis(basis);
        basis->sums = NULL;
        basis->bins = NULL;
        regions->failed = true;
        return false;
    }
    basis->used = true;
    basis->interval_ns = regions->interval_ns;
    basis->from_ns = regions->changed_ns;
    return true;
}

static size_t bin_of(double value)
{
    double bin = value > 0 ? floor(log2(value) * 16) + BIN_ZERO : 0;

    return bin < 1 ? (value > 0 ? 1 : 0) : bin >= BINS ? BINS - 1 : (size_t)bin;
}

static double middle_of(size_t bin)
{
    return bin == 0 ? 0 : exp2(((double)bin + 0.5 - BIN_ZERO) / 16);
}

static void add_sample(const struct lp_sample_regions *regions, struct basis *basis, size_t sample,
                       double weight)
{
    const struct interval *time = &regions->times.items[sample];
    const double *values = &regions->values.items[sample * regions->columns];

    basis->time_ns += weight;
    for (size_t c = 0; c < regions->columns; c++) {
        double value = values[c];

        if (isnan(value))
            continue;
        if (regions->rate[c])
            value *= 1e9 / (double)(time->end - time->start);
        basis->sums[c] += value * weight;
        basis->bins[c * BINS + bin_of(value)] += weight;
    }
}

/* The first sample that ends after `at`. */
static size_t first_sample(const struct lp_sample_regions *regions, uint64_t at)
{
    size_t low = 0, high = regions->times.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (regions->times.items[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_span(const struct lp_sample_regions *regions, struct basis *basis, uint64_t start,
                     uint64_t end)
{
    for (size_t s = first_sample(regions, start); s < regions->times.count; s++) {
        const struct interval *time = &regions->times.items[s];
        uint64_t from = time->start > start ? time->start : start;
        uint64_t to = time->end < end ? time->end : end;

        if (time->start >= end)
            break;
        if (to > from)
            add_sample(regions, basis, s, (double)(to - from));
    }
}

static void add_interval(struct lp_sample_regions *regions, const struct interval *interval,
                         uint32_t node, bool host)
{
    struct region *region = find_region(regions, node);
    struct basis *basis = !region ? NULL : host ? &region->host : &region->device;
    uint64_t start = interval->start;

    if (!region || !open_basis(regions, region, basis, node) || start < basis->from_ns)
        return;
    /* Shorter gaps than a sample cannot be seen. */
    if (host || basis->covered_until == 0 || start > basis->covered_until + regions->interval_ns)
        basis->active_count++;
    if (start < basis->covered_until)
        start = basis->covered_until;
    if (interval->end <= start)
        return;
    basis->covered_until = interval->end;
    add_span(regions, basis, start, interval->end);
}

/* Folding */

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *left = a, *right = b;

    return LP_ORDER(left->start, right->start);
}

static void fold_intervals(struct lp_sample_regions *regions, intervals *list, uint64_t until,
                           bool host)
{
    size_t kept = 0;

    lp_vector_sort(list, compare_intervals);
    for (size_t i = 0; i < list->count; i++) {
        const struct interval *interval = &list->items[i];

        if (interval->end > until) {
            list->items[kept++] = *interval;
            continue;
        }
        /* Outer regions have their own host intervals. */
        for (uint32_t node = interval->node; node != LP_PATH_ROOT;
             node = host ? LP_PATH_ROOT : lp_path_get(node)->parent)
            add_interval(regions, interval, node, host);
    }
    list->count = kept;
}

static void drop_samples(struct lp_sample_regions *regions, uint64_t until)
{
    size_t gone = first_sample(regions, until), left = regions->times.count - gone;

    if (gone == 0)
        return;
    memmove(regions->times.items, regions->times.items + gone, left * sizeof(struct interval));
    memmove(regions->values.items, regions->values.items + gone * regions->columns,
            left * regions->columns * sizeof(double));
    regions->times.count = left;
    regions->values.count = left * regions->columns;
}

/* Intervals that end after `until` are kept whole, with the samples that they need. */
static uint64_t oldest_needed(const struct lp_sample_regions *regions, uint64_t until)
{
    for (size_t i = 0; i < regions->activities.count; i++)
        if (regions->activities.items[i].start < until)
            until = regions->activities.items[i].start;
    return until;
}

static void fold(struct lp_sample_regions *regions, uint64_t until)
{
    fold_intervals(regions, &regions->activities, until, false);
    fold_intervals(regions, &regions->host, until, true);
    drop_samples(regions, oldest_needed(regions, until));
    regions->folded_until = until;
}

void lp_sample_regions_settle(struct lp_sample_regions *regions)
{
    fold(regions, UINT64_MAX);
    regions->folded_until = 0;
}

static bool is_too_short(const struct basis *basis)
{
    return basis->active_count == 0 ||
           basis->time_ns < 2 * (double)basis->interval_ns * (double)basis->active_count;
}

static void change_basis(const struct lp_sample_regions *regions, struct basis *basis)
{
    if (!basis->used)
        return;
    if (!is_too_short(basis)) {
        if (basis->interval_ns < regions->interval_ns)
            basis->interval_ns = regions->interval_ns;
        return;
    }
    basis->interval_ns = regions->interval_ns;
    basis->from_ns = regions->changed_ns;
    basis->time_ns = 0;
    basis->active_count = 0;
    memset(basis->sums, 0, regions->columns * sizeof(*basis->sums));
    memset(basis->bins, 0, regions->columns * BINS * sizeof(*basis->bins));
}

void lp_sample_regions_interval(struct lp_sample_regions *regions, uint64_t interval_ns)
{
    if (interval_ns == regions->interval_ns)
        return;
    regions->interval_ns = interval_ns;
    if (regions->times.count > 0)
        regions->changed_ns = regions->times.items[regions->times.count - 1].end;
    for (size_t i = 0; i < regions->rows.count; i++) {
        change_basis(regions, &regions->regions.items[regions->rows.items[i]].device);
        change_basis(regions, &regions->regions.items[regions->rows.items[i]].host);
    }
}

void lp_sample_regions_sample(struct lp_sample_regions *regions, const struct lp_counter_fact *fact,
                              const double *values)
{
    struct interval time = { fact->start_ns, fact->end_ns, 0 };

    if (lp_vector_reserve(&regions->values, regions->columns) < 0 ||
        lp_vector_push(&regions->times, time) < 0) {
        regions->failed = true;
        return;
    }
    memcpy(regions->values.items + regions->values.count, values,
           regions->columns * sizeof(*values));
    regions->values.count += regions->columns;
    regions->samples++;
    regions->device = fact->device;
    if (fact->end_ns >= regions->times.items[0].end + SETTLED_NS &&
        fact->end_ns - SETTLED_NS >= regions->folded_until + FOLD_NS)
        fold(regions, fact->end_ns - SETTLED_NS);
}

/* Input */

static void put_interval(struct lp_sample_regions *regions, intervals *list, uint64_t start,
                         uint64_t end, uint32_t node)
{
    struct interval interval = { start, end, node };

    if (start < regions->folded_until) {
        regions->late++;
        return;
    }
    if (lp_vector_push(list, interval) < 0)
        regions->failed = true;
    if (list->count >= KEPT_MOST && end > regions->folded_until + SETTLED_NS + FOLD_NS)
        fold(regions, end - SETTLED_NS);
}

static void mark_elsewhere(struct lp_sample_regions *regions, uint32_t node)
{
    for (; node != LP_PATH_ROOT; node = lp_path_get(node)->parent) {
        struct region *region = find_region(regions, node);

        if (!region || region->elsewhere)
            return;
        region->elsewhere = true;
    }
}

void lp_sample_regions_activities(struct lp_sample_regions *regions,
                                  const struct lp_activity *activities, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct lp_activity *activity = &activities[i];

        if (activity->node == LP_PATH_ROOT || activity->node == LP_PATH_UNKNOWN)
            continue;
        if (regions->device == NO_DEVICE || activity->device == regions->device)
            put_interval(regions, &regions->activities, activity->start_ns, activity->end_ns,
                         activity->node);
        else
            mark_elsewhere(regions, activity->node);
    }
}

static struct host_stack *find_stack(struct lp_sample_regions *regions, uint32_t thread)
{
    struct host_stack **place = lp_vector_at(&regions->stacks, thread);

    if (place && !*place)
        *place = calloc(1, sizeof(**place));
    return place ? *place : NULL;
}

void lp_sample_regions_host(struct lp_sample_regions *regions, uint32_t thread,
                            const struct lp_record *records, size_t count)
{
    struct host_stack *stack = find_stack(regions, thread);

    for (size_t i = 0; stack && i < count; i++) {
        const struct lp_record *record = &records[i];

        if (record->kind == LP_RECORD_REGION_BEGIN && stack->depth < LLMPERF_REGION_DEPTH) {
            stack->nodes[stack->depth] = record->node;
            stack->starts[stack->depth++] = record->time_ns;
        } else if (record->kind == LP_RECORD_REGION_END && stack->depth > 0 &&
                   stack->nodes[stack->depth - 1] == record->node) {
            stack->depth--;
            put_interval(regions, &regions->host, stack->starts[stack->depth], record->time_ns,
                         record->node);
        } else if (record->kind == LP_RECORD_THREAD_EXIT || record->kind == LP_RECORD_LOST) {
            stack->depth = 0;
        }
    }
}

/* Results */

static const struct basis *basis_of(const struct lp_sample_regions *regions, size_t index)
{
    const struct region *region = &regions->regions.items[regions->rows.items[index]];

    return region->device.used ? &region->device : &region->host;
}

size_t lp_sample_regions_count(const struct lp_sample_regions *regions)
{
    return regions->rows.count;
}

void lp_sample_regions_row(const struct lp_sample_regions *regions, size_t index,
                           struct lp_sample_row *row_out)
{
    const struct basis *basis = basis_of(regions, index);

    row_out->node = regions->rows.items[index];
    row_out->host = basis == &regions->regions.items[row_out->node].host;
    row_out->time_ns = basis->time_ns;
    row_out->active_count = basis->active_count;
    row_out->active_ns = basis->time_ns / (double)basis->active_count;
    row_out->too_short = is_too_short(basis);
    row_out->elsewhere = row_out->host && regions->regions.items[row_out->node].elsewhere;
}

static double share_above(const double *bins, double limit)
{
    double above = 0, all = 0;

    for (size_t i = 0; i < BINS; i++) {
        all += bins[i];
        if (middle_of(i) > limit)
            above += bins[i];
    }
    return all > 0 ? 100 * above / all : NAN;
}

static double quantile(const double *bins, double fraction)
{
    double all = 0, below = 0;
    size_t i = 0;

    for (size_t k = 0; k < BINS; k++)
        all += bins[k];
    if (all <= 0)
        return NAN;
    for (; i + 1 < BINS && below + bins[i] < fraction * all; i++)
        below += bins[i];
    return middle_of(i);
}

void lp_sample_regions_value(const struct lp_sample_regions *regions, size_t index, size_t column,
                             struct lp_sample_value *value_out)
{
    const struct basis *basis = basis_of(regions, index);
    const double *bins = basis->bins + column * BINS;

    value_out->mean = basis->time_ns > 0 ? basis->sums[column] / basis->time_ns : NAN;
    value_out->p95 = quantile(bins, 0.95);
    value_out->above_50 = regions->percent[column] ? share_above(bins, 50) : NAN;
    value_out->above_80 = regions->percent[column] ? share_above(bins, 80) : NAN;
}

uint64_t lp_sample_regions_samples(const struct lp_sample_regions *regions)
{
    return regions->samples;
}

uint64_t lp_sample_regions_late(const struct lp_sample_regions *regions)
{
    return regions->late;
}

bool lp_sample_regions_failed(const struct lp_sample_regions *regions)
{
    return regions->failed;
}
