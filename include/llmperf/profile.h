/* SPDX-License-Identifier: Apache-2.0 */
/** A profile: totals per region path and per kernel, frozen at one moment, and the ledger that says
 * how complete they are.
 *
 * Times are milliseconds. A double that cannot be known is NaN, an integer that cannot be known is
 * LLMPERF_UNKNOWN, a device that does not apply is -1; the reason stands in the notes. Text belongs
 * to the profile and lives as long as it does.
 *
 * @threads one at a time per object; reading from several threads is fine */
#ifndef LLMPERF_PROFILE_H
#define LLMPERF_PROFILE_H

#include "llmperf/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LLMPERF_UNKNOWN UINT64_MAX

typedef struct llmperf_profile llmperf_profile;

/** What ran on the device. */
enum {
    LLMPERF_ACTIVITY_KERNEL = 1,
    LLMPERF_ACTIVITY_MEMCPY = 2, /**< copies, peer copies included */
    LLMPERF_ACTIVITY_MEMSET = 3,
    LLMPERF_ACTIVITY_GRAPH =
        4 /**< a whole CUDA graph as one span, with LLMPERF_SESSION_GRAPH_LEVEL */
};

/** Word for an activity kind: "kernel", "memcpy", "memset", "graph"; "unknown" for others. Static
 * text. @threads any thread */
LLMPERF_API const char *llmperf_activity_kind_name(uint32_t kind);

/** How complete a profile is. */
enum {
    LLMPERF_VERDICT_COMPLETE =
        1, /**< every launch has its records, every record its launch, every time is valid */
    LLMPERF_VERDICT_SAMPLED = 2,    /**< a known share was collected on purpose */
    LLMPERF_VERDICT_INCOMPLETE = 3, /**< something is missing; the problems say what */
    LLMPERF_VERDICT_NO_DEVICE = 4,  /**< host times only */
    LLMPERF_VERDICT_DEAD = 5        /**< kernels were launched and not one was reported */
};

/** Expected against seen. Counters are exact. */
typedef struct llmperf_ledger {
    size_t struct_size;
    uint64_t launches_expected;  /**< kernel launch calls that succeeded, outside of stream capture
                                    and graph launches */
    uint64_t graph_launches;     /**< graph launch calls; each brings any number of records */
    uint64_t memory_calls;       /**< copy and set calls seen */
    uint64_t kernels_seen;       /**< kernel records with valid times, graph kernels included */
    uint64_t graph_kernels_seen; /**< the part of kernels_seen that graph launches brought */
    uint64_t memory_seen;        /**< copy and set records with valid times */
    uint64_t kernels_attributed; /**< kernels whose launch is known */
    uint64_t kernels_outside; /**< the part of kernels_attributed that was launched with no region
                                 open */
    uint64_t kernels_unattributed; /**< kernels whose launch was not seen */
    uint64_t launches_missing;     /**< launches without a kernel record */
    uint64_t records_dropped;      /**< device records the driver or the pool had to drop */
    uint64_t records_invalid_time; /**< end before start, or a time that cannot be */
    uint64_t records_incomplete;   /**< records without a start or an end time */
    uint64_t records_duplicate;    /**< a second record of one single-kernel launch; not counted in
                                      totals */
    uint64_t records_late; /**< records that came after their region's busy time was closed */
    uint64_t graph_nodes_unmapped; /**< graph records whose capture region is not known */
    uint64_t regions_dropped;      /**< host records lost because a thread's ring was full */
    uint64_t regions_truncated;    /**< regions open at the start or at the end of the session */
    uint64_t regions_unbalanced;   /**< ends without a begin */
    double cupti_overhead_ms;      /**< what the driver's tracing reports as its own cost; NaN: not
                                      collected */
    double sampled_fraction;       /**< share of the work that was collected; 1 = all */
    double attributed_gpu_time_share; /**< device time whose launch is known / all device time; NaN:
                                         no device time */
    uint32_t verdict;                 /**< LLMPERF_VERDICT_… */
    uint32_t reserved;
    uint64_t graphs_device_launchable; /**< graphs instantiated for launch from the device; such
                                          launches bring no records */
    uint64_t kernels_outside_window;   /**< kernels launched beside what was collected: by others
                                          while a sampling window was open, or while   collecting
                                          began   or ended; in no total */
    uint64_t kernels_in_windows; /**< the part of kernels_attributed that triggered windows hold: in
                                    llmperf_window_stats, and in no total of regions and kernels */
    uint64_t launches_duplicate; /**< launch calls with the correlation id of an earlier one: their
                                    records cannot be told apart */
    uint64_t graph_records_missing; /**< kernels, copies and sets by which launches of a CUDA graph
                                       brought less than its fullest launch; not in sessions that
                                       sample */
    uint64_t
        memory_missing; /**< copy and set calls without a record; those of zero bytes bring none */
    uint64_t
        records_before_launch; /**< device records that begin over a millisecond before their launch
                                  call: the clocks differ, gaps and idle times are not right */
    uint64_t records_foreign;  /**< device records of kinds that nobody here asked for; left out */
    uint64_t names_over_limit; /**< kernels, copies and sets whose name found no place among 65,536;
                                  they count as "[other names]" */
    uint64_t source_errors;    /**< calls that the driver's tracing refused (flush) */
    uint64_t regions_abandoned;  /**< regions that were still open when a region of another NVTX
                                    domain around them ended */
    uint64_t regions_over_limit; /**< regions above the path_limit of the session: they, or a region
                                    around them, are counted together in "LLM@(too many paths)" */
} llmperf_ledger;
#define LLMPERF_LEDGER_INIT LLMPERF_INIT(llmperf_ledger)

