/* SPDX-License-Identifier: Apache-2.0 */
/** CUPTI's range profiler under our regions. It knows one stack of ranges for a GPU, measures them
 * one nesting level a pass, and adds up ranges of one name; so we give it flat ranges instead: a
 * region that has nested ones is measured in parts, between them, each under a number of its own,
 * and what a region comes to is the sum of its parts and of those of its nested regions. One pass
 * measures all levels, and a part that CUPTI lost is missed.
 *
 * CUPTI waits for the GPU at both ends of a range: what was launched before it is not in it, all
 * that was launched in it is. Counters are of the whole GPU: one thread at a time has them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/capture/counters_run.h"
#include "lib/record/paths.h"

#define FRAMES       LLMPERF_REGION_DEPTH
#define NO_PART      UINT32_MAX
#define WANTED_KNOWN 65536u                /* nodes above are looked up each time */
#define PARTS_MOST   (LP_RANGES_MOST - 16) /* a window is closed before it is full */

enum event_kind { EVENT_BEGIN, EVENT_PART, EVENT_LOST, EVENT_END };

/* What a window saw, in order; played when its values are there. */
struct event {
    enum event_kind kind;
    uint32_t node;      /* begin */
    uint32_t part;      /* part: number of its range */
    const char *reason; /* lost */
};

/* A region instance whose values are added up. Sums are of values, or of values by weight. */
struct frame {
    uint32_t node;
    bool nested;
    const char *reason;      /* it cannot be known; NULL: it can */
    double *inclusive, *own; /* one a column, behind each its weight */
};

struct launch {
    uint32_t node, kind, correlation;
    const char *name;
};

struct lp_ranges {
    lp_cupti_object object;
    uint8_t *data; /* counter data image */
    size_t data_size;
    _Atomic uint8_t wanted[WANTED_KNOWN];    /* by node: 0 not looked at, 1 no, 2 yes */
    _Atomic(const struct lp_thread *) owner; /* has the counters now; all below is the owner's */
    uint32_t stack[FRAMES];
    uint32_t depth;
    bool started, part_open;
    uint32_t parts;              /* of this window */
    uint32_t round_node;         /* user replay: the region whose passes are being collected */
    uint64_t shape, round_shape; /* hash of the events of this pass, and of the first */
    bool uneven;                 /* passes of this round differ */
    const char *spoilt;          /* why nothing of what is played now can be known; NULL: it can */
    LP_VECTOR(struct event) events;
    LP_VECTOR(double) values, scratch;
    struct frame frames[FRAMES];
    uint32_t frame_count;
    pthread_mutex_t launches_lock; /* guards launches: any thread launches */
    LP_VECTOR(struct launch) launches;
    bool listen; /* launches are wanted */
};

static const char reason_thread[] = "another thread was being counted at that time";
static const char reason_capture[] = "a stream was being captured at that time";
static const char reason_round[] = "the passes of another region were being collected";
static const char reason_uneven[] = "the region did not do the same each time";
static const char reason_parts[] = "it has too many nested regions for several passes";
static const char reason_lost[] = "CUPTI lost one of its ranges";
static const char reason_left[] = "its thread ended, or the session";
static const char reason_launches[] = "CUPTI gave other kernels than were launched";

/* Calls */

static int call_simple(struct lp_counters *counters, int (*call)(struct lp_cupti_range *params),
                       const char *what)
{
    struct lp_cupti_range params = { LP_CUPTI_SIZE(lp_cupti_range, object), NULL,
                                     counters->ranges->object };
    int result = call(&params);

    return result == 0 ? 0 : lp_counter_error(counters, what, result);
}

static int init_image(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_data_init params = { LP_CUPTI_SIZE(lp_cupti_data_init, data), NULL,
                                         ranges->object, ranges->data_size, ranges->data };
    int result = counters->calls->RangeProfilerCounterDataImageInitialize(&params);

    return result == 0
               ? 0
               : lp_counter_error(counters, "RangeProfilerCounterDataImageInitialize", result);
}

static int make_image(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range_data_size params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_range_data_size, size),
        .object = ranges->object,
        .metrics = counters->set->metrics.items,
        .count = counters->set->metrics.count,
        .ranges = LP_RANGES_MOST,
        .nodes = LP_RANGES_MOST,
    };
    int result = counters->calls->RangeProfilerGetCounterDataSize(&params);

    if (result != 0)
        return lp_counter_error(counters, "RangeProfilerGetCounterDataSize", result);
    ranges->data_size = params.size;
    if (!(ranges->data = malloc(params.size)))
        return lp_error(LLMPERF_ENOMEM, "out of memory for %zu bytes of counter data", params.size);
    return init_image(counters);
}

