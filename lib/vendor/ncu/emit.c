/* SPDX-License-Identifier: Apache-2.0 */
/* Adds ncu's results to a profile, with their own names or those of a timeline. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/vendor/ncu/ncu.h"
#include "lib/vendor/ncu/match.h"
#include "lib/vendor/ncu/shapes.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "llmperf/profile.h"

static const char *name_of(const struct lp_ncu *ncu, const struct lp_ncu_target *target)
{
    return target->name == LP_HASHMAP_NONE ? NULL : lp_names_text(&ncu->texts, target->name);
}

static int print_path(struct lp_text *text, uint32_t node)
{
    text->length = 0;
    lp_path_print(text, node);
    lp_text_puts(text, "");
    return text->failed ? lp_out_of_memory() : 0;
}

/* Metrics */

static double mean_of(const struct lp_ncu_value *value)
{
    return value->count ? value->first + value->sum / (double)value->count : (double)NAN;
}

/* Not known for a summary: its squares are NaN. */
static double std_of(const struct lp_ncu_value *value)
{
    double count = (double)value->count;

    if (value->count < 2 || isnan(value->squares))
        return NAN;
    return sqrt(fmax(value->squares - value->sum * value->sum / count, 0) / (count - 1));
}

static int emit_value(const struct lp_ncu *ncu, const struct lp_ncu_value *value,
                      const struct lp_ncu_place *place, llmperf_profile *profile)
{
    const struct lp_ncu_metric *metric = &ncu->metrics.items[value->metric];
    llmperf_metric_stats stats = LLMPERF_METRIC_STATS_INIT;

    stats.name = metric->name;
    stats.unit = metric->unit;
    stats.group = metric->group;
    stats.source = "ncu";
    stats.region = place->region;
    stats.kernel = place->kernel;
    stats.text = value->text < LP_NCU_TEXTS_DIFFER ? lp_names_text(&ncu->texts, value->text) : NULL;
    stats.device = place->device;
    stats.process_id = place->process_id;
    stats.count = value->count;
    stats.mean = mean_of(value);
    stats.std = std_of(value);
    stats.min = value->count ? value->min : (double)NAN;
    stats.max = value->count ? value->max : (double)NAN;
    if (stats.count == 0 && !stats.text && value->text != LP_NCU_TEXTS_DIFFER)
        return 0; /* all values are "n/a" */
    return lp_profile_add_metric(profile, &stats);
}

/* Values of a target are adjacent, so it is looked up once for all of them. */
static int emit_values(struct lp_ncu *ncu, struct lp_ncu_matcher *matcher, llmperf_profile *profile)
{
    struct lp_ncu_place place = { NULL, NULL, -1, 0 };
    struct lp_text path = { NULL, 0, 0, false };
    uint32_t last = LP_HASHMAP_NONE;
    int status = 0;

    for (size_t i = 0; i < ncu->values.count && status == 0; i++) {
        const struct lp_ncu_value *value = &ncu->values.items[i];
        const struct lp_ncu_target *target = &ncu->targets.items[value->target];

        if (value->target != last) {
            bool known = target->node != LP_PATH_UNKNOWN;

            if (known && (status = print_path(&path, target->node)) < 0)
                break;
            place = (struct lp_ncu_place){ known ? path.bytes : NULL, name_of(ncu, target),
                                           target->device, target->process_id };
            if (matcher && (status = lp_ncu_match(matcher, &place)) < 0)
                break;
            last = value->target;
        }
        status = emit_value(ncu, value, &place, profile);
    }
    lp_text_clear(&path);
    return status;
}

/* Kernels and regions without a timeline */

/* Without the duration of each result the sum is not known; a summary has means only. */
static void fill_times(const struct lp_ncu *ncu, const struct lp_ncu_target *target,
                       llmperf_kernel_stats *stats)
{
    const struct lp_ncu_value *value =
        target->summary == LP_HASHMAP_NONE ? NULL : &ncu->values.items[target->summary];

    stats->total_ms = stats->mean_ms = stats->min_ms = stats->max_ms = NAN;
    if (!value || value->count < stats->calls)
        return;
    stats->mean_ms = mean_of(value) / 1e6;
    stats->total_ms = stats->mean_ms * (double)stats->calls;
    stats->min_ms = value->min / 1e6;
    stats->max_ms = value->max / 1e6;
}

