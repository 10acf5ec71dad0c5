/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/attribution/attribution.h"
#include "lib/attribution/correlate.h"
#include "lib/attribution/graph_map.h"
#include "lib/attribution/open_regions.h"
#include "lib/base/log.h"
#include "lib/record/names.h"
#include "lib/record/paths.h"
#include "llmperf/profile.h"

#define PARKED_LIMIT   1000000u /* activities without a known launch that are kept */
#define UNCOUNTED_NEAR 64u      /* intervals of ids that a new one may be joined with */
#define UNCOUNTED_MOST 4096u    /* intervals; each pause adds one per thread */

/* Limit of 146 years for monotonic clocks: driver faults such as 0x8000000000000000 are above
 * it. */
#define LATEST_NS (UINT64_C(1) << 62)

/* Limit if the time of a running device is not known: host records continue while it works. */
#define AHEAD_NS      UINT64_C(3600000000000)
#define LIVE_AHEAD_NS UINT64_C(1000000000)

/* Largest error between the two clocks. */
#define SKEW_NS UINT64_C(1000000)

typedef LP_VECTOR(struct lp_activity) activity_vector;

/* Correlation ids of launches while nothing was collected. */
struct id_interval {
    uint32_t first, last;
};

struct lp_attribution {
    struct lp_attribution_sink sink;
    struct lp_open_regions regions;
    struct lp_correlation correlation;
    struct lp_graph_map graphs;
    activity_vector
        parked[2]; /* activities without a known launch: of this round, and of the previous one */
    uint64_t launches, failed_launches, graph_launches, graph_failed, memory_calls, memory_failed,
        records_lost;
    uint64_t matched, graphs_matched,
        memory_matched; /* launches whose record came; launches whose first record came */
    uint64_t kernels_seen, graph_kernels_seen, memory_seen, kernels_attributed, kernels_outside,
        kernels_unattributed;
    uint64_t duplicates, invalid, incomplete, graph_unmapped;
    uint64_t attributed_ns, unattributed_ns;
    uint64_t missing, graph_missing, outside_window;
    uint64_t before_launch, nameless;
    uint64_t now_ns; /* of a running device; 0: not reported */
    uint64_t newest_host_ns;
    uint64_t reported;                       /* records of kernels and graphs, also invalid ones */
    LP_VECTOR(struct id_interval) uncounted; /* oldest first */
    LP_VECTOR(uint32_t) missed;              /* the newest ids that were reported with them */
    bool live;                               /* calls may be in progress when collection begins */
    bool settled;                            /* no more input follows */
};

struct lp_attribution *lp_attribution_create(const struct lp_attribution_sink *sink)
{
    struct lp_attribution *attribution = calloc(1, sizeof(*attribution));

    if (attribution)
        attribution->sink = *sink;
    return attribution;
}

void lp_attribution_free(struct lp_attribution *attribution)
{
    if (!attribution)
        return;
    lp_open_regions_clear(&attribution->regions);
    lp_correlation_clear(&attribution->correlation);
    lp_graph_map_clear(&attribution->graphs);
    lp_vector_clear(&attribution->uncounted);
    lp_vector_clear(&attribution->missed);
    lp_vector_clear(&attribution->parked[0]);
    lp_vector_clear(&attribution->parked[1]);
    free(attribution);
}

/* Memcpy and memset calls of zero bytes have no record, so these records are not expected. */
static bool is_awaited(const struct lp_launch *launch)
{
    return launch->kind != LP_LAUNCH_MEMORY;
}

/* Is `id` in the interval? Ids wrap around. */
static bool interval_has(const struct id_interval *interval, uint32_t id)
{
    return id - interval->first <= interval->last - interval->first;
}

/* An interval extends over windows that are collected meanwhile; its end does not. */
static void add_missed(struct lp_attribution *attribution, uint32_t id)
{
    size_t half = UNCOUNTED_MOST / 2;

    if (attribution->missed.count == UNCOUNTED_MOST)
        memmove(attribution->missed.items, attribution->missed.items + half,
                (attribution->missed.count = half) * sizeof(id));
    (void)lp_vector_push(&attribution->missed, id); /* out of memory: a step may be too long */
}

