/* SPDX-License-Identifier: Apache-2.0 */
/* Queue of facts from the threads that count to the collector. */
#include <stdint.h>
#include <string.h>

#include "lib/counters/run.h"

/* A region that is never measured may run for days, so its skips are only counted. */
static bool join_skip(struct lp_counter_queue *queue, uint32_t node, const char *reason)
{
    uint32_t at = lp_hashmap_get(&queue->skips, node, (uint64_t)(uintptr_t)reason);

    if (at == LP_HASHMAP_NONE)
        return false;
    queue->facts.items[at].count++;
    return true;
}

static bool add_fact(struct lp_counter_queue *queue, const struct lp_counter_queued *fact,
                     const double *values, size_t columns)
{
    if (lp_vector_reserve(&queue->values, columns) < 0 || lp_vector_push(&queue->facts, *fact) < 0)
        return false;
    if (columns > 0)
        memcpy(queue->values.items + queue->values.count, values, columns * sizeof(*values));
    queue->values.count += columns;
    return fact->kind != LP_COUNTER_SKIP ||
           lp_hashmap_put(&queue->skips, fact->node, (uint64_t)(uintptr_t)fact->text,
                          (uint32_t)(queue->facts.count - 1)) == 0;
}

void lp_counter_put(struct lp_counters *counters, uint32_t kind, uint32_t node, const char *text,
                    const double *values)
{
    struct lp_counter_queue *queue = &counters->queue;
    size_t columns = values ? counters->set->columns.count : 0;
    struct lp_counter_queued fact = { kind, node, text, 0, 1 };

    pthread_mutex_lock(&queue->lock);
    fact.values = queue->values.count;
    if ((kind != LP_COUNTER_SKIP || !join_skip(queue, node, text)) &&
        !add_fact(queue, &fact, values, columns))
        queue->failed = true;
    pthread_mutex_unlock(&queue->lock);
}

static void pass_fact(const struct lp_counters *counters, const struct lp_counter_queued *queued,
                      const double *values, const struct lp_device_sink *sink)
{
    struct lp_counter_fact fact = {
        .kind = queued->kind,
        .node = queued->node,
        .name = lp_names_intern(counters->options.names, queued->text ? queued->text : ""),
        .device = (uint16_t)counters->device.ordinal,
    };

    for (uint64_t i = 0; i < queued->count; i++)
        sink->counter(sink->context, &fact, values);
}

void lp_counter_queue_deliver(struct lp_counters *counters, const struct lp_device_sink *sink)
{
    struct lp_counter_queue *queue = &counters->queue, taken = { 0 };

    pthread_mutex_lock(&queue->lock);
    memcpy(&taken.facts, &queue->facts, sizeof(taken.facts));
    memcpy(&taken.values, &queue->values, sizeof(taken.values));
    memset(&queue->facts, 0, sizeof(queue->facts));
    memset(&queue->values, 0, sizeof(queue->values));
    lp_hashmap_reset(&queue->skips);
    pthread_mutex_unlock(&queue->lock);
    for (size_t i = 0; i < taken.facts.count; i++) {
        const double *values = taken.values.items; /* NULL: no fact has values */

        pass_fact(counters, &taken.facts.items[i],
                  values ? values + taken.facts.items[i].values : NULL, sink);
    }
    lp_vector_clear(&taken.facts);
    lp_vector_clear(&taken.values);
}

void lp_counter_queue_clear(struct lp_counter_queue *queue)
{
    lp_vector_clear(&queue->facts);
    lp_vector_clear(&queue->values);
    lp_hashmap_clear(&queue->skips);
    lp_names_clear(&queue->texts);
}
