/* SPDX-License-Identifier: Apache-2.0 */
/* Time per call of a region, by process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/compare/reader.h"
#include "lib/profile/fields.h"
#include "llmperf/region.h"

/* Parents precede their children. */
static int find_around(struct lp_compare_reader *reader, size_t at,
                       const llmperf_region_stats *stats)
{
    struct lp_compare_place *place = &reader->places.items[at];
    char *path = lp_text_copy(stats->path), *slash;

    place->stage = stats->kind == LLMPERF_REGION_STAGE;
    place->in_one = stats->stage && !place->stage;
    place->around = SIZE_MAX;
    if (!path)
        return LLMPERF_ENOMEM;
    while (place->around == SIZE_MAX && (slash = strrchr(path, '/'))) {
        *slash = '\0';
        place->around = lp_compare_find_place(reader, path, false);
    }
    free(path);
    return 0;
}

/* Without warm-up: it would hide every other difference. */
static struct lp_compare_mean mean_of(const struct lp_compare_reader *reader,
                                      const struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    const struct lp_stage_iterations *stage = lp_findings_iterations(reader->findings, stats->path);
    double n = (double)stats->instances, mean_ms = stats->wall_sum_ms / n;
    double std_ms = stats->wall_std_ms, total_ms = stats->wall_sum_ms;
    struct lp_compare_mean mean;
    bool warms_up =
        stage && stage->warm_up[LP_TIME_WALL].calls > 0 && reader->members.processes.count == 1;

    if (stage && region->clock == LLMPERF_CLOCK_DEVICE) {
        n = (double)stage->times[LP_TIME_ELAPSED].count;
        mean_ms = stage->times[LP_TIME_ELAPSED].sum_ms / n;
        std_ms = stage->times[LP_TIME_ELAPSED].std_ms;
        total_ms = region->active_ms;
    } else if (warms_up) {
        n = (double)stage->times[LP_TIME_WALL].count;
        mean_ms = stage->times[LP_TIME_WALL].mean_ms;
        std_ms = stage->times[LP_TIME_WALL].std_ms;
    }
    mean = (struct lp_compare_mean){ .mean_ms = mean_ms,
                                     .error_ms = n > 1 ? std_ms / sqrt(n) : (double)NAN,
                                     .freedom = n - 1,
                                     .total_ms = total_ms,
                                     .instances = stats->instances };
    if (stage && stage->sampled && region->clock == LLMPERF_CLOCK_DEVICE)
        lp_compare_use_estimate(&mean, &stage->times[LP_TIME_ELAPSED]);
    return mean;
}

static int add_wall(struct lp_compare_reader *reader, size_t at,
                    const struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    struct lp_compare_place *place = &reader->places.items[at];
    struct lp_compare_wall wall = { .place = at,
                                    .process =
                                        lp_member_process_at(&reader->members, stats->process_id),
                                    .of = lp_compare_unknown,
                                    .all = lp_compare_counted(stats) };

    if (stats->instances > place->instances)
        place->instances = stats->instances;
    if (stats->depth == 0)
        reader->process_ms.items[wall.process] += stats->wall_sum_ms;
    wall.of = mean_of(reader, region);
    place->time_ms = fmax(place->time_ms, fmax(wall.of.total_ms, stats->wall_sum_ms));
    if (lp_hashmap_put(&reader->wall_keys, wall.place, wall.process,
                       (uint32_t)reader->walls.count) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&reader->walls, wall);
}

static void add_collected(struct lp_compare_reader *reader, size_t at,
                          const llmperf_region_stats *stats)
{
    size_t gpu = lp_member_gpu_at(&reader->members, stats->device);
    /* Work launched outside of any region: the run counts as one call. */
    double instances = fmax((double)stats->instances, 1);
    double n = (instances - (double)stats->window_instances) * (1 - stats->skipped_fraction);
    struct lp_compare_share *share;

    if (gpu == SIZE_MAX || !(n > 0))
        return;
    share = &reader->shares.items[at * reader->members.gpus.count + gpu];
    share->instances += instances;
    share->collected += n;
    reader->places.items[at].collected = fmax(reader->places.items[at].collected, n);
}

static int add_process(struct lp_compare_reader *reader, size_t at,
                       const struct lp_region_finding *region)
{
    const llmperf_region_stats *stats = &region->stats;
    bool first = reader->places.items[at].processes++ == 0;
    int status = first ? find_around(reader, at, stats) : 0;

    return status < 0 || stats->instances == 0 || isnan(stats->wall_sum_ms)
               ? status
               : add_wall(reader, at, region);
}

/* Rows of one region on several devices repeat its host times: only the first counts. */
int lp_compare_read_regions(struct lp_compare_reader *reader)
{
    const llmperf_region_stats *before = NULL;
    int status = 0;

    for (size_t i = 0; i < reader->findings->regions.count && status == 0; i++) {
        const llmperf_region_stats *stats = &reader->findings->regions.items[i].stats;
        size_t at = lp_compare_find_place(reader, stats->path, true);

        if (at == SIZE_MAX)
            return LLMPERF_ENOMEM;
        if (!before || strcmp(before->path, stats->path) != 0 ||
            before->process_id != stats->process_id)
            status = add_process(reader, at, &reader->findings->regions.items[i]);
        add_collected(reader, at, stats);
        before = stats;
    }
    lp_compare_share_work(reader);
    return status;
}

double lp_compare_most(const double *values, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* A step of a job ends with its slowest process. */
int lp_compare_put_walls(struct lp_compare_reader *reader, bool several)
{
    double whole = lp_compare_most(reader->process_ms.items, reader->process_ms.count);
    int status = 0;

    for (size_t i = 0; i < reader->walls.count && status == 0; i++) {
        const struct lp_compare_wall *wall = &reader->walls.items[i];
        const struct lp_member_process *process = &reader->members.processes.items[wall->process];
        struct lp_compare_key key = { reader->places.items[wall->place].path, LP_COMPARE_WALL,
                                      LP_COMPARE_JOB, 0 };
        const struct lp_compare_value *job = lp_compare_value_of(reader, &key);

        if (!job)
            return LLMPERF_ENOMEM;
        if (!(job->of.mean_ms >= wall->of.mean_ms))
            status = lp_compare_put(reader, key, wall->of, whole, process->number);
        key.scope = LP_COMPARE_PROCESS;
        key.number = process->number;
        if (status == 0 && several && wall->process < reader->members.with_gpu)
            status = lp_compare_put(reader, key, wall->of, reader->process_ms.items[wall->process],
                                    process->number);
    }
    return status;
}
