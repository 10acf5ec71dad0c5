/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/regions/sampler.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/regions/safepoint.h"
#include "lib/regions/sampler_state.h"
#include "lib/record/paths.h"
#include "llmperf/region.h"
#include "lib/base/clock.h"
#include "lib/base/forked.h"
#include "lib/device/device.h"

#define NOT_SAMPLED SIZE_MAX

/* Launches in progress when their callbacks are enabled have no known id. After this time they are
 * over; a later record with such an id would be attributed to an earlier launch. */
#define UNDER_WAY_US 1000

#define CHANGING_NS UINT64_C(100000000) /* much longer than enabling records takes */

/* Written by the collector before a session samples. Never freed, because a thread may still use
 * the previous session's texts. */
static struct {
    _Atomic(const char *) label;
    _Atomic uint32_t every; /* of the next block */
    _Atomic uint64_t block;
    _Atomic uint64_t chosen; /* calls of blocks of more than one */
} labels[LP_SAMPLER_LABELS];
static _Atomic size_t label_count;
static _Atomic(void (*)(enum lp_collect what)) switch_records;
static _Atomic(void (*)(void)) wake_collector;

_Atomic uint64_t lp_sampler_word;
static uint32_t sessions; /* number of sessions that sampled; the collector's */
static _Atomic uint64_t seen, random_state, taken, touched; /* calls */

static _Atomic uint32_t burst_left; /* calls */
static _Atomic uint32_t
    launcher;              /* index + 1 of the thread that opens sampled calls; 0: none yet */
#define SEVERAL UINT32_MAX /* another thread launched as well */

/* The triggered window in one word, so that a thread takes a slot and the collector sees that none
 * is left or open atomically. */
#define SLOTS(session, number, left, open)                                                         \
    ((uint64_t)(session) << 40 | (uint64_t)(number) << 24 | (uint64_t)(left) << 12 | (open))
#define SESSION_OF(slots) ((uint32_t)((slots) >> 40))
#define NUMBER_OF(slots)  ((uint32_t)((slots) >> 24) & 0xffffu)
#define LEFT_OF(slots)    ((uint32_t)((slots) >> 12) & 0xfffu)
#define OPEN_OF(slots)    ((uint32_t)(slots)&0xfffu)
static _Atomic uint64_t slots;
static uint32_t requested_units; /* the collector's */

/* Successive calls of a label form blocks of N, and one of each block is sampled: the one at which
 * `left` calls of the block are left, itself included. */
#define BLOCK(every, pick, left)                                                                   \
    ((uint64_t)(every) << 40 | (uint64_t)(pick) << 20 | (uint64_t)(left))
#define BLOCK_EVERY(block) ((uint32_t)((block) >> 40) & 0xfffffu)
#define BLOCK_PICK(block)  ((uint32_t)((block) >> 20) & 0xfffffu)
#define BLOCK_LEFT(block)  ((uint32_t)(block)&0xfffffu)
#define FIRST_BLOCK        (UINT64_C(1) << 60 | BLOCK(1, 1, 1)) /* the first call, always sampled */

static uint32_t next_random(void)
{
    uint64_t step = atomic_fetch_add_explicit(&random_state, 1, memory_order_relaxed);

    step *= 0x9e3779b97f4a7c15u;
    step = (step ^ step >> 31) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(step >> 32);
}

void lp_sampler_seed(uint64_t seed)
{
    atomic_store(&random_state, seed);
}

/* Each call has the same chance, so periodic behaviour of the program does not bias the sample. */
static uint64_t next_block(uint32_t every)
{
    return BLOCK(every, 1 + next_random() % every, every);
}

/* "": the table is full; no region has this label. */
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

static void wake_now(void)
{
    void (*wake)(void) = atomic_load(&wake_collector);

    if (wake)
        wake();
}

static uint32_t name_of(const struct lp_thread *thread)
{
    return thread->index + 1;
}

