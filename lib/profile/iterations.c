/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/iterations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/base/text.h"
#include "lib/profile/data.h"
#include "lib/profile/fields.h"
#include "lib/profile/iteration_fold.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

/* Intervals kept for an iteration (4 MiB). A decode step has hundreds. Of longer iterations, the
 * older half is folded into sums: records of that time have arrived by then from all threads and
 * devices. */
#define SPANS_KEPT 262144u

/* The same for a device, whose calls are all in one list: 256 KiB stay in the cache. */
#define DEVICE_SPANS_KEPT 16384u

/* Of the union of the calls of a stage: see busy.h. */
#define ACTIVE_BATCH 64
#define ACTIVE_KEPT  65536 /* of all stages, 1 MiB */

int lp_iterations_init(struct lp_iterations *iterations)
{
    *iterations = (struct lp_iterations){ 0 };
    lp_busy_init(&iterations->active, ACTIVE_BATCH, ACTIVE_KEPT);
    iterations->recent = calloc(1, sizeof(*iterations->recent));
    return iterations->recent ? 0 : lp_out_of_memory();
}

static struct lp_unit_work *find_work(const struct lp_iterations *iterations, uint32_t unit)
{
    uint32_t slot = unit & UINT16_MAX;
    struct lp_unit_work *work =
        unit && slot < iterations->works.count ? iterations->works.items[slot] : NULL;

    return work && work->unit == unit ? work : NULL;
}

/* Work of a slot, reusing its memory. */
static struct lp_unit_work *make_work(struct lp_iterations *iterations, uint32_t unit)
{
    struct lp_unit_work **place = lp_vector_at(&iterations->works, unit & UINT16_MAX);

    if (place && !*place)
        *place = calloc(1, sizeof(**place));
    return place ? *place : NULL;
}

/* Stages may nest, such as vision in prefill: a window counts only the outer one. */
static bool is_in_other_unit(const struct lp_iterations *iterations, uint32_t parent,
                             bool collected, uint32_t window)
{
    const struct lp_unit_work *around = find_work(iterations, parent);

    return window != 0 && around && around->window == window && around->collected == collected;
}

/* Is this call of a stage kept for the timeline? Counted at its begin: many calls may begin before
 * one is done. */
static bool is_kept(struct lp_iterations *iterations, uint32_t node)
{
    uint32_t begun = lp_hashmap_get(&iterations->begun, node, 0);

    begun = begun == LP_HASHMAP_NONE ? 0 : begun;
    if (begun == 0 && iterations->begun.count >= LP_KEPT_STAGES)
        return false;
    if (begun < LP_HASHMAP_NONE - 1 && lp_hashmap_put(&iterations->begun, node, 0, begun + 1) < 0)
        iterations->failed = true;
    return lp_kept_call_is_due(begun);
}

void lp_iterations_begin(struct lp_iterations *iterations, uint32_t unit, uint32_t parent,
                         uint32_t node, uint64_t begin_ns, bool collected, uint32_t window)
{
    struct lp_unit_work *work = make_work(iterations, unit), fresh = { .unit = unit };

    if (!work) {
        iterations->failed = true;
        return;
    }
    fresh.parent = parent;
    fresh.node = node;
    fresh.begin_ns = begin_ns;
    fresh.collected = collected;
    fresh.window = window;
    fresh.in_other_unit = is_in_other_unit(iterations, parent, collected, window);
    if (window != 0 && !lp_windows_make(&iterations->windows, window))
        iterations->failed = true;
    fresh.spans.items = work->spans.items;
    fresh.spans.capacity = work->spans.capacity;
    fresh.calls.items = work->calls.items;
    fresh.calls.capacity = work->calls.capacity;
    fresh.kept.events.items = work->kept.events.items;
    fresh.kept.events.capacity = work->kept.events.capacity;
    for (size_t by = 0; by < LP_SAMPLED_BY; by++) {
        fresh.times[by].items = work->times[by].items;
        fresh.times[by].capacity = work->times[by].capacity;
    }
    fresh.kept.wanted = collected && window == 0 && is_kept(iterations, node);
    fresh.kept.begin_ns = begin_ns;
    *work = fresh;
}