static int configure(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    bool kernels = counters->options.replay == LP_REPLAY_KERNEL;
    struct lp_cupti_range_config params = {
        .struct_size = LP_CUPTI_SIZE(lp_cupti_range_config, level),
        .object = ranges->object,
        .config_size = counters->set->config_size,
        .config = counters->set->config,
        .data_size = ranges->data_size,
        .data = ranges->data,
        .range = kernels ? LP_CUPTI_RANGE_AUTO : LP_CUPTI_RANGE_USER,
        .replay = kernels ? LP_CUPTI_REPLAY_KERNEL : LP_CUPTI_REPLAY_USER,
        .ranges_per_pass = LP_RANGES_MOST,
        .levels = 1,
        .first_level = 1,
        .level = 1,
    };
    int result = counters->calls->RangeProfilerSetConfig(&params);

    return result == 0 ? 0 : lp_counter_error(counters, "RangeProfilerSetConfig", result);
}

static int start(struct lp_counters *counters)
{
    int status = call_simple(counters, counters->calls->RangeProfilerStart, "RangeProfilerStart");

    counters->ranges->started = status == 0;
    return status;
}

static int stop(struct lp_counters *counters, bool *all_out)
{
    struct lp_cupti_range_stop params = { .struct_size =
                                              LP_CUPTI_SIZE(lp_cupti_range_stop, all_passes),
                                          .object = counters->ranges->object };
    int result = counters->calls->RangeProfilerStop(&params);

    counters->ranges->started = false;
    *all_out = params.all_passes != 0;
    return result == 0 ? 0 : lp_counter_error(counters, "RangeProfilerStop", result);
}

static int decode(struct lp_counters *counters, size_t *ranges_out)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range_decode params = { LP_CUPTI_SIZE(lp_cupti_range_decode, dropped), NULL,
                                            ranges->object, 0 };
    struct lp_cupti_range_count count = { LP_CUPTI_SIZE(lp_cupti_range_count, ranges), NULL,
                                          ranges->data, ranges->data_size, 0 };
    int result = counters->calls->RangeProfilerDecodeData(&params);

    if (result == 0)
        result = counters->calls->RangeProfilerGetCounterDataInfo(&count);
    *ranges_out = count.ranges;
    return result == 0 ? 0 : lp_counter_error(counters, "RangeProfilerDecodeData", result);
}

/* The number that a range was pushed with; NO_PART if CUPTI does not say. */
static uint32_t read_part(struct lp_counters *counters, size_t range)
{
    struct lp_cupti_range_info params = { LP_CUPTI_SIZE(lp_cupti_range_info, name),
                                          NULL,
                                          counters->ranges->data,
                                          counters->ranges->data_size,
                                          range,
                                          "/",
                                          NULL };
    unsigned part;

    if (counters->calls->RangeProfilerCounterDataGetRangeInfo(&params) != 0 || !params.name ||
        sscanf(params.name, "%u", &part) != 1)
        return NO_PART;
    return part;
}

/* Values */

static struct frame *top(struct lp_ranges *ranges)
{
    return ranges->frame_count > 0 ? &ranges->frames[ranges->frame_count - 1] : NULL;
}

static void add_value(double *sum, enum lp_counter_combine combine, double value, double weight)
{
    bool first = sum[1] == 0;

    if (isnan(value))
        return;
    if (combine == LP_COUNTER_MAX)
        sum[0] = first ? value : fmax(sum[0], value);
    else if (combine == LP_COUNTER_MIN)
        sum[0] = first ? value : fmin(sum[0], value);
    else
        sum[0] += combine == LP_COUNTER_MEAN ? value * weight : value;
    sum[1] += weight;
}

static double value_of(const double *sum, enum lp_counter_combine combine)
{
    if (sum[1] == 0)
        return NAN;
    return combine == LP_COUNTER_MEAN ? sum[0] / sum[1] : sum[0];
}

