/* SPDX-License-Identifier: Apache-2.0 */
/** Makes a profile from totals. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/host_calls.h"
#include "lib/record/paths.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/percentiles.h"
#include "lib/profile/totals.h"
#include "lib/profile/verdict.h"
#include "lib/profile/windows.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

struct device_sums {
    uint64_t kernel_ns, memcpy_ns, memset_ns, memcpy_bytes, kernels, memcpys, memsets;
};

/* Device work of a path on one device: alone, and with its nested regions. */
struct device_work {
    struct device_sums own, all;
};

/* Work of regions, by node. */
struct work_table {
    uint64_t (*quantities)[LP_QUANTITIES]; /* LLMPERF_UNKNOWN: not given */
    uint8_t (*origins)[LP_QUANTITIES];     /* LLMPERF_WORK_… */
    bool window;                           /* only calls in triggered windows */
};

struct freezer {
    struct lp_totals *totals;
    llmperf_profile *profile;
    const char **paths;                  /* by node: copy in the profile */
    struct device_work *works;           /* by device row */
    struct work_table work, window_work; /* all calls; calls in triggered windows */
    double *window_ms;                   /* by node: host time in triggered windows */
    double *fractions;                   /* by node: share of its work that was collected */
    uint32_t nodes, process_id;
    uint32_t count; /* number of paths; their ids are below `nodes` */
    uint32_t lost;  /* a stage whose unknown work makes that of its parent stage unknown; 0: none */
    bool failed;    /* out of memory */
};

static const char *path_text(struct freezer *freezer, uint32_t node)
{
    if (node >= freezer->nodes)
        return NULL;
    if (!freezer->paths[node])
        freezer->paths[node] = lp_profile_path(freezer->profile, node);
    freezer->failed |= !freezer->paths[node];
    return freezer->paths[node];
}

static void sum_kernel(struct device_sums *sum, const struct lp_kernel_total *kernel)
{
    if (kernel->kind == LLMPERF_ACTIVITY_KERNEL) {
        sum->kernel_ns += kernel->total_ns;
        sum->kernels += kernel->calls;
    } else if (kernel->kind == LLMPERF_ACTIVITY_MEMCPY) {
        sum->memcpy_ns += kernel->total_ns;
        sum->memcpy_bytes += kernel->bytes;
        sum->memcpys += kernel->calls;
    } else if (kernel->kind == LLMPERF_ACTIVITY_MEMSET) {
        sum->memset_ns += kernel->total_ns;
        sum->memsets += kernel->calls;
    }
}

static void add_sums(struct device_sums *sum, const struct device_sums *more)
{
    sum->kernel_ns += more->kernel_ns;
    sum->memcpy_ns += more->memcpy_ns;
    sum->memset_ns += more->memset_ns;
    sum->memcpy_bytes += more->memcpy_bytes;
    sum->kernels += more->kernels;
    sum->memcpys += more->memcpys;
    sum->memsets += more->memsets;
}

/* Children follow their parents, so one pass from the end adds up everything. */
static void sum_devices(struct freezer *freezer)
{
    const struct lp_totals *totals = freezer->totals;
    struct device_work *works = freezer->works;

    for (size_t i = 0; i < totals->kernels.count; i++)
        sum_kernel(&works[totals->kernels.items[i].row].own, &totals->kernels.items[i]);
    for (size_t i = totals->devices.count; i-- > 0;) {
        uint32_t parent = totals->devices.items[i].parent;

        add_sums(&works[i].all, &works[i].own);
        if (parent != LP_BUSY_TOP)
            add_sums(&works[parent].all, &works[i].all);
    }
}

/* As origin: the work of a part is not known, so the sum of the others would be too small. */
#define WORK_LOST UINT8_MAX

/* Work that the program gave, else the model's if it has all calls. */
static void own_quantity(const struct lp_host_work *host, uint32_t q, uint64_t *value_out,
                         uint8_t *origin_out)
{
    bool work = q == LLMPERF_QUANTITY_FLOPS || q == LLMPERF_QUANTITY_BYTES;

    *value_out = LLMPERF_UNKNOWN;
    *origin_out = LLMPERF_WORK_UNKNOWN;
    if (host->quantities[q] == LLMPERF_UNKNOWN)
        return;
    if (host->quantities[q] != 0) {
        *value_out = host->quantities[q];
        *origin_out = LLMPERF_WORK_PROGRAM;
    } else if (work && host->derived > 0 && host->underived == 0) {
        *value_out = q == LLMPERF_QUANTITY_FLOPS ? host->derived_flops : host->derived_bytes;
        *origin_out = LLMPERF_WORK_MODEL;
    }
}

