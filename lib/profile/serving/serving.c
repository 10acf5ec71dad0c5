/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/profile/serving/serving_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record/paths.h"
#include "llmperf/region.h"
#include "llmperf/request.h"

/* In a recording, threads take turns as the collector looked at them: at most so far apart. */
#define TURN_NS     UINT64_C(2000000000)
#define EVENTS_MOST 65536u

/* A full table is looked through for requests whose end was never reported. */
#define SILENT_NS UINT64_C(600000000000)
#define SWEEP_NS  UINT64_C(1000000000)

struct lp_serving *lp_serving_create(const struct lp_serving_options *options)
{
    struct lp_serving *serving = calloc(1, sizeof(*serving));

    if (!serving)
        return NULL;
    serving->options = *options;
    serving->totals = (llmperf_requests)LLMPERF_REQUESTS_INIT;
    return serving;
}

void lp_serving_free(struct lp_serving *serving)
{
    if (!serving)
        return;
    for (size_t i = 0; i < LP_LATENCIES; i++)
        lp_distribution_clear(&serving->latencies[i]);
    lp_vector_clear(&serving->threads);
    lp_vector_clear(&serving->events);
    lp_vector_clear(&serving->slots);
    free(serving->heads);
    free(serving);
}

/* Open requests */

static uint32_t *chain_of(struct lp_serving *serving, uint64_t request)
{
    return &serving->heads[request % LLMPERF_REQUESTS_OPEN];
}

static struct lp_open_request *find_request(struct lp_serving *serving, uint64_t request)
{
    uint32_t at = serving->heads ? *chain_of(serving, request) : 0;

    while (at && serving->slots.items[at - 1].request != request)
        at = serving->slots.items[at - 1].next;
    return at ? &serving->slots.items[at - 1] : NULL;
}

/* It is open no longer; its slot may be taken again. */
static void drop_request(struct lp_serving *serving, struct lp_open_request *open)
{
    uint32_t slot = (uint32_t)(open - serving->slots.items) + 1;
    uint32_t *at = chain_of(serving, open->request);

    while (*at != slot)
        at = &serving->slots.items[*at - 1].next;
    *at = open->next;
    open->next = serving->vacant;
    serving->vacant = slot;
    serving->totals.open--;
    serving->decoding -= open->first_ns != 0;
    open->request = 0;
}

/* Drop requests without a call since `before_ns`. */
static void abandon(struct lp_serving *serving, uint64_t before_ns)
{
    for (size_t i = 0; i < serving->slots.count; i++) {
        struct lp_open_request *open = &serving->slots.items[i];

        if (open->request == 0 || open->last_ns >= before_ns)
            continue;
        drop_request(serving, open);
        serving->totals.abandoned++;
    }
}

static bool has_room(struct lp_serving *serving, uint64_t time_ns)
{
    if (!serving->heads)
        serving->heads = calloc(LLMPERF_REQUESTS_OPEN, sizeof(*serving->heads));
    if (serving->totals.open == LLMPERF_REQUESTS_OPEN && time_ns > SILENT_NS &&
        time_ns - serving->swept_ns >= SWEEP_NS) {
        serving->swept_ns = time_ns;
        abandon(serving, time_ns - SILENT_NS);
    }
    return serving->heads && serving->totals.open < LLMPERF_REQUESTS_OPEN &&
           (serving->vacant || lp_vector_reserve(&serving->slots, 1) == 0);
}

static void add_latency(struct lp_serving *serving, enum lp_latency_id id, uint64_t from_ns,
                        uint64_t to_ns)
{
    if (lp_distribution_add(&serving->latencies[id], to_ns > from_ns ? to_ns - from_ns : 0) < 0)
        serving->failed = true;
}

/* From where its latencies count. */
static uint64_t start_of(const struct lp_open_request *open)
{
    return open->arrival_ns ? open->arrival_ns : open->begin_ns;
}

static void begin_request(struct lp_serving *serving, const struct lp_serving_event *event,
                          struct lp_load_point *point)
{
    struct lp_open_request fresh = { .request = event->request,
                                     .id = event->b,
                                     .begin_ns = event->time_ns,
                                     .last_ns = event->time_ns,
                                     .prompt = event->amount };
    uint32_t *chain, slot;

