/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels and memcpys of a stage say, for advice. */
#include <math.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/findings/findings.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/findings/limits/achievable.h"
#include "lib/findings/recommend.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "lib/record/stall_reasons.h"
#include "llmperf/profile.h"

/* Time by name of a kernel or kernel class. */
struct shares {
    struct lp_hashmap rows;
    LP_VECTOR(struct share {
        const char *name;
        double ms;
    })
    items;
};

static int add_share(struct shares *shares, const char *name, double ms)
{
    uint64_t hash = lp_hash_text(name, strlen(name));
    uint32_t row = lp_hashmap_get(&shares->rows, hash, 0);
    struct share fresh = { name, ms };

    if (row != LP_HASHMAP_NONE) {
        shares->items.items[row].ms += ms;
        return 0;
    }
    if (lp_hashmap_put(&shares->rows, hash, 0, (uint32_t)shares->items.count) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&shares->items, fresh);
}

static const char *largest(const struct shares *shares, double *ms_out)
{
    const struct share *top = NULL;

    for (size_t i = 0; i < shares->items.count; i++)
        if (!top || shares->items.items[i].ms > top->ms)
            top = &shares->items.items[i];
    *ms_out = top ? top->ms : NAN;
    return top ? top->name : NULL;
}

static double sum_of(const struct shares *shares, const char *const *names, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < shares->items.count; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(shares->items.items[i].name, names[k]) == 0)
                sum += shares->items.items[i].ms;
    return sum;
}

static void clear_shares(struct shares *shares)
{
    lp_hashmap_clear(&shares->rows);
    lp_vector_clear(&shares->items);
}

/* Is the innermost advised stage around this region the one of `facts`? What is nested in a region
 * follows it. */
bool lp_stage_owns(const struct lp_findings *findings, const char *region,
                   const struct lp_stage_facts *facts)
{
    if (!lp_region_is_in(region, facts->region))
        return false;
    if (!facts->holds_stages)
        return true;
    for (size_t i = lp_profile_find_region(findings->profile, facts->region);
         i < findings->regions.count; i++) {
        const struct lp_region_finding *inner = &findings->regions.items[i];

        if (!lp_region_is_in(inner->stats.path, facts->region))
            break;
        if (inner->advised && strcmp(inner->stats.path, facts->region) != 0 &&
            lp_region_is_in(region, inner->stats.path))
            return false;
    }
    return true;
}

static void add_attention(const struct lp_findings *findings, size_t row,
                          const llmperf_kernel_stats *kernel, double part,
                          struct lp_stage_facts *facts)
{
    const char *kernel_class = findings->kernel_classes.items[row];

    if (strcmp(kernel_class, "attention") == 0)
        facts->attention_calls += part * (double)kernel->calls;
    if (strcmp(kernel_class, "reduction") != 0 ||
        !lp_is_unfused_attention(findings->classes, kernel->demangled))
        return;
    facts->softmax_ms += kernel->total_ms;
    facts->softmax_calls += part * (double)kernel->calls;
    facts->softmax = kernel->short_name;
}

static void add_copy(struct lp_stage_facts *facts, const llmperf_kernel_stats *kernel, double part)
{
    struct lp_copies *copies = facts->copies;

    while (copies->name && strcmp(copies->name, kernel->name) != 0)
        if (++copies == facts->copies + LP_COPY_NAMES)
            return;
    copies->name = kernel->name;
    copies->ms += kernel->total_ms;
    copies->calls += part * (double)kernel->calls;
    copies->bytes += part * (double)kernel->bytes;
}

static bool is_class(const struct lp_findings *findings, size_t row, const char *kernel_class)
{
    return findings->classes && strcmp(findings->kernel_classes.items[row], kernel_class) == 0;
}

