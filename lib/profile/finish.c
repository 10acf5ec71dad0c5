/* SPDX-License-Identifier: Apache-2.0 */
/* Completes a profile that has all rows: short names, shares, operators, captures, order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/captures.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/profile.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

static int compare_regions(const void *left, const void *right)
{
    const llmperf_region_stats *a = &((const struct lp_region_row *)left)->stats;
    const llmperf_region_stats *b = &((const struct lp_region_row *)right)->stats;
    int order = lp_compare_paths(a->path, b->path);

    if (!order)
        order = LP_ORDER(a->process_id, b->process_id);
    return order ? order : a->device - b->device;
}

/* Devices first, then what they hold most of. */
static int compare_memory(const void *left, const void *right)
{
    const llmperf_memory *a = left, *b = right;
    int order = !b->region - !a->region;

    order = order ? order : a->device - b->device;
    order = order ? order : LP_ORDER(b->allocated_bytes, a->allocated_bytes);
    order = order ? order : lp_compare_text(a->region, b->region);
    return order ? order : LP_ORDER(a->process_id, b->process_id);
}

static int compare_operators(const void *left, const void *right)
{
    const llmperf_operator_stats *a = left, *b = right;
    int order = LP_ORDER(fmax(0, b->cuda_time_ms), fmax(0, a->cuda_time_ms)); /* NaN counts as 0 */

    order = order ? order : LP_ORDER(fmax(0, b->total_time_ms), fmax(0, a->total_time_ms));
    order = order ? order : lp_compare_text(a->name, b->name);
    return order ? order : lp_compare_text(a->stage, b->stage);
}

static int name_kernels(llmperf_profile *profile)
{
    struct lp_text text = { NULL, 0, 0, false };

    for (size_t i = 0; i < profile->kernels.count; i++) {
        llmperf_kernel_stats *stats = &profile->kernels.items[i].stats;

        text.length = 0;
        lp_kernel_demangle(&text, stats->name);
        stats->demangled = text.failed ? NULL : lp_profile_text(profile, text.bytes);
        text.length = 0;
        lp_kernel_shorten(&text, stats->demangled ? stats->demangled : stats->name);
        stats->short_name = text.failed ? NULL : lp_profile_text(profile, text.bytes);
        if (!stats->demangled || !stats->short_name) {
            lp_text_clear(&text);
            return lp_out_of_memory();
        }
    }
    lp_text_clear(&text);
    return 0;
}

static void share_kernels(llmperf_profile *profile)
{
    double total = 0;

    for (size_t i = 0; i < profile->kernels.count; i++)
        total += profile->kernels.items[i].stats.total_ms;
    for (size_t i = 0; i < profile->kernels.count; i++)
        profile->kernels.items[i].stats.share =
            total > 0 ? profile->kernels.items[i].stats.total_ms / total : 0;
}

static bool is_of_processes(const llmperf_profile *profile)
{
    for (size_t i = 1; i < profile->regions.count; i++)
        if (profile->regions.items[i].stats.process_id !=
            profile->regions.items[0].stats.process_id)
            return true;
    return false;
}

bool lp_profile_of_processes(const llmperf_profile *profile)
{
    return profile->of_processes;
}

static bool has_digit(const char *label, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (label[i] >= '0' && label[i] <= '9')
            return true;
    return false;
}

/* Name of a region as an operator: its label. A numbered one, such as a layer, is only like another
 * of the same label if the regions around it inside the stage are the same, too: layers of two
 * towers of a vision encoder are different operators. What is around a numbered region, such as a
 * layer around a numbered head, is left out. */
static const char *operator_name(const llmperf_region_stats *region)
{
    const char *name = region->path, *slash;
    size_t stage = region->stage ? strlen(region->stage) : 0;

    if (!has_digit(region->label, strlen(region->label)))
        return region->label;
    for (const char *label = region->path; (slash = strchr(label, '/')); label = slash + 1) {
        size_t length = (size_t)(slash - label);

        if ((length == stage && strncmp(label, region->stage, length) == 0) ||
            has_digit(label, length))
            name = slash + 1;
    }
    return name;
}