static int emit_kernel(const struct lp_ncu *ncu, const struct lp_ncu_target *target,
                       llmperf_profile *profile, double *total_ms_out)
{
    bool timed = target->durations.count == target->results && target->results > 0;
    llmperf_kernel_stats stats = LLMPERF_KERNEL_STATS_INIT;
    struct lp_text path = { NULL, 0, 0, false };
    int status = 0;

    stats.name = name_of(ncu, target);
    stats.kind = LLMPERF_ACTIVITY_KERNEL;
    stats.device = target->device;
    stats.calls = target->results;
    lp_set_percentiles(LP_ROW_KERNEL, &stats, NULL, NAN, NAN);
    if (target->node != LP_PATH_UNKNOWN && (status = print_path(&path, target->node)) == 0)
        stats.region = path.bytes;
    if (!timed)
        fill_times(ncu, target, &stats);
    for (size_t i = 0; timed && i < target->durations.count; i++)
        stats.total_ms += (double)target->durations.items[i] / 1e6;
    *total_ms_out = stats.total_ms;
    if (status == 0)
        status = lp_profile_add_kernel(profile, &stats, timed ? target->durations.items : NULL,
                                       target->durations.count);
    lp_text_clear(&path);
    return status;
}

/* Region rows during summation. */
struct region {
    uint32_t node;
    llmperf_region_stats stats;
};

struct regions {
    LP_VECTOR(struct region) rows;
    struct lp_hashmap keys; /* (node, device and process) -> row */
};

static struct region *find_region(struct regions *regions, uint32_t node,
                                  const struct lp_ncu_target *target)
{
    uint64_t owner = (uint64_t)(uint32_t)target->device << 32 | target->process_id;
    struct region fresh = { node, LLMPERF_REGION_STATS_INIT };
    uint32_t row = lp_hashmap_get(&regions->keys, node, owner);
    llmperf_region_stats *stats = &fresh.stats;

    if (row != LP_HASHMAP_NONE)
        return &regions->rows.items[row];
    lp_row_forget(LP_ROW_REGION, stats);
    stats->device = target->device;
    stats->process_id = target->process_id;
    stats->kernel_ms = stats->exclusive_kernel_ms = 0;
    stats->gpu_busy_ms = stats->exclusive_gpu_busy_ms = 0;
    stats->kernel_count = 0;
    row = (uint32_t)regions->rows.count;
    if (lp_vector_push(&regions->rows, fresh) < 0 ||
        lp_hashmap_put(&regions->keys, node, owner, row) < 0)
        return NULL;
    return &regions->rows.items[row];
}

/* A kernel counts in its region and in all enclosing ones. Work outside of regions counts
 * separately. Kernels run one at a time under ncu: their sum is the busy time. */
static int add_to_regions(struct regions *regions, const struct lp_ncu_target *target,
                          double total_ms)
{
    for (uint32_t node = target->node;; node = lp_path_get(node)->parent) {
        struct region *region = find_region(regions, node, target);

        if (!region)
            return LLMPERF_ENOMEM;
        if (region->stats.kernel_count != LLMPERF_UNKNOWN)
            region->stats.kernel_count += target->results;
        region->stats.kernel_ms += total_ms;
        region->stats.gpu_busy_ms += total_ms;
        if (node == target->node) {
            region->stats.exclusive_kernel_ms += total_ms;
            region->stats.exclusive_gpu_busy_ms += total_ms;
        }
        if (node == LP_PATH_ROOT || lp_path_get(node)->parent == LP_PATH_ROOT)
            return 0;
    }
}

