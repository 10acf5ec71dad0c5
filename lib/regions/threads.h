/* SPDX-License-Identifier: Apache-2.0 */
/** State of a thread: its region stack, path cache and ring of records. States are recycled and
 * never freed, because a driver callback may read one at any time. */
#ifndef LP_REGIONS_THREADS_H
#define LP_REGIONS_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/record/record.h"
#include "llmperf/region.h"

/** Single producer (the thread), single consumer (the collector). If full, records are dropped and
 * counted. */
struct lp_ring {
    struct lp_record *records; /* set once, before the first record */
    uint64_t mask;
    uint64_t known_tail;                /* tail as last read by the producer */
    uint64_t half;                      /* the collector is woken at this head */
    _Atomic uint64_t lost;              /* dropped records; written by the producer */
    _Alignas(64) _Atomic uint64_t head; /* written by the producer */
    _Alignas(64) _Atomic uint64_t tail; /* written by the consumer */
};

struct lp_path_cache_entry {
    const char *pointer; /* address of the caller's text; its content is compared with `label` */
    const char *label;   /* copy of the caller's text */
    uint32_t parent, node;
};

/** For names of NVTX ranges, whose address is not a key: programs make a new text for each call. */
struct lp_range_cache_entry {
    uint64_t hash; /* of domain and name; 0: unused */
    uint32_t parent, node;
};

#define LP_PATH_CACHE 256u

/** `owner` of a dropped level: an enclosing region has ended. The level is in no path; it remains
 * so that its owner's end closes it and nothing else. */
#define LP_OWNER_DROPPED UINT32_C(0x80000000)

struct lp_thread {
    uint32_t depth; /* number of levels; may exceed LLMPERF_REGION_DEPTH */
    uint32_t node;  /* innermost region; LP_PATH_ROOT: none */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    uint32_t owner[LLMPERF_REGION_DEPTH]; /* of the levels, see region_stack.h */
    struct lp_path_cache_entry cache[LP_PATH_CACHE];
    struct lp_range_cache_entry ranges[LP_PATH_CACHE];
    struct lp_ring ring;
    uint32_t learned;       /* the last path looked up, which may be in neither cache */
    uint32_t window_depth;  /* level that opened this thread's sampling window; 0: none */
    uint32_t window_number; /* triggered window that it is in; 0: its own window */
    uint32_t
        window_session; /* number of the session with the window, which may outlive the session */
    uint32_t index;     /* identifies the state, from 0 */
    uint32_t epoch;     /* epoch of its ring; the producer's */
    _Atomic uint32_t ring_epoch;    /* the same, for the collector */
    uint64_t lost_reported;         /* how much of ring.lost was reported; the collector's */
    _Atomic uint64_t uncounted[2];  /* LP_UNCOUNTED_VALUE of launches since collection last ended,
                                       and since the end before; 0: none */
    uint64_t uncounted_reported[2]; /* how much of it was reported; the collector's */
    uint32_t uncounted_gap;         /* number of ends of collection at that time; the producer's */
    _Atomic uint32_t calls;         /* launch calls in progress; written by the thread */
    _Atomic uint32_t host_calls;    /* other calls in progress, which may be long; likewise */
    _Atomic uint32_t calls_begun;   /* launch calls so far; written by the thread */
    uint32_t calls_seen;    /* calls_begun when the collector began to wait; the collector's */
    uint32_t kept;          /* correlation id of the current launch, if it was recorded */
    struct lp_thread *next; /* list of all states */
    struct lp_thread *next_free;
};

/** Current epoch of host records; 0: none. Odd, and larger after each lp_capture_begin(). */
extern _Atomic uint32_t lp_capture_epoch;

/** States of all threads, newest first; never removed. */
extern _Atomic(struct lp_thread *) lp_all_threads;

extern __thread struct lp_thread *lp_thread_self;

/** State of this thread, created at first use; NULL: out of memory. */
struct lp_thread *lp_thread_create(void);

static inline struct lp_thread *lp_thread_get(void)
{
    struct lp_thread *thread = lp_thread_self;

    return __builtin_expect(thread != NULL, 1) ? thread : lp_thread_create();
}

/** Record a host record of this thread, if an epoch is active. */
void lp_thread_record(struct lp_thread *thread, uint16_t kind, uint16_t detail, uint32_t node,
                      uint64_t value);

static inline bool lp_thread_recording(void)
{
    /* Relaxed: a record more or less at the edge of an epoch is acceptable, and the ring
     * synchronises itself. */
    return __builtin_expect(atomic_load_explicit(&lp_capture_epoch, memory_order_relaxed) != 0, 0);
}

/** This thread enters and leaves a call that launches device work. A leave without an enter is
 * ignored. */
void lp_thread_call_enter(struct lp_thread *thread);
void lp_thread_call_exit(struct lp_thread *thread);

/** The same for a call whose length is recorded, which nobody waits for. */
void lp_thread_host_call_enter(struct lp_thread *thread);
void lp_thread_host_call_exit(struct lp_thread *thread);

/** Is any thread in such a call? Sequentially consistent. */
bool lp_threads_in_call(void);
bool lp_threads_in_host_call(void);

/** Callbacks will be enabled again, with new correlation ids. Only while they are disabled. */
void lp_threads_begin_calls(void);

/** Wait up to 50 ms for the calls in progress that callbacks have reported. The driver may block a
 * thread for longer, when its queue is full. @threads collector only */
void lp_threads_await_calls(void);

/** Count a launch by this thread in its innermost region. While nothing is collected it does not
 * count, but its id is kept, since its record may still come. For driver callbacks.
 * @param graph  Executable graph of a graph launch; 0: none, or not known. */
void lp_thread_launch(enum lp_launch_kind kind, uint32_t graph, uint32_t correlation);
void lp_thread_launch_cancelled(uint32_t correlation);

/** The call of a launch returned. Kept where every launch is collected: the length of a call costs
 * a record. */
void lp_thread_launch_end(uint32_t correlation);

/** A call of the driver returned. For driver callbacks.
 * @param call  Number of lib/record/host_calls.h. */
void lp_thread_host_call(uint16_t call, uint64_t began_ns);

/** Device memory is allocated or freed, see LP_RECORD_MEMORY. For driver callbacks. */
void lp_thread_memory(uint16_t detail, uint64_t value);

#endif
