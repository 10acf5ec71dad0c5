/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record/paths.h"
#include "lib/profile/profile.h"
#include "lib/profile/totals.h"
#include "llmperf/profile.h"
#include "llmperf/region.h"

#define BUSY_BATCH 8192u               /* fits into the cache */
#define BUSY_KEPT  (UINT32_C(1) << 20) /* 16 MiB */

struct lp_totals *lp_totals_create(const struct lp_names *names)
{
    struct lp_totals *totals = calloc(1, sizeof(*totals));

    if (!totals)
        return NULL;
    totals->names = names;
    lp_busy_init(&totals->busy, BUSY_BATCH, BUSY_KEPT);
    if (lp_iterations_init(&totals->iterations) < 0) {
        free(totals);
        return NULL;
    }
    return totals;
}

void lp_totals_free(struct lp_totals *totals)
{
    if (!totals)
        return;
    for (size_t i = 0; i < totals->hosts.count; i++)
        lp_distribution_clear(&totals->hosts.items[i].wall);
    for (size_t i = 0; i < totals->kernels.count; i++)
        lp_histogram_clear(&totals->kernels.items[i].durations);
    lp_vector_clear(&totals->hosts);
    lp_vector_clear(&totals->devices);
    lp_busy_clear(&totals->busy);
    lp_vector_clear(&totals->kernels);
    lp_vector_clear(&totals->shapes);
    lp_iterations_clear(&totals->iterations);
    lp_collectives_clear(&totals->collectives);
    lp_memory_clear(&totals->memory);
    lp_hashmap_clear(&totals->device_rows);
    lp_hashmap_clear(&totals->kernel_rows);
    lp_hashmap_clear(&totals->shape_rows);
    free(totals);
}

bool lp_totals_failed(const struct lp_totals *totals)
{
    return totals->failed || totals->iterations.failed || totals->memory.failed ||
           totals->iterations.energy.failed;
}

void lp_totals_settle_memory(struct lp_totals *totals, uint64_t until_ns)
{
    lp_memory_settle(&totals->memory, until_ns);
}

uint64_t lp_totals_late(const struct lp_totals *totals)
{
    return lp_busy_late(&totals->busy);
}

static struct lp_host_total *find_host(struct lp_totals *totals, uint32_t node)
{
    struct lp_host_total *host = lp_vector_at(&totals->hosts, node);

    totals->failed |= !host;
    return host;
}

void lp_totals_region(struct lp_totals *totals, uint32_t node, uint64_t wall_ns, bool truncated,
                      enum lp_in_window window)
{
    struct lp_host_total *host = find_host(totals, node);

    if (!host)
        return;
    if (truncated) {
        host->truncated++;
        return;
    }
    if (lp_distribution_add(&host->wall, wall_ns) < 0)
        totals->failed = true;
    if (window == LP_WINDOW_NOT)
        return;
    host->window_instances++;
    host->window_ns += wall_ns;
    host->window_outer_ns += window == LP_WINDOW_OUTERMOST ? wall_ns : 0;
}

static void add_amount(uint64_t *sum, uint64_t amount)
{
    uint64_t room = LLMPERF_UNKNOWN - 1 - *sum;

    if (amount == LLMPERF_UNKNOWN || *sum == LLMPERF_UNKNOWN)
        *sum = LLMPERF_UNKNOWN;
    else
        *sum += amount < room ? amount : room;
}

void lp_totals_count(struct lp_totals *totals, uint32_t node, uint32_t quantity, uint64_t amount,
                     enum lp_in_window window)
{
    struct lp_host_total *host = find_host(totals, node);

    if (!host || quantity >= LP_QUANTITIES)
        return;
    add_amount(&host->work.quantities[quantity], amount);
    if (window != LP_WINDOW_NOT)
        add_amount(&host->window_work.quantities[quantity], amount);
}

static void add_derived(struct lp_host_work *work, uint64_t flops, uint64_t bytes)
{
    if (flops == LLMPERF_UNKNOWN || bytes == LLMPERF_UNKNOWN) {
        work->underived++;
        return;
    }
    work->derived++;
    work->derived_flops += flops;
    work->derived_bytes += bytes;
}

void lp_totals_set_imported(struct lp_totals *totals)
{
    totals->imported = true;
}

void lp_totals_set_work(struct lp_totals *totals, const struct lp_work_source *source)
{
    totals->work_source = *source;
}

void lp_totals_set_classes(struct lp_totals *totals, const struct lp_classifier *classifier)
{
    const char *name;

    totals->classifier = *classifier;
    for (uint8_t i = 1; classifier->name && (name = classifier->name(classifier->context, i)); i++)
        if (strcmp(name, LP_CLASS_COLLECTIVE) == 0)
            totals->collective_class = i;
}