static llmperf_operator_stats *find_operator(llmperf_profile *profile, struct lp_hashmap *rows,
                                             const llmperf_region_stats *region)
{
    llmperf_operator_stats fresh = LLMPERF_OPERATOR_STATS_INIT;
    const char *name = operator_name(region);
    uint64_t key = lp_hash_text(name, strlen(name));
    uint64_t stage = region->stage ? lp_hash_text(region->stage, strlen(region->stage)) : 0;
    uint32_t row;

    while ((row = lp_hashmap_get(rows, key, stage)) != LP_HASHMAP_NONE &&
           (strcmp(profile->operators.items[row].name, name) != 0 ||
            lp_compare_text(profile->operators.items[row].stage, region->stage) != 0))
        stage++;
    if (row != LP_HASHMAP_NONE)
        return &profile->operators.items[row];
    row = (uint32_t)profile->operators.count;
    fresh.name = name;
    fresh.stage = region->stage;
    fresh.cuda_time_ms = NAN;
    LP_NO_ESTIMATE(&fresh);
    if (lp_vector_push(&profile->operators, fresh) < 0 || lp_hashmap_put(rows, key, stage, row) < 0)
        return NULL;
    return &profile->operators.items[row];
}

/* Is an operator nested in one of the same name? That one includes its time. Longer labels come
 * from other tools; they are skipped to bound the time. */
static bool is_inside_itself(const llmperf_region_stats *region)
{
    size_t length = strnlen(region->label, 2 * LLMPERF_LABEL_BYTES);
    const char *at = length < 2 * LLMPERF_LABEL_BYTES ? region->parent : NULL;

    for (; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, region->label, length) == 0 && (at[length] == '/' || !at[length]))
            return true;
    return false;
}

/* Rows of a region on several devices repeat its host times: only the first row counts. */
static void add_to_operator(llmperf_operator_stats *stats, const llmperf_region_stats *region,
                            bool again)
{
    bool inside = is_inside_itself(region), first = isnan(stats->cuda_time_ms);

    if (!again)
        stats->calls += region->instances;
    if (!again && !inside && (region->instances > 0 || !isnan(region->wall_sum_ms)))
        stats->total_time_ms += region->wall_sum_ms;
    if (inside || isnan(region->gpu_busy_ms))
        return;
    stats->cuda_time_ms = (first ? 0 : stats->cuda_time_ms) + region->gpu_busy_ms;
    stats->estimate_collected = region->estimate_collected;
    stats->estimate_ms = (first ? 0 : stats->estimate_ms) + region->estimate_ms;
    stats->estimate_low_ms = (first ? 0 : stats->estimate_low_ms) + region->estimate_low_ms;
    stats->estimate_high_ms = (first ? 0 : stats->estimate_high_ms) + region->estimate_high_ms;
    if (!stats->estimate_reason)
        stats->estimate_reason = region->estimate_reason;
}

static const char *label_of(const llmperf_operator_stats *stats)
{
    const char *slash = strrchr(stats->name, '/');

    return slash ? slash + 1 : stats->name;
}

/* The label alone is the name where no other operator of the stage has it. */
static int shorten_operators(llmperf_profile *profile)
{
    struct lp_hashmap counts = { NULL, 0, 0 };
    int status = 0;

    for (size_t turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < profile->operators.count; i++) {
            llmperf_operator_stats *stats = &profile->operators.items[i];
            const char *label = label_of(stats), *stage = stats->stage ? stats->stage : "";
            uint64_t key = lp_hash_text(label, strlen(label));
            uint64_t stage_key = lp_hash_text(stage, strlen(stage));
            uint32_t count = lp_hashmap_get(&counts, key, stage_key);

            if (turn == 0 && status == 0)
                status = lp_hashmap_put(&counts, key, stage_key,
                                        count == LP_HASHMAP_NONE ? 1 : count + 1);
            else if (count == 1)
                stats->name = label;
        }
    lp_hashmap_clear(&counts);
    return status;
}

static int make_operators(llmperf_profile *profile)
{
    struct lp_hashmap rows = { NULL, 0, 0 };
    const llmperf_region_stats *before = NULL;
    int status = 0;

    profile->operators.count = 0;
    for (size_t i = 0; status == 0 && i < profile->regions.count; i++) {
        const llmperf_region_stats *region = &profile->regions.items[i].stats;
        bool again = before && !strcmp(before->path, region->path) &&
                     before->process_id == region->process_id;
        llmperf_operator_stats *stats;

        before = region;
        if (region->kind == LLMPERF_REGION_STAGE || !*region->path)
            continue;
        if ((stats = find_operator(profile, &rows, region)))
            add_to_operator(stats, region, again);
        else
            status = LLMPERF_ENOMEM;
    }
    lp_hashmap_clear(&rows);
    status = status < 0 ? status : shorten_operators(profile);
    for (size_t i = 0; i < profile->operators.count; i++) {
        llmperf_operator_stats *stats = &profile->operators.items[i];

        if (stats->calls == 0) /* its host times were not recorded */
            stats->total_time_ms = NAN;
        stats->mean_ms = stats->calls ? stats->total_time_ms / (double)stats->calls : NAN;
    }
    return status;
}

