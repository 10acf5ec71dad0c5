/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/findings/ranks.h"

#include <math.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/findings/findings.h"
#include "lib/profile/fields.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"
#include "lib/findings/stragglers.h"
#include "lib/profile/data.h"

/* A collective kernel and the innermost stage around it. */
struct talk {
    size_t kernel;
    int32_t device;
    const char *stage;
};

struct talks {
    LP_VECTOR(struct talk) items;   /* by kernel */
    LP_VECTOR(const char *) stages; /* paths of all stages, without duplicates */
};

static bool has_path(const struct talks *talks, const char *path)
{
    for (size_t i = 0; i < talks->stages.count; i++)
        if (strcmp(talks->stages.items[i], path) == 0)
            return true;
    return false;
}

static int add_stages(struct talks *talks, const struct lp_findings *findings)
{
    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *region = &findings->regions.items[i].stats;

        if (region->kind == LLMPERF_REGION_STAGE && *region->path &&
            !has_path(talks, region->path) && lp_vector_push(&talks->stages, region->path) < 0)
            return LLMPERF_ENOMEM;
    }
    return 0;
}

static const char *innermost(const struct talks *talks, const char *region)
{
    const char *found = NULL;

    for (size_t i = 0; i < talks->stages.count; i++)
        if (lp_region_is_in(region, talks->stages.items[i]) &&
            (!found || strlen(talks->stages.items[i]) > strlen(found)))
            found = talks->stages.items[i];
    return found;
}

static int find_talks(struct talks *talks, const struct lp_findings *findings)
{
    int status = add_stages(talks, findings);

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL) && status == 0; i++) {
        const llmperf_kernel_stats *kernel = lp_row_at(findings->profile, LP_ROW_KERNEL, i);

        if (kernel->kind == LLMPERF_ACTIVITY_KERNEL &&
            strcmp(findings->kernel_classes.items[i], "collective") == 0)
            status =
                lp_vector_push(&talks->items, (struct talk){ i, kernel->device,
                                                             innermost(talks, kernel->region) });
    }
    return status;
}

static bool has_two_gpus(const struct talks *talks, const char *stage)
{
    int32_t first = -1;

    for (size_t i = 0; i < talks->items.count; i++) {
        const struct talk *talk = &talks->items.items[i];

        if (talk->stage != stage)
            continue;
        if (first >= 0 && talk->device != first)
            return true;
        first = talk->device;
    }
    return false;
}

/* Kernels have no process: two processes on one GPU cannot be distinguished. */
static bool is_alone(const struct lp_findings *findings, const llmperf_region_stats *region)
{
    for (const struct lp_region_finding *row = lp_rows_of(findings, region->path); row;
         row = lp_rows_next(findings, row))
        if (&row->stats != region && row->stats.device == region->device)
            return false;
    return true;
}

static struct lp_rank *rank_on(struct lp_ranks *ranks, size_t first, int32_t device)
{
    for (size_t i = first; i < ranks->rows.count; i++)
        if (ranks->rows.items[i].device == device)
            return &ranks->rows.items[i];
    return NULL;
}

static void add_kernels(struct lp_ranks *ranks, size_t first, const struct lp_findings *findings,
                        const struct talks *talks, const char *path)
{
    size_t next = 0;

    for (size_t i = 0; i < lp_row_count(findings->profile, LP_ROW_KERNEL); i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;
        bool talks_here = next < talks->items.count && talks->items.items[next].kernel == i;
        struct lp_rank *rank;

        next += talks_here;
        llmperf_profile_kernel(findings->profile, i, &kernel);
        rank = rank_on(ranks, first, kernel.device);
        if (!rank || kernel.kind != LLMPERF_ACTIVITY_KERNEL ||
            !lp_region_is_in(kernel.region, path))
            continue;
        if (talks_here) {
            rank->collective_ms += kernel.total_ms / (double)rank->instances;
            rank->collective_count += (double)kernel.calls / (double)rank->instances;
        } else {
            rank->compute_ms += kernel.total_ms / (double)rank->instances;
        }
    }
}

static bool whole(const llmperf_region_stats *region)
{
    return region->instances > 0 && region->truncated == 0 && region->window_instances == 0 &&
           !(region->skipped_fraction > 0);
}

/* Sums over the collectives of a rank, per call of the stage. */
struct matched_sum {
    double waiting_ms, transfer_ms, calls, last;
};

/* false: not all of them were matched. */
static bool sum_matched(const struct lp_findings *findings, const struct lp_rank *rank,
                        struct matched_sum *sum)
{
    *sum = (struct matched_sum){ 0 };
    for (size_t i = 0; i < findings->collectives.matched.count; i++) {
        const struct lp_matched *matched = &findings->collectives.matched.items[i];
        const struct lp_collective_row *row =
            lp_row_at(findings->profile, LP_ROW_COLLECTIVE_CALLS, i);
        double scale = (double)row->stats.calls / (double)rank->instances;

        if (row->stats.device != rank->device || row->stats.process_id != rank->process_id ||
            !lp_region_is_in(row->stats.region, rank->region))
            continue;
        if (matched->calls == 0)
            return false;
        scale /= (double)matched->calls;
        sum->waiting_ms += scale * (double)matched->waiting_ns / 1e6;
        sum->transfer_ms += scale * (double)matched->transfer_ns / 1e6;
        sum->calls += (double)matched->calls;
        sum->last += (double)matched->last;
    }
    return sum->calls > 0;
}

static bool set_matched(struct lp_rank *rows, size_t count, const struct lp_findings *findings)
{
    struct matched_sum sum;

    for (size_t i = 0; i < count; i++)
        if (!sum_matched(findings, &rows[i], &sum))
            return false;
    for (size_t i = 0; i < count; i++) {
        sum_matched(findings, &rows[i], &sum);
        rows[i].waiting_ms = sum.waiting_ms;
        rows[i].transfer_ms = sum.transfer_ms;
        rows[i].last_share = sum.last / sum.calls;
        rows[i].waiting_source = "calls";
    }
    return true;
}

