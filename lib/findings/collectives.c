/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/collectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/findings/kernels/kernel_class.h"
#include "lib/profile/collectives.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "llmperf/sys/hardware.h"

#define NCCL_LABEL "NCCL@" /* of ranges that NCCL marks: each is one collective */

static const struct lp_collective_row *row_at(const struct lp_findings *findings, size_t index)
{
    return lp_row_at(findings->profile, LP_ROW_COLLECTIVE_CALLS, index);
}

static size_t row_count(const struct lp_findings *findings)
{
    return lp_row_count(findings->profile, LP_ROW_COLLECTIVE_CALLS);
}

/* Matching */

static bool same_rank(const struct lp_collective_calls *a, const struct lp_collective_calls *b)
{
    return a->process_id == b->process_id && a->device == b->device;
}

static int by_start(const void *a, const void *b)
{
    const struct lp_rank_call *first = a, *second = b;

    return LP_ORDER(first->start_ns, second->start_ns);
}

/* A row that is damaged has no calls. */
static int add_calls(struct lp_rank_calls *calls, const struct lp_collective_row *row, size_t index)
{
    struct lp_calls_position position = { 0, 0 };
    struct lp_compute_span span;
    int status = 0;

    while (status == 0 && lp_calls_next(row->calls.bytes, row->calls.size, &position, &span) > 0) {
        struct lp_rank_call call = { span.start_ns, span.end_ns, (uint32_t)index };

        status = lp_vector_push(&calls->items, call);
    }
    return status;
}

/* A GPU with a kernel, and its rows. */
struct rank {
    const struct lp_collective_calls *of;
    int64_t number; /* of the launcher; -1: not known */
    struct lp_rank_calls calls;
};

static int by_number(const void *a, const void *b)
{
    const struct rank *first = a, *second = b;

    if (first->number != second->number)
        return first->number < second->number ? -1 : 1;
    return LP_ORDER(first->of->device, second->of->device);
}

typedef LP_VECTOR(struct rank) rank_list;

static struct rank *find_rank(rank_list *ranks, const struct lp_findings *findings,
                              const struct lp_collective_calls *of)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (same_rank(ranks->items[i].of, of))
            return &ranks->items[i];
    if (lp_vector_push(ranks, (struct rank){ .of = of,
                                             .number = lp_profile_rank(findings->profile,
                                                                       of->process_id) }) < 0)
        return NULL;
    return &ranks->items[ranks->count - 1];
}

static int gather(rank_list *ranks, const struct lp_findings *findings, size_t first)
{
    const struct lp_collective_calls *like = &row_at(findings, first)->stats;
    int status = 0;

    for (size_t i = first; i < row_count(findings) && status == 0; i++) {
        const struct lp_collective_row *row = row_at(findings, i);
        struct rank *rank;

        if (strcmp(row->stats.name, like->name) != 0 ||
            !lp_text_same(row->stats.clock, like->clock))
            continue;
        rank = find_rank(ranks, findings, &row->stats);
        status = rank ? add_calls(&rank->calls, row, i) : LLMPERF_ENOMEM;
    }
    lp_vector_sort(ranks, by_number);
    return status;
}

static int match_ranks(const rank_list *ranks, struct lp_matched *sums)
{
    LP_VECTOR(struct lp_rank_calls) calls = { NULL, 0, 0 };
    int status = 0;

    for (size_t i = 0; i < ranks->count && status == 0; i++) {
        struct lp_rank_calls *of = &ranks->items[i].calls;

        lp_vector_sort(&of->items, by_start);
        status = lp_vector_push(&calls, *of);
    }
    if (status == 0)
        lp_collectives_match(calls.items, calls.count, sums);
    lp_vector_clear(&calls);
    return status;
}

/* Is this the first row of its kernel and clock? */
static bool is_first(const struct lp_findings *findings, size_t index)
{
    const struct lp_collective_calls *row = &row_at(findings, index)->stats;

    for (size_t i = 0; i < index; i++) {
        const struct lp_collective_calls *other = &row_at(findings, i)->stats;

        if (strcmp(other->name, row->name) == 0 && lp_text_same(other->clock, row->clock))
            return false;
    }
    return true;
}

static int match_all(struct lp_collectives_found *found, const struct lp_findings *findings)
{
    int status = 0;

    for (size_t i = 0; i < row_count(findings) && status == 0; i++)
        status = lp_vector_push(&found->matched, (struct lp_matched){ .calls = 0 });
    for (size_t i = 0; i < row_count(findings) && status == 0; i++) {
        rank_list ranks = { NULL, 0, 0 };

        if (!is_first(findings, i))
            continue;
        if ((status = gather(&ranks, findings, i)) == 0)
            status = match_ranks(&ranks, found->matched.items);
        for (size_t k = 0; k < ranks.count; k++)
            lp_vector_clear(&ranks.items[k].calls.items);
        lp_vector_clear(&ranks);
    }
    return status;
}