struct step {
    bool taken; /* false: the event was refused */
    enum lp_sampler_state from, to;
    uint32_t session;
};

/* The only function that changes the state.
 * @param session  Refuse the event in any other session; 0: none. */
static struct step step_in(uint32_t session, enum lp_sampler_event event, uint32_t who)
{
    uint64_t word = atomic_load(&lp_sampler_word), next;

    do {
        if (session != 0 && lp_sampler_session_of(word) != session)
            return (struct step){ .taken = false };
        if ((next = lp_sampler_next(word, event, who)) == word) {
            assert(lp_sampler_may_refuse(word, event, who));
            return (struct step){ .taken = false };
        }
    } while (!atomic_compare_exchange_weak(&lp_sampler_word, &word, next));
    return (struct step){ true, lp_sampler_state_of(word), lp_sampler_state_of(next),
                          lp_sampler_session_of(next) };
}

static struct step step(enum lp_sampler_event event, uint32_t who)
{
    return step_in(0, event, who);
}

/* OFF is 0, so this is true only while a session samples. */
static void set_flag(uint64_t flag)
{
    uint64_t word = atomic_load(&lp_sampler_word);

    while (word != 0 && !(word & flag) &&
           !atomic_compare_exchange_weak(&lp_sampler_word, &word, word | flag))
        ;
}

static void clear_flag(uint64_t flag)
{
    atomic_fetch_and(&lp_sampler_word, ~flag);
}

static bool has_flag(uint64_t flag)
{
    return atomic_load(&lp_sampler_word) & flag;
}

static enum lp_sampler_state state_now(void)
{
    return lp_sampler_state_of(atomic_load(&lp_sampler_word));
}

/* Only the collector may wait. */
static void switch_on(uint32_t who, enum lp_collect what)
{
    if (who == LP_SAMPLER_COLLECTOR) {
        collect_now(what == LP_COLLECT_ALL ? LP_COLLECT_CALLS : LP_COLLECT_LAUNCHES);
        usleep(UNDER_WAY_US);
    }
    collect_now(what);
}

/* In SETTLING records are already enabled. Samples do not need those of memcpy and memset. */
static struct step open_window(enum lp_sampler_event event, uint32_t who, enum lp_collect what)
{
    struct step opened = step(event, who);

    if (!opened.taken || lp_sampler_records(opened.to) != LP_SAMPLER_RECORDS_CHANGING)
        return opened;
    switch_on(who, what);
    opened = step(LP_SAMPLER_ON_RECORDS_ON, who);
    if (!opened.taken) /* the session ended without waiting any longer */
        collect_now(LP_COLLECT_NOTHING);
    return opened;
}

/* If records are disabled, a replay of a graph overwrites end times in undelivered records of the
 * previous replay (CUPTI 13.0). So they stay enabled until these are delivered. */
static void close_window(uint32_t session, enum lp_sampler_event event, uint32_t who)
{
    struct step closed = step_in(session, event, who);

    if (closed.taken && closed.to == LP_SAMPLER_STOPPING) {
        collect_now(LP_COLLECT_NOTHING);
        step(LP_SAMPLER_ON_RECORDS_OFF, who);
    } else if (closed.taken && closed.to == LP_SAMPLER_SETTLING) {
        wake_now();
    }
}

void lp_sampler_begin(const char *const *names, size_t count, uint32_t every,
                      void (*collect)(enum lp_collect what), void (*wake)(void))
{
    count = count < LP_SAMPLER_LABELS ? count : LP_SAMPLER_LABELS;
    for (size_t i = 0; i < count; i++) {
        atomic_store(&labels[i].label, keep_label(names[i]));
        atomic_store(&labels[i].every, every);
        atomic_store(&labels[i].block, FIRST_BLOCK);
        atomic_store(&labels[i].chosen, 0);
    }
    atomic_store(&label_count, count);
    atomic_store(&switch_records, collect);
    atomic_store(&wake_collector, wake);
    atomic_store(&seen, 0);
    atomic_store(&taken, 0);
    atomic_store(&touched, 0);
    atomic_store(&launcher, 0);
    atomic_store(&slots, 0);
    sessions = sessions % LP_SAMPLER_SESSIONS + 1;
    step(LP_SAMPLER_ON_SESSION_BEGINS, sessions);
}

