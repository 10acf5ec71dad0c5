/* SPDX-License-Identifier: Apache-2.0 */
/** Layouts of records. Times are CLOCK_MONOTONIC in nanoseconds. */
#ifndef LP_RECORD_RECORD_H
#define LP_RECORD_RECORD_H

#include <assert.h>
#include <stdint.h>

/** Kinds of host records. The numbers are stored in recordings. */
enum lp_record_kind {
    LP_RECORD_REGION_BEGIN = 1, /* detail: enum lp_begin, value: depends on it */
    LP_RECORD_REGION_END = 2,   /* node closed; detail: enum lp_end */
    LP_RECORD_COUNT = 3,        /* node, detail = quantity, value = amount */
    LP_RECORD_LAUNCH =
        4, /* detail = enum lp_launch_kind, value = correlation id; for graphs LP_LAUNCH_VALUE */
    LP_RECORD_LAUNCH_CANCELLED =
        5, /* value = correlation id of a launch that failed or was captured into a graph */
    LP_RECORD_UNBALANCED = 6,  /* an end without begin */
    LP_RECORD_THREAD_EXIT = 7, /* all regions of the thread are closed */
    LP_RECORD_LOST = 8,        /* `value` records of this thread were dropped before this one */
    LP_RECORD_RANGE = 9, /* an NVTX start/end range ended, value = its nanoseconds; detail 1: it was
                      open before collection started */
    LP_RECORD_UNCOUNTED = 10,  /* launches of the thread while nothing was collected,
                               LP_UNCOUNTED_VALUE: first and last correlation id */
    LP_RECORD_LAUNCH_END = 11, /* the call of a launch returned, value = its correlation id */
    LP_RECORD_REQUEST = 12,    /* detail: enum lp_served, value: the request, node: an amount, no
                               path */
    LP_RECORD_HOST_CALL = 13,  /* a call of the driver returned; detail: its number, see
                               host_calls.h, value: its nanoseconds */
    LP_RECORD_MEMORY = 14      /* device memory; detail: lp_memory_detail() */
};

/** What happens to device memory. The numbers are stored in recordings. */
enum lp_memory_step {
    LP_MEMORY_RETAINED = 0,  /* value: a handle, which is freed once more */
    LP_MEMORY_BYTES = 1,     /* value: size of the allocation that the thread's next record is */
    LP_MEMORY_ALLOCATED = 2, /* value: address or handle */
    LP_MEMORY_FREED = 3,     /* likewise, before the call returns */
    /* A memory pool of the driver after an allocation; in this order, all of one thread. */
    LP_MEMORY_POOL = 4,          /* value: its handle */
    LP_MEMORY_POOL_RESERVED = 5, /* value: bytes that it holds */
    LP_MEMORY_POOL_USED = 6      /* value: the part of them that is allocated */
};

/** What a value of LP_RECORD_MEMORY is: addresses and handles may be equal. */
enum lp_memory_space { LP_MEMORY_ADDRESS = 0, LP_MEMORY_HANDLE = 1 };

/** The device is that of the context, or of the memory that a new handle stands for. */
static inline uint16_t lp_memory_detail(enum lp_memory_step step, enum lp_memory_space space,
                                        uint32_t device)
{
    return (uint16_t)(device << 4 | (uint32_t)space << 3 | (uint32_t)step);
}
#define LP_MEMORY_STEP(detail)   ((uint8_t)((detail)&7))
#define LP_MEMORY_SPACE(detail)  ((uint8_t)((detail) >> 3 & 1))
#define LP_MEMORY_DEVICE(detail) ((uint16_t)((detail) >> 4))

/** What happened to a request. The numbers are stored in recordings. The first two come before
 * LP_SERVED_BEGIN of the same thread; their amount is the low half of its value. */
enum lp_served {
    LP_SERVED_ARRIVAL = 1, /* value: time of the arrival */
    LP_SERVED_ID = 2,      /* value: the program's own number */
    LP_SERVED_BEGIN = 3,   /* amount: prompt tokens */
    LP_SERVED_FIRST = 4,   /* the first token; amount: 1 */
    LP_SERVED_TOKENS = 5,  /* amount: new tokens */
    LP_SERVED_END = 6 /* and LLMPERF_FINISH_… above it; amount: output tokens, 0: not given */
};