/* Intervals of several threads overlap, and an interval is reported again after it has grown. */
static void add_uncounted(struct lp_attribution *attribution, const struct lp_record *record)
{
    struct id_interval added = { LP_UNCOUNTED_FIRST(record->value),
                                 LP_UNCOUNTED_LAST(record->value) };
    size_t count = attribution->uncounted.count;
    size_t oldest = count > UNCOUNTED_NEAR ? count - UNCOUNTED_NEAR : 0;

    add_missed(attribution, added.first);
    add_missed(attribution, added.last);
    for (size_t i = count; i-- > oldest;) {
        struct id_interval *known = &attribution->uncounted.items[i];

        if (!interval_has(known, added.first) && !interval_has(&added, known->first))
            continue;
        if (interval_has(&added, known->first))
            known->first = added.first;
        if (!interval_has(known, added.last))
            known->last = added.last;
        return;
    }
    if (count == UNCOUNTED_MOST) /* all records of the older half have arrived */
        memmove(attribution->uncounted.items, attribution->uncounted.items + UNCOUNTED_MOST / 2,
                (attribution->uncounted.count = UNCOUNTED_MOST / 2) * sizeof(added));
    /* Out of memory: launches in the interval will count as unattributed. */
    (void)lp_vector_push(&attribution->uncounted, added);
}

static void add_launch(struct lp_attribution *attribution, uint32_t thread,
                       const struct lp_record *record)
{
    const struct lp_open_region *region = lp_open_regions_top(&attribution->regions, thread);
    uint32_t unit = region ? region->unit : LP_UNIT_NONE;
    struct lp_launch *launch =
        lp_correlation_add(&attribution->correlation, (uint32_t)record->value);

    if (launch) { /* field by field: it is read again soon */
        launch->node = record->node;
        launch->unit = unit;
        launch->queued = lp_queued(record->time_ns);
        launch->length = 0;
        launch->kind = (uint8_t)record->detail;
        launch->call_failed = launch->spoiled = 0;
        launch->seen = 0;
    }
    attribution->launches += record->detail == LP_LAUNCH_KERNEL;
    attribution->graph_launches += record->detail == LP_LAUNCH_GRAPH;
    attribution->memory_calls += record->detail == LP_LAUNCH_MEMORY;
    lp_units_launched(&attribution->regions.units, unit, record->detail != LP_LAUNCH_MEMORY);
    if (record->detail == LP_LAUNCH_GRAPH)
        lp_graph_map_launch(&attribution->graphs, LP_GRAPH_OF(record->value),
                            (uint32_t)record->value, record->node);
}

/* A call that returns before the step of its begin is over took one. */
static void end_launch(struct lp_attribution *attribution, const struct lp_record *record)
{
    struct lp_launch *launch =
        lp_correlation_find(&attribution->correlation, (uint32_t)record->value);
    uint32_t steps = launch ? lp_queued(record->time_ns) - launch->queued : 0;

    if (launch && steps <= UINT32_MAX / 2)
        launch->length = steps > 0 ? steps : 1;
}

static void fail_launch(struct lp_attribution *attribution, const struct lp_record *record)
{
    struct lp_launch *launch =
        lp_correlation_find(&attribution->correlation, (uint32_t)record->value);

    if (!launch || launch->call_failed)
        return;
    launch->call_failed = 1;
    if (launch->seen == 0 && !launch->spoiled && is_awaited(launch))
        lp_units_landed(&attribution->regions.units, launch->unit, true, record->time_ns);
    attribution->failed_launches += launch->kind == LP_LAUNCH_KERNEL;
    attribution->graph_failed += launch->kind == LP_LAUNCH_GRAPH;
    if (launch->kind == LP_LAUNCH_GRAPH)
        lp_graph_map_failed(&attribution->graphs, (uint32_t)record->value);
    attribution->memory_failed += launch->kind == LP_LAUNCH_MEMORY;
}

static void add_range(struct lp_attribution *attribution, const struct lp_record *record)
{
    bool truncated = record->detail != 0;

    atomic_store(&lp_path_get(record->node)->is_range, true);
    attribution->regions.truncated += truncated;
    attribution->regions.over_limit += lp_path_get(record->node)->over;
    attribution->sink.region(attribution->sink.context, record->node, truncated ? 0 : record->value,
                             truncated, LP_WINDOW_NOT);
}

static void add_count(struct lp_attribution *attribution, uint32_t thread,
                      const struct lp_record *record)
{
    const struct lp_attribution_sink *sink = &attribution->sink;
    const struct lp_open_region *region = lp_open_regions_top(&attribution->regions, thread);

    sink->count(sink->context, record->node, record->detail, record->value,
                region ? region->in_window : LP_WINDOW_NOT);
    if (region && region->is_unit && region->node == record->node)
        sink->units.count(sink->context, region->unit, record->detail, record->value);
}

