/* SPDX-License-Identifier: Apache-2.0 */
/* Per region: host time of an instance, by process, and device time by kernel class of what an
 * instance launched, nested regions included, by GPU; and what a job makes of these. */
#include "lib/output/compare_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/output/members.h"
#include "lib/output/view.h"
#include "llmperf/activity.h"

#define NORMAL_P95    1.645 /* of the normal distribution */
#define QUANTITY_WALL "wall"
#define QUANTITY_ALL  "device"
#define COLLECTIVE    "collective"

static const struct lp_compare_mean unknown = { NAN, NAN, 0, 0, 0 };

/* Host time of a region in a process. */
struct wall {
    size_t place, process;
    struct lp_compare_mean of;
};

struct place {
    const char *path;
    double collected;   /* most of any GPU; see reader.collected */
    uint64_t instances; /* most of any process */
    size_t processes;
};

/* What is added up of a quantity of a region on a GPU. */
struct sum {
    double total_ms, variance; /* of the total */
    uint64_t calls;
    bool known; /* the variance is */
};

struct device_row {
    size_t place;
    const char *quantity;
};

struct reader {
    struct lp_compare_table *table;
    size_t run;
    const llmperf_profile *profile;
    struct lp_members members;
    LP_VECTOR(struct place) places;
    LP_VECTOR(double)
    collected; /* by place and GPU: instances whose device work was not left out
                  by sampling */
    LP_VECTOR(struct wall) walls;
    LP_VECTOR(double) process_ms, gpu_ms; /* time of top regions; of all kernels */
    LP_VECTOR(struct device_row) rows;
    LP_VECTOR(struct sum) sums; /* by row and GPU */
    struct lp_hashmap place_keys, row_keys;
};

static uint64_t hash(const char *text)
{
    return lp_hash_text(text, strlen(text));
}

#define push_zeros(vector, more)                                                                   \
    ((more) == 0 ? 0                                                                               \
     : lp_vector_reserve(vector, more) < 0                                                         \
         ? LLMPERF_ENOMEM                                                                          \
         : (memset((vector)->items + (vector)->count, 0, (more) * sizeof(*(vector)->items)),       \
            (vector)->count += (more), 0))

/* The table */

static bool same_key(const struct lp_compare_key *a, const struct lp_compare_key *b)
{
    return a->scope == b->scope && a->number == b->number && strcmp(a->region, b->region) == 0 &&
           strcmp(a->quantity, b->quantity) == 0;
}

static int add_key(struct lp_compare_table *table, const struct lp_compare_key *key)
{
    const struct lp_compare_value none = { unknown, unknown, 0, LP_COMPARE_NOBODY };

    if (lp_vector_push(&table->keys, *key) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < table->runs; i++)
        if (lp_vector_push(&table->values, none) < 0)
            return LLMPERF_ENOMEM;
    return 0;
}

/* Where this run's value of a key stands; NULL without memory. */
static struct lp_compare_value *value_of(struct reader *reader, const struct lp_compare_key *key)
{
    struct lp_compare_table *table = reader->table;
    uint64_t first = hash(key->region), second = hash(key->quantity);
    uint32_t index;

    second ^= (uint64_t)key->number << 2 | key->scope;
    while ((index = lp_hashmap_get(&table->index, first, second)) != LP_HASHMAP_NONE) {
        if (same_key(&table->keys.items[index], key))
            return &table->values.items[index * table->runs + reader->run];
        second++;
    }
    index = (uint32_t)table->keys.count;
    if (add_key(table, key) < 0 || lp_hashmap_put(&table->index, first, second, index) < 0)
        return NULL;
    return &table->values.items[index * table->runs + reader->run];
}

static int put(struct reader *reader, struct lp_compare_key key, struct lp_compare_mean mean,
               double whole_ms, uint32_t number)
{
    struct lp_compare_value *value = value_of(reader, &key);

    if (!value)
        return LLMPERF_ENOMEM;
    value->of = mean;
    value->whole_ms = whole_ms;
    value->number = number;
    return 0;
}