/* Does a stage lack its work? Then the model's work of the parent stage is too small. */
static bool is_stage_with_work(const struct freezer *freezer, bool window, uint32_t node)
{
    const struct lp_host_total *host =
        node < freezer->totals->hosts.count ? &freezer->totals->hosts.items[node] : NULL;

    return lp_path_kind(node) == LLMPERF_REGION_STAGE && host &&
           (window ? host->window_instances : host->wall.count) > 0;
}

static const struct lp_host_work *host_work(const struct freezer *freezer, bool window,
                                            uint32_t node)
{
    static const struct lp_host_work none = { { 0 }, 0, 0, 0, 0 };

    if (node >= freezer->totals->hosts.count)
        return &none;
    return window ? &freezer->totals->hosts.items[node].window_work
                  : &freezer->totals->hosts.items[node].work;
}

/* The model's work of a stage includes its operators, even those that the program counted, but not
 * its nested stages. */
static bool is_in_model_work(const struct freezer *freezer, bool window, uint32_t node,
                             uint8_t origin)
{
    const struct lp_host_work *host = host_work(freezer, window, lp_path_get(node)->parent);

    return host->derived > 0 && host->underived == 0 && origin == LLMPERF_WORK_PROGRAM &&
           lp_path_kind(node) != LLMPERF_REGION_STAGE;
}

/* A region without its own work gets the sum of its children, added to the model's work. */
static void add_to_parent(struct freezer *freezer, struct work_table *work, uint32_t node,
                          uint32_t q)
{
    uint32_t parent = lp_path_get(node)->parent;
    uint64_t *above = &work->quantities[parent][q], below = work->quantities[node][q];
    uint8_t *origin = &work->origins[parent][q], origin_below = work->origins[node][q];
    bool has_work = host_work(freezer, work->window, parent)->quantities[q] != 0;

    if (has_work || *origin == WORK_LOST)
        return;
    if (below == LLMPERF_UNKNOWN) {
        if (*origin == LLMPERF_WORK_MODEL && is_stage_with_work(freezer, work->window, node)) {
            *above = LLMPERF_UNKNOWN;
            *origin = WORK_LOST;
            freezer->lost = freezer->lost ? freezer->lost : node;
        }
        return;
    }
    if (is_in_model_work(freezer, work->window, node, origin_below))
        return;
    *above = (*above == LLMPERF_UNKNOWN ? 0 : *above) + below;
    if (*origin == LLMPERF_WORK_UNKNOWN || origin_below == LLMPERF_WORK_PROGRAM)
        *origin = origin_below;
}

static void sum_quantities(struct freezer *freezer, struct work_table *work)
{
    for (uint32_t node = 0; node < freezer->nodes; node++)
        for (uint32_t q = 0; q < LP_QUANTITIES; q++)
            own_quantity(host_work(freezer, work->window, node), q, &work->quantities[node][q],
                         &work->origins[node][q]);
    for (uint32_t i = freezer->count; i-- > LP_PATH_OTHER + 1;) {
        uint32_t node = lp_path_nth(i);

        /* The root is work outside of regions, not the sum of all regions. */
        for (uint32_t q = 0; lp_path_get(node)->parent != LP_PATH_ROOT && q < LP_QUANTITIES; q++)
            add_to_parent(freezer, work, node, q);
    }
}

static uint32_t origin_of(const struct freezer *freezer, uint32_t node, uint32_t quantity)
{
    uint8_t origin = freezer->work.origins[node][quantity];

    return origin == WORK_LOST ? LLMPERF_WORK_UNKNOWN : origin;
}

