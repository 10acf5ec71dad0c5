/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/statistics/busy.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/status.h"

#define LOG_PART  8u  /* or this part of the log: sorting late intervals into it costs as much */
#define NEAR      16u /* an interval is moved forward in place by at most this many */
#define JOINED_NS (UINT32_C(1) << 24)    /* consecutive intervals are joined up to this length */
#define LOG_NS    UINT64_C(600000000000) /* ten minutes: few records are later than that */
#define LOG_LEAST 16u                    /* this part of the log is kept at any age */

#define LENGTH_MOST ((UINT64_C(1) << LP_BUSY_LENGTH_BITS) - 1)
#define ROW_MOST    ((UINT32_C(1) << LP_BUSY_ROW_BITS) - 1)

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t end_of(const struct lp_busy_interval *interval)
{
    return interval->start_ns + interval->length_ns;
}

/* end_ns - start_ns must not exceed LENGTH_MOST. */
static struct lp_busy_interval make_interval(uint64_t start_ns, uint64_t end_ns, uint32_t row)
{
    return (struct lp_busy_interval){ start_ns, (end_ns - start_ns) & LENGTH_MOST, row & ROW_MOST };
}

void lp_busy_init(struct lp_busy *busy, size_t batch, size_t kept)
{
    *busy = (struct lp_busy){ .batch = batch, .kept = kept };
}

static bool find_queue(struct lp_busy *busy, uint16_t device, uint32_t *queue_out)
{
    struct lp_busy_queue empty = { .due = busy->batch, .device = device };
    uint32_t i = 0;

    while (i < busy->queues.count && busy->queues.items[i].device != device)
        i++;
    *queue_out = i;
    return i < busy->queues.count || lp_vector_push(&busy->queues, empty) == 0;
}

int lp_busy_add_row(struct lp_busy *busy, uint32_t parent, uint16_t device)
{
    struct lp_busy_row row = { .parent = parent };

    if (busy->rows.count > ROW_MOST || !find_queue(busy, device, &row.queue))
        return LLMPERF_ENOMEM;
    return lp_vector_push(&busy->rows, row);
}

/* Sorting */

/* End index of the ascending run that starts at `from`. */
static size_t run_end(const struct lp_busy_interval *items, size_t from, size_t count)
{
    size_t at = from + 1;

    while (at < count && items[at].start_ns >= items[at - 1].start_ns)
        at++;
    return at < count ? at : count;
}

/* Merge the runs [left, middle) and [middle, right) of `from` into the same range of `to`. */
static void merge_runs(const struct lp_busy_interval *from, struct lp_busy_interval *to,
                       size_t left, size_t middle, size_t right)
{
    size_t a = left, b = middle;

    for (size_t out = left; out < right; out++)
        if (a < middle && (b == right || from[a].start_ns <= from[b].start_ns))
            to[out] = from[a++];
        else
            to[out] = from[b++];
}

/* Natural merge sort: each stream is in order, so there are few runs and few passes. The second
 * half of the vector's memory is the buffer; it is kept for the next call. */
static int sort_pending(struct lp_busy_queue *queue)
{
    lp_busy_intervals *pending = &queue->pending;
    size_t count = pending->count, runs;
    struct lp_busy_interval *from, *to, *swap;

    if (!queue->pending_unsorted)
        return 0;
    if (lp_vector_reserve(pending, count) < 0)
        return LLMPERF_ENOMEM;
    from = pending->items;
    to = pending->items + count;
    do {
        runs = 0;
        for (size_t left = 0, middle, right; left < count; left = right) {
            middle = run_end(from, left, count);
            right = middle < count ? run_end(from, middle, count) : count;
            merge_runs(from, to, left, middle, right);
            runs++;
        }
        swap = from;
        from = to;
        to = swap;
    } while (runs > 1);
    if (from != pending->items)
        memcpy(pending->items, from, count * sizeof(*from));
    queue->pending_unsorted = false;
    return 0;
}