/* Size of messages */

static bool is_nccl(const char *path)
{
    const char *label = strrchr(path, '/');

    return strncmp(label ? label + 1 : path, NCCL_LABEL, strlen(NCCL_LABEL)) == 0;
}

static const llmperf_region_stats *region_of(const struct lp_findings *findings, const char *path,
                                             uint32_t process_id)
{
    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row;
         row = lp_rows_next(findings, row))
        if (row->stats.process_id == process_id)
            return &row->stats;
    return NULL;
}

static double collected_calls(const llmperf_region_stats *region)
{
    return (double)(region->instances - region->window_instances) *
           (1 - fmax(0, region->skipped_fraction));
}

/* Collectives that were launched directly in a region; with `captured_in`, those of graphs. */
static double calls_in(const struct lp_findings *findings, const struct lp_collective_calls *like,
                       bool captured)
{
    double calls = 0;

    for (size_t i = 0; i < row_count(findings); i++) {
        const struct lp_collective_calls *row = &row_at(findings, i)->stats;

        if (same_rank(row, like) && lp_text_same(row->region, like->region) &&
            (!captured || lp_text_same(row->captured_in, like->captured_in)))
            calls += (double)row->calls;
    }
    return calls;
}

/* Collectives that a graph has from a region that captured it, from its launches: one in each call
 * of the launching region. NaN: these are not those of one pass through the captured region, as
 * where graphs of several batch sizes were captured. */
static double nodes_of(const struct lp_findings *findings, const struct lp_collective_calls *row,
                       const llmperf_region_stats *captured)
{
    const llmperf_region_stats *launched = region_of(findings, row->region, row->process_id);
    double nodes, each;

    if (!launched || !(collected_calls(launched) > 0))
        return NAN;
    nodes = calls_in(findings, row, true) / collected_calls(launched);
    each = nodes / (double)captured->instances;
    return each > 0.99 && fabs(each - round(each)) < 0.01 ? nodes : (double)NAN;
}

/* Mean size of a call's message; NaN: nobody gave it. */
static double message_of(const struct lp_findings *findings, const struct lp_collective_calls *row,
                         const char **source)
{
    const char *path = row->captured_in ? row->captured_in : row->region;
    const llmperf_region_stats *region = region_of(findings, path, row->process_id);
    double calls;

    if (!region || region->message_bytes == LLMPERF_UNKNOWN || region->message_bytes == 0 ||
        region->instances == 0)
        return NAN;
    if (row->captured_in)
        calls = nodes_of(findings, row, region);
    else if (is_nccl(path)) /* a range of NCCL is one collective */
        calls = (double)region->instances;
    else
        calls =
            calls_in(findings, row, false) * (double)region->instances / collected_calls(region);
    if (!(calls > 0))
        return NAN;
    *source = is_nccl(path) ? "nvtx" : "program";
    return (double)region->message_bytes / calls;
}

/* Rows */

static const char *innermost_stage(const struct lp_findings *findings, const char *region)
{
    const char *found = NULL;

    for (size_t i = 0; region && i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;

        if (stats->kind == LLMPERF_REGION_STAGE && *stats->path &&
            lp_region_is_in(region, stats->path) && (!found || strlen(stats->path) > strlen(found)))
            found = stats->path;
    }
    return found;
}

/* Sums while rows of one key are added up. */
struct sums {
    double compared_ms, shared_ms, matched_ms, shortest_ms;
    double matched_calls, transfer_ms, waiting_ms;
};

static const char *short_name_of(const struct lp_findings *findings,
                                 const struct lp_collective_calls *row, const char **demangled)
{
    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (strcmp(kernel->name, row->name) == 0) {
            *demangled = kernel->demangled;
            return kernel->short_name;
        }
    }
    *demangled = row->name;
    return row->name;
}

/* The shortest call of each shape waited least: what it took is at most the transfer. Without
 * shapes, of all calls. */
static double shortest(const struct lp_findings *findings, const struct lp_collective_calls *row)
{
    double sum_ms = 0;
    uint64_t calls = 0;

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL_SHAPE); i++) {
        const llmperf_kernel_shape *shape = lp_row_at(findings->profile, LP_ROW_KERNEL_SHAPE, i);

        if (strcmp(shape->name, row->name) != 0 || shape->device != row->device ||
            !lp_text_same(shape->region, row->region) ||
            !lp_text_same(shape->captured_in, row->captured_in))
            continue;
        sum_ms += shape->min_ms * (double)shape->calls;
        calls += shape->calls;
    }
    return calls == row->calls ? sum_ms : row->min_ms * (double)row->calls;
}