struct lp_window_total *lp_iterations_window(struct lp_iterations *iterations,
                                             const struct lp_activity *activity)
{
    const struct lp_unit_work *work;

    if (iterations->windows.count == 0)
        return NULL;
    work = find_work(iterations, activity->unit);
    return work && work->window ? lp_windows_find(&iterations->windows, work->window) : NULL;
}

void lp_iterations_count(struct lp_iterations *iterations, uint32_t unit, uint32_t quantity,
                         uint64_t amount)
{
    struct lp_unit_work *work = find_work(iterations, unit);
    uint64_t room;

    if (!work || quantity >= LP_QUANTITIES)
        return;
    room = LLMPERF_UNKNOWN - 1 - work->quantities[quantity];
    work->quantities[quantity] += amount < room ? amount : room;
}

struct lp_unit_work *lp_iterations_end(struct lp_iterations *iterations, uint32_t unit,
                                       uint64_t end_ns, bool truncated)
{
    struct lp_unit_work *work = find_work(iterations, unit);

    if (!work)
        return NULL;
    work->truncated = truncated;
    work->end_ns = end_ns;
    return work;
}

static int compare_spans(const void *left, const void *right)
{
    const struct lp_span *a = left, *b = right;

    return LP_ORDER(a->start_ns, b->start_ns);
}

/* Driver calls during the gaps before the first `count` intervals (in order of start). */
static void fold_calls(struct lp_unit_work *work, size_t count)
{
    uint64_t frontier_ns = work->sums.frontier_ns;

    for (size_t i = 0; i < count && work->calls.count > 0; i++) {
        const struct lp_span *span = &work->spans.items[i];
        uint64_t end_ns = span->start_ns + span->length_ns;

        if (span->start_ns > frontier_ns)
            lp_unit_calls_idle(&work->calls, frontier_ns, span->start_ns, true);
        frontier_ns = end_ns > frontier_ns ? end_ns : frontier_ns;
    }
}

/* Fold the first `count` intervals (in order of start) into sums. */
static void fold_spans(struct lp_unit_work *work, size_t count, uint64_t *latency_ns)
{
    struct lp_span_sums sums;
    size_t left = work->spans.count - count;

    if (work->spans_unsorted)
        lp_vector_sort(&work->spans, compare_spans);
    work->spans_unsorted = false;
    if (count > 0 && work->sums.frontier_ns == 0)
        work->first_ns = work->sums.frontier_ns = work->spans.items[0].start_ns;
    fold_calls(work, count);
    sums = work->sums; /* in registers */
    sums.latency_ns = *latency_ns;
    for (size_t i = 0; i < count; i++)
        lp_fold_span(&sums, &work->spans.items[i]);
    *latency_ns = sums.latency_ns;
    work->sums = sums;
    if (count > 0)
        work->summed_ns = work->spans.items[count - 1].start_ns;
    for (size_t i = 0; i < left; i++)
        work->spans.items[i] = work->spans.items[count + i];
    work->spans.count = left;
}

/* Streams overlap a little: a later place is found near the end. */
#define NEAR 16u

/* Out of line, so that the usual case in add_span() stays short. */
__attribute__((noinline)) static int insert_span(struct lp_unit_work *work, struct lp_span span,
                                                 size_t most, uint64_t *latency_ns)
{
    size_t at = work->spans.count;
    struct lp_span *items;

    if (lp_vector_push(&work->spans, span) < 0)
        return LLMPERF_ENOMEM;
    items = work->spans.items;
    for (; at > 0 && work->spans.count - at <= NEAR && items[at - 1].start_ns > span.start_ns; at--)
        items[at] = items[at - 1];
    items[at] = span;
    work->spans_unsorted |= at > 0 && items[at - 1].start_ns > span.start_ns;
    if (work->spans.count >= most)
        fold_spans(work, most / 2, latency_ns);
    return 0;
}

