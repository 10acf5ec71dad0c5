/* SPDX-License-Identifier: Apache-2.0 */
/** Writes traces: attributed records in; the same, sorted by time, out, in the file format of
 * another program. Memory use does not grow with the length of a trace.
 * @threads one at a time per object, all functions */
#ifndef LP_TRACE_TRACE_H
#define LP_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/attribution/attribution.h"
#include "lib/record/counter.h"
#include "lib/record/names.h"
#include "lib/record/record.h"
#include "llmperf/sys/trace.h"

#define LP_TRACE_SHIFT_STEP 64u /* of lp_queued() */
#define LP_TRACE_QUANTITIES 6u  /* by LLMPERF_QUANTITY_…, 0 unused */

/** A GPU of the machine; numbers that are not known are 0, the name "". */
struct lp_trace_gpu {
    uint32_t device;
    char name[128];
    uint64_t sm_count, clock_khz, l2_bytes, memory_bytes;
    uint32_t cc_major, cc_minor;
};

/** What is known of a process before its first event. Borrowed until the next process begins or the
 * file is finished. */
struct lp_trace_facts {
    const struct lp_names *names; /* of activities */
    const char *title;            /* what the process is called */
    uint32_t part;                /* of a file of several processes: counts from 0 */
    const struct lp_trace_gpu *gpus;
    size_t gpu_count;
    uint32_t process_id;             /* 0: not known */
    uint64_t duration_ns;            /* of the session; 0: not known */
    uint64_t start_ns, start_utc_ns; /* the same moment: on the clock of the file, since 1970; 0:
                                        not known */
    uint64_t shift_ns; /* to be added to the times of its events, which are of another clock; a
                          multiple of LP_TRACE_SHIFT_STEP */
};

/** What is known of a device; NULL: nothing. */
static inline const struct lp_trace_gpu *lp_trace_find_gpu(const struct lp_trace_facts *facts,
                                                           uint32_t device)
{
    for (size_t i = 0; i < facts->gpu_count; i++)
        if (facts->gpus[i].device == device)
            return &facts->gpus[i];
    return NULL;
}

/** A call of a region, or a range that is not on a stack. */
struct lp_trace_region {
    uint64_t begin_ns, end_ns;            /* end_ns: at its end only */
    uint64_t counts[LP_TRACE_QUANTITIES]; /* what the program counted in it, at its end only */
    uint32_t thread, node;
    bool before;    /* it was open before collection started */
    bool truncated; /* at its end: begin or end were not seen */
    bool unended;   /* at its end: it was open when collection ended */
};

/** A call that starts device work. */
struct lp_trace_launch {
    uint64_t time_ns;
    uint32_t thread, node;
    uint32_t correlation, graph; /* graph 0: none, or not known */
    uint32_t kind;               /* enum lp_launch_kind */
};

/** A file format. Events of a process come sorted by begin time, with region ends in between at
 * their times. A failure is remembered and returned by finish(). */
struct lp_trace_writer;
struct lp_trace_writer_ops {
    /** A process: what comes belongs to it, until the next one begins. */
    void (*begin)(struct lp_trace_writer *writer, const struct lp_trace_facts *facts);
    void (*region_begin)(struct lp_trace_writer *writer, const struct lp_trace_region *region);
    void (*region_end)(struct lp_trace_writer *writer, const struct lp_trace_region *region);
    /** A range that is on no stack. @param lane  As of activities, over all threads. */
    void (*range)(struct lp_trace_writer *writer, const struct lp_trace_region *range,
                  uint32_t lane);
    void (*launch)(struct lp_trace_writer *writer, const struct lp_trace_launch *launch);
    /** @param lane  0, unless others of its stream run at the same time: each lane is free of
     * overlaps. `linked`: it is the first of its launch, which was written. */
    void (*activity)(struct lp_trace_writer *writer, const struct lp_activity *activity,
                     uint32_t lane, bool linked);
    /** Sampled hardware counters; not in the order of the other events. */
    void (*plan)(struct lp_trace_writer *writer, const struct lp_counter_plan *plan);
    void (*sample)(struct lp_trace_writer *writer, const struct lp_counter_fact *fact,
                   const double *values);
    /** Something that the reader of the trace must know, at a time. */
    void (*remark)(struct lp_trace_writer *writer, uint64_t time_ns, const char *text);
    /** 0, LLMPERF_EIO, LLMPERF_ENOMEM; the file is there only with 0. */
    int (*finish)(struct lp_trace_writer *writer);
    void (*free)(struct lp_trace_writer *writer);
};
struct lp_trace_writer {
    const struct lp_trace_writer_ops *ops;
};

/** A writer of LLMPERF_TRACE_… to a file. 0, LLMPERF_EINVAL, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_trace_writer_open(uint32_t format, const char *path, struct lp_trace_writer **writer_out);

struct lp_trace;

/** @param writer  Outlives the trace. NULL without memory. */
struct lp_trace *lp_trace_create(struct lp_trace_writer *writer,
                                 const struct lp_trace_facts *facts);
void lp_trace_free(struct lp_trace *trace);

/** Attribution's receiver: regions and activities. */
struct lp_attribution_sink lp_trace_sink(struct lp_trace *trace);

/** A host record, after attribution had it: launches, counts, ranges. */
void lp_trace_host(struct lp_trace *trace, uint32_t thread, const struct lp_record *record);

void lp_trace_plan(struct lp_trace *trace, const struct lp_counter_plan *plan);
void lp_trace_counter(struct lp_trace *trace, const struct lp_counter_fact *fact,
                      const double *values);

/** A remark at the end of the file. */
void lp_trace_remark(struct lp_trace *trace, const char *text);

/** All of this process is in: what was held back is written. @param summary_out  Its counts and
 * times are added. 0 or LLMPERF_ENOMEM. */
int lp_trace_end(struct lp_trace *trace, llmperf_trace_summary *summary_out);

#endif