static void add_part(struct lp_counters *counters, const double *values)
{
    struct lp_ranges *ranges = counters->ranges;
    const struct lp_counter_set *set = counters->set;
    size_t columns = set->columns.count;
    double weight = counters->time_column < columns ? values[counters->time_column] : 1;

    weight = weight > 0 ? weight : 1;
    for (size_t c = 0; c < columns; c++) {
        enum lp_counter_combine combine = set->columns.items[c].combine;

        for (uint32_t f = 0; f < ranges->frame_count; f++)
            add_value(ranges->frames[f].inclusive + 2 * c, combine, values[c], weight);
        if (ranges->frame_count > 0)
            add_value(top(ranges)->own + 2 * c, combine, values[c], weight);
    }
}

static void spoil_frames(struct lp_ranges *ranges, const char *reason)
{
    for (uint32_t f = 0; f < ranges->frame_count; f++)
        if (!ranges->frames[f].reason)
            ranges->frames[f].reason = reason;
}

static void begin_frame(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;
    size_t columns = counters->set->columns.count;
    struct frame *frame;

    if (ranges->frame_count > 0)
        top(ranges)->nested = true;
    frame = &ranges->frames[ranges->frame_count++];
    frame->node = node;
    frame->nested = false;
    frame->reason = ranges->spoilt;
    memset(frame->inclusive, 0, 4 * columns * sizeof(double));
}

static void put_sums(struct lp_counters *counters, uint32_t kind, uint32_t node, const double *sums)
{
    double *values = counters->ranges->scratch.items;

    for (size_t c = 0; c < counters->set->columns.count; c++)
        values[c] = value_of(sums + 2 * c, counters->set->columns.items[c].combine);
    lp_counter_put(counters, kind, node, NULL, values);
}

static void end_frame(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct frame *frame = top(ranges);

    if (!frame)
        return;
    ranges->frame_count--;
    if (frame->reason) {
        lp_counter_put(counters, LP_COUNTER_SKIP, frame->node, frame->reason, NULL);
        return;
    }
    put_sums(counters, LP_COUNTER_REGION, frame->node, frame->inclusive);
    if (frame->nested)
        put_sums(counters, LP_COUNTER_OWN, frame->node, frame->own);
}

static void play_part(struct lp_counters *counters, uint32_t range)
{
    struct lp_ranges *ranges = counters->ranges;
    double *values = ranges->values.items;

    if (range == NO_PART ||
        lp_counter_set_evaluate(counters->set, ranges->data, ranges->data_size, range, values) < 0)
        spoil_frames(ranges, reason_lost);
    else
        add_part(counters, values);
}

/* @param by_part  Range of each part; NO_PART: there is none. */
static void play_events(struct lp_counters *counters, const uint32_t *by_part)
{
    struct lp_ranges *ranges = counters->ranges;

    for (size_t i = 0; i < ranges->events.count; i++) {
        const struct event *event = &ranges->events.items[i];

        switch (event->kind) {
        case EVENT_BEGIN:
            begin_frame(counters, event->node);
            break;
        case EVENT_PART:
            play_part(counters, by_part[event->part]);
            break;
        case EVENT_LOST:
            spoil_frames(ranges, event->reason);
            break;
        case EVENT_END:
            end_frame(counters);
            break;
        }
    }
    ranges->events.count = 0;
}

static void put_event(struct lp_ranges *ranges, enum event_kind kind, uint32_t node, uint32_t part,
                      const char *reason)
{
    struct event event = { kind, node, part, reason };

    ranges->shape = (ranges->shape ^ ((uint64_t)kind << 32 | node)) * 0x9e3779b97f4a7c15u;
    if (lp_vector_push(&ranges->events, event) < 0)
        ranges->uneven = true; /* Without memory nothing of this window can be told. */
}

/* Windows: from a Start to a Stop. */

static int take_in(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    uint32_t by_part[LP_RANGES_MOST];
    size_t count = 0;
    int status = decode(counters, &count);

    for (size_t i = 0; i < LP_RANGES_MOST; i++)
        by_part[i] = NO_PART;
    for (size_t i = 0; status == 0 && i < count; i++) {
        uint32_t part = read_part(counters, i);

        if (part < LP_RANGES_MOST)
            by_part[part] = (uint32_t)i;
    }
    play_events(counters, by_part);
    ranges->parts = 0;
    return status < 0 ? status : init_image(counters);
}

static int close_window(struct lp_counters *counters)
{
    bool all;
    int status = stop(counters, &all);

    return status < 0 ? status : take_in(counters);
}

/* Any call of the profiler now would end the capture, and whatever the program wanted of it. The
 * range that is open stays open until it is over; what it counts belongs to nobody. */