/* By region; times in the order of llmperf_iteration, then classes by time, then
 * those of warm-up. */
static int compare_iteration_stats(const void *left, const void *right)
{
    const llmperf_iteration_stats *a = &((const struct lp_iteration_stats_row *)left)->stats;
    const llmperf_iteration_stats *b = &((const struct lp_iteration_stats_row *)right)->stats;
    int order = lp_compare_paths(a->region, b->region);

    if (order || a->warm_up != b->warm_up)
        return order ? order : (int)a->warm_up - (int)b->warm_up;
    if (a->is_class != b->is_class)
        return (int)a->is_class - (int)b->is_class;
    order = a->is_class ? LP_ORDER(b->sum_ms, a->sum_ms)
                        : (int)lp_time_named(a->quantity) - (int)lp_time_named(b->quantity);
    return order ? order : strcmp(a->quantity, b->quantity);
}

static int compare_windows(const void *left, const void *right)
{
    const llmperf_window_stats *a = left, *b = right;
    int order = LP_ORDER(a->process_id, b->process_id);

    return order ? order : LP_ORDER(a->number, b->number);
}

/* By window, largest total first. */
static int compare_window_kernels(const void *left, const void *right)
{
    const llmperf_window_kernel *a = left, *b = right;
    int order = LP_ORDER(a->process_id, b->process_id);

    order = order ? order : LP_ORDER(a->window, b->window);
    order = order ? order : LP_ORDER(b->total_ms, a->total_ms);
    order = order ? order : strcmp(a->name, b->name);
    order = order ? order : lp_compare_text(a->region, b->region);
    return order ? order : lp_compare_text(a->captured_in, b->captured_in);
}

struct order {
    enum lp_row_id id;
    size_t total; /* offset of a time that comes first, longest first; 0: none */
};

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct order *wanted = context;
    double a = 0, b = 0;
    int order;

    if (wanted->total) {
        memcpy(&a, (const char *)left + wanted->total, sizeof(a));
        memcpy(&b, (const char *)right + wanted->total, sizeof(b));
    }
    order = LP_ORDER(b, a);
    return order ? order : lp_row_compare(wanted->id, left, right);
}

#define SORT_ROWS(list, ...)                                                                       \
    do {                                                                                           \
        if ((list).count > 0)                                                                      \
            qsort_r((list).items, (list).count, sizeof(*(list).items), compare_rows,               \
                    &(struct order){ __VA_ARGS__ });                                               \
    } while (0)

int lp_profile_finish(llmperf_profile *profile)
{
    int status = name_kernels(profile);

    lp_profile_forget(profile);
    if (status < 0)
        return status;
    share_kernels(profile);
    profile->of_processes = is_of_processes(profile);
    lp_profile_sort_metrics(profile);
    lp_vector_sort(&profile->regions, compare_regions);
    SORT_ROWS(profile->kernels, LP_ROW_KERNEL, offsetof(llmperf_kernel_stats, total_ms));
    SORT_ROWS(profile->kernel_shapes, LP_ROW_KERNEL_SHAPE,
              offsetof(llmperf_kernel_shape, total_ms));
    SORT_ROWS(profile->host_calls, LP_ROW_HOST_CALL, offsetof(llmperf_host_call, total_ms));
    if ((status = lp_stalls_finish(profile)) < 0)
        return status;
    lp_vector_sort(&profile->memory, compare_memory);
    SORT_ROWS(profile->memory_points, LP_ROW_MEMORY_POINT, 0);
    SORT_ROWS(profile->iterations, LP_ROW_ITERATION, 0);
    lp_vector_sort(&profile->iteration_stats, compare_iteration_stats);
    lp_vector_sort(&profile->windows, compare_windows);
    lp_vector_sort(&profile->window_kernels, compare_window_kernels);
    if ((status = make_operators(profile)) < 0 ||
        (status = lp_profile_derive_requests(profile)) < 0)
        return status;
    lp_vector_sort(&profile->operators, compare_operators);
    return lp_profile_make_captures(profile);
}