/** One region path on one device. A region that used several devices has a row for each; wall times
 * repeat in them. */
typedef struct llmperf_region_stats {
    size_t struct_size;
    const char *path;   /**< labels joined by '/': "LLM@prefill/LLM@mlp" */
    const char *label;  /**< "LLM@mlp" */
    const char *parent; /**< path of the parent; NULL at the top */
    const char *stage;  /**< label of the stage it is or lies in; NULL: none */
    uint32_t depth;     /**< 0 at the top */
    uint32_t kind;      /**< LLMPERF_REGION_STAGE or LLMPERF_REGION_OPERATOR */
    int32_t device;     /**< CUDA device ordinal; -1: no device activity */
    uint32_t process_id;
    uint64_t instances; /**< complete ones; wall times are of these */
    uint64_t truncated; /**< open when the session started, paused or ended, or when a region of
                           another NVTX domain around them ended */
    double wall_sum_ms, wall_mean_ms, wall_std_ms, wall_min_ms, wall_max_ms;
    double wall_p50_ms, wall_p95_ms, wall_p99_ms; /**< within 2 % */
    double gpu_busy_ms;           /**< union of activity intervals, nested regions included */
    double exclusive_gpu_busy_ms; /**< union of activity launched directly in this region */
    double kernel_ms;             /**< sum of kernel durations, nested regions included */
    double exclusive_kernel_ms;
    double memcpy_ms, memset_ms; /**< sums, nested regions included */
    double idle_ms;              /**< wall_sum_ms - gpu_busy_ms, not below 0; NaN without device */
    uint64_t kernel_count, memcpy_count, memset_count; /**< nested regions included */
    uint64_t memcpy_bytes;
    /** Given by the program; if not given on this region, the sum of its children; else
     * LLMPERF_UNKNOWN. */
    uint64_t tokens, sequences, context, flops, bytes;
    /** Share of its work (docs/explanation/sampling.md) whose device side was left out: 0 but in
     * sessions that sample; 1: all of it. Device times and counts, and idle_ms, are of the rest and
     * not scaled; host times and amounts are of everything. */
    double skipped_fraction;
    uint32_t flops_origin, bytes_origin; /**< LLMPERF_WORK_…; of a sum of children, the program if
                                            it gave any part of it */
    /** The part of instances and of wall_sum_ms that lies in triggered windows
     * (llmperf_window_stats): it is in no device number of this row and not in what
     * skipped_fraction is a share of. */
    uint64_t window_instances;
    double window_ms;
    uint64_t window_flops,
        window_bytes; /**< the part of flops and of bytes; LLMPERF_UNKNOWN: not known */
} llmperf_region_stats;