static void add_host_call(const struct lp_attribution *attribution, uint32_t thread,
                          const struct lp_record *record)
{
    const struct lp_open_region *region = lp_open_regions_top(&attribution->regions, thread);

    if (attribution->sink.host_call)
        attribution->sink.host_call(attribution->sink.context, region ? region->unit : LP_UNIT_NONE,
                                    record);
}

void lp_attribution_host(struct lp_attribution *attribution, uint32_t thread,
                         const struct lp_record *records, size_t count)
{
    const struct lp_attribution_sink *sink = &attribution->sink;

    for (size_t i = 0; i < count; i++) {
        if (records[i].time_ns > attribution->newest_host_ns)
            attribution->newest_host_ns = records[i].time_ns;
        switch (records[i].kind) {
        case LP_RECORD_LAUNCH:
            add_launch(attribution, thread, &records[i]);
            break;
        case LP_RECORD_LAUNCH_CANCELLED:
            fail_launch(attribution, &records[i]);
            break;
        case LP_RECORD_LAUNCH_END:
            end_launch(attribution, &records[i]);
            break;
        case LP_RECORD_COUNT:
            add_count(attribution, thread, &records[i]);
            break;
        case LP_RECORD_UNBALANCED:
            attribution->regions.unbalanced++;
            break;
        case LP_RECORD_LOST:
            attribution->records_lost += records[i].value;
            break;
        case LP_RECORD_RANGE:
            add_range(attribution, &records[i]);
            break;
        case LP_RECORD_UNCOUNTED:
            add_uncounted(attribution, &records[i]);
            break;
        case LP_RECORD_REQUEST:
            break;
        case LP_RECORD_HOST_CALL:
            add_host_call(attribution, thread, &records[i]);
            break;
        case LP_RECORD_MEMORY:
            if (sink->memory)
                sink->memory(sink->context, thread, &records[i]);
            break;
        default:
            lp_open_regions_apply(&attribution->regions, thread, &records[i], sink);
        }
    }
}

void lp_attribution_graphs(struct lp_attribution *attribution, const struct lp_graph_event *events,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        lp_graph_map_event(&attribution->graphs, &events[i]);
}

/* There may be no host records, for example in a session that sees only another program's
 * kernels. */
static bool is_far_ahead(const struct lp_attribution *attribution,
                         const struct lp_activity *activity)
{
    uint64_t newest_ns = attribution->newest_host_ns;

    if (attribution->now_ns > 0)
        return activity->end_ns > attribution->now_ns + LIVE_AHEAD_NS;
    return newest_ns > 0 && activity->start_ns > newest_ns &&
           activity->start_ns - newest_ns > AHEAD_NS;
}

static bool time_is_valid(struct lp_attribution *attribution, const struct lp_activity *activity)
{
    if (activity->start_ns == 0 || activity->end_ns == 0) {
        attribution->incomplete++;
        return false;
    }
    if (activity->end_ns < activity->start_ns ||
        activity->end_ns - activity->start_ns > LP_ACTIVITY_LONGEST_NS ||
        activity->end_ns > LATEST_NS || is_far_ahead(attribution, activity)) {
        if (attribution->invalid++ == 0)
            lp_log(LLMPERF_LOG_DEBUG,
                   "first record with an invalid time: start %" PRIu64 ", end %" PRIu64
                   ", newest host record %" PRIu64 ", now %" PRIu64 " ns",
                   activity->start_ns, activity->end_ns, attribution->newest_host_ns,
                   attribution->now_ns);
        return false;
    }
    return true;
}

/* A record of a launch. The first record ends the wait for it. */
static void match_launch(struct lp_attribution *attribution, const struct lp_launch *launch,
                         bool kernel)
{
    bool first = !launch->call_failed && !launch->spoiled && launch->seen == 0;
    bool awaited = launch->kind == LP_LAUNCH_KERNEL ? kernel : is_awaited(launch);

    if (launch->unit != LP_UNIT_NONE)
        lp_units_landed(&attribution->regions.units, launch->unit, first && awaited,
                        attribution->now_ns ? attribution->now_ns : attribution->newest_host_ns);
    if (!first)
        return;
    attribution->matched += kernel && launch->kind == LP_LAUNCH_KERNEL;
    attribution->graphs_matched += launch->kind == LP_LAUNCH_GRAPH;
    attribution->memory_matched += launch->kind == LP_LAUNCH_MEMORY;
}