void lp_sampler_go(void)
{
    clear_flag(LP_SAMPLER_SUSPENDED);
}

void lp_sampler_suspend(void)
{
    set_flag(LP_SAMPLER_SUSPENDED);
}

/* Wait for a thread that is enabling or disabling records, or it would do so in a later session. */
void lp_sampler_end(void)
{
    uint64_t limit_ns = lp_clock_now() + CHANGING_NS;
    struct step ended;

    if (state_now() == LP_SAMPLER_OFF)
        return;
    lp_sampler_suspend();
    while (!(ended = step(LP_SAMPLER_ON_SESSION_ENDS, LP_SAMPLER_COLLECTOR)).taken &&
           lp_clock_now() < limit_ns)
        usleep(10);
    if (!ended.taken)
        ended = step(LP_SAMPLER_ON_SESSION_GIVES_UP, LP_SAMPLER_COLLECTOR);
    if (lp_sampler_records(ended.from) >= LP_SAMPLER_RECORDS_CHANGING)
        collect_now(LP_COLLECT_NOTHING);
}

void lp_sampler_set(size_t index, uint32_t every)
{
    every = every < 1 ? 1 : every > LP_SAMPLER_EVERY ? LP_SAMPLER_EVERY : every;
    if (index >= atomic_load(&label_count))
        return;
    atomic_store(&labels[index].every, every);
    if (BLOCK_LEFT(atomic_load(&labels[index].block)) / 2 > every) /* far too long now */
        atomic_store(&labels[index].block, 0);
}

struct lp_sampler_calls lp_sampler_calls(void)
{
    return (struct lp_sampler_calls){ atomic_load_explicit(&seen, memory_order_relaxed),
                                      atomic_load_explicit(&taken, memory_order_relaxed),
                                      atomic_load_explicit(&touched, memory_order_relaxed) };
}

bool lp_sampler_settles(void)
{
    return state_now() == LP_SAMPLER_SETTLING;
}

void lp_sampler_settled(void)
{
    close_window(0, LP_SAMPLER_ON_SETTLED, LP_SAMPLER_COLLECTOR);
}

/* Relaxed: the thread has just read the word for this launch and cannot see an older value. */
void lp_sampler_graph(void)
{
    if (!(atomic_load_explicit(&lp_sampler_word, memory_order_relaxed) & LP_SAMPLER_GRAPHS))
        set_flag(LP_SAMPLER_GRAPHS);
}

bool lp_sampler_open_all(void)
{
    return open_window(LP_SAMPLER_ON_WINDOW_OPENS, LP_SAMPLER_COLLECTOR, LP_COLLECT_KERNELS).taken;
}

/* CUPTI creates a launch's record after the callback that counts it. When collection ends, such
 * calls are waited for. */
void lp_sampler_close_all(void)
{
    if (!step(LP_SAMPLER_ON_WINDOW_CLOSES, LP_SAMPLER_COLLECTOR).taken)
        return;
    if (lp_thread_recording())
        lp_threads_await_calls();
    close_window(0, LP_SAMPLER_ON_CALLS_OVER, LP_SAMPLER_COLLECTOR);
}

/* Only stages are followed one by one and report their collected share. */
static void make_stage(uint32_t node)
{
    if (lp_path_kind(node) != LLMPERF_REGION_STAGE)
        lp_path_set_kind(node, LLMPERF_REGION_STAGE);
}

/* Index of a node's label, or NOT_SAMPLED. */
static size_t find_label(uint32_t node)
{
    size_t count = atomic_load_explicit(&label_count, memory_order_acquire), i = 0;

    while (i < count &&
           !lp_path_has_label(node, atomic_load_explicit(&labels[i].label, memory_order_acquire)))
        i++;
    if (i == count)
        return NOT_SAMPLED;
    make_stage(node);
    atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed);
    return i;
}

