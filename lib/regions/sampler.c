/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/regions/hold.h"
#include "lib/regions/sampler.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"
#include "lib/base/forked.h"
#include "lib/device/device.h"

#define NOBODY      0u
#define NOT_SAMPLED SIZE_MAX

/* Launches under way that were not told are over by then: with a record they would have the id of
 * an earlier launch. */
#define UNDER_WAY_US 1000

#define ALL        UINT32_MAX       /* the collector's window */
#define TRIGGERED  (UINT32_MAX - 1) /* the collector's too */
#define LEAVING    (UINT32_MAX - 2) /* records go off: nobody's, and not to be had yet */
#define LEAVING_US 100000           /* far longer than that takes */
#define SETTLING   (UINT32_MAX - 3) /* over, but records stay on until those of its graphs are in */
#define SPANNING   (UINT32_MAX - 4) /* between two instances of a span: records stay on */

/* Written between windows only, by the collector. A thread that saw sampling on may still look
 * while another session begins: so the texts stay for ever. */
static struct {
    _Atomic(const char *) label;
    _Atomic uint32_t every;
    _Atomic int32_t left; /* instances until the next one that is taken */
} labels[LP_SAMPLER_LABELS];
static _Atomic size_t label_count;
static _Atomic(void (*)(enum lp_collect what)) switch_records;
static _Atomic(void (*)(void)) wake_collector;

_Atomic bool lp_sampler_on;
static _Atomic uint32_t owner; /* of the window: a thread's index + 1 */
static _Atomic bool all_count; /* every thread's launches do: records are on already, and still */
static _Atomic bool graphs;    /* were launched in the window */
static _Atomic bool resting;
static _Atomic uint64_t seen, random_state, taken, touched;
static _Atomic uint32_t session; /* how often sampling has begun: windows are numbered anew */

static _Atomic bool spans;         /* instances are collected in spans only */
static _Atomic uint32_t span_left; /* instances */
static _Atomic uint32_t launcher;  /* index + 1 of the thread that opens them; 0: none has */
static _Atomic bool several;       /* another one launched */

/* The triggered window. One word, so that a thread takes an instance of it, and the collector sees
 * that none is left or open, at one moment. */
#define PLACES(number, left, open) ((uint64_t)(number) << 48 | (uint64_t)(left) << 24 | (open))
#define NUMBER_OF(places)          ((uint32_t)((places) >> 48))
#define LEFT_OF(places)            ((uint32_t)((places) >> 24) & 0xffffffu)
#define OPEN_OF(places)            ((uint32_t)(places)&0xffffffu)
static _Atomic uint64_t places;
static _Atomic uint32_t wanted; /* its number, before it is open; 0: none is */
static uint32_t wanted_units;   /* the collector's */

/* Relaxed everywhere: a count more or less moves one sample. */
static uint32_t next_random(void)
{
    uint64_t step = atomic_fetch_add_explicit(&random_state, 1, memory_order_relaxed);

    step *= 0x9e3779b97f4a7c15u;
    step = (step ^ step >> 31) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(step >> 32);
}

/* 1 to 2 * every - 1, `every` in the mean: no rhythm of the program can hide between samples. */
static int32_t next_distance(uint32_t every)
{
    return every <= 1 ? 1 : (int32_t)(1 + next_random() % (2 * every - 1));
}

/* "" with a full table: no region has that label. */
static const char *keep_label(const char *name)
{
    char label[LLMPERF_LABEL_BYTES + 8];
    const char *kept;

    snprintf(label, sizeof(label), "%s%s", strchr(name, '@') ? "" : "LLM@", name);
    kept = lp_path_raw_label(label);
    return kept ? kept : "";
}

static void collect_now(enum lp_collect what)
{
    void (*switch_to)(enum lp_collect) = atomic_load(&switch_records);

    switch_to(what);
}

void lp_sampler_begin(const char *const *names, size_t count, uint32_t every,
                      void (*collect)(enum lp_collect what), void (*wake)(void))
{
    count = count < LP_SAMPLER_LABELS ? count : LP_SAMPLER_LABELS;
    for (size_t i = 0; i < count; i++) {
        atomic_store(&labels[i].label, keep_label(names[i]));
        atomic_store(&labels[i].every, every);
        atomic_store(&labels[i].left, 1);
    }
    atomic_store(&label_count, count);
    atomic_store(&switch_records, collect);
    atomic_store(&wake_collector, wake);
    atomic_store(&seen, 0);
    atomic_store(&taken, 0);
    atomic_store(&touched, 0);
    atomic_store(&graphs, false);
    atomic_store(&spans, false);
    atomic_store(&launcher, 0);
    atomic_store(&resting, true);
    atomic_fetch_add(&session, 1);
    atomic_store(&lp_sampler_on, true);
}