void lp_compare_table_clear(struct lp_compare_table *table)
{
    lp_vector_clear(&table->keys);
    lp_vector_clear(&table->values);
    lp_hashmap_clear(&table->index);
}

/* Regions */

/* SIZE_MAX: there is none, or no memory. */
static size_t find_place(struct reader *reader, const char *path, bool make)
{
    const struct place fresh = { .path = path };
    uint64_t key = hash(path), second = 0;
    uint32_t index;

    while ((index = lp_hashmap_get(&reader->place_keys, key, second)) != LP_HASHMAP_NONE) {
        if (strcmp(reader->places.items[index].path, path) == 0)
            return index;
        second++;
    }
    index = (uint32_t)reader->places.count;
    if (!make || lp_vector_push(&reader->places, fresh) < 0 ||
        push_zeros(&reader->collected, reader->members.gpus.count) < 0 ||
        lp_hashmap_put(&reader->place_keys, key, second, index) < 0)
        return SIZE_MAX;
    return index;
}

static int add_wall(struct reader *reader, size_t at, const llmperf_region_stats *stats)
{
    struct place *place = &reader->places.items[at];
    struct wall wall = { at, lp_member_process_at(&reader->members, stats->process_id), unknown };
    double n = (double)stats->instances;

    place->processes++;
    if (stats->instances == 0 || isnan(stats->wall_sum_ms))
        return 0;
    if (stats->instances > place->instances)
        place->instances = stats->instances;
    if (stats->depth == 0)
        reader->process_ms.items[wall.process] += stats->wall_sum_ms;
    wall.of.mean_ms = stats->wall_sum_ms / n;
    wall.of.total_ms = stats->wall_sum_ms;
    wall.of.instances = stats->instances;
    if (stats->instances > 1) {
        wall.of.error_ms = stats->wall_std_ms / sqrt(n);
        wall.of.freedom = n - 1;
    }
    return lp_vector_push(&reader->walls, wall);
}

static void add_collected(struct reader *reader, size_t at, const llmperf_region_stats *stats)
{
    size_t gpu = lp_member_gpu_at(&reader->members, stats->device);
    double n = ((double)stats->instances - (double)stats->window_instances) *
               (1 - stats->skipped_fraction);

    if (gpu == SIZE_MAX || !(n > 0))
        return;
    reader->collected.items[at * reader->members.gpus.count + gpu] += n;
    reader->places.items[at].collected = fmax(reader->places.items[at].collected, n);
}