static bool is_capturing(struct lp_counters *counters)
{
    if (!lp_cupti_capturing())
        return false;
    put_event(counters->ranges, EVENT_LOST, 0, 0, reason_capture);
    return true;
}

static int pop_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (!ranges->part_open || is_capturing(counters))
        return 0;
    ranges->part_open = false;
    atomic_fetch_add(&counters->boundaries, 1);
    return call_simple(counters, counters->calls->RangeProfilerPopRange, "RangeProfilerPopRange");
}

static int push_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    char name[16];
    struct lp_cupti_range_push params = { LP_CUPTI_SIZE(lp_cupti_range_push, name), NULL,
                                          ranges->object, name };
    int result;

    snprintf(name, sizeof(name), "%u", ranges->parts);
    if ((result = counters->calls->RangeProfilerPushRange(&params)) != 0)
        return lp_counter_error(counters, "RangeProfilerPushRange", result);
    put_event(ranges, EVENT_PART, 0, ranges->parts++, NULL);
    ranges->part_open = true;
    return 0;
}

/* The next part of the innermost region; in between, a full window makes room. */
static int next_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = 0;

    if (counters->options.replay == LP_REPLAY_KERNEL || is_capturing(counters))
        return 0;
    if (ranges->parts >= PARTS_MOST && counters->set->passes > 1) {
        ranges->uneven = true;
        ranges->round_shape = 0;
        put_event(ranges, EVENT_LOST, 0, 0, reason_parts);
        return 0;
    }
    if (ranges->started && ranges->parts >= PARTS_MOST)
        status = close_window(counters);
    if (status == 0 && !ranges->started)
        status = start(counters);
    return status < 0 ? status : push_part(counters);
}

/* Passes of user replay: all windows of one region until CUPTI has what it needs. */

static int end_pass(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    bool all;
    int status;

    if (ranges->round_shape == 0)
        ranges->round_shape = ranges->shape;
    ranges->uneven = ranges->uneven || ranges->shape != ranges->round_shape;
    if ((status = stop(counters, &all)) < 0)
        return status;
    if (!all) {
        ranges->events.count = ranges->parts = 0;
        return 0;
    }
    ranges->spoilt = ranges->uneven ? reason_uneven : NULL;
    status = take_in(counters);
    ranges->spoilt = NULL;
    ranges->round_node = LP_PATH_ROOT;
    ranges->round_shape = 0;
    ranges->uneven = false;
    return status < 0 ? status : configure(counters);
}

/* Kernel replay: CUPTI makes a range of each kernel, in the order of their launches. */

static void listen_to_launches(struct lp_ranges *ranges, bool listen)
{
    pthread_mutex_lock(&ranges->launches_lock);
    ranges->listen = listen;
    if (listen)
        ranges->launches.count = 0;
    pthread_mutex_unlock(&ranges->launches_lock);
}

static size_t count_graphs(const struct lp_ranges *ranges)
{
    size_t graphs = 0;

    for (size_t i = 0; i < ranges->launches.count; i++)
        graphs += ranges->launches.items[i].kind == LP_LAUNCH_GRAPH;
    return graphs;
}

/* Ranges of a launch: one for a kernel; a graph has the rest if it is the only one, because nobody
 * says how many kernels it holds. */
static size_t ranges_of(const struct launch *launch, size_t ranges, size_t kernels)
{
    return launch->kind == LP_LAUNCH_GRAPH ? ranges - kernels : 1;
}

static void put_kernels(struct lp_counters *counters, size_t count)
{
    struct lp_ranges *ranges = counters->ranges;
    size_t graphs = count_graphs(ranges), kernels = ranges->launches.count - graphs, at = 0;
    double *values = ranges->values.items;

    if (graphs > 1 || count < kernels || (graphs == 0 && count > kernels)) {
        lp_counter_put(counters, LP_COUNTER_SKIP, ranges->stack[0], reason_launches, NULL);
        return;
    }
    for (size_t i = 0; i < ranges->launches.count; i++) {
        const struct launch *launch = &ranges->launches.items[i];

        for (size_t k = ranges_of(launch, count, kernels); k > 0; k--, at++)
            if (lp_counter_set_evaluate(counters->set, ranges->data, ranges->data_size, at,
                                        values) == 0)
                lp_counter_put(counters, LP_COUNTER_KERNEL, launch->node, launch->name, values);
    }
}

