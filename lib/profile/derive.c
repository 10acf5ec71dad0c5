/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the work of stages in a finished profile from a model. As in freeze.c, work that the
 * program counted is kept, and a region without its own work gets the sum of its children. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/profile/data.h"
#include "lib/profile/profile.h"
#include "llmperf/region.h"

enum { FLOPS, BYTES, WORKS };
#define NO_PARENT SIZE_MAX

/* Rows of one path and process, one for each device. All have the same work. */
struct node {
    size_t first, count, parent;
    uint64_t below[WORKS]; /* sum over the children that were added so far */
    bool has_below[WORKS];
    bool is_own[WORKS]; /* given by the model */
    bool lost[WORKS];   /* work of a nested stage is not known, so the sum would be too small */
};

struct derivation {
    llmperf_profile *profile;
    const struct lp_work_source *source;
    LP_VECTOR(struct node) nodes;
    LP_VECTOR(size_t) open; /* by depth: the last node */
    uint64_t derived,
        averaged; /* calls with work from the model; those of them assumed to be equal */
};

static llmperf_region_stats *row_of(const struct derivation *work, const struct node *node)
{
    return &work->profile->regions.items[node->first].stats;
}

static uint64_t *value_of(llmperf_region_stats *row, int which)
{
    return which == FLOPS ? &row->flops : &row->bytes;
}

static uint64_t *window_of(llmperf_region_stats *row, int which)
{
    return which == FLOPS ? &row->window_flops : &row->window_bytes;
}

static uint32_t *origin_of(llmperf_region_stats *row, int which)
{
    return which == FLOPS ? &row->flops_origin : &row->bytes_origin;
}

/* Nodes with the same path are adjacent, one for each process. */
static size_t find_parent(const struct derivation *work, const llmperf_region_stats *row)
{
    size_t at = row->depth > 0 && row->depth <= work->open.count ? work->open.items[row->depth - 1]
                                                                 : NO_PARENT;

    for (; row->parent && at != NO_PARENT; at = at ? at - 1 : NO_PARENT) {
        const llmperf_region_stats *above = row_of(work, &work->nodes.items[at]);

        if (strcmp(above->path, row->parent) != 0)
            return NO_PARENT;
        if (above->process_id == row->process_id)
            return at;
    }
    return NO_PARENT;
}

static int add_node(struct derivation *work, size_t first)
{
    const llmperf_region_stats *row = &work->profile->regions.items[first].stats;
    struct node node = { .first = first, .count = 1, .parent = find_parent(work, row) };
    size_t index = work->nodes.count;

    while (work->open.count <= row->depth)
        if (lp_vector_push(&work->open, index) < 0)
            return lp_out_of_memory();
    work->open.items[row->depth] = index;
    return lp_vector_push(&work->nodes, node) < 0 ? lp_out_of_memory() : 0;
}

static int list_nodes(struct derivation *work)
{
    int status = 0;

    for (size_t i = 0; i < work->profile->regions.count && status == 0; i++) {
        const llmperf_region_stats *row = &work->profile->regions.items[i].stats;
        struct node *last = work->nodes.count ? &work->nodes.items[work->nodes.count - 1] : NULL;

        if (last && row_of(work, last)->process_id == row->process_id &&
            strcmp(row_of(work, last)->path, row->path) == 0)
            last->count++;
        else
            status = add_node(work, i);
    }
    return status;
}

static uint64_t known(uint64_t value)
{
    return value == LLMPERF_UNKNOWN ? 0 : value;
}

static void sum_children(struct derivation *work)
{
    for (size_t i = 0; i < work->nodes.count; i++) {
        const struct node *node = &work->nodes.items[i];
        llmperf_region_stats *row = row_of(work, node);

        for (int which = 0; which < WORKS && node->parent != NO_PARENT; which++) {
            struct node *above = &work->nodes.items[node->parent];

            above->below[which] += known(*value_of(row, which));
            above->has_below[which] |= *value_of(row, which) != LLMPERF_UNKNOWN;
        }
    }
}