    if (!has_room(serving, event->time_ns)) {
        serving->totals.over_limit++;
        return;
    }
    fresh.arrival_ns = event->a > event->time_ns ? event->time_ns : event->a;
    chain = chain_of(serving, event->request);
    fresh.next = *chain;
    slot = serving->vacant ? serving->vacant : (uint32_t)++serving->slots.count;
    serving->vacant = serving->vacant ? serving->slots.items[slot - 1].next : 0;
    serving->slots.items[slot - 1] = fresh;
    *chain = slot;
    serving->totals.requests++;
    serving->totals.open++;
    point->begun++;
    if (serving->totals.open > point->running_max)
        point->running_max = serving->totals.open;
    if (fresh.arrival_ns)
        add_latency(serving, LP_LATENCY_QUEUE, fresh.arrival_ns, event->time_ns);
    if (serving->first_ns == 0 || start_of(&fresh) < serving->first_ns)
        serving->first_ns = start_of(&fresh);
}

static void count_prompt(struct lp_serving *serving, const struct lp_open_request *open,
                         struct lp_load_point *point)
{
    serving->totals.prompt_tokens += open->prompt;
    point->prompt_tokens += open->prompt;
}

static void count_output(struct lp_serving *serving, struct lp_open_request *open, uint64_t tokens,
                         struct lp_load_point *point)
{
    open->output += tokens;
    serving->totals.output_tokens += tokens;
    point->output_tokens += tokens;
}

static void take_tokens(struct lp_serving *serving, struct lp_open_request *open,
                        const struct lp_serving_event *event, struct lp_load_point *point)
{
    uint64_t now_ns = event->time_ns;

    if (event->kind == LP_SERVED_FIRST && open->first_ns)
        return;
    if (!open->first_ns) {
        open->first_ns = now_ns;
        if (serving->decoding++ == 0)
            serving->busy_ns = now_ns;
        add_latency(serving, LP_LATENCY_TTFT, start_of(open), now_ns);
        count_prompt(serving, open, point);
    } else {
        add_latency(serving, LP_LATENCY_ITL, open->last_ns, now_ns);
        if (now_ns - open->last_ns > open->itl_max_ns)
            open->itl_max_ns = now_ns - open->last_ns;
    }
    open->last_ns = now_ns;
    count_output(serving, open, event->amount, point);
}

/* Slower ones first; of the same the earlier one. */
static void keep_slow(struct lp_slow_list *list, const llmperf_slow_request *row, double value,
                      size_t offset)
{
    size_t at = list->count;

    if (isnan(value))
        return;
    while (at > 0 &&
           *(const double *)(const void *)((const char *)&list->rows[at - 1] + offset) < value)
        at--;
    if (at == LP_SLOW_KEPT)
        return;
    list->count += list->count < LP_SLOW_KEPT;
    memmove(&list->rows[at + 1], &list->rows[at], (list->count - 1 - at) * sizeof(*row));
    list->rows[at] = *row;
}

static double ms_of(uint64_t from_ns, uint64_t to_ns)
{
    return from_ns ? (double)(to_ns - from_ns) / 1e6 : (double)NAN;
}

/* @param until_ns  When its last token came. */
static llmperf_slow_request describe(const struct lp_open_request *open, uint64_t until_ns,
                                     uint64_t end_ns)
{
    llmperf_slow_request row = LLMPERF_SLOW_REQUEST_INIT;

    row.request = open->request;
    row.id = open->id ? open->id : LLMPERF_UNKNOWN;
    row.begin_ns = open->begin_ns;
    row.prompt_tokens = open->prompt;
    row.output_tokens = open->output;
    row.queue_ms = ms_of(open->arrival_ns, open->begin_ns);
    row.ttft_ms = open->first_ns ? ms_of(start_of(open), open->first_ns) : (double)NAN;
    row.tpot_ms = open->output > 1 ? ms_of(open->first_ns, until_ns) / (double)(open->output - 1)
                                   : (double)NAN;
    row.itl_max_ms = open->itl_max_ns ? (double)open->itl_max_ns / 1e6 : (double)NAN;
    row.e2e_ms = ms_of(start_of(open), end_ns);
    return row;
}

static bool is_good(const struct lp_serving_options *slo, const llmperf_slow_request *row)
{
    bool first = slo->slo_ttft_ms == 0 || row->ttft_ms <= (double)slo->slo_ttft_ms;

    return first && (slo->slo_tpot_ms == 0 || isnan(row->tpot_ms) ||
                     row->tpot_ms <= (double)slo->slo_tpot_ms);
}

static void finish_request(struct lp_serving *serving, const struct lp_open_request *open,
                           uint32_t reason, uint64_t until_ns, uint64_t end_ns)
{
    llmperf_slow_request row = describe(open, until_ns, end_ns);

    row.reason = reason;
    serving->totals.finished++;
    serving->totals.good += is_good(&serving->options, &row);
    if (open->output > 1 && open->first_ns)
        add_latency(serving, LP_LATENCY_TPOT, 0, (until_ns - open->first_ns) / (open->output - 1));
    add_latency(serving, LP_LATENCY_E2E, start_of(open), end_ns);
    keep_slow(&serving->slow[0], &row, row.ttft_ms, offsetof(llmperf_slow_request, ttft_ms));
    keep_slow(&serving->slow[1], &row, row.tpot_ms, offsetof(llmperf_slow_request, tpot_ms));
    keep_slow(&serving->slow[2], &row, row.e2e_ms, offsetof(llmperf_slow_request, e2e_ms));
}

