/* SPDX-License-Identifier: Apache-2.0 */
/** No promise: this header serves the llmperf command and may change in any release
 * (docs/explanation/abi.md).
 *
 * Traces: what a session recorded, in the order of time, for the viewers of others.
 *
 * @threads any thread; each call on its own */
#ifndef LLMPERF_SYS_TRACE_H
#define LLMPERF_SYS_TRACE_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats. */
enum {
    LLMPERF_TRACE_PERFETTO =
        1, /**< protobuf of Perfetto, for ui.perfetto.dev and trace_processor */
    LLMPERF_TRACE_CHROME =
        2, /**< JSON of chrome://tracing in the shape that Kineto (torch.profiler) writes */
    LLMPERF_TRACE_NSYS_SQLITE = 3 /**< the tables of nsys export --type=sqlite that its readers
                                     join; llmperf_import() reads it, too */
};

/** Usual name of such a file: "trace.pftrace", "trace.json", "trace.sqlite"; NULL for another
 * format. Static text. */
LLMPERF_API const char *llmperf_trace_file_name(uint32_t format);

/** What a trace holds. Times are on the clock of the events (CLOCK_MONOTONIC of the machine), 0: no
 * event. */
typedef struct llmperf_trace_summary {
    size_t struct_size;
    uint64_t kernels;  /**< slices of kernels */
    uint64_t memory;   /**< copies and sets */
    uint64_t graphs;   /**< whole CUDA graphs (LLMPERF_SESSION_GRAPH_LEVEL) */
    uint64_t regions;  /**< instances of regions, ranges that are on no stack included */
    uint64_t launches; /**< calls that started device work, without those that failed or were
                          captured into a graph */
    uint64_t samples;  /**< of hardware counters, columns not counted */
    uint64_t first_ns, last_ns;
    uint64_t missing_from_ns; /**< from here on events are missing: the recording reached its size
                                 limit; 0: it did not */
    uint32_t cut;  /**< 1: the recording has no end: its program was killed, or still runs */
    uint32_t runs; /**< whose events are in it; more than 1 of a merged run */
    uint32_t runs_missing; /**< runs of a merged one that keep no trace, or are not where they were:
                              remarks in the trace name them */
    uint32_t clocks; /**< machines; above 1 their times stand beside each other by the time of day,
                        see llmperf_trace_export() */
    uint32_t runs_untimed; /**< runs that do not say when they were, beside some that do: their
                              events stand at times of their own */
    uint32_t reserved;
} llmperf_trace_summary;
#define LLMPERF_TRACE_SUMMARY_INIT LLMPERF_INIT(llmperf_trace_summary)

/** Write the trace of a session as a file of another program. The recording is read front to back
 * and never held whole.
 *
 * Runs that were put together (llmperf_profile_merge(), `llmperf merge`, `llmperf run` of a job)
 * keep their traces where they are; the merged run knows their folders. They are found there, or at
 * the same place beside it if both were moved, and told by their keys: another run in such a folder
 * is not taken. Processes and GPUs have the numbers of the merged run. Runs of one machine (one
 * boot of it) have one clock. Those of several are set beside each other by the time of day at
 * their starts, on the clock of the machine that has run longest: between machines, times are right
 * as far as these times of day are.
 *
 * @param source   A run directory or its run.llmperf, of a session with keep_trace; a merged run,
 * some of whose runs have a trace: the traces of all of them; or a recording (record_path).
 * @param format   LLMPERF_TRACE_…
 * @param path     File to create or replace, not one that the trace is made from; a temporary one
 * beside it is renamed. Perfetto and Chrome may also go into a pipe, a device or through a link;
 * the database of nsys needs a plain file.
 * @param summary_out  struct_size set by the caller; NULL: not wanted.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT (no such file, or a run without a trace),
 * LLMPERF_EFORMAT (a damaged recording, or none), LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_trace_export(const char *source, uint32_t format, const char *path,
                                     llmperf_trace_summary *summary_out);

#ifdef __cplusplus
}
#endif
#endif