static int fill_names(struct freezer *freezer, llmperf_region_stats *stats, uint32_t node)
{
    const struct lp_path *path = lp_path_get(node);
    uint32_t stage = lp_path_stage(node);

    stats->path = path_text(freezer, node);
    stats->label = lp_profile_text(freezer->profile, path->label);
    stats->parent = node == LP_PATH_ROOT || path->parent == LP_PATH_ROOT
                        ? NULL
                        : path_text(freezer, path->parent);
    stats->stage =
        stage == LP_PATH_ROOT ? NULL : lp_profile_text(freezer->profile, lp_path_get(stage)->label);
    stats->depth = node == LP_PATH_ROOT ? 0 : path->depth - 1;
    stats->kind = node == LP_PATH_ROOT ? LLMPERF_REGION_OPERATOR : lp_path_kind(node);
    stats->process_id = freezer->process_id;
    stats->tokens = freezer->work.quantities[node][LLMPERF_QUANTITY_TOKENS];
    stats->sequences = freezer->work.quantities[node][LLMPERF_QUANTITY_SEQUENCES];
    stats->context = freezer->work.quantities[node][LLMPERF_QUANTITY_CONTEXT];
    stats->flops = freezer->work.quantities[node][LLMPERF_QUANTITY_FLOPS];
    stats->bytes = freezer->work.quantities[node][LLMPERF_QUANTITY_BYTES];
    stats->message_bytes = freezer->work.quantities[node][LLMPERF_QUANTITY_MESSAGE_BYTES];
    stats->flops_origin = origin_of(freezer, node, LLMPERF_QUANTITY_FLOPS);
    stats->bytes_origin = origin_of(freezer, node, LLMPERF_QUANTITY_BYTES);
    return stats->path && stats->label ? 0 : lp_out_of_memory();
}

static void fill_wall(llmperf_region_stats *stats, const struct lp_host_total *host)
{
    stats->wall_sum_ms = stats->wall_mean_ms = stats->wall_std_ms = stats->wall_min_ms =
        stats->wall_max_ms = NAN;
    lp_set_percentiles(LP_ROW_REGION, stats, NULL, NAN, NAN);
    if (!host)
        return;
    stats->instances = host->wall.count;
    stats->truncated = host->truncated;
    if (host->wall.count == 0)
        return;
    stats->wall_sum_ms = lp_to_ms(host->wall.sum_ns);
    stats->wall_mean_ms = lp_distribution_mean(&host->wall);
    stats->wall_std_ms = lp_distribution_std(&host->wall);
    stats->wall_min_ms = lp_to_ms(host->wall.min_ns);
    stats->wall_max_ms = lp_to_ms(host->wall.max_ns);
    lp_set_percentiles(LP_ROW_REGION, stats, &host->wall.histogram, stats->wall_min_ms,
                       stats->wall_max_ms);
}

double lp_collected_ms(const llmperf_region_stats *row)
{
    return (row->wall_sum_ms - fmax(0, row->window_ms)) * (1 - fmax(0, row->skipped_fraction));
}

double lp_collected_busy_ms(const llmperf_region_stats *row)
{
    return row->estimate_low_ms > 0 && row->skipped_fraction > 0
               ? row->estimate_ms * (1 - row->skipped_fraction)
               : row->gpu_busy_ms;
}

/* Time that the device work of a row is part of. */
static double collected_time_ms(const llmperf_region_stats *row)
{
    bool all = !(row->skipped_fraction > 0) && row->window_instances == 0;

    return all && !isnan(row->active_ms) ? row->active_ms : lp_collected_ms(row);
}

/* The root is work outside of regions, so only launches outside of regions count. */
static void fill_device(struct freezer *freezer, llmperf_region_stats *stats, uint32_t row)
{
    const struct lp_device_total *total = &freezer->totals->devices.items[row];
    const struct lp_busy_row *busy = &freezer->totals->busy.rows.items[row];
    const struct device_work *work = &freezer->works[row];
    bool root = total->node == LP_PATH_ROOT;
    struct device_sums sums = root ? work->own : work->all;

    stats->device = total->device;
    stats->exclusive_gpu_busy_ms = lp_to_ms(busy->own.ns);
    stats->gpu_busy_ms = lp_to_ms(root ? busy->own.ns : busy->all.ns);
    stats->kernel_ms = lp_to_ms(sums.kernel_ns);
    stats->exclusive_kernel_ms = lp_to_ms(work->own.kernel_ns);
    stats->memcpy_ms = lp_to_ms(sums.memcpy_ns);
    stats->memset_ms = lp_to_ms(sums.memset_ns);
    stats->kernel_count = sums.kernels;
    stats->memcpy_count = sums.memcpys;
    stats->memset_count = sums.memsets;
    stats->memcpy_bytes = sums.memcpy_bytes;
    if (stats->instances > 0 && stats->truncated == 0)
        stats->idle_ms = fmax(collected_time_ms(stats) - stats->gpu_busy_ms, 0);
}