/* The second of four, then the third of the next four, so that the others are as early on average
 * as all of them. */
static bool measures_cost(size_t index)
{
    uint64_t chosen = atomic_fetch_add_explicit(&labels[index].chosen, 1, memory_order_relaxed);

    return chosen % LP_CHANCE_COST_EVERY == 1 + chosen / LP_CHANCE_COST_EVERY % 2;
}

/* Relaxed: a new N may take effect a call later. */
static bool is_next(size_t index, uint64_t *chance_out)
{
    uint64_t before = atomic_load_explicit(&labels[index].block, memory_order_relaxed), block;

    do
        block = BLOCK_LEFT(before) > 0
                    ? before
                    : next_block(atomic_load_explicit(&labels[index].every, memory_order_relaxed));
    while (!atomic_compare_exchange_weak_explicit(&labels[index].block, &before, block - 1,
                                                  memory_order_relaxed, memory_order_relaxed));
    *chance_out = BLOCK_EVERY(block) | (block == FIRST_BLOCK ? LP_CHANCE_FIRST : 0);
    if (BLOCK_LEFT(block) != BLOCK_PICK(block))
        return false;
    if (BLOCK_EVERY(block) > 1 && measures_cost(index))
        *chance_out |= LP_CHANCE_COST;
    return true;
}

void lp_sampler_trigger(uint32_t number, uint32_t units)
{
    requested_units = units;
    atomic_store(&slots, SLOTS(sessions, number, 0, 0));
    set_flag(LP_SAMPLER_REQUESTED);
}

/* Slots become available after records are enabled for all threads, so each call is complete. */
static void open_triggered(void)
{
    uint32_t number = NUMBER_OF(atomic_load(&slots));

    if (!open_window(LP_SAMPLER_ON_TRIGGER_OPENS, LP_SAMPLER_COLLECTOR, LP_COLLECT_ALL).taken)
        return;
    atomic_store(&slots, SLOTS(sessions, number, requested_units, 0));
    clear_flag(LP_SAMPLER_REQUESTED);
}

bool lp_sampler_triggered(void)
{
    uint64_t now = atomic_load(&slots);

    if (state_now() == LP_SAMPLER_OFF || NUMBER_OF(now) == 0)
        return false;
    if (has_flag(LP_SAMPLER_REQUESTED)) {
        open_triggered();
        return true;
    }
    if (LEFT_OF(now) > 0 || OPEN_OF(now) > 0)
        return true;
    close_window(0, LP_SAMPLER_ON_TRIGGER_CLOSES, LP_SAMPLER_COLLECTOR);
    atomic_store(&slots, 0);
    return false;
}

void lp_sampler_cut(void)
{
    uint64_t now = atomic_load(&slots);

    if (has_flag(LP_SAMPLER_REQUESTED)) {
        clear_flag(LP_SAMPLER_REQUESTED);
        atomic_store(&slots, 0);
        return;
    }
    while (LEFT_OF(now) > 0 && !atomic_compare_exchange_weak(
                                   &slots, &now, SLOTS(sessions, NUMBER_OF(now), 0, OPEN_OF(now))))
        ;
}

/* Is the window of this call still open? */
static bool has_window(const struct lp_thread *thread, uint64_t word)
{
    enum lp_sampler_state state = lp_sampler_state_of(word);

    if (thread->window_depth == 0 || thread->window_session != lp_sampler_session_of(word))
        return false;
    if (state == LP_SAMPLER_TRIGGERED)
        return thread->window_number == NUMBER_OF(atomic_load(&slots));
    return thread->window_number == 0 &&
           (state == LP_SAMPLER_SAMPLE ||
            (state == LP_SAMPLER_BURST_SAMPLE && lp_sampler_owner_of(word) == name_of(thread)));
}