void lp_sampler_go(void)
{
    atomic_store(&resting, false);
}

/* The window is given up before the records are switched off: a thread that is just switching them
 * on sees that and switches them off again. */
void lp_sampler_end(void)
{
    if (!atomic_exchange(&lp_sampler_on, false))
        return;
    atomic_store(&all_count, false);
    atomic_store(&spans, false);
    atomic_store(&wanted, 0);
    atomic_store(&places, 0);
    for (int us = 0; atomic_load(&owner) == LEAVING && us < LEAVING_US; us += 10)
        usleep(10);
    if (atomic_exchange(&owner, NOBODY) != NOBODY)
        collect_now(LP_COLLECT_NOTHING);
}

void lp_sampler_set(size_t index, uint32_t every)
{
    uint32_t before =
        index < atomic_load(&label_count) ? atomic_exchange(&labels[index].every, every) : 0;

    if (before > every) /* The distance that was chosen may be far too long now. */
        atomic_store(&labels[index].left, next_distance(every));
}

uint64_t lp_sampler_seen(void)
{
    return atomic_load_explicit(&seen, memory_order_relaxed);
}

uint64_t lp_sampler_taken(void)
{
    return atomic_load_explicit(&taken, memory_order_relaxed);
}

uint64_t lp_sampler_touched(void)
{
    return atomic_load_explicit(&touched, memory_order_relaxed);
}

void lp_sampler_rest(void)
{
    atomic_store(&resting, true);
}

/* Only the collector has time to wait. */
static void switch_on(uint32_t who, enum lp_collect what)
{
    if (who == ALL || who == TRIGGERED) {
        collect_now(what == LP_COLLECT_ALL ? LP_COLLECT_CALLS : LP_COLLECT_LAUNCHES);
        usleep(UNDER_WAY_US);
    }
    collect_now(what);
}

/* One that settles has its records on still, those of copies too or not: only these are asked for
 * here. */
static bool take_window(uint32_t who, enum lp_collect what)
{
    uint32_t nobody = NOBODY, settling = SETTLING;
    bool on = false;

    if (atomic_load(&resting))
        return false;
    if (!atomic_compare_exchange_strong(&owner, &nobody, who)) {
        on = atomic_compare_exchange_strong(&owner, &settling, who);
        if (!on)
            return false;
    }
    if (!atomic_load(&lp_sampler_on)) { /* It ended just now: records are another's to switch. */
        atomic_compare_exchange_strong(&owner, &who, on ? SETTLING : NOBODY);
        return false;
    }
    if (!on || what == LP_COLLECT_ALL)
        switch_on(who, what);
    if (atomic_load(&owner) == who)
        return true;
    collect_now(LP_COLLECT_NOTHING);
    return false;
}

/* The next one may have it once records are off: else they would go off in its window. */
static void switch_off(uint32_t who)
{
    uint32_t leaving = LEAVING;

    if (!atomic_compare_exchange_strong(&owner, &who, LEAVING))
        return;
    atomic_store(&graphs, false);
    collect_now(LP_COLLECT_NOTHING);
    atomic_compare_exchange_strong(&owner, &leaving, NOBODY);
}

/* While records are off, a replay of a graph writes its end times into records of the replay before
 * that are not handed over yet (CUPTI 13.0). So they stay on until those are. */
static void leave_window(uint32_t who)
{
    void (*wake)(void) = atomic_load(&wake_collector);
    uint32_t mine = who;

    if (atomic_load(&spans) && atomic_compare_exchange_strong(&owner, &mine, SPANNING)) {
        if (atomic_load(&spans))
            return;
        who = SPANNING; /* Spans ended just now, and found the window taken. */
    }
    if (!atomic_load(&graphs)) {
        switch_off(who);
        return;
    }
    if (atomic_compare_exchange_strong(&owner, &who, SETTLING) && wake)
        wake();
}

bool lp_sampler_settles(void)
{
    return atomic_load(&owner) == SETTLING;
}

void lp_sampler_settled(void)
{
    switch_off(SETTLING);
}

void lp_sampler_graph(void)
{
    if (!atomic_load_explicit(&graphs, memory_order_relaxed))
        atomic_store(&graphs, true);
}

bool lp_sampler_open_all(void)
{
    if (!atomic_load(&lp_sampler_on) || !take_window(ALL, LP_COLLECT_KERNELS))
        return false;
    atomic_store(&all_count, true);
    return true;
}