/* A collective ends on all GPUs when the last one has arrived. That GPU spends the shortest time in
 * it; the others wait for the difference. Differences of sums are a lower bound of the waiting
 * time. */
static void set_waiting(struct lp_rank *rows, size_t count)
{
    double least = INFINITY;

    for (size_t i = 0; i < count; i++) {
        if (rows[i].instances != rows[0].instances ||
            fabs(rows[i].collective_count - rows[0].collective_count) > 1e-9)
            return;
        least = fmin(least, rows[i].collective_ms);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].waiting_ms = rows[i].collective_ms - least;
        rows[i].waiting_source = "sums";
    }
}

static int set_cause(struct lp_ranks *ranks, const char *path, const struct lp_findings *findings)
{
    const struct lp_rank *waits, *last;
    struct lp_text text = { NULL, 0, 0, false };
    int status = 0;

    lp_ranks_extremes(ranks, path, &waits, &last);
    if (waits && waits != last)
        lp_straggler_cause(findings, last, waits, &text);
    if (text.length > 0) {
        size_t index = (size_t)(last - ranks->rows.items);

        ranks->rows.items[index].cause = lp_strings_add(&ranks->pool, text.bytes);
        status = ranks->rows.items[index].cause ? 0 : lp_out_of_memory();
    }
    lp_text_clear(&text);
    return text.failed ? lp_out_of_memory() : status;
}

/* Add the rows of one stage; none if one of its GPUs does not qualify. */
static int add_stage(struct lp_ranks *ranks, const struct lp_findings *findings,
                     const struct talks *talks, const char *path)
{
    size_t first = ranks->rows.count;
    int status = 0;

    for (const struct lp_region_finding *row = lp_rows_of(findings, path); row && status == 0;
         row = lp_rows_next(findings, row)) {
        const llmperf_region_stats *region = &row->stats;

        if (region->device < 0)
            continue;
        if (!is_alone(findings, region) || !whole(region)) {
            ranks->rows.count = first;
            return 0;
        }
        status = lp_vector_push(&ranks->rows, (struct lp_rank){ .region = region->path,
                                                                .process_id = region->process_id,
                                                                .device = region->device,
                                                                .instances = region->instances,
                                                                .wall_ms = region->wall_mean_ms,
                                                                .waiting_ms = NAN,
                                                                .transfer_ms = NAN,
                                                                .last_share = NAN });
    }
    if (status < 0)
        return status;
    add_kernels(ranks, first, findings, talks, path);
    if (!set_matched(ranks->rows.items + first, ranks->rows.count - first, findings))
        set_waiting(ranks->rows.items + first, ranks->rows.count - first);
    return set_cause(ranks, path, findings);
}

bool lp_ranks_possible(const llmperf_profile *profile)
{
    llmperf_region_stats region = LLMPERF_REGION_STATS_INIT;
    int32_t first = -1;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_REGION); i++) {
        llmperf_profile_region(profile, i, &region);
        if (first >= 0 && region.device >= 0 && region.device != first)
            return true;
        first = first >= 0 ? first : region.device;
    }
    return false;
}

int lp_ranks_init(struct lp_ranks *ranks, const struct lp_findings *findings)
{
    struct talks talks = { { NULL, 0, 0 }, { NULL, 0, 0 } };
    int status = 0;

    *ranks = (struct lp_ranks){ .rows = { NULL, 0, 0 } };
    if (findings->classes && findings->device_known && lp_ranks_possible(findings->profile))
        status = find_talks(&talks, findings);
    for (size_t i = 0; i < talks.stages.count && status == 0; i++)
        if (has_two_gpus(&talks, talks.stages.items[i]))
            status = add_stage(ranks, findings, &talks, talks.stages.items[i]);
    lp_vector_clear(&talks.items);
    lp_vector_clear(&talks.stages);
    return status;
}

void lp_ranks_clear(struct lp_ranks *ranks)
{
    lp_vector_clear(&ranks->rows);
    lp_strings_clear(&ranks->pool);
}

void lp_ranks_extremes(const struct lp_ranks *ranks, const char *region,
                       const struct lp_rank **waits, const struct lp_rank **last)
{
    *waits = *last = NULL;
    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct lp_rank *rank = &ranks->rows.items[i];

        if (strcmp(rank->region, region) != 0 || isnan(rank->waiting_ms))
            continue;
        if (!*waits || rank->waiting_ms > (*waits)->waiting_ms)
            *waits = rank;
        if (!*last || rank->waiting_ms < (*last)->waiting_ms)
            *last = rank;
    }
}

struct lp_rank_spread lp_ranks_spread(const struct lp_ranks *ranks, const char *region)
{
    struct lp_rank_spread spread = { 0, NAN, NAN };

    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct lp_rank *rank = &ranks->rows.items[i];

        if (strcmp(rank->region, region) != 0)
            continue;
        spread.gpus++;
        spread.least_ms =
            fmin(spread.least_ms, rank->collective_ms); /* fmin() and fmax() ignore NaN */
        spread.most_ms = fmax(spread.most_ms, rank->collective_ms);
    }
    return spread;
}

double lp_ranks_waiting(const struct lp_ranks *ranks, const char *region, int32_t device)
{
    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct lp_rank *rank = &ranks->rows.items[i];

        if (rank->device == device && strcmp(rank->region, region) == 0)
            return isnan(rank->waiting_ms) ? 0 : rank->waiting_ms * (double)rank->instances;
    }
    return 0;
}