static struct lp_collective *find_row(struct lp_collectives_found *found,
                                      const struct lp_collective *like)
{
    for (size_t i = 0; i < found->rows.count; i++) {
        struct lp_collective *row = &found->rows.items[i];

        if (row->process_id == like->process_id && row->device == like->device &&
            lp_text_same(row->region, like->region) && strcmp(row->kernel, like->kernel) == 0 &&
            (row->message_bytes == like->message_bytes ||
             (isnan(row->message_bytes) && isnan(like->message_bytes))))
            return row;
    }
    return NULL;
}

typedef LP_VECTOR(struct sums) sum_list;

static int add_row(struct lp_collectives_found *found, sum_list *list,
                   const struct lp_findings *findings, size_t index)
{
    const struct lp_collective_calls *from = &row_at(findings, index)->stats;
    const struct lp_matched *matched = &found->matched.items[index];
    const char *demangled, *source = NULL;
    struct lp_collective fresh = { .region = innermost_stage(findings, from->region),
                                   .process_id = from->process_id,
                                   .device = from->device,
                                   .kernel = short_name_of(findings, from, &demangled),
                                   .ranks = matched->ranks ? matched->ranks : LLMPERF_UNKNOWN,
                                   .message_bytes = message_of(findings, from, &source) };
    struct lp_collective *row = find_row(found, &fresh);
    struct sums *sums;

    fresh.message_source = source;
    fresh.kind = lp_collective_trait(findings->classes, LP_TRAIT_KIND, demangled);
    fresh.algorithm = lp_collective_trait(findings->classes, LP_TRAIT_ALGORITHM, demangled);
    fresh.protocol = lp_collective_trait(findings->classes, LP_TRAIT_PROTOCOL, demangled);
    fresh.dtype = lp_collective_trait(findings->classes, LP_TRAIT_DTYPE, demangled);
    if (!row) {
        if (lp_vector_push(&found->rows, fresh) < 0 ||
            lp_vector_push(list, (struct sums){ .compared_ms = 0 }) < 0)
            return LLMPERF_ENOMEM;
        row = &found->rows.items[found->rows.count - 1];
    }
    sums = &list->items[row - found->rows.items];
    row->calls += from->calls;
    row->total_ms += from->total_ms;
    sums->compared_ms += from->compared_ms;
    sums->shared_ms += from->shared_ms;
    sums->shortest_ms += shortest(findings, from);
    sums->matched_calls += (double)matched->calls;
    sums->waiting_ms += (double)matched->waiting_ns / 1e6;
    sums->transfer_ms += (double)matched->transfer_ns / 1e6;
    return 0;
}

static bool of_model(const struct lp_collective *row, const struct lp_collective *like)
{
    return row->process_id == like->process_id && row->device == like->device &&
           lp_text_same(row->region, like->region) && row->kind &&
           strcmp(row->kind, "all_reduce") == 0;
}

/* With tensor parallelism each layer adds up the hidden state of each token after attention and
 * after the MLP. NaN: the stage has another number of all-reduces than these, or one more for the
 * embedding. */
static double message_of_model(const struct lp_collectives_found *found,
                               const struct lp_collective *row, const struct lp_findings *findings)
{
    const llmperf_region_stats *stage = region_of(findings, row->region, row->process_id);
    double layers = lp_fact_number(findings->profile, LP_LAYERS_FACT), calls = 0, each;

    if (!stage || stage->tokens == LLMPERF_UNKNOWN || stage->instances == 0 ||
        !of_model(row, row) || !(lp_fact_number(findings->profile, LP_TENSOR_FACT) > 1))
        return NAN;
    for (size_t i = 0; i < found->rows.count; i++)
        if (of_model(&found->rows.items[i], row))
            calls += (double)found->rows.items[i].calls;
    each = calls / ((double)stage->instances * (1 - fmax(0, stage->skipped_fraction)));
    return each > 2 * layers - 0.01 && each < 2 * layers + 1.01
               ? (double)stage->tokens / (double)stage->instances *
                     lp_fact_number(findings->profile, LP_HIDDEN_FACT) *
                     lp_element_bytes(row->dtype)
               : (double)NAN;
}

static void add_model_messages(struct lp_collectives_found *found,
                               const struct lp_findings *findings)
{
    for (size_t i = 0; i < found->rows.count; i++) {
        struct lp_collective *row = &found->rows.items[i];

        if (!isnan(row->message_bytes))
            continue;
        row->message_bytes = message_of_model(found, row, findings);
        row->message_source = isnan(row->message_bytes) ? NULL : "model";
    }
}

