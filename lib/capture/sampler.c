/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/capture/capture.h"
#include "lib/capture/sampler.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"

#define NOBODY 0u

/* Launches under way when a window for all threads opens or closes may bring a record or none:
 * those in front of it do not count, those that count are awaited. */
#define UNDER_WAY_US 1000

#define ALL UINT32_MAX /* the collector's window */

/* Written between windows only, by the collector. */
static struct {
    char label[LLMPERF_LABEL_BYTES + 8];
    _Atomic uint32_t every;
    _Atomic int32_t left; /* instances until the next one that is taken */
} labels[LP_SAMPLER_LABELS];
static size_t label_count;
static void (*switch_records)(bool on);

_Atomic bool lp_sampler_on;
static _Atomic uint32_t owner; /* of the window: a thread's index + 1 */
static _Atomic bool all_count; /* every thread's launches do: records are on already, and still */
static _Atomic uint64_t seen, random_state;

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

void lp_sampler_begin(const char *const *names, size_t count, uint32_t every,
                      void (*collect)(bool on))
{
    label_count = count < LP_SAMPLER_LABELS ? count : LP_SAMPLER_LABELS;
    for (size_t i = 0; i < label_count; i++) {
        snprintf(labels[i].label, sizeof(labels[i].label), "%s%s",
                 strchr(names[i], '@') ? "" : "LLM@", names[i]);
        atomic_store(&labels[i].every, every);
        atomic_store(&labels[i].left, 1);
    }
    switch_records = collect;
    atomic_store(&seen, 0);
    atomic_store(&lp_sampler_on, true);
}

/* The window is given up before the records are switched off: a thread that is just switching them
 * on sees that and switches them off again. */
void lp_sampler_end(void)
{
    if (!atomic_exchange(&lp_sampler_on, false))
        return;
    atomic_store(&all_count, false);
    if (atomic_exchange(&owner, NOBODY) != NOBODY)
        switch_records(false);
}

void lp_sampler_set(size_t index, uint32_t every)
{
    uint32_t before = index < label_count ? atomic_exchange(&labels[index].every, every) : 0;

    if (before > every) /* The distance that was chosen may be far too long now. */
        atomic_store(&labels[index].left, next_distance(every));
}

uint64_t lp_sampler_seen(void)
{
    return atomic_load_explicit(&seen, memory_order_relaxed);
}

static bool take_window(uint32_t who)
{
    uint32_t nobody = NOBODY;

    if (!atomic_compare_exchange_strong(&owner, &nobody, who))
        return false;
    switch_records(true);
    if (atomic_load(&owner) == who)
        return true;
    switch_records(false);
    return false;
}

static void leave_window(uint32_t who)
{
    if (atomic_compare_exchange_strong(&owner, &who, NOBODY))
        switch_records(false);
}

bool lp_sampler_open_all(void)
{
    if (!atomic_load(&lp_sampler_on) || !take_window(ALL))
        return false;
    usleep(UNDER_WAY_US);
    atomic_store(&all_count, true);
    return true;
}

void lp_sampler_close_all(void)
{
    atomic_store(&all_count, false);
    usleep(UNDER_WAY_US);
    leave_window(ALL);
}

static bool is_next(uint32_t node)
{
    const char *label = lp_path_get(node)->label;

    for (size_t i = 0; i < label_count; i++) {
        if (strcmp(labels[i].label, label) != 0)
            continue;
        atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed);
        if (atomic_fetch_sub_explicit(&labels[i].left, 1, memory_order_relaxed) > 1)
            return false;
        atomic_store_explicit(
            &labels[i].left,
            next_distance(atomic_load_explicit(&labels[i].every, memory_order_relaxed)),
            memory_order_relaxed);
        return true;
    }
    return false;
}

uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node)
{
    uint32_t window = atomic_load(&owner);

    if (window == ALL) /* It may lie in it in part only. */
        return LP_BEGIN_SKIPPED;
    if (thread->window_depth > 0 && window == thread->index + 1)
        return 0;
    thread->window_depth = 0; /* A session that ended took the window away. */
    if (!is_next(node) || !take_window(thread->index + 1))
        return LP_BEGIN_SKIPPED;
    thread->window_depth = thread->depth + 1;
    return 0;
}

void lp_sampler_close(struct lp_thread *thread)
{
    thread->window_depth = 0;
    if (!lp_capture_forked()) /* The driver belongs to the parent. */
        leave_window(thread->index + 1);
}

bool lp_sampler_takes(const struct lp_thread *thread)
{
    return thread->window_depth > 0 || atomic_load_explicit(&all_count, memory_order_relaxed);
}