/* Forget work from an earlier model and sums of children. */
static void forget(struct derivation *work, const struct node *node)
{
    llmperf_region_stats *row = row_of(work, node);

    for (int which = 0; which < WORKS; which++) {
        bool sum = node->has_below[which] && node->below[which] == *value_of(row, which);

        if (*origin_of(row, which) != LLMPERF_WORK_MODEL && !sum)
            continue;
        *value_of(row, which) = *window_of(row, which) = LLMPERF_UNKNOWN;
        *origin_of(row, which) = LLMPERF_WORK_UNKNOWN;
        for (size_t i = 0; i < work->profile->iterations.count; i++) {
            llmperf_iteration *iteration = &work->profile->iterations.items[i];

            if (strcmp(iteration->region, row->path) == 0)
                *(which == FLOPS ? &iteration->flops : &iteration->bytes) = LLMPERF_UNKNOWN;
        }
    }
}

/* @return whether the model gives FLOPs and bytes. */
static bool ask(const struct derivation *work, const char *label, const uint64_t *quantities,
                uint64_t out[WORKS])
{
    out[FLOPS] = out[BYTES] = LLMPERF_UNKNOWN;
    work->source->work(work->source->context, label, quantities, &out[FLOPS], &out[BYTES]);
    return out[FLOPS] != LLMPERF_UNKNOWN && out[BYTES] != LLMPERF_UNKNOWN;
}

static void add_up(uint64_t sum[WORKS], const uint64_t more[WORKS], uint64_t times)
{
    for (int which = 0; which < WORKS; which++) {
        uint64_t room = LLMPERF_UNKNOWN - 1 - sum[which];

        sum[which] += more[which] > room / times ? room : more[which] * times;
    }
}

/* Ask the model for each kept iteration. @return their number; 0: one has no work in the model. */
static uint64_t ask_each(struct derivation *work, const llmperf_region_stats *row,
                         uint64_t sum[WORKS])
{
    uint64_t count = 0;

    for (size_t i = 0; i < work->profile->iterations.count; i++) {
        llmperf_iteration *it = &work->profile->iterations.items[i];
        const uint64_t quantities[LP_QUANTITIES] = {
            [LLMPERF_QUANTITY_TOKENS] = known(it->tokens),
            [LLMPERF_QUANTITY_SEQUENCES] = known(it->sequences),
            [LLMPERF_QUANTITY_CONTEXT] = known(it->context),
            [LLMPERF_QUANTITY_FLOPS] = known(it->flops),
            [LLMPERF_QUANTITY_BYTES] = known(it->bytes),
        };
        uint64_t each[WORKS];

        if (strcmp(it->region, row->path) != 0)
            continue;
        if (!ask(work, row->label, quantities, each))
            return 0;
        it->flops = it->flops == LLMPERF_UNKNOWN ? each[FLOPS] : it->flops;
        it->bytes = it->bytes == LLMPERF_UNKNOWN ? each[BYTES] : it->bytes;
        add_up(sum, each, 1);
        count++;
    }
    return count;
}

static bool is_kept(const struct derivation *work, const llmperf_region_stats *row)
{
    for (size_t i = 0; i < work->profile->iterations.count; i++)
        if (strcmp(work->profile->iterations.items[i].region, row->path) == 0)
            return true;
    return false;
}

static uint64_t mean(uint64_t sum, uint64_t count)
{
    return sum == LLMPERF_UNKNOWN ? 0 : sum / count + (sum % count >= count - count / 2);
}

static bool ask_mean(const struct derivation *work, const llmperf_region_stats *row,
                     uint64_t sum[WORKS])
{
    const uint64_t quantities[LP_QUANTITIES] = {
        [LLMPERF_QUANTITY_TOKENS] = mean(row->tokens, row->instances),
        [LLMPERF_QUANTITY_SEQUENCES] = mean(row->sequences, row->instances),
        [LLMPERF_QUANTITY_CONTEXT] = mean(row->context, row->instances),
        [LLMPERF_QUANTITY_FLOPS] = known(row->flops),
        [LLMPERF_QUANTITY_BYTES] = known(row->bytes),
    };
    uint64_t each[WORKS];

    if (!ask(work, row->label, quantities, each))
        return false;
    sum[FLOPS] = sum[BYTES] = 0;
    add_up(sum, each, row->instances);
    return true;
}

