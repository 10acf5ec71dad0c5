/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/clock.h"
#include "lib/regions/capture.h"
#include "lib/regions/first_use.h"
#include "lib/base/forked.h"
#include "lib/regions/region_hook.h"
#include "lib/regions/sampler.h"
#include "lib/regions/threads.h"
#include "lib/record/graph_event.h"
#include "lib/record/paths.h"
#include "lib/device/device.h"

__thread struct lp_thread *lp_thread_self;
_Atomic(const struct lp_region_hook *) lp_region_hook;

static _Atomic uint64_t ring_records = 32768; /* for new rings; power of two */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct lp_thread *free_threads;
static uint32_t thread_count;
static uint32_t last_epoch;

static _Atomic uint32_t gap; /* number of times that collection ended */

static _Atomic(void (*)(void)) wake_collector;

static pthread_key_t exit_key;

/* Called by a destructor of this thread. After the last round of destructors a new state would
 * never be freed. */
static __thread uint8_t exit_rounds;

static void leave_thread(void *state);

static void stop_in_child(void)
{
    atomic_store(&lp_region_hook, NULL);
    atomic_store(&lp_capture_epoch, 0);
}

static void make_hooks(void)
{
    pthread_key_create(&exit_key, leave_thread);
    lp_capture_watch_forks(stop_in_child);
}

static void set_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_hooks);
}

static struct lp_thread *make_thread(void)
{
    struct lp_thread *thread;

    /* Zeroed pages: unused parts of a state need no memory. */
    thread =
        mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (thread == MAP_FAILED)
        return NULL;
    thread->index = thread_count++;
    thread->next = atomic_load_explicit(&lp_all_threads, memory_order_relaxed);
    atomic_store_explicit(&lp_all_threads, thread, memory_order_release);
    return thread;
}

struct lp_thread *lp_thread_create(void)
{
    struct lp_thread *thread;

    set_up();
    if (exit_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS ||
        lp_capture_forked()) /* another thread may have held the lock at the fork */
        return NULL;
    lp_notify_first_thread();
    if (lp_thread_self) /* the callback made it */
        return lp_thread_self;
    pthread_mutex_lock(&lock);
    thread = free_threads;
    if (thread)
        free_threads = thread->next_free;
    else
        thread = make_thread();
    pthread_mutex_unlock(&lock);
    if (!thread)
        return NULL;
    thread->depth = 0;
    thread->node = LP_PATH_ROOT;
    pthread_setspecific(exit_key, thread);
    lp_thread_self = thread;
    return thread;
}

/* The state of an ended thread keeps no path. */
static void forget_paths(struct lp_thread *thread)
{
    lp_path_hold();
    memset(thread->stack, 0, sizeof(thread->stack));
    memset(thread->cache, 0, sizeof(thread->cache));
    memset(thread->ranges, 0, sizeof(thread->ranges));
    thread->learned = LP_PATH_ROOT;
    lp_path_release();
}

/* The next thread with this state continues in the same ring; the exit record separates them. */
static void leave_thread(void *state)
{
    struct lp_thread *thread = state;
    const struct lp_region_hook *hook = lp_region_hook_get();

    lp_thread_self = NULL;
    exit_rounds++;
    if (lp_capture_forked())
        return;
    if (hook && hook->leave)
        hook->leave(thread);
    if (lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_THREAD_EXIT, 0, LP_PATH_ROOT, 0);
    if (thread->window_depth > 0)
        lp_sampler_close(thread);
    atomic_store(&thread->calls, 0);
    atomic_store(&thread->host_calls, 0);
    forget_paths(thread);
    pthread_mutex_lock(&lock);
    thread->next_free = free_threads;
    free_threads = thread;
    pthread_mutex_unlock(&lock);
}

void lp_capture_on_pressure(void (*wake)(void))
{
    atomic_store(&wake_collector, wake);
}