/* The record is not used, but shows that the launch has one: it is faulty, not missing. */
static void spoil_launch(struct lp_attribution *attribution, const struct lp_activity *activity)
{
    struct lp_launch *launch =
        lp_correlation_find(&attribution->correlation, activity->correlation);
    bool kernel = activity->kind == LLMPERF_ACTIVITY_KERNEL;

    if (!launch || (launch->kind == LP_LAUNCH_KERNEL && (!kernel || activity->device_launched)))
        return;
    match_launch(attribution, launch, kernel);
    launch->spoiled = 1;
    if (launch->kind == LP_LAUNCH_GRAPH) {
        lp_graph_map_seen(&attribution->graphs, activity);
        lp_graph_map_count(&attribution->graphs, activity, 0);
    }
}

/* The low half of the time is enough to see which of the two is earlier. */
static bool begins_before(const struct lp_activity *activity, const struct lp_launch *launch)
{
    uint32_t steps = launch->queued - lp_queued(activity->start_ns);

    return steps <= UINT32_MAX / 2 && (uint64_t)steps << 6 > SKEW_NS;
}

/* Nanoseconds; the longest that fits if it took more than four seconds. */
static uint32_t call_length(const struct lp_launch *launch)
{
    return launch->length > UINT32_MAX >> 6 ? UINT32_MAX : launch->length << 6;
}

/* Count a valid activity.
 * @param launch  NULL: not seen.
 * @return false: it is a duplicate and must not count. */
static bool count_activity(struct lp_attribution *attribution, struct lp_activity *activity,
                           struct lp_launch *launch)
{
    bool kernel = activity->kind == LLMPERF_ACTIVITY_KERNEL;
    bool graph = activity->graph != 0 && activity->graph_node != 0;
    /* Kernels launched from the device have the id of the host's launch, but are not its record. */
    bool launched = kernel && !activity->device_launched;
    bool unmapped = false;

    /* CUPTI reports whole graphs also while a session is paused. */
    if (!launch && activity->kind == LLMPERF_ACTIVITY_GRAPH)
        return false;
    if (launch && launched && launch->kind == LP_LAUNCH_KERNEL && launch->seen > 0) {
        /* A call in progress when a window opened may have the id of an earlier call. */
        *(attribution->regions.skipped ? &attribution->outside_window : &attribution->duplicates) +=
            1;
        return false;
    }
    if (launch)
        match_launch(attribution, launch, launched);
    if (launch && (launched || launch->kind != LP_LAUNCH_KERNEL) && launch->seen < UINT16_MAX)
        launch->seen++;
    if (launch && launch->kind == LP_LAUNCH_GRAPH)
        lp_graph_map_count(&attribution->graphs, activity, launch->seen);
    attribution->before_launch += launch && begins_before(activity, launch);
    attribution->nameless += activity->name == LP_NAMES_OTHER;
    activity->node = launch ? launch->node : LP_PATH_UNKNOWN;
    activity->captured = LP_PATH_UNKNOWN;
    if (graph && lp_graph_map_quick(&attribution->graphs, activity, &activity->captured)) {
        unmapped = (activity->captured & LP_GRAPH_REASON) != 0;
        activity->captured &= ~LP_GRAPH_REASON;
    } else if (graph) {
        activity->captured =
            lp_graph_map_captured(&attribution->graphs, activity, activity->correlation, &unmapped);
    }
    activity->unit = launch ? launch->unit : LP_UNIT_NONE;
    activity->queued = launch ? launch->queued : lp_queued(activity->start_ns);
    activity->call_ns = launch && launch->kind != LP_LAUNCH_GRAPH ? call_length(launch) : 0;
    *(launch ? &attribution->attributed_ns : &attribution->unattributed_ns) +=
        activity->end_ns - activity->start_ns;
    attribution->kernels_seen += kernel;
    attribution->memory_seen += !kernel && activity->kind != LLMPERF_ACTIVITY_GRAPH;
    attribution->graph_kernels_seen += kernel && graph;
    attribution->graph_unmapped += unmapped;
    attribution->kernels_attributed += kernel && launch;
    attribution->kernels_unattributed += kernel && !launch;
    attribution->kernels_outside += kernel && launch && launch->node == LP_PATH_ROOT;
    return true;
}

/* The launch of a record; NULL: not seen, or not yet. A record of a graph may have no id; it is
 * assigned to a launch of the graph when `all_in`. */