void lp_totals_derive_work(struct lp_totals *totals, struct lp_unit_work *unit)
{
    struct lp_host_total *host = find_host(totals, unit->node);
    uint64_t flops = LLMPERF_UNKNOWN, bytes = LLMPERF_UNKNOWN;

    if (!host || !totals->work_source.work)
        return;
    totals->work_source.work(totals->work_source.context, lp_path_get(unit->node)->label,
                             unit->quantities, &flops, &bytes);
    add_derived(&host->work, flops, bytes);
    if (unit->window != 0)
        add_derived(&host->window_work, flops, bytes);
    if (flops == LLMPERF_UNKNOWN || bytes == LLMPERF_UNKNOWN)
        return;
    if (unit->quantities[LLMPERF_QUANTITY_FLOPS] == 0)
        unit->quantities[LLMPERF_QUANTITY_FLOPS] = flops;
    if (unit->quantities[LLMPERF_QUANTITY_BYTES] == 0)
        unit->quantities[LLMPERF_QUANTITY_BYTES] = bytes;
}

static void count_apart(struct lp_stage_sample *sample, const struct lp_stage_sampling *sampling)
{
    uint64_t first_ns = (uint64_t)(sampling->first_ms * 1e6);

    sample->first += sampling->first;
    sample->collected -= sampling->first;
    sample->all -= sampling->first;
    sample->collected_ns -= first_ns;
    sample->all_ns -= first_ns;
    sample->measured += sampling->measured;
    sample->measured_ns += (uint64_t)(sampling->measured_ms * 1e6);
}

void lp_totals_stage_sample(const struct lp_totals *totals, const char *label,
                            struct lp_stage_sample *sample_out)
{
    *sample_out = (struct lp_stage_sample){ 0 };
    for (size_t i = 0; i < totals->iterations.stages.count; i++) {
        const struct lp_stage_total *stage = &totals->iterations.stages.items[i];

        if (strcmp(lp_path_get(stage->node)->label, label) != 0)
            continue;
        sample_out->collected += stage->collected;
        sample_out->collected_ns += stage->collected_ns;
        sample_out->all += stage->calls - stage->window_units;
        sample_out->all_ns += lp_stage_sampled_ns(stage);
        sample_out->activities += stage->activities;
        if (stage->sampling)
            count_apart(sample_out, stage->sampling);
    }
}

void lp_totals_gpu(struct lp_totals *totals, const struct lp_gpu_sample *sample)
{
    lp_energy_sample(&totals->iterations.energy, sample);
}

void lp_totals_settle_energy(struct lp_totals *totals)
{
    lp_energy_settle(&totals->iterations.energy);
}

void lp_totals_sample(struct lp_totals *totals, bool sampled, double share)
{
    totals->sampled = sampled;
    totals->sampled_share = share;
}

double lp_totals_sampled_fraction(const struct lp_totals *totals)
{
    if (!totals->sampled)
        return 1;
    return isnan(totals->sampled_share) ? lp_iterations_fraction(&totals->iterations)
                                        : totals->sampled_share;
}

bool lp_totals_iteration(const struct lp_totals *totals, uint64_t after,
                         llmperf_iteration *iteration_out)
{
    return lp_iteration_ring_next(totals->iterations.recent, after, iteration_out);
}

/* Row of a path on a device, added with its parents if new. LP_HASHMAP_NONE: out of memory. */
static uint32_t find_device_row(struct lp_totals *totals, uint32_t node, uint16_t device)
{
    uint32_t row = lp_hashmap_get(&totals->device_rows, node, device);
    struct lp_device_total total = { .node = node, .device = device, .parent = LP_BUSY_TOP };

    if (row != LP_HASHMAP_NONE)
        return row;
    if (node == LP_PATH_UNKNOWN)
        total.parent = find_device_row(totals, LP_PATH_ROOT, device);
    else if (node != LP_PATH_ROOT)
        total.parent = find_device_row(totals, lp_path_get(node)->parent, device);
    row = (uint32_t)totals->devices.count;
    if (lp_vector_reserve(&totals->devices, 1) < 0 ||
        lp_busy_add_row(&totals->busy, total.parent, device) < 0 ||
        lp_vector_push(&totals->devices, total) < 0 ||
        lp_hashmap_put(&totals->device_rows, node, device, row) < 0) {
        totals->failed = true;
        return LP_HASHMAP_NONE;
    }
    return row;
}

static bool same_kernel(const struct lp_kernel_total *kernel, const struct lp_activity *activity)
{
    return kernel->node == activity->node && kernel->name == activity->name &&
           kernel->captured == activity->captured && kernel->device == activity->device &&
           kernel->kind == activity->kind;
}

