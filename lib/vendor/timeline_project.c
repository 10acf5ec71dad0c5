/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the paths of ranges, and the range around each call, in one sweep over the time of each
 * thread. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"
#include "lib/record/paths.h"
#include "lib/vendor/timeline.h"
#include "lib/vendor/vendor.h"

/* Limit of the bytes of all paths in a file. */
#define PATH_BYTES_MOST (UINT64_C(64) << 20)

/* A query: which path was open on a thread during a whole call? */
struct query {
    int64_t start, end;
    uint64_t thread;
    uint32_t *node; /* result */
};

/* An open range. */
struct open_span {
    int64_t end;
    uint32_t label, node;
};

struct sweep {
    struct lp_timeline *timeline;
    struct open_span open[LP_TIMELINE_DEPTH]; /* outermost first */
    size_t depth;
};

static int compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_times(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Of ranges with the same start the longer one is outer. */
static int compare_spans(const void *left, const void *right)
{
    const struct lp_span *a = left, *b = right;
    int order = compare_words(a->thread, b->thread);

    order = order ? order : compare_times(a->start, b->start);
    order = order ? order : compare_times(b->end, a->end);
    return order ? order : (a->label > b->label) - (a->label < b->label);
}

static int compare_queries(const void *left, const void *right)
{
    const struct query *a = left, *b = right;
    int order = compare_words(a->thread, b->thread);

    return order ? order : compare_times(a->start, b->start);
}

static uint32_t path_bytes(const struct lp_timeline *timeline, uint32_t node)
{
    return node < timeline->path_bytes.count ? timeline->path_bytes.items[node] : 0;
}

static int note_path(struct lp_timeline *timeline, uint32_t node, uint64_t bytes)
{
    while (timeline->path_bytes.count <= node)
        if (lp_vector_push(&timeline->path_bytes, 0) < 0)
            return LLMPERF_ENOMEM;
    if (timeline->path_bytes.items[node] == 0) {
        timeline->path_bytes.items[node] = (uint32_t)bytes;
        timeline->path_total += bytes;
    }
    return 0;
}

/* Path of `label` below `parent`. Paths of this timeline are cached, since the process's tree takes
 * a lock. */
static int find_node(struct lp_timeline *timeline, uint32_t parent, uint32_t label,
                     uint32_t *node_out)
{
    const char *text = lp_names_text(&timeline->labels, label);
    uint64_t bytes = path_bytes(timeline, parent) + strlen(text) + 1;
    uint32_t node = lp_hashmap_get(&timeline->nodes, parent, label);

    if (node == LP_HASHMAP_NONE) {
        node = timeline->path_total + bytes > PATH_BYTES_MOST
                   ? LP_PATH_OTHER
                   : lp_range_node(parent, text, timeline->flags);
        if (lp_hashmap_put(&timeline->nodes, parent, label, node) < 0 ||
            note_path(timeline, node, bytes) < 0)
            return LLMPERF_ENOMEM;
        timeline->paths_full |= lp_path_is_rest(node);
    }
    *node_out = node;
    return 0;
}

/* Recompute the paths of open ranges from `first` on, after a lower one was removed. */
static int rename_open(struct sweep *sweep, size_t first)
{
    int status = 0;

    for (size_t i = first; i < sweep->depth && status == 0; i++)
        status = find_node(sweep->timeline, i ? sweep->open[i - 1].node : LP_PATH_ROOT,
                           sweep->open[i].label, &sweep->open[i].node);
    return status;
}

/* Remove ranges that ended before `time` (with `also_at`: or at `time`): push/pop ranges from the
 * end of the list, start/end ranges from anywhere. */
static int close_spans(struct sweep *sweep, int64_t time, bool also_at)
{
    size_t kept = 0, first_moved = sweep->depth;

    for (size_t i = 0; i < sweep->depth; i++) {
        if (sweep->open[i].end < time || (also_at && sweep->open[i].end == time))
            continue;
        if (kept != i && first_moved == sweep->depth)
            first_moved = kept;
        sweep->open[kept++] = sweep->open[i];
    }
    if (first_moved > kept)
        first_moved = kept;
    sweep->depth = kept;
    return rename_open(sweep, first_moved);
}

static uint32_t innermost(const struct sweep *sweep)
{
    return sweep->depth > 0 ? sweep->open[sweep->depth - 1].node : LP_PATH_ROOT;
}

/* Ranges are nearly always nested, so the list has to be searched only if its last range has
 * ended. */
static bool may_close(const struct sweep *sweep, int64_t time)
{
    for (size_t i = sweep->depth; i-- > 0;)
        if (sweep->open[i].end <= time)
            return true;
    return false;
}

static int count_span(struct lp_timeline *timeline, const struct lp_span *span, uint32_t node)
{
    const struct lp_range_work *work = &timeline->works.items[span->label];
    struct lp_process *process;
    int status = lp_timeline_process(timeline, span->thread & timeline->process_mask, &process);

    if (status < 0)
        return status;
    for (uint32_t i = 0; i < work->count; i++)
        lp_totals_count(process->totals, node, work->quantities[i], work->amounts[i],
                        LP_WINDOW_NOT);
    lp_totals_region(process->totals, node,
                     span->open ? 0 : (uint64_t)span->end - (uint64_t)span->start, span->open,
                     LP_WINDOW_NOT);
    process->ledger.regions_truncated += span->open;
    return 0;
}

static int open_span(struct sweep *sweep, const struct lp_span *span)
{
    struct lp_timeline *timeline = sweep->timeline;
    uint32_t parent, node;
    int status;

    if (span->end < span->start) {
        timeline->bad_spans++;
        return 0;
    }
    if (may_close(sweep, span->start) &&
        (status = close_spans(sweep, span->start, span->end > span->start)) < 0)
        return status;
    if (sweep->depth == LP_TIMELINE_DEPTH) {
        timeline->deep_spans++;
        return 0;
    }
    parent = span->foreign ? LP_PATH_ROOT : innermost(sweep);
    if ((status = find_node(timeline, parent, span->label, &node)) < 0)
        return status;
    if (!span->foreign)
        sweep->open[sweep->depth++] = (struct open_span){ span->end, span->label, node };
    return node == parent && !lp_path_is_rest(node) ? 0 : count_span(timeline, span, node);
}

/* Path of the open ranges that contain the whole call. */
static int answer(struct sweep *sweep, const struct query *query)
{
    uint32_t node = LP_PATH_ROOT;
    bool all = true;
    int status;

    if (may_close(sweep, query->start) && (status = close_spans(sweep, query->start, false)) < 0)
        return status;
    for (size_t i = 0; i < sweep->depth; i++) {
        if (sweep->open[i].end < query->end)
            all = false;
        else if (all)
            node = sweep->open[i].node;
        else if ((status = find_node(sweep->timeline, node, sweep->open[i].label, &node)) < 0)
            return status;
    }
    *query->node = node;
    return 0;
}

static size_t count_queries(const struct lp_timeline *timeline)
{
    size_t count = timeline->node_events.count;

    for (size_t i = 0; i < timeline->links.count; i++)
        count += timeline->links.items[i].call.rank != UINT8_MAX;
    return count;
}

static struct query *make_queries(struct lp_timeline *timeline, size_t count)
{
    struct query *queries = malloc((count + 1) * sizeof(*queries));
    size_t at = 0;

    for (size_t i = 0; queries && i < timeline->links.count; i++) {
        struct lp_link *link = &timeline->links.items[i];

        if (link->call.rank != UINT8_MAX)
            queries[at++] =
                (struct query){ link->call.start, link->call.end, link->call.thread, &link->node };
    }
    for (size_t i = 0; queries && i < timeline->node_events.count; i++) {
        struct lp_node_event *event = &timeline->node_events.items[i];

        queries[at++] = (struct query){ event->start, event->end, event->thread, &event->node };
    }
    return queries;
}

/* At the same time, ranges come before queries: a range that begins with a call contains it. */
static int run_sweep(struct lp_timeline *timeline, const struct query *queries, size_t count)
{
    struct sweep sweep = { .timeline = timeline, .depth = 0 };
    size_t span = 0, query = 0;
    uint64_t thread = 0;
    int status = 0;

    while (status == 0 && (span < timeline->spans.count || query < count)) {
        const struct lp_span *next =
            span < timeline->spans.count ? &timeline->spans.items[span] : NULL;
        bool take_span = query == count;

        if (next && query < count)
            take_span = next->thread != queries[query].thread ? next->thread < queries[query].thread
                                                              : next->start <= queries[query].start;
        if ((take_span ? next->thread : queries[query].thread) != thread)
            sweep.depth = 0;
        thread = take_span ? next->thread : queries[query].thread;
        status = take_span ? open_span(&sweep, next) : answer(&sweep, &queries[query]);
        span += take_span;
        query += !take_span;
    }
    return status;
}

/* What the name of a range says of its work, by label. */
static int read_works(struct lp_timeline *timeline)
{
    struct lp_range_work none = { .count = 0 };
    struct lp_range range;
    int status = 0;

    for (uint32_t i = 0; i < timeline->labels.texts.count && status == 0; i++) {
        bool found = !(timeline->flags & LLMPERF_IMPORT_EXACT_NAMES) &&
                     lp_range_find_label(lp_names_text(&timeline->labels, i), &range);

        status = lp_vector_push(&timeline->works, found ? range.work : none);
    }
    return status;
}

int lp_timeline_project(struct lp_timeline *timeline)
{
    size_t count = count_queries(timeline);
    struct query *queries;
    int status;

    if (timeline->spans.count == 0) /* links and events have no region already */
        return 0;
    if (!(queries = make_queries(timeline, count)))
        return lp_error(LLMPERF_ENOMEM, "out of memory (%zu calls)", count);
    lp_timeline_sort(timeline->spans.items, timeline->spans.count, sizeof(*timeline->spans.items),
                     compare_spans);
    lp_timeline_sort(queries, count, sizeof(*queries), compare_queries);
    if ((status = read_works(timeline)) == 0)
        status = run_sweep(timeline, queries, count);
    free(queries);
    return status;
}
