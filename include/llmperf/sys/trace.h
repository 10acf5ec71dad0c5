/* SPDX-License-Identifier: Apache-2.0 */
/** Not stable: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Traces: the events of a session in order of time, for trace viewers. */
#ifndef LLMPERF_SYS_TRACE_H
#define LLMPERF_SYS_TRACE_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of traces. */
enum {
    LLMPERF_TRACE_PERFETTO = 1, /**< protobuf for ui.perfetto.dev and trace_processor */
    LLMPERF_TRACE_CHROME = 2, /**< JSON of chrome://tracing, as Kineto (torch.profiler) writes it */
    LLMPERF_TRACE_NSYS_SQLITE =
        3 /**< the tables of nsys export --type=sqlite that its readers use */
};

/** Content of a trace. Times are on the clock of the events (CLOCK_MONOTONIC). */
typedef struct llmperf_trace_summary {
    size_t struct_size;
    uint64_t kernels;  /**< kernels */
    uint64_t memory;   /**< memcpys and memsets */
    uint64_t graphs;   /**< whole CUDA graphs (LLMPERF_SESSION_GRAPH_LEVEL) */
    uint64_t regions;  /**< calls of regions, and ranges that are on no stack */
    uint64_t launches; /**< calls that started device work, without failed and captured ones */
    uint64_t samples;  /**< samples of hardware counters */
    uint64_t first_ns; /**< first event; 0: no event */
    uint64_t last_ns;  /**< last event; 0: no event */
    uint64_t missing_from_ns; /**< events after this time are missing, because the recording reached
                                 its size limit; 0: none are missing */
    uint32_t cut;          /**< 1: the recording has no end: its program was killed or still runs */
    uint32_t runs;         /**< runs in the trace; more than 1 for a merged run */
    uint32_t runs_missing; /**< runs of a merged run without a trace, or that were not found */
    uint32_t clocks;       /**< machines; above 1 see llmperf_trace_export() */
    uint32_t runs_untimed; /**< runs whose start time is not known, next to others; their events
                              are not aligned */
    uint32_t reserved;     /**< 0 */
} llmperf_trace_summary;
#define LLMPERF_TRACE_SUMMARY_INIT LLMPERF_INIT(llmperf_trace_summary)

/** Usual file name of a format.
 *
 * @param format  LLMPERF_TRACE_…
 * @return "trace.pftrace", "trace.json" or "trace.sqlite"; NULL for other numbers. Static text.
 * @threads any thread */
LLMPERF_API const char *llmperf_trace_file_name(uint32_t format);

/** Write a trace. Memory does not grow with its length.
 *
 * A merged run knows the folders of its runs and uses their traces. They are found there, or at the
 * same place relative to the merged run, and identified by their keys. Processes and GPUs have the
 * numbers of the merged run. Runs of one boot of one machine share a clock; runs of several
 * machines are aligned by the time of day at their starts, so times between machines are only as
 * exact as their clocks.
 *
 * @param source       Folder or run.llmperf of a run that was recorded with keep_trace, a merged
 * run of such runs, or a recording (record_path).
 * @param format       LLMPERF_TRACE_…
 * @param path         File to create or replace, not one of the sources. Perfetto and Chrome traces
 * may also go to a pipe, a device or a link; the nsys database needs a regular file.
 * @param summary_out  struct_size set by the caller. NULL: not wanted.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no such file, or a run without a trace),
 * LLMPERF_EFORMAT (damaged, or not a recording), LLMPERF_EIO, LLMPERF_ENOMEM.
 * @threads any thread */
LLMPERF_API int llmperf_trace_export(const char *source, uint32_t format, const char *path,
                                     llmperf_trace_summary *summary_out);

#ifdef __cplusplus
}
#endif
#endif