static inline int add_span(struct lp_unit_work *work, const struct lp_activity *activity,
                           size_t most, uint64_t *latency_ns)
{
    uint64_t start_ns = activity->start_ns, length_ns = activity->end_ns - start_ns;
    size_t count = work->spans.count;
    int status = 0;

    work->activities++;
    if (length_ns <= UINT32_MAX && count > 0 && count < work->spans.capacity && count + 1 < most &&
        work->spans.items[count - 1].start_ns <= start_ns) { /* in order */
        work->spans.items[count] =
            (struct lp_span){ start_ns, (uint32_t)length_ns, activity->queued };
        work->spans.count++;
        return 0;
    }
    for (; length_ns > UINT32_MAX && status == 0; length_ns -= UINT32_MAX, start_ns += UINT32_MAX)
        status = insert_span(work, (struct lp_span){ start_ns, UINT32_MAX, activity->queued }, most,
                             latency_ns);
    return status < 0
               ? status
               : insert_span(work,
                             (struct lp_span){ start_ns, (uint32_t)length_ns, activity->queued },
                             most, latency_ns);
}

void lp_iterations_add(struct lp_iterations *iterations, const struct lp_activity *activity,
                       uint8_t kernel_class)
{
    uint32_t unit = activity->unit;

    if (unit && !find_work(iterations, unit))
        iterations->late++;
    for (struct lp_unit_work *work; (work = find_work(iterations, unit)); unit = work->parent) {
        iterations->unordered += activity->start_ns < work->summed_ns;
        if (add_span(work, activity, SPANS_KEPT, &iterations->launch_latency_ns) < 0)
            iterations->failed = true;
        if (work->kept.wanted && lp_kept_call_add(&work->kept, activity, kernel_class) < 0)
            iterations->failed = true;
        work->class_ns[kernel_class] += activity->end_ns - activity->start_ns;
    }
}

/* NULL: out of memory. */
static struct lp_device_work *add_device(struct lp_iterations *iterations, uint16_t device)
{
    struct lp_device_work fresh = { .device = device };

    return lp_vector_push(&iterations->devices, fresh) < 0
               ? NULL
               : &iterations->devices.items[iterations->devices.count - 1];
}

void lp_iterations_add_to_device(struct lp_iterations *iterations,
                                 const struct lp_activity *activity)
{
    struct lp_device_work *device = NULL;

    for (size_t i = 0; i < iterations->devices.count && !device; i++)
        if (iterations->devices.items[i].device == activity->device)
            device = &iterations->devices.items[i];
    if (!device)
        device = add_device(iterations, activity->device);
    if (!device || add_span(&device->work, activity, DEVICE_SPANS_KEPT, &device->latency_ns) < 0)
        iterations->failed = true;
}

int lp_devices_freeze(struct lp_iterations *iterations, uint32_t process_id,
                      llmperf_profile *profile)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < iterations->devices.count; i++) {
        struct lp_device_work *device = &iterations->devices.items[i];
        struct lp_unit_work *work = &device->work;
        struct lp_device_time row = { .process_id = process_id, .device = device->device };

        fold_spans(work, work->spans.count, &device->latency_ns);
        row.activities = work->activities;
        row.span_ms = lp_to_ms(work->sums.frontier_ns - work->first_ns);
        row.busy_ms = lp_to_ms(work->sums.busy_ns);
        row.idle_launch_ms = lp_to_ms(work->sums.idle_launch_ns);
        row.idle_wait_ms = lp_to_ms(work->sums.idle_wait_ns);
        row.idle_host_ms = lp_to_ms(work->sums.idle_host_ns);
        row.queued_ms = lp_to_ms(work->sums.queued_ns) / (double)work->activities;
        status = lp_row_push(profile, LP_ROW_DEVICE, &row);
    }
    return status;
}