/** One kernel (or copy, set) of one region on one device. */
typedef struct llmperf_kernel_stats {
    size_t struct_size;
    const char
        *name; /**< as the driver gives it, usually mangled; copies: "[memcpy HtoD]" and so on */
    const char *demangled;  /**< full C++ name; the same as name if it is not mangled */
    const char *short_name; /**< without return type, template arguments and parameters */
    const char *region; /**< path; "" if it was launched with no region open, NULL if its launch was
                           not seen */
    const char *captured_in; /**< path of the region that captured the graph node, "": none was
                                open; NULL: not of a graph. "LLM@(…" says why it is not known */
    uint32_t kind;           /**< LLMPERF_ACTIVITY_… */
    int32_t device;
    uint64_t calls;
    uint64_t bytes; /**< copies and sets */
    double total_ms, mean_ms, min_ms, max_ms;
    double p50_ms, p95_ms, p99_ms; /**< within 2 % */
    double share;                  /**< of all device time of the profile, 0 to 1 */
} llmperf_kernel_stats;

/** Regions below a stage with one label and one stage, wherever they are nested. One that lies
 * inside another of its label adds a call but no time: the outer one's time holds it. */
typedef struct llmperf_operator_stats {
    size_t struct_size;
    const char *name;  /**< label */
    const char *stage; /**< label of the stage; NULL: below no stage */
    uint64_t calls;
    double total_time_ms; /**< host wall time */
    double cuda_time_ms;  /**< device busy time, nested regions included, summed over devices; NaN
                             without device */
    double mean_ms;       /**< total_time_ms / calls */
} llmperf_operator_stats;

/** One named metric of a region, or of a kernel in it: a hardware counter of this library, or what
 * ncu measured. Numbers are over `count` results (kernel launches, range instances, samples); a sum
 * is mean * count. */
typedef struct llmperf_metric_stats {
    size_t struct_size;
    const char *name; /**< "dram__bytes.sum", or in a tool's words "DRAM Throughput" */
    const char
        *unit; /**< base unit: "ns", "byte", "hz", "%", "byte/s"; "": a plain number or a text */
    const char *group; /**< section or preset that holds it; NULL: none. The same name in two groups
                          may differ */
    const char *source; /**< who measured: "ncu", "range_profiler", "pm_sampling" */
    const char *region; /**< path; "" with no region open; NULL: not known */
    const char *kernel; /**< as llmperf_kernel_stats.name; NULL: of the region as a whole, which
                           includes nested regions */
    /** A value that is not a number ("PolicySpread"). NULL: the value is a number, or its texts
     * differ. */
    const char *text;
    int32_t device;      /**< CUDA device ordinal; -1: not known */
    uint32_t process_id; /**< 0: not known */
    uint64_t count;      /**< results that had a value */
    double mean, std;    /**< std is of the sample (n - 1); NaN below two results, or not known */
    double min, max;
} llmperf_metric_stats;

#define LLMPERF_METRIC_STATS_INIT LLMPERF_INIT(llmperf_metric_stats)

/** Iterations that a profile keeps one by one; the statistics hold all. */
#define LLMPERF_ITERATIONS_KEPT 1024

/** Most kernel classes that are told apart in iterations; further ones count as "other". */
#define LLMPERF_ITERATION_CLASSES 16

/** One instance of a stage (a prefill, a step of decode), as far as it could be followed alone. Its
 * device work is what was launched in it and in the regions nested in it. Times of the device are
 * over all devices together. NaN: no device, or (span, idle) no device work in it. */
