/* SPDX-License-Identifier: Apache-2.0 */
/** Measures regions with CUPTI's range profiler. It has one stack of ranges per GPU, measures one
 * nesting level per pass, and adds up ranges of the same name. So we use flat ranges instead: a
 * region with nested regions is measured in parts between them, each with its own number. The
 * region's value is the sum of its parts and of its nested regions. One pass then measures all
 * levels, and we see when CUPTI has lost a part.
 *
 * CUPTI waits for the GPU at both ends of a range, so the range contains the work that was launched
 * in it, and no earlier work. Counters are of the whole GPU: one thread at a time owns them. */
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/status.h"
#include "lib/counters/range.h"
#include "lib/cupti/captures.h"
#include "lib/record/paths.h"

#define PARTS_MOST (LP_RANGES_MOST - 16) /* a window is closed before CUPTI's limit */

static const char reason_thread[] = "another thread was being measured at that time";
static const char reason_capture[] = "a stream was being captured at that time";
static const char reason_round[] = "passes of another region were being collected";
static const char reason_uneven[] = "the region did different work in each pass";
static const char reason_parts[] = "it has too many nested regions for several passes";
static const char reason_context[] = "its thread used another CUDA context than the measured one";
static const char reason_elsewhere[] = "it launched work in a CUDA context that was not measured";
static const char reason_budget[] = "its cost would have exceeded budget=";
static const char reason_left[] = "its thread or the session ended";

/* Windows: from Start to Stop */

static int take_in(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    uint32_t by_part[LP_RANGES_MOST];
    size_t count = 0;
    int status = lp_range_decode(counters, &count);

    for (size_t i = 0; i < LP_RANGES_MOST; i++)
        by_part[i] = LP_RANGE_NO_PART;
    for (size_t i = 0; status == 0 && i < count; i++) {
        uint32_t part = lp_range_part(counters, i);

        if (part < LP_RANGES_MOST)
            by_part[part] = (uint32_t)i;
    }
    lp_range_play(counters, by_part);
    ranges->parts = 0;
    return status < 0 ? status : lp_range_image_clear(counters);
}

static int close_window(struct lp_counters *counters)
{
    bool all;
    int status = lp_range_stop(counters, &all);

    return status < 0 ? status : take_in(counters);
}

/* Any profiler call now would invalidate the program's stream capture. The open range stays open
 * until the capture ends; what it counts is not charged to any region. */
static bool is_capturing(struct lp_counters *counters)
{
    if (!lp_cupti_capturing())
        return false;
    lp_range_put_event(counters->ranges, LP_RANGE_LOST, 0, 0, reason_capture);
    return true;
}

static int pop_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (!ranges->part_open || is_capturing(counters))
        return 0;
    ranges->part_open = false;
    if (atomic_exchange(&ranges->elsewhere, false))
        lp_range_put_event(ranges, LP_RANGE_LOST, 0, 0, reason_elsewhere);
    atomic_fetch_add(&counters->boundaries, 1);
    return lp_range_pop(counters);
}

static int push_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = lp_range_push(counters, ranges->parts);

    if (status < 0)
        return status;
    lp_range_put_event(ranges, LP_RANGE_PART, 0, ranges->parts++, NULL);
    ranges->part_open = true;
    return 0;
}

/* Start the next part of the innermost region; close a full window first. */
static int next_part(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = 0;

    if (counters->options.replay == LP_REPLAY_KERNEL || is_capturing(counters))
        return 0;
    if (ranges->parts >= PARTS_MOST && counters->set->passes > 1) {
        ranges->uneven = true;
        ranges->round_shape = 0;
        lp_range_put_event(ranges, LP_RANGE_LOST, 0, 0, reason_parts);
        return 0;
    }
    if (ranges->started && ranges->parts >= PARTS_MOST)
        status = close_window(counters);
    if (status == 0 && !ranges->started)
        status = lp_range_start(counters);
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
    if ((status = lp_range_stop(counters, &all)) < 0)
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
    return status < 0 ? status : lp_range_configure(counters);
}

/* Regions */

/* Does this thread own the counters, or can it acquire them now? */
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

/* Each outermost region is measured once at any cost, and then only within the budget. Passes that
 * have begun are completed. */