void lp_iterations_call(struct lp_iterations *iterations, uint32_t unit,
                        const struct lp_record *call)
{
    struct lp_unit_work *work = find_work(iterations, unit);
    uint32_t row = lp_host_calls_add(&iterations->host_calls, call, &iterations->failed);
    struct lp_unit_call kept = { call->time_ns - call->value, call->time_ns, 0, 0, row };

    if (!work || row == LP_HASHMAP_NONE)
        return;
    if (work->calls.count == LP_UNIT_CALLS)
        work->calls_left_out = true;
    else if (lp_vector_push(&work->calls, kept) < 0)
        iterations->failed = true;
}

/* The gaps at both ends of a unit, for the driver calls in it. */
static void end_calls(struct lp_iterations *iterations, struct lp_unit_work *work)
{
    if (work->activities > 0) {
        lp_unit_calls_idle(&work->calls, work->started_ns, work->first_ns, false);
        lp_unit_calls_idle(&work->calls, work->sums.frontier_ns, UINT64_MAX, false);
    } else {
        lp_unit_calls_idle(&work->calls, work->begin_ns, UINT64_MAX, false);
    }
    lp_host_calls_compared(&iterations->host_calls, &work->calls);
}

/* NULL: out of memory. */
static struct lp_stage_total *find_stage(struct lp_iterations *iterations, uint32_t node)
{
    uint32_t row = lp_hashmap_get(&iterations->stage_rows, node, 0);
    struct lp_text path = { NULL, 0, 0, false };
    struct lp_stage_total total = { .node = node };

    if (row != LP_HASHMAP_NONE)
        return &iterations->stages.items[row];
    row = (uint32_t)iterations->stages.count;
    lp_path_print(&path, node);
    total.path = path.bytes;
    if (path.failed || lp_vector_push(&iterations->stages, total) < 0) {
        lp_text_clear(&path);
        return NULL;
    }
    /* A queue of its own: calls of other stages are much longer or shorter. */
    if (lp_hashmap_put(&iterations->stage_rows, node, 0, row) < 0 ||
        lp_busy_add_row(&iterations->active, LP_BUSY_TOP, (uint16_t)row) < 0)
        iterations->failed = true;
    return &iterations->stages.items[row];
}

void lp_iterations_chance(struct lp_iterations *iterations, uint32_t unit, uint32_t chance)
{
    struct lp_unit_work *work = chance ? find_work(iterations, unit) : NULL;
    struct lp_stage_total *stage = work ? find_stage(iterations, work->node) : NULL;

    if (!stage)
        return;
    work->chance = chance | (stage->sampling ? 0 : LP_CHANCE_FIRST);
    if (!stage->sampling && (!(stage->sampling = calloc(1, sizeof(*stage->sampling))) ||
                             !(stage->steady = calloc(1, sizeof(*stage->steady)))))
        iterations->failed = true;
    iterations->sampled = true;
}

struct lp_unit_work *lp_iterations_sampled(const struct lp_iterations *iterations, uint32_t unit)
{
    struct lp_unit_work *work = find_work(iterations, unit), *sampled = NULL;

    for (; work; work = find_work(iterations, work->parent))
        sampled = work->chance ? work : sampled;
    return sampled;
}

static uint64_t known(uint64_t quantity)
{
    return quantity ? quantity : LLMPERF_UNKNOWN;
}

static uint64_t before_of(const struct lp_unit_work *work)
{
    return work->first_ns - work->started_ns;
}

/* Device work may run on after its region ended. */
static uint64_t after_of(const struct lp_unit_work *work)
{
    return work->end_ns > work->sums.frontier_ns ? work->end_ns - work->sums.frontier_ns : 0;
}