/* The first interval that starts at or after a time. */
static size_t find_start(const lp_busy_intervals *sorted, uint64_t start_ns)
{
    size_t low = 0, high = sorted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sorted->items[middle].start_ns < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sweep */

/* Does an interval that starts after all earlier ones extend the union? */
static bool cover(struct lp_busy_reach *reach, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t from_ns = later(start_ns, reach->until_ns);

    if (end_ns <= from_ns)
        return false;
    reach->ns += end_ns - from_ns;
    reach->until_ns = end_ns;
    return true;
}

/* Parents are busy whenever a row is. false: not even the row's own union grew. */
static bool sweep_interval(struct lp_busy_row *rows, const struct lp_busy_interval *interval)
{
    uint64_t start_ns = interval->start_ns, end_ns = end_of(interval);

    if (!cover(&rows[interval->row].own, start_ns, end_ns))
        return false;
    for (uint32_t row = interval->row; row != LP_BUSY_TOP; row = rows[row].parent)
        if (!cover(&rows[row].all, start_ns, end_ns))
            break;
    return true;
}

/* Join an interval with the row's last one if they touch. `until_ns`: the row's end before. */
static bool join_interval(struct lp_busy_queue *queue, const struct lp_busy_row *row,
                          const struct lp_busy_interval *interval, uint64_t until_ns)
{
    struct lp_busy_interval *last =
        row->last < queue->log.count ? &queue->log.items[row->last] : NULL;
    uint64_t length_ns;

    if (interval->start_ns > until_ns || !last || last->row != interval->row ||
        end_of(last) != until_ns)
        return false;
    length_ns = end_of(interval) - last->start_ns;
    if (length_ns > JOINED_NS)
        return false;
    last->length_ns = length_ns & LENGTH_MOST;
    queue->longest_ns = later(queue->longest_ns, length_ns);
    return true;
}

/* Sweep the pending intervals [first, end) into the log, which has space for them. */
static void sweep(struct lp_busy *busy, struct lp_busy_queue *queue, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct lp_busy_interval *interval = &queue->pending.items[i];
        struct lp_busy_row *row = &busy->rows.items[interval->row];
        uint64_t until_ns = row->own.until_ns;

        if (!sweep_interval(busy->rows.items, interval) ||
            join_interval(queue, row, interval, until_ns))
            continue;
        row->last = (uint32_t)queue->log.count;
        queue->log.items[queue->log.count++] = *interval;
        queue->longest_ns = later(queue->longest_ns, interval->length_ns);
    }
    if (end > first)
        queue->swept_ns = queue->pending.items[end - 1].start_ns;
}

/* Late intervals */

static bool sweep_from(struct lp_busy_row *rows, struct lp_busy_interval interval, uint64_t from_ns)
{
    if (interval.start_ns < from_ns) {
        if (end_of(&interval) <= from_ns)
            return false;
        interval = make_interval(from_ns, end_of(&interval), interval.row);
    }
    return sweep_interval(rows, &interval);
}

/* A copy with empty rows; NULL: out of memory. */
static struct lp_busy_row *copy_tree(const struct lp_busy *busy)
{
    struct lp_busy_row *rows = calloc(busy->rows.count, sizeof(*rows));

    for (size_t i = 0; rows && i < busy->rows.count; i++)
        rows[i].parent = busy->rows.items[i].parent;
    return rows;
}

static void add_difference(struct lp_busy_reach *reach, const struct lp_busy_reach *before,
                           const struct lp_busy_reach *after)
{
    reach->ns += after->ns - before->ns;
    reach->until_ns = later(reach->until_ns, after->until_ns);
}

/* Sort the first `count` pending intervals into the log, which has space for them. */
static void log_late(struct lp_busy_queue *queue, size_t count)
{
    const struct lp_busy_interval *late = queue->pending.items;
    struct lp_busy_interval *log = queue->log.items;
    size_t from = queue->log.count, to = from + count;

    queue->log.count = to;
    while (count > 0)
        if (from > 0 && log[from - 1].start_ns > late[count - 1].start_ns)
            log[--to] = log[--from];
        else
            log[--to] = late[--count];
}