/* A range measured as a whole: its kernels are not known separately. */
static int add_range(struct regions *regions, const struct lp_ncu_target *target)
{
    struct region *region = find_region(regions, target->node, target);

    if (!region)
        return LLMPERF_ENOMEM;
    region->stats.instances += target->results;
    region->stats.kernel_count = LLMPERF_UNKNOWN;
    region->stats.kernel_ms = region->stats.exclusive_kernel_ms = NAN;
    region->stats.exclusive_gpu_busy_ms = NAN;
    if (target->durations.count < target->results)
        region->stats.gpu_busy_ms = NAN;
    for (size_t i = 0; i < target->durations.count; i++)
        region->stats.gpu_busy_ms += (double)target->durations.items[i] / 1e6;
    return 0;
}

static int emit_rows(struct lp_ncu *ncu, struct regions *regions, llmperf_profile *profile)
{
    struct lp_shape *shapes = lp_ncu_shapes(ncu);
    int status = shapes ? 0 : lp_out_of_memory();

    for (uint32_t i = 0; i < ncu->targets.count && status == 0; i++) {
        const struct lp_ncu_target *target = &ncu->targets.items[i];
        double total_ms = 0;

        if (target->results == 0)
            continue;
        if (target->name != LP_HASHMAP_NONE)
            status = emit_kernel(ncu, target, profile, &total_ms);
        if (status == 0 && target->name != LP_HASHMAP_NONE && shapes[i].grid[0] > 0)
            status = lp_profile_shape_kernel(profile, &shapes[i]);
        if (status == 0 && target->node != LP_PATH_UNKNOWN)
            status = target->name == LP_HASHMAP_NONE ? add_range(regions, target)
                                                     : add_to_regions(regions, target, total_ms);
    }
    free(shapes);
    for (size_t i = 0; i < regions->rows.count && status == 0; i++)
        status = lp_profile_add_region(profile, regions->rows.items[i].node,
                                       &regions->rows.items[i].stats);
    return status;
}

/* Completeness */

static void fill_ledger(const struct lp_ncu *ncu, llmperf_ledger *ledger)
{
    *ledger = (llmperf_ledger)LLMPERF_LEDGER_INIT;
    lp_row_forget(LP_ROW_LEDGER, ledger);
    ledger->verdict = LLMPERF_VERDICT_INCOMPLETE;
    for (size_t i = 0; i < ncu->targets.count; i++) {
        const struct lp_ncu_target *target = &ncu->targets.items[i];

        if (target->name == LP_HASHMAP_NONE)
            continue;
        ledger->kernels_seen += target->results;
        if (target->node == LP_PATH_UNKNOWN)
            ledger->kernels_unattributed += target->results;
        else
            ledger->kernels_attributed += target->results;
        ledger->kernels_outside += target->node == LP_PATH_ROOT ? target->results : 0;
    }
}

static int describe_alone(struct lp_ncu *ncu, llmperf_profile *profile)
{
    llmperf_ledger *ledger = lp_profile_ledger_edit(profile);
    int status;

    fill_ledger(ncu, ledger);
    if ((status = lp_profile_problem(
             profile, "ncu measures only the kernels or ranges it was asked to profile; other work "
                      "of the program is not in this run")) < 0 ||
        (status = lp_profile_note(
             profile, "ncu runs kernels one at a time, by default with flushed caches and locked "
                      "clocks: kernel times differ from those of a normal run")) < 0 ||
        (status = lp_set_time_fact(profile, (int64_t)fmin((double)ncu->created_s, 1e15))) < 0 ||
        (status = lp_profile_set_fact(profile, "source", "ncu")) < 0 ||
        (status = lp_profile_set_fact(profile, "tier", "counters")) < 0)
        return status;
    if (ledger->kernels_unattributed > 0 &&
        (status = lp_profile_note(profile, "the ncu tables have no NVTX columns, so the regions of "
                                           "kernels are unknown; run ncu with --nvtx")) < 0)
        return status;
    return lp_gpus_set(profile, ncu->gpus.items, ncu->gpus.count,
                       "the ncu tables do not name a GPU");
}