typedef struct llmperf_iteration {
    size_t struct_size;
    const char *region;  /**< path of the stage */
    uint64_t sequence;   /**< from 1, in the order in which iterations became complete */
    uint64_t begin_ns;   /**< host, CLOCK_MONOTONIC */
    uint64_t activities; /**< kernels, copies and sets */
    /** Given by the program, or (flops, bytes) derived from the model; LLMPERF_UNKNOWN: neither. */
    uint64_t tokens, sequences, context, flops, bytes;
    double wall_ms;        /**< host time between begin and end */
    double span_ms;        /**< first start to last end on the device */
    double busy_ms;        /**< part of the span in which something ran */
    double idle_ms;        /**< span_ms - busy_ms = idle_launch_ms + idle_wait_ms */
    double idle_launch_ms; /**< of it, the host was late: the launch call, or it and the latency of
                              launches, came after the gap had begun */
    double idle_wait_ms; /**< the rest: launched in time, the device waited for a dependency or its
                            own scheduling */
    double
        class_ms[LLMPERF_ITERATION_CLASSES]; /**< sums of durations by kernel class:
                                                llmperf_profile_class(), llmperf_session_class() */
    uint64_t window; /**< number of the triggered window that collected it; 0: none did. Its device
                        times are in no statistic */
} llmperf_iteration;
#define LLMPERF_ITERATION_INIT LLMPERF_INIT(llmperf_iteration)

/** How one quantity of a stage is spread over its iterations: "wall", "span", "busy", "idle",
 * "idle_launch", "idle_wait" (fields of llmperf_iteration), or a kernel class. */
typedef struct llmperf_iteration_stats {
    size_t struct_size;
    const char *region;   /**< path of the stage */
    const char *quantity; /**< name of the time, or of the kernel class */
    uint32_t is_class;    /**< 1: quantity is a kernel class */
    uint32_t reserved;
    uint64_t count; /**< iterations that have the quantity; a class that did not run in an iteration
                       counts there as 0 ms */
    double sum_ms, mean_ms;
    double std_ms; /**< of a sample; NaN below two iterations */
    double min_ms, max_ms;
    double p50_ms, p95_ms, p99_ms; /**< within 2 % */
} llmperf_iteration_stats;
#define LLMPERF_ITERATION_STATS_INIT LLMPERF_INIT(llmperf_iteration_stats)

/** A triggered window of tier light: instances of sampled regions that were collected one and all
 * because a rule held. They are no random sample, so they are added up here, apart from regions,
 * kernels and the statistics of iterations. */
typedef struct llmperf_window_stats {
    size_t struct_size;
    uint64_t number;      /**< from 1, in the order of their triggers */
    const char *rule;     /**< text of the rule; NULL: not known (of a recording) */
    const char *region;   /**< label that the rule watches; NULL like rule, as are the next two */
    const char *quantity; /**< "p99", "tokens/s" … */
    const char *unit;     /**< of value and threshold: "ms", "1/s", "%" */
    double value, threshold; /**< what it was when the rule held, and the limit of the rule */
    uint64_t value_units;    /**< instances that the value is of */
    uint64_t triggered_ns;   /**< when, CLOCK_MONOTONIC */
    uint64_t begin_ns,
        end_ns; /**< of its first and its last instance; LLMPERF_UNKNOWN: none is complete */
    uint64_t units_asked, units, units_left_out; /**< instances: asked for; collected; begun while
                                                    it opened or closed, and not collected */
    uint64_t kernel_count, memory_count;         /**< kernels; copies and sets */
    double wall_ms, busy_ms,
        idle_ms;                 /**< sums over the collected instances, as in llmperf_iteration */
    double kernel_ms, memory_ms; /**< sums of durations */
    uint32_t process_id;
    uint32_t reserved;
} llmperf_window_stats;
#define LLMPERF_WINDOW_STATS_INIT LLMPERF_INIT(llmperf_window_stats)

/** One kernel, copy or set of a triggered window, by the region that launched it. */
typedef struct llmperf_window_kernel {
    size_t struct_size;
    uint64_t window;    /**< number of the window */
    const char *name;   /**< as llmperf_kernel_stats.name; "[others]": what found no row of its own
                           behind the first 512 */
    const char *region; /**< path; NULL of "[others]" */
    const char *captured_in; /**< as llmperf_kernel_stats.captured_in */
    uint64_t calls;
    double total_ms;
    uint32_t kind; /**< LLMPERF_ACTIVITY_… */
    uint32_t process_id;
} llmperf_window_kernel;
#define LLMPERF_WINDOW_KERNEL_INIT LLMPERF_INIT(llmperf_window_kernel)