static void set_window(struct lp_thread *thread, uint32_t session, uint32_t number)
{
    thread->window_depth = thread->depth + 1;
    thread->window_number = number;
    thread->window_session = session;
}

/* A call begins while the window is requested or open. */
static uint16_t take_slot(struct lp_thread *thread, uint64_t *number_out)
{
    uint64_t now = atomic_load(&slots);

    while (LEFT_OF(now) > 0) {
        uint64_t next = SLOTS(SESSION_OF(now), NUMBER_OF(now), LEFT_OF(now) - 1, OPEN_OF(now) + 1);

        if (!atomic_compare_exchange_weak(&slots, &now, next))
            continue;
        set_window(thread, SESSION_OF(now), NUMBER_OF(now));
        *number_out = NUMBER_OF(now);
        return LP_BEGIN_TRIGGERED;
    }
    *number_out = NUMBER_OF(now);
    return NUMBER_OF(now) != 0 ? LP_BEGIN_LEFT_OUT : LP_BEGIN_SKIPPED;
}

static void release_slot(const struct lp_thread *thread)
{
    uint64_t now = atomic_load(&slots);

    while (SESSION_OF(now) == thread->window_session && NUMBER_OF(now) == thread->window_number &&
           OPEN_OF(now) > 0 && !atomic_compare_exchange_weak(&slots, &now, now - 1))
        ;
}

/* Nothing else is sampled meanwhile: skipped calls belong to the window. Only stages are followed
 * one by one; calls of other regions could not be distinguished from a sample. */
static uint16_t open_in_triggered(struct lp_thread *thread, uint32_t node, uint64_t *number_out)
{
    if (find_label(node) == NOT_SAMPLED || lp_path_kind(node) != LLMPERF_REGION_STAGE)
        return LP_BEGIN_SKIPPED;
    return take_slot(thread, number_out);
}

void lp_sampler_burst(uint32_t calls)
{
    atomic_store(&launcher, 0);
    atomic_store(&burst_left, calls);
    step(LP_SAMPLER_ON_BURST_BEGINS, LP_SAMPLER_COLLECTOR);
}

bool lp_sampler_detach(void)
{
    if (!step(LP_SAMPLER_ON_CUPTI_LEAVES, LP_SAMPLER_COLLECTOR).taken)
        return false;
    atomic_store(&burst_left, 0);
    return true;
}

void lp_sampler_end_bursts(void)
{
    atomic_store(&burst_left, 0);
    close_window(0, LP_SAMPLER_ON_BURSTS_END, LP_SAMPLER_COLLECTOR);
}

uint32_t lp_sampler_burst_left(void)
{
    return atomic_load(&burst_left);
}

/* Relaxed: the collector checks repeatedly, and CUPTI is detached only between launches. */
static inline void note_launcher(const struct lp_thread *thread)
{
    uint32_t first = atomic_load_explicit(&launcher, memory_order_relaxed);

    if (first != 0 && first != name_of(thread) && first != SEVERAL)
        atomic_store(&launcher, SEVERAL);
}

bool lp_sampler_several(void)
{
    return atomic_load(&launcher) == SEVERAL;
}

/* The remaining calls are read after the safepoint, where a burst may begin or end. */
static uint16_t open_in_burst(struct lp_thread *thread, uint32_t node)
{
    struct step begun = { .taken = false };
    uint32_t nobody = 0, left;

    if (find_label(node) == NOT_SAMPLED || has_flag(LP_SAMPLER_SUSPENDED))
        return LP_BEGIN_SKIPPED;
    note_launcher(thread); /* before it stops: once stopped it could not stop the other thread */
    lp_safepoint_reach(wake_now);
    left = atomic_load(&burst_left);
    if (left > 0)
        begun = step(LP_SAMPLER_ON_BURST_CALL_BEGINS, name_of(thread));
    if (!begun.taken)
        return LP_BEGIN_SKIPPED;
    atomic_compare_exchange_strong(&burst_left, &left, left - 1);
    if (left == 1)
        wake_now();
    atomic_compare_exchange_strong(&launcher, &nobody, name_of(thread));
    atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    set_window(thread, begun.session, 0);
    return LP_BEGIN_NOW;
}