static uint8_t classify(const struct lp_totals *totals, const struct lp_activity *activity)
{
    const struct lp_classifier *classifier = &totals->classifier;
    struct lp_text name = { NULL, 0, 0, false };
    uint8_t kernel_class = 0;

    if (!classifier->classify)
        return 0;
    lp_kernel_demangle(&name, lp_names_text(totals->names, activity->name));
    if (!name.failed)
        kernel_class = classifier->classify(classifier->context, name.bytes, activity->kind);
    lp_text_clear(&name);
    return kernel_class < LLMPERF_ITERATION_CLASSES ? kernel_class : 0;
}

static uint32_t add_kernel_row(struct lp_totals *totals, const struct lp_activity *activity,
                               uint64_t key0, uint64_t key1)
{
    struct lp_kernel_total total = { .node = activity->node,
                                     .captured = activity->captured,
                                     .name = activity->name,
                                     .device = activity->device,
                                     .kind = activity->kind,
                                     .kernel_class = classify(totals, activity),
                                     .last_shape = LP_HASHMAP_NONE,
                                     .min_ns = UINT64_MAX };
    uint32_t row = (uint32_t)totals->kernels.count;

    total.row = find_device_row(totals, activity->node, activity->device);
    if (total.row != LP_HASHMAP_NONE && lp_vector_push(&totals->kernels, total) == 0 &&
        lp_hashmap_put(&totals->kernel_rows, key0, key1, row) == 0)
        return row;
    totals->failed = true;
    return LP_HASHMAP_NONE;
}

static uint32_t find_kernel_row(struct lp_totals *totals, const struct lp_activity *activity)
{
    uint64_t key0 = (uint64_t)activity->node << 32 | activity->captured;
    uint64_t key1 =
        (uint64_t)activity->name << 24 | (uint64_t)activity->device << 8 | activity->kind;
    uint32_t row = lp_hashmap_get(&totals->kernel_rows, key0, key1);

    return row != LP_HASHMAP_NONE ? row : add_kernel_row(totals, activity, key0, key1);
}

/* First try the row that followed last time, then search by key. */
static struct lp_kernel_total *find_kernel(struct lp_totals *totals,
                                           const struct lp_activity *activity)
{
    uint32_t last = totals->last_kernel, row = 0;

    if (last < totals->kernels.count) {
        row = totals->kernels.items[last].next;
        if (same_kernel(&totals->kernels.items[row], activity)) {
            totals->last_kernel = row;
            return &totals->kernels.items[row];
        }
    }
    row = find_kernel_row(totals, activity);
    if (row == LP_HASHMAP_NONE)
        return NULL;
    if (last < totals->kernels.count)
        totals->kernels.items[last].next = row;
    totals->last_kernel = row;
    return &totals->kernels.items[row];
}

static uint32_t add_shape_row(struct lp_totals *totals, struct lp_kernel_total *kernel,
                              uint32_t shape)
{
    struct lp_shape_total total = { .kernel = (uint32_t)(kernel - totals->kernels.items),
                                    .shape = shape,
                                    .next = (uint32_t)totals->shapes.count,
                                    .min_ns = UINT64_MAX,
                                    .first_ns = UINT64_MAX };

    if (lp_vector_push(&totals->shapes, total) < 0 ||
        lp_hashmap_put(&totals->shape_rows, total.kernel, shape, total.next) < 0)
        return LP_HASHMAP_NONE;
    kernel->shapes += shape != LP_SHAPE_OTHER;
    return total.next;
}

static uint32_t find_shape_row(struct lp_totals *totals, struct lp_kernel_total *kernel,
                               uint32_t shape)
{
    uint32_t number = (uint32_t)(kernel - totals->kernels.items);
    uint32_t row = lp_hashmap_get(&totals->shape_rows, number, shape);

    if (row == LP_HASHMAP_NONE && kernel->shapes == LP_KERNEL_SHAPES) {
        shape = LP_SHAPE_OTHER;
        row = lp_hashmap_get(&totals->shape_rows, number, shape);
    }
    return row != LP_HASHMAP_NONE ? row : add_shape_row(totals, kernel, shape);
}

/* The row that followed the last time, else by key: as find_kernel(). */
static struct lp_shape_total *find_shape(struct lp_totals *totals, struct lp_kernel_total *kernel,
                                         uint32_t shape)
{
    uint32_t last = kernel->last_shape, row;

    if (last != LP_HASHMAP_NONE) {
        row = totals->shapes.items[last].next;
        if (totals->shapes.items[row].shape == shape) {
            kernel->last_shape = row;
            return &totals->shapes.items[row];
        }
    }
    row = find_shape_row(totals, kernel, shape);
    if (row == LP_HASHMAP_NONE)
        return NULL;
    if (last != LP_HASHMAP_NONE)
        totals->shapes.items[last].next = row;
    kernel->last_shape = row;
    return &totals->shapes.items[row];
}

