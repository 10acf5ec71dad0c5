/* SPDX-License-Identifier: Apache-2.0 */
/** Device sources: where activity records come from, each as one table of functions. All functions
 * are called by the collector only, unless stated otherwise. */
#ifndef LP_DEVICE_DEVICE_H
#define LP_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/graph_event.h"
#include "lib/record/counter.h"
#include "lib/record/gpu_sample.h"
#include "lib/record/names.h"
#include "lib/record/record.h"

/** Receives facts; batches are borrowed until the call returns, attribution may write to
 * activities. */
struct lp_device_sink {
    void *context;
    void (*host)(void *context, uint32_t thread, const struct lp_record *records, size_t count);
    void (*activities)(void *context, struct lp_activity *activities, size_t count);
    /** In the order in which they happened, before the activities that they explain. */
    void (*graphs)(void *context, const struct lp_graph_event *events, size_t count);
    /** Hardware counters; NULL: not requested. The plan comes before the first fact, which has one
     * value per column, and again where a recording of another session begins. */
    void (*plan)(void *context, const struct lp_counter_plan *plan);
    void (*counter)(void *context, const struct lp_counter_fact *fact, const double *values);
    /** State of a GPU, in the order of time; NULL: not wanted. */
    void (*gpu)(void *context, const struct lp_gpu_sample *sample);
};

/** Losses and overhead that the source itself knows of. */
struct lp_device_stats {
    uint64_t records_dropped;    /* by the driver or because the pool was full */
    uint64_t records_foreign;    /* of kinds that were not requested */
    uint64_t errors;             /* driver calls that failed */
    uint64_t records_incomplete; /* the driver returned a half-written record */
    uint64_t overhead_ns;        /* the driver's own tracing cost; meaningful if has_overhead */
    bool has_overhead;
    bool no_device;       /* a recording of a session without a device source: host facts only */
    bool cut;             /* a recording that ends early */
    uint32_t process_id;  /* of the process that was recorded; 0: this one */
    uint64_t duration_ns; /* of the session that was recorded; 0: not a recording */
    /* For a recording: its start, on the records' clock and since 1970, and the time from which
     * facts are missing because of its size limit; 0: not known, none missing. */
    uint64_t start_ns, start_utc_ns, full_ns;
};

struct lp_device_options {
    const char *path;       /* recording, trace or script; Borrowed for open() */
    uint64_t pool_bytes;    /* maximum memory for records in flight */
    bool memory_activities; /* memcpy and memset too */
    struct lp_names *names; /* receives kernel names; outlives the source */
    bool sampled;           /* start() leaves records off; ops->collect() turns them on and off */
    bool detached;          /* sampled in bursts: start() turns records on, and they stay on */
    bool graph_level;       /* one record per graph launch instead of one per node */
    bool release;           /* close() releases the driver's profiler for other tools */
    bool watch_captures;    /* track stream captures, for counters */
    bool keep_cubins;       /* lib/cupti/cubins.h, for PC sampling */
};

/** What a sampling session currently collects. */
enum lp_collect {
    LP_COLLECT_NOTHING,
    LP_COLLECT_LAUNCHES, /* callbacks only, no records yet: before KERNELS */
    LP_COLLECT_CALLS,    /* memcpy and memset callbacks too: before ALL */
    LP_COLLECT_KERNELS,  /* a sample */
    LP_COLLECT_ALL       /* memcpy and memset too: a triggered window */
};

struct lp_device_source;

/** Detaching CUPTI from the process and attaching it again, while the one launching thread is
 * stopped at the safepoint (lib/regions/safepoint.h). */
struct lp_device_detach {
    /** May this thread stop here for CUPTI to be detached? @threads the thread that is to stop */
    bool (*ready)(void);
    /** The thread is stopped: has the device no work left? Waits without a time limit, but the
     * device's work may depend on the thread, which stops for 0.2 s at most. */
    bool (*idle)(void);
    /** All its records have arrived. 0; LLMPERF_ESTATE: CUPTI must stay, with the reason. */
    int (*leave)(struct lp_device_source *source);
    /** Records are on from now on. 0; as opening the source. */
    int (*join)(struct lp_device_source *source);
};

struct lp_device_ops {
    const char *name;
    /** true: a live source; false: a finite one, deliver() reports its end. */
    bool live;
    int (*start)(struct lp_device_source *source); /* also: resume */
    void (*pause)(struct lp_device_source *source);
    /** Turn records and launch callbacks on and off in a sampling session; NULL: not supported.
     * @threads any thread */
    void (*collect)(enum lp_collect what);
    /** Request completed records from the driver; with `force`, incomplete ones too. May block.
     * Called with no lock held. */
    void (*flush)(struct lp_device_source *source, bool force);
    /** Set aside what has arrived. Host records are drained between take() and deliver(), so each
     * record finds its launch. */
    void (*take)(struct lp_device_source *source);
    /** Decode what was taken into the sink. 1: there is more; 0: all; negative: an error with its
     * text. */
    int (*deliver)(struct lp_device_source *source, const struct lp_device_sink *sink);
    void (*stats)(const struct lp_device_source *source, struct lp_device_stats *stats);
    void (*close)(struct lp_device_source *source);
    const struct lp_device_detach *detach; /* NULL: not supported */
};

/** Common head of all sources. */
struct lp_device_source {
    const struct lp_device_ops *ops;
    struct lp_names *names;
    uint32_t cupti_version; /* cuptiGetVersion(), 0: not CUPTI */
    char cupti_path[512];   /* file that was loaded, "" if not CUPTI */
    char gpu[96];           /* name of the GPU that a script gives, "": none */
    const char *recorded;   /* JSON of a recording's origin; NULL: not a recording */
};

/** Open a source. 0 and *source_out; LLMPERF_ENODEVICE, LLMPERF_EBUSY, LLMPERF_ENOENT,
 * LLMPERF_EFORMAT, LLMPERF_ENOMEM. */
int lp_device_open_cupti(const struct lp_device_options *options,
                         struct lp_device_source **source_out);
int lp_device_open_replay(const struct lp_device_options *options,
                          struct lp_device_source **source_out);
int lp_device_open_kineto(const struct lp_device_options *options,
                          struct lp_device_source **source_out);
int lp_device_open_fake(const struct lp_device_options *options,
                        struct lp_device_source **source_out);

/** Stubs with which finite sources implement the calls that only a live driver needs. */
int lp_finite_start(struct lp_device_source *source);
void lp_finite_nothing(struct lp_device_source *source);
void lp_finite_flush(struct lp_device_source *source, bool force);

/** Activities gathered into batches for a sink. */
struct lp_activity_batch {
    size_t count;
    struct lp_activity items[512];
};

void lp_activity_batch_send(struct lp_activity_batch *batch, const struct lp_device_sink *sink);

/** Space for one more activity, all of whose fields the caller sets; first delivers a full
 * batch. */
static inline struct lp_activity *lp_activity_batch_room(struct lp_activity_batch *batch,
                                                         const struct lp_device_sink *sink)
{
    if (batch->count == sizeof(batch->items) / sizeof(batch->items[0]))
        lp_activity_batch_send(batch, sink);
    return &batch->items[batch->count++];
}

/** The same, zeroed. */
struct lp_activity *lp_activity_batch_next(struct lp_activity_batch *batch,
                                           const struct lp_device_sink *sink);

#endif
