/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of lp_counters, for lib/counters only. */
#ifndef LP_COUNTERS_RUN_H
#define LP_COUNTERS_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/hashmap.h"
#include "lib/counters/counters.h"
#include "lib/regions/threads.h"
#include "lib/record/names.h"

/* Limit of ranges: above it some are lost without an error. CUPTI 13.0 kept 512 of 1000 and
 * reported no drop. */
#define LP_RANGES_MOST 256u

#define LP_WANTED_KNOWN 65536u /* higher nodes are looked up each time */

/** A GPU and what it can count. */
struct lp_counter_device {
    void *context; /* current at the query */
    int ordinal;
    char chip[32];
    uint8_t *availability;
};

/** Queue of facts for the collector. */
struct lp_counter_queued {
    uint32_t kind, node;
    const char *text; /* kernel or reason; lives as long as the queue */
    size_t values;    /* index of its values, which are by column */
    uint64_t count;   /* number of skipped calls */
};

struct lp_counter_queue {
    pthread_mutex_t lock; /* guards what follows */
    LP_VECTOR(struct lp_counter_queued) facts;
    LP_VECTOR(double) values;
    struct lp_hashmap skips; /* (node, reason) -> index in facts */
    struct lp_names texts;   /* of kernels */
    bool failed;             /* memory ran out: facts are missing */
};

enum lp_counters_phase {
    LP_COUNTERS_WAITING,  /* until CUPTI is attached */
    LP_COUNTERS_IDLE,     /* until a region with a context opens */
    LP_COUNTERS_STARTING, /* a thread sets it up */
    LP_COUNTERS_SEEN,     /* sampling: the GPU is known; the collector sets it up */
    LP_COUNTERS_RUNNING,
    LP_COUNTERS_OVER /* stopped, or not possible */
};

struct lp_ranges;
struct lp_samples;
struct lp_pc;

struct lp_counters {
    struct lp_counters_options options;
    const struct lp_counters_calls *calls;
    struct lp_counter_device device;
    struct lp_counter_set *set;
    uint32_t groups;      /* of the preset; 0: it was not split */
    uint32_t time_column; /* device time; columns.count: none */
    _Atomic int phase;    /* enum lp_counters_phase */
    _Atomic bool paused;
    bool driver_gone;                       /* the driver must not be called any more */
    _Atomic uint8_t known[LP_WANTED_KNOWN]; /* by node: 0 unknown, 1 not requested, 2 requested */
    _Atomic bool matched;                   /* a requested region was seen */
    _Atomic uint64_t boundaries, cost_ns, others;
    bool plan_reported; /* the collector's */
    struct lp_counter_queue queue;
    pthread_mutex_t problem_lock; /* guards problem */
    char problem[512];
    struct lp_ranges *ranges;   /* NULL: not this method */
    struct lp_samples *samples; /* NULL: not this method */
    struct lp_pc *pc;           /* NULL: not this method */
};

/** The CUDA context of this thread; NULL: none. Initialises nothing. @threads any thread */
void *lp_counter_context(void);

/** Wait until the context of this thread has no work left. Not during stream capture. */
void lp_counter_idle(void);

/** GPU of this thread: sets `context` and `ordinal`. false: no current context. */
bool lp_counter_device_look(struct lp_counter_device *device);

/** What that GPU can count. 0; negative: it cannot be used, see the error text. */
int lp_counter_device_open(const struct lp_counters_calls *calls, enum lp_counter_method method,
                           struct lp_counter_device *device);

/** Call CUPTI. 0; LLMPERF_EBUSY, _ENOTSUP or _EIO with a text that says what to do. */
#define LP_COUNTER_CALL(calls, function, params)                                                   \
    lp_counter_explain((calls), "cupti" #function, (calls)->function(params))
int lp_counter_explain(const struct lp_counters_calls *calls, const char *what, int result);

/** Is this region requested, by label or by path? @threads any thread */
bool lp_counter_wanted(struct lp_counters *counters, uint32_t node);

/** Store the first problem and stop counting. */
void lp_counters_fail(struct lp_counters *counters);

/** Queue a fact.
 * @param values  By column; NULL for a skipped call. @threads any thread */
void lp_counter_put(struct lp_counters *counters, uint32_t kind, uint32_t node, const char *text,
                    const double *values);
void lp_counter_queue_deliver(struct lp_counters *counters, const struct lp_device_sink *sink);
void lp_counter_queue_clear(struct lp_counter_queue *queue);

/** The range profiler. All except close() and stop() on the thread that opens regions. 0 or an
 * error. */
int lp_ranges_open(struct lp_counters *counters);
void lp_ranges_begin(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node);
void lp_ranges_end(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node);
void lp_ranges_leave(struct lp_counters *counters, const struct lp_thread *thread);
void lp_ranges_launch(struct lp_counters *counters, uint32_t kind, const char *name,
                      const void *launch_context, uint32_t correlation);
void lp_ranges_launch_cancelled(struct lp_counters *counters, uint32_t correlation);
void lp_ranges_stop(struct lp_counters *counters);
void lp_ranges_close(struct lp_counters *counters);

/** PC sampling. prepare() as early as there is a context: samples of kernels that were launched
 * before it are of no known kernel. open(), begin(), end() and leave() on the thread that opens
 * regions, the others on the collector. */
int lp_pc_make(struct lp_counters *counters);
void lp_pc_prepare(struct lp_counters *counters, void *context);
int lp_pc_open(struct lp_counters *counters);
void lp_pc_begin(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node);
void lp_pc_end(struct lp_counters *counters, const struct lp_thread *thread, uint32_t node);
void lp_pc_leave(struct lp_counters *counters, const struct lp_thread *thread);
void lp_pc_deliver(struct lp_counters *counters, const struct lp_device_sink *sink);
void lp_pc_stop(struct lp_counters *counters);
void lp_pc_state(const struct lp_counters *counters, struct lp_counters_state *state);
void lp_pc_close(struct lp_counters *counters);

/** PM sampling. All on the collector. */
int lp_samples_open(struct lp_counters *counters);
int lp_samples_restart(struct lp_counters *counters, uint64_t interval_ns,
                       const struct lp_device_sink *sink);
void lp_samples_deliver(struct lp_counters *counters, const struct lp_device_sink *sink);
void lp_samples_stop(struct lp_counters *counters);
void lp_samples_go_on(struct lp_counters *counters);
void lp_samples_close(struct lp_counters *counters);
void lp_samples_state(const struct lp_counters *counters, struct lp_counters_state *state);

#endif