static uint64_t elapsed_of(const struct lp_unit_work *work)
{
    return work->activities > 0
               ? before_of(work) + work->sums.frontier_ns - work->first_ns + after_of(work)
               : work->end_ns - work->begin_ns;
}

static uint64_t idle_of(const struct lp_unit_work *work)
{
    return work->sums.idle_launch_ns + work->sums.idle_host_ns + work->sums.idle_wait_ns;
}

static void fill_device(llmperf_iteration *row, const struct lp_unit_work *work, bool with_device)
{
    bool ran = with_device && work->activities > 0;

    row->activities = with_device ? work->activities : LLMPERF_UNKNOWN;
    row->busy_ms = with_device ? lp_to_ms(work->sums.busy_ns) : (double)NAN;
    row->elapsed_ms = with_device ? lp_to_ms(elapsed_of(work)) : (double)NAN;
    row->before_ms = ran ? lp_to_ms(before_of(work)) : (double)NAN;
    row->after_ms = ran ? lp_to_ms(after_of(work)) : (double)NAN;
    row->span_ms = ran ? lp_to_ms(work->sums.frontier_ns - work->first_ns) : (double)NAN;
    row->idle_launch_ms = ran ? lp_to_ms(work->sums.idle_launch_ns) : (double)NAN;
    row->idle_host_ms = ran ? lp_to_ms(work->sums.idle_host_ns) : (double)NAN;
    row->idle_wait_ms = ran ? lp_to_ms(work->sums.idle_wait_ns) : (double)NAN;
    row->idle_ms = ran ? lp_to_ms(idle_of(work)) : (double)NAN;
    for (size_t i = 0; i < LLMPERF_ITERATION_CLASSES; i++)
        row->class_ms[i] = with_device ? lp_to_ms(work->class_ns[i]) : (double)NAN;
}

static llmperf_iteration make_row(const struct lp_unit_work *work, const char *path,
                                  uint64_t sequence, bool with_device)
{
    llmperf_iteration row = LLMPERF_ITERATION_INIT;

    row.region = path;
    row.sequence = sequence;
    row.begin_ns = work->begin_ns;
    row.tokens = known(work->quantities[LLMPERF_QUANTITY_TOKENS]);
    row.sequences = known(work->quantities[LLMPERF_QUANTITY_SEQUENCES]);
    row.context = known(work->quantities[LLMPERF_QUANTITY_CONTEXT]);
    row.flops = known(work->quantities[LLMPERF_QUANTITY_FLOPS]);
    row.bytes = known(work->quantities[LLMPERF_QUANTITY_BYTES]);
    row.wall_ms = lp_to_ms(work->end_ns - work->begin_ns);
    row.window = work->collected ? work->window : 0;
    fill_device(&row, work, with_device);
    return row;
}

/* A class that did not run in an iteration counts as 0 there, also in the iterations before its
 * first. */
static int add_class(struct lp_stage_total *stage, size_t index, uint64_t value_ns, uint64_t before)
{
    struct lp_distribution **distribution = &stage->classes[index];
    int status = 0;

    if (!*distribution && value_ns == 0)
        return 0;
    if (!*distribution && !(*distribution = calloc(1, sizeof(**distribution))))
        return lp_out_of_memory();
    while ((*distribution)->count < before && status == 0)
        status = lp_distribution_add(*distribution, 0);
    return status < 0 ? status : lp_distribution_add(*distribution, value_ns);
}

_Static_assert(LP_TIMES + LLMPERF_ITERATION_CLASSES <= LP_SAMPLED_VALUES, "all have an estimate");

#define VALUE(constant, name, ...) row->name##_ms,

static int sample(struct lp_stage_sampling *sampling, const struct lp_held_call *held,
                  const double *values, const lp_sampled_times *times)
{
    const llmperf_iteration *row = &held->row;
    uint64_t size = row->flops != LLMPERF_UNKNOWN ? row->flops : row->tokens;
    struct lp_sampled_call call = { held->chance, row->activities != LLMPERF_UNKNOWN,
                                    row->wall_ms, size != LLMPERF_UNKNOWN ? (double)size : 0,
                                    values,       times };

    return lp_stage_sampling_add(sampling, &call);
}