static bool affords(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;
    uint64_t now_ns = lp_clock_now();

    if (counters->options.budget == 0 || ranges->round_node != LP_PATH_ROOT)
        return true;
    if (ranges->since_ns == 0) {
        ranges->since_ns = now_ns;
        ranges->cost_ns = atomic_load(&counters->cost_ns);
    }
    for (size_t i = 0; i < ranges->measured.count; i++)
        if (ranges->measured.items[i] == node)
            return (atomic_load(&counters->cost_ns) - ranges->cost_ns) * 100 <=
                   (now_ns - ranges->since_ns) * counters->options.budget;
    (void)lp_vector_push(&ranges->measured, node);
    return true;
}

/* Is this outermost region one to measure now? */
static bool enters(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;

    if (ranges->depth > 0)
        return ranges->depth < LLMPERF_REGION_DEPTH;
    if (!affords(counters, node)) {
        lp_counter_put(counters, LP_COUNTER_SKIP, node, reason_budget, NULL);
        return false;
    }
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
    lp_range_listen(counters->ranges, true);
    return lp_range_start(counters);
}

static int open_region(struct lp_counters *counters, uint32_t node)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = pop_part(counters);

    if (status == 0 && ranges->depth == 0)
        status = begin_outermost(counters);
    ranges->stack[ranges->depth++] = node;
    lp_range_put_event(ranges, LP_RANGE_BEGIN, node, 0, NULL);
    return status < 0 ? status : next_part(counters);
}

static int end_outermost(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (counters->options.replay == LP_REPLAY_KERNEL) {
        ranges->events.count = 0;
        return ranges->started ? lp_range_end_kernels(counters) : 0;
    }
    return counters->set->passes > 1 && ranges->started && !ranges->part_open ? end_pass(counters)
                                                                              : 0;
}

static int close_region(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    int status = pop_part(counters);

    lp_range_put_event(ranges, LP_RANGE_END, 0, 0, NULL);
    ranges->depth--;
    if (status < 0)
        return status;
    return ranges->depth > 0 ? next_part(counters) : end_outermost(counters);
}

void lp_ranges_begin(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node)
{
    if (lp_counter_context() != counters->device.context) {
        lp_counter_put(counters, LP_COUNTER_SKIP, node, reason_context, NULL);
        return;
    }
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

/* The open regions cannot be measured any more. */
static void abandon(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    pop_part(counters);
    while (ranges->depth > 0) {
        lp_range_put_event(ranges, LP_RANGE_LOST, 0, 0, reason_left);
        lp_range_put_event(ranges, LP_RANGE_END, 0, 0, NULL);
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

/* Start and end */

int lp_ranges_open(struct lp_counters *counters)
{
    int status;
    bool all;

    counters->ranges = calloc(1, sizeof(*counters->ranges));
    if (!counters->ranges)
        return lp_error(LLMPERF_ENOMEM, "out of memory");
    pthread_mutex_init(&counters->ranges->launches_lock, NULL);
    if ((status = lp_range_sums_make(counters)) < 0 || (status = lp_range_enable(counters)) < 0 ||
        (status = lp_range_image_make(counters)) < 0 || (status = lp_range_configure(counters)) < 0)
        return status;
    if (counters->set->passes > 1)
        return 0;
    /* The first Start takes longest, and fails if the counters have another owner. */
    if ((status = lp_range_start(counters)) < 0 || counters->options.replay != LP_REPLAY_KERNEL)
        return status;
    return lp_range_stop(counters, &all);
}

void lp_ranges_stop(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;
    bool all;

    if (!ranges->object)
        return;
    abandon(counters);
    if (ranges->started && counters->set->passes == 1 &&
        counters->options.replay != LP_REPLAY_KERNEL) {
        if (close_window(counters) < 0)
            lp_counters_fail(counters);
    } else if (ranges->started) {
        lp_range_stop(counters, &all);
    }
    if (ranges->round_node != LP_PATH_ROOT)
        lp_counter_put(counters, LP_COUNTER_SKIP, ranges->round_node,
                       "the session ended before all passes were collected", NULL);
    lp_range_disable(counters);
}

void lp_ranges_close(struct lp_counters *counters)
{
    struct lp_ranges *ranges = counters->ranges;

    if (!ranges)
        return;
    free(ranges->frames[0].inclusive);
    free(ranges->data);
    lp_vector_clear(&ranges->measured);
    lp_vector_clear(&ranges->events);
    lp_vector_clear(&ranges->values);
    lp_vector_clear(&ranges->scratch);
    lp_vector_clear(&ranges->launches);
    pthread_mutex_destroy(&ranges->launches_lock);
    free(ranges);
}