/* Calls in triggered windows are assumed to be like the others. */
static uint64_t share_of_windows(const llmperf_region_stats *row, uint64_t value)
{
    return row->window_instances == 0
               ? 0
               : (uint64_t)((double)value / (double)row->instances * (double)row->window_instances);
}

static void derive(struct derivation *work, struct node *node)
{
    llmperf_region_stats *row = row_of(work, node);
    uint64_t sum[WORKS] = { 0, 0 };
    uint64_t kept = 0;

    if (row->kind != LLMPERF_REGION_STAGE || row->instances == 0)
        return;
    if (is_kept(work, row) && (kept = ask_each(work, row, sum)) == 0)
        return;
    if (kept != row->instances && !ask_mean(work, row, sum))
        return;
    work->derived += row->instances;
    work->averaged += kept == row->instances ? 0 : row->instances;
    for (int which = 0; which < WORKS; which++) {
        if (*origin_of(row, which) != LLMPERF_WORK_UNKNOWN)
            continue;
        *value_of(row, which) = sum[which];
        *window_of(row, which) = share_of_windows(row, sum[which]);
        *origin_of(row, which) = LLMPERF_WORK_MODEL;
        node->is_own[which] = true;
    }
}

/* Same rules as add_to_parent() in freeze.c. */
static void add_to_parent(const struct derivation *work, const struct node *node, int which)
{
    struct node *above = &work->nodes.items[node->parent];
    llmperf_region_stats *row = row_of(work, node), *parent = row_of(work, above);
    uint64_t below = *value_of(row, which), *sum = value_of(parent, which);
    bool is_stage = row->kind == LLMPERF_REGION_STAGE && row->instances > 0;

    if (above->lost[which] || *origin_of(parent, which) == LLMPERF_WORK_PROGRAM)
        return;
    if (below == LLMPERF_UNKNOWN) {
        above->lost[which] = above->is_own[which] && is_stage;
        if (above->lost[which]) {
            *sum = *window_of(parent, which) = LLMPERF_UNKNOWN;
            *origin_of(parent, which) = LLMPERF_WORK_UNKNOWN;
        }
        return;
    }
    /* The model's work of a stage includes its operators. */
    if (*origin_of(row, which) == LLMPERF_WORK_PROGRAM && above->is_own[which] && !is_stage)
        return;
    *sum = known(*sum) + below;
    *window_of(parent, which) = known(*window_of(parent, which)) + known(*window_of(row, which));
    if (*origin_of(parent, which) == LLMPERF_WORK_UNKNOWN ||
        *origin_of(row, which) == LLMPERF_WORK_PROGRAM)
        *origin_of(parent, which) = *origin_of(row, which);
}

static void copy_to_devices(const struct derivation *work, const struct node *node)
{
    const llmperf_region_stats *from = row_of(work, node);

    for (size_t i = 1; i < node->count; i++) {
        llmperf_region_stats *row = &work->profile->regions.items[node->first + i].stats;

        row->flops = from->flops;
        row->bytes = from->bytes;
        row->window_flops = from->window_flops;
        row->window_bytes = from->window_bytes;
        row->flops_origin = from->flops_origin;
        row->bytes_origin = from->bytes_origin;
    }
}

/* Rows of children follow their parents. */
static void derive_all(struct derivation *work)
{
    sum_children(work);
    for (size_t i = 0; i < work->nodes.count; i++)
        forget(work, &work->nodes.items[i]);
    for (size_t i = 0; i < work->nodes.count; i++)
        derive(work, &work->nodes.items[i]);
    for (size_t i = work->nodes.count; i-- > 0;) {
        const struct node *node = &work->nodes.items[i];

        for (int which = 0; which < WORKS && node->parent != NO_PARENT; which++)
            add_to_parent(work, node, which);
        copy_to_devices(work, node);
    }
}

int lp_profile_derive_work(llmperf_profile *profile, const struct lp_work_source *source,
                           uint64_t *derived_out, uint64_t *averaged_out)
{
    struct derivation work = { .profile = profile, .source = source };
    int status = list_nodes(&work);

    if (status == 0)
        derive_all(&work);
    lp_profile_forget(profile);
    *derived_out = work.derived;
    *averaged_out = work.averaged;
    lp_vector_clear(&work.nodes);
    lp_vector_clear(&work.open);
    return status;
}