static int add_kernels(const struct lp_findings *findings, const llmperf_region_stats *stats,
                       double part, struct lp_stage_facts *facts, struct shares *kernels,
                       struct shares *classes)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(findings->profile, i, &kernel);
        if (stats->device >= 0 && kernel.device != stats->device)
            continue;
        if (!kernel.captured_in && lp_region_is_in(kernel.region, facts->region))
            facts->launches += part * (double)kernel.calls;
        if (!lp_stage_owns(findings, kernel.region, facts))
            continue;
        kernel.total_ms *= part;
        facts->device_ms += kernel.total_ms;
        if (kernel.kind == LLMPERF_ACTIVITY_KERNEL)
            status = add_share(kernels, kernel.short_name, kernel.total_ms);
        if (kernel.kind == LLMPERF_ACTIVITY_MEMCPY)
            add_copy(facts, &kernel, part);
        if (findings->classes)
            add_attention(findings, i, &kernel, part, facts);
        if (is_class(findings, i, "collective")) {
            facts->collective_ms += kernel.total_ms;
            facts->collective_calls += part * (double)kernel.calls;
            facts->collective_least_ms += part * (double)kernel.calls * kernel.min_ms;
        } else if (status == 0 && findings->classes && kernel.kind == LLMPERF_ACTIVITY_KERNEL) {
            facts->classes_ms += kernel.total_ms;
            status = add_share(classes, findings->kernel_classes.items[i], kernel.total_ms);
        }
    }
    return status;
}

/* Memcpys by size: powers of two. */
#define SIZES 64

struct sizes {
    double ms[SIZES], calls[SIZES], bytes[SIZES];
};

static size_t size_class(uint64_t bytes)
{
    size_t class = 0;

    while (class + 1 < SIZES && bytes >> (class + 1))
        class ++;
    return class;
}

static void set_size(const struct sizes *sizes, struct lp_copy_size *size)
{
    double all_ms = 0, all_calls = 0;
    size_t top = 0;

    for (size_t i = 0; i < SIZES; i++) {
        if (!(sizes->calls[i] > 0))
            continue;
        if (!(all_calls > 0))
            size->least_bytes = sizes->bytes[i] / sizes->calls[i];
        size->most_bytes = sizes->bytes[i] / sizes->calls[i];
        all_ms += sizes->ms[i];
        all_calls += sizes->calls[i];
        top = sizes->ms[i] > sizes->ms[top] ? i : top;
    }
    if (!(sizes->calls[top] > 0))
        return;
    size->share = sizes->ms[top] / all_ms;
    size->calls_share = sizes->calls[top] / all_calls;
    size->each_bytes = sizes->bytes[top] / sizes->calls[top];
    size->each_ms = sizes->ms[top] / sizes->calls[top];
}

/* Sizes of the memcpys that are named, and memory kinds of the shape with most time. */
static void set_copy(const struct lp_findings *findings, struct lp_stage_facts *facts)
{
    const struct lp_copies *top = lp_top_copies(facts);
    struct sizes sizes = { { 0 }, { 0 }, { 0 } };

    for (size_t i = 0; top && i < lp_row_count(findings->profile, LP_ROW_KERNEL_SHAPE); i++) {
        const llmperf_kernel_shape *row = lp_row_at(findings->profile, LP_ROW_KERNEL_SHAPE, i);

        if (strcmp(row->name, top->name) != 0 || !lp_stage_owns(findings, row->region, facts))
            continue;
        if (!facts->copy || row->total_ms > facts->copy->total_ms)
            facts->copy = row;
        if (row->size_bytes == LLMPERF_UNKNOWN)
            continue;
        sizes.ms[size_class(row->size_bytes)] += row->total_ms;
        sizes.calls[size_class(row->size_bytes)] += (double)row->calls;
        sizes.bytes[size_class(row->size_bytes)] += (double)row->bytes;
    }
    set_size(&sizes, &facts->copy_size);
}

/* What kernels with few blocks take above the least time of a kernel, on SMs that stay empty. A
 * collective needs few. */
static double narrow_loss(const struct lp_findings *findings, const llmperf_region_stats *stats,
                          const struct lp_stage_facts *facts, const llmperf_kernel_shape *row)
{
    double loss_ms = row->total_ms - (double)row->calls * LP_KERNEL_LEAST_MS;

    if (row->kind != LLMPERF_ACTIVITY_KERNEL || !(lp_shape_filled(row) < LP_NARROW) ||
        !(loss_ms > 0) || (stats->device >= 0 && row->device != stats->device) ||
        !lp_stage_owns(findings, row->region, facts))
        return 0;
    return loss_ms * (1 - lp_shape_filled(row));
}

