/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the numbers of repeated runs. Subjects are the run, each region (by device and process)
 * and each time of its iterations. A subject has a row for each number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/compare/members.h"
#include "lib/compare/repeats.h"
#include "lib/compare/repeats_same.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "llmperf/region.h"

#define QUANTITIES_MOST 24
#define MINOR           0.01 /* share of a run's time; smaller rows are not judged */

struct quantity {
    const char *name, *unit;
    bool judged;
};

enum { DURATION, RUN_BUSY, DEVICE, RUN_KERNEL, RUN_COPY, RUN_KERNELS, RUN_QUANTITIES };
static const struct quantity of_run[] = {
    { "duration_ms", "ms", true }, { "gpu_busy_ms", "ms", true }, { "device_ms", "ms", false },
    { "kernel_ms", "ms", false },  { "memcpy_ms", "ms", false },  { "kernel_count", "", false },
};

enum {
    INSTANCES,
    WALL,
    PERCENTILES, /* of wall time */
    SUM = PERCENTILES + LP_PERCENTILE_COUNT,
    BUSY,
    KERNEL,
    IDLE,
    KERNELS,
    RATE,
    MFU,
    HFU,
    MBU,
    RATIO
};
#define WALL_PERCENTILE(F, p, ...) { "wall_ms." #p, "ms", false },
static const struct quantity of_region[] = {
    { LP_REPEATS_INSTANCES, "", false },
    { "wall_ms.mean", "ms", true },
    LP_PERCENTILES(WALL_PERCENTILE, ){ "wall_ms.sum", "ms", false },
    { "gpu_busy_ms", "ms", true },
    { "kernel_ms", "ms", false },
    { "idle_ms", "ms", false },
    { "kernel_count", "", false },
    { "tokens_per_s", "1/s", false },
    { "mfu", "", false },
    { "hfu", "", false },
    { "mbu", "", false },
    { "wall_ratio", "", false },
};

enum { MEAN, MEDIAN, TAIL };
static const struct quantity of_iteration[] = { { "mean", "ms", false },
                                                { "p50", "ms", false },
                                                { "p99", "ms", false } };

static const struct {
    const struct quantity *items;
    size_t count;
} quantities[] = { { of_run, sizeof(of_run) / sizeof(*of_run) },
                   { of_region, sizeof(of_region) / sizeof(*of_region) },
                   { of_iteration, sizeof(of_iteration) / sizeof(*of_iteration) } };

/* Numbers of a subject in one run. */
struct numbers {
    double values[QUANTITIES_MOST];
    const char *reasons[QUANTITIES_MOST];
    double weight; /* share of the run's time */
};

/* State of a subject while runs are read. */
struct place {
    size_t first; /* first of its values: by quantity, then by run */
    const char *reasons[QUANTITIES_MOST];
    uint64_t runs; /* runs that have the subject */
    double weight; /* maximum over runs */
};

struct reader {
    struct lp_repeats *repeats;
    LP_VECTOR(struct place) places; /* by subject */
    struct lp_hashmap keys;
    struct lp_members members; /* of the current run */
};

static const char no_time[] = "device times are unknown";
static const char not_there[] = "not in every run";
static const char not_known[] = "unknown in some runs; see their reports";

static bool is_same(const struct lp_repeats_subject *a, const struct lp_repeats_subject *b)
{
    return a->scope == b->scope && a->device == b->device && a->process == b->process &&
           a->is_class == b->is_class && strcmp(a->region, b->region) == 0 &&
           strcmp(a->time ? a->time : "", b->time ? b->time : "") == 0;
}

static uint64_t hash(const char *text)
{
    return text ? lp_hash_text(text, strlen(text)) : 0;
}

static int add_subject(struct reader *reader, const struct lp_repeats_subject *subject)
{
    struct lp_repeats *repeats = reader->repeats;
    struct place place = { .first = repeats->values.count };
    size_t more = quantities[subject->scope].count * repeats->count;

    if (lp_vector_reserve(&repeats->values, more) < 0 ||
        lp_vector_push(&repeats->subjects, *subject) < 0)
        return LLMPERF_ENOMEM;
    for (size_t i = 0; i < more; i++)
        repeats->values.items[repeats->values.count++] = NAN;
    return lp_vector_push(&reader->places, place);
}

/* Index of a subject, added if new; LP_HASHMAP_NONE: out of memory. */
static uint32_t find_subject(struct reader *reader, const struct lp_repeats_subject *subject)
{
    uint64_t key = hash(subject->region), second = hash(subject->time);
    uint32_t index;

    second ^= (uint64_t)(uint32_t)subject->device << 32 | subject->process << 2 | subject->scope;
    while ((index = lp_hashmap_get(&reader->keys, key, second)) != LP_HASHMAP_NONE) {
        if (is_same(&reader->repeats->subjects.items[index], subject))
            return index;
        second++;
    }
    index = (uint32_t)reader->repeats->subjects.count;
    if (add_subject(reader, subject) < 0 || lp_hashmap_put(&reader->keys, key, second, index) < 0)
        return LP_HASHMAP_NONE;
    return index;
}

