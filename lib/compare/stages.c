/* SPDX-License-Identifier: Apache-2.0 */
/* Times from the iterations of stages, and from several GPUs that share a stage. */
#include <math.h>
#include <string.h>

#include "lib/compare/reader.h"
#include "lib/profile/fields.h"

#define COLLECTIVE "collective"

/* The spread of device time per call is taken from the busy time of iterations. Kernel calls within
 * one iteration vary with their work, which says little about the spread between iterations. */
static void use_busy(struct lp_compare_value *device, const llmperf_iteration_stats *busy)
{
    device->iterations = device->of;
    device->iterations.error_ms =
        device->of.mean_ms * busy->std_ms / busy->mean_ms / sqrt((double)busy->count);
    device->iterations.freedom = (double)busy->count - 1;
    device->iterations.instances = busy->count;
}

static void use_class(struct lp_compare_value *value, const llmperf_iteration_stats *stats)
{
    double total_ms = stats->mean_ms * (double)stats->count;

    value->iterations = (struct lp_compare_mean){
        stats->mean_ms, stats->std_ms / sqrt((double)stats->count), (double)stats->count - 1,
        isnan(value->of.mean_ms) ? total_ms : value->of.total_ms, stats->count
    };
}

static void widen(struct lp_compare_mean *around, const struct lp_compare_mean *stage, double times)
{
    if (isnan(around->mean_ms) || isnan(stage->error_ms))
        return;
    around->freedom =
        isnan(around->error_ms) ? stage->freedom : fmin(around->freedom, stage->freedom);
    around->error_ms =
        hypot(isnan(around->error_ms) ? 0 : around->error_ms, times * stage->error_ms);
}

/* The sampling error of a stage is also in the times of its enclosing regions. */
static int pass_up(struct lp_compare_reader *reader, size_t place, const char *quantity,
                   const struct lp_compare_mean *stage)
{
    const struct lp_compare_place *places = reader->places.items;
    double instances = (double)places[place].instances;

    for (size_t at = places[place].around; at != SIZE_MAX; at = places[at].around) {
        const struct lp_compare_key key = { places[at].path, quantity, LP_COMPARE_JOB, 0 };
        struct lp_compare_value *value = lp_compare_value_of(reader, &key);

        if (!value)
            return LLMPERF_ENOMEM;
        if (places[at].instances > 0)
            widen(&value->of, stage, instances / (double)places[at].instances);
    }
    return 0;
}

static bool is_busy(const llmperf_iteration_stats *stats)
{
    return !stats->is_class && strcmp(stats->quantity, "busy") == 0 && stats->mean_ms > 0;
}

static int put_iteration(struct lp_compare_reader *reader, size_t place,
                         const llmperf_iteration_stats *stats)
{
    const char *quantity = stats->is_class ? stats->quantity : LP_COMPARE_ALL;
    const struct lp_compare_key key = { stats->region, quantity, LP_COMPARE_JOB, 0 };
    struct lp_compare_value *value = lp_compare_value_of(reader, &key);
    const struct lp_stage_iterations *all = lp_findings_iterations(reader->findings, stats->region);
    bool sampled = stats->count + (all ? all->warm_up[LP_TIME_BUSY].calls : 0) <
                   reader->places.items[place].instances;
    struct lp_compare_mean stage;

    if (!value)
        return LLMPERF_ENOMEM;
    value->single_sample = sampled && stats->count < 2;
    if (stats->count < 2 || (!stats->is_class && isnan(value->of.mean_ms)))
        return 0;
    if (stats->is_class)
        use_class(value, stats);
    else
        use_busy(value, stats);
    if (sampled)
        lp_compare_use_estimate(&value->iterations, stats);
    stage = value->iterations; /* a copy: adding values moves them */
    return sampled ? pass_up(reader, place, quantity, &stage) : 0;
}

/* Rows of iterations are not split by process, so stages of several processes are skipped. */
int lp_compare_put_iterations(struct lp_compare_reader *reader)
{
    int status = 0;

    for (size_t i = 0; i < lp_row_count(reader->profile, LP_ROW_SPREAD) && status == 0; i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
        size_t place;

        llmperf_profile_iteration_stats(reader->profile, i, &stats);
        place = lp_compare_find_place(reader, stats.region, false);
        if (!stats.warm_up && (stats.is_class || is_busy(&stats)) && place != SIZE_MAX &&
            reader->places.items[place].processes == 1)
            status = put_iteration(reader, place, &stats);
    }
    return status;
}

/* GPUs that share a stage */

/* A GPU's mean time in a stage, with the error of the kernels it comes from. */
static struct lp_compare_mean known_as(struct lp_compare_reader *reader, const struct lp_rank *rank,
                                       double mean_ms, const char *quantity)
{
    size_t gpu = lp_member_gpu_at(&reader->members, rank->device);
    size_t row = lp_compare_find_row(reader, lp_compare_find_place(reader, rank->region, false),
                                     quantity, false);
    struct lp_compare_mean mean = row == SIZE_MAX || gpu == SIZE_MAX
                                      ? lp_compare_unknown
                                      : lp_compare_mean_on(reader, row, gpu);

    mean.mean_ms = mean_ms;
    mean.total_ms = mean_ms * (double)rank->instances;
    mean.instances = rank->instances;
    return mean;
}

static int put_of_rank(struct lp_compare_reader *reader, const struct lp_rank *rank,
                       const char *quantity, struct lp_compare_mean mean)
{
    const struct lp_compare_key key = { rank->region, quantity, LP_COMPARE_JOB, 0 };
    size_t gpu = lp_member_gpu_at(&reader->members, rank->device);

    return lp_compare_put(reader, key, mean,
                          lp_compare_most(reader->gpu_ms.items, reader->gpu_ms.count),
                          reader->members.gpus.items[gpu].number);
}

/* Times of the stage on the slowest GPU, and how long the others wait for it. */
static int put_stage(struct lp_compare_reader *reader, const struct lp_ranks *ranks,
                     const char *region)
{
    const struct lp_rank *waits, *last, *most = NULL;
    struct lp_compare_mean least, waiting;
    int status;

    for (size_t i = 0; i < ranks->rows.count; i++) {
        const struct lp_rank *rank = &ranks->rows.items[i];

        if (strcmp(rank->region, region) == 0 && (!most || rank->compute_ms > most->compute_ms))
            most = rank;
    }
    status = put_of_rank(reader, most, "computing",
                         known_as(reader, most, most->compute_ms, LP_COMPARE_ALL));
    lp_ranks_extremes(ranks, region, &waits, &last);
    if (status < 0 || !waits)
        return status;
    least = known_as(reader, last, last->collective_ms, COLLECTIVE);
    waiting =
        lp_compare_add_means(known_as(reader, waits, waits->waiting_ms, COLLECTIVE),
                             (struct lp_compare_mean){ 0, least.error_ms, least.freedom, 0, 0 });
    status = put_of_rank(reader, last, "communicating", least);
    return status < 0 ? status : put_of_rank(reader, waits, "waiting", waiting);
}

int lp_compare_put_stages(struct lp_compare_reader *reader)
{
    const struct lp_ranks *ranks = &reader->findings->ranks;
    int status = 0;

    for (size_t i = 0; i < ranks->rows.count && status == 0; i++)
        if (i == 0 || strcmp(ranks->rows.items[i].region, ranks->rows.items[i - 1].region) != 0)
            status = put_stage(reader, ranks, ranks->rows.items[i].region);
    return status;
}
