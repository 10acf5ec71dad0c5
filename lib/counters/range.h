/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the range profiler: its state, CUPTI's calls (counters_range_calls.c), values of
 * regions (counters_range_values.c) and of kernels (counters_range_kernels.c). All on the thread
 * that owns the counters, unless stated otherwise. */
#ifndef LP_COUNTERS_RANGE_H
#define LP_COUNTERS_RANGE_H

#include "lib/counters/run.h"
#include "llmperf/region.h"

#define LP_RANGE_NO_PART UINT32_MAX

enum lp_range_event_kind { LP_RANGE_BEGIN, LP_RANGE_PART, LP_RANGE_LOST, LP_RANGE_END };

/* Events of a window, in order; replayed when its values are available. */
struct lp_range_event {
    enum lp_range_event_kind kind;
    uint32_t node;      /* begin */
    uint32_t part;      /* part: number of its range */
    const char *reason; /* lost */
};

/* A region call whose values are added up. Sums are of values, or of values by weight. */
struct lp_range_frame {
    uint32_t node;
    bool nested;
    const char *reason;      /* why it is unknown; NULL: it is known */
    double *inclusive, *own; /* one per column, each followed by its weight */
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
    _Atomic(const struct lp_thread *) owner; /* owns the counters; all below is the owner's */
    uint64_t since_ns;                       /* budget: counting began */
    uint64_t cost_ns;                        /* cost until then, of the setup */
    LP_VECTOR(uint32_t) measured;            /* budget: outermost regions that were measured once */
    uint32_t stack[LLMPERF_REGION_DEPTH];
    uint32_t depth;
    bool started, part_open;
    uint32_t parts;              /* of this window */
    uint32_t round_node;         /* user replay: the region whose passes are being collected */
    uint64_t shape, round_shape; /* hash of the events of this pass, and of the first */
    bool uneven;                 /* passes of this round differ */
    const char *spoilt;          /* why the values replayed now are unknown; NULL: they are known */
    LP_VECTOR(struct lp_range_event) events;
    LP_VECTOR(double) values, scratch;
    struct lp_range_frame frames[LLMPERF_REGION_DEPTH];
    uint32_t frame_count;
    pthread_mutex_t launches_lock; /* guards launches: any thread launches */
    LP_VECTOR(struct lp_range_launch) launches;
    bool listen; /* launches are recorded */
};

/** CUPTI's calls. 0 or the error of LP_COUNTER_CALL(), LLMPERF_ENOMEM. */
int lp_range_enable(struct lp_counters *counters);
void lp_range_disable(struct lp_counters *counters);
int lp_range_image_make(struct lp_counters *counters);
int lp_range_image_clear(struct lp_counters *counters);
int lp_range_configure(struct lp_counters *counters);
int lp_range_start(struct lp_counters *counters);
/** @param all_out  All passes are collected. */
int lp_range_stop(struct lp_counters *counters, bool *all_out);
int lp_range_push(struct lp_counters *counters, uint32_t part);
int lp_range_pop(struct lp_counters *counters);
int lp_range_decode(struct lp_counters *counters, size_t *ranges_out);

/** The number that a range was pushed with; LP_RANGE_NO_PART if CUPTI does not report it. */
uint32_t lp_range_part(struct lp_counters *counters, size_t range);

/** Room for the values of regions. 0 or LLMPERF_ENOMEM. */
int lp_range_sums_make(struct lp_counters *counters);

/** Note an event of this window. */
void lp_range_put_event(struct lp_ranges *ranges, enum lp_range_event_kind kind, uint32_t node,
                        uint32_t part, const char *reason);

/** Compute values of regions from the events of a window, and clear the events.
 * @param by_part  Range of each part; LP_RANGE_NO_PART: there is none. */
void lp_range_play(struct lp_counters *counters, const uint32_t *by_part);

/** Kernel replay: start or stop recording launches. */
void lp_range_listen(struct lp_ranges *ranges, bool listen);

/** Kernel replay: an outermost region is over. 0 or an error. */
int lp_range_end_kernels(struct lp_counters *counters);

#endif
