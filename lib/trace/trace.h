/* SPDX-License-Identifier: Apache-2.0 */
/** Writes traces: takes attributed records, sorts them by time and writes them in the file format
 * of another program. Memory use does not depend on the length of a trace.
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
#define LP_TRACE_QUANTITIES 7u  /* indexed by LLMPERF_QUANTITY_…; 0 unused */

/** A GPU. Unknown numbers are 0, an unknown name is "". */
struct lp_trace_gpu {
    uint32_t device;
    char name[128];
    uint64_t sm_count, clock_khz, l2_bytes, memory_bytes;
    uint32_t cc_major, cc_minor;
};

/** A process, before its first event. Borrowed until the next process begins or the file is
 * finished. */
struct lp_trace_facts {
    const struct lp_names *names; /* of activities */
    const char *title;            /* name of the process */
    uint32_t part;                /* index in a file of several processes, from 0 */
    const struct lp_trace_gpu *gpus;
    size_t gpu_count;
    uint32_t process_id;  /* 0: not known */
    uint64_t duration_ns; /* of the session; 0: not known */
    uint64_t start_ns,
        start_utc_ns;  /* one moment, on the file's clock and since 1970; 0: not known */
    uint64_t shift_ns; /* added to the times of its events, a multiple of LP_TRACE_SHIFT_STEP */
};

/** NULL: not known. */
static inline const struct lp_trace_gpu *lp_trace_find_gpu(const struct lp_trace_facts *facts,
                                                           uint32_t device)
{
    for (size_t i = 0; i < facts->gpu_count; i++)
        if (facts->gpus[i].device == device)
            return &facts->gpus[i];
    return NULL;
}

/** A call of a region, or an NVTX start/end range. */
struct lp_trace_region {
    uint64_t begin_ns, end_ns;            /* end_ns: at its end only */
    uint64_t counts[LP_TRACE_QUANTITIES]; /* counted by the program; at its end only */
    uint32_t thread, node;
    bool before;    /* open before collection started */
    bool truncated; /* at its end: its begin or end was not seen */
    bool unended;   /* at its end: open when collection ended */
};

/** A call that launches device work. */
struct lp_trace_launch {
    uint64_t time_ns;
    uint32_t thread, node;
    uint32_t correlation, graph; /* graph 0: none, or not known */
    uint32_t kind;               /* enum lp_launch_kind */
};

/** A file format. Events of a process come in order of their begin, and region ends at their time.
 * finish() returns the first error. */
struct lp_trace_writer;
struct lp_trace_writer_ops {
    /** Begin a process; the following events belong to it. */
    void (*begin)(struct lp_trace_writer *writer, const struct lp_trace_facts *facts);
    void (*region_begin)(struct lp_trace_writer *writer, const struct lp_trace_region *region);
    void (*region_end)(struct lp_trace_writer *writer, const struct lp_trace_region *region);
    /** An NVTX start/end range.
     * @param lane  As for activities, over all threads. */
    void (*range)(struct lp_trace_writer *writer, const struct lp_trace_region *range,
                  uint32_t lane);
    void (*launch)(struct lp_trace_writer *writer, const struct lp_trace_launch *launch);
    /** @param lane  0, unless activities of its stream overlap; activities in a lane do not.
     * @param linked  The first one of its launch, which was written. */
    void (*activity)(struct lp_trace_writer *writer, const struct lp_activity *activity,
                     uint32_t lane, bool linked);
    /** Sampled hardware counters, not in order with other events. */
    void (*plan)(struct lp_trace_writer *writer, const struct lp_counter_plan *plan);
    void (*sample)(struct lp_trace_writer *writer, const struct lp_counter_fact *fact,
                   const double *values);
    /** A note for the reader of the trace, at a time. */
    void (*remark)(struct lp_trace_writer *writer, uint64_t time_ns, const char *text);
    /** 0, LLMPERF_EIO or LLMPERF_ENOMEM; there is a file only with 0. */
    int (*finish)(struct lp_trace_writer *writer);
    void (*free)(struct lp_trace_writer *writer);
};
struct lp_trace_writer {
    const struct lp_trace_writer_ops *ops;
};

/** Open a writer for a format (LLMPERF_TRACE_…). 0, LLMPERF_EINVAL, LLMPERF_EIO, LLMPERF_ENOMEM. */
int lp_trace_writer_open(uint32_t format, const char *path, struct lp_trace_writer **writer_out);

struct lp_trace;

/** @param writer  Must outlive the trace. NULL: out of memory. */
struct lp_trace *lp_trace_create(struct lp_trace_writer *writer,
                                 const struct lp_trace_facts *facts);
void lp_trace_free(struct lp_trace *trace);

/** The trace as receiver of an attribution: regions and activities. */
struct lp_attribution_sink lp_trace_sink(struct lp_trace *trace);

/** A host record (launch, count, range), after attribution has read it. */
void lp_trace_host(struct lp_trace *trace, uint32_t thread, const struct lp_record *record);

void lp_trace_plan(struct lp_trace *trace, const struct lp_counter_plan *plan);
void lp_trace_counter(struct lp_trace *trace, const struct lp_counter_fact *fact,
                      const double *values);

/** A note at the end of the file. */
void lp_trace_remark(struct lp_trace *trace, const char *text);

/** The process is complete: write what is buffered.
 * @param summary_out  Its counts and times are added.
 * @return 0 or LLMPERF_ENOMEM. */
int lp_trace_end(struct lp_trace *trace, llmperf_trace_summary *summary_out);

#endif