/* Iterations in triggered windows are no random sample: their device times are not in the
 * spread. */
int lp_stage_add_call(struct lp_stage_total *stage, const struct lp_held_call *call)
{
    const llmperf_iteration *row = &call->row;
    double values[LP_SAMPLED_VALUES] = { LP_ITERATION_TIMES(VALUE) };
    bool with_device = row->activities != LLMPERF_UNKNOWN && !call->in_window;
    uint64_t before = stage->times[LP_TIME_BUSY].count;
    int status = 0;

    for (size_t i = 0; status == 0 && with_device && i < LLMPERF_ITERATION_CLASSES; i++)
        status = add_class(stage, i, lp_to_ns(row->class_ms[i]), before);
    for (size_t i = 0; status == 0 && i < LP_TIMES; i++)
        if (i == LP_TIME_WALL || (with_device && !isnan(values[i])))
            status = lp_distribution_add(&stage->times[i], lp_to_ns(values[i]));
    memcpy(values + LP_TIMES, row->class_ms, sizeof(row->class_ms));
    return status == 0 && stage->steady && !call->in_window
               ? sample(stage->steady, call, values, NULL)
               : status;
}

/* The first calls of the stage are held; a later one is added. */
static int hold(struct lp_stage_total *stage, const struct lp_held_call *call)
{
    size_t at = stage->held.count;
    struct lp_held_call last;

    if (at == LP_WARM_UP_HELD && call->row.begin_ns >= stage->held.items[at - 1].row.begin_ns)
        return lp_stage_add_call(stage, call);
    if (lp_vector_push(&stage->held, *call) < 0)
        return LLMPERF_ENOMEM;
    for (; at > 0 && stage->held.items[at - 1].row.begin_ns > call->row.begin_ns; at--)
        stage->held.items[at] = stage->held.items[at - 1];
    stage->held.items[at] = *call;
    if (stage->held.count <= LP_WARM_UP_HELD)
        return 0;
    last = stage->held.items[--stage->held.count];
    return lp_stage_add_call(stage, &last);
}

static void add_amount(struct lp_stage_amount *amount, uint64_t quantity, bool collected)
{
    amount->instances += quantity > 0;
    amount->all += (double)quantity;
    amount->collected += collected ? (double)quantity : 0;
}

static void count_unit(struct lp_iterations *iterations, struct lp_stage_total *stage,
                       const struct lp_unit_work *work)
{
    uint64_t wall_ns = work->end_ns - work->begin_ns;

    stage->calls++;
    stage->calls_ns += wall_ns;
    if (work->window != 0) {
        stage->window_units++;
        stage->window_ns += wall_ns;
        if (!work->in_other_unit)
            lp_window_unit(lp_windows_find(&iterations->windows, work->window),
                           &(struct lp_window_unit){ work->begin_ns, work->end_ns,
                                                     work->sums.busy_ns, idle_of(work),
                                                     work->collected });
    } else {
        add_amount(&stage->flops, work->quantities[LLMPERF_QUANTITY_FLOPS], work->collected);
        add_amount(&stage->tokens, work->quantities[LLMPERF_QUANTITY_TOKENS], work->collected);
        stage->collected += work->collected;
        stage->collected_ns += work->collected ? wall_ns : 0;
        stage->activities += work->collected ? work->activities : 0;
    }
}

static void raise_to(uint64_t *value, uint64_t at_least)
{
    *value = at_least > *value ? at_least : *value;
}

/* Of the unit before it: in the same unit around it, or in one around that. */
static struct lp_device_end end_before(const struct lp_iterations *iterations,
                                       const struct lp_unit_work *work)
{
    const struct lp_unit_work *around = work;

    while ((around = find_work(iterations, around->parent)))
        if (around->nested.ns > 0 || around->nested.unknown)
            return around->nested;
    return iterations->outermost;
}

