/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/hashmap.h"
#include "lib/base/vector.h"
#include "lib/device/graph_log.h"
#include "lib/record/paths.h"
#include "lib/base/forked.h"
#include "lib/device/device.h"

#define TIDY_LEAST  4096u /* fewer events than this are not searched for destroyed graphs */
#define DRAIN_BATCH 256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows */
static LP_VECTOR(struct lp_graph_event) events;
static bool reading;     /* a session waits for events */
static size_t delivered; /* number of the oldest events that it has received */
static size_t tidy_at = TIDY_LEAST;
static uint64_t lost;     /* dropped and not yet reported */
static uint64_t finished; /* graphs destroyed since the last tidying */

/* State of a scan from the newest event to the oldest. */
struct survey {
    struct lp_hashmap dead, needed; /* graphs; needed: source of some node that is alive */
    struct lp_hashmap updated;      /* (graph, 0) -> correlation id of its last whole update;
                                       (node, 1): a later update of this node */
    bool failed;
};

static void note(struct survey *survey, struct lp_hashmap *set, uint64_t key, uint64_t kind,
                 uint32_t value)
{
    if (lp_hashmap_put(set, key, kind, value) < 0)
        survey->failed = true;
}

/* An update that a later one supersedes. */
static bool is_superseded(struct survey *survey, const struct lp_graph_event *event)
{
    uint32_t graph = LP_GRAPH_OF(event->node);
    uint32_t last = lp_hashmap_get(&survey->updated, graph, 0);

    if (event->kind == LP_GRAPH_UPDATED) {
        if (last == LP_HASHMAP_NONE)
            note(survey, &survey->updated, graph, 0, event->correlation);
        return last != LP_HASHMAP_NONE;
    }
    if (event->kind != LP_GRAPH_NODE_UPDATED)
        return false;
    if ((last != LP_HASHMAP_NONE && last != event->correlation) ||
        lp_hashmap_get(&survey->updated, event->node, 1) != LP_HASHMAP_NONE)
        return true;
    note(survey, &survey->updated, event->node, 1, 1);
    return false;
}

/* Would a session that starts now need this event? A graph that is alive needs its own and those of
 * the graphs that its nodes come from. */
static bool is_needed(struct survey *survey, const struct lp_graph_event *event)
{
    uint32_t graph = LP_GRAPH_OF(event->node), origin = LP_GRAPH_OF(event->origin);

    if (event->kind == LP_GRAPH_DESTROYED || event->kind == LP_GRAPH_INLINED)
        note(survey, &survey->dead, event->kind == LP_GRAPH_INLINED ? origin : graph, 0, 1);
    if (event->kind == LP_GRAPH_DESTROYED) /* See is_mourned(). */
        return true;
    if (event->kind == LP_GRAPH_LOST)
        return false;
    if (lp_hashmap_get(&survey->dead, graph, 0) != LP_HASHMAP_NONE &&
        lp_hashmap_get(&survey->needed, graph, 0) == LP_HASHMAP_NONE)
        return false;
    if (is_superseded(survey, event))
        return false;
    if (origin != 0)
        note(survey, &survey->needed, origin, 0, 1);
    return true;
}

/* A destroyed graph of which events are kept for other graphs: keep its destruction, too. */
static bool is_mourned(const struct survey *survey, const struct lp_graph_event *event)
{
    return event->kind != LP_GRAPH_DESTROYED ||
           lp_hashmap_get(&survey->needed, LP_GRAPH_OF(event->node), 0) != LP_HASHMAP_NONE;
}

static void drop_all(void)
{
    lost += events.count;
    events.count = delivered = 0;
}

static void squeeze(void)
{
    size_t kept = 0, kept_delivered = 0;

    for (size_t i = 0; i < events.count; i++) {
        if (events.items[i].kind == 0)
            continue;
        kept_delivered += i < delivered;
        events.items[kept++] = events.items[i];
    }
    events.count = kept;
    delivered = kept_delivered;
}