/* A path without device rows. If the session saw a device, its device work is 0. It is unknown
 * without a device, and for ranges that are on no thread's stack. */
static void fill_no_device(struct freezer *freezer, llmperf_region_stats *stats, uint32_t node)
{
    bool unknown = freezer->profile->ledger.verdict == LLMPERF_VERDICT_NO_DEVICE ||
                   atomic_load(&lp_path_get(node)->is_range) || stats->skipped_fraction >= 1;
    double nothing = unknown ? NAN : 0;

    stats->device = -1;
    stats->gpu_busy_ms = stats->exclusive_gpu_busy_ms = stats->kernel_ms =
        stats->exclusive_kernel_ms = nothing;
    stats->memcpy_ms = stats->memset_ms = nothing;
    stats->idle_ms = isnan(nothing) || stats->truncated > 0 ? NAN : collected_time_ms(stats);
    if (isnan(nothing))
        stats->kernel_count = stats->memcpy_count = stats->memset_count = stats->memcpy_bytes =
            LLMPERF_UNKNOWN;
}

/* An amount that is given elsewhere but not in windows is 0 in windows. */
static uint64_t window_amount(const struct freezer *freezer, uint32_t node, uint32_t quantity)
{
    uint64_t amount = freezer->window_work.quantities[node][quantity];

    if (freezer->work.quantities[node][quantity] == LLMPERF_UNKNOWN)
        return LLMPERF_UNKNOWN;
    if (amount == LLMPERF_UNKNOWN && freezer->window_work.origins[node][quantity] == WORK_LOST)
        return LLMPERF_UNKNOWN;
    return amount == LLMPERF_UNKNOWN ? 0 : amount;
}

static void fill_window(const struct freezer *freezer, llmperf_region_stats *stats, uint32_t node)
{
    const struct lp_host_total *host =
        node < freezer->totals->hosts.count ? &freezer->totals->hosts.items[node] : NULL;

    stats->window_instances = host ? host->window_instances : 0;
    stats->window_ms = freezer->window_ms[node];
    stats->window_flops = window_amount(freezer, node, LLMPERF_QUANTITY_FLOPS);
    stats->window_bytes = window_amount(freezer, node, LLMPERF_QUANTITY_BYTES);
}

static int add_region_row(struct freezer *freezer, uint32_t node, uint32_t row)
{
    const struct lp_host_total *host =
        node < freezer->totals->hosts.count ? &freezer->totals->hosts.items[node] : NULL;
    struct lp_region_row region = { LLMPERF_REGION_STATS_INIT, { NULL, 0 } };

    if (fill_names(freezer, &region.stats, node) < 0)
        return LLMPERF_ENOMEM;
    fill_wall(&region.stats, host);
    lp_iterations_fill(&freezer->totals->iterations, node, &region.stats);
    region.stats.idle_ms = NAN;
    region.stats.energy_j = region.stats.energy_error_j = region.stats.sm_clock_mhz = NAN;
    region.stats.skipped_fraction = 1 - freezer->fractions[node];
    fill_window(freezer, &region.stats, node);
    if (row == LP_HASHMAP_NONE)
        fill_no_device(freezer, &region.stats, node);
    else
        fill_device(freezer, &region.stats, row);
    lp_iterations_estimate_region(&freezer->totals->iterations, node, row, &region.stats);
    if (host && host->wall.count > 0 &&
        lp_profile_histogram(freezer->profile, &host->wall.histogram, &region.wall) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&freezer->profile->regions, region);
}

static bool has_host_facts(const struct freezer *freezer, uint32_t node)
{
    const struct lp_host_total *host =
        node < freezer->totals->hosts.count ? &freezer->totals->hosts.items[node] : NULL;
    bool any = host && (host->wall.count > 0 || host->truncated > 0);

    for (uint32_t q = 0; host && !any && q < LP_QUANTITIES; q++)
        any = host->work.quantities[q] != 0;
    return any;
}