static int put(struct reader *reader, size_t run, const struct lp_repeats_subject *subject,
               const struct numbers *numbers)
{
    uint32_t index = find_subject(reader, subject);
    struct place *place;

    if (index == LP_HASHMAP_NONE)
        return lp_out_of_memory();
    place = &reader->places.items[index];
    place->runs++;
    place->weight = fmax(place->weight, numbers->weight);
    for (size_t q = 0; q < quantities[subject->scope].count; q++) {
        size_t at = place->first + q * reader->repeats->count + run;

        reader->repeats->values.items[at] = numbers->values[q];
        if (isnan(numbers->values[q]) && !place->reasons[q])
            place->reasons[q] = numbers->reasons[q] ? numbers->reasons[q] : not_known;
    }
    return 0;
}

static int read_run(struct reader *reader, size_t run)
{
    const struct lp_findings *findings = reader->repeats->findings[run];
    const struct lp_aggregates *sums = &findings->sums;
    const struct lp_repeats_subject subject = { LP_REPEATS_RUN, "", NULL, false, false, -1, 0 };
    struct numbers numbers = { .weight = lp_findings_is_empty(findings) ? 0 : 1 };

    for (size_t q = 0; q < RUN_QUANTITIES; q++) {
        numbers.values[q] = NAN;
        numbers.reasons[q] = findings->device_known ? not_known : no_time;
    }
    numbers.values[DURATION] = lp_duration_ms(findings->profile);
    numbers.reasons[DURATION] = "the duration of a run is unknown";
    if (findings->device_known) {
        numbers.values[RUN_BUSY] = lp_fact_number(findings->profile, "gpu_busy_ms");
        numbers.values[DEVICE] = sums->device_ms;
        numbers.values[RUN_KERNEL] = sums->kernel_ms;
        numbers.values[RUN_COPY] = sums->memcpy_ms;
        numbers.values[RUN_KERNELS] = (double)sums->kernel_count;
    }
    return put(reader, run, &subject, &numbers);
}

/* Regions */

static void read_device_times(const llmperf_region_stats *known, struct numbers *numbers)
{
    for (size_t q = BUSY; q <= KERNELS; q++)
        numbers->reasons[q] = no_time;
    numbers->values[BUSY] = known->gpu_busy_ms;
    numbers->values[KERNEL] = known->kernel_ms;
    numbers->values[IDLE] = known->idle_ms;
    numbers->values[KERNELS] =
        known->kernel_count == LLMPERF_UNKNOWN ? (double)NAN : (double)known->kernel_count;
}

static void read_wall(const llmperf_region_stats *known, struct numbers *numbers)
{
    numbers->values[INSTANCES] = (double)known->instances;
    numbers->values[WALL] = known->wall_mean_ms;
    numbers->values[SUM] = known->wall_sum_ms;
    for (size_t i = 0; i < LP_PERCENTILE_COUNT; i++)
        numbers->values[PERCENTILES + i] = lp_percentile(LP_ROW_REGION, known, i);
    for (size_t q = WALL; q <= SUM; q++)
        numbers->reasons[q] = "no call began and ended within the session";
}

static void read_use(const struct lp_region_finding *region, struct numbers *numbers)
{
    numbers->values[RATE] = region->tokens_per_s;
    numbers->reasons[RATE] = "the program counted no tokens";
    numbers->values[MFU] = region->use.mfu;
    numbers->reasons[MFU] = region->mfu_reason;
    numbers->values[HFU] = region->measured.hfu;
    numbers->reasons[HFU] = region->measured.hfu_reason;
    numbers->values[MBU] = region->use.mbu;
    numbers->reasons[MBU] = region->mbu_reason;
    numbers->values[RATIO] = region->use.wall_ratio;
    numbers->reasons[RATIO] = "the lower bound (floor) is unknown";
}

/* Wall time of top-level regions. Rows on further devices repeat it and are skipped. */
static double sum_of_walls(const struct lp_findings *findings)
{
    const llmperf_region_stats *last = NULL;
    double sum = 0;

    for (size_t i = 0; i < findings->regions.count; i++) {
        const llmperf_region_stats *stats = &findings->regions.items[i].stats;
        bool again =
            last && last->process_id == stats->process_id && strcmp(last->path, stats->path) == 0;

        if (stats->depth == 0 && !again && stats->instances > 0)
            sum += stats->wall_sum_ms;
        last = stats;
    }
    return sum;
}

static double share_of(double part, double whole)
{
    return whole > 0 && part > 0 ? part / whole : 0;
}