static int end_kernels(struct lp_counters *counters)
{
    bool all;
    size_t count = 0;
    int status = stop(counters, &all);

    listen_to_launches(counters->ranges, false);
    if (status < 0 || (status = decode(counters, &count)) < 0)
        return status;
    put_kernels(counters, count);
    if ((status = init_image(counters)) < 0)
        return status;
    return configure(counters);
}

static bool is_kernel_launch(uint32_t kind)
{
    return kind == LP_LAUNCH_KERNEL || kind == LP_LAUNCH_KERNEL_MULTI || kind == LP_LAUNCH_GRAPH;
}

void lp_ranges_launch(struct lp_counters *counters, uint32_t kind, const char *name,
                      uint32_t correlation)
{
    struct lp_ranges *ranges = counters->ranges;
    struct launch launch = { lp_thread_self ? lp_thread_self->node : LP_PATH_ROOT, kind,
                             correlation, NULL };

    if (counters->options.replay != LP_REPLAY_KERNEL || !is_kernel_launch(kind))
        return;
    pthread_mutex_lock(&ranges->launches_lock);
    if (ranges->listen) {
        pthread_mutex_lock(&counters->queue.lock);
        launch.name = lp_strings_add(&counters->queue.pool, name ? name : "[kernel of a graph]");
        pthread_mutex_unlock(&counters->queue.lock);
        if (lp_vector_push(&ranges->launches, launch) < 0)
            ranges->listen = false;
    }
    pthread_mutex_unlock(&ranges->launches_lock);
}

void lp_ranges_launch_void(struct lp_counters *counters, uint32_t correlation)
{
    struct lp_ranges *ranges = counters->ranges;

    if (counters->options.replay != LP_REPLAY_KERNEL)
        return;
    pthread_mutex_lock(&ranges->launches_lock);
    for (size_t i = ranges->launches.count; i-- > 0;)
        if (ranges->launches.items[i].correlation == correlation) {
            memmove(&ranges->launches.items[i], &ranges->launches.items[i + 1],
                    (--ranges->launches.count - i) * sizeof(struct launch));
            break;
        }
    pthread_mutex_unlock(&ranges->launches_lock);
}

/* Regions */

static bool is_wanted(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;

    if (node >= WANTED_KNOWN)
        return lp_counter_wanted(counters, node);
    if (atomic_load(&ranges->wanted[node]) == 0)
        atomic_store(&ranges->wanted[node], lp_counter_wanted(counters, node) ? 2 : 1);
    return atomic_load(&ranges->wanted[node]) == 2;
}

/* Has this thread the counters, or can it have them now? */
static bool take_ownership(struct lp_counters *counters, const struct lp_thread *thread)
{
    const struct lp_thread *nobody = NULL;

    return atomic_load(&counters->ranges->owner) == thread ||
           atomic_compare_exchange_strong(&counters->ranges->owner, &nobody, thread);
}

static void give_up(struct lp_counters *counters)
{
    if (counters->ranges->depth == 0)
        atomic_store(&counters->ranges->owner, NULL);
}

/* Is this outermost region one to measure now? */
static bool enters(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;

    if (ranges->depth > 0)
        return ranges->depth < FRAMES;
    if (counters->set->passes > 1 && counters->options.replay == LP_REPLAY_USER) {
        if (ranges->round_node != LP_PATH_ROOT && ranges->round_node != node) {
            lp_counter_put(counters, LP_COUNTER_SKIP, node, reason_round, NULL);
            return false;
        }
        ranges->round_node = node;
        ranges->shape = 1;
    }
    return true;
}

static int begin_outermost(struct lp_counters *counters)
{
    if (counters->options.replay != LP_REPLAY_KERNEL || is_capturing(counters))
        return 0;
    listen_to_launches(counters->ranges, true);
    return start(counters);
}

static int open_region(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = pop_part(counters);

    if (status == 0 && ranges->depth == 0)
        status = begin_outermost(counters);
    ranges->stack[ranges->depth++] = node;
    put_event(ranges, EVENT_BEGIN, node, 0, NULL);
    return status < 0 ? status : next_part(counters);
}

static int end_outermost(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (counters->options.replay == LP_REPLAY_KERNEL) {
        ranges->events.count = 0;
        return ranges->started ? end_kernels(counters) : 0;
    }
    return counters->set->passes > 1 && ranges->started && !ranges->part_open ? end_pass(counters)
                                                                              : 0;
}