static int add_regions(struct freezer *freezer)
{
    const struct lp_totals *totals = freezer->totals;
    bool *on_device = calloc(freezer->nodes + 1, sizeof(*on_device));
    int status = on_device ? 0 : lp_out_of_memory();

    for (uint32_t row = 0; status == 0 && row < totals->devices.count; row++) {
        const struct lp_device_total *total = &totals->devices.items[row];
        const struct device_sums *own = &freezer->works[row].own;

        if (total->node >= freezer->nodes ||
            (total->node == LP_PATH_ROOT && own->kernels + own->memcpys + own->memsets == 0))
            continue;
        on_device[total->node] = true;
        status = add_region_row(freezer, total->node, row);
    }
    for (uint32_t node = LP_PATH_OTHER; status == 0 && node < freezer->nodes; node++)
        if (!on_device[node] && has_host_facts(freezer, node))
            status = add_region_row(freezer, node, LP_HASHMAP_NONE);
    free(on_device);
    return status;
}

static int add_kernel_row(struct freezer *freezer, const struct lp_kernel_total *total)
{
    struct lp_kernel_row row = { LLMPERF_KERNEL_STATS_INIT, { NULL, 0 } };
    llmperf_kernel_stats *stats = &row.stats;

    stats->name =
        lp_profile_text(freezer->profile, lp_names_text(freezer->totals->names, total->name));
    stats->region = path_text(freezer, total->node);
    stats->captured_in = path_text(freezer, total->captured);
    stats->kind = total->kind;
    stats->device = total->device;
    stats->calls = total->calls;
    stats->bytes = total->bytes;
    stats->total_ms = lp_to_ms(total->total_ns);
    stats->mean_ms = lp_to_ms(total->total_ns) / (double)total->calls;
    stats->min_ms = lp_to_ms(total->min_ns);
    stats->max_ms = lp_to_ms(total->max_ns);
    lp_iterations_estimate_kernel(&freezer->totals->iterations, total->node,
                                  (size_t)(total - freezer->totals->kernels.items),
                                  !freezer->totals->sampled, stats);
    lp_set_percentiles(LP_ROW_KERNEL, stats, &total->durations, stats->min_ms, stats->max_ms);
    if (!stats->name || (!stats->region && total->node != LP_PATH_UNKNOWN))
        return lp_out_of_memory();
    if (lp_profile_histogram(freezer->profile, &total->durations, &row.durations) < 0)
        return LLMPERF_ENOMEM;
    return lp_vector_push(&freezer->profile->kernels, row);
}

/* The kernels' rows are there, in the order of the totals. */
static int add_shape_row(struct freezer *freezer, const struct lp_shape_total *total)
{
    const llmperf_kernel_stats *kernel = &freezer->profile->kernels.items[total->kernel].stats;
    const struct lp_shape *shape =
        lp_shapes_get(&freezer->totals->names->shapes, total->shape & LP_SHAPE_OTHER);
    llmperf_kernel_shape row = lp_kernel_shape_of(kernel);
    uint32_t size = total->shape >> LP_SHAPE_SIZE;

    row.others = shape == NULL;
    row.size_bytes = size > 0 ? 1ull << (size - 1) : LLMPERF_UNKNOWN;
    if (shape)
        lp_kernel_shape_fill(&row, shape);
    row.calls = total->calls;
    row.bytes = total->bytes;
    row.total_ms = lp_to_ms(total->total_ns);
    row.mean_ms = row.total_ms / (double)total->calls;
    row.min_ms = lp_to_ms(total->min_ns);
    row.max_ms = lp_to_ms(total->max_ns);
    row.first_ns = total->first_ns;
    row.timed_launches = total->timed_calls;
    if (total->timed_calls > 0)
        row.launch_ms = lp_to_ms(total->call_ns);
    return lp_vector_push(&freezer->profile->kernel_shapes, row);
}