/* Memcpys are divided by size, too, in powers of two: one mean of small and large ones says
 * nothing.
 */
static uint32_t shape_of(const struct lp_activity *activity)
{
    uint32_t size = 0;

    if (activity->kind == LLMPERF_ACTIVITY_MEMCPY)
        for (uint64_t bytes = activity->bytes; bytes > 0; bytes >>= 1)
            size++;
    return activity->shape | size << LP_SHAPE_SIZE;
}

static void add_to_shape(struct lp_totals *totals, struct lp_kernel_total *kernel,
                         const struct lp_activity *activity)
{
    uint64_t duration = activity->end_ns - activity->start_ns;
    struct lp_shape_total *shape = find_shape(totals, kernel, shape_of(activity));

    if (!shape) {
        totals->failed = true;
        return;
    }
    shape->calls++;
    shape->bytes += activity->bytes;
    shape->total_ns += duration;
    shape->min_ns = duration < shape->min_ns ? duration : shape->min_ns;
    shape->max_ns = duration > shape->max_ns ? duration : shape->max_ns;
    shape->first_ns = activity->start_ns < shape->first_ns ? activity->start_ns : shape->first_ns;
    shape->timed_calls += activity->call_ns != 0;
    shape->call_ns += activity->call_ns;
}

static void add_to_kernel(struct lp_totals *totals, struct lp_kernel_total *kernel,
                          const struct lp_activity *activity)
{
    uint64_t duration = activity->end_ns - activity->start_ns;

    kernel->calls++;
    kernel->bytes += activity->bytes;
    kernel->total_ns += duration;
    kernel->min_ns = duration < kernel->min_ns ? duration : kernel->min_ns;
    kernel->max_ns = duration > kernel->max_ns ? duration : kernel->max_ns;
    if (lp_histogram_add(&kernel->durations, duration) < 0)
        totals->failed = true;
    if (activity->shape != LP_SHAPE_NONE)
        add_to_shape(totals, kernel, activity);
}

static void add_to_window(struct lp_totals *totals, struct lp_window_total *window,
                          const struct lp_activity *activity)
{
    struct lp_window_kernel_total *kernel = lp_window_find(window, activity);

    if (!kernel && (kernel = lp_window_add(window, activity)))
        kernel->kernel_class = classify(totals, activity);
    if (!kernel) {
        totals->failed = true;
        return;
    }
    lp_window_count(window, kernel, activity);
    lp_iterations_add(&totals->iterations, activity, kernel->kernel_class);
}

static int add_time(struct lp_unit_work *unit, enum lp_sampled_by by, size_t row, uint64_t ns)
{
    uint64_t *time = row < LP_SAMPLED_ROWS ? lp_vector_at(&unit->times[by], row) : NULL;

    if (time)
        *time += ns;
    return time || row >= LP_SAMPLED_ROWS ? 0 : LLMPERF_ENOMEM;
}

/* A region has the time of its nested regions, up to the stage whose call was chosen. */
static void add_to_sample(struct lp_totals *totals, const struct lp_kernel_total *kernel,
                          const struct lp_activity *activity)
{
    struct lp_unit_work *unit = lp_iterations_sampled(&totals->iterations, activity->unit);
    uint64_t ns = activity->end_ns - activity->start_ns;
    uint32_t row = kernel->row;
    int status =
        unit ? add_time(unit, LP_SAMPLED_KERNELS, (size_t)(kernel - totals->kernels.items), ns) : 0;

    while (unit && status == 0 && row != LP_BUSY_TOP) {
        const struct lp_device_total *region = &totals->devices.items[row];

        status = add_time(unit, LP_SAMPLED_REGIONS, row, ns);
        row = region->node == unit->node ? LP_BUSY_TOP : region->parent;
    }
    totals->failed |= status < 0;
}

void lp_totals_activities(struct lp_totals *totals, const struct lp_activity *activities,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lp_window_total *window = lp_iterations_window(&totals->iterations, &activities[i]);
        struct lp_kernel_total *kernel;

        if (window) { /* a window is no random sample: not in any other total */
            add_to_window(totals, window, &activities[i]);
            continue;
        }
        kernel = find_kernel(totals, &activities[i]);
        if (!kernel)
            continue;
        add_to_kernel(totals, kernel, &activities[i]);
        if (lp_busy_add(&totals->busy, kernel->row, activities[i].start_ns, activities[i].end_ns) <
            0)
            totals->failed = true;
        lp_iterations_add_to_device(&totals->iterations, &activities[i]);
        lp_iterations_add(&totals->iterations, &activities[i], kernel->kernel_class);
        lp_collectives_add(totals, kernel, &activities[i]);
        if (totals->iterations.sampled)
            add_to_sample(totals, kernel, &activities[i]);
    }
}