/* The driver makes the record of a launch behind the callback that counts it. Where collecting has
 * ended, such calls were awaited then. */
void lp_sampler_close_all(void)
{
    atomic_store(&all_count, false);
    if (lp_thread_recording())
        lp_threads_await_calls();
    leave_window(ALL);
}

/* Only stages are followed one by one, and say how much of them was collected. */
static void make_stage(uint32_t node)
{
    uint32_t unset = LLMPERF_REGION_AUTO;

    if (lp_path_kind(node) != LLMPERF_REGION_STAGE)
        atomic_compare_exchange_strong(&lp_path_get(node)->kind, &unset, LLMPERF_REGION_STAGE);
}

/* The index of a node's label; NOT_SAMPLED. */
static size_t find_label(uint32_t node)
{
    const char *label = lp_path_get(node)->label;
    size_t count = atomic_load_explicit(&label_count, memory_order_acquire), i = 0;

    while (i < count &&
           strcmp(atomic_load_explicit(&labels[i].label, memory_order_acquire), label) != 0)
        i++;
    if (i == count)
        return NOT_SAMPLED;
    make_stage(node);
    atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed);
    return i;
}

static bool is_next(size_t index)
{
    if (index == NOT_SAMPLED ||
        atomic_fetch_sub_explicit(&labels[index].left, 1, memory_order_relaxed) > 1)
        return false;
    atomic_store_explicit(
        &labels[index].left,
        next_distance(atomic_load_explicit(&labels[index].every, memory_order_relaxed)),
        memory_order_relaxed);
    return true;
}

void lp_sampler_trigger(uint32_t number, uint32_t units)
{
    wanted_units = units;
    atomic_store(&wanted, number);
}

/* Instances are handed out once records are on for all threads, so each is collected whole. */
static bool open_triggered(uint32_t number)
{
    if (!take_window(TRIGGERED, LP_COLLECT_ALL))
        return false;
    atomic_store(&places, PLACES(number, wanted_units, 0));
    atomic_store(&wanted, 0);
    return true;
}

bool lp_sampler_triggered(void)
{
    uint32_t number = atomic_load(&wanted);
    uint64_t now;

    if (!atomic_load(&lp_sampler_on))
        return false;
    if (number != 0) {
        open_triggered(number);
        return true;
    }
    now = atomic_load(&places);
    if (NUMBER_OF(now) == 0)
        return false;
    if (LEFT_OF(now) > 0 || OPEN_OF(now) > 0)
        return true;
    leave_window(TRIGGERED);
    atomic_store(&places, 0);
    return false;
}

void lp_sampler_cut(void)
{
    uint64_t now = atomic_load(&places);

    atomic_store(&wanted, 0);
    while (LEFT_OF(now) > 0 &&
           !atomic_compare_exchange_weak(&places, &now, PLACES(NUMBER_OF(now), 0, OPEN_OF(now))))
        ;
}

static void set_window(struct lp_thread *thread, uint32_t number)
{
    thread->window_depth = thread->depth + 1;
    thread->window_number = number;
    thread->window_session = atomic_load(&session);
}

/* Does the window that the thread took still stand? Also of another session it may have the number.
 */
static bool has_window(const struct lp_thread *thread, uint32_t window)
{
    if (thread->window_depth == 0 || thread->window_session != atomic_load(&session))
        return false;
    return window == thread->index + 1 ||
           (window == TRIGGERED && thread->window_number == NUMBER_OF(atomic_load(&places)));
}

/* An instance begins while the window is open. */
static uint16_t take_place(struct lp_thread *thread, uint64_t *number_out)
{
    uint64_t now = atomic_load(&places);

    while (LEFT_OF(now) > 0) {
        uint64_t next = PLACES(NUMBER_OF(now), LEFT_OF(now) - 1, OPEN_OF(now) + 1);

        if (!atomic_compare_exchange_weak(&places, &now, next))
            continue;
        set_window(thread, NUMBER_OF(now));
        *number_out = NUMBER_OF(now);
        return LP_BEGIN_TRIGGERED;
    }
    *number_out = NUMBER_OF(now);
    return NUMBER_OF(now) != 0 ? LP_BEGIN_LEFT_OUT : LP_BEGIN_SKIPPED;
}

static void leave_place(uint32_t number)
{
    uint64_t now = atomic_load(&places);

    while (NUMBER_OF(now) == number && OPEN_OF(now) > 0 &&
           !atomic_compare_exchange_weak(&places, &now, now - 1))
        ;
}