static int add_host_call_row(struct freezer *freezer, const struct lp_host_call_total *total)
{
    llmperf_host_call row = LLMPERF_HOST_CALL_INIT;

    row.region = path_text(freezer, total->node);
    row.call = lp_host_call_name(total->call);
    row.calls = total->calls;
    row.total_ms = lp_to_ms(total->total_ns);
    row.max_ms = lp_to_ms(total->max_ns);
    row.compared_calls = total->compared;
    row.idle_ms = total->compared > 0 ? lp_to_ms(total->idle_ns) : (double)NAN;
    row.between_ms = total->compared > 0 ? lp_to_ms(total->between_ns) : (double)NAN;
    return row.region ? lp_vector_push(&freezer->profile->host_calls, row) : 0;
}

/* Union of everything that ran on a device, summed over devices. */
static int add_busy_fact(struct freezer *freezer)
{
    const struct lp_totals *totals = freezer->totals;
    uint64_t busy_ns = 0, devices = 0;
    char text[32];

    for (size_t i = 0; i < totals->devices.count; i++)
        if (totals->devices.items[i].node == LP_PATH_ROOT) {
            busy_ns += totals->busy.rows.items[i].all.ns;
            devices++;
        }
    if (devices == 0)
        return 0;
    snprintf(text, sizeof(text), "%.6f", lp_to_ms(busy_ns));
    return lp_profile_set_fact(freezer->profile, "gpu_busy_ms", text);
}

/* Launches are attributed to the push/pop region of their thread, not to ranges. */
static int add_range_note(struct freezer *freezer)
{
    uint32_t ranges = 0;

    for (uint32_t node = LP_PATH_OTHER + 1; node < freezer->nodes; node++)
        ranges += has_host_facts(freezer, node) && atomic_load(&lp_path_get(node)->is_range);
    return ranges == 0
               ? 0
               : lp_profile_note(freezer->profile,
                                 "%" PRIu32 " regions are start/end ranges of NVTX: they have host "
                                 "times only, because launches are charged to the "
                                 "push/pop region of their thread",
                                 ranges);
}

static int add_lost_note(struct freezer *freezer)
{
    return freezer->lost == 0
               ? 0
               : lp_profile_note(freezer->profile,
                                 "%s: the model covers its work but not that of the nested "
                                 "stage %s, so FLOPs and bytes are null: count them in that "
                                 "stage, or mark it as an operator of the outer stage",
                                 path_text(freezer, lp_path_get(freezer->lost)->parent),
                                 lp_path_get(freezer->lost)->label);
}

static void fill_fractions(struct freezer *freezer)
{
    const struct lp_totals *totals = freezer->totals;

    lp_iterations_fractions(&totals->iterations, totals->sampled, freezer->fractions,
                            freezer->nodes, freezer->count);
    for (uint32_t node = 0; totals->sampled && node < freezer->nodes; node++)
        if (!isnan(totals->sampled_share) && !lp_path_is_found(node))
            freezer->fractions[node] = totals->sampled_share;
}

/* Time of triggered calls, for their enclosing regions. */
static void sum_window_ms(struct freezer *freezer)
{
    const struct lp_totals *totals = freezer->totals;

    for (uint32_t node = 0; node < totals->hosts.count && node < freezer->nodes; node++) {
        const struct lp_host_total *host = &totals->hosts.items[node];
        uint32_t above = node;

        freezer->window_ms[node] += lp_to_ms(host->window_ns);
        while (host->window_outer_ns > 0 && above > LP_PATH_OTHER &&
               (above = lp_path_get(above)->parent) != LP_PATH_ROOT)
            freezer->window_ms[above] += lp_to_ms(host->window_outer_ns);
    }
}