/* The time of a unit begins when it began, or when the device had finished what it was given
 * before. After a call whose device work was not collected that moment is not known: what runs on
 * after its region ended was launched ahead, so it starts with its first kernel. */
static void set_start(const struct lp_iterations *iterations, struct lp_unit_work *work)
{
    struct lp_device_end before = end_before(iterations, work);

    work->started_ns = work->begin_ns;
    if (!before.unknown)
        raise_to(&work->started_ns, before.ns);
    else if (work->sums.frontier_ns > work->end_ns)
        work->started_ns = work->first_ns;
    if (work->started_ns > work->first_ns)
        work->started_ns = work->first_ns;
}

/* What comes after a unit on the device cannot begin before its end. */
static void note_device_end(struct lp_iterations *iterations, const struct lp_unit_work *work)
{
    struct lp_unit_work *around = find_work(iterations, work->parent);
    struct lp_device_end *end = around ? &around->nested : &iterations->outermost;

    raise_to(&end->ns, work->sums.frontier_ns);
    end->unknown = !work->collected || work->truncated;
}

/* The call replaces the one that was kept before; its memory is used for the next one. */
static void keep_call(struct lp_stage_total *stage, struct lp_unit_work *work, uint64_t sequence)
{
    struct lp_kept_call before = stage->kept;

    free(before.text);
    before.text = NULL;
    stage->kept = work->kept;
    stage->kept.sequence = sequence;
    work->kept = before;
}

static int add_active(struct lp_iterations *iterations, const struct lp_stage_total *stage,
                      const struct lp_unit_work *work)
{
    uint64_t end_ns = work->end_ns;
    size_t row = (size_t)(stage - iterations->stages.items);

    raise_to(&end_ns, work->sums.frontier_ns);
    return row < iterations->active.rows.count
               ? lp_busy_add(&iterations->active, (uint32_t)row, work->begin_ns, end_ns)
               : LLMPERF_ENOMEM;
}

bool lp_iterations_done(struct lp_iterations *iterations, uint32_t unit, bool with_device,
                        uint32_t *node_out, llmperf_iteration *row_out)
{
    struct lp_unit_work *work = find_work(iterations, unit);
    struct lp_stage_total *stage;
    struct lp_held_call held;

    if (!work)
        return false;
    work->unit = 0;
    fold_spans(work, work->spans.count, &iterations->launch_latency_ns);
    set_start(iterations, work);
    note_device_end(iterations, work);
    if (work->truncated || work->end_ns < work->begin_ns)
        return false;
    lp_energy_call(&iterations->energy,
                   &(struct lp_energy_call){ work->node, !find_work(iterations, work->parent),
                                             work->collected, work->begin_ns, work->end_ns,
                                             work->started_ns,
                                             work->activities > 0 ? elapsed_of(work) : 0 });
    if (!(stage = find_stage(iterations, work->node))) {
        iterations->failed = true;
        return false;
    }
    with_device = (with_device || work->window != 0) && work->collected;
    if (with_device && !work->calls_left_out)
        end_calls(iterations, work);
    *node_out = work->node;
    *row_out = make_row(work, stage->path, ++iterations->sequence, with_device);
    lp_iteration_ring_put(iterations->recent, row_out);
    if (work->kept.wanted && with_device && work->kept.total > 0)
        keep_call(stage, work, iterations->sequence);
    count_unit(iterations, stage, work);
    held = (struct lp_held_call){ *row_out, work->chance, work->window != 0 };
    if (hold(stage, &held) < 0 || add_active(iterations, stage, work) < 0 ||
        (stage->sampling && !held.in_window &&
         sample(stage->sampling, &held, NULL, work->times) < 0))
        iterations->failed = true;
    return true;
}