static struct lp_launch *find_launch(struct lp_attribution *attribution,
                                     struct lp_activity *activity, bool all_in)
{
    if (activity->correlation == LP_CORRELATION_NONE && activity->graph != 0)
        activity->correlation = lp_graph_map_launch_of(&attribution->graphs, activity, all_in);
    return lp_correlation_find(&attribution->correlation, activity->correlation);
}

void lp_attribution_sample(struct lp_attribution *attribution)
{
    attribution->regions.skipped = true;
}

void lp_attribution_now(struct lp_attribution *attribution, uint64_t now_ns)
{
    attribution->now_ns = now_ns;
}

void lp_attribution_live(struct lp_attribution *attribution, uint64_t now_ns)
{
    attribution->live = true;
    lp_attribution_answered(attribution, now_ns);
}

void lp_attribution_answered(struct lp_attribution *attribution, uint64_t asked_ns)
{
    attribution->regions.units.asked_ns = asked_ns;
}

bool lp_attribution_unanswered(const struct lp_attribution *attribution)
{
    return attribution->regions.units.unanswered > 0;
}

bool lp_attribution_is_sampled(const struct lp_attribution *attribution)
{
    return attribution->regions.skipped;
}

bool lp_attribution_missed(const struct lp_attribution *attribution, uint32_t after,
                           uint32_t before)
{
    for (size_t i = attribution->missed.count; i-- > 0 && before - after > 1;)
        if (attribution->missed.items[i] - after < before - after)
            return true;
    return false;
}

static bool park(struct lp_attribution *attribution, const struct lp_activity *activity)
{
    if (attribution->parked[0].count >= PARKED_LIMIT)
        return false;
    return lp_vector_push(&attribution->parked[0], *activity) == 0;
}

void lp_attribution_activities(struct lp_attribution *attribution, struct lp_activity *activities,
                               size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct lp_activity *activity = &activities[i];
        struct lp_launch *launch;
        uint32_t path;

        attribution->reported += activity->kind == LLMPERF_ACTIVITY_KERNEL || activity->graph != 0;
        if (!time_is_valid(attribution, activity)) {
            spoil_launch(attribution, activity);
            continue;
        }
        if (activity->graph != 0 && activity->correlation != LP_CORRELATION_NONE &&
            !lp_graph_map_quick(&attribution->graphs, activity, &path))
            lp_graph_map_seen(&attribution->graphs, activity);
        launch = find_launch(attribution, activity, false);
        if (!launch && park(attribution, activity))
            continue;
        if (!count_activity(attribution, activity, launch))
            continue;
        if (kept < i)
            activities[kept] = *activity;
        kept++;
    }
    if (kept > 0)
        attribution->sink.activities(attribution->sink.context, activities, kept);
}

/* The launch was at the edge of collection: either it was reported as not collected but has a
 * record, or it was in progress when callbacks were enabled, so its id is not known. */
static bool is_beside(const struct lp_attribution *attribution, const struct lp_activity *activity)
{
    if (activity->correlation == LP_CORRELATION_NONE)
        return attribution->live && activity->graph_node == 0;
    for (size_t i = attribution->uncounted.count; i-- > 0;)
        if (interval_has(&attribution->uncounted.items[i], activity->correlation))
            return true;
    return false;
}

/* Try the kept activities again. Those still without a launch are kept in `next`, or counted as
 * unattributed if it is NULL. */
static void retry_parked(struct lp_attribution *attribution, activity_vector *parked,
                         activity_vector *next)
{
    size_t kept = 0;

    for (size_t i = 0; i < parked->count; i++) {
        struct lp_activity *activity = &parked->items[i];
        struct lp_launch *launch = find_launch(attribution, activity, !next);

        if (!launch && next && lp_vector_push(next, *activity) == 0)
            continue;
        if (!launch && (attribution->regions.skipped || is_beside(attribution, activity))) {
            attribution->outside_window += activity->kind == LLMPERF_ACTIVITY_KERNEL;
            continue;
        }
        if (count_activity(attribution, activity, launch))
            parked->items[kept++] = *activity;
    }
    if (kept > 0)
        attribution->sink.activities(attribution->sink.context, parked->items, kept);
    parked->count = 0;
}

void lp_attribution_settle(struct lp_attribution *attribution, uint64_t now_ns, bool final)
{
    retry_parked(attribution, &attribution->parked[1], NULL);
    retry_parked(attribution, &attribution->parked[0], final ? NULL : &attribution->parked[1]);
    now_ns = now_ns ? now_ns : attribution->newest_host_ns;
    lp_correlation_retire(&attribution->correlation, now_ns);
    lp_units_settle(&attribution->regions.units, now_ns, final, &attribution->sink);
    attribution->settled = attribution->settled || final;
    if (final)
        attribution->missing = lp_correlation_missing(&attribution->correlation);
    if (final)
        attribution->graph_missing = lp_attribution_pending_graphs(attribution);
}