/* A ring of the current size. Records of an earlier epoch in it were read or are dropped. */
static bool make_ring(struct lp_ring *ring)
{
    uint64_t count = atomic_load(&ring_records);
    void *memory;

    if (ring->records && ring->mask + 1 == count)
        return true;
    if (ring->records)
        munmap(ring->records, (ring->mask + 1) * sizeof(struct lp_record));
    ring->records = NULL;
    memory = mmap(NULL, count * sizeof(struct lp_record), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return false;
    ring->mask = count - 1;
    ring->records = memory;
    return true;
}

static bool push_record(struct lp_ring *ring, const struct lp_record *record)
{
    uint64_t head =
        atomic_load_explicit(&ring->head, memory_order_relaxed); /* only this thread moves it */

    if (head - ring->known_tail > ring->mask) {
        ring->known_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - ring->known_tail > ring->mask)
            return false;
    }
    ring->records[head & ring->mask] = *record;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    if (__builtin_expect(head == ring->half, 0)) {
        void (*wake)(void) = atomic_load_explicit(&wake_collector, memory_order_acquire);

        ring->half = head + ring->mask / 2;
        if (wake)
            wake();
    }
    return true;
}

/* The collector reads nothing of this ring before ring_epoch is set. */
static bool join_epoch(struct lp_thread *thread, uint32_t epoch)
{
    struct lp_ring *ring = &thread->ring;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t open = thread->depth < LLMPERF_REGION_DEPTH ? thread->depth : LLMPERF_REGION_DEPTH;

    if (!make_ring(ring))
        return false;
    atomic_store_explicit(&ring->tail, head, memory_order_relaxed);
    ring->known_tail = head;
    ring->half = head + ring->mask / 2;
    thread->epoch = epoch;
    for (uint32_t i = 0; i < open; i++) {
        struct lp_record record = { lp_clock_now(), 0, thread->stack[i], LP_RECORD_REGION_BEGIN,
                                    LP_BEGIN_BEFORE };

        if (!(thread->owner[i] & LP_OWNER_DROPPED))
            push_record(ring, &record);
    }
    atomic_store_explicit(&thread->ring_epoch, epoch, memory_order_release);
    return true;
}

