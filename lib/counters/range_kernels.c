/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel replay: CUPTI makes a range of each kernel, in the order of their launches. */
#include <string.h>

#include "lib/counters/range.h"
#include "lib/record/paths.h"

static const char reason_launches[] = "CUPTI reported other kernels than were launched";

void lp_range_listen(struct lp_ranges *ranges, bool listen)
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

/* Number of ranges of a launch: one for a kernel. A graph has an unknown number; if it is the only
 * one, it has the remaining ranges. */
static size_t ranges_of(const struct lp_range_launch *launch, size_t ranges, size_t kernels)
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
        const struct lp_range_launch *launch = &ranges->launches.items[i];

        for (size_t k = ranges_of(launch, count, kernels); k > 0; k--, at++)
            if (lp_counter_set_evaluate(counters->set, ranges->data, ranges->data_size, at,
                                        values) == 0)
                lp_counter_put(counters, LP_COUNTER_KERNEL, launch->node, launch->name, values);
    }
}

int lp_range_end_kernels(struct lp_counters *counters)
{
    bool all;
    size_t count = 0;
    int status = lp_range_stop(counters, &all);

    lp_range_listen(counters->ranges, false);
    if (status < 0 || (status = lp_range_decode(counters, &count)) < 0)
        return status;
    put_kernels(counters, count);
    if ((status = lp_range_image_clear(counters)) < 0)
        return status;
    return lp_range_configure(counters);
}

static bool is_kernel_launch(uint32_t kind)
{
    return kind == LP_LAUNCH_KERNEL || kind == LP_LAUNCH_KERNEL_MULTI || kind == LP_LAUNCH_GRAPH;
}

/* The GPU counts all its work, of any program. */
static void look_where(struct lp_counters *counters, const void *launch_context)
{
    const struct lp_thread *owner = atomic_load(&counters->ranges->owner);

    if (!owner)
        return;
    if (owner != lp_thread_self)
        atomic_fetch_add(&counters->others, launch_context == counters->device.context);
    else if (launch_context != counters->device.context)
        atomic_store(&counters->ranges->elsewhere, true);
}

void lp_ranges_launch(struct lp_counters *counters, uint32_t kind, const char *name,
                      const void *launch_context, uint32_t correlation)
{
    struct lp_ranges *ranges = counters->ranges;
    struct lp_range_launch launch = { lp_thread_self ? lp_thread_self->node : LP_PATH_ROOT, kind,
                                      correlation, NULL };

    look_where(counters, launch_context);
    if (counters->options.replay != LP_REPLAY_KERNEL || !is_kernel_launch(kind))
        return;
    pthread_mutex_lock(&ranges->launches_lock);
    if (ranges->listen) {
        pthread_mutex_lock(&counters->queue.lock);
        launch.name = lp_names_text(
            &counters->queue.texts,
            lp_names_intern(&counters->queue.texts, name ? name : "[kernel in a graph]"));
        pthread_mutex_unlock(&counters->queue.lock);
        if (lp_vector_push(&ranges->launches, launch) < 0)
            ranges->listen = false;
    }
    pthread_mutex_unlock(&ranges->launches_lock);
}

void lp_ranges_launch_cancelled(struct lp_counters *counters, uint32_t correlation)
{
    struct lp_ranges *ranges = counters->ranges;

    if (counters->options.replay != LP_REPLAY_KERNEL)
        return;
    pthread_mutex_lock(&ranges->launches_lock);
    for (size_t i = ranges->launches.count; i-- > 0;)
        if (ranges->launches.items[i].correlation == correlation) {
            memmove(&ranges->launches.items[i], &ranges->launches.items[i + 1],
                    (--ranges->launches.count - i) * sizeof(struct lp_range_launch));
            break;
        }
    pthread_mutex_unlock(&ranges->launches_lock);
}