/* While it opens or is open, nothing else is sampled: what is left out belongs to it. */
static uint16_t open_in_triggered(struct lp_thread *thread, uint32_t node, uint32_t opening,
                                  uint64_t *number_out)
{
    /* Only stages are followed one by one: others could not be told from a sample. */
    if (find_label(node) == NOT_SAMPLED || lp_path_kind(node) != LLMPERF_REGION_STAGE)
        return LP_BEGIN_SKIPPED;
    if (opening == 0)
        return take_place(thread, number_out);
    *number_out = opening;
    return LP_BEGIN_LEFT_OUT;
}

void lp_sampler_span(uint32_t units)
{
    uint32_t nobody = NOBODY;

    atomic_store(&launcher, 0);
    atomic_store(&several, false);
    atomic_store(&span_left, units);
    atomic_store(&spans, true);
    atomic_compare_exchange_strong(&owner, &nobody, SPANNING);
}

/* An instance that is open still ends as one without spans does. */
void lp_sampler_span_over(bool next)
{
    uint32_t spanning = SPANNING;

    atomic_store(&span_left, 0);
    if (next) {
        atomic_compare_exchange_strong(&owner, &spanning, NOBODY);
        return;
    }
    atomic_store(&spans, false);
    leave_window(SPANNING);
}

uint32_t lp_sampler_span_left(void)
{
    return atomic_load(&span_left);
}

void lp_sampler_launched(const struct lp_thread *thread)
{
    uint32_t first = atomic_load_explicit(&launcher, memory_order_relaxed);

    if (first != 0 && first != thread->index + 1)
        atomic_store(&several, true);
}

bool lp_sampler_several(void)
{
    return atomic_load(&several);
}

/* Whether one is to come is looked at behind the hold: the span may begin or end there. */
static uint16_t open_in_span(struct lp_thread *thread, uint32_t node)
{
    void (*wake)(void) = atomic_load(&wake_collector);
    uint32_t spanning = SPANNING, nobody = 0, left;

    if (find_label(node) == NOT_SAMPLED || atomic_load(&resting))
        return LP_BEGIN_SKIPPED;
    lp_sampler_launched(thread); /* It is about to: held, it would not hold up the other one. */
    lp_hold_here(wake);
    left = atomic_load(&span_left);
    if (left == 0 || !atomic_compare_exchange_strong(&owner, &spanning, thread->index + 1))
        return LP_BEGIN_SKIPPED;
    atomic_compare_exchange_strong(&span_left, &left, left - 1);
    if (left == 1 && wake)
        wake();
    atomic_compare_exchange_strong(&launcher, &nobody, thread->index + 1);
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    set_window(thread, 0);
    return LP_BEGIN_NOW;
}

uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node, uint64_t *value_out)
{
    uint32_t opening = atomic_load(&wanted), window = atomic_load(&owner);
    size_t index;

    if (window == ALL) /* It may lie in it in part only. */
        return LP_BEGIN_SKIPPED;
    if (has_window(thread, window))
        return LP_BEGIN_NOW;
    thread->window_depth = 0; /* A session that ended took the window away. */
    if (atomic_load(&spans))
        return open_in_span(thread, node);
    if (opening != 0 || window == TRIGGERED)
        return open_in_triggered(thread, node, opening, value_out);
    index = find_label(node);
    if (!is_next(index) || !take_window(thread->index + 1, LP_COLLECT_KERNELS)) {
        if (window == SETTLING && index != NOT_SAMPLED)
            atomic_fetch_add_explicit(&touched, 1, memory_order_relaxed);
        return LP_BEGIN_SKIPPED;
    }
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    set_window(thread, 0);
    return LP_BEGIN_NOW;
}

void lp_sampler_close(struct lp_thread *thread)
{
    thread->window_depth = 0;
    if (lp_capture_forked()) /* The driver belongs to the parent. */
        return;
    if (thread->window_session != atomic_load(&session))
        return;
    if (thread->window_number != 0)
        leave_place(thread->window_number);
    else
        leave_window(thread->index + 1);
}

/* Sequentially consistent, as the mark of a call before it: who closes the window for all threads
 * sees the mark, or the call sees that it is closed. */
bool lp_sampler_takes(const struct lp_thread *thread, enum lp_launch_kind kind)
{
    bool own = thread->window_depth > 0 && thread->window_session == atomic_load(&session);

    /* Copies and sets bring records in triggered windows only. */
    if (kind == LP_LAUNCH_MEMORY)
        return own && thread->window_number != 0;
    return own || atomic_load(&all_count);
}