/* Field by field: copying a record would cost a region 10 ns. */
static inline void keep_record(struct lp_thread *thread, uint32_t epoch, uint16_t kind,
                               uint16_t detail, uint32_t node, uint64_t value)
{
    struct lp_record record = { 0, value, node, kind, detail };
    bool joined = thread->epoch == epoch || join_epoch(thread, epoch);

    record.time_ns = lp_clock_now();
    if (!joined ||
        !push_record(&thread->ring, &record)) /* one writer, so no read-modify-write is needed */
        atomic_store_explicit(&thread->ring.lost,
                              atomic_load_explicit(&thread->ring.lost, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

void lp_thread_record(struct lp_thread *thread, uint16_t kind, uint16_t detail, uint32_t node,
                      uint64_t value)
{
    uint32_t epoch = atomic_load_explicit(&lp_capture_epoch, memory_order_acquire);

    if (epoch != 0)
        keep_record(thread, epoch, kind, detail, node, value);
}

void lp_thread_call_enter(struct lp_thread *thread)
{
    atomic_fetch_add(&thread->calls_begun, 1);
    atomic_store(&thread->calls, atomic_load_explicit(&thread->calls, memory_order_relaxed) + 1);
}

void lp_thread_call_exit(struct lp_thread *thread)
{
    uint32_t calls = atomic_load_explicit(&thread->calls, memory_order_relaxed);

    thread->kept = LP_CORRELATION_NONE;
    if (calls > 0)
        atomic_store(&thread->calls, calls - 1);
}

void lp_thread_host_call_enter(struct lp_thread *thread)
{
    atomic_store(&thread->host_calls,
                 atomic_load_explicit(&thread->host_calls, memory_order_relaxed) + 1);
}

void lp_thread_host_call_exit(struct lp_thread *thread)
{
    uint32_t calls = atomic_load_explicit(&thread->host_calls, memory_order_relaxed);

    if (calls > 0)
        atomic_store(&thread->host_calls, calls - 1);
}

/* Before the driver creates its record: who reads that can look here. */
static void leave_uncounted(struct lp_thread *thread, uint32_t correlation)
{
    uint32_t now = atomic_load(&gap), first = correlation;
    _Atomic uint64_t *uncounted = &thread->uncounted[now % 2];
    uint64_t before = atomic_load_explicit(uncounted, memory_order_relaxed);

    if (before != 0 && thread->uncounted_gap == now)
        first = LP_UNCOUNTED_FIRST(before);
    thread->uncounted_gap = now;
    atomic_store_explicit(uncounted, LP_UNCOUNTED_VALUE(first, correlation), memory_order_release);
}

/* The epoch is read before and after the sampler's word, which changes sessions only between
 * epochs. All are sequentially consistent, like the mark of the call: who ends the epoch or closes
 * a window sees the mark, or the call sees the end. */
void lp_thread_launch(enum lp_launch_kind kind, uint32_t graph, uint32_t correlation)
{
    struct lp_thread *thread = lp_thread_get();
    uint32_t epoch = atomic_load(&lp_capture_epoch);
    uint64_t word;
    bool kept;

    if (!thread)
        return;
    word = atomic_load(&lp_sampler_word);
    kept = (word == 0 || lp_sampler_takes(thread, kind, word)) && epoch != 0 &&
           atomic_load(&lp_capture_epoch) == epoch;
    thread->kept = kept ? correlation : LP_CORRELATION_NONE;
    if (!kept) {
        leave_uncounted(thread, correlation);
        return;
    }
    if (word != 0 && kind == LP_LAUNCH_GRAPH)
        lp_sampler_graph();
    keep_record(thread, epoch, LP_RECORD_LAUNCH, (uint16_t)kind, thread->node,
                LP_LAUNCH_VALUE(graph, correlation));
}

void lp_thread_launch_end(uint32_t correlation)
{
    struct lp_thread *thread = lp_thread_self;
    uint32_t epoch = atomic_load_explicit(&lp_capture_epoch, memory_order_acquire);

    if (!thread || correlation == LP_CORRELATION_NONE || thread->kept != correlation ||
        epoch == 0 || thread->epoch != epoch ||
        atomic_load_explicit(&lp_sampler_word, memory_order_relaxed) != 0 || lp_capture_forked())
        return;
    keep_record(thread, epoch, LP_RECORD_LAUNCH_END, 0, thread->node, correlation);
}

void lp_thread_host_call(uint16_t call, uint64_t began_ns)
{
    struct lp_thread *thread = lp_thread_get();

    if (thread && lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_HOST_CALL, call, thread->node,
                         lp_clock_now() - began_ns);
}

void lp_thread_memory(uint16_t detail, uint64_t value)
{
    struct lp_thread *thread = lp_thread_get();

    if (thread && lp_thread_recording())
        lp_thread_record(thread, LP_RECORD_MEMORY, detail, thread->node, value);
}

/* Into the ring with the launch, even if collection ended during the call: it waits for the call
 * before it reads the ring for the last time. Into the new ring if collection began again. Nested
 * launch calls are not reported, so they do not count. */
void lp_thread_launch_cancelled(uint32_t correlation)
{
    struct lp_thread *thread = lp_thread_self;
    uint32_t epoch = atomic_load(&lp_capture_epoch);

    if (!thread || correlation == LP_CORRELATION_NONE || thread->kept != correlation ||
        lp_capture_forked() || !thread->ring.records)
        return;
    keep_record(thread, epoch != 0 ? epoch : thread->epoch, LP_RECORD_LAUNCH_CANCELLED, 0,
                thread->node, correlation);
}

bool lp_threads_in_call(void)
{
    for (const struct lp_thread *thread = atomic_load(&lp_all_threads); thread;
         thread = thread->next)
        if (atomic_load(&thread->calls) > 0)
            return true;
    return false;
}

bool lp_threads_in_host_call(void)
{
    for (const struct lp_thread *thread = atomic_load(&lp_all_threads); thread;
         thread = thread->next)
        if (atomic_load(&thread->host_calls) > 0)
            return true;
    return false;
}

void lp_threads_begin_calls(void)
{
    for (struct lp_thread *thread = atomic_load(&lp_all_threads); thread; thread = thread->next) {
        atomic_store(&thread->calls, 0);
        atomic_store(&thread->host_calls, 0);
        thread->kept = LP_CORRELATION_NONE;
        atomic_store(&thread->uncounted[0], 0);
        atomic_store(&thread->uncounted[1], 0);
    }
}

void lp_capture_begin(uint64_t ring_bytes, bool anew)
{
    uint64_t count = 1024;

    set_up();
    while (count * 2 * sizeof(struct lp_record) <= ring_bytes && count < (UINT64_C(1) << 32))
        count *= 2;
    atomic_store(&ring_records, count);
    pthread_mutex_lock(&lock);
    last_epoch += 2;
    for (struct lp_thread *thread = anew ? atomic_load(&lp_all_threads) : NULL; thread;
         thread = thread->next)
        thread->uncounted_reported[0] = thread->uncounted_reported[1] = 0;
    atomic_store(&lp_capture_epoch, last_epoch - 1);
    pthread_mutex_unlock(&lock);
}

void lp_capture_end(void)
{
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&gap,
                     1); /* first: launches that do not count from here on belong to the new gap */
    atomic_store(&lp_capture_epoch, 0);
    pthread_mutex_unlock(&lock);
}

static void report_lost(struct lp_thread *thread, const struct lp_device_sink *sink)
{
    uint64_t lost = atomic_load_explicit(&thread->ring.lost, memory_order_relaxed);
    struct lp_record record = { lp_clock_now(), lost - thread->lost_reported, LP_PATH_ROOT,
                                LP_RECORD_LOST, 0 };

    if (record.value == 0)
        return;
    thread->lost_reported = lost;
    sink->host(sink->context, thread->index, &record, 1);
}

/* Collection ends twice before one is overwritten, and all are drained each time. */
static void report_uncounted(struct lp_thread *thread, const struct lp_device_sink *sink)
{
    for (int i = 0; i < 2; i++) {
        uint64_t uncounted = atomic_load_explicit(&thread->uncounted[i], memory_order_acquire);
        struct lp_record record = { 0, uncounted, LP_PATH_ROOT, LP_RECORD_UNCOUNTED, 0 };

        if (uncounted == thread->uncounted_reported[i])
            continue;
        thread->uncounted_reported[i] = uncounted;
        if (uncounted == 0)
            continue;
        record.time_ns = lp_clock_now();
        sink->host(sink->context, thread->index, &record, 1);
    }
}

static size_t drain_ring(struct lp_thread *thread, const struct lp_device_sink *sink)
{
    struct lp_ring *ring = &thread->ring;
    uint64_t tail = atomic_load_explicit(
        &ring->tail, memory_order_relaxed); /* only the collector moves it in an epoch */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t total = (size_t)(head - tail);

    while (tail < head) {
        uint64_t at = tail & ring->mask;
        uint64_t run = ring->mask + 1 - at < head - tail ? ring->mask + 1 - at : head - tail;

        sink->host(sink->context, thread->index, ring->records + at, (size_t)run);
        tail += run;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    report_lost(thread, sink);
    return total;
}

size_t lp_capture_drain(const struct lp_device_sink *sink)
{
    uint32_t current;
    size_t total = 0;

    pthread_mutex_lock(&lock);
    current = last_epoch - 1;
    pthread_mutex_unlock(&lock);
    for (struct lp_thread *thread = atomic_load_explicit(&lp_all_threads, memory_order_acquire);
         thread; thread = thread->next) {
        if (atomic_load_explicit(&thread->ring_epoch, memory_order_acquire) == current)
            total += drain_ring(thread, sink);
        else /* out of memory for the ring: all records of the thread are lost */
            report_lost(thread, sink);
        report_uncounted(thread, sink);
    }
    return total;
}