/* The name with most of that, and of it the shape with most time. */
static int set_narrow(const struct lp_findings *findings, const llmperf_region_stats *stats,
                      double part, struct lp_stage_facts *facts)
{
    const struct lp_kernel_shapes *shapes = &findings->kernel_shapes;
    struct shares names = { .rows = { NULL, 0, 0 } };
    const char *top;
    int status = 0;

    for (size_t i = 0; status == 0 && i < shapes->rows.count; i++) {
        const llmperf_kernel_shape *row = &shapes->rows.items[i];
        double loss_ms = narrow_loss(findings, stats, facts, row);

        if (loss_ms > 0 &&
            strcmp(lp_kernel_class(findings->classes, row->name, row->kind), "collective") != 0)
            status = add_share(&names, row->name, part * loss_ms);
    }
    top = largest(&names, &facts->narrow_loss_ms);
    for (size_t i = 0; top && i < shapes->rows.count; i++) {
        const llmperf_kernel_shape *row = &shapes->rows.items[i];

        if (strcmp(row->name, top) != 0 || !(narrow_loss(findings, stats, facts, row) > 0))
            continue;
        facts->narrow_ms += part * row->total_ms;
        facts->narrow_calls += part * (double)row->calls;
        if (!facts->narrow || row->total_ms > facts->narrow->total_ms)
            facts->narrow = row;
    }
    for (size_t i = 0; top && !facts->narrow_name && i < findings->kernel_classes.count; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (strcmp(kernel->name, top) != 0)
            continue;
        facts->narrow_name = kernel->short_name;
        facts->narrow_class = findings->kernel_classes.items[i];
    }
    facts->narrow = facts->narrow_name ? facts->narrow : NULL;
    clear_shares(&names);
    return status;
}

/* Samples of the stage's calls or of regions in it; those of the stage come first. */
static void set_stalls(const struct lp_findings *findings, struct lp_stage_facts *facts)
{
    const llmperf_profile *profile = findings->profile;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_STALL) && !facts->top_stall; i++) {
        const struct lp_stall *row = lp_row_at(profile, LP_ROW_STALL, i);
        const struct lp_stall_reason *reason = lp_stall_reason_find(row->reason);

        if (reason && reason->remedy && facts->top_kernel &&
            strcmp(row->short_name, facts->top_kernel) == 0 &&
            lp_region_is_in(row->region, facts->region))
            facts->top_stall = row;
    }
    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_HOT_INSTRUCTION); i++) {
        const struct lp_hot_instruction *row = lp_row_at(profile, LP_ROW_HOT_INSTRUCTION, i);

        if (facts->top_stall && !facts->top_instruction &&
            strcmp(row->reason, facts->top_stall->reason) == 0 &&
            strcmp(row->region, facts->top_stall->region) == 0 &&
            strcmp(row->name, facts->top_stall->name) == 0)
            facts->top_instruction = row;
    }
}

int lp_stage_kernels_set(const struct lp_findings *findings, const llmperf_region_stats *stats,
                         double part, struct lp_stage_facts *facts)
{
    static const char *const small[] = { "norm", "elementwise", "reduction", "copy/cast" };
    struct shares kernels = { .rows = { NULL, 0, 0 } }, classes = { .rows = { NULL, 0, 0 } };
    int status = add_kernels(findings, stats, part, facts, &kernels, &classes);

    if (status == 0 && findings->classes)
        status = set_narrow(findings, stats, part, facts);

    facts->top_kernel = largest(&kernels, &facts->top_kernel_ms);
    facts->top_class = largest(&classes, &facts->top_class_ms);
    facts->small_ms = findings->classes ? sum_of(&classes, small, 4) : NAN;
    facts->copy_cast_ms = findings->classes ? sum_of(&classes, small + 3, 1) : NAN;
    set_copy(findings, facts);
    set_stalls(findings, facts);
    clear_shares(&kernels);
    clear_shares(&classes);
    return status;
}