static int close_region(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = pop_part(counters);

    put_event(ranges, EVENT_END, 0, 0, NULL);
    ranges->depth--;
    if (status < 0)
        return status;
    return ranges->depth > 0 ? next_part(counters) : end_outermost(counters);
}

void lp_ranges_begin(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    if (!is_wanted(counters, node))
        return;
    if (!take_ownership(counters, thread)) {
        lp_counter_put(counters, LP_COUNTER_SKIP, node, reason_thread, NULL);
        return;
    }
    if (enters(counters, node) && open_region(counters, node) < 0)
        lp_counters_fail(counters);
    give_up(counters);
}

void lp_ranges_end(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;

    if (atomic_load(&ranges->owner) != thread || ranges->depth == 0 ||
        ranges->stack[ranges->depth - 1] != node)
        return;
    if (close_region(counters) < 0)
        lp_counters_fail(counters);
    give_up(counters);
}

/* What is open now will not come to a good end. */
static void abandon(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    pop_part(counters);
    while (ranges->depth > 0) {
        put_event(ranges, EVENT_LOST, 0, 0, reason_left);
        put_event(ranges, EVENT_END, 0, 0, NULL);
        ranges->depth--;
    }
}

void lp_ranges_leave(struct lp_counters *counters, const struct lp_thread *thread)
{
    if (atomic_load(&counters->ranges->owner) != thread)
        return;
    abandon(counters);
    give_up(counters);
}

/* Life */

static int enable(struct lp_counters *counters)
{
    struct lp_cupti_range_enable params = { LP_CUPTI_SIZE(lp_cupti_range_enable, object), NULL,
                                            counters->device.context, NULL };
    int result = counters->calls->RangeProfilerEnable(&params);

    counters->ranges->object = params.object;
    return result == 0 ? 0 : lp_counter_error(counters, "RangeProfilerEnable", result);
}

static int make_sums(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    size_t columns = counters->set->columns.count;
    double *sums = calloc(FRAMES * 4 * columns, sizeof(*sums));

    if (!sums || lp_vector_reserve(&ranges->values, columns) < 0 ||
        lp_vector_reserve(&ranges->scratch, columns) < 0) {
        free(sums);
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    }
    for (size_t f = 0; f < FRAMES; f++) {
        ranges->frames[f].inclusive = sums + f * 4 * columns;
        ranges->frames[f].own = ranges->frames[f].inclusive + 2 * columns;
    }
    return 0;
}

int lp_ranges_open(struct lp_counters *counters)
{
    int status;
    bool all;

    counters->ranges = calloc(1, sizeof(*counters->ranges));
    if (!counters->ranges)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    pthread_mutex_init(&counters->ranges->launches_lock, NULL);
    if ((status = make_sums(counters)) < 0 || (status = enable(counters)) < 0 ||
        (status = make_image(counters)) < 0 || (status = configure(counters)) < 0)
        return status;
    if (counters->set->passes > 1)
        return 0;
    /* The first Start finds out whether somebody else holds the counters, and takes longest. */
    if ((status = start(counters)) < 0 || counters->options.replay != LP_REPLAY_KERNEL)
        return status;
    return stop(counters, &all);
}

void lp_ranges_stop(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_cupti_range params = { LP_CUPTI_SIZE(lp_cupti_range, object), NULL, ranges->object };
    bool all;

    if (!ranges->object)
        return;
    abandon(counters);
    if (ranges->started && counters->set->passes == 1 &&
        counters->options.replay != LP_REPLAY_KERNEL) {
        if (close_window(counters) < 0)
            lp_counters_fail(counters);
    } else if (ranges->started) {
        stop(counters, &all);
    }
    if (ranges->round_node != LP_PATH_ROOT)
        lp_counter_put(counters, LP_COUNTER_SKIP, ranges->round_node,
                       "the session ended before all passes were in", NULL);
    counters->calls->RangeProfilerDisable(&params);
    ranges->object = NULL;
}

void lp_ranges_close(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (!ranges)
        return;
    free(ranges->frames[0].inclusive);
    free(ranges->data);
    lp_vector_clear(&ranges->events);
    lp_vector_clear(&ranges->values);
    lp_vector_clear(&ranges->scratch);
    lp_vector_clear(&ranges->launches);
    pthread_mutex_destroy(&ranges->launches_lock);
    free(ranges);
}