/* Another thread is switching records. */
static void miss(size_t index, uint64_t *chance)
{
    if (*chance & LP_CHANCE_FIRST)
        atomic_store(&labels[index].block, FIRST_BLOCK);
    *chance |= LP_CHANCE_MISSED;
}

/* Calls of several threads may be sampled at once: if one were skipped for another, calls that
 * overlap would be collected less often than their chance says. */
static uint16_t open_sample(struct lp_thread *thread, uint32_t node, uint64_t word,
                            uint64_t *chance_out)
{
    size_t index = find_label(node);
    struct step begun = { .taken = false };

    if (index == NOT_SAMPLED || (word & LP_SAMPLER_SUSPENDED))
        return LP_BEGIN_SKIPPED;
    if (is_next(index, chance_out)) {
        begun = open_window(LP_SAMPLER_ON_CALL_BEGINS, name_of(thread), LP_COLLECT_KERNELS);
        if (!begun.taken)
            miss(index, chance_out);
    }
    if (begun.taken) {
        atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
        set_window(thread, begun.session, 0);
        return LP_BEGIN_NOW;
    }
    if (lp_sampler_state_of(word) != LP_SAMPLER_IDLE) {
        atomic_fetch_add_explicit(&touched, 1, memory_order_relaxed);
        *chance_out |= LP_CHANCE_TOUCHED;
    }
    return LP_BEGIN_SKIPPED;
}

/* Not inlined, so that the common case saves fewer registers. */
__attribute__((noinline)) static uint16_t open_in_other(struct lp_thread *thread, uint32_t node,
                                                        uint64_t word, uint64_t *value_out)
{
    switch (lp_sampler_state_of(word)) {
    case LP_SAMPLER_WINDOW_STARTS:
    case LP_SAMPLER_WINDOW:
    case LP_SAMPLER_WINDOW_ENDS: /* it may be in the window only in part */
        return LP_BEGIN_SKIPPED;
    case LP_SAMPLER_BURST:
    case LP_SAMPLER_BURST_SAMPLE:
    case LP_SAMPLER_DETACHED:
        return open_in_burst(thread, node);
    default: /* REQUESTED, STARTS or OPEN */
        return open_in_triggered(thread, node, value_out);
    }
}

uint16_t lp_sampler_open(struct lp_thread *thread, uint32_t node, uint64_t *value_out)
{
    uint64_t word = atomic_load(&lp_sampler_word);

    if (has_window(thread, word))
        return LP_BEGIN_NOW;
    thread->window_depth = 0; /* the window was taken from it */
    if (!lp_sampler_samples(word))
        return open_in_other(thread, node, word, value_out);
    return open_sample(thread, node, word, value_out);
}

void lp_sampler_close(struct lp_thread *thread)
{
    thread->window_depth = 0;
    if (lp_capture_forked()) /* the driver belongs to the parent process */
        return;
    if (thread->window_session != lp_sampler_session_of(atomic_load(&lp_sampler_word)))
        return;
    if (thread->window_number != 0)
        release_slot(thread);
    else
        close_window(thread->window_session, LP_SAMPLER_ON_CALL_ENDS, name_of(thread));
}

bool lp_sampler_takes(const struct lp_thread *thread, enum lp_launch_kind kind, uint64_t word)
{
    note_launcher(thread);
    if (thread->window_depth > 0 && thread->window_session == lp_sampler_session_of(word))
        return kind != LP_LAUNCH_MEMORY || thread->window_number != 0;
    /* Memcpy and memset have records only in triggered windows. */
    return kind != LP_LAUNCH_MEMORY && lp_sampler_state_of(word) == LP_SAMPLER_WINDOW;
}