/** How a region begins. The numbers are stored in recordings. */
enum lp_begin {
    LP_BEGIN_NOW = 0,
    LP_BEGIN_BEFORE = 1,  /* open before collection started */
    LP_BEGIN_SKIPPED = 2, /* skipped by sampling */
    /* In the triggered window with number `value`: */
    LP_BEGIN_TRIGGERED = 3, /* a call that the window collects */
    LP_BEGIN_LEFT_OUT = 4   /* began while the window was requested or open, but is not collected */
};

/** Value of LP_BEGIN_NOW and LP_BEGIN_SKIPPED for a call that sampling decided about: one of
 * LP_CHANCE_EVERY calls was chosen at random. 0: the chance is not known. Stored in recordings. */
#define LP_CHANCE_EVERY(value) ((uint32_t)(value)&0xfffffu)
#define LP_CHANCE_FIRST        (UINT32_C(1) << 20) /* the first call, which is always collected */
#define LP_CHANCE_TOUCHED      (UINT32_C(1) << 21) /* not collected, but records were enabled */
#define LP_CHANCE_MISSED       (UINT32_C(1) << 22) /* chosen, but it could not be collected */
/* One of four chosen calls measures the cost of collecting and is not in the sample: the
 * cost decides how many calls are chosen, and that must not depend on the times of the sample. */
#define LP_CHANCE_COST       (UINT32_C(1) << 23)
#define LP_CHANCE_COST_EVERY 4u

/** How a region ends. Not 0: other than by its own end call. The numbers are stored in
 * recordings. */
enum lp_end {
    LP_END_NOW = 0,
    LP_END_DROPPED = 2 /* an enclosing region ended first */
};

/** Records that a launch call produces. The numbers are stored in recordings. */
enum lp_launch_kind {
    LP_LAUNCH_KERNEL = 1,       /* exactly one kernel record */
    LP_LAUNCH_KERNEL_MULTI = 2, /* one kernel record for each device */
    LP_LAUNCH_GRAPH = 3,        /* any number of records of any kind */
    LP_LAUNCH_MEMORY = 4        /* memcpy or memset records, any number (none for zero bytes) */
};

/** A host record of one thread. */
struct lp_record {
    uint64_t time_ns;
    uint64_t value;
    uint32_t node; /* path node, see paths.h */
    uint16_t kind; /* enum lp_record_kind */
    uint16_t detail;
};
static_assert(sizeof(struct lp_record) == 24, "rings are sized by it");

/** Launches of a thread while nothing was collected. The interval may grow until collection begins
 * again. */
#define LP_UNCOUNTED_VALUE(first, last) ((uint64_t)(first) << 32 | (last))
#define LP_UNCOUNTED_FIRST(value)       ((uint32_t)((value) >> 32))
#define LP_UNCOUNTED_LAST(value)        ((uint32_t)(value))

/** The record has no correlation id. */
#define LP_CORRELATION_NONE 0u

/** Longest valid activity, one day. */
#define LP_ACTIVITY_LONGEST_NS UINT64_C(86400000000000)

/** Device work. */
struct lp_activity {
    uint64_t start_ns, end_ns;
    uint64_t bytes;      /* memcpy and memset */
    uint64_t graph_node; /* 0: not part of a graph */
    uint32_t graph;      /* graph exec id; 0: not part of a graph */
    uint32_t correlation;
    uint32_t name;  /* see names.h */
    uint32_t shape; /* see shapes.h; LP_SHAPE_NONE: not reported */
    uint32_t context, stream;
    uint16_t device;
    uint8_t kind; /* LLMPERF_ACTIVITY_… */
    uint8_t device_launched;
    uint32_t node;     /* set by attribution: path of the launch; LP_PATH_UNKNOWN: not known */
    uint32_t captured; /* set by attribution: path that captured the graph node; LP_PATH_UNKNOWN:
                          not known */
    uint32_t unit;     /* set by attribution: call of the stage that launched it; 0: none */
    uint32_t queued;   /* set by attribution: lp_queued() of the launch call */
    uint32_t call_ns;  /* set by attribution: length of the launch call, 0 where it is not known */
};
static_assert(sizeof(struct lp_activity) == 80, "batches are sized by it");

/** Time of a launch call in units of 64 ns, low half: unique within 274 s before its work runs. */
static inline uint32_t lp_queued(uint64_t time_ns)
{
    return (uint32_t)(time_ns >> 6);
}

/** Time from the launch call to `start_ns`, in steps of 64 ns; 0 if negative. */
static inline uint64_t lp_queued_before(uint64_t start_ns, uint32_t queued)
{
    uint32_t steps = lp_queued(start_ns) - queued;

    return steps > UINT32_MAX / 2 ? 0 : (uint64_t)steps << 6;
}

#endif
