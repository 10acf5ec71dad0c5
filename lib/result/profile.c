/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/result/captures.h"
#include "lib/result/profile_data.h"
#include "lib/result/result.h"
#include "llmperf/activity.h"
#include "llmperf/region.h"

llmperf_profile *lp_profile_create(void)
{
    llmperf_profile *profile = calloc(1, sizeof(*profile));

    if (profile)
        profile->ledger.struct_size = sizeof(profile->ledger);
    return profile;
}

void llmperf_profile_free(llmperf_profile *profile)
{
    if (!profile)
        return;
    lp_vector_clear(&profile->regions);
    lp_vector_clear(&profile->kernels);
    lp_vector_clear(&profile->operators);
    lp_vector_clear(&profile->captures);
    lp_vector_clear(&profile->metrics);
    lp_hashmap_clear(&profile->metric_rows);
    lp_vector_clear(&profile->iterations);
    lp_vector_clear(&profile->iteration_stats);
    lp_vector_clear(&profile->windows);
    lp_vector_clear(&profile->window_kernels);
    lp_vector_clear(&profile->problems);
    lp_vector_clear(&profile->notes);
    lp_vector_clear(&profile->facts);
    lp_strings_clear(&profile->pool);
    free(profile);
}

const char *lp_profile_text(llmperf_profile *profile, const char *text)
{
    return lp_strings_add(&profile->pool, text);
}

static const char *format_line(llmperf_profile *profile, const char *format, va_list args)
{
    char line[1024];

    vsnprintf(line, sizeof(line), format, args);
    return lp_profile_text(profile, line);
}

int lp_profile_add_problem(llmperf_profile *profile, const char *format, ...)
{
    const char *line;
    va_list args;

    va_start(args, format);
    line = format_line(profile, format, args);
    va_end(args);
    return line ? lp_vector_push(&profile->problems, line)
                : lp_error(LLMPERF_ENOMEM, "out of memory");
}

int lp_profile_add_note(llmperf_profile *profile, const char *format, ...)
{
    const char *line;
    va_list args;

    va_start(args, format);
    line = format_line(profile, format, args);
    va_end(args);
    return line ? lp_vector_push(&profile->notes, line) : lp_error(LLMPERF_ENOMEM, "out of memory");
}

int lp_profile_problem(llmperf_profile *profile, const char *line)
{
    if (profile->ledger.verdict == LLMPERF_VERDICT_COMPLETE ||
        profile->ledger.verdict == LLMPERF_VERDICT_SAMPLED)
        profile->ledger.verdict = LLMPERF_VERDICT_INCOMPLETE;
    return lp_profile_add_problem(profile, "%s", line);
}

int lp_profile_note(llmperf_profile *profile, const char *line)
{
    return lp_profile_add_note(profile, "%s", line);
}

int lp_profile_set_fact(llmperf_profile *profile, const char *key, const char *value)
{
    struct lp_fact fact = { lp_profile_text(profile, key), lp_profile_text(profile, value) };

    if (!value)
        return 0;
    if (!fact.key || !fact.value)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    for (size_t i = 0; i < profile->facts.count; i++)
        if (!strcmp(profile->facts.items[i].key, key)) {
            profile->facts.items[i] = fact;
            return 0;
        }
    return lp_vector_push(&profile->facts, fact);
}

const char *llmperf_profile_fact(const llmperf_profile *profile, const char *key)
{
    for (size_t i = 0; profile && key && i < profile->facts.count; i++)
        if (!strcmp(profile->facts.items[i].key, key))
            return profile->facts.items[i].value;
    return NULL;
}

/* Ordering */