/* Sweep the time range of the first `count` pending intervals twice, without and with them, and add
 * the difference to the rows. Returns how many extended their row's union; these are moved to the
 * front. */
static size_t sweep_twice(struct lp_busy_queue *queue, size_t count, struct lp_busy_row *before,
                          struct lp_busy_row *after)
{
    struct lp_busy_interval *late = queue->pending.items;
    uint64_t from_ns = late[0].start_ns, to_ns = 0;
    size_t at, end, extending = 0, next = 0;

    for (size_t i = 0; i < count; i++) {
        to_ns = later(to_ns, end_of(&late[i]));
        queue->longest_ns = later(queue->longest_ns, late[i].length_ns);
    }
    at = find_start(&queue->log, from_ns > queue->longest_ns ? from_ns - queue->longest_ns : 0);
    end = find_start(&queue->log, to_ns);
    while (at < end || next < count) {
        if (next < count && (at == end || late[next].start_ns < queue->log.items[at].start_ns)) {
            if (sweep_interval(after, &late[next]))
                late[extending++] = late[next];
            next++;
        } else {
            sweep_from(before, queue->log.items[at], from_ns);
            sweep_from(after, queue->log.items[at], from_ns);
            at++;
        }
    }
    return extending;
}

/* The first `count` pending intervals start before the last one swept. The log has space for
 * them. */
static int sweep_late(struct lp_busy *busy, struct lp_busy_queue *queue, size_t count)
{
    struct lp_busy_row *before = copy_tree(busy), *after = copy_tree(busy);

    if (before && after) {
        log_late(queue, sweep_twice(queue, count, before, after));
        for (size_t i = 0; i < busy->rows.count; i++) {
            add_difference(&busy->rows.items[i].own, &before[i].own, &after[i].own);
            add_difference(&busy->rows.items[i].all, &before[i].all, &after[i].all);
        }
    }
    free(before);
    free(after);
    return before && after ? 0 : lp_error(LLMPERF_ENOMEM, "out of memory");
}

static bool is_too_long(const struct lp_busy *busy, const struct lp_busy_queue *queue)
{
    size_t count = queue->log.count, most = busy->kept / busy->queues.count;

    return count > most || (count > most / LOG_LEAST &&
                            queue->log.items[count / 2].start_ns + LOG_NS < queue->swept_ns);
}

/* Drop the older half of a log that is too long, except what overlaps the newer half. */
static void bound_log(const struct lp_busy *busy, struct lp_busy_queue *queue)
{
    struct lp_busy_interval *items = queue->log.items;
    size_t half = queue->log.count / 2, kept = 0;

    if (!is_too_long(busy, queue))
        return;
    queue->kept_ns = items[half].start_ns;
    for (size_t i = 0; i < half; i++) {
        if (end_of(&items[i]) > queue->kept_ns)
            items[kept++] = make_interval(queue->kept_ns, end_of(&items[i]), items[i].row);
    }
    memmove(items + kept, items + half, (queue->log.count - half) * sizeof(*items));
    queue->log.count -= half - kept;
    queue->longest_ns = 0;
    for (size_t i = 0; i < queue->log.count; i++)
        queue->longest_ns = later(queue->longest_ns, items[i].length_ns);
}

/* Late intervals are expensive, and cheaper in larger batches. */
static void adapt_due(struct lp_busy_queue *queue, size_t least, bool late)
{
    size_t most = queue->log.count / LOG_PART;

    queue->due = late ? queue->due * 2 : queue->due - queue->due / 16;
    queue->due = queue->due < most ? queue->due : most;
    queue->due = queue->due > least ? queue->due : least;
}