static int fill_profile(struct freezer *freezer)
{
    struct lp_totals *totals = freezer->totals;
    uint32_t *verdict = &freezer->profile->ledger.verdict;
    int status;

    if (lp_busy_settle(&totals->busy) < 0 || lp_busy_settle(&totals->iterations.active) < 0)
        totals->failed = true;
    sum_devices(freezer);
    sum_quantities(freezer, &freezer->work);
    sum_quantities(freezer, &freezer->window_work);
    sum_window_ms(freezer);
    fill_fractions(freezer);
    freezer->profile->ledger.kernels_in_windows = lp_windows_kernels(&totals->iterations.windows);
    freezer->profile->ledger.records_late = lp_totals_late(totals);
    if ((status = add_regions(freezer)) < 0 || (status = add_busy_fact(freezer)) < 0 ||
        (status = add_range_note(freezer)) < 0 || (status = add_lost_note(freezer)) < 0)
        return status;
    for (size_t i = 0; i < totals->kernels.count; i++)
        if ((status = add_kernel_row(freezer, &totals->kernels.items[i])) < 0)
            return status;
    for (size_t i = 0; i < totals->shapes.count; i++)
        if ((status = add_shape_row(freezer, &totals->shapes.items[i])) < 0)
            return status;
    freezer->profile->ledger.allocations_over_limit = totals->memory.over_limit;
    if ((status = lp_memory_freeze(&totals->memory, freezer->process_id, freezer->profile)) < 0)
        return status;
    for (size_t i = 0; i < totals->iterations.host_calls.rows.count; i++)
        if ((status = add_host_call_row(freezer, &totals->iterations.host_calls.rows.items[i])) < 0)
            return status;
    if ((status = lp_collectives_freeze(totals, freezer->process_id, freezer->profile)) < 0)
        return status;
    if ((status = lp_iterations_freeze(&totals->iterations, totals->names, &totals->classifier,
                                       freezer->profile)) < 0)
        return status;
    if (!totals->sampled && totals->iterations.windows.count == 0 &&
        (status = lp_devices_freeze(&freezer->totals->iterations, freezer->process_id,
                                    freezer->profile)) < 0)
        return status;
    if ((status = lp_energy_freeze(&totals->iterations.energy, freezer->process_id,
                                   freezer->profile)) < 0)
        return status;
    if ((status = lp_windows_freeze(&totals->iterations.windows, totals->names, freezer->process_id,
                                    freezer->profile)) < 0)
        return status;
    if (lp_totals_failed(totals) &&
        (status = lp_profile_add_problem(freezer->profile, "out of memory: totals are too small")) <
            0)
        return status;
    if (freezer->failed)
        return lp_out_of_memory();
    freezer->profile->imported = totals->imported;
    if ((status = lp_profile_judge(freezer->profile)) < 0)
        return status;
    if (lp_totals_failed(totals) &&
        (*verdict == LLMPERF_VERDICT_COMPLETE || *verdict == LLMPERF_VERDICT_SAMPLED))
        *verdict = LLMPERF_VERDICT_INCOMPLETE;
    return lp_profile_finish(freezer->profile);
}

static bool make_table(const struct freezer *freezer, struct work_table *work)
{
    work->quantities = calloc(freezer->nodes, sizeof(*work->quantities));
    work->origins = calloc(freezer->nodes, sizeof(*work->origins));
    return work->quantities && work->origins;
}

static void clear_table(struct work_table *work)
{
    free(work->quantities);
    free(work->origins);
}

int lp_totals_freeze(struct lp_totals *totals, const llmperf_ledger *ledger, uint32_t process_id,
                     llmperf_profile **profile_out)
{
    struct freezer freezer = { .totals = totals,
                               .profile = lp_profile_create(),
                               .count = lp_path_count(),
                               .process_id = process_id };
    int status;

    freezer.nodes = lp_path_bound(); /* after the count, so that all counted nodes are below it */
    freezer.paths = calloc(freezer.nodes, sizeof(*freezer.paths));
    freezer.works = calloc(totals->devices.count + 1, sizeof(*freezer.works));
    freezer.fractions = calloc(freezer.nodes, sizeof(*freezer.fractions));
    freezer.window_ms = calloc(freezer.nodes, sizeof(*freezer.window_ms));
    freezer.window_work.window = true;
    if (freezer.profile && freezer.paths && freezer.works && make_table(&freezer, &freezer.work) &&
        make_table(&freezer, &freezer.window_work) && freezer.fractions && freezer.window_ms) {
        freezer.profile->ledger = *ledger;
        status = fill_profile(&freezer);
    } else {
        status = lp_out_of_memory();
    }
    free(freezer.paths);
    free(freezer.works);
    clear_table(&freezer.work);
    clear_table(&freezer.window_work);
    free(freezer.fractions);
    free(freezer.window_ms);
    if (status < 0)
        llmperf_profile_free(freezer.profile);
    else
        *profile_out = freezer.profile;
    return status;
}