int lp_compare_text(const char *a, const char *b)
{
    return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* '/' sorts before every other character here, so that a region's children follow it and not its
 * longer-named sisters. */
int lp_compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static int compare_regions(const void *left, const void *right)
{
    const llmperf_region_stats *a = &((const struct lp_region_row *)left)->stats;
    const llmperf_region_stats *b = &((const struct lp_region_row *)right)->stats;
    int order = lp_compare_paths(a->path, b->path);

    if (!order)
        order = (a->process_id > b->process_id) - (a->process_id < b->process_id);
    return order ? order : a->device - b->device;
}

static int compare_iterations(const void *left, const void *right)
{
    const llmperf_iteration *a = left, *b = right;

    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int compare_times(double a, double b)
{
    return (a < b) - (a > b);
}

static int compare_kernels(const void *left, const void *right)
{
    const llmperf_kernel_stats *a = &((const struct lp_kernel_row *)left)->stats;
    const llmperf_kernel_stats *b = &((const struct lp_kernel_row *)right)->stats;
    int order = compare_times(a->total_ms, b->total_ms);

    order = order ? order : lp_compare_text(a->name, b->name);
    order = order ? order : lp_compare_text(a->region, b->region);
    order = order ? order : lp_compare_text(a->captured_in, b->captured_in);
    return order ? order : a->device - b->device;
}

static int compare_operators(const void *left, const void *right)
{
    const llmperf_operator_stats *a = left, *b = right;
    int order = compare_times(isnan(a->cuda_time_ms) ? 0 : a->cuda_time_ms,
                              isnan(b->cuda_time_ms) ? 0 : b->cuda_time_ms);

    order = order ? order
                  : compare_times(isnan(a->total_time_ms) ? 0 : a->total_time_ms,
                                  isnan(b->total_time_ms) ? 0 : b->total_time_ms);
    order = order ? order : lp_compare_text(a->name, b->name);
    return order ? order : lp_compare_text(a->stage, b->stage);
}

/* What follows from the rows */

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
        if (!stats->short_name) {
            lp_text_clear(&text);
            return lp_error(LLMPERF_ENOMEM, "out of memory");
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

static bool is_of_operator(const llmperf_region_stats *region, const llmperf_operator_stats *stats)
{
    return strcmp(stats->name, region->label) == 0 &&
           lp_compare_text(stats->stage, region->stage) == 0;
}

/* @param rows  Label and stage -> index; different ones of one hash get consecutive second key
 * words. */
static llmperf_operator_stats *find_operator(llmperf_profile *profile, struct lp_hashmap *rows,
                                             const llmperf_region_stats *region)
{
    llmperf_operator_stats fresh = LLMPERF_OPERATOR_STATS_INIT;
    uint64_t label = lp_hash_text(region->label, strlen(region->label));
    uint64_t stage = region->stage ? lp_hash_text(region->stage, strlen(region->stage)) : 0;
    uint32_t row;

    while ((row = lp_hashmap_get(rows, label, stage)) != LP_HASHMAP_NONE &&
           !is_of_operator(region, &profile->operators.items[row]))
        stage++;
    if (row != LP_HASHMAP_NONE)
        return &profile->operators.items[row];
    row = (uint32_t)profile->operators.count;
    fresh.name = region->label;
    fresh.stage = region->stage;
    fresh.cuda_time_ms = NAN;
    if (lp_vector_push(&profile->operators, fresh) < 0 ||
        lp_hashmap_put(rows, label, stage, row) < 0)
        return NULL;
    return &profile->operators.items[row];
}

/* Does an operator lie inside one of the same name? Its time is in that one's already. */
static bool is_inside_itself(const llmperf_region_stats *region)
{
    size_t length = strlen(region->label);
    const char *at = region->parent;

    while (at && (at = strstr(at, region->label))) {
        bool begins = at == region->parent || at[-1] == '/';

        if (begins && (at[length] == '/' || !at[length]))
            return true;
        at++;
    }
    return false;
}

/* A region's rows on several devices repeat its host times: those count once, on the first row. */
static void add_to_operator(llmperf_operator_stats *stats, const llmperf_region_stats *region,
                            bool again)
{
    bool inside = is_inside_itself(region);

    if (!again)
        stats->calls += region->instances;
    if (!again && !inside && !isnan(region->wall_sum_ms))
        stats->total_time_ms += region->wall_sum_ms;
    if (!inside && !isnan(region->gpu_busy_ms))
        stats->cuda_time_ms =
            (isnan(stats->cuda_time_ms) ? 0 : stats->cuda_time_ms) + region->gpu_busy_ms;
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
    for (size_t i = 0; i < profile->operators.count; i++) {
        llmperf_operator_stats *stats = &profile->operators.items[i];

        if (stats->calls == 0) /* its host times were not seen */
            stats->total_time_ms = NAN;
        stats->mean_ms = stats->calls ? stats->total_time_ms / (double)stats->calls : NAN;
    }
    return status;
}

static int time_position(const char *quantity)
{
    static const char *const times[] = {
        "wall", "span", "busy", "idle", "idle_launch", "idle_wait"
    };
    int position = 0;

    while (position < 6 && strcmp(times[position], quantity) != 0)
        position++;
    return position;
}

/* By region; times in the order of llmperf_iteration, then classes by time. */
static int compare_iteration_stats(const void *left, const void *right)
{
    const llmperf_iteration_stats *a = &((const struct lp_iteration_stats_row *)left)->stats;
    const llmperf_iteration_stats *b = &((const struct lp_iteration_stats_row *)right)->stats;
    int order = lp_compare_paths(a->region, b->region);

    if (order || a->is_class != b->is_class)
        return order ? order : (int)a->is_class - (int)b->is_class;
    order = a->is_class ? compare_times(a->sum_ms, b->sum_ms)
                        : time_position(a->quantity) - time_position(b->quantity);
    return order ? order : strcmp(a->quantity, b->quantity);
}

static int compare_windows(const void *left, const void *right)
{
    const llmperf_window_stats *a = left, *b = right;
    int order = (a->process_id > b->process_id) - (a->process_id < b->process_id);

    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* By window, largest total first. */
static int compare_window_kernels(const void *left, const void *right)
{
    const llmperf_window_kernel *a = left, *b = right;
    int order = (a->process_id > b->process_id) - (a->process_id < b->process_id);

    if (!order)
        order = (a->window > b->window) - (a->window < b->window);
    if (!order)
        order = compare_times(a->total_ms, b->total_ms);
    if (!order)
        order = strcmp(a->name, b->name);
    if (!order)
        order = lp_compare_text(a->region, b->region);
    return order ? order : lp_compare_text(a->captured_in, b->captured_in);
}

#define SORT(list, compare)                                                                        \
    do {                                                                                           \
        if ((list).count > 0)                                                                      \
            qsort((list).items, (list).count, sizeof(*(list).items), compare);                     \
    } while (0)

int lp_profile_finish(llmperf_profile *profile)
{
    int status = name_kernels(profile);

    if (status < 0)
        return status;
    share_kernels(profile);
    lp_profile_sort_metrics(profile);
    SORT(profile->regions, compare_regions);
    SORT(profile->kernels, compare_kernels);
    SORT(profile->iterations, compare_iterations);
    SORT(profile->iteration_stats, compare_iteration_stats);
    SORT(profile->windows, compare_windows);
    SORT(profile->window_kernels, compare_window_kernels);
    if ((status = make_operators(profile)) < 0)
        return status;
    SORT(profile->operators, compare_operators);
    return lp_profile_make_captures(profile);
}

/* Public access */

size_t llmperf_profile_region_count(const llmperf_profile *profile)
{
    return profile ? profile->regions.count : 0;
}

size_t llmperf_profile_kernel_count(const llmperf_profile *profile)
{
    return profile ? profile->kernels.count : 0;
}

size_t llmperf_profile_operator_count(const llmperf_profile *profile)
{
    return profile ? profile->operators.count : 0;
}

size_t llmperf_profile_window_count(const llmperf_profile *profile)
{
    return profile ? profile->windows.count : 0;
}

size_t llmperf_profile_window_kernel_count(const llmperf_profile *profile)
{
    return profile ? profile->window_kernels.count : 0;
}

size_t llmperf_profile_iteration_count(const llmperf_profile *profile)
{
    return profile ? profile->iterations.count : 0;
}

size_t llmperf_profile_iteration_stats_count(const llmperf_profile *profile)
{
    return profile ? profile->iteration_stats.count : 0;
}

const char *llmperf_profile_class(const llmperf_profile *profile, size_t index)
{
    char key[32];

    if (index >= LLMPERF_ITERATION_CLASSES)
        return NULL;
    snprintf(key, sizeof(key), LP_CLASS_FACT "%zu", index);
    return llmperf_profile_fact(profile, key);
}

/* Callers built against an older header have a shorter struct: they get the fields they know. */
int lp_copy_struct(void *out, const void *from, size_t size)
{
    size_t wanted;

    memcpy(&wanted, out, sizeof(wanted));
    if (wanted < sizeof(wanted))
        return lp_error(LLMPERF_EINVAL,
                        "struct_size is not set; initialise the struct with its …_INIT macro");
    memcpy(out, from, wanted < size ? wanted : size);
    memcpy(out, &wanted, sizeof(wanted));
    return 0;
}

static int check_row(const llmperf_profile *profile, size_t index, size_t count, const void *out)
{
    if (!profile || !out)
        return lp_error(LLMPERF_EINVAL, "profile and out-parameter are required");
    return index < count ? 0
                         : lp_error(LLMPERF_EINVAL, "row %zu of %zu does not exist", index, count);
}

int llmperf_profile_region(const llmperf_profile *profile, size_t index,
                           llmperf_region_stats *stats_out)
{
    int status = check_row(profile, index, llmperf_profile_region_count(profile), stats_out);

    return status < 0 ? status
                      : lp_copy_struct(stats_out, &profile->regions.items[index].stats,
                                       sizeof(*stats_out));
}

int llmperf_profile_kernel(const llmperf_profile *profile, size_t index,
                           llmperf_kernel_stats *stats_out)
{
    int status = check_row(profile, index, llmperf_profile_kernel_count(profile), stats_out);

    return status < 0 ? status
                      : lp_copy_struct(stats_out, &profile->kernels.items[index].stats,
                                       sizeof(*stats_out));
}

int llmperf_profile_operator(const llmperf_profile *profile, size_t index,
                             llmperf_operator_stats *stats_out)
{
    int status = check_row(profile, index, llmperf_profile_operator_count(profile), stats_out);

    return status < 0
               ? status
               : lp_copy_struct(stats_out, &profile->operators.items[index], sizeof(*stats_out));
}

int llmperf_profile_window(const llmperf_profile *profile, size_t index,
                           llmperf_window_stats *stats_out)
{
    int status = check_row(profile, index, llmperf_profile_window_count(profile), stats_out);

    return status < 0
               ? status
               : lp_copy_struct(stats_out, &profile->windows.items[index], sizeof(*stats_out));
}

int llmperf_profile_window_kernel(const llmperf_profile *profile, size_t index,
                                  llmperf_window_kernel *kernel_out)
{
    int status =
        check_row(profile, index, llmperf_profile_window_kernel_count(profile), kernel_out);

    return status < 0 ? status
                      : lp_copy_struct(kernel_out, &profile->window_kernels.items[index],
                                       sizeof(*kernel_out));
}

int llmperf_profile_iteration(const llmperf_profile *profile, size_t index,
                              llmperf_iteration *iteration_out)
{
    int status = check_row(profile, index, llmperf_profile_iteration_count(profile), iteration_out);

    return status < 0 ? status
                      : lp_copy_struct(iteration_out, &profile->iterations.items[index],
                                       sizeof(*iteration_out));
}

int llmperf_profile_iteration_stats(const llmperf_profile *profile, size_t index,
                                    llmperf_iteration_stats *stats_out)
{
    int status =
        check_row(profile, index, llmperf_profile_iteration_stats_count(profile), stats_out);

    return status < 0 ? status
                      : lp_copy_struct(stats_out, &profile->iteration_stats.items[index].stats,
                                       sizeof(*stats_out));
}

int llmperf_profile_ledger(const llmperf_profile *profile, llmperf_ledger *ledger_out)
{
    if (!profile || !ledger_out)
        return lp_error(LLMPERF_EINVAL, "profile and ledger are required");
    return lp_copy_struct(ledger_out, &profile->ledger, sizeof(*ledger_out));
}

const char *llmperf_profile_problem(const llmperf_profile *profile, size_t index)
{
    return profile && index < profile->problems.count ? profile->problems.items[index] : NULL;
}

const char *llmperf_profile_note(const llmperf_profile *profile, size_t index)
{
    return profile && index < profile->notes.count ? profile->notes.items[index] : NULL;
}

const char *llmperf_verdict_name(uint32_t verdict)
{
    static const char *const names[] = { "unknown",    "complete",  "sampled",
                                         "incomplete", "no_device", "dead" };

    return names[verdict < sizeof(names) / sizeof(names[0]) ? verdict : 0];
}