/* Unless `all` is set, the newer half stays pending, since earlier intervals may still arrive. */
static int sweep_pending(struct lp_busy *busy, struct lp_busy_queue *queue, bool all)
{
    lp_busy_intervals *pending = &queue->pending;
    size_t late, ready;

    if (lp_vector_reserve(&queue->log, pending->count) < 0 || sort_pending(queue) < 0)
        return LLMPERF_ENOMEM;
    late = find_start(pending, queue->swept_ns);
    if (late > 0 && sweep_late(busy, queue, late) < 0)
        return LLMPERF_ENOMEM;
    ready = all ? pending->count : (size_t)later(late, pending->count / 2);
    sweep(busy, queue, late, ready);
    pending->count -= ready;
    memmove(pending->items, pending->items + ready, pending->count * sizeof(*pending->items));
    if (!all)
        adapt_due(queue, busy->batch, late > 0);
    bound_log(busy, queue);
    return 0;
}

static int push_interval(struct lp_busy_queue *queue, struct lp_busy_interval interval)
{
    lp_busy_intervals *pending = &queue->pending;
    size_t at = pending->count;

    if (lp_vector_reserve(pending, 1) < 0)
        return LLMPERF_ENOMEM;
    while (at > 0 && pending->count - at < NEAR &&
           pending->items[at - 1].start_ns > interval.start_ns) {
        pending->items[at] = pending->items[at - 1];
        at--;
    }
    if (at > 0 && pending->items[at - 1].start_ns > interval.start_ns)
        queue->pending_unsorted = true;
    pending->items[at] = interval;
    pending->count++;
    return 0;
}

/* Join with the last interval added, if they touch: kernels of a region on two streams, or
 * consecutive ones of a graph. */
static bool join_pending(struct lp_busy_queue *queue, uint32_t row, uint64_t start_ns,
                         uint64_t end_ns)
{
    struct lp_busy_interval *last =
        queue->pending.count > 0 ? &queue->pending.items[queue->pending.count - 1] : NULL;

    if (!last || last->row != row || start_ns < last->start_ns || start_ns > end_of(last) ||
        end_ns - last->start_ns > JOINED_NS)
        return false;
    if (end_ns > end_of(last))
        last->length_ns = (end_ns - last->start_ns) & LENGTH_MOST;
    return true;
}

int lp_busy_add(struct lp_busy *busy, uint32_t row, uint64_t start_ns, uint64_t end_ns)
{
    struct lp_busy_queue *queue = &busy->queues.items[busy->rows.items[row].queue];
    int status = 0;

    if (start_ns < queue->kept_ns) {
        queue->late++;
        start_ns = queue->kept_ns;
    }
    if (end_ns <= start_ns || join_pending(queue, row, start_ns, end_ns))
        return 0;
    for (; end_ns - start_ns > LENGTH_MOST && status == 0; start_ns += LENGTH_MOST)
        status = push_interval(queue, make_interval(start_ns, start_ns + LENGTH_MOST, row));
    if (status == 0)
        status = push_interval(queue, make_interval(start_ns, end_ns, row));
    if (status == 0 && queue->pending.count >= queue->due)
        status = sweep_pending(busy, queue, false);
    return status;
}

int lp_busy_settle(struct lp_busy *busy)
{
    int status = 0;

    for (size_t i = 0; i < busy->queues.count && status == 0; i++)
        if (busy->queues.items[i].pending.count > 0)
            status = sweep_pending(busy, &busy->queues.items[i], true);
    return status;
}

uint64_t lp_busy_late(const struct lp_busy *busy)
{
    uint64_t late = 0;

    for (size_t i = 0; i < busy->queues.count; i++)
        late += busy->queues.items[i].late;
    return late;
}

void lp_busy_clear(struct lp_busy *busy)
{
    for (size_t i = 0; i < busy->queues.count; i++) {
        lp_vector_clear(&busy->queues.items[i].pending);
        lp_vector_clear(&busy->queues.items[i].log);
    }
    lp_vector_clear(&busy->rows);
    lp_vector_clear(&busy->queues);
}