/* GPUs that the program shares its work with, where their calls are not in this run. */
static uint64_t ranks_given(const struct lp_findings *findings)
{
    const char *tensor = llmperf_profile_fact(findings->profile, LP_TENSOR_FACT);
    struct lp_rank_count count = { 0, NULL };

    if (tensor && strtoull(tensor, NULL, 10) > 1)
        return strtoull(tensor, NULL, 10);
    return lp_profile_rank_count(findings->profile, &count) && count.count > 1 ? count.count
                                                                               : LLMPERF_UNKNOWN;
}

/* One direction: half of the published figure for both. */
static double link_of(const struct lp_findings *findings, int32_t device)
{
    llmperf_hardware_value value = LLMPERF_HARDWARE_VALUE_INIT;

    if (!findings->limits.hardware || !lp_findings_describes(findings, device))
        return NAN;
    llmperf_hardware_quantity(findings->limits.hardware, LLMPERF_HARDWARE_LINK_GBS, &value);
    return value.value / 2;
}

static const char *reason_of(const struct lp_collective *row)
{
    if (isnan(row->message_bytes))
        return "message size unknown: NCCL's NVTX ranges give it where they launch the kernel; "
               "else count LLMPERF_QUANTITY_MESSAGE_BYTES in the region of the collective, or name "
               "the "
               "model and tensor_parallel";
    if (row->ranks == LLMPERF_UNKNOWN)
        return "number of GPUs unknown: merge the runs of all ranks, or give tensor_parallel";
    if (isnan(row->bus_gbs))
        return "no formula for the bus bandwidth of this kernel is known";
    return isnan(row->link_gbs) ? "the link of this GPU is not known" : NULL;
}

static void finish(struct lp_collective *row, const struct sums *sums,
                   const struct lp_findings *findings)
{
    bool matched = sums->matched_calls > 0;
    double bytes, calls = (double)row->calls;

    if (row->ranks == LLMPERF_UNKNOWN)
        row->ranks = ranks_given(findings);
    row->mean_ms = row->total_ms / calls;
    row->transfer_ms =
        matched ? sums->transfer_ms / sums->matched_calls : sums->shortest_ms / calls;
    row->waiting_ms =
        matched ? sums->waiting_ms / sums->matched_calls : fmax(0, row->mean_ms - row->transfer_ms);
    row->transfer_source = matched ? LP_TRANSFER_RANKS : LP_TRANSFER_SHORTEST;
    row->overlap_share = sums->compared_ms > 0 ? sums->shared_ms / sums->compared_ms : (double)NAN;
    bytes = row->message_bytes *
            lp_bus_factor(row->kind, row->ranks == LLMPERF_UNKNOWN ? 0 : row->ranks);
    row->bus_gbs = row->transfer_ms > 0 ? bytes / row->transfer_ms / 1e6 : (double)NAN;
    row->bus_elapsed_gbs = row->mean_ms > 0 ? bytes / row->mean_ms / 1e6 : (double)NAN;
    row->link_gbs = link_of(findings, row->device);
    row->link_share = row->bus_gbs / row->link_gbs;
    row->reason = reason_of(row);
}

static int by_time(const void *a, const void *b)
{
    const struct lp_collective *first = a, *second = b;
    int order = LP_ORDER(second->total_ms, first->total_ms);

    order = order ? order : LP_ORDER(first->process_id, second->process_id);
    order = order ? order : LP_ORDER(first->device, second->device);
    order = order ? order : strcmp(first->kernel, second->kernel);
    order = order ? order : lp_compare_text(first->region, second->region);
    return order ? order : LP_ORDER(first->message_bytes, second->message_bytes);
}

int lp_collectives_init(struct lp_collectives_found *found, const struct lp_findings *findings)
{
    sum_list sums = { NULL, 0, 0 };
    int status;

    if (!findings->classes || row_count(findings) == 0)
        return 0;
    status = match_all(found, findings);
    for (size_t i = 0; i < row_count(findings) && status == 0; i++)
        status = add_row(found, &sums, findings, i);
    add_model_messages(found, findings);
    for (size_t i = 0; i < found->rows.count && status == 0; i++)
        finish(&found->rows.items[i], &sums.items[i], findings);
    lp_vector_sort(&found->rows, by_time);
    lp_vector_clear(&sums);
    return status;
}

void lp_collectives_found_clear(struct lp_collectives_found *found)
{
    lp_vector_clear(&found->rows);
    lp_vector_clear(&found->matched);
}
