/* SPDX-License-Identifier: Apache-2.0 */
/** What each thread owns: its region stack, its cache of paths, its ring of records. States are
 * recycled, never freed, because a driver callback may look at one at any time. */
#ifndef LP_REGIONS_THREADS_H
#define LP_REGIONS_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/record/record.h"
#include "llmperf/region.h"

/** Single producer (the thread), single consumer (the collector). Full: drop and count. */
struct lp_ring {
    struct lp_record *records; /* set once, before the first record is published */
    uint64_t mask;
    uint64_t known_tail;                /* the producer's last look at tail */
    uint64_t half;                      /* head at which the collector is woken */
    _Atomic uint64_t lost;              /* records dropped; the producer counts */
    _Alignas(64) _Atomic uint64_t head; /* the producer moves it */
    _Alignas(64) _Atomic uint64_t tail; /* the consumer moves it */
};

struct lp_path_cache_entry {
    const char *pointer; /* the caller's text; checked by content against `label` */
    const char *label;   /* our copy of what was passed */
    uint32_t parent, node;
};

/** The same for names of NVTX ranges, whose address is no key: many are made for one call. */
struct lp_range_cache_entry {
    uint64_t hash; /* of domain and name; 0: free */
    uint32_t parent, node;
};

#define LP_PATH_CACHE 256u

/** In `owner` of a level: the region below it has ended. The level is in no path any more, and
 * stays only so that its owner's own end closes it and nothing else. */
#define LP_OWNER_DROPPED UINT32_C(0x80000000)

struct lp_thread {
    uint32_t depth; /* levels of the stack, may exceed LLMPERF_REGION_DEPTH */
    uint32_t node;  /* innermost region, LP_PATH_ROOT if none */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    uint32_t owner[LLMPERF_REGION_DEPTH]; /* of each level, see region_stack.h */
    struct lp_path_cache_entry cache[LP_PATH_CACHE];
    struct lp_range_cache_entry ranges[LP_PATH_CACHE];
    struct lp_ring ring;
    uint32_t learned;               /* path that was looked up last: it may be in neither cache */
    uint32_t window_depth;          /* level that opened this thread's sampling window; 0: none */
    uint32_t window_number;         /* triggered window that it is in; 0: it is the thread's own */
    uint32_t window_session;        /* of sampling: a window may outlast it */
    uint32_t index;                 /* stable name of this state, dense from 0 */
    uint32_t epoch;                 /* the producer's: epoch its ring belongs to */
    _Atomic uint32_t ring_epoch;    /* the same, released for the collector */
    uint64_t lost_reported;         /* the collector's: how much of ring.lost it has reported */
    _Atomic uint64_t uncounted[2];  /* launches that do not count, since collecting last ended and
                                    since the end before: LP_UNCOUNTED_VALUE; 0: none */
    uint64_t uncounted_reported[2]; /* the collector's: what it has reported of them */
    uint32_t uncounted_gap;         /* the producer's: how often collecting had ended by then */
    _Atomic uint32_t calls; /* launches in progress that callbacks reported; the thread writes */
    _Atomic uint32_t calls_begun; /* launches begun so far, likewise */
    uint32_t calls_seen;          /* the collector's: calls_begun as it began to wait */
    uint32_t kept;                /* correlation id of the launch in progress, if it was kept */
    struct lp_thread *next;       /* list of all states */
    struct lp_thread *next_free;
};

/** Epoch in which host records are kept; 0: none. Odd and growing with each lp_capture_begin(). */
extern _Atomic uint32_t lp_capture_epoch;

/** The states of all threads, the newest first; none is ever taken out. */
extern _Atomic(struct lp_thread *) lp_all_threads;

extern __thread struct lp_thread *lp_thread_self;

/** State of this thread, made on first use; NULL without memory. */
struct lp_thread *lp_thread_create(void);

static inline struct lp_thread *lp_thread_get(void)
{
    struct lp_thread *thread = lp_thread_self;

    return __builtin_expect(thread != NULL, 1) ? thread : lp_thread_create();
}

/** Keep a host record of this thread, if an epoch is on. */
void lp_thread_record(struct lp_thread *thread, uint16_t kind, uint16_t detail, uint32_t node,
                      uint64_t value);

static inline bool lp_thread_recording(void)
{
    /* Relaxed: a record more or less at the edge of an epoch is fine, the ring itself synchronises.
     */
    return __builtin_expect(atomic_load_explicit(&lp_capture_epoch, memory_order_relaxed) != 0, 0);
}

/** This thread is in a call that starts device work. Exit without enter: nothing happens. */
void lp_thread_call_enter(struct lp_thread *thread);
void lp_thread_call_exit(struct lp_thread *thread);

/** Is any thread in such a call? Sequentially consistent. */
bool lp_threads_in_call(void);

/** Callbacks will report calls again, with correlation ids from the beginning. While none does. */
void lp_threads_begin_calls(void);

/** Wait for the calls that are under way now, as far as callbacks reported them, 50 ms at most: the
 * driver may keep a thread for longer (its queue is full). @threads collector only */
void lp_threads_await_calls(void);

/** Count a launch by this thread, charged to its innermost region. While nothing is collected it
 * does not count, but its id is kept: its record may come all the same. For driver callbacks.
 * @param graph  Executable graph of a graph launch; 0: none, or not known. */
void lp_thread_launch(enum lp_launch_kind kind, uint32_t graph, uint32_t correlation);
void lp_thread_launch_cancelled(uint32_t correlation);

#endif