static int add_count(llmperf_profile *profile, uint64_t count, const char *sentence)
{

    if (count == 0)
        return 0;
    return lp_profile_problem(profile, "ncu: %" PRIu64 " %s", count, sentence);
}

static int add_problems(const struct lp_ncu *ncu, llmperf_profile *profile)
{
    int status;

    if ((status = add_count(profile, ncu->rows_cut,
                            "table rows were cut off or have too few fields and were skipped")) <
            0 ||
        (status = add_count(profile, ncu->results_cut,
                            "report results were cut off or damaged and were skipped")) < 0 ||
        (status = add_count(profile, ncu->commas,
                            "numbers have a comma that is not a thousands separator and were kept "
                            "as text; run ncu with LC_ALL=C")) < 0)
        return status;
    if ((status = add_count(profile, ncu->left_out,
                            "values were skipped: too many metrics and kernels to keep")) < 0 ||
        ncu->units_missing == 0)
        return status;
    return lp_profile_note(
        profile,
        "ncu: reports do not store units; they are derived from metric names, which failed "
        "for %" PRIu64 " metrics",
        ncu->units_missing);
}

/* Names and sizes of GPUs are metrics, if collected. */
static void name_gpus(struct lp_ncu *ncu)
{
    static const struct {
        const char *name;
        size_t member;
        int64_t factor;
    } sizes[] = {
        { "device__attribute_multiprocessor_count", offsetof(struct lp_gpu_fact, sm_count), 1 },
        { "device__attribute_total_memory", offsetof(struct lp_gpu_fact, memory_bytes), 1 },
        { "device__attribute_l2_cache_size", offsetof(struct lp_gpu_fact, l2_bytes), 1 },
        { "device__attribute_max_gpu_frequency_khz", offsetof(struct lp_gpu_fact, clock_hz), 1000 },
    };

    for (size_t i = 0; i < ncu->values.count; i++) {
        const struct lp_ncu_value *value = &ncu->values.items[i];
        const char *name = ncu->metrics.items[value->metric].name;

        for (size_t k = 0; k < ncu->gpus.count; k++) {
            struct lp_gpu_fact *gpu = &ncu->gpus.items[k];

            if (gpu->ordinal != ncu->targets.items[value->target].device)
                continue;
            if (strcmp(name, "device__attribute_display_name") == 0 &&
                value->text < LP_NCU_TEXTS_DIFFER)
                snprintf(gpu->name, sizeof(gpu->name), "%.127s",
                         lp_names_text(&ncu->texts, value->text));
            for (size_t m = 0; value->count && m < sizeof(sizes) / sizeof(sizes[0]); m++)
                if (strcmp(name, sizes[m].name) == 0)
                    *(int64_t *)((char *)gpu + sizes[m].member) =
                        (int64_t)fmin(fmax(mean_of(value), 0), 1e15) * sizes[m].factor;
        }
    }
}

static int emit_alone(struct lp_ncu *ncu, llmperf_profile *profile)
{
    struct regions regions = { 0 };
    int status;

    name_gpus(ncu);
    if ((status = emit_rows(ncu, &regions, profile)) == 0 &&
        (status = emit_values(ncu, NULL, profile)) == 0)
        status = describe_alone(ncu, profile);
    lp_vector_clear(&regions.rows);
    lp_hashmap_clear(&regions.keys);
    return status;
}

static int emit_beside(struct lp_ncu *ncu, llmperf_profile *profile)
{
    struct lp_ncu_matcher *matcher;
    int status = lp_ncu_matcher_create(profile, &matcher);

    if (status < 0)
        return status;
    status = emit_values(ncu, matcher, profile);
    if (status == 0)
        status = lp_ncu_matcher_describe(matcher, profile);
    lp_ncu_matcher_free(matcher);
    return status;
}

int lp_ncu_emit(struct lp_ncu *ncu, llmperf_profile *profile, bool has_timeline)
{
    int status = has_timeline ? emit_beside(ncu, profile) : emit_alone(ncu, profile);

    return status < 0 ? status : add_problems(ncu, profile);
}