static void end_request(struct lp_serving *serving, struct lp_open_request *open,
                        const struct lp_serving_event *event, struct lp_load_point *point)
{
    uint32_t reason = event->kind - LP_SERVED_END;
    uint64_t until_ns = open->last_ns;

    if (event->amount > open->output) { /* Tokens that were not reported as they came. */
        until_ns = event->time_ns;
        if (open->output == 0)
            count_prompt(serving, open, point);
        count_output(serving, open, event->amount - open->output, point);
    }
    point->ended++;
    if (reason == LLMPERF_FINISH_ABORTED)
        serving->totals.aborted++;
    else if (reason == LLMPERF_FINISH_FAILED)
        serving->totals.failed++;
    else
        finish_request(serving, open, reason, until_ns, event->time_ns);
    drop_request(serving, open);
}

static void take_request(struct lp_serving *serving, const struct lp_serving_event *event)
{
    struct lp_load_point *point = lp_load_at(&serving->load, event->time_ns, serving->totals.open);
    struct lp_open_request *open;
    struct lp_serving_event now = *event;

    if (event->time_ns > serving->last_ns)
        serving->last_ns = event->time_ns;
    if (event->kind == LP_SERVED_BEGIN) {
        begin_request(serving, event, point);
        return;
    }
    if (!(open = find_request(serving, event->request))) {
        serving->totals.stray_calls++;
        return;
    }
    /* The events of a damaged recording may go back in time. */
    if (now.time_ns < open->last_ns)
        now.time_ns = open->last_ns;
    if (event->kind >= LP_SERVED_END)
        end_request(serving, open, &now, point);
    else
        take_tokens(serving, open, &now, point);
}

/* Decode steps */

/* From one end to the next on a thread, if requests waited for tokens all the while. */
static void end_step(struct lp_serving *serving, const struct lp_serving_event *event)
{
    struct lp_load_point *point = lp_load_at(&serving->load, event->time_ns, serving->totals.open);
    struct lp_serving_thread *thread = &serving->threads.items[event->thread];
    uint64_t before_ns = thread->step_ns;
    bool prefill = serving->prefills > 0 || serving->prefill_ns > before_ns;

    thread->step_ns = event->time_ns;
    point->steps++;
    point->batch += event->a;
    point->context += event->b;
    point->batch_max = event->a > point->batch_max ? event->a : point->batch_max;
    point->context_max = event->b > point->context_max ? event->b : point->context_max;
    if (before_ns && serving->decoding > 0 && serving->busy_ns <= before_ns)
        add_latency(serving, prefill ? LP_LATENCY_STEP_PREFILL : LP_LATENCY_STEP, before_ns,
                    event->time_ns);
}

static void take_event(struct lp_serving *serving, const struct lp_serving_event *event)
{
    if (event->kind == LP_EVENT_PREFILL_BEGIN) {
        serving->prefills++;
    } else if (event->kind == LP_EVENT_PREFILL_END) {
        serving->prefills--;
        serving->prefill_ns = event->time_ns;
    } else if (event->kind == LP_EVENT_STEP_END) {
        end_step(serving, event);
    } else {
        take_request(serving, event);
    }
}

/* Records */

static void push_event(struct lp_serving *serving, struct lp_serving_event event)
{
    event.order = serving->order++;
    if (event.time_ns > serving->newest_ns)
        serving->newest_ns = event.time_ns;
    if (lp_vector_push(&serving->events, event) < 0)
        serving->failed = true;
}

static struct lp_serving_thread *find_thread(struct lp_serving *serving, uint32_t index)
{
    return lp_vector_at(&serving->threads, index);
}

static void leave_prefill(struct lp_serving *serving, struct lp_serving_thread *thread,
                          uint64_t time_ns)
{
    if (thread->in_prefill)
        push_event(serving,
                   (struct lp_serving_event){ .time_ns = time_ns, .kind = LP_EVENT_PREFILL_END });
    thread->in_prefill = false;
}

static void take_prefill(struct lp_serving *serving, struct lp_serving_thread *thread,
                         const struct lp_record *record)
{
    if (record->kind == LP_RECORD_REGION_END) {
        leave_prefill(serving, thread, record->time_ns);
    } else if (record->kind == LP_RECORD_REGION_BEGIN && !thread->in_prefill) {
        thread->in_prefill = true;
        push_event(serving, (struct lp_serving_event){ .time_ns = record->time_ns,
                                                       .kind = LP_EVENT_PREFILL_BEGIN });
    }
}