/** Where the FLOPs and bytes of a region come from. */
enum {
    LLMPERF_WORK_UNKNOWN = 0, /**< nowhere: they are LLMPERF_UNKNOWN */
    LLMPERF_WORK_PROGRAM = 1, /**< llmperf_region_count(), or the attributes of a region */
    LLMPERF_WORK_MODEL =
        2 /**< the session's model and the tokens, sequences and context of each instance */
};

/** What ran in CUDA graphs, launched in one region and captured in another, on one device. Sums of
 * durations: branches of a graph that run at the same time count both. */
typedef struct llmperf_capture_stats {
    size_t struct_size;
    const char
        *region; /**< path of the launch; "": no region open, NULL: its launch was not seen */
    const char *
        captured_in; /**< path of the capture; "": no region open; "LLM@(…)": why it is not known */
    int32_t device;
    uint32_t depth;              /**< of captured_in, 0 at the top */
    uint64_t kernel_count;       /**< nested capture regions included */
    uint64_t memory_count;       /**< copies and sets, the same */
    double kernel_ms, memory_ms; /**< nested capture regions included */
    double exclusive_ms;         /**< kernels, copies and sets captured directly in this region */
    double share; /**< of all graph work that the region launched on this device, 0 to 1 */
} llmperf_capture_stats;
#define LLMPERF_CAPTURE_STATS_INIT LLMPERF_INIT(llmperf_capture_stats)

#define LLMPERF_REGION_STATS_INIT   LLMPERF_INIT(llmperf_region_stats)
#define LLMPERF_KERNEL_STATS_INIT   LLMPERF_INIT(llmperf_kernel_stats)
#define LLMPERF_OPERATOR_STATS_INIT LLMPERF_INIT(llmperf_operator_stats)

/** Number of rows; rows are ordered: regions by path (parents first), kernels and operators by
 * total time, largest first, iterations by sequence (the newest LLMPERF_ITERATIONS_KEPT), their
 * statistics by region, times before classes, captures by launch region, device and capture region
 * (parents first, layer2 before layer10), windows by process and number, their kernels by window,
 * largest total first, metrics by region, device, process, kernel (those of the region itself
 * first), name and group. */
LLMPERF_API size_t llmperf_profile_region_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_kernel_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_operator_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_capture_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_metric_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_window_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_window_kernel_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_iteration_count(const llmperf_profile *profile);
LLMPERF_API size_t llmperf_profile_iteration_stats_count(const llmperf_profile *profile);

/** Row `index`. @param …_out  struct_size set by the caller; text Borrowed from the profile.
 * @return LLMPERF_OK, LLMPERF_EINVAL. */
LLMPERF_API int llmperf_profile_region(const llmperf_profile *profile, size_t index,
                                       llmperf_region_stats *stats_out);
LLMPERF_API int llmperf_profile_kernel(const llmperf_profile *profile, size_t index,
                                       llmperf_kernel_stats *stats_out);
LLMPERF_API int llmperf_profile_operator(const llmperf_profile *profile, size_t index,
                                         llmperf_operator_stats *stats_out);
LLMPERF_API int llmperf_profile_capture(const llmperf_profile *profile, size_t index,
                                        llmperf_capture_stats *stats_out);
LLMPERF_API int llmperf_profile_metric(const llmperf_profile *profile, size_t index,
                                       llmperf_metric_stats *stats_out);
LLMPERF_API int llmperf_profile_window(const llmperf_profile *profile, size_t index,
                                       llmperf_window_stats *stats_out);
LLMPERF_API int llmperf_profile_window_kernel(const llmperf_profile *profile, size_t index,
                                              llmperf_window_kernel *kernel_out);
LLMPERF_API int llmperf_profile_iteration(const llmperf_profile *profile, size_t index,
                                          llmperf_iteration *iteration_out);
LLMPERF_API int llmperf_profile_iteration_stats(const llmperf_profile *profile, size_t index,
                                                llmperf_iteration_stats *stats_out);

/** Name of the kernel class at `index` of llmperf_iteration.class_ms; NULL: no such class in this
 * profile. */
LLMPERF_API const char *llmperf_profile_class(const llmperf_profile *profile, size_t index);

/** @param ledger_out  struct_size set by the caller. @return LLMPERF_OK, LLMPERF_EINVAL. */
LLMPERF_API int llmperf_profile_ledger(const llmperf_profile *profile, llmperf_ledger *ledger_out);