void lp_attribution_close_regions(struct lp_attribution *attribution)
{
    lp_open_regions_close(&attribution->regions, &attribution->sink);
}

void lp_attribution_progress(const struct lp_attribution *attribution,
                             struct lp_attribution_progress *progress_out)
{
    progress_out->awaited = attribution->launches - attribution->failed_launches +
                            attribution->graph_launches - attribution->graph_failed;
    progress_out->reported = attribution->reported;
}

bool lp_attribution_counts(struct lp_attribution *attribution, uint32_t correlation)
{
    return lp_correlation_find(&attribution->correlation, correlation) != NULL;
}

bool lp_attribution_has_graphs(const struct lp_attribution *attribution)
{
    return attribution->graph_launches > 0;
}

uint64_t lp_attribution_counted(const struct lp_attribution *attribution)
{
    return attribution->kernels_seen + attribution->memory_seen + attribution->invalid +
           attribution->incomplete + attribution->duplicates;
}

uint64_t lp_attribution_pending(const struct lp_attribution *attribution)
{
    uint64_t launches = attribution->launches + attribution->graph_launches;
    uint64_t settled = attribution->matched + attribution->failed_launches +
                       attribution->graphs_matched + attribution->graph_failed +
                       attribution->correlation.forgotten;

    return launches > settled ? launches - settled : 0;
}

uint64_t lp_attribution_pending_graphs(const struct lp_attribution *attribution)
{
    return attribution->regions.skipped ? 0 : lp_graph_map_missing(&attribution->graphs);
}

uint64_t lp_attribution_untracked(const struct lp_attribution *attribution)
{
    return attribution->regions.units.untracked;
}

uint64_t lp_attribution_pending_memory(const struct lp_attribution *attribution)
{
    uint64_t settled = attribution->memory_matched + attribution->memory_failed;

    return attribution->memory_calls > settled ? attribution->memory_calls - settled : 0;
}

bool lp_attribution_failed(const struct lp_attribution *attribution)
{
    return attribution->correlation.failed || attribution->regions.failed ||
           attribution->graphs.failed;
}

void lp_attribution_ledger(const struct lp_attribution *attribution, llmperf_ledger *ledger)
{
    uint64_t all_ns = attribution->attributed_ns + attribution->unattributed_ns;

    ledger->launches_expected = attribution->launches - attribution->failed_launches;
    ledger->graph_launches = attribution->graph_launches - attribution->graph_failed;
    ledger->memory_calls = attribution->memory_calls - attribution->memory_failed;
    ledger->kernels_seen = attribution->kernels_seen;
    ledger->graph_kernels_seen = attribution->graph_kernels_seen;
    ledger->memory_seen = attribution->memory_seen;
    ledger->kernels_attributed = attribution->kernels_attributed;
    ledger->kernels_outside = attribution->kernels_outside;
    ledger->kernels_unattributed = attribution->kernels_unattributed;
    ledger->kernels_outside_window = attribution->outside_window;
    ledger->launches_missing = attribution->missing + attribution->correlation.forgotten;
    ledger->launches_duplicate = attribution->correlation.duplicates;
    ledger->graph_records_missing = attribution->graph_missing;
    ledger->memory_missing = attribution->settled ? lp_attribution_pending_memory(attribution) : 0;
    ledger->records_before_launch = attribution->before_launch;
    ledger->names_over_limit = attribution->nameless;
    ledger->records_invalid_time = attribution->invalid;
    ledger->records_incomplete = attribution->incomplete;
    ledger->records_duplicate = attribution->duplicates;
    ledger->graph_nodes_unmapped = attribution->graph_unmapped;
    ledger->regions_dropped = attribution->records_lost + attribution->graphs.lost;
    ledger->graphs_device_launchable = attribution->graphs.device_launchable;
    ledger->regions_truncated = attribution->regions.truncated;
    ledger->regions_unbalanced = attribution->regions.unbalanced;
    ledger->regions_abandoned = attribution->regions.abandoned;
    ledger->regions_over_limit = attribution->regions.over_limit;
    ledger->sampled_fraction = 1;
    ledger->attributed_gpu_time_share =
        all_ns ? (double)attribution->attributed_ns / (double)all_ns : NAN;
}