static int read_regions(struct reader *reader, size_t run)
{
    const struct lp_findings *findings = reader->repeats->findings[run];
    double walls = sum_of_walls(findings);
    int status;

    lp_members_clear(&reader->members);
    if ((status = lp_members_find(&reader->members, findings->profile)) < 0)
        return lp_out_of_memory();
    for (size_t i = 0; i < findings->regions.count && status == 0; i++) {
        const struct lp_region_finding *region = &findings->regions.items[i];
        const llmperf_region_stats *stats = &region->stats;
        const struct lp_repeats_subject subject = { LP_REPEATS_REGION,
                                                    stats->path,
                                                    NULL,
                                                    false,
                                                    stats->kind == LLMPERF_REGION_STAGE,
                                                    stats->device,
                                                    (uint32_t)lp_member_process_at(
                                                        &reader->members, stats->process_id) };
        struct numbers numbers = { .weight =
                                       share_of(stats->gpu_busy_ms, findings->sums.device_ms) };

        read_wall(&region->known, &numbers);
        read_device_times(&region->known, &numbers);
        read_use(region, &numbers);
        if (stats->instances > 0)
            numbers.weight = fmax(numbers.weight, share_of(stats->wall_sum_ms, walls));
        status = put(reader, run, &subject, &numbers);
    }
    return status;
}

static int read_iterations(struct reader *reader, size_t run)
{
    const llmperf_profile *profile = reader->repeats->findings[run]->profile;
    int status = 0;

    for (size_t i = 0; i < lp_row_count(profile, LP_ROW_SPREAD) && status == 0; i++) {
        llmperf_iteration_stats stats = LLMPERF_ITERATION_STATS_INIT;
        struct lp_repeats_subject subject = { .scope = LP_REPEATS_ITERATION, .device = -1 };
        struct numbers numbers = { .weight = 0 };

        llmperf_profile_iteration_stats(profile, i, &stats);
        if (stats.warm_up)
            continue;
        subject.region = stats.region;
        subject.time = stats.quantity;
        subject.is_class = stats.is_class != 0;
        numbers.values[MEAN] = stats.count > 0 ? stats.mean_ms : (double)NAN;
        numbers.values[MEDIAN] = stats.count > 0 ? stats.p50_ms : (double)NAN;
        numbers.values[TAIL] = stats.count > 0 ? stats.p99_ms : (double)NAN;
        for (size_t q = MEAN; q <= TAIL; q++)
            numbers.reasons[q] = "no iteration has this quantity";
        status = put(reader, run, &subject, &numbers);
    }
    return status;
}

static int read_profile(struct reader *reader, size_t run)
{
    int status;

    if ((status = read_run(reader, run)) < 0 || (status = read_regions(reader, run)) < 0)
        return status;
    return read_iterations(reader, run);
}

/* Rows point to the values, so they are made after the last value was added. */

static int add_rows(struct reader *reader, size_t index)
{
    struct lp_repeats *repeats = reader->repeats;
    const struct lp_repeats_subject *subject = &repeats->subjects.items[index];
    const struct place *place = &reader->places.items[index];

    for (size_t q = 0; q < quantities[subject->scope].count; q++) {
        const struct quantity *quantity = &quantities[subject->scope].items[q];
        struct lp_repeats_row row = {
            .subject = subject,
            .quantity = quantity->name,
            .unit = quantity->unit,
            .values = repeats->values.items + place->first + q * repeats->count,
            .reason = place->runs < repeats->count ? not_there : place->reasons[q],
        };

        lp_repeats_summarise(&row, repeats->count, repeats->threshold);
        row.judged = quantity->judged && row.count > 1 && place->weight >= MINOR;
        repeats->judged += row.judged;
        repeats->differing += row.judged && row.differs;
        if (lp_vector_push(&repeats->rows, row) < 0)
            return lp_out_of_memory();
    }
    return 0;
}

static int find_meaning(struct lp_repeats *repeats, const llmperf_profile *const *profiles,
                        size_t count)
{
    int status = 0;

    if (!(repeats->findings = calloc(count, sizeof(*repeats->findings))))
        return lp_out_of_memory();
    for (; repeats->count < count && status == 0; repeats->count++)
        status = lp_findings_of(profiles[repeats->count], &repeats->findings[repeats->count]);
    return status;
}

int lp_repeats_read(struct lp_repeats *repeats, const llmperf_profile *const *profiles,
                    size_t count, double threshold)
{
    struct reader reader = { .repeats = repeats };
    int status = find_meaning(repeats, profiles, count);

    repeats->threshold = threshold;
    for (size_t run = 0; run < count && status == 0; run++)
        status = read_profile(&reader, run);
    for (size_t i = 0; i < repeats->subjects.count && status == 0; i++)
        status = add_rows(&reader, i);
    if (status == 0)
        status = lp_repeats_check_same(repeats);
    lp_vector_clear(&reader.places);
    lp_members_clear(&reader.members);
    lp_hashmap_clear(&reader.keys);
    return status;
}

void lp_repeats_clear(struct lp_repeats *repeats)
{
    free(repeats->findings);
    lp_vector_clear(&repeats->subjects);
    lp_vector_clear(&repeats->values);
    lp_vector_clear(&repeats->rows);
    lp_vector_clear(&repeats->differences);
    lp_vector_clear(&repeats->cautions);
    lp_strings_clear(&repeats->pool);
    *repeats = (struct lp_repeats){ .findings = NULL };
}