/* Under the lock. Events that the session has not received yet are always kept. */
static void tidy(void)
{
    struct survey survey = { { NULL, 0, 0 }, { NULL, 0, 0 }, { NULL, 0, 0 }, false };

    for (size_t i = events.count; i-- > 0;)
        if (!is_needed(&survey, &events.items[i]) && (!reading || i < delivered))
            events.items[i].kind = 0;
    for (size_t i = 0; i < events.count; i++)
        if (!is_mourned(&survey, &events.items[i]) && (!reading || i < delivered))
            events.items[i].kind = 0;
    if (survey.failed)
        drop_all();
    squeeze();
    lp_hashmap_clear(&survey.dead);
    lp_hashmap_clear(&survey.needed);
    lp_hashmap_clear(&survey.updated);
    finished = 0;
    tidy_at = events.count * 2 > TIDY_LEAST ? events.count * 2 : TIDY_LEAST;
}

/* CUPTI reports a clone twice, as created (under an id that may not be its last one) and as cloned;
 * one event is enough. */
static bool replaces_last(const struct lp_graph_event *event)
{
    const struct lp_graph_event *last = events.count > 0 ? &events.items[events.count - 1] : NULL;

    return last && event->kind == LP_GRAPH_NODE_CLONED && last->kind == LP_GRAPH_NODE_CREATED &&
           LP_GRAPH_OF(last->node) == LP_GRAPH_OF(event->node) &&
           (!reading || delivered < events.count);
}

/* Under the lock. */
static void append(const struct lp_graph_event *event)
{
    if (events.count >= tidy_at && finished > 0)
        tidy();
    finished += event->kind == LP_GRAPH_DESTROYED;
    if (replaces_last(event))
        events.items[events.count - 1] = *event;
    else if (events.count >= LP_GRAPH_LOG_LIMIT || lp_vector_push(&events, *event) < 0)
        lost++;
}

void lp_graph_log_add(const struct lp_graph_event *event)
{
    if (lp_capture_forked()) /* Another thread may have held the lock at the fork. */
        return;
    pthread_mutex_lock(&lock);
    append(event);
    pthread_mutex_unlock(&lock);
}

void lp_graph_log_begin(void)
{
    pthread_mutex_lock(&lock);
    if (finished > 0)
        tidy();
    reading = true;
    delivered = 0;
    pthread_mutex_unlock(&lock);
}

void lp_graph_log_end(void)
{
    pthread_mutex_lock(&lock);
    reading = false;
    pthread_mutex_unlock(&lock);
}

void lp_graph_log_forget(void)
{
    pthread_mutex_lock(&lock);
    lp_vector_clear(&events);
    delivered = 0;
    lost = finished = 0;
    tidy_at = TIDY_LEAST;
    pthread_mutex_unlock(&lock);
}

void lp_graph_log_keep_paths(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < events.count; i++)
        lp_path_keep(events.items[i].path);
    pthread_mutex_unlock(&lock);
}

size_t lp_graph_log_size(void)
{
    size_t size;

    pthread_mutex_lock(&lock);
    size = events.count;
    pthread_mutex_unlock(&lock);
    return size;
}

static size_t take_batch(struct lp_graph_event batch[DRAIN_BATCH])
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    if (lost > 0) {
        batch[count++] = (struct lp_graph_event){ .kind = LP_GRAPH_LOST, .origin = lost };
        lost = 0;
    }
    while (count < DRAIN_BATCH && delivered < events.count)
        batch[count++] = events.items[delivered++];
    pthread_mutex_unlock(&lock);
    return count;
}

void lp_graph_log_drain(const struct lp_device_sink *sink)
{
    struct lp_graph_event batch[DRAIN_BATCH];
    size_t count;

    while ((count = take_batch(batch)) > 0)
        sink->graphs(sink->context, batch, count);
}