/* A region's rows on several devices repeat its host times. */
static int read_regions(struct reader *reader)
{
    llmperf_region_stats before = LLMPERF_REGION_STATS_INIT;
    int status = 0;

    for (size_t i = 0; i < llmperf_profile_region_count(reader->profile) && status == 0; i++) {
        llmperf_region_stats stats = LLMPERF_REGION_STATS_INIT;
        size_t at;

        llmperf_profile_region(reader->profile, i, &stats);
        if ((at = find_place(reader, stats.path, true)) == SIZE_MAX)
            return LLMPERF_ENOMEM;
        if (!before.path || strcmp(before.path, stats.path) != 0 ||
            before.process_id != stats.process_id)
            status = add_wall(reader, at, &stats);
        add_collected(reader, at, &stats);
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

/* Index of a row; SIZE_MAX: there is none, or no memory. */
static size_t find_row(struct reader *reader, size_t place, const char *quantity, bool make)
{
    const struct device_row fresh = { place, quantity };
    uint64_t second = hash(quantity);
    uint32_t index;

    while ((index = lp_hashmap_get(&reader->row_keys, place, second)) != LP_HASHMAP_NONE) {
        if (strcmp(reader->rows.items[index].quantity, quantity) == 0)
            return index;
        second++;
    }
    index = (uint32_t)reader->rows.count;
    if (!make || lp_vector_push(&reader->rows, fresh) < 0 ||
        push_zeros(&reader->sums, reader->members.gpus.count) < 0 ||
        lp_hashmap_put(&reader->row_keys, place, second, index) < 0)
        return SIZE_MAX;
    return index;
}

static int add_calls(struct reader *reader, size_t place, const char *quantity, size_t gpu,
                     const llmperf_kernel_stats *kernel)
{
    size_t row = find_row(reader, place, quantity, true);
    double spread = spread_of(kernel);
    struct sum *sum;

    if (row == SIZE_MAX)
        return LLMPERF_ENOMEM;
    sum = &reader->sums.items[row * reader->members.gpus.count + gpu];
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
static int add_kernel(struct reader *reader, const llmperf_kernel_stats *kernel)
{
    struct lp_kernel_classes *classes = reader->table->classes;
    const char *kernel_class =
        classes ? lp_kernel_class(classes, kernel->demangled, kernel->kind) : "all kernels";
    size_t gpu = lp_member_gpu_at(&reader->members, kernel->device);
    char *path = lp_text_copy(kernel->region);
    int status = path ? 0 : LLMPERF_ENOMEM;

    reader->gpu_ms.items[gpu] += kernel->total_ms;
    while (status == 0) {
        size_t place = find_place(reader, path, false);
        char *slash;

        if (place != SIZE_MAX &&
            ((status = add_calls(reader, place, kernel_class, gpu, kernel)) < 0 ||
             (status = add_calls(reader, place, QUANTITY_ALL, gpu, kernel)) < 0))
            break;
        if (!(slash = strrchr(path, '/')))
            break;
        *slash = '\0';
    }
    free(path);
    return status;
}

static int read_kernels(struct reader *reader)
{
    int status = 0;

    for (size_t i = 0; i < llmperf_profile_kernel_count(reader->profile) && status == 0; i++) {
        llmperf_kernel_stats kernel = LLMPERF_KERNEL_STATS_INIT;

        llmperf_profile_kernel(reader->profile, i, &kernel);
        if (kernel.region && !isnan(kernel.total_ms) && kernel.calls > 0)
            status = add_kernel(reader, &kernel);
    }
    return status;
}

/* Of an instance on one GPU. */
static struct lp_compare_mean mean_on(const struct reader *reader, size_t row, size_t gpu)
{
    size_t gpus = reader->members.gpus.count, at = reader->rows.items[row].place;
    const struct sum *sum = &reader->sums.items[row * gpus + gpu];
    const struct place *place = &reader->places.items[at];
    struct lp_compare_mean mean = unknown;
    double n = reader->collected.items[at * gpus + gpu];

    n = n > 0 ? n : place->collected > 0 ? place->collected : 1; /* outside of regions: the run */
    mean.instances = place->instances;
    if (sum->calls == 0)
        return mean;
    mean.mean_ms = sum->total_ms / n;
    mean.error_ms = sum->known ? sqrt(sum->variance) / n : (double)NAN;
    mean.freedom = fmax((double)sum->calls - 1, 1);
    mean.total_ms = sum->total_ms;
    return mean;
}

/* Whatever GPUs have to do with one another, their sum is known no worse than by the sum of their
 * errors. */
static struct lp_compare_mean add_means(struct lp_compare_mean a, struct lp_compare_mean b)
{
    if (isnan(a.mean_ms) || isnan(b.mean_ms))
        return isnan(a.mean_ms) ? b : a;
    a.mean_ms += b.mean_ms;
    a.total_ms += b.total_ms;
    if (isnan(a.error_ms) || isnan(b.error_ms)) {
        a.freedom = isnan(a.error_ms) ? b.freedom : a.freedom;
        a.error_ms = isnan(a.error_ms) ? b.error_ms : a.error_ms;
    } else {
        a.freedom = fmin(a.freedom, b.freedom);
        a.error_ms += b.error_ms;
    }
    return a;
}

/* Values */

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static double most_of(const double *values, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* A job has done a step when its slowest process has. */
static int put_walls(struct reader *reader, bool several)
{
    double whole = most_of(reader->process_ms.items, reader->process_ms.count);
    int status = 0;

    for (size_t i = 0; i < reader->walls.count && status == 0; i++) {
        const struct wall *wall = &reader->walls.items[i];
        const struct lp_member_process *process = &reader->members.processes.items[wall->process];
        struct lp_compare_key key = { reader->places.items[wall->place].path, QUANTITY_WALL,
                                      LP_COMPARE_JOB, 0 };
        const struct lp_compare_value *job = value_of(reader, &key);

        if (!job)
            return LLMPERF_ENOMEM;
        if (!(job->of.mean_ms >= wall->of.mean_ms))
            status = put(reader, key, wall->of, whole, process->number);
        key.scope = LP_COMPARE_PROCESS;
        key.number = process->number;
        if (status == 0 && several && wall->process < reader->members.with_gpu)
            status = put(reader, key, wall->of, reader->process_ms.items[wall->process],
                         process->number);
    }
    return status;
}

static int put_kernels(struct reader *reader, bool several)
{
    size_t gpus = reader->members.gpus.count;
    double whole = sum_of(reader->gpu_ms.items, gpus);
    int status = 0;

    for (size_t row = 0; row < reader->rows.count && status == 0; row++) {
        const struct device_row *of = &reader->rows.items[row];
        struct lp_compare_key key = { reader->places.items[of->place].path, of->quantity,
                                      LP_COMPARE_GPU, 0 };
        struct lp_compare_mean job = unknown;

        for (size_t gpu = 0; gpu < gpus && status == 0; gpu++) {
            struct lp_compare_mean mean = mean_on(reader, row, gpu);

            job = add_means(job, mean);
            key.number = reader->members.gpus.items[gpu].number;
            if (several && !isnan(mean.mean_ms))
                status = put(reader, key, mean, reader->gpu_ms.items[gpu], key.number);
        }
        key.scope = LP_COMPARE_JOB;
        key.number = 0;
        if (status == 0)
            status = put(reader, key, job, whole, LP_COMPARE_NOBODY);
    }
    return status;
}

/* Iterations of several processes stand together: they do not tell one from another. */
static int put_iterations(struct reader *reader)
{
    for (size_t i = 0; i < llmperf_profile_iteration_stats_count(reader->profile); i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
        struct lp_compare_value *value;
        size_t place;

        llmperf_profile_iteration_stats(reader->profile, i, &stats);
        if (!stats.is_class || stats.count < 2 ||
            (place = find_place(reader, stats.region, false)) == SIZE_MAX ||
            reader->places.items[place].processes != 1)
            continue;
        value = value_of(
            reader, &(struct lp_compare_key){ stats.region, stats.quantity, LP_COMPARE_JOB, 0 });
        if (!value)
            return LLMPERF_ENOMEM;
        value->iterations =
            (struct lp_compare_mean){ stats.mean_ms, stats.std_ms / sqrt((double)stats.count),
                                      (double)stats.count - 1, stats.mean_ms * (double)stats.count,
                                      stats.count };
    }
    return 0;
}

/* GPUs that work together */

/* How well a time of a GPU in a stage is known: that of these kernels. */
static struct lp_compare_mean known_as(struct reader *reader, const struct lp_rank *rank,
                                       double mean_ms, const char *quantity)
{
    size_t gpu = lp_member_gpu_at(&reader->members, rank->device);
    size_t row = find_row(reader, find_place(reader, rank->region, false), quantity, false);
    struct lp_compare_mean mean =
        row == SIZE_MAX || gpu == SIZE_MAX ? unknown : mean_on(reader, row, gpu);

    mean.mean_ms = mean_ms;
    mean.total_ms = mean_ms * (double)rank->instances;
    mean.instances = rank->instances;
    return mean;
}

static int put_of_rank(struct reader *reader, const struct lp_rank *rank, const char *quantity,
                       struct lp_compare_mean mean)
{
    const struct lp_compare_key key = { rank->region, quantity, LP_COMPARE_JOB, 0 };
    size_t gpu = lp_member_gpu_at(&reader->members, rank->device);

    return put(reader, key, mean, most_of(reader->gpu_ms.items, reader->gpu_ms.count),
               reader->members.gpus.items[gpu].number);
}

/* What the stage is made of on the GPU that others wait for, and how long they wait. */
static int put_stage(struct reader *reader, const struct lp_ranks *ranks, const char *region)
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
                         known_as(reader, most, most->compute_ms, QUANTITY_ALL));
    lp_ranks_extremes(ranks, region, &waits, &last);
    if (status < 0 || !waits)
        return status;
    least = known_as(reader, last, last->collective_ms, COLLECTIVE);
    waiting = add_means(known_as(reader, waits, waits->waiting_ms, COLLECTIVE),
                        (struct lp_compare_mean){ 0, least.error_ms, least.freedom, 0, 0 });
    status = put_of_rank(reader, last, "communicating", least);
    return status < 0 ? status : put_of_rank(reader, waits, "waiting", waiting);
}

static int put_stages(struct reader *reader)
{
    struct lp_view view;
    int status = lp_view_init(&view, reader->profile);

    for (size_t i = 0; i < view.ranks.rows.count && status == 0; i++)
        if (i == 0 ||
            strcmp(view.ranks.rows.items[i].region, view.ranks.rows.items[i - 1].region) != 0)
            status = put_stage(reader, &view.ranks, view.ranks.rows.items[i].region);
    lp_view_clear(&view);
    return status;
}

/* All of it */

static int tell_ranks(const struct lp_members *members, struct lp_compare_ranks *ranks)
{
    for (size_t i = 0; i < members->with_gpu; i++)
        if (lp_vector_push(&ranks->processes, members->processes.items[i].number) < 0)
            return LLMPERF_ENOMEM;
    ranks->gpus = members->gpus.count;
    ranks->one_gpu_each = members->one_gpu_each;
    ranks->several = members->with_gpu > 1 || members->gpus.count > 1;
    return 0;
}

static int read_all(struct reader *reader, struct lp_compare_ranks *ranks)
{
    int status = lp_members_find(&reader->members, reader->profile);

    if (status == 0)
        status = tell_ranks(&reader->members, ranks);
    if (status == 0)
        status = push_zeros(&reader->process_ms, reader->members.processes.count);
    if (status == 0)
        status = push_zeros(&reader->gpu_ms, reader->members.gpus.count);
    if (status == 0)
        status = read_regions(reader);
    if (status == 0)
        status = read_kernels(reader);
    if (status == 0)
        status = put_walls(reader, ranks->several);
    if (status == 0)
        status = put_kernels(reader, ranks->several);
    if (status == 0)
        status = put_iterations(reader);
    return status == 0 && ranks->several ? put_stages(reader) : status;
}

int lp_compare_read(struct lp_compare_table *table, size_t run, const llmperf_profile *profile,
                    struct lp_compare_ranks *ranks)
{
    struct reader reader = { .table = table, .run = run, .profile = profile };
    int status = read_all(&reader, ranks);

    lp_members_clear(&reader.members);
    lp_vector_clear(&reader.places);
    lp_vector_clear(&reader.collected);
    lp_vector_clear(&reader.walls);
    lp_vector_clear(&reader.process_ms);
    lp_vector_clear(&reader.gpu_ms);
    lp_vector_clear(&reader.rows);
    lp_vector_clear(&reader.sums);
    lp_hashmap_clear(&reader.place_keys);
    lp_hashmap_clear(&reader.row_keys);
    return status < 0 ? lp_error(LLMPERF_ENOMEM, "out of memory") : 0;
}
