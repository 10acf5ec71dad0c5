/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the range profiler: state, calls of CUPTI (range_calls.c), values of regions
 * (range_values.c) and of kernels (range_kernels.c). On the thread that owns the counters, unless
 * noted. */
#ifndef LP_COUNTERS_RANGE_H
#define LP_COUNTERS_RANGE_H

#include "lib/counters/run.h"
#include "llmperf/region.h"

#define LP_RANGE_NO_PART UINT32_MAX

enum lp_range_event_kind { LP_RANGE_BEGIN, LP_RANGE_PART, LP_RANGE_LOST, LP_RANGE_END };

/* Events of a window, in order; evaluated when its values are available. */
struct lp_range_event {
    enum lp_range_event_kind kind;
    uint32_t node;      /* of a begin */
    uint32_t part;      /* of a part: number of its range */
    const char *reason; /* why values are lost */
};

/* A call of a region during summation. Sums are of values, or of values x weight. */
struct lp_range_frame {
    uint32_t node;
    bool nested;
    const char *reason;      /* why it is unknown; NULL: it is known */
    double *inclusive, *own; /* by column; each followed by its weight */
};

struct lp_range_launch {
    uint32_t node, kind, correlation;
    const char *name;
};

struct lp_ranges {
    lp_cupti_object object;
    uint8_t *data; /* counter data image */
    size_t data_size;
    _Atomic bool elsewhere; /* the owner launched in another context since the last event */
    _Atomic(const struct lp_thread *) owner; /* owns the counters and everything below */
    uint64_t since_ns;                       /* budget: start of counting */
    uint64_t cost_ns;                        /* budget: cost of the setup */
    LP_VECTOR(uint32_t) measured;            /* budget: outermost regions that were measured once */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    uint32_t depth;
    bool started, part_open;
    uint32_t parts;              /* in this window */
    uint32_t round_node;         /* user replay: the region whose passes are being collected */
    uint64_t shape, round_shape; /* hash of the events of this pass; of the first pass */
    bool uneven;                 /* passes of this round differ */
    const char *spoilt;          /* why the current values are not known; NULL: they are */
    LP_VECTOR(struct lp_range_event) events;
    LP_VECTOR(double) values, scratch;
    struct lp_range_frame frames[LLMPERF_REGION_DEPTH];
    uint32_t frame_count;
    pthread_mutex_t launches_lock; /* guards `launches`: any thread may launch */
    LP_VECTOR(struct lp_range_launch) launches;
    bool listen; /* record launches */
};

/** CUPTI's calls. 0 or the error of LP_COUNTER_CALL(), LLMPERF_ENOMEM. */
int lp_range_enable(struct lp_counters *counters);
void lp_range_disable(struct lp_counters *counters);
int lp_range_image_make(struct lp_counters *counters);
int lp_range_image_clear(struct lp_counters *counters);
int lp_range_configure(struct lp_counters *counters);
int lp_range_start(struct lp_counters *counters);
/** @param all_out  All passes are complete. */
int lp_range_stop(struct lp_counters *counters, bool *all_out);
int lp_range_push(struct lp_counters *counters, uint32_t part);
int lp_range_pop(struct lp_counters *counters);
int lp_range_decode(struct lp_counters *counters, size_t *ranges_out);

/** Number of a range; LP_RANGE_NO_PART: CUPTI does not report it. */
uint32_t lp_range_part(struct lp_counters *counters, size_t range);

/** Allocate the values of regions. 0 or LLMPERF_ENOMEM. */
int lp_range_sums_make(struct lp_counters *counters);

/** Add an event to this window. */
void lp_range_put_event(struct lp_ranges *ranges, enum lp_range_event_kind kind, uint32_t node,
                        uint32_t part, const char *reason);

/** Compute the regions' values from the events of a window, and clear the events.
 * @param by_part  Range of each part; LP_RANGE_NO_PART: none. */
void lp_range_play(struct lp_counters *counters, const uint32_t *by_part);

/** Kernel replay: start or stop recording launches. */
void lp_range_listen(struct lp_ranges *ranges, bool listen);

/** Kernel replay: an outermost region has ended. 0 or an error. */
int lp_range_end_kernels(struct lp_counters *counters);

#endif