/** Problems of the ledger and notes (reasons for unknown values), one line each. NULL past the end.
 */
LLMPERF_API const char *llmperf_profile_problem(const llmperf_profile *profile, size_t index);
LLMPERF_API const char *llmperf_profile_note(const llmperf_profile *profile, size_t index);

/** Word for a verdict: "complete", "sampled", "incomplete", "no_device", "dead". Static text. */
LLMPERF_API const char *llmperf_verdict_name(uint32_t verdict);

/** Facts about the run, for example "run_id", "created_at", "tier", "source", "duration_ms",
 * "gpu_busy_ms" (the union of all that ran on a device, summed over devices); NULL if unknown. */
LLMPERF_API const char *llmperf_profile_fact(const llmperf_profile *profile, const char *key);

/** Apply a model and a dtype, for example to a profile collected without them. FLOPs, bytes, MFU,
 * MBU and lower bounds on time are computed from what the program counted (tokens, sequences,
 * context). FLOPs and bytes that the program counted itself are kept; those of an earlier model are
 * replaced. If the run does not keep each instance of a stage, they are assumed to be of equal
 * size, and a note says so. If nothing can be computed, fact "model_reason" says why.
 *
 * @param model  As for llmperf_model_open(); NULL: `model` of the configuration that the profile
 * keeps, if there is one.
 * @param dtype  One of llmperf_hardware_dtype(); replaces LLMPERF_DTYPE. NULL: as configured, else
 * the dtype of the model.
 * @return LLMPERF_OK; LLMPERF_EINVAL, LLMPERF_ENOENT, LLMPERF_EFORMAT, LLMPERF_ENOTSUP,
 * LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_profile_apply_model(llmperf_profile *profile, const char *model,
                                            const char *dtype);

/** Save as a run file (SQLite); the file is replaced only when it is complete.
 * @return LLMPERF_OK, LLMPERF_EINVAL, LLMPERF_EIO, LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_profile_save(const llmperf_profile *profile, const char *path);

/** Read a run back, also one that a killed process left. The file is opened read-only. A finished
 * run carries checksums (CRC-32C of the rows of each table): one that changed since it was written
 * is refused. With LLMPERF_OPEN_CHANGED=1 in the environment it is read as it is, with a problem
 * that says so and no better a verdict than `incomplete`.
 * @param run  Run directory, or its run.llmperf. A folder of `llmperf run` without a run of its own
 * stands for that of all its processes together, or for the only one that it has.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK; LLMPERF_ENOENT (no such run, or nothing has been committed to it),
 * LLMPERF_EFORMAT (damaged, changed, or no run), LLMPERF_EIO, LLMPERF_ENOMEM; LLMPERF_ESTATE in a
 * child that was forked while a session wrote a run. */
LLMPERF_API int llmperf_profile_open(const char *run, llmperf_profile **profile_out);

/** Put runs together: ranks or processes of one job, or parts of a long one. Regions stay apart by
 * process (ids that two runs share are told apart by adding 4194304, the number of process ids that
 * Linux has, as often as needed); kernels, copies and sets of one region and GPU are added up,
 * percentiles from their histograms; the verdict is that of the worst run. GPUs are told apart by
 * UUID: one whose number another one has gets the first free number. Totals have no clock: nothing
 * is set beside anything else in time. Single iterations are kept only if one run has some. A run
 * that would count twice is refused: given twice, as a copy too, or beside or in merged runs that
 * it is in. Facts of the result: "merged_from" has the names of the runs, "merged_runs" a line for
 * each, its key of 16 hexadecimal digits and its name.
 *
 * @param profiles     Borrowed, `count` of them, at least one.
 * @param profile_out  Yours: llmperf_profile_free().
 * @return LLMPERF_OK, LLMPERF_EINVAL (also: a run would count twice), LLMPERF_EFORMAT (a damaged
 * histogram), LLMPERF_ENOMEM. */
LLMPERF_API int llmperf_profile_merge(const llmperf_profile *const *profiles, size_t count,
                                      llmperf_profile **profile_out);

/** NULL is fine. */
LLMPERF_API void llmperf_profile_free(llmperf_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