static void take_step(struct lp_serving *serving, uint32_t index, struct lp_serving_thread *thread,
                      const struct lp_record *record)
{
    if (record->kind == LP_RECORD_REGION_BEGIN) {
        thread->sequences = thread->context = 0;
    } else if (record->kind == LP_RECORD_REGION_END) {
        push_event(serving, (struct lp_serving_event){ .time_ns = record->time_ns,
                                                       .kind = LP_EVENT_STEP_END,
                                                       .thread = index,
                                                       .a = thread->sequences,
                                                       .b = thread->context });
    } else if (record->detail == LLMPERF_QUANTITY_SEQUENCES) {
        thread->sequences += record->value;
    } else if (record->detail == LLMPERF_QUANTITY_CONTEXT) {
        thread->context += record->value;
    }
}

static void take_region(struct lp_serving *serving, uint32_t index,
                        struct lp_serving_thread *thread, const struct lp_record *record)
{
    if (lp_path_kind(record->node) != LLMPERF_REGION_STAGE)
        return;
    if (lp_path_has_label(record->node, "LLM@prefill"))
        take_prefill(serving, thread, record);
    else if (lp_path_has_label(record->node, "LLM@decode_step") ||
             lp_path_has_label(record->node, "LLM@mixed_step"))
        take_step(serving, index, thread, record);
}

static void take_record(struct lp_serving *serving, struct lp_serving_thread *thread,
                        const struct lp_record *record)
{
    struct lp_serving_event event = { .time_ns = record->time_ns,
                                      .request = record->value,
                                      .amount = record->node,
                                      .kind = record->detail };

    if (record->detail < LP_SERVED_ARRIVAL ||
        record->detail > LP_SERVED_END + LLMPERF_FINISH_FAILED)
        return; /* of a damaged recording */
    serving->active = true;
    if (record->detail == LP_SERVED_ARRIVAL) {
        thread->arrival_ns = record->value;
        thread->arrival_of = record->node;
        return;
    }
    if (record->detail == LP_SERVED_ID) {
        thread->id = record->value;
        thread->id_of = record->node;
        return;
    }
    if (record->detail == LP_SERVED_BEGIN) {
        event.a = thread->arrival_of == (uint32_t)record->value ? thread->arrival_ns : 0;
        event.b = thread->id_of == (uint32_t)record->value ? thread->id : 0;
    }
    push_event(serving, event);
}

void lp_serving_host(struct lp_serving *serving, uint32_t thread, const struct lp_record *records,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct lp_record *record = &records[i];
        bool region = record->kind <= LP_RECORD_COUNT;
        bool lost = record->kind == LP_RECORD_THREAD_EXIT || record->kind == LP_RECORD_LOST;
        struct lp_serving_thread *state;

        if (record->kind != LP_RECORD_REQUEST && (!serving->active || (!region && !lost)))
            continue;
        if (!(state = find_thread(serving, thread)))
            serving->failed = true;
        else if (region)
            take_region(serving, thread, state, record);
        else if (lost)
            leave_prefill(serving, state, record->time_ns);
        else
            take_record(serving, state, record);
    }
    if (serving->events.count > EVENTS_MOST)
        lp_serving_settle(serving, serving->newest_ns);
}

static int compare_events(const void *left, const void *right)
{
    const struct lp_serving_event *a = left, *b = right;
    int order = LP_ORDER(a->time_ns, b->time_ns);

    return order ? order : LP_ORDER(a->order, b->order);
}

void lp_serving_settle(struct lp_serving *serving, uint64_t until_ns)
{
    size_t taken = 0, count = serving->events.count;

    if (until_ns == 0 && serving->newest_ns >= serving->taken_ns + 2 * TURN_NS)
        until_ns = serving->newest_ns - TURN_NS;
    if (count == 0 || until_ns == 0)
        return;
    serving->taken_ns = until_ns;
    qsort(serving->events.items, count, sizeof(*serving->events.items), compare_events);
    for (; taken < count && serving->events.items[taken].time_ns <= until_ns; taken++)
        take_event(serving, &serving->events.items[taken]);
    memmove(serving->events.items, serving->events.items + taken,
            (count - taken) * sizeof(*serving->events.items));
    serving->events.count -= taken;
}

void lp_serving_interrupt(struct lp_serving *serving)
{
    lp_serving_settle(serving, UINT64_MAX);
    abandon(serving, UINT64_MAX);
    for (size_t i = 0; i < serving->threads.count; i++) {
        serving->threads.items[i].step_ns = 0;
        serving->threads.items[i].in_prefill = false;
    }
    serving->prefills = 0;
}
